//! Each checker fires on a world in which its rule was broken by hand.

use std::sync::Arc;

use super::Note;
use crate::sim::broker::{Replica, Role};
use crate::sim::ids::{BrokerId, LeaderEpoch, Offset, TopicPartition};
use crate::sim::metadata::PartitionState;
use crate::sim::record::{Batch, ProducerStamp, Record, StoredBatch};
use crate::sim::world::{Settings, TopicSpec, World};
use crate::sim::{Sim, setup};

const ACKED: u64 = 2;

fn partition() -> TopicPartition {
    TopicPartition::new("orders", 0)
}

/// Three replicas in sync, two records acknowledged.
fn healthy() -> Sim {
    let topic = TopicSpec {
        name: "orders".to_owned(),
        partitions: Some(1),
        replication_factor: None,
        assignment: Some(vec![vec![BrokerId(1), BrokerId(2), BrokerId(3)]]),
        config: Settings::new(),
    };
    let mut sim = setup::warm(World { topics: vec![topic], ..World::default() });
    for broker in 1..=3 {
        replica(&mut sim, broker, |replica| {
            for offset in 0..ACKED {
                replica.append(stored(offset));
            }
            replica.high_watermark = Offset(ACKED);
        });
    }
    sim.kernel.note(Note::Acknowledged(partition(), LeaderEpoch(0), Offset(ACKED)));
    sim.check(Some(BrokerId(1))).expect("a healthy world breaks no rule");
    sim
}

fn stored(offset: u64) -> StoredBatch {
    let record = Record::blank();
    StoredBatch {
        base_offset: Offset(offset),
        leader_epoch: LeaderEpoch(0),
        batch: Arc::new(Batch::of(vec![record])),
    }
}

/// A batch of an idempotent producer.
fn stamped(offset: u64, epoch: i16, base_sequence: i32) -> StoredBatch {
    let mut stored = stored(offset);
    let mut batch = Batch::clone(&stored.batch);
    batch.stamp = Some(ProducerStamp { producer_id: 7, epoch, base_sequence });
    stored.batch = Arc::new(batch);
    stored
}

fn replica(sim: &mut Sim, broker: u32, change: impl FnOnce(&mut Replica)) {
    let broker = sim.brokers.get_mut(&BrokerId(broker)).expect("a broker");
    change(broker.replicas.get_mut(&partition()).expect("a replica"));
}

/// The quorum decides the partition's next state.
fn decide(sim: &mut Sim, change: impl FnOnce(&mut PartitionState)) {
    let controller = sim.controllers.values_mut().next().expect("a controller");
    let topic_id = controller.committed_image.topics["orders"].id;
    let known = controller.committed_image.partitions.get_mut(&partition()).expect("registered");
    let state = Arc::make_mut(known);
    state.partition_epoch += 1;
    change(state);
    let state = Arc::clone(known);
    sim.kernel.note(Note::Decided { partition: partition(), topic_id, state });
}

/// Checks a world with a replica changed by hand; what the checker says.
fn fires(broker: u32, mutate: impl FnOnce(&mut Replica), says: &str) {
    let mut sim = healthy();
    replica(&mut sim, broker, mutate);
    sim.kernel.note(Note::Touched(partition()));
    let said = sim.check(Some(BrokerId(broker))).expect_err("the checker fires");
    assert!(said.contains(says), "{said}");
}

fn fires_at_decision(mutate: impl FnOnce(&mut PartitionState), says: &str) {
    let mut sim = healthy();
    decide(&mut sim, mutate);
    let said = sim.check(None).expect_err("the checker fires");
    assert!(said.contains(says), "{said}");
}

#[test]
fn a_high_watermark_beyond_a_followers_log_end_is_found() {
    fires(2, |replica| replica.high_watermark = Offset(3), "broker-2");
}

#[test]
fn a_high_watermark_below_the_log_start_is_found() {
    let mutate = |replica: &mut Replica| {
        replica.log.raise_start(Offset(2));
        replica.high_watermark = Offset(1);
    };
    fires(3, mutate, "log start 2, high watermark 1");
}

#[test]
fn a_high_watermark_that_falls_within_an_epoch_is_found() {
    fires(1, |replica| replica.high_watermark = Offset(1), "high watermark 2 -> 1");
}

#[test]
fn a_leader_outside_the_isr_is_found() {
    fires_at_decision(|state| state.isr.retain(|b| b.0 != 1), "leader 1 is not in the ISR");
}

#[test]
fn an_isr_member_that_is_no_replica_is_found() {
    fires_at_decision(|state| state.isr.push(BrokerId(9)), "not among the replicas");
}

#[test]
fn an_epoch_that_falls_is_found() {
    let mut sim = healthy();
    decide(&mut sim, |state| state.leader_epoch = LeaderEpoch(4));
    sim.check(None).expect("an epoch may rise");
    decide(&mut sim, |state| state.leader_epoch = LeaderEpoch(3));
    let said = sim.check(None).expect_err("the checker fires");
    assert!(said.contains("leader epoch 4 -> 3"), "{said}");
}

#[test]
fn two_leaders_of_one_epoch_are_found() {
    fires_at_decision(|state| state.leader = Some(BrokerId(2)), "lead in epoch 0");
}

#[test]
fn a_committed_record_that_an_isr_member_lacks_is_found() {
    fires(3, |replica| replica.truncate_to(Offset(1)), "everything below 2 is committed");
}

