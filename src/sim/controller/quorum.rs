//! The metadata log and its replication: gather, append, fetch, commit.
//!
//! Follows `KafkaRaftClient`, `BatchAccumulator`, KIP-595, KIP-1166 (a fetch that waits is also
//! answered when the high watermark moves).
//!
//! # Differs from Kafka
//! The disk takes no time.

use std::sync::Arc;

use crate::sim::check::Note;
use crate::sim::kernel::Kernel;
use crate::sim::message::{Body, Message, MessageId};
use crate::sim::metadata::{Change, Entry};
use crate::sim::timer::Timer;
use crate::sim::trace::EventKind;

use super::Controller;

/// How long the active controller holds a fetch (`KafkaRaftClient.MAX_FETCH_WAIT_MS`).
const FETCH_WAIT_MS: u64 = 500;

impl Controller {
    fn log_end(&self) -> u64 {
        self.log_start + self.log.len() as u64
    }

    /// Takes a decision: its own image has it at once, the log a little later. Returns the offset
    /// that has to be committed for it.
    pub(super) fn decide(&mut self, change: Change, kernel: &mut Kernel) -> u64 {
        let entry = Entry { offset: self.image.offset, epoch: self.epoch, change };
        self.image.apply(&entry);
        let Some(active) = self.active.as_mut() else { return self.image.offset };
        if active.gathered.is_empty() {
            let at = kernel.now_ms + self.settings.append_linger_ms;
            kernel.timer(&self.machine, at, Timer::MetadataDrain);
        }
        active.gathered.push(entry.change);
        self.image.offset
    }

    /// Answers a request once everything decided so far is committed.
    pub(super) fn answer_when_committed(
        &mut self,
        message: &Message,
        body: Body,
        kernel: &mut Kernel,
    ) {
        let offset = self.image.offset;
        match self.active.as_mut() {
            Some(active) if offset > self.committed => {
                kernel.hold(message);
                active.deferred.push((offset, message.clone(), body));
            }
            _ => kernel.answer(message, body),
        }
    }

    /// Writes what was gathered to the log.
    pub(super) fn drain(&mut self, kernel: &mut Kernel) {
        let Some(active) = self.active.as_mut() else { return };
        for change in std::mem::take(&mut active.gathered) {
            let offset = self.log_start + self.log.len() as u64;
            self.log.push(Arc::new(Entry { offset, epoch: self.epoch, change }));
        }
        self.advance_commit(kernel);
        self.serve_waiting(kernel);
    }

    /// Commits what a majority of the voters has (`LeaderState.maybeUpdateHighWatermark`).
    fn advance_commit(&mut self, kernel: &mut Kernel) {
        let own_end = self.log_end();
        let Some(active) = self.active.as_ref() else { return };
        let mut ends: Vec<u64> = active.voters.values().copied().chain([own_end]).collect();
        ends.sort_unstable_by(|a, b| b.cmp(a));
        let majority = ends[ends.len() / 2];
        self.commit_to(majority, kernel);
    }

    fn commit_to(&mut self, offset: u64, kernel: &mut Kernel) {
        while self.committed < offset.min(self.log_end()) {
            let index =
                usize::try_from(self.committed - self.log_start).expect("the log fits in memory");
            let entry = Arc::clone(&self.log[index]);
            if self.active.is_some() {
                self.report(&entry, kernel);
            }
            self.committed_image.apply(&entry);
            self.committed += 1;
        }
        let Some(active) = self.active.as_mut() else { return };
        let (due, later): (Vec<_>, Vec<_>) = std::mem::take(&mut active.deferred)
            .into_iter()
            .partition(|(at, ..)| *at <= self.committed);
        active.deferred = later;
        for (_, message, body) in due {
            kernel.answer(&message, body);
        }
    }

