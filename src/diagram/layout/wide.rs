//! The wide form: three columns, producers, cluster, consumers, 692 units.

use std::collections::BTreeMap;

use super::super::facts::{ClientFacts, Facts};
use super::super::scene::{Anchor, Form, Point, at};
use super::clients::{self, BETWEEN, WIDE_MIDDLE, Words};
use super::cluster::{self, Cluster, Column};
use super::ports::Sides;
use super::rails::{self, Trunk};
use super::{ClientPlace, Places, RailPlace, Say};

/// The width of the view.
const WIDTH: f64 = 692.0;
/// The least and the largest width of a client's card.
const CLIENT: (f64, f64) = (116.0, 150.0);
/// A client's card beside its name.
const CLIENT_SIDES: f64 = 22.0;
/// Least room between producers and cluster.
const LEFT: f64 = 94.0;
/// Least room between cluster and consumers.
const RIGHT: f64 = 88.0;
/// What lanes have over the least before cards of clients become wider.
const LANE_SPARE: f64 = 40.0;
/// Where cards begin, under the headings.
const TOP: f64 = 26.0;
/// From the cluster to its nearest track.
const NEAREST: f64 = 26.0;
/// Room for words beside a follower's rail.
const MARGIN_WORDS: f64 = 144.0;

/// One side's clients.
struct Bank<'a> {
    clients: &'a [ClientFacts],
    words: Words,
}

impl<'a> Bank<'a> {
    fn new(facts: &Facts, clients: &'a [ClientFacts]) -> Bank<'a> {
        let is_free = matches!(clients, [only] if clients::has_free_side(facts, only));
        let inside = Words::inside(clients.len());
        let words = if is_free || clients.is_empty() { Words::Outside } else { inside };
        Bank { clients, words }
    }

    /// Trunks that it needs; one for each client as soon as one rail is not straight.
    fn trunks(&self) -> usize {
        let is_single = matches!(self.clients,
            [only] if only.rails() <= 1);
        if is_single { 0 } else { self.clients.len() }
    }
}

/// From left to right: where the cluster stands, and the tracks beside it.
struct Columns<'a> {
    /// Widths of producers' and consumers' cards.
    cards: (f64, f64),
    left: Bank<'a>,
    right: Bank<'a>,
    tracks: usize,
    /// Between two tracks.
    step: f64,
    /// Between two trunks.
    trunk: f64,
    /// Left edge of the cluster.
    x: f64,
    /// Its right edge.
    end: f64,
}

