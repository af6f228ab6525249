//! Members of a classic group: sessions, heartbeats, and how they leave.

use crate::sim::assignor::client::{Strategy, Subscription};
use crate::sim::error::KafkaError;
use crate::sim::ids::TopicPartition;
use crate::sim::message::{Body, JoinAnswer, JoinRequest, MessageId, Speaker};

use super::{Change, ClassicGroup, Effect, GroupPhase, GroupTimer, NEW_MEMBER_TIMEOUT_MS};

/// A member (`ClassicGroupMember`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Member {
    /// Its id: the client's name and what makes it unique.
    pub id: String,
    /// The client's name (`client.id`).
    pub client: String,
    /// `group.instance.id` of a static member.
    pub instance: Option<String>,
    /// `session.timeout.ms`.
    pub session_timeout_ms: u64,
    /// `max.poll.interval.ms`.
    pub rebalance_timeout_ms: u64,
    /// The assignors that it supports, with what it says to each.
    pub protocols: Vec<(Strategy, Subscription)>,
    /// What it was given.
    pub assignment: Vec<TopicPartition>,
    /// Its `JoinGroup` that waits for the others.
    pub(super) joining: Option<MessageId>,
    /// Its `SyncGroup` that waits for the leader's.
    pub(super) syncing: Option<MessageId>,
    /// It is missed at this time, in milliseconds.
    pub(super) session_until_ms: u64,
    /// When a timer looks after its session, in milliseconds; `None`: there is no timer.
    pub(super) watched_ms: Option<u64>,
    /// Whether it has never been told a generation.
    pub(super) is_new: bool,
}

impl Member {
    /// A member as it says of itself.
    #[must_use]
    pub fn new(id: String, client: &str, request: &JoinRequest) -> Member {
        let mut member =
            Member { id, client: client.to_owned(), is_new: true, ..Member::default() };
        member.take(request);
        member
    }

    /// Takes over what it says of itself.
    pub(super) fn take(&mut self, request: &JoinRequest) {
        self.instance.clone_from(&request.instance);
        self.session_timeout_ms = request.session_timeout_ms;
        self.rebalance_timeout_ms = request.rebalance_timeout_ms;
        self.protocols.clone_from(&request.protocols);
    }

    /// What it says to this assignor.
    #[must_use]
    pub fn subscription(&self, strategy: Strategy) -> Option<&Subscription> {
        self.protocols.iter().find(|(known, _)| *known == strategy).map(|(_, said)| said)
    }

    pub(super) fn subscribes_to(&self, topic: &str) -> bool {
        self.protocols.iter().any(|(_, said)| said.topics.contains(topic))
    }

    pub(super) fn refusal(&self, error: KafkaError) -> JoinAnswer {
        JoinAnswer { member: self.id.clone(), result: Err(error) }
    }
}

impl ClassicGroup {
    /// A member was heard of: its session begins anew
    /// (`rescheduleClassicGroupMemberHeartbeat`).
    pub fn heard_of(&mut self, id: &str, change: &mut Change) {
        let Some(member) = self.members.get_mut(id) else { return };
        let timeout_ms =
            if member.is_new { NEW_MEMBER_TIMEOUT_MS } else { member.session_timeout_ms };
        member.session_until_ms = change.now_ms + timeout_ms;
        // A timer that comes earlier sees for itself that there is time left.
        if member.watched_ms.is_none_or(|at_ms| at_ms > member.session_until_ms) {
            member.watched_ms = Some(member.session_until_ms);
            change.wake(timeout_ms, GroupTimer::Session(id.to_owned()));
        }
    }

    /// A member's heartbeat (`classicGroupHeartbeat`). While the group gathers, it tells the member
    /// to join again.
    ///
    /// # Errors
    /// `UNKNOWN_MEMBER_ID`, `FENCED_INSTANCE_ID`, `ILLEGAL_GENERATION`, `REBALANCE_IN_PROGRESS`.
    pub fn heartbeat(&mut self, speaker: &Speaker, change: &mut Change) -> Result<(), KafkaError> {
        self.check_speaker(speaker)?;
        self.heard_of(&speaker.member, change);
        match self.phase {
            GroupPhase::Empty => Err(KafkaError::UnknownMemberId),
            GroupPhase::PreparingRebalance => Err(KafkaError::RebalanceInProgress),
            GroupPhase::CompletingRebalance | GroupPhase::Stable => Ok(()),
        }
    }

    /// A member's session may be over (`expireClassicGroupMemberHeartbeat`). Who waits for the
    /// group is not missed.
    pub(super) fn session_over(&mut self, id: &str, change: &mut Change) {
        let Some(member) = self.members.get_mut(id) else { return };
        if member.watched_ms.is_none_or(|at_ms| at_ms > change.now_ms) {
            return;
        }
        member.watched_ms = None;
        if member.session_until_ms > change.now_ms {
            let left_ms = member.session_until_ms - change.now_ms;
            member.watched_ms = Some(member.session_until_ms);
            change.wake(left_ms, GroupTimer::Session(id.to_owned()));
        } else if member.is_new || (member.joining.is_none() && member.syncing.is_none()) {
            let timeout_ms = member.session_timeout_ms;
            change.effects.push(Effect::Miss { member: id.to_owned(), timeout_ms });
            self.remove(id, change);
        }
    }

    /// An id that was handed out is not used (`expirePendingMember`).
    pub(super) fn pending_over(&mut self, id: &str, change: &mut Change) {
        if self.pending.remove(id) {
            self.complete_join_if_all_are_there(change);
        }
    }

    /// A member says that it leaves (`classicGroupLeave`). A static one is named by its instance.
    ///
    /// # Errors
    /// `UNKNOWN_MEMBER_ID`, `FENCED_INSTANCE_ID`.
    pub fn leave(
        &mut self,
        member: &str,
        instance: Option<&str>,
        change: &mut Change,
    ) -> Result<(), KafkaError> {
        if self.pending.remove(member) {
            self.complete_join_if_all_are_there(change);
            return Ok(());
        }
        self.check_member(member, instance)?;
        change.say(format!("{member} leaves {}", self.name));
        self.remove(member, change);
        Ok(())
    }

    /// A member is gone: the others gather anew (`removeMemberAndUpdateClassicGroup`).
    fn remove(&mut self, id: &str, change: &mut Change) {
        let Some(member) = self.take_out(id) else { return };
        let error = KafkaError::UnknownMemberId;
        if let Some(request) = member.joining {
            change.answer(request, Body::JoinGroupResponse(member.refusal(error)));
        }
        if let Some(request) = member.syncing {
            change.answer(request, Body::SyncGroupResponse(Err(error)));
        }
        match self.phase {
            GroupPhase::Stable | GroupPhase::CompletingRebalance => {
                self.prepare_rebalance(change);
            }
            GroupPhase::PreparingRebalance => self.complete_join_if_all_are_there(change),
            GroupPhase::Empty => {}
        }
    }
}
