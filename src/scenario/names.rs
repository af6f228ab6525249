//! The names that stand anywhere in a file: what an action, an observable or a list may refer to.

use std::collections::{BTreeMap, BTreeSet};

use super::tree::Node;
use crate::sim::ids::{BrokerId, Machine, TopicPartition, is_internal};

/// Partitions of an internal topic that the file does not place: Kafka's default.
const INTERNAL_PARTITIONS: u32 = 50;

/// The names of one file, with everything that its actions and variants bring.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// The brokers.
    pub brokers: BTreeSet<BrokerId>,
    /// The controllers.
    pub controllers: Vec<String>,
    /// The racks.
    pub racks: BTreeSet<String>,
    /// The topics, each with the most partitions that it ever has.
    pub topics: BTreeMap<String, u32>,
    /// The producers.
    pub producers: BTreeSet<String>,
    /// The groups.
    pub groups: BTreeSet<String>,
    /// The consumers of all groups.
    pub consumers: BTreeSet<String>,
    /// The `transactional.id`s.
    pub transactions: BTreeSet<String>,
    /// How many steps the file has.
    pub step_count: u32,
}

impl Names {
    /// Collects the names of a file's tree.
    pub fn collect(root: &Node) -> Names {
        let mut names = Names::default();
        names.cluster(root);
        names.topics(root);
        for producer in entries(root, "producers") {
            names.producers.insert(producer.key.clone());
            let id = producer.value.get("config").and_then(|config| config.get("transactional.id"));
            names.transactions.extend(id.and_then(Node::text).map(str::to_owned));
        }
        for group in entries(root, "groups") {
            names.groups.insert(group.key.clone());
            for consumer in group.value.get("consumers").map_or(&[][..], Node::items) {
                let name = consumer.get("name").unwrap_or(consumer).text();
                names.consumers.extend(name.map(str::to_owned));
            }
        }
        names.step_count = u32::try_from(items(root, "steps").len()).unwrap_or(u32::MAX);
        names
    }

    /// Adds the names of another tree of the same file, a variant's, but for its machines: a world
    /// has the brokers and controllers that it starts with.
    pub fn merge(&mut self, other: Names) {
        for (topic, partitions) in other.topics {
            self.topic(&topic, partitions);
        }
        self.producers.extend(other.producers);
        self.groups.extend(other.groups);
        self.consumers.extend(other.consumers);
        self.transactions.extend(other.transactions);
        self.step_count = self.step_count.max(other.step_count);
    }

    /// The machine of this name, as `partition_network` and `slow_link` take it.
    pub fn machine(&self, name: &str) -> Option<Machine> {
        let broker = name.strip_prefix("broker-").unwrap_or(name).parse().ok().map(BrokerId);
        if let Some(broker) = broker.filter(|broker| self.brokers.contains(broker)) {
            return Some(Machine::Broker(broker));
        }
        if self.controllers.iter().any(|controller| controller == name) {
            return Some(Machine::Controller(name.to_owned()));
        }
        let client = self.producers.contains(name) || self.consumers.contains(name);
        client.then(|| Machine::Client(name.to_owned()))
    }

    /// Every machine, as `partition_network` takes them.
    pub fn machines(&self) -> Vec<String> {
        let brokers = self.brokers.iter().map(ToString::to_string);
        let named = self.controllers.iter().chain(&self.producers).chain(&self.consumers);
        brokers.chain(named.cloned()).collect()
    }

    /// The partition of this name, where the file has it.
    ///
    /// # Errors
    /// A sentence: what the file has instead.
    pub fn partition(&self, name: &str) -> Result<TopicPartition, String> {
        let Some(partition) = TopicPartition::parse(name) else {
            return Err("a partition is written <topic>-<number>, as orders-0".to_owned());
        };
        match self.topics.get(&partition.topic) {
            None => Err(format!("the topics: {}", self.declared_topics().join(", "))),
            Some(count) if partition.partition < *count => Ok(partition),
            Some(1) => Err(format!("`{}` has the partition 0 only", partition.topic)),
            Some(count) => {
                Err(format!("`{}` has the partitions 0 to {}", partition.topic, count - 1))
            }
        }
    }

