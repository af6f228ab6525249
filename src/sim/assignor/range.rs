//! The range assignor: every topic is cut into runs of neighbours; with racks, as far as that
//! keeps topics of equal size together.
//!
//! Follows `RangeAssignor`.

use std::collections::{BTreeMap, BTreeSet};

use crate::sim::ids::TopicPartition;

use super::client::{Assignments, Members, Racks, in_order, is_rack_aware};

/// One topic while it is dealt out (`RangeAssignor.TopicAssignmentState`).
struct Topic<'a> {
    name: &'a str,
    racks: &'a [BTreeSet<String>],
    /// Its subscribers in order.
    consumers: Vec<&'a String>,
    left: BTreeSet<u32>,
    counts: BTreeMap<&'a str, usize>,
    share: usize,
    extras: usize,
    rack_aware: bool,
}

impl<'a> Topic<'a> {
    fn new(
        name: &'a str,
        racks: &'a [BTreeSet<String>],
        order: &[&'a String],
        members: &Members,
    ) -> Topic<'a> {
        let consumers: Vec<&String> =
            order.iter().copied().filter(|id| members[*id].topics.contains(name)).collect();
        let consumer_racks: BTreeSet<&str> =
            consumers.iter().filter_map(|id| members[*id].rack.as_deref()).collect();
        Topic {
            name,
            racks,
            left: (0..u32::try_from(racks.len()).unwrap_or(u32::MAX)).collect(),
            counts: BTreeMap::new(),
            share: racks.len().checked_div(consumers.len()).unwrap_or(0),
            extras: racks.len().checked_rem(consumers.len()).unwrap_or(0),
            rack_aware: is_rack_aware(&consumer_racks, racks.iter()),
            consumers,
        }
    }

    /// How many more this consumer may get.
    fn room(&self, consumer: &str) -> usize {
        let most = self.share + usize::from(self.extras > 0);
        most.saturating_sub(self.counts.get(consumer).copied().unwrap_or(0))
    }

    fn give(&mut self, consumer: &'a str, numbers: &[u32], given: &mut Assignments) {
        let count = self.counts.entry(consumer).or_insert(0);
        *count += numbers.len();
        if *count > self.share {
            self.extras -= 1;
        }
        let own = given.entry(consumer.to_owned()).or_default();
        for number in numbers {
            self.left.remove(number);
            own.push(TopicPartition::new(self.name, *number));
        }
    }

    /// Gives every consumer its run of what is left and may go to it (`assignRanges`).
    fn give_ranges(
        &mut self,
        may: impl Fn(&str, u32, &Topic<'_>) -> bool,
        given: &mut Assignments,
    ) {
        for consumer in self.consumers.clone() {
            let room = self.room(consumer);
            let numbers: Vec<u32> = self
                .left
                .iter()
                .copied()
                .filter(|number| may(consumer, *number, self))
                .take(room)
                .collect();
            if !numbers.is_empty() {
                self.give(consumer, &numbers, given);
            }
        }
    }

    fn is_near(&self, consumer: &str, number: u32, members: &Members) -> bool {
        let here = usize::try_from(number).ok().and_then(|number| self.racks.get(number));
        members[consumer].rack.as_ref().is_none_or(|rack| here.is_some_and(|r| r.contains(rack)))
    }
}

/// Who reads what.
#[must_use]
pub fn assign(members: &Members, topics: &Racks) -> Assignments {
    let order = in_order(members);
    let mut given: Assignments = members.keys().map(|id| (id.clone(), Vec::new())).collect();
    let mut states: Vec<Topic<'_>> = topics
        .iter()
        .filter(|(_, racks)| !racks.is_empty())
        .map(|(name, racks)| Topic::new(name, racks, &order, members))
        .collect();
    let rack_aware = states.iter().any(|topic| topic.rack_aware);
    if rack_aware {
        give_by_rack(&mut states, members, &mut given);
    }
    for topic in &mut states {
        topic.give_ranges(|_, _, _| true, &mut given);
    }
    if rack_aware {
        for own in given.values_mut() {
            own.sort();
        }
    }
    given
}

/// Topics with the same consumers and the same number of partitions stay together; one on its own
/// is dealt out by racks alone (`assignWithRackMatching`).
fn give_by_rack(states: &mut [Topic<'_>], members: &Members, given: &mut Assignments) {
    let mut kin: BTreeMap<(Vec<String>, usize), Vec<usize>> = BTreeMap::new();
    for (index, topic) in states.iter().enumerate() {
        let consumers = topic.consumers.iter().map(|id| (*id).clone()).collect();
        kin.entry((consumers, topic.racks.len())).or_default().push(index);
    }
    for ((_, partitions), indices) in kin {
        if let [one] = indices[..] {
            if states[one].rack_aware {
                let near = |consumer: &str, number, topic: &Topic<'_>| {
                    topic.is_near(consumer, number, members)
                };
                states[one].give_ranges(near, given);
            }
        } else {
            give_together(states, (&indices, partitions), members, given);
        }
    }
}

/// Partitions of the same number go to one consumer that is near all of them
/// (`assignCoPartitionedWithRackMatching`).
fn give_together(
    states: &mut [Topic<'_>],
    kin: (&[usize], usize),
    members: &Members,
    given: &mut Assignments,
) {
    let (indices, partitions) = kin;
    let mut remaining = states[indices[0]].consumers.clone();
    for number in 0..u32::try_from(partitions).unwrap_or(u32::MAX) {
        let fits = |consumer: &&&String| {
            indices.iter().all(|index| {
                let topic = &states[*index];
                topic.is_near(consumer, number, members) && topic.room(consumer) > 0
            })
        };
        let Some(consumer) = remaining.iter().find(fits).copied() else { continue };
        for index in indices {
            states[*index].give(consumer, &[number], given);
        }
        if indices.iter().all(|index| states[*index].room(consumer) == 0) {
            remaining.retain(|one| *one != consumer);
        }
    }
}
