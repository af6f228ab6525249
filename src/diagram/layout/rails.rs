//! Rails: their names, the tracks in which they run beside the cluster, and their course.

use std::collections::BTreeMap;

use super::super::facts::{ClientFacts, Facts};
use super::super::rail::Rail;
use super::super::scene::at;
use super::cluster::Cluster;
use super::{BrokerPlace, ClientPlace, RailPlace};
use crate::sim::ids::{BrokerId, Machine};

/// A message's way: the rail, and whether it travels from the rail's end to its start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::diagram) struct Way {
    pub rail: String,
    pub is_back: bool,
}

/// The way between two machines, if both are of a kind that has rails.
pub(in crate::diagram) fn way(facts: &Facts, from: &Machine, to: &Machine) -> Option<Way> {
    match (from, to) {
        (Machine::Client(name), Machine::Broker(id)) => {
            Some(Way { rail: client_rail(name, *id), is_back: false })
        }
        (Machine::Broker(id), Machine::Client(name)) => {
            Some(Way { rail: client_rail(name, *id), is_back: true })
        }
        (Machine::Broker(from), Machine::Broker(to)) => {
            let (a, b) = (facts.broker(*from)?, facts.broker(*to)?);
            let (upper, lower) = if a < b { (*from, *to) } else { (*to, *from) };
            Some(Way { rail: broker_rail(upper, lower), is_back: a > b })
        }
        _ => None,
    }
}

/// From a client to a broker.
fn client_rail(client: &str, broker: BrokerId) -> String {
    format!("{client}:broker-{broker}")
}

/// From the upper of two brokers to the lower.
fn broker_rail(upper: BrokerId, lower: BrokerId) -> String {
    format!("broker-{upper}:broker-{lower}")
}

/// The track of each pair of brokers, 0 next to the cluster: short rails inside, long ones outside.
pub(super) fn tracks(facts: &Facts) -> BTreeMap<(usize, usize), usize> {
    let mut pairs: Vec<(usize, usize)> = facts.pairs.iter().copied().collect();
    pairs.sort_by_key(|&(upper, lower)| (lower - upper, upper));
    let mut taken: Vec<((usize, usize), usize)> = Vec::new();
    for pair in pairs {
        let meets = |other: (usize, usize)| pair.0.max(other.0) < pair.1.min(other.1);
        let inner = taken.iter().filter(|(other, _)| meets(*other)).map(|(_, track)| track + 1);
        taken.push((pair, inner.max().unwrap_or(0)));
    }
    taken.into_iter().collect()
}

/// Rails between brokers, at `x(track)`.
pub(super) fn between_brokers(
    facts: &Facts,
    cluster: &Cluster,
    x: impl Fn(usize) -> f64,
) -> BTreeMap<String, RailPlace> {
    let mut rails = BTreeMap::new();
    for ((upper, lower), track) in tracks(facts) {
        let port = |of: usize, with: usize| {
            let card = cluster.brokers[of].card;
            at(card.x, card.y + cluster.ports[of].brokers[&with])
        };
        let (from, to, x) = (port(upper, lower), port(lower, upper), x(track));
        let rail = Rail::new(&[from, at(x, from.y), at(x, to.y), to]);
        let (upper, lower) = (facts.brokers[upper].id, facts.brokers[lower].id);
        let ends = (Machine::Broker(upper), Machine::Broker(lower));
        rails.insert(broker_rail(upper, lower), RailPlace { rail, ends, is_quiet: false });
    }
    rails
}

/// A client's course: where it starts and the trunk that its rails share.
pub(super) struct Trunk {
    /// The side of the broker's card where rails end.
    pub is_left: bool,
    /// Where the client's rails start.
    pub start: crate::diagram::scene::Point,
    /// The trunk's place from the left.
    pub x: f64,
}

/// A client's rails along its trunk. `skip` names a broker whose rail is drawn in another way.
pub(super) fn of_client(
    facts: &Facts,
    cluster: &Cluster,
    client: &ClientFacts,
    trunk: &Trunk,
) -> BTreeMap<String, RailPlace> {
    let ends = client.data.iter().map(|&broker| (broker, false));
    let ends = ends.chain(client.coordinators.iter().map(|&broker| (broker, true)));
    let mut rails = BTreeMap::new();
    for (broker, is_quiet) in ends {
        let card = cluster.brokers[broker].card;
        let y = card.y + cluster.ports[broker].clients[&client.name];
        let x = if trunk.is_left { card.x } else { card.right() };
        let rail = if (y - trunk.start.y).abs() < 0.5 {
            Rail::new(&[at(trunk.start.x, y), at(x, y)])
        } else {
            let turn = at(trunk.x, trunk.start.y);
            Rail::new(&[trunk.start, turn, at(trunk.x, y), at(x, y)])
        };
        let id = facts.brokers[broker].id;
        let ends = (Machine::Client(client.name.clone()), Machine::Broker(id));
        rails.insert(client_rail(&client.name, id), RailPlace { rail, ends, is_quiet });
    }
    rails
}

/// A straight rail down from a client to the top of a broker's card.
pub(super) fn straight_down(
    facts: &Facts,
    broker: (usize, &BrokerPlace),
    client: (&ClientFacts, &ClientPlace),
    x: f64,
) -> (String, RailPlace) {
    let rail = Rail::new(&[at(x, client.1.card.bottom()), at(x, broker.1.card.y)]);
    let (name, id) = (&client.0.name, facts.brokers[broker.0].id);
    let ends = (Machine::Client(name.clone()), Machine::Broker(id));
    (client_rail(name, id), RailPlace { rail, ends, is_quiet: false })
}
