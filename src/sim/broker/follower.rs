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
use crate::sim::error::KafkaError;
use crate::sim::ids::{BrokerId, LeaderEpoch, Machine, Offset, TopicPartition};
use crate::sim::kernel::Kernel;
use crate::sim::message::{
    Body, FetchPartition, FetchedData, FetchedPartition, Message, MessageId,
};
use crate::sim::timer::Timer;
use crate::sim::trace::EventKind;

use super::produce::roll_rules;
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
        let partitions: Vec<FetchPartition> =
            due.into_iter().filter_map(|partition| self.next_fetch(partition)).collect();
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

    /// Takes what came for one partition, if it still is what was asked for.
    fn take_fetched(&mut self, leader: BrokerId, part: &FetchedPartition, kernel: &mut Kernel) {
        let follows = self
            .fetchers
            .get(&leader)
            .is_some_and(|fetcher| fetcher.partitions.contains_key(&part.partition));
        let Some(replica) = self.replicas.get(&part.partition) else { return };
        if !follows
            || replica.log.end_offset() != part.offset
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
        let own = self
            .image
            .topics
            .get(&partition.topic)
            .map(|topic| topic.config.clone())
            .unwrap_or_default();
        let rules = roll_rules(&own, &self.config);
        let Some(replica) = self.replicas.get_mut(partition) else { return };
        let before = replica.log.end_offset();
        for stored in data.batches.iter().filter(|stored| stored.base_offset >= before) {
            replica.producers.note(stored);
            replica.log.append(stored.clone(), rules);
        }
        replica.log.raise_start(data.log_start);
        let end = replica.log.end_offset();
        let known = replica.high_watermark;
        replica.high_watermark =
            known.max(data.high_watermark.min(end)).max(replica.log.start_offset());
        let high_watermark = replica.high_watermark;
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
        let until = kernel.now_ms + self.settings.fetch_backoff_ms;
        if let Some(fetcher) = self.fetchers.get_mut(&leader) {
            fetcher.partitions.insert(partition.clone(), until);
        }
        let text = format!("{partition} pauses its fetches from broker-{leader}: {error}");
        kernel.trace_error(EventKind::Refused, &self.machine, text, error);
        kernel.timer(&self.machine, until, Timer::FetcherWake(leader));
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
