//! One replica's log: batches in segments, its start, its end, and the epochs of its leaders.
//!
//! Follows `UnifiedLog`, `LocalLog`, `LeaderEpochFileCache` of Kafka's storage module. It knows no
//! high watermark: that belongs to the replica.

mod cleaner;
mod config;
mod retention;
mod segment;
mod transactions;

use super::ids::{LeaderEpoch, Offset};
use super::record::{Record, StoredBatch};

pub use cleaner::{Cleanable, Cleaned};
pub use config::{LogConfig, RollRules};
pub use retention::Deleted;
pub use segment::Segment;
pub use transactions::{Aborted, AbortedIndex, Standing, Unstable};

/// A log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Log {
    /// Its segments, ascending, never none; the last is the active one.
    segments: Vec<Segment>,
    bytes: u64,
    start: Offset,
    end: Offset,
    /// The first offset of each leader epoch that it knows, ascending in both.
    epochs: Vec<(LeaderEpoch, Offset)>,
}

impl Default for Log {
    fn default() -> Log {
        Log::starting_at(Offset(0))
    }
}

impl Log {
    /// An empty log whose next record gets this offset.
    #[must_use]
    pub fn starting_at(offset: Offset) -> Log {
        Log::starting_within(offset, offset)
    }

    /// An empty log whose first batch will begin at `base` and hold the log start
    /// (`UnifiedLog.truncateFullyAndStartAt` with a log start of its own).
    #[must_use]
    pub fn starting_within(base: Offset, start: Offset) -> Log {
        Log { segments: vec![Segment::new(base)], bytes: 0, start, end: base, epochs: Vec::new() }
    }

    /// The first offset that is still there.
    #[must_use]
    pub fn start_offset(&self) -> Offset {
        self.start
    }

    /// The offset of the next record.
    #[must_use]
    pub fn end_offset(&self) -> Offset {
        self.end
    }

    /// Its segments, ascending.
    #[must_use]
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// Bytes of all segments.
    #[must_use]
    pub fn size_bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether a batch will start a new segment.
    #[must_use]
    pub fn must_roll(&self, stored: &StoredBatch, rules: RollRules) -> bool {
        self.active().should_roll(stored, rules)
    }

    /// Adds a batch at the log's end; its base offset must not be below it.
    pub fn append(&mut self, stored: StoredBatch, rules: RollRules) {
        assert!(stored.base_offset >= self.end, "a log only grows at its end");
        if self.must_roll(&stored, rules) {
            self.segments.push(Segment::new(stored.base_offset));
        }
        self.end = stored.end_offset();
        self.bytes += stored.batch.bytes;
        self.note_epoch(stored.leader_epoch, stored.base_offset);
        self.segments.last_mut().expect("a log has an active segment").push(stored, rules);
    }

    fn active(&self) -> &Segment {
        self.segments.last().expect("a log has an active segment")
    }

    /// Remembers where an epoch begins; what contradicts it gives way: a later epoch, and one that
    /// begins there or later and so has no records (`LeaderEpochFileCache.assign`).
    pub fn note_epoch(&mut self, epoch: LeaderEpoch, start: Offset) {
        let news = |(latest, since): &(LeaderEpoch, Offset)| *latest != epoch || start < *since;
        if self.epochs.last().is_none_or(news) {
            self.epochs.retain(|(known, since)| *known < epoch && *since < start);
            self.epochs.push((epoch, start));
        }
    }

    /// The latest epoch of its records.
    #[must_use]
    pub fn latest_epoch(&self) -> Option<LeaderEpoch> {
        self.epochs.last().map(|(epoch, _)| *epoch)
    }

    /// Where `epoch` ends here: the largest known epoch up to it, and the offset at which the next
    /// one begins (`LeaderEpochFileCache.endOffsetFor`, KIP-101, KIP-279). `None`: undefined.
    #[must_use]
    pub fn end_offset_for_epoch(&self, epoch: LeaderEpoch) -> Option<(LeaderEpoch, Offset)> {
        let (latest, _) = *self.epochs.last()?;
        if epoch == latest {
            return Some((epoch, self.end));
        }
        if epoch > latest {
            return None;
        }
        let next = self.epochs.partition_point(|(known, _)| *known <= epoch);
        let end = self.epochs[next].1;
        match next.checked_sub(1) {
            Some(index) => Some((self.epochs[index].0, end)),
            // Every known epoch is larger: the asked one ended where the first of them began.
            None => Some((epoch, end)),
        }
    }

