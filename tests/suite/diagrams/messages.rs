//! Which messages are drawn, and what stands beside their rails.

use kafka_sim_site::diagram::Storyboard;
use kafka_sim_site::diagram::scene::Subject;
use kafka_sim_site::diagram::storyboard;
use kafka_sim_site::scenario::run::Run;
use kafka_sim_site::sim::ids::{BrokerId, Machine, Offset, TopicPartition};
use kafka_sim_site::sim::snapshot::{MessageView, NextSend, RecordRef};

use super::{words, write_path};

/// Between brokers, at 0 s.
fn between(id: u64, (from, to): (u32, u32), kind: &'static str) -> MessageView {
    MessageView {
        id,
        from: Machine::Broker(BrokerId(from)),
        to: Machine::Broker(BrokerId(to)),
        kind,
        carries: "fetch 17 partitions".to_owned(),
        sent_ms: 0,
        arrives_ms: 300,
        waiting: false,
        records: Vec::new(),
        fetches: Vec::new(),
        record_count: 0,
        error: None,
        answers: None,
    }
}

fn place(topic: &str, offset: u64) -> RecordRef {
    RecordRef { partition: TopicPartition::new(topic, 0), offset: Offset(offset) }
}

/// The write path with these messages alone in its first picture.
fn with(messages: Vec<MessageView>) -> (Run, Storyboard) {
    let mut run = write_path::run();
    run.messages.clone_from(&messages);
    run.frames[0].snapshot.messages = messages;
    let board = storyboard(&run);
    (run, board)
}

fn drawn(board: &Storyboard) -> Vec<u64> {
    let groups = board.pictures[0].wide.groups.iter();
    groups
        .filter_map(|group| match group.subject {
            Subject::Message(id) => Some(id),
            _ => None,
        })
        .collect()
}

fn said(board: &Storyboard) -> Vec<String> {
    words(&board.pictures[0].wide, &Subject::Labels)
}

#[test]
fn replication_of_internal_topics_alone_is_neither_drawn_nor_told() {
    let mut copy = between(1, (1, 3), "replica_fetch_response");
    copy.records = vec![place("__consumer_offsets", 4)];
    copy.record_count = 1;
    let (_, board) = with(vec![between(0, (2, 1), "replica_fetch"), copy]);
    assert_eq!(drawn(&board), Vec::<u64>::new());
    assert_eq!(said(&board), Vec::<String>::new());
    assert!(board.moves.is_empty());
    assert!(board.pictures[0].description.ends_with("committed offset none, lag none."));
}

#[test]
fn a_fetch_speaks_of_the_drawn_partitions_alone() {
    let mut fetch = between(0, (2, 1), "replica_fetch");
    fetch.fetches = vec![place("orders", 3)];
    let mut copy = between(1, (1, 3), "replica_fetch_response");
    copy.fetches = vec![place("orders", 0)];
    copy.records = vec![place("__consumer_offsets", 4)];
    copy.record_count = 1;
    let (_, board) = with(vec![fetch.clone(), copy]);
    assert_eq!(said(&board), ["fetch from\u{a0}3", "empty reply"]);
    fetch.fetches.push(place("payments", 8));
    fetch.waiting = true;
    let (_, board) = with(vec![fetch]);
    assert_eq!(said(&board), ["fetch of 2 partitions", "waits"]);
    let told = "broker-2's fetch of 2 partitions waits at broker-1.";
    assert!(board.pictures[0].description.ends_with(told), "{}", board.pictures[0].description);
}

#[test]
fn who_has_several_rails_says_with_whom() {
    let mut run = write_path::run();
    let orders = write_path::orders();
    let view = run.frames[5].snapshot.partitions.get_mut(&orders).expect("it is declared");
    view.leader = Some(BrokerId(2));
    let mut fetch = between(0, (3, 1), "replica_fetch");
    fetch.fetches = vec![place("orders", 0)];
    let mut copy = between(1, (2, 3), "replica_fetch_response");
    copy.fetches = vec![place("orders", 0)];
    run.frames[0].snapshot.messages = vec![fetch, copy];
    let board = storyboard(&run);
    for scene in [&board.pictures[0].wide, &board.pictures[0].narrow] {
        let said = words(scene, &Subject::Labels);
        assert_eq!(said, ["broker-1: fetch from\u{a0}0", "broker-2: empty reply"]);
    }
}

#[test]
fn a_batch_that_was_refused_is_tried_again_and_nothing_is_said_of_times_that_nobody_knows() {
    let mut run = write_path::run();
    let view = run.frames[1].snapshot.producers.get_mut("checkout").expect("it is declared");
    view.next_send = Some(NextSend { at_ms: 15_200, is_retry: true });
    let board = storyboard(&run);
    let said = |board: &Storyboard| words(&board.pictures[1].narrow, &Subject::Labels);
    assert_eq!(said(&board)[..2], ["tries again at", "15.200\u{a0}s"]);
    let view = run.frames[1].snapshot.producers.get_mut("checkout").expect("it is declared");
    view.next_send = None;
    assert_eq!(said(&storyboard(&run))[0], "empty reply");
}