    /// The topics without Kafka's own.
    pub fn declared_topics(&self) -> Vec<&str> {
        self.topics.keys().map(String::as_str).filter(|topic| !is_internal(topic)).collect()
    }

    /// The first partition of every topic, for suggestions.
    pub fn likely_partitions(&self) -> Vec<String> {
        self.declared_topics().iter().map(|topic| format!("{topic}-0")).collect()
    }

    fn cluster(&mut self, root: &Node) {
        let cluster = root.get("cluster");
        let brokers = cluster.and_then(|cluster| cluster.get("brokers"));
        let listed = brokers.map_or(&[][..], Node::items);
        if listed.is_empty() {
            let count = brokers.and_then(Node::number).unwrap_or(3).min(100);
            self.brokers.extend((1..=count).map(BrokerId));
        }
        let ids = listed.iter().filter_map(|broker| broker.get("id")?.number());
        self.brokers.extend(ids.map(BrokerId));
        let dealt = cluster.map_or(&[][..], |cluster| items(cluster, "racks")).iter();
        let racks = dealt.chain(listed.iter().filter_map(|broker| broker.get("rack")));
        self.racks.extend(racks.filter_map(Node::text).map(str::to_owned));
        let controllers = cluster.and_then(|cluster| cluster.get("controllers"));
        let count: u32 = controllers.and_then(Node::number).unwrap_or(1).min(100);
        self.controllers.extend((1..=count).map(|number| format!("controller-{number}")));
    }

    fn topics(&mut self, root: &Node) {
        let default = root
            .get("cluster")
            .and_then(|cluster| cluster.get("config")?.get("num.partitions")?.number())
            .unwrap_or(1);
        let partitions = |topic: &Node| {
            let placed = topic.get("assignment").map_or(0, |rows| rows.items().len());
            let named = topic.get("partitions").and_then(Node::number);
            named
                .unwrap_or_else(|| u32::try_from(placed).ok().filter(|n| *n > 0).unwrap_or(default))
        };
        for topic in entries(root, "topics") {
            self.topic(&topic.key, partitions(&topic.value));
        }
        let variants = items(root, "variants").iter().flat_map(|node| items(node, "actions"));
        let tables = items(root, "tables")
            .iter()
            .flat_map(|table| ["rows", "columns"].into_iter().flat_map(|axis| items(table, axis)));
        let table_actions = tables.flat_map(|change| items(change, "actions"));
        let actions = items(root, "actions").iter().chain(variants).chain(table_actions);
        let actions: Vec<&Node> = actions.collect();
        for created in actions.iter().filter_map(|action| action.get("create_topic")) {
            let name = created.get("topic").and_then(Node::text).unwrap_or_default();
            self.topic(name, partitions(created));
        }
        for grown in actions.iter().filter_map(|action| action.get("create_partitions")) {
            let name = grown.get("topic").and_then(Node::text).unwrap_or_default();
            if self.topics.contains_key(name) {
                self.topic(name, grown.get("total").and_then(Node::number).unwrap_or(1));
            }
        }
        let internal = ["__consumer_offsets", "__transaction_state", "__share_group_state"];
        for topic in internal {
            self.topics.entry(topic.to_owned()).or_insert(INTERNAL_PARTITIONS);
        }
    }

    fn topic(&mut self, name: &str, partitions: u32) {
        if !name.is_empty() {
            let most = self.topics.entry(name.to_owned()).or_default();
            *most = partitions.max(*most);
        }
    }
}

fn entries<'a>(node: &'a Node, key: &str) -> &'a [super::tree::Entry] {
    node.get(key).map_or(&[], Node::entries)
}

fn items<'a>(node: &'a Node, key: &str) -> &'a [Node] {
    node.get(key).map_or(&[], Node::items)
}
