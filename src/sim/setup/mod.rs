//! The world at 0 s, which has been up for a while: brokers registered, topics there with full ISR,
//! clients with metadata, consumers stable members of their groups.
//!
//! # Differs from Kafka
//! Internal topics have at most as many replicas as there are brokers; Kafka would not create them.

mod groups;
mod internal;
mod modern;

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Sim;
use super::broker::{
    Broker, Fetcher, GroupOffsets, IsrProposals, Life, Meters, Replica, Role, ShareStates, Sharing,
    Stalled, Transactions,
};
use super::check::Checker;
use super::client::ClientNetwork;
use super::clients;
use super::command::Command;
use super::controller::Controller;
use super::controller::placement::{UsableBroker, place};
use super::ids::{BrokerId, Machine, Offset, TopicPartition, is_internal};
use super::kernel::Kernel;
use super::log::LogConfig;
use super::metadata::{BrokerState, Image, PartitionState, TopicState};
use super::network::Network;
use super::producer::Idempotence;
use super::replication::{LeaderState, RemoteReplica};
use super::rng::Rng;
use super::settings::{BrokerSettings, Effective};
use super::world::{Start, TopicSpec, World};

use internal::{internal_topics, topic_config};

/// Builds the world.
pub(super) fn warm(world: World) -> Sim {
    let mut kernel = Kernel::new(Network::new(world.network_ms.max(1)), world.seed);
    let mut image = image(&world, &mut kernel.rng);
    if !world.warm {
        let_cool(&mut image);
    }
    let image = Arc::new(image);
    let settings = BrokerSettings::read(&world.config);
    let voters: Vec<Machine> = world.controllers.iter().cloned().map(Machine::Controller).collect();
    let mut sim = Sim {
        controllers: BTreeMap::new(),
        brokers: BTreeMap::new(),
        producers: BTreeMap::new(),
        consumers: BTreeMap::new(),
        commands: Vec::new(),
        checker: Checker::default(),
        admin_error: None,
        record_count: 0,
        reached_ms: None,
        kernel,
        world,
    };
    for voter in &voters {
        sim.kernel.start(voter);
        let controller =
            Controller::warm(voter.clone(), voters.clone(), settings.clone(), (*image).clone());
        sim.controllers.insert(voter.to_string(), controller);
    }
    for spec in &sim.world.brokers {
        let machine = Machine::Broker(spec.id);
        sim.kernel.start(&machine);
        let broker = warm_broker(spec.id, &sim.world, &image, &voters);
        sim.brokers.insert(spec.id, broker);
    }
    for (partition, state) in &image.partitions {
        let topic_id = image.topics.get(&partition.topic).map_or(0, |topic| topic.id);
        sim.checker.begin(partition, topic_id, state);
    }
    if !sim.world.warm {
        stop_everything(&mut sim);
        return sim;
    }
    groups::add(&mut sim, &image);
    for broker in sim.brokers.values_mut() {
        broker.load_all_offsets(&mut sim.kernel);
    }
    add_producers(&mut sim, &image);
    sim
}

/// In a cold world nobody is there yet: brokers are fenced, and nobody leads.
fn let_cool(image: &mut Image) {
    for state in image.brokers.values_mut() {
        Arc::make_mut(state).fenced = true;
    }
    for state in image.partitions.values_mut() {
        Arc::make_mut(state).leader = None;
    }
}

/// A cold world is one whose machines have all been stopped in an orderly way; at 0 s they start.
/// Clients that are declared to start later do so.
fn stop_everything(sim: &mut Sim) {
    for controller in sim.controllers.values_mut() {
        sim.kernel.stop(&controller.machine);
        controller.lose_memory();
    }
    for broker in sim.brokers.values_mut() {
        sim.kernel.stop(&broker.machine);
        broker.stop_cleanly();
    }
    for spec in sim.world.producers.clone() {
        if let Start::At(at_ms) = spec.start {
            sim.add_command(at_ms, Command::StartProducer { producer: spec.name });
        }
    }
    for spec in sim.world.groups.clone().into_iter().flat_map(|group| group.consumers) {
        if let Start::At(at_ms) = spec.start {
            sim.add_command(at_ms, Command::StartConsumer { consumer: spec.name });
        }
    }
}

/// Registrations and topics. The metadata log counts one record for each.
fn image(world: &World, rng: &mut Rng) -> Image {
    let config = Arc::new(world.config.clone());
    let mut image =
        Image { config: Arc::clone(&config), static_config: config, ..Image::default() };
    for spec in &world.brokers {
        let state =
            BrokerState { epoch: image.offset, rack: spec.rack.clone(), ..BrokerState::default() };
        image.brokers.insert(spec.id, Arc::new(state));
        image.offset += 1;
    }
    for group in &world.groups {
        image.group_config.insert(group.name.clone(), Arc::new(group.config.clone()));
    }
    for topic in world.topics.iter().chain(&internal_topics(world)) {
        add_topic(&mut image, topic, world, rng);
    }
    image
}

