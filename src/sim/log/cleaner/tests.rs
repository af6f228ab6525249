//! The traces of `replication.md`, section 13, run on Kafka's own classes, and the rules around
//! them.

use super::super::tests::RULES;
use super::*;
use crate::sim::ids::LeaderEpoch;
use crate::sim::log::RollRules;
use crate::sim::record::ProducerStamp;

const DAY_MS: i64 = 86_400_000;

/// A compacted log as a broker keeps it.
struct Compacted {
    log: Log,
    producers: ProducerStates,
    config: LogConfig,
    cleaned_to: Offset,
    now_ms: i64,
}

impl Compacted {
    fn new() -> Compacted {
        Compacted {
            log: Log::default(),
            producers: ProducerStates::default(),
            config: LogConfig {
                compacts: true,
                deletes: false,
                roll: RollRules { segment_bytes: u64::MAX, ..RULES },
                ..LogConfig::default()
            },
            cleaned_to: Offset(0),
            now_ms: 0,
        }
    }

    fn append(&mut self, batch: Batch) {
        let base = self.log.end_offset();
        let stored =
            StoredBatch { base_offset: base, leader_epoch: LeaderEpoch(0), batch: Arc::new(batch) };
        self.producers.note(&stored);
        self.log.append(stored, self.config.roll);
    }

    fn record(&self, key: &str, value: Option<&str>) -> Record {
        Record {
            key: Some(key.into()),
            value: value.map(Into::into),
            value_bytes: value.map(|value| value.len() as u64),
            header_bytes: 1,
            timestamp: self.now_ms,
            internal: None,
        }
    }

    fn put(&mut self, key: &str, value: Option<&str>) {
        let record = self.record(key, value);
        self.append(Batch::of(vec![record]));
    }

    fn transactional(&mut self, producer: (i64, i16), sequence: i32, key: &str) {
        let (producer_id, epoch) = producer;
        let mut batch = Batch::of(vec![self.record(key, Some("v"))]);
        batch.stamp = Some(ProducerStamp { producer_id, epoch, base_sequence: sequence });
        batch.kind = BatchKind::Transactional;
        self.append(batch);
    }

    fn end(&mut self, producer: (i64, i16), outcome: Outcome) {
        self.append(Batch::marker(producer, outcome, 0, self.now_ms));
    }

    /// Makes the next record start a segment.
    fn roll(&mut self) {
        self.log.segments.push(Segment::new(self.log.end_offset()));
    }

    fn part(&self, last_stable: u64) -> Cleanable {
        self.log.cleanable(&self.config, self.cleaned_to, Offset(last_stable), self.now_ms)
    }

    fn clean(&mut self) -> Cleanable {
        let end = self.log.end_offset();
        let stable = self.producers.unstable().first_offset(end).unwrap_or(end);
        let part = self.part(stable.0);
        let done = self.log.clean(&part, &self.config, &mut self.producers, self.now_ms);
        self.cleaned_to = done.end;
        part
    }

    fn left(&self) -> Vec<(u64, String)> {
        self.log
            .records_from(Offset(0))
            .map(|(offset, record, stored)| {
                let key = record.key.as_deref().unwrap_or("-");
                let value = record.value.as_deref().unwrap_or("null");
                let text = match stored.batch.kind {
                    BatchKind::Marker { outcome, .. } => outcome.word().to_owned(),
                    _ => format!("{key}={value}"),
                };
                (offset.0, text)
            })
            .collect()
    }

    fn texts(&self) -> Vec<String> {
        self.left().into_iter().map(|(offset, text)| format!("{offset}:{text}")).collect()
    }
}

