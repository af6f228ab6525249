//! The world at one instant: plain, ordered data, the tree that the format calls observables.
//!
//! Serialised, its field names are the format's names. What is `none` is absent from the
//! serialised tree; Kafka's null (a key, a value) is `null` in it.

use std::collections::BTreeMap;

use serde::Serialize;

use super::ids::{BrokerId, LeaderEpoch, Machine, Offset, TopicPartition};
use super::world::Settings;

/// Everything that can be observed at one instant. Shape: the tree in the format's "Observables".
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Snapshot {
    /// Milliseconds since 0 s.
    pub time_ms: u64,
    /// Milliseconds since each earlier step, by its number. The simulator leaves it empty; who knows the
    /// steps fills it in.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub since: BTreeMap<u32, u64>,
    /// The active controller.
    pub controller: ControllerView,
    /// The brokers.
    pub brokers: BTreeMap<BrokerId, BrokerView>,
    /// The topics, internal ones left out.
    pub topics: BTreeMap<String, TopicView>,
    /// Their partitions.
    pub partitions: BTreeMap<TopicPartition, PartitionView>,
    /// The producers.
    pub producers: BTreeMap<String, ProducerView>,
    /// Transactions by `transactional.id`.
    pub transactions: BTreeMap<String, TransactionView>,
    /// The groups.
    pub groups: BTreeMap<String, GroupView>,
    /// The consumers of all groups.
    pub consumers: BTreeMap<String, ConsumerView>,
    /// Gauges, and counts of meters, by Kafka's JMX name.
    pub metrics: BTreeMap<&'static str, i64>,
    /// How many messages are under way, by kind.
    pub in_flight: BTreeMap<String, u64>,
    /// How many requests are held at their receiver, by kind.
    pub waiting: BTreeMap<String, u64>,
    /// The messages behind both, in the order in which they were sent.
    pub messages: Vec<MessageView>,
    /// The administrator.
    pub admin: AdminView,
}

/// The active controller.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ControllerView {
    /// Its name; none while the quorum has no leader.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leader: Option<String>,
    /// The quorum's epoch.
    pub epoch: u32,
}

/// What a broker's process does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ProcessState {
    /// It runs.
    #[default]
    Up,
    /// It hangs: connections stay open, nothing answers.
    Paused,
    /// It was asked to stop and is handing its leaderships over.
    ShuttingDown,
    /// It is not there.
    Stopped,
}

/// What the controller believes of a broker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Registration {
    /// It may lead and be in sync.
    #[default]
    Active,
    /// It may not: it is new, silent or gone.
    Fenced,
    /// It is shutting down politely.
    ControlledShutdown,
}

/// One broker.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct BrokerView {
    /// Its process.
    pub process: ProcessState,
    /// The controller's belief.
    pub registration: Registration,
    /// Its rack.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rack: Option<String>,
    /// Settings in force that are not Kafka's defaults.
    #[serde(skip_serializing_if = "Settings::is_empty")]
    pub config: Settings,
}

/// One topic.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TopicView {
    /// How many partitions.
    pub partitions: u32,
    /// How many replicas each was created with.
    pub replication_factor: u32,
    /// Settings of the topic itself that are in force.
    #[serde(skip_serializing_if = "Settings::is_empty")]
    pub config: Settings,
}

/// One partition. The first block is the controller's; the second is the live leader's and is none
/// without one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PartitionView {
    /// The leader that the controller believes in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leader: Option<BrokerId>,
    /// Its epoch.
    pub leader_epoch: LeaderEpoch,
    /// The replicas in order; the first is the preferred leader.
    pub assignment: Vec<BrokerId>,
    /// In-sync replicas, sorted.
    pub isr: Vec<BrokerId>,
    /// Eligible leader replicas (KIP-966), sorted.
    pub elr: Vec<BrokerId>,
    /// The ELR before an unclean shutdown, sorted.
    pub last_known_elr: Vec<BrokerId>,

    /// Every offset below it is committed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high_watermark: Option<Offset>,
    /// The offset of the next record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log_end_offset: Option<Offset>,
    /// The first offset that is still there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log_start_offset: Option<Offset>,
    /// Every transaction below it is decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_stable_offset: Option<Offset>,
    /// Bytes of the leader's log.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size_bytes: Option<u64>,
    /// How many segments the leader's log has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub segments: Option<u64>,
    /// Those segments, numbered from 0.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub segment: BTreeMap<u32, SegmentView>,
    /// The leader's records by offset.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub records: BTreeMap<Offset, RecordView>,

    /// Every replica, by broker.
    pub replicas: BTreeMap<BrokerId, ReplicaView>,
}

