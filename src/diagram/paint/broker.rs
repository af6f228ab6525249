//! Brokers' cards: name, rack, and the badge that says what the broker is.

use super::super::broker_state;
use super::super::facts::BrokerFacts;
use super::super::layout::BrokerPlace;
use super::super::scene::{
    Anchor, Group, Item, Part, RUN_GAP, Rect, Role, Run, Shape, Stroke, Subject, at,
};
use super::super::text::{Face, fit, room};
use super::standing::Standing;
use super::{Paint, partition_path, ring};
use crate::sim::ids::BrokerId;
use crate::sim::snapshot::{BrokerView, PartitionView, ProcessState, Registration};

/// A card's sides: left of the name, right of the badge.
const SIDES: f64 = 22.0;

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
        // What is out of the ordinary needs its words more than the card needs the rack.
        let usual = self.badge_is_usual(facts);
        let wanted = if usual { name_room(facts) } else { bare_name_room(facts) };
        let badge = badge.map(|(texts, role)| {
            let fits = |text: &&String| wanted + badge_room(text) <= card.w - SIDES;
            let text = texts.iter().find(fits).or(texts.last()).cloned().unwrap_or_default();
            (text, role)
        });
        let taken = badge.as_ref().map_or(0.0, |(text, _)| badge_room(text));
        items.push(name(facts, card, card.w - SIDES - taken, is_off));
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

    /// What a broker is, in words from long to short; with several lanes only what is out of the
    /// ordinary.
    fn badge(&self, facts: &BrokerFacts, view: &BrokerView) -> Option<(Vec<String>, Role)> {
        let standing = match facts.lanes.as_slice() {
            [lane] => self.standing(facts.id, lane.partition),
            _ => None,
        };
        let Some((state, role)) = broker_state::state(self.snapshot(), facts.id) else {
            return standing.map(Standing::badge);
        };
        let is_fenced = view.registration == Registration::Fenced;
        let told = standing.filter(|it| view.process != ProcessState::Stopped || it.is_eligible());
        let mut more: Vec<&str> = told.and_then(Standing::aside).into_iter().collect();
        if is_fenced && matches!(state, "paused" | "cut off") {
            more.push("fenced");
        }
        let texts = (0..=more.len()).rev();
        let texts = texts.map(|kept| [&[state], &more[..kept]].concat().join(", "));
        Some((texts.collect(), role))
    }

    fn badge_is_usual(&self, facts: &BrokerFacts) -> bool {
        let [lane] = facts.lanes.as_slice() else { return true };
        self.standing(facts.id, lane.partition).is_none_or(Standing::is_usual)
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
        let own = ["in_sync", "stalled", "role"];
        own.iter().any(|field| self.has_changed(&format!("{replica}.{field}")))
            || self.led_or_leads(&path, facts.id)
            || self.entered_or_left(&format!("{path}.elr"), facts.id)
            || self.entered_or_left(&format!("{path}.assignment"), facts.id)
    }

    /// Whether the broker is in a list now and was not, or the other way round.
    fn entered_or_left(&self, path: &str, id: BrokerId) -> bool {
        let has = |list: &Option<serde_json::Value>| {
            let list = list.as_ref().and_then(serde_json::Value::as_array);
            list.is_some_and(|list| list.contains(&serde_json::Value::from(id.0)))
        };
        let mut changes = self.frame.changed.iter().filter(|change| change.path == path);
        changes.any(|change| has(&change.from) != has(&change.to))
    }

    /// Whether leadership changed and this broker had it or has it.
    fn led_or_leads(&self, path: &str, id: BrokerId) -> bool {
        let (leader, epoch) = (format!("{path}.leader"), format!("{path}.leader_epoch"));
        let id = Some(serde_json::Value::from(id.0));
        self.frame
            .changed
            .iter()
            .any(|change| change.path == leader && (change.from == id || change.to == id))
            || self.has_changed(&epoch) && self.leads(path, id.as_ref())
    }

    fn leads(&self, path: &str, id: Option<&serde_json::Value>) -> bool {
        self.snapshot().partitions.iter().any(|(name, view)| {
            partition_path(name) == path
                && view.leader.map(|leader| serde_json::Value::from(leader.0)).as_ref() == id
        })
    }
}

fn name(facts: &BrokerFacts, card: Rect, space: f64, is_off: bool) -> Item {
    let voice = if is_off { Part::Mute } else { Part::Text };
    let text = fit(&format!("broker-{}", facts.id), Face::Name, space);
    let left = space - room(&text, Face::Name) - RUN_GAP;
    let mut runs = vec![Run { text, face: Face::Name, part: voice }];
    if let Some(rack) = facts.rack.as_ref().filter(|rack| room(rack, Face::Sans) <= left) {
        runs.push(Run { text: rack.clone(), face: Face::Sans, part: Part::Mute });
    }
    let mut item = Item::text(voice, at(card.x + 12.0, card.y + 22.0), "", Face::Name);
    if let Shape::Text { runs: all, .. } = &mut item.shape {
        *all = runs;
    }
    item
}

/// Room for the name and the rack, if all fits.
fn name_room(facts: &BrokerFacts) -> f64 {
    bare_name_room(facts) + facts.rack.as_ref().map_or(0.0, |rack| RUN_GAP + room(rack, Face::Sans))
}

fn bare_name_room(facts: &BrokerFacts) -> f64 {
    room(&format!("broker-{}", facts.id), Face::Name)
}

/// Room for a badge and for the space before it.
fn badge_room(text: &str) -> f64 {
    room(text, Face::SansBold) + 12.0
}

fn at_badge(card: Rect, text: &str) -> Rect {
    let width = room(text, Face::SansBold) + 8.0;
    Rect::new(card.right() - 10.0 - width, card.y + 9.0, width, 19.0)
}

pub(super) fn pill(rect: Rect, text: String, role: Role, has_changed: bool) -> Vec<Item> {
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

/// A thin cross over what is not there, below its name.
pub(super) fn cross(card: Rect) -> Item {
    let (left, right) = (card.x + 8.0, card.right() - 8.0);
    let (top, bottom) = (card.y + 34.0, card.bottom() - 8.0);
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
