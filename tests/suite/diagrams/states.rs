//! What pictures say of states that the write path does not reach.

use kafka_sim_site::diagram::scene::{Part, Role, Subject};
use kafka_sim_site::diagram::{Form, Storyboard, storyboard};
use kafka_sim_site::scenario::run::Change;
use kafka_sim_site::sim::ids::{BrokerId, Machine};
use kafka_sim_site::sim::snapshot::{PartitionView, ProcessState, Registration, ReplicaRole};
use serde_json::json;

use super::{words, write_path};

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
