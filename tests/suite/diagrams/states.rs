//! What pictures say of states that the write path does not reach.

use kafka_sim_site::diagram::scene::{Item, Part, Role, Shape, Subject};
use kafka_sim_site::diagram::{Form, Storyboard, storyboard};
use kafka_sim_site::scenario::run::Change;
use kafka_sim_site::sim::ids::{BrokerId, Machine, Offset};
use kafka_sim_site::sim::snapshot::{
    PartitionView, ProcessState, RecordKind, RecordView, Registration, ReplicaRole, SegmentView,
    ShareRecordView, ShareView, TransactionMark,
};
use serde_json::json;

use super::{rules, words, write_path};

/// The write path's last picture after a change of its partition.
fn with(change: impl FnOnce(&mut PartitionView)) -> Storyboard {
    let mut run = write_path::run();
    let partitions = &mut run.frames[5].snapshot.partitions;
    change(partitions.get_mut(&write_path::orders()).expect("it is declared"));
    storyboard(&run)
}

fn badge(board: &Storyboard, id: u32) -> String {
    words(&board.pictures[5].wide, &Subject::Broker(id)).pop().expect("a badge")
}

#[test]
fn a_broker_without_a_replica_is_not_out_of_sync() {
    let third = BrokerId(3);
    let board = with(|view| {
        view.assignment.retain(|id| *id != third);
        view.isr.retain(|id| *id != third);
        view.replicas.remove(&third);
    });
    assert_eq!(badge(&board, 3), "no replica");
    let lane = Subject::Replica("orders-0@3".to_owned());
    assert_eq!(words(&board.pictures[5].wide, &lane), ["orders-0"]);
}

#[test]
fn without_a_leader_the_heading_says_so_and_who_may_be_elected() {
    let first = BrokerId(1);
    let board = with(|view| {
        view.leader = None;
        view.isr = Vec::new();
        view.elr = vec![first];
        view.replicas.get_mut(&first).expect("it is declared").role = ReplicaRole::Offline;
    });
    let heading = words(&board.pictures[5].wide, &Subject::Stage);
    let told = "no leader, 0 of 3 in sync, 1 in ELR, minimum 2";
    assert!(heading.iter().any(|text| text.contains(told)), "{heading:?}");
    assert_eq!(badge(&board, 1), "stopped, in ELR");
    assert_eq!(badge(&board, 2), "out of ISR");
}

#[test]
fn a_paused_broker_says_what_became_of_it() {
    let mut run = write_path::run();
    let third = BrokerId(3);
    let snapshot = &mut run.frames[5].snapshot;
    let broker = snapshot.brokers.get_mut(&third).expect("it is declared");
    (broker.process, broker.registration) = (ProcessState::Paused, Registration::Fenced);
    let view = snapshot.partitions.get_mut(&write_path::orders()).expect("it is declared");
    view.isr.retain(|id| *id != third);
    assert_eq!(badge(&storyboard(&run), 3), "paused, out of ISR");
}

#[test]
fn a_cut_is_marked_on_every_rail_that_it_cuts() {
    let mut run = write_path::run();
    let side = |machine: Machine, side| (machine, side);
    let client = Machine::Client("checkout".to_owned());
    let brokers = [(1, 0), (2, 1), (3, 1)].map(|(id, at)| side(Machine::Broker(BrokerId(id)), at));
    run.frames[5].snapshot.sides = brokers.into_iter().chain([side(client, 0)]).collect();
    let board = storyboard(&run);
    for form in [Form::Wide, Form::Narrow] {
        let cuts = board.pictures[5].scene(form).items();
        let cuts = cuts.filter(|item| item.part == Part::Clock && item.role == Role::Bad);
        // A disc and its cross on each of the two rails between the brokers.
        assert_eq!(cuts.count(), 4);
    }
    let badges = [1, 2].map(|id| badge(&board, id));
    assert_eq!(badges, ["cut off", "follower, in sync"]);
}

#[test]
fn controllers_are_drawn_where_not_the_same_one_is_active_all_the_time() {
    let mut run = write_path::run();
    run.world.controllers = vec!["controller-1".to_owned(), "controller-2".to_owned()];
    assert!(drawn(&storyboard(&run), "controller-1").is_empty());
    let controller = &mut run.frames[5].snapshot.controller;
    controller.leader = Some("controller-2".to_owned());
    controller.epoch = 3;
    controller.stopped = vec!["controller-1".to_owned()];
    run.frames[5].changed = vec![Change {
        path: "controller.leader".to_owned(),
        from: Some(json!("controller-1")),
        to: Some(json!("controller-2")),
    }];
    let board = storyboard(&run);
    assert_eq!(drawn(&board, "controller-1"), ["controller-1", "stopped"]);
    assert_eq!(drawn(&board, "controller-2"), ["controller-2", "active, epoch 3"]);
    let rings = board.pictures[5].wide.items().filter(|item| item.part == Part::Ring);
    assert_eq!(rings.count(), 2);
}