fn add_topic(image: &mut Image, topic: &TopicSpec, world: &World, rng: &mut Rng) {
    let config = Effective::of(&world.config);
    let count = |given: Option<u32>, setting: &str| {
        given.unwrap_or_else(|| u32::try_from(config.count(setting)).unwrap_or(1)).max(1)
    };
    let mut factor = count(topic.replication_factor, "default.replication.factor");
    if is_internal(&topic.name) {
        factor = factor.min(u32::try_from(world.brokers.len()).unwrap_or(u32::MAX));
    }
    let assignment = topic.assignment.clone().unwrap_or_else(|| {
        let brokers: Vec<UsableBroker> = world
            .brokers
            .iter()
            .map(|spec| UsableBroker { id: spec.id, rack: spec.rack.clone(), fenced: false })
            .collect();
        let partitions = count(topic.partitions, "num.partitions");
        place(&brokers, partitions, usize::try_from(factor).unwrap_or(usize::MAX), rng)
            .unwrap_or_default()
    });
    let state = TopicState {
        id: image.offset,
        partition_count: u32::try_from(assignment.len()).unwrap_or(u32::MAX),
        replication_factor: assignment
            .first()
            .map_or(factor, |replicas| u32::try_from(replicas.len()).unwrap_or(factor)),
        config: topic_config(topic, world),
    };
    image.topics.insert(topic.name.clone(), Arc::new(state));
    image.offset += 1;
    for (number, replicas) in (0..).zip(assignment) {
        let mut isr = replicas.clone();
        isr.sort_unstable();
        let state = PartitionState {
            leader: replicas.first().copied(),
            isr,
            replicas,
            ..PartitionState::default()
        };
        image.partitions.insert(TopicPartition::new(topic.name.clone(), number), Arc::new(state));
        image.offset += 1;
    }
}

fn warm_broker(id: BrokerId, world: &World, image: &Arc<Image>, voters: &[Machine]) -> Broker {
    let epoch = image.brokers[&id].epoch;
    let mut replicas = BTreeMap::new();
    let mut fetchers: BTreeMap<BrokerId, Fetcher> = BTreeMap::new();
    for (partition, state) in &image.partitions {
        if !state.replicas.contains(&id) {
            continue;
        }
        let Some(topic) = image.topics.get(&partition.topic) else { continue };
        let config = LogConfig::read(&topic.config, &image.config_of(id));
        let mut replica = Replica::empty(topic.id, Arc::new(config));
        match state.leader {
            Some(leader) if leader == id => {
                replica.role = Role::Leader(warm_leader(id, state, image));
            }
            leader => {
                replica.role = Role::Follower(leader);
                if let Some(leader) = leader {
                    fetchers.entry(leader).or_default().partitions.insert(partition.clone(), 0);
                }
            }
        }
        replicas.insert(partition.clone(), replica);
    }
    Broker {
        id,
        machine: Machine::Broker(id),
        settings: BrokerSettings::read(&world.config),
        append_ms: world.append_ms,
        config: image.config_of(id),
        image: Arc::clone(image),
        replicas,
        held: BTreeMap::new(),
        watchers: BTreeMap::new(),
        fetchers,
        stalled: Stalled::default(),
        proposals: IsrProposals::default(),
        life: Life::active(epoch, voters),
        offsets: GroupOffsets::default(),
        sharing: Sharing::default(),
        share_states: ShareStates::default(),
        group_writes: Vec::new(),
        transactions: Transactions::default(),
        producer_ids: 0,
        meters: Meters::default(),
    }
}

fn warm_leader(me: BrokerId, state: &PartitionState, image: &Image) -> LeaderState {
    let followers = state.replicas.iter().filter(|replica| **replica != me);
    LeaderState {
        isr: state.isr.clone(),
        partition_epoch: state.partition_epoch,
        remotes: followers
            .map(|replica| {
                (*replica, RemoteReplica::caught_up(Offset(0), image.brokers[replica].epoch))
            })
            .collect(),
        ..LeaderState::default()
    }
}

fn add_producers(sim: &mut Sim, image: &Image) {
    for (number, spec) in (0..).zip(sim.world.producers.clone()) {
        match spec.start {
            Start::WithWorld => {
                let network = ClientNetwork::warm(image, spec.topic.iter().cloned().collect());
                let mut producer = clients::producer(&spec, network);
                let has_id = producer.settings.idempotent && producer.transactional.is_none();
                producer.idempotence = has_id.then(|| Idempotence::new(number));
                sim.kernel.start(&producer.machine);
                sim.producers.insert(spec.name, producer);
            }
            Start::At(at_ms) => {
                sim.add_command(at_ms, Command::StartProducer { producer: spec.name });
            }
            Start::Manual => {}
        }
    }
}
