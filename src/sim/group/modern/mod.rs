//! Groups whose coordinator assigns: those of KIP-848 (`protocol: consumer`) and share groups
//! (KIP-932), as state and as records of `__consumer_offsets`.
//!
//! Follows `ModernGroup`, `ConsumerGroup`, `ShareGroup` and `GroupMetadataManager`. Every change is
//! a record: what one heartbeat changes is applied as it is written, and a new coordinator applies
//! the same records. It knows no network: deadlines are kept here, timers are set by the broker.

mod heartbeat;
mod reconcile;
mod target;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::sim::assignor::ServerAssignor;
use crate::sim::error::KafkaError;
use crate::sim::ids::TopicPartition;

pub use heartbeat::{Around, Beat, Reply};

/// The epoch with which a member joins.
pub const JOIN_EPOCH: i32 = 0;
/// The epoch with which a member leaves.
pub const LEAVE_EPOCH: i32 = -1;
/// The epoch with which a static member leaves for a while.
pub const LEAVE_STATIC_EPOCH: i32 = -2;
/// The epoch before a group's first; the first member of a new group makes it 2, as on a running
/// Kafka 4.3.
const FIRST_EPOCH: i32 = 1;

/// What a group's partitions are to its members.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// Each has one owner (KIP-848).
    #[default]
    Consumer,
    /// Several members may share one (KIP-932).
    Share,
}

/// What a member wants (`ConsumerGroupMemberMetadataValue`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subscription {
    /// `client.id`.
    pub client: String,
    /// `group.instance.id`.
    pub instance: Option<String>,
    /// `client.rack`.
    pub rack: Option<String>,
    /// The topics that it subscribes to.
    pub topics: BTreeSet<String>,
    /// `group.remote.assignor`.
    pub assignor: Option<String>,
    /// How long it may take to give partitions up (`max.poll.interval.ms`).
    pub rebalance_timeout_ms: u64,
}

/// Where a member is on its way to its target (`MemberState`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Progress {
    /// It has what it shall have.
    #[default]
    Stable,
    /// It has to give up partitions first.
    UnrevokedPartitions,
    /// It waits for partitions that others have not given up.
    UnreleasedPartitions,
}

/// What a member has (`ConsumerGroupCurrentMemberAssignmentValue`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Current {
    /// The member's epoch.
    pub epoch: i32,
    /// The one before it.
    pub previous_epoch: i32,
    /// Where it is.
    pub progress: Progress,
    /// Its partitions, each with the member epoch at which it got it.
    pub assigned: BTreeMap<TopicPartition, i32>,
    /// Partitions that it has to give up and has not.
    pub revoking: BTreeMap<TopicPartition, i32>,
}

impl Current {
    /// Everything that nobody else may have.
    pub fn held(&self) -> impl Iterator<Item = &TopicPartition> {
        self.assigned.keys().chain(self.revoking.keys())
    }
}

/// A member.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Member {
    /// What it wants.
    pub subscription: Arc<Subscription>,
    /// What it has.
    pub current: Current,
    /// Its target assignment.
    pub target: BTreeSet<TopicPartition>,
}

/// Topics that a group subscribes to: of each partition the racks of its replicas. A change of
/// either raises the group's epoch (KIP-1101).
pub type TopicRacks = BTreeMap<String, Vec<BTreeSet<String>>>;

/// What is written of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// A member's subscription; none: it is gone.
    Member(String, Option<Arc<Subscription>>),
    /// The group's epoch and the topics that it is about.
    Epoch(i32, Arc<TopicRacks>),
    /// A member's target assignment.
    Target(String, BTreeSet<TopicPartition>),
    /// The epoch of the target assignment.
    TargetEpoch(i32),
    /// What a member has.
    Current(String, Current),
    /// A share group's partitions whose state is being set up, and those whose state is there
    /// (`ShareGroupStatePartitionMetadataValue`).
    SetUp(SetUp),
}

