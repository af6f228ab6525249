//! Settings that change at run time, and topics that cannot be made.

use kafka_sim_site::catalog::{self, Scope as SettingScope, Setting, Treatment, Valid};
use kafka_sim_site::sim::Stopped;
use kafka_sim_site::sim::world::{ConsumerSpec, GroupSpec, Protocol};

use super::*;

/// What the administrator is told, one command at a time; `none` where all is well.
fn answers(commands: Vec<Command>) -> Vec<String> {
    let times = (1..).map(|n| n * 1000);
    let commands: Vec<(u64, Command)> = times.zip(commands).collect();
    let count = u64::try_from(commands.len()).expect("a few");
    let mut run = Run::new(world(&[&[1, 2, 3]], &[], &[]), commands);
    let told = (1..=count).map(|n| run.to(n * 1000 + 500).admin.last_error);
    told.map(|error| error.unwrap_or_else(|| "none".to_owned())).collect()
}

/// `ConfigurationControlManager.validateAlterConfig`, `DynamicBrokerConfig`: with the ELR there is
/// no minimum of a single broker.
#[test]
fn a_minimum_of_one_broker_and_a_read_only_setting_are_refused() {
    let minimum = |resource| set(resource, "min.insync.replicas", "2");
    let rack = AlterConfig {
        resource: ConfigResource::Broker(BrokerId(1)),
        set: vec![("broker.rack".to_owned(), Some("a".to_owned()))],
        refused: vec!["broker.rack".to_owned()],
    };
    let told = answers(vec![
        minimum(ConfigResource::Broker(BrokerId(1))),
        minimum(ConfigResource::AllBrokers),
        Command::AlterConfig(rack),
        set(ConfigResource::Topic("nowhere".to_owned()), "retention.ms", "1000"),
    ]);
    let expected = ["INVALID_CONFIG", "none", "INVALID_REQUEST", "UNKNOWN_TOPIC_OR_PARTITION"];
    assert_eq!(told, expected);
}

/// `ReplicationControlManager.createTopics`, `StripedReplicaPlacer`.
#[test]
fn a_topic_that_cannot_be_made_is_refused_with_kafkas_error() {
    let topic = |name: &str, partitions, factor| {
        Command::CreateTopic(TopicSpec {
            name: name.to_owned(),
            partitions: Some(partitions),
            replication_factor: Some(factor),
            assignment: None,
            config: Settings::new(),
        })
    };
    let told = answers(vec![
        topic("a.b", 1, 4),
        topic("a.b", 0, 1),
        topic("a.b", 1, 3),
        topic("a.b", 1, 3),
        topic("a_b", 1, 3),
    ]);
    let expected = [
        "INVALID_REPLICATION_FACTOR",
        "INVALID_PARTITIONS",
        "none",
        "TOPIC_ALREADY_EXISTS",
        "INVALID_TOPIC_EXCEPTION",
    ];
    assert_eq!(told, expected);
}

/// A fenced broker may hold a replica, but not the first; a list of one's own must name brokers
/// that are registered, none twice.
#[test]
fn an_assignment_names_registered_brokers_each_once() {
    let assign = |replicas: &[u32]| Command::ReassignPartitions {
        partition: orders(0),
        replicas: ids(replicas),
    };
    let told = answers(vec![assign(&[1, 9]), assign(&[1, 1]), assign(&[]), assign(&[2, 1])]);
    let refused = "INVALID_REPLICA_ASSIGNMENT";
    assert_eq!(told, [refused, refused, refused, "none"]);
}

/// `ReplicationControlManager.validateTotalNumberOfPartitions`, and the limit of a run.
#[test]
fn too_many_partitions_are_refused_in_one_request_and_end_the_run_in_several() {
    let excessive =
        TopicSpec { partitions: Some(10_001), ..world(&[&[1]], &[], &[]).topics.remove(0) };
    let excessive = TopicSpec { name: "many".to_owned(), assignment: None, ..excessive };
    assert_eq!(answers(vec![Command::CreateTopic(excessive)]), ["POLICY_VIOLATION"]);
    let grow =
        Command::CreatePartitions { topic: "orders".to_owned(), total: 10_001, assignment: None };
    let mut sim = Sim::new(world(&[&[1]], &[], &[]), vec![(0, grow)]);
    let stopped = sim.run_millisecond(0).expect_err("the run ends");
    assert_eq!(stopped, Stopped::Limit("more than 10000 partitions".to_owned()));
}

