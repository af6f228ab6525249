//! Groups at 0 s: stable, as a cold start with the same members leaves them.

use std::sync::Arc;

use crate::sim::Sim;
use crate::sim::broker::{Role, group_record};
use crate::sim::client::ClientNetwork;
use crate::sim::clients;
use crate::sim::command::Command;
use crate::sim::group::{ClassicGroup, Group, GroupPhase, OFFSETS_TOPIC, home_of};
use crate::sim::ids::{LeaderEpoch, Offset, TopicPartition};
use crate::sim::metadata::Image;
use crate::sim::record::{Batch, StoredBatch};
use crate::sim::replication::RemoteReplica;
use crate::sim::settings::{ConsumerSettings, OffsetReset};
use crate::sim::snapshot::ConsumerState;
use crate::sim::world::{GroupSpec, Protocol, Start};

use super::modern;

/// Adds every group with its consumers.
pub(super) fn add(sim: &mut Sim, image: &Image) {
    for group in sim.world.groups.clone() {
        if group.protocol != Protocol::Classic {
            modern::add(sim, &group, image);
            continue;
        }
        let state = warm_group(&group, image);
        let offsets_partitions =
            image.topics.get(OFFSETS_TOPIC).map_or(1, |topic| topic.partition_count);
        let home = home_of(&group.name, offsets_partitions);
        let coordinator = image.partitions.get(&home).and_then(|state| state.leader);
        if state.generation > 0 {
            let record = group_record(Group::Classic(state.clone()), 0);
            store(sim, &home, Batch::of(vec![record]));
        }
        for spec in &group.consumers {
            match spec.start {
                Start::WithWorld => {
                    let topics = clients::subscription(&group, spec);
                    let network = ClientNetwork::warm(image, topics);
                    let mut consumer = clients::consumer(&group, spec, network, (0, 0));
                    consumer.membership.epoch = state.generation;
                    consumer.membership.state = ConsumerState::Stable;
                    consumer.membership.coordinator = coordinator;
                    let own = state.members.get(&spec.name).cloned().unwrap_or_default();
                    let start = start(&consumer.settings);
                    consumer.positions = own.iter().map(|p| (p.clone(), start)).collect();
                    consumer.assignment = own.into_iter().collect();
                    sim.kernel.start(&consumer.machine);
                    sim.consumers.insert(spec.name.clone(), consumer);
                }
                Start::At(at_ms) => {
                    let consumer = spec.name.clone();
                    sim.add_command(at_ms, Command::StartConsumer { consumer });
                }
                Start::Manual => {}
            }
        }
    }
}

/// Where a consumer stands in an empty partition at 0 s.
pub(super) fn start(settings: &ConsumerSettings) -> Option<Offset> {
    match settings.offset_reset {
        OffsetReset::Earliest | OffsetReset::Latest => Some(Offset(0)),
        OffsetReset::None | OffsetReset::ByDuration(_) => None,
    }
}

/// The group as a cold start with the same member gives it: one generation, everything for that
/// member.
fn warm_group(group: &GroupSpec, image: &Image) -> ClassicGroup {
    let mut state = ClassicGroup { name: group.name.clone(), ..ClassicGroup::default() };
    let mut present = group.consumers.iter().filter(|spec| spec.start == Start::WithWorld);
    let Some(member) = present.next() else { return state };
    let topics = clients::subscription(group, member);
    let assignment = image
        .partitions
        .keys()
        .filter(|partition| topics.contains(&partition.topic))
        .cloned()
        .collect();
    state.phase = GroupPhase::Stable;
    state.generation = 1;
    state.assignor = Some("range".to_owned());
    state.members.insert(member.name.clone(), assignment);
    state
}

/// Records of Kafka's own are committed in their partition, on every replica.
pub(super) fn store(sim: &mut Sim, home: &TopicPartition, batch: Batch) {
    let batch = Arc::new(batch);
    for broker in sim.brokers.values_mut() {
        let epoch = broker.life.epoch.unwrap_or(0);
        let Some(replica) = broker.replicas.get_mut(home) else { continue };
        let base_offset = replica.log.end_offset();
        let stored =
            StoredBatch { base_offset, leader_epoch: LeaderEpoch(0), batch: Arc::clone(&batch) };
        replica.append(stored);
        let end = replica.log.end_offset();
        replica.high_watermark = end;
        replica.checkpointed = end;
        if let Role::Leader(leader) = &mut replica.role {
            for remote in leader.remotes.values_mut() {
                *remote = RemoteReplica::caught_up(end, remote.broker_epoch.unwrap_or(epoch));
            }
        }
    }
}
