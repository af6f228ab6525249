//! The second half of a rebalance: the leader brings the assignment, it is written, and everybody
//! is told its part.
//!
//! Follows `classicGroupSync`, `expirePendingSync` of `GroupMetadataManager`.

use crate::sim::error::KafkaError;
use crate::sim::message::{Body, MessageId, SyncRequest};

use super::{Change, ClassicGroup, Effect, GroupPhase, GroupTimer};

impl ClassicGroup {
    /// A member asks for its assignment.
    pub fn sync(&mut self, message: MessageId, request: &SyncRequest, change: &mut Change) {
        let checked = self.check_speaker(&request.speaker).and(match self.phase {
            GroupPhase::Empty => Err(KafkaError::UnknownMemberId),
            GroupPhase::PreparingRebalance => Err(KafkaError::RebalanceInProgress),
            GroupPhase::CompletingRebalance | GroupPhase::Stable => Ok(()),
        });
        let id = &request.speaker.member;
        if let Err(error) = checked {
            change.answer(message, Body::SyncGroupResponse(Err(error)));
            return;
        }
        self.unsynced.remove(id);
        let Some(member) = self.members.get_mut(id) else { return };
        if self.phase == GroupPhase::Stable {
            let own = member.assignment.clone();
            change.answer(message, Body::SyncGroupResponse(Ok(own)));
            return;
        }
        member.syncing = Some(message);
        if self.leader.as_ref() == Some(id) && self.brought.is_none() {
            self.brought = Some(request.assignments.clone());
            change.effects.push(Effect::Store(Vec::new()));
        }
    }

    /// The write of a generation is committed: the group is stable.
    pub fn written(&mut self, generation: i32, change: &mut Change) {
        if self.phase != GroupPhase::CompletingRebalance || self.generation != generation {
            return;
        }
        let Some(mut brought) = self.brought.take() else { return };
        self.phase = GroupPhase::Stable;
        let ids: Vec<String> = self.members.keys().cloned().collect();
        for id in ids {
            let Some(member) = self.members.get_mut(&id) else { continue };
            member.assignment = brought.remove(&id).unwrap_or_default();
            if let Some(request) = member.syncing.take() {
                let own = member.assignment.clone();
                change.answer(request, Body::SyncGroupResponse(Ok(own)));
                self.heard_of(&id, change);
            }
        }
    }

    /// The write of a generation failed: everybody is told, and gathers anew.
    pub fn not_written(&mut self, generation: i32, error: KafkaError, change: &mut Change) {
        if self.phase == GroupPhase::CompletingRebalance && self.generation == generation {
            self.refuse_syncs(error, change);
            self.prepare_rebalance(change);
        }
    }

    /// Who waits for an assignment gets an error instead; what was given counts no more
    /// (`resetAndPropagateAssignmentWithError`).
    pub(super) fn refuse_syncs(&mut self, error: KafkaError, change: &mut Change) {
        for member in self.members.values_mut() {
            member.assignment.clear();
            if let Some(request) = member.syncing.take() {
                change.answer(request, Body::SyncGroupResponse(Err(error)));
            }
        }
    }

    /// Members that have not asked for their assignment in time are out.
    fn sync_over(&mut self, change: &mut Change) {
        let waits = matches!(self.phase, GroupPhase::CompletingRebalance | GroupPhase::Stable);
        if !waits || self.unsynced.is_empty() {
            return;
        }
        for id in std::mem::take(&mut self.unsynced) {
            change.say(format!("{id} has not asked {} for its assignment", self.name));
            self.take_out(&id);
        }
        self.prepare_rebalance(change);
    }

    /// One of its timers.
    pub fn on_timer(&mut self, timer: &GroupTimer, change: &mut Change) {
        let gathers = self.phase == GroupPhase::PreparingRebalance;
        match timer {
            GroupTimer::InitialDelay { round, waited_ms, left_ms }
                if *round == self.round && gathers =>
            {
                self.initial_delay_over(*waited_ms, *left_ms, change);
            }
            GroupTimer::JoinOver { round } if *round == self.round && gathers => {
                self.complete_join(change);
            }
            GroupTimer::SyncOver { round } if *round == self.round => self.sync_over(change),
            GroupTimer::Session(id) => self.session_over(id, change),
            GroupTimer::Pending(id) => self.pending_over(id, change),
            GroupTimer::WriteOver { generation } => {
                self.not_written(*generation, KafkaError::CoordinatorNotAvailable, change);
            }
            _ => {}
        }
    }
}
