//! Rules broken on purpose: each is found.

use std::sync::Arc;

use super::super::Note;
use super::*;
use crate::sim::log::Cleanable;
use crate::sim::record::{Batch, ProducerStamp};
use crate::sim::world::{TopicSpec, World};
use crate::sim::{Sim, setup};

fn partition() -> TopicPartition {
    TopicPartition::new("orders", 0)
}

/// One broker with one partition.
fn world(config: &[(&str, &str)]) -> Sim {
    let topic = TopicSpec {
        name: "orders".to_owned(),
        partitions: Some(1),
        replication_factor: Some(1),
        assignment: Some(vec![vec![BrokerId(1)]]),
        config: config.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect(),
    };
    setup::warm(World { topics: vec![topic], ..World::default() })
}

fn replica(sim: &mut Sim) -> &mut Replica {
    let broker = sim.brokers.get_mut(&BrokerId(1)).expect("a broker");
    broker.replicas.get_mut(&partition()).expect("a replica")
}

fn append(sim: &mut Sim, batch: Batch) {
    let replica = replica(sim);
    let stored = StoredBatch {
        base_offset: replica.log.end_offset(),
        leader_epoch: LeaderEpoch(0),
        batch: Arc::new(batch),
    };
    replica.append(stored);
    replica.raise_high_watermark(replica.log.end_offset());
}

fn record(key: &str, value: Option<&str>) -> Batch {
    Batch::of(vec![Record {
        key: Some(key.into()),
        value: value.map(Into::into),
        value_bytes: value.map(|value| value.len() as u64),
        header_bytes: 1,
        timestamp: 0,
        internal: None,
    }])
}

fn transactional(producer_id: i64) -> Batch {
    let mut batch = record("a", Some("1"));
    batch.stamp = Some(ProducerStamp { producer_id, epoch: 0, base_sequence: 0 });
    batch.kind = BatchKind::Transactional;
    batch
}

fn check(sim: &mut Sim) -> Result<(), String> {
    sim.kernel.note(Note::Touched(partition()));
    sim.check()
}

/// a=1@0 a=2@1 b=null@2 | c=1@3.
fn compacted() -> Sim {
    let mut sim = world(&[("cleanup.policy", "compact"), ("segment.ms", "1000")]);
    append(&mut sim, record("a", Some("1")));
    append(&mut sim, record("a", Some("2")));
    append(&mut sim, record("b", None));
    let mut last = record("c", Some("1"));
    last.records[0].1.timestamp = 5000;
    let last = Batch::of(vec![last.records.remove(0).1]);
    append(&mut sim, last);
    check(&mut sim).expect("a healthy log breaks no rule");
    sim
}

/// Cleans this part of the log at this time, as a broker would; what the checker says.
fn clean(sim: &mut Sim, part: impl Fn(Cleanable) -> Cleanable, now_ms: i64) -> Result<(), String> {
    let replica = replica(sim);
    let before = BeforeCleaning {
        broker: BrokerId(1),
        batches: replica.log.batches_from(Offset(0)).cloned().collect(),
        active_from: Offset(3),
        now_ms,
    };
    let part = part(replica.cleanable(now_ms));
    replica.clean(&part, now_ms);
    sim.kernel.note(Note::Cleaned(partition(), before));
    check(sim)
}

#[test]
fn a_last_stable_offset_at_the_high_watermark_is_found() {
    let mut sim = world(&[]);
    append(&mut sim, transactional(7));
    check(&mut sim).expect("the transaction is open");
    // The model forgets the transaction: nothing holds the last stable offset back.
    replica(&mut sim).producers = crate::sim::producer_state::ProducerStates::default();
    let said = check(&mut sim).expect_err("the checker fires");
    assert!(said.contains("last stable offset 1, but the log says 0"), "{said}");
}

#[test]
fn a_marker_without_an_offset_is_found() {
    let mut sim = world(&[]);
    append(&mut sim, transactional(7));
    check(&mut sim).expect("the transaction is open");
    // The transaction is ended by a marker that the log does not hold.
    let marker = StoredBatch {
        base_offset: Offset(1),
        leader_epoch: LeaderEpoch(0),
        batch: Arc::new(Batch::marker((7, 1), Outcome::Commit, 0, 0)),
    };
    let replica = replica(&mut sim);
    replica.producers.note(&marker);
    replica.producers.note_high_watermark(Offset(2));
    let said = check(&mut sim).expect_err("the checker fires");
    assert!(said.contains("but the log says 0"), "{said}");
}

