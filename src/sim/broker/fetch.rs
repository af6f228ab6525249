//! Fetch requests of followers and consumers: what is read, what a leader learns from them, and how
//! long a request waits.
//!
//! Follows `ReplicaManager.fetchMessages`, `Partition.fetchRecords`, `DelayedFetch`.

use std::cmp::Ordering;

use crate::sim::error::KafkaError;
use crate::sim::ids::{BrokerId, LeaderEpoch, Machine, Offset, TopicPartition};
use crate::sim::kernel::Kernel;
use crate::sim::message::{
    Body, EpochEnd, EpochQuestion, FetchPartition, FetchedData, FetchedPartition, Isolation,
    Message, MessageId, OffsetSpec,
};
use crate::sim::replication::FollowerFetch;

use super::{Broker, Held, Replica};

/// Who fetches, and how much.
struct Reader {
    follower: Option<(BrokerId, u64)>,
    isolation: Isolation,
    max_wait_ms: u64,
    min_bytes: u64,
    /// Of the whole answer.
    max_bytes: u64,
    /// Of one partition.
    partition_max_bytes: u64,
    /// A consumer's `client.rack`.
    rack: Option<String>,
}

impl Reader {
    /// Up to where it may read: a follower to the log end, a consumer to the high watermark, one
    /// that wants committed records to the last stable offset (`FetchIsolation`).
    fn end_of(&self, replica: &Replica) -> Offset {
        match (self.follower, self.isolation) {
            (Some(_), _) => replica.log.end_offset(),
            (None, Isolation::Uncommitted) => replica.high_watermark,
            (None, Isolation::Committed) => replica.last_stable_offset(),
        }
    }
}

impl Broker {
    pub(super) fn handle_fetch(&mut self, message: &Message, kernel: &mut Kernel) {
        let (reader, partitions) = self.reader(message);
        let mut parts = Vec::with_capacity(partitions.len());
        let mut room = reader.max_bytes;
        for asked in partitions {
            let result = self.read_within(asked, &reader, &mut room);
            if let (Ok(data), Some(follower)) = (&result, reader.follower)
                && data.diverging.is_none()
            {
                self.note_follower_fetch(asked, follower, kernel);
            }
            parts.push(self.fetched(asked, result));
        }
        // The answer shows the high watermark from before this fetch; what the fetch moves, and who
        // waited for that, comes first.
        if reader.follower.is_some() {
            for asked in partitions {
                self.propose_expansion(&asked.partition, message, kernel);
                self.advance_high_watermark(&asked.partition, kernel);
            }
        }
        if reader.max_wait_ms == 0 || is_ready(&parts, reader.min_bytes) {
            answer(message, parts, kernel);
        } else {
            self.hold(Held::Fetch(message.clone()), reader.max_wait_ms, kernel);
        }
    }

