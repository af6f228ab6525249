//! A classic group as its coordinator keeps it.
//!
//! Follows `ClassicGroup` of Kafka's group-coordinator module.

use std::collections::BTreeMap;

use crate::sim::error::KafkaError;
use crate::sim::ids::TopicPartition;

/// A classic group's state, by Kafka's name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "Kafka's own names (ClassicGroupState)")]
pub enum GroupPhase {
    #[default]
    Empty,
    PreparingRebalance,
    CompletingRebalance,
    Stable,
}

impl GroupPhase {
    /// The name that Kafka's tools print.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            GroupPhase::Empty => "Empty",
            GroupPhase::PreparingRebalance => "PreparingRebalance",
            GroupPhase::CompletingRebalance => "CompletingRebalance",
            GroupPhase::Stable => "Stable",
        }
    }
}

/// A classic group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClassicGroup {
    /// `group.id`.
    pub name: String,
    /// Its phase.
    pub phase: GroupPhase,
    /// How many rebalances it has completed.
    pub generation: i32,
    /// The assignor that its members agreed on.
    pub assignor: Option<String>,
    /// Its members and what each was given.
    pub members: BTreeMap<String, Vec<TopicPartition>>,
}

impl ClassicGroup {
    /// Checks who commits offsets (`ClassicGroup.validateOffsetCommit`). Without a member it is an
    /// administrator or a consumer that assigns itself, which only a group without members takes.
    ///
    /// # Errors
    /// `UNKNOWN_MEMBER_ID`, `ILLEGAL_GENERATION`, `REBALANCE_IN_PROGRESS`.
    pub fn check_commit(&self, member: Option<&str>, generation: i32) -> Result<(), KafkaError> {
        match member {
            None if self.members.is_empty() => Ok(()),
            Some(member) if self.members.contains_key(member) => {
                if self.generation != generation {
                    Err(KafkaError::IllegalGeneration)
                } else if self.phase == GroupPhase::CompletingRebalance {
                    Err(KafkaError::RebalanceInProgress)
                } else {
                    Ok(())
                }
            }
            _ => Err(KafkaError::UnknownMemberId),
        }
    }
}