#[test]
fn a_pass_by_the_rules_is_no_violation() {
    let mut sim = compacted();
    assert_eq!(clean(&mut sim, |part| part, 6000), Ok(()));
    assert_eq!(replica(&mut sim).log.records_from(Offset(0)).count(), 3);
}

#[test]
fn an_active_segment_that_was_compacted_is_found() {
    let mut sim = compacted();
    let mut later = record("c", Some("2")).records.remove(0).1;
    later.timestamp = 5001;
    append(&mut sim, Batch::of(vec![later]));
    check(&mut sim).expect("a healthy log breaks no rule");
    let all = |part| Cleanable { first_uncleanable: Offset(9), ..part };
    let said = clean(&mut sim, all, 6000).expect_err("the checker fires");
    assert!(said.contains("3 was removed, but it stood in the active segment"), "{said}");
}

#[test]
fn a_tombstone_that_is_dropped_at_once_is_found() {
    let mut sim = compacted();
    let one = replica(&mut sim);
    let before = BeforeCleaning {
        broker: BrokerId(1),
        batches: one.log.batches_from(Offset(0)).cloned().collect(),
        active_from: Offset(3),
        now_ms: 6000,
    };
    // Two passes at one moment, as if the tombstone's time were over as soon as it is stamped.
    let mut config = (*one.config).clone();
    config.delete_retention_ms = -1;
    one.config = Arc::new(config);
    for _ in 0..2 {
        let part = Cleanable { first_dirty: Offset(0), ..one.cleanable(6000) };
        one.clean(&part, 6000);
    }
    sim.kernel.note(Note::Cleaned(partition(), before));
    let said = check(&mut sim).expect_err("the checker fires");
    assert!(said.contains("2 was removed, but its time as a tombstone is not over"), "{said}");
}

#[test]
fn a_record_that_is_not_the_one_that_stood_there_is_found() {
    let mut sim = compacted();
    let mut other = record("a", Some("9"));
    other.last_delta = 0;
    let before = BeforeCleaning {
        broker: BrokerId(1),
        batches: vec![StoredBatch {
            base_offset: Offset(0),
            leader_epoch: LeaderEpoch(0),
            batch: Arc::new(other),
        }],
        active_from: Offset(3),
        now_ms: 0,
    };
    sim.kernel.note(Note::Cleaned(partition(), before));
    let said = check(&mut sim).expect_err("the checker fires");
    assert!(said.contains("another record stands at 0 now"), "{said}");
}

#[test]
fn a_log_start_that_falls_is_found() {
    let mut sim = world(&[]);
    append(&mut sim, record("a", Some("1")));
    replica(&mut sim).raise_start(Offset(1));
    check(&mut sim).expect("a log start may rise");
    let mut log = crate::sim::log::Log::default();
    for stored in replica(&mut sim).log.batches_from(Offset(0)) {
        log.append(stored.clone(), crate::sim::log::RollRules::never());
    }
    replica(&mut sim).log = log;
    let said = check(&mut sim).expect_err("the checker fires");
    assert!(said.contains("log start 1 -> 0"), "{said}");
}

#[test]
fn a_reader_that_is_given_an_aborted_record_or_not_given_a_committed_one_is_found() {
    let mut sim = world(&[]);
    append(&mut sim, transactional(7));
    append(&mut sim, Batch::marker((7, 1), Outcome::Abort, 0, 0));
    append(&mut sim, record("b", Some("1")));
    check(&mut sim).expect("a healthy log breaks no rule");
    let mut given = |isolation, offsets: &[u64]| {
        let given = Given {
            from: Offset(0),
            to: Offset(3),
            isolation,
            offsets: offsets.iter().copied().map(Offset).collect(),
        };
        sim.kernel.note(Note::Given(partition(), given));
        sim.check()
    };
    assert_eq!(given(Isolation::Committed, &[2]), Ok(()));
    assert_eq!(given(Isolation::Uncommitted, &[0, 2]), Ok(()));
    assert!(given(Isolation::Committed, &[0, 2]).is_err(), "it was aborted");
    assert!(given(Isolation::Committed, &[]).is_err(), "2 is missing");
    assert!(given(Isolation::Uncommitted, &[2]).is_err(), "0 is missing");
}
