//! Fetching, and what is done with the answers.
//!
//! Follows `AbstractFetch`, `FetchCollector`.

use std::collections::{BTreeMap, VecDeque};

use crate::sim::check::{Given, Note};
use crate::sim::error::KafkaError;
use crate::sim::ids::{BrokerId, LeaderEpoch, Machine, Offset, TopicPartition};
use crate::sim::kernel::Kernel;
use crate::sim::message::{Body, FetchPartition, FetchedData, FetchedPartition, Message};
use crate::sim::record::Record;

use super::Consumer;
use super::isolation::visible;

/// Records of one partition that were fetched and not returned yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetched {
    /// Their partition.
    pub partition: TopicPartition,
    /// The records, each with its offset and the leader epoch under which it was appended.
    pub records: VecDeque<(Offset, LeaderEpoch, Record)>,
    /// The offset behind everything that was fetched.
    pub end: Offset,
    /// The leader epoch of the last batch.
    pub epoch: LeaderEpoch,
}

impl Consumer {
    /// Asks for every partition that has nothing in hand, one request per broker at a time.
    pub(super) fn send_fetches(&mut self, kernel: &mut Kernel) {
        let mut wanted: BTreeMap<BrokerId, Vec<FetchPartition>> = BTreeMap::new();
        for partition in self.fetchable(kernel.now_ms) {
            let Some(Some(offset)) = self.positions.get(&partition).copied() else { continue };
            match self.read_from(&partition, kernel.now_ms) {
                Some(broker) => wanted.entry(broker).or_default().push(FetchPartition {
                    offset,
                    last_fetched_epoch: None,
                    leader_epoch: self.network.leader_epoch(&partition),
                    partition,
                }),
                None => self.network.want_refresh(),
            }
        }
        for (broker, partitions) in wanted {
            let machine = self.machine.clone();
            if !self.fetches.contains_key(&broker)
                && self.network.is_ready(broker, &machine, kernel)
            {
                let body = Body::Fetch {
                    max_wait_ms: self.settings.fetch_max_wait_ms,
                    min_bytes: self.settings.fetch_min_bytes,
                    max_bytes: self.settings.fetch_max_bytes,
                    partition_max_bytes: self.settings.max_partition_fetch_bytes,
                    rack: self.settings.rack.clone(),
                    isolation: self.settings.isolation,
                    partitions,
                };
                let id = self.network.request(&machine, broker, body, kernel);
                self.fetches.insert(broker, id);
            }
        }
    }

    fn fetchable(&self, now_ms: u64) -> Vec<TopicPartition> {
        let in_hand = |partition: &TopicPartition| {
            self.fetched.iter().any(|fetched| fetched.partition == *partition)
        };
        self.assignment
            .iter()
            .filter(|partition| !in_hand(partition) && !self.waits(partition, now_ms))
            .filter(|partition| !self.is_paused(partition) && !self.is_unchecked(partition))
            .cloned()
            .collect()
    }

    /// The leader, or the replica that the leader has named as long as that is known to be there
    /// (`AbstractFetch.selectReadReplica`).
    fn read_from(&mut self, partition: &TopicPartition, now_ms: u64) -> Option<BrokerId> {
        if let Some((near, until_ms)) = self.reading(partition).near {
            if until_ms > now_ms && self.network.is_online(near) {
                return Some(near);
            }
            self.reading(partition).near = None;
            self.network.want_refresh();
        }
        self.network.leader(partition)
    }

    pub(super) fn take_fetch_response(&mut self, message: &Message, kernel: &mut Kernel) {
        let (Body::FetchResponse(parts), Machine::Broker(broker)) = (&*message.body, &message.from)
        else {
            return;
        };
        self.fetches.remove(broker);
        for part in parts {
            // What was asked for before a seek or a new assignment no longer counts.
            if self.positions.get(&part.partition) != Some(&Some(part.offset)) {
                continue;
            }
            match &part.result {
                Ok(data) => self.take_data(part, data, kernel),
                Err(error) => self.fetch_refused(part, *error, kernel),
            }
        }
    }

    fn take_data(&mut self, part: &FetchedPartition, data: &FetchedData, kernel: &mut Kernel) {
        if let Some(near) = data.preferred {
            let until_ms = kernel.now_ms + self.settings.metadata_max_age_ms;
            self.reading(&part.partition).near = Some((near, until_ms));
        }
        let leader_epoch = self.network.leader_epoch(&part.partition);
        let reading = self.reading(&part.partition);
        if reading.epoch.is_none() {
            reading.checked = leader_epoch;
        }
        let Some(last) = data.batches.last() else { return };
        let (end, epoch) = (last.end_offset(), last.leader_epoch);
        let records = visible(data, part.offset);
        let given = Given {
            from: part.offset,
            to: end,
            isolation: self.settings.isolation,
            offsets: records.iter().map(|(offset, ..)| *offset).collect(),
        };
        kernel.note(Note::Given(part.partition.clone(), given));
        let partition = part.partition.clone();
        self.fetched.push_back(Fetched { partition, records, end, epoch });
    }

    /// A partition cannot be read there and now (`FetchCollector.handleInitializeErrors`).
    fn fetch_refused(&mut self, part: &FetchedPartition, error: KafkaError, kernel: &mut Kernel) {
        let partition = &part.partition;
        self.counters.last_refusal = Some(error);
        let was_near = self.reading(partition).near.take().is_some();
        if error == KafkaError::OffsetOutOfRange {
            // A follower may lag behind: the leader decides.
            if !was_near {
                self.reset(partition, kernel);
            }
            return;
        }
        let news = part.hint.is_some_and(|hint| self.network.take_hint(partition, hint));
        if !news {
            self.wait_a_little(partition, kernel);
        }
        self.network.want_refresh();
    }
}
