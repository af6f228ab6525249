//! One replica's log: batches in segments, its start, its end, and the epochs of its leaders.
//!
//! Follows `UnifiedLog`, `LocalLog`, `LeaderEpochFileCache` of Kafka's storage module. It knows no
//! high watermark: that belongs to the replica.

use super::ids::{LeaderEpoch, Offset};
use super::record::{Record, StoredBatch};

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
}

impl Segment {
    fn new(base_offset: Offset) -> Segment {
        Segment { base_offset, batches: Vec::new(), bytes: 0, max_timestamp: None }
    }

    fn recount(&mut self) {
        self.bytes = self.batches.iter().map(|stored| stored.batch.bytes).sum();
        self.max_timestamp = self.batches.iter().map(|stored| stored.batch.max_timestamp()).max();
    }
}

/// When a log starts a new segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RollRules {
    /// `segment.bytes`.
    pub segment_bytes: u64,
    /// `segment.ms`.
    pub segment_ms: i64,
}

/// A log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Log {
    /// Its segments, ascending, never none; the last is the active one.
    segments: Vec<Segment>,
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
        Log { segments: vec![Segment::new(offset)], start: offset, end: offset, epochs: Vec::new() }
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
        self.segments.iter().map(|segment| segment.bytes).sum()
    }

    /// Adds a batch at the log's end; its base offset must not be below it.
    pub fn append(&mut self, stored: StoredBatch, rules: RollRules) {
        assert!(stored.base_offset >= self.end, "a log only grows at its end");
        if self.should_roll(&stored, rules) {
            self.roll(stored.base_offset);
        }
        self.end = stored.end_offset();
        self.note_epoch(stored.leader_epoch, stored.base_offset);
        let active = self.segments.last_mut().expect("a log has an active segment");
        active.bytes += stored.batch.bytes;
        let newest = stored.batch.max_timestamp();
        active.max_timestamp = Some(active.max_timestamp.map_or(newest, |max| max.max(newest)));
        active.batches.push(stored);
    }

    /// Whether a batch needs a new segment (`LogSegment.shouldRoll`).
    fn should_roll(&self, stored: &StoredBatch, rules: RollRules) -> bool {
        let active = self.segments.last().expect("a log has an active segment");
        let Some(first) = active.batches.first() else { return false };
        let too_full = active.bytes + stored.batch.bytes > rules.segment_bytes;
        let waited = stored.batch.max_timestamp() - first.batch.first_timestamp();
        too_full || waited > rules.segment_ms
    }

    fn roll(&mut self, base_offset: Offset) {
        self.segments.push(Segment::new(base_offset));
    }

    /// Remembers where an epoch begins (`LeaderEpochFileCache.assign`).
    pub fn note_epoch(&mut self, epoch: LeaderEpoch, start: Offset) {
        if self.epochs.last().is_none_or(|(latest, _)| *latest < epoch) {
            // An epoch without records gives way to the one that begins at the same offset.
            self.epochs.retain(|(_, offset)| *offset < start);
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
        let active = self.segments.last_mut().expect("the first segment stays");
        active.batches.retain(|stored| stored.end_offset() <= offset);
        active.recount();
        self.end = offset;
        self.start = self.start.min(offset);
        self.epochs.retain(|(_, start)| *start < offset);
    }

    /// Moves the log start up; records below can no longer be read.
    pub fn raise_start(&mut self, offset: Offset) {
        self.start = self.start.max(offset.min(self.end));
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
mod tests {
    use std::sync::Arc;

    use super::super::record::Batch;
    use super::*;

    const RULES: RollRules = RollRules { segment_bytes: 200, segment_ms: 1000 };

    fn batch(base: u64, epoch: u32, timestamp: i64) -> StoredBatch {
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

    fn log(batches: &[(u64, u32, i64)]) -> Log {
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

    #[test]
    fn an_epoch_ends_where_the_next_one_begins() {
        let log = log(&[(0, 0, 0), (1, 0, 0), (2, 3, 0)]);
        let end = |epoch| log.end_offset_for_epoch(LeaderEpoch(epoch)).map(|(e, o)| (e.0, o.0));
        assert_eq!(end(0), Some((0, 2)));
        assert_eq!(end(1), Some((0, 2)));
        assert_eq!(end(3), Some((3, 3)));
        assert_eq!(end(4), None);
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
