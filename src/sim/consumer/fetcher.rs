//! Fetching, and what is done with the answers.
//!
//! Follows `AbstractFetch`, `FetchCollector`, `OffsetFetcher`.

use std::collections::{BTreeMap, VecDeque};

use crate::sim::check::{Given, Note};
use crate::sim::error::KafkaError;
use crate::sim::ids::{BrokerId, Machine, Offset, TopicPartition};
use crate::sim::kernel::Kernel;
use crate::sim::message::{Body, FetchPartition, FetchedPartition, Isolation, Message, OffsetSpec};
use crate::sim::record::Record;
use crate::sim::settings::OffsetReset;

use super::Consumer;
use super::isolation::visible;

/// Records of one partition that were fetched and not returned yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetched {
    /// Their partition.
    pub partition: TopicPartition,
    /// The records with their offsets.
    pub records: VecDeque<(Offset, Record)>,
    /// The offset behind everything that was fetched.
    pub end: Offset,
}

impl Consumer {
    /// Asks every leader of partitions that have nothing in hand, one request per broker at a time.
    pub(super) fn send_fetches(&mut self, kernel: &mut Kernel) {
        let mut wanted: BTreeMap<BrokerId, Vec<FetchPartition>> = BTreeMap::new();
        for partition in &self.assignment {
            let in_hand = self.fetched.iter().any(|fetched| fetched.partition == *partition);
            let paused =
                self.paused_until.get(partition).is_some_and(|until| *until > kernel.now_ms);
            let Some(Some(offset)) = self.positions.get(partition) else { continue };
            if in_hand || paused {
                continue;
            }
            match self.network.leader(partition) {
                Some(leader) => wanted.entry(leader).or_default().push(FetchPartition {
                    partition: partition.clone(),
                    offset: *offset,
                    last_fetched_epoch: None,
                    leader_epoch: self.network.leader_epoch(partition),
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
                    max_bytes: self.settings.max_partition_fetch_bytes,
                    isolation: self.settings.isolation,
                    partitions,
                };
                let id = self.network.request(&machine, broker, body, kernel);
                self.fetches.insert(broker, id);
            }
        }
    }

    pub(super) fn take_fetch_response(&mut self, message: &Message, kernel: &mut Kernel) {
        let (Body::FetchResponse(parts), Machine::Broker(broker)) = (&*message.body, &message.from)
        else {
            return;
        };
        self.fetches.remove(broker);
        for part in parts {
            self.take_partition(part, kernel);
        }
    }

    fn take_partition(&mut self, part: &FetchedPartition, kernel: &mut Kernel) {
        let partition = &part.partition;
        // What was asked for before a seek or a new assignment no longer counts.
        if self.positions.get(partition) != Some(&Some(part.offset)) {
            return;
        }
        match &part.result {
            Ok(data) => {
                let Some(last) = data.batches.last() else { return };
                let end = last.end_offset();
                let records = visible(data, part.offset);
                let given = Given {
                    from: part.offset,
                    to: end,
                    isolation: self.settings.isolation,
                    offsets: records.iter().map(|(offset, _)| *offset).collect(),
                };
                kernel.note(Note::Given(partition.clone(), given));
                self.fetched.push_back(Fetched { partition: partition.clone(), records, end });
            }
            Err(error) => self.fetch_refused(part, *error, kernel),
        }
    }

    fn fetch_refused(&mut self, part: &FetchedPartition, error: KafkaError, kernel: &mut Kernel) {
        let partition = &part.partition;
        self.counters.last_refusal = Some(error);
        if error == KafkaError::OffsetOutOfRange {
            self.reset(partition, kernel);
            return;
        }
        let news = part.hint.is_some_and(|hint| self.network.take_hint(partition, hint));
        if !news {
            self.paused_until
                .insert(partition.clone(), kernel.now_ms + self.settings.retry_backoff_ms);
        }
        self.network.want_refresh();
    }

    /// The position lies outside the log: what `auto.offset.reset` says.
    fn reset(&mut self, partition: &TopicPartition, kernel: &mut Kernel) {
        if self.settings.offset_reset == OffsetReset::None {
            let until = kernel.now_ms + self.settings.retry_backoff_ms;
            self.paused_until.insert(partition.clone(), until);
            let text = format!("the position in {partition} is out of range");
            self.throw(KafkaError::OffsetOutOfRange.name(), &text, kernel);
        } else {
            self.positions.insert(partition.clone(), None);
        }
    }

    /// Looks up the start of partitions whose position is unresolved.
    pub(super) fn resolve_positions(&mut self, kernel: &mut Kernel) {
        let now_ms = i64::try_from(kernel.now_ms).unwrap_or(i64::MAX);
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
            .filter(|partition| {
                self.paused_until.get(*partition).is_none_or(|until| *until <= kernel.now_ms)
            })
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

    pub(super) fn handle_offsets_found(
        &mut self,
        message: &Message,
        found: &[(TopicPartition, Result<Option<Offset>, KafkaError>)],
        kernel: &mut Kernel,
    ) {
        if let Some(request) = message.answers {
            self.look_ups.remove(&request);
        }
        for (partition, result) in found {
            match result {
                Ok(Some(offset)) if self.assignment.contains(partition) => {
                    self.positions.insert(partition.clone(), Some(*offset));
                }
                Ok(_) => {}
                Err(error) => {
                    self.counters.last_refusal = Some(*error);
                    self.network.want_refresh();
                }
            }
        }
        self.note_positions(kernel);
    }
}
