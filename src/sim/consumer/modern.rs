//! Membership where the coordinator assigns (KIP-848): heartbeats that join, report and leave, and
//! the way from one assignment to the next.
//!
//! Follows `ConsumerHeartbeatRequestManager`, `ConsumerMembershipManager`. A thread of its own does
//! it, whatever the application does; with automatic commits partitions are given up inside
//! `poll()`.
//!
//! # Differs from Kafka
//! Giving partitions up does not wait for the answer to the commit before it; both go over one
//! connection, so the coordinator gets the commit first.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::sim::error::KafkaError;
use crate::sim::group::Kind;
use crate::sim::group::modern::{Beat, JOIN_EPOCH, LEAVE_EPOCH, LEAVE_STATIC_EPOCH, Subscription};
use crate::sim::ids::TopicPartition;
use crate::sim::kernel::Kernel;
use crate::sim::message::{BeatAnswer, Body, GroupBeat, Message, MessageId, Speaker};
use crate::sim::snapshot::ConsumerState;
use crate::sim::trace::EventKind;
use crate::sim::world::Settings;

use super::membership::Protocol;
use super::{CommitKind, Consumer};

/// Whether a heartbeat says what the member has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Report {
    /// The coordinator knows.
    #[default]
    Known,
    /// The next one does.
    Next,
    /// The next one does, and goes at once.
    Now,
}

/// What a member remembers whose coordinator assigns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Modern {
    /// Which heartbeat it sends.
    pub kind: Kind,
    /// Its member id, made by itself for each process.
    pub member: String,
    /// What it wants.
    wants: Arc<Subscription>,
    /// The next heartbeat is due then.
    heartbeat_ms: u64,
    heartbeat: Option<MessageId>,
    /// What it was told to have, as long as it has not got there.
    target: Option<BTreeSet<TopicPartition>>,
    /// Whether the coordinator has to hear what it has.
    report: Report,
    /// Whether it is leaving.
    leaves: bool,
    /// Whether the application has not polled for too long.
    is_stuck: bool,
}

impl Modern {
    /// A member that has not joined. `process` counts the processes of this name from 0.
    #[must_use]
    pub fn new(kind: Kind, (client, process): (&str, u32), config: &Settings) -> Modern {
        let text = |name: &str| config.get(name).filter(|text| !text.is_empty()).cloned();
        let member =
            if process == 0 { client.to_owned() } else { format!("{client}#{}", process + 1) };
        let wants = Subscription {
            client: client.to_owned(),
            instance: text("group.instance.id").filter(|_| kind == Kind::Consumer),
            rack: text("client.rack"),
            assignor: text("group.remote.assignor").filter(|_| kind == Kind::Consumer),
            ..Subscription::default()
        };
        Modern { kind, member, wants: Arc::new(wants), ..Modern::default() }
    }

    /// A member of a warm world: the next heartbeat is due after one interval.
    pub fn join_before(&mut self, interval_ms: u64) {
        self.heartbeat_ms = interval_ms;
    }

    /// What it wants, with these topics and this rebalance time-out.
    #[must_use]
    pub fn subscription(&self, topics: &BTreeSet<String>, rebalance_ms: u64) -> Arc<Subscription> {
        Arc::new(Subscription {
            topics: topics.clone(),
            rebalance_timeout_ms: rebalance_ms,
            ..(*self.wants).clone()
        })
    }

    /// The connection of a request is gone.
    pub fn forget(&mut self, request: MessageId) {
        if self.heartbeat == Some(request) {
            // Nobody knows whether it was heard: it is said again, all of it.
            self.heartbeat = None;
            (self.heartbeat_ms, self.report) = (0, Report::Next);
        }
    }

    /// When its next heartbeat is due, in milliseconds.
    #[must_use]
    pub fn next_beat_ms(&self) -> u64 {
        self.heartbeat_ms
    }

    /// As whom it commits; a member of a share group does not.
    pub(super) fn committer(&self, epoch: i32) -> Result<Speaker, KafkaError> {
        if epoch <= JOIN_EPOCH || self.is_stuck || self.kind == Kind::Share {
            return Err(KafkaError::UnknownMemberId);
        }
        let instance = self.wants.instance.clone();
        Ok(Speaker { member: self.member.clone(), instance, epoch })
    }
}

impl Consumer {
    pub(super) fn modern(&mut self) -> Option<&mut Modern> {
        match &mut self.membership.protocol {
            Protocol::Modern(modern) => Some(modern),
            Protocol::Classic(_) => None,
        }
    }

