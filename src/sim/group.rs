//! Consumer groups as their coordinator keeps them.
//!
//! Follows `ClassicGroup` of Kafka's group-coordinator module.

use std::collections::BTreeMap;

use super::error::KafkaError;
use super::ids::TopicPartition;

/// The topic that holds groups and their offsets.
pub const OFFSETS_TOPIC: &str = "__consumer_offsets";

/// A classic group's state, by Kafka's name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "Kafka's own names (ClassicGroupState)")]
pub enum GroupPhase {
    #[default]
    Empty,
    PreparingRebalance,
    CompletingRebalance,
    Stable,
    Dead,
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
            GroupPhase::Dead => "Dead",
        }
    }
}

/// A classic group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupState {
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

/// The groups of one partition of `__consumer_offsets`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Groups {
    groups: BTreeMap<String, GroupState>,
}

impl Groups {
    /// Takes over a group from the log.
    pub fn load(&mut self, state: &GroupState) {
        self.groups.insert(state.name.clone(), state.clone());
    }

    /// A group, made empty if it is new.
    pub fn get_or_new(&mut self, group: &str) -> &mut GroupState {
        self.groups
            .entry(group.to_owned())
            .or_insert_with(|| GroupState { name: group.to_owned(), ..GroupState::default() })
    }

    /// A group by its name.
    #[must_use]
    pub fn get(&self, group: &str) -> Option<&GroupState> {
        self.groups.get(group)
    }

    /// Checks who speaks for a group (`ClassicGroup.validateOffsetCommit`). Without a member it is
    /// an administrator or a consumer that assigns itself, which only a group without members
    /// takes.
    ///
    /// # Errors
    /// `UNKNOWN_MEMBER_ID`, `ILLEGAL_GENERATION`.
    pub fn check(
        &self,
        group: &str,
        member: Option<&str>,
        generation: i32,
    ) -> Result<(), KafkaError> {
        let state = self.groups.get(group);
        match (state, member) {
            (None, None) => Ok(()),
            (Some(state), None) if state.members.is_empty() => Ok(()),
            (Some(state), Some(member)) if state.members.contains_key(member) => {
                if state.generation != generation {
                    Err(KafkaError::IllegalGeneration)
                } else if state.phase == GroupPhase::CompletingRebalance {
                    Err(KafkaError::RebalanceInProgress)
                } else {
                    Ok(())
                }
            }
            _ => Err(KafkaError::UnknownMemberId),
        }
    }
}

/// The partition of `__consumer_offsets` that holds a group: Java's `String.hashCode` of its name,
/// made positive, modulo the number of partitions (`GroupCoordinatorService.partitionFor`,
/// `Utils.abs`).
#[must_use]
pub fn home_of(group: &str, partition_count: u32) -> TopicPartition {
    let hash = java_string_hash(group);
    let positive = if hash == i32::MIN { 0 } else { hash.unsigned_abs() };
    TopicPartition::new(OFFSETS_TOPIC, positive % partition_count.max(1))
}

/// `java.lang.String.hashCode`: over UTF-16 units.
fn java_string_hash(text: &str) -> i32 {
    text.encode_utf16()
        .fold(0_i32, |hash, unit| hash.wrapping_mul(31).wrapping_add(i32::from(unit)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_groups_home_follows_javas_hash() {
        assert_eq!(java_string_hash("abc"), 96_354);
        assert_eq!(java_string_hash("polygenelubricants"), i32::MIN);
        assert_eq!(home_of("polygenelubricants", 50).partition, 0);
        assert_eq!(home_of("abc", 50).partition, 4);
    }
}
