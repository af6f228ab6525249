//! The group coordinator's part that lives on a broker: committed offsets, kept in
//! `__consumer_offsets`.
//!
//! Follows `GroupCoordinatorService`, `OffsetMetadataManager`. A commit is a record in the log of
//! the group's partition; it is visible once that record is committed.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::sim::check::Note;
use crate::sim::error::KafkaError;
use crate::sim::group::{self, ClassicGroup, Group, Groups};
use crate::sim::ids::{BrokerId, Offset, TopicPartition};
use crate::sim::kernel::Kernel;
use crate::sim::message::{Body, Message, MessageId};
use crate::sim::record::{Batch, BatchKind, InternalRecord, Outcome, Record, StoredBatch};
use crate::sim::trace::EventKind;
use crate::sim::txn::message::TransactionBody;

use super::{Broker, Held};

/// How long a coordinator waits for its own write (`group.coordinator.write.timeout.ms` is
/// `offsets.commit.timeout.ms`, 5 s).
pub(super) const COMMIT_TIMEOUT_MS: u64 = 5000;

/// What a coordinator has loaded, by partition of `__consumer_offsets`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupOffsets {
    partitions: BTreeMap<TopicPartition, Loaded>,
}

/// A committed offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Commit {
    pub(super) offset: Offset,
    /// When it was committed.
    pub(super) at_ms: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Loaded {
    /// Everything below it has been taken note of.
    read_to: Offset,
    pub(super) committed: BTreeMap<String, BTreeMap<TopicPartition, Commit>>,
    /// What open transactions will have committed, by producer.
    pending: BTreeMap<i64, Vec<(String, TopicPartition, Commit)>>,
    pub(super) groups: Groups,
}

impl GroupOffsets {
    /// Committed offsets of a group; `None` if this broker does not coordinate it.
    #[must_use]
    pub fn committed(
        &self,
        group: &str,
        home: &TopicPartition,
    ) -> Option<BTreeMap<TopicPartition, Offset>> {
        let of_group = self.partitions.get(home)?.committed.get(group);
        let commits = of_group.into_iter().flatten();
        Some(commits.map(|(partition, commit)| (partition.clone(), commit.offset)).collect())
    }

    /// The groups whose home is this partition; `None` if this broker does not coordinate them.
    #[must_use]
    pub fn groups(&self, home: &TopicPartition) -> Option<&Groups> {
        self.partitions.get(home).map(|loaded| &loaded.groups)
    }

    /// A classic group for changing; `None` if this broker does not coordinate it.
    pub fn classic_mut(&mut self, home: &TopicPartition, group: &str) -> Option<&mut ClassicGroup> {
        self.partitions.get_mut(home).and_then(|loaded| loaded.groups.classic_mut(group))
    }

    /// Makes an empty classic group, if there is no group of this name.
    pub fn make_classic(&mut self, home: &TopicPartition, group: &str) {
        if let Some(loaded) = self.partitions.get_mut(home) {
            loaded.groups.make_classic(group);
        }
    }

    /// What is loaded, by partition.
    pub(super) fn loaded(&self) -> impl Iterator<Item = (&TopicPartition, &Loaded)> {
        self.partitions.iter()
    }

    /// Forgets a group.
    pub(super) fn forget_group(&mut self, home: &TopicPartition, group: &str) {
        if let Some(loaded) = self.partitions.get_mut(home) {
            loaded.groups.remove(group);
        }
    }

    /// The groups whose home is this partition, for changing.
    pub(super) fn groups_mut(&mut self, home: &TopicPartition) -> Option<&mut Groups> {
        self.partitions.get_mut(home).map(|loaded| &mut loaded.groups)
    }

    /// The groups whose home is this partition, for tests of the checkers.
    #[cfg(test)]
    pub fn groups_for_test(&mut self, home: &TopicPartition) -> Option<&mut Groups> {
        self.groups_mut(home)
    }

    /// The partitions whose groups this broker coordinates.
    pub(super) fn homes(&self) -> Vec<TopicPartition> {
        self.partitions.keys().cloned().collect()
    }

    /// Forgets a partition that this broker no longer leads.
    pub fn unload(&mut self, home: &TopicPartition) {
        self.partitions.remove(home);
    }
}

