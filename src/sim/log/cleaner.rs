//! Compaction: which part of a log can be cleaned, whether it is due, and what is left.
//!
//! Follows `LogCleanerManager`, `Cleaner`, `CleanedTransactionMetadata` of Kafka's storage module.
//!
//! # Differs from Kafka
//! The map of keys has room for all of them, so one pass cleans everything that can be cleaned, and
//! a pass takes no time.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::sim::ids::Offset;
use crate::sim::producer_state::ProducerStates;
use crate::sim::record::{Batch, BatchKind, Outcome, Record, StoredBatch};

use super::{Log, LogConfig, Segment};

/// The part of a log that could be cleaned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cleanable {
    /// What lies below was cleaned before.
    pub first_dirty: Offset,
    /// Nothing from here on may be touched; the beginning of a segment.
    pub first_uncleanable: Offset,
    /// Bytes of whole segments below the dirty part.
    pub clean_bytes: u64,
    /// Bytes of the dirty part.
    pub dirty_bytes: u64,
    /// Whether `max.compaction.lag.ms` has passed for it.
    pub is_overdue: bool,
}

/// What a pass did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cleaned {
    /// Everything below is clean now.
    pub end: Offset,
    /// Records that went.
    pub removed: u64,
}

impl Cleanable {
    /// Whether the log is cleaned: more than `min.cleanable.dirty.ratio` of it is dirty, or it is
    /// overdue (`LogCleanerManager.grabFilthiestCompactedLog`).
    #[must_use]
    pub fn is_due(&self, config: &LogConfig) -> bool {
        let dirty = u128::from(self.dirty_bytes) * 1_000_000_000;
        let limit = u128::from(config.min_dirty_billionths) * u128::from(self.total_bytes());
        self.dirty_bytes > 0 && (self.is_overdue || dirty > limit)
    }

    /// Whether a larger part of this log is dirty.
    #[must_use]
    pub fn is_filthier_than(&self, other: &Cleanable) -> bool {
        u128::from(self.dirty_bytes) * u128::from(other.total_bytes())
            > u128::from(other.dirty_bytes) * u128::from(self.total_bytes())
    }

    fn total_bytes(&self) -> u64 {
        self.clean_bytes + self.dirty_bytes
    }
}

impl Log {
    /// What of the log can be cleaned: from where the last pass ended up to the first segment that
    /// is active, reaches the last stable offset, or holds a record younger than
    /// `min.compaction.lag.ms` (`LogCleanerManager.cleanableOffsets`).
    #[must_use]
    pub fn cleanable(
        &self,
        config: &LogConfig,
        cleaned_to: Offset,
        last_stable: Offset,
        now_ms: i64,
    ) -> Cleanable {
        let first_dirty = cleaned_to.max(self.start_offset());
        let active = self.segments.len() - 1;
        let place = |offset: Offset| {
            self.segments.partition_point(|segment| segment.base_offset <= offset).saturating_sub(1)
        };
        let dirty_from = place(first_dirty).min(active);
        let closed = &self.segments[dirty_from..active];
        let lag = config.min_compaction_lag_ms;
        let too_young = |segment: &Segment| {
            segment.max_timestamp.is_some_and(|newest| newest > now_ms.saturating_sub(lag))
        };
        let young = closed.iter().position(|segment| lag > 0 && too_young(segment));
        let to = young
            .map_or(active, |index| dirty_from + index)
            .min(place(last_stable))
            .max(dirty_from);
        let bytes = |segments: &[Segment]| segments.iter().map(|segment| segment.bytes).sum();
        let oldest = closed
            .iter()
            .filter_map(|segment| segment.batches.first())
            .map(|first| first.batch.max_timestamp());
        let limit = now_ms.saturating_sub(config.max_compaction_lag_ms);
        Cleanable {
            first_dirty,
            first_uncleanable: self.segments[to].base_offset,
            clean_bytes: bytes(&self.segments[..dirty_from]),
            dirty_bytes: bytes(&self.segments[dirty_from..to]),
            is_overdue: oldest.min().is_some_and(|oldest| oldest < limit),
        }
    }

    /// Cleans (`Cleaner.doClean`): of records with one key only the latest stays, at its offset;
    /// tombstones and markers go once their time is over; neighbouring segments are merged as far
    /// as `segment.bytes` allows. The log start does not move.
    pub fn clean(
        &mut self,
        part: &Cleanable,
        config: &LogConfig,
        producers: &mut ProducerStates,
        now_ms: i64,
    ) -> Cleaned {
        let cleaned_segments =
            self.segments.partition_point(|one| one.base_offset < part.first_uncleanable);
        let old: Vec<Segment> = self.segments.drain(..cleaned_segments).collect();
        let latest = latest_offsets(&old, part.first_dirty, producers);
        let mut pass = Pass {
            latest,
            producers: &*producers,
            now_ms,
            delete_retention_ms: config.delete_retention_ms,
            observed: BTreeSet::new(),
            empty_aborts: BTreeSet::new(),
            removed: 0,
        };
        let mut merged: Vec<Segment> = Vec::new();
        let mut group_bytes = 0;
        for segment in old {
            let last = segment.batches.last().map_or(segment.base_offset, StoredBatch::end_offset);
            let fits = merged.last().is_some_and(|group| {
                group_bytes + segment.bytes <= config.roll.segment_bytes
                    && last.since(group.base_offset) <= u64::from(i32::MAX.unsigned_abs())
            });
            if !fits {
                merged.push(Segment::new(segment.base_offset));
                group_bytes = 0;
            }
            group_bytes += segment.bytes;
            let group = merged.last_mut().expect("pushed above");
            for kept in segment.batches.iter().filter_map(|stored| pass.keep(stored)) {
                group.push(kept, config.roll);
            }
        }
        let Pass { removed, empty_aborts, .. } = pass;
        producers
            .aborted_mut()
            .retain_below(part.first_uncleanable, |aborted| !empty_aborts.contains(&aborted.last));
        merged.append(&mut self.segments);
        self.segments = merged;
        self.bytes = self.segments.iter().map(|segment| segment.bytes).sum();
        // Also where the last offsets of the part are gaps (`Cleaner.buildOffsetMapForSegment`).
        Cleaned { end: part.first_uncleanable, removed }
    }
}