/// A group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModernGroup {
    /// `group.id`.
    pub name: String,
    /// What it is.
    pub kind: Kind,
    /// Raised by every change of members, subscriptions or partitions.
    pub epoch: i32,
    /// The group epoch for which the target assignment was made.
    pub target_epoch: i32,
    /// Its members.
    pub members: BTreeMap<String, Member>,
    /// The topics as they were when the epoch was raised last.
    topics: Arc<TopicRacks>,
    /// Who holds a partition, or has not given it up.
    owners: BTreeMap<TopicPartition, String>,
    /// Static members by their instances.
    instances: BTreeMap<String, String>,
    /// A share group's partitions whose state is there or comes to be.
    set_up: SetUp,
    /// Whether partitions have come to be assignable since the epoch was raised last.
    has_news: bool,
    /// When the last target assignment was made, in milliseconds.
    assigned_ms: Option<u64>,
    /// When each member counts as gone, in milliseconds.
    sessions: BTreeMap<String, u64>,
    /// When each member that has to give up partitions counts as stuck, in milliseconds.
    revocations: BTreeMap<String, u64>,
    /// When each member is looked at next, in milliseconds.
    looks: BTreeMap<String, u64>,
    /// The first of `group.consumer.assignors`, as far as it was told.
    default_assignor: Option<ServerAssignor>,
    /// How much of the metadata it has been asked about.
    pub metadata_offset: u64,
}

/// The state of a share group's partitions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SetUp {
    /// It comes to be.
    pub pending: BTreeSet<TopicPartition>,
    /// It is there, so that they can be assigned.
    pub done: BTreeSet<TopicPartition>,
}

impl ModernGroup {
    /// A group that nobody has joined.
    #[must_use]
    pub fn new(name: &str, kind: Kind) -> ModernGroup {
        ModernGroup {
            name: name.to_owned(),
            kind,
            epoch: FIRST_EPOCH,
            target_epoch: FIRST_EPOCH,
            members: BTreeMap::new(),
            topics: Arc::default(),
            owners: BTreeMap::new(),
            instances: BTreeMap::new(),
            set_up: SetUp::default(),
            has_news: false,
            assigned_ms: None,
            sessions: BTreeMap::new(),
            revocations: BTreeMap::new(),
            looks: BTreeMap::new(),
            default_assignor: None,
            metadata_offset: 0,
        }
    }

    /// Takes over one record (`GroupMetadataManager.replay`).
    pub fn apply(&mut self, change: &Change) {
        match change {
            Change::Member(id, Some(subscription)) => {
                if let Some(instance) = &subscription.instance {
                    self.instances.insert(instance.clone(), id.clone());
                }
                self.members.entry(id.clone()).or_default().subscription = Arc::clone(subscription);
            }
            Change::Member(id, None) => self.remove(id),
            Change::Epoch(epoch, topics) => {
                self.epoch = *epoch;
                self.topics = Arc::clone(topics);
                self.has_news = false;
            }
            Change::Target(id, target) => {
                if let Some(member) = self.members.get_mut(id) {
                    member.target.clone_from(target);
                }
            }
            Change::TargetEpoch(epoch) => self.target_epoch = *epoch,
            Change::Current(id, current) => self.take_current(id, current),
            Change::SetUp(set_up) => {
                self.has_news |= set_up.done != self.set_up.done;
                self.set_up.clone_from(set_up);
            }
        }
    }

    fn remove(&mut self, id: &str) {
        let Some(member) = self.members.remove(id) else { return };
        if let Some(instance) = &member.subscription.instance
            && self.instances.get(instance).is_some_and(|known| known == id)
        {
            self.instances.remove(instance);
        }
        for partition in member.current.held() {
            release(&mut self.owners, partition, id);
        }
        self.sessions.remove(id);
        self.revocations.remove(id);
        self.looks.remove(id);
    }

    fn take_current(&mut self, id: &str, current: &Current) {
        let Some(member) = self.members.get_mut(id) else { return };
        if self.kind == Kind::Consumer {
            for partition in member.current.held() {
                release(&mut self.owners, partition, id);
            }
            for partition in current.held() {
                self.owners.insert(partition.clone(), id.to_owned());
            }
        }
        member.current.clone_from(current);
    }

    /// Forgets who holds what, for tests that break the rule.
    pub fn forget_owners(&mut self) {
        self.owners.clear();
    }

