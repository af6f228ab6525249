//! What can be observed of clients and groups.

use std::collections::BTreeMap;

use crate::sim::Sim;
use crate::sim::consumer::Consumer;
use crate::sim::error::KafkaError;
use crate::sim::group::{Group, partition_for};
use crate::sim::ids::{Machine, Offset, TopicPartition};
use crate::sim::kernel::ProcessStatus;
use crate::sim::producer::{Phase, Transactional};
use crate::sim::snapshot::{
    ConsumerState, ConsumerView, GroupView, ProducerState, ProducerView, ShareRecordView,
    ShareView, TransactionDetails, TransactionView,
};
use crate::sim::txn::{State, TRANSACTIONS_TOPIC};
use crate::sim::world::{GroupSpec, ProducerSpec, Protocol};

use super::{live_leader, metadata};

/// How many keys of buffered records a picture can use.
const KEYS_SHOWN: usize = 8;

/// A producer as its application knows it.
pub(super) fn producer_view(sim: &Sim, spec: &ProducerSpec) -> ProducerView {
    let config = spec.config.clone();
    let stopped = sim.kernel.status(&Machine::Client(spec.name.clone())) == ProcessStatus::Stopped;
    let Some(producer) = sim.producers.get(&spec.name).filter(|_| !stopped) else {
        return ProducerView { state: ProducerState::Stopped, config, ..ProducerView::default() };
    };
    let counters = &producer.counters;
    let idempotence = producer.idempotence.as_ref();
    let queued: Vec<_> = producer.buffer.partitions().flat_map(|(_, queue)| queue).collect();
    let text = |key: &Option<std::sync::Arc<str>>| key.as_deref().map(str::to_owned);
    ProducerView {
        buffered: producer.buffered_count(),
        in_flight: producer.in_flight_count(),
        acked: counters.acked,
        failed: counters.failed,
        retries: counters.retries,
        last_error: counters.last_error.map(str::to_owned),
        last_refusal: counters.last_refusal.map(|error| error.name().to_owned()),
        state: producer_state(producer.transactional.as_ref()),
        producer_id: idempotence.map(|idempotence| idempotence.producer_id),
        producer_epoch: idempotence.map(|idempotence| idempotence.epoch),
        next_sequence: idempotence.map(|i| i.next_sequence.clone()).unwrap_or_default(),
        last_partition: counters.last_ack.as_ref().map(|(partition, _)| partition.partition),
        last_offset: counters.last_ack.as_ref().map(|(_, offset)| *offset),
        last_key_hash: counters.last_key_hash,
        config,
        buffered_keys: queued
            .iter()
            .flat_map(|batch| batch.records.iter().map(|record| text(&record.key)))
            .take(KEYS_SHOWN)
            .collect(),
        next_send: producer.next_send(sim.kernel.now_ms),
    }
}

fn producer_state(transactional: Option<&Transactional>) -> ProducerState {
    match transactional.map(|one| &one.phase) {
        None | Some(Phase::Uninitialized | Phase::Initializing | Phase::Ready) => {
            ProducerState::Ready
        }
        Some(Phase::InTransaction | Phase::SendingOffsets(_) | Phase::Ending(_)) => {
            ProducerState::InTransaction
        }
        Some(Phase::FatalError(KafkaError::ProducerFenced)) => ProducerState::Fenced,
        Some(Phase::AbortableError(_) | Phase::FatalError(_)) => ProducerState::Failed,
    }
}

/// A transactional id as its coordinator knows it; none while nobody coordinates it.
pub(super) fn transaction_view(sim: &Sim, id: &str) -> Option<TransactionView> {
    let image = metadata(sim);
    let count = image.topics.get(TRANSACTIONS_TOPIC)?.partition_count;
    let home = TopicPartition::new(TRANSACTIONS_TOPIC, partition_for(id, count));
    let (broker, _) = live_leader(sim, &home, image.partitions.get(&home)?)?;
    let known = broker.transactions.get(&home, id)?;
    Some(TransactionView {
        state: known.state.name().to_owned(),
        producer_epoch: known.producer.epoch,
        partitions: known.partitions.iter().filter(|one| !one.is_internal()).cloned().collect(),
        details: TransactionDetails {
            coordinator: Some(broker.id),
            producer_id: known.producer.id,
            timeout_ms: known.timeout_ms,
            started_ms: (known.state != State::Empty).then_some(known.started_ms),
        },
    })
}

