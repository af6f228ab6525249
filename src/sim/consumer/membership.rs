//! A consumer's part in its group, whatever the protocol: the coordinator, commits, and who is
//! asked for what. Each protocol has its own file.
//!
//! Follows `AbstractCoordinator`, `ConsumerCoordinator`, `CoordinatorRequestManager`.

use crate::sim::error::KafkaError;
use crate::sim::ids::{BrokerId, Offset, TopicPartition};
use crate::sim::kernel::Kernel;
use crate::sim::message::{Body, Message, MessageId};
use crate::sim::snapshot::ConsumerState;
use crate::sim::trace::EventKind;

use super::Consumer;
use super::classic::Classic;
use super::modern::Modern;

/// A group's protocol, with what its client has to remember.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// `group.protocol=classic`.
    Classic(Classic),
    /// The coordinator assigns.
    Modern(Modern),
}

/// Its part in its group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Membership {
    /// `group.id`.
    pub group: String,
    /// Its name, which is its member id in a classic group.
    pub member: String,
    /// The generation or member epoch that it knows.
    pub epoch: i32,
    /// What it is doing.
    pub state: ConsumerState,
    /// The group's coordinator, if it knows.
    pub coordinator: Option<BrokerId>,
    /// The group's protocol.
    pub protocol: Protocol,
    /// The question who coordinates the group, under way.
    look_up: Option<MessageId>,
    /// It may ask again from this time on.
    look_up_from_ms: u64,
}

impl Membership {
    /// Of a consumer that is not a member yet.
    #[must_use]
    pub fn new(group: &str, member: &str, protocol: Protocol) -> Membership {
        Membership {
            group: group.to_owned(),
            member: member.to_owned(),
            epoch: 0,
            state: ConsumerState::Joining,
            coordinator: None,
            protocol,
            look_up: None,
            look_up_from_ms: 0,
        }
    }

    /// When it may ask again who coordinates the group.
    #[must_use]
    pub fn next_due_ms(&self) -> u64 {
        self.look_up_from_ms
    }
}

impl Consumer {
    /// Inside `poll()`: does what membership asks for next.
    pub(super) fn take_part(&mut self, kernel: &mut Kernel) {
        match self.membership.protocol {
            Protocol::Classic(_) => self.classic_take_part(kernel),
            Protocol::Modern(_) => self.modern_take_part(kernel),
        }
    }

    /// Whatever the application does: sends a heartbeat if one is due.
    pub(super) fn beat(&mut self, kernel: &mut Kernel) {
        match self.membership.protocol {
            Protocol::Classic(_) => self.classic_beat(kernel),
            Protocol::Modern(_) => self.modern_beat(kernel),
        }
    }

    /// The time to the first heartbeat counts from now.
    pub(super) fn set_first_heartbeat(&mut self, now_ms: u64) {
        match &mut self.membership.protocol {
            Protocol::Classic(classic) => {
                classic.heartbeat_ms = now_ms + self.settings.heartbeat_interval_ms;
            }
            // The first one joins, at once.
            Protocol::Modern(_) => {}
        }
    }

    /// When a heartbeat is due.
    pub(super) fn next_beat_ms(&self) -> Option<u64> {
        match &self.membership.protocol {
            Protocol::Classic(classic) => {
                (self.membership.state == ConsumerState::Stable).then_some(classic.heartbeat_ms)
            }
            Protocol::Modern(modern) => {
                let overdue = self.poll_overdue_ms().unwrap_or(u64::MAX);
                Some(modern.next_beat_ms().min(overdue)).filter(|at| *at < u64::MAX)
            }
        }
    }

    /// Takes the coordinator's answer to something of the protocol; it is looked at inside
    /// `poll()`.
    pub(super) fn take_group_answer(&mut self, message: &Message, kernel: &mut Kernel) {
        match self.membership.protocol {
            Protocol::Classic(_) => self.take_classic_answer(message, kernel),
            Protocol::Modern(_) => self.take_modern_answer(message, kernel),
        }
    }

    /// The connection of a request of the protocol is gone.
    fn forget_group_request(&mut self, request: MessageId) {
        match &mut self.membership.protocol {
            Protocol::Classic(classic) => classic.forget(request),
            Protocol::Modern(modern) => modern.forget(request),
        }
    }

    /// The coordinator's connection, or that of a request to it, is gone.
    pub(super) fn coordinator_lost(&mut self, request: MessageId, broker: BrokerId) {
        self.forget_group_request(request);
        self.commits.remove(&request);
        if self.membership.look_up == Some(request) {
            self.membership.look_up = None;
        }
        if self.membership.coordinator == Some(broker) {
            self.membership.coordinator = None;
        }
    }

    pub(super) fn reachable_coordinator(&mut self, kernel: &mut Kernel) -> Option<BrokerId> {
        let coordinator = self.membership.coordinator?;
        let machine = self.machine.clone();
        self.network.is_ready(coordinator, &machine, kernel).then_some(coordinator)
    }

    /// Its member id.
    pub(super) fn member_id(&self) -> &str {
        match &self.membership.protocol {
            Protocol::Classic(_) => &self.membership.member,
            Protocol::Modern(modern) => &modern.member,
        }
    }

    /// When the application has not polled for too long, in milliseconds; none while it is inside
    /// `poll()` (`max.poll.interval.ms`).
    pub(super) fn poll_overdue_ms(&self) -> Option<u64> {
        let left = self.poll_until.is_none().then_some(self.polled_ms)?;
        Some(left.saturating_add(self.settings.max_poll_interval_ms))
    }

    /// Sends a commit; without a reachable coordinator it is not sent, as an automatic one then
    /// waits for its next turn.
    pub fn commit(&mut self, offsets: Vec<(TopicPartition, Offset)>, kernel: &mut Kernel) {
        let Some(coordinator) = self.reachable_coordinator(kernel) else { return };
        let stable = self.membership.state == ConsumerState::Stable;
        let body = Body::OffsetCommit {
            group: self.membership.group.clone(),
            member: stable.then(|| self.member_id().to_owned()),
            generation: self.membership.epoch,
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
            self.membership.look_up_from_ms = kernel.now_ms + self.settings.retry_backoff_ms;
        }
    }

    /// Asks who coordinates the group, if that is unknown.
    pub(super) fn find_coordinator(&mut self, kernel: &mut Kernel) {
        let known = self.membership.coordinator.is_some() || self.membership.look_up.is_some();
        if known || self.membership.look_up_from_ms > kernel.now_ms {
            return;
        }
        let machine = self.machine.clone();
        let Some(broker) = self.network.reachable_broker(&machine, kernel) else { return };
        let body = Body::FindCoordinator { group: self.membership.group.clone() };
        self.membership.look_up = Some(self.network.request(&machine, broker, body, kernel));
    }

    pub(super) fn handle_coordinator(
        &mut self,
        result: Result<BrokerId, KafkaError>,
        kernel: &Kernel,
    ) {
        self.membership.look_up = None;
        match result {
            Ok(broker) => self.membership.coordinator = Some(broker),
            Err(error) => {
                self.counters.last_refusal = Some(error);
                self.membership.look_up_from_ms = kernel.now_ms + self.settings.retry_backoff_ms;
            }
        }
    }
}
