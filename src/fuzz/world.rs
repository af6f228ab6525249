//! A random world: machines, topics, clients and their settings.
//!
//! Time-outs are drawn short, so that a minute of simulated time sees most rules at work, and
//! small clusters are drawn more often than large ones, which cost more and show less.

use std::fmt::Display;

use crate::sim::ids::BrokerId;
use crate::sim::world::{
    BrokerSpec, ConsumerSpec, GroupSpec, ProducerSpec, Protocol, Settings, Start, TopicSpec, World,
};

use super::dice::Dice;

/// Draws a world.
#[must_use]
pub fn draw(dice: &mut Dice) -> World {
    let broker_count = match dice.between(0, 9) {
        0 => 1,
        1 => 2,
        2..=6 => 3,
        7 | 8 => dice.count(4, 6),
        _ => dice.count(7, 12),
    };
    let controller_count = match dice.between(0, 9) {
        0..=3 => 1,
        4..=7 => 3,
        _ => dice.count(2, 5),
    };
    let racks = dice.count(0, 3);
    // Ids begin at 0 or 1.
    let first = dice.count(0, 1);
    let brokers = (first..first + broker_count)
        .map(|id| BrokerSpec { id: BrokerId(id), rack: (racks > 1).then(|| rack(dice, racks)) })
        .collect();
    let topics = (1..=dice.count(1, 3)).map(|n| topic(dice, &format!("t{n}"), broker_count));
    let topics: Vec<TopicSpec> = topics.collect();
    World {
        seed: dice.between(1, 1 << 30),
        warm: !dice.one_in(8),
        network_ms: if dice.one_in(4) { dice.between(10, 300) } else { dice.between(1, 5) },
        append_ms: if dice.one_in(5) { dice.between(1, 10) } else { 0 },
        controllers: (1..=controller_count).map(|n| format!("controller-{n}")).collect(),
        brokers,
        config: cluster(dice),
        producers: (1..=dice.count(1, 3)).map(|n| producer(dice, n, &topics)).collect(),
        groups: (1..=dice.count(0, 2)).map(|n| group(dice, n, &topics)).collect(),
        topics,
    }
}

fn rack(dice: &mut Dice, racks: u32) -> String {
    format!("rack-{}", dice.count(1, racks))
}

fn set(settings: &mut Settings, name: &str, value: impl Display) {
    settings.insert(name.to_owned(), format!("{value}"));
}

fn cluster(dice: &mut Dice) -> Settings {
    let mut config = Settings::new();
    let session = dice.between(300, 6000);
    set(&mut config, "broker.session.timeout.ms", session);
    set(&mut config, "broker.heartbeat.interval.ms", session / 4);
    set(&mut config, "replica.lag.time.max.ms", dice.between(1000, 12_000));
    set(&mut config, "replica.fetch.backoff.ms", dice.between(50, 1000));
    set(&mut config, "leader.imbalance.check.interval.seconds", dice.between(5, 60));
    set(&mut config, "unclean.leader.election.interval.ms", dice.between(2000, 20_000));
    set(&mut config, "offsets.topic.num.partitions", dice.between(1, 2));
    set(&mut config, "group.initial.rebalance.delay.ms", dice.between(0, 3000));
    if !dice.one_in(10) {
        set(&mut config, "group.min.session.timeout.ms", 1000);
    }
    if dice.one_in(2) {
        let selector = "org.apache.kafka.common.replica.RackAwareReplicaSelector";
        set(&mut config, "replica.selector.class", selector);
    }
    if dice.one_in(6) {
        set(&mut config, "offsets.retention.check.interval.ms", dice.between(1000, 20_000));
    }
    set(&mut config, "transaction.state.log.num.partitions", dice.between(1, 2));
    let timeouts = "transaction.abort.timed.out.transaction.cleanup.interval.ms";
    set(&mut config, timeouts, dice.between(500, 5000));
    set(&mut config, "log.initial.task.delay.ms", dice.between(500, 5000));
    set(&mut config, "log.retention.check.interval.ms", dice.between(1000, 10_000));
    set(&mut config, "log.cleaner.backoff.ms", dice.between(500, 10_000));
    set(&mut config, "producer.id.expiration.check.interval.ms", dice.between(1000, 20_000));
    if dice.one_in(3) {
        set(&mut config, "replica.fetch.wait.max.ms", dice.between(50, 500));
    }
    if dice.one_in(3) {
        set(&mut config, "replica.high.watermark.checkpoint.interval.ms", dice.between(100, 5000));
    }
    if dice.one_in(4) {
        set(&mut config, "unclean.leader.election.enable", true);
    }
    if dice.one_in(4) {
        set(&mut config, "min.insync.replicas", dice.between(1, 3));
    }
    if dice.one_in(6) {
        set(&mut config, "replica.fetch.max.bytes", dice.between(100, 2000));
    }
    if dice.one_in(8) {
        set(&mut config, "auto.leader.rebalance.enable", false);
    }
    if dice.one_in(4) {
        set(&mut config, "group.consumer.max.size", dice.between(1, 3));
    }
    set(&mut config, "share.coordinator.state.topic.num.partitions", dice.between(1, 2));
    config
}

