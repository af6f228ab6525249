//! One replica's log: its lane, its records, what it does not show.

use super::super::facts::label;
use super::super::layout::{GAP, LANE_HEIGHT, LanePlace};
use super::super::scene::{
    Anchor, Group, Item, Mark, Part, Point, Rect, Role, Shape, Stroke, Subject, at,
};
use super::super::settings::is_compacted;
use super::super::text::{Face, fit, room};
use super::standing::Standing;
use super::{Paint, partition_path, ring};
use crate::sim::ids::{BrokerId, Offset};
use crate::sim::snapshot::{PartitionView, RecordKind, RecordView, ReplicaView, TransactionMark};

/// What stands in the place of records before the log start.
const DELETED: &str = "deleted";

/// A replica and what it is part of.
pub(super) struct Replica<'a> {
    pub broker: BrokerId,
    pub partition: &'a PartitionView,
    pub view: &'a ReplicaView,
    /// Its path among the observables.
    pub path: String,
    /// Whether its broker's process is not there.
    pub is_off: bool,
    /// Whether the cleaner compacts its topic.
    pub is_compacted: bool,
}

impl Paint<'_> {
    /// One replica's group.
    pub(super) fn lane(&self, broker: BrokerId, place: &LanePlace, is_off: bool) -> Group {
        let partition = &self.facts.partitions[place.partition];
        let name = partition.name.to_string();
        let view = self.snapshot().partitions.get(&partition.name);
        let replica = view.and_then(|view| Some((view, view.replicas.get(&broker)?)));
        let has_ground = !is_off && replica.is_some();
        let ground = if has_ground { Role::Plain } else { Role::Off };
        let mut items = vec![Item::rect(Part::Lane, place.lane, 5.0).role(ground)];
        if replica.is_none() {
            items.push(Item::rect(Part::Slot, place.lane, 5.0));
        }
        let voice = if is_off || replica.is_none() { Part::Mute } else { Part::Text };
        items.extend(self.lane_name(place, &name, voice));
        if let Some((partition_view, view)) = replica {
            let path = format!("{}.replicas.{broker}", partition_path(&partition.name));
            let topic = &partition.name.topic;
            let is_compacted = is_compacted(&self.run.world, self.snapshot(), topic);
            let partition = partition_view;
            let replica = Replica { broker, partition, view, path, is_off, is_compacted };
            items.extend(self.ticks(place, &replica));
            items.extend(self.records(place, &replica));
            items.extend(self.marks(place, &replica));
            items.extend(self.lane_role(place, &replica));
        }
        Group { subject: Subject::Replica(format!("{name}@{broker}")), items }
    }

    fn lane_name(&self, place: &LanePlace, name: &str, voice: Part) -> Option<Item> {
        let roles = self.roles_at_lanes(place);
        let y = place.lane.y + if roles { 12.5 } else { LANE_HEIGHT / 2.0 + 4.2 };
        let text = fit(name, Face::Mono, place.label_room);
        let end = at(place.lane.x - 7.0, y);
        let item = |text| Item::text(voice, end, text, Face::Mono).anchor(Anchor::End).whole(name);
        (!text.is_empty()).then(|| item(text))
    }

    fn roles_at_lanes(&self, place: &LanePlace) -> bool {
        let mut brokers = self.places.brokers.iter().filter(|broker| broker.roles_at_lanes);
        brokers.any(|broker| broker.card.contains(place.lane))
    }

    /// The role under a partition's name, where a broker has several lanes.
    fn lane_role(&self, place: &LanePlace, replica: &Replica) -> Vec<Item> {
        if !self.roles_at_lanes(place) {
            return Vec::new();
        }
        let standing = Standing::of(replica.partition, replica.broker);
        let (texts, role) = (standing.line(), standing.role());
        let face = if role == Role::Plain { Face::Sans } else { Face::SansBold };
        let fits = |text: &&String| room(text, face) <= place.label_room;
        let Some(text) = texts.iter().find(fits).or(texts.last()) else { return Vec::new() };
        let text = fit(text, face, place.label_room);
        if text.is_empty() {
            return Vec::new();
        }
        let end = at(place.lane.x - 7.0, place.lane.y + 26.0);
        let mut items = Vec::new();
        let own = ["in_sync", "role", "stalled"];
        if own.iter().any(|field| self.has_changed(&format!("{}.{field}", replica.path))) {
            let width = room(&text, face) + 8.0;
            items.push(ring(Rect::new(end.x - width + 4.0, end.y - 12.0, width, 16.0)));
        }
        let voice = if role == Role::Plain { Part::Mute } else { Part::Colour };
        items.push(Item::text(voice, end, text, face).anchor(Anchor::End).role(role));
        items
    }

    fn ticks(&self, place: &LanePlace, replica: &Replica) -> Vec<Item> {
        let window = self.windows[place.partition];
        let end = place.lane.right() - 12.0;
        let (low, log_end) = (window.first + 1, replica.view.log_end_offset.0);
        (low.max(log_end + 1)..=window.end)
            .map(|offset| window.x(place, offset))
            .take_while(|x| *x < end)
            .map(|x| {
                let y = place.lane.y + 11.0;
                Item::line(Part::Tick, at(x, y), at(x, y + 8.0))
            })
            .collect()
    }

    fn records(&self, place: &LanePlace, replica: &Replica) -> Vec<Item> {
        let window = self.windows[place.partition];
        let mut items = Vec::new();
        let view = replica.view;
        if window.has_gap && view.log_end_offset.0 > 0 {
            items.extend(gap(place, view.log_start_offset.0 >= window.first));
        } else if view.log_start_offset.0 > window.first {
            items.extend(deleted(place, window.x(place, view.log_start_offset.0)));
        }
        let first = window.first.max(view.log_start_offset.0);
        let end = window.end.min(view.log_end_offset.0);
        items.extend(self.new_records(place, replica, (first, end)));
        for offset in first..end {
            let x = window.x(place, offset);
            let cell = Rect::new(x, place.lane.y, window.cell, LANE_HEIGHT);
            match replica.record(Offset(offset)) {
                Found::Record(record) => {
                    let role = replica.role_of(Offset(offset), record);
                    let has_label = self.places.cells.has_labels;
                    items.extend(logged(cell, role, (offset, record), has_label));
                    if replica.is_compacted && record.is_tombstone() {
                        items.extend(tombstone(cell));
                    }
                }
                Found::Unknown => {
                    let role = replica.role_of_offset(Offset(offset));
                    items.extend(self::record(cell, role, Some(offset), None));
                }
                Found::Removed => {
                    let hole = Rect::new(cell.x + 2.0, cell.y + 2.0, cell.w - 4.0, cell.h - 4.0);
                    items.push(Item::rect(Part::Gap, hole, 3.0).mark(Mark::Offset(offset)));
                    let base = at(x + window.cell / 2.0, place.lane.y + LANE_HEIGHT / 2.0 + 4.2);
                    let number = fit(&offset.to_string(), Face::Mono, window.cell - 6.0);
                    let number = Item::text(Part::Mute, base, number, Face::Mono);
                    items.push(number.anchor(Anchor::Middle));
                }
            }
        }
        items
    }

    /// One ring around the records that came since the step before.
    fn new_records(&self, place: &LanePlace, replica: &Replica, shown: (u64, u64)) -> Option<Item> {
        let path = format!("{}.log_end_offset", replica.path);
        let change = self.frame.changed.iter().find(|change| change.path == path)?;
        let before = change.from.as_ref().map_or(Some(0), serde_json::Value::as_u64)?;
        let (first, end) = (shown.0.max(before), shown.1);
        if first >= end {
            return None;
        }
        let window = self.windows[place.partition];
        let (left, right) = (window.x(place, first), window.x(place, end));
        let rect = Rect::new(left - 3.0, place.lane.y - 4.0, right - left + 6.0, LANE_HEIGHT + 8.0);
        Some(ring(rect))
    }
}

