//! From the simulation's state to what can be observed: the snapshot.

mod clients;
mod records;

use std::collections::BTreeMap;

use super::broker::{Broker, Replica, Shutdown};
use super::ids::{BrokerId, Machine, Offset, TopicPartition, is_internal};
use super::kernel::ProcessStatus;
use super::metadata::{Image, PartitionState};
use super::snapshot::{
    AdminView, BrokerView, ControllerView, PartitionView, ProcessState, Registration, ReplicaRole,
    ReplicaView, SegmentView, Snapshot, TopicView,
};
use super::{Part, Scope, Sim};

use clients::{consumer_view, group_view, producer_view, transaction_view};
use records::{record_at, records};

/// What can be observed now.
pub(super) fn snapshot(sim: &Sim, scope: &Scope) -> Snapshot {
    let mut snapshot = Snapshot { time_ms: sim.kernel.now_ms, ..Snapshot::default() };
    match scope {
        Scope::All => everything(sim, &mut snapshot),
        Scope::Parts(parts) => {
            for part in parts {
                add_part(sim, part, &mut snapshot);
            }
        }
    }
    snapshot
}

fn everything(sim: &Sim, snapshot: &mut Snapshot) {
    add_part(sim, &Part::Cluster, snapshot);
    add_part(sim, &Part::Metrics, snapshot);
    add_part(sim, &Part::Messages, snapshot);
    for (partition, state) in &metadata(sim).partitions {
        if !partition.is_internal() {
            let mut view = partition_view(sim, partition, state);
            if let Some((_, replica)) = live_leader(sim, partition, state) {
                view.records = records(replica, Offset(0));
            }
            for (broker, shown) in &mut view.replicas {
                if let Some(replica) = replica(sim, *broker, partition) {
                    shown.records = records(replica, Offset(0));
                }
            }
            snapshot.partitions.insert(partition.clone(), view);
        }
    }
    for spec in &sim.world.producers {
        snapshot.producers.insert(spec.name.clone(), producer_view(sim, spec));
        if let Some(id) = spec.config.get("transactional.id") {
            add_part(sim, &Part::Transaction(id.clone()), snapshot);
        }
    }
    for spec in &sim.world.groups {
        snapshot.groups.insert(spec.name.clone(), group_view(sim, spec));
        for consumer in &spec.consumers {
            snapshot.consumers.insert(consumer.name.clone(), consumer_view(sim, &consumer.name));
        }
    }
}

fn add_part(sim: &Sim, part: &Part, snapshot: &mut Snapshot) {
    match part {
        Part::Cluster => cluster(sim, snapshot),
        Part::Topic(name) => add_topic(metadata(sim), name, snapshot),
        Part::Partition(partition) => {
            if let Some(state) = metadata(sim).partitions.get(partition) {
                let view = partition_view(sim, partition, state);
                add_partition(snapshot, partition, view);
            }
        }
        Part::Record(partition, offset) => {
            let Some(state) = metadata(sim).partitions.get(partition) else { return };
            let Some((_, leader)) = live_leader(sim, partition, state) else { return };
            let view = snapshot.partitions.entry(partition.clone()).or_default();
            view.records.extend(record_at(leader, *offset));
        }
        Part::ReplicaRecords(partition, broker, from) => {
            if let Some(replica) = replica(sim, *broker, partition) {
                let view = snapshot.partitions.entry(partition.clone()).or_default();
                view.replicas.entry(*broker).or_default().records = records(replica, *from);
            }
        }
        Part::Producer(name) => {
            if let Some(spec) = sim.world.producers.iter().find(|spec| spec.name == *name) {
                snapshot.producers.insert(name.clone(), producer_view(sim, spec));
            }
        }
        Part::Group(name) => {
            if let Some(spec) = sim.world.groups.iter().find(|spec| spec.name == *name) {
                snapshot.groups.insert(name.clone(), group_view(sim, spec));
            }
        }
        Part::Consumer(name) => {
            snapshot.consumers.insert(name.clone(), consumer_view(sim, name));
        }
        Part::Transaction(id) => {
            if let Some(view) = transaction_view(sim, id) {
                snapshot.transactions.insert(id.clone(), view);
            }
        }
        Part::Metrics => snapshot.metrics = metrics(sim),
        Part::Messages => messages(sim, snapshot),
    }
}

