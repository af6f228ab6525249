//! A member of a classic group: how it joins, is given partitions, and gives them up.
//!
//! Follows `AbstractCoordinator.ensureActiveGroup`, `joinGroupIfNeeded`, and `ConsumerCoordinator`.
//! Joining happens inside `poll()`; heartbeats do not need the application (`heartbeat`).

use std::collections::BTreeSet;

use crate::sim::assignor::client::{Assignments, Racks, Strategy, Subscription};
use crate::sim::check::Note;
use crate::sim::defect::Defect;
use crate::sim::error::KafkaError;
use crate::sim::ids::TopicPartition;
use crate::sim::kernel::Kernel;
use crate::sim::message::{
    Body, JoinAnswer, JoinRequest, Joined, Message, MessageId, Speaker, SyncAnswer, SyncRequest,
};
use crate::sim::settings::ConsumerSettings;
use crate::sim::snapshot::ConsumerState;
use crate::sim::trace::EventKind;

use super::membership::Protocol;
use super::{CommitKind, Consumer, Membership};

/// A `JoinGroup` may wait this much longer than the rebalance timeout
/// (`JOIN_GROUP_TIMEOUT_LAPSE`).
const JOIN_TIMEOUT_LAPSE_MS: u64 = 5000;

/// How far a member has come (`AbstractCoordinator.MemberState`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Stage {
    #[default]
    Unjoined,
    /// Its `JoinGroup` is under way.
    Preparing,
    /// It knows its generation and waits for its assignment.
    Completing,
    Stable,
}

/// What a member of a classic group remembers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Classic {
    pub(super) stage: Stage,
    /// It has to join (again).
    pub(super) rejoin: bool,
    /// Before that it has to give up what it holds.
    prepares: bool,
    /// The commit that comes before that.
    commit: Option<MessageId>,
    commit_until_ms: Option<u64>,
    /// The `JoinGroup` or `SyncGroup` under way.
    request: Option<MessageId>,
    retry_from_ms: u64,
    pub(super) heartbeat: Option<MessageId>,
    pub(super) heartbeat_ms: u64,
    /// When the coordinator was last heard of.
    pub(super) heard_ms: u64,
    /// The application has to poll before this time.
    pub(super) poll_until_ms: u64,
    /// As the leader: the topics as they were when it assigned.
    assigned_for: Option<Racks>,
    /// As the leader: it waits for metadata of topics of the others.
    to_assign: Option<Joined>,
    strategy: Option<Strategy>,
    /// What the sticky assignor was last told, and in which generation.
    memory: Option<(Vec<TopicPartition>, i32)>,
}

impl Default for Classic {
    fn default() -> Classic {
        Classic {
            stage: Stage::Unjoined,
            rejoin: true,
            prepares: true,
            commit: None,
            commit_until_ms: None,
            request: None,
            retry_from_ms: 0,
            heartbeat: None,
            heartbeat_ms: 0,
            heard_ms: 0,
            poll_until_ms: u64::MAX,
            assigned_for: None,
            to_assign: None,
            strategy: None,
            memory: None,
        }
    }
}

impl Classic {
    /// A member that was there before 0 s.
    #[must_use]
    pub fn stable(given: (Strategy, &[TopicPartition], i32), leads_with: Option<Racks>) -> Classic {
        let (strategy, own, generation) = given;
        Classic {
            stage: Stage::Stable,
            rejoin: false,
            strategy: Some(strategy),
            memory: Some((own.to_vec(), generation)),
            assigned_for: leads_with,
            ..Classic::default()
        }
    }

    /// Its deadlines count from now.
    pub(super) fn start_clock(&mut self, settings: &ConsumerSettings, now_ms: u64) {
        self.heartbeat_ms = now_ms + settings.heartbeat_interval_ms;
        self.poll_until_ms = now_ms + settings.max_poll_interval_ms;
        self.heard_ms = now_ms;
    }

    /// The connection of a request is gone.
    pub(super) fn forget(&mut self, request: MessageId) {
        if self.heartbeat == Some(request) {
            self.heartbeat = None;
        }
        if self.request == Some(request) {
            self.request = None;
            self.stage = Stage::Unjoined;
        }
    }

    /// The session counts anew with a coordinator that was just found.
    pub(super) fn coordinator_found(&mut self, now_ms: u64) {
        self.heard_ms = now_ms;
    }

