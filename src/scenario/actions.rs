//! `actions`: every entry becomes a [`Command`]. Names are held against the file; what a real
//! cluster would refuse at run time is no mistake here.

use super::action_keys::ACTION;
use super::context::Context;
use super::fields::Fields;
use super::model::Action;
use super::tree::Node;
use super::{duration, limits, placement, settings, topology};
use crate::catalog::{self, Mode, Scope};
use crate::diag::Code;
use crate::sim::command::{
    AcknowledgeKind, AlterConfig, Command, ConfigResource, ElectionKind, LinkDirection, PauseMode,
    Produce, ResetTo, TransactionOffsets,
};
use crate::sim::ids::{BrokerId, Machine, Offset};
use crate::sim::world::World;

/// Reads `actions`; entries that cannot be read are reported and left out.
pub fn read(context: &mut Context<'_>, node: Option<&Node>, world: &World) -> Vec<Action> {
    let items = node.map_or(&[][..], Node::items);
    if items.len() > limits::ACTIONS {
        let message = format!("a scenario has at most {} actions", limits::ACTIONS);
        context.error(Code::Limit, items[limits::ACTIONS].span, message);
    }
    let mut record_count = 0_u64;
    let mut actions = Vec::new();
    for item in items {
        let Some(action) = action(context, item, world) else { continue };
        if let Command::Produce(produce) = &action.command {
            let before = record_count;
            record_count = record_count.saturating_add(produce.count);
            if before <= limits::RECORDS && record_count > limits::RECORDS {
                let message = format!("a scenario produces at most {} records", limits::RECORDS);
                context.error(Code::Limit, item.span, message);
            }
        }
        actions.push(action);
    }
    actions
}

fn action(context: &mut Context<'_>, item: &Node, world: &World) -> Option<Action> {
    let at_ms = item.get("at").and_then(|at| time(context, at));
    let (name, node) =
        ACTION.one_of.iter().find_map(|name| item.get(name).map(|node| (*name, node)))?;
    let mut fields = Fields { context, node };
    let command = command(&mut fields, name, world)?;
    Some(Action { name, at_ms: at_ms?, command, span: item.span })
}

/// Reads a time within the limit of simulated time.
pub fn time(context: &mut Context<'_>, node: &Node) -> Option<u64> {
    let ms = duration::parse(node.text()?).ok()?;
    if ms > limits::TIME_MS {
        context.error(Code::Limit, node.span, "a run lasts at most 30 days of simulated time");
        return None;
    }
    Some(ms)
}

fn command(fields: &mut Fields<'_, '_>, name: &str, world: &World) -> Option<Command> {
    Some(match name {
        "produce" => Command::Produce(produce(fields, world)?),
        "heal_network" => Command::HealNetwork,
        "partition_network" => partition_network(fields),
        "slow_link" => slow_link(fields)?,
        "elect_leaders" => Command::ElectLeaders {
            kind: match fields.text("type")? {
                "unclean" => ElectionKind::Unclean,
                _ => ElectionKind::Preferred,
            },
            partition: fields.partition_or_all(),
        },
        "run_retention" => Command::RunRetention { partition: fields.partition_or_all() },
        "run_cleaner" => Command::RunCleaner { partition: fields.partition_or_all() },
        "crash_controller" => Command::CrashController { controller: fields.controller()? },
        "start_controller" => Command::StartController { controller: fields.controller()? },
        "reset_offsets" => reset_offsets(fields)?,
        _ if name.ends_with("_producer") || name.ends_with("_transaction") => {
            of_producer(fields, name)?
        }
        _ if name.ends_with("_broker") || name.ends_with("stall_replica") => {
            of_broker(fields, name)?
        }
        _ if name.ends_with("_consumer") => of_consumer(fields, name)?,
        "commit" | "seek" | "acknowledge" | "pause_partitions" | "resume_partitions" => {
            of_reader(fields, name)?
        }
        _ => of_topic(fields, name)?,
    })
}

fn of_producer(fields: &mut Fields<'_, '_>, name: &str) -> Option<Command> {
    let offsets = match (name, fields.node.get("offsets")) {
        ("commit_transaction", Some(node)) => {
            let mut inner = Fields { context: fields.context, node };
            let (group, consumer) = (inner.group("group"), inner.consumer());
            Some(TransactionOffsets { group: group?, consumer: consumer? })
        }
        _ => None,
    };
    let producer = fields.producer()?;
    Some(match name {
        "start_producer" => Command::StartProducer { producer },
        "close_producer" => Command::CloseProducer { producer },
        "crash_producer" => Command::CrashProducer { producer },
        "begin_transaction" => Command::BeginTransaction { producer },
        "commit_transaction" => Command::CommitTransaction { producer, offsets },
        _ => Command::AbortTransaction { producer },
    })
}

