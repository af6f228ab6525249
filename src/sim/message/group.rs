//! What members of a group and its coordinator say to each other.

use crate::sim::assignor::client::{Assignments, Members, Strategy, Subscription};
use crate::sim::error::KafkaError;
use std::collections::BTreeSet;

use crate::sim::group::modern::Beat;
use crate::sim::ids::TopicPartition;

/// Who speaks for a group, as requests name him.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Speaker {
    /// Its member id.
    pub member: String,
    /// `group.instance.id` of a static member.
    pub instance: Option<String>,
    /// The generation or member epoch that it knows.
    pub epoch: i32,
}

/// A consumer asks to be a member of a classic group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JoinRequest {
    /// `group.id`.
    pub group: String,
    /// Its member id; none at its first attempt (KIP-394).
    pub member: Option<String>,
    /// `group.instance.id` of a static member (KIP-345).
    pub instance: Option<String>,
    /// `session.timeout.ms`.
    pub session_timeout_ms: u64,
    /// How long others may have to wait for it (`max.poll.interval.ms`).
    pub rebalance_timeout_ms: u64,
    /// The assignors that it supports, the preferred one first, with what it says to each.
    pub protocols: Vec<(Strategy, Subscription)>,
}

/// The answer to a `JoinGroup`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JoinAnswer {
    /// The member id; empty where there is none to tell.
    pub member: String,
    /// The generation, or why there is none.
    pub result: Result<Joined, KafkaError>,
}

/// A generation as a member learns of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Joined {
    /// Its number.
    pub generation: i32,
    /// The assignor that all members support.
    pub strategy: Strategy,
    /// The member that assigns.
    pub leader: String,
    /// Every member with its subscription, for the leader; empty for the others, and for a leader
    /// that has nothing to assign (KIP-814).
    pub members: Members,
}

/// A member of a classic group asks for its assignment; the leader brings everybody's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyncRequest {
    /// `group.id`.
    pub group: String,
    /// Who.
    pub speaker: Speaker,
    /// What each member is given; empty unless the leader asks.
    pub assignments: Assignments,
}

/// The answer to a `SyncGroup`.
pub type SyncAnswer = Result<Vec<TopicPartition>, KafkaError>;
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
