//! The dense form: clients in rows, and between them a grid with a column for each broker and a row
//! for each partition. Where columns are wide, a replica is a strip of its log; where they are
//! narrow, its numbers; where even these have no room, a row lists its own replicas alone.

use std::collections::BTreeMap;

use super::super::facts::{ClientFacts, Facts};
use super::super::scene::{Form, Point, Rect, at};
use super::super::text::{Face, room, wrap};
use super::clients::{self, Words};
use super::cluster;
use super::{Cells, ClientPlace, Places, highest};

/// Height of a cell.
pub(in crate::diagram) const CELL: f64 = 20.0;
/// Between two cells: room for their rings.
const BETWEEN: f64 = 5.0;
/// A column is at least so wide.
const LEAST_COLUMN: f64 = 38.0;
/// From this width on, a cell has room for a strip.
const STRIP_COLUMN: f64 = 84.0;
/// The widest and the narrowest square of a strip.
const SQUARE: (f64, f64) = (13.0, 6.0);
/// Height of a broker's head: its name, and its rack or state.
const HEAD: f64 = 38.0;
/// Between parts.
const PART: f64 = 16.0;
/// Over each part, for its heading.
const HEADING: f64 = 26.0;
/// For one line of words.
const LINE: f64 = 16.0;
/// The lines of groups and controllers are so wide at most.
const TOLD_MAX: f64 = 420.0;
/// A column for a group's lag: the least and the largest.
const LAG: (f64, f64) = (36.0, 104.0);
/// What a leaderless partition says.
pub(in crate::diagram) const NO_LEADER: &str = "no leader";
/// What the cells say.
const LEGEND: [&str; 6] = [
    "Blue bar: leader.",
    "Solid: in sync.",
    "Dashed: out of sync.",
    "Grey: stopped.",
    "Ringed: changed.",
    "Numbers: high watermark/log end.",
];

/// The grid's places.
#[derive(Clone, Debug)]
pub(in crate::diagram) struct Grid {
    /// One for each broker.
    pub heads: Vec<Rect>,
    /// Lines for the brokers whose state has no room in their heads: the first, and how wide.
    pub states: Option<(Point, f64)>,
    /// One for each partition.
    pub rows: Vec<Row>,
    /// Groups with a column for their lag.
    pub lags: Vec<(usize, Rect)>,
    /// Whether cells say whose they are.
    pub names_brokers: bool,
    /// How wide a square of a strip is; none where cells have no strips.
    pub square: Option<f64>,
    /// The legend's lines.
    pub legend: Vec<(String, Point)>,
}

/// One partition's places.
#[derive(Clone, Debug)]
pub(in crate::diagram) struct Row {
    /// Where its name begins, and how wide it may be.
    pub name: (Point, f64),
    /// Where it says that it has no leader, if that happens.
    pub no_leader: Option<Point>,
    /// Its replicas: the broker, as an index, and where.
    pub cells: Vec<(usize, Rect)>,
    /// The rows of the groups' columns.
    pub lags: Vec<Rect>,
}

/// How the view is divided.
struct Division {
    width: f64,
    is_wide: bool,
    /// For names.
    label: f64,
    /// For the words of a partition without a leader.
    no_leader: f64,
    /// For each group's lag.
    lag: f64,
    groups: Vec<usize>,
    /// Width of a broker's column; none where cells name their broker.
    column: Option<f64>,
}