#[test]
fn a_committed_record_that_another_took_the_place_of_is_found() {
    let mut sim = healthy();
    decide(&mut sim, |state| state.isr.retain(|broker| broker.0 != 3));
    sim.check(None).expect("nothing is broken");
    replica(&mut sim, 3, |replica| replica.truncate_to(Offset(1)));
    sim.kernel.note(Note::Touched(partition()));
    sim.check(Some(BrokerId(3))).expect("it is in sync no more");
    replica(&mut sim, 3, |replica| {
        replica.append(StoredBatch { leader_epoch: LeaderEpoch(1), ..stored(1) });
    });
    sim.kernel.note(Note::Touched(partition()));
    sim.check(Some(BrokerId(3))).expect("it is in sync no more");
    decide(&mut sim, |state| state.isr.push(BrokerId(3)));
    let said = sim.check(None).expect_err("the checker fires");
    assert!(said.contains("ends at 2 and agrees up to 1"), "{said}");
}

#[test]
fn a_leader_that_commits_what_an_isr_member_lacks_is_found() {
    let mutate = |replica: &mut Replica| {
        replica.append(stored(2));
        replica.high_watermark = Offset(3);
    };
    fires(1, mutate, "everything below 3 is committed, but broker-2");
}

#[test]
fn an_elr_member_without_a_committed_record_is_found() {
    let mut sim = healthy();
    replica(&mut sim, 3, |replica| replica.truncate_to(Offset(1)));
    decide(&mut sim, |state| {
        state.isr.retain(|broker| broker.0 != 3);
        state.elr.push(BrokerId(3));
    });
    let said = sim.check(None).expect_err("the checker fires");
    assert!(said.contains("broker-3, in the ISR or ELR"), "{said}");
}

#[test]
fn an_acknowledgement_before_the_commit_is_found() {
    let mut sim = healthy();
    sim.kernel.note(Note::Acknowledged(partition(), LeaderEpoch(0), Offset(3)));
    let said = sim.check(Some(BrokerId(1))).expect_err("the checker fires");
    assert!(said.contains("everything below 3 was acknowledged"), "{said}");
}

/// Commits a batch on all replicas.
fn commit(sim: &mut Sim, stored: &StoredBatch) -> Result<(), String> {
    for broker in [2, 3, 1] {
        replica(sim, broker, |replica| {
            replica.append(stored.clone());
            replica.high_watermark = stored.end_offset();
        });
    }
    sim.kernel.note(Note::Touched(partition()));
    sim.check(Some(BrokerId(1)))
}

#[test]
fn a_producers_record_that_is_there_twice_or_too_early_is_found() {
    for (epoch, sequence) in [(0, 0), (0, 2), (1, 1)] {
        let mut sim = healthy();
        commit(&mut sim, &stamped(2, 0, 0)).expect("the first");
        let said = commit(&mut sim, &stamped(3, epoch, sequence)).expect_err("the checker fires");
        assert!(said.contains("producer 7"), "{said}");
    }
    let mut sim = healthy();
    commit(&mut sim, &stamped(2, 0, 0)).expect("the first");
    commit(&mut sim, &stamped(3, 0, 1)).expect("the second");
    commit(&mut sim, &stamped(4, 1, 0)).expect("a new epoch");
}

#[test]
fn an_unclean_election_or_a_departure_from_the_isr_excuses_a_lost_record() {
    let unclean = |state: &mut PartitionState| {
        state.leader = Some(BrokerId(3));
        state.isr = vec![BrokerId(3)];
        state.leader_epoch = LeaderEpoch(1);
    };
    let departure = |state: &mut PartitionState| state.isr.retain(|broker| broker.0 != 3);
    let mut sim = healthy();
    decide(&mut sim, departure);
    sim.check(None).expect("nothing is broken");
    replica(&mut sim, 3, |replica| replica.truncate_to(Offset(1)));
    sim.kernel.note(Note::Touched(partition()));
    sim.check(Some(BrokerId(3))).expect("it is in sync no more");
    decide(&mut sim, unclean);
    sim.check(None).expect("an unclean election may lose records");
}

#[test]
fn a_commit_beyond_the_furthest_position_is_found_unless_an_action_set_it() {
    let mut sim = healthy();
    let place = || ("analytics".to_owned(), partition());
    let (group, partition) = place();
    sim.kernel.note(Note::Position { group, partition, offset: Offset(1) });
    let commit = |offset| {
        let (group, partition) = place();
        Note::Committed { by: "reader-1".to_owned(), group, partition, offset: Offset(offset) }
    };
    sim.kernel.note(commit(1));
    sim.check(None).expect("a position may be committed");
    sim.kernel.note(commit(2));
    assert!(sim.check(None).expect_err("the checker fires").contains("nobody stood beyond 1"));
    sim.checker.offset_was_set("analytics", &place().1);
    sim.kernel.note(commit(2));
    sim.check(None).expect("an action may set anything");
}

#[test]
fn the_mutations_above_start_from_a_leader_with_followers() {
    let sim = healthy();
    let role = |broker| &sim.brokers[&BrokerId(broker)].replicas[&partition()].role;
    assert!(matches!(role(1), Role::Leader(_)));
    assert_eq!(*role(2), Role::Follower(Some(BrokerId(1))));
}
