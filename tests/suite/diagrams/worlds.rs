//! Random runs for pictures: clusters, logs, clients and messages in any state, from a seed.

use std::collections::BTreeMap;

use kafka_sim_site::scenario::run::{Change, Run};
use kafka_sim_site::sim::ids::{BrokerId, LeaderEpoch, Machine, Offset, TopicPartition};
use kafka_sim_site::sim::snapshot::{
    BrokerView, ConsumerState, ConsumerView, GroupView, MessageView, NextSend, PartitionView,
    ProcessState, ProducerState, ProducerView, RecordKind, RecordRef, RecordView, Registration,
    ReplicaRole, ReplicaView, SeenRecord, SegmentView, ShareRecordView, ShareView, Snapshot,
    TopicView, TransactionMark,
};
use kafka_sim_site::sim::world::{
    BrokerSpec, ConsumerSpec, GroupSpec, ProducerSpec, Protocol, Settings, Start, TopicSpec, World,
};
use serde_json::json;

use super::frame;

/// A small generator, so that a seed is a run.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Dice {
        Dice(seed)
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % bound.max(1)
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    fn pick<T: Clone>(&mut self, of: &[T]) -> T {
        of[usize::try_from(self.below(of.len() as u64)).expect("small numbers")].clone()
    }
}

/// How large a run may be.
pub struct Size {
    pub brokers: u64,
    pub lanes: u64,
    pub clients: u64,
}

/// A run with some frames.
pub fn run(seed: u64, size: &Size) -> Run {
    let mut dice = Dice::new(seed);
    let world = world(&mut dice, size);
    let placement = placement(&mut dice, &world, size.lanes);
    let count = 1 + dice.below(3);
    let base = if dice.one_in(3) { dice.below(2000) } else { 0 };
    let mut messages = Vec::new();
    let mut frames = Vec::new();
    for number in 0..count {
        let mut snapshot = snapshot(&mut dice, &world, &placement, base);
        snapshot.time_ms = number * 1000 + 500;
        snapshot.messages = under_way(&mut dice, &world, &snapshot, number);
        messages.extend(snapshot.messages.iter().cloned());
        let changed = if number == 0 { Vec::new() } else { changes(&mut dice, &snapshot) };
        let step = u32::try_from(number).expect("small numbers") + 1;
        frames.push(frame((step, snapshot.time_ms), "A step", snapshot, changed));
    }
    let follow = placement
        .keys()
        .next()
        .map(|partition| RecordRef { partition: partition.clone(), offset: Offset(base) });
    Run { world, frames, events: Vec::new(), messages, follow: follow.filter(|_| dice.one_in(2)) }
}

pub const PRODUCERS: [&str; 4] = ["checkout", "p", "payments-gateway-7", "web"];
const READERS: [&str; 4] = ["reader-1", "c", "fraud-detection-worker-12", "audit"];
const GROUPS: [&str; 3] = ["analytics", "g", "a-group-with-a-long-name"];

/// A name from the list; from its end on, with a number.
pub fn named(names: &[&str], at: u64) -> String {
    let index = usize::try_from(at).expect("small numbers");
    match names.get(index) {
        Some(name) => (*name).to_owned(),
        None => format!("{}{at}", names[index % names.len()]),
    }
}

fn world(dice: &mut Dice, size: &Size) -> World {
    let brokers = 1 + dice.below(size.brokers);
    let racks = dice.pick(&[None, Some("rack-"), Some("eu-central-1")]);
    let clients = dice.below(size.clients + 1);
    let producers = dice.below(clients + 1);
    let consumers = clients - producers;
    let groups = if consumers == 0 { 0 } else { 1 + dice.below(consumers) };
    let broker = |(id, letter): (u32, char)| BrokerSpec {
        id: BrokerId(id),
        rack: racks.map(|rack| format!("{rack}{letter}")),
    };
    let brokers = (1..=u32::try_from(brokers).expect("small numbers")).zip('a'..);
    World {
        brokers: brokers.map(broker).collect(),
        topics: topics(dice),
        producers: (0..producers)
            .map(|at| ProducerSpec {
                name: named(&PRODUCERS, at),
                topic: Some("orders".to_owned()),
                config: Settings::new(),
                start: Start::WithWorld,
            })
            .collect(),
        groups: (0..groups)
            .map(|at| group(at, (0..consumers).filter(|reader| reader % groups == at)))
            .collect(),
        ..World::default()
    }
}

