//! The chance of random worlds: draws from a seed, and from what a world holds.

use crate::sim::ids::{BrokerId, Machine, TopicPartition};
use crate::sim::rng::{Draw, Rng};
use crate::sim::world::{TopicSpec, World};

/// Draws numbers.
pub struct Dice {
    rng: Rng,
}

impl Dice {
    /// The draws of a seed.
    #[must_use]
    pub fn new(seed: u64) -> Dice {
        Dice { rng: Rng::new(seed) }
    }

    /// A number from `low` to `high`, both included.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        let count = usize::try_from(high - low + 1).unwrap_or(usize::MAX);
        low + self.rng.draw(count) as u64
    }

    /// The same for small counts.
    pub fn count(&mut self, low: u32, high: u32) -> u32 {
        u32::try_from(self.between(low.into(), high.into())).unwrap_or(high)
    }

    /// True once in `times`.
    pub fn one_in(&mut self, times: usize) -> bool {
        self.rng.draw(times) == 0
    }

    /// One of them.
    pub fn pick<'t, T>(&mut self, these: &'t [T]) -> Option<&'t T> {
        if these.is_empty() { None } else { these.get(self.rng.draw(these.len())) }
    }

    /// One of these words, of which there is at least one.
    pub fn word(&mut self, words: &[&'static str]) -> &'static str {
        words[self.rng.draw(words.len())]
    }

    /// Up to `count` of them, in a random order.
    pub fn some<T: Clone>(&mut self, these: &[T], count: usize) -> Vec<T> {
        let mut rest = these.to_vec();
        let mut taken = Vec::new();
        while taken.len() < count && !rest.is_empty() {
            let at = self.rng.draw(rest.len());
            taken.push(rest.swap_remove(at));
        }
        taken
    }
}

/// Draws for an action: numbers, and names of what the world holds.
pub struct Draws<'a> {
    /// The numbers.
    pub dice: &'a mut Dice,
    /// The world that the action meets.
    pub world: &'a World,
    /// Topics that earlier actions have asked for.
    pub created: &'a [TopicSpec],
}

impl Draws<'_> {
    /// A broker.
    pub fn broker(&mut self) -> Option<BrokerId> {
        self.dice.pick(&self.world.brokers).map(|spec| spec.id)
    }

    /// A controller's name.
    pub fn controller(&mut self) -> Option<String> {
        self.dice.pick(&self.world.controllers).cloned()
    }

    /// A producer's name.
    pub fn producer(&mut self) -> Option<String> {
        self.dice.pick(&self.world.producers).map(|spec| spec.name.clone())
    }

    /// A consumer's name.
    pub fn consumer(&mut self) -> Option<String> {
        let all: Vec<&String> =
            self.world.groups.iter().flat_map(|g| &g.consumers).map(|c| &c.name).collect();
        self.dice.pick(&all).map(|name| (*name).clone())
    }

    /// A group's name.
    pub fn group(&mut self) -> Option<String> {
        self.dice.pick(&self.world.groups).map(|spec| spec.name.clone())
    }

    /// Any machine.
    pub fn machine(&mut self) -> Option<Machine> {
        let all = machines(self.world);
        self.dice.pick(&all).cloned()
    }

    /// A topic, now and then one that is not there.
    pub fn topic(&mut self) -> String {
        if self.dice.one_in(20) {
            return "nowhere".to_owned();
        }
        let all: Vec<&TopicSpec> = self.world.topics.iter().chain(self.created).collect();
        self.dice.pick(&all).map_or_else(|| "nowhere".to_owned(), |spec| spec.name.clone())
    }

    /// A partition, now and then one that is not there.
    pub fn partition(&mut self) -> TopicPartition {
        let topic = self.topic();
        let all = self.world.topics.iter().chain(self.created);
        let count = all.filter(|spec| spec.name == topic).filter_map(|spec| spec.partitions).max();
        let number = self.dice.count(0, count.unwrap_or(1).max(1) - 1);
        TopicPartition::new(topic, number + u32::from(self.dice.one_in(40)))
    }

    /// A partition, or none: all of them.
    pub fn partition_or_all(&mut self) -> Option<TopicPartition> {
        if self.dice.one_in(2) { None } else { Some(self.partition()) }
    }

    /// Some brokers in a random order, now and then one that is not there or none at all.
    pub fn replicas(&mut self, count: usize) -> Vec<BrokerId> {
        let all: Vec<BrokerId> = self.world.brokers.iter().map(|spec| spec.id).collect();
        let mut replicas = self.dice.some(&all, count);
        if self.dice.one_in(12) {
            replicas.push(BrokerId(99));
        }
        replicas
    }
}

/// Every machine of a world.
pub fn machines(world: &World) -> Vec<Machine> {
    let controllers = world.controllers.iter().cloned().map(Machine::Controller);
    let brokers = world.brokers.iter().map(|spec| Machine::Broker(spec.id));
    let producers = world.producers.iter().map(|spec| Machine::Client(spec.name.clone()));
    let consumers = world.groups.iter().flat_map(|group| &group.consumers);
    let consumers = consumers.map(|spec| Machine::Client(spec.name.clone()));
    controllers.chain(brokers).chain(producers).chain(consumers).collect()
}
