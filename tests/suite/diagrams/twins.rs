//! The twins of a picture in words and tables: what they say of groups, transactions and the rest
//! that no write path has.

use kafka_sim_site::diagram::{changes, describe, table};
use kafka_sim_site::scenario::run::{Change, Frame, Run};
use kafka_sim_site::sim::ids::{BrokerId, Machine, Offset, TopicPartition};
use kafka_sim_site::sim::snapshot::{
    GroupView, RecordKind, RecordView, ShareRecordView, ShareView, Snapshot, TransactionMark,
    TransactionView,
};
use serde_json::json;

use super::write_path;

fn payments() -> TopicPartition {
    TopicPartition::new("payments", 0)
}

/// The write path's last step with a transaction, a share group, and a group without members.
fn busy() -> (Run, Frame) {
    let mut run = write_path::run();
    run.world.controllers.push("controller-2".to_owned());
    let mut frame = run.frames.pop().expect("six");
    let snapshot = &mut frame.snapshot;
    snapshot.controller.leader = Some("controller-2".to_owned());
    snapshot.controller.epoch = 3;
    let partitions = vec![payments()];
    let transaction = TransactionView {
        state: "Ongoing".to_owned(),
        producer_epoch: 1,
        partitions,
        ..TransactionView::default()
    };
    snapshot.transactions.insert("pay-1".to_owned(), transaction);
    let state =
        |name: &str| ShareRecordView { state: name.to_owned(), delivery_count: 1, holder: None };
    let records = [(Offset(2), state("acquired")), (Offset(3), state("available"))].into();
    let share = ShareView { start_offset: Offset(2), records };
    let workers = GroupView {
        state: Some("Stable".to_owned()),
        epoch: Some(3),
        coordinator: Some(BrokerId(1)),
        members: vec!["worker-1".to_owned()],
        share: [(payments(), share)].into(),
        ..GroupView::default()
    };
    let nightly = GroupView {
        state: Some("Empty".to_owned()),
        coordinator: Some(BrokerId(1)),
        committed: [(payments(), Offset(1))].into(),
        lag: [(payments(), 4)].into(),
        ..GroupView::default()
    };
    snapshot.groups.insert("workers".to_owned(), workers);
    snapshot.groups.insert("nightly".to_owned(), nightly);
    snapshot.admin.last_error = Some("INVALID_REQUEST".to_owned());
    (run, frame)
}

#[test]
fn the_description_says_what_groups_and_transactions_are_at() {
    let (run, frame) = busy();
    let text = describe::description(&run, &frame);
    for sentence in [
        "controller-2 is the active controller, epoch 3.",
        "Transaction pay-1 is Ongoing, producer epoch 1, with payments-0.",
        "Group workers is Stable at broker-1, epoch 3, 1 member: worker-1; payments-0: start \
         offset 2, 1 acquired, 1 available.",
        "Group nightly is Empty at broker-1, without members; payments-0: committed offset 1, \
         lag 4.",
        "The administrator's last action failed with INVALID_REQUEST.",
    ] {
        assert!(text.contains(sentence), "{sentence}\n{text}");
    }
}

#[test]
fn the_description_says_who_is_cut_off_and_which_controllers_are_stopped() {
    let (run, mut frame) = busy();
    frame.snapshot.controller.stopped = vec!["controller-1".to_owned()];
    let sides = [(1, 0), (2, 1), (3, 1)].map(|(id, side)| (Machine::Broker(BrokerId(id)), side));
    frame.snapshot.sides = sides.into();
    let text = describe::description(&run, &frame);
    assert!(text.contains("controller-1 is stopped."), "{text}");
    assert!(text.contains("The network is cut: broker-1; from broker-2, broker-3."), "{text}");
}

#[test]
fn the_description_says_what_became_of_records() {
    let (run, mut frame) = busy();
    let orders = write_path::orders();
    let topic = frame.snapshot.topics.entry(orders.topic.clone()).or_default();
    topic.config.insert("cleanup.policy".to_owned(), "compact".to_owned());
    let view = frame.snapshot.partitions.get_mut(&orders).expect("it is declared");
    let key = Some(Some("a".to_owned()));
    let record =
        |txn| RecordView { txn, key: key.clone(), value: Some(None), ..RecordView::default() };
    (view.log_start_offset, view.log_end_offset) = (Some(Offset(0)), Some(Offset(6)));
    view.records = [
        (Offset(2), record(TransactionMark::None)),
        (
            Offset(4),
            RecordView { value: Some(Some("v".to_owned())), ..record(TransactionMark::Open) },
        ),
        (
            Offset(5),
            RecordView { kind: RecordKind::Abort, key: None, ..record(TransactionMark::Aborted) },
        ),
    ]
    .into();
    let text = describe::description(&run, &frame);
    for sentence in [
        "Compacted away: 0 to 1, 3.",
        "Tombstones: 2.",
        "In an open transaction: 4.",
        "Abort markers: 5.",
    ] {
        assert!(text.contains(sentence), "{sentence}\n{text}");
    }
}

#[test]
fn tables_hold_groups_and_transactions() {
    let (_, frame) = busy();
    let before = Snapshot::default();
    let tables = table::tables(&frame.snapshot, Some(&before));
    let row = |subject: &str, name: &str| -> Vec<String> {
        let table = tables.iter().find(|table| table.subject == subject).expect("a table");
        let row = table.rows.iter().find(|row| row.name == name).expect("a row");
        row.cells.iter().map(|cell| cell.text.clone()).collect()
    };
    assert_eq!(row("transaction", "pay-1"), ["Ongoing", "1", "payments-0"]);
    assert_eq!(row("workers in", "payments-0"), ["2", "1", "1"]);
    assert_eq!(row("group", "nightly")[..2], ["Empty", "none"]);
}

#[test]
fn changes_of_share_groups_and_transactions_are_lines() {
    let (_, mut frame) = busy();
    let change = |path: &str, from, to| Change { path: path.to_owned(), from, to };
    frame.changed = vec![
        change("transactions.pay-1.state", Some(json!("Empty")), Some(json!("Ongoing"))),
        change("groups.workers.share.payments-0.start_offset", Some(json!(0)), Some(json!(2))),
        change("partitions.orders-0.high_watermark", Some(json!(0)), Some(json!(1))),
        // Without a transaction it only repeats the line before.
        change("partitions.orders-0.last_stable_offset", Some(json!(0)), Some(json!(1))),
    ];
    let lines: Vec<String> = changes::list(&frame)
        .iter()
        .map(|it| format!("{} {} {}", it.what, it.from, it.to))
        .collect();
    assert_eq!(
        lines,
        [
            "orders-0, high watermark 0 1",
            "pay-1, transaction Empty Ongoing",
            "workers, start offset 0 2",
        ]
    );
}
