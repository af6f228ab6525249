//! The share coordinator: what share groups have to remember, kept in `__share_group_state`; and
//! how others on this broker reach it.
//!
//! Follows `ShareCoordinatorService`, `ShareCoordinatorShard`, `PersisterStateManager`.

use std::collections::BTreeMap;

use crate::sim::error::KafkaError;
use crate::sim::ids::{BrokerId, LeaderEpoch, Machine, Offset, TopicPartition};
use crate::sim::kernel::Kernel;
use crate::sim::message::{Body, Message, MessageId, StateRead};
use crate::sim::record::{Batch, InternalRecord, Record};
use crate::sim::share::{STATE_TOPIC, Saved, SavedStates, StateChange, state_home_of};
use crate::sim::timer::Timer;
use crate::sim::trace::EventKind;

use super::offsets::{COMMIT_TIMEOUT_MS, coordinator_error};
use super::{Broker, Held};

/// First pause before a share coordinator is asked again, doubled each time
/// (`PersisterStateManager.REQUEST_BACKOFF_MS`).
const BACKOFF_MS: u64 = 1000;
/// How often it is asked (`MAX_RPC_RETRY_ATTEMPTS`).
const ATTEMPTS_MAX: u32 = 5;
/// After which the connection of a request counts as dead (`request.timeout.ms` of brokers).
const REQUEST_TIMEOUT_MS: u64 = 30_000;

/// What this broker wants of a share coordinator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Errand {
    /// The state of these partitions, all of one home, is to be set up for a group.
    SetUp { group: String, partitions: Vec<TopicPartition> },
    /// Where a group stands in a partition.
    Read { group: String, partition: TopicPartition, leader_epoch: LeaderEpoch },
    /// A change is to be saved; a member may wait for that.
    Save { change: StateChange, asked_by: Option<MessageId> },
}

impl Errand {
    fn place(&self) -> Option<(&str, &TopicPartition)> {
        match self {
            Errand::SetUp { group, partitions } => Some((group, partitions.first()?)),
            Errand::Read { group, partition, .. } => Some((group, partition)),
            Errand::Save { change, .. } => Some((&change.group, &change.partition)),
        }
    }

    fn body(&self) -> Body {
        match self.clone() {
            Errand::SetUp { group, partitions } => {
                Body::InitializeShareGroupState { group, partitions }
            }
            Errand::Read { group, partition, leader_epoch } => {
                let asked = crate::sim::message::ReadState { group, partition, leader_epoch };
                Body::ReadShareGroupState(asked)
            }
            Errand::Save { change, .. } => Body::WriteShareGroupState(change),
        }
    }
}

/// Errands of this broker, and what it coordinates itself.
#[derive(Clone, Debug, Default)]
pub struct ShareStates {
    /// What this broker coordinates, by partition of `__share_group_state`.
    states: BTreeMap<TopicPartition, SavedStates>,
    /// Errands whose answer is under way, with the number of attempts before.
    asked: BTreeMap<MessageId, (Errand, u32)>,
    /// Errands that wait for their next attempt.
    waiting: BTreeMap<u64, (Errand, u32)>,
    next: u64,
}

impl ShareStates {
    /// Whether some partitions of a group are being set up.
    fn sets_up(&self, group: &str, partition: &TopicPartition) -> bool {
        let asked = self.asked.values().chain(self.waiting.values());
        asked.map(|(errand, _)| errand).any(|errand| match errand {
            Errand::SetUp { group: of, partitions } => {
                of == group && partitions.contains(partition)
            }
            _ => false,
        })
    }

    /// Forgets a partition that this broker no longer leads.
    pub fn unload(&mut self, home: &TopicPartition) {
        self.states.remove(home);
    }
}

impl Broker {
    fn state_home(&self, group: &str, partition: &TopicPartition) -> TopicPartition {
        let count = self.image.topics.get(STATE_TOPIC).map_or(1, |topic| topic.partition_count);
        state_home_of(group, partition, count)
    }

    /// On becoming leader of a partition of `__share_group_state`: reads it.
    pub(super) fn load_share_states(&mut self, home: &TopicPartition) {
        if home.topic != STATE_TOPIC {
            return;
        }
        let mut states = SavedStates::default();
        let log = self.replicas.get(home).map(|replica| &replica.log);
        for (_, record, _) in log.into_iter().flat_map(|log| log.records_from(log.start_offset())) {
            if let Some(InternalRecord::ShareState(change)) = record.internal.as_deref() {
                states.apply(change);
            }
        }
        self.share_states.states.insert(home.clone(), states);
    }