    /// Sends a heartbeat if one is due, or if there is something to say at once.
    pub(super) fn modern_beat(&mut self, kernel: &mut Kernel) {
        self.give_up_if_stuck(kernel);
        let state = self.membership.state;
        let Some(modern) = self.modern() else { return };
        let takes_part = matches!(state, ConsumerState::Joining | ConsumerState::Stable);
        let due = modern.heartbeat_ms <= kernel.now_ms || modern.report == Report::Now;
        let idle = !takes_part || modern.is_stuck || modern.leaves;
        if idle || !due || modern.heartbeat.is_some() {
            return;
        }
        self.send_beat(kernel);
    }

    fn send_beat(&mut self, kernel: &mut Kernel) {
        let Some(coordinator) = self.reachable_coordinator(kernel) else { return };
        let joins = self.membership.epoch == JOIN_EPOCH;
        let rebalance_ms = self.settings.max_poll_interval_ms;
        let (topics, owned) = (self.network.topics.clone(), self.assignment.clone());
        let (group, epoch) = (self.membership.group.clone(), self.membership.epoch);
        let Some(modern) = self.modern() else { return };
        let says_all = joins || modern.report != Report::Known;
        let tells = says_all && modern.kind == Kind::Consumer;
        let beat = Beat {
            member: modern.member.clone(),
            epoch,
            subscription: joins.then(|| modern.subscription(&topics, rebalance_ms)),
            instance: modern.wants.instance.clone(),
            owned: tells.then_some(owned),
        };
        modern.report = Report::Known;
        // Another heartbeat goes when the answer tells when.
        modern.heartbeat_ms = u64::MAX;
        let body = beat_body(modern.kind, GroupBeat { group, beat });
        let id = self.network.request(&self.machine, coordinator, body, kernel);
        if let Some(modern) = self.modern() {
            modern.heartbeat = Some(id);
        }
    }

    /// Takes the coordinator's answer to a heartbeat.
    pub(super) fn handle_beat_answer(
        &mut self,
        message: &Message,
        result: Result<&BeatAnswer, &KafkaError>,
        kernel: &mut Kernel,
    ) {
        let Some(modern) = self.modern() else { return };
        modern.heartbeat = None;
        match result {
            _ if modern.leaves => self.left(message.answers),
            _ if modern.is_stuck => {}
            Err(error) => self.beat_refused(*error, kernel),
            Ok(answer) => {
                modern.heartbeat_ms = kernel.now_ms + answer.interval_ms;
                if let Some(assignment) = &answer.assignment {
                    modern.target = Some(assignment.clone());
                }
                self.membership.epoch = answer.epoch;
                self.membership.state = ConsumerState::Stable;
                self.reconcile(kernel);
            }
        }
    }

    /// Goes to the assignment that it was told: first it gives up, then it takes. With automatic
    /// commits it commits before, which the application's thread does.
    pub(super) fn reconcile(&mut self, kernel: &mut Kernel) {
        let commits = self.settings.auto_commit;
        let polls = self.poll_until.is_some();
        let Some(modern) = self.modern() else { return };
        let commits = commits && modern.kind == Kind::Consumer;
        let Some(target) = modern.target.take() else { return };
        let gives_up = self.assignment.iter().any(|partition| !target.contains(partition));
        if gives_up && commits && !polls {
            if let Some(modern) = self.modern() {
                modern.target = Some(target);
            }
            return;
        }
        if target == self.assignment {
            return;
        }
        if gives_up && commits {
            let positions = self.known_positions();
            self.send_commit(positions, CommitKind::Auto, kernel);
        }
        self.take_assignment(target, kernel);
        if let Some(modern) = self.modern() {
            modern.report = Report::Now;
        }
        self.modern_beat(kernel);
    }

    fn take_assignment(&mut self, target: BTreeSet<TopicPartition>, kernel: &mut Kernel) {
        self.positions.retain(|partition, _| target.contains(partition));
        self.reading.retain(|partition, _| target.contains(partition));
        self.fetched.retain(|fetched| target.contains(&fetched.partition));
        self.assignment = target;
        let names: Vec<String> = self.assignment.iter().map(ToString::to_string).collect();
        let text = format!("has [{}] in epoch {}", names.join(", "), self.membership.epoch);
        kernel.trace(EventKind::GroupChange, &self.machine, text);
    }

