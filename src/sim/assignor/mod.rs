//! Who reads what: assignors as functions of members and topics, without a clock and without a
//! network.
//!
//! Where Kafka goes by hash order, members and topics go by name.

pub mod client;
pub mod cooperative;
pub mod range;
pub mod round_robin;
pub mod server_range;
pub mod simple;
pub mod sticky;
mod sticky_mixed;
pub mod uniform;
mod uniform_mixed;

use std::collections::{BTreeMap, BTreeSet};

use super::ids::TopicPartition;

/// A member as a coordinator's assignor sees it (`MemberSubscriptionAndAssignmentImpl`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subscriber {
    /// `group.instance.id` of a static member.
    pub instance: Option<String>,
    /// The topics that it subscribes to; those that do not exist are left out by the caller.
    pub topics: BTreeSet<String>,
    /// What the last target assignment gave it.
    pub owned: BTreeSet<TopicPartition>,
}

/// Members by their ids.
pub type Subscribers = BTreeMap<String, Subscriber>;
/// How many partitions each topic has.
pub type Topics = BTreeMap<String, u32>;
/// What each member is given.
pub type Target = BTreeMap<String, BTreeSet<TopicPartition>>;

/// The coordinator's assignors (`group.consumer.assignors`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerAssignor {
    /// `uniform`, the default.
    Uniform,
    /// `range`.
    Range,
}

impl ServerAssignor {
    /// The assignor of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<ServerAssignor> {
        match name.rsplit('.').next().unwrap_or(name) {
            "uniform" | "UniformAssignor" => Some(ServerAssignor::Uniform),
            "range" | "RangeAssignor" => Some(ServerAssignor::Range),
            _ => None,
        }
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            ServerAssignor::Uniform => "uniform",
            ServerAssignor::Range => "range",
        }
    }

    /// The target assignment.
    #[must_use]
    pub fn assign(self, members: &Subscribers, topics: &Topics) -> Target {
        match self {
            ServerAssignor::Uniform => uniform::assign(members, topics),
            ServerAssignor::Range => server_range::assign(members, topics),
        }
    }
}

/// Whether all members subscribe to the same topics (`SubscriptionType.HOMOGENEOUS`).
fn is_homogeneous(members: &Subscribers) -> bool {
    let mut subscriptions = members.values().map(|member| &member.topics);
    let first = subscriptions.next();
    subscriptions.all(|topics| Some(topics) == first)
}

/// The partitions of one topic, in order.
fn partitions_of<'t>(topic: &'t str, topics: &Topics) -> impl Iterator<Item = TopicPartition> + 't {
    let count = topics.get(topic).copied().unwrap_or(0);
    (0..count).map(move |number| TopicPartition::new(topic, number))
}
