//! What a log remembers of idempotent and transactional producers, and which batches it therefore
//! takes.
//!
//! Follows `ProducerStateManager`, `ProducerAppendInfo` of Kafka's storage module (KIP-98,
//! KIP-890).

use std::collections::{BTreeMap, VecDeque};

use super::error::KafkaError;
use super::ids::Offset;
use super::log::{Aborted, AbortedIndex, Log, Standing, Unstable};
use super::record::{Batch, BatchKind, Outcome, ProducerStamp, StoredBatch};

/// How many of a producer's latest batches are remembered (`NUM_BATCHES_TO_RETAIN`).
const BATCHES_RETAINED: usize = 5;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Remembered {
    first_sequence: i32,
    last_sequence: i32,
    base_offset: Offset,
    last_offset: Offset,
}

/// What is known of one producer (`ProducerStateEntry`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Entry {
    epoch: i16,
    batches: VecDeque<Remembered>,
    /// The newest record's time.
    last_timestamp: i64,
    /// Where its open transaction begins.
    open_from: Option<Offset>,
    /// The epoch of the coordinator that wrote its last marker.
    coordinator_epoch: Option<u32>,
}

/// What a snapshot file holds; one is written whenever a segment begins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Known {
    entries: BTreeMap<i64, Entry>,
    unstable: Unstable,
}

/// The producers of one log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProducerStates {
    known: Known,
    aborted: AbortedIndex,
    /// By the base offset of the segment that began.
    snapshots: BTreeMap<Offset, Known>,
}

/// What to do with a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is new.
    Append,
    /// It is there already, from this offset on: success, nothing is appended.
    Duplicate(Offset),
}

/// What the cleaner has to know of a producer to keep its state alive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastRecord {
    /// The last offset of its newest data; `None`: its marker is the newest.
    pub data: Option<Offset>,
    /// Its epoch.
    pub epoch: i16,
}

impl ProducerStates {
    /// Checks a client's batch, in Kafka's order of checks.
    ///
    /// # Errors
    /// `INVALID_PRODUCER_EPOCH` for an older epoch, `OUT_OF_ORDER_SEQUENCE_NUMBER` for a gap or a
    /// repetition that is no longer remembered, `INVALID_TXN_STATE` for a plain batch of a producer
    /// with an open transaction.
    pub fn check(&self, batch: &Batch) -> Result<Verdict, KafkaError> {
        let Some(stamp) = batch.stamp else { return Ok(Verdict::Append) };
        if stamp.base_sequence < 0 {
            // A coordinator's own write on behalf of a producer.
            let known = self.known.entries.get(&stamp.producer_id);
            return match known {
                Some(entry) if stamp.epoch < entry.epoch => Err(KafkaError::InvalidProducerEpoch),
                _ => Ok(Verdict::Append),
            };
        }
        let Some(entry) = self.known.entries.get(&stamp.producer_id) else {
            // Since 4.1 a transactional producer that is not known begins with 0.
            let begins = batch.kind == BatchKind::Plain || stamp.base_sequence == 0;
            return if begins {
                Ok(Verdict::Append)
            } else {
                Err(KafkaError::OutOfOrderSequenceNumber)
            };
        };
        let last = sequence_after(stamp.base_sequence, batch.offset_count() - 1);
        let known = entry.batches.iter().find(|batch| {
            batch.first_sequence == stamp.base_sequence && batch.last_sequence == last
        });
        if let Some(batch) = known
            && stamp.epoch == entry.epoch
        {
            return Ok(Verdict::Duplicate(batch.base_offset));
        }
        check_sequence(entry, stamp)?;
        if entry.open_from.is_some() && batch.kind == BatchKind::Plain {
            return Err(KafkaError::InvalidTxnState);
        }
        Ok(Verdict::Append)
    }

    /// Checks a coordinator's marker (`ProducerAppendInfo.appendEndTxnMarker`). Since 4.2 one that
    /// ends an open transaction has a higher epoch than its records (transaction version 2).
    ///
    /// # Errors
    /// `INVALID_PRODUCER_EPOCH`, or `TRANSACTION_COORDINATOR_FENCED` for a coordinator that is no
    /// longer the one.
    pub fn check_marker(
        &self,
        stamp: ProducerStamp,
        coordinator_epoch: u32,
    ) -> Result<(), KafkaError> {
        let Some(entry) = self.known.entries.get(&stamp.producer_id) else { return Ok(()) };
        let is_open = entry.open_from.is_some();
        if stamp.epoch < entry.epoch || (is_open && stamp.epoch == entry.epoch) {
            return Err(KafkaError::InvalidProducerEpoch);
        }
        if entry.coordinator_epoch.is_some_and(|known| coordinator_epoch < known) {
            return Err(KafkaError::TransactionCoordinatorFenced);
        }
        Ok(())
    }

    /// Whether a producer has a transaction open here under this epoch
    /// (`UnifiedLog.hasOngoingTransaction`): its next batch needs no word of the coordinator.
    #[must_use]
    pub fn has_open_transaction(&self, stamp: ProducerStamp) -> bool {
        self.known
            .entries
            .get(&stamp.producer_id)
            .is_some_and(|entry| entry.open_from.is_some() && entry.epoch == stamp.epoch)
    }

