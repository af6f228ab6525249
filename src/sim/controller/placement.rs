//! Where new partitions go: `KRaft`'s striped placement.
//!
//! Follows `StripedReplicaPlacer` of Kafka's metadata module.

use std::collections::BTreeMap;

use crate::sim::error::KafkaError;
use crate::sim::ids::BrokerId;
use crate::sim::rng::Draw;

/// A broker that may hold replicas.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsableBroker {
    /// Its id.
    pub id: BrokerId,
    /// Its rack; brokers without one form a rack of their own, which comes first.
    pub rack: Option<String>,
    /// Whether it is fenced; a fenced broker never comes first.
    pub fenced: bool,
}

/// Brokers of one kind in one rack, handed out in a circle.
struct Circle {
    brokers: Vec<BrokerId>,
    epoch: u32,
    index: usize,
    offset: usize,
}

impl Circle {
    fn new(mut brokers: Vec<BrokerId>) -> Circle {
        brokers.sort_unstable();
        Circle { brokers, epoch: 0, index: 0, offset: 0 }
    }

    fn start(&mut self, draw: &mut dyn Draw) {
        if !self.brokers.is_empty() {
            self.offset = draw.draw(self.brokers.len());
        }
    }

    /// The next broker of this partition; `None` once all were given. At the first use for a new
    /// partition the start moves on by one.
    fn next(&mut self, epoch: u32) -> Option<BrokerId> {
        if self.brokers.is_empty() {
            return None;
        }
        if self.epoch != epoch {
            self.epoch = epoch;
            self.index = 0;
            self.offset = (self.offset + 1) % self.brokers.len();
        }
        if self.index >= self.brokers.len() {
            return None;
        }
        let broker = self.brokers[(self.index + self.offset) % self.brokers.len()];
        self.index += 1;
        Some(broker)
    }

    fn shuffle(&mut self, draw: &mut dyn Draw) {
        shuffle(&mut self.brokers, draw);
    }
}

/// One rack.
struct Rack {
    fenced: Circle,
    unfenced: Circle,
}

/// All racks, with the place at which the next partition starts.
struct Racks {
    all: Vec<Rack>,
    order: Vec<usize>,
    broker_count: usize,
    unfenced_count: usize,
    epoch: u32,
    offset: usize,
}

/// Replicas for `partition_count` new partitions, `replication_factor` each; the first one leads.
///
/// # Errors
/// `INVALID_REPLICATION_FACTOR` if there are fewer brokers, or all are fenced.
pub fn place(
    brokers: &[UsableBroker],
    partition_count: u32,
    replication_factor: usize,
    draw: &mut dyn Draw,
) -> Result<Vec<Vec<BrokerId>>, KafkaError> {
    let mut racks = Racks::new(brokers, draw);
    if replication_factor == 0
        || replication_factor > racks.broker_count
        || racks.unfenced_count == 0
    {
        return Err(KafkaError::InvalidReplicationFactor);
    }
    Ok((0..partition_count).map(|_| racks.place(replication_factor, draw)).collect())
}

impl Racks {
    fn new(brokers: &[UsableBroker], draw: &mut dyn Draw) -> Racks {
        let mut by_rack: BTreeMap<Option<&str>, (Vec<BrokerId>, Vec<BrokerId>)> = BTreeMap::new();
        for broker in brokers {
            let (fenced, unfenced) = by_rack.entry(broker.rack.as_deref()).or_default();
            if broker.fenced { fenced.push(broker.id) } else { unfenced.push(broker.id) }
        }
        let mut racks: Vec<Rack> = by_rack
            .into_values()
            .map(|(fenced, unfenced)| Rack {
                fenced: Circle::new(fenced),
                unfenced: Circle::new(unfenced),
            })
            .collect();
        for rack in &mut racks {
            rack.fenced.start(draw);
            rack.unfenced.start(draw);
        }
        let offset = if racks.is_empty() { 0 } else { draw.draw(racks.len()) };
        Racks {
            order: (0..racks.len()).collect(),
            broker_count: brokers.len(),
            unfenced_count: brokers.iter().filter(|broker| !broker.fenced).count(),
            all: racks,
            epoch: 0,
            offset,
        }
    }

    fn place(&mut self, replication_factor: usize, draw: &mut dyn Draw) -> Vec<BrokerId> {
        self.shuffle_after_a_full_pass(draw);
        if self.offset == self.order.len() {
            self.offset = 0;
        }
        let mut offset = self.offset;
        let mut replicas = Vec::with_capacity(replication_factor);
        // The leader: the first rack from the start on that has an unfenced broker left.
        let leader_rack = loop {
            let rack = self.order[offset % self.order.len()];
            offset += 1;
            if let Some(leader) = self.all[rack].unfenced.next(self.epoch) {
                replicas.push(leader);
                break rack;
            }
        };
        // The others: rack after rack from the start on, passing over the leader's once.
        offset = self.offset;
        let mut passed = false;
        while replicas.len() < replication_factor {
            let rack = self.order[offset % self.order.len()];
            offset += 1;
            if !passed && rack == leader_rack && self.order.len() > 1 {
                passed = true;
                continue;
            }
            let rack = &mut self.all[rack];
            let next = rack.unfenced.next(self.epoch).or_else(|| rack.fenced.next(self.epoch));
            replicas.extend(next);
        }
        self.epoch += 1;
        self.offset += 1;
        replicas
    }

