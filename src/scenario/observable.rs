//! Every observable of the format: its path, the type of its value, and what it means. This one
//! table checks the paths of `expect`, `when` and `{{ }}`, and is what reference pages print.
//!
//! In a pattern `<...>` stands for a name; `<setting>` takes the rest of the path as it is.

use super::domain::Domain;

/// The type of an observable's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A whole number.
    Number,
    /// One of these words.
    Word(&'static [&'static str]),
    /// A name from a set.
    Name(Domain),
    /// A record's key or value, exactly as written; can be null.
    Text,
    /// A list of such names whose order counts.
    List(Domain),
    /// A list of such names that compares as a set and prints sorted.
    Set(Domain),
    /// A setting's effective value, compared by the catalogue's type.
    Setting,
    /// `messages`: for pictures and JSON, not for conditions.
    Messages,
}

impl Kind {
    /// Whether values of the two types can be equal at all.
    #[must_use]
    pub fn compares_with(self, other: Kind) -> bool {
        match (self, other) {
            (Kind::Word(words), Kind::Word(others)) => {
                words.iter().any(|word| others.contains(word))
            }
            // A set compares with a list as a set.
            (Kind::List(items) | Kind::Set(items), Kind::List(others) | Kind::Set(others)) => {
                items == others
            }
            (Kind::Name(Error | Refusal), Kind::Name(Error | Refusal))
            | (Kind::Setting, Kind::Number | Kind::Word(_) | Kind::Setting)
            | (Kind::Number | Kind::Word(_), Kind::Setting) => true,
            (Kind::Messages, _) => false,
            (one, other) => one == other,
        }
    }

    /// What a value of this type looks like, for messages.
    #[must_use]
    pub fn describe(self) -> String {
        match self {
            Kind::Number => "a whole number, or none".to_owned(),
            Kind::Word(words) => format!("one of: {}, or none", words.join(", ")),
            Kind::Name(domain) => format!("{}, or none", domain.word()),
            Kind::Text => "a text, null or none".to_owned(),
            Kind::List(items) | Kind::Set(items) => format!("a list of {}, or none", items.word()),
            Kind::Setting => "a setting's value, or none".to_owned(),
            Kind::Messages => "nothing: messages are counted by in_flight and waiting".to_owned(),
        }
    }
}

/// One observable.
#[derive(Debug)]
pub struct Row {
    /// Its path, with `<...>` for names.
    pub pattern: &'static str,
    /// The type of its value.
    pub kind: Kind,
    /// What it is, in a few words.
    pub doc: &'static str,
}

const fn row(pattern: &'static str, kind: Kind, doc: &'static str) -> Row {
    Row { pattern, kind, doc }
}

const TRUTH: Kind = Kind::Word(&["true", "false"]);
use Domain::{
    Assignor, Broker, Controller, Error, Member, Partition, Rack, Record, Refusal, Topic,
};
use Kind::{List, Messages, Name, Number, Set, Setting, Text, Word};

