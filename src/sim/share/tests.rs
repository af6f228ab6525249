//! The rules of a shared partition, each by its name.

use super::*;
use crate::sim::error::KafkaError;
use crate::sim::ids::{LeaderEpoch, Offset};

const LIMITS: Limits = Limits {
    max_records: 500,
    exact: false,
    max_locks: 2000,
    delivery_limit: 5,
    lock_until_ms: 30_000,
};

/// Hands out what there is in a log of single-record batches up to `end`.
fn acquire_to(shared: &mut SharePartition, member: &str, end: u64, limits: Limits) -> Vec<String> {
    let from = shared.next_fetch_offset();
    let batches: Vec<_> = (from.0..end).map(|offset| (Offset(offset), Offset(offset))).collect();
    let got = shared.acquire(member, Offered { batches: &batches, from }, limits);
    got.iter().map(|a| format!("{}-{} x{}", a.first, a.last, a.delivery_count)).collect()
}

fn acquire(shared: &mut SharePartition, member: &str) -> Vec<String> {
    acquire_to(shared, member, 6, LIMITS)
}

fn say(verdict: Verdict, first: u64, last: u64) -> Acknowledgement {
    Acknowledgement { first: Offset(first), last: Offset(last), verdict }
}

fn acknowledge(
    shared: &mut SharePartition,
    member: &str,
    said: &[Acknowledgement],
) -> Result<(), KafkaError> {
    let changed = shared.acknowledge(member, said, (LIMITS.delivery_limit, 60_000))?;
    shared.saved(&changed);
    Ok(())
}

fn end_session(shared: &mut SharePartition, member: &str) {
    let changed = shared.release(member, LIMITS.delivery_limit);
    shared.saved(&changed);
}

fn phases(shared: &SharePartition) -> Vec<&'static str> {
    shared.records().map(|(_, phase, ..)| phase.name()).collect()
}

/// The course of things that a running Kafka 4.3 showed.
#[test]
fn what_is_accepted_released_rejected_and_held_goes_its_way() {
    let mut shared = SharePartition::default();
    assert_eq!(acquire(&mut shared, "ann"), ["0-5 x1"]);
    assert!(acquire(&mut shared, "bob").is_empty(), "a record has one holder");
    let said =
        [say(Verdict::Accept, 0, 1), say(Verdict::Release, 2, 2), say(Verdict::Reject, 3, 3)];
    acknowledge(&mut shared, "ann", &said).expect("ann holds them");
    assert_eq!(shared.start_offset(), Offset(2));
    assert_eq!(phases(&shared), ["available", "archived", "acquired", "acquired"]);
    assert_eq!(acquire(&mut shared, "bob"), ["2-2 x2"]);
    end_session(&mut shared, "ann");
    assert_eq!(acquire(&mut shared, "bob"), ["4-5 x2"]);
    let said =
        [say(Verdict::Accept, 2, 2), say(Verdict::Accept, 4, 4), say(Verdict::Release, 5, 5)];
    acknowledge(&mut shared, "bob", &said).expect("bob holds them");
    for deliveries in 3..=5 {
        assert_eq!(acquire(&mut shared, "bob"), [format!("5-5 x{deliveries}")]);
        assert_eq!(shared.start_offset(), Offset(5));
        acknowledge(&mut shared, "bob", &[say(Verdict::Release, 5, 5)]).expect("bob holds it");
    }
    assert!(acquire(&mut shared, "bob").is_empty(), "five times is enough");
    assert_eq!(shared.start_offset(), Offset(6));
}

#[test]
fn a_lock_that_runs_out_frees_its_records() {
    let mut shared = SharePartition::default();
    acquire(&mut shared, "ann");
    assert_eq!(shared.next_lock_ms(), Some(30_000));
    assert!(shared.expire_locks(29_999, 5).is_empty());
    assert_eq!(shared.expire_locks(30_000, 5).len(), 6);
    assert_eq!(acquire(&mut shared, "bob"), ["0-5 x2"]);
    let late = acknowledge(&mut shared, "ann", &[say(Verdict::Accept, 0, 0)]);
    assert_eq!(late, Err(KafkaError::InvalidRecordState));
}

#[test]
fn a_renewed_lock_holds_on() {
    let mut shared = SharePartition::default();
    acquire(&mut shared, "ann");
    acknowledge(&mut shared, "ann", &[say(Verdict::Renew, 4, 5)]).expect("ann holds them");
    assert_eq!(shared.expire_locks(30_000, 5).len(), 4);
    assert_eq!(acquire(&mut shared, "bob"), ["0-3 x2"]);
}

#[test]
fn the_start_offset_waits_for_the_first_record_that_is_not_settled() {
    let mut shared = SharePartition::default();
    acquire(&mut shared, "ann");
    acknowledge(&mut shared, "ann", &[say(Verdict::Accept, 1, 5)]).expect("ann holds them");
    assert_eq!(shared.start_offset(), Offset(0));
    acknowledge(&mut shared, "ann", &[say(Verdict::Accept, 0, 0)]).expect("ann holds it");
    assert_eq!(shared.start_offset(), Offset(6));
    assert_eq!(shared.records().count(), 0);
}

#[test]
fn an_acknowledgement_counts_once_it_is_saved_and_not_otherwise() {
    let mut shared = SharePartition::default();
    acquire(&mut shared, "ann");
    let said = [say(Verdict::Release, 0, 5)];
    let changed = shared.acknowledge("ann", &said, (5, 0)).expect("ann holds them");
    assert!(acquire(&mut shared, "bob").is_empty(), "not before it is saved");
    assert_eq!(shared.start_offset(), Offset(0));
    shared.roll_back(&changed, (5, 1000));
    acknowledge(&mut shared, "ann", &[say(Verdict::Accept, 0, 5)]).expect("ann holds them still");
}

