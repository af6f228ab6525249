//! The settings that a script gives, each with its place: for what is said about them when it runs.

use super::settings;
use super::tree::Node;
use crate::catalog::{Setting, canonical};
use crate::diag::Span;

/// A setting that the file gives.
#[derive(Clone, Debug)]
pub struct Given {
    /// Which.
    pub setting: &'static Setting,
    /// Its value, in the catalogue's way of writing.
    pub value: String,
    /// The place of its name.
    pub span: Span,
}

/// Every setting of a tree that Kafka knows where it stands.
pub fn collect(root: &Node) -> Vec<Given> {
    let mut given = Vec::new();
    let mut add = |config: Option<&Node>, scopes| {
        for entry in config.map_or(&[][..], Node::entries) {
            let setting = settings::find(&entry.key, scopes);
            let (Some(setting), Some(text)) = (setting, settings::text(&entry.value)) else {
                continue;
            };
            given.push(Given { setting, value: canonical(setting, &text), span: entry.key_span });
        }
    };
    add(root.get("cluster").and_then(|cluster| cluster.get("config")), settings::BROKER);
    for (key, scopes) in [
        ("topics", settings::TOPIC),
        ("producers", settings::PRODUCER),
        ("groups", settings::GROUP),
    ] {
        for entry in root.get(key).map_or(&[][..], Node::entries) {
            add(entry.value.get("config"), scopes);
            for consumer in entry.value.get("consumers").map_or(&[][..], Node::items) {
                add(consumer.get("config"), settings::CONSUMER);
            }
        }
    }
    for action in root.get("actions").map_or(&[][..], Node::items) {
        add(action.get("create_topic").and_then(|topic| topic.get("config")), settings::TOPIC);
        let Some(alter) = action.get("alter_config") else { continue };
        let scopes = match (alter.get("topic"), alter.get("broker")) {
            (Some(_), _) => settings::TOPIC,
            (_, Some(_)) => settings::BROKER,
            _ => settings::GROUP_AT_BROKER,
        };
        add(alter.get("set"), scopes);
    }
    given
}
