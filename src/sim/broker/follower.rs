//! The follower's side of replication: one fetcher per leader, appending, truncating, learning the
//! high watermark.
//!
//! Follows `AbstractFetcherThread`, `ReplicaFetcherThread`, KIP-595 for truncation while fetching.
//! One request per leader is under way at a time.
//!
//! # Differs from Kafka
//! `num.replica.fetchers` is 1, and a request asks for all partitions (no incremental fetch
//! sessions); the leader reads the same.

use std::collections::BTreeMap;

use crate::sim::check::Note;
use crate::sim::defect::Defect;
use crate::sim::error::KafkaError;
use crate::sim::ids::{BrokerId, LeaderEpoch, Machine, Offset, TopicPartition};
use crate::sim::kernel::Kernel;
use crate::sim::message::{
    Body, FetchPartition, FetchedData, FetchedPartition, Message, MessageId, OffsetSpec,
};
use crate::sim::timer::Timer;
use crate::sim::trace::EventKind;

use super::{Broker, Role};

/// What copies from one leader.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fetcher {
    /// Its partitions, each with the time until which it pauses after an error.
    pub partitions: BTreeMap<TopicPartition, u64>,
    /// The request that is not answered.
    pub in_flight: Option<MessageId>,
    /// The whole fetcher pauses until then, after a failed connection.
    paused_until: u64,
    /// Questions about the leader's log for partitions that lie outside of it.
    look_ups: BTreeMap<MessageId, TopicPartition>,
}

impl Broker {
    /// Starts following a leader with one partition.
    pub(super) fn follow(
        &mut self,
        partition: &TopicPartition,
        leader: BrokerId,
        kernel: &mut Kernel,
    ) {
        self.unfollow(partition);
        self.fetchers.entry(leader).or_default().partitions.insert(partition.clone(), 0);
        // Woken by a timer of this very millisecond, so that all partitions of one change share a
        // request.
        kernel.timer(&self.machine, kernel.now_ms, Timer::FetcherWake(leader));
    }

    /// Stops following anybody with one partition.
    pub(super) fn unfollow(&mut self, partition: &TopicPartition) {
        for fetcher in self.fetchers.values_mut() {
            fetcher.partitions.remove(partition);
            fetcher.look_ups.retain(|_, asked| asked != partition);
        }
        self.fetchers
            .retain(|_, fetcher| !fetcher.partitions.is_empty() || fetcher.in_flight.is_some());
    }

    /// Sends the next fetch to a leader, unless one is under way or nothing may be fetched now.
    pub(super) fn wake_fetcher(&mut self, leader: BrokerId, kernel: &mut Kernel) {
        let Some(fetcher) = self.fetchers.get(&leader) else { return };
        if fetcher.in_flight.is_some() {
            return;
        }
        if fetcher.paused_until > kernel.now_ms {
            return;
        }
        let due: Vec<&TopicPartition> = fetcher
            .partitions
            .iter()
            .filter(|(partition, until)| {
                **until <= kernel.now_ms && !self.stalled.covers(partition)
            })
            .map(|(partition, _)| partition)
            .collect();
        let mut partitions: Vec<FetchPartition> =
            due.into_iter().filter_map(|partition| self.next_fetch(partition)).collect();
        if kernel.breaks(Defect::TruncationSkipped) {
            for part in &mut partitions {
                part.last_fetched_epoch = None;
            }
        }
        if partitions.is_empty() {
            return;
        }
        let body = Body::ReplicaFetch {
            broker_epoch: self.life.epoch.unwrap_or(0),
            max_wait_ms: self.settings.fetch_wait_max_ms,
            partitions,
        };
        let id = kernel.request(&self.machine, &Machine::Broker(leader), body);
        kernel.expire(id, self.settings.replica_socket_timeout_ms);
        let fetcher = self.fetchers.get_mut(&leader).expect("it was there above");
        fetcher.in_flight = Some(id);
    }

    fn next_fetch(&self, partition: &TopicPartition) -> Option<FetchPartition> {
        let replica = self.replicas.get(partition)?;
        Some(FetchPartition {
            partition: partition.clone(),
            offset: replica.log.end_offset(),
            last_fetched_epoch: replica.log.latest_epoch(),
            leader_epoch: replica.leader_epoch,
        })
    }