fn drawn(board: &Storyboard, controller: &str) -> Vec<String> {
    words(&board.pictures[5].wide, &Subject::Controller(controller.to_owned()))
}

/// A log of five on the leader, all below the high watermark: a record that was aborted, its
/// marker, a record that was committed, its marker, and one whose transaction is open.
fn transactions(view: &mut PartitionView) {
    let record = |offset: u64, kind, txn| {
        let view = RecordView { kind, txn, ..RecordView::default() };
        (Offset(offset), view)
    };
    let log = [
        record(0, RecordKind::Data, TransactionMark::Aborted),
        record(1, RecordKind::Abort, TransactionMark::Aborted),
        record(2, RecordKind::Data, TransactionMark::Committed),
        record(3, RecordKind::Commit, TransactionMark::Committed),
        record(4, RecordKind::Data, TransactionMark::Open),
    ];
    view.records = log.into_iter().collect();
    (view.high_watermark, view.last_stable_offset) = (Some(Offset(5)), Some(Offset(4)));
    let records = view.records.clone();
    let leader = view.replicas.get_mut(&BrokerId(1)).expect("it is declared");
    (leader.log_end_offset, leader.high_watermark) = (Offset(5), Offset(5));
    leader.records = records;
}

#[test]
fn transactions_show_in_the_shape_of_records() {
    let board = with(transactions);
    for form in [Form::Wide, Form::Narrow] {
        let scene = board.pictures[5].scene(form);
        assert_eq!(rules::faults(scene), Vec::<String>::new());
        let leader = Subject::Replica("orders-0@1".to_owned());
        let group = scene.groups.iter().find(|group| group.subject == leader).expect("it is drawn");
        let count = |is: fn(&Item) -> bool| group.items.iter().filter(|item| is(item)).count();
        let round = |item: &Item| {
            let Shape::Box { radius, .. } = item.shape else { return false };
            item.part == Part::Record && radius > 10.0
        };
        assert_eq!(count(round), 2, "both markers");
        assert_eq!(count(|item| item.part == Part::Strike), 1, "the aborted record");
        assert_eq!(count(|item| item.part == Part::Clock), 1, "the open record");
        assert!(words(scene, &leader).contains(&"LSO 4".to_owned()));
    }
}

#[test]
fn each_segment_of_the_leader_has_its_line() {
    let board = with(|view| {
        transactions(view);
        view.last_stable_offset = view.high_watermark;
        let segment = |base| SegmentView { base_offset: Offset(base), ..SegmentView::default() };
        view.segment = [(0, segment(0)), (1, segment(2)), (2, segment(4))].into();
        let leader = view.replicas.get_mut(&BrokerId(1)).expect("it is declared");
        leader.segment_bases = [0, 2, 4].map(Offset).into();
    });
    let scene = &board.pictures[5].wide;
    assert_eq!(scene.items().filter(|item| item.part == Part::Segment).count(), 3);
    let leader = Subject::Replica("orders-0@1".to_owned());
    assert!(words(scene, &leader).contains(&"3 segments".to_owned()));
    assert_eq!(rules::faults(scene), Vec::<String>::new());
}

#[test]
fn a_share_group_shows_what_it_does_with_each_record() {
    let mut run = write_path::run();
    let snapshot = &mut run.frames[5].snapshot;
    transactions(snapshot.partitions.get_mut(&write_path::orders()).expect("it is declared"));
    let group = snapshot.groups.get_mut("analytics").expect("it is declared");
    let record = |offset: u64, state: &str, delivery_count| {
        (Offset(offset), ShareRecordView { state: state.to_owned(), delivery_count, holder: None })
    };
    let records = [
        record(0, "acknowledged", 1),
        record(2, "archived", 5),
        record(3, "acquired", 2),
        record(4, "available", 1),
    ];
    let share = ShareView { start_offset: Offset(1), records: records.into_iter().collect() };
    group.share = [(write_path::orders(), share)].into();
    let board = storyboard(&run);
    let scene = &board.pictures[5].wide;
    assert_eq!(rules::faults(scene), Vec::<String>::new());
    let leader = Subject::Replica("orders-0@1".to_owned());
    let found = words(scene, &leader);
    assert!(found.contains(&"1 acquired, starts at 1".to_owned()), "{found:?}");
    let group = scene.groups.iter().find(|group| group.subject == leader).expect("it is drawn");
    let marks = group.items.iter().filter(|item| matches!(item.role, Role::Group(_)));
    let shapes = marks.filter(|item| !matches!(item.shape, Shape::Text { .. })).count();
    assert_eq!(shapes, 4 + 1, "a mark for each record, and the start");
}
