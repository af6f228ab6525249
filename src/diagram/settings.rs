//! The few settings that pictures and their twins print, with Kafka's defaults.

use crate::sim::snapshot::Snapshot;
use crate::sim::world::World;

/// `min.insync.replicas` of a topic: its own, the cluster's, or Kafka's default of 1.
pub(super) fn min_insync_replicas(world: &World, snapshot: &Snapshot, topic: &str) -> String {
    let name = "min.insync.replicas";
    let own = snapshot.topics.get(topic).and_then(|view| view.config.get(name));
    let own = own.or_else(|| {
        let declared = world.topics.iter().find(|spec| spec.name == topic);
        declared.and_then(|spec| spec.config.get(name))
    });
    own.or_else(|| world.config.get(name)).map_or("1", String::as_str).to_owned()
}

/// Whether the cleaner compacts a topic (`cleanup.policy`).
pub(super) fn is_compacted(world: &World, snapshot: &Snapshot, topic: &str) -> bool {
    let name = "cleanup.policy";
    let own = snapshot.topics.get(topic).and_then(|view| view.config.get(name));
    let own = own.or_else(|| {
        let declared = world.topics.iter().find(|spec| spec.name == topic);
        declared.and_then(|spec| spec.config.get(name))
    });
    own.is_some_and(|policy| policy.contains("compact"))
}

/// `acks` of a producer: its own, or Kafka's default.
pub(super) fn acks(world: &World, snapshot: &Snapshot, producer: &str) -> String {
    let now = snapshot.producers.get(producer).and_then(|view| view.config.get("acks"));
    let declared = || {
        let spec = world.producers.iter().find(|spec| spec.name == producer);
        spec.and_then(|spec| spec.config.get("acks"))
    };
    match now.or_else(declared).map_or("all", String::as_str) {
        "-1" => "all".to_owned(),
        value => value.to_owned(),
    }
}