/// The table, in the order of the format's documentation.
pub static ROWS: &[Row] = &[
    row("time_ms", Number, "milliseconds since 0 s"),
    row("since.<step>", Number, "milliseconds since an earlier step"),
    row("controller.leader", Name(Controller), "the active controller"),
    row("controller.epoch", Number, "the quorum's epoch"),
    row(
        "brokers.<broker>.process",
        Word(&["up", "paused", "shutting_down", "stopped"]),
        "what its process does",
    ),
    row(
        "brokers.<broker>.registration",
        Word(&["active", "fenced", "controlled_shutdown"]),
        "what the controller believes",
    ),
    row("brokers.<broker>.rack", Name(Rack), "its rack"),
    row("brokers.<broker>.config.<setting>", Setting, "a setting in force"),
    row("topics.<topic>.partitions", Number, "how many partitions"),
    row("topics.<topic>.replication_factor", Number, "how many replicas each was created with"),
    row("topics.<topic>.config.<setting>", Setting, "a setting in force"),
    row("partitions.<partition>.leader", Number, "the leader that the controller believes in"),
    row("partitions.<partition>.leader_epoch", Number, "how often the leader has changed"),
    row(
        "partitions.<partition>.assignment",
        List(Broker),
        "the replicas, the preferred leader first",
    ),
    row("partitions.<partition>.isr", Set(Broker), "the in-sync replicas"),
    row("partitions.<partition>.elr", Set(Broker), "the eligible leader replicas"),
    row("partitions.<partition>.last_known_elr", Set(Broker), "the ELR before an unclean shutdown"),
    row("partitions.<partition>.high_watermark", Number, "all offsets below it are committed"),
    row("partitions.<partition>.log_end_offset", Number, "the offset of the leader's next record"),
    row("partitions.<partition>.log_start_offset", Number, "the leader's first offset"),
    row("partitions.<partition>.last_stable_offset", Number, "below it all is decided"),
    row("partitions.<partition>.size_bytes", Number, "bytes of the leader's log"),
    row("partitions.<partition>.segments", Number, "segments of the leader's log"),
    row("partitions.<partition>.segment.<index>.base_offset", Number, "its first offset"),
    row("partitions.<partition>.segment.<index>.bytes", Number, "its size"),
    row("partitions.<partition>.segment.<index>.max_timestamp", Number, "its largest timestamp"),
    row("partitions.<partition>.records.<offset>.key", Text, "the record's key"),
    row("partitions.<partition>.records.<offset>.value", Text, "the record's value"),
    row("partitions.<partition>.records.<offset>.timestamp", Number, "milliseconds from 0 s"),
    row("partitions.<partition>.records.<offset>.leader_epoch", Number, "when it was appended"),
    row(
        "partitions.<partition>.records.<offset>.kind",
        Word(&["data", "commit", "abort"]),
        "data, or a transaction's marker",
    ),
    row(
        "partitions.<partition>.records.<offset>.txn",
        Word(&["open", "committed", "aborted"]),
        "what its transaction came to",
    ),
    row("partitions.<partition>.replicas.<broker>.log_end_offset", Number, "its own log's end"),
    row("partitions.<partition>.replicas.<broker>.high_watermark", Number, "the one it knows"),
    row("partitions.<partition>.replicas.<broker>.log_start_offset", Number, "its own log's start"),
    row("partitions.<partition>.replicas.<broker>.leader_epoch", Number, "the one it knows"),
    row("partitions.<partition>.replicas.<broker>.in_sync", TRUTH, "whether it is in the ISR"),
    row(
        "partitions.<partition>.replicas.<broker>.role",
        Word(&["leader", "follower", "offline"]),
        "what this broker itself believes",
    ),
    row("partitions.<partition>.replicas.<broker>.stalled", TRUTH, "whether it was stalled"),
    row("producers.<producer>.buffered", Number, "records in its buffer"),
    row("producers.<producer>.in_flight", Number, "batches whose request is not answered"),
    row("producers.<producer>.acked", Number, "records acknowledged"),
    row("producers.<producer>.failed", Number, "records given up"),
    row("producers.<producer>.retries", Number, "batches sent again"),
    row("producers.<producer>.last_error", Name(Error), "what the application got last"),
    row(
        "producers.<producer>.last_refusal",
        Name(Refusal),
        "the error that a broker answered last",
    ),
    row(
        "producers.<producer>.state",
        Word(&["ready", "in_transaction", "fenced", "failed", "stopped"]),
        "what it is doing",
    ),
    row("producers.<producer>.producer_id", Number, "of an idempotent producer"),
    row("producers.<producer>.producer_epoch", Number, "of an idempotent producer"),
    row("producers.<producer>.next_sequence.<partition>", Number, "of its next record"),
    row("producers.<producer>.last_partition", Number, "where the last acknowledged record went"),
    row("producers.<producer>.last_offset", Number, "the last acknowledged record's offset"),
    row("producers.<producer>.last_key_hash", Number, "murmur2 of the last key, signed"),
    row("producers.<producer>.config.<setting>", Setting, "a setting in force"),
    row(
        "transactions.<transactional-id>.state",
        Word(&[
            "Empty",
            "Ongoing",
            "PrepareCommit",
            "PrepareAbort",
            "CompleteCommit",
            "CompleteAbort",
            "Dead",
        ]),
        "the coordinator's state",
    ),
    row("transactions.<transactional-id>.producer_epoch", Number, "the producer's epoch"),
    row(
        "transactions.<transactional-id>.partitions",
        Set(Partition),
        "partitions of the open transaction",
    ),
    row(
        "groups.<group>.state",
        Word(&[
            "Empty",
            "PreparingRebalance",
            "CompletingRebalance",
            "Stable",
            "Assigning",
            "Reconciling",
            "Dead",
        ]),
        "the coordinator's state",
    ),
    row("groups.<group>.epoch", Number, "generation of a classic group, or group epoch"),
    row("groups.<group>.assignor", Name(Assignor), "the assignor in use"),
    row("groups.<group>.coordinator", Number, "the broker that coordinates it"),
    row("groups.<group>.members", Set(Member), "its members"),
    row("groups.<group>.committed.<partition>", Number, "what OffsetFetch would answer"),
    row("groups.<group>.lag.<partition>", Number, "high watermark minus committed"),
    row("groups.<group>.total_lag", Number, "the sum of the known lags"),
    row("groups.<group>.share.<partition>.start_offset", Number, "everything below is settled"),
    row(
        "groups.<group>.share.<partition>.records.<offset>.state",
        Word(&["available", "acquired", "acknowledged", "archived"]),
        "a share group's record",
    ),
    row(
        "groups.<group>.share.<partition>.records.<offset>.delivery_count",
        Number,
        "how often it was handed out",
    ),
    row("groups.<group>.config.<setting>", Setting, "a setting in force"),
    row(
        "consumers.<consumer>.state",
        Word(&["stopped", "joining", "stable", "left", "fenced"]),
        "what it is doing",
    ),
    row("consumers.<consumer>.epoch", Number, "the generation or member epoch that it knows"),
    row("consumers.<consumer>.assignment", Set(Partition), "the partitions that it reads"),
    row("consumers.<consumer>.position.<partition>", Number, "the next offset it asks for"),
    row("consumers.<consumer>.consumed", Number, "records returned by poll"),
    row("consumers.<consumer>.last_error", Name(Error), "what the application got last"),
    row(
        "consumers.<consumer>.last_refusal",
        Name(Refusal),
        "the error that a broker answered last",
    ),
    row("consumers.<consumer>.last_record.topic", Name(Topic), "of the last record read"),
    row("consumers.<consumer>.last_record.partition", Number, "of the last record read"),
    row("consumers.<consumer>.last_record.offset", Number, "of the last record read"),
    row("consumers.<consumer>.last_record.key", Text, "of the last record read"),
    row("consumers.<consumer>.last_record.value", Text, "of the last record read"),
    row("consumers.<consumer>.seen", List(Record), "every record read, as orders-0@0, in order"),
    row("consumers.<consumer>.config.<setting>", Setting, "a setting in force"),
    row("metrics.<metric>", Number, "a gauge, or a meter's count, by its JMX name"),
    row("in_flight.<kind>", Number, "how many messages of this kind are under way"),
    row("waiting.<kind>", Number, "how many requests of this kind are held at their receiver"),
    row("messages", Messages, "the messages behind both"),
    row("admin.last_error", Name(Error), "the error of the latest administrative action"),
];