pub fn group(at: u64, readers: impl Iterator<Item = u64>) -> GroupSpec {
    let reader = |at| ConsumerSpec {
        name: named(&READERS, at),
        start: Start::WithWorld,
        config: Settings::new(),
        topics: None,
        poll_interval_ms: 100,
        poll_timeout_ms: 1000,
    };
    GroupSpec {
        name: named(&GROUPS, at),
        topics: vec!["orders".to_owned()],
        protocol: Protocol::Classic,
        config: Settings::new(),
        consumers: readers.map(reader).collect(),
    }
}

fn topics(dice: &mut Dice) -> Vec<TopicSpec> {
    let name = |name: &str| TopicSpec {
        name: name.to_owned(),
        partitions: None,
        replication_factor: None,
        assignment: None,
        config: Settings::new(),
    };
    let mut topics = vec![name("orders")];
    if dice.one_in(3) {
        topics.push(name("payments.by-country-and-currency"));
    }
    topics
}

pub type Placement = BTreeMap<TopicPartition, Vec<BrokerId>>;

fn placement(dice: &mut Dice, world: &World, lanes_max: u64) -> Placement {
    let mut left = 1 + dice.below(lanes_max);
    let mut placement = Placement::new();
    let brokers: Vec<BrokerId> = world.brokers.iter().map(|broker| broker.id).collect();
    let mut number = 0;
    while left > 0 {
        let factor = (1 + dice.below(brokers.len() as u64)).min(left);
        let start = usize::try_from(dice.below(brokers.len() as u64)).expect("small numbers");
        let replicas = (0..usize::try_from(factor).expect("small numbers"))
            .map(|at| brokers[(start + at) % brokers.len()])
            .collect();
        let topic = dice.pick(&world.topics).name;
        placement.insert(TopicPartition::new(topic, number), replicas);
        number += 1;
        left -= factor;
    }
    placement
}

pub fn snapshot(dice: &mut Dice, world: &World, placement: &Placement, base: u64) -> Snapshot {
    let mut snapshot = Snapshot::default();
    for spec in &world.brokers {
        snapshot.brokers.insert(spec.id, broker(dice, spec));
    }
    for (name, replicas) in placement {
        let view = partition(dice, replicas, base);
        snapshot.topics.entry(name.topic.clone()).or_insert_with(TopicView::default);
        snapshot.partitions.insert(name.clone(), view);
    }
    for spec in &world.producers {
        snapshot.producers.insert(spec.name.clone(), producer(dice));
    }
    if dice.one_in(4) {
        let machines = world.brokers.iter().map(|spec| Machine::Broker(spec.id));
        snapshot.sides = machines.map(|it| (it, usize::from(dice.one_in(2)))).collect();
    }
    if dice.one_in(4) {
        snapshot.controller.stopped = vec!["controller-1".to_owned()];
    }
    let partitions: Vec<TopicPartition> = placement.keys().cloned().collect();
    for spec in &world.groups {
        let mut view = group_view(dice, spec, &partitions, base);
        view.coordinator = Some(dice.pick(&world.brokers).id);
        snapshot.groups.insert(spec.name.clone(), view);
        for (at, reader) in spec.consumers.iter().enumerate() {
            let own = partitions.iter().skip(at).step_by(spec.consumers.len());
            let view = consumer(dice, own.cloned().collect(), &spec.name, base);
            snapshot.consumers.insert(reader.name.clone(), view);
        }
    }
    snapshot
}