/// Adds a partition's view without losing records that were asked for one by one.
fn add_partition(snapshot: &mut Snapshot, partition: &TopicPartition, mut view: PartitionView) {
    if let Some(known) = snapshot.partitions.remove(partition) {
        view.records = known.records;
    }
    snapshot.partitions.insert(partition.clone(), view);
}

/// The committed metadata of the controller that knows most.
pub(super) fn metadata(sim: &Sim) -> &Image {
    let active = sim.active_controller();
    let known =
        active.or_else(|| sim.controllers.values().max_by_key(|controller| controller.committed));
    &known.expect("a world has a controller").committed_image
}

fn stopped_controllers(sim: &Sim) -> Vec<String> {
    let machines = sim.controllers.values().map(|controller| &controller.machine);
    let stopped = machines.filter(|it| sim.kernel.status(it) == ProcessStatus::Stopped);
    stopped.map(ToString::to_string).collect()
}

fn cluster(sim: &Sim, snapshot: &mut Snapshot) {
    let active = sim.active_controller();
    snapshot.controller = ControllerView {
        leader: active.map(|controller| controller.machine.to_string()),
        epoch: sim.controllers.values().map(|controller| controller.epoch).max().unwrap_or(0),
        stopped: stopped_controllers(sim),
    };
    snapshot.sides.clone_from(sim.kernel.network.sides());
    let image = metadata(sim);
    for spec in &sim.world.brokers {
        let state = image.brokers.get(&spec.id);
        let registration = match state {
            Some(state) if state.in_controlled_shutdown => Registration::ControlledShutdown,
            Some(state) if !state.fenced => Registration::Active,
            _ => Registration::Fenced,
        };
        let process = match sim.kernel.status(&Machine::Broker(spec.id)) {
            ProcessStatus::Running if shutting_down(sim, spec.id) => ProcessState::ShuttingDown,
            ProcessStatus::Running => ProcessState::Up,
            ProcessStatus::Paused => ProcessState::Paused,
            ProcessStatus::Stopped => ProcessState::Stopped,
        };
        let view = BrokerView {
            process,
            registration,
            rack: spec.rack.clone(),
            config: (*image.config_of(spec.id)).clone(),
        };
        snapshot.brokers.insert(spec.id, view);
    }
    for name in image.topics.keys().filter(|name| !is_internal(name)) {
        add_topic(image, name, snapshot);
    }
    snapshot.admin = AdminView { last_error: sim.admin_error.map(|error| error.name().to_owned()) };
}

fn add_topic(image: &Image, name: &str, snapshot: &mut Snapshot) {
    let Some(topic) = image.topics.get(name) else { return };
    let view = TopicView {
        partitions: topic.partition_count,
        replication_factor: topic.replication_factor,
        config: topic.config.clone(),
    };
    snapshot.topics.insert(name.to_owned(), view);
}

fn shutting_down(sim: &Sim, broker: BrokerId) -> bool {
    sim.brokers.get(&broker).is_some_and(|broker| broker.life.shutdown != Shutdown::NotAsked)
}

fn replica<'s>(sim: &'s Sim, broker: BrokerId, partition: &TopicPartition) -> Option<&'s Replica> {
    sim.brokers.get(&broker)?.replicas.get(partition)
}

/// The leader that the controller believes in, if its process is up or paused.
fn live_leader<'s>(
    sim: &'s Sim,
    partition: &TopicPartition,
    state: &PartitionState,
) -> Option<(&'s Broker, &'s Replica)> {
    let leader = state.leader?;
    if sim.kernel.status(&Machine::Broker(leader)) == ProcessStatus::Stopped {
        return None;
    }
    let broker = sim.brokers.get(&leader)?;
    Some((broker, broker.replicas.get(partition)?))
}

fn sorted(brokers: &[BrokerId]) -> Vec<BrokerId> {
    let mut sorted = brokers.to_vec();
    sorted.sort_unstable();
    sorted
}