    /// Takes a request to the share coordinator.
    pub(super) fn handle_share_state(&mut self, message: &Message, kernel: &mut Kernel) {
        let result = match &*message.body {
            Body::ReadShareGroupState(asked) => {
                let home = self.state_home(&asked.group, &asked.partition);
                let states = self.share_states.states.get_mut(&home);
                let read = states.ok_or(KafkaError::NotCoordinator).and_then(|states| {
                    states.read(&asked.group, &asked.partition, asked.leader_epoch)
                });
                kernel.answer(message, Body::ReadShareGroupStateResponse(read));
                return;
            }
            Body::InitializeShareGroupState { group, partitions } => {
                let change = |partition: &TopicPartition| StateChange {
                    group: group.clone(),
                    partition: partition.clone(),
                    leader_epoch: LeaderEpoch(0),
                    start: None,
                    records: Vec::new(),
                };
                let changes: Vec<StateChange> = partitions.iter().map(change).collect();
                self.save_states(&changes, kernel)
            }
            Body::WriteShareGroupState(change) => {
                self.save_states(std::slice::from_ref(change), kernel)
            }
            _ => return,
        };
        match result {
            Ok((home, required)) if self.is_committed(&home, required) => {
                answer_state(message, Ok(()), kernel);
                self.complete_held(&home, kernel);
            }
            Ok((home, required)) => {
                let held = Held::ShareState(message.clone(), home.clone(), required);
                self.hold(held, COMMIT_TIMEOUT_MS, kernel);
                self.complete_held(&home, kernel);
            }
            Err(error) => answer_state(message, Err(error), kernel),
        }
    }

    /// Writes changes that have one home. What has to be committed.
    fn save_states(
        &mut self,
        changes: &[StateChange],
        kernel: &mut Kernel,
    ) -> Result<(TopicPartition, Offset), KafkaError> {
        let first = changes.first().ok_or(KafkaError::InvalidRequest)?;
        let home = self.state_home(&first.group, &first.partition);
        let states = self.share_states.states.get_mut(&home).ok_or(KafkaError::NotCoordinator)?;
        for change in changes.iter().filter(|change| change.start.is_some()) {
            states.check(&change.group, &change.partition, change.leader_epoch)?;
        }
        let records =
            changes.iter().map(|change| state_record(change.clone(), kernel.now_ms)).collect();
        let required =
            self.append_internal(&home, Batch::of(records), kernel).map_err(coordinator_error)?;
        if let Some(states) = self.share_states.states.get_mut(&home) {
            for change in changes {
                states.apply(change);
            }
        }
        Ok((home, required))
    }

    pub(super) fn try_complete_share_state(&mut self, id: MessageId, kernel: &mut Kernel) {
        let Some(Held::ShareState(message, home, required)) = self.held.get(&id).cloned() else {
            return;
        };
        let leads = self.replicas.get(&home).is_some_and(|replica| replica.leader().is_some());
        if self.is_committed(&home, required) {
            self.unhold(id);
            answer_state(&message, Ok(()), kernel);
        } else if !leads {
            self.unhold(id);
            answer_state(&message, Err(KafkaError::NotCoordinator), kernel);
        }
    }

    pub(super) fn expire_share_state(&mut self, id: MessageId, kernel: &mut Kernel) {
        if let Some(Held::ShareState(message, ..)) = self.unhold(id) {
            answer_state(&message, Err(KafkaError::CoordinatorNotAvailable), kernel);
        }
    }

    /// The group coordinator has the state of new partitions set up.
    pub(super) fn set_up_share_state(
        &mut self,
        home: &TopicPartition,
        group: &str,
        kernel: &mut Kernel,
    ) {
        let Some(known) =
            self.offsets.groups_mut(home).and_then(|groups| groups.find_modern(group))
        else {
            return;
        };
        let pending: Vec<TopicPartition> = known.being_set_up().iter().cloned().collect();
        let mut by_home: BTreeMap<TopicPartition, Vec<TopicPartition>> = BTreeMap::new();
        for partition in pending {
            if !self.share_states.sets_up(group, &partition) {
                let home = self.state_home(group, &partition);
                by_home.entry(home).or_default().push(partition);
            }
        }
        for partitions in by_home.into_values() {
            self.run_errand(Errand::SetUp { group: group.to_owned(), partitions }, 0, kernel);
        }
    }

    /// Asks the share coordinator; it may be this broker itself.
    pub(super) fn run_errand(&mut self, errand: Errand, attempts: u32, kernel: &mut Kernel) {
        let Some((group, partition)) = errand.place() else { return };
        let home = self.state_home(group, partition);
        let leader = self.image.partitions.get(&home).and_then(|state| state.leader);
        let Some(leader) = leader.filter(|leader: &BrokerId| self.image.is_active(*leader)) else {
            self.errand_failed(errand, (attempts, KafkaError::CoordinatorNotAvailable), kernel);
            return;
        };
        let id = kernel.request(&self.machine, &Machine::Broker(leader), errand.body());
        kernel.expire(id, REQUEST_TIMEOUT_MS);
        self.share_states.asked.insert(id, (errand, attempts));
    }

