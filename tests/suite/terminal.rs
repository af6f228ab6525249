//! What Kafka's own tools print, held against what they printed on a running cluster
//! (`tests/facts/cli-output.md`), byte for byte.

use std::collections::BTreeMap;

use kafka_sim_site::diagram::terminal::{Begins, Unknown, commands};
use kafka_sim_site::sim::ids::{BrokerId, Offset, TopicPartition};
use kafka_sim_site::sim::snapshot::{
    BrokerView, ConsumerView, GroupView, PartitionView, ShareView, Snapshot, TopicView,
    TransactionDetails, TransactionView,
};
use kafka_sim_site::sim::world::{GroupSpec, Protocol, Settings, World};

const FACTS: &str = include_str!("../facts/cli-output.md");

/// What the tool printed: its output after the command's line, and its standard error.
fn printed(command: &str) -> (String, String) {
    let head = format!("```console\n$ {command}\n");
    let start = FACTS.find(&head).unwrap_or_else(|| panic!("`{command}` is among the facts"));
    let rest = &FACTS[start + head.len()..];
    let (output, after) = rest.split_once("\n```\n").expect("the block ends");
    let error = after.strip_prefix("standard error:\n```text\n");
    let error = error.and_then(|text| text.split_once("\n```")).map_or("", |(text, _)| text);
    (output.to_owned(), error.to_owned())
}

fn member_id(name: &str, begins: Begins) -> String {
    let id = match (name, begins) {
        ("reader-1", Begins::WithName) => "reader-1-46975b76-4801-4ff8-bdc8-969168f6075a",
        ("reader-2", Begins::WithName) => "reader-2-d02a232c-93b3-41aa-ad5b-ec729e0a6d9c",
        ("biller-1", Begins::AtRandom) => "fu9oeYDWTUSEMzUsd-R0bQ",
        ("worker-1", Begins::AtRandom) => "ihcArTFlRbypOE-FlBr6EA",
        other => panic!("{other:?} was not there"),
    };
    id.to_owned()
}

/// What the simulator cannot know was this.
const UNKNOWN: Unknown = Unknown {
    topic_id: |_| "E4JDVW3eSwa3MA7fFfKjQg".to_owned(),
    member_id,
    host: |_| "/127.0.0.1".to_owned(),
};

fn orders(number: u32) -> TopicPartition {
    TopicPartition::new("orders", number)
}

fn offsets(pairs: &[(u32, u64)]) -> BTreeMap<TopicPartition, Offset> {
    pairs.iter().map(|(number, offset)| (orders(*number), Offset(*offset))).collect()
}

fn group(coordinator: u32, state: &str, assignor: &str, members: &[&str]) -> GroupView {
    GroupView {
        state: Some(state.to_owned()),
        assignor: Some(assignor.to_owned()),
        coordinator: Some(BrokerId(coordinator)),
        members: members.iter().map(|&name| name.to_owned()).collect(),
        ..GroupView::default()
    }
}

/// Three brokers, `orders` with five, four and three records, four groups.
fn healthy() -> Snapshot {
    let mut snapshot = Snapshot::default();
    let brokers = |ids: [u32; 3]| ids.map(BrokerId).to_vec();
    snapshot.brokers = (1..=3).map(|id| (BrokerId(id), BrokerView::default())).collect();
    let config = Settings::from([("min.insync.replicas".to_owned(), "2".to_owned())]);
    let topic = TopicView { partitions: 3, replication_factor: 3, config };
    snapshot.topics.insert("orders".to_owned(), topic);
    for (number, high, assignment) in [(0, 5, [1, 2, 3]), (1, 4, [2, 3, 1]), (2, 3, [3, 1, 2])] {
        let view = PartitionView {
            leader: Some(BrokerId(assignment[0])),
            assignment: brokers(assignment),
            isr: brokers([1, 2, 3]),
            isr_as_listed: brokers(assignment),
            high_watermark: Some(Offset(high)),
            ..PartitionView::default()
        };
        snapshot.partitions.insert(orders(number), view);
    }
    let all = [(0, 5), (1, 4), (2, 3)];
    let lag = |lags: &[(u32, i64)]| lags.iter().map(|(at, lag)| (orders(*at), *lag)).collect();
    for (name, view, committed, lags) in [
        ("analytics", group(2, "Stable", "range", &["reader-1", "reader-2"]), &all[..], [0; 3]),
        ("billing", group(1, "Stable", "uniform", &["biller-1"]), &all[..], [0; 3]),
        ("nightly", group(1, "Empty", "", &[]), &[(0, 1), (1, 0)][..], [4, 4, 0]),
    ] {
        let lags: Vec<(u32, i64)> =
            committed.iter().map(|(at, _)| (*at, lags[*at as usize])).collect();
        let view = GroupView { committed: offsets(committed), lag: lag(&lags), ..view };
        snapshot.groups.insert(name.to_owned(), view);
    }
    let mut workers = group(1, "Stable", "simple", &["worker-1"]);
    for number in 0..3 {
        let settled = ShareView { start_offset: Offset(0), ..ShareView::default() };
        workers.share.insert(orders(number), settled);
    }
    snapshot.groups.insert("workers".to_owned(), workers);
    for (name, numbers) in [
        ("reader-1", &[0, 1][..]),
        ("reader-2", &[2]),
        ("biller-1", &[0, 1, 2]),
        ("worker-1", &[0, 1, 2]),
    ] {
        let assignment: Vec<TopicPartition> = numbers.iter().map(|it| orders(*it)).collect();
        let named = |group: &&mut GroupView| group.members.iter().any(|member| member == name);
        for group in snapshot.groups.values_mut().filter(named) {
            group.owners.insert(name.to_owned(), assignment.clone());
        }
        let view = ConsumerView { assignment, ..ConsumerView::default() };
        snapshot.consumers.insert(name.to_owned(), view);
    }
    snapshot
}

