//! Replication: high watermark, ISR, truncation, elections of partitions.

use kafka_sim_site::sim::ids::Offset;

use super::*;

/// Two records that only the leader, broker 1, has: the others do not fetch, and after a second
/// they have left the ISR.
fn leader_alone(topic: Pairs<'_>, mut commands: Vec<(u64, Command)>) -> Run {
    let world = world(&[&[1, 2, 3]], topic, &[("acks", "1"), ("linger.ms", "0")]);
    let world = with_brokers(world, &[("replica.lag.time.max.ms", "1000")]);
    commands.extend([(0, stall(2)), (0, stall(3)), (2000, send(0, 2))]);
    commands.sort_by_key(|(at_ms, _)| *at_ms);
    Run::new(world, commands)
}

/// `AbstractFetcherThread.processFetchRequest`. Network 100 ms. The follower's fetch waits at the
/// leader and is answered at 1.0 s. At 1.05 s both learn that replica 3 has gone, under leader
/// epoch 1: the answer, which arrives at 1.1 s, belongs to epoch 0. The next fetch brings the
/// record.
#[test]
fn what_was_answered_under_an_earlier_leader_epoch_is_not_appended() {
    let world = world(&[&[1, 2, 3]], &[], &[("acks", "1"), ("linger.ms", "0")]);
    let leave = Command::ReassignPartitions { partition: orders(0), replicas: ids(&[1, 2]) };
    let commands = vec![(900, send(0, 1)), (925, leave)];
    let mut run = Run::new(World { network_ms: 100, ..world }, commands);
    assert_eq!(ends(&run.partition(1000)), [1, 0]);
    let mut end_of_follower = |at_ms| {
        let partition = run.partition(at_ms);
        (partition.leader_epoch.0, partition.replicas[&BrokerId(2)].log_end_offset.0)
    };
    assert_eq!(end_of_follower(1100), (1, 0));
    assert_eq!(end_of_follower(1299), (1, 0));
    assert_eq!(end_of_follower(1300), (1, 1));
}

/// `AbstractFetcherThread.fetchOffsetAndTruncate`.
#[test]
fn a_follower_below_the_leaders_log_start_drops_its_log_and_begins_there() {
    let delete = Command::DeleteRecords { partition: orders(0), before: Offset(1) };
    let goes_on = Command::UnstallReplica { broker: BrokerId(2), partition: None };
    let mut run = leader_alone(&[], vec![(5000, delete), (6000, goes_on)]);
    assert_eq!(led(&run.partition(5999)), (Some(1), 0, vec![1], vec![]));
    let replica = run.partition(9000).replicas[&BrokerId(2)].clone();
    assert_eq!((replica.log_start_offset.0, replica.log_end_offset.0), (1, 2));
    assert_eq!(run.times_of("begins anew at 1").len(), 1);
}

/// `PartitionState.effectiveMinIsr` is looked at when a follower's log end or the leader's moves.
#[test]
fn a_lower_minimum_moves_the_high_watermark_with_the_next_append_only() {
    let world = world(&[&[1, 2]], &[("min.insync.replicas", "2")], &[("acks", "1")]);
    let commands = vec![
        (0, crash(2)),
        (12_000, send(0, 1)),
        (15_000, set_topic("min.insync.replicas", "1")),
        (20_000, send(0, 1)),
    ];
    let mut run = Run::new(world, commands);
    let frozen = run.partition(14_999);
    assert_eq!(led(&frozen), (Some(1), 0, vec![1], vec![2]));
    assert_eq!((ends(&frozen)[0], frozen.high_watermark), (1, Some(Offset(0))));
    let lowered = run.partition(19_999);
    assert_eq!(led(&lowered), (Some(1), 0, vec![1], vec![]));
    assert_eq!(lowered.high_watermark, Some(Offset(0)));
    assert_eq!(run.partition(20_100).high_watermark, Some(Offset(2)));
}

/// KIP-966: the only replica is killed. It stays eligible until it registers again, which tells
/// that it did not end in an orderly way; then it is elected as the last known leader.
#[test]
fn the_last_known_leader_is_elected_on_its_return_though_it_was_killed() {
    let world = world(&[&[1]], &[], &[("acks", "all")]);
    let commands = vec![(1000, send(0, 3)), (2000, crash(1)), (20_000, start(1))];
    let mut run = Run::new(world, commands);
    assert_eq!(led(&run.partition(19_999)), (None, 1, vec![], vec![1]));
    let back = run.partition(21_000);
    assert_eq!(led(&back), (Some(1), 2, vec![1], vec![]));
    assert_eq!((ends(&back), back.high_watermark), (vec![3], Some(Offset(3))));
    let states = run.times_of("no leader, epoch 1, ISR [] ");
    assert_eq!(states.len(), 1, "for a moment neither ISR nor ELR has a member");
}

