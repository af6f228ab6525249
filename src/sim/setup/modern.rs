//! Groups whose coordinator assigns, at 0 s: their members have come to rest, as after a cold
//! start.

use std::collections::BTreeSet;

use crate::sim::Sim;
use crate::sim::broker::{change_record, state_record, topic_racks};
use crate::sim::client::ClientNetwork;
use crate::sim::clients;
use crate::sim::command::Command;
use crate::sim::consumer::{Consumer, Modern, Protocol};
use crate::sim::group::modern::{Around, Beat, Change, JOIN_EPOCH};
use crate::sim::group::{Kind, ModernGroup};
use crate::sim::ids::{LeaderEpoch, Offset, TopicPartition};
use crate::sim::metadata::Image;
use crate::sim::record::Batch;
use crate::sim::settings::GroupSettings;
use crate::sim::share::{STATE_TOPIC, StateChange, state_home_of};
use crate::sim::snapshot::ConsumerState;
use crate::sim::world::{self, GroupSpec, Start};

use super::groups::{start, store};

/// Heartbeats of each member after which a group has come to rest, whatever its members.
const ROUNDS_MAX: u64 = 100;

/// Adds a group with its consumers.
pub(super) fn add(sim: &mut Sim, group: &GroupSpec, image: &Image) {
    let mut members: Vec<Consumer> = Vec::new();
    for spec in &group.consumers {
        match spec.start {
            Start::WithWorld => {
                let network = ClientNetwork::warm(image, clients::subscription(group, spec));
                members.push(clients::consumer(group, spec, network, (0, 0)));
            }
            Start::At(at_ms) => {
                let consumer = spec.name.clone();
                sim.add_command(at_ms, Command::StartConsumer { consumer });
            }
            Start::Manual => {}
        }
    }
    let kind = match group.protocol {
        world::Protocol::Share => Kind::Share,
        _ => Kind::Consumer,
    };
    let settings = match kind {
        Kind::Consumer => GroupSettings::of_consumers(&group.config, &sim.world.config),
        Kind::Share => GroupSettings::of_sharers(&group.config, &sim.world.config),
    };
    let (known, changes) = at_rest(&group.name, kind, &members, (image, &settings));
    let home = image.home_of(&group.name);
    if !changes.is_empty() {
        let records = changes.into_iter().map(|change| change_record(&group.name, kind, change, 0));
        store(sim, &home, Batch::of(records.collect()));
    }
    if kind == Kind::Share {
        store_states(sim, image, &known);
    }
    let coordinator = image.partitions.get(&home).and_then(|state| state.leader);
    for mut consumer in members {
        let start = start(&consumer.settings);
        consumer.membership.coordinator = coordinator;
        if let Protocol::Modern(modern) = &mut consumer.membership.protocol
            && let Some(member) = known.members.get(&modern.member)
        {
            modern.join_before(settings.heartbeat_interval_ms);
            consumer.membership.epoch = member.current.epoch;
            consumer.membership.state = ConsumerState::Stable;
            consumer.assignment = member.current.assigned.keys().cloned().collect();
            if kind == Kind::Consumer {
                let own = consumer.assignment.iter();
                consumer.positions = own.map(|partition| (partition.clone(), start)).collect();
            }
        }
        sim.kernel.start(&consumer.machine);
        sim.consumers.insert(consumer.membership.name.clone(), consumer);
    }
}

/// A share group of a warm world stands at the beginning of its partitions, which are empty.
fn store_states(sim: &mut Sim, image: &Image, group: &ModernGroup) {
    let count = image.topics.get(STATE_TOPIC).map_or(1, |topic| topic.partition_count);
    for partition in group.set_up_partitions() {
        let change = StateChange {
            group: group.name.clone(),
            partition: partition.clone(),
            leader_epoch: LeaderEpoch(0),
            start: Some(Offset(0)),
            records: Vec::new(),
        };
        let home = state_home_of(&group.name, partition, count);
        store(sim, &home, Batch::of(vec![state_record(change, 0)]));
    }
}

/// The group after all of them have joined together and sent heartbeats until nothing changed any
/// more; and everything that was written on the way.
fn at_rest(
    name: &str,
    kind: Kind,
    members: &[Consumer],
    (image, settings): (&Image, &GroupSettings),
) -> (ModernGroup, Vec<Change>) {
    let racks = topic_racks(image);
    let (mut group, mut changes) = (ModernGroup::new(name, kind), Vec::new());
    let beat = |group: &mut ModernGroup, beat: &Beat, now_ms, changes: &mut Vec<Change>| {
        let around = Around {
            now_ms,
            topics: Some(&racks),
            session_timeout_ms: u64::MAX / 2,
            assignment_interval_ms: settings.assignment_interval_ms,
            max_size: settings.max_size,
            assignors: &settings.assignors,
        };
        // One that is refused is no member.
        group.heartbeat(beat, &around, changes).is_ok()
    };
    let mut joined: Vec<&Modern> = Vec::new();
    for consumer in members {
        let Protocol::Modern(modern) = &consumer.membership.protocol else { continue };
        let rebalance_ms = consumer.settings.max_poll_interval_ms;
        let wants = modern.subscription(&consumer.network.topics, rebalance_ms);
        let join = Beat {
            member: modern.member.clone(),
            epoch: JOIN_EPOCH,
            instance: wants.instance.clone(),
            subscription: Some(wants),
            owned: Some(BTreeSet::new()),
        };
        if beat(&mut group, &join, 0, &mut changes) {
            joined.push(modern);
        }
    }
    let pending: Vec<TopicPartition> = group.being_set_up().iter().cloned().collect();
    if !pending.is_empty() {
        group.end_set_up(&pending, &mut changes);
    }
    for round in 1..=ROUNDS_MAX {
        let before = group.clone();
        for modern in &joined {
            let Some(member) = group.members.get(&modern.member) else { continue };
            let stay = Beat {
                member: modern.member.clone(),
                epoch: member.current.epoch,
                subscription: None,
                instance: member.subscription.instance.clone(),
                owned: Some(member.current.assigned.keys().cloned().collect()),
            };
            let interval_ms = settings.heartbeat_interval_ms.max(settings.assignment_interval_ms);
            beat(&mut group, &stay, round * interval_ms, &mut changes);
        }
        if group.members == before.members && group.epoch == group.target_epoch {
            break;
        }
    }
    (group, changes)
}