fn broker(dice: &mut Dice, spec: &BrokerSpec) -> BrokerView {
    let process = dice.pick(&[
        ProcessState::Up,
        ProcessState::Up,
        ProcessState::Up,
        ProcessState::Paused,
        ProcessState::Stopped,
        ProcessState::ShuttingDown,
    ]);
    let fenced = dice.one_in(5);
    BrokerView {
        process,
        registration: if fenced { Registration::Fenced } else { Registration::Active },
        rack: spec.rack.clone(),
        ..BrokerView::default()
    }
}

fn group_view(
    dice: &mut Dice,
    spec: &GroupSpec,
    partitions: &[TopicPartition],
    base: u64,
) -> GroupView {
    let committed: BTreeMap<TopicPartition, Offset> = partitions
        .iter()
        .filter(|_| dice.one_in(2))
        .map(|name| (name.clone(), Offset(base)))
        .collect();
    let mut owners: BTreeMap<String, Vec<TopicPartition>> = BTreeMap::new();
    for name in partitions.iter().filter(|_| dice.one_in(2)) {
        if let Some(owner) = spec.consumers.first() {
            owners.entry(owner.name.clone()).or_default().push(name.clone());
        }
    }
    GroupView {
        state: Some(dice.pick(&["Stable", "PreparingRebalance", "Reconciling"]).to_owned()),
        epoch: Some(i32::try_from(dice.below(300)).expect("small numbers")),
        assignor: Some("cooperative-sticky".to_owned()),
        coordinator: Some(BrokerId(1)),
        owners,
        members: spec.consumers.iter().map(|one| one.name.clone()).collect(),
        share: share(dice, partitions, base),
        lag: committed.keys().map(|name| (name.clone(), 3)).collect(),
        committed,
        ..GroupView::default()
    }
}

/// Now and then, what a share group does with three records of the first partition.
fn share(
    dice: &mut Dice,
    partitions: &[TopicPartition],
    base: u64,
) -> BTreeMap<TopicPartition, ShareView> {
    let record = |(offset, state): (u64, &str)| {
        (
            Offset(offset),
            ShareRecordView {
                state: state.to_owned(),
                delivery_count: 2,
                holder: Some(READERS[0].to_owned()),
            },
        )
    };
    let records = (base..).zip(["acknowledged", "acquired", "archived"]).map(record).collect();
    let view = ShareView { start_offset: Offset(base), records };
    let first = partitions.first().filter(|_| dice.one_in(5));
    first.into_iter().map(|name| (name.clone(), view.clone())).collect()
}

/// What a log has at an offset.
fn logged(offset: u64, key: Option<&str>, has_transactions: bool) -> RecordView {
    let (kind, txn) = match offset % 6 {
        0 if has_transactions => (RecordKind::Data, TransactionMark::Aborted),
        1 if has_transactions => (RecordKind::Abort, TransactionMark::Aborted),
        2 if has_transactions => (RecordKind::Commit, TransactionMark::Committed),
        3 if has_transactions => (RecordKind::Data, TransactionMark::Open),
        _ => (RecordKind::Data, TransactionMark::None),
    };
    // Now and then a tombstone.
    let value = (!offset.is_multiple_of(5)).then(|| "42 EUR".to_owned());
    RecordView {
        kind,
        txn,
        key: Some(key.map(str::to_owned)),
        value: Some(value),
        ..RecordView::default()
    }
}