impl Loaded {
    /// Takes note of a record. What a transaction commits counts once its marker says so.
    fn note(&mut self, record: &Record, stored: &StoredBatch) {
        let producer = stored.batch.stamp.map(|stamp| stamp.producer_id);
        if let (BatchKind::Marker { outcome, .. }, Some(producer)) = (stored.batch.kind, producer) {
            for (group, partition, commit) in self.pending.remove(&producer).unwrap_or_default() {
                if outcome == Outcome::Commit {
                    self.committed.entry(group).or_default().insert(partition, commit);
                }
            }
            return;
        }
        // Groups are read on becoming coordinator; from then on memory is ahead of the log.
        let Some(InternalRecord::OffsetCommit { group, partition, offset }) =
            record.internal.as_deref()
        else {
            return;
        };
        let of_group = self.committed.entry(group.clone()).or_default();
        let at_ms = u64::try_from(record.timestamp).unwrap_or(0);
        let commit = offset.map(|offset| Commit { offset, at_ms });
        match (commit, producer) {
            (Some(commit), Some(producer)) => {
                let pending = self.pending.entry(producer).or_default();
                pending.push((group.clone(), partition.clone(), commit));
            }
            (Some(commit), None) => {
                of_group.insert(partition.clone(), commit);
            }
            (None, _) => {
                of_group.remove(partition);
            }
        }
    }
}

impl Broker {
    /// The partition of `__consumer_offsets` that holds a group, as far as the broker knows.
    pub(super) fn home_of(&self, group: &str) -> TopicPartition {
        self.image.home_of(group)
    }

    /// On becoming leader of a partition of `__consumer_offsets`: reads its groups, and the offsets
    /// that are committed in it (`CoordinatorLoaderImpl`).
    pub(super) fn load_offsets(&mut self, home: &TopicPartition) {
        self.load_share_states(home);
        if home.topic != group::OFFSETS_TOPIC {
            return;
        }
        let mut loaded = Loaded::default();
        if let Some(replica) = self.replicas.get(home) {
            for (_, record, _) in replica.log.records_from(replica.log.start_offset()) {
                match record.internal.as_deref() {
                    Some(InternalRecord::Group(group)) => loaded.groups.load(group),
                    Some(InternalRecord::GroupGone(group)) => loaded.groups.remove(group),
                    _ => {}
                }
            }
        }
        self.offsets.partitions.insert(home.clone(), loaded);
        self.load_modern_groups(home);
        self.note_committed_offsets(home);
    }

    /// In a warm world: reads every partition of Kafka's own that this broker coordinates.
    pub(in crate::sim) fn load_all_offsets(&mut self, kernel: &mut Kernel) {
        let homes: Vec<TopicPartition> = self
            .replicas
            .iter()
            .filter(|(_, replica)| replica.leader().is_some())
            .map(|(partition, _)| partition.clone())
            .collect();
        for home in homes {
            self.load_offsets(&home);
            self.load_transactions(&home, kernel);
        }
    }

    /// Takes note of the commits up to the high watermark.
    pub(super) fn note_committed_offsets(&mut self, home: &TopicPartition) {
        let Some(loaded) = self.offsets.partitions.get_mut(home) else { return };
        let Some(replica) = self.replicas.get(home) else { return };
        let up_to = replica.high_watermark;
        for (offset, record, stored) in replica.log.records_from(loaded.read_to) {
            if offset >= up_to {
                break;
            }
            loaded.note(record, stored);
        }
        loaded.read_to = loaded.read_to.max(up_to);
    }

    /// The broker that coordinates a group: the leader of its home.
    pub(super) fn find_coordinator(&self, group: &str) -> Result<BrokerId, KafkaError> {
        let state = self.image.partitions.get(&self.home_of(group));
        let leader = state.and_then(|state| state.leader);
        leader
            .filter(|leader| self.image.is_active(*leader))
            .ok_or(KafkaError::CoordinatorNotAvailable)
    }

    pub(super) fn loaded(&self, home: &TopicPartition) -> Result<&Loaded, KafkaError> {
        self.offsets.partitions.get(home).ok_or(KafkaError::NotCoordinator)
    }