impl Division {
    fn new(facts: &Facts, form: Form) -> Division {
        let is_wide = form == Form::Wide;
        let width = if is_wide { 692.0 } else { 328.0 };
        let names = facts.partitions.iter().map(|one| room(&one.name.to_string(), Face::Mono));
        let label = names.fold(0.0, f64::max).min(width * 0.3) + 8.0;
        let lacks = facts.partitions.iter().any(|one| one.lacks_leader);
        let no_leader = if lacks { room(NO_LEADER, Face::SansBold) + 8.0 } else { 0.0 };
        let mut groups: Vec<usize> =
            facts.partitions.iter().flat_map(|one| one.groups.iter().copied()).collect();
        groups.sort_unstable();
        groups.dedup();
        let brokers = facts.brokers.len().max(1) as f64;
        let free = width - label - no_leader;
        groups.truncate(if is_wide { 4 } else { 2 });
        let count = groups.len() as f64;
        let has_columns = |column: &f64| free - brokers * column >= LAG.0 * count;
        let numbers = numbers_room(facts) + 16.0 + BETWEEN;
        let wanted = [STRIP_COLUMN, numbers, LEAST_COLUMN].into_iter().find(has_columns);
        // On a phone, a row's own line has room for lags; elsewhere they stand beside the cells.
        let listed = if is_wide { free - LAG.0 * count } else { 0.0 };
        let spare = free - wanted.map_or(listed, |column| brokers * column);
        let lag = (spare / count.max(1.0)).clamp(LAG.0, LAG.1);
        let column = wanted.map(|_| (free - lag * count) / brokers);
        Division { width, is_wide, label, no_leader, lag, groups, column }
    }

    /// Left edge of the groups' columns.
    fn lag_x(&self) -> f64 {
        self.width - self.lag * self.groups.len() as f64
    }

    /// Left edge of the cells.
    fn cells_x(&self) -> f64 {
        self.label + self.no_leader
    }
}

/// Places everything.
pub(super) fn lay_out(facts: &Facts, form: Form) -> Places {
    let division = Division::new(facts, form);
    let mut columns = Vec::new();
    let mut bottom = 0.0;
    let mut bank = |clients: &[ClientFacts], word: &str, bottom: &mut f64| {
        if clients.is_empty() {
            return Vec::new();
        }
        let top = if *bottom > 0.0 { *bottom + PART } else { 0.0 };
        let plural = if clients.len() == 1 { "" } else { "s" };
        columns.push((format!("{word}{plural}"), at(1.0, top + 13.0)));
        let places = bank(clients, &division, top + HEADING);
        *bottom = places.iter().map(|place| place.card.bottom()).fold(0.0, f64::max);
        places
    };
    let producers = bank(&facts.producers, "Producer", &mut bottom);
    let top = if bottom > 0.0 { bottom + PART } else { 0.0 };
    let (mut grid, below) = grid(facts, &division, top + HEADING);
    bottom = below;
    let free = Rect::new(0.0, bottom, division.width.min(TOLD_MAX), PART);
    let (groups, controllers, below) = cluster::told(facts, free);
    bottom = below;
    let consumers = bank(&facts.consumers, "Consumer", &mut bottom);
    let (legend, height) = legend(division.width, bottom + PART - 8.0);
    grid.legend = legend;
    let square = grid.square.unwrap_or(SQUARE.0);
    Places {
        form,
        width: division.width,
        height,
        heading: (at(1.0, top + 13.0), division.width - 1.0),
        columns,
        brokers: Vec::new(),
        groups,
        controllers,
        producers,
        consumers,
        rails: BTreeMap::new(),
        cells: cells(facts, &grid, square),
        grid: Some(grid),
    }
}

/// Cards of clients, in rows.
fn bank(clients: &[ClientFacts], division: &Division, top: f64) -> Vec<ClientPlace> {
    let across = if division.is_wide { 4 } else { 2 };
    let gap = 10.0;
    let width = (division.width - gap * (across - 1) as f64) / across as f64;
    let mut places: Vec<ClientPlace> = Vec::new();
    let mut y = top;
    for row in clients.chunks(across) {
        let from = places.len();
        for (index, client) in row.iter().enumerate() {
            let corner = at((width + gap) * index as f64, y);
            places.push(clients::wide(client, corner, width, Words::Crowded));
        }
        let bottom = places[from..].iter().map(|it| it.card.bottom()).fold(y, f64::max);
        for place in &mut places[from..] {
            place.card.h = bottom - y;
        }
        y = bottom + gap;
    }
    places
}

