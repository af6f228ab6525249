//! What members of a group and its coordinator say to each other.

use std::collections::{BTreeMap, BTreeSet};

use crate::sim::group::modern::Beat;
use crate::sim::ids::TopicPartition;

/// What each member of a group is given.
pub type Assignments = BTreeMap<String, Vec<TopicPartition>>;

/// A consumer asks to be a member of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JoinRequest {
    /// `group.id`.
    pub group: String,
    /// Its member id; none at its first attempt, which only fetches one (KIP-394).
    pub member: Option<String>,
    /// Topics that it subscribes to.
    pub topics: Vec<String>,
    /// How long others may have to wait for it (`max.poll.interval.ms`).
    pub rebalance_timeout_ms: u64,
}

/// A member of the next generation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Joined {
    /// The generation.
    pub generation: i32,
    /// Every member with its topics, for the leader, who assigns; empty for the others.
    pub members: BTreeMap<String, Vec<String>>,
}

/// A member's heartbeat to a coordinator that assigns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupBeat {
    /// `group.id`.
    pub group: String,
    /// What the member says.
    pub beat: Beat,
}

/// The answer to such a heartbeat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BeatAnswer {
    /// The member's epoch from now on.
    pub epoch: i32,
    /// The partitions that it may have; none if that has not changed.
    pub assignment: Option<BTreeSet<TopicPartition>>,
    /// The time to the next heartbeat, in milliseconds.
    pub interval_ms: u64,
}
