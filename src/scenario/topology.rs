//! The world that a run starts from: brokers, topics, producers, groups, as the file declares them.

use std::collections::BTreeSet;

use super::context::Context;
use super::limits;
use super::read::{text_of, texts};
use super::settings;
use super::tree::{Entry, Node};
use super::{duration, placement};
use crate::catalog::Scope;
use crate::diag::{Code, Problem};
use crate::sim::ids::{BrokerId, is_internal};
use crate::sim::world::{
    BrokerSpec, ConsumerSpec, GroupSpec, ProducerSpec, Protocol, Settings, Start, TopicSpec, World,
};

/// Reads the world.
pub fn read(context: &mut Context<'_>, root: &Node) -> World {
    let timing = root.get("timing");
    let cluster = root.get("cluster");
    let config = cluster.and_then(|cluster| cluster.get("config"));
    let settings = settings::read(context, config, settings::BROKER);
    settings::refuse(context, Scope::Broker, &settings, &[config]);
    unique_names(context, root);
    let network_ms = duration_of(timing, "network").unwrap_or(1);
    if network_ms == 0
        && let Some(node) = timing.and_then(|timing| timing.get("network"))
    {
        context.error(Code::BadValue, node.span, "`network` is at least 1ms");
    }
    let world = World {
        seed: root.get("seed").and_then(Node::number).unwrap_or(1),
        warm: root.get("warm").is_none_or(Node::is_true),
        network_ms: network_ms.max(1),
        append_ms: duration_of(timing, "append").unwrap_or(0),
        controllers: context.names.controllers.clone(),
        brokers: brokers(context, cluster),
        config: settings,
        topics: Vec::new(),
        producers: Vec::new(),
        groups: Vec::new(),
    };
    let topics = entries(root, "topics").iter();
    let topics: Vec<TopicSpec> = topics.map(|entry| declared_topic(context, entry)).collect();
    let producers = entries(root, "producers").iter();
    let producers = producers.map(|entry| producer(context, entry)).collect();
    let groups = entries(root, "groups").iter();
    let groups = groups.map(|entry| group(context, entry, &world.config)).collect();
    let world = World { topics, producers, groups, ..world };
    limit_partitions(context, root, &world);
    world
}

fn entries<'a>(root: &'a Node, key: &str) -> &'a [Entry] {
    root.get(key).map_or(&[], Node::entries)
}

fn duration_of(node: Option<&Node>, key: &str) -> Option<u64> {
    duration::parse(node?.get(key)?.text()?).ok()
}

fn brokers(context: &mut Context<'_>, cluster: Option<&Node>) -> Vec<BrokerSpec> {
    let racks = texts(cluster.and_then(|cluster| cluster.get("racks")));
    let node = cluster.and_then(|cluster| cluster.get("brokers"));
    let listed = node.map_or(&[][..], Node::items);
    if listed.len() as u64 > limits::BROKERS {
        let message = format!("a scenario has at most {} brokers", limits::BROKERS);
        context.error(Code::Limit, node.map_or_else(Default::default, |node| node.span), message);
    }
    if let Some(node) =
        node.filter(|node| matches!(&node.kind, super::tree::Kind::List(items) if items.is_empty()))
    {
        context.error(Code::BadValue, node.span, "a cluster has at least one broker");
    }
    let mut brokers: Vec<BrokerSpec> = Vec::new();
    for item in listed {
        let Some(id_node) = item.get("id") else { continue };
        let Some(id) = id_node.number().map(BrokerId) else { continue };
        if brokers.iter().any(|broker| broker.id == id) {
            let message = format!("there are two brokers {id}");
            context.error(Code::DuplicateName, id_node.span, message);
        }
        brokers.push(BrokerSpec { id, rack: text_of(item, "rack") });
    }
    if listed.is_empty() {
        let ids = context.names.brokers.iter();
        brokers.extend(ids.map(|id| BrokerSpec { id: *id, rack: None }));
    }
    if !racks.is_empty() {
        for (broker, rack) in brokers.iter_mut().zip(racks.iter().cycle()) {
            broker.rack.get_or_insert_with(|| rack.clone());
        }
    }
    brokers
}

