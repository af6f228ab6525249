//! What is done to a random world: one row per action of the format, each with its own generator.
//!
//! An action that the simulator learns gets a row in [`ACTIONS`]; the command line's coverage and
//! the tests follow from the table. Names are the format's.

use crate::sim::command::{
    AcknowledgeKind, AlterConfig, Command, ConfigResource, ElectionKind, LinkDirection, PauseMode,
    Produce, ResetTo, TransactionOffsets,
};
use crate::sim::ids::{Machine, Offset};
use crate::sim::world::TopicSpec;

use super::dice::{Draws, machines};
use super::world;

/// One kind of action.
pub struct Action {
    /// Its name in the format.
    pub name: &'static str,
    /// How often it is drawn, compared with the others.
    weight: u64,
    /// Draws one; `None` where the world has nothing to do it to.
    draw: fn(&mut Draws<'_>) -> Option<Command>,
}

const fn action(
    name: &'static str,
    weight: u64,
    draw: fn(&mut Draws<'_>) -> Option<Command>,
) -> Action {
    Action { name, weight, draw }
}

/// Every action that the simulator runs. What undoes another action is drawn rarely: most of the
/// time it follows that action (`undoing`).
pub static ACTIONS: &[Action] = &[
    action("produce", 30, |draws| produce(draws).map(Command::Produce)),
    action("start_producer", 2, |draws| {
        Some(Command::StartProducer { producer: draws.producer()? })
    }),
    action("close_producer", 2, |draws| {
        Some(Command::CloseProducer { producer: draws.producer()? })
    }),
    action("crash_producer", 2, |draws| {
        Some(Command::CrashProducer { producer: draws.producer()? })
    }),
    action("crash_broker", 8, |draws| Some(Command::CrashBroker { broker: draws.broker()? })),
    action("start_broker", 2, |draws| Some(Command::StartBroker { broker: draws.broker()? })),
    action("shutdown_broker", 6, |draws| Some(Command::ShutdownBroker { broker: draws.broker()? })),
    action("pause_broker", 6, |draws| Some(Command::PauseBroker { broker: draws.broker()? })),
    action("resume_broker", 1, |draws| Some(Command::ResumeBroker { broker: draws.broker()? })),
    action("crash_controller", 4, |draws| {
        Some(Command::CrashController { controller: draws.controller()? })
    }),
    action("start_controller", 1, |draws| {
        Some(Command::StartController { controller: draws.controller()? })
    }),
    action("partition_network", 6, |draws| Some(partition_network(draws))),
    action("heal_network", 1, |_| Some(Command::HealNetwork)),
    action("slow_link", 4, slow_link),
    action("stall_replica", 5, |draws| {
        Some(Command::StallReplica { broker: draws.broker()?, partition: draws.partition_or_all() })
    }),
    action("unstall_replica", 1, |draws| {
        Some(Command::UnstallReplica {
            broker: draws.broker()?,
            partition: draws.partition_or_all(),
        })
    }),
    action("create_topic", 5, |draws| Some(Command::CreateTopic(create_topic(draws)))),
    action("delete_topic", 2, |draws| Some(Command::DeleteTopic { topic: draws.topic() })),
    action("create_partitions", 3, |draws| Some(create_partitions(draws))),
    action("alter_config", 5, |draws| alter_config(draws).map(Command::AlterConfig)),
    action("reassign_partitions", 5, |draws| {
        let count = usize::try_from(draws.dice.between(1, 3)).unwrap_or(1);
        Some(Command::ReassignPartitions {
            partition: draws.partition(),
            replicas: draws.replicas(count),
        })
    }),
    action("elect_leaders", 5, |draws| {
        let kinds = [ElectionKind::Preferred, ElectionKind::Unclean];
        Some(Command::ElectLeaders {
            kind: *draws.dice.pick(&kinds)?,
            partition: draws.partition_or_all(),
        })
    }),
    action("begin_transaction", 10, |draws| {
        Some(Command::BeginTransaction { producer: draws.producer()? })
    }),
    action("commit_transaction", 2, commit_transaction),
    action("abort_transaction", 4, |draws| {
        Some(Command::AbortTransaction { producer: draws.producer()? })
    }),
    action("delete_records", 4, |draws| {
        let before = Offset(draws.dice.between(0, 60));
        Some(Command::DeleteRecords { partition: draws.partition(), before })
    }),
    action("run_retention", 4, |draws| {
        Some(Command::RunRetention { partition: draws.partition_or_all() })
    }),
    action("run_cleaner", 5, |draws| {
        Some(Command::RunCleaner { partition: draws.partition_or_all() })
    }),
    action("start_consumer", 2, |draws| {
        Some(Command::StartConsumer { consumer: draws.consumer()? })
    }),
    action("stop_consumer", 4, |draws| Some(Command::StopConsumer { consumer: draws.consumer()? })),
    action("crash_consumer", 4, |draws| {
        Some(Command::CrashConsumer { consumer: draws.consumer()? })
    }),
    action("acknowledge", 6, acknowledge),
    action("pause_consumer", 7, |draws| {
        let mode = pause_mode(draws);
        Some(Command::PauseConsumer { consumer: draws.consumer()?, mode })
    }),
    action("resume_consumer", 1, |draws| {
        let mode = pause_mode(draws);
        Some(Command::ResumeConsumer { consumer: draws.consumer()?, mode })
    }),
    action("pause_partitions", 2, |draws| {
        let partitions = vec![draws.partition()];
        Some(Command::PausePartitions { consumer: draws.consumer()?, partitions })
    }),
    action("resume_partitions", 1, |draws| {
        let partitions = vec![draws.partition()];
        Some(Command::ResumePartitions { consumer: draws.consumer()?, partitions })
    }),
    action("seek", 4, |draws| {
        let offset = Offset(draws.dice.between(0, 30));
        Some(Command::Seek { consumer: draws.consumer()?, partition: draws.partition(), offset })
    }),
    action("reset_offsets", 4, |draws| {
        let to = match draws.dice.between(0, 2) {
            0 => ResetTo::Earliest,
            1 => ResetTo::Latest,
            _ => ResetTo::Offset(Offset(draws.dice.between(0, 30))),
        };
        let group = draws.group()?;
        Some(Command::ResetOffsets { group, to, partition: draws.partition_or_all() })
    }),
    action("commit", 4, |draws| {
        let offset = draws.dice.one_in(2).then(|| Offset(draws.dice.between(0, 20)));
        Some(Command::Commit { consumer: draws.consumer()?, partition: draws.partition(), offset })
    }),
];

/// Draws an action by weight.
pub fn draw(draws: &mut Draws<'_>) -> Option<Command> {
    let total: u64 = ACTIONS.iter().map(|action| action.weight).sum();
    let mut left = draws.dice.between(1, total);
    for action in ACTIONS {
        if left <= action.weight {
            return (action.draw)(draws);
        }
        left -= action.weight;
    }
    None
}

/// What ends the state that an action begins, if it begins one.
#[must_use]
pub fn undoing(command: &Command) -> Option<Command> {
    Some(match command {
        Command::CrashBroker { broker } | Command::ShutdownBroker { broker } => {
            Command::StartBroker { broker: *broker }
        }
        Command::PauseBroker { broker } => Command::ResumeBroker { broker: *broker },
        Command::CrashController { controller } => {
            Command::StartController { controller: controller.clone() }
        }
        Command::PartitionNetwork { .. } => Command::HealNetwork,
        Command::SlowLink { from, to, direction, .. } => Command::SlowLink {
            from: from.clone(),
            to: to.clone(),
            latency_ms: None,
            direction: *direction,
        },
        Command::StallReplica { broker, partition } => {
            Command::UnstallReplica { broker: *broker, partition: partition.clone() }
        }
        Command::StopConsumer { consumer } | Command::CrashConsumer { consumer } => {
            Command::StartConsumer { consumer: consumer.clone() }
        }
        Command::PauseConsumer { consumer, mode } => {
            Command::ResumeConsumer { consumer: consumer.clone(), mode: *mode }
        }
        Command::PausePartitions { consumer, partitions } => {
            Command::ResumePartitions { consumer: consumer.clone(), partitions: partitions.clone() }
        }
        Command::CloseProducer { producer } | Command::CrashProducer { producer } => {
            Command::StartProducer { producer: producer.clone() }
        }
        Command::BeginTransaction { producer } => {
            Command::CommitTransaction { producer: producer.clone(), offsets: None }
        }
        _ => return None,
    })
}

fn acknowledge(draws: &mut Draws<'_>) -> Option<Command> {
    let kinds = [
        AcknowledgeKind::Accept,
        AcknowledgeKind::Release,
        AcknowledgeKind::Reject,
        AcknowledgeKind::Renew,
    ];
    Some(Command::Acknowledge {
        consumer: draws.consumer()?,
        partition: draws.partition(),
        offset: Offset(draws.dice.between(0, 12)),
        kind: *draws.dice.pick(&kinds)?,
    })
}

fn pause_mode(draws: &mut Draws<'_>) -> PauseMode {
    if draws.dice.one_in(2) { PauseMode::App } else { PauseMode::Process }
}

fn commit_transaction(draws: &mut Draws<'_>) -> Option<Command> {
    let producer = draws.producer()?;
    let group = draws.world.groups.first().filter(|group| !group.consumers.is_empty());
    let offsets = group.map(|group| TransactionOffsets {
        group: group.name.clone(),
        consumer: group.consumers[0].name.clone(),
    });
    Some(Command::CommitTransaction { producer, offsets })
}

fn produce(draws: &mut Draws<'_>) -> Option<Produce> {
    let producer = draws.producer()?;
    let dice = &mut *draws.dice;
    let count = if dice.one_in(3) { 1 } else { dice.between(2, 30) };
    let every_ms = if dice.one_in(2) { 0 } else { dice.between(1, 400) };
    let key = match dice.between(0, 3) {
        0 => Some("k".to_owned()),
        1 => Some("k{n}".to_owned()),
        _ => None,
    };
    let size_bytes = dice.one_in(3).then(|| dice.between(0, 1500));
    // More than an hour ahead is too much for a broker.
    let timestamp_ms = dice.one_in(12).then(|| i64::from(dice.count(0, 1)) * 4_000_000 - 1000);
    let other_topic = dice.one_in(6);
    Some(Produce {
        producer,
        topic: other_topic.then(|| draws.topic()),
        key,
        value: Some("v{n}".to_owned()),
        headers: Vec::new(),
        partition: draws.dice.one_in(4).then(|| draws.dice.count(0, 4)),
        timestamp_ms,
        size_bytes,
        count,
        every_ms,
    })
}

fn partition_network(draws: &mut Draws<'_>) -> Command {
    let all = machines(draws.world);
    let mut groups: Vec<Vec<Machine>> = vec![Vec::new(), Vec::new()];
    for machine in all {
        match draws.dice.between(0, 4) {
            0 | 1 => groups[0].push(machine),
            2 | 3 => groups[1].push(machine),
            // A machine that is not named reaches everyone.
            _ => {}
        }
    }
    Command::PartitionNetwork { groups }
}

fn slow_link(draws: &mut Draws<'_>) -> Option<Command> {
    let directions = [LinkDirection::OneWay, LinkDirection::BothWays];
    let (from, to) = if draws.dice.one_in(2) {
        (draws.machine()?, draws.machine()?)
    } else {
        (Machine::Broker(draws.broker()?), Machine::Controller(draws.controller()?))
    };
    Some(Command::SlowLink {
        from,
        to,
        latency_ms: Some(draws.dice.between(1, 3000)),
        direction: *draws.dice.pick(&directions)?,
    })
}

fn create_topic(draws: &mut Draws<'_>) -> TopicSpec {
    let number = draws.dice.count(1, 6);
    let brokers = u32::try_from(draws.world.brokers.len()).unwrap_or(1);
    // In metric names the first two are the same, so that only one of them can be there.
    let name = match draws.dice.between(0, 9) {
        0..=3 => "a.b".to_owned(),
        4..=7 => "a_b".to_owned(),
        _ => format!("t{number}"),
    };
    let mut spec = world::topic(draws.dice, &name, brokers);
    match draws.dice.between(0, 11) {
        0 => spec.replication_factor = Some(brokers + 1),
        1 => spec.partitions = Some(0),
        2 => {
            spec.assignment = Some(vec![draws.replicas(2), draws.replicas(2)]);
            spec.partitions = Some(2);
        }
        _ => {}
    }
    spec
}

fn create_partitions(draws: &mut Draws<'_>) -> Command {
    let assignment = draws.dice.one_in(6).then(|| vec![draws.replicas(2)]);
    Command::CreatePartitions { topic: draws.topic(), total: draws.dice.count(1, 7), assignment }
}

fn alter_config(draws: &mut Draws<'_>) -> Option<AlterConfig> {
    let resource = match draws.dice.between(0, 5) {
        0 => ConfigResource::Broker(draws.broker()?),
        1 | 2 => ConfigResource::AllBrokers,
        _ => ConfigResource::Topic(draws.topic()),
    };
    let dice = &mut *draws.dice;
    if dice.one_in(10) {
        let set = vec![("broker.rack".to_owned(), Some("elsewhere".to_owned()))];
        return Some(AlterConfig { resource, set, refused: vec!["broker.rack".to_owned()] });
    }
    let topical = matches!(resource, ConfigResource::Topic(_));
    let (name, value) = match dice.between(0, 3) {
        0 => ("unclean.leader.election.enable", dice.one_in(2).to_string()),
        1 if topical => ("max.message.bytes", dice.between(150, 2000).to_string()),
        1 => ("message.max.bytes", dice.between(150, 2000).to_string()),
        _ => ("min.insync.replicas", dice.between(1, 3).to_string()),
    };
    let value = (!dice.one_in(5)).then_some(value);
    Some(AlterConfig { resource, set: vec![(name.to_owned(), value)], refused: Vec::new() })
}

/// The name of a command's action in the format.
#[must_use]
pub fn name_of(command: &Command) -> &'static str {
    match command {
        Command::Produce(_) => "produce",
        Command::StartProducer { .. } => "start_producer",
        Command::CloseProducer { .. } => "close_producer",
        Command::CrashProducer { .. } => "crash_producer",
        Command::BeginTransaction { .. } => "begin_transaction",
        Command::CommitTransaction { .. } => "commit_transaction",
        Command::AbortTransaction { .. } => "abort_transaction",
        Command::CrashBroker { .. } => "crash_broker",
        Command::StartBroker { .. } => "start_broker",
        Command::ShutdownBroker { .. } => "shutdown_broker",
        Command::PauseBroker { .. } => "pause_broker",
        Command::ResumeBroker { .. } => "resume_broker",
        Command::CrashController { .. } => "crash_controller",
        Command::StartController { .. } => "start_controller",
        Command::PartitionNetwork { .. } => "partition_network",
        Command::HealNetwork => "heal_network",
        Command::SlowLink { .. } => "slow_link",
        Command::StallReplica { .. } => "stall_replica",
        Command::UnstallReplica { .. } => "unstall_replica",
        Command::CreateTopic(_) => "create_topic",
        Command::DeleteTopic { .. } => "delete_topic",
        Command::CreatePartitions { .. } => "create_partitions",
        Command::AlterConfig(_) => "alter_config",
        Command::ReassignPartitions { .. } => "reassign_partitions",
        Command::ElectLeaders { .. } => "elect_leaders",
        Command::DeleteRecords { .. } => "delete_records",
        Command::StartConsumer { .. } => "start_consumer",
        Command::StopConsumer { .. } => "stop_consumer",
        Command::CrashConsumer { .. } => "crash_consumer",
        Command::PauseConsumer { .. } => "pause_consumer",
        Command::ResumeConsumer { .. } => "resume_consumer",
        Command::PausePartitions { .. } => "pause_partitions",
        Command::ResumePartitions { .. } => "resume_partitions",
        Command::Commit { .. } => "commit",
        Command::Seek { .. } => "seek",
        Command::Acknowledge { .. } => "acknowledge",
        Command::ResetOffsets { .. } => "reset_offsets",
        Command::RunRetention { .. } => "run_retention",
        Command::RunCleaner { .. } => "run_cleaner",
    }
}
