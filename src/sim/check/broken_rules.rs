//! Rules of logs and transactions that the model breaks: a checker notices, in worlds made for it.

use crate::sim::command::{Command, Produce};
use crate::sim::defect::Defect;
use crate::sim::ids::BrokerId;
use crate::sim::world::{ProducerSpec, Settings, Start, TopicSpec, World};
use crate::sim::{Sim, Stopped};

const END_MS: u64 = 20_000;

fn settings(pairs: &[(&str, &str)]) -> Settings {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

/// One topic with these settings; `p` writes to it in transactions, `q` without.
fn world(topic: &[(&str, &str)]) -> World {
    let producer = |name: &str, config| ProducerSpec {
        name: name.to_owned(),
        topic: Some("orders".to_owned()),
        config: settings(config),
        start: Start::WithWorld,
    };
    World {
        topics: vec![TopicSpec {
            name: "orders".to_owned(),
            partitions: None,
            replication_factor: None,
            assignment: Some(vec![vec![BrokerId(1), BrokerId(2), BrokerId(3)]]),
            config: settings(topic),
        }],
        producers: vec![producer("p", &[("transactional.id", "tx")]), producer("q", &[])],
        ..World::default()
    }
}

fn produce(producer: &str, key: &str, value: Option<&str>) -> Command {
    Command::Produce(Produce {
        producer: producer.to_owned(),
        topic: None,
        key: Some(key.to_owned()),
        value: value.map(str::to_owned),
        headers: Vec::new(),
        partition: None,
        timestamp_ms: None,
        size_bytes: None,
        count: 1,
        every_ms: 0,
    })
}

/// What the checkers say of a run.
fn said(world: &World, deeds: &[(u64, Command)], defect: Option<Defect>) -> Option<String> {
    let mut sim = Sim::new(world.clone(), deeds.to_vec());
    sim.kernel.defect = defect;
    while let Some(next) = sim.next_event_ms().filter(|next| *next <= END_MS) {
        if let Err(Stopped::Broken(rule)) = sim.run_millisecond(next) {
            return Some(rule);
        }
    }
    None
}

/// The breach is found by the checker that says this; without it nothing is.
fn is_found(world: &World, deeds: &[(u64, Command)], defect: Defect, says: &str) {
    assert_eq!(said(world, deeds, None), None);
    let found = said(world, deeds, Some(defect)).expect("a checker notices");
    assert!(found.contains(says), "{found}");
}

/// A topic that is compacted, two records to a segment: six records, then the cleaner runs.
fn is_found_in_compaction(defect: Defect, says: &str) {
    let config = [("cleanup.policy", "compact"), ("segment.bytes", "150")];
    let values = [Some("1"), None, Some("1"), Some("2"), Some("3"), Some("4")];
    let keys = ["a", "a", "c", "d", "b", "b"];
    let times = (1..).map(|number| 1000 * number);
    let records = keys.iter().zip(values).map(|(key, value)| produce("q", key, value));
    let mut deeds: Vec<(u64, Command)> = times.zip(records).collect();
    deeds.push((9000, Command::RunCleaner { partition: None }));
    is_found(&world(&config), &deeds, defect, says);
}

#[test]
fn an_active_segment_that_is_compacted_is_found() {
    let says = "4 was removed, but it stood in the active segment";
    is_found_in_compaction(Defect::ActiveSegmentCompacted, says);
}

#[test]
fn a_tombstone_that_is_dropped_at_once_is_found() {
    let says = "1 was removed, but its time as a tombstone is not over";
    is_found_in_compaction(Defect::TombstoneDroppedAtOnce, says);
}

#[test]
fn a_marker_without_an_offset_is_found() {
    let deeds = [
        (1000, Command::BeginTransaction { producer: "p".to_owned() }),
        (2000, produce("p", "a", Some("1"))),
        (3000, Command::CommitTransaction { producer: "p".to_owned(), offsets: None }),
        (5000, produce("q", "b", Some("1"))),
    ];
    is_found(&world(&[]), &deeds, Defect::MarkerWithoutOffset, "but the log says 0");
}