/// The latest offset of each key in the dirty part (`Cleaner.buildOffsetMap`). Records of aborted
/// transactions and markers do not count.
fn latest_offsets(
    segments: &[Segment],
    first_dirty: Offset,
    producers: &ProducerStates,
) -> BTreeMap<Arc<str>, Offset> {
    let mut latest = BTreeMap::new();
    for stored in segments.iter().flat_map(|segment| &segment.batches) {
        if stored.end_offset() <= first_dirty {
            continue;
        }
        if stored.batch.is_marker() || is_aborted(stored, producers) {
            continue;
        }
        for (delta, record) in &stored.batch.records {
            let offset = stored.base_offset + u64::from(*delta);
            if let Some(key) = record.key.as_ref().filter(|_| offset >= first_dirty) {
                latest.insert(Arc::clone(key), offset);
            }
        }
    }
    latest
}

fn is_aborted(stored: &StoredBatch, producers: &ProducerStates) -> bool {
    let producer = stored.batch.stamp.filter(|_| stored.batch.kind == BatchKind::Transactional);
    producer.is_some_and(|stamp| producers.aborted().covers(stamp.producer_id, stored.base_offset))
}

/// One pass over the segments.
struct Pass<'a> {
    latest: BTreeMap<Arc<str>, Offset>,
    producers: &'a ProducerStates,
    now_ms: i64,
    delete_retention_ms: i64,
    /// Producers of whose present transaction a batch was met.
    observed: BTreeSet<i64>,
    /// Abort markers of whose transaction nothing is left.
    empty_aborts: BTreeSet<Offset>,
    removed: u64,
}

impl Pass<'_> {
    /// What is left of a batch: the batch, a smaller one, an empty one where a producer's state
    /// hangs on it, or nothing (`Cleaner.cleanInto`, `MemoryRecords.filterTo`).
    fn keep(&mut self, stored: &StoredBatch) -> Option<StoredBatch> {
        let batch = &stored.batch;
        let can_go = self.can_be_discarded(stored);
        let is_due = batch.delete_horizon_ms.is_some_and(|horizon| horizon <= self.now_ms);
        let goes = can_go && (!batch.is_marker() || is_due);
        let kept: Vec<(u32, Record)> = batch
            .records
            .iter()
            .filter(|(delta, record)| {
                let offset = stored.base_offset + u64::from(*delta);
                !goes && (batch.is_marker() || self.is_retained(record, offset, batch))
            })
            .cloned()
            .collect();
        self.removed += (batch.records.len() - kept.len()) as u64;
        if kept.is_empty() && !self.is_last_of_producer(stored) {
            return None;
        }
        let has_tombstone =
            !batch.is_marker() && kept.iter().any(|(_, record)| record.value_bytes.is_none());
        let is_stamped_now = batch.delete_horizon_ms.is_none()
            && !kept.is_empty()
            && (has_tombstone || (batch.is_marker() && can_go));
        if kept.len() == batch.records.len() && !is_stamped_now {
            return Some(stored.clone());
        }
        let horizon = if is_stamped_now {
            Some(self.now_ms.saturating_add(self.delete_retention_ms))
        } else {
            batch.delete_horizon_ms
        };
        Some(StoredBatch { batch: Arc::new(batch.retaining(kept, horizon)), ..stored.clone() })
    }

    /// Whether a batch belongs to an aborted transaction, or is the marker of a transaction of
    /// which nothing is left (`CleanedTransactionMetadata`).
    fn can_be_discarded(&mut self, stored: &StoredBatch) -> bool {
        let Some(stamp) = stored.batch.stamp else { return false };
        match stored.batch.kind {
            BatchKind::Plain => false,
            BatchKind::Transactional => {
                self.observed.insert(stamp.producer_id);
                is_aborted(stored, self.producers)
            }
            BatchKind::Marker { outcome, .. } => {
                let is_empty = !self.observed.remove(&stamp.producer_id);
                if is_empty && outcome == Outcome::Abort {
                    self.empty_aborts.insert(stored.base_offset);
                }
                is_empty
            }
        }
    }

    /// Whether a record is the latest of its key, and no tombstone whose time is over
    /// (`Cleaner.shouldRetainRecord`).
    fn is_retained(&self, record: &Record, offset: Offset, batch: &Batch) -> bool {
        let Some(key) = &record.key else { return false };
        let is_latest = self.latest.get(key).is_none_or(|latest| offset >= *latest);
        let is_young = batch.delete_horizon_ms.is_none_or(|horizon| self.now_ms < horizon);
        is_latest && (record.value_bytes.is_some() || is_young)
    }

    /// Whether a producer's sequence or epoch would be forgotten with this batch.
    fn is_last_of_producer(&self, stored: &StoredBatch) -> bool {
        let Some(stamp) = stored.batch.stamp else { return false };
        let Some(last) = self.producers.last_record(stamp.producer_id) else { return false };
        match last.data {
            Some(offset) => stored.end_offset() == offset + 1,
            None => stored.batch.is_marker() && stamp.epoch == last.epoch,
        }
    }
}

#[cfg(test)]
mod tests;
