//! Messages on their rails: a way so far with a head where the message is, or, for a request that
//! is held, a dotted line that ends in a clock. And the words about them.

use std::collections::BTreeMap;

use super::super::layout::{Say, way};
use super::super::message::{Voice, is_shown, role, token, voice};
use super::super::rail::{Head, Rail};
use super::super::said::{self, Said};
use super::super::scene::{Anchor, Group, Item, Part, Rect, Role, Shape, Stroke, Subject, at};
use super::super::text::{Face, room};
use super::Paint;
use crate::sim::snapshot::MessageView;

/// Two heads nearer than this on one rail are drawn as one.
const APART: f64 = 26.0;
/// Half the width of an arrow's head.
const HEAD: f64 = 5.5;
/// Between two lines of words.
const LINE: f64 = 14.0;

/// A message on its rail.
struct Seen<'a> {
    message: &'a MessageView,
    name: String,
    rail: Rail,
    is_back: bool,
    voice: Voice,
    role: Role,
    token: Option<String>,
    /// How far its head is from the rail's start in its direction.
    length: f64,
}

impl Paint<'_> {
    /// The messages that are drawn, quiet ones below loud ones.
    pub(super) fn messages(&self) -> Vec<Group> {
        let mut all: Vec<Seen> = self.shown().filter_map(|one| self.seen(one)).collect();
        let mut loudest: BTreeMap<String, Voice> = BTreeMap::new();
        for one in &all {
            let voice = loudest.entry(one.name.clone()).or_insert(one.voice);
            *voice = one.voice.max(*voice);
        }
        all.retain(|one| one.voice > Voice::Background || loudest[&one.name] == one.voice);
        all.sort_by_key(|one| std::cmp::Reverse(one.voice));
        let mut drawn: Vec<Seen> = Vec::new();
        for one in all {
            let hides = |other: &&Seen| {
                other.name == one.name
                    && other.is_back == one.is_back
                    && other.message.waiting == one.message.waiting
                    && (other.length - one.length).abs() < APART
            };
            if !drawn.iter().any(|other| hides(&other)) {
                drawn.push(one);
            }
        }
        drawn.iter().rev().map(|one| one.group(self.places.width)).collect()
    }

    /// What is under way or held, as far as it belongs in pictures.
    fn shown(&self) -> impl Iterator<Item = &MessageView> {
        self.snapshot().messages.iter().filter(|one| is_shown(one))
    }

    fn seen<'a>(&self, message: &'a MessageView) -> Option<Seen<'a>> {
        let way = way(self.facts, &message.from, &message.to)?;
        let rail = &self.places.rails.get(&way.rail)?.rail;
        let rail = if way.is_back { rail.reversed() } else { rail.clone() };
        let token = token(message);
        let all = message.arrives_ms.saturating_sub(message.sent_ms).max(1);
        let gone = self.frame.time_ms.saturating_sub(message.sent_ms).min(all);
        let (least, most) = clear_start(&rail, token.as_deref());
        let length = rail.length() * gone as f64 / all as f64;
        Some(Seen {
            message,
            name: way.rail,
            is_back: way.is_back,
            voice: voice(message),
            role: role(message, self.snapshot()),
            token,
            length: if message.waiting { rail.length() } else { length.max(least.min(most)) },
            rail,
        })
    }

    /// Words about messages, and about what a producer will send.
    pub(super) fn words(&self) -> Group {
        let mut items = Vec::new();
        let producers = self.facts.producers.iter().zip(&self.places.producers);
        let consumers = self.facts.consumers.iter().zip(&self.places.consumers);
        for (facts, place) in producers.chain(consumers) {
            let said = said::of_client(self.snapshot(), &facts.name, facts.rails());
            items.extend(say(place.say.as_ref(), &said));
        }
        let brokers = self.facts.brokers.iter().zip(&self.places.brokers);
        for (index, (facts, place)) in brokers.enumerate() {
            let rails = self.facts.partners(index);
            let said = said::of_follower(self.snapshot(), facts.id, rails);
            items.extend(say(place.say.as_ref(), &said));
        }
        Group { subject: Subject::Labels, items }
    }
}

