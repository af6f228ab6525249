//! What a log remembers of idempotent producers, and which batches it therefore takes.
//!
//! Follows `ProducerStateManager` and `ProducerAppendInfo` of Kafka's storage module (KIP-98).

use std::collections::{BTreeMap, VecDeque};

use super::error::KafkaError;
use super::ids::Offset;
use super::log::Log;
use super::record::{ProducerStamp, StoredBatch};

/// How many of a producer's latest batches are remembered (`NUM_BATCHES_TO_RETAIN`).
const BATCHES_RETAINED: usize = 5;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Remembered {
    first_sequence: i32,
    last_sequence: i32,
    base_offset: Offset,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Entry {
    epoch: i16,
    batches: VecDeque<Remembered>,
}

/// The producers of one log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProducerStates {
    entries: BTreeMap<i64, Entry>,
}

/// What to do with a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is new.
    Append,
    /// It is there already, from this offset on: success, nothing is appended.
    Duplicate(Offset),
}

impl ProducerStates {
    /// The states that a log's batches give.
    #[must_use]
    pub fn of(log: &Log) -> ProducerStates {
        let mut states = ProducerStates::default();
        for stored in log.batches_from(log.start_offset()) {
            states.note(stored);
        }
        states
    }

    /// Checks a batch of `count` records, in Kafka's order of checks.
    ///
    /// # Errors
    /// `INVALID_PRODUCER_EPOCH` for an older epoch, `OUT_OF_ORDER_SEQUENCE_NUMBER` for a gap or a
    /// repetition that is no longer remembered.
    pub fn check(&self, stamp: ProducerStamp, count: u64) -> Result<Verdict, KafkaError> {
        let Some(entry) = self.entries.get(&stamp.producer_id) else { return Ok(Verdict::Append) };
        let last = sequence_after(stamp.base_sequence, count - 1);
        let known = entry.batches.iter().find(|batch| {
            batch.first_sequence == stamp.base_sequence && batch.last_sequence == last
        });
        if let Some(batch) = known
            && stamp.epoch == entry.epoch
        {
            return Ok(Verdict::Duplicate(batch.base_offset));
        }
        if stamp.epoch < entry.epoch {
            return Err(KafkaError::InvalidProducerEpoch);
        }
        let expected = if stamp.epoch > entry.epoch {
            0
        } else {
            entry.batches.back().map_or(0, |batch| sequence_after(batch.last_sequence, 1))
        };
        if stamp.base_sequence == expected {
            Ok(Verdict::Append)
        } else {
            Err(KafkaError::OutOfOrderSequenceNumber)
        }
    }

    /// Takes note of a batch that was appended.
    pub fn note(&mut self, stored: &StoredBatch) {
        let Some(stamp) = stored.batch.stamp else { return };
        let entry = self.entries.entry(stamp.producer_id).or_default();
        if stamp.epoch != entry.epoch {
            entry.epoch = stamp.epoch;
            entry.batches.clear();
        }
        entry.batches.push_back(Remembered {
            first_sequence: stamp.base_sequence,
            last_sequence: sequence_after(stamp.base_sequence, stored.batch.offset_count() - 1),
            base_offset: stored.base_offset,
        });
        if entry.batches.len() > BATCHES_RETAINED {
            entry.batches.pop_front();
        }
    }
}

/// The sequence number `count` further on; after 2147483647 comes 0
/// (`DefaultRecordBatch.incrementSequence`).
#[must_use]
pub fn sequence_after(sequence: i32, count: u64) -> i32 {
    let wide = (i64::from(sequence) + i64::try_from(count).unwrap_or(i64::MAX))
        % (i64::from(i32::MAX) + 1);
    i32::try_from(wide).expect("a remainder of 2^31 fits")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::ids::LeaderEpoch;
    use super::super::record::{Batch, Record};
    use super::*;

    /// Checks and appends as a broker does; returns the base offset.
    fn send(
        states: &mut ProducerStates,
        end: &mut u64,
        sent: (i16, i32, usize),
    ) -> Result<u64, KafkaError> {
        let (epoch, base_sequence, count) = sent;
        let stamp = ProducerStamp { producer_id: 1, epoch, base_sequence };
        match states.check(stamp, count as u64)? {
            Verdict::Duplicate(offset) => Ok(offset.0),
            Verdict::Append => {
                let record = Record {
                    key: None,
                    value: None,
                    value_bytes: None,
                    header_bytes: 1,
                    timestamp: 0,
                    internal: None,
                };
                let mut batch = Batch::of(vec![record; count]);
                batch.stamp = Some(stamp);
                let base = *end;
                *end += count as u64;
                states.note(&StoredBatch {
                    base_offset: Offset(base),
                    leader_epoch: LeaderEpoch(0),
                    batch: Arc::new(batch),
                });
                Ok(base)
            }
        }
    }

    /// The trace of `replication.md`, section 3, run on Kafka's own classes.
    #[test]
    fn a_log_takes_each_sequence_once_and_in_order() {
        let mut states = ProducerStates::default();
        let mut end = 0;
        let mut sent = |batch| send(&mut states, &mut end, batch);
        assert_eq!(sent((0, 0, 1)), Ok(0));
        assert_eq!(sent((0, 0, 1)), Ok(0));
        assert_eq!(sent((0, 2, 1)), Err(KafkaError::OutOfOrderSequenceNumber));
        assert_eq!(sent((0, 1, 2)), Ok(1));
        assert_eq!(sent((1, 1, 1)), Err(KafkaError::OutOfOrderSequenceNumber));
        assert_eq!(sent((1, 0, 1)), Ok(3));
        assert_eq!(sent((0, 3, 1)), Err(KafkaError::InvalidProducerEpoch));
        assert_eq!(end, 4);
    }

    #[test]
    fn five_batches_are_remembered() {
        let mut states = ProducerStates::default();
        let mut end = 0;
        for sequence in 0..6 {
            send(&mut states, &mut end, (0, sequence, 1)).expect("in order");
        }
        assert_eq!(send(&mut states, &mut end, (0, 1, 1)), Ok(1));
        assert_eq!(
            send(&mut states, &mut end, (0, 0, 1)),
            Err(KafkaError::OutOfOrderSequenceNumber)
        );
    }

    #[test]
    fn sequences_wrap() {
        assert_eq!(sequence_after(i32::MAX, 1), 0);
        assert_eq!(sequence_after(5, 2), 7);
    }
}