    pub(super) fn handle_offset_commit(&mut self, message: &Message, kernel: &mut Kernel) {
        let Body::OffsetCommit { group, speaker, offsets } = &*message.body else { return };
        let home = self.home_of(group);
        let checked = self
            .loaded(&home)
            .and_then(|loaded| loaded.groups.check_commit(group, speaker.as_ref(), offsets));
        let written = checked.and_then(|()| {
            let batch = commit_batch(group, offsets, kernel.now_ms);
            self.append_internal(&home, batch, kernel).map_err(coordinator_error)
        });
        if let (Ok(_), Some(speaker)) = (&written, speaker) {
            self.hear_of_committer((&home, group), &speaker.member, kernel);
        }
        self.finish_commit(message, &home, written, kernel);
    }

    /// A commit is answered once its records are committed, or at once if it was refused.
    pub(super) fn finish_commit(
        &mut self,
        message: &Message,
        home: &TopicPartition,
        written: Result<Offset, KafkaError>,
        kernel: &mut Kernel,
    ) {
        match written {
            Ok(required) => {
                let held = Held::OffsetCommit(message.clone(), home.clone(), required);
                if self.is_committed(home, required) {
                    self.answer_commit(message, Ok(()), kernel);
                } else {
                    self.hold(held, COMMIT_TIMEOUT_MS, kernel);
                }
                self.complete_held(home, kernel);
            }
            Err(error) => {
                let text = format!("refuses the commit of {}: {error}", message.from);
                kernel.trace_error(EventKind::Refused, &self.machine, text, error);
                self.answer_commit(message, Err(error), kernel);
            }
        }
    }

    /// An administrator sets a group's offsets; only a group without members takes that
    /// (`kafka-consumer-groups --reset-offsets`).
    ///
    /// # Errors
    /// `NOT_COORDINATOR`, `UNKNOWN_MEMBER_ID` if the group has members, or why the write failed.
    pub fn set_offsets(
        &mut self,
        group: &str,
        offsets: &[(TopicPartition, Offset)],
        kernel: &mut Kernel,
    ) -> Result<(), KafkaError> {
        let home = self.home_of(group);
        self.loaded(&home)?.groups.check_commit(group, None, &[])?;
        self.offsets.make_classic(&home, group);
        let batch = commit_batch(group, offsets, kernel.now_ms);
        self.append_internal(&home, batch, kernel).map_err(coordinator_error)?;
        self.complete_held(&home, kernel);
        Ok(())
    }

    /// A topic is gone: tombstones for what groups had committed for it
    /// (`GroupCoordinatorService.onPartitionsDeleted`).
    pub(super) fn forget_offsets_of(&mut self, topic: &str, kernel: &mut Kernel) {
        let now_ms = kernel.now_ms;
        let mut tombstones: BTreeMap<TopicPartition, Vec<Record>> = BTreeMap::new();
        for (home, loaded) in &self.offsets.partitions {
            for (group, committed) in &loaded.committed {
                for partition in committed.keys().filter(|partition| partition.topic == *topic) {
                    let record = commit_record(group, partition, None, now_ms);
                    tombstones.entry(home.clone()).or_default().push(record);
                }
            }
        }
        for (home, records) in tombstones {
            if let Err(error) = self.append_internal(&home, Batch::of(records), kernel) {
                let text = format!("cannot forget the offsets of {topic}: {error}");
                kernel.trace_error(EventKind::Refused, &self.machine, text, error);
            }
            self.complete_held(&home, kernel);
        }
    }

    pub(super) fn is_committed(&self, home: &TopicPartition, required: Offset) -> bool {
        self.replicas.get(home).is_some_and(|replica| replica.high_watermark >= required)
    }

    pub(super) fn answer_commit(
        &self,
        message: &Message,
        result: Result<(), KafkaError>,
        kernel: &mut Kernel,
    ) {
        let Body::OffsetCommit { group, offsets, .. } = &*message.body else {
            let body = TransactionBody::TxnOffsetCommitResponse(result);
            kernel.answer(message, Body::Transaction(body));
            return;
        };
        if result.is_ok() {
            for (partition, offset) in offsets {
                let text = format!("{group} has committed offset {offset} for {partition}");
                kernel.trace(EventKind::Commit, &self.machine, text);
                let (group, partition, offset) = (group.clone(), partition.clone(), *offset);
                let by = message.from.to_string();
                kernel.note(Note::Committed { by, group, partition, offset });
            }
        }
        let partitions = offsets.iter().map(|(partition, _)| partition.clone()).collect();
        kernel.answer(message, Body::OffsetCommitResponse(result.map(|()| partitions)));
    }

