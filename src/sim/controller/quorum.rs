//! The metadata log and its replication: gather, append, fetch, commit.
//!
//! Follows `KafkaRaftClient`, `BatchAccumulator`, KIP-595, KIP-1166 (a fetch that waits is also
//! answered when the high watermark moves).
//!
//! # Differs from Kafka
//! The disk takes no time.

use std::sync::Arc;

use crate::sim::check::Note;
use crate::sim::error::KafkaError;
use crate::sim::kernel::Kernel;
use crate::sim::message::{Body, LogEnd, Message, MessageId, QuorumFetch, QuorumFetched};
use crate::sim::metadata::{Change, Entry};
use crate::sim::timer::Timer;
use crate::sim::trace::EventKind;

use super::{Controller, Progress};

/// How long the active controller holds a fetch (`KafkaRaftClient.MAX_FETCH_WAIT_MS`).
const FETCH_WAIT_MS: u64 = 500;

/// Pause after a failed fetch (`controller.quorum.retry.backoff.ms`).
const FETCH_RETRY_MS: u64 = 20;

/// The epoch of everything that a warm world begins with.
const FIRST_EPOCH: u32 = 1;

impl Controller {
    pub(super) fn log_end(&self) -> u64 {
        self.log_start + self.log.len() as u64
    }

