//! A consumer's part in its group, whatever the protocol: who coordinates it, and what each
//! protocol is asked for. Each protocol has its own file.
//!
//! Follows `AbstractCoordinator`, `CoordinatorRequestManager`.

use crate::sim::error::KafkaError;
use crate::sim::group::modern::JOIN_EPOCH;
use crate::sim::ids::BrokerId;
use crate::sim::kernel::Kernel;
use crate::sim::message::{Body, Message, MessageId, Speaker};
use crate::sim::snapshot::ConsumerState;

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
    /// The consumer's name (`client.id`).
    pub name: String,
    /// Its member id, once it has one.
    pub member: Option<String>,
    /// The generation or member epoch that it knows; -1: none.
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
    pub fn new(group: &str, name: &str, protocol: Protocol) -> Membership {
        let epoch = match protocol {
            Protocol::Classic(_) => -1,
            Protocol::Modern(_) => JOIN_EPOCH,
        };
        Membership {
            group: group.to_owned(),
            name: name.to_owned(),
            member: None,
            epoch,
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

    /// Whatever the application does: heartbeats, and what only they notice.
    pub(super) fn beat(&mut self, kernel: &mut Kernel) {
        match self.membership.protocol {
            Protocol::Classic(_) => self.classic_beat(kernel),
            Protocol::Modern(_) => self.modern_beat(kernel),
        }
    }

    /// The times from which on its deadlines count.
    pub(super) fn set_first_heartbeat(&mut self, now_ms: u64) {
        match &mut self.membership.protocol {
            Protocol::Classic(classic) => classic.start_clock(&self.settings, now_ms),
            // The first one joins, at once.
            Protocol::Modern(_) => {}
        }
    }

    /// When something of the protocol is due.
    pub(super) fn next_group_due_ms(&self) -> Option<u64> {
        match &self.membership.protocol {
            Protocol::Classic(classic) => {
                classic.next_due_ms(&self.settings, self.poll_until.is_some())
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
            // Its answers do not wait for the application.
            Protocol::Modern(_) => {}
        }
    }

    /// Leaves the group for good; the coordinator is told, unless it need not know.
    pub(super) fn leave_group(&mut self, kernel: &mut Kernel) -> Option<MessageId> {
        match self.membership.protocol {
            Protocol::Classic(_) => self.classic_leave(kernel),
            Protocol::Modern(_) => self.modern_leave(kernel),
        }
    }

    /// As whom it commits; an error: it is not an active member.
    pub fn committer(&self) -> Result<Speaker, KafkaError> {
        match &self.membership.protocol {
            Protocol::Classic(classic) => classic.committer(&self.membership, &self.settings),
            Protocol::Modern(modern) => modern.committer(self.membership.epoch),
        }
    }

    /// The coordinator refused a commit in a way that tells of the group.
    pub(super) fn commit_refused(&mut self, error: KafkaError, epoch: i32, kernel: &mut Kernel) {
        match self.membership.protocol {
            Protocol::Classic(_) => self.classic_commit_refused(error, epoch, kernel),
            // Its heartbeats tell it.
            Protocol::Modern(_) => {}
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
            Protocol::Classic(_) => self.membership.member.as_deref().unwrap_or_default(),
            Protocol::Modern(modern) => &modern.member,
        }
    }

    /// An answer of the coordinator was an error; it may be that another broker coordinates.
    /// When the application has not polled for too long, in milliseconds; none while it is inside
    /// `poll()` (`max.poll.interval.ms`).
    pub(super) fn poll_overdue_ms(&self) -> Option<u64> {
        let left = self.poll_until.is_none().then_some(self.polled_ms)?;
        Some(left.saturating_add(self.settings.max_poll_interval_ms))
    }

    pub(super) fn coordinator_refused(&mut self, error: KafkaError, kernel: &Kernel) {
        self.counters.last_refusal = Some(error);
        if matches!(error, KafkaError::NotCoordinator | KafkaError::CoordinatorNotAvailable) {
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
            Ok(broker) => {
                self.membership.coordinator = Some(broker);
                if let Protocol::Classic(classic) = &mut self.membership.protocol {
                    classic.coordinator_found(kernel.now_ms);
                }
            }
            Err(error) => {
                self.counters.last_refusal = Some(error);
                self.membership.look_up_from_ms = kernel.now_ms + self.settings.retry_backoff_ms;
            }
        }
    }
}
