//! The narrow form: rows for phones, producers, cluster, consumers, 328 units.

use super::super::facts::{ClientFacts, Facts};
use super::super::scene::{Anchor, Form, Rect, at};
use super::clients::{self, BETWEEN, Words};
use super::cluster::{self, Cluster, Column};
use super::ports::Sides;
use super::rails::{self, Trunk};
use super::{ClientPlace, Places, Say};

/// The width of the view.
const WIDTH: f64 = 328.0;
/// Between producers and cluster, for words.
const OVER: f64 = 42.0;
/// Between cluster and consumers, for words.
const UNDER: f64 = 34.0;
/// Between two trunks.
const TRUNK: f64 = 12.0;

/// Places everything.
pub(super) fn lay_out(facts: &Facts) -> Option<Places> {
    let rail_count = rails::tracks(facts).values().max().map_or(0, |last| last + 1);
    let step = if rail_count <= 2 {
        23.0
    } else if rail_count <= 4 {
        14.0
    } else {
        9.0
    };
    let x = if rail_count == 0 { 0.0 } else { 23.0 + step * (rail_count - 1) as f64 };
    let straight = straight(facts);
    let sides = sides(facts, straight);
    let margin = if sides.right.is_empty() { 0.0 } else { 8.0 + TRUNK * sides.right.len() as f64 };
    let width = WIDTH - x - margin;
    if !cluster::has_room(facts, width) {
        return None;
    }
    let says: Vec<bool> = facts.brokers.iter().map(|broker| broker.follows).collect();
    let column = Column { x, y: 0.0, width, sides: &sides, says: &says };
    let slot_x = slot_x(&cluster::place(facts, &column), margin);
    let over_words = if straight.is_some() { Words::Outside } else { Words::Inside };
    let producers = stack(&facts.producers, Frame { top: 0.0, margin, slot_x, words: over_words });
    let top = producers.last().map_or(0.0, |last| last.card.bottom()) + OVER;
    let mut cluster = cluster::place(facts, &Column { y: top, ..column });
    let under_words = if facts.consumers.len() == 1 { Words::Outside } else { Words::Inside };
    let below = cluster.bottom + UNDER;
    let frame = Frame { top: below, margin, slot_x, words: under_words };
    let consumers = stack(&facts.consumers, frame);
    let mut all = rails::between_brokers(facts, &cluster, |track| x - 13.0 - step * track as f64);
    let everyone =
        || facts.producers.iter().zip(&producers).chain(facts.consumers.iter().zip(&consumers));
    for (client, place) in everyone() {
        let Some(track) = sides.right.iter().position(|name| *name == client.name) else {
            continue;
        };
        let x = WIDTH - margin + 10.0 + TRUNK * track as f64;
        all.extend(rails::of_client(facts, &cluster, client, &trunk(place, client, x)));
    }
    if let (Some(broker), Some(client)) = (straight, facts.producers.last().zip(producers.last())) {
        let x = slot_x + client.1.slot.w / 2.0;
        let (name, rail) =
            rails::straight_down(facts, (broker, &cluster.brokers[broker]), client, x);
        all.insert(name, rail);
    }
    let height = consumers.last().map_or(cluster.bottom, |last| last.card.bottom());
    let words_x = slot_x + 87.0 / 2.0 + 16.0;
    let heading_room = if straight.is_some() { words_x - 36.0 - x } else { WIDTH - x };
    let over = Say {
        at: at(words_x, top - 15.0),
        anchor: Anchor::Start,
        width: WIDTH - words_x,
        lines: 2,
    };
    let under = Say {
        at: at(WIDTH - margin - 2.0, cluster.bottom + UNDER - 12.0),
        anchor: Anchor::End,
        width: WIDTH - margin - 20.0,
        lines: 1,
    };
    cluster.bottom = height;
    Some(Places {
        form: Form::Narrow,
        width: WIDTH,
        height,
        heading: (at(x + 1.0, top - 15.0), heading_room),
        columns: Vec::new(),
        producers: with_words(producers, straight.map(|_| over)),
        consumers: with_words(consumers, Some(under)),
        rails: all,
        cells: cluster.cells,
        brokers: cluster.brokers,
    })
}

/// The broker to which the only producer has a straight rail: the topmost, if it is the only one.
fn straight(facts: &Facts) -> Option<usize> {
    match facts.producers.as_slice() {
        [only] if only.data.len() == 1 && only.data.contains(&0) => Some(0),
        _ => None,
    }
}

/// All clients come in from the right but for the straight rail's.
fn sides(facts: &Facts, straight: Option<usize>) -> Sides {
    let producers = facts.producers.iter().filter(|_| straight.is_none());
    let everyone = producers.chain(&facts.consumers);
    let talking = everyone.filter(|one| !one.data.is_empty() || !one.coordinators.is_empty());
    Sides { left: Vec::new(), right: talking.map(|one| one.name.clone()).collect() }
}

/// The records' place in a client's card: level with the lanes' left edge, if that leaves room.
fn slot_x(cluster: &Cluster, margin: f64) -> f64 {
    let lanes = cluster.brokers.iter().flat_map(|broker| &broker.lanes);
    let x = lanes.map(|lane| lane.lane.x).next().unwrap_or(120.0);
    x.clamp(96.0, (134.0 - margin / 4.0).max(96.0))
}

/// Where a stack of clients stands.
struct Frame {
    top: f64,
    /// Room for trunks right of the cluster.
    margin: f64,
    slot_x: f64,
    words: Words,
}

fn stack(facts: &[ClientFacts], frame: Frame) -> Vec<ClientPlace> {
    let width = if facts.len() == 1 { WIDTH } else { WIDTH - frame.margin };
    let mut places: Vec<ClientPlace> = Vec::new();
    for client in facts {
        let y = places.last().map_or(frame.top, |place| place.card.bottom() + BETWEEN - 2.0);
        let row = Rect::new(0.0, y, width, 54.0);
        places.push(clients::narrow(client, row, frame.slot_x, frame.words));
    }
    places
}

/// A client's rails leave from the edge that faces the cluster when its card reaches over its trunk,
/// otherwise from its right side.
fn trunk(place: &ClientPlace, client: &ClientFacts, x: f64) -> Trunk {
    let card = place.card;
    let start = if card.right() < x {
        at(card.right(), card.y + 27.0)
    } else if client.group.is_some() {
        at(x, card.y)
    } else {
        at(x, card.bottom())
    };
    Trunk { is_left: false, start, x }
}

fn with_words(mut places: Vec<ClientPlace>, words: Option<Say>) -> Vec<ClientPlace> {
    if let [only] = places.as_mut_slice()
        && only.say.is_none()
    {
        only.say = words;
    }
    places
}