    fn shuffle_after_a_full_pass(&mut self, draw: &mut dyn Draw) {
        if usize::try_from(self.epoch).ok() != Some(self.unfenced_count) || self.unfenced_count <= 1
        {
            return;
        }
        shuffle(&mut self.order, draw);
        for rack in &mut self.all {
            rack.fenced.shuffle(draw);
            rack.unfenced.shuffle(draw);
        }
        self.epoch = 0;
    }
}

/// `Collections.shuffle`: swaps from the end.
fn shuffle<T>(items: &mut [T], draw: &mut dyn Draw) {
    for index in (1..items.len()).rev() {
        items.swap(index, draw.draw(index + 1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Zero;

    impl Draw for Zero {
        fn draw(&mut self, _bound: usize) -> usize {
            0
        }
    }

    /// `java.util.Random` over a 64-bit congruential generator, as Kafka's own test uses it.
    struct Lcg(u64);

    impl Lcg {
        fn bits(&mut self, bits: u32) -> i32 {
            self.0 = self.0.wrapping_mul(2_862_933_555_777_941_757).wrapping_add(3_037_000_493);
            i32::try_from(self.0 >> (64 - bits)).expect("at most 31 bits")
        }
    }

    impl Draw for Lcg {
        fn draw(&mut self, bound: usize) -> usize {
            let bound = i32::try_from(bound).expect("small");
            let mut drawn = self.bits(31);
            let drawn = if bound & (bound - 1) == 0 {
                i32::try_from((i64::from(bound) * i64::from(drawn)) >> 31).expect("below the bound")
            } else {
                loop {
                    let value = drawn % bound;
                    if drawn.wrapping_sub(value).wrapping_add(bound - 1) >= 0 {
                        break value;
                    }
                    drawn = self.bits(31);
                }
            };
            usize::try_from(drawn).expect("not negative")
        }
    }

    /// `0 1! 2/a`: id, `!` for fenced, rack.
    fn brokers(text: &str) -> Vec<UsableBroker> {
        text.split(' ')
            .map(|word| {
                let (id, rack) =
                    word.split_once('/').map_or((word, None), |(id, rack)| (id, Some(rack)));
                UsableBroker {
                    id: BrokerId(id.trim_end_matches('!').parse().expect("an id")),
                    rack: rack.map(str::to_owned),
                    fenced: id.ends_with('!'),
                }
            })
            .collect()
    }

    fn placed(text: &str, factor: usize, count: u32, draw: &mut dyn Draw) -> String {
        match place(&brokers(text), count, factor, draw) {
            Ok(partitions) => partitions
                .iter()
                .map(|replicas| {
                    let ids: Vec<_> = replicas.iter().map(ToString::to_string).collect();
                    format!("[{}]", ids.join(","))
                })
                .collect::<Vec<_>>()
                .join(" "),
            Err(error) => error.name().to_owned(),
        }
    }

    /// Section 10 of the facts: every row was run on Kafka's own class.
    #[test]
    fn placement_is_kafkas() {
        let zero = [
            ("0 1 2", 3, "[0,1,2] [1,2,0] [2,0,1] [1,2,0] [2,0,1] [0,1,2]"),
            ("0 1 2", 2, "[0,1] [1,2] [2,0] [1,2] [2,0] [0,1]"),
            ("0 1 2 3", 3, "[0,1,2] [1,2,3] [2,3,0] [3,0,1] [1,2,3]"),
            ("0/a 1/a 2/b", 2, "[0,2] [2,1] [0,2] [0,2]"),
            ("0/a 1/a 2/b", 3, "[0,2,1] [2,1,0] [0,2,1] [0,2,1]"),
            ("0 1! 2", 2, "[0,2] [2,0] [2,0] [0,2]"),
            ("0 1!", 1, "[0] [0] [0]"),
            ("1/a 2/b 3/c", 1, "[1] [2] [3]"),
            ("0! 1!", 1, "INVALID_REPLICATION_FACTOR"),
            ("0 1", 3, "INVALID_REPLICATION_FACTOR"),
        ];
        for (cluster, factor, expected) in zero {
            let count = u32::try_from(expected.split(' ').count()).expect("few");
            assert_eq!(
                placed(cluster, factor, count, &mut Zero),
                expected,
                "{cluster}, factor {factor}"
            );
        }
        let lcg = [
            ("0 1 2 3", 3, "[2,3,0] [3,0,1] [0,1,2] [1,2,3] [1,0,2]"),
            ("3 1! 0 4 2", 4, "[3,4,0,2] [4,0,2,3] [0,2,3,4] [2,3,4,0] [0,4,3,2]"),
        ];
        for (cluster, factor, expected) in lcg {
            assert_eq!(
                placed(cluster, factor, 5, &mut Lcg(17)),
                expected,
                "{cluster}, factor {factor}"
            );
        }
    }
}
