//! The simulator from outside: times and outcomes worked out by hand.

use kafka_sim_site::sim::command::{Command, Produce};
use kafka_sim_site::sim::ids::{BrokerId, TopicPartition};
use kafka_sim_site::sim::snapshot::{ConsumerState, NextSend, Snapshot};
use kafka_sim_site::sim::world::{
    ConsumerSpec, GroupSpec, ProducerSpec, Protocol, Settings, Start, TopicSpec, World,
};
use kafka_sim_site::sim::{Scope, Sim};

fn settings(pairs: &[(&str, &str)]) -> Settings {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn topic(name: &str, replicas: &[u32], config: &[(&str, &str)]) -> TopicSpec {
    TopicSpec {
        name: name.to_owned(),
        partitions: Some(1),
        replication_factor: None,
        assignment: Some(vec![replicas.iter().map(|id| BrokerId(*id)).collect()]),
        config: settings(config),
    }
}

/// The write path of the format's example.
fn write_path() -> World {
    World {
        network_ms: 300,
        controllers: (1..=3).map(|n| format!("controller-{n}")).collect(),
        config: settings(&[("auto.leader.rebalance.enable", "false")]),
        topics: vec![
            topic("orders", &[1, 2, 3], &[("min.insync.replicas", "2")]),
            topic("__consumer_offsets", &[1], &[]),
        ],
        producers: vec![ProducerSpec {
            name: "checkout".to_owned(),
            topic: Some("orders".to_owned()),
            config: settings(&[("acks", "all"), ("linger.ms", "200")]),
            start: Start::WithWorld,
        }],
        groups: vec![GroupSpec {
            name: "analytics".to_owned(),
            topics: vec!["orders".to_owned()],
            protocol: Protocol::Classic,
            config: settings(&[
                ("auto.offset.reset", "earliest"),
                ("auto.commit.interval.ms", "1440"),
            ]),
            consumers: vec![ConsumerSpec {
                name: "reader-1".to_owned(),
                start: Start::WithWorld,
                config: Settings::new(),
                topics: None,
                poll_interval_ms: 100,
                poll_timeout_ms: 5000,
            }],
        }],
        ..World::default()
    }
}

fn produce(producer: &str, key: &str) -> Command {
    Command::Produce(Produce {
        producer: producer.to_owned(),
        topic: None,
        key: Some(key.to_owned()),
        value: Some("42 EUR".to_owned()),
        headers: Vec::new(),
        partition: None,
        timestamp_ms: None,
        size_bytes: None,
        count: 1,
        every_ms: 0,
    })
}

/// Runs up to a time and looks.
fn run_to(sim: &mut Sim, time_ms: u64) -> Snapshot {
    while let Some(next) = sim.next_event_ms().filter(|next| *next <= time_ms) {
        sim.run_millisecond(next).expect("within the limits");
    }
    if sim.now_ms() != Some(time_ms) {
        sim.run_millisecond(time_ms).expect("within the limits");
    }
    sim.snapshot(&Scope::All)
}

/// What the write path shows at one instant, in the order in which the test spells it.
fn shown(s: &Snapshot) -> (Vec<u64>, u64, u64, Option<u64>, Option<u64>) {
    let partition = &s.partitions[&TopicPartition::new("orders", 0)];
    let ends = partition.replicas.values().map(|replica| replica.log_end_offset.0).collect();
    let high_watermark = partition.high_watermark.expect("a live leader").0;
    let position = s.consumers["reader-1"].position.get(&TopicPartition::new("orders", 0));
    let committed = s.groups["analytics"].committed.get(&TopicPartition::new("orders", 0));
    let acked = s.producers["checkout"].acked;
    (ends, high_watermark, acked, position.map(|o| o.0), committed.map(|o| o.0))
}

/// Append at 0.9 s + linger + one hop; high watermark two hops later; the consumer's fetches arrive
/// at 0.3, 1.4 and 2.5 s; automatic commits at 1.44 s and in the `poll()` of 2.9 s.
#[test]
fn the_write_path_takes_the_times_worked_out_on_paper() {
    let mut sim = Sim::new(write_path(), vec![(900, produce("checkout", "order-17"))]);
    let zero = Some(0);
    assert_eq!(shown(&run_to(&mut sim, 0)), (vec![0, 0, 0], 0, 0, zero, None));

    let buffered = run_to(&mut sim, 900);
    assert_eq!(buffered.producers["checkout"].buffered, 1);
    assert_eq!(buffered.producers["checkout"].in_flight, 0);

    assert_eq!(shown(&run_to(&mut sim, 1399)), (vec![0, 0, 0], 0, 0, zero, None));
    let appended = run_to(&mut sim, 1400);
    assert_eq!(shown(&appended), (vec![1, 0, 0], 0, 0, zero, None));
    assert_eq!(appended.waiting["produce"], 1);
    assert_eq!(appended.in_flight["replica_fetch_response"], 2);

    assert_eq!(shown(&run_to(&mut sim, 1700)), (vec![1, 1, 1], 0, 0, zero, None));
    assert_eq!(shown(&run_to(&mut sim, 1740)), (vec![1, 1, 1], 0, 0, zero, zero));
    assert_eq!(shown(&run_to(&mut sim, 1999)), (vec![1, 1, 1], 0, 0, zero, zero));
    let committed = run_to(&mut sim, 2000);
    assert_eq!(shown(&committed), (vec![1, 1, 1], 1, 0, zero, zero));
    assert_eq!(committed.in_flight["produce_response"], 1);
    let known: Vec<u64> = committed.partitions[&TopicPartition::new("orders", 0)]
        .replicas
        .values()
        .map(|replica| replica.high_watermark.0)
        .collect();
    assert_eq!(known, [1, 0, 0], "followers learn the high watermark one fetch later");

    assert_eq!(shown(&run_to(&mut sim, 2299)).2, 0);
    assert_eq!(shown(&run_to(&mut sim, 2300)).2, 1);
    assert_eq!(shown(&run_to(&mut sim, 2799)).3, zero);
    let read = run_to(&mut sim, 2800);
    assert_eq!(shown(&read), (vec![1, 1, 1], 1, 1, Some(1), zero));
    assert_eq!(read.groups["analytics"].total_lag, Some(1));

    assert_eq!(shown(&run_to(&mut sim, 3199)).4, zero);
    let caught_up = run_to(&mut sim, 3200);
    assert_eq!(shown(&caught_up), (vec![1, 1, 1], 1, 1, Some(1), Some(1)));
    assert_eq!(caught_up.groups["analytics"].total_lag, Some(0));
}

#[test]
fn the_same_world_gives_the_same_events() {
    let trace = || {
        let mut sim = Sim::new(write_path(), vec![(900, produce("checkout", "order-17"))]);
        run_to(&mut sim, 5000);
        sim.take_events().iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(trace(), trace());
}

/// The partition's ends, its high watermark, and what `checkout` knows is acknowledged.
fn replicated(s: &Snapshot) -> (Vec<u64>, u64, u64) {
    let (ends, high_watermark, acked, ..) = shown(s);
    (ends, high_watermark, acked)
}

/// Network 50 ms. Followers' fetches arrive at 50, 650, 1250 ms; each waits 500 ms. The produce
/// request arrives at 1150, when the second ones have just run out, so the third ones find the
/// record at 1250 and carry it home at 1300; the next ones prove it at 1350. The consumer's third
/// fetch arrives at 1250 too, waits, and is answered at 1350. Its `poll()` returns at 1400; the
/// next one, at 1500, commits.
#[test]
fn a_faster_network_moves_every_hop() {
    let world = World { network_ms: 50, ..write_path() };
    let mut sim = Sim::new(world, vec![(900, produce("checkout", "order-17"))]);
    assert_eq!(replicated(&run_to(&mut sim, 1149)), (vec![0, 0, 0], 0, 0));
    assert_eq!(replicated(&run_to(&mut sim, 1150)), (vec![1, 0, 0], 0, 0));
    assert_eq!(replicated(&run_to(&mut sim, 1299)), (vec![1, 0, 0], 0, 0));
    assert_eq!(replicated(&run_to(&mut sim, 1300)), (vec![1, 1, 1], 0, 0));
    assert_eq!(replicated(&run_to(&mut sim, 1349)), (vec![1, 1, 1], 0, 0));
    assert_eq!(replicated(&run_to(&mut sim, 1350)), (vec![1, 1, 1], 1, 0));
    assert_eq!(shown(&run_to(&mut sim, 1399)).3, Some(0));
    assert_eq!(shown(&run_to(&mut sim, 1400)), (vec![1, 1, 1], 1, 1, Some(1), None));
    assert_eq!(shown(&run_to(&mut sim, 1549)).4, None);
    assert_eq!(shown(&run_to(&mut sim, 1550)).4, Some(1));
    let orders = TopicPartition::new("orders", 0);
    let known = |s: &Snapshot| s.partitions[&orders].replicas[&BrokerId(2)].high_watermark.0;
    assert_eq!(known(&run_to(&mut sim, 1899)), 0);
    assert_eq!(known(&run_to(&mut sim, 1900)), 1);
}

/// Without linger the request leaves at 900 and arrives at 1200, between two fetches: the record
/// waits for the ones of 1400, so nothing else comes earlier than with linger.
#[test]
fn without_linger_the_record_waits_at_the_leader_instead() {
    let mut world = write_path();
    world.producers[0].config.insert("linger.ms".to_owned(), "0".to_owned());
    let mut sim = Sim::new(world, vec![(900, produce("checkout", "order-17"))]);
    assert_eq!(run_to(&mut sim, 900).producers["checkout"].in_flight, 1);
    assert_eq!(replicated(&run_to(&mut sim, 1199)), (vec![0, 0, 0], 0, 0));
    assert_eq!(replicated(&run_to(&mut sim, 1200)), (vec![1, 0, 0], 0, 0));
    assert_eq!(replicated(&run_to(&mut sim, 1699)), (vec![1, 0, 0], 0, 0));
    assert_eq!(replicated(&run_to(&mut sim, 1700)), (vec![1, 1, 1], 0, 0));
    assert_eq!(replicated(&run_to(&mut sim, 2000)), (vec![1, 1, 1], 1, 0));
    assert_eq!(replicated(&run_to(&mut sim, 2300)), (vec![1, 1, 1], 1, 1));
}

/// broker-3 never fetches. It was last caught up at 0 s, so the check at 30 s lets it pass (30000
/// ms are allowed) and the one at 45 s does not. The proposal arrives at 45.300, is written 25 ms
/// later, and the answer is back at 45.625: only now the high watermark moves. The acknowledgement
/// takes one hop more.
#[test]
fn a_stalled_follower_holds_the_high_watermark_until_it_has_left_the_isr() {
    let world = World { controllers: vec!["controller-1".to_owned()], ..write_path() };
    let stall = Command::StallReplica { broker: BrokerId(3), partition: None };
    let mut sim = Sim::new(world, vec![(0, stall), (900, produce("checkout", "order-17"))]);
    assert_eq!(replicated(&run_to(&mut sim, 45_624)), (vec![1, 1, 0], 0, 0));
    assert_eq!(replicated(&run_to(&mut sim, 45_625)), (vec![1, 1, 0], 1, 0));
    let acked = run_to(&mut sim, 45_925);
    assert_eq!(replicated(&acked), (vec![1, 1, 0], 1, 1));
    let partition = &acked.partitions[&TopicPartition::new("orders", 0)];
    assert_eq!(partition.isr, [BrokerId(1), BrokerId(2)]);
    assert_eq!(acked.producers["checkout"].retries, 1, "its request had timed out at 31.100");
}

/// One replica: the record is committed as it is appended. The consumer's fetch, there since 1400,
/// gets it at once; the position is committed inside the `poll()` that waits at 2880, one interval
/// after 1440.
#[test]
fn a_single_replica_commits_at_once() {
    let mut world = write_path();
    world.topics[0].assignment = Some(vec![vec![BrokerId(1)]]);
    let mut sim = Sim::new(world, vec![(900, produce("checkout", "order-17"))]);
    assert_eq!(replicated(&run_to(&mut sim, 1399)), (vec![0], 0, 0));
    assert_eq!(replicated(&run_to(&mut sim, 1400)), (vec![1], 1, 0));
    assert_eq!(shown(&run_to(&mut sim, 1700)), (vec![1], 1, 1, Some(1), None));
    assert_eq!(shown(&run_to(&mut sim, 1740)).4, Some(0));
    assert_eq!(shown(&run_to(&mut sim, 3179)).4, Some(0));
    assert_eq!(shown(&run_to(&mut sim, 3180)).4, Some(1));
}

/// `returns` sends at once, so its record arrives at 1250 and is offset 0; that of `checkout`
/// follows at 1400 as offset 1. The fetches of 1400 were there a moment before it and take offset 0
/// only: each record needs its own round, and its own acknowledgement, 600 ms apart.
#[test]
fn two_producers_share_one_log() {
    let mut world = write_path();
    let mut second = world.producers[0].clone();
    second.name = "returns".to_owned();
    second.config.insert("linger.ms".to_owned(), "0".to_owned());
    world.producers.push(second);
    let commands =
        vec![(900, produce("checkout", "order-17")), (950, produce("returns", "order-9"))];
    let mut sim = Sim::new(world, commands);
    assert_eq!(replicated(&run_to(&mut sim, 1250)), (vec![1, 0, 0], 0, 0));
    assert_eq!(replicated(&run_to(&mut sim, 1400)), (vec![2, 0, 0], 0, 0));
    assert_eq!(replicated(&run_to(&mut sim, 1700)), (vec![2, 1, 1], 0, 0));
    assert_eq!(replicated(&run_to(&mut sim, 2000)), (vec![2, 1, 1], 1, 0));
    let first = run_to(&mut sim, 2300);
    assert_eq!(replicated(&first), (vec![2, 2, 2], 1, 0));
    assert_eq!(first.producers["returns"].last_offset, Some(0));
    assert_eq!(replicated(&run_to(&mut sim, 2600)), (vec![2, 2, 2], 2, 0));
    let second = run_to(&mut sim, 2900);
    assert_eq!(replicated(&second), (vec![2, 2, 2], 2, 1));
    assert_eq!(second.producers["checkout"].last_offset, Some(1));
}

/// The process starts at 5 s and knows nothing. One connection for everything: `ApiVersions` until
/// 5.6; metadata and the coordinator until 6.2; a member id until 6.8; its join arrives at 7.1,
/// waits the 3 s of `group.initial.rebalance.delay.ms` and is answered at 10.4; the assignment at
/// 11.0, no committed offset at 11.6, the log start at 12.2, and the record, long committed, at
/// 12.8.
#[test]
fn a_consumer_that_starts_later_joins_first() {
    let mut world = write_path();
    world.groups[0].consumers[0].start = Start::At(5000);
    let mut sim = Sim::new(world, vec![(900, produce("checkout", "order-17"))]);
    let before = run_to(&mut sim, 4999);
    assert_eq!(before.consumers["reader-1"].state, ConsumerState::Stopped);
    assert_eq!(replicated(&before), (vec![1, 1, 1], 1, 1));
    assert_eq!(
        run_to(&mut sim, 10_099).groups["analytics"].state.as_deref(),
        Some("PreparingRebalance")
    );
    assert_eq!(
        run_to(&mut sim, 10_100).groups["analytics"].state.as_deref(),
        Some("CompletingRebalance")
    );
    assert_eq!(run_to(&mut sim, 10_700).groups["analytics"].state.as_deref(), Some("Stable"));
    assert_eq!(run_to(&mut sim, 10_999).consumers["reader-1"].state, ConsumerState::Joining);
    let assigned = run_to(&mut sim, 11_000);
    assert_eq!(assigned.consumers["reader-1"].assignment, [TopicPartition::new("orders", 0)]);
    assert_eq!(assigned.groups["analytics"].epoch, Some(1));
    assert_eq!(shown(&run_to(&mut sim, 12_199)).3, None);
    assert_eq!(shown(&run_to(&mut sim, 12_200)).3, Some(0));
    assert_eq!(run_to(&mut sim, 12_799).consumers["reader-1"].consumed, 0);
    let read = run_to(&mut sim, 12_800);
    assert_eq!(read.consumers["reader-1"].consumed, 1);
    assert_eq!(shown(&read).3, Some(1));
}

#[test]
fn without_a_live_coordinator_nobody_knows_the_group() {
    let crash = |broker| Command::CrashBroker { broker: BrokerId(broker) };
    let commands = vec![(3000, crash(1)), (3000, crash(2)), (3000, crash(3))];
    let mut sim = Sim::new(write_path(), commands);
    let before = run_to(&mut sim, 2999).groups["analytics"].clone();
    assert_eq!((before.state.as_deref(), before.epoch), (Some("Stable"), Some(1)));
    let after = run_to(&mut sim, 3000).groups["analytics"].clone();
    assert_eq!((after.coordinator, after.state, after.epoch), (None, None, None));
    assert_eq!((after.assignor, after.lag.len(), after.total_lag), (None, 0, None));
}

#[test]
fn a_replicas_fetch_names_what_it_asks_for_without_internal_topics() {
    let mut world = write_path();
    world.topics[1] = topic("__consumer_offsets", &[1, 2, 3], &[]);
    let mut sim = Sim::new(world, Vec::new());
    let snapshot = run_to(&mut sim, 100);
    let fetches = snapshot.messages.iter().filter(|one| one.kind == "replica_fetch");
    let places: Vec<Vec<String>> =
        fetches.map(|one| one.fetches.iter().map(ToString::to_string).collect()).collect();
    assert_eq!(places, [["orders-0@0"], ["orders-0@0"]]);
}

#[test]
fn a_refused_batch_knows_when_it_is_tried_again() {
    let mut world = write_path();
    world.topics[0] = topic("orders", &[1, 2, 3], &[("min.insync.replicas", "3")]);
    world.producers[0].config.extend(settings(&[("retry.backoff.ms", "700")]));
    world.producers[0].config.extend(settings(&[("retry.backoff.max.ms", "700")]));
    let crash = Command::CrashBroker { broker: BrokerId(3) };
    let mut sim = Sim::new(world, vec![(100, crash), (50_000, produce("checkout", "order-17"))]);
    let lingers = run_to(&mut sim, 50_000).producers["checkout"].next_send;
    assert_eq!(lingers, Some(NextSend { at_ms: 50_200, is_retry: false }));
    assert_eq!(run_to(&mut sim, 50_700).producers["checkout"].next_send, None);
    // Refused at 50.5 s, heard of at 50.8 s; the back-off is jittered by a fifth.
    let retry = run_to(&mut sim, 50_800).producers["checkout"].next_send.expect("it waits");
    assert!(retry.is_retry && (51_360..=51_640).contains(&retry.at_ms), "{retry:?}");
}

#[test]
fn a_stalled_replica_says_so_until_it_fetches_again() {
    let orders = TopicPartition::new("orders", 0);
    let stall = Command::StallReplica { broker: BrokerId(2), partition: Some(orders.clone()) };
    let resume = Command::UnstallReplica { broker: BrokerId(2), partition: Some(orders.clone()) };
    let mut sim = Sim::new(write_path(), vec![(400, stall), (900, resume)]);
    let mut stalled = |time_ms| {
        let snapshot = run_to(&mut sim, time_ms);
        let replicas = snapshot.partitions[&orders].replicas.values();
        replicas.map(|replica| replica.stalled).collect::<Vec<_>>()
    };
    assert_eq!(stalled(399), [false; 3]);
    assert_eq!(stalled(400), [false, true, false]);
    assert_eq!(stalled(900), [false; 3]);
}
