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
    /// A member of a classic group gives up what it has only when it is given its new part.
    RevokedAfterAssignment,
    /// A consumer commits an offset behind its position.
    CommitBeyondPosition,
    /// A coordinator answers heartbeats, and misses who sends them all the same.
    HeartbeatIgnored,
    /// A coordinator that assigns gives a partition away that its owner has not given up.
    AssignedBeforeRevoked,
    /// A share group's record stays with who holds it, whatever the lock says.
    LockNeverExpires,
    /// A share group hands a record out however often it was handed out.
    DeliveryLimitIgnored,
}
