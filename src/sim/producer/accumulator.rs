//! The producer's buffer: records in batches, one queue per partition.
//!
//! Follows `RecordAccumulator`, `ProducerBatch`, `MemoryRecordsBuilder` of Kafka's clients.

use std::collections::{BTreeMap, VecDeque};

use crate::sim::ids::TopicPartition;
use crate::sim::partitioner::Batches;
use crate::sim::producer_state::sequence_after;
use crate::sim::record::{
    BATCH_HEADER_BYTES, ProducerStamp, Record, record_bytes, size_upper_bound,
};

/// A batch on its way from `send()` to its acknowledgement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingBatch {
    /// Its records.
    pub records: Vec<Record>,
    /// Bytes so far.
    pub bytes: u64,
    /// When it was started, in milliseconds.
    pub created_ms: u64,
    /// How often it was sent.
    pub attempts: u64,
    /// It is not sent before this time, after a failure.
    pub not_before_ms: u64,
    /// Its place in the idempotent producer's sequence, once it was sent.
    pub stamp: Option<ProducerStamp>,
    /// Bytes of the buffer that it holds.
    pub memory: u64,
    /// Whether it takes no more records.
    pub closed: bool,
}

impl PendingBatch {
    fn start(record: Record, batch_size: u64, now_ms: u64) -> PendingBatch {
        PendingBatch {
            bytes: BATCH_HEADER_BYTES + record_bytes(&record, 0, 0),
            memory: batch_size.max(size_upper_bound(&record)),
            records: vec![record],
            created_ms: now_ms,
            attempts: 0,
            not_before_ms: 0,
            stamp: None,
            closed: false,
        }
    }

    /// Whether it is sent without waiting for company (`MemoryRecordsBuilder.isFull`).
    #[must_use]
    pub fn is_full(&self, batch_size: u64) -> bool {
        self.closed || self.bytes >= batch_size
    }

    /// What a record adds to it.
    fn growth(&self, record: &Record) -> u64 {
        let first = self.records.first().map_or(record.timestamp, |first| first.timestamp);
        let delta = i64::try_from(self.records.len()).unwrap_or(i64::MAX);
        record_bytes(record, delta, record.timestamp - first)
    }

    /// How many records it holds.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.records.len() as u64
    }

    /// Smaller batches with the same records, for a broker that found this one too large
    /// (`ProducerBatch.split`): as many records as fit `batch.size`; one each if they fitted
    /// already.
    #[must_use]
    pub fn split(self, batch_size: u64) -> Vec<PendingBatch> {
        let limit = if self.bytes <= batch_size { 1 } else { batch_size };
        let mut parts: Vec<PendingBatch> = Vec::new();
        for record in self.records {
            match parts.last_mut() {
                Some(part) if part.bytes + part.growth(&record) <= limit => {
                    part.bytes += part.growth(&record);
                    part.records.push(record);
                }
                _ => parts.push(PendingBatch::start(record, batch_size, self.created_ms)),
            }
        }
        for part in &mut parts {
            part.closed = true;
            part.attempts = self.attempts;
        }
        parts
    }
}

/// Batches by partition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Accumulator {
    queues: BTreeMap<TopicPartition, VecDeque<PendingBatch>>,
    /// Bytes of the buffer in use, batches in flight included.
    pub memory_used: u64,
}

impl Accumulator {
    /// Adds a record to the last batch of its partition, or starts one: a batch takes a record if
    /// it stays within `batch.size`, and its first one however large. Returns the bytes added;
    /// `None` when the buffer has no room for another batch.
    pub fn append(
        &mut self,
        partition: &TopicPartition,
        record: Record,
        limits: Limits,
    ) -> Option<u64> {
        let queue = self.queues.entry(partition.clone()).or_default();
        if let Some(last) = queue.back_mut()
            && !last.closed
            && last.attempts == 0
        {
            let growth = last.growth(&record);
            if last.bytes + growth <= limits.batch_size {
                last.bytes += growth;
                last.records.push(record);
                return Some(growth);
            }
        }
        let batch = PendingBatch::start(record, limits.batch_size, limits.now_ms);
        if self.memory_used + batch.memory > limits.buffer_memory {
            return None;
        }
        if let Some(last) = queue.back_mut() {
            last.closed = true;
        }
        self.memory_used += batch.memory;
        let bytes = batch.bytes;
        queue.push_back(batch);
        Some(bytes)
    }

    /// Whether a partition's queue has a batch with room.
    #[must_use]
    pub fn batches(&self, partition: &TopicPartition, batch_size: u64) -> Batches {
        match self.queues.get(partition).and_then(|queue| queue.back()) {
            Some(last) if !last.is_full(batch_size) => Batches::OneOpen,
            _ => Batches::AllFull,
        }
    }