    /// Cuts everything from `offset` on (`UnifiedLog.truncateTo`). Batches go whole: one that spans
    /// the offset goes too.
    pub fn truncate_to(&mut self, offset: Offset) {
        if offset >= self.end {
            // A leader notes where its epoch starts before it has written anything in it. If it
            // never did, the note contradicts the next leader's log and has to go.
            let end = self.end;
            self.epochs.retain(|(_, start)| *start < end);
            return;
        }
        if self.segments.first().is_some_and(|first| offset < first.base_offset) {
            *self = Log::starting_at(offset);
            return;
        }
        self.segments.retain(|segment| segment.base_offset <= offset);
        self.segments.last_mut().expect("the first segment stays").truncate_to(offset);
        self.bytes = self.segments.iter().map(|segment| segment.bytes).sum();
        self.end = offset;
        self.start = self.start.min(offset);
        self.epochs.retain(|(_, start)| *start < offset);
    }

    /// Moves the log start up; records below can no longer be read, and epochs that ended below
    /// are forgotten (`LeaderEpochFileCache.truncateFromStart`). Says whether it moved.
    pub fn raise_start(&mut self, offset: Offset) -> bool {
        let offset = offset.min(self.end);
        if offset <= self.start {
            return false;
        }
        self.start = offset;
        let past = self.epochs.partition_point(|(_, start)| *start <= offset);
        if let Some(present) = past.checked_sub(1) {
            self.epochs.drain(..present);
            self.epochs[0].1 = offset;
        }
        true
    }

    /// Deletes the oldest segments; where that is all of them, an empty one begins at the log's
    /// end (`UnifiedLog.deleteSegments`).
    fn delete_first(&mut self, count: usize) {
        if count == self.segments.len() {
            self.segments.push(Segment::new(self.end));
        }
        self.bytes -= self.segments.drain(..count).map(|segment| segment.bytes).sum::<u64>();
        self.raise_start(self.segments[0].base_offset);
    }

    /// The batches that hold offsets from `from` up to `to`, as a fetch reads them: the first one
    /// always, then as many as fit into `max_bytes`.
    #[must_use]
    pub fn read(&self, from: Offset, to: Offset, max_bytes: u64) -> Vec<StoredBatch> {
        let mut taken = Vec::new();
        let mut bytes = 0;
        for stored in self.batches_from(from) {
            if stored.base_offset >= to
                || (!taken.is_empty() && bytes + stored.batch.bytes > max_bytes)
            {
                break;
            }
            bytes += stored.batch.bytes;
            taken.push(stored.clone());
        }
        taken
    }

    /// Bytes that [`Log::read`] could return, without its limit.
    #[must_use]
    pub fn bytes_between(&self, from: Offset, to: Offset) -> u64 {
        self.batches_from(from)
            .take_while(|stored| stored.base_offset < to)
            .map(|stored| stored.batch.bytes)
            .sum()
    }

    /// The batches whose end lies above `from`.
    pub fn batches_from(&self, from: Offset) -> impl Iterator<Item = &StoredBatch> {
        let first =
            self.segments.partition_point(|segment| segment.base_offset <= from).saturating_sub(1);
        self.segments[first..].iter().enumerate().flat_map(move |(index, segment)| {
            let skip = if index == 0 {
                segment.batches.partition_point(|b| b.end_offset() <= from)
            } else {
                0
            };
            segment.batches[skip..].iter()
        })
    }

    /// The records from `from` on with their offsets and batches.
    pub fn records_from(
        &self,
        from: Offset,
    ) -> impl Iterator<Item = (Offset, &Record, &StoredBatch)> {
        self.batches_from(from).flat_map(move |stored| {
            stored.batch.records.iter().filter_map(move |(delta, record)| {
                let offset = stored.base_offset + u64::from(*delta);
                (offset >= from).then_some((offset, record, stored))
            })
        })
    }
}

#[cfg(test)]
pub(in crate::sim) mod tests {
    use std::sync::Arc;

    use super::super::record::Batch;
    use super::*;

    pub const RULES: RollRules = RollRules {
        segment_bytes: 200,
        segment_ms: 1000,
        index_bytes: 10_485_760,
        index_interval_bytes: 4096,
    };

    pub fn batch(base: u64, epoch: u32, timestamp: i64) -> StoredBatch {
        let record = Record {
            key: None,
            value: None,
            value_bytes: Some(2),
            header_bytes: 1,
            timestamp,
            internal: None,
        };
        let batch = Batch::of(vec![record]);
        assert_eq!(batch.bytes, 70);
        StoredBatch {
            base_offset: Offset(base),
            leader_epoch: LeaderEpoch(epoch),
            batch: Arc::new(batch),
        }
    }

    pub fn log(batches: &[(u64, u32, i64)]) -> Log {
        let mut log = Log::default();
        for (base, epoch, timestamp) in batches {
            log.append(batch(*base, *epoch, *timestamp), RULES);
        }
        log
    }

    #[test]
    fn a_segment_rolls_by_size_before_the_batch_that_does_not_fit() {
        let log = log(&[(0, 0, 0), (1, 0, 0), (2, 0, 0)]);
        let bases: Vec<u64> = log.segments().iter().map(|s| s.base_offset.0).collect();
        assert_eq!(bases, [0, 2]);
    }