/// The grid from `top` on, and its bottom.
fn grid(facts: &Facts, division: &Division, top: f64) -> (Grid, f64) {
    let (heads, below) = heads(facts, division, top);
    let mut y = below + BETWEEN;
    let narrowest = heads.iter().map(|head| head.w).fold(f64::MAX, f64::min);
    let all = facts.states.iter().map(|text| wrap(text, Face::Sans, (division.width - 2.0, 9)));
    let lines = all.map(|lines| lines.len()).max().unwrap_or(0);
    let needs_lines = lines > 0 && narrowest < room("shutting down", Face::SansBold) + 4.0;
    let states = needs_lines.then(|| (at(1.0, y + 11.0), division.width - 2.0));
    y += if needs_lines { LINE * lines as f64 } else { 0.0 };
    let mut grid = Grid {
        heads,
        states,
        rows: Vec::new(),
        lags: Vec::new(),
        names_brokers: division.column.is_none(),
        square: None,
        legend: Vec::new(),
    };
    // With columns, the groups' heads stand beside the brokers'; without, over the first row.
    let lag_top = if division.column.is_some() { top } else { y + 2.0 };
    for (index, &group) in division.groups.iter().enumerate() {
        let x = division.lag_x() + division.lag * index as f64;
        grid.lags.push((group, Rect::new(x, lag_top, division.lag, HEAD)));
    }
    if division.column.is_none() && !division.groups.is_empty() {
        y += HEAD + BETWEEN;
    }
    for (at, _) in facts.partitions.iter().enumerate() {
        let row = row(facts, division, at, y);
        let cells = row.cells.iter().map(|(_, cell)| cell.bottom());
        let more = if grid.names_brokers { BETWEEN } else { 0.0 };
        y = cells.fold(row.name.0.y + 6.0, f64::max) + BETWEEN + more;
        grid.rows.push(row);
    }
    let cells = grid.rows.iter().flat_map(|row| &row.cells);
    let narrowest = cells.map(|(_, cell)| cell.w).fold(f64::MAX, f64::min);
    grid.square = square(facts, narrowest, grid.names_brokers);
    (grid, y)
}

/// The brokers' heads: over their columns, or in rows of their own.
fn heads(facts: &Facts, division: &Division, top: f64) -> (Vec<Rect>, f64) {
    let count = facts.brokers.len();
    if let Some(column) = division.column {
        let x = |index: usize| division.cells_x() + column * index as f64 + BETWEEN / 2.0;
        let heads = (0..count).map(|index| Rect::new(x(index), top, column - BETWEEN, HEAD));
        return (heads.collect(), top + HEAD);
    }
    let across = if division.is_wide { 8 } else { 4 };
    let width = (division.width + BETWEEN) / across as f64;
    let place = |index: usize| {
        let (line, column) = (index / across, index % across);
        let corner = at(width * column as f64, top + (HEAD + BETWEEN) * line as f64);
        Rect::new(corner.x, corner.y, width - BETWEEN, HEAD)
    };
    let lines = count.div_ceil(across) as f64;
    ((0..count).map(place).collect(), top + (HEAD + BETWEEN) * lines - BETWEEN)
}

/// One partition's row.
fn row(facts: &Facts, division: &Division, partition: usize, top: f64) -> Row {
    let brokers = facts.brokers.iter().enumerate();
    let holders = brokers.filter(|(_, it)| it.lanes.iter().any(|lane| lane.partition == partition));
    let holders: Vec<usize> = holders.map(|(index, _)| index).collect();
    let is_list = division.column.is_none();
    let own_line = is_list && !division.is_wide;
    let first = if own_line { top + LINE + 4.0 } else { top };
    let cells = match division.column {
        Some(column) => {
            let x = |index: usize| division.cells_x() + column * index as f64 + BETWEEN / 2.0;
            let cell = |index| (index, Rect::new(x(index), first, column - BETWEEN, CELL));
            holders.into_iter().map(cell).collect()
        }
        None => listed(facts, division, holders, (own_line, first)),
    };
    let lags = (0..division.groups.len()).map(|index| {
        let x = division.lag_x() + division.lag * index as f64;
        Rect::new(x + 4.0, top, division.lag - 6.0, CELL)
    });
    let lacks = facts.partitions[partition].lacks_leader;
    Row {
        name: (at(0.0, top + 14.2), division.label - 8.0),
        no_leader: lacks.then(|| at(division.label, top + 14.2)),
        cells,
        lags: lags.collect(),
    }
}

