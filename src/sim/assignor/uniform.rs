//! The coordinator's uniform assignor: everybody gets the same number of partitions, and keeps what
//! it has as far as that allows.
//!
//! Follows `UniformAssignor` and `UniformHomogeneousAssignmentBuilder` (with KAFKA-18688). It
//! knows no racks.

use std::collections::BTreeSet;

use super::{Subscribers, Target, Topics, is_homogeneous, partitions_of, uniform_mixed};
use crate::sim::ids::TopicPartition;

/// Balance first, then as little movement as possible.
#[must_use]
pub fn assign(members: &Subscribers, topics: &Topics) -> Target {
    if is_homogeneous(members) {
        assign_same(members, topics)
    } else {
        uniform_mixed::assign(members, topics)
    }
}

/// A member with room for some more partitions.
struct Unfilled<'m> {
    id: &'m str,
    room: usize,
}

/// All members subscribe to the same topics.
fn assign_same(members: &Subscribers, topics: &Topics) -> Target {
    let Some(first) = members.values().next() else { return Target::new() };
    let subscribed: Vec<TopicPartition> =
        first.topics.iter().flat_map(|topic| partitions_of(topic, topics)).collect();
    let exists: BTreeSet<&TopicPartition> = subscribed.iter().collect();
    let claimed: BTreeSet<&TopicPartition> =
        members.values().flat_map(|member| &member.owned).collect();
    let mut unassigned: Vec<TopicPartition> =
        subscribed.iter().filter(|partition| !claimed.contains(partition)).cloned().collect();
    let quota = subscribed.len() / members.len();
    let mut extras = subscribed.len() % members.len();
    let mut target = Target::new();
    let mut unfilled: Vec<Unfilled<'_>> = Vec::new();
    for (index, (id, member)) in members.iter().enumerate() {
        let may_take_extra = extras > 0;
        let limit = quota + usize::from(may_take_extra);
        let mut kept: Vec<&TopicPartition> =
            member.owned.iter().filter(|partition| exists.contains(partition)).collect();
        let excess = kept.split_off(limit.min(kept.len()));
        unassigned.extend(excess.into_iter().cloned());
        // A member that would have to be given its extra partition leaves that to later ones, as
        // long as there are enough of them.
        let later = members.len() - index - 1;
        let takes_extra = may_take_extra && (kept.len() == limit || extras > later);
        extras -= usize::from(takes_extra);
        let room = quota + usize::from(takes_extra) - kept.len();
        target.insert(id.clone(), kept.into_iter().cloned().collect());
        if room > 0 {
            unfilled.push(Unfilled { id, room });
        }
    }
    let mut rest = unassigned.into_iter();
    for Unfilled { id, room } in unfilled {
        target.entry(id.to_owned()).or_default().extend(rest.by_ref().take(room));
    }
    target
}
