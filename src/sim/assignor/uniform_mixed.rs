//! The uniform assignor where members subscribe to different topics.
//!
//! Follows `UniformHeterogeneousAssignmentBuilder`: what members have stays; each topic's free
//! partitions go to its least loaded subscribers; then topic after topic partitions move from the
//! most loaded subscribers to the least loaded ones, until nothing improves.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::{Subscribers, Target, Topics};
use crate::sim::ids::TopicPartition;

/// Rounds of balancing after which it is good enough (`MAX_ITERATION_COUNT`).
const ROUNDS_MAX: usize = 16;

/// One topic: who subscribes to it, by place among the members, and who owns its partitions.
struct Topic<'a> {
    name: &'a str,
    subscribers: Vec<usize>,
    owners: Vec<Option<usize>>,
}

/// The assignment under construction.
struct Builder<'a> {
    ids: Vec<&'a String>,
    sizes: Vec<usize>,
    /// Those with most partitions per subscriber first; then those with fewer subscribers.
    topics: Vec<Topic<'a>>,
}

/// The target assignment.
pub fn assign(members: &Subscribers, topics: &Topics) -> Target {
    let mut builder = Builder::of(members, topics);
    builder.hand_out_the_rest();
    builder.balance();
    let mut target: Target =
        builder.ids.iter().map(|id| ((*id).clone(), std::collections::BTreeSet::new())).collect();
    for topic in &builder.topics {
        for (number, owner) in (0_u32..).zip(&topic.owners) {
            let Some(owner) = owner else { continue };
            let own = target.entry(builder.ids[*owner].clone()).or_default();
            own.insert(TopicPartition::new(topic.name, number));
        }
    }
    target
}

impl<'a> Builder<'a> {
    /// Members with what they keep: partitions of topics that they still subscribe to.
    fn of(members: &'a Subscribers, topics: &'a Topics) -> Builder<'a> {
        let mut by_name: BTreeMap<&str, Topic<'_>> = BTreeMap::new();
        for (index, member) in members.values().enumerate() {
            for name in &member.topics {
                let Some((name, count)) = topics.get_key_value(name) else { continue };
                let topic = by_name.entry(name).or_insert_with(|| Topic {
                    name,
                    subscribers: Vec::new(),
                    owners: vec![None; *count as usize],
                });
                topic.subscribers.push(index);
            }
        }
        let mut sizes = vec![0; members.len()];
        for (index, member) in members.values().enumerate() {
            for partition in &member.owned {
                let Some(topic) = by_name.get_mut(partition.topic.as_str()) else { continue };
                let Some(owner) = topic.owners.get_mut(partition.partition as usize) else {
                    continue;
                };
                if member.topics.contains(&partition.topic) {
                    sizes[index] += 1;
                    *owner = Some(index);
                }
            }
        }
        let mut topics: Vec<Topic<'_>> = by_name.into_values().collect();
        topics.sort_by(by_load);
        Builder { ids: members.keys().collect(), sizes, topics }
    }

    fn hand_out_the_rest(&mut self) {
        for topic in &mut self.topics {
            let mut balancer = Balancer::new(&topic.subscribers, &self.sizes);
            for owner in topic.owners.iter_mut().filter(|owner| owner.is_none()) {
                let taker = balancer.next_least_loaded(&self.sizes);
                self.sizes[taker] += 1;
                *owner = Some(taker);
            }
        }
    }

    /// Goes round the topics until a whole round has changed nothing.
    fn balance(&mut self) {
        let shared: Vec<usize> =
            (0..self.topics.len()).filter(|i| self.topics[*i].subscribers.len() >= 2).collect();
        let mut last_changed = None;
        for _ in 0..ROUNDS_MAX {
            for topic in &shared {
                if last_changed == Some(*topic) {
                    return;
                }
                if self.balance_topic(*topic) || last_changed.is_none() {
                    last_changed = Some(*topic);
                }
            }
        }
    }

    /// Moves partitions of one topic from its most loaded subscribers to the least loaded ones, as
    /// long as two of them differ by more than one. Says whether anything moved.
    fn balance_topic(&mut self, index: usize) -> bool {
        let topic = &mut self.topics[index];
        let mut balancer = Balancer::new(&topic.subscribers, &self.sizes);
        if balancer.spread(&self.sizes) <= 1 {
            return false;
        }
        let mut held: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (partition, owner) in topic.owners.iter().enumerate() {
            if let Some(owner) = owner {
                held.entry(*owner).or_default().push(partition);
            }
        }
        let mut moved = false;
        while !balancer.is_balanced() {
            let giver = loop {
                let Some(giver) = balancer.next_most_loaded(&self.sizes) else { return moved };
                if held.get(&giver).is_some_and(|held| !held.is_empty()) {
                    break giver;
                }
                balancer.exclude_most_loaded();
            };
            let Some(partition) = held.get_mut(&giver).and_then(Vec::pop) else { return moved };
            let taker = balancer.next_least_loaded(&self.sizes);
            if balancer.is_balanced() {
                return moved;
            }
            topic.owners[partition] = Some(taker);
            self.sizes[giver] -= 1;
            self.sizes[taker] += 1;
            moved = true;
        }
        moved
    }
}