/// A topic as an author or an administrator would ask for it; now and then one that the cluster
/// must refuse, where the world is not made of it.
pub fn topic(dice: &mut Dice, name: &str, brokers: u32) -> TopicSpec {
    let mut config = Settings::new();
    if dice.one_in(2) {
        set(&mut config, "min.insync.replicas", dice.between(1, 3));
    }
    if dice.one_in(4) {
        set(&mut config, "unclean.leader.election.enable", dice.one_in(2));
    }
    if dice.one_in(4) {
        set(&mut config, "segment.bytes", dice.between(100, 2000));
    }
    if dice.one_in(5) {
        set(&mut config, "max.message.bytes", dice.between(150, 1200));
    }
    if dice.one_in(3) {
        set(&mut config, "cleanup.policy", dice.word(&["compact", "compact,delete"]));
        set(&mut config, "delete.retention.ms", dice.between(0, 8000));
        set(&mut config, "min.cleanable.dirty.ratio", dice.word(&["0", "0.3", "0.5"]));
    }
    if dice.one_in(3) {
        set(&mut config, "segment.ms", dice.between(50, 5000));
    }
    if dice.one_in(4) {
        set(&mut config, "retention.bytes", dice.between(0, 6000));
    }
    if dice.one_in(4) {
        set(&mut config, "retention.ms", dice.between(500, 20_000));
    }
    TopicSpec {
        name: name.to_owned(),
        partitions: Some(dice.count(1, 4)),
        replication_factor: Some(dice.count(1, brokers.min(4))),
        assignment: None,
        config,
    }
}

fn producer(dice: &mut Dice, number: u32, topics: &[TopicSpec]) -> ProducerSpec {
    let mut config = Settings::new();
    match dice.between(0, 9) {
        0 => set(&mut config, "acks", 0),
        1 | 2 => set(&mut config, "acks", 1),
        3 | 4 => set(&mut config, "enable.idempotence", false),
        _ => {}
    }
    if config.is_empty() && dice.one_in(2) {
        // Two of them may share an id.
        set(&mut config, "transactional.id", format!("tx-{}", dice.between(1, 2)));
        // Now and then longer than a coordinator allows.
        let timeout = if dice.one_in(25) { 1_000_000 } else { dice.between(500, 20_000) };
        set(&mut config, "transaction.timeout.ms", timeout);
    }
    set(&mut config, "request.timeout.ms", dice.between(500, 8000));
    set(&mut config, "linger.ms", if dice.one_in(3) { dice.between(0, 400) } else { 5 });
    set(&mut config, "delivery.timeout.ms", dice.between(8500, 40_000));
    set(&mut config, "metadata.max.age.ms", dice.between(2000, 60_000));
    if dice.one_in(3) {
        set(&mut config, "batch.size", dice.between(0, 1000));
    }
    if dice.one_in(4) {
        set(&mut config, "max.in.flight.requests.per.connection", dice.between(1, 5));
    }
    if dice.one_in(8) {
        set(&mut config, "buffer.memory", dice.between(1000, 40_000));
        set(&mut config, "max.block.ms", dice.between(100, 5000));
    }
    if dice.one_in(8) {
        // Transactions need retries.
        let least = u64::from(config.contains_key("transactional.id"));
        set(&mut config, "retries", dice.between(least, 3));
    }
    if dice.one_in(8) {
        set(&mut config, "max.request.size", dice.between(150, 2000));
    }
    // One that comes later shuts out who has its transactional id.
    let comes_later = config.contains_key("transactional.id") && dice.one_in(3);
    ProducerSpec {
        name: format!("p{number}"),
        topic: dice.pick(topics).map(|spec| spec.name.clone()),
        config,
        start: if comes_later { Start::At(dice.between(500, 20_000)) } else { start(dice) },
    }
}