    fn beat_refused(&mut self, error: KafkaError, kernel: &mut Kernel) {
        self.coordinator_refused(error, kernel);
        let retry_ms = kernel.now_ms + self.settings.retry_backoff_ms;
        match error {
            KafkaError::UnknownMemberId | KafkaError::FencedMemberEpoch => {
                let text = format!("is shut out of {}: {error}", self.membership.group);
                kernel.trace_error(EventKind::Refused, &self.machine, text, error);
                self.lose_everything(kernel);
                self.membership.state = ConsumerState::Joining;
                self.set_beat(kernel.now_ms);
            }
            _ if error.is_retriable() => {
                self.set_beat(retry_ms);
                if let Some(modern) = self.modern() {
                    modern.report = Report::Next;
                }
            }
            _ => {
                self.lose_everything(kernel);
                self.membership.state = ConsumerState::Fenced;
                self.throw(error.name(), "it cannot be a member", kernel);
            }
        }
    }

    fn set_beat(&mut self, at_ms: u64) {
        if let Some(modern) = self.modern() {
            modern.heartbeat_ms = at_ms;
        }
    }

    /// It holds nothing any more, and has to join anew.
    fn lose_everything(&mut self, kernel: &mut Kernel) {
        self.membership.epoch = JOIN_EPOCH;
        if let Some(modern) = self.modern() {
            (modern.target, modern.report) = (None, Report::Known);
        }
        if !self.assignment.is_empty() {
            self.take_assignment(BTreeSet::new(), kernel);
        }
    }

    /// Inside `poll()`: gives up what it could not give up before.
    pub(super) fn modern_take_part(&mut self, kernel: &mut Kernel) {
        if self.modern().is_some_and(|modern| modern.is_stuck) {
            self.come_back(kernel);
        }
        self.reconcile(kernel);
    }

    /// The last heartbeat, if it is a member and can tell the coordinator.
    pub(super) fn modern_leave(&mut self, kernel: &mut Kernel) -> Option<MessageId> {
        let is_member = self.membership.epoch > JOIN_EPOCH;
        let coordinator = self.reachable_coordinator(kernel).filter(|_| is_member);
        let group = self.membership.group.clone();
        let modern = self.modern()?;
        modern.leaves = true;
        modern.heartbeat = None;
        let coordinator = coordinator?;
        let body = beat_body(modern.kind, GroupBeat { group, beat: modern.last_beat() });
        let id = self.network.request(&self.machine, coordinator, body, kernel);
        if let Some(modern) = self.modern() {
            modern.heartbeat = Some(id);
        }
        Some(id)
    }

    /// The application has not polled for `max.poll.interval.ms`: the member leaves by itself
    /// (`HeartbeatRequestManager`, `PollTimer`).
    fn give_up_if_stuck(&mut self, kernel: &mut Kernel) {
        let over = self.poll_overdue_ms().is_some_and(|at| at <= kernel.now_ms);
        let is_member = self.membership.epoch > JOIN_EPOCH;
        let Some(modern) = self.modern() else { return };
        if !over || !is_member || modern.is_stuck || modern.leaves || modern.kind == Kind::Share {
            return;
        }
        let last = modern.last_beat();
        let kind = modern.kind;
        modern.is_stuck = true;
        let text = format!("leaves {}: no poll() in time", self.membership.group);
        kernel.trace(EventKind::GroupChange, &self.machine, text);
        if let Some(coordinator) = self.reachable_coordinator(kernel) {
            let group = self.membership.group.clone();
            let body = beat_body(kind, GroupBeat { group, beat: last });
            self.network.request(&self.machine, coordinator, body, kernel);
        }
    }

    /// The application polls again: what it had is lost, and it joins anew.
    fn come_back(&mut self, kernel: &mut Kernel) {
        self.lose_everything(kernel);
        self.membership.state = ConsumerState::Joining;
        if let Some(modern) = self.modern() {
            modern.is_stuck = false;
            modern.heartbeat_ms = kernel.now_ms;
        }
        self.modern_beat(kernel);
    }
}

impl Modern {
    fn last_beat(&self) -> Beat {
        let epoch = if self.wants.instance.is_some() { LEAVE_STATIC_EPOCH } else { LEAVE_EPOCH };
        Beat {
            member: self.member.clone(),
            epoch,
            subscription: None,
            instance: self.wants.instance.clone(),
            owned: None,
        }
    }
}

fn beat_body(kind: Kind, said: GroupBeat) -> Body {
    match kind {
        Kind::Consumer => Body::ConsumerGroupHeartbeat(said),
        Kind::Share => Body::ShareGroupHeartbeat(said),
    }
}
