//! The sticky assignor for members that subscribe to different topics: everybody keeps what is
//! valid, the rest goes to whoever has least, then partitions move as long as that helps.
//!
//! Follows `AbstractStickyAssignor.GeneralAssignmentBuilder`.

use std::collections::{BTreeMap, BTreeSet};

use crate::sim::ids::TopicPartition;

use super::client::{Assignments, Members, Racks};
use super::sticky::{Claims, Nearness};

/// Who reads what.
pub(super) fn assign(members: &Members, topics: &Racks, known: (&Nearness, Claims)) -> Assignments {
    let mut balancing = Balancing::new(members, topics, known);
    let left = balancing.keep_owned();
    balancing.balance(left);
    balancing.current
}

/// A movement between two members.
type Pair = (String, String);

/// Which partitions have moved, so that none of a topic moves back between two members
/// (`PartitionMovements`).
#[derive(Default)]
struct Movements {
    by_topic: BTreeMap<String, BTreeMap<Pair, BTreeSet<TopicPartition>>>,
    by_partition: BTreeMap<TopicPartition, Pair>,
}

impl Movements {
    fn note(&mut self, partition: &TopicPartition, from: &str, to: &str) {
        let mut source = from.to_owned();
        if let Some(pair) = self.by_partition.remove(partition) {
            let pairs = self.by_topic.entry(partition.topic.clone()).or_default();
            if let Some(moved) = pairs.get_mut(&pair) {
                moved.remove(partition);
                if moved.is_empty() {
                    pairs.remove(&pair);
                }
            }
            if pair.0 == to {
                return;
            }
            source = pair.0;
        }
        let pair = (source, to.to_owned());
        let pairs = self.by_topic.entry(partition.topic.clone()).or_default();
        pairs.entry(pair.clone()).or_default().insert(partition.clone());
        self.by_partition.insert(partition.clone(), pair);
    }

    /// If one of the topic's partitions came the other way before, that one goes back instead.
    fn instead(&self, partition: &TopicPartition, from: &str, to: &str) -> TopicPartition {
        let source = self.by_partition.get(partition).map_or(from, |pair| pair.0.as_str());
        let back = (to.to_owned(), source.to_owned());
        let came = self.by_topic.get(&partition.topic).and_then(|pairs| pairs.get(&back));
        came.and_then(|moved| moved.first()).unwrap_or(partition).clone()
    }
}

struct Balancing<'a> {
    members: &'a Members,
    topics: &'a Racks,
    nearness: &'a Nearness,
    /// The subscribers of each topic.
    takers: BTreeMap<&'a str, Vec<&'a String>>,
    /// All partitions: those of topics with few subscribers first.
    all: Vec<TopicPartition>,
    current: Assignments,
    holders: BTreeMap<TopicPartition, String>,
    /// Members by how much they hold.
    order: BTreeSet<(usize, String)>,
    /// Who held what in an earlier generation.
    previous: BTreeMap<TopicPartition, (String, i32)>,
    movements: Movements,
    must_revoke: bool,
}

impl<'a> Balancing<'a> {
    fn new(
        members: &'a Members,
        topics: &'a Racks,
        known: (&'a Nearness, Claims),
    ) -> Balancing<'a> {
        let (nearness, claims) = known;
        let takers: BTreeMap<&str, Vec<&String>> = topics
            .keys()
            .map(|topic| {
                let subscribers =
                    members.iter().filter(|(_, member)| member.topics.contains(topic));
                (topic.as_str(), subscribers.map(|(id, _)| id).collect())
            })
            .collect();
        let mut names: Vec<&String> = topics.keys().collect();
        names.sort_by_key(|topic| (takers[topic.as_str()].len(), (*topic).clone()));
        let all = names
            .into_iter()
            .flat_map(|topic| {
                (0..).zip(&topics[topic]).map(|(n, _)| TopicPartition::new(topic.clone(), n))
            })
            .collect();
        let mut previous: BTreeMap<TopicPartition, (String, i32)> = BTreeMap::new();
        for (id, member) in members {
            let generation = member.generation.unwrap_or(-1);
            if generation >= claims.latest {
                continue;
            }
            for partition in &member.owned {
                if previous.get(partition).is_none_or(|(_, known)| generation > *known) {
                    previous.insert(partition.clone(), (id.clone(), generation));
                }
            }
        }
        Balancing {
            members,
            topics,
            nearness,
            takers,
            all,
            holders: BTreeMap::new(),
            current: claims.owned,
            order: BTreeSet::new(),
            previous,
            movements: Movements::default(),
            must_revoke: false,
        }
    }

    /// Everybody keeps what is valid; says what nobody has.
    fn keep_owned(&mut self) -> Vec<TopicPartition> {
        for (id, own) in &mut self.current {
            let before = own.len();
            let topics = &self.members[id].topics;
            own.retain(|one| topics.contains(&one.topic) && !self.nearness.is_far(id, one));
            self.must_revoke |= own.len() < before;
            self.holders.extend(own.iter().map(|one| (one.clone(), id.clone())));
        }
        self.order = self.current.iter().map(|(id, own)| (own.len(), id.clone())).collect();
        self.all.iter().filter(|one| !self.holders.contains_key(one)).cloned().collect()
    }

