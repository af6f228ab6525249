//! Marks at offsets: high watermark and log end above a lane, log start, last stable offset and the
//! groups' positions under it. The high watermark's label hangs left of its line and the log end's
//! right of its own, so that they cannot collide: the one is never above the other.

use super::super::facts::owners;
use super::super::layout::{LANE_HEIGHT, LanePlace};
use super::super::scene::{Anchor, Item, Mark, Part, Point, Rect, Role, Shape, Stroke, at};
use super::super::text::{Face, room};
use super::lane::Replica;
use super::{Paint, partition_path, ring, segment};
use crate::sim::ids::TopicPartition;
use crate::sim::snapshot::{ConsumerView, ShareView};

/// From the lane's top up to the labels' base line.
const LABEL: f64 = 9.0;

impl Paint<'_> {
    /// All marks of a lane.
    pub(super) fn marks(&self, place: &LanePlace, replica: &Replica) -> Vec<Item> {
        let window = self.windows[place.partition];
        let mut high = window.x(place, replica.view.high_watermark.0);
        let mut end = window.x(place, replica.view.log_end_offset.0);
        if (high - end).abs() < 0.01 {
            high -= 1.5;
            end += 1.5;
        }
        let mut items = self.labels_above(place, replica, (high, end));
        let line = |part: Part, x: f64| {
            let y = place.lane.y;
            Item::line(part, at(x, y - 20.0), at(x, y + LANE_HEIGHT + 3.0))
        };
        let off = if replica.is_off { Role::Off } else { Role::Plain };
        items.insert(0, line(Part::HighWatermark, high).role(off));
        items.insert(0, line(Part::LogEnd, end));
        items.extend(self.lower_marks(place, replica));
        let is_leader = replica.partition.leader == Some(replica.broker);
        if is_leader && !replica.is_off {
            for &(group, top) in &place.groups {
                items.extend(self.group_marks(place, group, top));
            }
        }
        items
    }

    fn labels_above(
        &self,
        place: &LanePlace,
        replica: &Replica,
        (high, end): (f64, f64),
    ) -> Vec<Item> {
        let base = place.lane.y - LABEL;
        let voice = if replica.is_off { Part::Mute } else { Part::Text };
        let high_text = format!("HW {}", replica.view.high_watermark);
        let end_text = format!("LEO {}", replica.view.log_end_offset);
        let mut items = Vec::new();
        if !replica.is_off && self.has_changed(&format!("{}.high_watermark", replica.path)) {
            let width = room(&high_text, Face::Mono) + 7.0;
            items.push(ring(Rect::new(high - width - 1.5, base - 12.0, width, 17.0)));
        }
        let cut = self.has_shrunk(&format!("{}.log_end_offset", replica.path));
        if cut {
            let width = room(&end_text, Face::Mono) + 7.0;
            items.push(ring(Rect::new(end + 1.5, base - 12.0, width, 17.0)));
        }
        let voice_high = if replica.is_off { Part::Mute } else { Part::Colour };
        items.push(
            Item::text(voice_high, at(high - 5.0, base), high_text, Face::Mono)
                .anchor(Anchor::End)
                .role(if replica.is_off { Role::Plain } else { Role::Ok }),
        );
        items.push(Item::text(voice, at(end + 5.0, base), end_text, Face::Mono));
        items
    }

    fn has_shrunk(&self, path: &str) -> bool {
        let mut changes = self.frame.changed.iter().filter(|change| change.path == path);
        changes.any(|change| {
            let number = |value: &Option<serde_json::Value>| {
                value.as_ref().and_then(serde_json::Value::as_u64).unwrap_or(0)
            };
            number(&change.to) < number(&change.from)
        })
    }

    /// The log start and the last stable offset, in one row under the lane.
    fn lower_marks(&self, place: &LanePlace, replica: &Replica) -> Vec<Item> {
        let Some(base) = place.lower_marks else { return Vec::new() };
        let window = self.windows[place.partition];
        let mut items = self.segments(place, replica);
        let mut free = place.lane.x;
        let start = replica.view.log_start_offset;
        if start.0 > 0 {
            let text = format!("log start {start}");
            let x = window.x(place, start.0);
            if window.shows(start.0) {
                let (top, bottom) = (place.lane.y - 3.0, place.lane.bottom() + 3.0);
                items.push(Item::line(Part::LogStart, at(x, top), at(x, bottom)));
            }
            if self.has_changed(&format!("{}.log_start_offset", replica.path)) {
                let width = room(&text, Face::Sans) + 10.0;
                items.push(ring(Rect::new(place.lane.x - 5.0, base - 11.5, width, 15.5)));
            }
            free += room(&text, Face::Sans) + 10.0;
            items.push(Item::text(Part::Mute, at(place.lane.x, base), text, Face::Sans));
        }
        let stable = replica.partition.last_stable_offset.zip(replica.partition.high_watermark);
        let is_leader = replica.partition.leader == Some(replica.broker);
        if let Some((stable, _)) = stable.filter(|(stable, high)| is_leader && stable < high) {
            let x = window.x(place, stable.0);
            let text = format!("LSO {stable}");
            let width = room(&text, Face::Mono);
            let left = (x - width / 2.0).max(free).min(place.lane.right() - width);
            items.push(Item::line(
                Part::LastStable,
                at(x, place.lane.y - 3.0),
                at(x, place.lane.bottom() + 3.0),
            ));
            if left >= free {
                items.push(Item::text(Part::Text, at(left, base), text, Face::Mono));
                free = left + width + 8.0;
            }
        }
        let count = replica.partition.segment.len();
        let text = format!("{count} segments");
        let width = room(&text, Face::Sans);
        let end = place.lane.right() - 4.0;
        if is_leader && count > 1 && end - width >= free {
            if self.has_changed(&format!("{}.segments", self.path_of(place))) {
                let around = Rect::new(end - width - 5.0, base - 11.5, width + 10.0, 15.5);
                items.push(ring(around));
            }
            let text = Item::text(Part::Mute, at(end, base), text, Face::Sans);
            items.push(text.anchor(Anchor::End));
        }
        items
    }

    fn path_of(&self, place: &LanePlace) -> String {
        partition_path(&self.facts.partitions[place.partition].name)
    }

    /// A bracket under the records of each of a replica's segments, where a log has several.
    fn segments(&self, place: &LanePlace, replica: &Replica) -> Vec<Item> {
        let bases = &replica.view.segment_bases;
        if bases.len() < 2 {
            return Vec::new();
        }
        let window = self.windows[place.partition];
        let top = place.lane.bottom() + 1.5;
        let first = window.first.max(replica.view.log_start_offset.0);
        let end = replica.view.log_end_offset.0;
        let nexts = bases.iter().skip(1).map(|base| base.0).chain([end]);
        let brackets = bases.iter().zip(nexts).filter(|(_, next)| *next > first);
        brackets
            .filter_map(|(base, next)| {
                let (from, to) = (window.x(place, base.0.max(first)), window.x(place, next));
                let (from, to) = (from + 2.0, to - 2.0);
                let corners = [(from, top), (from, top + 3.0), (to, top + 3.0), (to, top)];
                let [start, more @ ..] = corners.map(|(x, y)| at(x, y));
                let strokes = more.map(Stroke::Line);
                let strokes = std::iter::once(Stroke::Move(start)).chain(strokes).collect();
                (to > from).then(|| Item::path(Part::Segment, strokes))
            })
            .collect()
    }

    /// A group's position, filled, and under it its committed offset, hollow.
    fn group_marks(&self, place: &LanePlace, group: usize, top: f64) -> Vec<Item> {
        let partition = &self.facts.partitions[place.partition].name;
        let name = &self.facts.groups[group];
        let window = self.windows[place.partition];
        let role = Paint::group_role(group);
        let snapshot = self.snapshot();
        let committed = snapshot.groups.get(name).and_then(|view| view.committed.get(partition));
        let reader = self.reader(name, partition);
        let position = reader.and_then(|(_, view)| view.position.get(partition));
        if let Some(share) = snapshot.groups.get(name).and_then(|view| view.share.get(partition)) {
            return self.share_marks(place, (group, top), share);
        }
        // Where several groups read, colour alone would tell them apart.
        let several = (place.groups.len() > 1).then_some(name);
        let members = self.facts.consumers.iter().filter(|one| one.group == Some(group));
        let member = reader.map(|(reader, _)| reader).filter(|_| members.count() > 1);
        let mut items = Vec::new();
        let committed_x = window.x(place, committed.map_or(window.first, |offset| offset.0));
        let key = segment(&partition.to_string());
        let space = (place.lane.x - place.label_room, place.lane.right() + 6.0);
        if let (Some(position), Some((consumer, _))) = (position, reader) {
            let x = window.x(place, position.0);
            let path = format!("consumers.{}.position.{key}", segment(consumer));
            if (committed_x - x).abs() > 0.5 {
                let (from, to) = (at(committed_x, top + 3.0), at(committed_x, top + 22.0));
                items.push(Item::line(Part::Stem, from, to).role(role));
            }
            let view = snapshot.consumers.get(consumer);
            let gives_up = view.is_some_and(|view| view.revoking.contains(partition));
            let words =
                texts(member.or(several), if gives_up { "gives up at" } else { "position" });
            let label = Label { words, value: position.to_string(), tip: at(x, top + 5.0), space };
            items.extend(triangle(Part::Position, label, self.has_changed(&path), role));
        } else if reader.is_none() {
            items.extend(self.awaited(name, partition, (at(committed_x, top + 15.5), space)));
        }
        let label = Label {
            words: texts(several, "committed"),
            value: committed.map_or("none".to_owned(), ToString::to_string),
            tip: at(committed_x, top + 21.5),
            space,
        };
        let path = format!("groups.{}.committed.{key}", segment(name));
        items.extend(triangle(Part::Committed, label, self.has_changed(&path), role));
        items
    }

    /// Who reads a partition for a group: of several, the one to whom it belongs.
    fn reader(&self, group: &str, partition: &TopicPartition) -> Option<(&String, &ConsumerView)> {
        let consumers = self.snapshot().consumers.iter();
        let readers =
            consumers.filter(|(_, it)| it.group == group && it.position.contains_key(partition));
        readers.min_by_key(|(_, view)| view.revoking.contains(partition))
    }

    /// Whom the coordinator has given a partition that nobody reads yet, or any more.
    fn awaited(
        &self,
        group: &str,
        partition: &TopicPartition,
        (place, space): (Point, (f64, f64)),
    ) -> Option<Item> {
        let owners = owners(self.snapshot().groups.get(group)?)?;
        let (owner, _) = owners.iter().find(|(_, given)| given.contains(partition))?;
        for text in [format!("assigned to {owner}"), format!("to {owner}"), owner.clone()] {
            let width = room(&text, Face::Sans);
            let item = |x: f64| Item::text(Part::Mute, at(x, place.y), text.as_str(), Face::Sans);
            if place.x + width <= space.1 {
                return Some(item(place.x));
            }
            if place.x - width >= space.0 {
                return Some(item(place.x).anchor(Anchor::End));
            }
        }
        None
    }

    /// How many records of a share group are where, from long to short.
    fn share_words(&self, group: usize, share: &ShareView) -> Vec<String> {
        let name = &self.facts.groups[group];
        let counts = ["acquired", "available", "archived"].into_iter().filter_map(|state| {
            let count = share.records.values().filter(|record| record.state == state).count();
            (count > 0).then(|| format!("{count} {state}"))
        });
        let counts: Vec<String> = counts.collect();
        let starts = "starts at".to_owned();
        let mut words = Vec::new();
        for kept in (1..=counts.len()).rev() {
            let counts = counts[..kept].join(", ");
            words.push(format!("{name}: {counts}, {starts}"));
            words.push(format!("{counts}, {starts}"));
        }
        words.extend([format!("{name}: {starts}"), starts]);
        words
    }

    /// What a share group does with each record, and where its part of the log begins.
    fn share_marks(
        &self,
        place: &LanePlace,
        (group, top): (usize, f64),
        share: &ShareView,
    ) -> Vec<Item> {
        let window = self.windows[place.partition];
        let role = Paint::group_role(group);
        let mut items = Vec::new();
        for (offset, record) in share.records.iter().filter(|(at, _)| window.shows(at.0)) {
            let x = window.x(place, offset.0) + window.cell / 2.0;
            let again = record.delivery_count > 1 && window.cell >= 24.0;
            let centre = at(if again { x - 5.0 } else { x }, top + 10.0);
            items.extend(share_mark(&record.state, centre).map(|item| item.role(role)));
            if again {
                let count = record.delivery_count.to_string();
                let start = at(x + 1.0, top + 14.4);
                items.push(Item::text(Part::Colour, start, count, Face::Mono).role(role));
            }
        }
        let label = Label {
            words: self.share_words(group, share),
            value: share.start_offset.to_string(),
            tip: at(window.x(place, share.start_offset.0), top + 21.5),
            space: (place.lane.x - place.label_room, place.lane.right() + 6.0),
        };
        let name = segment(&self.facts.groups[group]);
        let key = segment(&self.facts.partitions[place.partition].name.to_string());
        let has_changed = self.has_changed(&format!("groups.{name}.share.{key}.start_offset"));
        items.extend(triangle(Part::Committed, label, has_changed, role));
        items
    }

    /// The observable's value of a group's lag on the partitions that a consumer reads.
    pub(super) fn lag(&self, group: &str, read: &[TopicPartition]) -> Option<i64> {
        let view = self.snapshot().groups.get(group)?;
        let known: Vec<i64> = read.iter().filter_map(|name| view.lag.get(name).copied()).collect();
        (!known.is_empty()).then(|| known.iter().sum())
    }
}