fn partition_view(sim: &Sim, partition: &TopicPartition, state: &PartitionState) -> PartitionView {
    let mut view = PartitionView {
        leader: state.leader,
        leader_epoch: state.leader_epoch,
        assignment: state.replicas.clone(),
        isr: sorted(&state.isr),
        elr: sorted(&state.elr),
        last_known_elr: sorted(&state.last_known_elr),
        ..PartitionView::default()
    };
    if let Some((_, leader)) = live_leader(sim, partition, state) {
        let log = &leader.log;
        view.high_watermark = Some(leader.high_watermark);
        view.log_end_offset = Some(log.end_offset());
        view.log_start_offset = Some(log.start_offset());
        view.last_stable_offset = Some(leader.last_stable_offset());
        view.size_bytes = Some(log.size_bytes());
        view.segments = Some(log.segments().len() as u64);
        for (index, segment) in (0..).zip(log.segments()) {
            let shown = SegmentView {
                base_offset: segment.base_offset,
                bytes: segment.bytes,
                max_timestamp: segment.max_timestamp,
            };
            view.segment.insert(index, shown);
        }
    }
    for broker in &state.replicas {
        let Some(replica) = replica(sim, *broker, partition) else { continue };
        let stopped = sim.kernel.status(&Machine::Broker(*broker)) == ProcessStatus::Stopped;
        let role = match replica.leader() {
            _ if stopped => ReplicaRole::Offline,
            Some(_) => ReplicaRole::Leader,
            None => ReplicaRole::Follower,
        };
        let shown = ReplicaView {
            log_end_offset: replica.log.end_offset(),
            high_watermark: replica.high_watermark,
            log_start_offset: replica.log.start_offset(),
            leader_epoch: replica.leader_epoch,
            in_sync: state.isr.contains(broker),
            role,
            stalled: sim.brokers[broker].stalled.covers(partition),
            last_stable_offset: replica.last_stable_offset(),
            segment_bases: replica.log.segments().iter().map(|one| one.base_offset).collect(),
            records: BTreeMap::new(),
        };
        view.replicas.insert(*broker, shown);
    }
    view
}

fn messages(sim: &Sim, snapshot: &mut Snapshot) {
    for message in sim.kernel.open_messages() {
        let counts = if message.waiting { &mut snapshot.waiting } else { &mut snapshot.in_flight };
        *counts.entry(message.kind.to_owned()).or_insert(0) += 1;
        snapshot.messages.push(message);
    }
}

/// Gauges and counts of meters, by Kafka's JMX name: summed over living brokers; the controller's
/// own from the active controller.
fn metrics(sim: &Sim) -> BTreeMap<&'static str, i64> {
    let mut metrics: BTreeMap<&'static str, i64> = BTreeMap::new();
    let mut add = |name: &'static str, count: i64| *metrics.entry(name).or_insert(0) += count;
    for broker in sim.brokers.values() {
        if sim.kernel.status(&broker.machine) == ProcessStatus::Stopped {
            continue;
        }
        add("IsrShrinksPerSec", broker.meters.isr_shrinks);
        add("IsrExpandsPerSec", broker.meters.isr_expands);
        add("FailedProduceRequestsPerSec", broker.meters.failed_produce);
        for (partition, replica) in &broker.replicas {
            let Some(leader) = replica.leader() else { continue };
            let min_isr = broker.effective_min_isr(partition);
            add(
                "UnderReplicatedPartitions",
                i64::from(leader.isr.len() < leader.remotes.len() + 1),
            );
            add("UnderMinIsrPartitionCount", i64::from(leader.is_under_min_isr(min_isr)));
        }
    }
    let offline = metadata(sim).partitions.values().filter(|state| state.leader.is_none()).count();
    add("OfflinePartitionsCount", i64::try_from(offline).unwrap_or(i64::MAX));
    let active = sim.active_controller().and_then(|controller| controller.active.as_ref());
    add("LeaderElectionRateAndTimeMs", active.map_or(0, |active| active.elections));
    add("UncleanLeaderElectionsPerSec", active.map_or(0, |active| active.unclean_elections));
    for name in [
        "UnderReplicatedPartitions",
        "UnderMinIsrPartitionCount",
        "IsrShrinksPerSec",
        "IsrExpandsPerSec",
        "FailedProduceRequestsPerSec",
    ] {
        add(name, 0);
    }
    metrics
}
