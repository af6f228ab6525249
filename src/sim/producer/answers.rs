//! What a producer does with answers: acknowledge, try again, split, give up.
//!
//! Follows `Sender.completeBatch`, `canRetry`, `TransactionManager.canRetry` and
//! `handleFailedBatch`.

use crate::sim::error::KafkaError;
use crate::sim::ids::{Offset, TopicPartition};
use crate::sim::kernel::Kernel;
use crate::sim::message::{Message, ProducedPartition, counted};
use crate::sim::producer_state::sequence_after;
use crate::sim::rng::Draw;
use crate::sim::trace::EventKind;

use super::{PendingBatch, Producer};

impl Producer {
    pub(super) fn handle_answer(
        &mut self,
        message: &Message,
        parts: &[ProducedPartition],
        kernel: &mut Kernel,
    ) {
        let Some(request) = message.answers.and_then(|id| self.in_flight.remove(&id)) else {
            return;
        };
        for (partition, batch) in request.batches {
            let Some(part) = parts.iter().find(|part| part.partition == partition) else {
                continue;
            };
            match part.result {
                Ok(offset) => self.acknowledge(&partition, &batch, Some(offset), kernel),
                Err(error) => {
                    let is_news =
                        part.hint.is_some_and(|hint| self.network.take_hint(&partition, hint));
                    self.batch_refused(&partition, batch, error, kernel);
                    // A batch does not wait for a leader that has changed since it was sent
                    // (`RecordAccumulator.shouldBackoff`).
                    if is_news {
                        self.buffer.cancel_back_off(&partition);
                    }
                }
            }
        }
    }

    /// The application is told that records are stored; without an offset no broker said so.
    pub(super) fn acknowledge(
        &mut self,
        partition: &TopicPartition,
        batch: &PendingBatch,
        offset: Option<Offset>,
        kernel: &mut Kernel,
    ) {
        self.buffer.release(batch);
        self.counters.acked += batch.len();
        if let (Some(stamp), Some(idempotence)) = (batch.stamp, self.idempotence.as_mut()) {
            let last = sequence_after(stamp.base_sequence, batch.len() - 1);
            idempotence.last_acked.insert(partition.clone(), last);
        }
        let last =
            offset.and_then(|offset| i64::try_from(offset.0 + batch.len() - 1).ok()).unwrap_or(-1);
        self.counters.last_ack = Some((partition.clone(), last));
        let text = match offset {
            Some(offset) => {
                format!("{} at offset {offset} of {partition}", counted(batch.len(), "record"))
            }
            None => {
                format!("{} for {partition}, without an answer", counted(batch.len(), "record"))
            }
        };
        kernel.trace(EventKind::Acknowledged, &self.machine, text);
    }

    /// A batch was refused, or its connection is gone.
    pub(super) fn batch_refused(
        &mut self,
        partition: &TopicPartition,
        mut batch: PendingBatch,
        error: KafkaError,
        kernel: &mut Kernel,
    ) {
        self.counters.last_refusal = Some(error);
        if error.needs_metadata() || error == KafkaError::RequestTimedOut {
            self.network.want_refresh();
        }
        if error == KafkaError::MessageTooLarge && batch.records.len() > 1 {
            let text =
                format!("splits a batch of {} for {partition}", counted(batch.len(), "record"));
            kernel.trace_error(EventKind::Refused, &self.machine, text, error);
            self.split(partition, batch);
            return;
        }
        if self.may_retry(partition, &batch, error, kernel.now_ms) {
            if error == KafkaError::OutOfOrderSequenceNumber {
                self.note_gap(partition, &batch);
            }
            let wait_ms = self.back_off_ms(batch.attempts, kernel);
            batch.not_before_ms = kernel.now_ms + wait_ms;
            let text = format!(
                "{} for {partition} go again in {wait_ms} ms: {error}",
                counted(batch.len(), "record")
            );
            kernel.trace_error(EventKind::Timeout, &self.machine, text, error);
            self.buffer.put_back(partition, vec![batch]);
            return;
        }
        self.fail_batch(partition, &batch, error, kernel);
    }

