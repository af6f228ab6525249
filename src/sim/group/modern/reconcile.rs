//! Bringing a member to its target, step by step: first it gives up, then it gets.
//!
//! Follows `CurrentAssignmentBuilder` and, for share groups, `ShareGroupAssignmentBuilder`.

use std::collections::{BTreeMap, BTreeSet};

use super::{Current, Kind, Member, ModernGroup, Progress};
use crate::sim::ids::TopicPartition;

impl ModernGroup {
    /// What a member has after its heartbeat. `owned`: what it says that it holds; none if it says
    /// nothing about that.
    pub(super) fn reconciled(
        &self,
        member: &Member,
        owned: Option<&BTreeSet<TopicPartition>>,
    ) -> Current {
        let current = &member.current;
        let still_holds = |revoking: &BTreeMap<TopicPartition, i32>| {
            owned.is_none_or(|owned| revoking.keys().any(|partition| owned.contains(partition)))
        };
        match (self.kind, current.progress) {
            (Kind::Share, _) => self.shared(member),
            (Kind::Consumer, Progress::Stable) if current.epoch == self.target_epoch => {
                current.clone()
            }
            (Kind::Consumer, Progress::UnrevokedPartitions) if still_holds(&current.revoking) => {
                current.clone()
            }
            _ => self.next_assignment(member, still_holds),
        }
    }

    /// A member of a share group gets its target at once.
    fn shared(&self, member: &Member) -> Current {
        if member.current.epoch == self.target_epoch {
            return member.current.clone();
        }
        Current {
            epoch: self.target_epoch,
            previous_epoch: member.current.epoch,
            assigned: wanted(member).map(|p| (p.clone(), self.target_epoch)).collect(),
            ..Current::default()
        }
    }

    /// `CurrentAssignmentBuilder.computeNextAssignment`: as long as there is something to give up
    /// the member stays in its epoch; then it moves to that of the target and gets what nobody else
    /// holds any more.
    fn next_assignment(
        &self,
        member: &Member,
        still_holds: impl Fn(&BTreeMap<TopicPartition, i32>) -> bool,
    ) -> Current {
        let current = &member.current;
        let target: BTreeSet<&TopicPartition> = wanted(member).collect();
        let (mut assigned, revoking): (BTreeMap<_, _>, BTreeMap<_, _>) = current
            .assigned
            .clone()
            .into_iter()
            .partition(|(partition, _)| target.contains(partition));
        if !revoking.is_empty() && still_holds(&revoking) {
            return Current {
                progress: Progress::UnrevokedPartitions,
                assigned,
                revoking,
                ..current.clone()
            };
        }
        let (free, unreleased): (Vec<_>, Vec<_>) = target
            .into_iter()
            .filter(|partition| !assigned.contains_key(*partition))
            .partition(|partition| self.is_free(partition, current));
        assigned.extend(free.into_iter().map(|p| (p.clone(), self.target_epoch)));
        let progress =
            if unreleased.is_empty() { Progress::Stable } else { Progress::UnreleasedPartitions };
        let moves = current.epoch != self.target_epoch;
        Current {
            epoch: self.target_epoch,
            previous_epoch: if moves { current.epoch } else { current.previous_epoch },
            progress,
            assigned,
            revoking: BTreeMap::new(),
        }
    }

    /// Whether a partition can be given to a member: nobody holds it but that member, which was to
    /// give it up.
    fn is_free(&self, partition: &TopicPartition, current: &Current) -> bool {
        !self.owners.contains_key(partition) || current.revoking.contains_key(partition)
    }
}

/// A member's target, as far as it still subscribes to it.
fn wanted(member: &Member) -> impl Iterator<Item = &TopicPartition> {
    member.target.iter().filter(|partition| member.subscription.topics.contains(&partition.topic))
}