/// The metrics, by their JMX names.
pub const METRICS: &[&str] = &[
    "UnderReplicatedPartitions",
    "OfflinePartitionsCount",
    "UnderMinIsrPartitionCount",
    "IsrShrinksPerSec",
    "IsrExpandsPerSec",
    "LeaderElectionRateAndTimeMs",
    "UncleanLeaderElectionsPerSec",
    "FailedProduceRequestsPerSec",
];

/// The kinds of requests: Kafka's API names in snake case; a follower's Fetch is `replica_fetch`, a
/// Fetch of the metadata log `quorum_fetch`.
/// An answer's kind ends in `_response`.
pub const REQUESTS: &[&str] = &[
    "produce",
    "replica_fetch",
    "fetch",
    "list_offsets",
    "metadata",
    "offset_commit",
    "offset_fetch",
    "find_coordinator",
    "join_group",
    "heartbeat",
    "leave_group",
    "sync_group",
    "api_versions",
    "create_topics",
    "delete_topics",
    "delete_records",
    "init_producer_id",
    "offset_for_leader_epoch",
    "add_partitions_to_txn",
    "add_offsets_to_txn",
    "end_txn",
    "write_txn_markers",
    "txn_offset_commit",
    "describe_configs",
    "incremental_alter_configs",
    "create_partitions",
    "delete_groups",
    "offset_delete",
    "elect_leaders",
    "alter_partition_reassignments",
    "alter_partition",
    "quorum_fetch",
    "vote",
    "begin_quorum_epoch",
    "end_quorum_epoch",
    "fetch_snapshot",
    "broker_registration",
    "broker_heartbeat",
    "unregister_broker",
    "controller_registration",
    "allocate_producer_ids",
    "consumer_group_heartbeat",
    "share_group_heartbeat",
    "share_fetch",
    "share_acknowledge",
    "initialize_share_group_state",
    "read_share_group_state",
    "write_share_group_state",
    "delete_share_group_state",
];

#[cfg(test)]
mod tests {
    use serde_json::Value as Json;

    use super::ROWS;
    use crate::sim::ids::{BrokerId, Machine, Offset, TopicPartition};
    use crate::sim::snapshot::{
        AdminView, BrokerView, ConsumerView, ControllerView, GroupView, MessageView, PartitionView,
        ProducerView, RecordView, ReplicaView, SeenRecord, SegmentView, ShareRecordView, ShareView,
        Snapshot, TopicView, TransactionMark, TransactionView,
    };

    fn settings() -> crate::sim::world::Settings {
        [("linger.ms".to_owned(), "5".to_owned())].into()
    }