/// One segment of a log.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SegmentView {
    /// Its first offset.
    pub base_offset: Offset,
    /// Its size.
    pub bytes: u64,
    /// The largest timestamp in it, in milliseconds from 0 s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_timestamp: Option<i64>,
}

/// What a record is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordKind {
    /// An application's record.
    #[default]
    Data,
    /// A transaction's commit marker.
    Commit,
    /// A transaction's abort marker.
    Abort,
}

/// What a record's transaction came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TransactionMark {
    /// It belongs to none; absent from the tree.
    #[default]
    None,
    /// Undecided.
    Open,
    /// Committed.
    Committed,
    /// Aborted.
    Aborted,
}

/// One record of a log.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RecordView {
    /// Outer `None`: absent (a marker). Inner `None`: Kafka's null.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<Option<String>>,
    /// As `key`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Option<String>>,
    /// Milliseconds from 0 s; negative before.
    pub timestamp: i64,
    /// The epoch under which it was appended.
    pub leader_epoch: LeaderEpoch,
    /// Data or marker.
    pub kind: RecordKind,
    /// Its transaction's state.
    #[serde(skip_serializing_if = "is_no_transaction")]
    pub txn: TransactionMark,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_no_transaction(mark: &TransactionMark) -> bool {
    *mark == TransactionMark::None
}

/// What a broker believes that it is to a partition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplicaRole {
    /// It takes writes.
    Leader,
    /// It copies.
    #[default]
    Follower,
    /// Its process is not there.
    Offline,
}

/// One replica, as it is on its broker; a stopped broker's fields show its disk.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ReplicaView {
    /// The end of its own log.
    pub log_end_offset: Offset,
    /// The high watermark that it knows.
    pub high_watermark: Offset,
    /// The start of its own log.
    pub log_start_offset: Offset,
    /// The epoch that it knows.
    pub leader_epoch: LeaderEpoch,
    /// Whether the controller has it in the ISR.
    pub in_sync: bool,
    /// Its own belief.
    pub role: ReplicaRole,
    /// Epoch of each record from `log_start_offset` on, so that pictures can tell diverged records;
    /// not part of the published tree.
    #[serde(skip)]
    pub records: BTreeMap<Offset, RecordView>,
}

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
    /// The time at which the oldest buffered batch will be sent by `linger.ms`; for pictures.
    #[serde(skip)]
    pub sends_at_ms: Option<u64>,
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
}

/// One group.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct GroupView {
    /// The coordinator's state, by Kafka's name (`Stable`).
    pub state: String,
    /// Generation (classic) or group epoch.
    pub epoch: i32,
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

/// One message under way, or one request that is held at its receiver.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MessageView {
    /// Unique in a run, in the order of sending.
    pub id: u64,
    /// Who sent it.
    pub from: Machine,
    /// Who gets it.
    pub to: Machine,
    /// Kafka's API name in snake case; answers end in `_response`.
    pub kind: &'static str,
    /// What it carries, in words: `1 record`, `fetch from 3`, `ack: offset 0`, `NOT_ENOUGH_REPLICAS`.
    pub carries: String,
    /// When it was sent, in milliseconds.
    pub sent_ms: u64,
    /// When it arrives, or arrived, in milliseconds.
    pub arrives_ms: u64,
    /// True: it has arrived and is held.
    pub waiting: bool,
    /// The records in it, as partition and offset; a produce request has no offsets yet and lists none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub records: Vec<RecordRef>,
    /// How many records are in it, with or without an offset.
    pub record_count: u64,
    /// The error that an answer carries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// A record by its place, written `orders-0@3`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RecordRef {
    /// Its partition.
    pub partition: TopicPartition,
    /// Its offset.
    pub offset: Offset,
}

impl std::fmt::Display for RecordRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}@{}", self.partition, self.offset)
    }
}

impl Serialize for RecordRef {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The administrator's last action.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AdminView {
    /// Its error, or none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
}
