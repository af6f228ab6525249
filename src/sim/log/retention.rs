//! What of a log is too old or too much: whole segments from the oldest on.
//!
//! Follows `UnifiedLog.deleteOldSegments`. Each rule stops at the first segment that it spares, and
//! none takes a segment that reaches beyond the high watermark.

use crate::sim::ids::Offset;

use super::{Log, LogConfig, Segment};

/// Why a segment goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// It lies below the log start.
    LogStart,
    /// `retention.bytes`.
    Size,
    /// `retention.ms`.
    Time,
}

impl Reason {
    /// The reason in words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Reason::LogStart => "below the log start",
            Reason::Size => "over retention.bytes",
            Reason::Time => "older than retention.ms",
        }
    }
}

/// Segments that went: why, which, and where the log starts now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deleted {
    /// Why.
    pub reason: Reason,
    /// The segments, ascending.
    pub segments: Vec<Segment>,
    /// The log start after it.
    pub log_start: Offset,
}

impl Log {
    /// Deletes what is due, and says what went: below the log start, then by size, then by time.
    /// Without `delete` in `cleanup.policy` only the first rule counts.
    pub fn delete_old_segments(
        &mut self,
        config: &LogConfig,
        high_watermark: Offset,
        now_ms: i64,
    ) -> Vec<Deleted> {
        let mut deleted = Vec::new();
        for reason in [Reason::LogStart, Reason::Size, Reason::Time] {
            if reason != Reason::LogStart && !config.deletes {
                break;
            }
            let count = match reason {
                Reason::LogStart => self.breached_by_log_start(high_watermark),
                Reason::Size => self.breached_by_size(config.retention_bytes, high_watermark),
                Reason::Time => self.breached_by_time(config.retention_ms, high_watermark, now_ms),
            };
            if count > 0 {
                let segments = self.delete_first(count);
                deleted.push(Deleted { reason, segments, log_start: self.start_offset() });
            }
        }
        deleted
    }

    /// Segments that end at or below the log start, the active one never
    /// (`deleteLogStartOffsetBreachedSegments`).
    fn breached_by_log_start(&self, high_watermark: Offset) -> usize {
        let start = self.start_offset();
        self.deletable(high_watermark, |_, next| next.is_some_and(|next| next.base_offset <= start))
    }

    /// While what is over the limit covers the whole segment: a log may stay up to one segment
    /// above its limit (`deleteRetentionSizeBreachedSegments`).
    fn breached_by_size(&self, limit: Option<u64>, high_watermark: Offset) -> usize {
        let Some(mut excess) = limit.and_then(|limit| self.size_bytes().checked_sub(limit)) else {
            return 0;
        };
        self.deletable(high_watermark, |segment, _| match excess.checked_sub(segment.bytes) {
            Some(rest) => {
                excess = rest;
                true
            }
            None => false,
        })
    }

    /// Segments whose newest record is older than the limit (`deleteRetentionMsBreachedSegments`).
    fn breached_by_time(&self, limit: Option<i64>, high_watermark: Offset, now_ms: i64) -> usize {
        let Some(limit) = limit else { return 0 };
        self.deletable(high_watermark, |segment, _| {
            segment.max_timestamp.is_some_and(|newest| now_ms.saturating_sub(newest) > limit)
        })
    }

