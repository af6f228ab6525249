//! What can be observed of clients and groups. Part of the snapshot's tree; see [`super`].

use std::collections::BTreeMap;

use serde::Serialize;

use crate::sim::ids::{BrokerId, Offset, TopicPartition};
use crate::sim::world::Settings;

/// What a producer is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ProducerState {
    /// It can send.
    #[default]
    Ready,
    /// It has an open transaction.
    InTransaction,
    /// A newer instance has shut it out.
    Fenced,
    /// It cannot go on.
    Failed,
    /// Its process is not there.
    Stopped,
}

/// One producer. Counters start anew with its process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ProducerView {
    /// Records in its buffer that are not in a request.
    pub buffered: u64,
    /// Batches whose request is not answered.
    pub in_flight: u64,
    /// Records acknowledged.
    pub acked: u64,
    /// Records given up.
    pub failed: u64,
    /// Batches sent again.
    pub retries: u64,
    /// What the application got last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
    /// What a broker answered last that was an error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_refusal: Option<String>,
    /// What it is doing.
    pub state: ProducerState,
    /// Of an idempotent producer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub producer_id: Option<i64>,
    /// Of an idempotent producer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub producer_epoch: Option<i16>,
    /// The sequence of the next record, by partition.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub next_sequence: BTreeMap<TopicPartition, i32>,
    /// Where the last acknowledged record went.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_partition: Option<u32>,
    /// Its offset; -1 where no broker tells (`acks=0`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_offset: Option<i64>,
    /// murmur2 of the last record's key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_key_hash: Option<i32>,
    /// Settings that the author gave.
    #[serde(skip_serializing_if = "Settings::is_empty")]
    pub config: Settings,
    /// The buffered records' keys, oldest first, at most eight; for pictures, not in the tree.
    #[serde(skip)]
    pub buffered_keys: Vec<Option<String>>,
    /// What of the buffer leaves next, where time alone decides; for pictures.
    #[serde(skip)]
    pub next_send: Option<NextSend>,
}

/// A batch that waits for its time: for `linger.ms`, or for the end of its back-off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NextSend {
    /// When, in milliseconds.
    pub at_ms: u64,
    /// Whether it was sent before.
    pub is_retry: bool,
}

/// One transactional id.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TransactionView {
    /// The coordinator's state, by Kafka's name.
    pub state: String,
    /// The producer's epoch.
    pub producer_epoch: i16,
    /// Partitions that belong to the open transaction.
    pub partitions: Vec<TopicPartition>,
    /// What only Kafka's tools print of it; not in the tree.
    #[serde(skip)]
    pub details: TransactionDetails,
}

/// What only `kafka-transactions.sh` prints of a transactional id.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TransactionDetails {
    /// The broker that coordinates it.
    pub coordinator: Option<BrokerId>,
    /// The producer's id.
    pub producer_id: i64,
    /// `transaction.timeout.ms`.
    pub timeout_ms: u64,
    /// When the last transaction began, in milliseconds from 0 s; none before the first.
    pub started_ms: Option<u64>,
}

/// One group.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct GroupView {
    /// The coordinator's state, by Kafka's name (`Stable`); `None`: no live coordinator to ask.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// Generation (classic) or group epoch; `None`: as for the state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epoch: Option<i32>,
    /// The assignor in use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assignor: Option<String>,
    /// The broker that coordinates it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coordinator: Option<BrokerId>,
    /// Its members, sorted.
    pub members: Vec<String>,
    /// What `OffsetFetch` would answer, by partition.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub committed: BTreeMap<TopicPartition, Offset>,
    /// High watermark minus committed; negative when a commit lies beyond it.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub lag: BTreeMap<TopicPartition, i64>,
    /// The sum of the known lags.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_lag: Option<i64>,
    /// What its coordinator has given to each member, by the client's name; for pictures.
    #[serde(skip)]
    pub owners: BTreeMap<String, Vec<TopicPartition>>,
    /// A share group's state, by partition.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub share: BTreeMap<TopicPartition, ShareView>,
    /// Settings that the author gave.
    #[serde(skip_serializing_if = "Settings::is_empty")]
    pub config: Settings,
}

/// A share group's view of one partition.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ShareView {
    /// Everything below it is settled.
    pub start_offset: Offset,
    /// Records at and above it that are in play.
    pub records: BTreeMap<Offset, ShareRecordView>,
}

/// One record of a share group.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ShareRecordView {
    /// `available`, `acquired`, `acknowledged` or `archived`.
    pub state: String,
    /// How often it was handed out.
    pub delivery_count: u16,
    /// The client that has it, while it is acquired; for pictures, not in the tree.
    #[serde(skip)]
    pub holder: Option<String>,
}

/// What a consumer is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ConsumerState {
    /// Its process is not there.
    #[default]
    Stopped,
    /// It waits for its group.
    Joining,
    /// It is a member with an assignment.
    Stable,
    /// It has left its group but runs.
    Left,
    /// The coordinator has shut it out.
    Fenced,
}

impl ConsumerState {
    /// The state in one word, as the snapshot's tree has it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            ConsumerState::Stopped => "stopped",
            ConsumerState::Joining => "joining",
            ConsumerState::Stable => "stable",
            ConsumerState::Left => "left",
            ConsumerState::Fenced => "fenced",
        }
    }
}

/// One consumer. Counters start anew with its process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ConsumerView {
    /// What it is doing.
    pub state: ConsumerState,
    /// The generation or member epoch that it knows.
    pub epoch: i32,
    /// The partitions that it reads, sorted.
    pub assignment: Vec<TopicPartition>,
    /// The next offset that it will ask for, by partition; absent while unresolved.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub position: BTreeMap<TopicPartition, Offset>,
    /// Records returned by `poll()`.
    pub consumed: u64,
    /// What the application got last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
    /// What a broker answered last that was an error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_refusal: Option<String>,
    /// The last record that `poll()` returned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_record: Option<SeenRecord>,
    /// Every record that `poll()` returned, as `orders-0@0`, in that order.
    pub seen: Vec<String>,
    /// Settings that the author gave, the group's included.
    #[serde(skip_serializing_if = "Settings::is_empty")]
    pub config: Settings,
    /// What it holds and its coordinator does not count as its own (any more): it has to give that
    /// up; for pictures.
    #[serde(skip)]
    pub revoking: Vec<TopicPartition>,
    /// Its group, for pictures; not in the tree.
    #[serde(skip)]
    pub group: String,
}

/// A record in an application's hands.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SeenRecord {
    /// Its topic.
    pub topic: String,
    /// Its partition's number.
    pub partition: u32,
    /// Its offset.
    pub offset: Offset,
    /// Its key; `None` is Kafka's null.
    pub key: Option<String>,
    /// Its value; `None` is Kafka's null.
    pub value: Option<String>,
}