/// `ReplicationControlManager.maybeTriggerUncleanLeaderElectionForLeaderlessPartitions`: nothing
/// happens when the setting changes, but at the next look, 300 s after 0 s.
#[test]
fn unclean_elections_that_are_allowed_at_run_time_come_with_the_next_look() {
    let allow = set_topic("unclean.leader.election.enable", "true");
    let mut run = leader_alone(&[], vec![(5000, crash(1)), (40_000, allow)]);
    assert_eq!(led(&run.partition(39_999)), (None, 1, vec![], vec![1]));
    assert_eq!(led(&run.partition(299_999)), (None, 1, vec![], vec![1]));
    let elected = run.partition(300_100);
    assert_eq!(led(&elected), (Some(2), 2, vec![2], vec![]));
    assert_eq!(elected.high_watermark, Some(Offset(0)));
}

/// An administrator's election does not ask the setting (`ReplicationControlManager.electLeader`).
#[test]
fn an_unclean_election_that_is_asked_for_happens_whatever_the_setting() {
    let unclean = || elect(ElectionKind::Unclean);
    let commands = vec![(4000, unclean()), (5000, crash(1)), (20_000, unclean())];
    let mut run = leader_alone(&[], commands);
    assert_eq!(run.to(4999).admin.last_error.as_deref(), Some("ELECTION_NOT_NEEDED"));
    assert_eq!(led(&run.partition(19_999)), (None, 1, vec![], vec![1]));
    assert_eq!(led(&run.partition(20_100)), (Some(2), 2, vec![2], vec![]));
}

/// `UnifiedLog.truncateTo`: what the former leader had and its successor did not goes, and the
/// records of the new epoch take its place.
#[test]
fn a_former_leader_cuts_what_its_successor_did_not_have() {
    let commands = vec![
        (5000, crash(1)),
        (20_000, elect(ElectionKind::Unclean)),
        (21_000, send(0, 5)),
        (25_000, start(1)),
    ];
    let mut run = leader_alone(&[], commands);
    assert_eq!(ends(&run.partition(24_999)), [2, 5, 0]);
    assert_eq!(ends(&run.partition(27_000))[..2], [5, 5]);
    assert_eq!(run.times_of("orders-0 cuts its log at 0").len(), 1);
}

/// Everything that was acknowledged lies on broker 2 alone when it hangs; the election that puts
/// broker 3 in its place is unclean, and allowed. No checker objects, not even where broker 2 hangs
/// before it hears that it may acknowledge the record, and does so when it goes on.
#[test]
fn an_allowed_unclean_election_may_lose_what_was_acknowledged() {
    for (hangs_ms, acked) in [(22_507, 0), (22_700, 1)] {
        let world = world(&[&[1, 2, 3]], &[("unclean.leader.election.enable", "true")], &[]);
        let pause = |id| Command::PauseBroker { broker: BrokerId(id) };
        let resume = |id| Command::ResumeBroker { broker: BrokerId(id) };
        let commands = vec![
            (0, Command::ShutdownBroker { broker: BrokerId(1) }),
            (12_481, pause(3)),
            (12_975, send(0, 1)),
            (hangs_ms, pause(2)),
            (29_171, resume(3)),
            (37_150, resume(2)),
        ];
        let mut run = Run::new(World { network_ms: 48, ..world }, commands);
        assert_eq!(run.producer(29_000).acked, acked);
        let lost = run.partition(36_000);
        assert_eq!((led(&lost).0, ends(&lost)[2]), (Some(3), 0));
        assert_eq!(run.producer(60_000).acked, 1);
        assert_eq!(ends(&run.partition(60_000))[1..], [0, 0]);
    }
}

/// `BrokerMetadataPublisher.onMetadataUpdate`: the leader hears in one answer that broker 2 has
/// left the ISR and that it is fenced. Nobody else holds the record back.
#[test]
fn a_member_that_is_fenced_no_longer_holds_the_high_watermark_once_it_has_left_the_isr() {
    let hang = Command::PauseBroker { broker: BrokerId(2) };
    let commands = vec![(1000, hang), (2000, send(0, 1))];
    let mut run = Run::new(world(&[&[1, 2]], &[], &[]), commands);
    assert_eq!(run.partition(10_000).high_watermark, Some(Offset(0)));
    let fenced = run.partition(11_000);
    assert_eq!(led(&fenced), (Some(1), 0, vec![1], vec![]));
    assert_eq!(fenced.high_watermark, Some(Offset(1)));
    assert_eq!(run.producer(11_000).acked, 1);
}
