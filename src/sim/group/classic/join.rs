//! The first half of a rebalance: members join, and a generation begins.
//!
//! Follows `classicGroupJoin`, `prepareRebalance`, `completeClassicGroupJoin` of
//! `GroupMetadataManager`.

use crate::sim::assignor::client::Members;
use crate::sim::error::KafkaError;
use crate::sim::message::{Body, JoinAnswer, JoinRequest, Joined, MessageId};

use super::{Change, ClassicGroup, Effect, GroupPhase, GroupTimer, Member};

impl ClassicGroup {
    /// A consumer asks to join.
    pub fn join(&mut self, asked: (MessageId, &str), request: &JoinRequest, change: &mut Change) {
        let (message, client) = asked;
        let refused = match &request.member {
            member if !self.has_room(member.as_deref(), change.max_size) => {
                if let Some(id) = member {
                    self.pending.remove(id);
                    self.take_out(id);
                    self.complete_join_if_all_are_there(change);
                }
                Some(KafkaError::GroupMaxSizeReached)
            }
            _ if !self.supports(request) => Some(KafkaError::InconsistentGroupProtocol),
            None => {
                self.join_new((message, client), request, change);
                None
            }
            Some(id) => self.join_again((message, client), id, request, change).err(),
        };
        if let Some(error) = refused {
            let member = request.member.clone().unwrap_or_default();
            let answer = JoinAnswer { member, result: Err(error) };
            change.answer(message, Body::JoinGroupResponse(answer));
        }
    }

    /// Whether the group takes somebody (more). While it gathers those count that have joined, so
    /// that a group that is too large loses who comes last (`acceptJoiningMember`).
    fn has_room(&self, id: Option<&str>, max_size: usize) -> bool {
        let member = id.and_then(|id| self.members.get(id));
        match self.phase {
            GroupPhase::Empty => true,
            GroupPhase::PreparingRebalance => {
                member.is_some_and(|member| member.joining.is_some()) || self.gathered < max_size
            }
            GroupPhase::CompletingRebalance | GroupPhase::Stable => {
                member.is_some() || self.members.len() < max_size
            }
        }
    }

    /// Whether it shares an assignor with all members (`ClassicGroup.supportsProtocols`).
    fn supports(&self, request: &JoinRequest) -> bool {
        let mut wanted = request.protocols.iter().map(|(strategy, _)| *strategy);
        !request.protocols.is_empty()
            && (self.members.is_empty() || wanted.any(|strategy| self.all_support(strategy)))
    }

    /// Somebody without an id. A dynamic member is told one and has to come again with it
    /// (KIP-394); a static one is taken at once, in the place of who had its instance.
    fn join_new(&mut self, asked: (MessageId, &str), request: &JoinRequest, change: &mut Change) {
        let (message, client) = asked;
        let id = format!("{client}-{}", message.0);
        let Some(instance) = &request.instance else {
            self.pending.insert(id.clone());
            change.wake(request.session_timeout_ms, GroupTimer::Pending(id.clone()));
            let answer = JoinAnswer { member: id, result: Err(KafkaError::MemberIdRequired) };
            change.answer(message, Body::JoinGroupResponse(answer));
            return;
        };
        match self.instances.get(instance).cloned() {
            Some(old) => self.replace(&old, (message, id), request, change),
            None => self.add((message, Member::new(id, client, request)), change),
        }
    }

    /// Somebody with an id: one that was told it just now, or a member.
    fn join_again(
        &mut self,
        asked: (MessageId, &str),
        id: &str,
        request: &JoinRequest,
        change: &mut Change,
    ) -> Result<(), KafkaError> {
        let (message, client) = asked;
        if self.pending.remove(id) {
            self.add((message, Member::new(id.to_owned(), client, request)), change);
            return Ok(());
        }
        self.check_member(id, request.instance.as_deref())?;
        let says_the_same = self.members[id].protocols == request.protocols;
        let leads = self.leader.as_deref() == Some(id);
        match self.phase {
            GroupPhase::Empty => return Err(KafkaError::UnknownMemberId),
            GroupPhase::CompletingRebalance if says_the_same => {
                self.tell_generation(message, id, change);
            }
            GroupPhase::Stable if says_the_same && !leads => {
                self.tell_generation(message, id, change);
            }
            _ => {
                self.update(id, message, request);
                self.gather(change);
            }
        }
        Ok(())
    }