/// Words in their place: as many of them as it has lines for.
fn say(place: Option<&Say>, said: &[Said]) -> Vec<Item> {
    let Some(place) = place else { return Vec::new() };
    let lines = said::lines(said, place.width, place.lines);
    let count = lines.len();
    let lines = lines.into_iter().enumerate().map(|(index, (line, role))| {
        let part = if role == Role::Plain { Part::Mute } else { Part::Colour };
        let base = at(place.at.x, place.at.y - LINE * (count - 1 - index) as f64);
        Item::text(part, base, line, Face::Sans).anchor(place.anchor).role(role)
    });
    lines.collect()
}

/// How far a message must be drawn from the start so that it is seen, and how far at most: its
/// head, and the record behind it on one straight stretch.
fn clear_start(rail: &Rail, token: Option<&str>) -> (f64, f64) {
    let first = rail.first_stretch();
    match token {
        Some(text) => {
            (first.unwrap_or(0.0) + token_width(text).max(20.0) + 24.0, rail.length() * 0.92)
        }
        None => (22.0 + first.filter(|first| *first < 26.0).unwrap_or(0.0), rail.length() * 0.6),
    }
}

impl Seen<'_> {
    fn group(&self, view: f64) -> Group {
        let items = if self.message.waiting { self.held() } else { self.moving(view) };
        Group { subject: Subject::Message(self.message.id), items }
    }

    fn held(&self) -> Vec<Item> {
        let end = self.rail.head(self.rail.length());
        let centre = at(end.tip.x - end.direction.x * 7.0, end.tip.y - end.direction.y * 7.0);
        let line = self.rail.cut(self.rail.length() - 14.0);
        let face = Item {
            part: Part::Clock,
            role: Role::Plain,
            shape: Shape::Circle { centre, radius: 7.0 },
            mark: super::super::scene::Mark::None,
        };
        let hands = vec![
            Stroke::Move(at(centre.x, centre.y - 4.0)),
            Stroke::Line(centre),
            Stroke::Line(at(centre.x + 3.2, centre.y)),
        ];
        vec![Item::path(Part::Hold, line.strokes()), face, Item::path(Part::Clock, hands)]
    }

    fn moving(&self, view: f64) -> Vec<Item> {
        let head = self.rail.head(self.length);
        let line = self.rail.cut(self.length - 6.0);
        let mut items = vec![Item::path(Part::Way, line.strokes()).role(self.role)];
        items.push(arrow(head).role(self.role));
        if let Some(text) = &self.token {
            items.extend(carried(head, text, self.role, view));
        }
        items
    }
}

/// A solid head whose tip is where the message is.
fn arrow(Head { tip, direction }: Head) -> Item {
    let back = at(tip.x - direction.x * HEAD * 1.7, tip.y - direction.y * HEAD * 1.7);
    let (side_x, side_y) = (direction.y * HEAD, direction.x * HEAD);
    let strokes = vec![
        Stroke::Move(tip),
        Stroke::Line(at(back.x - side_x, back.y + side_y)),
        Stroke::Line(at(back.x + side_x, back.y - side_y)),
        Stroke::Close,
    ];
    Item::path(Part::Head, strokes)
}

fn token_width(text: &str) -> f64 {
    (room(text, Face::MonoBold) + 4.0).max(18.0)
}

/// The record while it travels: its cell, small, behind the head.
fn carried(Head { tip, direction }: Head, text: &str, role: Role, view: f64) -> Vec<Item> {
    let width = token_width(text);
    let across = if direction.x == 0.0 { 10.0 } else { width / 2.0 };
    let centre = at(tip.x - direction.x * (9.0 + across), tip.y - direction.y * (9.0 + across));
    // Beside a rail at the view's edge there is less room than a long number needs.
    let centre = at(centre.x.clamp(width / 2.0, (view - width / 2.0).max(width / 2.0)), centre.y);
    let cell = Rect::new(centre.x - width / 2.0, centre.y - 10.0, width, 20.0);
    let mut items = vec![Item::rect(Part::Record, cell, 4.0).role(role)];
    if !text.is_empty() {
        let base = at(centre.x, centre.y + 4.2);
        let text = Item::text(Part::Colour, base, text, Face::MonoBold);
        items.push(text.anchor(Anchor::Middle).role(role));
    }
    items
}
