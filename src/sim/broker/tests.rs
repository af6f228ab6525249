//! Rules of a leader that few worlds come to, on replicas made by hand.

use std::sync::Arc;

use crate::sim::error::KafkaError;
use crate::sim::ids::{BrokerId, LeaderEpoch, Machine, Offset, TopicPartition};
use crate::sim::log::Log;
use crate::sim::message::{Acks, Body, FetchPartition, OffsetSpec};
use crate::sim::record::{Batch, Record, StoredBatch};
use crate::sim::world::{Settings, TopicSpec, World};
use crate::sim::{Sim, setup};

use super::{Broker, Replica};

const LEADER: BrokerId = BrokerId(1);

fn orders() -> TopicPartition {
    TopicPartition::new("orders", 0)
}

/// Two replicas, both of which have to be in sync.
fn cluster() -> Sim {
    let minimum = ("min.insync.replicas".to_owned(), "2".to_owned());
    let topic = TopicSpec {
        name: "orders".to_owned(),
        partitions: Some(1),
        replication_factor: None,
        assignment: Some(vec![vec![LEADER, BrokerId(2)]]),
        config: Settings::from([minimum]),
    };
    setup::warm(World { topics: vec![topic], ..World::default() })
}

fn leader(sim: &mut Sim) -> &mut Broker {
    sim.brokers.get_mut(&LEADER).expect("a broker")
}

fn replica(sim: &mut Sim) -> &mut Replica {
    leader(sim).replicas.get_mut(&orders()).expect("a replica")
}

/// The leader handles a request; the error of what it has answered by then.
fn handle(sim: &mut Sim, from: &Machine, body: Body) -> Option<String> {
    let id = sim.kernel.request(from, &Machine::Broker(LEADER), body);
    let message = sim.kernel.arrive(id).expect("the leader is there");
    sim.kernel.take_messages();
    sim.brokers.get_mut(&LEADER).expect("a broker").receive(&message, &mut sim.kernel);
    answered(sim)
}

fn answered(sim: &mut Sim) -> Option<String> {
    sim.kernel.take_messages().pop().and_then(|message| message.error)
}

/// `Partition.checkEnoughReplicasReachOffset`. By the rules the high watermark does not move while
/// too few are in sync, so here it is moved by hand.
#[test]
fn what_is_committed_with_too_few_in_sync_is_refused_after_the_append() {
    let mut sim = cluster();
    let produce = Body::Produce {
        acks: Acks::All,
        transactional_id: None,
        timeout_ms: 30_000,
        batches: vec![(orders(), Arc::new(Batch::of(vec![Record::blank()])))],
    };
    assert_eq!(handle(&mut sim, &Machine::Client("p".to_owned()), produce), None);
    let state = replica(&mut sim);
    assert_eq!(state.log.end_offset(), Offset(1));
    state.raise_high_watermark(Offset(1));
    state.leader_mut().expect("it leads").isr = vec![LEADER];
    sim.brokers.get_mut(&LEADER).expect("a broker").complete_held(&orders(), &mut sim.kernel);
    assert_eq!(answered(&mut sim).as_deref(), Some("NOT_ENOUGH_REPLICAS_AFTER_APPEND"));
    assert_eq!(replica(&mut sim).log.end_offset(), Offset(1), "the record stays");
}

/// `Partition.fetchOffsetForTimestamp`: what was committed before may lie beyond the high watermark
/// that the new leader knows.
#[test]
fn a_new_leader_does_not_tell_the_latest_offset_before_its_epoch_has_begun() {
    let mut sim = cluster();
    replica(&mut sim).leader_mut().expect("it leads").epoch_start = Offset(1);
    let tell = |sim: &mut Sim, spec| leader(sim).look_up_offset(&orders(), spec);
    assert_eq!(tell(&mut sim, OffsetSpec::Latest), Err(KafkaError::OffsetNotAvailable));
    assert_eq!(tell(&mut sim, OffsetSpec::LatestStable), Err(KafkaError::OffsetNotAvailable));
    assert_eq!(tell(&mut sim, OffsetSpec::Earliest), Ok(Some(Offset(0))));
    replica(&mut sim).leader_mut().expect("it leads").epoch_start = Offset(0);
    assert_eq!(tell(&mut sim, OffsetSpec::Latest), Ok(Some(Offset(0))));
}

/// `Partition.readRecords`: a log of offset 3 (epoch 0) and epoch 2 from 4 on. Epoch 1 leaves it at
/// 4; but who asks from below 3 has nothing to compare.
#[test]
fn a_fetch_below_the_log_start_is_out_of_range_whatever_the_epochs_say() {
    let mut sim = cluster();
    let state = replica(&mut sim);
    state.log = Log::starting_at(Offset(3));
    state.append(StoredBatch {
        base_offset: Offset(3),
        leader_epoch: LeaderEpoch(0),
        batch: Arc::new(Batch::of(vec![Record::blank()])),
    });
    state.log.note_epoch(LeaderEpoch(2), Offset(4));
    state.raise_high_watermark(Offset(4));
    let mut fetch = |offset| {
        let asked = FetchPartition {
            partition: orders(),
            offset: Offset(offset),
            last_fetched_epoch: Some(LeaderEpoch(1)),
            leader_epoch: LeaderEpoch(0),
        };
        let body = Body::ReplicaFetch { broker_epoch: 1, max_wait_ms: 0, partitions: vec![asked] };
        handle(&mut sim, &Machine::Broker(BrokerId(2)), body)
    };
    assert_eq!(fetch(2).as_deref(), Some("OFFSET_OUT_OF_RANGE"));
    assert_eq!(fetch(3), None);
}