    fn partition() -> PartitionView {
        let record = RecordView {
            key: Some(None),
            value: Some(Some("v".to_owned())),
            txn: TransactionMark::Open,
            ..RecordView::default()
        };
        let segment = SegmentView { max_timestamp: Some(1), ..SegmentView::default() };
        PartitionView {
            leader: Some(BrokerId(1)),
            high_watermark: Some(Offset(1)),
            log_end_offset: Some(Offset(1)),
            log_start_offset: Some(Offset(0)),
            last_stable_offset: Some(Offset(1)),
            size_bytes: Some(1),
            segments: Some(1),
            segment: [(0, segment)].into(),
            records: [(Offset(0), record)].into(),
            replicas: [(BrokerId(1), ReplicaView::default())].into(),
            ..PartitionView::default()
        }
    }

    fn clients(snapshot: &mut Snapshot) {
        let orders = TopicPartition::new("orders", 0);
        let producer = ProducerView {
            last_error: Some(String::new()),
            last_refusal: Some(String::new()),
            producer_id: Some(1),
            producer_epoch: Some(0),
            next_sequence: [(orders.clone(), 1)].into(),
            last_partition: Some(0),
            last_offset: Some(0),
            last_key_hash: Some(1),
            config: settings(),
            ..ProducerView::default()
        };
        let share = ShareView {
            records: [(Offset(0), ShareRecordView::default())].into(),
            ..ShareView::default()
        };
        let group = GroupView {
            state: Some(String::new()),
            epoch: Some(1),
            assignor: Some(String::new()),
            coordinator: Some(BrokerId(1)),
            committed: [(orders.clone(), Offset(1))].into(),
            lag: [(orders.clone(), 0)].into(),
            total_lag: Some(0),
            share: [(orders.clone(), share)].into(),
            config: settings(),
            ..GroupView::default()
        };
        let consumer = ConsumerView {
            position: [(orders, Offset(1))].into(),
            last_error: Some(String::new()),
            last_refusal: Some(String::new()),
            last_record: Some(SeenRecord::default()),
            config: settings(),
            ..ConsumerView::default()
        };
        snapshot.producers = [("p".to_owned(), producer)].into();
        snapshot.groups = [("g".to_owned(), group)].into();
        snapshot.consumers = [("c".to_owned(), consumer)].into();
    }

    /// A snapshot in which nothing is absent.
    fn full() -> Snapshot {
        let message = MessageView {
            id: 1,
            from: Machine::Broker(BrokerId(1)),
            to: Machine::Broker(BrokerId(2)),
            kind: "fetch",
            carries: String::new(),
            sent_ms: 0,
            arrives_ms: 1,
            waiting: false,
            records: Vec::new(),
            fetches: Vec::new(),
            record_count: 0,
            error: None,
            answers: None,
        };
        let broker =
            BrokerView { rack: Some("a".to_owned()), config: settings(), ..BrokerView::default() };
        let topic = TopicView { config: settings(), ..TopicView::default() };
        let mut snapshot = Snapshot {
            since: [(1, 5)].into(),
            controller: ControllerView {
                leader: Some("controller-1".to_owned()),
                epoch: 1,
                ..ControllerView::default()
            },
            brokers: [(BrokerId(1), broker)].into(),
            topics: [("orders".to_owned(), topic)].into(),
            partitions: [(TopicPartition::new("orders", 0), partition())].into(),
            transactions: [("t".to_owned(), TransactionView::default())].into(),
            metrics: [("OfflinePartitionsCount", 0)].into(),
            in_flight: [("fetch".to_owned(), 1)].into(),
            waiting: [("fetch".to_owned(), 1)].into(),
            messages: vec![message],
            admin: AdminView { last_error: Some(String::new()) },
            ..Snapshot::default()
        };
        clients(&mut snapshot);
        snapshot
    }

    fn leaves(tree: &Json, path: &mut Vec<String>, found: &mut Vec<Vec<String>>) {
        let Json::Object(fields) = tree else { return found.push(path.clone()) };
        for (key, below) in fields {
            path.push(key.clone());
            leaves(below, path, found);
            path.pop();
        }
    }

    fn fits(pattern: &str, path: &[String]) -> bool {
        let parts: Vec<&str> = pattern.split('.').collect();
        parts.len() == path.len()
            && parts.iter().zip(path).all(|(part, name)| part.starts_with('<') || part == name)
    }

    #[test]
    fn the_table_and_the_snapshots_tree_have_the_same_leaves() {
        let tree = serde_json::to_value(full()).expect("a snapshot is plain data");
        let mut found = Vec::new();
        leaves(&tree, &mut Vec::new(), &mut found);
        for path in &found {
            assert!(ROWS.iter().any(|row| fits(row.pattern, path)), "no row for {path:?}");
        }
        for row in ROWS {
            assert!(found.iter().any(|path| fits(row.pattern, path)), "no leaf: {}", row.pattern);
        }
    }
}