    fn split(&mut self, partition: &TopicPartition, mut batch: PendingBatch) {
        // An idempotent producer's parts take the sequence numbers of the whole.
        let stamp = batch.stamp.take();
        self.buffer.release(&batch);
        // The attempt that found the batch too large does not count.
        batch.attempts = batch.attempts.saturating_sub(1);
        let mut parts = batch.split(self.settings.batch_size);
        let mut next = stamp;
        for part in &mut parts {
            part.stamp = next;
            if let Some(stamp) = next.as_mut() {
                stamp.base_sequence = sequence_after(stamp.base_sequence, part.len());
            }
            self.buffer.memory_used += part.memory;
        }
        self.buffer.put_back(partition, parts);
    }

    /// `Sender.canRetry`: the deadline is not reached, attempts are left, and the error allows it.
    /// An idempotent producer always tries a gap in its sequence again
    /// (`TransactionManager.canRetry`).
    fn may_retry(
        &self,
        partition: &TopicPartition,
        batch: &PendingBatch,
        error: KafkaError,
        now_ms: u64,
    ) -> bool {
        let in_time = now_ms < batch.created_ms + self.settings.delivery_timeout_ms;
        let left = batch.attempts <= self.settings.retries;
        // A transactional producer does so only with a batch that came too early.
        let gap = error == KafkaError::OutOfOrderSequenceNumber
            && batch.stamp.is_some()
            && (self.transactional.is_none() || !self.is_next(partition, batch));
        in_time && left && (error.is_retriable() || gap)
    }

    /// A gap before the batch that is next in the sequence cannot close: what the broker knew is
    /// lost. The sequence starts anew with a higher epoch
    /// (`requestIdempotentEpochBumpForPartition`). Any other batch only came too early.
    fn note_gap(&mut self, partition: &TopicPartition, batch: &PendingBatch) {
        let is_next = self.is_next(partition, batch);
        let Some(idempotence) = self.idempotence.as_mut() else { return };
        if is_next && self.transactional.is_none() && !idempotence.restart.contains(partition) {
            idempotence.restart.push(partition.clone());
        }
    }

    /// Whether a batch follows the last acknowledged one (`TransactionManager.isNextSequence`).
    fn is_next(&self, partition: &TopicPartition, batch: &PendingBatch) -> bool {
        let Some((idempotence, stamp)) = self.idempotence.as_ref().zip(batch.stamp) else {
            return false;
        };
        let last = idempotence.last_acked.get(partition);
        stamp.base_sequence == last.map_or(0, |last| sequence_after(*last, 1))
    }

    /// `retry.backoff.ms`, doubled with every attempt up to `retry.backoff.max.ms`, times a random
    /// factor of 0.8 to 1.2 (`ExponentialBackoff`).
    fn back_off_ms(&self, attempts: u64, kernel: &mut Kernel) -> u64 {
        let doublings = u32::try_from(attempts.saturating_sub(1)).unwrap_or(u32::MAX).min(20);
        let plain =
            (self.settings.retry_backoff_ms << doublings).min(self.settings.retry_backoff_max_ms);
        let percent = 80 + kernel.rng.draw(41) as u64;
        plain * percent / 100
    }

    fn fail_batch(
        &mut self,
        partition: &TopicPartition,
        batch: &PendingBatch,
        error: KafkaError,
        kernel: &mut Kernel,
    ) {
        self.buffer.release(batch);
        let retries_left = batch.attempts <= self.settings.retries;
        if batch.stamp.is_some()
            && retries_left
            && self.transactional.is_none()
            && let Some(idempotence) = self.idempotence.as_mut()
        {
            idempotence.restart.push(partition.clone());
        }
        self.give_up(batch.len(), error, kernel);
    }
}
