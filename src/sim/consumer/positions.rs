//! Where a consumer stands in each of its partitions: committed offsets, resets, seeks, and whether
//! the place still exists after an election.
//!
//! Follows `SubscriptionState`, `OffsetFetcher`, `OffsetFetcherUtils`, and
//! `ConsumerCoordinator.initWithCommittedOffsetsIfNeeded`.
//!
//! # Differs from Kafka
//! A committed offset carries no leader epoch; a place is checked against the leader's log only
//! once a record has been read.

use crate::sim::check::Note;
use crate::sim::error::KafkaError;
use crate::sim::group::Kind;
use crate::sim::ids::{BrokerId, LeaderEpoch, Offset, TopicPartition};
use crate::sim::kernel::Kernel;
use crate::sim::message::{
    Body, EpochEnd, EpochQuestion, Isolation, Message, MessageId, OffsetSpec,
};
use crate::sim::record::timestamp;
use crate::sim::settings::OffsetReset;
use crate::sim::trace::EventKind;

use super::Consumer;

/// What a consumer remembers of a partition besides its position.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// The leader epoch of the record before the position, if it was read.
    pub(super) epoch: Option<LeaderEpoch>,
    /// The leader epoch under which the position is known to exist.
    pub(super) checked: LeaderEpoch,
    /// The question whether it does, under way.
    check: Option<MessageId>,
    /// Whether the application has paused it.
    pub paused: bool,
    /// The replica to read from instead of the leader, until this time (KIP-392).
    pub(super) near: Option<(BrokerId, u64)>,
    /// After an error it is left alone until this time.
    pub(super) not_before_ms: u64,
}

impl Reading {
    pub(super) fn connection_lost(&mut self, request: MessageId, broker: BrokerId) {
        if self.check == Some(request) {
            self.check = None;
        }
        if self.near.is_some_and(|(near, _)| near == broker) {
            self.near = None;
        }
    }

    /// When it may be looked at again.
    pub(super) fn next_due_ms(&self) -> Option<u64> {
        Some(self.not_before_ms).filter(|at| *at > 0)
    }
}

impl Consumer {
    /// Every position that is known.
    pub(super) fn known_positions(&self) -> Vec<(TopicPartition, Offset)> {
        let known = self.positions.iter();
        known.filter_map(|(partition, at)| Some((partition.clone(), (*at)?))).collect()
    }

    pub(super) fn reading(&mut self, partition: &TopicPartition) -> &mut Reading {
        self.reading.entry(partition.clone()).or_default()
    }

    pub(super) fn waits(&self, partition: &TopicPartition, now_ms: u64) -> bool {
        self.reading.get(partition).is_some_and(|reading| reading.not_before_ms > now_ms)
    }

    pub(super) fn is_paused(&self, partition: &TopicPartition) -> bool {
        self.reading.get(partition).is_some_and(|reading| reading.paused)
    }

    pub(super) fn wait_a_little(&mut self, partition: &TopicPartition, kernel: &Kernel) {
        let until_ms = kernel.now_ms + self.settings.retry_backoff_ms;
        self.reading(partition).not_before_ms = until_ms;
    }

    /// Gives partitions up, with everything that is known of them.
    pub(super) fn give_up(
        &mut self,
        partitions: &[TopicPartition],
        word: &str,
        kernel: &mut Kernel,
    ) {
        if partitions.is_empty() {
            return;
        }
        for partition in partitions {
            self.assignment.remove(partition);
            self.positions.remove(partition);
            self.reading.remove(partition);
        }
        self.fetched.retain(|fetched| !partitions.contains(&fetched.partition));
        let names: Vec<String> = partitions.iter().map(ToString::to_string).collect();
        let text = format!("{word} [{}]", names.join(", "));
        kernel.trace(EventKind::GroupChange, &self.machine, text);
    }

    /// Asks for the committed offsets of partitions whose start is not known.
    pub(super) fn fetch_committed(&mut self, kernel: &mut Kernel) {
        let shares = self.modern().is_some_and(|modern| modern.kind == Kind::Share);
        if shares || self.offset_fetch.is_some() || self.offset_fetch_from_ms > kernel.now_ms {
            return;
        }
        let unknown: Vec<TopicPartition> = self
            .assignment
            .iter()
            .filter(|partition| !self.positions.contains_key(*partition))
            .cloned()
            .collect();
        if unknown.is_empty() {
            return;
        }
        let Some(coordinator) = self.reachable_coordinator(kernel) else { return };
        let group = self.membership.group.clone();
        let speaker = self.modern().is_some().then(|| self.committer().ok()).flatten();
        let body = Body::OffsetFetch { group, speaker, partitions: unknown };
        self.offset_fetch = Some(self.network.request(&self.machine, coordinator, body, kernel));
    }