fn of_broker(fields: &mut Fields<'_, '_>, name: &str) -> Option<Command> {
    let partition = fields.partition_or_all();
    let broker = fields.broker()?;
    Some(match name {
        "crash_broker" => Command::CrashBroker { broker },
        "start_broker" => Command::StartBroker { broker },
        "shutdown_broker" => Command::ShutdownBroker { broker },
        "pause_broker" => Command::PauseBroker { broker },
        "resume_broker" => Command::ResumeBroker { broker },
        "stall_replica" => Command::StallReplica { broker, partition },
        _ => Command::UnstallReplica { broker, partition },
    })
}

fn of_consumer(fields: &mut Fields<'_, '_>, name: &str) -> Option<Command> {
    let mode = match fields.text("mode") {
        Some("app") => PauseMode::App,
        _ => PauseMode::Process,
    };
    let consumer = fields.consumer()?;
    Some(match name {
        "start_consumer" => Command::StartConsumer { consumer },
        "stop_consumer" => Command::StopConsumer { consumer },
        "crash_consumer" => Command::CrashConsumer { consumer },
        "pause_consumer" => Command::PauseConsumer { consumer, mode },
        _ => Command::ResumeConsumer { consumer, mode },
    })
}

fn of_reader(fields: &mut Fields<'_, '_>, name: &str) -> Option<Command> {
    let consumer = fields.consumer();
    if name.ends_with("_partitions") {
        let partitions = fields.partitions();
        let consumer = consumer?;
        return Some(match name {
            "pause_partitions" => Command::PausePartitions { consumer, partitions },
            _ => Command::ResumePartitions { consumer, partitions },
        });
    }
    let partition = fields.partition("partition");
    let (consumer, partition) = (consumer?, partition?);
    let offset = fields.number("offset").map(Offset);
    Some(match name {
        "commit" => Command::Commit { consumer, partition, offset },
        "seek" => Command::Seek { consumer, partition, offset: offset? },
        _ => {
            let kind = match fields.text("type")? {
                "release" => AcknowledgeKind::Release,
                "reject" => AcknowledgeKind::Reject,
                "renew" => AcknowledgeKind::Renew,
                _ => AcknowledgeKind::Accept,
            };
            Command::Acknowledge { consumer, partition, offset: offset?, kind }
        }
    })
}

fn of_topic(fields: &mut Fields<'_, '_>, name: &str) -> Option<Command> {
    let node = fields.node;
    Some(match name {
        "create_topic" => {
            let topic = node.get("topic")?;
            let spec = topology::topic(fields.context, topic.text()?, topic.span, node);
            Command::CreateTopic(spec)
        }
        "delete_topic" => Command::DeleteTopic { topic: fields.topic()? },
        "create_partitions" => Command::CreatePartitions {
            assignment: node.get("assignment").map(|rows| placement::read(fields.context, rows)),
            topic: fields.topic()?,
            total: fields.number("total")?,
        },
        "alter_config" => alter_config(fields)?,
        "reassign_partitions" => Command::ReassignPartitions {
            replicas: placement::replicas(fields.context, node.get("replicas")?),
            partition: fields.partition("partition")?,
        },
        "delete_records" => Command::DeleteRecords {
            partition: fields.partition("partition")?,
            before: fields.number("before").map(Offset)?,
        },
        _ => return None,
    })
}

fn produce(fields: &mut Fields<'_, '_>, world: &World) -> Option<Produce> {
    let node = fields.node;
    let producer = fields.producer();
    let topic = match node.get("topic") {
        Some(_) => Some(fields.topic()?),
        None => None,
    };
    let producer = producer?;
    let default = world.producers.iter().find(|spec| spec.name == producer);
    let default = default.and_then(|spec| spec.topic.as_ref());
    let Some(target) = topic.as_ref().or(default) else {
        let message = format!("`{producer}` has no topic of its own, so `produce` needs `topic`");
        fields.context.error(Code::MissingKey, node.span, message);
        return None;
    };
    let partition = fields.number("partition");
    if let (Some(partition), Some(node)) = (partition, node.get("partition"))
        && let Err(note) = fields.context.names.partition(&format!("{target}-{partition}"))
    {
        let message = format!("`{target}` has no partition {partition}");
        let problem =
            crate::diag::Problem::error(Code::UnknownName, fields.context.file, node.span, message);
        fields.context.report.push(problem.note(note));
    }
    let headers = node.get("headers").map_or(&[][..], Node::entries).iter();
    let text_of = |key: &str| node.get(key).and_then(Node::text).map(str::to_owned);
    Some(Produce {
        producer,
        topic,
        key: text_of("key"),
        value: text_of("value"),
        headers: headers
            .filter_map(|header| Some((header.key.clone(), header.value.text()?.to_owned())))
            .collect(),
        partition,
        timestamp_ms: fields.text("timestamp").and_then(|text| duration::parse_signed(text).ok()),
        size_bytes: fields.number("size"),
        count: fields.number("count").unwrap_or(1),
        every_ms: fields.text("every").and_then(|text| duration::parse(text).ok()).unwrap_or(0),
    })
}

