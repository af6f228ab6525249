//! The value of a path in a snapshot, through the snapshot's own serialised tree. Settings that
//! nobody set have the catalogue's default, a topic's by way of the broker's synonyms.

use serde::Serialize;
use serde_json::Value as Json;

use super::path::Path;
use super::settings;
use super::value::Value;
use crate::catalog::{self, Scope};
use crate::sim::ids::{BrokerId, Offset};
use crate::sim::snapshot::Snapshot;

/// The value of a path. The snapshot must hold the path's [`Path::parts`].
#[must_use]
pub fn lookup(path: &Path, snapshot: &Snapshot) -> Value {
    let segments: Vec<&str> = path.segments.iter().map(String::as_str).collect();
    match segments[..] {
        ["time_ms"] => number(snapshot.time_ms),
        ["since", step] => {
            let since = step.parse().ok().and_then(|step: u32| snapshot.since.get(&step));
            since.map_or(Value::None, |ms| number(*ms))
        }
        ["in_flight", kind] => number(snapshot.in_flight.get(kind).copied().unwrap_or(0)),
        ["waiting", kind] => number(snapshot.waiting.get(kind).copied().unwrap_or(0)),
        ["metrics", name] => {
            snapshot.metrics.get(name).map_or(Value::None, |value| Value::Number(*value))
        }
        [_, _, "config", setting] => config(path, setting, snapshot),
        ["partitions", _, "records", offset, ref rest @ ..] => {
            let partition = path.partition().and_then(|name| snapshot.partitions.get(&name));
            let offset = offset.parse().ok().map(Offset);
            below(partition.zip(offset).and_then(|(view, at)| view.records.get(&at)), rest)
        }
        ["partitions", _, "replicas", broker, ref rest @ ..] => {
            let partition = path.partition().and_then(|name| snapshot.partitions.get(&name));
            let broker = broker.parse().ok().map(BrokerId);
            below(partition.zip(broker).and_then(|(view, id)| view.replicas.get(&id)), rest)
        }
        ["partitions", _, ref rest @ ..] => {
            let partition = path.partition().and_then(|name| snapshot.partitions.get(&name));
            below(partition, rest)
        }
        ["controller", ref rest @ ..] => below(Some(&snapshot.controller), rest),
        ["admin", ref rest @ ..] => below(Some(&snapshot.admin), rest),
        ["brokers", id, ref rest @ ..] => {
            below(id.parse().ok().and_then(|id| snapshot.brokers.get(&BrokerId(id))), rest)
        }
        ["topics", name, ref rest @ ..] => below(snapshot.topics.get(name), rest),
        ["producers", name, ref rest @ ..] => below(snapshot.producers.get(name), rest),
        ["transactions", name, ref rest @ ..] => below(snapshot.transactions.get(name), rest),
        ["groups", name, ref rest @ ..] => below(snapshot.groups.get(name), rest),
        ["consumers", name, ref rest @ ..] => below(snapshot.consumers.get(name), rest),
        _ => Value::None,
    }
}

/// The value of a path, with lists in the order in which they compare.
#[must_use]
pub fn comparable(path: &Path, snapshot: &Snapshot) -> Value {
    super::literal::sorted(path.kind(), lookup(path, snapshot))
}

fn number(value: u64) -> Value {
    Value::Number(i64::try_from(value).unwrap_or(i64::MAX))
}

fn below<T: Serialize>(view: Option<&T>, rest: &[&str]) -> Value {
    let Some(view) = view else { return Value::None };
    let tree = serde_json::to_value(view).expect("a snapshot is plain data with text keys");
    let mut node = &tree;
    for segment in rest {
        match node {
            Json::Object(fields) => match fields.get(*segment) {
                Some(next) => node = next,
                None => return Value::None,
            },
            _ => return Value::None,
        }
    }
    Value::from_json(node)
}

fn config(path: &Path, setting: &str, snapshot: &Snapshot) -> Value {
    let (root, name) = (path.segments[0].as_str(), path.segments[1].as_str());
    let cluster = snapshot.brokers.values().next().map(|broker| &broker.config);
    let explicit = match root {
        "brokers" => {
            let broker = name.parse().ok().and_then(|id| snapshot.brokers.get(&BrokerId(id)));
            broker.map(|view| &view.config)
        }
        "topics" => snapshot.topics.get(name).map(|view| &view.config),
        "producers" => snapshot.producers.get(name).map(|view| &view.config),
        "groups" => snapshot.groups.get(name).map(|view| &view.config),
        _ => snapshot.consumers.get(name).map(|view| &view.config),
    };
    let Some(explicit) = explicit else { return Value::None };
    let Some(found) = settings::find(setting, settings::scope_of_path(path.row.pattern)) else {
        return Value::None;
    };
    let text = explicit.get(setting).cloned().or_else(|| match (found.scope, cluster) {
        (Scope::Topic, Some(cluster)) => catalog::topic_default(setting, cluster),
        _ => found.default.clone(),
    });
    text.map_or(Value::None, |text| setting_value(found, &text))
}

/// A setting's value by the catalogue's type.
pub fn setting_value(setting: &'static catalog::Setting, text: &str) -> Value {
    let text = catalog::canonical(setting, text);
    match text.parse() {
        Ok(number) if settings::is_number(setting) => Value::Number(number),
        _ => Value::Text(text),
    }
}