fn partition(dice: &mut Dice, replicas: &[BrokerId], base: u64) -> PartitionView {
    let length = dice.pick(&[0, 1, 2, 3, 5, 12]);
    let start = if base > 0 && dice.one_in(2) { base } else { 0 };
    let end = base + length;
    let high = start.max(end - dice.below(length + 1).min(end));
    let leader = (!dice.one_in(6)).then(|| dice.pick(replicas));
    let isr: Vec<BrokerId> =
        replicas.iter().copied().filter(|id| Some(*id) == leader || !dice.one_in(3)).collect();
    let key = dice.pick(&[Some("order-17"), Some("a"), None, Some("customer-4711/invoice-99")]);
    let has_transactions = dice.one_in(3);
    let record = |offset: u64| (Offset(offset), logged(offset, key, has_transactions));
    let shown =
        |start: u64, end: u64| (start.max(end.saturating_sub(20))..end).map(record).collect();
    let segment = segments(dice, start, end);
    let segment_bases: Vec<Offset> = segment.values().map(|it| it.base_offset).collect();
    let views = replicas.iter().map(|id| {
        let own = if Some(*id) == leader { end } else { end - dice.below(length + 1) };
        let known = if Some(*id) == leader { high } else { high.min(own) };
        let view = ReplicaView {
            log_end_offset: Offset(own),
            high_watermark: Offset(known.max(start)),
            log_start_offset: Offset(start.min(own)),
            in_sync: isr.contains(id),
            role: if Some(*id) == leader { ReplicaRole::Leader } else { ReplicaRole::Follower },
            records: shown(start, own),
            segment_bases: segment_bases.iter().copied().filter(|base| base.0 <= own).collect(),
            ..ReplicaView::default()
        };
        (*id, view)
    });
    let views = views.collect();
    PartitionView {
        leader,
        leader_epoch: LeaderEpoch(u32::try_from(dice.below(40)).expect("small numbers")),
        assignment: replicas.to_vec(),
        isr,
        high_watermark: leader.map(|_| Offset(high)),
        log_end_offset: leader.map(|_| Offset(end)),
        log_start_offset: leader.map(|_| Offset(start)),
        last_stable_offset: leader.map(|_| Offset(high - dice.below(2).min(high - start))),
        records: leader.map(|_| shown(start, end)).unwrap_or_default(),
        elr: replicas.iter().copied().filter(|_| dice.one_in(6)).collect(),
        segment,
        replicas: views,
        ..PartitionView::default()
    }
}

/// None, or one for every four offsets.
fn segments(dice: &mut Dice, start: u64, end: u64) -> BTreeMap<u32, SegmentView> {
    let bases = (start..end).step_by(4).map(Offset);
    let views = bases.map(|base_offset| SegmentView { base_offset, ..SegmentView::default() });
    if dice.one_in(3) { (0..).zip(views).collect() } else { BTreeMap::new() }
}

fn producer(dice: &mut Dice) -> ProducerView {
    let buffered = dice.below(3) * dice.below(400);
    ProducerView {
        buffered,
        in_flight: dice.below(6),
        acked: dice.below(12_000),
        failed: if dice.one_in(4) { dice.below(1200) } else { 0 },
        state: dice.pick(&[
            ProducerState::Ready,
            ProducerState::Ready,
            ProducerState::InTransaction,
            ProducerState::Stopped,
        ]),
        next_send: (buffered > 0).then(|| NextSend { at_ms: 123_456, is_retry: dice.one_in(2) }),
        buffered_keys: vec![Some("order-17".to_owned())],
        ..ProducerView::default()
    }
}

fn consumer(dice: &mut Dice, own: Vec<TopicPartition>, group: &str, base: u64) -> ConsumerView {
    let position = own.iter().map(|name| (name.clone(), Offset(base + dice.below(4)))).collect();
    let seen =
        SeenRecord { key: Some("customer-4711/invoice".to_owned()), ..SeenRecord::default() };
    ConsumerView {
        state: dice.pick(&[
            ConsumerState::Stable,
            ConsumerState::Stable,
            ConsumerState::Joining,
            ConsumerState::Stopped,
        ]),
        revoking: own.iter().filter(|_| dice.one_in(5)).cloned().collect(),
        epoch: i32::try_from(dice.below(30)).expect("small numbers"),
        assignment: own,
        position,
        consumed: dice.below(12_000),
        last_record: dice.one_in(2).then_some(seen),
        group: group.to_owned(),
        ..ConsumerView::default()
    }
}

