//! Everything that a scenario can ask for: one variant per action of the format.
//!
//! A command is a request, not an outcome. What the cluster refuses becomes an event of the trace.

use super::ids::{BrokerId, Machine, Offset, TopicPartition};
use super::world::TopicSpec;

/// One action of a scenario. Names of machines have been checked; topics and partitions may be
/// unknown to the cluster at the time, which Kafka then refuses.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields are those of the action of the same name in the format")]
pub enum Command {
    /// Calls `send()` for one record or a burst.
    Produce(Produce),
    StartProducer {
        producer: String,
    },
    CloseProducer {
        producer: String,
    },
    CrashProducer {
        producer: String,
    },
    BeginTransaction {
        producer: String,
    },
    CommitTransaction {
        producer: String,
        offsets: Option<TransactionOffsets>,
    },
    AbortTransaction {
        producer: String,
    },
    CrashBroker {
        broker: BrokerId,
    },
    StartBroker {
        broker: BrokerId,
    },
    ShutdownBroker {
        broker: BrokerId,
    },
    PauseBroker {
        broker: BrokerId,
    },
    ResumeBroker {
        broker: BrokerId,
    },
    CrashController {
        controller: String,
    },
    StartController {
        controller: String,
    },
    /// Machines of different groups cannot reach each other; one that is not named reaches
    /// everyone.
    PartitionNetwork {
        groups: Vec<Vec<Machine>>,
    },
    HealNetwork,
    /// `latency_ms: None` puts the link back to the default.
    SlowLink {
        from: Machine,
        to: Machine,
        latency_ms: Option<u64>,
        direction: LinkDirection,
    },
    /// The replica stops fetching; without a partition all replicas of the broker do.
    StallReplica {
        broker: BrokerId,
        partition: Option<TopicPartition>,
    },
    UnstallReplica {
        broker: BrokerId,
        partition: Option<TopicPartition>,
    },
    CreateTopic(TopicSpec),
    DeleteTopic {
        topic: String,
    },
    CreatePartitions {
        topic: String,
        total: u32,
        assignment: Option<Vec<Vec<BrokerId>>>,
    },
    /// Changes settings at run time.
    AlterConfig(AlterConfig),
    ReassignPartitions {
        partition: TopicPartition,
        replicas: Vec<BrokerId>,
    },
    ElectLeaders {
        kind: ElectionKind,
        partition: Option<TopicPartition>,
    },
    DeleteRecords {
        partition: TopicPartition,
        before: Offset,
    },
    StartConsumer {
        consumer: String,
    },
    /// Closes the consumer, which leaves its group.
    StopConsumer {
        consumer: String,
    },
    CrashConsumer {
        consumer: String,
    },
    PauseConsumer {
        consumer: String,
        mode: PauseMode,
    },
    ResumeConsumer {
        consumer: String,
        mode: PauseMode,
    },
    PausePartitions {
        consumer: String,
        partitions: Vec<TopicPartition>,
    },
    ResumePartitions {
        consumer: String,
        partitions: Vec<TopicPartition>,
    },
    /// Without an offset: the position.
    Commit {
        consumer: String,
        partition: TopicPartition,
        offset: Option<Offset>,
    },
    Seek {
        consumer: String,
        partition: TopicPartition,
        offset: Offset,
    },
    Acknowledge {
        consumer: String,
        partition: TopicPartition,
        offset: Offset,
        kind: AcknowledgeKind,
    },
    ResetOffsets {
        group: String,
        to: ResetTo,
        partition: Option<TopicPartition>,
    },
    RunRetention {
        partition: Option<TopicPartition>,
    },
    RunCleaner {
        partition: Option<TopicPartition>,
    },
}

/// The fields of `produce`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Produce {
    /// Who sends.
    pub producer: String,
    /// Where to; `None`: the producer's default topic, which is then known to exist.
    pub topic: Option<String>,
    /// `None` is Kafka's null. `{n}` counts the records of a burst from 1.
    pub key: Option<String>,
    /// `None` is Kafka's null: a tombstone.
    pub value: Option<String>,
    /// Names and values, in the file's order.
    pub headers: Vec<(String, String)>,
    /// An explicit partition.
    pub partition: Option<u32>,
    /// The record's timestamp relative to the time of sending, in milliseconds.
    pub timestamp_ms: Option<i64>,
    /// Bytes of the value, where they are not the text's own.
    pub size_bytes: Option<u64>,
    /// How many records; at least 1.
    pub count: u64,
    /// Time between two of them, in milliseconds; 0: all at once.
    pub every_ms: u64,
}

/// Offsets that a transaction commits for a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransactionOffsets {
    /// `group.id`.
    pub group: String,
    /// The consumer whose positions are committed.
    pub consumer: String,
}

/// Which way a slowed link is slow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkDirection {
    /// From the first machine to the second only.
    OneWay,
    /// Both ways.
    BothWays,
}

/// The fields of `alter_config`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlterConfig {
    /// Whose settings.
    pub resource: ConfigResource,
    /// Settings with their new values; `None` takes one back.
    pub set: Vec<(String, Option<String>)>,
    /// Those of `set` that Kafka takes at the start of a broker only, or not for this resource.
    pub refused: Vec<String>,
}

/// Whose settings `alter_config` changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConfigResource {
    /// A topic's.
    Topic(String),
    /// One broker's.
    Broker(BrokerId),
    /// The cluster-wide default of all brokers.
    AllBrokers,
    /// The broker's settings of one group.
    Group(String),
}

/// The kind of election that an administrator asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElectionKind {
    /// The first replica, if it can lead.
    Preferred,
    /// Any living replica, at the price of records.
    Unclean,
}

/// What stands still while a consumer is paused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PauseMode {
    /// Nothing of the process runs.
    Process,
    /// The application does not call `poll()`; heartbeats go on.
    App,
}

/// How a share consumer settles a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "Kafka's own four words")]
pub enum AcknowledgeKind {
    Accept,
    Release,
    Reject,
    Renew,
}

/// Where `reset_offsets` puts a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResetTo {
    /// The log start.
    Earliest,
    /// The high watermark.
    Latest,
    /// This offset.
    Offset(Offset),
}