    pub(super) fn handle_replica_fetch_response(&mut self, message: &Message, kernel: &mut Kernel) {
        let (Body::ReplicaFetchResponse(parts), Machine::Broker(leader)) =
            (&*message.body, &message.from)
        else {
            return;
        };
        if let Some(fetcher) = self.fetchers.get_mut(leader) {
            fetcher.in_flight = None;
        }
        for part in parts {
            self.take_fetched(*leader, part, kernel);
        }
        self.wake_fetcher(*leader, kernel);
    }

    /// Takes what came for one partition, if it still is what was asked for: from this offset on,
    /// under the present leader epoch (`AbstractFetcherThread.processFetchRequest`). What was
    /// answered under an earlier one may be about another log.
    fn take_fetched(&mut self, leader: BrokerId, part: &FetchedPartition, kernel: &mut Kernel) {
        let follows = self
            .fetchers
            .get(&leader)
            .is_some_and(|fetcher| fetcher.partitions.contains_key(&part.partition));
        let Some(replica) = self.replicas.get(&part.partition) else { return };
        if !follows
            || replica.log.end_offset() != part.offset
            || replica.leader_epoch != part.leader_epoch
            || replica.role != Role::Follower(Some(leader))
        {
            return;
        }
        match &part.result {
            Ok(FetchedData { diverging: Some((epoch, end)), .. }) => {
                self.truncate_to_common_end(&part.partition, (*epoch, *end), kernel);
            }
            Ok(data) => self.append_as_follower(&part.partition, data, kernel),
            Err(error) => self.fetch_refused(leader, &part.partition, *error, kernel),
        }
    }

    /// Appends what the leader sent and takes over its high watermark, so far as the own log
    /// reaches (`ReplicaFetcherThread.processPartitionData`).
    fn append_as_follower(
        &mut self,
        partition: &TopicPartition,
        data: &FetchedData,
        kernel: &mut Kernel,
    ) {
        let Some(replica) = self.replicas.get_mut(partition) else { return };
        let before = replica.log.end_offset();
        if let Some(first) = data.batches.first() {
            replica.begin_within(first);
        }
        for stored in data.batches.iter().filter(|stored| stored.end_offset() > before) {
            replica.append(stored.clone());
        }
        let end = replica.log.end_offset();
        let known = replica.high_watermark;
        let high_watermark = known.max(data.high_watermark.min(end)).max(data.log_start.min(end));
        replica.raise_high_watermark(high_watermark);
        if replica.raise_start(data.log_start) {
            let text = format!("{partition} learns log start {}", data.log_start);
            kernel.trace(EventKind::LogStart, &self.machine, text);
        }
        if end > before {
            let text = format!("{partition} log end {before} -> {end}");
            kernel.trace(EventKind::Append, &self.machine, text);
        }
        kernel.note(Note::Touched(partition.clone()));
        if high_watermark > known {
            let text = format!("{partition} learns high watermark {known} -> {high_watermark}");
            kernel.trace(EventKind::HighWatermark, &self.machine, text);
            // Consumers may wait here for what is committed now.
            self.complete_held(partition, kernel);
        }
    }

    /// Cuts the log where it leaves the leader's
    /// (`AbstractFetcherThread.getOffsetTruncationState`).
    fn truncate_to_common_end(
        &mut self,
        partition: &TopicPartition,
        leader_end: (LeaderEpoch, Offset),
        kernel: &mut Kernel,
    ) {
        let Some(replica) = self.replicas.get_mut(partition) else { return };
        let own_end = replica.log.end_offset();
        let target = match replica.log.end_offset_for_epoch(leader_end.0) {
            // The leader's epoch is not known here: try again from the end of the largest smaller
            // one.
            Some((epoch, end)) if epoch != leader_end.0 => end,
            Some((_, end)) => end.min(leader_end.1),
            None => leader_end.1,
        };
        replica.truncate_to(target.min(own_end));
        let end = replica.log.end_offset();
        let text = format!(
            "{partition} cuts its log at {end}: the leader's epoch {} ends at {}",
            leader_end.0, leader_end.1
        );
        kernel.trace(EventKind::Truncate, &self.machine, text);
        kernel.note(Note::Touched(partition.clone()));
    }

    fn fetch_refused(
        &mut self,
        leader: BrokerId,
        partition: &TopicPartition,
        error: KafkaError,
        kernel: &mut Kernel,
    ) {
        if error == KafkaError::OffsetOutOfRange {
            self.ask_for_log_ends(leader, partition, kernel);
            return;
        }
        let until = kernel.now_ms + self.settings.fetch_backoff_ms;
        if let Some(fetcher) = self.fetchers.get_mut(&leader) {
            fetcher.partitions.insert(partition.clone(), until);
        }
        let text = format!("{partition} pauses its fetches from broker-{leader}: {error}");
        kernel.trace_error(EventKind::Refused, &self.machine, text, error);
        kernel.timer(&self.machine, until, Timer::FetcherWake(leader));
    }

