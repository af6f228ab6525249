//! The dense form: heads of brokers, names of partitions, groups' lag, and what the cells mean.

use super::super::broker_state;
use super::super::facts::{BrokerFacts, owners};
use super::super::layout::{Grid, NO_LEADER, Row};
use super::super::scene::{Anchor, Group, Item, Part, Rect, Role, Subject, at};
use super::super::text::{Face, fit, room, wrap};
use super::broker::cross;
use super::{Paint, partition_path, ring, segment};
use crate::sim::ids::TopicPartition;
use crate::sim::snapshot::{BrokerView, ConsumerView, ProcessState};
use crate::sim::world::Protocol;

/// Between two lines of states.
const LINE: f64 = 16.0;

impl Paint<'_> {
    /// Everything of the grid.
    pub(super) fn dense(&self, grid: &Grid) -> Vec<Group> {
        let mut groups = Vec::new();
        for (facts, place) in self.facts.brokers.iter().zip(&grid.heads) {
            let view = self.snapshot().brokers.get(&facts.id).cloned().unwrap_or_default();
            groups.push(self.head(facts, *place, &view));
        }
        let mut items = self.states(grid);
        for (group, place) in &grid.lags {
            items.extend(self.lag_head(*group, *place));
        }
        for (index, row) in grid.rows.iter().enumerate() {
            items.extend(self.row_name(index, row));
            items.extend(self.row_lags(grid, index, row));
        }
        groups.push(Group { subject: Subject::Stage, items });
        for (index, row) in grid.rows.iter().enumerate() {
            groups.extend(self.cells(grid, index, row));
        }
        let legend = grid.legend.iter();
        let legend = legend.map(|(text, at)| Item::text(Part::Mute, *at, text, Face::Sans));
        groups.push(Group { subject: Subject::Labels, items: legend.collect() });
        groups
    }

    fn head(&self, facts: &BrokerFacts, place: Rect, view: &BrokerView) -> Group {
        let is_off = view.process == ProcessState::Stopped;
        let state = broker_state::state(self.snapshot(), facts.id);
        let part = match state {
            _ if is_off => Part::CellStop,
            Some(_) => Part::CardOut,
            None => Part::Card,
        };
        let mut items = Vec::new();
        let fields = ["process", "registration"];
        let path = format!("brokers.{}", facts.id);
        if fields.iter().any(|field| self.has_changed(&format!("{path}.{field}"))) {
            items.push(ring(Rect::new(place.x - 2.5, place.y - 2.5, place.w + 5.0, place.h + 5.0)));
        }
        items.push(Item::rect(part, place, 6.0));
        let middle = place.x + place.w / 2.0;
        let fits = |text: &str, face| room(text, face) <= place.w - 4.0;
        let names = [format!("broker-{}", facts.id), facts.id.to_string()];
        if let Some(name) = names.iter().find(|name| fits(name, Face::SansBold)) {
            let voice = if is_off { Part::Mute } else { Part::Text };
            let name = Item::text(voice, at(middle, place.y + 15.5), name, Face::SansBold);
            items.push(name.anchor(Anchor::Middle));
        }
        let below = at(middle, place.y + 31.0);
        match (state, &facts.rack) {
            (Some((word, role)), _) if fits(word, Face::SansBold) => {
                let word = Item::text(Part::Colour, below, word, Face::SansBold).role(role);
                items.push(word.anchor(Anchor::Middle));
            }
            (Some(_), _) if is_off => {
                items.push(cross(Rect::new(place.x, place.y - 14.0, place.w, place.h + 18.0)));
            }
            (None, Some(rack)) if fits(rack, Face::Sans) => {
                let rack = Item::text(Part::Mute, below, rack, Face::Sans);
                items.push(rack.anchor(Anchor::Middle));
            }
            _ => {}
        }
        Group { subject: Subject::Broker(facts.id.0), items }
    }

    /// The brokers that are out of the ordinary, in words, where their heads have no room for them.
    fn states(&self, grid: &Grid) -> Vec<Item> {
        let Some((start, width)) = grid.states else { return Vec::new() };
        let text = broker_state::listed(self.snapshot());
        let lines = wrap(&text, Face::Sans, (width, 9));
        let lines = lines.into_iter().enumerate().map(|(index, line)| {
            let base = at(start.x, start.y + LINE * index as f64);
            Item::text(Part::Colour, base, line, Face::Sans).role(Role::Bad)
        });
        lines.collect()
    }

    /// A group's name over its column.
    fn lag_head(&self, group: usize, place: Rect) -> Vec<Item> {
        let name = &self.facts.groups[group];
        let role = Paint::group_role(group);
        let text = fit(name, Face::SansBold, place.w - 6.0);
        let end = place.right() - 2.0;
        let name = Item::text(Part::Colour, at(end, place.y + 15.5), text, Face::SansBold)
            .whole(name)
            .role(role);
        let below = if self.is_shared(group) { Paint::share_head(place.w) } else { "lag" };
        let below = Item::text(Part::Mute, at(end, place.y + 31.0), below, Face::Sans);
        vec![name.anchor(Anchor::End), below.anchor(Anchor::End)]
    }

    fn row_name(&self, index: usize, row: &Row) -> Vec<Item> {
        let partition = &self.facts.partitions[index].name;
        let whole = partition.to_string();
        let view = self.snapshot().partitions.get(partition);
        let (start, width) = row.name;
        let text = fit(&whole, Face::Mono, width);
        let mut items = Vec::new();
        let path = partition_path(partition);
        let fields = ["leader", "leader_epoch", "isr"];
        if fields.iter().any(|field| self.has_changed(&format!("{path}.{field}"))) {
            let width = room(&text, Face::Mono) + 4.0;
            items.push(ring(Rect::new(start.x - 2.0, start.y - 11.5, width, 15.0)));
        }
        let voice = if view.is_some() { Part::Text } else { Part::Mute };
        items.push(Item::text(voice, start, text, Face::Mono).whole(&whole));
        let is_leaderless = view.is_some_and(|view| view.leader.is_none());
        if let Some(start) = row.no_leader.filter(|_| is_leaderless) {
            let words = Item::text(Part::Colour, start, NO_LEADER, Face::SansBold);
            items.push(words.role(Role::Bad));
        }
        items
    }

    fn is_shared(&self, group: usize) -> bool {
        self.run.world.groups.get(group).is_some_and(|spec| spec.protocol == Protocol::Share)
    }

    /// What a share group's column counts.
    fn share_head(width: f64) -> &'static str {
        let texts = ["acquired/available", "held/free"];
        let fits = |text: &&str| room(text, Face::Sans) <= width - 6.0;
        texts.into_iter().find(fits).unwrap_or("held")
    }

    /// A group's value in a partition: its lag; of a share group, how many records are acquired and
    /// how many available.
    fn group_value(&self, group: usize, partition: &TopicPartition) -> Option<String> {
        let view = self.snapshot().groups.get(&self.facts.groups[group])?;
        let Some(share) = view.share.get(partition) else {
            return view.lag.get(partition).map(ToString::to_string);
        };
        let count = |state: &str| share.records.values().filter(|it| it.state == state).count();
        Some(format!("{}/{}", count("acquired"), count("available")))
    }

    /// Who reads a partition for a group: its name, and how much is settled about that.
    fn reader_words(&self, group: &str, partition: &TopicPartition) -> Option<(Vec<String>, bool)> {
        let members = self.snapshot().consumers.iter();
        let reads =
            |view: &ConsumerView| view.group == group && view.assignment.contains(partition);
        let mut readers = members.filter(|(_, view)| reads(view));
        let gives_up = |view: &ConsumerView| view.revoking.contains(partition);
        let first = readers.clone().find(|(_, view)| !gives_up(view)).or(readers.next());
        if let Some((name, view)) = first {
            let leaves = gives_up(view);
            let long = leaves.then(|| format!("{name} gives up"));
            return Some((long.into_iter().chain([name.clone()]).collect(), leaves));
        }
        let owners = owners(self.snapshot().groups.get(group)?)?;
        let (owner, _) = owners.iter().find(|(_, given)| given.contains(partition))?;
        Some((vec![format!("assigned to {owner}"), format!("to {owner}")], true))
    }

    /// Each group's lag in the partition, and who reads it where there is room.
    fn row_lags(&self, grid: &Grid, index: usize, row: &Row) -> Vec<Item> {
        let partition = &self.facts.partitions[index].name;
        let mut items = Vec::new();
        for ((group, _), place) in grid.lags.iter().zip(&row.lags) {
            let name = &self.facts.groups[*group];
            let value = self.group_value(*group, partition);
            let reader = self.reader_words(name, partition);
            if value.is_none() && reader.is_none() {
                continue;
            }
            let value = value.unwrap_or_else(|| "–".to_owned());
            let base = place.y + 14.2;
            let key = segment(&partition.to_string());
            let path = format!("groups.{}", segment(name));
            if self.has_changed(&format!("{path}.lag.{key}"))
                || self.has_changed_below(&format!("{path}.share.{key}"))
            {
                items.push(ring(Rect::new(place.x - 2.0, place.y + 2.0, place.w + 4.0, 16.0)));
            }
            let left = place.w - room(&value, Face::MonoBold) - 6.0;
            let value = Item::text(Part::Text, at(place.right(), base), value, Face::MonoBold);
            items.push(value.anchor(Anchor::End));
            let reader = reader.filter(|_| left > 30.0);
            items.extend(reader.map(|(texts, is_open)| {
                let fitting = texts.iter().find(|text| room(text, Face::Sans) <= left);
                let whole = fitting.or(texts.last()).map_or("", String::as_str);
                let text = fit(whole, Face::Sans, left);
                let role = if is_open { Role::Pending } else { Paint::group_role(*group) };
                let start = at(place.x, base);
                Item::text(Part::Colour, start, text, Face::Sans).whole(whole).role(role)
            }));
        }
        items
    }
}