/// What a log holds at an offset.
enum Found<'a> {
    Record(&'a RecordView),
    /// It is there, but nothing is known of it.
    Unknown,
    /// The cleaner took it out.
    Removed,
}

impl Replica<'_> {
    fn record(&self, offset: Offset) -> Found<'_> {
        let own = &self.view.records;
        match own.get(&offset).or_else(|| self.partition.records.get(&offset)) {
            Some(record) => Found::Record(record),
            None if own.is_empty() => Found::Unknown,
            None => Found::Removed,
        }
    }

    /// The colours of what it holds at an offset; none where the cleaner took it out.
    pub(super) fn role_at(&self, offset: Offset) -> Option<Role> {
        match self.record(offset) {
            Found::Record(record) => Some(self.role_of(offset, record)),
            Found::Unknown => Some(self.role_of_offset(offset)),
            Found::Removed => None,
        }
    }

    fn role_of(&self, offset: Offset, record: &RecordView) -> Role {
        let leaders = self.partition.records.get(&offset);
        let diverged = leaders.is_some_and(|other| other.leader_epoch != record.leader_epoch);
        if self.is_off {
            Role::Off
        } else if diverged || record.txn == TransactionMark::Aborted {
            Role::Bad
        } else {
            self.role_of_offset(offset)
        }
    }

    fn role_of_offset(&self, offset: Offset) -> Role {
        match (self.is_off, offset < self.view.high_watermark) {
            (true, _) => Role::Off,
            (false, true) => Role::Ok,
            (false, false) => Role::Pending,
        }
    }
}

