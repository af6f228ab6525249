//! The coordinator's range assignor: each topic is cut into as many ranges as it has subscribers.
//!
//! Follows `org.apache.kafka.coordinator.group.assignor.RangeAssignor` since Kafka 4.0. It knows
//! neither racks nor what members had before.

use super::{Subscriber, Subscribers, Target, Topics, partitions_of};

/// Static members come first, by their instance; then the others, by their ids. Of each topic the
/// first members get one partition more than the rest.
#[must_use]
pub fn assign(members: &Subscribers, topics: &Topics) -> Target {
    let mut target: Target =
        members.keys().map(|id| (id.clone(), std::collections::BTreeSet::new())).collect();
    let mut order: Vec<(&String, &Subscriber)> = members.iter().collect();
    order.sort_by_key(|(id, member)| (member.instance.is_none(), member.instance.clone(), *id));
    for (topic, count) in topics {
        let takers: Vec<&String> = order
            .iter()
            .filter(|(_, member)| member.topics.contains(topic))
            .map(|(id, _)| *id)
            .collect();
        let Ok(taker_count) = u32::try_from(takers.len()) else { continue };
        if taker_count == 0 {
            continue;
        }
        let mut partitions = partitions_of(topic, topics);
        for (index, id) in (0..taker_count).zip(takers) {
            let share = count / taker_count + u32::from(index < count % taker_count);
            let own = target.entry(id.clone()).or_default();
            own.extend(partitions.by_ref().take(share as usize));
        }
    }
    target
}