fn by_load(one: &Topic<'_>, other: &Topic<'_>) -> Ordering {
    let (count, other_count) = (one.owners.len(), other.owners.len());
    let (takers, other_takers) = (one.subscribers.len(), other.subscribers.len());
    (other_count * takers)
        .cmp(&(count * other_takers))
        .then(takers.cmp(&other_takers))
        .then(one.name.cmp(other.name))
}

/// Walks over a topic's subscribers, from the least loaded up and from the most loaded down, as if
/// each that it names got or lost a partition (`MemberAssignmentBalancer`).
struct Balancer {
    sorted: Vec<usize>,
    /// The least loaded ones are those before it.
    least_end: usize,
    least_count: i64,
    next_least: usize,
    /// The most loaded ones are those from here...
    most_start: usize,
    /// ...up to here; who has nothing to give stands behind.
    most_end: usize,
    most_count: i64,
    /// One behind the next that gives.
    next_most: usize,
}

impl Balancer {
    fn new(subscribers: &[usize], sizes: &[usize]) -> Balancer {
        let mut sorted = subscribers.to_vec();
        sorted.sort_by_key(|member| (sizes[*member], *member));
        let count = |at: Option<&usize>| at.map_or(0, |member| signed(sizes[*member]));
        Balancer {
            least_end: 0,
            least_count: count(sorted.first()) - 1,
            next_least: 0,
            most_start: sorted.len(),
            most_end: sorted.len(),
            most_count: count(sorted.last()) + 1,
            next_most: sorted.len(),
            sorted,
        }
    }

    /// The difference between the most and the least loaded subscriber.
    fn spread(&self, sizes: &[usize]) -> usize {
        match (self.sorted.first(), self.sorted.last()) {
            (Some(least), Some(most)) => sizes[*most] - sizes[*least],
            _ => 0,
        }
    }

    fn is_balanced(&self) -> bool {
        self.most_count - self.least_count <= 1
    }

    /// Who gets the next partition; a topic has a subscriber.
    fn next_least_loaded(&mut self, sizes: &[usize]) -> usize {
        if self.next_least >= self.least_end {
            self.least_count += 1;
            while self
                .sorted
                .get(self.least_end)
                .is_some_and(|member| signed(sizes[*member]) == self.least_count)
            {
                self.least_end += 1;
            }
            self.next_least = 0;
        }
        self.next_least += 1;
        self.sorted[self.next_least - 1]
    }

    /// Who gives the next partition; nobody, if all that are left have nothing of this topic.
    fn next_most_loaded(&mut self, sizes: &[usize]) -> Option<usize> {
        if self.next_most <= self.most_start {
            if self.most_end <= self.most_start && self.most_start > 0 {
                self.most_count = signed(sizes[self.sorted[self.most_start - 1]]);
            } else {
                self.most_count -= 1;
            }
            while self.most_start > 0
                && signed(sizes[self.sorted[self.most_start - 1]]) == self.most_count
            {
                self.most_start -= 1;
            }
            self.next_most = self.most_end;
        }
        self.next_most = self.next_most.checked_sub(1)?;
        Some(self.sorted[self.next_most])
    }

    /// The one that was named last has nothing to give: it goes behind the range.
    fn exclude_most_loaded(&mut self) {
        self.most_end -= 1;
        self.sorted.swap(self.next_most, self.most_end);
    }
}

fn signed(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