    /// A new member (`addMemberThenRebalanceOrCompleteJoin`).
    fn add(&mut self, newcomer: (MessageId, Member), change: &mut Change) {
        let (message, mut member) = newcomer;
        member.joining = Some(message);
        let id = member.id.clone();
        self.insert(member);
        if self.phase == GroupPhase::PreparingRebalance && self.from_empty {
            self.grew = true;
        }
        self.heard_of(&id, change);
        self.gather(change);
    }

    /// A member joins again (`updateMemberThenRebalanceOrCompleteJoin`).
    fn update(&mut self, id: &str, message: MessageId, request: &JoinRequest) {
        let leads = self.leader.as_deref() == Some(id);
        let was_unsynced = self.unsynced.contains(id);
        let Some(mut member) = self.take_out(id) else { return };
        member.take(request);
        member.joining = Some(message);
        self.insert(member);
        if leads {
            self.leader = Some(id.to_owned());
        }
        if was_unsynced {
            self.unsynced.insert(id.to_owned());
        }
    }

    /// A static member has come back with another id: it takes over its place, and a stable group
    /// stays as it is (`updateStaticMemberThenRebalanceOrCompleteJoin`).
    fn replace(
        &mut self,
        old: &str,
        newcomer: (MessageId, String),
        request: &JoinRequest,
        change: &mut Change,
    ) {
        let (message, id) = newcomer;
        let led = self.leader.as_deref() == Some(old);
        let Some(mut member) = self.take_out(old) else { return };
        let fenced = KafkaError::FencedInstanceId;
        if let Some(waiting) = member.joining.take() {
            change.answer(waiting, Body::JoinGroupResponse(member.refusal(fenced)));
        }
        if let Some(waiting) = member.syncing.take() {
            change.answer(waiting, Body::SyncGroupResponse(Err(fenced)));
        }
        change.say(format!("{id} takes the place of {old} in {}", self.name));
        member.id.clone_from(&id);
        member.watched_ms = None;
        member.take(request);
        self.insert(member);
        if led {
            self.leader = Some(id.clone());
        }
        self.heard_of(&id, change);
        if self.phase == GroupPhase::Stable && self.selected() == self.strategy {
            let answer = self.generation_for(&id, Members::new());
            change.effects.push(Effect::Store(vec![(message, answer)]));
            return;
        }
        if let Some(member) = self.members.get_mut(&id) {
            member.joining = Some(message);
            self.gathered += 1;
        }
        self.gather(change);
    }

    fn tell_generation(&mut self, message: MessageId, id: &str, change: &mut Change) {
        let leads = self.leader.as_deref() == Some(id);
        let members = if leads { self.subscriptions() } else { Members::new() };
        let answer = self.generation_for(id, members);
        change.answer(message, answer);
    }

    fn generation_for(&self, id: &str, members: Members) -> Body {
        let result = match self.strategy {
            Some(strategy) => Ok(Joined {
                generation: self.generation,
                strategy,
                leader: self.leader.clone().unwrap_or_default(),
                members,
            }),
            None => Err(KafkaError::UnknownMemberId),
        };
        Body::JoinGroupResponse(JoinAnswer { member: id.to_owned(), result })
    }

    fn subscriptions(&self) -> Members {
        let Some(strategy) = self.strategy else { return Members::new() };
        let said = self
            .members
            .iter()
            .filter_map(|(id, member)| Some((id.clone(), member.subscription(strategy)?.clone())));
        said.collect()
    }

    /// Begins to gather, or goes on with it.
    fn gather(&mut self, change: &mut Change) {
        if self.phase == GroupPhase::PreparingRebalance {
            self.complete_join_if_all_are_there(change);
        } else {
            self.prepare_rebalance(change);
        }
    }

