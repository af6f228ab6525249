//! Registration, heartbeats and fencing of brokers.
//!
//! Follows `ClusterControlManager`, `BrokerHeartbeatManager`, `BrokerHeartbeatTracker`.

use std::sync::Arc;

use crate::sim::error::KafkaError;
use crate::sim::ids::BrokerId;
use crate::sim::kernel::Kernel;
use crate::sim::message::{Body, BrokerHeartbeat, Message};
use crate::sim::metadata::{BrokerState, Change};
use crate::sim::timer::Timer;
use crate::sim::trace::EventKind;

use super::Controller;

/// When a broker was last heard of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contact {
    last_ms: u64,
    /// How much of the metadata log the broker had applied.
    metadata_offset: u64,
    /// The end of the metadata log when its controlled shutdown began, leaderships moved and all.
    shutdown_offset: Option<u64>,
}

impl Contact {
    /// Heard of at this time.
    #[must_use]
    pub fn at(time_ms: u64) -> Contact {
        Contact { last_ms: time_ms, metadata_offset: 0, shutdown_offset: None }
    }

    /// Whether its session is over: last contact plus the time-out lies before now
    /// (`BrokerHeartbeatTracker.isExpired`, strict).
    #[must_use]
    pub fn is_expired(self, now_ms: u64, session_timeout_ms: u64) -> bool {
        self.last_ms + session_timeout_ms < now_ms
    }
}

impl Controller {
    fn session_is_valid(&self, broker: BrokerId, now_ms: u64) -> bool {
        let contact = self.active.as_ref().and_then(|active| active.contacts.get(&broker));
        contact.is_some_and(|contact| !contact.is_expired(now_ms, self.settings.session_timeout_ms))
    }

    /// A broker's process makes itself known. While another process of that id has a valid session
    /// it is refused (`ClusterControlManager.registerBroker`).
    pub(super) fn handle_registration(
        &mut self,
        message: &Message,
        broker: BrokerId,
        previous_epoch: Option<u64>,
        kernel: &mut Kernel,
    ) {
        let known = self.image.brokers.get(&broker).cloned();
        if known.as_ref().is_some_and(|state| !state.fenced)
            && self.session_is_valid(broker, kernel.now_ms)
        {
            let error = KafkaError::DuplicateBrokerRegistration;
            let text =
                format!("refuses broker-{broker}: its earlier process still counts as alive");
            kernel.trace_error(EventKind::Refused, &self.machine, text, error);
            kernel.answer(message, Body::BrokerRegistrationResponse(Err(error)));
            return;
        }
        // A process that cannot name the epoch of the last one did not end in an orderly way
        // (KIP-966).
        let clean = known.as_ref().is_none_or(|state| previous_epoch == Some(state.epoch));
        self.handle_process_change(broker, clean, kernel);
        let epoch = self.image.offset;
        let state = BrokerState {
            epoch,
            rack: known.and_then(|state| state.rack.clone()),
            fenced: true,
            in_controlled_shutdown: false,
        };
        self.decide(Change::Broker(broker, Arc::new(state)), kernel);
        if let Some(active) = self.active.as_mut() {
            active.contacts.insert(broker, Contact::at(kernel.now_ms));
        }
        self.answer_when_committed(message, Body::BrokerRegistrationResponse(Ok(epoch)), kernel);
    }

    pub(super) fn handle_heartbeat(
        &mut self,
        message: &Message,
        heartbeat: BrokerHeartbeat,
        kernel: &mut Kernel,
    ) {
        let Some(state) = self.image.brokers.get(&heartbeat.broker).cloned() else { return };
        if state.epoch != heartbeat.broker_epoch {
            let error = Some(KafkaError::StaleBrokerEpoch);
            let body =
                Body::BrokerHeartbeatResponse { error, fenced: true, should_shut_down: false };
            kernel.answer(message, body);
            return;
        }
        if let Some(active) = self.active.as_mut() {
            let contact = active.contacts.entry(heartbeat.broker).or_insert(Contact::at(0));
            contact.last_ms = kernel.now_ms;
            contact.metadata_offset = heartbeat.metadata_offset;
        }
        let should_shut_down = heartbeat.wants_shutdown && self.shut_down(heartbeat.broker, kernel);
        // Unfenced once it has applied its own registration.
        let unfence = state.fenced
            && heartbeat.wants_unfence
            && !heartbeat.wants_shutdown
            && heartbeat.metadata_offset > state.epoch;
        if unfence {
            let active = BrokerState { fenced: false, ..(*state).clone() };
            self.decide(Change::Broker(heartbeat.broker, Arc::new(active)), kernel);
            self.handle_unfenced(heartbeat.broker, kernel);
        }
        let fenced = (state.fenced && !unfence) || should_shut_down;
        let body = Body::BrokerHeartbeatResponse { error: None, fenced, should_shut_down };
        self.answer_when_committed(message, body, kernel);
    }