fn under_way(dice: &mut Dice, world: &World, snapshot: &Snapshot, number: u64) -> Vec<MessageView> {
    let mut views = Vec::new();
    let brokers: Vec<BrokerId> = world.brokers.iter().map(|broker| broker.id).collect();
    let mut send = |dice: &mut Dice, from: Machine, to: Machine, kind: &'static str| {
        let places = (0..dice.below(4)).map(|number| RecordRef {
            partition: TopicPartition::new("orders", u32::try_from(number).expect("small")),
            offset: Offset(12345),
        });
        let carries = dice.pick(&["fetch from 12345", "ack: offset 7", "empty reply", "3 records"]);
        let error = dice.one_in(5).then(|| "NOT_ENOUGH_REPLICAS_AFTER_APPEND".to_owned());
        let is_answer = kind.ends_with("_response");
        let sent_ms = number * 1000 + dice.below(500);
        views.push(MessageView {
            id: number * 1000 + views.len() as u64,
            from,
            to,
            kind,
            carries: carries.to_owned(),
            sent_ms,
            arrives_ms: sent_ms + 300,
            waiting: !is_answer && dice.one_in(3),
            records: Vec::new(),
            fetches: places.collect(),
            record_count: if kind == "produce" || is_answer { dice.below(4) } else { 0 },
            error: error.filter(|_| is_answer),
            answers: None,
        });
    };
    for view in snapshot.partitions.values() {
        let Some(leader) = view.leader else { continue };
        for &id in view.assignment.iter().filter(|id| **id != leader) {
            let (from, to) = (Machine::Broker(id), Machine::Broker(leader));
            if dice.one_in(2) {
                send(dice, from, to, "replica_fetch");
            } else {
                send(dice, to, from, "replica_fetch_response");
            }
        }
    }
    for name in snapshot.producers.keys() {
        let (client, broker) =
            (Machine::Client(name.clone()), Machine::Broker(dice.pick(&brokers)));
        if dice.one_in(2) {
            send(dice, client, broker, "produce");
        } else {
            send(dice, broker, client, "produce_response");
        }
    }
    for name in snapshot.consumers.keys() {
        let (client, broker) =
            (Machine::Client(name.clone()), Machine::Broker(dice.pick(&brokers)));
        let kind = dice.pick(&["fetch", "heartbeat", "offset_commit"]);
        if dice.one_in(2) {
            send(dice, client, broker, kind);
        } else {
            send(dice, broker, client, "fetch_response");
        }
    }
    views
}

/// Changes that ring much of what can be ringed.
fn changes(dice: &mut Dice, snapshot: &Snapshot) -> Vec<Change> {
    let mut paths = Vec::new();
    for (name, view) in &snapshot.partitions {
        let name = kafka_sim_site::sim::ids::TopicPartition::to_string(name);
        let name = if name.contains('.') { format!("\"{name}\"") } else { name };
        for id in view.replicas.keys() {
            for field in ["log_end_offset", "high_watermark", "log_start_offset", "in_sync"] {
                paths.push(format!("partitions.{name}.replicas.{id}.{field}"));
            }
        }
        for group in snapshot.groups.keys() {
            paths.push(format!("groups.{group}.committed.{name}"));
            paths.push(format!("groups.{group}.lag.{name}"));
        }
        for consumer in snapshot.consumers.keys() {
            paths.push(format!("consumers.{consumer}.position.{name}"));
        }
    }
    for id in snapshot.brokers.keys() {
        paths.push(format!("brokers.{id}.process"));
    }
    for name in snapshot.producers.keys() {
        paths.extend(
            ["buffered", "in_flight", "acked"].map(|field| format!("producers.{name}.{field}")),
        );
    }
    paths
        .into_iter()
        .filter(|_| dice.one_in(3))
        .map(|path| Change { path, from: Some(json!(0)), to: Some(json!(1)) })
        .collect()
}