#[test]
fn what_ran_out_while_it_could_not_be_saved_is_free_or_archived_after_its_last_delivery() {
    let mut shared = SharePartition::default();
    for (deliveries, phase) in [(1, "available"), (2, "archived")] {
        assert_eq!(acquire(&mut shared, "ann"), [format!("0-5 x{deliveries}")]);
        let said = [say(Verdict::Release, 0, 5)];
        let changed = shared.acknowledge("ann", &said, (5, 0)).expect("ann holds them");
        // Handed out twice at most, and the lock ran out meanwhile.
        shared.roll_back(&changed, (2, 1_000_000));
        assert_eq!(phases(&shared), [phase; 6]);
    }
}

#[test]
fn an_acknowledgement_is_taken_whole_or_not_at_all() {
    let mut shared = SharePartition::default();
    acquire(&mut shared, "ann");
    acknowledge(&mut shared, "ann", &[say(Verdict::Release, 5, 5)]).expect("ann holds it");
    let refused = acknowledge(&mut shared, "ann", &[say(Verdict::Accept, 0, 5)]);
    assert_eq!(refused, Err(KafkaError::InvalidRecordState));
    assert_eq!(phases(&shared)[..2], ["acquired", "acquired"]);
    let beyond = acknowledge(&mut shared, "ann", &[say(Verdict::Accept, 0, 6)]);
    assert_eq!(beyond, Err(KafkaError::InvalidRequest));
    let other = acknowledge(&mut shared, "bob", &[say(Verdict::Accept, 0, 0)]);
    assert_eq!(other, Err(KafkaError::InvalidRecordState));
}

#[test]
fn no_more_records_are_in_play_than_the_group_allows() {
    let mut shared = SharePartition::default();
    let limits = Limits { max_locks: 4, ..LIMITS };
    assert_eq!(acquire_to(&mut shared, "ann", 6, limits), ["0-3 x1"]);
    assert!(!shared.can_acquire(4));
    acknowledge(&mut shared, "ann", &[say(Verdict::Release, 2, 2)]).expect("ann holds it");
    assert!(shared.can_acquire(4), "what is free in between can be handed out");
    assert_eq!(acquire_to(&mut shared, "bob", 6, limits), ["2-2 x2"]);
    acknowledge(&mut shared, "ann", &[say(Verdict::Accept, 0, 1)]).expect("ann holds them");
    assert_eq!(acquire_to(&mut shared, "bob", 6, limits), ["4-5 x1"]);
}

#[test]
fn a_batch_of_the_log_is_not_cut_unless_the_mode_says_so() {
    let batches = [(Offset(0), Offset(3)), (Offset(4), Offset(7))];
    let offered = Offered { batches: &batches, from: Offset(0) };
    let limits = Limits { max_records: 5, ..LIMITS };
    let whole = SharePartition::default().acquire("ann", offered, limits);
    assert_eq!(whole.iter().map(Acquired::count).sum::<u64>(), 8);
    let mut shared = SharePartition::default();
    let cut = shared.acquire("ann", offered, Limits { exact: true, ..limits });
    assert_eq!(cut.iter().map(Acquired::count).sum::<u64>(), 5);
    assert_eq!(shared.next_fetch_offset(), Offset(5));
}

#[test]
fn worn_records_come_in_ever_smaller_parts_and_at_last_alone() {
    let mut shared = SharePartition::default();
    let batch = [(Offset(0), Offset(7))];
    let mut sizes = Vec::new();
    for _ in 0..12 {
        let offered = Offered { batches: &batch, from: shared.next_fetch_offset() };
        let got = shared.acquire("ann", offered, LIMITS);
        sizes.push(got.iter().map(Acquired::count).sum::<u64>());
        end_session(&mut shared, "ann");
    }
    // Three times all eight; then half of them, and each of these alone for the last time.
    assert_eq!(sizes, [8, 8, 8, 4, 1, 1, 1, 1, 4, 1, 1, 1]);
}

#[test]
fn the_log_start_takes_the_start_offset_along() {
    let mut shared = SharePartition::default();
    acquire(&mut shared, "ann");
    acknowledge(&mut shared, "ann", &[say(Verdict::Release, 0, 1)]).expect("ann holds them");
    shared.log_start_moved(Offset(4));
    assert_eq!(shared.start_offset(), Offset(4));
    end_session(&mut shared, "ann");
    assert_eq!(acquire(&mut shared, "bob"), ["4-5 x2"], "what lies below is gone");
}

#[test]
fn a_new_leader_finds_what_was_saved() {
    let mut saved = SavedStates::default();
    let partition = TopicPartition::new("orders", 0);
    let change = |start, records| StateChange {
        group: "packers".to_owned(),
        partition: partition.clone(),
        leader_epoch: LeaderEpoch(1),
        start: Some(Offset(start)),
        records,
    };
    let mut shared = SharePartition::default();
    acquire(&mut shared, "ann");
    let said = [say(Verdict::Accept, 1, 1), say(Verdict::Release, 2, 2)];
    let changed = shared.acknowledge("ann", &said, (5, 0)).expect("ann holds them");
    saved.apply(&change(0, changed));
    let found = saved.read("packers", &partition, LeaderEpoch(2)).expect("a later leader");
    let loaded = SharePartition::load(&found, Offset(0));
    let seen: Vec<_> = loaded.records().map(|(_, phase, count, _)| (phase.name(), count)).collect();
    assert_eq!(seen, [("available", 0), ("acknowledged", 1), ("available", 1)]);
    let earlier = saved.check("packers", &partition, LeaderEpoch(1));
    assert_eq!(earlier, Err(KafkaError::FencedLeaderEpoch));
}