    #[test]
    fn a_segment_rolls_by_record_time_not_before() {
        assert_eq!(log(&[(0, 0, 0), (1, 0, 1000)]).segments().len(), 1);
        assert_eq!(log(&[(0, 0, 0), (1, 0, 1001)]).segments().len(), 2);
    }

    /// `replication.md`, section 12: the clock of the broker does not count.
    #[test]
    fn a_segment_rolls_by_its_first_batch_and_not_by_its_newest() {
        assert_eq!(log(&[(0, 0, 0), (1, 0, -9000)]).segments().len(), 1);
        assert_eq!(log(&[(0, 0, 500), (1, 0, 1500)]).segments().len(), 1);
    }

    #[test]
    fn a_segment_rolls_when_an_index_is_full() {
        let rules = RollRules {
            segment_bytes: u64::MAX,
            index_bytes: 48,
            index_interval_bytes: 69,
            ..RULES
        };
        let bases = |step: i64| {
            let mut log = Log::default();
            for offset in 0..12 {
                log.append(batch(offset, 0, step * i64::try_from(offset).expect("small")), rules);
            }
            log.segments().iter().map(|s| s.base_offset.0).collect::<Vec<u64>>()
        };
        // An entry before every batch but the first: six entries of 8 bytes fill the index.
        assert_eq!(bases(0), [0, 7]);
        // Four entries of 12 bytes fit the time index, which keeps one free; only a newer time
        // makes an entry.
        assert_eq!(bases(1), [0, 4, 8]);
    }

    #[test]
    fn a_segment_rolls_when_an_offset_lies_too_far_from_its_base() {
        let mut log = log(&[(0, 0, 0)]);
        log.append(batch(u64::from(i32::MAX.unsigned_abs()) + 1, 0, 0), RULES);
        assert_eq!(log.segments().len(), 2);
    }

    #[test]
    fn a_log_start_that_rises_forgets_epochs_that_ended_below() {
        let mut log = log(&[(0, 0, 0), (1, 2, 0), (2, 3, 0)]);
        assert!(log.raise_start(Offset(2)) && !log.raise_start(Offset(1)));
        assert_eq!(log.start_offset(), Offset(2));
        let end = |epoch| log.end_offset_for_epoch(LeaderEpoch(epoch)).map(|(e, o)| (e.0, o.0));
        assert_eq!(end(2), Some((2, 2)));
        assert_eq!(end(3), Some((3, 3)));
    }

    #[test]
    fn an_epoch_ends_where_the_next_one_begins() {
        let log = log(&[(0, 0, 0), (1, 0, 0), (2, 3, 0)]);
        let end = |epoch| log.end_offset_for_epoch(LeaderEpoch(epoch)).map(|(e, o)| (e.0, o.0));
        assert_eq!(end(0), Some((0, 2)));
        assert_eq!(end(1), Some((0, 2)));
        assert_eq!(end(3), Some((3, 3)));
        assert_eq!(end(4), None);
    }

    /// `LeaderEpochFileCache.maybeTruncateNonMonotonicEntries`.
    #[test]
    fn a_later_epoch_without_records_gives_way_to_the_records_of_an_earlier_one() {
        let mut log = Log::default();
        log.note_epoch(LeaderEpoch(7), Offset(0));
        log.append(batch(0, 3, 0), RULES);
        assert_eq!(log.latest_epoch(), Some(LeaderEpoch(3)));
        assert_eq!(log.end_offset_for_epoch(LeaderEpoch(3)), Some((LeaderEpoch(3), Offset(1))));
    }

    #[test]
    fn truncation_forgets_records_and_epochs_from_the_offset_on() {
        let mut log = log(&[(0, 0, 0), (1, 0, 0), (2, 3, 0)]);
        log.truncate_to(Offset(2));
        assert_eq!(log.end_offset(), Offset(2));
        assert_eq!(log.latest_epoch(), Some(LeaderEpoch(0)));
        assert_eq!(log.size_bytes(), 140);
    }

    #[test]
    fn truncation_forgets_an_epoch_in_which_nothing_was_written() {
        let mut log = log(&[(0, 0, 0)]);
        log.note_epoch(LeaderEpoch(1), Offset(1));
        log.truncate_to(Offset(1));
        assert_eq!(log.latest_epoch(), Some(LeaderEpoch(0)));
        assert_eq!(log.end_offset(), Offset(1));
    }

    #[test]
    fn the_first_batch_is_read_however_large() {
        let log = log(&[(0, 0, 0), (1, 0, 0)]);
        assert_eq!(log.read(Offset(0), Offset(2), 1).len(), 1);
        assert_eq!(log.read(Offset(0), Offset(2), 140).len(), 2);
        assert_eq!(log.read(Offset(0), Offset(1), 140).len(), 1);
    }
}
