//! The traces of `replication.md`, sections 3 and 11, run on Kafka's own classes.

use std::sync::Arc;

use super::super::ids::LeaderEpoch;
use super::super::log::RollRules;
use super::super::record::Record;
use super::*;

/// A log with its producers, appended to as a broker does.
#[derive(Default)]
struct Written {
    log: Log,
    states: ProducerStates,
}

impl Written {
    fn append(&mut self, batch: Batch) -> u64 {
        let base = self.log.end_offset();
        let stored =
            StoredBatch { base_offset: base, leader_epoch: LeaderEpoch(0), batch: Arc::new(batch) };
        self.states.note(&stored);
        self.log.append(stored, RollRules::never());
        base.0
    }

    /// Checks and appends; returns the base offset.
    fn send(&mut self, kind: BatchKind, sent: (i64, i16, i32, usize)) -> Result<u64, KafkaError> {
        let (producer_id, epoch, base_sequence, count) = sent;
        let record = Record::blank();
        let mut batch = Batch::of(vec![record; count]);
        batch.stamp = Some(ProducerStamp { producer_id, epoch, base_sequence });
        batch.kind = kind;
        match self.states.check(&batch)? {
            Verdict::Duplicate(offset) => Ok(offset.0),
            Verdict::Append => Ok(self.append(batch)),
        }
    }

    fn plain(&mut self, epoch: i16, sequence: i32, count: usize) -> Result<u64, KafkaError> {
        self.send(BatchKind::Plain, (1, epoch, sequence, count))
    }

    fn transactional(&mut self, producer: i64, sequence: i32) -> u64 {
        let sent = (producer, 0, sequence, 1);
        self.send(BatchKind::Transactional, sent).expect("it is next in the sequence")
    }

    fn end(&mut self, producer: i64, outcome: Outcome) -> u64 {
        let marker = Batch::marker((producer, 1), outcome, 0, 0);
        self.states.check_marker(marker.stamp.expect("stamped"), 0).expect("it is accepted");
        self.append(marker)
    }

    /// The last stable offset under this high watermark.
    fn stable(&self, high_watermark: u64) -> u64 {
        let high_watermark = Offset(high_watermark);
        let first = self.states.unstable().first_offset(high_watermark);
        first.map_or(high_watermark, |first| first.min(high_watermark)).0
    }

    fn aborted(&self, from: u64, to: u64) -> Vec<(i64, u64)> {
        let found = self.states.aborted().between(Offset(from), Offset(to));
        found.map(|one| (one.producer_id, one.first.0)).collect()
    }
}

#[test]
fn a_log_takes_each_sequence_once_and_in_order() {
    let mut log = Written::default();
    assert_eq!(log.plain(0, 0, 1), Ok(0));
    assert_eq!(log.plain(0, 0, 1), Ok(0));
    assert_eq!(log.plain(0, 2, 1), Err(KafkaError::OutOfOrderSequenceNumber));
    assert_eq!(log.plain(0, 1, 2), Ok(1));
    assert_eq!(log.plain(1, 1, 1), Err(KafkaError::OutOfOrderSequenceNumber));
    assert_eq!(log.plain(1, 0, 1), Ok(3));
    assert_eq!(log.plain(0, 3, 1), Err(KafkaError::InvalidProducerEpoch));
    assert_eq!(log.log.end_offset().0, 4);
}

#[test]
fn five_batches_are_remembered() {
    let mut log = Written::default();
    for sequence in 0..6 {
        log.plain(0, sequence, 1).expect("in order");
    }
    assert_eq!(log.plain(0, 1, 1), Ok(1));
    assert_eq!(log.plain(0, 0, 1), Err(KafkaError::OutOfOrderSequenceNumber));
}

#[test]
fn sequences_wrap() {
    assert_eq!(sequence_after(i32::MAX, 1), 0);
    assert_eq!(sequence_after(5, 2), 7);
}

#[test]
fn a_producer_outlives_its_records() {
    let mut log = Written::default();
    log.plain(0, 0, 1).expect("first");
    log.states.take_snapshot(Offset(1));
    log.send(BatchKind::Plain, (2, 0, 0, 1)).expect("another's");
    log.log.raise_start(Offset(1));
    log.states.forget_below(Offset(1), Offset(1));
    assert_eq!(log.plain(0, 5, 1), Err(KafkaError::OutOfOrderSequenceNumber));
    // Not even a fresh process forgets it.
    let log_now = log.log.clone();
    log.states.reload(&log_now);
    assert_eq!(log.plain(0, 5, 1), Err(KafkaError::OutOfOrderSequenceNumber));
    assert_eq!(log.plain(0, 1, 1), Ok(2));
}