    pub(super) fn committer(
        &self,
        membership: &Membership,
        settings: &ConsumerSettings,
    ) -> Result<Speaker, KafkaError> {
        match (self.stage, &membership.member) {
            (Stage::Stable, Some(member)) => Ok(Speaker {
                member: member.clone(),
                instance: settings.instance.clone(),
                epoch: membership.epoch,
            }),
            (Stage::Preparing | Stage::Completing, _) => Err(KafkaError::RebalanceInProgress),
            _ => Err(KafkaError::UnknownMemberId),
        }
    }

    /// When something is due.
    pub(super) fn next_due_ms(&self, settings: &ConsumerSettings, polls: bool) -> Option<u64> {
        let beats = matches!(self.stage, Stage::Completing | Stage::Stable);
        let beat = beats.then_some(self.heartbeat_ms);
        let session = beats.then_some(self.heard_ms + settings.session_timeout_ms);
        let poll = (beats && !polls).then_some(self.poll_until_ms);
        let join = (polls && self.rejoin).then_some(self.retry_from_ms);
        [beat, session, poll, join, self.commit_until_ms].into_iter().flatten().min()
    }
}

impl Consumer {
    pub(super) fn classic(&mut self) -> &mut Classic {
        match &mut self.membership.protocol {
            Protocol::Classic(classic) => classic,
            Protocol::Modern(_) => unreachable!("only members of classic groups are asked this"),
        }
    }

    /// Takes an answer of the classic protocol.
    pub(super) fn take_classic_answer(&mut self, message: &Message, kernel: &mut Kernel) {
        if message.answers != self.classic().request {
            return;
        }
        self.classic().request = None;
        match &*message.body {
            Body::JoinGroupResponse(answer) => self.handle_joined(answer, kernel),
            Body::SyncGroupResponse(answer) => self.handle_assigned(answer, kernel),
            _ => {}
        }
    }

    pub(super) fn classic_take_part(&mut self, kernel: &mut Kernel) {
        let poll_until_ms = kernel.now_ms + self.settings.max_poll_interval_ms;
        self.classic().poll_until_ms = poll_until_ms;
        if self.membership.state == ConsumerState::Fenced {
            let error = KafkaError::FencedInstanceId.name();
            self.throw(error, "another process has its group.instance.id", kernel);
            return;
        }
        self.notice_other_topics(kernel);
        if let Some(joined) = self.classic().to_assign.take() {
            self.assign_and_sync(joined, kernel);
        }
        let classic = self.classic();
        let waits = classic.request.is_some() || classic.to_assign.is_some();
        if !classic.rejoin || waits || classic.retry_from_ms > kernel.now_ms {
            return;
        }
        if self.reachable_coordinator(kernel).is_some() && self.has_prepared(kernel) {
            self.ask_to_join(kernel);
        }
    }

    /// A leader whose topics have other partitions than when it assigned, or replicas in other
    /// racks, asks for a rebalance (`ConsumerCoordinator.rejoinNeededOrPending`).
    fn notice_other_topics(&mut self, kernel: &mut Kernel) {
        let classic = self.classic();
        // Only a leader has assigned anything; the others need not look.
        if classic.rejoin || classic.assigned_for.is_none() {
            return;
        }
        let now = self.topics_now();
        let classic = self.classic();
        if classic.assigned_for.as_ref() != Some(&now) {
            classic.rejoin = true;
            let text = "asks for a rebalance: the topics have changed";
            kernel.trace(EventKind::GroupChange, &self.machine, text);
        }
    }

    /// What a leader compares (`MetadataSnapshot`): without `client.rack` racks do not matter.
    pub fn topics_now(&self) -> Racks {
        let mut topics = self.network.racks.clone();
        topics.retain(|_, partitions| !partitions.is_empty());
        if self.settings.rack.is_empty() {
            topics.values_mut().flatten().for_each(BTreeSet::clear);
        }
        topics
    }

