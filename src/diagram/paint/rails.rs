//! Rails, always drawn at the same place, and the followed record's trail on them.

use super::super::layout::way;
use super::super::scene::{Item, Mark, Part, Role};
use super::Paint;
use crate::sim::ids::Machine;
use crate::sim::snapshot::{MessageView, RecordRef};

impl Paint<'_> {
    /// All rails, pale; the quiet ones first.
    pub(super) fn tubes(&self) -> Vec<Item> {
        let rails = || self.places.rails.iter();
        let quiet = rails().filter(|(_, place)| place.is_quiet);
        let loud = rails().filter(|(_, place)| !place.is_quiet);
        quiet
            .chain(loud)
            .map(|(name, place)| {
                let part = if place.is_quiet { Part::TubeQuiet } else { Part::Tube };
                Item::path(part, place.rail.strokes()).mark(Mark::Rail(name.clone()))
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