    /// The members are called together (`prepareRebalance`). A group that was empty waits
    /// `group.initial.rebalance.delay.ms` for company.
    pub(super) fn prepare_rebalance(&mut self, change: &mut Change) {
        if self.phase == GroupPhase::CompletingRebalance {
            self.refuse_syncs(KafkaError::RebalanceInProgress, change);
        }
        self.brought = None;
        self.unsynced.clear();
        self.round += 1;
        self.from_empty = self.phase == GroupPhase::Empty;
        self.grew = false;
        self.phase = GroupPhase::PreparingRebalance;
        change.say(format!("{} prepares a rebalance", self.name));
        let round = self.round;
        let timeout_ms = self.rebalance_timeout_ms();
        if self.from_empty {
            let waited_ms = change.initial_delay_ms;
            let left_ms = timeout_ms.saturating_sub(waited_ms);
            change.wake(waited_ms, GroupTimer::InitialDelay { round, waited_ms, left_ms });
        } else {
            change.wake(timeout_ms, GroupTimer::JoinOver { round });
            self.complete_join_if_all_are_there(change);
        }
    }

    /// The initial delay is over; it is extended as long as new members come
    /// (`tryCompleteInitialRebalanceElseSchedule`).
    pub(super) fn initial_delay_over(&mut self, waited_ms: u64, left_ms: u64, change: &mut Change) {
        if self.grew && left_ms > 0 {
            self.grew = false;
            let next_ms = change.initial_delay_ms.min(left_ms);
            let left_ms = left_ms.saturating_sub(waited_ms);
            let round = self.round;
            change.wake(next_ms, GroupTimer::InitialDelay { round, waited_ms: next_ms, left_ms });
        } else {
            self.complete_join(change);
        }
    }

    /// Everybody known has joined again (`maybeCompleteJoinPhase`).
    pub(super) fn complete_join_if_all_are_there(&mut self, change: &mut Change) {
        let gathers = self.phase == GroupPhase::PreparingRebalance && !self.from_empty;
        if gathers && self.gathered >= self.members.len() && self.pending.is_empty() {
            self.complete_join(change);
        }
    }

    /// The next generation: who has not joined is out, the others learn its number
    /// (`completeClassicGroupJoin`).
    pub(super) fn complete_join(&mut self, change: &mut Change) {
        let missing: Vec<String> = self
            .members
            .values()
            .filter(|member| member.joining.is_none() && member.instance.is_none())
            .map(|member| member.id.clone())
            .collect();
        for id in missing {
            change.say(format!("{id} has not joined {} again", self.name));
            self.take_out(&id);
        }
        let has_joined = |id: &String| self.members.get(id).is_some_and(|m| m.joining.is_some());
        if !self.leader.as_ref().is_some_and(has_joined) {
            let next = self.members.keys().find(|id| has_joined(id)).cloned();
            // Static members alone are waited for, however long it takes.
            if next.is_none() && !self.members.is_empty() {
                let round = self.round;
                change.wake(self.rebalance_timeout_ms(), GroupTimer::JoinOver { round });
                return;
            }
            self.leader = next;
        }
        self.generation += 1;
        self.strategy = self.selected();
        if self.members.is_empty() {
            self.phase = GroupPhase::Empty;
            self.empty_since_ms = change.now_ms;
            change.say(format!("{} is empty in generation {}", self.name, self.generation));
            change.effects.push(Effect::Store(Vec::new()));
            return;
        }
        self.phase = GroupPhase::CompletingRebalance;
        let (generation, count) = (self.generation, self.members.len());
        change.say(format!("{} begins generation {generation} with {count} members", self.name));
        self.unsynced = self.members.keys().cloned().collect();
        change.wake(self.rebalance_timeout_ms(), GroupTimer::SyncOver { round: self.round });
        self.tell_everybody(change);
    }

    fn tell_everybody(&mut self, change: &mut Change) {
        self.gathered = 0;
        let ids: Vec<String> = self.members.keys().cloned().collect();
        for id in ids {
            let Some(member) = self.members.get_mut(&id) else { continue };
            let waiting = member.joining.take();
            member.is_new = false;
            self.heard_of(&id, change);
            if let Some(message) = waiting {
                self.tell_generation(message, &id, change);
            }
        }
    }
}