    /// The end of its log, by which voters compare logs.
    pub(super) fn end(&self) -> LogEnd {
        let epoch = self.log.last().map_or(FIRST_EPOCH, |entry| entry.epoch);
        LogEnd { epoch, offset: self.log_end() }
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

    /// Commits what a majority of the voters has, once an entry of the present epoch is among it
    /// (`LeaderState.maybeUpdateHighWatermark`).
    fn advance_commit(&mut self, kernel: &mut Kernel) {
        let own_end = self.log_end();
        let Some(active) = self.active.as_ref() else { return };
        let others = active.voters.values().map(|progress| progress.end);
        let mut ends: Vec<u64> = others.chain([own_end]).collect();
        ends.sort_unstable_by(|a, b| b.cmp(a));
        let majority = ends[ends.len() / 2];
        let index = usize::try_from(majority - self.log_start).expect("the log fits in memory");
        let of_this_epoch = index
            .checked_sub(1)
            .is_some_and(|last| self.log.get(last).is_some_and(|e| e.epoch == self.epoch));
        if of_this_epoch {
            self.commit_to(majority, kernel);
        }
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
            Change::ClusterConfig(_) => {
                kernel.trace(
                    EventKind::ConfigChange,
                    &self.machine,
                    "settings of all brokers changed",
                );
            }
            Change::GroupConfig(group, _) => {
                let text = format!("settings of {group} changed");
                kernel.trace(EventKind::ConfigChange, &self.machine, text);
            }
            Change::BrokerConfig(broker, _) => {
                let text = format!("settings of broker-{broker} changed");
                kernel.trace(EventKind::ConfigChange, &self.machine, text);
            }
            Change::NewController => {
                let text = format!("is the active controller of epoch {}", entry.epoch);
                kernel.trace(EventKind::ControllerChange, &self.machine, text);
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
        fetch: QuorumFetch,
        kernel: &mut Kernel,
    ) {
        if fetch.epoch > self.epoch {
            self.stand_back(fetch.epoch, kernel);
        }
        if self.active.is_none() {
            let fetched =
                QuorumFetched { error: Some(KafkaError::NotController), ..self.nothing() };
            kernel.answer(message, Body::QuorumFetchResponse(fetched));
            return;
        }
        let common = self.common_end(fetch);
        if common < fetch.offset {
            let fetched = QuorumFetched { diverging: Some(common), ..self.nothing() };
            kernel.answer(message, Body::QuorumFetchResponse(fetched));
            return;
        }
        let now_ms = kernel.now_ms;
        let progress = self.active.as_mut().and_then(|active| active.voters.get_mut(&message.from));
        if let Some(progress) = progress {
            *progress = Progress { end: fetch.offset, fetched_ms: now_ms };
            self.advance_commit(kernel);
            self.serve_waiting(kernel);
        }
        // A broker learns what is committed, a voter what is written.
        if self.has_news(message, fetch) {
            self.answer_fetch(message, fetch.offset, kernel);
            return;
        }
        kernel.hold(message);
        let at = kernel.now_ms + FETCH_WAIT_MS;
        kernel.timer(&self.machine, at, Timer::HeldRequestExpires(message.id));
        if let Some(active) = self.active.as_mut() {
            active.waiting.push((message.clone(), fetch));
        }
    }

    /// An answer without entries.
    fn nothing(&self) -> QuorumFetched {
        QuorumFetched {
            entries: Vec::new(),
            committed: self.committed,
            diverging: None,
            error: None,
            leader: self.leader.clone().map(|leader| (leader, self.epoch)),
        }
    }

    /// How far a fetcher's log can agree with this one: to the end of its last epoch here
    /// (KIP-595).
    fn common_end(&self, fetch: QuorumFetch) -> u64 {
        let end = self.log.partition_point(|entry| entry.epoch <= fetch.last_epoch);
        fetch.offset.min(self.log_start + end as u64)
    }

    fn has_news(&self, message: &Message, fetch: QuorumFetch) -> bool {
        if self.voters.contains(&message.from) {
            fetch.offset < self.log_end() || fetch.committed < self.committed
        } else {
            fetch.offset < self.committed
        }
    }

    fn answer_fetch(&self, message: &Message, offset: u64, kernel: &mut Kernel) {
        let end = if self.voters.contains(&message.from) { self.log_end() } else { self.committed };
        let place =
            |offset: u64| usize::try_from(offset - self.log_start).expect("the log fits in memory");
        let from = offset.clamp(self.log_start, end);
        let entries = self.log[place(from)..place(end)].to_vec();
        let fetched = QuorumFetched { entries, ..self.nothing() };
        kernel.answer(message, Body::QuorumFetchResponse(fetched));
    }

    fn serve_waiting(&mut self, kernel: &mut Kernel) {
        let Some(active) = self.active.as_mut() else { return };
        let waiting = std::mem::take(&mut active.waiting);
        let (news, still): (Vec<_>, Vec<_>) =
            waiting.into_iter().partition(|(message, fetch)| self.has_news(message, *fetch));
        if let Some(active) = self.active.as_mut() {
            active.waiting = still;
        }
        for (message, fetch) in news {
            self.answer_fetch(&message, fetch.offset, kernel);
        }
    }

    pub(super) fn expire_fetch(&mut self, id: MessageId, kernel: &mut Kernel) {
        let Some(active) = self.active.as_mut() else { return };
        if let Some(index) = active.waiting.iter().position(|(message, _)| message.id == id) {
            let (message, fetch) = active.waiting.remove(index);
            self.answer_fetch(&message, fetch.offset, kernel);
        }
    }

    /// A voter that is not active copies the log.
    pub(super) fn fetch_from_leader(&mut self, kernel: &mut Kernel) {
        let Some(leader) = self.leader.clone().filter(|leader| *leader != self.machine) else {
            return;
        };
        if self.fetch.is_some() {
            return;
        }
        let end = self.end();
        let fetch = QuorumFetch {
            offset: end.offset,
            last_epoch: end.epoch,
            committed: self.committed,
            epoch: self.epoch,
        };
        let id = kernel.request(&self.machine, &leader, Body::QuorumFetch(fetch));
        self.fetch = Some(id);
        kernel.expire(id, self.settings.quorum_request_timeout_ms);
    }

    pub(super) fn take_entries(
        &mut self,
        message: &Message,
        fetched: &QuorumFetched,
        kernel: &mut Kernel,
    ) {
        if self.fetch != message.answers {
            return;
        }
        self.fetch = None;
        if let Some((leader, epoch)) = &fetched.leader
            && *epoch > self.epoch
        {
            self.follow(leader, *epoch, kernel);
            return;
        }
        if fetched.error.is_some() {
            self.leader = None;
            return;
        }
        self.patience_ms = kernel.now_ms + self.settings.quorum_fetch_timeout_ms;
        if let Some(end) = fetched.diverging {
            self.truncate_log(end);
        }
        for entry in &fetched.entries {
            if entry.offset == self.log_end() {
                self.image.apply(entry);
                self.log.push(Arc::clone(entry));
            }
        }
        self.commit_to(fetched.committed, kernel);
        self.fetch_from_leader(kernel);
    }

    /// Cuts what no majority had, and forgets decisions that are not in the log.
    pub(super) fn truncate_log(&mut self, end: u64) {
        let keep = usize::try_from(end.saturating_sub(self.log_start)).unwrap_or(usize::MAX);
        self.log.truncate(keep);
        let committed = usize::try_from(self.committed - self.log_start).unwrap_or(usize::MAX);
        self.image = self.committed_image.clone();
        for entry in self.log.iter().skip(committed) {
            self.image.apply(entry);
        }
    }

    /// The fetch under way is lost; another follows after a pause.
    pub(super) fn fetch_lost(&mut self, request: MessageId, kernel: &mut Kernel) {
        if self.fetch == Some(request) {
            self.fetch = None;
            let again = kernel.now_ms + FETCH_RETRY_MS;
            kernel.timer(&self.machine, again, Timer::QuorumFetchAgain);
        }
    }
}
