//! A step's state as tables: the picture's twin for everybody who cannot see it. Cells that differ
//! from the step before are marked.

use serde::Serialize;

use crate::sim::snapshot::{ConsumerState, PartitionView, ProcessState, ReplicaRole, Snapshot};

/// One table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TableView {
    /// What the rows are: `orders-0 on`.
    pub subject: String,
    /// The other columns.
    pub columns: Vec<ColumnView>,
    /// The rows.
    pub rows: Vec<RowView>,
}

/// One column's head.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ColumnView {
    /// Its words.
    pub title: &'static str,
    /// Whether it holds numbers.
    pub number: bool,
}

/// One row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RowView {
    /// What it is about.
    pub name: String,
    /// One cell per column.
    pub cells: Vec<CellView>,
}

/// One cell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CellView {
    /// Its value.
    pub text: String,
    /// Whether it holds a number.
    pub number: bool,
    /// Whether it differs from the step before.
    pub changed: bool,
}

/// The tables of one instant: each partition's replicas, the producers, the consumers. `before` is
/// the step before, if there is one.
#[must_use]
pub fn tables(now: &Snapshot, before: Option<&Snapshot>) -> Vec<TableView> {
    let shapes = [replicas(now), vec![producers(now)], vec![consumers(now)]].concat();
    let earlier = before.map(|before| {
        [replicas(before), vec![producers(before)], vec![consumers(before)]].concat()
    });
    shapes
        .into_iter()
        .filter(|shape| !shape.rows.is_empty())
        .map(|shape| {
            let before = earlier.iter().flatten().find(|other| other.subject == shape.subject);
            shape.view(before)
        })
        .collect()
}

/// A table before it is compared with the one of the step before.
#[derive(Clone)]
struct Shape {
    subject: String,
    columns: &'static [(&'static str, bool)],
    rows: Vec<(String, Vec<String>)>,
}

impl Shape {
    fn view(self, before: Option<&Shape>) -> TableView {
        let columns = self.columns;
        let rows = self.rows.into_iter().map(|(name, values)| {
            let earlier = before.and_then(|shape| shape.rows.iter().find(|row| row.0 == name));
            let cells = values.into_iter().enumerate().map(|(index, text)| CellView {
                changed: earlier.is_some_and(|row| row.1[index] != text),
                number: columns[index].1,
                text,
            });
            RowView { name, cells: cells.collect() }
        });
        TableView {
            rows: rows.collect(),
            subject: self.subject,
            columns: columns
                .iter()
                .map(|(title, number)| ColumnView { title, number: *number })
                .collect(),
        }
    }
}

fn replicas(snapshot: &Snapshot) -> Vec<Shape> {
    let shape = |(name, partition): (_, &PartitionView)| {
        let row = |broker| {
            let replica = &partition.replicas[broker];
            let process = snapshot.brokers.get(broker).map(|view| view.process);
            let role = match (process, replica.role) {
                (Some(ProcessState::Stopped), _) | (_, ReplicaRole::Offline) => "stopped",
                (Some(ProcessState::Paused), _) => "paused",
                (_, ReplicaRole::Leader) => "leader",
                (_, ReplicaRole::Follower) => "follower",
            };
            let values = vec![
                role.to_owned(),
                replica.log_end_offset.to_string(),
                replica.high_watermark.to_string(),
                if replica.in_sync { "yes" } else { "no" }.to_owned(),
                replica.leader_epoch.to_string(),
            ];
            (format!("broker-{broker}"), values)
        };
        Shape {
            subject: format!("{name} on"),
            columns: &[
                ("role", false),
                ("log end", true),
                ("high watermark known", true),
                ("in sync", false),
                ("leader epoch", true),
            ],
            rows: partition.replicas.keys().map(row).collect(),
        }
    };
    snapshot.partitions.iter().map(shape).collect()
}

fn producers(snapshot: &Snapshot) -> Shape {
    let rows = snapshot.producers.iter().map(|(name, producer)| {
        let values = vec![
            producer.buffered.to_string(),
            producer.in_flight.to_string(),
            producer.acked.to_string(),
            producer.failed.to_string(),
            producer.last_error.clone().unwrap_or_else(none),
        ];
        (name.clone(), values)
    });
    Shape {
        subject: "producer".to_owned(),
        columns: &[
            ("records buffered", true),
            ("batches in flight", true),
            ("acknowledged", true),
            ("given up", true),
            ("last error", false),
        ],
        rows: rows.collect(),
    }
}

fn consumers(snapshot: &Snapshot) -> Shape {
    let mut rows = Vec::new();
    for (name, consumer) in &snapshot.consumers {
        let group = snapshot.groups.get(&consumer.group);
        let state = match consumer.state {
            ConsumerState::Stopped => "stopped",
            ConsumerState::Joining => "joining",
            ConsumerState::Stable => "stable",
            ConsumerState::Left => "left",
            ConsumerState::Fenced => "fenced",
        };
        let mut row = |partition: Option<&crate::sim::ids::TopicPartition>| {
            let known = |value: Option<String>| value.unwrap_or_else(none);
            let of = |text: Option<&dyn ToString>| known(text.map(ToString::to_string));
            let values = vec![
                consumer.group.clone(),
                state.to_owned(),
                partition.map_or_else(none, ToString::to_string),
                of(partition.and_then(|it| consumer.position.get(it)).map(|it| it as _)),
                of(partition.and_then(|it| group?.committed.get(it)).map(|it| it as _)),
                of(partition.and_then(|it| group?.lag.get(it)).map(|it| it as _)),
            ];
            rows.push((name.clone(), values));
        };
        if consumer.assignment.is_empty() {
            row(None);
        }
        consumer.assignment.iter().for_each(|partition| row(Some(partition)));
    }
    Shape {
        subject: "consumer".to_owned(),
        columns: &[
            ("group", false),
            ("state", false),
            ("partition", false),
            ("position", true),
            ("committed", true),
            ("lag", true),
        ],
        rows,
    }
}

fn none() -> String {
    "none".to_owned()
}
