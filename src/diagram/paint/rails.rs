//! Rails, always drawn at the same place, and the followed record's trail on them.

use std::collections::BTreeMap;

use super::super::layout::{RailPlace, way};
use super::super::scene::{Item, Mark, Part, Role, Shape, Stroke, at};
use super::Paint;
use crate::sim::ids::Machine;
use crate::sim::snapshot::{MessageView, RecordRef};

impl Paint<'_> {
    /// All rails, pale; the quiet ones first. Where the rails of one machine cross those drawn
    /// before, they stand out against them.
    pub(super) fn tubes(&self) -> Vec<Item> {
        let mut bundles: BTreeMap<(bool, &str), Vec<(&String, &RailPlace)>> = BTreeMap::new();
        for (name, place) in &self.places.rails {
            let bundle = match &place.ends.0 {
                Machine::Client(client) => client,
                _ => name,
            };
            bundles.entry((!place.is_quiet, bundle)).or_default().push((name, place));
        }
        let mut drawn: Vec<&RailPlace> = Vec::new();
        let mut items = Vec::new();
        for bundle in bundles.into_values() {
            let crosses = |place: &RailPlace| drawn.iter().any(|it| it.rail.crosses(&place.rail));
            if bundle.iter().any(|(_, place)| crosses(place)) {
                let cases = bundle.iter().map(|(_, place)| {
                    let part = if place.is_quiet { Part::CaseQuiet } else { Part::Case };
                    Item::path(part, place.rail.strokes())
                });
                items.extend(cases);
            }
            for (name, place) in bundle {
                let part = if place.is_quiet { Part::TubeQuiet } else { Part::Tube };
                let tube = Item::path(part, place.rail.strokes());
                items.push(tube.mark(Mark::Rail(name.clone())));
                drawn.push(place);
            }
        }
        items
    }

    /// A crossed-out disc in the middle of every rail that is cut.
    pub(super) fn cuts(&self) -> Vec<Item> {
        let sides = &self.snapshot().sides;
        let is_cut = |place: &&RailPlace| {
            let ends = (sides.get(&place.ends.0), sides.get(&place.ends.1));
            matches!(ends, (Some(a), Some(b)) if a != b)
        };
        let cut = self.places.rails.values().filter(is_cut);
        cut.flat_map(|place| {
            let centre = place.rail.head(place.rail.length() / 2.0).tip;
            let by = |x: f64, y: f64| at(centre.x + x, centre.y + y);
            let face = Shape::Circle { centre, radius: 7.0 };
            let face = Item { part: Part::Clock, role: Role::Bad, shape: face, mark: Mark::None };
            let strokes = vec![
                Stroke::Move(by(-3.0, -3.0)),
                Stroke::Line(by(3.0, 3.0)),
                Stroke::Move(by(3.0, -3.0)),
                Stroke::Line(by(-3.0, 3.0)),
            ];
            [face, Item::path(Part::Clock, strokes).role(Role::Bad)]
        })
        .collect()
    }

    /// The rails that the followed record has travelled: orange while it is not committed.
    pub(super) fn trail(&self) -> Vec<Item> {
        let Some(record) = &self.run.follow else { return Vec::new() };
        let role = match self.snapshot().partitions.get(&record.partition) {
            Some(view) if view.high_watermark.is_some_and(|high| record.offset < high) => Role::Ok,
            Some(view) if view.high_watermark.is_none() && self.is_known_committed(record) => {
                Role::Ok
            }
            _ => Role::Pending,
        };
        let arrived = self.journey(record).filter(|one| one.arrives_ms <= self.frame.time_ms);
        let mut names: Vec<String> = arrived
            .filter_map(|one| way(self.facts, &one.from, &one.to))
            .map(|way| way.rail)
            .collect();
        names.sort();
        names.dedup();
        let rails = names.iter().filter_map(|name| self.places.rails.get(name));
        rails.map(|place| Item::path(Part::Trail, place.rail.strokes()).role(role)).collect()
    }

    /// Without a live leader: whether some replica knows the record as committed.
    fn is_known_committed(&self, record: &RecordRef) -> bool {
        let view = self.snapshot().partitions.get(&record.partition);
        let mut replicas = view.into_iter().flat_map(|view| view.replicas.values());
        replicas.any(|replica| record.offset < replica.high_watermark)
    }

    /// The messages that carried a record, the produce request first.
    fn journey<'b>(&'b self, record: &'b RecordRef) -> impl Iterator<Item = &'b MessageView> {
        let produce = self.produced(record);
        let carried = self.run.messages.iter().filter(|one| one.records.contains(record));
        produce.into_iter().chain(carried)
    }

    /// A produce request lists no offsets: the record's is the first that left once the record was
    /// there.
    fn produced(&self, record: &RecordRef) -> Option<&MessageView> {
        let views = self.run.frames.iter();
        let mut views = views.filter_map(|frame| frame.snapshot.partitions.get(&record.partition));
        let written = views.find_map(|view| view.records.get(&record.offset))?;
        let created = u64::try_from(written.timestamp).unwrap_or(0);
        let is_producer = |machine: &Machine| matches!(machine, Machine::Client(_));
        self.run
            .messages
            .iter()
            .find(|one| one.kind == "produce" && one.sent_ms >= created && is_producer(&one.from))
    }
}
