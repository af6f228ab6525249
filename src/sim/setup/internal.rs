//! Kafka's own topics: which a world needs, and their settings.

use std::collections::BTreeMap;

use crate::sim::group::OFFSETS_TOPIC;
use crate::sim::settings::Effective;
use crate::sim::txn::TRANSACTIONS_TOPIC;
use crate::sim::world::{Protocol, Settings, TopicSpec, World};

/// An internal topic: its name, and the broker's settings that shape it.
struct Internal {
    name: &'static str,
    partitions: &'static str,
    replication_factor: &'static str,
    /// Each of the topic's settings with the broker's that gives its value.
    config: &'static [(&'static str, &'static str)],
    needed: fn(&World) -> bool,
}

const INTERNAL: &[Internal] = &[
    Internal {
        name: OFFSETS_TOPIC,
        partitions: "offsets.topic.num.partitions",
        replication_factor: "offsets.topic.replication.factor",
        config: &[("segment.bytes", "offsets.topic.segment.bytes")],
        needed: needs_groups,
    },
    Internal {
        name: TRANSACTIONS_TOPIC,
        partitions: "transaction.state.log.num.partitions",
        replication_factor: "transaction.state.log.replication.factor",
        config: &[
            ("segment.bytes", "transaction.state.log.segment.bytes"),
            ("min.insync.replicas", "transaction.state.log.min.isr"),
        ],
        needed: needs_transactions,
    },
];

fn needs_transactions(world: &World) -> bool {
    world.producers.iter().any(|producer| producer.config.contains_key("transactional.id"))
}

fn needs_groups(world: &World) -> bool {
    world
        .groups
        .iter()
        .any(|group| group.protocol != Protocol::Share || !group.consumers.is_empty())
}

/// Those that this world needs and that the file does not place.
pub(super) fn internal_topics(world: &World) -> Vec<TopicSpec> {
    let config = Effective::of(&world.config);
    let count = |name: &str| u32::try_from(config.count(name)).ok();
    let placed = |name: &str| world.topics.iter().any(|topic| topic.name == name);
    INTERNAL
        .iter()
        .filter(|topic| (topic.needed)(world) && !placed(topic.name))
        .map(|topic| TopicSpec {
            name: topic.name.to_owned(),
            partitions: count(topic.partitions),
            replication_factor: count(topic.replication_factor),
            assignment: None,
            config: BTreeMap::new(),
        })
        .collect()
}

/// A topic's own settings; Kafka makes its internal topics compacted.
pub(super) fn topic_config(topic: &TopicSpec, world: &World) -> Settings {
    let Some(internal) = INTERNAL.iter().find(|one| one.name == topic.name) else {
        return topic.config.clone();
    };
    let broker = Effective::of(&world.config);
    let mut config = Settings::from([("cleanup.policy".to_owned(), "compact".to_owned())]);
    for (setting, given_by) in internal.config {
        config.insert((*setting).to_owned(), broker.text(given_by).to_owned());
    }
    config.extend(topic.config.clone());
    config
}