    fn reader<'m>(&self, message: &'m Message) -> (Reader, &'m [FetchPartition]) {
        match &*message.body {
            Body::ReplicaFetch { broker_epoch, max_wait_ms, partitions } => {
                let follower = match message.from {
                    Machine::Broker(id) => Some((id, *broker_epoch)),
                    _ => None,
                };
                let reader = Reader {
                    follower,
                    isolation: Isolation::Uncommitted,
                    max_wait_ms: *max_wait_ms,
                    min_bytes: self.settings.fetch_min_bytes,
                    max_bytes: u64::MAX,
                    partition_max_bytes: self.settings.fetch_max_bytes,
                    rack: None,
                };
                (reader, partitions)
            }
            Body::Fetch {
                max_wait_ms,
                min_bytes,
                max_bytes,
                partition_max_bytes,
                rack,
                isolation,
                partitions,
            } => {
                let reader = Reader {
                    follower: None,
                    isolation: *isolation,
                    max_wait_ms: *max_wait_ms,
                    min_bytes: *min_bytes,
                    max_bytes: *max_bytes,
                    partition_max_bytes: *partition_max_bytes,
                    rack: Some(rack.clone()),
                };
                (reader, partitions)
            }
            _ => unreachable!("only fetches are handed here"),
        }
    }

    fn fetched(
        &self,
        asked: &FetchPartition,
        result: Result<FetchedData, KafkaError>,
    ) -> FetchedPartition {
        let hint = result.is_err().then(|| self.hint(&asked.partition)).flatten();
        FetchedPartition {
            partition: asked.partition.clone(),
            offset: asked.offset,
            leader_epoch: asked.leader_epoch,
            result,
            hint,
        }
    }

    /// Reads one partition into what room the answer has left; the first batch of an answer always
    /// finds room (`ReplicaManager.readFromLog`, KIP-74).
    fn read_within(
        &self,
        asked: &FetchPartition,
        reader: &Reader,
        room: &mut u64,
    ) -> Result<FetchedData, KafkaError> {
        let mut data = self.read(asked, reader)?;
        let is_first = *room == reader.max_bytes;
        let mut fits = 0;
        for stored in &data.batches {
            if stored.batch.bytes > *room && !(is_first && fits == 0) {
                break;
            }
            *room = room.saturating_sub(stored.batch.bytes);
            fits += 1;
        }
        data.batches.truncate(fits);
        Ok(data)
    }

    /// The replica, if who asks knows its leader epoch (`Partition.checkCurrentLeaderEpoch`).
    fn replica_of_epoch(
        &self,
        partition: &TopicPartition,
        epoch: LeaderEpoch,
    ) -> Result<&Replica, KafkaError> {
        let replica = self.replicas.get(partition).ok_or(KafkaError::UnknownTopicOrPartition)?;
        match epoch.cmp(&replica.leader_epoch) {
            Ordering::Less => Err(KafkaError::FencedLeaderEpoch),
            Ordering::Equal => Ok(replica),
            Ordering::Greater => Err(KafkaError::UnknownLeaderEpoch),
        }
    }

    /// Reads one partition (`Partition.readRecords`): a follower up to the log end, a consumer up
    /// to the high watermark or the last stable offset. A consumer may read from a follower too
    /// (KIP-392).
    fn read(&self, asked: &FetchPartition, reader: &Reader) -> Result<FetchedData, KafkaError> {
        let replica = self.replica_of_epoch(&asked.partition, asked.leader_epoch)?;
        if replica.leader().is_none() && reader.follower.is_some() {
            return Err(KafkaError::NotLeaderOrFollower);
        }
        let log = &replica.log;
        let mut data = FetchedData {
            batches: Vec::new(),
            high_watermark: replica.high_watermark,
            log_start: log.start_offset(),
            aborted: Vec::new(),
            diverging: None,
            preferred: None,
        };
        if let Some(epoch) = asked.last_fetched_epoch {
            let (known, end) =
                log.end_offset_for_epoch(epoch).ok_or(KafkaError::OffsetOutOfRange)?;
            // Below the log start there is nothing to compare, whatever the epochs say.
            if asked.offset < log.start_offset() {
                return Err(KafkaError::OffsetOutOfRange);
            }
            if known < epoch || end < asked.offset {
                data.diverging = Some((known, end));
                return Ok(data);
            }
        }
        if asked.offset < log.start_offset() || asked.offset > log.end_offset() {
            return Err(KafkaError::OffsetOutOfRange);
        }
        data.preferred = self.near_replica(asked, reader);
        if data.preferred.is_some() {
            return Ok(data);
        }
        data.batches = log.read(asked.offset, reader.end_of(replica), reader.partition_max_bytes);
        if let Some(last) = data.batches.last().filter(|_| reader.isolation == Isolation::Committed)
        {
            let aborted = replica.producers.aborted();
            data.aborted = aborted.between(asked.offset, last.end_offset()).copied().collect();
        }
        Ok(data)
    }

    /// The in-sync replica in the consumer's rack that has got furthest, if the leader is elsewhere
    /// (`RackAwareReplicaSelector`, `ReplicaManager.findPreferredReadReplica`).
    fn near_replica(&self, asked: &FetchPartition, reader: &Reader) -> Option<BrokerId> {
        let rack = reader.rack.as_deref().filter(|rack| !rack.is_empty())?;
        let leader = self.replicas.get(&asked.partition)?.leader()?;
        let is_near = |broker: BrokerId| {
            let state = self.image.brokers.get(&broker);
            state.is_some_and(|state| !state.fenced && state.rack.as_deref() == Some(rack))
        };
        if !self.settings.selects_near_replicas || is_near(self.id) {
            return None;
        }
        let candidates = leader.remotes.iter().filter(|(broker, remote)| {
            is_near(**broker)
                && leader.isr.contains(broker)
                && remote.log_end.is_some_and(|end| end >= asked.offset)
        });
        let furthest = candidates.max_by_key(|(broker, remote)| {
            (remote.log_end, remote.last_caught_up_ms, std::cmp::Reverse(**broker))
        });
        furthest.map(|(broker, _)| *broker)
    }

    /// Where a leader epoch ends in a leader's log (`Partition.lastOffsetForLeaderEpoch`).
    pub(super) fn epoch_end(&self, asked: &EpochQuestion) -> Result<EpochEnd, KafkaError> {
        let replica = self.replica_of_epoch(&asked.partition, asked.leader_epoch)?;
        replica.leader().ok_or(KafkaError::NotLeaderOrFollower)?;
        Ok(replica.log.end_offset_for_epoch(asked.epoch))
    }

    pub(super) fn handle_list_offsets(
        &self,
        message: &Message,
        partitions: &[(TopicPartition, OffsetSpec)],
        kernel: &mut Kernel,
    ) {
        let found = partitions
            .iter()
            .map(|(partition, spec)| (partition.clone(), self.look_up_offset(partition, *spec)))
            .collect();
        kernel.answer(message, Body::ListOffsetsResponse(found));
    }

    /// Finds an offset (`Partition.fetchOffsetForTimestamp`). Until the high watermark has reached
    /// the start of the leader's epoch, the latest one is not known for certain.
    pub(super) fn look_up_offset(
        &self,
        partition: &TopicPartition,
        spec: OffsetSpec,
    ) -> Result<Option<Offset>, KafkaError> {
        let replica = self.replicas.get(partition).ok_or(KafkaError::UnknownTopicOrPartition)?;
        let leader = replica.leader().ok_or(KafkaError::NotLeaderOrFollower)?;
        match spec {
            OffsetSpec::LogEnd => Ok(Some(replica.log.end_offset())),
            OffsetSpec::Earliest => Ok(Some(replica.log.start_offset())),
            OffsetSpec::Latest | OffsetSpec::LatestStable
                if replica.high_watermark < leader.epoch_start =>
            {
                Err(KafkaError::OffsetNotAvailable)
            }
            OffsetSpec::Latest => Ok(Some(replica.high_watermark)),
            OffsetSpec::LatestStable => Ok(Some(replica.last_stable_offset())),
            OffsetSpec::At(timestamp) => Ok(replica
                .log
                .records_from(replica.log.start_offset())
                .take_while(|(offset, ..)| *offset < replica.high_watermark)
                .find(|(_, record, _)| record.timestamp >= timestamp)
                .map(|(offset, ..)| offset)),
        }
    }

    /// A leader learns from a fetch how far its follower is (`Partition.updateFollowerFetchState`).
    fn note_follower_fetch(
        &mut self,
        asked: &FetchPartition,
        follower: (BrokerId, u64),
        kernel: &Kernel,
    ) {
        let Some(replica) = self.replicas.get_mut(&asked.partition) else { return };
        let leader_end = replica.log.end_offset();
        let Some(leader) = replica.leader_mut() else { return };
        if let Some(remote) = leader.remotes.get_mut(&follower.0) {
            remote.note_fetch(FollowerFetch {
                offset: asked.offset,
                time_ms: kernel.now_ms,
                leader_end,
                broker_epoch: follower.1,
            });
        }
    }

    /// Whether a held fetch has enough data now, or can no longer get any
    /// (`DelayedFetch.tryComplete`).
    pub(super) fn try_complete_fetch(
        &mut self,
        id: MessageId,
        touched: &TopicPartition,
        kernel: &mut Kernel,
    ) {
        let Some(Held::Fetch(message)) = self.held.get(&id) else { return };
        let (reader, partitions) = self.reader(message);
        let available = |asked: &FetchPartition| -> Option<u64> {
            let replica = self.replicas.get(&asked.partition)?;
            if reader.follower.is_some() {
                replica.leader()?;
            }
            if replica.leader_epoch != asked.leader_epoch {
                return None;
            }
            let end = reader.end_of(replica);
            // A log that was cut below what is asked for has an answer: that it diverges.
            (asked.offset <= replica.log.end_offset())
                .then(|| replica.log.bytes_between(asked.offset, end))
        };
        let here = partitions.iter().find(|asked| asked.partition == *touched);
        let enough = match here.map(&available) {
            None | Some(Some(0)) => false,
            Some(None) => true,
            Some(Some(bytes)) => {
                bytes >= reader.min_bytes
                    || partitions.iter().filter_map(&available).sum::<u64>() >= reader.min_bytes
            }
        };
        if enough {
            self.answer_held_fetch(id, kernel);
        }
    }

    /// Reads again and answers, with whatever is there.
    pub(super) fn answer_held_fetch(&mut self, id: MessageId, kernel: &mut Kernel) {
        let Some(Held::Fetch(message)) = self.unhold(id) else { return };
        let (reader, partitions) = self.reader(&message);
        let mut room = reader.max_bytes;
        let parts: Vec<FetchedPartition> = partitions
            .iter()
            .map(|asked| self.fetched(asked, self.read_within(asked, &reader, &mut room)))
            .collect();
        answer(&message, parts, kernel);
    }
}

/// Whether a fetch is answered at once: it has data enough, an error, or a divergence to tell.
fn is_ready(parts: &[FetchedPartition], min_bytes: u64) -> bool {
    let mut bytes = 0;
    for part in parts {
        match &part.result {
            Err(_) => return true,
            Ok(data) if data.diverging.is_some() || data.preferred.is_some() => return true,
            Ok(data) => bytes += data.batches.iter().map(|stored| stored.batch.bytes).sum::<u64>(),
        }
    }
    parts.is_empty() || bytes >= min_bytes.max(1)
}

fn answer(message: &Message, parts: Vec<FetchedPartition>, kernel: &mut Kernel) {
    let body = match &*message.body {
        Body::ReplicaFetch { .. } => Body::ReplicaFetchResponse(parts),
        _ => Body::FetchResponse(parts),
    };
    kernel.answer(message, body);
}
