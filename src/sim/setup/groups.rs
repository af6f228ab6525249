//! Groups at 0 s: stable, as a cold start with the same members leaves them.

use std::sync::Arc;

use crate::sim::Sim;
use crate::sim::assignor::client::{Members, Strategy, Subscription};
use crate::sim::broker::{Role, group_record};
use crate::sim::client::ClientNetwork;
use crate::sim::clients;
use crate::sim::command::Command;
use crate::sim::consumer::{Classic, Consumer, Protocol as Membership};
use crate::sim::group::{ClassicGroup, Group, Member};
use crate::sim::ids::{LeaderEpoch, Offset, TopicPartition};
use crate::sim::message::JoinRequest;
use crate::sim::metadata::Image;
use crate::sim::record::{Batch, StoredBatch};
use crate::sim::replication::RemoteReplica;
use crate::sim::settings::{BrokerSettings, ConsumerSettings, OffsetReset};
use crate::sim::snapshot::ConsumerState;
use crate::sim::world::{ConsumerSpec, GroupSpec, Protocol, Start};

use super::modern;

/// Adds every group with its consumers.
pub(super) fn add(sim: &mut Sim, image: &Image) {
    for group in sim.world.groups.clone() {
        if group.protocol != Protocol::Classic {
            modern::add(sim, &group, image);
            continue;
        }
        let most = BrokerSettings::read(&sim.world.config).group_max_size;
        let state = warm_group(&group, image, most);
        let home = image.home_of(&group.name);
        let coordinator = image.partitions.get(&home).and_then(|state| state.leader);
        if state.generation > 0 {
            let record = group_record(Group::Classic(Box::new(state.clone())), 0);
            store(sim, &home, Batch::of(vec![record]));
        }
        for spec in &group.consumers {
            match spec.start {
                Start::WithWorld if state.members.contains_key(&member_id(spec)) => {
                    let mut consumer = warm_consumer(&group, spec, (&state, image));
                    consumer.membership.coordinator = coordinator;
                    sim.kernel.start(&consumer.machine);
                    sim.consumers.insert(spec.name.clone(), consumer);
                }
                // There is no room for it; it asks all the same.
                Start::WithWorld => {
                    let consumer = spec.name.clone();
                    sim.add_command(0, Command::StartConsumer { consumer });
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

/// A stable member of its group, which stands where it starts.
fn warm_consumer(
    group: &GroupSpec,
    spec: &ConsumerSpec,
    warm: (&ClassicGroup, &Image),
) -> Consumer {
    let (state, image) = warm;
    let network = ClientNetwork::warm(image, clients::subscription(group, spec));
    let mut consumer = clients::consumer(group, spec, network, (0, 0));
    let id = member_id(spec);
    let own = state.members.get(&id).map(|member| member.assignment.clone()).unwrap_or_default();
    let leads = state.leader.as_ref() == Some(&id);
    let seen = leads.then(|| consumer.topics_now());
    let given = (state.strategy.unwrap_or(Strategy::Range), &own[..], state.generation);
    consumer.membership.protocol = Membership::Classic(Classic::stable(given, seen));
    consumer.membership.epoch = state.generation;
    consumer.membership.member = Some(id);
    consumer.membership.state = ConsumerState::Stable;
    consumer.set_first_deadlines(0);
    let start = start(&consumer.settings);
    consumer.positions = own.iter().map(|partition| (partition.clone(), start)).collect();
    consumer.assignment = own.into_iter().collect();
    consumer
}

/// The id of a member that was there before 0 s.
fn member_id(spec: &ConsumerSpec) -> String {
    format!("{}-0", spec.name)
}

/// Where a consumer stands in an empty partition at 0 s.
pub(super) fn start(settings: &ConsumerSettings) -> Option<Offset> {
    match settings.offset_reset {
        OffsetReset::Earliest | OffsetReset::Latest => Some(Offset(0)),
        OffsetReset::None | OffsetReset::ByDuration(_) => None,
    }
}

/// The group as a cold start with the same members gives it: one generation, led by the first of
/// them, who lets its assignor decide. No more than `most` are taken.
fn warm_group(group: &GroupSpec, image: &Image, most: usize) -> ClassicGroup {
    let present = group.consumers.iter().filter(|spec| spec.start == Start::WithWorld);
    let members: Vec<Member> = present.take(most).map(|spec| member(group, spec)).collect();
    if members.is_empty() {
        return ClassicGroup::new(&group.name);
    }
    let mut state = ClassicGroup::stable(&group.name, 1, members);
    let Some(strategy) = state.strategy else { return state };
    let all = state.members.iter();
    let said: Members = all
        .filter_map(|(id, member)| Some((id.clone(), member.subscription(strategy)?.clone())))
        .collect();
    let topics = said.values().flat_map(|member| &member.topics).cloned().collect();
    let known = ClientNetwork::warm(image, topics).racks;
    let mut given = strategy.assign(&said, &known);
    for (id, member) in &mut state.members {
        member.assignment = given.remove(id).unwrap_or_default();
    }
    state
}

fn member(group: &GroupSpec, spec: &ConsumerSpec) -> Member {
    let mut config = group.config.clone();
    config.extend(spec.config.clone());
    let settings = ConsumerSettings::read(&config);
    let said = Subscription {
        topics: clients::subscription(group, spec),
        instance: settings.instance.clone(),
        rack: Some(settings.rack).filter(|rack| !rack.is_empty()),
        ..Subscription::default()
    };
    let request = JoinRequest {
        group: group.name.clone(),
        member: None,
        instance: settings.instance,
        session_timeout_ms: settings.session_timeout_ms,
        rebalance_timeout_ms: settings.max_poll_interval_ms,
        protocols: settings.assignors.into_iter().map(|one| (one, said.clone())).collect(),
    };
    Member::new(member_id(spec), &spec.name, &request)
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
