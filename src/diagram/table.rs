//! A step's state as tables: the picture's twin for everybody who cannot see it. Cells that differ
//! from the step before are marked.

mod consumers;
mod groups;

use serde::Serialize;

use crate::sim::ids::BrokerId;
use crate::sim::snapshot::{PartitionView, ProcessState, ReplicaRole, ReplicaView, Snapshot};

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

/// The tables of one instant: each partition's replicas, then producers, transactions, groups and
/// consumers. `before` is the step before, if there is one.
#[must_use]
pub fn tables(now: &Snapshot, before: Option<&Snapshot>) -> Vec<TableView> {
    let earlier = before.map(shapes);
    shapes(now)
        .into_iter()
        .filter(|shape| !shape.rows.is_empty())
        .map(|shape| {
            let before = earlier.iter().flatten().find(|other| other.subject == shape.subject);
            shape.view(before)
        })
        .collect()
}

fn shapes(snapshot: &Snapshot) -> Vec<Shape> {
    let mut shapes = replicas(snapshot);
    shapes.extend([producers(snapshot), groups::transactions(snapshot), groups::groups(snapshot)]);
    shapes.extend(groups::shares(snapshot));
    shapes.push(consumers::consumers(snapshot));
    shapes
}

/// A column: its title, whether it holds numbers, and the value that is usual where it is left out
/// if nothing else stands in it.
type Column = (&'static str, bool, Option<&'static str>);

/// A table before it is compared with the one of the step before.
#[derive(Clone)]
struct Shape {
    subject: String,
    columns: &'static [Column],
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
        let mut rows: Vec<RowView> = rows.collect();
        let says = |index: usize, usual: &str| {
            rows.iter().any(|row| row.cells[index].changed || row.cells[index].text != usual)
        };
        let kept: Vec<bool> = (0..columns.len())
            .map(|index| columns[index].2.is_none_or(|usual| says(index, usual)))
            .collect();
        for row in &mut rows {
            let mut kept = kept.iter();
            row.cells.retain(|_| kept.next() == Some(&true));
        }
        let shown = columns.iter().zip(kept).filter(|(_, kept)| *kept);
        let shown = shown.map(|((title, number, _), _)| ColumnView { title, number: *number });
        TableView { rows, subject: self.subject, columns: shown.collect() }
    }
}

fn replicas(snapshot: &Snapshot) -> Vec<Shape> {
    let partitions = snapshot.partitions.iter();
    partitions
        .map(|(name, partition)| Shape {
            subject: format!("{name} on"),
            columns: &[
                ("believes it is", false, None),
                ("controller has it as", false, Some(AS_BELIEVED)),
                ("log end", true, None),
                ("HW", true, None),
                ("log start", true, Some("0")),
                ("in sync", false, None),
                ("eligible", false, Some("no")),
                ("stalled", false, Some("no")),
                ("epoch", true, Some("0")),
            ],
            rows: partition
                .replicas
                .iter()
                .map(|(broker, view)| replica(snapshot, partition, (*broker, view)))
                .collect(),
        })
        .collect()
}

/// What stands where broker and controller agree on who leads.
const AS_BELIEVED: &str = "the same";

fn replica(
    snapshot: &Snapshot,
    partition: &PartitionView,
    (broker, replica): (BrokerId, &ReplicaView),
) -> (String, Vec<String>) {
    let process = snapshot.brokers.get(&broker).map(|view| view.process);
    let role = match replica.role {
        ReplicaRole::Leader => "leader",
        ReplicaRole::Follower => "follower",
        ReplicaRole::Offline => "stopped",
    };
    let elected = if partition.leader == Some(broker) { "leader" } else { "follower" };
    let is_stopped = process == Some(ProcessState::Stopped) || role == "stopped";
    let believes = match process {
        _ if is_stopped => "stopped".to_owned(),
        Some(ProcessState::Paused) => format!("{role}, paused"),
        _ => role.to_owned(),
    };
    let yes_no = |is: bool| if is { "yes" } else { "no" }.to_owned();
    let values = vec![
        believes,
        if is_stopped || elected == role { AS_BELIEVED } else { elected }.to_owned(),
        replica.log_end_offset.to_string(),
        replica.high_watermark.to_string(),
        replica.log_start_offset.to_string(),
        yes_no(replica.in_sync),
        yes_no(partition.elr.contains(&broker)),
        yes_no(replica.stalled),
        replica.leader_epoch.to_string(),
    ];
    (format!("broker-{broker}"), values)
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
            ("buffered", true, None),
            ("in flight", true, None),
            ("acked", true, None),
            ("failed", true, Some("0")),
            ("last error", false, Some("none")),
        ],
        rows: rows.collect(),
    }
}

fn none() -> String {
    "none".to_owned()
}