    /// The leader's log does not reach to where this one ends: asks where it begins and ends
    /// (`AbstractFetcherThread.handleOutOfRangeError`). Until then the partition is not fetched.
    ///
    /// # Differs from Kafka
    /// Both are asked for in one request.
    fn ask_for_log_ends(
        &mut self,
        leader: BrokerId,
        partition: &TopicPartition,
        kernel: &mut Kernel,
    ) {
        let partitions = [OffsetSpec::LogEnd, OffsetSpec::Earliest]
            .map(|spec| (partition.clone(), spec))
            .to_vec();
        let to = Machine::Broker(leader);
        let id = kernel.request(&self.machine, &to, Body::ListOffsets { partitions });
        kernel.expire(id, self.settings.replica_socket_timeout_ms);
        if let Some(fetcher) = self.fetchers.get_mut(&leader) {
            fetcher.partitions.insert(partition.clone(), u64::MAX);
            fetcher.look_ups.insert(id, partition.clone());
        }
    }

    /// Cuts the log to the leader's end, or begins anew at the leader's start
    /// (`AbstractFetcherThread.fetchOffsetAndTruncate`).
    pub(super) fn handle_log_ends(
        &mut self,
        message: &Message,
        found: &[(TopicPartition, Result<Option<Offset>, KafkaError>)],
        kernel: &mut Kernel,
    ) {
        let (Machine::Broker(leader), Some(request)) = (&message.from, message.answers) else {
            return;
        };
        let Some(fetcher) = self.fetchers.get_mut(leader) else { return };
        let Some(partition) = fetcher.look_ups.remove(&request) else { return };
        let Some(pause) = fetcher.partitions.get_mut(&partition) else { return };
        *pause = kernel.now_ms;
        let found = found.iter().map(|(_, result)| result.ok().flatten());
        let [Some(end), Some(start)] = found.collect::<Vec<_>>()[..] else {
            *pause = kernel.now_ms + self.settings.fetch_backoff_ms;
            kernel.timer(&self.machine, *pause, Timer::FetcherWake(*leader));
            return;
        };
        let Some(replica) = self.replicas.get_mut(&partition) else { return };
        let own_end = replica.log.end_offset();
        if end < own_end {
            replica.truncate_to(end);
            let text = format!("{partition} cuts its log at {end}, where the leader's ends");
            kernel.trace(EventKind::Truncate, &self.machine, text);
        } else if start > own_end {
            replica.start_anew_at(start);
            let text = format!("{partition} drops its log and begins anew at {start}");
            kernel.trace(EventKind::Truncate, &self.machine, text);
        }
        kernel.note(Note::Touched(partition));
        self.wake_fetcher(*leader, kernel);
    }

    /// A question about the leader's log will not be answered: the partition is fetched again
    /// after a pause. Says whether it was one.
    pub(super) fn look_up_failed(&mut self, request: MessageId, kernel: &mut Kernel) -> bool {
        let until = kernel.now_ms + self.settings.fetch_backoff_ms;
        for (leader, fetcher) in &mut self.fetchers {
            if let Some(partition) = fetcher.look_ups.remove(&request) {
                if let Some(pause) = fetcher.partitions.get_mut(&partition) {
                    *pause = until;
                }
                kernel.timer(&self.machine, until, Timer::FetcherWake(*leader));
                return true;
            }
        }
        false
    }

    /// The connection to a leader is gone: its fetcher pauses for `replica.fetch.backoff.ms`.
    pub(super) fn fetch_failed(&mut self, request: MessageId, kernel: &mut Kernel) {
        let Some((leader, fetcher)) =
            self.fetchers.iter_mut().find(|(_, fetcher)| fetcher.in_flight == Some(request))
        else {
            return;
        };
        fetcher.in_flight = None;
        fetcher.paused_until = kernel.now_ms + self.settings.fetch_backoff_ms;
        let (leader, until) = (*leader, fetcher.paused_until);
        let text = format!(
            "lost its connection to broker-{leader}; fetches again in {} ms",
            self.settings.fetch_backoff_ms
        );
        kernel.trace(EventKind::Timeout, &self.machine, text);
        kernel.timer(&self.machine, until, Timer::FetcherWake(leader));
    }
}
