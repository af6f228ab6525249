//! A broker's care for its logs' beginnings: the retention job, `DeleteRecords`, producers that
//! have been silent for long.
//!
//! Follows `LogManager.cleanupLogs`, `ReplicaManager.deleteRecords`. Every replica deletes on its
//! own; followers also take over their leader's log start.
//!
//! # Differs from Kafka
//! A deleted segment's files are gone at once (Kafka removes them `file.delete.delay.ms` later).
//! The answer to `DeleteRecords` does not wait until the followers have moved their log starts.

use crate::sim::check::{Note, Removal};
use crate::sim::defect::Defect;
use crate::sim::error::KafkaError;
use crate::sim::ids::{Offset, TopicPartition};
use crate::sim::kernel::Kernel;
use crate::sim::log::Deleted;
use crate::sim::message::counted;
use crate::sim::record::timestamp;
use crate::sim::timer::Timer;
use crate::sim::trace::EventKind;

use super::Broker;

impl Broker {
    /// The retention job, every `log.retention.check.interval.ms`.
    pub(super) fn retention_is_due(&mut self, kernel: &mut Kernel) {
        self.run_retention(None, kernel);
        let next = kernel.now_ms + self.settings.retention_interval_ms;
        kernel.timer(&self.machine, next, Timer::Retention);
    }

    /// Deletes old segments of every log, or of one. Compacted logs are left to the cleaner
    /// (`LogManager.cleanupLogs`).
    pub fn run_retention(&mut self, only: Option<&TopicPartition>, kernel: &mut Kernel) {
        let cleaner = self.settings.cleaner_enabled;
        let logs: Vec<TopicPartition> = self
            .replicas
            .iter()
            .filter(|(partition, replica)| {
                only.is_none_or(|only| only == *partition) && !(cleaner && replica.config.compacts)
            })
            .map(|(partition, _)| partition.clone())
            .collect();
        for partition in logs {
            self.delete_old_segments(&partition, kernel);
        }
    }

    pub(super) fn delete_old_segments(&mut self, partition: &TopicPartition, kernel: &mut Kernel) {
        let now_ms = timestamp(kernel.now_ms);
        let early_ms = if kernel.breaks(Defect::RetentionTooEarly) { 10_000 } else { 0 };
        let Some(replica) = self.replicas.get_mut(partition) else { return };
        let log_start = replica.log.start_offset();
        let deleted = replica.delete_old_segments(now_ms.saturating_add(early_ms));
        for Deleted { reason, segments, log_start } in &deleted {
            let text = format!(
                "{partition} deletes {} {}: log start {log_start}",
                counted(segments.len() as u64, "segment"),
                reason.words()
            );
            kernel.trace(EventKind::LogStart, &self.machine, text);
        }
        if !deleted.is_empty() {
            let segments = deleted.into_iter().flat_map(|one| one.segments).collect();
            let removal = Removal { broker: self.id, segments, log_start, now_ms };
            kernel.note(Note::Removed(partition.clone(), removal));
            kernel.note(Note::Touched(partition.clone()));
            self.complete_held(partition, kernel);
        }
    }

    /// `DeleteRecords`: moves the log start up to an offset that is committed
    /// (`Partition.deleteRecordsOnLeader`). Segments that lie below go with the next retention job.
    ///
    /// # Errors
    /// `POLICY_VIOLATION` where the topic does not delete, `OFFSET_OUT_OF_RANGE` beyond the high
    /// watermark, or that this broker does not lead the partition.
    pub fn delete_records(
        &mut self,
        partition: &TopicPartition,
        before: Offset,
        kernel: &mut Kernel,
    ) -> Result<(), KafkaError> {
        let replica =
            self.replicas.get_mut(partition).ok_or(KafkaError::UnknownTopicOrPartition)?;
        replica.leader().ok_or(KafkaError::NotLeaderOrFollower)?;
        if !replica.config.deletes {
            return Err(KafkaError::PolicyViolation);
        }
        if before > replica.high_watermark {
            return Err(KafkaError::OffsetOutOfRange);
        }
        if replica.raise_start(before) {
            let text = format!("{partition} log start {before}");
            kernel.trace(EventKind::LogStart, &self.machine, text);
            kernel.note(Note::Touched(partition.clone()));
            self.complete_held(partition, kernel);
        }
        Ok(())
    }

    /// Every `producer.id.expiration.check.interval.ms`: forgets producers that have not written
    /// for `producer.id.expiration.ms`.
    pub(super) fn forget_idle_producers(&mut self, kernel: &mut Kernel) {
        let now_ms = timestamp(kernel.now_ms);
        for replica in self.replicas.values_mut() {
            replica.producers.forget_idle(self.settings.producer_expiration_ms, now_ms);
        }
        let next = kernel.now_ms + self.settings.producer_expiration_interval_ms;
        kernel.timer(&self.machine, next, Timer::ProducerExpiration);
    }
}
