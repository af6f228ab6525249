//! A classic group as its coordinator keeps it: members, generation, phase. It knows no network and
//! no log; what has to happen outside it says as [`Effect`]s.
//!
//! Follows `ClassicGroup`, and `GroupMetadataManager.classicGroup...` of Kafka's group-coordinator
//! module.

mod join;
mod member;
mod sync;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use crate::sim::assignor::client::{Assignments, Strategy};
use crate::sim::error::KafkaError;
use crate::sim::message::{Body, MessageId, Speaker};

pub use member::Member;

/// How long a member that has joined may take to be told its generation
/// (`CLASSIC_GROUP_NEW_MEMBER_JOIN_TIMEOUT_MS`).
const NEW_MEMBER_TIMEOUT_MS: u64 = 300_000;

/// A classic group's state, by Kafka's name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "Kafka's own names (ClassicGroupState)")]
pub enum GroupPhase {
    #[default]
    Empty,
    PreparingRebalance,
    CompletingRebalance,
    Stable,
}

impl GroupPhase {
    /// The name that Kafka's tools print.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            GroupPhase::Empty => "Empty",
            GroupPhase::PreparingRebalance => "PreparingRebalance",
            GroupPhase::CompletingRebalance => "CompletingRebalance",
            GroupPhase::Stable => "Stable",
        }
    }
}

/// What a group's coordinator waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GroupTimer {
    /// The first members of an empty group have been waited for this long, with so much left of the
    /// rebalance timeout.
    InitialDelay {
        /// Which gathering.
        round: u64,
        /// How long it was.
        waited_ms: u64,
        /// What is left, in milliseconds.
        left_ms: u64,
    },
    /// Members have had their time to join again.
    JoinOver {
        /// Which gathering.
        round: u64,
    },
    /// Members have had their time to ask for their assignment.
    SyncOver {
        /// Which gathering.
        round: u64,
    },
    /// A member has been silent for its session timeout.
    Session(String),
    /// A member id was handed out and not used.
    Pending(String),
    /// The write of this generation was not committed in time.
    WriteOver {
        /// Which generation.
        generation: i32,
    },
}

/// What a group asks of its coordinator.
#[derive(Clone, Debug)]
pub enum Effect {
    /// Answers a request.
    Answer(MessageId, Body),
    /// Sets a timer for this time, in milliseconds.
    Wake(u64, GroupTimer),
    /// Writes the group to the log; these requests are answered once that is committed.
    Store(Vec<(MessageId, Body)>),
    /// A member is gone, of whom it has not heard for so long.
    Miss {
        /// Its id.
        member: String,
        /// `session.timeout.ms`.
        timeout_ms: u64,
    },
    /// Tells the trace.
    Say(String),
}

/// The moment of a change, and what it asks for.
#[derive(Debug)]
pub struct Change {
    /// The present, in milliseconds.
    pub now_ms: u64,
    /// `group.initial.rebalance.delay.ms`.
    pub initial_delay_ms: u64,
    /// `group.max.size`.
    pub max_size: usize,
    /// What is asked for, in order.
    pub effects: Vec<Effect>,
}

impl Change {
    /// Nothing is asked for yet.
    #[must_use]
    pub fn at(now_ms: u64, initial_delay_ms: u64, max_size: usize) -> Change {
        Change { now_ms, initial_delay_ms, max_size, effects: Vec::new() }
    }

    fn answer(&mut self, request: MessageId, body: Body) {
        self.effects.push(Effect::Answer(request, body));
    }

    fn wake(&mut self, after_ms: u64, timer: GroupTimer) {
        self.effects.push(Effect::Wake(self.now_ms.saturating_add(after_ms), timer));
    }

    fn say(&mut self, text: String) {
        self.effects.push(Effect::Say(text));
    }
}

/// A classic group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClassicGroup {
    /// `group.id`.
    pub name: String,
    /// Its phase.
    pub phase: GroupPhase,
    /// Counts the gatherings of its members.
    pub generation: i32,
    /// The assignor that all members support.
    pub strategy: Option<Strategy>,
    /// The member that assigns.
    pub leader: Option<String>,
    /// Its members by their ids.
    pub members: BTreeMap<String, Member>,
    /// Since when it has no members, in milliseconds.
    pub empty_since_ms: u64,
    /// Static members: ids by instance.
    instances: BTreeMap<String, String>,
    /// Ids that were handed out and not used yet.
    pending: BTreeSet<String>,
    /// How many members support each assignor.
    supporters: BTreeMap<Strategy, usize>,
    /// How many members have joined and wait.
    gathered: usize,
    /// Whether a member came since the last initial delay began.
    grew: bool,
    /// Whether the gathering began with an empty group.
    from_empty: bool,
    /// Tells the deadlines of one gathering from those of another.
    round: u64,
    /// Members that have not asked for their assignment yet.
    unsynced: BTreeSet<String>,
    /// What the leader has brought, while it is being written.
    brought: Option<Assignments>,
}

impl ClassicGroup {
    /// A group without members.
    #[must_use]
    pub fn new(name: &str) -> ClassicGroup {
        ClassicGroup { name: name.to_owned(), ..ClassicGroup::default() }
    }

    /// A stable group of these members, as its last write says; the first member given leads.
    #[must_use]
    pub fn stable(name: &str, generation: i32, members: Vec<Member>) -> ClassicGroup {
        let mut group = ClassicGroup::new(name);
        group.generation = generation;
        group.leader = members.first().map(|member| member.id.clone());
        for member in members {
            group.insert(Member { is_new: false, ..member });
        }
        group.strategy = group.selected();
        group.phase = if group.members.is_empty() { GroupPhase::Empty } else { GroupPhase::Stable };
        group
    }