#[test]
fn a_producer_is_forgotten_after_a_day_without_writes_unless_its_transaction_is_open() {
    let mut log = Written::default();
    log.plain(0, 0, 1).expect("first");
    log.transactional(2, 0);
    log.states.forget_idle(86_400_000, 86_399_999);
    assert_eq!(log.plain(0, 5, 1), Err(KafkaError::OutOfOrderSequenceNumber));
    log.states.forget_idle(86_400_000, 86_400_000);
    assert_eq!(log.plain(0, 5, 1), Ok(2), "any sequence may begin");
    assert_eq!(log.stable(3), 1);
}

#[test]
fn a_transactional_producer_that_is_not_known_begins_with_sequence_0() {
    let mut log = Written::default();
    let sent = log.send(BatchKind::Transactional, (1, 0, 3, 1));
    assert_eq!(sent, Err(KafkaError::OutOfOrderSequenceNumber));
}

#[test]
fn a_plain_batch_is_refused_while_its_producers_transaction_is_open() {
    let mut log = Written::default();
    log.transactional(1, 0);
    assert_eq!(log.plain(0, 1, 1), Err(KafkaError::InvalidTxnState));
    log.end(1, Outcome::Commit);
    assert_eq!(log.plain(1, 0, 1), Ok(2));
}

/// Section 11: an open transaction at 0, a plain record at 1.
#[test]
fn an_open_transaction_holds_the_last_stable_offset() {
    let mut log = Written::default();
    log.transactional(1, 0);
    log.send(BatchKind::Plain, (9, 0, 0, 1)).expect("another's");
    assert_eq!(log.stable(2), 0);
    log.end(1, Outcome::Commit);
    assert_eq!(log.stable(2), 0, "the marker is not committed");
    assert_eq!(log.stable(3), 3);
    log.states.note_high_watermark(Offset(3));
    assert_eq!(log.stable(3), 3);
}

/// Section 11: 0 of p1, 1 plain, 2 of p2, 3 ABORT p1; then 4 COMMIT p2.
#[test]
fn readers_are_told_of_aborted_transactions() {
    let mut log = Written::default();
    log.transactional(1, 0);
    log.send(BatchKind::Plain, (9, 0, 0, 1)).expect("another's");
    log.transactional(2, 0);
    assert_eq!(log.end(1, Outcome::Abort), 3);
    assert_eq!(log.stable(4), 2);
    assert_eq!(log.aborted(0, 2), [(1, 0)]);
    assert_eq!(log.end(2, Outcome::Commit), 4);
    assert_eq!(log.stable(5), 5);
    assert_eq!(log.aborted(0, 5), [(1, 0)]);
    assert_eq!(log.aborted(4, 5), [], "it ended before");
    assert_eq!(log.states.standing(1, Offset(0)), Standing::Ended(Outcome::Abort));
    assert_eq!(log.states.standing(2, Offset(2)), Standing::Ended(Outcome::Commit));
}

#[test]
fn a_marker_that_ends_a_transaction_has_a_higher_epoch_than_its_records() {
    let mut log = Written::default();
    log.transactional(1, 0);
    let stamp = |epoch| ProducerStamp { producer_id: 1, epoch, base_sequence: -1 };
    assert_eq!(log.states.check_marker(stamp(0), 0), Err(KafkaError::InvalidProducerEpoch));
    assert_eq!(log.states.check_marker(stamp(1), 0), Ok(()));
    log.append(Batch::marker((1, 1), Outcome::Commit, 4, 0));
    assert_eq!(log.states.check_marker(stamp(1), 4), Ok(()), "sent again by a new coordinator");
    let old = log.states.check_marker(stamp(1), 3);
    assert_eq!(old, Err(KafkaError::TransactionCoordinatorFenced));
    assert_eq!(log.states.check_marker(stamp(0), 4), Err(KafkaError::InvalidProducerEpoch));
}

#[test]
fn what_is_cut_off_a_log_is_forgotten() {
    let mut log = Written::default();
    log.transactional(1, 0);
    log.transactional(2, 0);
    log.end(1, Outcome::Abort);
    log.log.truncate_to(Offset(2));
    let cut = log.log.clone();
    log.states.reload(&cut);
    assert_eq!(log.aborted(0, 9), []);
    assert_eq!(log.stable(2), 0);
    assert_eq!(log.states.standing(1, Offset(0)), Standing::Open);
    log.log.truncate_to(Offset(0));
    let cut = log.log.clone();
    log.states.reload(&cut);
    assert_eq!(log.stable(0), 0);
    assert!(!log.states.has_open_transaction(ProducerStamp {
        producer_id: 1,
        epoch: 0,
        base_sequence: 0
    }));
}
