//! Where rails meet a broker's card: which side, and how far below its top.

use std::collections::BTreeMap;

use super::super::facts::Facts;

/// Between two ports for clients.
const NEAR: f64 = 15.0;
/// Between many ports for replication, whose clocks are larger.
const MANY: f64 = 16.0;
/// Between two ports for replication.
const FAR: f64 = 20.0;
/// Below the last port.
const BELOW: f64 = 12.0;

/// Which clients have a port on which side, by their place in the file.
#[derive(Clone, Debug, Default)]
pub(super) struct Sides {
    /// Names of clients whose rails meet the left edge.
    pub left: Vec<String>,
    /// Names of clients whose rails meet the right edge.
    pub right: Vec<String>,
}

/// A broker's ports, in units below the top of its card.
#[derive(Clone, Debug, Default)]
pub(super) struct Ports {
    /// By client.
    pub clients: BTreeMap<String, f64>,
    /// By the broker at the other end.
    pub brokers: BTreeMap<usize, f64>,
    /// The least height of the card.
    pub height: f64,
}

/// The ports of broker `at`, whose rails of clients begin at `middle` below its top.
pub(super) fn ports(facts: &Facts, sides: &Sides, at: usize, middle: f64) -> Ports {
    let mut ports = Ports::default();
    let mut last = 0.0_f64;
    let mut left_count = 0;
    for (names, is_left) in [(&sides.left, true), (&sides.right, false)] {
        let mut next = middle;
        for name in names.iter().filter(|name| talks(facts, name, at)) {
            ports.clients.insert(name.clone(), next);
            last = last.max(next);
            next += NEAR;
            left_count += usize::from(is_left);
        }
    }
    let partners = partners(facts, at);
    let step = if partners.len() > 2 { MANY } else { FAR };
    let mut next = match (left_count, partners.len()) {
        (0, 0 | 1) => middle,
        (0, _) => middle - 2.0,
        (count, _) => middle + NEAR * (count - 1) as f64 + FAR,
    };
    for partner in partners {
        ports.brokers.insert(partner, next);
        last = last.max(next);
        next += step;
    }
    ports.height = last + BELOW;
    ports
}

/// Whether client `name` has a rail to broker `at`.
pub(super) fn talks(facts: &Facts, name: &str, at: usize) -> bool {
    let mut clients = facts.producers.iter().chain(&facts.consumers);
    clients.any(|client| {
        client.name == name && (client.data.contains(&at) || client.coordinators.contains(&at))
    })
}

/// The brokers that `at` replicates with, in the order of their ports, which keeps rails from
/// crossing: those above, the nearest first, then those below, the nearest last.
fn partners(facts: &Facts, at: usize) -> Vec<usize> {
    let above = facts.pairs.iter().filter(|(_, lower)| *lower == at).map(|(upper, _)| *upper);
    let below = facts.pairs.iter().filter(|(upper, _)| *upper == at).map(|(_, lower)| *lower);
    let mut above: Vec<usize> = above.collect();
    let mut below: Vec<usize> = below.collect();
    above.sort_unstable_by(|a, b| b.cmp(a));
    below.sort_unstable_by(|a, b| b.cmp(a));
    above.extend(below);
    above
}