    /// What of the group a new coordinator reads from the log: who joined or waited is forgotten
    /// (`GroupMetadataManager.replay` of a `GroupMetadataValue`).
    #[must_use]
    pub fn stored(&self) -> ClassicGroup {
        let members = self.members.values().map(|member| Member {
            joining: None,
            syncing: None,
            watched_ms: None,
            is_new: false,
            assignment: match &self.brought {
                Some(brought) => brought.get(&member.id).cloned().unwrap_or_default(),
                None => member.assignment.clone(),
            },
            ..member.clone()
        });
        let mut group = ClassicGroup::stable(&self.name, self.generation, members.collect());
        group.leader.clone_from(&self.leader);
        group.strategy = self.strategy;
        group.empty_since_ms = self.empty_since_ms;
        group
    }

    /// A new coordinator gives every member its whole session timeout.
    pub fn watch(&mut self, change: &mut Change) {
        let ids: Vec<String> = self.members.keys().cloned().collect();
        for id in ids {
            self.heard_of(&id, change);
        }
    }

    /// The topics that its members subscribe to.
    #[must_use]
    pub fn subscribes_to(&self, topic: &str) -> bool {
        self.members.values().any(|member| member.subscribes_to(topic))
    }

    /// Requests that it holds.
    #[must_use]
    pub fn waiting(&self) -> Vec<(MessageId, Body)> {
        let error = KafkaError::NotCoordinator;
        let joining = self.members.values().filter_map(|member| {
            Some((member.joining?, Body::JoinGroupResponse(member.refusal(error))))
        });
        let syncing = self
            .members
            .values()
            .filter_map(|member| Some((member.syncing?, Body::SyncGroupResponse(Err(error)))));
        joining.chain(syncing).collect()
    }

    /// The assignor that most members prefer among those that all support
    /// (`ClassicGroup.selectProtocol`).
    fn selected(&self) -> Option<Strategy> {
        let mut votes: BTreeMap<Strategy, usize> = BTreeMap::new();
        for member in self.members.values() {
            let vote = member.protocols.iter().map(|(strategy, _)| *strategy);
            if let Some(vote) = vote.into_iter().find(|strategy| self.all_support(*strategy)) {
                *votes.entry(vote).or_insert(0) += 1;
            }
        }
        let most = votes.values().copied().max()?;
        votes.into_iter().find(|(_, count)| *count == most).map(|(strategy, _)| strategy)
    }

    fn all_support(&self, strategy: Strategy) -> bool {
        self.supporters.get(&strategy).copied().unwrap_or(0) == self.members.len()
    }

    fn insert(&mut self, member: Member) {
        for (strategy, _) in &member.protocols {
            *self.supporters.entry(*strategy).or_insert(0) += 1;
        }
        if let Some(instance) = &member.instance {
            self.instances.insert(instance.clone(), member.id.clone());
        }
        self.gathered += usize::from(member.joining.is_some());
        if self.leader.is_none() {
            self.leader = Some(member.id.clone());
        }
        self.members.insert(member.id.clone(), member);
    }

    fn take_out(&mut self, id: &str) -> Option<Member> {
        let member = self.members.remove(id)?;
        for (strategy, _) in &member.protocols {
            if let Some(count) = self.supporters.get_mut(strategy) {
                *count -= 1;
            }
        }
        if let Some(instance) = &member.instance {
            self.instances.remove(instance);
        }
        self.gathered -= usize::from(member.joining.is_some());
        self.unsynced.remove(id);
        if self.leader.as_deref() == Some(id) {
            self.leader = self.members.keys().next().cloned();
        }
        Some(member)
    }

    /// How long members may have to wait for each other: the longest that any of them allows.
    fn rebalance_timeout_ms(&self) -> u64 {
        self.members.values().map(|member| member.rebalance_timeout_ms).max().unwrap_or(0)
    }

    /// Checks that a member speaks for itself (`ClassicGroup.validateMember`).
    ///
    /// # Errors
    /// `UNKNOWN_MEMBER_ID`, `FENCED_INSTANCE_ID`.
    fn check_member(&self, member: &str, instance: Option<&str>) -> Result<(), KafkaError> {
        if let Some(instance) = instance {
            match self.instances.get(instance) {
                None => return Err(KafkaError::UnknownMemberId),
                Some(known) if known != member => return Err(KafkaError::FencedInstanceId),
                Some(_) => {}
            }
        }
        let known = self.members.contains_key(member);
        if known { Ok(()) } else { Err(KafkaError::UnknownMemberId) }
    }

    fn check_speaker(&self, speaker: &Speaker) -> Result<(), KafkaError> {
        self.check_member(&speaker.member, speaker.instance.as_deref())?;
        if speaker.epoch == self.generation { Ok(()) } else { Err(KafkaError::IllegalGeneration) }
    }

    /// Checks who commits offsets (`ClassicGroup.validateOffsetCommit`). Without a member it is an
    /// administrator or a consumer that assigns itself, which only a group without members takes.
    ///
    /// # Errors
    /// `UNKNOWN_MEMBER_ID`, `FENCED_INSTANCE_ID`, `ILLEGAL_GENERATION`, `REBALANCE_IN_PROGRESS`.
    pub fn check_commit(&self, speaker: Option<&Speaker>) -> Result<(), KafkaError> {
        match speaker {
            None if self.phase == GroupPhase::Empty => {}
            None => return Err(KafkaError::UnknownMemberId),
            Some(speaker) => self.check_speaker(speaker)?,
        }
        match self.phase {
            GroupPhase::CompletingRebalance => Err(KafkaError::RebalanceInProgress),
            _ => Ok(()),
        }
    }
}