    pub(super) fn handle_committed(&mut self, message: &Message, kernel: &mut Kernel) {
        let Body::OffsetFetchResponse(result) = &*message.body else { return };
        if self.offset_fetch != message.answers {
            return;
        }
        self.offset_fetch = None;
        match result {
            Err(error) => {
                self.offset_fetch_from_ms = kernel.now_ms + self.settings.retry_backoff_ms;
                self.coordinator_refused(*error, kernel);
            }
            Ok(committed) => {
                for (partition, offset) in committed {
                    let is_new = !self.positions.contains_key(partition);
                    if is_new && self.assignment.contains(partition) {
                        self.positions.insert(partition.clone(), *offset);
                        let (partition, offset) = (partition.clone(), *offset);
                        let consumer = self.membership.name.clone();
                        kernel.note(Note::Started { consumer, partition, offset });
                    }
                }
                self.note_positions(kernel);
            }
        }
    }

    /// Looks up the start of partitions whose position is unresolved.
    pub(super) fn resolve_positions(&mut self, kernel: &mut Kernel) {
        let now_ms = timestamp(kernel.now_ms);
        let spec = match self.settings.offset_reset {
            OffsetReset::Earliest => OffsetSpec::Earliest,
            OffsetReset::Latest => match self.settings.isolation {
                Isolation::Uncommitted => OffsetSpec::Latest,
                Isolation::Committed => OffsetSpec::LatestStable,
            },
            OffsetReset::ByDuration(ms) => OffsetSpec::At(now_ms - ms),
            OffsetReset::None => return,
        };
        let asked: Vec<&TopicPartition> = self.look_ups.values().flatten().collect();
        let unresolved: Vec<TopicPartition> = self
            .assignment
            .iter()
            .filter(|partition| self.positions.get(*partition) == Some(&None))
            .filter(|partition| !asked.contains(partition))
            .filter(|partition| !self.waits(partition, kernel.now_ms))
            .cloned()
            .collect();
        for partition in unresolved {
            let machine = self.machine.clone();
            let Some(leader) = self.network.leader(&partition) else {
                self.network.want_refresh();
                continue;
            };
            if self.network.is_ready(leader, &machine, kernel) {
                let body = Body::ListOffsets { partitions: vec![(partition.clone(), spec)] };
                let id = self.network.request(&machine, leader, body, kernel);
                self.look_ups.insert(id, vec![partition]);
            }
        }
    }

    /// A look-up by time that finds no record is asked again after `request.timeout.ms`
    /// (`OffsetFetcher.resetPositionsAsync`).
    pub(super) fn handle_offsets_found(
        &mut self,
        message: &Message,
        found: &[(TopicPartition, Result<Option<Offset>, KafkaError>)],
        kernel: &mut Kernel,
    ) {
        let asked = message.answers.and_then(|request| self.look_ups.remove(&request));
        if asked.is_none() {
            return;
        }
        for (partition, result) in found {
            if self.positions.get(partition) != Some(&None) {
                continue;
            }
            match result {
                Ok(Some(offset)) => {
                    self.positions.insert(partition.clone(), Some(*offset));
                    let epoch = self.network.leader_epoch(partition);
                    let reading = self.reading(partition);
                    (reading.epoch, reading.checked) = (None, epoch);
                    self.note_reset(partition, kernel);
                }
                Ok(None) => {
                    let until_ms = kernel.now_ms + self.settings.request_timeout_ms;
                    self.reading(partition).not_before_ms = until_ms;
                }
                Err(error) => {
                    self.counters.last_refusal = Some(*error);
                    self.wait_a_little(partition, kernel);
                    self.network.want_refresh();
                }
            }
        }
        self.note_positions(kernel);
    }

    /// The position lies outside the log: what `auto.offset.reset` says.
    pub(super) fn reset(&mut self, partition: &TopicPartition, kernel: &mut Kernel) {
        if self.settings.offset_reset == OffsetReset::None {
            self.wait_a_little(partition, kernel);
            let text = format!("the position in {partition} is out of range");
            self.throw(KafkaError::OffsetOutOfRange.name(), &text, kernel);
        } else {
            self.positions.insert(partition.clone(), None);
        }
    }

    /// The application goes to another place.
    pub fn seek(&mut self, partition: &TopicPartition, offset: Offset, kernel: &mut Kernel) {
        if !self.holds(partition, "seek()", kernel) {
            return;
        }
        self.fetched.retain(|fetched| fetched.partition != *partition);
        self.positions.insert(partition.clone(), Some(offset));
        let epoch = self.network.leader_epoch(partition);
        let reading = self.reading(partition);
        (reading.epoch, reading.checked, reading.check) = (None, epoch, None);
        reading.not_before_ms = 0;
        self.note_reset(partition, kernel);
        self.note_positions(kernel);
        self.pump(kernel);
    }

    /// `pause()`: what it holds of these partitions stays, nothing more is fetched or returned.
    pub fn pause_partitions(&mut self, partitions: &[TopicPartition], kernel: &mut Kernel) {
        for partition in partitions {
            if self.holds(partition, "pause()", kernel) {
                self.reading(partition).paused = true;
            }
        }
    }

