//! The links between machines: latency, and cuts.

use std::collections::BTreeMap;

use super::ids::Machine;

/// Every pair of machines has a link in each direction.
#[derive(Clone, Debug)]
pub struct Network {
    default_ms: u64,
    slowed: BTreeMap<(Machine, Machine), u64>,
    /// The side on which a named machine is; machines without a side reach everyone.
    sides: BTreeMap<Machine, usize>,
}

impl Network {
    /// Links with one latency each, in milliseconds.
    #[must_use]
    pub fn new(default_ms: u64) -> Network {
        Network { default_ms, slowed: BTreeMap::new(), sides: BTreeMap::new() }
    }

    /// One-way delay. A machine reaches itself at once.
    #[must_use]
    pub fn latency_ms(&self, from: &Machine, to: &Machine) -> u64 {
        if from == to {
            return 0;
        }
        if self.slowed.is_empty() {
            return self.default_ms;
        }
        self.slowed.get(&(from.clone(), to.clone())).copied().unwrap_or(self.default_ms)
    }

    /// Sets one direction's delay; `None` puts it back to the default.
    pub fn set_latency(&mut self, from: &Machine, to: &Machine, latency_ms: Option<u64>) {
        let link = (from.clone(), to.clone());
        match latency_ms {
            Some(latency_ms) => self.slowed.insert(link, latency_ms),
            None => self.slowed.remove(&link),
        };
    }

    /// Cuts the network: machines of different groups no longer reach each other.
    pub fn partition(&mut self, groups: &[Vec<Machine>]) {
        self.heal();
        for (side, group) in groups.iter().enumerate() {
            self.sides.extend(group.iter().map(|machine| (machine.clone(), side)));
        }
    }

    /// Ends a cut.
    pub fn heal(&mut self) {
        self.sides.clear();
    }

    /// The side of each machine that has one.
    #[must_use]
    pub fn sides(&self) -> &BTreeMap<Machine, usize> {
        &self.sides
    }

    /// Whether a message from one machine cannot reach the other.
    #[must_use]
    pub fn is_cut(&self, from: &Machine, to: &Machine) -> bool {
        match (self.sides.get(from), self.sides.get(to)) {
            (Some(a), Some(b)) => a != b,
            _ => false,
        }
    }
}
