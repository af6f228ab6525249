//! Markers: the coordinator has every partition of a decided transaction marked, and leaders write
//! the markers into their logs.
//!
//! Follows `TransactionMarkerChannelManager`, `TransactionMarkerRequestCompletionHandler`,
//! `KafkaApis.handleWriteTxnMarkersRequest`.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::sim::error::KafkaError;
use crate::sim::ids::{BrokerId, Machine, TopicPartition};
use crate::sim::kernel::Kernel;
use crate::sim::message::{Body, Message, MessageId};
use crate::sim::record::{Batch, timestamp};
use crate::sim::timer::Timer;
use crate::sim::txn::State;
use crate::sim::txn::message::{Marker, TransactionBody};

use super::super::Broker;
use super::super::produce::Awaited;
use super::{MarkerRequest, Then};

/// How soon a marker that could not be written is tried again, in milliseconds.
const RETRY_MS: u64 = 100;

impl Broker {
    /// Asks the leaders of every partition whose marker is missing; without one, the transaction
    /// is complete.
    pub(super) fn send_markers(&mut self, home: &TopicPartition, id: &str, kernel: &mut Kernel) {
        let Some(leads) = self.transactions.homes.get_mut(home) else { return };
        let coordinator_epoch = leads.epoch;
        let Some(known) = leads.ids.get_mut(id) else { return };
        let State::Prepare(outcome) = known.now.state else { return };
        let image = &self.image;
        // A partition whose topic is gone needs none.
        known.unmarked.retain(|partition| image.partitions.contains_key(partition));
        if known.unmarked.is_empty() {
            if !known.is_pending {
                let next = known.now.completed(outcome, kernel.now_ms);
                self.write_transaction((home, id), next, Then::Nothing, kernel);
            }
            return;
        }
        let mut by_leader: BTreeMap<BrokerId, Vec<TopicPartition>> = BTreeMap::new();
        let mut leaderless = false;
        for partition in known.unmarked.difference(&known.asked) {
            match image.partitions.get(partition).and_then(|state| state.leader) {
                Some(leader) => by_leader.entry(leader).or_default().push(partition.clone()),
                None => leaderless = true,
            }
        }
        known.asked.extend(by_leader.values().flatten().cloned());
        let producer = known.now.producer;
        for (leader, partitions) in by_leader {
            let request = MarkerRequest {
                home: home.clone(),
                id: id.to_owned(),
                partitions: partitions.clone(),
            };
            let marker = Marker { producer, coordinator_epoch, outcome, partitions };
            let body = Body::Transaction(TransactionBody::WriteTxnMarkers(marker));
            let sent = kernel.request(&self.machine, &Machine::Broker(leader), body);
            kernel.expire(sent, self.settings.request_timeout_ms);
            self.transactions.marker_requests.insert(sent, request);
        }
        if leaderless {
            self.try_markers_again(kernel);
        }
    }

    /// Sends the markers that are missing, of every decided transaction.
    pub(in crate::sim::broker) fn send_all_markers(&mut self, kernel: &mut Kernel) {
        let decided: Vec<(TopicPartition, String)> = self
            .transactions
            .homes
            .iter()
            .flat_map(|(home, leads)| leads.ids.iter().map(move |(id, known)| (home, id, known)))
            .filter(|(_, _, known)| matches!(known.now.state, State::Prepare(_)))
            .map(|(home, id, _)| (home.clone(), id.clone()))
            .collect();
        for (home, id) in decided {
            self.send_markers(&home, &id, kernel);
        }
    }

    fn try_markers_again(&self, kernel: &mut Kernel) {
        kernel.timer(&self.machine, kernel.now_ms + RETRY_MS, Timer::TransactionMarkers);
    }

    /// A leader has answered: what is written is done, what was refused for the moment goes again.
    /// Where the leader knows a newer epoch or coordinator, this one gives up.
    pub(super) fn markers_answered(
        &mut self,
        message: &Message,
        parts: &[(TopicPartition, Result<(), KafkaError>)],
        kernel: &mut Kernel,
    ) {
        let Some(request) =
            message.answers.and_then(|id| self.transactions.marker_requests.remove(&id))
        else {
            return;
        };
        let known = self
            .transactions
            .homes
            .get_mut(&request.home)
            .and_then(|leads| leads.ids.get_mut(&request.id));
        let Some(known) = known else { return };
        let mut again = false;
        for (partition, result) in parts {
            match result {
                Ok(()) => {
                    known.unmarked.remove(partition);
                    known.asked.remove(partition);
                }
                Err(
                    KafkaError::InvalidProducerEpoch | KafkaError::TransactionCoordinatorFenced,
                ) => {}
                Err(_) => {
                    known.asked.remove(partition);
                    again = true;
                }
            }
        }
        let is_done = known.unmarked.is_empty();
        if again {
            self.try_markers_again(kernel);
        } else if is_done {
            self.send_markers(&request.home, &request.id, kernel);
        }
    }

    /// A marker request will not be answered; says whether it was one.
    pub(in crate::sim::broker) fn markers_lost(
        &mut self,
        request: MessageId,
        kernel: &mut Kernel,
    ) -> bool {
        let Some(lost) = self.transactions.marker_requests.remove(&request) else { return false };
        let leads = self.transactions.homes.get_mut(&lost.home);
        if let Some(known) = leads.and_then(|leads| leads.ids.get_mut(&lost.id)) {
            for partition in &lost.partitions {
                known.asked.remove(partition);
            }
        }
        self.try_markers_again(kernel);
        true
    }

    /// A leader writes markers, and answers once they are committed like any `acks=all` write.
    pub(super) fn write_markers(
        &mut self,
        message: &Message,
        marker: &Marker,
        kernel: &mut Kernel,
    ) {
        let now_ms = timestamp(kernel.now_ms);
        let producer = (marker.producer.id, marker.producer.epoch);
        let batch =
            Arc::new(Batch::marker(producer, marker.outcome, marker.coordinator_epoch, now_ms));
        let mut awaited = Vec::new();
        for partition in &marker.partitions {
            let result = self.append_marker(partition, &batch, kernel);
            self.raise_high_watermark(partition, kernel);
            awaited.push(Awaited::of_marker(partition, result));
        }
        self.answer_or_hold_produce(message, awaited, self.settings.request_timeout_ms, kernel);
        for partition in &marker.partitions {
            self.complete_held(partition, kernel);
        }
    }
}
