//! Groups as their coordinator keeps them: one file per protocol, and what they have in common.

mod classic;
pub mod modern;

use std::collections::{BTreeMap, BTreeSet};

use super::assignor::client::Strategy;
use super::error::KafkaError;
use super::ids::{Offset, TopicPartition};
use super::message::Speaker;

pub use classic::{Change, ClassicGroup, Effect, GroupPhase, GroupTimer, Member};
pub use modern::{Kind, ModernGroup};

/// The topic that holds groups and their offsets.
pub const OFFSETS_TOPIC: &str = "__consumer_offsets";

/// A group, by the protocol of its members (`Group.GroupType`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Group {
    /// The leader of its members assigns.
    Classic(Box<ClassicGroup>),
    /// The coordinator assigns (KIP-848, KIP-932).
    Modern(Box<ModernGroup>),
}

impl Group {
    /// `group.id`.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Group::Classic(group) => &group.name,
            Group::Modern(group) => &group.name,
        }
    }

    /// The state that Kafka's tools print.
    #[must_use]
    pub fn state_name(&self) -> &'static str {
        match self {
            Group::Classic(group) => group.phase.name(),
            Group::Modern(group) => group.state(),
        }
    }

    /// The generation (classic) or the group epoch.
    #[must_use]
    pub fn epoch(&self) -> i32 {
        match self {
            Group::Classic(group) => group.generation,
            Group::Modern(group) => group.epoch,
        }
    }

    /// The assignor in use.
    #[must_use]
    pub fn assignor(&self) -> Option<&str> {
        match self {
            Group::Classic(group) => group.strategy.map(Strategy::name),
            Group::Modern(group) => Some(group.assignor()),
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
            Group::Modern(group) => group.member_names(),
        }
    }

    /// The name of a member's client.
    #[must_use]
    pub fn client_of(&self, member: &str) -> Option<&str> {
        match self {
            Group::Classic(group) => group.members.get(member).map(|it| it.client.as_str()),
            Group::Modern(group) => {
                group.members.get(member).map(|it| it.subscription.client.as_str())
            }
        }
    }

    /// What each member was given, by the name of its client.
    #[must_use]
    pub fn owners(&self) -> BTreeMap<String, Vec<TopicPartition>> {
        let mut owners: BTreeMap<String, Vec<TopicPartition>> = BTreeMap::new();
        match self {
            Group::Classic(group) => {
                for member in group.members.values() {
                    let own = owners.entry(member.client.clone()).or_default();
                    own.extend(member.assignment.iter().cloned());
                }
            }
            Group::Modern(group) => {
                for member in group.members.values() {
                    let own = owners.entry(member.subscription.client.clone()).or_default();
                    own.extend(member.current.assigned.keys().cloned());
                }
            }
        }
        owners
    }

    /// Checks who commits offsets (`Group.validateOffsetCommit`).
    ///
    /// # Errors
    /// Those of the group's protocol.
    pub fn check_commit(
        &self,
        speaker: Option<&Speaker>,
        offsets: &[(TopicPartition, Offset)],
    ) -> Result<(), KafkaError> {
        match self {
            Group::Classic(group) => group.check_commit(speaker),
            Group::Modern(group) => {
                let partitions = offsets.iter().map(|(partition, _)| partition);
                let member = speaker.map(|speaker| speaker.member.as_str());
                group.check_commit(member, speaker.map_or(-1, |one| one.epoch), partitions)
            }
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
        let made = || Group::Classic(Box::new(ClassicGroup::new(group)));
        self.groups.entry(group.to_owned()).or_insert_with(made);
    }

    /// A classic group for changing.
    pub fn classic_mut(&mut self, group: &str) -> Option<&mut ClassicGroup> {
        match self.groups.get_mut(group)? {
            Group::Classic(group) => Some(&mut **group),
            Group::Modern(_) => None,
        }
    }

    /// All classic groups.
    pub fn all_classic(&self) -> impl Iterator<Item = &ClassicGroup> {
        self.groups.values().filter_map(|group| match group {
            Group::Classic(group) => Some(&**group),
            Group::Modern(_) => None,
        })
    }

    /// A group whose coordinator assigns, made empty if it is new or was a classic one without
    /// members; none if the group is of another kind.
    pub fn modern_or_new(&mut self, group: &str, kind: Kind) -> Option<&mut ModernGroup> {
        let made = || Group::Modern(Box::new(ModernGroup::new(group, kind)));
        if self.classic(group).is_some_and(|group| group.members.is_empty()) {
            self.groups.remove(group);
        }
        match self.groups.entry(group.to_owned()).or_insert_with(made) {
            Group::Modern(group) if group.kind == kind => Some(group),
            _ => None,
        }
    }

    /// A group whose coordinator assigns, for changing.
    pub fn find_modern(&mut self, group: &str) -> Option<&mut ModernGroup> {
        match self.groups.get_mut(group)? {
            Group::Modern(group) => Some(group),
            Group::Classic(_) => None,
        }
    }

    /// Groups whose coordinator assigns.
    pub fn modern_mut(&mut self) -> impl Iterator<Item = &mut ModernGroup> {
        self.groups.values_mut().filter_map(|group| match group {
            Group::Modern(group) => Some(&mut **group),
            Group::Classic(_) => None,
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
            Group::Modern(_) => None,
        }
    }

    /// Checks who asks for a group's committed offsets: a member of a group whose coordinator
    /// assigns says its epoch, and has to be up to date
    /// (`OffsetMetadataManager.validateOffsetFetch`, `ConsumerGroup.validateOffsetFetch`). Who does
    /// not say who it is gets an answer.
    ///
    /// # Errors
    /// `UNKNOWN_MEMBER_ID`, `STALE_MEMBER_EPOCH`.
    pub fn check_offset_fetch(
        &self,
        group: &str,
        speaker: Option<&Speaker>,
    ) -> Result<(), KafkaError> {
        let (Some(Group::Modern(group)), Some(speaker)) = (self.groups.get(group), speaker) else {
            return Ok(());
        };
        let member = group.members.get(&speaker.member).ok_or(KafkaError::UnknownMemberId)?;
        if member.current.epoch == speaker.epoch {
            Ok(())
        } else {
            Err(KafkaError::StaleMemberEpoch)
        }
    }

    /// Checks who commits offsets for a group. A group that does not exist takes them from who is
    /// no member (`OffsetMetadataManager.validateOffsetCommit`).
    ///
    /// # Errors
    /// `UNKNOWN_MEMBER_ID` without a group, and those of the group's protocol.
    pub fn check_commit(
        &self,
        group: &str,
        speaker: Option<&Speaker>,
        offsets: &[(TopicPartition, Offset)],
    ) -> Result<(), KafkaError> {
        match (self.groups.get(group), speaker) {
            (Some(group), speaker) => group.check_commit(speaker, offsets),
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
    TopicPartition::new(OFFSETS_TOPIC, partition_for(group, partition_count))
}

/// The number of the partition that holds a group or a transactional id.
#[must_use]
pub fn partition_for(name: &str, partition_count: u32) -> u32 {
    let hash = java_string_hash(name);
    let positive = if hash == i32::MIN { 0 } else { hash.unsigned_abs() };
    positive % partition_count.max(1)
}

/// `java.lang.String.hashCode`: over UTF-16 units.
pub(super) fn java_string_hash(text: &str) -> i32 {
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

    #[test]
    fn a_member_that_is_behind_is_told_no_committed_offsets() {
        let mut groups = Groups::default();
        let group = groups.modern_or_new("g", Kind::Consumer).expect("a new group");
        let epoch = |epoch| modern::Current { epoch, ..modern::Current::default() };
        group.apply(&modern::Change::Member("a".to_owned(), Some(std::sync::Arc::default())));
        group.apply(&modern::Change::Current("a".to_owned(), epoch(3)));
        let asks = |groups: &Groups, member: &str, epoch| {
            let speaker = Speaker { member: member.to_owned(), instance: None, epoch };
            groups.check_offset_fetch("g", Some(&speaker))
        };
        assert_eq!(asks(&groups, "a", 3), Ok(()));
        assert_eq!(asks(&groups, "a", 2), Err(KafkaError::StaleMemberEpoch));
        assert_eq!(asks(&groups, "a", 4), Err(KafkaError::StaleMemberEpoch));
        assert_eq!(asks(&groups, "b", 3), Err(KafkaError::UnknownMemberId));
        assert_eq!(groups.check_offset_fetch("g", None), Ok(()), "who does not say who it is");
    }
}
