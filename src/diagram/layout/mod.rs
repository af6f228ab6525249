//! Where everything of a run stands: computed once, the same in all its pictures. What comes later
//! has its place from the start. Knows the facts of the run and no single frame.

mod clients;
mod cluster;
mod dense;
mod narrow;
mod ports;
mod rails;
mod wide;

use std::collections::BTreeMap;

use super::facts::{Fact, Facts};
use super::rail::Rail;
use super::scene::{Anchor, Form, Point, Rect};
use super::text::{Face, room};
use crate::sim::ids::Machine;

pub(super) use cluster::TOLD;
pub(super) use dense::{CELL, Grid, NO_LEADER, Row};
pub(super) use rails::way;

/// Height of a lane and of a record.
pub(super) const LANE_HEIGHT: f64 = 30.0;
/// Between the position's row and the committed offset's, both under a leader's lane.
pub(super) const GROUP_ROWS: f64 = 34.0;
/// One row of text under a lane.
pub(super) const ROW: f64 = 16.0;
/// In a cell around and between offset and label.
const CELL_PADDING: f64 = 16.0;
/// A cell is so wide where there is room, and never wider than the second.
const ROOMY_CELL: f64 = 60.0;
const LARGEST_CELL: f64 = 110.0;
/// More cells than fit on any lane.
const MOST_CELLS: u64 = 100;
/// Room for the mark of what a lane does not show.
pub(super) const GAP: f64 = 20.0;

/// The places of one form.
#[derive(Clone, Debug)]
pub(super) struct Places {
    pub form: Form,
    pub width: f64,
    pub height: f64,
    /// Over the cluster: where, and how wide it may be.
    pub heading: (Point, f64),
    /// Over the columns of clients, in the wide form: text and where.
    pub columns: Vec<(String, Point)>,
    pub brokers: Vec<BrokerPlace>,
    /// The card with a line for each group that is told of.
    pub groups: Option<Rect>,
    /// The controllers' card.
    pub controllers: Option<Rect>,
    pub producers: Vec<ClientPlace>,
    pub consumers: Vec<ClientPlace>,
    pub rails: BTreeMap<String, RailPlace>,
    pub cells: Cells,
    /// In the dense form: what stands in place of brokers and rails.
    pub grid: Option<Grid>,
}

/// A rail and how loudly it is drawn.
#[derive(Clone, Debug)]
pub(super) struct RailPlace {
    pub rail: Rail,
    /// The machines at its start and at its end.
    pub ends: (Machine, Machine),
    /// True: to a coordinator that sends no data.
    pub is_quiet: bool,
}

/// A broker's place.
#[derive(Clone, Debug)]
pub(super) struct BrokerPlace {
    pub card: Rect,
    /// True: roles stand at the lanes, since there is more than one.
    pub roles_at_lanes: bool,
    pub lanes: Vec<LanePlace>,
    /// Words about what it fetches.
    pub say: Option<Say>,
}

/// A replica's place.
#[derive(Clone, Debug)]
pub(super) struct LanePlace {
    /// Index of the partition.
    pub partition: usize,
    /// The lane: its left edge is offset 0, or the gap before the first offset shown.
    pub lane: Rect,
    /// Room for the partition's name, left of it.
    pub label_room: f64,
    /// Groups with rows under the lane, each with the top of its rows.
    pub groups: Vec<(usize, f64)>,
    /// Base line of the row for the log start and the last stable offset.
    pub lower_marks: Option<f64>,
}

/// A client's place.
#[derive(Clone, Debug)]
pub(super) struct ClientPlace {
    pub card: Rect,
    /// The place of the record in its hands; none where there are many clients.
    pub slot: Option<Rect>,
    /// Room for the name and the line under it.
    pub name_room: f64,
    /// Facts: what, and where its label begins and its value ends.
    pub rows: Vec<(Fact, Point, f64)>,
    /// Words about what it sends and gets.
    pub say: Option<Say>,
}

/// Where words stand; further lines stand above the last one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Say {
    /// Base line of the last line.
    pub at: Point,
    pub anchor: Anchor,
    pub width: f64,
    pub lines: usize,
}

/// How records are drawn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cells {
    /// Width of one.
    pub width: f64,
    /// Whether it has room for its label beside its offset.
    pub has_labels: bool,
    /// How many fit.
    pub capacity: u64,
    /// How many fit beside a gap.
    pub capacity_with_gap: u64,
}

/// So many brokers, lanes and clients are drawn in full.
const BROKERS_MAX: usize = 6;
const LANES_MAX: usize = 12;
const CLIENTS_MAX: usize = 8;

/// Places everything for one form; densely where there is too much, or lanes have no room.
pub(super) fn lay_out(facts: &Facts, form: Form) -> Places {
    let clients = facts.producers.len() + facts.consumers.len();
    let is_much = facts.brokers.len() > BROKERS_MAX
        || facts.lane_count() > LANES_MAX
        || clients > CLIENTS_MAX;
    let full = match form {
        _ if is_much => None,
        Form::Wide => wide::lay_out(facts),
        Form::Narrow => narrow::lay_out(facts),
    };
    full.unwrap_or_else(|| dense::lay_out(facts, form))
}

/// The highest offset that is shown.
fn highest(facts: &Facts) -> u64 {
    facts.partitions.iter().map(|one| one.highest).max().unwrap_or(0)
}

/// Room that the label of the log end needs right of the last record.
fn log_end_room(facts: &Facts) -> f64 {
    room(&format!("LEO {}", highest(facts)), Face::Mono) + 9.0
}

/// Room for an offset in a cell.
fn offset_room(facts: &Facts) -> f64 {
    room(&highest(facts).saturating_sub(1).to_string(), Face::MonoBold)
}

/// The width of a cell with nothing but its offset.
fn smallest_cell(facts: &Facts) -> f64 {
    (offset_room(facts) + 5.0).max(22.0)
}

/// The largest cells with which all logs fit; small ones with the offset alone where that is too
/// much.
fn cells(facts: &Facts, lane_width: f64) -> Cells {
    let smallest = smallest_cell(facts);
    let area = (lane_width - log_end_room(facts)).max(smallest + GAP);
    // What is deleted keeps its place where there is room for it.
    let keeps_all = highest(facts) as f64 * smallest <= area;
    let longest = facts.partitions.iter().map(|one| one.longest).max().unwrap_or(0);
    let longest = if keeps_all { highest(facts) } else { longest };
    let has_gaps = !keeps_all && facts.partitions.iter().any(|one| one.highest > one.longest);
    let labels = facts.partitions.iter().map(|one| room(&one.widest_label, Face::Mono));
    let label = labels.fold(0.0, f64::max);
    let least = (offset_room(facts) + label + CELL_PADDING).min(LARGEST_CELL);
    let gap = if has_gaps { GAP } else { 0.0 };
    let fits = |width: &f64| longest as f64 * width + gap <= area;
    let full = [least.max(ROOMY_CELL), least].into_iter().find(fits);
    let has_labels = label > 0.0 && full.is_some();
    let width = match full {
        Some(full) if has_labels || longest == 0 => full,
        _ => smallest,
    };
    let fits = |count: u64, area: f64| count as f64 * width <= area;
    let count = |area| 1 + (2..MOST_CELLS).take_while(|&count| fits(count, area)).count() as u64;
    Cells { width, has_labels, capacity: count(area), capacity_with_gap: count(area - GAP) }
}