/// A record's state in a share group: a ring while it is free, a disc while somebody has it, a tick
/// once it is acknowledged, a cross when it is given up.
fn share_mark(state: &str, centre: Point) -> Option<Item> {
    let by = |x: f64, y: f64| at(centre.x + x, centre.y + y);
    let circle = |part: Part| Item {
        part,
        role: Role::Plain,
        shape: Shape::Circle { centre, radius: 4.0 },
        mark: Mark::None,
    };
    let path = |strokes: Vec<Stroke>| Item::path(Part::Way, strokes);
    Some(match state {
        "available" => circle(Part::Committed),
        "acquired" => circle(Part::Position),
        "acknowledged" => path(vec![
            Stroke::Move(by(-4.0, 0.0)),
            Stroke::Line(by(-1.0, 3.5)),
            Stroke::Line(by(4.5, -4.0)),
        ]),
        "archived" => path(vec![
            Stroke::Move(by(-3.5, -3.5)),
            Stroke::Line(by(3.5, 3.5)),
            Stroke::Move(by(3.5, -3.5)),
            Stroke::Line(by(-3.5, 3.5)),
        ]),
        _ => return None,
    })
}

/// What stands beside a triangle, before its value, from long to short. Where several own such
/// marks, whose it is matters more than what it is, which its shape says.
fn texts(whose: Option<&String>, what: &str) -> Vec<String> {
    let long =
        whose.into_iter().flat_map(|whose| [format!("{whose}: {what}"), format!("{whose}:")]);
    long.chain([what.to_owned()]).collect()
}

