//! The sticky assignor: balanced first, then everybody keeps what it has.
//!
//! Follows `AbstractStickyAssignor`. Members that all subscribe to the same topics are filled up to
//! their quota; others are balanced step by step (`sticky_mixed`).

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::sim::ids::TopicPartition;

use super::client::{Assignments, Members, Racks, is_rack_aware};
use super::sticky_mixed;

/// What came out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Who reads what.
    pub given: Assignments,
    /// Partitions that a living member has to give up first, with who gets them then; `None` where
    /// the rule does not keep note of it.
    pub moving: Option<BTreeMap<TopicPartition, String>>,
}

/// Who reads what.
#[must_use]
pub fn assign(members: &Members, topics: &Racks) -> Outcome {
    let order: Vec<&String> = members.keys().collect();
    assign_in_order(members, topics, &order)
}

/// Who reads what, if members are looked at in this order where Kafka goes by hash order.
#[must_use]
pub fn assign_in_order(members: &Members, topics: &Racks, order: &[&String]) -> Outcome {
    if members.is_empty() {
        return Outcome { given: Assignments::new(), moving: Some(BTreeMap::new()) };
    }
    // Only topics that somebody subscribes to, and that exist.
    let subscribed: BTreeSet<&String> =
        members.values().flat_map(|member| &member.topics).collect();
    let topics: Racks = topics
        .iter()
        .filter(|(topic, racks)| subscribed.contains(topic) && !racks.is_empty())
        .map(|(topic, racks)| (topic.clone(), racks.clone()))
        .collect();
    let nearness = Nearness::new(members, &topics);
    let claims = Claims::of(members, &topics, order);
    let mut subscriptions = members.values().map(|member| &member.topics);
    let first = subscriptions.next();
    if subscriptions.all(|topics| Some(topics) == first) {
        Filling::new(&topics, &nearness, claims).fill(order)
    } else {
        let given = sticky_mixed::assign(members, &topics, (&nearness, claims));
        Outcome { given, moving: None }
    }
}

/// Which consumers are near which replicas; empty where racks do not matter
/// (`AbstractStickyAssignor.RackInfo`).
#[derive(Clone, Debug, Default)]
pub(super) struct Nearness {
    consumers: BTreeMap<String, String>,
    partitions: BTreeMap<TopicPartition, BTreeSet<String>>,
    /// How many consumers are near a partition, counted even where racks do not matter.
    counts: BTreeMap<TopicPartition, usize>,
}

impl Nearness {
    fn new(members: &Members, topics: &Racks) -> Nearness {
        let racks: BTreeMap<String, String> = members
            .iter()
            .filter_map(|(id, member)| Some((id.clone(), member.rack.clone()?)))
            .filter(|(_, rack)| !rack.is_empty())
            .collect();
        if racks.is_empty() {
            return Nearness::default();
        }
        let mut nearness = Nearness::default();
        for (topic, replicas) in topics {
            for (number, here) in (0..).zip(replicas) {
                let partition = TopicPartition::new(topic.clone(), number);
                let near = racks.values().filter(|rack| here.contains(*rack)).count();
                nearness.counts.insert(partition.clone(), near);
                nearness.partitions.insert(partition, here.clone());
            }
        }
        let known: BTreeSet<&str> = racks.values().map(String::as_str).collect();
        if is_rack_aware(&known, topics.values().flatten()) {
            nearness.consumers = racks;
        } else {
            nearness.partitions.clear();
        }
        nearness
    }

    /// Whether racks matter.
    pub(super) fn matters(&self) -> bool {
        !self.consumers.is_empty()
    }

    /// A consumer's rack, where racks matter.
    pub(super) fn rack(&self, consumer: &str) -> Option<&String> {
        self.consumers.get(consumer)
    }

    /// Whether a replica is in this rack.
    pub(super) fn is_in(&self, partition: &TopicPartition, rack: &str) -> bool {
        self.partitions.get(partition).is_some_and(|racks| racks.contains(rack))
    }

