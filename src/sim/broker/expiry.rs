//! Committed offsets that expire, and groups that are forgotten with the last of theirs.
//!
//! Follows `GroupCoordinatorService.cleanupExpiredOffsets`,
//! `OffsetExpirationConditionImpl`, `ClassicGroup.offsetExpirationCondition`,
//! `ConsumerGroup.offsetExpirationCondition`.
//!
//! # Differs from Kafka
//! A group of KIP-848 without members and offsets stays known.

use crate::sim::check::Note;
use crate::sim::group::{Group, GroupPhase};
use crate::sim::ids::TopicPartition;
use crate::sim::kernel::Kernel;
use crate::sim::record::{Batch, InternalRecord, Record};
use crate::sim::timer::Timer;
use crate::sim::trace::EventKind;

use super::Broker;
use super::offsets::{Commit, commit_record};

/// A group's offsets of which none may be left, and whether the group goes with them.
struct Expired {
    home: TopicPartition,
    group: String,
    partitions: Vec<TopicPartition>,
    forgets_group: bool,
}

impl Broker {
    /// The first look for expired offsets comes after one interval.
    pub(super) fn watch_expiry(&self, kernel: &mut Kernel) {
        let next_ms = kernel.now_ms + self.settings.offsets_retention_check_ms;
        kernel.timer(&self.machine, next_ms, Timer::OffsetsExpiry);
    }

    /// Writes tombstones for what has expired; a group without members and offsets is forgotten.
    pub(super) fn expire_offsets(&mut self, kernel: &mut Kernel) {
        self.watch_expiry(kernel);
        let now_ms = kernel.now_ms;
        for expired in self.expired(now_ms) {
            let Expired { home, group, partitions, forgets_group } = expired;
            let mut records: Vec<Record> = partitions
                .iter()
                .map(|partition| commit_record(&group, partition, None, now_ms))
                .collect();
            if forgets_group {
                records.push(group_tombstone(&group, now_ms));
            }
            if self.append_internal(&home, Batch::of(records), kernel).is_err() {
                continue;
            }
            let text = format!("{} offsets of {group} have expired", partitions.len());
            kernel.trace(EventKind::GroupChange, &self.machine, text);
            if forgets_group {
                self.offsets.forget_group(&home, &group);
                let (coordinator, home) = (self.id, home.clone());
                kernel.note(Note::ClassicGroup { coordinator, home, group });
            }
            self.complete_held(&home, kernel);
        }
    }

    fn expired(&self, now_ms: u64) -> Vec<Expired> {
        let retention_ms = self.settings.offsets_retention_ms;
        let mut all = Vec::new();
        for (home, loaded) in self.offsets.loaded() {
            for (name, commits) in &loaded.committed {
                let group = loaded.groups.get(name);
                let old = |(partition, commit): &(&TopicPartition, &Commit)| {
                    let since_ms = counts_from(group, partition, commit);
                    since_ms.is_some_and(|since_ms| now_ms.saturating_sub(since_ms) >= retention_ms)
                };
                let partitions: Vec<TopicPartition> =
                    commits.iter().filter(old).map(|(partition, _)| partition.clone()).collect();
                if partitions.is_empty() {
                    continue;
                }
                let is_last = partitions.len() == commits.len();
                let is_empty = loaded.groups.classic(name);
                let is_empty = is_empty.is_some_and(|group| group.phase == GroupPhase::Empty);
                all.push(Expired {
                    home: home.clone(),
                    group: name.clone(),
                    partitions,
                    forgets_group: is_last && is_empty,
                });
            }
        }
        all
    }
}

/// From when on an offset's retention counts: from when the group became empty, or from the commit
/// where the group never had members or no longer subscribes to the topic; `None`: it is in use.
/// In a group of KIP-848 it always counts from the commit.
fn counts_from(group: Option<&Group>, partition: &TopicPartition, commit: &Commit) -> Option<u64> {
    match group {
        None => Some(commit.at_ms),
        Some(Group::Modern(group)) => {
            (!group.subscribes_to(&partition.topic)).then_some(commit.at_ms)
        }
        Some(Group::Classic(group)) if group.phase == GroupPhase::Empty => {
            Some(group.empty_since_ms.max(commit.at_ms))
        }
        Some(Group::Classic(group)) => {
            let unused =
                group.phase == GroupPhase::Stable && !group.subscribes_to(&partition.topic);
            unused.then_some(commit.at_ms)
        }
    }
}

fn group_tombstone(group: &str, now_ms: u64) -> Record {
    Record::internal(group.into(), None, InternalRecord::GroupGone(group.to_owned()), now_ms)
}