/// Reads a topic of the world, which must be possible; what `create_topic` asks for need not be.
fn declared_topic(context: &mut Context<'_>, entry: &Entry) -> TopicSpec {
    let spec = topic(context, &entry.key, entry.key_span, &entry.value);
    placement::check(context, &spec, &entry.value, entry.key_span);
    spec
}

/// Reads a topic as it stands under `topics`, and in `create_topic`.
pub fn topic(
    context: &mut Context<'_>,
    name: &str,
    name_span: crate::diag::Span,
    node: &Node,
) -> TopicSpec {
    if let Err(reason) = topic_name(name) {
        context.error(Code::BadId, name_span, format!("`{name}` is not a topic's name: {reason}"));
    }
    let config = node.get("config");
    let settings = settings::read(context, config, settings::TOPIC);
    settings::refuse(context, Scope::Topic, &settings, &[config]);
    TopicSpec {
        name: name.to_owned(),
        partitions: node.get("partitions").and_then(Node::number),
        replication_factor: node.get("replication_factor").and_then(Node::number),
        assignment: node.get("assignment").map(|rows| placement::read(context, rows)),
        config: settings,
    }
}

/// Kafka's rule for names of topics.
fn topic_name(name: &str) -> Result<(), &'static str> {
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    match name {
        "" => Err("it is empty"),
        "." | ".." => Err("it cannot be `.` or `..`"),
        _ if name.len() > 249 => Err("it is longer than 249 characters"),
        _ if !name.bytes().all(legal) => {
            Err("only ASCII letters, digits, `.`, `_` and `-` may stand in it")
        }
        _ => Ok(()),
    }
}

fn start(context: &mut Context<'_>, node: &Node) -> Start {
    let Some(node) = node.get("start") else { return Start::WithWorld };
    match node.text() {
        Some("manual") => Start::Manual,
        Some(text) => match duration::parse(text) {
            Ok(ms) => Start::At(ms),
            Err(reason) => {
                let message = format!("{reason}; `start` takes a duration or `manual`");
                context.error(Code::BadDuration, node.span, message);
                Start::Manual
            }
        },
        None => Start::WithWorld,
    }
}

fn producer(context: &mut Context<'_>, entry: &Entry) -> ProducerSpec {
    let node = &entry.value;
    if let Some(topic) = node.get("topic") {
        known_topic(context, topic);
    }
    let config = node.get("config");
    let settings = settings::read(context, config, settings::PRODUCER);
    settings::refuse(context, Scope::Producer, &settings, &[config]);
    ProducerSpec {
        name: entry.key.clone(),
        topic: text_of(node, "topic"),
        config: settings,
        start: start(context, node),
    }
}

fn group(context: &mut Context<'_>, entry: &Entry, cluster: &Settings) -> GroupSpec {
    let node = &entry.value;
    for topic in node.get("topics").map_or(&[][..], Node::items) {
        known_topic(context, topic);
    }
    let protocol = match node.get("protocol").and_then(Node::text) {
        Some("consumer") => Protocol::Consumer,
        Some("share") => Protocol::Share,
        _ => Protocol::Classic,
    };
    let config = node.get("config");
    let settings = settings::read(context, config, settings::GROUP);
    let mut group = GroupSpec {
        name: entry.key.clone(),
        topics: texts(node.get("topics")),
        protocol,
        config: settings,
        consumers: Vec::new(),
    };
    check_clients(context, &group, &Settings::new(), &[config]);
    let mut at_broker: Settings = cluster.clone();
    at_broker.extend(group.config.clone());
    settings::refuse(context, Scope::Group, &at_broker, &[config]);
    for item in node.get("consumers").map_or(&[][..], Node::items) {
        let consumer = consumer(context, item, node, &group);
        group.consumers.extend(consumer);
    }
    group
}