    /// Whether a consumer has a rack in which there is no replica (`racksMismatch`).
    pub(super) fn is_far(&self, consumer: &str, partition: &TopicPartition) -> bool {
        self.rack(consumer).is_some_and(|rack| !self.is_in(partition, rack))
    }

    fn sort(&self, partitions: &mut [TopicPartition]) {
        partitions.sort_by_key(|partition| self.counts.get(partition).copied().unwrap_or(0));
    }

    /// The first consumer from a place in the list on that is near (`nextRackConsumer`).
    fn next_near(&self, partition: &TopicPartition, list: &[String], from: usize) -> Option<usize> {
        let near = |index: &usize| {
            self.rack(&list[*index]).is_some_and(|rack| self.is_in(partition, rack))
        };
        (0..list.len()).map(|step| (from + step) % list.len()).find(near)
    }
}

/// What members hold, as far as their claims stand (`allSubscriptionsEqual`).
#[derive(Clone, Debug, Default)]
pub(super) struct Claims {
    pub(super) owned: BTreeMap<String, Vec<TopicPartition>>,
    /// Claimed by several members of one generation: taken from all of them.
    disputed: BTreeSet<TopicPartition>,
    /// The highest generation; -1 if nobody has one.
    pub(super) latest: i32,
}

impl Claims {
    fn of(members: &Members, topics: &Racks, order: &[&String]) -> Claims {
        let mut claims = Claims { latest: -1, ..Claims::default() };
        let mut owners: BTreeMap<&TopicPartition, (&String, i32)> = BTreeMap::new();
        for id in order.iter().copied() {
            let member = &members[id];
            let generation = member.generation.unwrap_or(-1);
            claims.latest = claims.latest.max(generation);
            claims.owned.insert(id.clone(), Vec::new());
            for partition in member.owned.iter().filter(|one| topics.contains_key(&one.topic)) {
                let known = owners.get(partition).copied();
                if let Some((other, theirs)) = known {
                    if generation < theirs {
                        continue;
                    }
                    if let Some(own) = claims.owned.get_mut(other) {
                        own.retain(|one| one != partition);
                    }
                    owners.insert(partition, (id, generation));
                    if generation == theirs {
                        claims.disputed.insert(partition.clone());
                        continue;
                    }
                }
                owners.insert(partition, (id, generation));
                claims.owned.entry(id.clone()).or_default().push(partition.clone());
            }
        }
        claims
    }
}

/// All members subscribe to the same topics (`ConstrainedAssignmentBuilder`).
struct Filling<'a> {
    nearness: &'a Nearness,
    claims: Claims,
    all: Vec<TopicPartition>,
    least: usize,
    most: usize,
    /// How many members get one more than the least.
    extras: usize,
    extras_taken: usize,
    given: Assignments,
    /// What members held and cannot keep, unless it falls to them again.
    revoked: BTreeMap<TopicPartition, String>,
    /// Members below the least.
    hungry: Vec<String>,
    /// Members at the least that may get one more.
    content: VecDeque<String>,
    moving: BTreeMap<TopicPartition, String>,
}