    /// Before it joins it commits, if it does so by itself, and gives up what the protocol says
    /// (`ConsumerCoordinator.onJoinPrepare`). False: the commit is under way.
    ///
    /// # Differs from Kafka
    /// A commit that fails is not sent again before the revocation.
    fn has_prepared(&mut self, kernel: &mut Kernel) -> bool {
        if !self.classic().prepares {
            return true;
        }
        if let Some(until_ms) = self.classic().commit_until_ms {
            let under_way = self.classic().commit.is_some_and(|id| self.commits.contains_key(&id));
            if under_way && until_ms > kernel.now_ms {
                return false;
            }
        } else if self.settings.auto_commit {
            let positions = self.known_positions();
            let sent = self.send_commit(positions, CommitKind::Auto, kernel);
            let until_ms = kernel.now_ms + self.settings.max_poll_interval_ms;
            let classic = self.classic();
            (classic.commit, classic.commit_until_ms) = (sent, sent.map(|_| until_ms));
            if sent.is_some() {
                return false;
            }
        }
        let classic = self.classic();
        (classic.prepares, classic.commit, classic.commit_until_ms) = (false, None, None);
        let lost = self.membership.epoch < 0;
        let keeps = self.classic().strategy == Some(Strategy::CooperativeSticky)
            || kernel.breaks(Defect::RevokedAfterAssignment);
        if lost {
            self.give_up_all("loses", kernel);
        } else if !keeps {
            self.give_up_all("gives up", kernel);
        }
        self.network.topics.clone_from(&self.topics);
        true
    }

    fn give_up_all(&mut self, word: &str, kernel: &mut Kernel) {
        let all: Vec<TopicPartition> = self.assignment.iter().cloned().collect();
        self.give_up(&all, word, kernel);
    }

    fn ask_to_join(&mut self, kernel: &mut Kernel) {
        let Some(coordinator) = self.reachable_coordinator(kernel) else { return };
        let said: Vec<(Strategy, Subscription)> =
            self.settings.assignors.clone().into_iter().map(|s| (s, self.says_to(s))).collect();
        let request = JoinRequest {
            group: self.membership.group.clone(),
            member: self.membership.member.clone(),
            instance: self.settings.instance.clone(),
            session_timeout_ms: self.settings.session_timeout_ms,
            rebalance_timeout_ms: self.settings.max_poll_interval_ms,
            protocols: said,
        };
        // The group may take its time to gather.
        let timeout_ms = (self.settings.max_poll_interval_ms + JOIN_TIMEOUT_LAPSE_MS)
            .max(self.settings.request_timeout_ms);
        let to = crate::sim::ids::Machine::Broker(coordinator);
        let id = kernel.request(&self.machine, &to, Body::JoinGroup(request));
        kernel.expire(id, timeout_ms);
        self.membership.state = ConsumerState::Joining;
        let classic = self.classic();
        (classic.request, classic.stage) = (Some(id), Stage::Preparing);
    }

    /// Its subscription for one assignor. The sticky one goes by what it remembers, as nothing is
    /// held any more when it joins; the cooperative one by what it holds.
    fn says_to(&mut self, strategy: Strategy) -> Subscription {
        let generation = Some(self.membership.epoch).filter(|epoch| *epoch >= 0);
        let (owned, generation) = match (strategy, &self.classic().memory) {
            (Strategy::Sticky, Some((own, generation))) => (own.clone(), Some(*generation)),
            (Strategy::Sticky, None) => (Vec::new(), None),
            _ => (self.assignment.iter().cloned().collect(), generation),
        };
        let rack = Some(self.settings.rack.clone()).filter(|rack| !rack.is_empty());
        let instance = self.settings.instance.clone();
        Subscription { topics: self.topics.clone(), instance, rack, owned, generation }
    }

    fn handle_joined(&mut self, answer: &JoinAnswer, kernel: &mut Kernel) {
        match &answer.result {
            Err(KafkaError::MemberIdRequired) => {
                self.counters.last_refusal = Some(KafkaError::MemberIdRequired);
                self.membership.member = Some(answer.member.clone());
                self.classic().stage = Stage::Unjoined;
            }
            Err(error) => self.join_failed(*error, kernel),
            Ok(joined) => {
                self.membership.epoch = joined.generation;
                self.membership.member = Some(answer.member.clone());
                let beat_ms = kernel.now_ms + self.settings.heartbeat_interval_ms;
                let classic = self.classic();
                classic.stage = Stage::Completing;
                classic.strategy = Some(joined.strategy);
                (classic.heard_ms, classic.heartbeat_ms) = (kernel.now_ms, beat_ms);
                classic.assigned_for = None;
                self.assign_and_sync(joined.clone(), kernel);
            }
        }
    }