    pub(super) fn try_complete_commit(&mut self, id: MessageId, kernel: &mut Kernel) {
        let Some(Held::OffsetCommit(message, home, required)) = self.held.get(&id).cloned() else {
            return;
        };
        let leads = self.replicas.get(&home).is_some_and(|replica| replica.leader().is_some());
        if self.is_committed(&home, required) {
            self.unhold(id);
            self.answer_commit(&message, Ok(()), kernel);
        } else if !leads {
            self.unhold(id);
            self.answer_commit(&message, Err(KafkaError::NotCoordinator), kernel);
        }
    }

    pub(super) fn expire_commit(&mut self, id: MessageId, kernel: &mut Kernel) {
        if let Some(Held::OffsetCommit(message, ..)) = self.unhold(id) {
            self.answer_commit(&message, Err(KafkaError::CoordinatorNotAvailable), kernel);
        }
    }

    /// What is committed for a group (`OffsetMetadataManager.fetchOffsets`).
    ///
    /// # Differs from Kafka
    /// While a transaction that is to commit offsets of the asked partitions is open, Kafka answers
    /// `UNSTABLE_OFFSET_COMMIT`, and the consumer asks again until it is over (KIP-447). Here the
    /// consumer is told what was committed before the transaction.
    pub(super) fn handle_offset_fetch(&mut self, message: &Message, kernel: &mut Kernel) {
        let Body::OffsetFetch { group, speaker, partitions } = &*message.body else { return };
        let checked = self.loaded(&self.home_of(group)).and_then(|loaded| {
            loaded.groups.check_offset_fetch(group, speaker.as_ref()).map(|()| loaded)
        });
        if let Err(error) = checked {
            let text = format!("tells {} no committed offsets: {error}", message.from);
            kernel.trace_error(EventKind::Refused, &self.machine, text, error);
        }
        let result = checked.map(|loaded| {
            let known = loaded.committed.get(group);
            let committed = |partition: &TopicPartition| Some(known?.get(partition)?.offset);
            partitions.iter().map(|p| (p.clone(), committed(p))).collect()
        });
        kernel.answer(message, Body::OffsetFetchResponse(result));
    }
}

/// A write error of the log, as the coordinator tells it to clients
/// (`CoordinatorOperationExceptionHelper`).
pub(super) fn coordinator_error(error: KafkaError) -> KafkaError {
    match error {
        KafkaError::NotLeaderOrFollower => KafkaError::NotCoordinator,
        KafkaError::UnknownTopicOrPartition
        | KafkaError::NotEnoughReplicas
        | KafkaError::RequestTimedOut => KafkaError::CoordinatorNotAvailable,
        other => other,
    }
}

/// A key of this many bytes that tells records apart.
fn padded(mut key: String, bytes: usize) -> Arc<str> {
    key.extend(std::iter::repeat_n('\0', bytes.saturating_sub(key.len())));
    key.into()
}

/// The records of a commit, at `now_ms`.
pub(super) fn commit_batch(
    group: &str,
    offsets: &[(TopicPartition, Offset)],
    now_ms: u64,
) -> Batch {
    let record = |(partition, offset): &(TopicPartition, Offset)| {
        commit_record(group, partition, Some(*offset), now_ms)
    };
    Batch::of(offsets.iter().map(record).collect())
}

pub(super) fn commit_record(
    group: &str,
    partition: &TopicPartition,
    offset: Option<Offset>,
    now_ms: u64,
) -> Record {
    let internal = InternalRecord::OffsetCommit {
        group: group.to_owned(),
        partition: partition.clone(),
        offset,
    };
    // Key: version, group, topic, partition. Value: version, offset, epoch, metadata, time.
    let key_bytes = 2 + 2 + group.len() + 2 + partition.topic.len() + 4;
    Record::internal(
        padded(format!("{group}\0{partition}"), key_bytes),
        offset.map(|_| 24),
        internal,
        now_ms,
    )
}

/// A group's state as a record of `__consumer_offsets`.
#[must_use]
pub(in crate::sim) fn group_record(group: Group, now_ms: u64) -> Record {
    Record::internal(
        group.name().into(),
        // The size of a small group's metadata; it depends on names that the model does not have.
        Some(100),
        InternalRecord::Group(group),
        now_ms,
    )
}