fn partition_network(fields: &mut Fields<'_, '_>) -> Command {
    let rows = fields.node.get("groups").map_or(&[][..], Node::items);
    let mut seen: Vec<Machine> = Vec::new();
    let mut groups = Vec::new();
    for row in rows {
        let mut group = Vec::new();
        for item in row.items() {
            let Some(machine) = fields.machine(item) else { continue };
            if seen.contains(&machine) {
                let message = format!("`{machine}` stands in two groups");
                fields.context.error(Code::DuplicateName, item.span, message);
            }
            seen.push(machine.clone());
            group.push(machine);
        }
        groups.push(group);
    }
    Command::PartitionNetwork { groups }
}

fn slow_link(fields: &mut Fields<'_, '_>) -> Option<Command> {
    let node = fields.node;
    let from = node.get("from").and_then(|node| fields.machine(node));
    let to = node.get("to").and_then(|node| fields.machine(node));
    let latency = node.get("latency")?;
    let latency_ms = match latency.text()? {
        "default" => None,
        text => match duration::parse(text) {
            Ok(0) => {
                fields.context.error(Code::BadValue, latency.span, "`latency` is at least 1ms");
                return None;
            }
            Ok(ms) => Some(ms),
            Err(reason) => {
                let message = format!("{reason}; `latency` takes a duration or `default`");
                fields.context.error(Code::BadDuration, latency.span, message);
                return None;
            }
        },
    };
    let direction = if node.get("one_way").is_some_and(Node::is_true) {
        LinkDirection::OneWay
    } else {
        LinkDirection::BothWays
    };
    Some(Command::SlowLink { from: from?, to: to?, latency_ms, direction })
}

fn alter_config(fields: &mut Fields<'_, '_>) -> Option<Command> {
    let node = fields.node;
    let (resource, scopes) = if node.get("topic").is_some() {
        (ConfigResource::Topic(fields.topic()?), settings::TOPIC)
    } else if let Some(broker) = node.get("broker") {
        let resource = match broker.text()? {
            "all" => ConfigResource::AllBrokers,
            _ => ConfigResource::Broker(known_broker(fields, broker)?),
        };
        (resource, settings::BROKER)
    } else {
        (ConfigResource::Group(fields.group("group")?), settings::GROUP_AT_BROKER)
    };
    let set = node.get("set")?;
    let given = settings::read(fields.context, Some(set), scopes);
    let mut changes = Vec::new();
    for entry in set.entries() {
        if entry.value.is_null() {
            if let Err(mistake) = settings::known(&entry.key, scopes) {
                let problem = mistake.at(fields.context.file, entry.key_span);
                fields.context.report.push(problem);
            }
            changes.push((entry.key.clone(), None));
        } else if let Some(value) = given.get(&entry.key) {
            changes.push((entry.key.clone(), Some(value.clone())));
        }
    }
    let refused = changes
        .iter()
        .filter(|(name, _)| !may_change(&resource, name))
        .map(|(name, _)| name.clone())
        .collect();
    Some(Command::AlterConfig(AlterConfig { resource, set: changes, refused }))
}

/// Whether Kafka takes a setting of this resource while it runs.
fn may_change(resource: &ConfigResource, name: &str) -> bool {
    let broker = || catalog::setting(Scope::Broker, name).map(|setting| setting.mode);
    match resource {
        ConfigResource::Topic(_) | ConfigResource::Group(_) => true,
        ConfigResource::Broker(_) => broker() != Some(Mode::ReadOnly),
        ConfigResource::AllBrokers => broker() == Some(Mode::ClusterWide),
    }
}

fn known_broker(fields: &mut Fields<'_, '_>, node: &Node) -> Option<BrokerId> {
    if node.number::<u32>().is_none() {
        let message = format!("`{}` is no broker", node.text().unwrap_or_default());
        fields.context.error(Code::UnknownName, node.span, message);
    }
    placement::broker(fields.context, node)
}

fn reset_offsets(fields: &mut Fields<'_, '_>) -> Option<Command> {
    let node = fields.node.get("to")?;
    let to = match node.text()? {
        "earliest" => ResetTo::Earliest,
        "latest" => ResetTo::Latest,
        text => {
            let Some(offset) = node.number() else {
                let message =
                    format!("`to` cannot be `{text}`; it is earliest, latest or an offset");
                fields.context.error(Code::BadValue, node.span, message);
                return None;
            };
            ResetTo::Offset(Offset(offset))
        }
    };
    let (group, partition) = (fields.group("group"), fields.partition_or_all());
    Some(Command::ResetOffsets { group: group?, to, partition })
}
