//! What a consumer says to its group's coordinator: heartbeats and commits.
//!
//! Follows `AbstractCoordinator`, `ConsumerCoordinator`.

use crate::sim::error::KafkaError;
use crate::sim::ids::{BrokerId, Offset, TopicPartition};
use crate::sim::kernel::Kernel;
use crate::sim::message::{Body, Message};
use crate::sim::snapshot::ConsumerState;
use crate::sim::trace::EventKind;

use super::Consumer;

impl Consumer {
    /// Sends a heartbeat if one is due; it comes from a thread of its own, whatever the application
    /// does.
    pub(super) fn beat(&mut self, kernel: &mut Kernel) {
        let due =
            self.membership.state == ConsumerState::Stable && self.heartbeat_ms <= kernel.now_ms;
        if !due || self.heartbeat.is_some() {
            return;
        }
        let Some(coordinator) = self.reachable_coordinator(kernel) else { return };
        let body = Body::Heartbeat {
            group: self.membership.group.clone(),
            member: self.membership.member.clone(),
            generation: self.membership.generation,
        };
        self.heartbeat = Some(self.network.request(&self.machine, coordinator, body, kernel));
        self.heartbeat_ms = kernel.now_ms + self.settings.heartbeat_interval_ms;
    }

    pub(super) fn reachable_coordinator(&mut self, kernel: &mut Kernel) -> Option<BrokerId> {
        let coordinator = self.membership.coordinator?;
        let machine = self.machine.clone();
        self.network.is_ready(coordinator, &machine, kernel).then_some(coordinator)
    }

    pub(super) fn handle_heartbeat_response(
        &mut self,
        result: Result<(), KafkaError>,
        kernel: &mut Kernel,
    ) {
        self.heartbeat = None;
        if let Err(error) = result {
            self.coordinator_refused(error, kernel);
        }
    }

    /// Sends a commit; without a reachable coordinator it is not sent, as an automatic one then
    /// waits for its next turn.
    pub fn commit(&mut self, offsets: Vec<(TopicPartition, Offset)>, kernel: &mut Kernel) {
        let Some(coordinator) = self.reachable_coordinator(kernel) else { return };
        let stable = self.membership.state == ConsumerState::Stable;
        let body = Body::OffsetCommit {
            group: self.membership.group.clone(),
            member: stable.then(|| self.membership.member.clone()),
            generation: self.membership.generation,
            offsets: offsets.clone(),
        };
        let id = self.network.request(&self.machine, coordinator, body, kernel);
        self.commits.insert(id, offsets);
    }

    pub(super) fn handle_commit_response(
        &mut self,
        message: &Message,
        result: Result<(), &KafkaError>,
        kernel: &mut Kernel,
    ) {
        if let Some(request) = message.answers {
            self.commits.remove(&request);
        }
        if let Err(error) = result {
            let text = format!("its commit was refused: {error}");
            kernel.trace_error(EventKind::Refused, &self.machine, text, *error);
            self.coordinator_refused(*error, kernel);
        }
    }

    pub(super) fn coordinator_refused(&mut self, error: KafkaError, kernel: &Kernel) {
        self.counters.last_refusal = Some(error);
        let moved =
            matches!(error, KafkaError::NotCoordinator | KafkaError::CoordinatorNotAvailable);
        if moved {
            self.membership.coordinator = None;
            self.coordinator_from_ms = kernel.now_ms + self.settings.retry_backoff_ms;
        }
    }

    /// Asks who coordinates the group, if that is unknown.
    pub(super) fn find_coordinator(&mut self, kernel: &mut Kernel) {
        let known = self.membership.coordinator.is_some() || self.coordinator_look_up.is_some();
        if known || self.coordinator_from_ms > kernel.now_ms {
            return;
        }
        let machine = self.machine.clone();
        let Some(broker) = self.network.reachable_broker(&machine, kernel) else { return };
        let body = Body::FindCoordinator { group: self.membership.group.clone() };
        self.coordinator_look_up = Some(self.network.request(&machine, broker, body, kernel));
    }

    pub(super) fn handle_coordinator(
        &mut self,
        result: Result<BrokerId, KafkaError>,
        kernel: &Kernel,
    ) {
        self.coordinator_look_up = None;
        match result {
            Ok(broker) => self.membership.coordinator = Some(broker),
            Err(error) => {
                self.counters.last_refusal = Some(error);
                self.coordinator_from_ms = kernel.now_ms + self.settings.retry_backoff_ms;
            }
        }
    }
}
