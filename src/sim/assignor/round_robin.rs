//! The round-robin assignor: all partitions of all topics are dealt like cards.
//!
//! Follows `RoundRobinAssignor`.

use std::collections::BTreeSet;

use crate::sim::ids::TopicPartition;

use super::client::{Assignments, Members, Racks, in_order};

/// Who reads what.
#[must_use]
pub fn assign(members: &Members, topics: &Racks) -> Assignments {
    let order = in_order(members);
    let mut given: Assignments = members.keys().map(|id| (id.clone(), Vec::new())).collect();
    let subscribed: BTreeSet<&String> =
        members.values().flat_map(|member| &member.topics).collect();
    let mut next = order.iter().cycle();
    for topic in subscribed {
        let count = topics.get(topic).map_or(0, Vec::len);
        for number in 0..u32::try_from(count).unwrap_or(u32::MAX) {
            // Somebody subscribes to it, so the round comes to an end.
            let taker = next.by_ref().find(|id| members[**id].topics.contains(topic));
            let own = taker.and_then(|id| given.get_mut(*id));
            if let Some(own) = own {
                own.push(TopicPartition::new(topic.clone(), number));
            }
        }
    }
    given
}