fn world() -> World {
    let group = |name: &str, protocol| GroupSpec {
        name: name.to_owned(),
        topics: Vec::new(),
        protocol,
        config: Settings::new(),
        consumers: Vec::new(),
    };
    let groups = vec![
        group("analytics", Protocol::Classic),
        group("billing", Protocol::Consumer),
        group("nightly", Protocol::Classic),
        group("workers", Protocol::Share),
    ];
    World { groups, ..World::default() }
}

/// Our output of a command, by what follows the server.
fn ours(snapshot: &Snapshot, tool: &str, arguments: &str) -> String {
    let all = commands(&world(), snapshot, &UNKNOWN);
    let wanted = format!("--bootstrap-server broker-1:9092 {arguments}");
    let found = all.into_iter().find(|it| it.tool == tool && it.arguments == wanted);
    found.unwrap_or_else(|| panic!("{tool} {wanted}")).output
}

/// Compares one command; the empty line with which some tools begin, on a page would be a gap.
fn compare(snapshot: &Snapshot, tool: &str, arguments: &str) {
    let (output, error) = printed(&format!("{tool} --bootstrap-server broker-1:9092 {arguments}"));
    let output = output.strip_prefix('\n').unwrap_or(&output);
    let expected =
        if error.is_empty() { output.to_owned() } else { format!("{}\n\n{output}", error.trim()) };
    let found = ours(snapshot, &format!("{tool}.sh"), arguments);
    assert_eq!(found, expected, "{tool} {arguments}\n{found}\n---\n{expected}");
}

#[test]
fn topics_and_offsets_are_printed_as_kafka_prints_them() {
    compare(&healthy(), "kafka-topics", "--describe --topic orders");
    compare(&healthy(), "kafka-get-offsets", "--topic orders");
}

#[test]
fn groups_are_printed_as_kafka_prints_them() {
    for group in ["analytics", "billing", "nightly"] {
        for more in ["", " --members", " --state"] {
            let arguments = format!("--describe --group {group}{more}");
            compare(&healthy(), "kafka-consumer-groups", &arguments);
        }
    }
}

#[test]
fn share_groups_are_printed_as_kafka_prints_them() {
    let mut snapshot = healthy();
    // Everything was settled when the tool ran.
    let group = snapshot.groups.get_mut("workers").expect("it is there");
    for (partition, share) in &mut group.share {
        let end = snapshot.partitions[partition].high_watermark.expect("it has a leader");
        for offset in 0..end.0 {
            let record = share.records.entry(Offset(offset)).or_default();
            "acknowledged".clone_into(&mut record.state);
        }
    }
    for more in ["", " --members", " --state"] {
        compare(&snapshot, "kafka-share-groups", &format!("--describe --group workers{more}"));
    }
}

#[test]
fn transactions_are_printed_as_kafka_prints_them() {
    let mut snapshot = healthy();
    // The tool ran 71,206 ms after the transaction had begun.
    let started_ms = 1_796_100_229_585;
    snapshot.time_ms = started_ms + 71_206;
    let transaction = TransactionView {
        state: "Ongoing".to_owned(),
        producer_epoch: 1,
        partitions: vec![TopicPartition::new("payments", 0)],
        details: TransactionDetails {
            coordinator: Some(BrokerId(1)),
            producer_id: 1000,
            timeout_ms: 600_000,
            started_ms: Some(started_ms),
        },
    };
    snapshot.transactions.insert("pay-1".to_owned(), transaction.clone());
    compare(&snapshot, "kafka-transactions", "list");
    compare(&snapshot, "kafka-transactions", "describe --transactional-id pay-1");
}

#[test]
fn a_partition_without_leader_blocks_the_tool_for_offsets() {
    let mut snapshot = healthy();
    let view = snapshot.partitions.get_mut(&orders(1)).expect("it is there");
    (view.leader, view.high_watermark) = (None, None);
    let all = commands(&world(), &snapshot, &UNKNOWN);
    let found = all.iter().find(|it| it.tool == "kafka-get-offsets.sh").expect("one for orders");
    assert_eq!(found.output, "");
    assert!(found.note.is_some_and(|note| note.contains("blocks")));
}
