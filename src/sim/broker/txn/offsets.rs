//! Offsets that a transaction commits for a group: records of the transaction in the group's home,
//! which count once the commit marker follows them.
//!
//! Follows `GroupCoordinatorService.commitTransactionalOffsets`, KIP-447.

use crate::sim::error::KafkaError;
use crate::sim::kernel::Kernel;
use crate::sim::message::Message;
use crate::sim::message::Speaker;
use crate::sim::record::{BatchKind, ProducerStamp};
use crate::sim::txn::message::OffsetsInTransaction;

use super::super::Broker;
use super::super::offsets::{commit_batch, coordinator_error};
use super::Addition;

impl Broker {
    pub(super) fn handle_txn_offset_commit(
        &mut self,
        message: &Message,
        commit: &OffsetsInTransaction,
        kernel: &mut Kernel,
    ) {
        let home = self.home_of(&commit.group);
        if let Err(error) = self.loaded(&home) {
            self.answer_commit(message, Err(error), kernel);
            return;
        }
        let is_open = self
            .replicas
            .get(&home)
            .is_some_and(|replica| replica.producers.has_open_transaction(stamp(commit)));
        if is_open {
            self.commit_in_transaction(message, commit, None, kernel);
        } else {
            let addition = Addition {
                transactional_id: commit.transactional_id.clone(),
                producer: commit.producer,
                partitions: vec![home],
            };
            self.verify(message, addition, kernel);
        }
    }

    /// Writes the offsets, unless the coordinator of the transaction refused.
    pub(super) fn commit_in_transaction(
        &mut self,
        message: &Message,
        commit: &OffsetsInTransaction,
        refusal: Option<KafkaError>,
        kernel: &mut Kernel,
    ) {
        let OffsetsInTransaction { group, member, generation, offsets, .. } = commit;
        let home = self.home_of(group);
        let checked = refusal.map_or(Ok(()), Err).and_then(|()| {
            let loaded = self.loaded(&home)?;
            let speaker = member.as_ref().map(|member| Speaker {
                member: member.clone(),
                instance: None,
                epoch: *generation,
            });
            loaded.groups.check_commit(group, speaker.as_ref(), offsets)
        });
        let written = checked.and_then(|()| {
            let mut batch = commit_batch(group, offsets, kernel.now_ms);
            batch.stamp = Some(stamp(commit));
            batch.kind = BatchKind::Transactional;
            self.append_internal(&home, batch, kernel).map_err(coordinator_error)
        });
        self.finish_commit(message, &home, written, kernel);
    }
}

/// A coordinator's own write has no place in the producer's sequence.
fn stamp(commit: &OffsetsInTransaction) -> ProducerStamp {
    ProducerStamp {
        producer_id: commit.producer.id,
        epoch: commit.producer.epoch,
        base_sequence: -1,
    }
}