/// Settings of which each is a number of partitions or replicas to make; the format limits them.
const MADE: [&str; 7] = [
    "num.partitions",
    "offsets.topic.num.partitions",
    "offsets.topic.replication.factor",
    "share.coordinator.state.topic.num.partitions",
    "share.coordinator.state.topic.replication.factor",
    "transaction.state.log.num.partitions",
    "transaction.state.log.replication.factor",
];

/// The smallest and largest values that Kafka takes.
fn ends_of(setting: &Setting) -> Vec<String> {
    let types = ["-1", "0", "1", "32767", "2147483647", "9223372036854775807", "0.0", "1.0"];
    let mut values: Vec<String> = types.iter().map(ToString::to_string).collect();
    if let Valid::Range { min, max, .. } = &setting.valid {
        values.push(min.to_string());
        values.extend(max.map(|max| max.to_string()));
    }
    values.retain(|value| setting.accepts(value));
    values.sort();
    values.dedup();
    values
}

/// A small world of everything, with one setting of this value.
fn world_with(setting: &Setting, value: &str) -> World {
    let mut world = world(&[&[1, 2, 3]], &[], &[]);
    for (name, protocol) in
        [("g", Protocol::Classic), ("h", Protocol::Consumer), ("s", Protocol::Share)]
    {
        world.groups.push(GroupSpec {
            name: name.to_owned(),
            topics: vec!["orders".to_owned()],
            protocol,
            config: Settings::new(),
            consumers: vec![ConsumerSpec {
                name: format!("c{name}"),
                start: Start::WithWorld,
                config: Settings::new(),
                topics: None,
                poll_interval_ms: 100,
                poll_timeout_ms: 1000,
            }],
        });
    }
    let transactional = pairs(&[("transactional.id", "tx")]);
    world.producers.push(ProducerSpec {
        name: "tx".to_owned(),
        config: transactional,
        ..world.producers[0].clone()
    });
    for name in MADE {
        world.config.insert(name.to_owned(), "1".to_owned());
    }
    let given = || (setting.name.clone(), value.to_owned());
    match setting.scope {
        SettingScope::Topic => world.topics[0].config.extend([given()]),
        SettingScope::Producer => {
            for one in &mut world.producers {
                one.config.extend([given()]);
            }
        }
        SettingScope::Consumer | SettingScope::Group => {
            for one in &mut world.groups {
                one.config.extend([given()]);
            }
        }
        _ => world.config.extend([given()]),
    }
    world
}

/// Whatever is within Kafka's bounds: nothing overflows, and no clock stands still.
#[test]
fn every_setting_may_have_its_smallest_and_its_largest_value() {
    let producer = || "tx".to_owned();
    let deeds = [
        (100, send(0, 5)),
        (300, Command::BeginTransaction { producer: producer() }),
        (800, Command::CommitTransaction { producer: producer(), offsets: None }),
        (1000, crash(2)),
        (1500, start(2)),
        (2000, Command::PauseBroker { broker: BrokerId(3) }),
        (2500, Command::ResumeBroker { broker: BrokerId(3) }),
        (2600, Command::RunRetention { partition: None }),
        (2700, Command::RunCleaner { partition: None }),
    ];
    let modelled = catalog::settings().iter().filter(|one| {
        catalog::treatment(one) == Treatment::Modelled && !MADE.contains(&one.name.as_str())
    });
    let mut count = 0;
    for setting in modelled {
        for value in ends_of(setting) {
            println!("{} = {value}", setting.name);
            let world = World { network_ms: 20, ..world_with(setting, &value) };
            let mut run = Run::new(world, deeds.to_vec());
            assert!(run.to(3000).time_ms <= 3000);
            count += 1;
        }
    }
    assert!(count > 200, "{count}");
}
