//! Joining a classic group: an id, a place in the next generation, an assignment, the committed
//! offsets.
//!
//! Follows `AbstractCoordinator.ensureActiveGroup`, `ConsumerCoordinator.onLeaderElected`,
//! `refreshCommittedOffsetsIfNeeded`. All of it happens inside `poll()`.

use std::collections::BTreeMap;

use crate::sim::error::KafkaError;
use crate::sim::ids::{Offset, TopicPartition};
use crate::sim::kernel::Kernel;
use crate::sim::message::{Assignments, Body, JoinRequest, Joined, Message, MessageId};
use crate::sim::snapshot::ConsumerState;
use crate::sim::trace::EventKind;

use super::Consumer;
use super::membership::Protocol;

/// What a member of a classic group remembers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Classic {
    /// The next heartbeat is due then.
    pub heartbeat_ms: u64,
    heartbeat: Option<MessageId>,
    /// The request of the present stage of joining.
    joining: Option<MessageId>,
    /// Whether it has fetched a member id.
    has_member_id: bool,
}

impl Classic {
    /// The connection of a request is gone.
    pub fn forget(&mut self, request: MessageId) {
        if self.heartbeat == Some(request) {
            self.heartbeat = None;
        }
        if self.joining == Some(request) {
            self.joining = None;
        }
    }
}

impl Consumer {
    fn classic(&mut self) -> &mut Classic {
        match &mut self.membership.protocol {
            Protocol::Classic(classic) => classic,
            Protocol::Modern(_) => unreachable!("only members of classic groups are asked this"),
        }
    }

    /// Takes an answer of the classic protocol.
    pub(super) fn take_classic_answer(&mut self, message: &Message, kernel: &mut Kernel) {
        match &*message.body {
            Body::JoinGroupResponse(result) => self.handle_joined(result.as_ref(), kernel),
            Body::SyncGroupResponse(result) => self.handle_assigned(result.as_ref(), kernel),
            Body::OffsetFetchResponse(result) => self.handle_committed(result.as_ref(), kernel),
            _ => {}
        }
    }

    /// Takes the next stage of joining, if the last one is done.
    pub(super) fn classic_take_part(&mut self, kernel: &mut Kernel) {
        if self.classic().joining.is_some() {
            return;
        }
        match self.membership.state {
            ConsumerState::Joining => self.ask_to_join(kernel),
            ConsumerState::Stable => self.ask_for_committed(kernel),
            _ => {}
        }
    }

    fn ask_to_join(&mut self, kernel: &mut Kernel) {
        let has_id = self.classic().has_member_id;
        let request = JoinRequest {
            group: self.membership.group.clone(),
            member: has_id.then(|| self.membership.member.clone()),
            topics: self.network.topics.iter().cloned().collect(),
            rebalance_timeout_ms: self.settings.max_poll_interval_ms,
        };
        self.ask_coordinator(Body::JoinGroup(request), kernel);
    }

    fn ask_coordinator(&mut self, body: Body, kernel: &mut Kernel) {
        if let Some(coordinator) = self.reachable_coordinator(kernel) {
            let id = self.network.request(&self.machine, coordinator, body, kernel);
            self.classic().joining = Some(id);
        }
    }

    pub(super) fn handle_joined(
        &mut self,
        result: Result<&Joined, &KafkaError>,
        kernel: &mut Kernel,
    ) {
        self.classic().joining = None;
        match result {
            Err(KafkaError::MemberIdRequired) => self.classic().has_member_id = true,
            Err(error) => self.coordinator_refused(*error, kernel),
            Ok(joined) => {
                self.membership.epoch = joined.generation;
                let body = Body::SyncGroup {
                    group: self.membership.group.clone(),
                    member: self.membership.member.clone(),
                    generation: joined.generation,
                    assignments: self.assign(&joined.members),
                };
                self.ask_coordinator(body, kernel);
            }
        }
    }

