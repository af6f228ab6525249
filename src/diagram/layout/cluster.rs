//! The column of brokers: cards, lanes, and what is reserved under each lane.

use super::super::facts::{BrokerFacts, Facts, PartitionFacts};
use super::super::said;
use super::super::scene::{Rect, at};
use super::super::text::{Face, room};
use super::ports::{Ports, Sides, ports};
use super::{
    BrokerPlace, Cells, GAP, GROUP_ROWS, LANE_HEIGHT, LanePlace, ROW, Say, cells, log_end_room,
    smallest_cell,
};
use crate::diagram::scene::Anchor;

/// From a card's top to its first lane: name, then the marks' labels.
const FIRST_LANE: f64 = 52.0;
/// Above each further lane, for the marks' labels.
const MARKS: f64 = 30.0;
/// Under the last row.
const PADDING: f64 = 14.0;
/// A card without lanes.
const EMPTY: f64 = 44.0;
/// Between two cards.
const BETWEEN: f64 = 10.0;
/// At a card's sides.
const SIDE: f64 = 8.0;

/// For the line of one group or controller.
pub(in crate::diagram) const TOLD: f64 = 26.0;
/// For one line of words.
const SAY_ROW: f64 = 14.0;
/// So many lines about what a broker fetches.
const SAY_LINES: usize = 2;

/// So many records of a lane are worth more than its partition's whole name.
const CELLS_WANTED: u64 = 4;

/// A card of this width has room for a role with its epoch in full under a partition's name.
const WIDE_CARD: f64 = 360.0;

/// Between a partition's name and its lane.
pub(super) const NAME_GAP: f64 = 7.0;

/// What the column may take up, and who stands around it.
pub(super) struct Column<'a> {
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub sides: &'a Sides,
    /// For each broker: whether words about what it fetches stand in its card.
    pub says: &'a [bool],
}

/// The column, placed.
pub(super) struct Cluster {
    pub brokers: Vec<BrokerPlace>,
    /// Ports of each broker, below the top of its card.
    pub ports: Vec<Ports>,
    pub cells: Cells,
    pub groups: Option<Rect>,
    pub controllers: Option<Rect>,
    pub bottom: f64,
}

/// Places brokers from top to bottom.
pub(super) fn place(facts: &Facts, column: &Column) -> Cluster {
    let label_room = label_room(facts, column.width);
    let lane_x = column.x + SIDE + label_room + NAME_GAP;
    let lane_width = column.x + column.width - SIDE - lane_x;
    let mut cluster = Cluster {
        brokers: Vec::new(),
        ports: Vec::new(),
        cells: cells(facts, lane_width),
        groups: None,
        controllers: None,
        bottom: column.y,
    };
    for (index, broker) in facts.brokers.iter().enumerate() {
        let top = if index == 0 { column.y } else { cluster.bottom + BETWEEN };
        let frame = Rect::new(lane_x, top, lane_width, LANE_HEIGHT);
        let (lanes, mut height) = lanes(facts, broker, frame, label_room);
        let ports = ports(facts, column.sides, index, middle(broker, &lanes, top));
        height = height.max(ports.height);
        let may_say = column.says.get(index).copied().unwrap_or(false);
        let width = column.width - 24.0;
        let said = if may_say { said::most_lines(&broker.said, width, SAY_LINES) } else { 0 };
        height += SAY_ROW * said as f64;
        let card = Rect::new(column.x, top, column.width, height);
        let last = at(card.x + 12.0, card.bottom() - 8.0);
        let say = Say { at: last, anchor: Anchor::Start, width, lines: said };
        let say = (said > 0).then_some(say);
        let roles_at_lanes = broker.lanes.len() > 1;
        cluster.bottom = card.bottom();
        cluster.brokers.push(BrokerPlace { card, roles_at_lanes, lanes, say });
        cluster.ports.push(ports);
    }
    let free = Rect::new(column.x, cluster.bottom, column.width, BETWEEN);
    (cluster.groups, cluster.controllers, cluster.bottom) = told(facts, free);
    cluster
}