/// The trace of section 13.
#[test]
fn only_the_latest_record_of_a_key_survives_at_its_offset() {
    let mut topic = Compacted::new();
    for (key, value) in [("a", Some("1")), ("b", Some("1")), ("a", Some("2")), ("b", None)] {
        topic.put(key, value);
    }
    assert_eq!(topic.part(4).dirty_bytes, 0, "the active segment is not touched");
    topic.roll();
    topic.put("a", Some("3"));
    assert_eq!(topic.clean().first_uncleanable, Offset(4));
    assert_eq!(topic.texts(), ["2:a=2", "3:b=null", "4:a=3"]);
    topic.now_ms += DAY_MS + 1;
    topic.roll();
    topic.put("c", Some("1"));
    let part = topic.clean();
    assert_eq!((part.first_dirty, part.first_uncleanable), (Offset(4), Offset(5)));
    assert_eq!(topic.texts(), ["4:a=3", "5:c=1"]);
    assert_eq!(topic.log.start_offset(), Offset(0));
    let bases: Vec<u64> = topic.log.segments().iter().map(|one| one.base_offset.0).collect();
    assert_eq!(bases, [0, 5], "the cleaned segments are merged");
}

#[test]
fn a_tombstone_stays_until_its_time_is_over() {
    let mut topic = Compacted::new();
    topic.put("a", None);
    topic.roll();
    topic.put("x", Some("1"));
    topic.clean();
    for (waited, stays) in [(DAY_MS - 1, true), (1, false)] {
        topic.now_ms += waited;
        topic.roll();
        topic.put("x", Some("1"));
        topic.clean();
        assert_eq!(topic.texts().contains(&"0:a=null".to_owned()), stays, "{waited}");
    }
}

#[test]
fn a_log_is_cleaned_when_more_than_the_ratio_is_dirty() {
    let mut topic = Compacted::new();
    topic.put("a", Some("1"));
    topic.roll();
    topic.put("b", Some("1"));
    let part = topic.part(2);
    assert_eq!((part.clean_bytes, part.dirty_bytes), (0, topic.log.segments()[0].bytes));
    assert!(part.is_due(&topic.config));
    topic.clean();
    topic.roll();
    topic.put("c", Some("1"));
    let part = topic.part(3);
    assert_eq!(part.clean_bytes, part.dirty_bytes);
    assert!(!part.is_due(&topic.config), "half is not more than half");
    topic.config.min_dirty_billionths = 499_999_999;
    assert!(part.is_due(&topic.config));
}

#[test]
fn a_young_segment_and_all_later_ones_wait_for_the_minimum_lag() {
    let mut topic = Compacted::new();
    topic.config.min_compaction_lag_ms = 1000;
    topic.put("a", Some("1"));
    topic.roll();
    topic.now_ms = 500;
    topic.put("a", Some("2"));
    topic.roll();
    topic.put("a", Some("3"));
    topic.now_ms = 1000;
    assert_eq!(topic.part(3).first_uncleanable, Offset(1));
    topic.now_ms = 1500;
    assert_eq!(topic.part(3).first_uncleanable, Offset(2));
}

#[test]
fn a_part_that_ends_in_a_gap_is_clean_after_one_pass() {
    let mut log = Compacted::new();
    log.config.min_dirty_billionths = 0;
    log.put("a", Some("1"));
    log.put("b", Some("1"));
    log.roll();
    log.put("c", Some("1"));
    // A record that went before leaves a gap at the segment's end.
    log.log.segments[0].batches.pop();
    log.clean();
    assert_eq!(log.cleaned_to, Offset(2));
    assert!(!log.part(3).is_due(&log.config), "nothing is left to clean");
}

#[test]
fn an_old_dirty_segment_is_cleaned_whatever_the_ratio() {
    let mut topic = Compacted::new();
    topic.config.min_dirty_billionths = 1_000_000_000;
    topic.config.max_compaction_lag_ms = 1000;
    topic.put("a", Some("1"));
    topic.roll();
    topic.put("a", Some("2"));
    topic.now_ms = 1000;
    assert!(!topic.part(2).is_due(&topic.config));
    topic.now_ms = 1001;
    assert!(topic.part(2).is_due(&topic.config));
}