/// A record in a log: a marker is round, a record of an aborted transaction is struck out, and one
/// whose transaction is open has a small disc on its edge.
fn logged(
    cell: Rect,
    role: Role,
    (offset, record): (u64, &RecordView),
    has_label: bool,
) -> Vec<Item> {
    let text = has_label.then(|| label(record));
    let is_marker = record.kind != RecordKind::Data;
    let mut items = if is_marker && !has_label {
        let letter = if record.kind == RecordKind::Commit { "C" } else { "A" };
        self::record(cell, role, None, Some(letter))
    } else {
        self::record(cell, role, Some(offset), text)
    };
    if is_marker && let Some(body) = items.first_mut() {
        body.mark = Mark::Offset(offset);
        if let Shape::Box { radius, .. } = &mut body.shape {
            *radius = LANE_HEIGHT / 2.0;
        }
    }
    match record.txn {
        TransactionMark::Aborted if !is_marker => {
            let (left, right) = (cell.x + 4.0, cell.right() - 4.0);
            let line = [at(left, cell.bottom() - 5.0), at(right, cell.y + 5.0)];
            items.push(Item::line(Part::Strike, line[0], line[1]).role(role));
        }
        TransactionMark::Open => {
            let centre = at(cell.x + cell.w / 2.0, cell.y);
            let disc = Shape::Circle { centre, radius: 3.2 };
            let role = Role::Pending;
            items.push(Item { part: Part::Clock, role, shape: disc, mark: Mark::None });
        }
        _ => {}
    }
    items
}

/// A tombstone has a crossed-out disc on its lower edge.
fn tombstone(cell: Rect) -> [Item; 2] {
    let centre = at(cell.x + cell.w / 2.0, cell.bottom());
    let disc = Shape::Circle { centre, radius: 3.6 };
    let disc = Item { part: Part::Clock, role: Role::Plain, shape: disc, mark: Mark::None };
    let (from, to) = (at(centre.x - 2.5, centre.y + 2.5), at(centre.x + 2.5, centre.y - 2.5));
    [disc, Item::line(Part::Clock, from, to)]
}

/// A record: the same shape wherever it is. It has its offset once a log holds it.
pub(super) fn record(cell: Rect, role: Role, offset: Option<u64>, text: Option<&str>) -> Vec<Item> {
    let mark = offset.map_or(Mark::None, Mark::Offset);
    let body = Rect::new(cell.x + 1.0, cell.y, cell.w - 2.0, cell.h);
    let mut items = vec![Item::rect(Part::Record, body, 5.0).role(role).mark(mark)];
    let base = cell.y + cell.h / 2.0 + 4.2;
    let middle = |text: String, face: Face, part: Part| {
        Item::text(part, at(cell.x + cell.w / 2.0, base), text, face).anchor(Anchor::Middle)
    };
    match (offset, text.filter(|text| !text.is_empty())) {
        (None, None) => {}
        (None, Some(text)) => {
            let text = fit(text, Face::Mono, cell.w - 8.0);
            items.push(middle(text, Face::Mono, Part::Text));
        }
        (Some(offset), None) => {
            let number = fit(&offset.to_string(), Face::MonoBold, cell.w - 3.0);
            items.push(middle(number, Face::MonoBold, Part::Colour).role(role));
        }
        (Some(offset), Some(text)) => {
            let number = offset.to_string();
            let left = 7.0 + room(&number, Face::MonoBold) + 3.0;
            let start = at(cell.x + 7.0, base);
            items.push(Item::text(Part::Colour, start, number, Face::MonoBold).role(role));
            let text = fit(text, Face::Mono, cell.w - left - 6.0);
            let end = at(cell.right() - 6.0, base);
            items.push(Item::text(Part::Text, end, text, Face::Mono).anchor(Anchor::End));
        }
    }
    items
}

/// What stands before the first record shown: a torn edge where the log begins, dots where it goes
/// on.
fn gap(place: &LanePlace, begins_here: bool) -> Vec<Item> {
    let (x, y) = (place.lane.x, place.lane.y);
    if !begins_here {
        let middle = at(x + GAP / 2.0, y + LANE_HEIGHT / 2.0 + 2.0);
        return vec![Item::text(Part::Mute, middle, "…", Face::Mono).anchor(Anchor::Middle)];
    }
    vec![torn(at(x + GAP - 5.0, y))]
}

/// An edge torn off at the height of a lane, its teeth left of `top`.
fn torn(top: Point) -> Item {
    let teeth = 6;
    let step = LANE_HEIGHT / f64::from(teeth);
    let mut strokes = vec![Stroke::Move(top)];
    for tooth in 0..teeth {
        let y = top.y + f64::from(tooth) * step;
        strokes.push(Stroke::Line(at(top.x - 4.0, y + step / 2.0)));
        strokes.push(Stroke::Line(at(top.x, y + step)));
    }
    Item::path(Part::Gap, strokes)
}

/// The place of what was before the log start, up to `end`: empty, and torn off.
fn deleted(place: &LanePlace, end: f64) -> Vec<Item> {
    let mut items = vec![torn(at(end - 4.0, place.lane.y))];
    let (left, right) = (place.lane.x + 4.0, end - 10.0);
    if room(DELETED, Face::Sans) <= right - left {
        let base = at(f64::midpoint(left, right), place.lane.y + LANE_HEIGHT / 2.0 + 4.2);
        items.push(Item::text(Part::Mute, base, DELETED, Face::Sans).anchor(Anchor::Middle));
    }
    items
}
