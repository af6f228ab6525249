//! The share groups' assignor: a partition may have several members, and each member gets about as
//! many as any other.
//!
//! Follows `SimpleAssignor` with `SimpleHomogeneousAssignmentBuilder` and
//! `SimpleHeterogeneousAssignmentBuilder` (KIP-932, as since Kafka 4.1).

use std::collections::{BTreeMap, BTreeSet};

use super::{Subscribers, Target, Topics, is_homogeneous, partitions_of};
use crate::sim::ids::TopicPartition;

/// Balance first, then as little movement as possible. Where members subscribe to different topics
/// each topic is dealt out for itself.
#[must_use]
pub fn assign(members: &Subscribers, topics: &Topics) -> Target {
    let mut target: Target = members.keys().map(|id| (id.clone(), BTreeSet::new())).collect();
    let names: BTreeSet<&String> = members.values().flat_map(|member| &member.topics).collect();
    let all: Vec<TopicPartition> =
        names.iter().flat_map(|topic| partitions_of(topic, topics)).collect();
    let pools: Vec<Vec<TopicPartition>> = if is_homogeneous(members) {
        vec![all]
    } else {
        names.iter().map(|topic| partitions_of(topic, topics).collect()).collect()
    };
    for pool in pools {
        let Some(first) = pool.first() else { continue };
        let takers: Vec<&String> = members
            .iter()
            .filter(|(_, member)| member.topics.contains(&first.topic))
            .map(|(id, _)| id)
            .collect();
        for (id, own) in Dealer::new(&takers, pool, members).deal() {
            target.entry(id).or_default().extend(own);
        }
    }
    target
}

/// Deals some partitions out to some members.
struct Dealer<'m> {
    takers: Vec<&'m String>,
    /// How many members each partition should have.
    sharing: usize,
    /// How many partitions each member should have.
    desired: Vec<usize>,
    by_partition: BTreeMap<TopicPartition, BTreeSet<usize>>,
    by_member: Vec<BTreeSet<TopicPartition>>,
}

impl<'m> Dealer<'m> {
    /// Starts from what the members had of these partitions.
    fn new(takers: &[&'m String], pool: Vec<TopicPartition>, members: &Subscribers) -> Dealer<'m> {
        let sharing = takers.len().div_ceil(pool.len());
        let slots = sharing * pool.len();
        // The slots are spread evenly: up to and including member i there are i-th parts of them.
        let up_to = |index: usize| (slots * index).div_ceil(takers.len());
        let desired = (0..takers.len()).map(|index| up_to(index + 1) - up_to(index)).collect();
        let mut by_partition: BTreeMap<TopicPartition, BTreeSet<usize>> =
            pool.into_iter().map(|partition| (partition, BTreeSet::new())).collect();
        let mut by_member = vec![BTreeSet::new(); takers.len()];
        for (index, id) in takers.iter().enumerate() {
            for partition in members.get(*id).map(|member| &member.owned).into_iter().flatten() {
                if let Some(holders) = by_partition.get_mut(partition) {
                    holders.insert(index);
                    by_member[index].insert(partition.clone());
                }
            }
        }
        Dealer { takers: takers.to_vec(), sharing, desired, by_partition, by_member }
    }

    fn deal(mut self) -> impl Iterator<Item = (String, BTreeSet<TopicPartition>)> {
        self.take_from_overfilled();
        self.take_from_overshared();
        self.fill();
        self.takers.into_iter().cloned().zip(self.by_member)
    }

    /// A member with too many partitions loses the first of them.
    fn take_from_overfilled(&mut self) {
        for (index, own) in self.by_member.iter_mut().enumerate() {
            while own.len() > self.desired[index] {
                let Some(partition) = own.pop_first() else { break };
                if let Some(holders) = self.by_partition.get_mut(&partition) {
                    holders.remove(&index);
                }
            }
        }
    }

    /// A partition with too many members loses the first of them.
    fn take_from_overshared(&mut self) {
        for (partition, holders) in &mut self.by_partition {
            while holders.len() > self.sharing {
                let Some(index) = holders.pop_first() else { break };
                self.by_member[index].remove(partition);
            }
        }
    }

    /// Partitions with too few members get those that have too few partitions, in turn. When a
    /// round of members gives nothing to anybody, it is the last, and some partitions stay with
    /// fewer members than they should have.
    fn fill(&mut self) {
        let mut unfilled: BTreeSet<usize> = (0..self.takers.len())
            .filter(|index| self.by_member[*index].len() < self.desired[*index])
            .collect();
        // The next in turn is the first at or behind it.
        let (mut turn, mut gave) = (0, false);
        for (partition, holders) in &mut self.by_partition {
            while holders.len() < self.sharing {
                let Some(next) = unfilled.range(turn..).next().copied() else {
                    if !gave {
                        return;
                    }
                    (turn, gave) = (0, false);
                    continue;
                };
                turn = next + 1;
                if holders.insert(next) {
                    gave = true;
                    self.by_member[next].insert(partition.clone());
                    if self.by_member[next].len() >= self.desired[next] {
                        unfilled.remove(&next);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::assignor::Subscriber;

    fn members(of: &[(&str, &[&str], &[&str])]) -> Subscribers {
        of.iter()
            .map(|(id, topics, owned)| {
                let member = Subscriber {
                    topics: topics.iter().map(|topic| (*topic).to_owned()).collect(),
                    owned: owned.iter().filter_map(|p| TopicPartition::parse(p)).collect(),
                    ..Subscriber::default()
                };
                ((*id).to_owned(), member)
            })
            .collect()
    }

    fn shown(target: &Target) -> Vec<String> {
        let names = |own: &BTreeSet<TopicPartition>| {
            own.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
        };
        target.iter().map(|(id, own)| format!("{id}: {}", names(own))).collect()
    }

    fn topics(of: &[(&str, u32)]) -> Topics {
        of.iter().map(|(topic, count)| ((*topic).to_owned(), *count)).collect()
    }

    #[test]
    fn members_share_partitions_where_there_are_fewer_of_them() {
        let two = members(&[("a", &["t"], &["t-0"]), ("b", &["t"], &[])]);
        assert_eq!(shown(&assign(&two, &topics(&[("t", 1)]))), ["a: t-0", "b: t-0"]);
    }

    #[test]
    fn a_newcomer_takes_its_part_and_nobody_else_moves() {
        let two = members(&[("a", &["t"], &["t-0", "t-1", "t-2", "t-3"]), ("b", &["t"], &[])]);
        assert_eq!(shown(&assign(&two, &topics(&[("t", 4)]))), ["a: t-2 t-3", "b: t-0 t-1"]);
    }

    #[test]
    fn each_topic_is_dealt_out_for_itself_where_subscriptions_differ() {
        let three = members(&[("a", &["t"], &[]), ("b", &["u"], &[]), ("c", &["t", "u"], &[])]);
        let target = assign(&three, &topics(&[("t", 2), ("u", 2)]));
        assert_eq!(shown(&target), ["a: t-0", "b: u-0", "c: t-1 u-1"]);
    }
}