fn group(dice: &mut Dice, number: u32, topics: &[TopicSpec]) -> GroupSpec {
    let names: Vec<String> = topics.iter().map(|spec| spec.name.clone()).collect();
    let protocol = match dice.between(0, 2) {
        0 => Protocol::Classic,
        1 => Protocol::Consumer,
        _ => Protocol::Share,
    };
    let mut config = reading(dice);
    match protocol {
        Protocol::Classic => {
            let session = dice.between(2000, 10_000);
            set(&mut config, "session.timeout.ms", session);
            set(&mut config, "heartbeat.interval.ms", session / 3);
            if !dice.one_in(3) {
                set(&mut config, "partition.assignment.strategy", strategies(dice));
            }
        }
        Protocol::Consumer => {
            set(&mut config, "consumer.session.timeout.ms", dice.between(2000, 10_000));
            set(&mut config, "consumer.heartbeat.interval.ms", dice.between(200, 2000));
            set(&mut config, "consumer.assignment.interval.ms", dice.between(0, 1500));
        }
        Protocol::Share => share(dice, &mut config),
    }
    let topic_count = dice.between(1, 2);
    let members = dice.count(1, 4);
    let member = |n| consumer(dice, (number, n), (protocol, &names));
    let consumers = (1..=members).map(member).collect();
    GroupSpec {
        name: format!("g{number}"),
        topics: dice.some(&names, usize::try_from(topic_count).unwrap_or(1)),
        protocol,
        config,
        consumers,
    }
}

/// How the members of a group read.
fn reading(dice: &mut Dice) -> Settings {
    let mut config = Settings::new();
    set(&mut config, "auto.commit.interval.ms", dice.between(200, 5000));
    set(&mut config, "request.timeout.ms", dice.between(500, 8000));
    let resets = ["earliest", "latest", "none", "by_duration:PT5S"];
    set(&mut config, "auto.offset.reset", dice.word(&resets));
    set(&mut config, "max.poll.interval.ms", dice.between(1500, 20_000));
    set(&mut config, "metadata.max.age.ms", dice.between(1000, 30_000));
    set(&mut config, "enable.auto.commit", !dice.one_in(3));
    if dice.one_in(3) {
        set(&mut config, "max.poll.records", dice.between(1, 10));
        set(&mut config, "max.partition.fetch.bytes", dice.between(50, 2000));
        set(&mut config, "fetch.max.bytes", dice.between(50, 4000));
        set(&mut config, "fetch.min.bytes", dice.between(1, 500));
    }
    set(&mut config, "isolation.level", dice.word(&["read_committed", "read_uncommitted"]));
    config
}

fn share(dice: &mut Dice, config: &mut Settings) {
    set(config, "share.session.timeout.ms", dice.between(2000, 10_000));
    set(config, "share.heartbeat.interval.ms", dice.between(200, 2000));
    set(config, "share.record.lock.duration.ms", dice.between(300, 8000));
    set(config, "share.delivery.count.limit", dice.between(2, 6));
    set(config, "share.auto.offset.reset", dice.word(&["earliest", "latest"]));
    if dice.one_in(3) {
        set(config, "share.partition.max.record.locks", dice.between(3, 30));
    }
    if dice.one_in(2) {
        set(config, "share.acknowledgement.mode", "explicit");
    }
    if dice.one_in(4) {
        set(config, "share.acquire.mode", "record_limit");
    }
}

fn strategies(dice: &mut Dice) -> String {
    let known = [
        "org.apache.kafka.clients.consumer.RangeAssignor",
        "org.apache.kafka.clients.consumer.RoundRobinAssignor",
        "org.apache.kafka.clients.consumer.StickyAssignor",
        "org.apache.kafka.clients.consumer.CooperativeStickyAssignor",
    ];
    let count = if dice.one_in(4) { 2 } else { 1 };
    dice.some(&known, count).join(",")
}

fn consumer(
    dice: &mut Dice,
    (group, number): (u32, u32),
    (protocol, topics): (Protocol, &[String]),
) -> ConsumerSpec {
    let mut config = Settings::new();
    if protocol != Protocol::Share && dice.one_in(3) {
        // Now and then two of them claim one place.
        let instance = if dice.one_in(4) { 1 } else { number };
        set(&mut config, "group.instance.id", format!("i{instance}"));
    }
    if dice.one_in(2) {
        set(&mut config, "client.rack", rack(dice, 3));
    }
    if protocol == Protocol::Classic && dice.one_in(12) {
        set(&mut config, "partition.assignment.strategy", strategies(dice));
    }
    if protocol == Protocol::Consumer && dice.one_in(4) {
        let names = ["uniform", "range", "range", "sticky"];
        set(&mut config, "group.remote.assignor", dice.word(&names));
    }
    ConsumerSpec {
        name: format!("c{group}-{number}"),
        start: start(dice),
        config,
        topics: dice.one_in(6).then(|| dice.some(topics, 1)),
        poll_interval_ms: if dice.one_in(10) { 4000 } else { dice.between(1, 500) },
        poll_timeout_ms: dice.between(1, 500),
    }
}

fn start(dice: &mut Dice) -> Start {
    match dice.between(0, 9) {
        0 => Start::Manual,
        1 => Start::At(dice.between(0, 10_000)),
        _ => Start::WithWorld,
    }
}
