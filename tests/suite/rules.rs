//! Rules of the write path and of the controller, a test each: small worlds, driven as a scenario
//! drives them, against times and offsets worked out by hand.

mod faults;
mod producing;
mod replicating;
mod settings;

use kafka_sim_site::sim::command::{AlterConfig, Command, ConfigResource, ElectionKind, Produce};
use kafka_sim_site::sim::ids::{BrokerId, Machine, TopicPartition};
use kafka_sim_site::sim::snapshot::{MessageView, PartitionView, ProducerView, Snapshot};
use kafka_sim_site::sim::trace::TraceEvent;
use kafka_sim_site::sim::world::{ProducerSpec, Settings, Start, TopicSpec, World};
use kafka_sim_site::sim::{Scope, Sim};

/// Settings by name.
type Pairs<'a> = &'a [(&'a str, &'a str)];

fn pairs(pairs: Pairs<'_>) -> Settings {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn ids(ids: &[u32]) -> Vec<BrokerId> {
    ids.iter().map(|id| BrokerId(*id)).collect()
}

fn orders(partition: u32) -> TopicPartition {
    TopicPartition::new("orders", partition)
}

fn broker(id: u32) -> Machine {
    Machine::Broker(BrokerId(id))
}

/// Three brokers, `orders` with these replicas by partition, and a producer `p` to it; leaders
/// stay where they are.
fn world(replicas: &[&[u32]], topic: Pairs<'_>, producer: Pairs<'_>) -> World {
    World {
        config: pairs(&[("auto.leader.rebalance.enable", "false")]),
        topics: vec![TopicSpec {
            name: "orders".to_owned(),
            partitions: None,
            replication_factor: None,
            assignment: Some(replicas.iter().map(|replicas| ids(replicas)).collect()),
            config: pairs(topic),
        }],
        producers: vec![ProducerSpec {
            name: "p".to_owned(),
            topic: Some("orders".to_owned()),
            config: pairs(producer),
            start: Start::WithWorld,
        }],
        ..World::default()
    }
}

/// A world with these settings of its brokers on top.
fn with_brokers(mut world: World, config: Pairs<'_>) -> World {
    world.config.extend(pairs(config));
    world
}

/// Records of `p` for one partition, all at once.
fn send(partition: u32, count: u64) -> Command {
    Command::Produce(Produce {
        producer: "p".to_owned(),
        topic: None,
        key: None,
        value: Some("v{n}".to_owned()),
        headers: Vec::new(),
        partition: Some(partition),
        timestamp_ms: None,
        size_bytes: None,
        count,
        every_ms: 0,
    })
}

fn crash(id: u32) -> Command {
    Command::CrashBroker { broker: BrokerId(id) }
}

fn start(id: u32) -> Command {
    Command::StartBroker { broker: BrokerId(id) }
}

fn stall(id: u32) -> Command {
    Command::StallReplica { broker: BrokerId(id), partition: None }
}

fn elect(kind: ElectionKind) -> Command {
    Command::ElectLeaders { kind, partition: Some(orders(0)) }
}

fn set(resource: ConfigResource, name: &str, value: &str) -> Command {
    let set = vec![(name.to_owned(), Some(value.to_owned()))];
    Command::AlterConfig(AlterConfig { resource, set, refused: Vec::new() })
}

/// A setting of `orders`.
fn set_topic(name: &str, value: &str) -> Command {
    set(ConfigResource::Topic("orders".to_owned()), name, value)
}

/// A world that runs.
struct Run {
    sim: Sim,
    events: Vec<TraceEvent>,
    messages: Vec<MessageView>,
}

impl Run {
    fn new(world: World, commands: Vec<(u64, Command)>) -> Run {
        Run { sim: Sim::new(world, commands), events: Vec::new(), messages: Vec::new() }
    }

    /// Goes on to a time, everything of it included.
    fn to(&mut self, time_ms: u64) -> Snapshot {
        while let Some(next) = self.sim.next_event_ms().filter(|next| *next <= time_ms) {
            self.sim.run_millisecond(next).expect("no rule is broken");
            self.events.extend(self.sim.take_events());
            self.messages.extend(self.sim.take_messages());
        }
        self.sim.snapshot(&Scope::All)
    }

    /// `orders-0` at a time.
    fn partition(&mut self, time_ms: u64) -> PartitionView {
        self.to(time_ms).partitions[&orders(0)].clone()
    }

    /// The producer at a time.
    fn producer(&mut self, time_ms: u64) -> ProducerView {
        self.to(time_ms).producers["p"].clone()
    }

    /// The times of events whose lines hold this text.
    fn times_of(&self, text: &str) -> Vec<u64> {
        let lines = self.events.iter().filter(|event| event.text.contains(text));
        lines.map(|event| event.time_ms).collect()
    }

    /// The produce requests so far: when each was sent, and how many records it carries.
    fn produce_requests(&self) -> Vec<(u64, u64)> {
        let requests = self.messages.iter().filter(|message| message.kind == "produce");
        requests.map(|message| (message.sent_ms, message.record_count)).collect()
    }
}

/// Where each replica's log ends.
fn ends(partition: &PartitionView) -> Vec<u64> {
    partition.replicas.values().map(|replica| replica.log_end_offset.0).collect()
}

/// The leader, its epoch, the ISR and the ELR.
fn led(partition: &PartitionView) -> (Option<u32>, u32, Vec<u32>, Vec<u32>) {
    let plain = |ids: &[BrokerId]| ids.iter().map(|id| id.0).collect();
    let leader = partition.leader.map(|id| id.0);
    (leader, partition.leader_epoch.0, plain(&partition.isr), plain(&partition.elr))
}
