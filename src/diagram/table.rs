//! A step's state as tables: the picture's twin for everybody who cannot see it. Cells that differ
//! from the step before are marked.

use serde::Serialize;

use crate::sim::ids::TopicPartition;
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
    /// The row of the same thing. A consumer has one for each partition, which stands first.
    fn same_row(&self, name: &str, values: &[String]) -> Option<&(String, Vec<String>)> {
        let mut named = self.rows.iter().filter(|row| row.0 == name);
        let first = named.clone().find(|row| row.1.first() == values.first());
        first.or_else(|| named.next())
    }

    fn view(self, before: Option<&Shape>) -> TableView {
        let columns = self.columns;
        let rows = self.rows.into_iter().map(|(name, values)| {
            let earlier = before.and_then(|shape| shape.same_row(&name, &values));
            let cells = values.into_iter().enumerate().map(|(index, text)| CellView {
                changed: earlier.is_some_and(|row| row.1.get(index) != Some(&text)),
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

/// A column that is left out where every value of it is the usual one.
fn unusual(mut shape: Shape, usual: &str) -> Shape {
    let last = shape.columns.len() - 1;
    if shape.rows.iter().all(|(_, values)| values[last] == usual) {
        shape.columns = &shape.columns[..last];
        shape.rows.iter_mut().for_each(|(_, values)| values.truncate(last));
    }
    shape
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
        let shape = Shape {
            subject: format!("{name} on"),
            columns: &[
                ("role", false),
                ("log end", true),
                ("HW", true),
                ("in sync", false),
                ("epoch", true),
            ],
            rows: partition.replicas.keys().map(row).collect(),
        };
        unusual(shape, "0")
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
    let shape = Shape {
        subject: "producer".to_owned(),
        columns: &[
            ("buffered", true),
            ("in flight", true),
            ("acked", true),
            ("failed", true),
            ("last error", false),
        ],
        rows: rows.collect(),
    };
    unusual(unusual(shape, "none"), "0")
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
        let mut row = |partition: Option<&TopicPartition>| {
            let of = |text: Option<&dyn ToString>| text.map_or_else(none, ToString::to_string);
            let values = vec![
                of(partition.map(|it| it as _)),
                of(partition.and_then(|it| consumer.position.get(it)).map(|it| it as _)),
                of(partition.and_then(|it| group?.committed.get(it)).map(|it| it as _)),
                of(partition.and_then(|it| group?.lag.get(it)).map(|it| it as _)),
                state.to_owned(),
            ];
            rows.push((name.clone(), values));
        };
        if consumer.assignment.is_empty() {
            row(None);
        }
        consumer.assignment.iter().for_each(|partition| row(Some(partition)));
    }
    let shape = Shape {
        subject: "consumer".to_owned(),
        columns: &[
            ("reads", false),
            ("position", true),
            ("committed", true),
            ("lag", true),
            ("state", false),
        ],
        rows,
    };
    unusual(shape, "stable")
}

fn none() -> String {
    "none".to_owned()
}
