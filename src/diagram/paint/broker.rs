//! Brokers' cards: name, rack, and the badge that says what the broker is.

use super::super::facts::BrokerFacts;
use super::super::layout::BrokerPlace;
use super::super::scene::{
    Anchor, Group, Item, Part, RUN_GAP, Rect, Role, Run, Shape, Stroke, Subject, at,
};
use super::super::text::{Face, fit, room};
use super::{Paint, partition_path, ring};
use crate::sim::ids::BrokerId;
use crate::sim::snapshot::{BrokerView, PartitionView, ProcessState, Registration};

impl Paint<'_> {
    /// All brokers, each followed by its replicas.
    pub(super) fn brokers(&self) -> Vec<Group> {
        let mut groups = Vec::new();
        for (facts, place) in self.facts.brokers.iter().zip(&self.places.brokers) {
            let view = self.snapshot().brokers.get(&facts.id).cloned().unwrap_or_default();
            let is_off = view.process == ProcessState::Stopped;
            groups.push(self.card(facts, place, &view));
            for lane in &place.lanes {
                groups.push(self.lane(facts.id, lane, is_off));
            }
        }
        groups
    }

    fn card(&self, facts: &BrokerFacts, place: &BrokerPlace, view: &BrokerView) -> Group {
        let card = place.card;
        let is_off = view.process == ProcessState::Stopped;
        let mut items = vec![Item::rect(self.card_part(facts, view), card, 10.0)];
        if is_off {
            items.push(cross(card));
        }
        let badge = self.badge(facts, view);
        let badge_room = badge.as_ref().map_or(0.0, |(text, _)| room(text, Face::SansBold) + 24.0);
        let space = card.w - 24.0 - badge_room;
        items.push(name(facts, card, space, is_off));
        if let Some((text, role)) = badge {
            items.extend(pill(at_badge(card, &text), text, role, self.badge_changed(facts)));
        }
        Group { subject: Subject::Broker(facts.id.0), items }
    }

    fn card_part(&self, facts: &BrokerFacts, view: &BrokerView) -> Part {
        let leads = self.held(facts).any(|view| view.leader == Some(facts.id));
        let is_out = self.held(facts).any(|view| !view.isr.contains(&facts.id));
        let single = facts.lanes.len() == 1;
        match view.process {
            ProcessState::Stopped => Part::CardStop,
            ProcessState::Paused => Part::CardOut,
            _ if leads => Part::CardLead,
            _ if view.registration == Registration::Fenced || single && is_out => Part::CardOut,
            _ => Part::Card,
        }
    }

    /// The partitions of which it holds a replica now.
    fn held(&self, facts: &BrokerFacts) -> impl Iterator<Item = &PartitionView> {
        let lanes = facts.lanes.iter().map(|lane| &self.facts.partitions[lane.partition]);
        let id = facts.id;
        lanes
            .filter_map(|partition| self.snapshot().partitions.get(&partition.name))
            .filter(move |view| view.assignment.contains(&id))
    }

    /// What a broker is; with several lanes only what is out of the ordinary.
    fn badge(&self, facts: &BrokerFacts, view: &BrokerView) -> Option<(String, Role)> {
        let text = |text: &str, role| Some((text.to_owned(), role));
        match (view.process, view.registration) {
            (ProcessState::Stopped, _) => return text("stopped", Role::Bad),
            (ProcessState::Paused, _) => return text("paused", Role::Pending),
            (ProcessState::ShuttingDown, _) => return text("shutting down", Role::Pending),
            (_, Registration::Fenced) => return text("fenced", Role::Bad),
            _ => {}
        }
        let [lane] = facts.lanes.as_slice() else { return None };
        let partition = &self.facts.partitions[lane.partition];
        let view = self.snapshot().partitions.get(&partition.name)?;
        if view.leader == Some(facts.id) {
            Some((format!("leader, epoch {}", view.leader_epoch), Role::Lead))
        } else if view.isr.contains(&facts.id) {
            text("follower, in sync", Role::Plain)
        } else {
            text("out of ISR", Role::Pending)
        }
    }

    fn badge_changed(&self, facts: &BrokerFacts) -> bool {
        let path = format!("brokers.{}", facts.id);
        let own = ["process", "registration"];
        if own.iter().any(|field| self.has_changed(&format!("{path}.{field}"))) {
            return true;
        }
        let [lane] = facts.lanes.as_slice() else { return false };
        let path = partition_path(&self.facts.partitions[lane.partition].name);
        let replica = format!("{path}.replicas.{}", facts.id);
        self.has_changed(&format!("{replica}.in_sync")) || self.led_or_leads(&path, facts.id)
    }

    /// Whether leadership changed and this broker had it or has it.
    fn led_or_leads(&self, path: &str, id: BrokerId) -> bool {
        let (leader, epoch) = (format!("{path}.leader"), format!("{path}.leader_epoch"));
        let id = Some(serde_json::Value::from(id.0));
        self.frame.changed.iter().any(|change| {
            change.path == leader && (change.from == id || change.to == id)
        }) || self.has_changed(&epoch) && self.leads(path, &id)
    }

    fn leads(&self, path: &str, id: &Option<serde_json::Value>) -> bool {
        self.snapshot().partitions.iter().any(|(name, view)| {
            partition_path(name) == path
                && view.leader.map(|leader| serde_json::Value::from(leader.0)) == *id
        })
    }
}

fn name(facts: &BrokerFacts, card: Rect, space: f64, is_off: bool) -> Item {
    let voice = if is_off { Part::Mute } else { Part::Text };
    let text = fit(&format!("broker-{}", facts.id), Face::Name, space);
    let left = space - room(&text, Face::Name) - RUN_GAP;
    let mut runs = vec![Run { text, face: Face::Name, part: voice }];
    if let Some(rack) = &facts.rack {
        let text = fit(rack, Face::Sans, left);
        if text.chars().count() > 2 {
            runs.push(Run { text, face: Face::Sans, part: Part::Mute });
        }
    }
    let mut item = Item::text(voice, at(card.x + 12.0, card.y + 22.0), "", Face::Name);
    if let Shape::Text { runs: all, .. } = &mut item.shape {
        *all = runs;
    }
    item
}

fn at_badge(card: Rect, text: &str) -> Rect {
    let width = room(text, Face::SansBold) + 10.0;
    Rect::new(card.right() - 10.0 - width, card.y + 9.0, width, 19.0)
}

fn pill(rect: Rect, text: String, role: Role, has_changed: bool) -> Vec<Item> {
    let mut items = Vec::new();
    if has_changed {
        let around = Rect::new(rect.x - 3.0, rect.y - 3.0, rect.w + 6.0, rect.h + 6.0);
        items.push(Item { shape: Shape::Box { rect: around, radius: 11.0 }, ..ring(around) });
    }
    items.push(Item::rect(Part::Badge, rect, 9.5).role(role));
    let middle = at(rect.x + rect.w / 2.0, rect.y + 13.5);
    let words = Item::text(Part::Colour, middle, text, Face::SansBold);
    items.push(words.anchor(Anchor::Middle).role(role));
    items
}

/// A thin cross over what is not there.
pub(super) fn cross(card: Rect) -> Item {
    let (left, right) = (card.x + 8.0, card.right() - 8.0);
    let (top, bottom) = (card.y + 8.0, card.bottom() - 8.0);
    Item::path(
        Part::Cross,
        vec![
            Stroke::Move(at(left, top)),
            Stroke::Line(at(right, bottom)),
            Stroke::Move(at(right, top)),
            Stroke::Line(at(left, bottom)),
        ],
    )
}
