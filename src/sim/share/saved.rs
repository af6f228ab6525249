//! What is kept of share groups in `__share_group_state`.
//!
//! Follows `ShareCoordinatorShard`, `ShareSnapshotValue`, `ShareUpdateValue`.

use std::collections::BTreeMap;

use super::partition::{InFlight, Phase};
use crate::sim::error::KafkaError;
use crate::sim::ids::{LeaderEpoch, Offset, TopicPartition};

/// A change of one record that is to be saved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Saved {
    /// Which record.
    pub offset: Offset,
    /// What it is now.
    pub phase: Phase,
    /// How often it was handed out.
    pub delivery_count: u16,
}

impl Saved {
    pub(super) fn of(offset: Offset, record: &InFlight) -> Saved {
        Saved { offset, phase: record.phase, delivery_count: record.delivery_count }
    }
}

/// What is saved of one partition for one group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SavedState {
    /// Everything below it is settled; none while nobody has read the partition.
    pub start: Option<Offset>,
    /// The epoch of the leader that has read or written last.
    pub leader_epoch: LeaderEpoch,
    /// Records from the start on that are not as they were at first.
    pub records: BTreeMap<Offset, (Phase, u16)>,
}

/// What a share coordinator keeps, by group and partition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SavedStates {
    states: BTreeMap<(String, TopicPartition), SavedState>,
}

impl SavedStates {
    /// What a partition's leader finds when it begins.
    ///
    /// # Errors
    /// `FENCED_LEADER_EPOCH` for one that leads no more.
    pub fn read(
        &mut self,
        group: &str,
        partition: &TopicPartition,
        leader_epoch: LeaderEpoch,
    ) -> Result<SavedState, KafkaError> {
        let state = self.state(group, partition, leader_epoch)?;
        state.leader_epoch = leader_epoch;
        Ok(state.clone())
    }

    /// Whether a write of this leader is taken.
    ///
    /// # Errors
    /// `FENCED_LEADER_EPOCH` for one that leads no more.
    pub fn check(
        &mut self,
        group: &str,
        partition: &TopicPartition,
        leader_epoch: LeaderEpoch,
    ) -> Result<(), KafkaError> {
        self.state(group, partition, leader_epoch).map(|_| ())
    }

    /// Takes over a record of the log.
    pub fn apply(&mut self, change: &StateChange) {
        let key = (change.group.clone(), change.partition.clone());
        let state = self.states.entry(key).or_default();
        state.leader_epoch = state.leader_epoch.max(change.leader_epoch);
        if let Some(start) = change.start {
            state.start = Some(start);
        }
        for one in &change.records {
            state.records.insert(one.offset, (one.phase, one.delivery_count));
        }
        if let Some(start) = state.start {
            state.records = state.records.split_off(&start);
        }
    }

    fn state(
        &mut self,
        group: &str,
        partition: &TopicPartition,
        leader_epoch: LeaderEpoch,
    ) -> Result<&mut SavedState, KafkaError> {
        let state = self.states.entry((group.to_owned(), partition.clone())).or_default();
        if leader_epoch < state.leader_epoch {
            return Err(KafkaError::FencedLeaderEpoch);
        }
        Ok(state)
    }
}

/// A record of `__share_group_state`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateChange {
    /// `group.id`.
    pub group: String,
    /// Which partition.
    pub partition: TopicPartition,
    /// The epoch of the leader that writes it.
    pub leader_epoch: LeaderEpoch,
    /// The start offset; none while nobody has read the partition.
    pub start: Option<Offset>,
    /// Records that have changed.
    pub records: Vec<Saved>,
}
