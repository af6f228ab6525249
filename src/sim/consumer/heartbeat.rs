//! What a member of a classic group does whatever its application does: heartbeats, and leaving
//! when the application no longer polls.
//!
//! Follows `AbstractCoordinator.HeartbeatThread`, `HeartbeatResponseHandler`, `maybeLeaveGroup`.

use crate::sim::error::KafkaError;
use crate::sim::kernel::Kernel;
use crate::sim::message::{Body, MessageId, Speaker};
use crate::sim::snapshot::ConsumerState;
use crate::sim::trace::EventKind;

use super::Consumer;
use super::classic::Stage;

impl Consumer {
    pub(super) fn classic_beat(&mut self, kernel: &mut Kernel) {
        let polls = self.poll_until.is_some();
        let now_ms = kernel.now_ms;
        let session_ms = self.settings.session_timeout_ms;
        let classic = self.classic();
        if !matches!(classic.stage, Stage::Completing | Stage::Stable) {
            return;
        }
        if !polls && classic.poll_until_ms <= now_ms {
            self.leave_by_itself(kernel);
            return;
        }
        if classic.heard_ms + session_ms <= now_ms {
            // The coordinator may be another one.
            classic.heard_ms = now_ms;
            self.membership.coordinator = None;
            return;
        }
        if classic.heartbeat.is_some() || classic.heartbeat_ms > now_ms {
            return;
        }
        let Some(coordinator) = self.reachable_coordinator(kernel) else { return };
        let body = Body::Heartbeat {
            group: self.membership.group.clone(),
            speaker: Speaker {
                member: self.membership.member.clone().unwrap_or_default(),
                instance: self.settings.instance.clone(),
                epoch: self.membership.epoch,
            },
        };
        let request = self.network.request(&self.machine, coordinator, body, kernel);
        let next_ms = now_ms + self.settings.heartbeat_interval_ms;
        let classic = self.classic();
        (classic.heartbeat, classic.heartbeat_ms) = (Some(request), next_ms);
    }

    /// The coordinator answers a heartbeat: all is well, or it is time to join again.
    pub(super) fn handle_heartbeat_response(
        &mut self,
        answers: Option<MessageId>,
        result: Result<(), KafkaError>,
        kernel: &mut Kernel,
    ) {
        if self.classic().heartbeat != answers {
            return;
        }
        let now_ms = kernel.now_ms;
        let classic = self.classic();
        classic.heartbeat = None;
        let stable = classic.stage == Stage::Stable;
        let Err(error) = result else {
            classic.heard_ms = now_ms;
            return;
        };
        self.coordinator_refused(error, kernel);
        match error {
            KafkaError::RebalanceInProgress => self.classic().rejoin |= stable,
            KafkaError::UnknownMemberId if stable => self.forget_generation(None),
            KafkaError::IllegalGeneration if stable => {
                let member = self.membership.member.clone();
                self.forget_generation(member);
            }
            KafkaError::FencedInstanceId => self.fence(kernel),
            _ => {
                let again_ms = now_ms + self.settings.retry_backoff_ms;
                self.classic().heartbeat_ms = again_ms;
            }
        }
    }

    /// The application has not polled for `max.poll.interval.ms`. Until it polls again it believes
    /// in its old partitions.
    fn leave_by_itself(&mut self, kernel: &mut Kernel) {
        let text = "leaves its group: poll() was not called within max.poll.interval.ms";
        kernel.trace(EventKind::GroupChange, &self.machine, text);
        self.classic_leave(kernel);
        self.forget_generation(None);
        self.membership.state = ConsumerState::Left;
    }

    /// Says that it leaves, unless it is a static member, whose place is kept.
    pub(super) fn classic_leave(&mut self, kernel: &mut Kernel) -> Option<MessageId> {
        if self.settings.instance.is_some() || self.classic().stage == Stage::Unjoined {
            return None;
        }
        let member = self.membership.member.clone()?;
        let coordinator = self.reachable_coordinator(kernel)?;
        let group = self.membership.group.clone();
        let body = Body::LeaveGroup { group, member, instance: None };
        Some(self.network.request(&self.machine, coordinator, body, kernel))
    }

    /// What a refused commit tells of the group
    /// (`ConsumerCoordinator.OffsetCommitResponseHandler`); nothing, if a newer generation is known
    /// by now.
    pub(super) fn classic_commit_refused(
        &mut self,
        error: KafkaError,
        epoch: i32,
        kernel: &mut Kernel,
    ) {
        let current = epoch == self.membership.epoch && self.classic().stage == Stage::Stable;
        match error {
            _ if !current => {}
            KafkaError::RebalanceInProgress => self.classic().rejoin = true,
            KafkaError::UnknownMemberId => self.forget_generation(None),
            KafkaError::IllegalGeneration => {
                let member = self.membership.member.clone();
                self.forget_generation(member);
            }
            KafkaError::FencedInstanceId => self.fence(kernel),
            _ => {}
        }
    }
}