/// The cards with a line for each group and each controller, under `free` and one below the other,
/// as far apart as `free` is high; and where they end.
pub(super) fn told(facts: &Facts, free: Rect) -> (Option<Rect>, Option<Rect>, f64) {
    let mut bottom = free.y;
    let mut card = |count: usize| {
        let height = TOLD * count as f64 + 12.0;
        let card = Rect { y: bottom + free.h, h: height, ..free };
        (count > 0).then(|| {
            bottom = card.bottom();
            card
        })
    };
    let groups = card(facts.told_groups.len());
    let controllers = card(facts.controllers.len());
    (groups, controllers, bottom)
}

/// How far below a card's top its rails to clients begin: at the first lane that leads.
fn middle(broker: &BrokerFacts, lanes: &[LanePlace], top: f64) -> f64 {
    let leads = broker.lanes.iter().position(|lane| lane.leads).unwrap_or(0);
    lanes.get(leads).map_or(EMPTY / 2.0, |lane| lane.lane.y + LANE_HEIGHT / 2.0 - top)
}

fn lanes(
    facts: &Facts,
    broker: &BrokerFacts,
    frame: Rect,
    label_room: f64,
) -> (Vec<LanePlace>, f64) {
    let mut y = frame.y + FIRST_LANE;
    let mut places = Vec::new();
    let mut bottom = frame.y + EMPTY - PADDING;
    for lane in &broker.lanes {
        let partition = &facts.partitions[lane.partition];
        let mut place = LanePlace {
            partition: lane.partition,
            lane: Rect { y, ..frame },
            label_room,
            groups: Vec::new(),
            lower_marks: None,
        };
        bottom = reserve(&mut place, partition, lane.leads);
        y = bottom + MARKS;
        places.push(place);
    }
    (places, bottom + PADDING - frame.y)
}

/// Reserves the rows under a lane; its new bottom.
fn reserve(place: &mut LanePlace, partition: &PartitionFacts, leads: bool) -> f64 {
    let mut bottom = place.lane.bottom();
    if partition.has_lower_marks {
        bottom += ROW;
        place.lower_marks = Some(bottom - 2.0);
    }
    if leads {
        for &group in &partition.groups {
            place.groups.push((group, bottom));
            bottom += GROUP_ROWS;
        }
        if !partition.groups.is_empty() {
            bottom -= 6.0;
        }
    }
    bottom
}

/// The least lane shows a gap, one cell, and the label of the log end.
fn least_lane(facts: &Facts) -> f64 {
    GAP + smallest_cell(facts) + log_end_room(facts)
}

/// The label of the high watermark hangs over the partition's name.
fn least_label(facts: &Facts) -> f64 {
    log_end_room(facts) - 18.0
}

/// Whether a card of this width has room for a lane.
pub(super) fn has_room(facts: &Facts, width: f64) -> bool {
    width >= 2.0 * SIDE + NAME_GAP + least_label(facts) + least_lane(facts)
}

/// One width for all partitions' names, and for the roles under them.
fn label_room(facts: &Facts, card: f64) -> f64 {
    let names = facts.partitions.iter().map(|one| room(&one.name.to_string(), Face::Mono));
    let several = facts.brokers.iter().any(|broker| broker.lanes.len() > 1);
    let role = if card < WIDE_CARD { "leader, e00" } else { "leader, epoch 0" };
    let least = if several { room(role, Face::SansBold) } else { 44.0 };
    let longest = facts.partitions.iter().map(|one| one.longest).max().unwrap_or(0);
    let spare = smallest_cell(facts) * longest.clamp(1, CELLS_WANTED) as f64 - smallest_cell(facts);
    let free = card - 2.0 * SIDE - NAME_GAP - least_lane(facts);
    let most = (free - spare).max(free.min(card * 0.34)).min(room(&"0".repeat(16), Face::Mono));
    names.fold(least, f64::max).min(most).max(least_label(facts))
}
