//! Rules that tests break on purpose, to see that a checker notices.

/// A rule that is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Defect {
    /// A leader commits what nobody else has.
    HighWatermarkIgnoresIsr,
    /// The high watermark moves though the ISR is below its minimum.
    HighWatermarkNotFrozen,
    /// A follower goes on from where its log ends, whatever the leader's holds there.
    TruncationSkipped,
    /// A leader appends what an idempotent producer sends again.
    DuplicateAccepted,
    /// An election leaves the leader epoch as it is.
    TwoLeaders,
    /// Readers of committed records read up to the high watermark.
    LastStableOffsetIsHighWatermark,
    /// A marker ends its transaction and takes no place in the log.
    MarkerWithoutOffset,
    /// The cleaner does not stop at the active segment.
    ActiveSegmentCompacted,
    /// The cleaner takes a tombstone as soon as it sees it.
    TombstoneDroppedAtOnce,
    /// The retention job deletes segments before their time.
    RetentionTooEarly,
}
