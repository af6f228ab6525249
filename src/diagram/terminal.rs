//! What Kafka's own tools would print at one instant: `kafka-topics.sh --describe` and
//! `kafka-consumer-groups.sh --describe`, in their own layout. What differs from run to run (ids
//! that Kafka draws at random) is an ellipsis.

use std::fmt::Write as _;

use serde::Serialize;

use crate::sim::ids::{Machine, TopicPartition};
use crate::sim::snapshot::{GroupView, PartitionView, ProcessState, Snapshot};

/// One command with its output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CommandView {
    /// The tool: `kafka-topics.sh`.
    pub tool: &'static str,
    /// Its arguments.
    pub arguments: String,
    /// What it prints.
    pub output: String,
    /// What a reader must know to read it.
    pub note: Option<&'static str>,
}

/// The commands worth running at this instant: one per topic and one per group.
#[must_use]
pub fn commands(snapshot: &Snapshot) -> Vec<CommandView> {
    let up = |process| matches!(process, ProcessState::Up | ProcessState::ShuttingDown);
    let Some((id, _)) = snapshot.brokers.iter().find(|(_, broker)| up(broker.process)) else {
        return Vec::new();
    };
    let server = format!("--bootstrap-server {}:9092", Machine::Broker(*id));
    let topics = snapshot.topics.keys().map(|name| CommandView {
        tool: "kafka-topics.sh",
        arguments: format!("{server} --describe --topic {name}"),
        output: topic(snapshot, name),
        note: None,
    });
    let groups = snapshot.groups.iter().filter(|(_, group)| group.share.is_empty());
    let groups = groups.map(|(name, group)| CommandView {
        tool: "kafka-consumer-groups.sh",
        arguments: format!("{server} --describe --group {name}"),
        output: self::group(snapshot, name, group),
        note: None,
    });
    let groups = groups.map(|command| CommandView {
        note: command.output.contains("LOG-END-OFFSET").then_some(HIGH_WATERMARK),
        ..command
    });
    topics.chain(groups).collect()
}

const HIGH_WATERMARK: &str = "What this tool calls LOG-END-OFFSET is the high watermark: the end \
                              of what a consumer may read.";

/// What the tool prints while no broker answers for the group.
const NO_COORDINATOR: &str = "Error: Executing consumer group command failed due to \
                              org.apache.kafka.common.errors.CoordinatorNotAvailableException: \
                              The coordinator is not available.";

fn topic(snapshot: &Snapshot, name: &str) -> String {
    let topic = &snapshot.topics[name];
    let settings = topic.config.iter().map(|(name, value)| format!("{name}={value}"));
    let mut out = format!(
        "Topic: {name}\tTopicId: …\tPartitionCount: {}\tReplicationFactor: {}\tConfigs: {}",
        topic.partitions,
        topic.replication_factor,
        settings.collect::<Vec<_>>().join(","),
    );
    for (partition, view) in &snapshot.partitions {
        if partition.topic == name {
            let _ = write!(
                out,
                "\n\tTopic: {name}\tPartition: {}\tLeader: {}\tReplicas: {}\tIsr: {}\tElr: {}\t\
                 LastKnownElr: {}",
                partition.partition,
                view.leader.map_or_else(|| "none".to_owned(), |leader| leader.to_string()),
                list(&view.assignment),
                list(&in_kafkas_order(view)),
                list(&view.elr),
                list(&view.last_known_elr),
            );
        }
    }
    out
}

/// Kafka lists the ISR in the order of the assignment until a replica leaves and comes back.
fn in_kafkas_order(view: &PartitionView) -> Vec<crate::sim::ids::BrokerId> {
    view.assignment.iter().copied().filter(|broker| view.isr.contains(broker)).collect()
}

fn list(brokers: &[crate::sim::ids::BrokerId]) -> String {
    brokers.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

fn group(snapshot: &Snapshot, name: &str, group: &GroupView) -> String {
    let answers = |id| {
        snapshot.brokers.get(id).is_some_and(|broker| {
            matches!(broker.process, ProcessState::Up | ProcessState::ShuttingDown)
        })
    };
    if !group.coordinator.as_ref().is_some_and(answers) {
        return NO_COORDINATOR.to_owned();
    }
    let owner = |partition: &TopicPartition| {
        let owns = |member: &&String| {
            snapshot.consumers.get(*member).is_some_and(|it| it.assignment.contains(partition))
        };
        group.members.iter().find(owns)
    };
    let head = [
        "GROUP",
        "TOPIC",
        "PARTITION",
        "CURRENT-OFFSET",
        "LOG-END-OFFSET",
        "LAG",
        "CONSUMER-ID",
        "HOST",
        "CLIENT-ID",
    ];
    let mut rows = vec![head.map(str::to_owned)];
    for (partition, view) in &snapshot.partitions {
        let (owner, committed) = (owner(partition), group.committed.get(partition));
        // A partition that the group neither owns nor has committed is not listed.
        if owner.is_none() && committed.is_none() {
            continue;
        }
        rows.push([
            name.to_owned(),
            partition.topic.clone(),
            partition.partition.to_string(),
            committed.map_or_else(dash, ToString::to_string),
            view.high_watermark.map_or_else(dash, |offset| offset.to_string()),
            group.lag.get(partition).map_or_else(dash, ToString::to_string),
            owner.map_or_else(dash, |owner| format!("{owner}-…")),
            owner.map_or_else(dash, |_| "/…".to_owned()),
            owner.map_or_else(dash, Clone::clone),
        ]);
    }
    let mut out = String::new();
    if group.members.is_empty() {
        let _ = writeln!(out, "Consumer group '{name}' has no active members.");
    }
    if rows.len() > 1 {
        columns(&rows, &mut out);
    }
    out.trim_end().to_owned()
}

/// The tool's own widths: 15, but 10 for PARTITION and the longest id for CONSUMER-ID; the last
/// column ends where its text ends.
fn columns(rows: &[[String; 9]], out: &mut String) {
    let longest = rows.iter().map(|row| row[6].chars().count()).max().unwrap_or(0);
    let widths = [15, 15, 10, 15, 15, 15, longest.max(15), 15, 0];
    for row in rows {
        let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}"));
        let _ = writeln!(out, "{}", cells.collect::<Vec<_>>().join(" ").trim_end());
    }
}

fn dash() -> String {
    "-".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::ids::BrokerId;
    use crate::sim::snapshot::BrokerView;

    #[test]
    fn a_group_whose_coordinator_is_gone_gives_an_error_and_no_table() {
        let up = BrokerView { process: ProcessState::Up, ..BrokerView::default() };
        let mut snapshot = Snapshot::default();
        snapshot.brokers.insert(BrokerId(1), up);
        let gone = GroupView { coordinator: Some(BrokerId(2)), ..GroupView::default() };
        snapshot.groups.insert("ledger".to_owned(), gone);
        let command = commands(&snapshot).pop().expect("the group's command");
        assert!(command.output.ends_with("The coordinator is not available."), "{command:?}");
        assert_eq!(command.note, None);
    }
}