    /// Partitions with batches, in order.
    pub fn partitions(&self) -> impl Iterator<Item = (&TopicPartition, &VecDeque<PendingBatch>)> {
        self.queues.iter().filter(|(_, queue)| !queue.is_empty())
    }

    /// The batches of one partition.
    #[must_use]
    pub fn queue(&self, partition: &TopicPartition) -> Option<&VecDeque<PendingBatch>> {
        self.queues.get(partition)
    }

    /// Takes the first batch of a partition.
    pub fn take_first(&mut self, partition: &TopicPartition) -> Option<PendingBatch> {
        let mut batch = self.queues.get_mut(partition)?.pop_front()?;
        batch.closed = true;
        Some(batch)
    }

    /// Puts batches back to the front, in the order of their sequences
    /// (`RecordAccumulator.reenqueue`, `insertInSequenceOrder`).
    pub fn put_back(&mut self, partition: &TopicPartition, batches: Vec<PendingBatch>) {
        let queue = self.queues.entry(partition.clone()).or_default();
        for batch in batches.into_iter().rev() {
            let sequence = batch.stamp.map(|stamp| stamp.base_sequence);
            let place = queue
                .iter()
                .position(|other| match (other.stamp, sequence) {
                    (Some(other), Some(sequence)) => other.base_sequence > sequence,
                    _ => true,
                })
                .unwrap_or(queue.len());
            queue.insert(place, batch);
        }
    }

    /// Gives the batches of a partition that have a place in a sequence new ones, from `first` on;
    /// returns the sequence after them (`TxnPartitionEntry.startSequencesAtBeginning`).
    pub fn restamp(&mut self, partition: &TopicPartition, first: ProducerStamp) -> i32 {
        let mut next = first;
        for batch in self.queues.get_mut(partition).into_iter().flatten() {
            if batch.stamp.is_some() {
                batch.stamp = Some(next);
                next.base_sequence = sequence_after(next.base_sequence, batch.len());
            }
        }
        next.base_sequence
    }

    /// Gives back what a batch held.
    pub fn release(&mut self, batch: &PendingBatch) {
        self.memory_used = self.memory_used.saturating_sub(batch.memory);
    }

    /// Takes out every batch that was started before `limit_ms`, exclusive of none.
    pub fn take_started_by(&mut self, limit_ms: u64) -> Vec<(TopicPartition, PendingBatch)> {
        let mut taken = Vec::new();
        for (partition, queue) in &mut self.queues {
            while queue.front().is_some_and(|batch| batch.created_ms <= limit_ms) {
                taken.extend(queue.pop_front().map(|batch| (partition.clone(), batch)));
            }
        }
        taken
    }

    /// Takes out every batch that was never sent.
    pub fn take_unstamped(&mut self) -> Vec<PendingBatch> {
        let mut taken = Vec::new();
        for queue in self.queues.values_mut() {
            let (unsent, kept) =
                std::mem::take(queue).into_iter().partition(|batch| batch.stamp.is_none());
            *queue = kept;
            taken.extend::<VecDeque<_>>(unsent);
        }
        taken
    }

    /// A leader has changed: retries need not wait (`RecordAccumulator`, KIP-951).
    pub fn cancel_back_off(&mut self, partition: &TopicPartition) {
        for batch in self.queues.get_mut(partition).into_iter().flatten() {
            batch.not_before_ms = 0;
        }
    }

    /// How many records wait.
    #[must_use]
    pub fn record_count(&self) -> u64 {
        self.queues.values().flatten().map(PendingBatch::len).sum()
    }
}

/// What an append goes by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// `batch.size`.
    pub batch_size: u64,
    /// `buffer.memory`.
    pub buffer_memory: u64,
    /// The present, in milliseconds.
    pub now_ms: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records_that_fit(batch_size: u64) -> usize {
        let mut accumulator = Accumulator::default();
        let partition = TopicPartition::new("t", 0);
        let record = Record {
            key: Some("12345".into()),
            value: None,
            value_bytes: Some(100),
            header_bytes: 1,
            timestamp: 0,
            internal: None,
        };
        let limits = Limits { batch_size, buffer_memory: 1 << 30, now_ms: 0 };
        for _ in 0..200 {
            accumulator.append(&partition, record.clone(), limits);
        }
        accumulator.queue(&partition).expect("it has batches")[0].records.len()
    }

    /// Section 2 of the facts, run on Kafka's own classes.
    #[test]
    fn a_batch_takes_what_fits_batch_size_and_its_first_record_always() {
        assert_eq!(records_that_fit(16384), 142);
        assert_eq!(records_that_fit(1024), 8);
        assert_eq!(records_that_fit(200), 1);
        assert_eq!(records_that_fit(1), 1);
    }
}