    /// An attempt has failed: another one comes later, a few times.
    fn errand_failed(
        &mut self,
        errand: Errand,
        (attempts, error): (u32, KafkaError),
        kernel: &mut Kernel,
    ) {
        if attempts + 1 >= ATTEMPTS_MAX {
            self.errand_is_over(errand, Err(error), kernel);
            return;
        }
        let number = self.share_states.next;
        self.share_states.next += 1;
        self.share_states.waiting.insert(number, (errand, attempts + 1));
        let at_ms = kernel.now_ms + (BACKOFF_MS << attempts);
        kernel.timer(&self.machine, at_ms, Timer::ShareStateAgain(number));
    }

    pub(super) fn errand_again(&mut self, number: u64, kernel: &mut Kernel) {
        if let Some((errand, attempts)) = self.share_states.waiting.remove(&number) {
            self.run_errand(errand, attempts, kernel);
        }
    }

    /// The connection of a request is gone. Says whether it was one to a share coordinator.
    pub(super) fn errand_lost(&mut self, request: MessageId, kernel: &mut Kernel) -> bool {
        let Some((errand, attempts)) = self.share_states.asked.remove(&request) else {
            return false;
        };
        self.errand_failed(errand, (attempts, KafkaError::CoordinatorNotAvailable), kernel);
        true
    }

    /// Takes an answer of a share coordinator.
    pub(super) fn handle_share_state_answer(&mut self, message: &Message, kernel: &mut Kernel) {
        let asked = message.answers.and_then(|id| self.share_states.asked.remove(&id));
        let Some((errand, attempts)) = asked else { return };
        let (read, result) = match &*message.body {
            Body::ReadShareGroupStateResponse(read) => {
                (read.clone().ok(), read.as_ref().map(|_| ()).map_err(|error| *error))
            }
            Body::InitializeShareGroupStateResponse(result)
            | Body::WriteShareGroupStateResponse(result) => (None, *result),
            _ => return,
        };
        match result {
            Err(error) if error.is_retriable() => {
                self.errand_failed(errand, (attempts, error), kernel);
            }
            Err(error) => self.errand_is_over(errand, Err(error), kernel),
            Ok(()) => self.errand_is_over(errand, Ok(read.unwrap_or_default()), kernel),
        }
    }

    fn errand_is_over(&mut self, errand: Errand, result: StateRead, kernel: &mut Kernel) {
        if let Err(error) = &result {
            let text = format!("cannot reach the state of a share group: {error}");
            kernel.trace_error(EventKind::Refused, &self.machine, text, *error);
        }
        match errand {
            Errand::SetUp { group, partitions } => {
                if result.is_ok() {
                    self.share_state_is_set_up(&group, &partitions, kernel);
                }
            }
            Errand::Read { group, partition, leader_epoch } => {
                self.begin_sharing((&group, &partition), leader_epoch, result, kernel);
            }
            Errand::Save { change, asked_by } => {
                self.share_change_is_saved(&change, asked_by, result.map(|_| ()), kernel);
            }
        }
    }

    /// Has a change of what a group remembers saved.
    pub(super) fn save_share_change(
        &mut self,
        (group, partition): (&str, &TopicPartition),
        (start, records): (Offset, Vec<Saved>),
        asked_by: Option<MessageId>,
        kernel: &mut Kernel,
    ) {
        let leader_epoch =
            self.replicas.get(partition).map_or(LeaderEpoch(0), |replica| replica.leader_epoch);
        let change = StateChange {
            group: group.to_owned(),
            partition: partition.clone(),
            leader_epoch,
            start: Some(start),
            records,
        };
        self.run_errand(Errand::Save { change, asked_by }, 0, kernel);
    }
}

fn answer_state(message: &Message, result: Result<(), KafkaError>, kernel: &mut Kernel) {
    let body = match &*message.body {
        Body::InitializeShareGroupState { .. } => Body::InitializeShareGroupStateResponse(result),
        _ => Body::WriteShareGroupStateResponse(result),
    };
    kernel.answer(message, body);
}

/// A change as a record of `__share_group_state`.
#[must_use]
pub(in crate::sim) fn state_record(change: StateChange, now_ms: u64) -> Record {
    Record::internal(
        format!("{}:{}", change.group, change.partition).into(),
        // Start offset, epochs, and 16 bytes for each record's state.
        Some(30 + 16 * change.records.len() as u64),
        InternalRecord::ShareState(change),
        now_ms,
    )
}