    /// A broker wants to stop: it loses its leaderships and its places in ISRs at once. It may go
    /// when it leads nothing and every active broker knows that; at once if it led nothing or was
    /// fenced (`BrokerHeartbeatManager.calculateNextBrokerState`).
    fn shut_down(&mut self, broker: BrokerId, kernel: &mut Kernel) -> bool {
        let Some(state) = self.image.brokers.get(&broker).cloned() else { return true };
        if state.fenced {
            return true;
        }
        let leads =
            self.image.partitions.values().any(|partition| partition.leader == Some(broker));
        if !state.in_controlled_shutdown && leads {
            let going = BrokerState { in_controlled_shutdown: true, ..(*state).clone() };
            self.decide(Change::Broker(broker, Arc::new(going)), kernel);
            self.handle_fenced(broker, kernel);
            let offset = self.image.offset;
            if let Some(contact) = self.active.as_mut().and_then(|a| a.contacts.get_mut(&broker)) {
                contact.shutdown_offset = Some(offset);
            }
            return false;
        }
        let may_go = !leads && self.everyone_knows(broker);
        if may_go {
            self.handle_fenced(broker, kernel);
            let gone =
                BrokerState { fenced: true, in_controlled_shutdown: false, ..(*state).clone() };
            self.decide(Change::Broker(broker, Arc::new(gone)), kernel);
        }
        may_go
    }

    /// Whether every active broker has metadata from after the beginning of a controlled shutdown.
    fn everyone_knows(&self, broker: BrokerId) -> bool {
        let Some(active) = self.active.as_ref() else { return true };
        let Some(since) = active.contacts.get(&broker).and_then(|contact| contact.shutdown_offset)
        else {
            return true;
        };
        active
            .contacts
            .iter()
            .filter(|(other, _)| self.image.is_active(**other))
            .all(|(_, contact)| contact.metadata_offset >= since)
    }

    /// The next look for silent brokers: every eighth of the session time-out, counted from 0 s.
    pub(super) fn schedule_fence_check(&self, kernel: &mut Kernel) {
        let interval = (self.settings.session_timeout_ms / 8).max(1);
        kernel.timer(&self.machine, kernel.now_ms + interval, Timer::FenceCheck);
    }

    /// Fences one broker whose session is over; at once another one while there are more
    /// (`QuorumController.maybeFenceStaleBroker`).
    pub(super) fn fence_silent_broker(&mut self, kernel: &mut Kernel) {
        let Some(active) = self.active.as_ref() else { return };
        let timeout = self.settings.session_timeout_ms;
        let mut silent: Vec<(u64, BrokerId)> = active
            .contacts
            .iter()
            .filter(|(broker, contact)| {
                contact.is_expired(kernel.now_ms, timeout)
                    && self.image.brokers.get(broker).is_some_and(|state| !state.fenced)
            })
            .map(|(broker, contact)| (contact.last_ms, *broker))
            .collect();
        silent.sort_unstable();
        if let Some((_, broker)) = silent.first() {
            self.fence(*broker, kernel);
        }
        if silent.len() > 1 {
            kernel.timer(&self.machine, kernel.now_ms, Timer::FenceCheck);
        } else {
            self.schedule_fence_check(kernel);
        }
    }

    fn fence(&mut self, broker: BrokerId, kernel: &mut Kernel) {
        let Some(state) = self.image.brokers.get(&broker) else { return };
        let fenced =
            BrokerState { fenced: true, in_controlled_shutdown: false, ..(**state).clone() };
        let text = format!(
            "broker-{broker} was silent for more than {} ms",
            self.settings.session_timeout_ms
        );
        kernel.trace(EventKind::Timeout, &self.machine, text);
        self.handle_fenced(broker, kernel);
        self.decide(Change::Broker(broker, Arc::new(fenced)), kernel);
    }
}