/// A group as its coordinator knows it.
pub(super) fn group_view(sim: &Sim, spec: &GroupSpec) -> GroupView {
    let image = metadata(sim);
    let home = image.home_of(&spec.name);
    let leader = image.partitions.get(&home).and_then(|state| live_leader(sim, &home, state));
    let mut view = GroupView { config: spec.config.clone(), ..GroupView::default() };
    // Nobody else knows the group.
    let Some((broker, _)) = leader else { return view };
    view.coordinator = Some(broker.id);
    let group = broker.offsets.groups(&home).and_then(|groups| groups.get(&spec.name));
    // A group that its coordinator does not know is described as dead.
    view.state = Some(group.map_or("Dead", Group::state_name).to_owned());
    view.epoch = Some(group.map_or(0, Group::epoch));
    view.assignor = group.and_then(Group::assignor).map(str::to_owned);
    view.members = group.map(Group::member_names).unwrap_or_default();
    view.owners = group.map(Group::owners).unwrap_or_default();
    view.committed = broker.offsets.committed(&spec.name, &home).unwrap_or_default();
    for (partition, committed) in &view.committed {
        let end =
            image.partitions.get(partition).and_then(|state| live_leader(sim, partition, state));
        if let Some((_, leader)) = end {
            let signed = |offset: Offset| i64::try_from(offset.0).unwrap_or(i64::MAX);
            view.lag.insert(partition.clone(), signed(leader.high_watermark) - signed(*committed));
        }
    }
    view.share = share_views(sim, spec, group);
    view.total_lag = (!view.lag.is_empty()).then(|| view.lag.values().sum());
    view
}

/// What a share group makes of each partition that it reads, as the partition's leader knows it.
fn share_views(
    sim: &Sim,
    spec: &GroupSpec,
    group: Option<&Group>,
) -> BTreeMap<TopicPartition, ShareView> {
    let mut views = BTreeMap::new();
    if spec.protocol != Protocol::Share {
        return views;
    }
    for (partition, state) in &metadata(sim).partitions {
        let leader = live_leader(sim, partition, state);
        let Some(shared) = leader.and_then(|(b, _)| b.sharing.get(&spec.name, partition)) else {
            continue;
        };
        let client = |member: &str| group.and_then(|group| group.client_of(member));
        let records = shared.records().map(|(offset, phase, delivery_count, member)| {
            let state = phase.name().to_owned();
            let holder = member.and_then(client).map(str::to_owned);
            (offset, ShareRecordView { state, delivery_count, holder })
        });
        let view = ShareView { start_offset: shared.start_offset(), records: records.collect() };
        views.insert(partition.clone(), view);
    }
    views
}

/// A consumer as its application knows it.
pub(super) fn consumer_view(sim: &Sim, name: &str) -> ConsumerView {
    let declared = sim.world.groups.iter().find_map(|spec| {
        let own = spec.consumers.iter().find(|consumer| consumer.name == name)?;
        Some((spec, own))
    });
    let Some((spec, own)) = declared else { return ConsumerView::default() };
    let group = spec.name.clone();
    let mut config = spec.config.clone();
    config.extend(own.config.clone());
    let stopped = sim.kernel.status(&Machine::Client(name.to_owned())) == ProcessStatus::Stopped;
    let Some(consumer) = sim.consumers.get(name).filter(|_| !stopped) else {
        return ConsumerView {
            state: ConsumerState::Stopped,
            config,
            group,
            ..ConsumerView::default()
        };
    };
    let counters = &consumer.counters;
    ConsumerView {
        state: consumer.membership.state,
        epoch: consumer.membership.epoch.max(0),
        assignment: consumer.assignment.iter().cloned().collect(),
        position: consumer
            .positions
            .iter()
            .filter_map(|(partition, position)| Some((partition.clone(), (*position)?)))
            .collect(),
        consumed: counters.consumed,
        last_error: counters.last_error.map(str::to_owned),
        last_refusal: counters.last_refusal.map(|error| error.name().to_owned()),
        last_record: counters.last_record.clone(),
        seen: counters
            .seen
            .iter()
            .map(|(partition, offset)| format!("{partition}@{offset}"))
            .collect(),
        config,
        revoking: revoking(sim, consumer, spec),
        group,
    }
}

/// What a consumer holds although its coordinator does not count it as its own.
fn revoking(sim: &Sim, consumer: &Consumer, spec: &GroupSpec) -> Vec<TopicPartition> {
    let owners = group_view(sim, spec).owners;
    let own = owners.get(&consumer.membership.name);
    let held = consumer.assignment.iter();
    let lacks = |held: &&TopicPartition| own.is_none_or(|own| !own.contains(held));
    if owners.is_empty() { Vec::new() } else { held.filter(lacks).cloned().collect() }
}
