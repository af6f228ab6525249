//! What a heartbeat does: joining, staying, leaving; and what happens without one.
//!
//! Follows `GroupMetadataManager.consumerGroupHeartbeat` and `shareGroupHeartbeat`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{
    Change, Current, JOIN_EPOCH, Kind, LEAVE_EPOCH, LEAVE_STATIC_EPOCH, Member, ModernGroup,
    Progress, Subscription, TopicRacks,
};
use crate::sim::assignor::ServerAssignor;
use crate::sim::error::KafkaError;
use crate::sim::ids::TopicPartition;

/// A member's heartbeat (`ConsumerGroupHeartbeatRequest`, `ShareGroupHeartbeatRequest`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Beat {
    /// Its member id, which it has chosen itself.
    pub member: String,
    /// Its epoch; 0 to join, -1 to leave, -2 to leave for a while.
    pub epoch: i32,
    /// What it wants; only when it joins or when that has changed.
    pub subscription: Option<Arc<Subscription>>,
    /// `group.instance.id`.
    pub instance: Option<String>,
    /// The partitions that it holds; only when that has changed.
    pub owned: Option<BTreeSet<TopicPartition>>,
}

/// The circumstances of a heartbeat.
#[derive(Clone, Copy, Debug)]
pub struct Around<'a> {
    /// The present, in milliseconds.
    pub now_ms: u64,
    /// Every topic with the racks of its partitions' replicas; none if nothing has changed since
    /// this group was last asked.
    pub topics: Option<&'a TopicRacks>,
    /// `group.consumer.session.timeout.ms`, or that of share groups.
    pub session_timeout_ms: u64,
    /// `group.consumer.assignment.interval.ms`, or that of share groups.
    pub assignment_interval_ms: u64,
    /// `group.consumer.max.size`, or that of share groups.
    pub max_size: usize,
    /// `group.consumer.assignors`, the default one first.
    pub assignors: &'a [ServerAssignor],
}

/// What a member is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// Its epoch from now on.
    pub epoch: i32,
    /// The partitions that it may have; none if that has not changed.
    pub assignment: Option<BTreeSet<TopicPartition>>,
}

impl ModernGroup {
    /// Handles a heartbeat. What it changes is added to `changes`, and has happened.
    ///
    /// # Errors
    /// `UNKNOWN_MEMBER_ID`, `FENCED_MEMBER_EPOCH`, `UNRELEASED_INSTANCE_ID`, `FENCED_INSTANCE_ID`,
    /// `UNSUPPORTED_ASSIGNOR`, `GROUP_MAX_SIZE_REACHED`; then nothing has changed.
    pub fn heartbeat(
        &mut self,
        beat: &Beat,
        around: &Around<'_>,
        changes: &mut Vec<Change>,
    ) -> Result<Reply, KafkaError> {
        match beat.epoch {
            LEAVE_EPOCH | LEAVE_STATIC_EPOCH => self.leave(beat, changes),
            _ => self.stay(beat, around, changes),
        }
    }

    fn stay(
        &mut self,
        beat: &Beat,
        around: &Around<'_>,
        changes: &mut Vec<Change>,
    ) -> Result<Reply, KafkaError> {
        self.check(beat, around)?;
        self.default_assignor = around.assignors.first().copied();
        let id = &beat.member;
        let before = self.members.get(id).map(|member| member.current.clone());
        self.replace_static_member(beat, changes);
        let wants_other_topics = self.update_subscription(beat, changes);
        self.raise_epoch_if(wants_other_topics, around, changes);
        self.update_target(around, changes);
        let Some(member) = self.members.get(id) else { return Err(KafkaError::UnknownMemberId) };
        let current = self.reconciled(member, beat.owned.as_ref());
        if current != member.current {
            self.change(Change::Current(id.clone(), current), changes);
        }
        self.sessions.insert(id.clone(), around.now_ms + around.session_timeout_ms);
        self.watch_revocation(id, around.now_ms);
        Ok(self.reply(beat, before.as_ref()))
    }