    /// Tells the trace what a committed entry changes.
    fn report(&self, entry: &Entry, kernel: &mut Kernel) {
        match &entry.change {
            Change::Partition(partition, state) => {
                let before = self.committed_image.partitions.get(partition);
                let text = super::partitions::describe(partition, before.map(Arc::as_ref), state);
                kernel.trace(EventKind::PartitionChange, &self.machine, text);
                kernel.note(Note::Touched(partition.clone()));
            }
            Change::Topic(topic, state) => {
                let known = self.committed_image.topics.contains_key(topic);
                let word = match state {
                    Some(_) if known => "changed",
                    Some(_) => "created",
                    None => "deleted",
                };
                kernel.trace(EventKind::TopicChange, &self.machine, format!("{topic} is {word}"));
            }
            Change::Broker(broker, state) => {
                let word = if state.fenced { "fenced" } else { "active" };
                let text = format!("broker-{broker} is {word}, broker epoch {}", state.epoch);
                kernel.trace(EventKind::BrokerChange, &self.machine, text);
            }
        }
    }

    /// A voter or a broker asks for entries. Voters thereby tell how far their log reaches.
    pub(super) fn handle_fetch(
        &mut self,
        message: &Message,
        (offset, known): (u64, u64),
        kernel: &mut Kernel,
    ) {
        let Some(active) = self.active.as_mut() else { return };
        if let Some(end) = active.voters.get_mut(&message.from) {
            *end = offset;
            self.advance_commit(kernel);
            self.serve_waiting(kernel);
        }
        // A broker learns what is committed, a voter what is written.
        if self.has_news(message, offset, known) {
            self.answer_fetch(message, offset, kernel);
            return;
        }
        kernel.hold(message);
        let at = kernel.now_ms + FETCH_WAIT_MS;
        kernel.timer(&self.machine, at, Timer::HeldRequestExpires(message.id));
        if let Some(active) = self.active.as_mut() {
            active.waiting.push((message.clone(), offset, known));
        }
    }

    fn has_news(&self, message: &Message, offset: u64, known_commit: u64) -> bool {
        if self.voters.contains(&message.from) {
            offset < self.log_end() || known_commit < self.committed
        } else {
            offset < self.committed
        }
    }

    fn answer_fetch(&self, message: &Message, offset: u64, kernel: &mut Kernel) {
        let end = if self.voters.contains(&message.from) { self.log_end() } else { self.committed };
        let place =
            |offset: u64| usize::try_from(offset - self.log_start).expect("the log fits in memory");
        let from = offset.clamp(self.log_start, end);
        let entries = self.log[place(from)..place(end)].to_vec();
        kernel.answer(
            message,
            Body::QuorumFetchResponse { entries, committed: self.committed, error: None },
        );
    }

    fn serve_waiting(&mut self, kernel: &mut Kernel) {
        let Some(active) = self.active.as_mut() else { return };
        let waiting = std::mem::take(&mut active.waiting);
        let (news, still): (Vec<_>, Vec<_>) = waiting
            .into_iter()
            .partition(|(message, offset, known)| self.has_news(message, *offset, *known));
        if let Some(active) = self.active.as_mut() {
            active.waiting = still;
        }
        for (message, offset, _) in news {
            self.answer_fetch(&message, offset, kernel);
        }
    }

    pub(super) fn expire_fetch(&mut self, id: MessageId, kernel: &mut Kernel) {
        let Some(active) = self.active.as_mut() else { return };
        if let Some(index) = active.waiting.iter().position(|(message, ..)| message.id == id) {
            let (message, offset, _) = active.waiting.remove(index);
            self.answer_fetch(&message, offset, kernel);
        }
    }

    /// A voter that is not active copies the log.
    pub(super) fn fetch_from_leader(&mut self, kernel: &mut Kernel) {
        let body = Body::QuorumFetch { offset: self.log_end(), committed: self.committed };
        self.fetch = Some(kernel.request(&self.machine, &self.leader, body));
    }

    pub(super) fn take_entries(
        &mut self,
        entries: &[Arc<Entry>],
        committed: u64,
        kernel: &mut Kernel,
    ) {
        self.fetch = None;
        for entry in entries {
            if entry.offset == self.log_end() {
                self.image.apply(entry);
                self.log.push(Arc::clone(entry));
            }
        }
        self.commit_to(committed, kernel);
        self.fetch_from_leader(kernel);
    }
}
