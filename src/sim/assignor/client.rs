//! The assignors of clients: what a classic group's leader lets decide
//! (`partition.assignment.strategy`).
//!
//! Where Kafka goes by hash order, members go by id.

use std::collections::{BTreeMap, BTreeSet};

use crate::sim::ids::TopicPartition;

use super::{cooperative, range, round_robin, sticky};

/// What a member says of itself when it joins (`ConsumerPartitionAssignor.Subscription`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subscription {
    /// The topics that it subscribes to.
    pub topics: BTreeSet<String>,
    /// `group.instance.id` of a static member.
    pub instance: Option<String>,
    /// `client.rack`.
    pub rack: Option<String>,
    /// What it holds, or remembers to have held.
    pub owned: Vec<TopicPartition>,
    /// The generation that gave it that; `None`: it was never given anything.
    pub generation: Option<i32>,
}

/// Members by their ids.
pub type Members = BTreeMap<String, Subscription>;
/// Every topic's partitions, each with the racks of its replicas.
pub type Racks = BTreeMap<String, Vec<BTreeSet<String>>>;
/// What each member is given.
pub type Assignments = BTreeMap<String, Vec<TopicPartition>>;

/// A client's assignor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Strategy {
    /// `RangeAssignor`.
    Range,
    /// `RoundRobinAssignor`.
    RoundRobin,
    /// `StickyAssignor`.
    Sticky,
    /// `CooperativeStickyAssignor`.
    CooperativeSticky,
}

impl Strategy {
    /// The assignor of this name, or of this class.
    #[must_use]
    pub fn named(name: &str) -> Option<Strategy> {
        match name.trim().rsplit('.').next().unwrap_or(name) {
            "range" | "RangeAssignor" => Some(Strategy::Range),
            "roundrobin" | "RoundRobinAssignor" => Some(Strategy::RoundRobin),
            "sticky" | "StickyAssignor" => Some(Strategy::Sticky),
            "cooperative-sticky" | "CooperativeStickyAssignor" => Some(Strategy::CooperativeSticky),
            _ => None,
        }
    }

    /// The name that the protocol carries.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Strategy::Range => "range",
            Strategy::RoundRobin => "roundrobin",
            Strategy::Sticky => "sticky",
            Strategy::CooperativeSticky => "cooperative-sticky",
        }
    }

    /// Who reads what.
    #[must_use]
    pub fn assign(self, members: &Members, topics: &Racks) -> Assignments {
        match self {
            Strategy::Range => range::assign(members, topics),
            Strategy::RoundRobin => round_robin::assign(members, topics),
            Strategy::Sticky => sticky::assign(members, topics).given,
            Strategy::CooperativeSticky => cooperative::assign(members, topics),
        }
    }
}

/// Members in the order in which ranges and rounds are dealt: static ones by their instance, then
/// the others by their ids (`AbstractPartitionAssignor.MemberInfo.compareTo`).
pub(super) fn in_order(members: &Members) -> Vec<&String> {
    let mut ids: Vec<&String> = members.keys().collect();
    ids.sort_by_key(|id| {
        let instance = members[*id].instance.as_deref();
        (instance.is_none(), instance.unwrap_or(id))
    });
    ids
}

/// Whether racks are to be looked at: consumers have some of the replicas' racks, and not every
/// partition is in all of these (`AbstractPartitionAssignor.useRackAwareAssignment`).
pub(super) fn is_rack_aware<'a>(
    consumer_racks: &BTreeSet<&str>,
    partitions: impl Iterator<Item = &'a BTreeSet<String>> + Clone,
) -> bool {
    let all: BTreeSet<&str> = partitions.clone().flatten().map(String::as_str).collect();
    !consumer_racks.is_disjoint(&all) && partitions.into_iter().any(|one| one.len() != all.len())
}
