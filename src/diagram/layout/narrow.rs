//! The narrow form: rows for phones, producers, cluster, consumers, 328 units.

use std::collections::BTreeMap;

use super::super::facts::{ClientFacts, Facts};
use super::super::scene::{Anchor, Form, Rect, at};
use super::clients::{self, BETWEEN, Words};
use super::cluster::{self, Cluster, Column};
use super::ports::Sides;
use super::rails::{self, Trunk};
use super::{ClientPlace, Places, RailPlace, Say};

/// The width of the view.
const WIDTH: f64 = 328.0;
/// Between producers and cluster, for words.
const OVER: f64 = 42.0;
/// Between cluster and consumers, for words.
const UNDER: f64 = 34.0;
/// From a record's place to the words right of the straight rail under it.
const STRAIGHT: f64 = 87.0 / 2.0 + 16.0;
/// Between two trunks.
const TRUNK: f64 = 12.0;

/// From left to right: tracks, cluster, trunks.
struct Columns {
    /// Left edge of the cluster.
    x: f64,
    /// Between two tracks.
    step: f64,
    /// The broker to which the only producer has a straight rail.
    straight: Option<usize>,
    sides: Sides,
    /// Right of the cluster, for trunks.
    margin: f64,
}

impl Columns {
    fn new(facts: &Facts) -> Columns {
        let tracks = rails::tracks(facts).values().max().map_or(0, |last| last + 1);
        let step = match tracks {
            0..=2 => 23.0,
            3..=4 => 14.0,
            _ => 9.0,
        };
        let x = if tracks == 0 { 0.0 } else { 23.0 + step * (tracks - 1) as f64 };
        let straight = straight(facts);
        let sides = sides(facts, straight);
        let count = sides.right.len();
        let margin = if count == 0 { 0.0 } else { 8.0 + TRUNK * count as f64 };
        Columns { x, step, straight, sides, margin }
    }

    fn cluster(&self, facts: &Facts, y: f64) -> Cluster {
        let says = vec![true; facts.brokers.len()];
        let width = WIDTH - self.x - self.margin;
        let column = Column { x: self.x, y, width, sides: &self.sides, says: &says };
        cluster::place(facts, &column)
    }

    /// All rails.
    fn rails(&self, facts: &Facts, cluster: &Cluster, clients: &Clients) -> Rails {
        let mut all = rails::between_brokers(facts, cluster, |track| {
            self.x - 13.0 - self.step * track as f64
        });
        let producers = facts.producers.iter().zip(&clients.producers);
        let consumers = facts.consumers.iter().zip(&clients.consumers);
        for (client, place) in producers.clone().chain(consumers) {
            let mut names = self.sides.right.iter();
            let Some(track) = names.position(|name| *name == client.name) else { continue };
            let x = WIDTH - self.margin + 10.0 + TRUNK * track as f64;
            all.extend(rails::of_client(facts, cluster, client, &trunk(place, client, x)));
        }
        if let (Some(broker), Some(client)) =
            (self.straight, facts.producers.last().zip(clients.producers.last()))
        {
            let slot = client.1.slot.unwrap_or(client.1.card);
            let x = slot.x + slot.w / 2.0;
            let end = (broker, &cluster.brokers[broker]);
            all.extend([rails::straight_down(facts, end, client, x)]);
        }
        all
    }

    /// Words right of the straight rail.
    fn over(&self, slot_x: f64, top: f64) -> Option<Say> {
        self.straight.map(|_| Say {
            at: at(slot_x + STRAIGHT, top - 15.0),
            anchor: Anchor::Start,
            width: WIDTH - slot_x - STRAIGHT,
            lines: 2,
        })
    }

    /// Words between the cluster and the only consumer.
    fn under(&self, facts: &Facts, bottom: f64) -> Say {
        Say {
            at: at(WIDTH - self.margin - 2.0, bottom + under(facts) - 12.0),
            anchor: Anchor::End,
            width: WIDTH - self.margin - 20.0,
            lines: lines_under(facts),
        }
    }
}