    fn reply(&self, beat: &Beat, before: Option<&Current>) -> Reply {
        let current = self.members.get(&beat.member).map(|member| &member.current);
        let assigned = |current: &Current| -> BTreeSet<TopicPartition> {
            current.assigned.keys().cloned().collect()
        };
        let now = current.map(assigned).unwrap_or_default();
        let changed = before.is_none_or(|before| !before.assigned.keys().eq(&now));
        let tell = changed || beat.epoch == JOIN_EPOCH || beat.subscription.is_some();
        Reply {
            epoch: current.map_or(LEAVE_EPOCH, |current| current.epoch),
            assignment: tell.then_some(now),
        }
    }

    /// Whether the one who speaks is a member, or may become one.
    fn check(&self, beat: &Beat, around: &Around<'_>) -> Result<(), KafkaError> {
        let wanted = beat.subscription.as_ref().and_then(|wants| wants.assignor.as_deref());
        let is_offered = |name| {
            ServerAssignor::named(name).is_some_and(|found| around.assignors.contains(&found))
        };
        if !wanted.is_none_or(is_offered) {
            return Err(KafkaError::UnsupportedAssignor);
        }
        let joins = beat.epoch == JOIN_EPOCH;
        if let Some(instance) = &beat.instance {
            match self.instances.get(instance) {
                None if joins => {}
                None => return Err(KafkaError::UnknownMemberId),
                Some(holder) if *holder == beat.member => {}
                Some(holder) if joins => {
                    let away = self.members.get(holder).map(|member| member.current.epoch);
                    return match away {
                        Some(LEAVE_STATIC_EPOCH) => Ok(()),
                        _ => Err(KafkaError::UnreleasedInstanceId),
                    };
                }
                Some(_) => return Err(KafkaError::FencedInstanceId),
            }
        }
        match self.members.get(&beat.member) {
            Some(_) if joins => Ok(()),
            Some(member) => self.check_epoch(beat, &member.current),
            None if !joins => Err(KafkaError::UnknownMemberId),
            None if self.members.len() >= around.max_size => Err(KafkaError::GroupMaxSizeReached),
            None => Ok(()),
        }
    }

    /// The epoch is the member's own, or the one before, which it says if it has not heard the last
    /// answer (`throwIfConsumerGroupMemberEpochIsInvalid`).
    fn check_epoch(&self, beat: &Beat, current: &Current) -> Result<(), KafkaError> {
        let holds_its_own = || match (&beat.owned, self.kind) {
            (_, Kind::Share) => true,
            (Some(owned), _) => owned.iter().all(|p| current.assigned.contains_key(p)),
            (None, _) => false,
        };
        let known = beat.epoch == current.epoch
            || (beat.epoch < current.epoch
                && beat.epoch == current.previous_epoch
                && holds_its_own());
        if known { Ok(()) } else { Err(KafkaError::FencedMemberEpoch) }
    }

    /// A static member has come back under another member id: it takes the place of the one that
    /// had left for a while, with its partitions, and the group's epoch stays.
    fn replace_static_member(&mut self, beat: &Beat, changes: &mut Vec<Change>) {
        let holder = beat.instance.as_ref().and_then(|instance| self.instances.get(instance));
        let Some(holder) = holder.filter(|holder| **holder != beat.member).cloned() else { return };
        let Some(Member { subscription, current, target }) = self.members.get(&holder).cloned()
        else {
            return;
        };
        self.change(Change::Member(holder, None), changes);
        let id = || beat.member.clone();
        self.change(Change::Member(id(), Some(subscription)), changes);
        self.change(Change::Target(id(), target), changes);
        let current = Current { epoch: JOIN_EPOCH, previous_epoch: JOIN_EPOCH, ..current };
        self.change(Change::Current(id(), current), changes);
    }

    /// Writes down what a member wants, if that is news. Says whether its topics are others than
    /// before.
    fn update_subscription(&mut self, beat: &Beat, changes: &mut Vec<Change>) -> bool {
        let Some(wants) = &beat.subscription else { return false };
        let known = self.members.get(&beat.member).map(|member| &member.subscription);
        if known == Some(wants) {
            return false;
        }
        let news = known.is_none_or(|known| known.topics != wants.topics);
        self.change(Change::Member(beat.member.clone(), Some(Arc::clone(wants))), changes);
        news
    }