impl<'a> Columns<'a> {
    /// With cards as wide as the longest names, if that leaves room for lanes.
    fn new(facts: &'a Facts) -> Columns<'a> {
        let card = |clients| {
            let wanted = clients::longest_name(facts, clients) + CLIENT_SIDES;
            wanted.clamp(CLIENT.0, CLIENT.1)
        };
        let columns = Columns::of(facts, (card(&facts.producers), card(&facts.consumers)));
        let has_room = cluster::has_room(facts, columns.end - columns.x - LANE_SPARE);
        if has_room { columns } else { Columns::of(facts, (CLIENT.0, CLIENT.0)) }
    }

    fn of(facts: &'a Facts, cards: (f64, f64)) -> Columns<'a> {
        let left = Bank::new(facts, &facts.producers);
        let right = Bank::new(facts, &facts.consumers);
        let tracks = rails::tracks(facts).values().max().map_or(0, |last| last + 1);
        let step = match tracks {
            0..=2 => 30.0,
            3..=4 => 18.0,
            _ => 10.0,
        };
        let trunk = trunk(left.trunks() + right.trunks());
        let track_room = if tracks == 0 { 0.0 } else { NEAREST + step * (tracks - 1) as f64 + 8.0 };
        let x = match left.clients.len() {
            0 if (1..=4).contains(&tracks) && has_single_follower(facts) => {
                track_room + MARGIN_WORDS
            }
            0 => track_room,
            _ => cards.0 + LEFT.max(track_room + trunk * left.trunks() as f64 + 4.0),
        };
        let right_room = RIGHT.max(trunk * right.trunks() as f64 + 20.0);
        let end = if right.clients.is_empty() { WIDTH } else { WIDTH - cards.1 - right_room };
        Columns { cards, left, right, tracks, step, trunk, x, end }
    }

    fn track_x(&self, track: usize) -> f64 {
        self.x - NEAREST - self.step * track as f64
    }

    /// The brokers, with words about what followers fetch left of the rails where nothing is in the
    /// way, and in the card elsewhere.
    fn cluster(&self, facts: &Facts) -> Cluster {
        let sides = Sides {
            left: facts.producers.iter().map(|client| client.name.clone()).collect(),
            right: facts.consumers.iter().map(|client| client.name.clone()).collect(),
        };
        let place = |says: &[bool]| {
            let width = self.end - self.x;
            cluster::place(facts, &Column { x: self.x, y: TOP, width, sides: &sides, says })
        };
        let mut says = vec![true; facts.brokers.len()];
        let cluster = place(&says);
        if self.left.words != Words::Outside || self.left.trunks() > 0 {
            return cluster;
        }
        let producers = place_bank(&self.left, &cluster, (0.0, self.cards.0));
        let low = producers.last().map_or(0.0, |client| client.card.bottom() + 14.0);
        let words_end = self.track_x(self.tracks.saturating_sub(1)) - 14.0;
        for broker in margin_words(facts, &cluster, words_end, low).keys() {
            says[*broker] = false;
        }
        let mut cluster = place(&says);
        for (broker, say) in margin_words(facts, &cluster, words_end, low) {
            cluster.brokers[broker].say.get_or_insert(say);
        }
        cluster
    }

    /// A bank's rails.
    fn rails(
        &self,
        facts: &Facts,
        cluster: &Cluster,
        (bank, places): (&Bank, &[ClientPlace]),
    ) -> BTreeMap<String, RailPlace> {
        let mut rails = BTreeMap::new();
        for (index, (client, place)) in bank.clients.iter().zip(places).enumerate() {
            let is_left = client.group.is_none();
            let from = if is_left { self.cards.0 } else { self.end };
            let x = from + 14.0 + self.trunk * index as f64;
            let trunk = Trunk { is_left, start: port(place, bank.words), x };
            rails.extend(rails::of_client(facts, cluster, client, &trunk));
        }
        rails
    }
}

/// Whether a broker replicates with one other alone, so that words may stand beside its rail.
fn has_single_follower(facts: &Facts) -> bool {
    let mut brokers = facts.brokers.iter().enumerate();
    brokers.any(|(at, broker)| !broker.leaders.is_empty() && facts.partners(at) == 1)
}

/// Places everything.
pub(super) fn lay_out(facts: &Facts) -> Option<Places> {
    let columns = Columns::new(facts);
    let (x, end) = (columns.x, columns.end);
    if !cluster::has_room(facts, end - x) {
        return None;
    }
    let cluster = columns.cluster(facts);
    let (left, right) = (columns.cards.0, WIDTH - columns.cards.1);
    let producers = place_bank(&columns.left, &cluster, (0.0, left));
    let consumers = place_bank(&columns.right, &cluster, (right, columns.cards.1));
    let mut all_rails = rails::between_brokers(facts, &cluster, |track| columns.track_x(track));
    all_rails.extend(columns.rails(facts, &cluster, (&columns.left, &producers)));
    all_rails.extend(columns.rails(facts, &cluster, (&columns.right, &consumers)));
    let bottom = producers.iter().chain(&consumers).map(|client| client.card.bottom());
    let height = bottom.fold(cluster.bottom, f64::max);
    let next = if consumers.is_empty() { WIDTH } else { right - 8.0 };
    Some(Places {
        form: Form::Wide,
        width: WIDTH,
        height,
        heading: (at(x + 1.0, 13.0), next - x - 1.0),
        columns: headings(facts, right),
        producers: beside(producers, &columns.left, (left, x)),
        consumers: beside(consumers, &columns.right, (end, right)),
        rails: all_rails,
        cells: cluster.cells,
        groups: cluster.groups,
        controllers: cluster.controllers,
        grid: None,
        brokers: cluster.brokers,
    })
}

/// Between two trunks, where there are so many.
fn trunk(count: usize) -> f64 {
    if count > 4 { 9.0 } else { 12.0 }
}

/// Where a client's rails start.
fn port(place: &ClientPlace, words: Words) -> Point {
    let is_left = place.card.x < WIDTH / 2.0;
    let x = if is_left { place.card.right() } else { place.card.x };
    at(x, place.card.y + clients::wide_port(words))
}

/// Each client level with the broker that it talks with first, pushed down where that is taken.
fn place_bank(bank: &Bank, cluster: &Cluster, (x, width): (f64, f64)) -> Vec<ClientPlace> {
    let mut places: Vec<ClientPlace> = Vec::new();
    for client in bank.clients {
        let level = clients::primary(client).map(|broker| {
            cluster.brokers[broker].card.y + cluster.ports[broker].clients[&client.name]
                - clients::wide_port(bank.words)
        });
        let free = places.last().map_or(TOP, |place| place.card.bottom() + BETWEEN);
        let y = level.unwrap_or(TOP).max(free);
        places.push(clients::wide(client, at(x, y), width, bank.words));
    }
    places
}

/// Words between the only client of a side and the cluster, over the rail.
fn beside(mut places: Vec<ClientPlace>, bank: &Bank, gap: (f64, f64)) -> Vec<ClientPlace> {
    if let (Words::Outside, [only]) = (bank.words, places.as_mut_slice()) {
        let trunk = if bank.trunks() > 0 { 2.0 } else { 0.0 };
        let middle = f64::midpoint(gap.0, gap.1);
        only.say = Some(Say {
            at: at(middle, only.card.y + WIDE_MIDDLE - 13.0 - trunk),
            anchor: Anchor::Middle,
            width: gap.1 - gap.0 - 2.0,
            lines: 3,
        });
    }
    places
}

/// Words left of the rails, for followers under the producer's card that have one rail.
fn margin_words(facts: &Facts, cluster: &Cluster, end: f64, low: f64) -> BTreeMap<usize, Say> {
    let mut words = BTreeMap::new();
    if end < MARGIN_WORDS - 20.0 {
        return words;
    }
    for (index, broker) in facts.brokers.iter().enumerate() {
        let mut ports = cluster.ports[index].brokers.values();
        let (Some(port), None, true) = (ports.next(), ports.next(), !broker.leaders.is_empty())
        else {
            continue;
        };
        let y = cluster.brokers[index].card.y + port + 4.0;
        if y - 30.0 > low {
            let say = Say { at: at(end, y), anchor: Anchor::End, width: end - 2.0, lines: 2 };
            words.insert(index, say);
        }
    }
    words
}

fn headings(facts: &Facts, right: f64) -> Vec<(String, Point)> {
    let plural = |word: &str, count: usize| match count {
        1 => word.to_owned(),
        _ => format!("{word}s"),
    };
    let sides = [(&facts.producers, "Producer", 1.0), (&facts.consumers, "Consumer", right + 1.0)];
    let present = sides.into_iter().filter(|(clients, ..)| !clients.is_empty());
    present.map(|(clients, word, x)| (plural(word, clients.len()), at(x, 13.0))).collect()
}