    /// How many segments from the oldest on may go: committed, due, and not the empty active one
    /// (`UnifiedLog.deletableSegments`).
    fn deletable(
        &self,
        high_watermark: Offset,
        mut is_due: impl FnMut(&Segment, Option<&Segment>) -> bool,
    ) -> usize {
        let segments = self.segments();
        let may_go = |(index, segment): &(usize, &Segment)| {
            let next = segments.get(index + 1);
            let end = next.map_or(self.end_offset(), |next| next.base_offset);
            let is_empty_active = next.is_none() && segment.bytes == 0;
            high_watermark >= end && !is_empty_active && is_due(segment, next)
        };
        segments.iter().enumerate().take_while(may_go).count()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{RULES, batch, log};
    use super::*;

    fn config(bytes: Option<u64>, ms: Option<i64>) -> LogConfig {
        LogConfig { roll: RULES, retention_bytes: bytes, retention_ms: ms, ..LogConfig::default() }
    }

    /// Segments of 140, 70 and 70 bytes.
    fn three_segments() -> Log {
        log(&[(0, 0, 0), (1, 0, 0), (2, 0, 2000), (3, 0, 4000)])
    }

    /// Trace A of `replication.md`, section 12.
    #[test]
    fn size_deletes_a_segment_only_if_the_excess_covers_it() {
        let mut log = three_segments();
        let config = config(Some(200), None);
        assert_eq!(log.delete_old_segments(&config, Offset(4), 0), []);
        log.append(batch(4, 0, 4000), RULES);
        assert_eq!(log.size_bytes(), 350);
        let first = log.segments()[0].clone();
        let deleted = log.delete_old_segments(&config, Offset(5), 0);
        let expected =
            Deleted { reason: Reason::Size, segments: vec![first], log_start: Offset(2) };
        assert_eq!(deleted, [expected]);
        assert_eq!(log.size_bytes(), 210);
    }

    /// Trace B of `replication.md`, section 12.
    #[test]
    fn time_deletes_the_active_segment_too_once_every_record_is_too_old() {
        let mut log = log(&[(0, 0, 0), (1, 0, 0)]);
        log.append(batch(2, 0, 0), RULES);
        assert_eq!(log.segments().len(), 2);
        let config = config(None, Some(1000));
        assert_eq!(log.delete_old_segments(&config, Offset(3), 1000), []);
        assert_eq!(log.delete_old_segments(&config, Offset(3), 1001).len(), 1);
        assert_eq!((log.start_offset(), log.end_offset()), (Offset(3), Offset(3)));
        assert_eq!(log.segments().len(), 1);
        assert_eq!(log.segments()[0].base_offset, Offset(3));
        assert_eq!(log.delete_old_segments(&config, Offset(3), 9000), [], "the empty one stays");
    }

    #[test]
    fn nothing_beyond_the_high_watermark_goes() {
        let mut log = three_segments();
        let config = config(Some(0), None);
        log.delete_old_segments(&config, Offset(3), 0);
        assert_eq!(log.start_offset(), Offset(3));
        log.delete_old_segments(&config, Offset(4), 0);
        assert_eq!(log.start_offset(), Offset(4));
    }

    #[test]
    fn a_record_stamped_in_the_future_keeps_its_segment_and_all_later_ones() {
        let mut log = log(&[(0, 0, 90_000), (1, 0, 0), (2, 0, 91_001), (3, 0, 0)]);
        assert_eq!(log.delete_old_segments(&config(None, Some(1000)), Offset(4), 80_000), []);
    }

    #[test]
    fn segments_below_the_log_start_go_whatever_the_policy_but_never_the_active_one() {
        let mut log = three_segments();
        log.raise_start(Offset(3));
        let mut compact = config(Some(0), Some(0));
        compact.deletes = false;
        let deleted = log.delete_old_segments(&compact, Offset(4), 100_000);
        assert_eq!(deleted.len(), 1);
        assert_eq!((deleted[0].reason, deleted[0].segments.len()), (Reason::LogStart, 2));
        log.raise_start(Offset(4));
        assert_eq!(log.delete_old_segments(&compact, Offset(4), 100_000), []);
        assert_eq!(log.segments().len(), 1);
    }

    #[test]
    fn size_counts_the_active_segment_and_may_take_it() {
        let mut log = three_segments();
        log.delete_old_segments(&config(Some(1), None), Offset(4), 0);
        assert_eq!(log.start_offset(), Offset(3), "279 of 280 bytes are over the limit");
    }
}
