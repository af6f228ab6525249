//! `kafka-topics.sh --describe` and `kafka-get-offsets.sh`.

use std::fmt::Write as _;

use super::{At, CommandView};
use crate::sim::ids::BrokerId;
use crate::sim::snapshot::{PartitionView, TopicView};

const BLOCKED: &str =
    "A partition without leader blocks this tool: it prints nothing and does not end.";

/// Two for each topic.
pub(super) fn commands(at: &At) -> Vec<CommandView> {
    let topics = at.snapshot.topics.iter();
    topics
        .flat_map(|(name, topic)| {
            let describe = at.command(
                "kafka-topics.sh",
                &format!("--describe --topic {name}"),
                describe(at, name, topic),
            );
            let offsets = offsets(at, name);
            let note = offsets.is_none().then_some(BLOCKED);
            let offsets = at.command(
                "kafka-get-offsets.sh",
                &format!("--topic {name}"),
                offsets.unwrap_or_default(),
            );
            [describe, CommandView { note, ..offsets }]
        })
        .collect()
}

/// The partitions of a topic, by number.
fn partitions<'a>(at: &'a At, topic: &'a str) -> impl Iterator<Item = (u32, &'a PartitionView)> {
    let all = at.snapshot.partitions.iter().filter(move |(name, _)| name.topic == topic);
    all.map(|(name, view)| (name.partition, view))
}

fn describe(at: &At, name: &str, topic: &TopicView) -> String {
    let settings = topic.config.iter().map(|(name, value)| format!("{name}={value}"));
    let mut out = format!(
        "Topic: {name}\tTopicId: {}\tPartitionCount: {}\tReplicationFactor: {}\tConfigs: {}",
        (at.unknown.topic_id)(name),
        topic.partitions,
        topic.replication_factor,
        settings.collect::<Vec<_>>().join(","),
    );
    for (number, view) in partitions(at, name) {
        let _ = write!(
            out,
            "\n\tTopic: {name}\tPartition: {number}\tLeader: {}\tReplicas: {}\tIsr: {}\tElr: {}\t\
             LastKnownElr: {}",
            view.leader.map_or_else(|| "none".to_owned(), |leader| leader.to_string()),
            list(&view.assignment),
            list(&view.isr_as_listed),
            list(&view.elr),
            list(&view.last_known_elr),
        );
    }
    out
}

fn list(brokers: &[BrokerId]) -> String {
    brokers.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

/// The high watermark of each partition; none while a partition has nobody to ask.
fn offsets(at: &At, topic: &str) -> Option<String> {
    let lines = partitions(at, topic).map(|(number, view)| {
        view.high_watermark.map(|offset| format!("{topic}:{number}:{offset}"))
    });
    lines.collect::<Option<Vec<_>>>().map(|lines| lines.join("\n"))
}
