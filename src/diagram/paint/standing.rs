//! What a replica is, as the controller has it and as its own broker believes: the words in both
//! places where it is said, the broker's badge and the line under a partition's name.

use super::super::scene::Role;
use super::Paint;
use crate::sim::ids::{BrokerId, LeaderEpoch};
use crate::sim::snapshot::{PartitionView, ReplicaRole};

/// One replica's part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// It leads, and knows it.
    Leader(LeaderEpoch),
    /// The controller made it the leader; its broker has not heard of it.
    Elected(LeaderEpoch),
    /// Another one leads; its broker has not heard of it.
    OldLeader(LeaderEpoch),
    /// It was told not to fetch, and is in the ISR.
    StalledInSync,
    /// It was told not to fetch, and is out of the ISR.
    StalledOut,
    /// It follows, in the ISR.
    InSync,
    /// It follows, out of the ISR.
    OutOfSync,
    /// It may be elected all the same (KIP-966).
    Eligible,
    /// The broker holds no replica now.
    Absent,
    /// Its process is not there.
    Stopped,
    /// Nor is that of a replica which may be elected all the same.
    StoppedEligible,
}

impl Standing {
    /// Reads a replica of `broker`.
    pub fn of(partition: &PartitionView, broker: BrokerId) -> Standing {
        let replica = partition.replicas.get(&broker);
        let role = replica.map(|replica| replica.role);
        if replica.is_none() && !partition.assignment.contains(&broker) {
            return Standing::Absent;
        }
        let is_eligible = partition.elr.contains(&broker);
        if role == Some(ReplicaRole::Offline) {
            return if is_eligible { Standing::StoppedEligible } else { Standing::Stopped };
        }
        let is_stalled = replica.is_some_and(|replica| replica.stalled);
        match (partition.leader == Some(broker), role) {
            (true, Some(ReplicaRole::Follower)) => Standing::Elected(partition.leader_epoch),
            (true, _) => Standing::Leader(partition.leader_epoch),
            (false, Some(ReplicaRole::Leader)) => {
                let known = replica.map(|replica| replica.leader_epoch);
                Standing::OldLeader(known.unwrap_or_default())
            }
            _ => match (is_stalled, partition.isr.contains(&broker)) {
                (true, true) => Standing::StalledInSync,
                (true, false) => Standing::StalledOut,
                (false, true) => Standing::InSync,
                (false, false) if is_eligible => Standing::Eligible,
                (false, false) => Standing::OutOfSync,
            },
        }
    }

    /// Whether it is what a replica is while nothing is wrong.
    pub fn is_usual(self) -> bool {
        matches!(
            self,
            Standing::Leader(_) | Standing::InSync | Standing::Stopped | Standing::Absent
        )
    }

    /// Whether it may be elected though it is out of the ISR.
    pub fn is_eligible(self) -> bool {
        matches!(self, Standing::Eligible | Standing::StoppedEligible)
    }

    /// Its colours.
    pub fn role(self) -> Role {
        match self {
            Standing::Leader(_) | Standing::Elected(_) => Role::Lead,
            Standing::InSync | Standing::Absent | Standing::Stopped => Role::Plain,
            _ => Role::Pending,
        }
    }

    /// A broker's badge, from long to short.
    pub fn badge(self) -> (Vec<String>, Role) {
        let words = |words: &[&str]| words.iter().map(|text| (*text).to_owned()).collect();
        let texts = match self {
            Standing::Leader(epoch) => {
                vec![format!("leader, epoch {epoch}"), format!("leader, {epoch}")]
            }
            Standing::Elected(epoch) => vec![
                format!("leader, epoch {epoch} (not yet aware)"),
                "elected, not yet aware".to_owned(),
                "elected".to_owned(),
            ],
            Standing::OldLeader(epoch) => vec![
                format!("believes it leads, epoch {epoch}"),
                "believes it leads".to_owned(),
                "old leader".to_owned(),
            ],
            Standing::StalledInSync => words(&["stalled, in sync", "stalled"]),
            Standing::StalledOut => words(&["stalled, out of ISR", "stalled"]),
            Standing::InSync => words(&["follower, in sync", "in sync"]),
            Standing::OutOfSync => words(&["out of ISR"]),
            Standing::Eligible => words(&["out of ISR, in ELR", "in ELR"]),
            Standing::Absent => words(&["no replica"]),
            Standing::Stopped => words(&["stopped"]),
            Standing::StoppedEligible => words(&["stopped, in ELR", "in ELR"]),
        };
        (texts, self.role())
    }

    /// What is worth telling of it beside its broker's state.
    pub fn aside(self) -> Option<&'static str> {
        match self {
            Standing::OldLeader(_) => Some("believes it leads"),
            Standing::StalledOut | Standing::OutOfSync => Some("out of ISR"),
            Standing::Eligible | Standing::StoppedEligible => Some("in ELR"),
            _ => None,
        }
    }

    /// Under a partition's name, from long to short.
    pub fn line(self) -> Vec<String> {
        let texts = match self {
            Standing::Leader(epoch) => {
                return vec![
                    format!("leader, epoch {epoch}"),
                    format!("leader, e{epoch}"),
                    "leader".to_owned(),
                ];
            }
            Standing::Elected(_) => ["not yet aware", "elected"],
            Standing::OldLeader(_) => ["believes it leads", "old leader"],
            Standing::StalledInSync => ["stalled", "stalled"],
            Standing::StalledOut => ["stalled, out of ISR", "stalled"],
            Standing::InSync => ["follower", "in sync"],
            Standing::OutOfSync => ["out of ISR", "behind"],
            Standing::Eligible | Standing::StoppedEligible => ["in ELR", "in ELR"],
            Standing::Absent => ["no replica", "none"],
            Standing::Stopped => return Vec::new(),
        };
        texts.map(str::to_owned).to_vec()
    }
}

impl Paint<'_> {
    /// What the broker's replica of a partition is now.
    pub(super) fn standing(&self, broker: BrokerId, partition: usize) -> Option<Standing> {
        let name = &self.facts.partitions[partition].name;
        self.snapshot().partitions.get(name).map(|view| Standing::of(view, broker))
    }
}