type Rails = BTreeMap<String, RailPlace>;

/// The cards over and under the cluster.
struct Clients {
    producers: Vec<ClientPlace>,
    consumers: Vec<ClientPlace>,
}

/// Places everything.
pub(super) fn lay_out(facts: &Facts) -> Option<Places> {
    let columns = Columns::new(facts);
    let (x, margin) = (columns.x, columns.margin);
    if !cluster::has_room(facts, WIDTH - x - margin) {
        return None;
    }
    let slot_x = slot_x(facts, &columns.cluster(facts, 0.0), margin);
    let is_straight = columns.straight.is_some();
    let inside = |clients: &[ClientFacts]| Words::inside(clients.len());
    let words = if is_straight { Words::Outside } else { inside(&facts.producers) };
    let producers = stack(&facts.producers, &Frame { top: 0.0, margin, slot_x, words });
    let top = producers.last().map_or(0.0, |last| last.card.bottom()) + OVER;
    let cluster = columns.cluster(facts, top);
    let only_one = facts.consumers.len() == 1;
    let words = if only_one { Words::Outside } else { inside(&facts.consumers) };
    let frame = Frame { top: cluster.bottom + under(facts), margin, slot_x, words };
    let consumers = stack(&facts.consumers, &frame);
    let height = consumers.last().map_or(cluster.bottom, |last| last.card.bottom());
    let heading_room =
        if is_straight { slot_x + STRAIGHT - 36.0 - x } else { WIDTH - x - 1.0 - margin };
    let clients = Clients { producers, consumers };
    Some(Places {
        form: Form::Narrow,
        width: WIDTH,
        height,
        heading: (at(x + 1.0, top - 15.0), heading_room),
        columns: Vec::new(),
        rails: columns.rails(facts, &cluster, &clients),
        producers: with_words(clients.producers, columns.over(slot_x, top)),
        consumers: with_words(clients.consumers, Some(columns.under(facts, cluster.bottom))),
        cells: cluster.cells,
        groups: cluster.groups,
        controllers: cluster.controllers,
        grid: None,
        brokers: cluster.brokers,
    })
}

/// Lines between the cluster and the only consumer: two where they may be about two rails.
fn lines_under(facts: &Facts) -> usize {
    match facts.consumers.as_slice() {
        [only] if only.rails() > 1 => 2,
        _ => 1,
    }
}

/// Between cluster and consumers.
fn under(facts: &Facts) -> f64 {
    UNDER + 14.0 * (lines_under(facts) - 1) as f64
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
fn slot_x(facts: &Facts, cluster: &Cluster, margin: f64) -> f64 {
    let lanes = cluster.brokers.iter().flat_map(|broker| &broker.lanes);
    let x = lanes.map(|lane| lane.lane.x).next().unwrap_or(120.0);
    let everyone = [&facts.producers, &facts.consumers];
    let names = everyone.map(|clients| clients::longest_name(facts, clients) + clients::NAME_SIDES);
    x.max(names[0]).max(names[1]).clamp(96.0, (140.0 - margin / 4.0).max(96.0))
}

/// Where a stack of clients stands.
struct Frame {
    top: f64,
    /// Room for trunks right of the cluster.
    margin: f64,
    slot_x: f64,
    words: Words,
}

fn stack(facts: &[ClientFacts], frame: &Frame) -> Vec<ClientPlace> {
    let width = if facts.len() == 1 { WIDTH } else { WIDTH - frame.margin };
    let mut places: Vec<ClientPlace> = Vec::new();
    for client in facts {
        let y = places.last().map_or(frame.top, |place| place.card.bottom() + BETWEEN - 2.0);
        let row = Rect::new(0.0, y, width, 54.0);
        places.push(clients::narrow(client, row, frame.slot_x, frame.words));
    }
    places
}

/// A client's rails leave from the edge that faces the cluster when its card reaches over its
/// trunk, otherwise from its right side.
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