    /// Takes note of a batch that was appended.
    pub fn note(&mut self, stored: &StoredBatch) {
        let Some(stamp) = stored.batch.stamp else { return };
        let entry = self.known.entries.entry(stamp.producer_id).or_default();
        if stamp.epoch != entry.epoch {
            entry.epoch = stamp.epoch;
            entry.batches.clear();
        }
        entry.last_timestamp = stored.batch.max_timestamp();
        if let BatchKind::Marker { outcome, coordinator_epoch } = stored.batch.kind {
            entry.coordinator_epoch = Some(coordinator_epoch);
            if let Some(first) = entry.open_from.take() {
                self.end_transaction(stamp.producer_id, first, (stored.base_offset, outcome));
            }
            return;
        }
        entry.batches.push_back(Remembered {
            first_sequence: stamp.base_sequence,
            last_sequence: sequence_after(stamp.base_sequence, stored.batch.offset_count() - 1),
            base_offset: stored.base_offset,
            last_offset: Offset(stored.end_offset().0 - 1),
        });
        if entry.batches.len() > BATCHES_RETAINED {
            entry.batches.pop_front();
        }
        if stored.batch.kind == BatchKind::Transactional && entry.open_from.is_none() {
            entry.open_from = Some(stored.base_offset);
            self.known.unstable.begin(stamp.producer_id, stored.base_offset);
        }
    }

    fn end_transaction(&mut self, producer_id: i64, first: Offset, marker: (Offset, Outcome)) {
        let (last, outcome) = marker;
        let last_stable = self.known.unstable.end(first, last);
        if outcome == Outcome::Abort {
            self.aborted.push(Aborted { producer_id, first, last, last_stable });
        }
    }

    /// A segment begins: what is known is written to disk.
    pub fn take_snapshot(&mut self, segment_base: Offset) {
        self.snapshots.insert(segment_base, self.known.clone());
    }

    /// What the log gives that ends here: the latest snapshot, and the batches behind it
    /// (`ProducerStateManager.truncateAndReload`). Records that retention deleted are remembered
    /// by the snapshots.
    pub fn reload(&mut self, log: &Log) {
        let end = log.end_offset();
        self.snapshots.split_off(&(end + 1));
        let latest = self.snapshots.last_key_value();
        let (from, known) =
            latest.map_or((Offset(0), Known::default()), |(base, known)| (*base, known.clone()));
        self.known = known;
        self.aborted.truncate_to(from);
        for stored in log.batches_from(from.max(log.start_offset())) {
            self.note(stored);
        }
    }

    /// The log starts here now: snapshots of segments that are gone go too, and so do aborted
    /// transactions that ended below.
    pub fn forget_below(&mut self, first_segment: Offset, log_start: Offset) {
        self.snapshots = self.snapshots.split_off(&first_segment);
        self.aborted.forget_below(log_start);
    }

    /// Forgets producers that have not written for `producer.id.expiration.ms` and have no open
    /// transaction (`removeExpiredProducers`); their records do not matter.
    pub fn forget_idle(&mut self, expiration_ms: i64, now_ms: i64) {
        self.known.entries.retain(|_, entry| {
            entry.open_from.is_some() || now_ms.saturating_sub(entry.last_timestamp) < expiration_ms
        });
    }

    /// Transactions that are not over for every replica.
    #[must_use]
    pub fn unstable(&self) -> &Unstable {
        &self.known.unstable
    }

    /// Takes note of a high watermark that has risen.
    pub fn note_high_watermark(&mut self, high_watermark: Offset) {
        self.known.unstable.note_high_watermark(high_watermark);
    }

    /// The aborted transactions.
    #[must_use]
    pub fn aborted(&self) -> &AbortedIndex {
        &self.aborted
    }

    /// The aborted transactions, for the cleaner.
    pub fn aborted_mut(&mut self) -> &mut AbortedIndex {
        &mut self.aborted
    }

    /// What became of the transaction to which a producer's record at `offset` belongs.
    #[must_use]
    pub fn standing(&self, producer_id: i64, offset: Offset) -> Standing {
        let entry = self.known.entries.get(&producer_id);
        if entry.and_then(|entry| entry.open_from).is_some_and(|first| offset >= first) {
            Standing::Open
        } else if self.aborted.covers(producer_id, offset) {
            Standing::Ended(Outcome::Abort)
        } else {
            Standing::Ended(Outcome::Commit)
        }
    }

    /// The last record of a producer that is remembered
    /// (`ProducerStateManager.lastRecordsOfActiveProducers`).
    #[must_use]
    pub fn last_record(&self, producer_id: i64) -> Option<LastRecord> {
        let entry = self.known.entries.get(&producer_id)?;
        let data = entry.batches.back().map(|batch| batch.last_offset);
        Some(LastRecord { data, epoch: entry.epoch })
    }
}

/// The epoch and the place in the sequence (`ProducerAppendInfo.checkProducerEpoch`,
/// `checkSequence`).
fn check_sequence(entry: &Entry, stamp: ProducerStamp) -> Result<(), KafkaError> {
    if stamp.epoch < entry.epoch {
        return Err(KafkaError::InvalidProducerEpoch);
    }
    let expected = if stamp.epoch > entry.epoch {
        0
    } else {
        entry.batches.back().map_or(0, |batch| sequence_after(batch.last_sequence, 1))
    };
    if stamp.base_sequence == expected { Ok(()) } else { Err(KafkaError::OutOfOrderSequenceNumber) }
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
mod tests;
