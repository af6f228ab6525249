//! One segment of a log: a run of batches, its bytes, its indexes, and when it is full.
//!
//! Follows `LogSegment`, `OffsetIndex`, `TimeIndex` of Kafka's storage module.

use crate::sim::ids::Offset;
use crate::sim::record::StoredBatch;

use super::RollRules;

/// Bytes of an entry of the offset index, and of the time index.
const OFFSET_ENTRY_BYTES: u64 = 8;
const TIME_ENTRY_BYTES: u64 = 12;

/// A run of batches in one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Its first offset; also its file's name.
    pub base_offset: Offset,
    /// Its batches, ascending.
    pub batches: Vec<StoredBatch>,
    /// Bytes in it.
    pub bytes: u64,
    /// The largest timestamp in it; `None` while it is empty.
    pub max_timestamp: Option<i64>,
    index: Index,
}

/// How full a segment's two indexes are: an entry comes when `index.interval.bytes` were written
/// since the last one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Index {
    bytes_since_entry: u64,
    offset_entries: u64,
    time_entries: u64,
    newest: Option<i64>,
}

impl Segment {
    /// An empty one.
    #[must_use]
    pub fn new(base_offset: Offset) -> Segment {
        Segment {
            base_offset,
            batches: Vec::new(),
            bytes: 0,
            max_timestamp: None,
            index: Index::default(),
        }
    }

    /// Adds a batch at its end (`LogSegment.append`).
    pub(super) fn push(&mut self, stored: StoredBatch, rules: RollRules) {
        let newest = stored.batch.max_timestamp();
        self.max_timestamp = Some(self.max_timestamp.map_or(newest, |max| max.max(newest)));
        if self.index.bytes_since_entry > rules.index_interval_bytes {
            self.index.offset_entries += 1;
            self.index.time_entries += u64::from(self.index.newest < self.max_timestamp);
            self.index.newest = self.index.newest.max(self.max_timestamp);
            self.index.bytes_since_entry = 0;
        }
        self.index.bytes_since_entry += stored.batch.bytes;
        self.bytes += stored.batch.bytes;
        self.batches.push(stored);
    }

    /// Cuts everything from `offset` on; a batch that spans it goes whole.
    pub(super) fn truncate_to(&mut self, offset: Offset) {
        let kept = self.batches.partition_point(|stored| stored.end_offset() <= offset);
        self.batches.truncate(kept);
        self.bytes = self.batches.iter().map(|stored| stored.batch.bytes).sum();
        self.max_timestamp = self.batches.iter().map(|stored| stored.batch.max_timestamp()).max();
    }

    /// Whether a batch needs a new segment (`LogSegment.shouldRoll`): it does not fit, the records'
    /// time has moved on by `segment.ms` since the first batch, an index is full, or its offsets
    /// lie too far from the base.
    pub(super) fn should_roll(&self, stored: &StoredBatch, rules: RollRules) -> bool {
        let Some(first) = self.batches.first() else { return false };
        let too_full = self.bytes + stored.batch.bytes > rules.segment_bytes;
        let waited = stored.batch.max_timestamp().saturating_sub(first.batch.max_timestamp());
        let last = Offset(stored.end_offset().0 - 1);
        let too_far = last.since(self.base_offset) > u64::from(i32::MAX.unsigned_abs());
        too_full || waited > rules.segment_ms || self.index.is_full(rules) || too_far
    }
}

impl Index {
    /// `OffsetIndex.isFull`, `TimeIndex.isFull`.
    fn is_full(self, rules: RollRules) -> bool {
        self.offset_entries >= rules.index_bytes / OFFSET_ENTRY_BYTES
            || self.time_entries + 1 >= rules.index_bytes / TIME_ENTRY_BYTES
    }
}
