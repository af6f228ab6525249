//! One replica on one broker: its log, the high watermark that it knows, and its role.

use crate::sim::ids::{BrokerId, LeaderEpoch, Offset};
use crate::sim::log::Log;
use crate::sim::producer_state::ProducerStates;
use crate::sim::replication::LeaderState;

/// What a broker believes that it is to a partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Role {
    /// It takes writes.
    Leader(LeaderState),
    /// It copies from this broker; from nobody while there is no leader.
    Follower(Option<BrokerId>),
}

/// A replica.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replica {
    /// The topic that it belongs to, by id.
    pub topic_id: u64,
    /// Its log.
    pub log: Log,
    /// The high watermark that it knows.
    pub high_watermark: Offset,
    /// The high watermark on its disk.
    pub checkpointed: Offset,
    /// The leader epoch that it knows.
    pub leader_epoch: LeaderEpoch,
    /// Its role.
    pub role: Role,
    /// The idempotent producers of its log.
    pub producers: ProducerStates,
}

impl Replica {
    /// An empty replica that follows nobody yet, of the topic with this id.
    #[must_use]
    pub fn empty(topic_id: u64) -> Replica {
        Replica {
            topic_id,
            log: Log::default(),
            high_watermark: Offset(0),
            checkpointed: Offset(0),
            leader_epoch: LeaderEpoch(0),
            role: Role::Follower(None),
            producers: ProducerStates::default(),
        }
    }

    /// The leader's state, if it leads.
    #[must_use]
    pub fn leader(&self) -> Option<&LeaderState> {
        match &self.role {
            Role::Leader(state) => Some(state),
            Role::Follower(_) => None,
        }
    }

    /// The leader's state, if it leads.
    pub fn leader_mut(&mut self) -> Option<&mut LeaderState> {
        match &mut self.role {
            Role::Leader(state) => Some(state),
            Role::Follower(_) => None,
        }
    }

    /// Cuts the log's end; the high watermark never lies beyond it (`UnifiedLog.truncateTo`).
    pub fn truncate_to(&mut self, offset: Offset) {
        self.log.truncate_to(offset);
        self.high_watermark = self.high_watermark.min(self.log.end_offset());
        self.producers = ProducerStates::of(&self.log);
    }

    /// What a crash leaves: the log, and the high watermark of the last checkpoint.
    pub fn lose_memory(&mut self) {
        self.high_watermark =
            self.checkpointed.min(self.log.end_offset()).max(self.log.start_offset());
        self.role = Role::Follower(None);
    }
}
