//! The six states of the write path, typed: what a simulation gives, without one.

use kafka_sim_site::scenario::run::{Change, Run};
use kafka_sim_site::sim::ids::{BrokerId, Machine, Offset, TopicPartition};
use kafka_sim_site::sim::snapshot::{
    BrokerView, ConsumerState, ConsumerView, GroupView, MessageView, NextSend, PartitionView,
    ProducerView, RecordRef, RecordView, ReplicaRole, ReplicaView, SeenRecord, Snapshot, TopicView,
};
use kafka_sim_site::sim::world::{
    BrokerSpec, ConsumerSpec, GroupSpec, ProducerSpec, Protocol, Settings, Start, TopicSpec, World,
};
use serde_json::{Value, json};

use super::frame;

/// `orders-0`.
pub fn orders() -> TopicPartition {
    TopicPartition::new("orders", 0)
}

/// The record that is followed.
pub fn followed() -> RecordRef {
    RecordRef { partition: orders(), offset: Offset(0) }
}

/// What the typed table says of one step.
pub struct State {
    pub time_ms: u64,
    pub title: &'static str,
    /// Log end and high watermark on brokers 1, 2, 3.
    pub logs: [(u64, u64); 3],
    pub buffered: u64,
    pub in_flight: u64,
    pub acked: u64,
    pub read: u64,
    pub committed: Option<u64>,
}

const STATES: [State; 6] = [
    State {
        time_ms: 0,
        title: "Cluster ready · idle",
        logs: [(0, 0); 3],
        buffered: 0,
        in_flight: 0,
        acked: 0,
        read: 0,
        committed: None,
    },
    State {
        time_ms: 900,
        title: "Producer batches",
        logs: [(0, 0); 3],
        buffered: 1,
        in_flight: 0,
        acked: 0,
        read: 0,
        committed: None,
    },
    State {
        time_ms: 1400,
        title: "Leader append · uncommitted",
        logs: [(1, 0), (0, 0), (0, 0)],
        buffered: 0,
        in_flight: 1,
        acked: 0,
        read: 0,
        committed: None,
    },
    State {
        time_ms: 2000,
        title: "Replicated · high watermark advances · ack leaves",
        logs: [(1, 1), (1, 0), (1, 0)],
        buffered: 0,
        in_flight: 1,
        acked: 0,
        read: 0,
        committed: Some(0),
    },
    State {
        time_ms: 2800,
        title: "Consumer reads the record",
        logs: [(1, 1); 3],
        buffered: 0,
        in_flight: 0,
        acked: 1,
        read: 1,
        committed: Some(0),
    },
    State {
        time_ms: 3200,
        title: "Consumer commits · caught up",
        logs: [(1, 1); 3],
        buffered: 0,
        in_flight: 0,
        acked: 1,
        read: 1,
        committed: Some(1),
    },
];

/// The run.
pub fn run() -> Run {
    let mut frames = Vec::new();
    for (index, state) in STATES.iter().enumerate() {
        let before = index.checked_sub(1).map(|before| &STATES[before]);
        let snapshot = snapshot(state);
        let changed = before.map(|before| changes(before, state)).unwrap_or_default();
        let number = u32::try_from(index).expect("small numbers") + 1;
        frames.push(frame((number, state.time_ms), state.title, snapshot, changed));
    }
    Run {
        world: world(),
        frames,
        events: Vec::new(),
        messages: messages(),
        follow: Some(followed()),
    }
}