impl<'a> Filling<'a> {
    fn new(topics: &Racks, nearness: &'a Nearness, claims: Claims) -> Filling<'a> {
        let all: Vec<TopicPartition> = topics
            .iter()
            .flat_map(|(topic, racks)| {
                (0..).zip(racks).map(|(number, _)| TopicPartition::new(topic.clone(), number))
            })
            .collect();
        let members = claims.owned.len();
        Filling {
            least: all.len() / members,
            most: all.len().div_ceil(members),
            extras: all.len() % members,
            extras_taken: 0,
            given: claims.owned.keys().map(|id| (id.clone(), Vec::new())).collect(),
            revoked: BTreeMap::new(),
            hungry: Vec::new(),
            content: VecDeque::new(),
            moving: BTreeMap::new(),
            nearness,
            claims,
            all,
        }
    }

    fn fill(mut self, order: &[&String]) -> Outcome {
        self.keep_owned(order);
        let assigned: BTreeSet<&TopicPartition> = self.given.values().flatten().collect();
        let mut left: Vec<TopicPartition> =
            self.all.iter().filter(|one| !assigned.contains(one)).cloned().collect();
        self.hungry.sort();
        self.content.make_contiguous().sort();
        self.nearness.sort(&mut left);
        if self.nearness.matters() {
            left = self.deal_near(left);
        }
        self.deal(left);
        Outcome { given: self.given, moving: Some(self.moving) }
    }

    /// Everybody keeps what it has, up to its quota (`assignOwnedPartitions`).
    fn keep_owned(&mut self, order: &[&String]) {
        for id in order.iter().map(|id| (*id).clone()) {
            let owned = self.claims.owned.remove(&id).unwrap_or_default();
            let (far, mut owned): (Vec<_>, Vec<_>) =
                owned.into_iter().partition(|one| self.nearness.is_far(&id, one));
            owned.sort_by(|a, b| (a.partition, &a.topic).cmp(&(b.partition, &b.topic)));
            owned.retain(|one| !self.claims.disputed.contains(one));
            let room = self.extras_taken < self.extras;
            let keeps = if owned.len() < self.least {
                self.hungry.push(id.clone());
                owned.len()
            } else if owned.len() >= self.most && room {
                self.extras_taken += 1;
                if self.extras_taken == self.extras {
                    self.content.clear();
                }
                self.most
            } else {
                if room {
                    self.content.push_back(id.clone());
                }
                self.least
            };
            let lost = far.into_iter().chain(owned.drain(keeps..));
            self.revoked.extend(lost.map(|one| (one, id.clone())));
            self.given.insert(id, owned);
        }
    }

    /// Deals to members that are near, in turn; gives back what nobody near can take
    /// (`assignRackAwareRoundRobin`).
    fn deal_near(&mut self, left: Vec<TopicPartition>) -> Vec<TopicPartition> {
        let mut next = 0;
        let mut rest = Vec::new();
        for partition in left {
            let hungry = self.nearness.next_near(&partition, &self.hungry, next);
            if let Some(mut index) = hungry {
                let id = self.hungry[index].clone();
                let count = self.given[&id].len() + 1;
                if count >= self.least {
                    self.hungry.remove(index);
                    if count < self.most && self.extras_taken < self.extras {
                        self.content.push_back(id.clone());
                    }
                } else {
                    index += 1;
                }
                next = if self.hungry.is_empty() { 0 } else { index % self.hungry.len() };
                self.give(partition, &id);
                continue;
            }
            let list = self.content.make_contiguous();
            if let Some(index) = self.nearness.next_near(&partition, list, 0) {
                let id = list[index].clone();
                if self.given[&id].len() + 1 == self.most {
                    self.content.remove(index);
                    self.extras_taken += 1;
                    if self.extras_taken == self.extras {
                        self.content.clear();
                    }
                }
                self.give(partition, &id);
            } else {
                rest.push(partition);
            }
        }
        rest
    }

    /// Deals the rest in turn (`assignRoundRobin`).
    fn deal(&mut self, left: Vec<TopicPartition>) {
        let mut next = 0;
        for partition in left {
            if next >= self.hungry.len() {
                next = 0;
            }
            let id = match self.hungry.get(next) {
                Some(id) => id.clone(),
                None => match self.content.pop_front() {
                    Some(id) => id,
                    None => return,
                },
            };
            let was_hungry = !self.hungry.is_empty();
            let count = self.give(partition, &id);
            if was_hungry {
                if count == self.least {
                    self.hungry.remove(next);
                    self.content.push_back(id);
                } else {
                    next += 1;
                }
            }
        }
    }

    fn give(&mut self, partition: TopicPartition, id: &str) -> usize {
        let held = self.revoked.get(&partition).is_some_and(|owner| owner != id);
        if held || self.claims.disputed.contains(&partition) {
            self.moving.insert(partition.clone(), id.to_owned());
        }
        let own = self.given.entry(id.to_owned()).or_default();
        own.push(partition);
        own.len()
    }
}