fn consumer(
    context: &mut Context<'_>,
    item: &Node,
    group_node: &Node,
    group: &GroupSpec,
) -> Option<ConsumerSpec> {
    let name = item.get("name").unwrap_or(item).text()?.to_owned();
    for topic in item.get("topics").map_or(&[][..], Node::items) {
        known_topic(context, topic);
    }
    let topics = item.get("topics").map(|topics| texts(Some(topics)));
    if group.topics.is_empty() && topics.as_ref().is_none_or(Vec::is_empty) {
        let message = format!("`{name}` has no topics to read, and neither has its group");
        context.error(Code::MissingKey, item.span, message);
    }
    let config = item.get("config");
    let settings = settings::read(context, config, settings::CONSUMER);
    if config.is_some() {
        check_clients(context, group, &settings, &[group_node.get("config"), config]);
    }
    let duration =
        |key: &str| duration_of(Some(item), key).or_else(|| duration_of(Some(group_node), key));
    if duration("poll_interval") == Some(0) && duration("poll_timeout") == Some(0) {
        let message = format!("`{name}` polls without ever letting time pass");
        let problem = Problem::error(Code::BadValue, context.file, item.span, message)
            .note("`poll_interval` and `poll_timeout` are both 0");
        context.report.push(problem);
    }
    Some(ConsumerSpec {
        name,
        start: start(context, item),
        config: settings,
        topics,
        poll_interval_ms: duration("poll_interval").unwrap_or(100),
        poll_timeout_ms: duration("poll_timeout").unwrap_or(1_000),
    })
}

/// Holds a client's settings together, over those of its group. The catalogue's rules are those of
/// consumers, which share consumers do not follow.
fn check_clients(
    context: &mut Context<'_>,
    group: &GroupSpec,
    own: &Settings,
    configs: &[Option<&Node>],
) {
    if group.protocol == Protocol::Share {
        return;
    }
    let mut all = group.config.clone();
    all.extend(own.clone());
    if group.protocol == Protocol::Consumer {
        all.insert("group.protocol".to_owned(), "consumer".to_owned());
    }
    settings::refuse(context, Scope::Consumer, &all, configs);
}

/// Reports a topic that the file neither declares nor creates.
pub fn known_topic(context: &mut Context<'_>, node: &Node) {
    let known = node.text().is_none_or(|name| context.names.topics.contains_key(name));
    if !known {
        context.unknown("topic", node, &context.names.declared_topics());
    }
}

/// Producers, consumers and controllers share one space of names.
fn unique_names(context: &mut Context<'_>, root: &Node) {
    let mut seen: BTreeSet<String> = context.names.controllers.iter().cloned().collect();
    let producers =
        entries(root, "producers").iter().map(|entry| (entry.key.as_str(), entry.key_span));
    let consumers = entries(root, "groups").iter().flat_map(|group| {
        let items = group.value.get("consumers").map_or(&[][..], Node::items);
        items.iter().filter_map(|item| {
            let name = item.get("name").unwrap_or(item);
            Some((name.text()?, name.span))
        })
    });
    for (name, span) in producers.chain(consumers) {
        if !seen.insert(name.to_owned()) {
            let message = format!("the name `{name}` is taken");
            context.error(Code::DuplicateName, span, message);
        }
    }
}

/// Settings that say how many partitions Kafka's own topics have.
const INTERNAL_PARTITIONS: [&str; 3] = [
    "offsets.topic.num.partitions",
    "share.coordinator.state.topic.num.partitions",
    "transaction.state.log.num.partitions",
];

fn limit_partitions(context: &mut Context<'_>, root: &Node, world: &World) {
    let config = root.get("cluster").and_then(|cluster| cluster.get("config"));
    for entry in config.map_or(&[][..], Node::entries) {
        let count: Option<u64> = entry.value.number();
        if INTERNAL_PARTITIONS.contains(&entry.key.as_str())
            && count.is_some_and(|count| count > limits::PARTITIONS)
        {
            let message = format!("`{}` is at most {} here", entry.key, limits::PARTITIONS);
            context.error(Code::Limit, entry.value.span, message);
        }
    }
    let own = world.topics.iter().filter(|topic| !is_internal(&topic.name));
    let count: u64 = own
        .map(|topic| u64::from(context.names.topics.get(&topic.name).copied().unwrap_or(1)))
        .sum();
    if count > limits::PARTITIONS {
        let span = root.entry("topics").map_or_else(Default::default, |entry| entry.key_span);
        let message = format!(
            "a scenario has at most {} partitions; this one has {count}",
            limits::PARTITIONS
        );
        context.error(Code::Limit, span, message);
    }
}