    fn put(&mut self, partition: &TopicPartition, id: &str) {
        self.order.remove(&(self.current[id].len(), id.to_owned()));
        let own = self.current.entry(id.to_owned()).or_default();
        own.push(partition.clone());
        self.order.insert((own.len(), id.to_owned()));
        self.holders.insert(partition.clone(), id.to_owned());
    }

    /// Gives a partition to the subscriber that has least.
    fn give(&mut self, partition: &TopicPartition, only_near: bool) -> bool {
        let taker = self.order.iter().map(|(_, id)| id).find(|id| {
            self.members[*id].topics.contains(&partition.topic)
                && !(only_near && self.nearness.is_far(id, partition))
        });
        let Some(taker) = taker.cloned() else { return false };
        self.put(partition, &taker);
        true
    }

    fn most_possible(&self, id: &str) -> usize {
        let counts = self.members[id].topics.iter().filter_map(|topic| self.topics.get(topic));
        counts.map(Vec::len).sum()
    }

    fn is_shared(&self, topic: &str) -> bool {
        self.takers.get(topic).is_some_and(|takers| takers.len() >= 2)
    }

    fn may_change(&self, id: &str) -> bool {
        let own = &self.current[id];
        own.len() < self.most_possible(id) || own.iter().any(|one| self.is_shared(&one.topic))
    }

    fn balance(&mut self, left: Vec<TopicPartition>) {
        let initializing = self.order.last().is_none_or(|(count, _)| *count == 0);
        let mut rest = left.clone();
        if self.nearness.matters() {
            rest.retain(|partition| !self.give(partition, true));
        }
        for partition in &rest {
            self.give(partition, false);
        }
        let shared = |list: Vec<TopicPartition>, me: &Self| -> Vec<TopicPartition> {
            list.into_iter().filter(|one| me.is_shared(&one.topic)).collect()
        };
        let all = shared(self.all.clone(), self);
        let left = shared(left, self);
        let fixed: Vec<String> =
            self.current.keys().filter(|id| !self.may_change(id)).cloned().collect();
        let mut set_aside = Assignments::new();
        for id in fixed {
            let own = self.current.remove(&id).unwrap_or_default();
            self.order.remove(&(own.len(), id.clone()));
            set_aside.insert(id, own);
        }
        let before = (self.current.clone(), score(&self.current));
        if !self.must_revoke {
            self.move_some(&left);
        }
        let moved = self.move_some(&all);
        if !initializing && moved && score(&self.current) >= before.1 {
            self.current = before.0;
        }
        self.current.append(&mut set_aside);
    }

    /// Moves partitions as long as that makes the shares more even (`performReassignments`).
    fn move_some(&mut self, partitions: &[TopicPartition]) -> bool {
        let mut any = false;
        loop {
            let mut modified = false;
            for partition in partitions {
                if self.is_balanced() {
                    break;
                }
                let taker = self.better(partition);
                if let Some(taker) = taker {
                    self.shift(partition, &taker);
                    modified = true;
                }
            }
            any |= modified;
            if !modified {
                return any;
            }
        }
    }

    /// Who should have a partition instead of its holder.
    fn better(&self, partition: &TopicPartition) -> Option<String> {
        let holder = self.holders.get(partition)?;
        let much = self.current.get(holder)?.len();
        let has_less = |id: &str| self.current.get(id).is_some_and(|own| much > own.len() + 1);
        if let Some((id, _)) = self.previous.get(partition).filter(|(id, _)| has_less(id)) {
            return Some(id.clone());
        }
        let takers = self.takers.get(partition.topic.as_str())?;
        if !takers.iter().any(|id| has_less(id)) {
            return None;
        }
        let least = self.order.iter().map(|(_, id)| id);
        least.into_iter().find(|id| self.members[*id].topics.contains(&partition.topic)).cloned()
    }

    fn shift(&mut self, partition: &TopicPartition, to: &str) {
        let from = self.holders[partition].clone();
        let moved = self.movements.instead(partition, &from, to);
        let from = self.holders[&moved].clone();
        self.movements.note(&moved, &from, to);
        if let Some(own) = self.current.get_mut(&from) {
            self.order.remove(&(own.len(), from.clone()));
            own.retain(|one| *one != moved);
            self.order.insert((own.len(), from.clone()));
        }
        self.put(&moved, to);
    }

    fn is_balanced(&self) -> bool {
        let (Some((least, _)), Some((most, _))) = (self.order.first(), self.order.last()) else {
            return true;
        };
        if least + 1 >= *most {
            return true;
        }
        self.order.iter().all(|(count, id)| {
            *count == self.most_possible(id)
                || self.members[id]
                    .topics
                    .iter()
                    .filter(|topic| self.topics.contains_key(*topic))
                    .all(|topic| {
                        (0..).zip(&self.topics[topic]).all(|(number, _)| {
                            let partition = TopicPartition::new(topic.clone(), number);
                            let other = self.holders.get(&partition);
                            let theirs = other.and_then(|other| self.current.get(other));
                            other == Some(id) || theirs.is_none_or(|own| count + 1 >= own.len())
                        })
                    })
        })
    }
}

/// How uneven shares are: the differences of all pairs (`getBalanceScore`).
fn score(current: &Assignments) -> usize {
    let sizes: Vec<usize> = current.values().map(Vec::len).collect();
    let pairs = sizes
        .iter()
        .enumerate()
        .flat_map(|(index, one)| sizes[index + 1..].iter().map(move |other| one.abs_diff(*other)));
    pairs.sum()
}
