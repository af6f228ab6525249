//! What a machine can set a timer for.

use super::group::GroupTimer;
use super::ids::{BrokerId, TopicPartition};
use super::message::MessageId;

/// A timer of one machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Timer {
    /// A broker's next heartbeat to the controller.
    BrokerHeartbeat,
    /// A broker asks the controller for its registration again.
    RegisterAgain,
    /// A broker or controller fetches metadata again after a failure.
    QuorumFetchAgain,
    /// A broker checks the ISRs that it leads (`replica.lag.time.max.ms` / 2).
    IsrShrinkCheck,
    /// A broker writes its high watermarks to disk.
    HighWatermarkCheckpoint,
    /// A broker deletes old segments (`log.retention.check.interval.ms`).
    Retention,
    /// A broker cleans compacted logs (`log.cleaner.backoff.ms`).
    Cleaner,
    /// A broker forgets silent producers.
    ProducerExpiration,
    /// A broker proposes ISRs again after a failure.
    AlterPartitionAgain,
    /// A follower fetches again from a leader after a pause.
    FetcherWake(BrokerId),
    /// A held request has waited long enough.
    HeldRequestExpires(MessageId),
    /// A produce request's or follower's append has taken its time.
    AppendDone(MessageId),
    /// A voter of the quorum looks whether it hears of an active controller; an active one whether
    /// it hears of a majority.
    QuorumCheck,
    /// The controller looks for silent brokers.
    FenceCheck,
    /// The controller writes what it has gathered to its log.
    MetadataDrain,
    /// The controller looks for partitions that only an unclean election can give a leader.
    UncleanElection,
    /// The controller moves leaderships back to preferred replicas.
    LeaderBalance,
    /// A coordinator aborts transactions that are open for too long.
    TransactionTimeouts,
    /// A coordinator forgets transactional ids.
    TransactionalIdExpiration,
    /// A coordinator sends markers again.
    TransactionMarkers,
    /// A leader asks a coordinator again about a client's request.
    VerifyAgain(MessageId),
    /// A client looks what is due: linger, back-off, time-outs.
    ClientWake,
    /// A coordinator looks after a classic group.
    Group {
        /// `group.id`.
        group: String,
        /// What for.
        timer: GroupTimer,
    },
    /// A coordinator looks for committed offsets that have expired.
    OffsetsExpiry,
    /// The coordinator looks whether a member is still there.
    MemberDeadline {
        /// `group.id`.
        group: String,
        /// Its member id.
        member: String,
    },
    /// Locks of records of a share group may have run out.
    ShareLocks {
        /// `group.id`.
        group: String,
        /// The records' partition.
        partition: TopicPartition,
    },
    /// A share coordinator is asked again, by the errand's number.
    ShareStateAgain(u64),
    /// The application calls `poll()`.
    Poll,
    /// The next records of a burst.
    Burst {
        /// The command, by its place in the list.
        command: usize,
        /// The number of the next record, from 1.
        number: u64,
    },
}