/// What a triangle points at.
struct Label {
    /// From long to short.
    words: Vec<String>,
    value: String,
    tip: Point,
    /// Left and right end of the space.
    space: (f64, f64),
}

/// A triangle whose tip is an offset, with its words at the side where they fit; where neither has
/// the room, the value alone.
fn triangle(part: Part, label: Label, has_changed: bool, role: Role) -> Vec<Item> {
    let Label { words, value, tip, space } = label;
    let (half, height) = if part == Part::Position { (5.5, 10.0) } else { (5.0, 9.0) };
    let fits_right = |text: &str| tip.x + 14.0 + room(text, Face::Sans) <= space.1;
    let fits_left = |text: &str| tip.x - 9.0 - room(text, Face::Sans) >= space.0;
    let full = words.iter().map(|words| format!("{words} {value}"));
    let side = full.flat_map(|text| [(text.clone(), true), (text, false)]);
    let mut fitting =
        side.filter(|(text, right)| if *right { fits_right(text) } else { fits_left(text) });
    let (text, is_right) = fitting.next().unwrap_or_else(|| {
        let is_right = fits_right(&value);
        (value.clone(), is_right)
    });
    let width = room(&text, Face::Sans);
    let base = tip.y + 10.5 - if part == Part::Position { 0.0 } else { 0.5 };
    let mut items = Vec::new();
    if has_changed {
        let x = if is_right { tip.x - 8.0 } else { tip.x - 15.0 - width };
        items.push(ring(Rect::new(x, base - 12.2, width + 23.0, 16.0)));
    }
    let strokes = vec![
        Stroke::Move(tip),
        Stroke::Line(at(tip.x + half, tip.y + height)),
        Stroke::Line(at(tip.x - half, tip.y + height)),
        Stroke::Close,
    ];
    items.push(Item::path(part, strokes).role(role));
    let (x, anchor) =
        if is_right { (tip.x + 9.0, Anchor::Start) } else { (tip.x - 9.0, Anchor::End) };
    items.push(Item::text(Part::Colour, at(x, base), text, Face::Sans).anchor(anchor).role(role));
    items
}