    /// The group's epoch rises when members want other topics, and when their topics have other
    /// partitions or racks.
    fn raise_epoch_if(
        &mut self,
        wants_other_topics: bool,
        around: &Around<'_>,
        changes: &mut Vec<Change>,
    ) {
        let topics = match around.topics {
            Some(all) => {
                let subscribed = self.subscribed_topics();
                let known = all.iter().filter(|(topic, _)| subscribed.contains(*topic));
                Arc::new(known.map(|(topic, racks)| (topic.clone(), racks.clone())).collect())
            }
            None => Arc::clone(&self.topics),
        };
        if self.kind == Kind::Share {
            self.begin_set_up(&topics, changes);
        }
        if wants_other_topics || topics != self.topics || self.has_news {
            self.change(Change::Epoch(self.epoch + 1, topics), changes);
        }
    }

    /// Partitions of a share group that are new have their state set up before they are assigned
    /// (`maybeCreateInitializeShareGroupStateRequest`).
    fn begin_set_up(&mut self, topics: &TopicRacks, changes: &mut Vec<Change>) {
        let all = topics.iter().flat_map(|(topic, racks)| {
            let count = u32::try_from(racks.len()).unwrap_or(u32::MAX);
            (0..count).map(move |number| TopicPartition::new(topic.clone(), number))
        });
        let mut set_up = self.set_up.clone();
        set_up.pending.extend(all.filter(|partition| !self.set_up.done.contains(partition)));
        if set_up != self.set_up {
            self.change(Change::SetUp(set_up), changes);
        }
    }

    /// A member that has to give up partitions has its rebalance time-out for that.
    fn watch_revocation(&mut self, id: &str, now_ms: u64) {
        let Some(member) = self.members.get(id) else { return };
        if member.current.progress == Progress::UnrevokedPartitions {
            let until = now_ms + member.subscription.rebalance_timeout_ms;
            self.revocations.entry(id.to_owned()).or_insert(until);
        } else {
            self.revocations.remove(id);
        }
    }

    fn leave(&mut self, beat: &Beat, changes: &mut Vec<Change>) -> Result<Reply, KafkaError> {
        if let Some(instance) = &beat.instance
            && self.instances.get(instance).is_some_and(|holder| *holder != beat.member)
        {
            return Err(KafkaError::FencedInstanceId);
        }
        let member = self.members.get(&beat.member).ok_or(KafkaError::UnknownMemberId)?;
        if beat.epoch == LEAVE_STATIC_EPOCH {
            let current = Current {
                epoch: LEAVE_STATIC_EPOCH,
                progress: Progress::Stable,
                revoking: BTreeMap::new(),
                ..member.current.clone()
            };
            self.change(Change::Current(beat.member.clone(), current), changes);
        } else {
            self.fence(&beat.member, changes);
        }
        Ok(Reply { epoch: beat.epoch, assignment: None })
    }

    /// A member is gone; the group's epoch rises (`consumerGroupFenceMember`).
    fn fence(&mut self, id: &str, changes: &mut Vec<Change>) {
        self.change(Change::Member(id.to_owned(), None), changes);
        self.change(Change::Epoch(self.epoch + 1, Arc::clone(&self.topics)), changes);
    }

    /// Shuts a member out whose session has ended, or that has not given up its partitions in time.
    /// Says whether it has.
    pub fn expire(&mut self, id: &str, now_ms: u64, changes: &mut Vec<Change>) -> bool {
        let over = self.deadline_ms(id).is_some_and(|until| until <= now_ms);
        if over {
            self.fence(id, changes);
        }
        over
    }

    /// Makes a change and writes it down.
    pub(super) fn change(&mut self, change: Change, changes: &mut Vec<Change>) {
        self.apply(&change);
        changes.push(change);
    }

    /// The state of these partitions has been set up.
    pub fn end_set_up(&mut self, partitions: &[TopicPartition], changes: &mut Vec<Change>) {
        let mut set_up = self.set_up.clone();
        for partition in partitions {
            if set_up.pending.remove(partition) {
                set_up.done.insert(partition.clone());
            }
        }
        self.change(Change::SetUp(set_up), changes);
    }

    /// Partitions whose state is there.
    #[must_use]
    pub fn set_up_partitions(&self) -> &BTreeSet<TopicPartition> {
        &self.set_up.done
    }

    /// Partitions whose state has still to be set up.
    #[must_use]
    pub fn being_set_up(&self) -> &BTreeSet<TopicPartition> {
        &self.set_up.pending
    }
}
