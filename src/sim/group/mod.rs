//! Groups as their coordinator keeps them: one file per protocol, and what they have in common.

mod classic;

use std::collections::{BTreeMap, BTreeSet};

use super::assignor::client::Strategy;
use super::error::KafkaError;
use super::ids::TopicPartition;
use super::message::Speaker;

pub use classic::{Change, ClassicGroup, Effect, GroupPhase, GroupTimer, Member};

/// The topic that holds groups and their offsets.
pub const OFFSETS_TOPIC: &str = "__consumer_offsets";

/// A group, by the protocol of its members (`Group.GroupType`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Group {
    /// The leader of its members assigns.
    Classic(ClassicGroup),
}

impl Group {
    /// `group.id`.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Group::Classic(group) => &group.name,
        }
    }

    /// The state that Kafka's tools print.
    #[must_use]
    pub fn state_name(&self) -> &'static str {
        match self {
            Group::Classic(group) => group.phase.name(),
        }
    }

    /// The generation (classic) or the group epoch.
    #[must_use]
    pub fn epoch(&self) -> i32 {
        match self {
            Group::Classic(group) => group.generation,
        }
    }

    /// The assignor in use.
    #[must_use]
    pub fn assignor(&self) -> Option<&str> {
        match self {
            Group::Classic(group) => group.strategy.map(Strategy::name),
        }
    }

    /// Its members by the names of their clients, sorted.
    #[must_use]
    pub fn member_names(&self) -> Vec<String> {
        match self {
            Group::Classic(group) => {
                let names: BTreeSet<&String> =
                    group.members.values().map(|member| &member.client).collect();
                names.into_iter().cloned().collect()
            }
        }
    }

    /// Checks who commits offsets (`Group.validateOffsetCommit`).
    ///
    /// # Errors
    /// Those of the group's protocol.
    pub fn check_commit(&self, speaker: Option<&Speaker>) -> Result<(), KafkaError> {
        match self {
            Group::Classic(group) => group.check_commit(speaker),
        }
    }
}

/// The groups of one partition of `__consumer_offsets`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Groups {
    groups: BTreeMap<String, Group>,
}

impl Groups {
    /// Takes over a group from the log.
    pub fn load(&mut self, group: &Group) {
        self.groups.insert(group.name().to_owned(), group.clone());
    }

    /// Forgets a group.
    pub fn remove(&mut self, group: &str) {
        self.groups.remove(group);
    }

    /// A classic group, made empty if there is no group of this name.
    pub fn make_classic(&mut self, group: &str) {
        let made = || Group::Classic(ClassicGroup::new(group));
        self.groups.entry(group.to_owned()).or_insert_with(made);
    }

    /// A classic group for changing.
    pub fn classic_mut(&mut self, group: &str) -> Option<&mut ClassicGroup> {
        match self.groups.get_mut(group)? {
            Group::Classic(group) => Some(group),
        }
    }

    /// All classic groups.
    pub fn all_classic(&self) -> impl Iterator<Item = &ClassicGroup> {
        self.groups.values().map(|group| match group {
            Group::Classic(group) => group,
        })
    }

    /// A group by its name.
    #[must_use]
    pub fn get(&self, group: &str) -> Option<&Group> {
        self.groups.get(group)
    }

    /// A classic group by its name.
    #[must_use]
    pub fn classic(&self, group: &str) -> Option<&ClassicGroup> {
        match self.groups.get(group)? {
            Group::Classic(group) => Some(group),
        }
    }

    /// Checks who commits offsets for a group. A group that does not exist takes them from who is
    /// no member (`OffsetMetadataManager.validateOffsetCommit`).
    ///
    /// # Errors
    /// `UNKNOWN_MEMBER_ID` without a group, and those of the group's protocol.
    pub fn check_commit(&self, group: &str, speaker: Option<&Speaker>) -> Result<(), KafkaError> {
        match (self.groups.get(group), speaker) {
            (Some(group), speaker) => group.check_commit(speaker),
            (None, None) => Ok(()),
            (None, Some(_)) => Err(KafkaError::UnknownMemberId),
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