fn settings(pairs: &[(&str, &str)]) -> Settings {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn world() -> World {
    let racks = ["rack-a", "rack-b", "rack-c"];
    World {
        network_ms: 300,
        brokers: (1..=3)
            .zip(racks)
            .map(|(id, rack)| BrokerSpec { id: BrokerId(id), rack: Some(rack.to_owned()) })
            .collect(),
        topics: vec![TopicSpec {
            name: "orders".to_owned(),
            partitions: Some(1),
            replication_factor: Some(3),
            assignment: None,
            config: settings(&[("min.insync.replicas", "2")]),
        }],
        producers: vec![ProducerSpec {
            name: "checkout".to_owned(),
            topic: Some("orders".to_owned()),
            config: settings(&[("acks", "all"), ("linger.ms", "200")]),
            start: Start::WithWorld,
        }],
        groups: vec![GroupSpec {
            name: "analytics".to_owned(),
            topics: vec!["orders".to_owned()],
            protocol: Protocol::Classic,
            config: Settings::new(),
            consumers: vec![ConsumerSpec {
                name: "reader-1".to_owned(),
                start: Start::WithWorld,
                config: Settings::new(),
                topics: None,
                poll_interval_ms: 100,
                poll_timeout_ms: 5000,
            }],
        }],
        ..World::default()
    }
}

/// The record.
pub fn record() -> RecordView {
    RecordView {
        key: Some(Some("order-17".to_owned())),
        value: Some(Some("42 EUR".to_owned())),
        timestamp: 900,
        ..RecordView::default()
    }
}

fn replica(id: u32, (end, high): (u64, u64)) -> ReplicaView {
    ReplicaView {
        log_end_offset: Offset(end),
        high_watermark: Offset(high),
        in_sync: true,
        role: if id == 1 { ReplicaRole::Leader } else { ReplicaRole::Follower },
        records: (0..end).map(|offset| (Offset(offset), record())).collect(),
        ..ReplicaView::default()
    }
}

fn snapshot(state: &State) -> Snapshot {
    let racks = [(1, "rack-a"), (2, "rack-b"), (3, "rack-c")];
    let broker = |(id, rack): (u32, &str)| {
        (BrokerId(id), BrokerView { rack: Some(rack.to_owned()), ..BrokerView::default() })
    };
    let topic = TopicView {
        partitions: 1,
        replication_factor: 3,
        config: settings(&[("min.insync.replicas", "2")]),
    };
    Snapshot {
        time_ms: state.time_ms,
        brokers: racks.into_iter().map(broker).collect(),
        topics: [("orders".to_owned(), topic)].into(),
        partitions: [(orders(), partition(state))].into(),
        producers: [("checkout".to_owned(), producer(state))].into(),
        groups: [("analytics".to_owned(), group(state))].into(),
        consumers: [("reader-1".to_owned(), consumer(state))].into(),
        messages: now(state.time_ms),
        ..Snapshot::default()
    }
}

fn partition(state: &State) -> PartitionView {
    let (end, high) = state.logs[0];
    let ids = vec![BrokerId(1), BrokerId(2), BrokerId(3)];
    PartitionView {
        leader: Some(BrokerId(1)),
        assignment: ids.clone(),
        isr: ids,
        high_watermark: Some(Offset(high)),
        log_end_offset: Some(Offset(end)),
        log_start_offset: Some(Offset(0)),
        last_stable_offset: Some(Offset(high)),
        records: (0..end).map(|offset| (Offset(offset), record())).collect(),
        replicas: (1..).zip(state.logs).map(|(id, log)| (BrokerId(id), replica(id, log))).collect(),
        ..PartitionView::default()
    }
}

fn producer(state: &State) -> ProducerView {
    ProducerView {
        buffered: state.buffered,
        in_flight: state.in_flight,
        acked: state.acked,
        buffered_keys: vec![Some("order-17".to_owned()); usize::from(state.buffered > 0)],
        next_send: (state.buffered > 0).then_some(NextSend { at_ms: 1100, is_retry: false }),
        ..ProducerView::default()
    }
}

fn group(state: &State) -> GroupView {
    let high = state.logs[0].1;
    let committed = state.committed.map(|offset| (orders(), Offset(offset)));
    let lag = state.committed.map(|offset| (orders(), high.cast_signed() - offset.cast_signed()));
    GroupView {
        state: Some("Stable".to_owned()),
        coordinator: Some(BrokerId(1)),
        members: vec!["reader-1".to_owned()],
        owners: [("reader-1".to_owned(), vec![orders()])].into(),
        committed: committed.into_iter().collect(),
        lag: lag.into_iter().collect(),
        ..GroupView::default()
    }
}

fn consumer(state: &State) -> ConsumerView {
    let seen = SeenRecord {
        topic: "orders".to_owned(),
        key: Some("order-17".to_owned()),
        value: Some("42 EUR".to_owned()),
        ..SeenRecord::default()
    };
    ConsumerView {
        state: ConsumerState::Stable,
        assignment: vec![orders()],
        position: [(orders(), Offset(state.read))].into(),
        consumed: state.read,
        last_record: (state.read > 0).then_some(seen),
        group: "analytics".to_owned(),
        ..ConsumerView::default()
    }
}

fn changes(before: &State, now: &State) -> Vec<Change> {
    let mut changed = Vec::new();
    let mut compare = |path: String, from: Value, to: Value| {
        if from != to {
            changed.push(Change {
                path,
                from: Some(from).filter(|value| !value.is_null()),
                to: Some(to).filter(|value| !value.is_null()),
            });
        }
    };
    let path = "partitions.orders-0";
    compare(format!("{path}.high_watermark"), json!(before.logs[0].1), json!(now.logs[0].1));
    compare(format!("{path}.log_end_offset"), json!(before.logs[0].0), json!(now.logs[0].0));
    for (at, (old, new)) in before.logs.iter().zip(&now.logs).enumerate() {
        let replica = format!("{path}.replicas.{}", at + 1);
        compare(format!("{replica}.log_end_offset"), json!(old.0), json!(new.0));
        compare(format!("{replica}.high_watermark"), json!(old.1), json!(new.1));
    }
    let path = "producers.checkout";
    compare(format!("{path}.buffered"), json!(before.buffered), json!(now.buffered));
    compare(format!("{path}.in_flight"), json!(before.in_flight), json!(now.in_flight));
    compare(format!("{path}.acked"), json!(before.acked), json!(now.acked));
    let lag = |state: &State| state.committed.map(|offset| state.logs[0].1 - offset);
    let path = "groups.analytics";
    compare(format!("{path}.committed.orders-0"), json!(before.committed), json!(now.committed));
    compare(format!("{path}.lag.orders-0"), json!(lag(before)), json!(lag(now)));
    let path = "consumers.reader-1";
    compare(format!("{path}.position.orders-0"), json!(before.read), json!(now.read));
    compare(format!("{path}.consumed"), json!(before.read), json!(now.read));
    changed
}

/// From, to, kind, what it carries, sent, arrives, held until, records with an offset.
type Row = (&'static str, &'static str, &'static str, &'static str, u64, u64, u64, bool);

const MESSAGES: [Row; 19] = [
    ("2", "1", "replica_fetch", "fetch from 0", 0, 300, 800, false),
    ("3", "1", "replica_fetch", "fetch from 0", 0, 300, 800, false),
    ("reader-1", "1", "fetch", "fetch from 0", 0, 300, 800, false),
    ("1", "2", "replica_fetch_response", "empty reply", 800, 1100, 0, false),
    ("1", "3", "replica_fetch_response", "empty reply", 800, 1100, 0, false),
    ("1", "reader-1", "fetch_response", "empty reply", 800, 1100, 0, false),
    ("checkout", "1", "produce", "1 record", 1100, 1400, 2000, false),
    ("1", "2", "replica_fetch_response", "1 record", 1400, 1700, 0, true),
    ("1", "3", "replica_fetch_response", "1 record", 1400, 1700, 0, true),
    ("reader-1", "1", "fetch", "fetch from 0", 1100, 1400, 1900, false),
    ("2", "1", "replica_fetch", "fetch from 1", 1700, 2000, 2500, false),
    ("3", "1", "replica_fetch", "fetch from 1", 1700, 2000, 2500, false),
    ("1", "checkout", "produce_response", "ack: offset 0", 2000, 2300, 0, false),
    ("1", "reader-1", "fetch_response", "empty reply", 1900, 2200, 0, false),
    ("reader-1", "1", "offset_commit", "commit 1", 2790, 3090, 0, false),
    ("1", "reader-1", "fetch_response", "1 record", 2500, 2800, 0, true),
    ("2", "1", "replica_fetch", "fetch from 1", 2800, 3100, 3600, false),
    ("3", "1", "replica_fetch", "fetch from 1", 2800, 3100, 3600, false),
    ("reader-1", "1", "fetch", "fetch from 1", 2800, 3100, 3600, false),
];

fn machine(name: &str) -> Machine {
    match name.parse() {
        Ok(id) => Machine::Broker(BrokerId(id)),
        Err(_) => Machine::Client(name.to_owned()),
    }
}

fn message(id: usize, row: &Row) -> MessageView {
    MessageView {
        id: id as u64,
        from: machine(row.0),
        to: machine(row.1),
        kind: row.2,
        carries: row.3.to_owned(),
        sent_ms: row.4,
        arrives_ms: row.5,
        waiting: false,
        records: if row.7 { vec![followed()] } else { Vec::new() },
        fetches: fetches(row),
        record_count: u64::from(row.7 || row.2 == "produce"),
        error: None,
        answers: None,
    }
}

/// Where a fetch, or the answer to one, begins.
fn fetches(row: &Row) -> Vec<RecordRef> {
    let offset = row.3.strip_prefix("fetch from ").map_or(0, |text| text.parse().expect("digits"));
    let is_fetch = row.2.trim_end_matches("_response").ends_with("fetch");
    let place = RecordRef { partition: orders(), offset: Offset(offset) };
    if is_fetch { vec![place] } else { Vec::new() }
}

fn messages() -> Vec<MessageView> {
    MESSAGES.iter().enumerate().map(|(id, row)| message(id, row)).collect()
}

/// Under way or held at an instant.
fn now(time_ms: u64) -> Vec<MessageView> {
    let mut views = Vec::new();
    for (id, row) in MESSAGES.iter().enumerate() {
        let view = message(id, row);
        let is_held = row.5 <= time_ms && time_ms < row.6;
        if row.4 <= time_ms && time_ms < row.5 || is_held {
            views.push(MessageView { waiting: is_held, ..view });
        }
    }
    views
}
