//! The world at one instant: plain, ordered data, the tree that the format calls observables.
//!
//! Serialised, its field names are the format's names. What is `none` is absent from the
//! serialised tree; Kafka's null (a key, a value) is `null` in it.

mod clients;

use std::collections::BTreeMap;

use serde::Serialize;

use super::ids::{BrokerId, LeaderEpoch, Machine, Offset, TopicPartition};
use super::world::Settings;

pub use clients::*;

/// Everything that can be observed at one instant. Shape: the tree in the format's "Observables".
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Snapshot {
    /// Milliseconds since 0 s.
    pub time_ms: u64,
    /// Milliseconds since each earlier step, by its number. The simulator leaves it empty; who
    /// knows the steps fills it in.
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
    /// The side of each machine while the network is cut; for pictures, not in the tree.
    #[serde(skip)]
    pub sides: BTreeMap<Machine, usize>,
}

/// The active controller.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ControllerView {
    /// Its name; none while the quorum has no leader.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leader: Option<String>,
    /// The quorum's epoch.
    pub epoch: u32,
    /// The controllers whose processes are not there, sorted; for pictures, not in the tree.
    #[serde(skip)]
    pub stopped: Vec<String>,
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
    /// The same in the controller's own order, as Kafka's tools print it: that of the assignment
    /// until one leaves; who comes back stands last. Not in the tree.
    #[serde(skip)]
    pub isr_as_listed: Vec<BrokerId>,
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

impl RecordView {
    /// Whether it says that what was written with its key before is to be forgotten: its value is
    /// Kafka's null.
    #[must_use]
    pub fn is_tombstone(&self) -> bool {
        matches!((&self.key, &self.value), (Some(Some(_)), Some(None)))
    }
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
    /// Whether it was told not to fetch.
    pub stalled: bool,
    /// Every transaction below it is decided, as this replica knows; for pictures.
    #[serde(skip)]
    pub last_stable_offset: Offset,
    /// The first offsets of its own segments, ascending; for pictures.
    #[serde(skip)]
    pub segment_bases: Vec<Offset>,
    /// Epoch of each record from `log_start_offset` on, so that pictures can tell diverged records;
    /// not part of the published tree.
    #[serde(skip)]
    pub records: BTreeMap<Offset, RecordView>,
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
    /// What it carries, in words: `1 record`, `fetch from 3`, `ack: offset 0`,
    /// `NOT_ENOUGH_REPLICAS`.
    pub carries: String,
    /// When it was sent, in milliseconds.
    pub sent_ms: u64,
    /// When it arrives, or arrived, in milliseconds.
    pub arrives_ms: u64,
    /// True: it has arrived and is held.
    pub waiting: bool,
    /// The records in it, as partition and offset; a produce request has no offsets yet and lists
    /// none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub records: Vec<RecordRef>,
    /// What a fetch asks for, or the answer to one is about, as partition and first offset;
    /// internal topics are left out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fetches: Vec<RecordRef>,
    /// How many records are in it, with or without an offset.
    pub record_count: u64,
    /// The error that an answer carries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The request that it answers, by its id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answers: Option<u64>,
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