    /// What the leader of a generation gives to each member: every topic in ranges, members in the
    /// order of their ids (`RangeAssignor`).
    fn assign(&self, members: &BTreeMap<String, Vec<String>>) -> Assignments {
        let mut assignments: Assignments =
            members.keys().map(|member| (member.clone(), Vec::new())).collect();
        for (topic, count) in &self.network.partition_counts {
            let takers: Vec<&String> = members
                .iter()
                .filter(|(_, topics)| topics.contains(topic))
                .map(|(m, _)| m)
                .collect();
            let Ok(taker_count) = u32::try_from(takers.len()) else { continue };
            let mut next = 0;
            for (index, member) in (0..taker_count).zip(takers) {
                let share = count / taker_count + u32::from(index < count % taker_count);
                let own = assignments.get_mut(member).expect("a member");
                own.extend((next..next + share).map(|p| TopicPartition::new(topic.clone(), p)));
                next += share;
            }
        }
        assignments
    }

    pub(super) fn handle_assigned(
        &mut self,
        result: Result<&Vec<TopicPartition>, &KafkaError>,
        kernel: &mut Kernel,
    ) {
        self.classic().joining = None;
        match result {
            Err(error) => self.coordinator_refused(*error, kernel),
            Ok(own) => {
                self.membership.state = ConsumerState::Stable;
                let next_ms = kernel.now_ms + self.settings.heartbeat_interval_ms;
                self.classic().heartbeat_ms = next_ms;
                self.assignment = own.iter().cloned().collect();
                self.positions.clear();
                self.fetched.clear();
                let names: Vec<String> = own.iter().map(ToString::to_string).collect();
                let text = format!(
                    "is assigned [{}] in generation {}",
                    names.join(", "),
                    self.membership.epoch
                );
                kernel.trace(EventKind::GroupChange, &self.machine, text);
            }
        }
    }

    /// Asks for the committed offsets of partitions whose start is not known.
    fn ask_for_committed(&mut self, kernel: &mut Kernel) {
        let unknown: Vec<TopicPartition> = self
            .assignment
            .iter()
            .filter(|partition| !self.positions.contains_key(*partition))
            .cloned()
            .collect();
        if !unknown.is_empty() {
            let group = self.membership.group.clone();
            self.ask_coordinator(Body::OffsetFetch { group, partitions: unknown }, kernel);
        }
    }

    pub(super) fn handle_committed(
        &mut self,
        result: Result<&Vec<(TopicPartition, Option<Offset>)>, &KafkaError>,
        kernel: &mut Kernel,
    ) {
        self.classic().joining = None;
        match result {
            Err(error) => self.coordinator_refused(*error, kernel),
            Ok(committed) => self.take_committed(committed, kernel),
        }
    }

    /// Committed offsets are where it begins.
    pub(super) fn take_committed(
        &mut self,
        committed: &[(TopicPartition, Option<Offset>)],
        kernel: &mut Kernel,
    ) {
        for (partition, offset) in committed {
            if self.assignment.contains(partition) {
                self.positions.insert(partition.clone(), *offset);
            }
        }
        self.note_positions(kernel);
    }

    /// Sends a heartbeat if one is due; it comes from a thread of its own, whatever the application
    /// does.
    pub(super) fn classic_beat(&mut self, kernel: &mut Kernel) {
        let classic = self.classic();
        let waits = classic.heartbeat.is_some() || classic.heartbeat_ms > kernel.now_ms;
        if waits || self.membership.state != ConsumerState::Stable {
            return;
        }
        let Some(coordinator) = self.reachable_coordinator(kernel) else { return };
        let body = Body::Heartbeat {
            group: self.membership.group.clone(),
            member: self.membership.member.clone(),
            generation: self.membership.epoch,
        };
        let request = self.network.request(&self.machine, coordinator, body, kernel);
        let next_ms = kernel.now_ms + self.settings.heartbeat_interval_ms;
        let classic = self.classic();
        classic.heartbeat = Some(request);
        classic.heartbeat_ms = next_ms;
    }

    pub(super) fn handle_heartbeat_response(
        &mut self,
        result: Result<(), KafkaError>,
        kernel: &mut Kernel,
    ) {
        self.classic().heartbeat = None;
        if let Err(error) = result {
            self.coordinator_refused(error, kernel);
        }
    }
}