#[test]
fn what_is_not_stable_is_not_cleaned() {
    let mut topic = Compacted::new();
    topic.put("a", Some("1"));
    topic.roll();
    topic.put("a", Some("2"));
    topic.roll();
    topic.put("a", Some("3"));
    assert_eq!(topic.part(1).first_uncleanable, Offset(1));
    assert_eq!(topic.part(0).dirty_bytes, 0);
    assert_eq!(topic.part(3).first_uncleanable, Offset(2));
}

#[test]
fn records_of_aborted_transactions_go_and_markers_after_their_time() {
    let mut topic = Compacted::new();
    topic.transactional((1, 0), 0, "a");
    topic.end((1, 1), Outcome::Abort);
    topic.transactional((2, 0), 0, "b");
    topic.end((2, 1), Outcome::Commit);
    topic.transactional((2, 1), 0, "b");
    topic.end((2, 2), Outcome::Commit);
    topic.transactional((1, 1), 0, "z");
    topic.end((1, 2), Outcome::Commit);
    topic.roll();
    topic.put("x", Some("1"));
    topic.clean();
    // The first pass meets the aborted record and the old b, so that their markers are not stamped
    // yet.
    assert_eq!(
        topic.texts(),
        ["1:abort", "3:commit", "4:b=v", "5:commit", "6:z=v", "7:commit", "8:x=1"]
    );
    let pass = |topic: &mut Compacted| {
        topic.now_ms += DAY_MS + 1;
        topic.roll();
        topic.put("x", Some("1"));
        topic.clean();
    };
    pass(&mut topic);
    assert!(topic.texts().contains(&"1:abort".to_owned()), "stamped by the second pass");
    assert_eq!(topic.producers.aborted().between(Offset(0), Offset(9)).count(), 0);
    pass(&mut topic);
    let left = topic.texts();
    assert!(!left.contains(&"1:abort".to_owned()) && !left.contains(&"3:commit".to_owned()));
    assert!(left.contains(&"5:commit".to_owned()), "its record is still there");
}

#[test]
fn the_last_batch_of_a_producer_stays_as_an_empty_one() {
    let mut topic = Compacted::new();
    topic.transactional((1, 0), 0, "a");
    topic.transactional((1, 0), 1, "a");
    topic.end((1, 1), Outcome::Abort);
    topic.append({
        let mut batch = Batch::of(vec![topic.record("b", Some("1"))]);
        batch.stamp = Some(ProducerStamp { producer_id: 5, epoch: 0, base_sequence: 0 });
        batch
    });
    topic.roll();
    topic.put("b", Some("2"));
    topic.roll();
    topic.put("x", Some("1"));
    topic.clean();
    assert_eq!(topic.texts(), ["2:abort", "4:b=2", "5:x=1"]);
    let empty: Vec<u64> = topic
        .log
        .batches_from(Offset(0))
        .filter(|stored| stored.batch.records.is_empty())
        .map(|stored| stored.base_offset.0)
        .collect();
    assert_eq!(empty, [3], "of producer 1 the marker is the last");
    let before = topic.producers.clone();
    topic.producers.reload(&topic.log.clone());
    assert_eq!(topic.producers.last_record(5), before.last_record(5));
}

#[test]
fn merged_segments_stay_within_segment_bytes() {
    let mut topic = Compacted::new();
    for key in ["a", "b", "c", "d"] {
        topic.put(key, Some("1"));
        topic.roll();
    }
    topic.put("x", Some("1"));
    let one = topic.log.segments()[0].bytes;
    topic.config.roll.segment_bytes = 2 * one;
    topic.clean();
    let bases: Vec<u64> = topic.log.segments().iter().map(|one| one.base_offset.0).collect();
    assert_eq!(bases, [0, 2, 4]);
    assert_eq!(topic.log.size_bytes(), 5 * one);
}
