//! Assignments of replicas to brokers: read, and held against the cluster and the topic's own
//! numbers.

use super::context::Context;
use super::path::join;
use super::tree::Node;
use crate::diag::{Code, Problem, Span};
use crate::sim::ids::BrokerId;
use crate::sim::world::TopicSpec;

/// Reads the replicas of partition 0, 1, ...
pub fn read(context: &mut Context<'_>, rows: &Node) -> Vec<Vec<BrokerId>> {
    rows.items().iter().map(|row| replicas(context, row)).collect()
}

/// Reads the replicas of one partition; a broker stands among them once.
pub fn replicas(context: &mut Context<'_>, row: &Node) -> Vec<BrokerId> {
    let mut replicas: Vec<BrokerId> = Vec::new();
    for item in row.items() {
        let Some(id) = broker(context, item) else { continue };
        if replicas.contains(&id) {
            let message = format!("broker {id} cannot hold two replicas of one partition");
            context.error(Code::BadPlacement, item.span, message);
        }
        replicas.push(id);
    }
    if row.items().is_empty() && matches!(row.kind, super::tree::Kind::List(_)) {
        context.error(Code::BadPlacement, row.span, "a partition has at least one replica");
    }
    replicas
}

/// Reads a broker's id, which must be one of the cluster's.
pub fn broker(context: &mut Context<'_>, node: &Node) -> Option<BrokerId> {
    let id = BrokerId(node.number()?);
    if !context.names.brokers.contains(&id) {
        let message = format!("there is no broker `{id}`");
        let problem = Problem::error(Code::UnknownName, context.file, node.span, message)
            .note(format!("the brokers: {}", join(&context.names.brokers)));
        context.report.push(problem);
        return None;
    }
    Some(id)
}

/// Holds a topic's numbers against its placement and the cluster.
pub fn check(context: &mut Context<'_>, topic: &TopicSpec, node: &Node, name_span: Span) {
    let span = |key: &str| node.entry(key).map_or(name_span, |entry| entry.value.span);
    if let Some(rows) = &topic.assignment {
        let count = u32::try_from(rows.len()).unwrap_or(u32::MAX);
        if topic.partitions.is_some_and(|partitions| partitions != count) {
            let message = format!(
                "`{}` has {} partitions, but replicas of {count}",
                topic.name,
                topic.partitions.unwrap_or_default()
            );
            context.error(Code::BadPlacement, span("assignment"), message);
        }
        let first = rows.first().map_or(0, Vec::len);
        let factor = topic.replication_factor.map_or(first, |factor| factor as usize);
        let other = rows.iter().zip(0..).find(|(row, _)| row.len() != factor);
        if let Some((row, partition)) = other {
            let message = format!(
                "every partition of `{}` needs {factor} replicas, but partition {partition} is \
                 given {}",
                topic.name,
                row.len()
            );
            context.error(Code::BadPlacement, span("assignment"), message);
        }
        if rows.is_empty() {
            let message = "an assignment has at least one partition";
            context.error(Code::BadPlacement, span("assignment"), message);
        }
    } else if let Some(factor) = topic.replication_factor {
        let brokers = context.names.brokers.len();
        if factor as usize > brokers {
            let message = format!("{factor} replicas need as many brokers; there are {brokers}");
            context.error(Code::BadPlacement, span("replication_factor"), message);
        }
    }
}