    /// Its state by Kafka's name (`ConsumerGroup.maybeUpdateGroupState`,
    /// `ShareGroup.maybeUpdateGroupState`).
    #[must_use]
    pub fn state(&self) -> &'static str {
        let is_reconciled = |member: &Member| {
            member.current.progress == Progress::Stable && member.current.epoch == self.target_epoch
        };
        match self.kind {
            _ if self.members.is_empty() => "Empty",
            Kind::Consumer if self.epoch > self.target_epoch => "Assigning",
            Kind::Consumer if !self.members.values().all(is_reconciled) => "Reconciling",
            _ => "Stable",
        }
    }

    /// Whether a commit may be taken (`ConsumerGroup.validateOffsetCommit`): the member's epoch is
    /// its present one, or, since 4.3, one since which it has held every partition of the commit.
    /// Without a member it is an administrator, who may commit for a group without members.
    ///
    /// # Errors
    /// `UNKNOWN_MEMBER_ID`, `STALE_MEMBER_EPOCH`.
    pub fn check_commit<'p>(
        &self,
        member: Option<&str>,
        epoch: i32,
        partitions: impl IntoIterator<Item = &'p TopicPartition>,
    ) -> Result<(), KafkaError> {
        let Some(id) = member else {
            let empty = self.members.is_empty();
            return if empty { Ok(()) } else { Err(KafkaError::UnknownMemberId) };
        };
        let current = &self.members.get(id).ok_or(KafkaError::UnknownMemberId)?.current;
        if epoch == current.epoch {
            return Ok(());
        }
        let held_since = |partition: &TopicPartition| {
            let since = current.assigned.get(partition).or(current.revoking.get(partition));
            since.is_some_and(|since| epoch >= *since)
        };
        let mut partitions = partitions.into_iter();
        if epoch < current.epoch && partitions.all(held_since) {
            Ok(())
        } else {
            Err(KafkaError::StaleMemberEpoch)
        }
    }

    /// When a member counts as gone or stuck, in milliseconds.
    #[must_use]
    pub fn deadline_ms(&self, id: &str) -> Option<u64> {
        let session = self.sessions.get(id).copied();
        session.into_iter().chain(self.revocations.get(id).copied()).min()
    }

    /// When a member has to be looked at, unless that is seen to already.
    pub fn next_look_ms(&mut self, id: &str) -> Option<u64> {
        let due = self.deadline_ms(id)?;
        if self.looks.get(id).is_some_and(|at| *at <= due) {
            return None;
        }
        self.looks.insert(id.to_owned(), due);
        Some(due)
    }

    /// A member is looked at again at this time, in milliseconds.
    pub fn look_again(&mut self, id: &str, at_ms: u64) {
        self.looks.insert(id.to_owned(), at_ms);
    }

    /// The time to look at a member has come. Says whether this is the look that counts.
    pub fn look(&mut self, id: &str, now_ms: u64) -> bool {
        let counts = self.looks.get(id) == Some(&now_ms);
        if counts {
            self.looks.remove(id);
        }
        counts
    }

    /// Its members by the names of their clients, sorted.
    #[must_use]
    pub fn member_names(&self) -> Vec<String> {
        let names: BTreeSet<&String> =
            self.members.values().map(|member| &member.subscription.client).collect();
        names.into_iter().cloned().collect()
    }

    /// A new coordinator gives every member a whole session
    /// (`GroupMetadataManager.onLoaded`).
    pub fn restart_sessions(&mut self, now_ms: u64, session_ms: u64) {
        for (id, member) in &self.members {
            self.sessions.insert(id.clone(), now_ms + session_ms);
            if member.current.progress == Progress::UnrevokedPartitions {
                let until = now_ms + member.subscription.rebalance_timeout_ms;
                self.revocations.insert(id.clone(), until);
            }
        }
    }
}

fn release(owners: &mut BTreeMap<TopicPartition, String>, partition: &TopicPartition, id: &str) {
    if owners.get(partition).is_some_and(|owner| owner == id) {
        owners.remove(partition);
    }
}