/// The cells of a row that lists its replicas: beside its name, or under it from the left edge.
fn listed(
    facts: &Facts,
    division: &Division,
    holders: Vec<usize>,
    (own_line, top): (bool, f64),
) -> Vec<(usize, Rect)> {
    let (left, right) =
        if own_line { (0.0, division.width) } else { (division.cells_x(), division.lag_x()) };
    let counts = (0..facts.partitions.len()).map(|partition| {
        let lanes = facts.brokers.iter().flat_map(|broker| &broker.lanes);
        lanes.filter(|lane| lane.partition == partition).count()
    });
    let most = counts.max().unwrap_or(1).max(1);
    let widest = facts.brokers.iter().map(|it| room(&it.id.to_string(), Face::MonoBold));
    let least = widest.fold(0.0, f64::max) + numbers_room(facts) + 18.0;
    let fits = ((right - left) / (least + BETWEEN)).floor().max(1.0);
    let across = (most as f64).min(fits);
    let width = (right - left + BETWEEN) / across;
    let cells = holders.into_iter().enumerate().map(|(index, broker)| {
        let (line, column) = ((index as f64 / across).floor(), index as f64 % across);
        let y = top + (CELL + BETWEEN) * line;
        (broker, Rect::new(left + width * column, y, width - BETWEEN, CELL))
    });
    cells.collect()
}

/// Room for `high watermark/log end`.
pub(in crate::diagram) fn numbers_room(facts: &Facts) -> f64 {
    let highest = highest(facts);
    room(&format!("{highest}/{highest}"), Face::MonoBold)
}

/// The largest square with which all logs fit, if cells have strips.
fn square(facts: &Facts, cell: f64, names_brokers: bool) -> Option<f64> {
    let area = strip_room(facts, cell);
    if names_brokers || cell + BETWEEN < STRIP_COLUMN || area < 3.0 * SQUARE.1 {
        return None;
    }
    let longest = facts.partitions.iter().map(|one| one.longest).max().unwrap_or(0).max(1);
    Some((area / longest as f64).clamp(SQUARE.1, SQUARE.0))
}

/// Room for a strip in a cell: right of the leader's bar, left of the numbers.
fn strip_room(facts: &Facts, cell: f64) -> f64 {
    cell - numbers_room(facts) - 24.0
}

/// How many records a strip shows.
fn cells(facts: &Facts, grid: &Grid, square: f64) -> Cells {
    let places = grid.rows.iter().flat_map(|row| &row.cells);
    let narrowest = places.map(|(_, cell)| cell.w).fold(f64::MAX, f64::min);
    let count = (1_u32..100).take_while(|n| f64::from(*n) * square <= strip_room(facts, narrowest));
    let capacity = count.last().map_or(1, u64::from);
    Cells { width: square, has_labels: false, capacity, capacity_with_gap: capacity }
}

/// The legend's lines from `top` on, and the end of the last.
fn legend(width: f64, top: f64) -> (Vec<(String, Point)>, f64) {
    let lines = wrap(&LEGEND.join(" "), Face::Sans, (width - 2.0, 6));
    let mut base = top;
    let lines = lines.into_iter().map(|line| {
        base += LINE;
        (line, at(1.0, base))
    });
    let lines: Vec<(String, Point)> = lines.collect();
    (lines, base + 4.0)
}
