//! The target assignment: when it is made anew, and by which assignor.
//!
//! Follows `TargetAssignmentBuilder` and `ConsumerGroup.preferredServerAssignor`.

use std::collections::{BTreeMap, BTreeSet};

use super::heartbeat::Around;
use super::{Change, Kind, ModernGroup};
use crate::sim::assignor::{ServerAssignor, Subscriber, Subscribers, Target, Topics, simple};

impl ModernGroup {
    /// The assignor in use: the one that most members ask for, else the default. Share groups have
    /// one.
    #[must_use]
    pub fn assignor(&self) -> &'static str {
        match self.kind {
            Kind::Consumer => self.preferred_assignor().name(),
            Kind::Share => "simple",
        }
    }

    fn preferred_assignor(&self) -> ServerAssignor {
        let mut votes: BTreeMap<&str, usize> = BTreeMap::new();
        for member in self.members.values() {
            if let Some(name) = &member.subscription.assignor {
                *votes.entry(name).or_default() += 1;
            }
        }
        let most = votes.iter().rev().max_by_key(|(_, count)| **count);
        most.and_then(|(name, _)| ServerAssignor::named(name))
            .or(self.default_assignor)
            .unwrap_or(ServerAssignor::Uniform)
    }

    /// Makes a new target assignment if the group's epoch is ahead of the last one, but not sooner
    /// than `group.consumer.assignment.interval.ms` after that (KIP-1263, since 4.3).
    pub(super) fn update_target(&mut self, around: &Around<'_>, changes: &mut Vec<Change>) {
        let rests =
            self.assigned_ms.is_some_and(|at| around.now_ms < at + around.assignment_interval_ms);
        if self.epoch <= self.target_epoch || rests {
            return;
        }
        self.assigned_ms = Some(around.now_ms);
        for (id, target) in self.compute_target() {
            let known = self.members.get(&id).map(|member| &member.target);
            if known != Some(&target) {
                self.change(Change::Target(id, target), changes);
            }
        }
        self.change(Change::TargetEpoch(self.epoch), changes);
    }

    fn compute_target(&self) -> Target {
        let topics = self.assignable();
        let members: Subscribers = self
            .members
            .iter()
            .map(|(id, member)| {
                let wanted = &member.subscription.topics;
                let subscriber = Subscriber {
                    instance: member.subscription.instance.clone(),
                    topics: wanted.iter().filter(|t| topics.contains_key(*t)).cloned().collect(),
                    owned: member.target.clone(),
                };
                (id.clone(), subscriber)
            })
            .collect();
        match self.kind {
            Kind::Consumer => self.preferred_assignor().assign(&members, &topics),
            Kind::Share => simple::assign(&members, &topics),
        }
    }

    /// How many partitions of each topic can be assigned. Those of a share group are set up in
    /// order.
    fn assignable(&self) -> Topics {
        let count = |topic: &String, partitions: usize| match self.kind {
            Kind::Consumer => partitions,
            Kind::Share => {
                self.set_up.done.iter().filter(|partition| partition.topic == *topic).count()
            }
        };
        self.topics
            .iter()
            .map(|(topic, racks)| {
                let count = count(topic, racks.len());
                (topic.clone(), u32::try_from(count).unwrap_or(u32::MAX))
            })
            .collect()
    }

    /// Whether a member subscribes to this topic.
    #[must_use]
    pub fn subscribes_to(&self, topic: &str) -> bool {
        self.members.values().any(|member| member.subscription.topics.contains(topic))
    }

    /// The topics that its members subscribe to.
    #[must_use]
    pub fn subscribed_topics(&self) -> BTreeSet<String> {
        self.members.values().flat_map(|member| member.subscription.topics.clone()).collect()
    }
}