    /// The leader assigns, once it knows the topics of all members; then it asks for its own part,
    /// as everybody does (`ConsumerCoordinator.onLeaderElected`).
    fn assign_and_sync(&mut self, joined: Joined, kernel: &mut Kernel) {
        let leads = Some(&joined.leader) == self.membership.member.as_ref();
        let mut assignments = Assignments::new();
        if leads {
            let wanted = joined.members.values().flat_map(|member| &member.topics);
            let unknown: BTreeSet<String> = wanted
                .filter(|topic| !self.network.partition_counts.contains_key(*topic))
                .cloned()
                .collect();
            if !unknown.is_empty() {
                self.network.topics.extend(unknown);
                self.network.want_refresh();
                self.classic().to_assign = Some(joined);
                return;
            }
            assignments = joined.strategy.assign(&joined.members, &self.network.racks);
            let now = self.topics_now();
            self.classic().assigned_for = Some(now);
        }
        let Some(coordinator) = self.reachable_coordinator(kernel) else {
            self.classic().to_assign = Some(joined);
            return;
        };
        let body = Body::SyncGroup(SyncRequest {
            group: self.membership.group.clone(),
            speaker: Speaker {
                member: self.membership.member.clone().unwrap_or_default(),
                instance: self.settings.instance.clone(),
                epoch: self.membership.epoch,
            },
            assignments,
        });
        let id = self.network.request(&self.machine, coordinator, body, kernel);
        self.classic().request = Some(id);
    }

    /// It is told its part (`ConsumerCoordinator.onJoinComplete`).
    fn handle_assigned(&mut self, answer: &SyncAnswer, kernel: &mut Kernel) {
        let own = match answer {
            Err(error) => return self.join_failed(*error, kernel),
            Ok(own) => own,
        };
        let generation = self.membership.epoch;
        self.membership.state = ConsumerState::Stable;
        let classic = self.classic();
        (classic.stage, classic.rejoin, classic.prepares) = (Stage::Stable, false, true);
        classic.memory = Some((own.clone(), generation));
        let given: BTreeSet<TopicPartition> = own.iter().cloned().collect();
        let revoked: Vec<TopicPartition> = self.assignment.difference(&given).cloned().collect();
        if !revoked.is_empty() {
            // Whoever gets them has to wait for another rebalance.
            self.give_up(&revoked, "gives up", kernel);
            self.classic().rejoin = true;
        }
        let names: Vec<String> = own.iter().map(ToString::to_string).collect();
        let text = format!("is assigned [{}] in generation {generation}", names.join(", "));
        kernel.trace(EventKind::GroupChange, &self.machine, text);
        self.assignment = given;
        kernel.note(Note::Assigned { consumer: self.membership.name.clone() });
        self.auto_commit_ms = kernel.now_ms + self.settings.auto_commit_interval_ms;
    }

    fn join_failed(&mut self, error: KafkaError, kernel: &mut Kernel) {
        self.coordinator_refused(error, kernel);
        self.classic().stage = Stage::Unjoined;
        self.classic().rejoin = true;
        match error {
            KafkaError::UnknownMemberId => self.forget_generation(None),
            KafkaError::IllegalGeneration => {
                let member = self.membership.member.clone();
                self.forget_generation(member);
            }
            KafkaError::RebalanceInProgress => {}
            KafkaError::FencedInstanceId => self.fence(kernel),
            error => {
                self.classic().retry_from_ms = kernel.now_ms + self.settings.retry_backoff_ms;
                if !error.is_retriable() {
                    self.throw(error.name(), "it cannot join its group", kernel);
                }
            }
        }
    }

    /// It is no member any more, as far as it knows (`resetStateAndGeneration`).
    pub(super) fn forget_generation(&mut self, member: Option<String>) {
        self.membership.epoch = -1;
        self.membership.member = member;
        let classic = self.classic();
        (classic.stage, classic.rejoin) = (Stage::Unjoined, true);
    }

    /// Another process has taken its place: it cannot go on.
    pub(super) fn fence(&mut self, kernel: &mut Kernel) {
        self.membership.state = ConsumerState::Fenced;
        self.counters.last_error = Some(KafkaError::FencedInstanceId.name());
        self.classic().stage = Stage::Unjoined;
        self.classic().rejoin = false;
        self.give_up_all("loses", kernel);
    }
}
