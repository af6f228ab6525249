//! Brokers and controllers that come and go, and networks that are cut.

use super::*;

/// A world with three controllers.
fn quorum(replicas: &[&[u32]]) -> World {
    let controllers = (1..=3).map(|n| format!("controller-{n}")).collect();
    World { controllers, ..world(replicas, &[], &[]) }
}

fn controller(number: u32) -> Machine {
    Machine::Controller(format!("controller-{number}"))
}

fn cut(one: Vec<Machine>, other: Vec<Machine>) -> Command {
    Command::PartitionNetwork { groups: vec![one, other] }
}

fn create(name: &str, brokers: &[u32]) -> Command {
    let topic = world(&[brokers], &[], &[]).topics.remove(0);
    Command::CreateTopic(TopicSpec { name: name.to_owned(), ..topic })
}

/// `QuorumController.maybeFenceStaleBroker`. Last heard of at 0 s; the looks come every 1125 ms,
/// and 9000 ms are allowed: the ninth one finds both.
#[test]
fn silent_brokers_are_fenced_at_the_first_look_after_their_session() {
    let mut run = Run::new(world(&[&[1]], &[], &[]), vec![(1000, crash(2)), (1000, crash(3))]);
    run.to(20_000);
    assert_eq!(run.times_of("was silent"), [10_125, 10_125]);
}

/// `ClusterControlManager.registerBroker`: another process with that id may be alive until it is
/// fenced, at 10.125 s.
#[test]
fn a_killed_broker_is_let_in_again_when_its_session_is_over() {
    let mut run = Run::new(world(&[&[1, 2]], &[], &[]), vec![(1000, crash(2)), (2000, start(2))]);
    run.to(8900);
    let refused = run.times_of("DUPLICATE_BROKER_REGISTRATION").len();
    assert!(refused > 50, "{refused}");
    assert_eq!(run.times_of("broker-2 is active"), [0; 0]);
    run.to(12_000);
    let back = run.times_of("broker-2 is active");
    assert!(back.len() == 1 && (9001..10_400).contains(&back[0]), "{back:?}");
    let partition = run.partition(12_000);
    assert_eq!(led(&partition), (Some(1), 0, vec![1, 2], vec![]));
}

/// `KafkaRaftClient.pollLeader`: two of three controllers are gone. The last one stands back,
/// nobody is fenced, and writes go on; with the second voter there is an active controller again.
#[test]
fn without_a_majority_nothing_is_decided_and_writes_go_on() {
    let stop = |n| Command::CrashController { controller: format!("controller-{n}") };
    let again = Command::StartController { controller: "controller-2".to_owned() };
    let commands = vec![
        (1000, stop(2)),
        (1000, stop(3)),
        (6000, crash(3)),
        (7000, send(0, 1)),
        (30_000, again),
    ];
    let mut run = Run::new(quorum(&[&[1, 2], &[3]]), commands);
    let alone = run.to(29_999);
    assert_eq!(alone.controller.leader, None);
    assert_eq!(alone.partitions[&orders(1)].leader, Some(BrokerId(3)));
    assert_eq!(alone.producers["p"].acked, 1);
    let back = run.to(60_000);
    assert!(back.controller.leader.is_some() && back.controller.epoch > 1);
    assert_eq!(back.partitions[&orders(1)].leader, None);
}

/// KIP-595: what the cut-off controller decided was on no other voter and is forgotten.
#[test]
fn a_controller_that_is_cut_off_stands_back_and_its_decisions_are_forgotten() {
    let commands = vec![
        (1000, cut(vec![controller(1)], vec![controller(2), controller(3)])),
        (1500, create("lost", &[1])),
        (12_000, create("kept", &[2])),
        (20_000, Command::HealNetwork),
    ];
    let mut run = Run::new(quorum(&[&[1]]), commands);
    assert_eq!(run.to(1400).controller.leader.as_deref(), Some("controller-1"));
    let after = run.to(11_999).controller;
    assert!(after.epoch > 1 && after.leader.as_deref() != Some("controller-1"), "{after:?}");
    let topics = run.to(40_000).topics;
    assert!(topics.contains_key("kept") && !topics.contains_key("lost"));
}

/// Broker 1 leads and is cut off with its producer: what it appends stays uncommitted. The others
/// elect broker 2; when the network is whole again, broker 1 cuts its log, and the producer's retry
/// writes the record once.
#[test]
fn a_leader_that_is_cut_off_acknowledges_nothing_and_the_record_is_written_once() {
    let producer = Machine::Client("p".to_owned());
    let others = vec![broker(2), broker(3), Machine::Controller("controller-1".to_owned())];
    let commands = vec![
        (1000, cut(vec![broker(1), producer], others)),
        (2000, send(0, 1)),
        (40_000, Command::HealNetwork),
    ];
    let world = world(&[&[1, 2, 3]], &[("min.insync.replicas", "2")], &[]);
    let mut run = Run::new(world, commands);
    let apart = run.to(39_999);
    assert_eq!(apart.producers["p"].acked, 0);
    assert_eq!(led(&apart.partitions[&orders(0)]), (Some(2), 1, vec![2, 3], vec![]));
    assert_eq!(ends(&apart.partitions[&orders(0)]), [1, 0, 0]);
    let whole = run.to(90_000);
    assert_eq!(whole.producers["p"].acked, 1);
    assert_eq!(ends(&whole.partitions[&orders(0)]), [1, 1, 1]);
    assert_eq!(led(&whole.partitions[&orders(0)]), (Some(2), 1, vec![1, 2, 3], vec![]));
    assert_eq!(run.times_of("orders-0 cuts its log at 0").len(), 1);
}