    /// `resume()`.
    pub fn resume_partitions(&mut self, partitions: &[TopicPartition], kernel: &mut Kernel) {
        for partition in partitions {
            if self.holds(partition, "resume()", kernel) {
                self.reading(partition).paused = false;
            }
        }
        self.pump(kernel);
    }

    /// Whether it holds a partition; otherwise the application's call throws.
    fn holds(&mut self, partition: &TopicPartition, call: &str, kernel: &mut Kernel) -> bool {
        let holds = self.assignment.contains(partition);
        if !holds {
            let text = format!("{call} of {partition}, which it does not hold");
            self.counters.last_error = Some("IllegalStateException");
            kernel.trace(EventKind::Failed, &self.machine, text);
        }
        holds
    }

    /// Whether a position has to be checked before more is read: there is a newer leader epoch, and
    /// a record was read under an older one
    /// (`SubscriptionState.maybeValidatePositionForCurrentLeader`).
    pub(super) fn is_unchecked(&self, partition: &TopicPartition) -> bool {
        self.reading.get(partition).is_some_and(|reading| {
            reading.epoch.is_some() && reading.checked < self.network.leader_epoch(partition)
        })
    }

    /// Asks the leaders whether the positions still exist in their logs (KIP-320).
    pub(super) fn check_positions(&mut self, kernel: &mut Kernel) {
        let unchecked: Vec<TopicPartition> = self
            .assignment
            .iter()
            .filter(|partition| self.is_unchecked(partition))
            .filter(|partition| !self.waits(partition, kernel.now_ms))
            .cloned()
            .collect();
        for partition in unchecked {
            let machine = self.machine.clone();
            let Some(leader) = self.network.leader(&partition) else {
                self.network.want_refresh();
                continue;
            };
            let leader_epoch = self.network.leader_epoch(&partition);
            let reading = self.reading(&partition);
            let (Some(epoch), None) = (reading.epoch, reading.check) else { continue };
            if self.network.is_ready(leader, &machine, kernel) {
                let question = EpochQuestion { partition: partition.clone(), leader_epoch, epoch };
                let body = Body::OffsetForLeaderEpoch(vec![question]);
                let id = self.network.request(&machine, leader, body, kernel);
                self.reading(&partition).check = Some(id);
            }
        }
    }

    /// Where the leader's log ends for the epoch that was read last. If that is below the position,
    /// what was read is no longer there (`SubscriptionState.maybeCompleteValidation`).
    pub(super) fn handle_epoch_ends(
        &mut self,
        message: &Message,
        ends: &[(TopicPartition, Result<EpochEnd, KafkaError>)],
        kernel: &mut Kernel,
    ) {
        for (partition, result) in ends {
            let leader_epoch = self.network.leader_epoch(partition);
            let position = self.positions.get(partition).copied().flatten();
            let Some(reading) = self.reading.get_mut(partition) else { continue };
            let (true, Some(position)) = (reading.check == message.answers, position) else {
                continue;
            };
            reading.check = None;
            match result {
                Err(error) => {
                    self.counters.last_refusal = Some(*error);
                    self.wait_a_little(partition, kernel);
                    self.network.want_refresh();
                }
                Ok(Some((_, end))) if *end >= position => reading.checked = leader_epoch,
                Ok(end) => self.truncated(partition, *end, kernel),
            }
        }
    }

    fn truncated(&mut self, partition: &TopicPartition, end: EpochEnd, kernel: &mut Kernel) {
        self.fetched.retain(|fetched| fetched.partition != *partition);
        let text = format!("what it has read of {partition} is no longer in the log");
        if self.settings.offset_reset == OffsetReset::None {
            self.wait_a_little(partition, kernel);
            self.throw("LogTruncationException", &text, kernel);
            return;
        }
        kernel.trace(EventKind::Truncate, &self.machine, text);
        let leader_epoch = self.network.leader_epoch(partition);
        let reading = self.reading(partition);
        (reading.epoch, reading.checked) = (end.map(|(epoch, _)| epoch), leader_epoch);
        self.positions.insert(partition.clone(), end.map(|(_, offset)| offset));
        self.note_reset(partition, kernel);
    }

    /// Tells the checkers that a position was put somewhere by a rule or by the application.
    fn note_reset(&self, partition: &TopicPartition, kernel: &mut Kernel) {
        let consumer = self.membership.name.clone();
        kernel.note(Note::Reset { consumer, partition: partition.clone() });
    }

    /// Tells the checkers where the consumer stands.
    pub(super) fn note_positions(&self, kernel: &mut Kernel) {
        for (partition, offset) in self.known_positions() {
            let group = self.membership.group.clone();
            kernel.note(Note::Position { group, partition, offset });
        }
    }
}
