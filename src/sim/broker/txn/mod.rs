//! Transactions on a broker: it coordinates those whose home it leads, asks coordinators about
//! writes to its own partitions, and writes markers to them.
//!
//! Follows `TransactionCoordinator`, `TransactionStateManager`, `TransactionMarkerChannelManager`,
//! `AddPartitionsToTxnManager` of Kafka's core module.

mod coordinator;
mod markers;
mod offsets;
mod verify;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::sim::error::KafkaError;
use crate::sim::group::partition_for;
use crate::sim::ids::{BrokerId, Offset, TopicPartition};
use crate::sim::kernel::Kernel;
use crate::sim::message::{Body, Message, MessageId};
use crate::sim::record::{Batch, InternalRecord, Record};
use crate::sim::txn::message::TransactionBody;
use crate::sim::txn::{Fenced, State, TRANSACTIONS_TOPIC, Transaction};

use super::Broker;
use super::offsets::coordinator_error;

pub use verify::Addition;
use verify::Verification;

/// What a broker has to do with transactions.
#[derive(Debug, Default)]
pub struct Transactions {
    /// Partitions of `__transaction_state` that it leads.
    homes: BTreeMap<TopicPartition, Home>,
    /// Marker requests that are not answered: whose they are, and which partitions they ask for.
    marker_requests: BTreeMap<MessageId, MarkerRequest>,
    /// Requests that wait for a coordinator's word, by the client's request.
    verifications: BTreeMap<MessageId, Verification>,
    /// Questions that are not answered, each with the client's request.
    questions: BTreeMap<MessageId, MessageId>,
}

/// One partition of `__transaction_state`.
#[derive(Debug, Default)]
struct Home {
    /// The leader epoch, which markers carry.
    epoch: u32,
    ids: BTreeMap<String, Known>,
    /// Records that are not committed yet, ascending.
    writes: VecDeque<Write>,
}

/// One transactional id.
#[derive(Debug)]
struct Known {
    now: Transaction,
    /// A change is being written.
    is_pending: bool,
    /// Partitions whose marker is not written.
    unmarked: BTreeSet<TopicPartition>,
    /// Those of them whose leader was asked and has not answered.
    asked: BTreeSet<TopicPartition>,
}

/// A change on its way into the log.
#[derive(Debug)]
struct Write {
    /// It counts once the high watermark is here.
    required: Offset,
    id: String,
    next: Transaction,
    then: Then,
}

/// What follows once a change is committed.
#[derive(Debug)]
enum Then {
    /// An `InitProducerId` is answered.
    Init(Message, Fenced),
    /// An `AddPartitionsToTxn` is answered.
    Add(Message),
    /// An `EndTxn` is answered.
    End(Message),
    /// Nobody waits.
    Nothing,
}

#[derive(Debug)]
struct MarkerRequest {
    home: TopicPartition,
    id: String,
    partitions: Vec<TopicPartition>,
}

impl Known {
    fn new(now: Transaction) -> Known {
        let unmarked = match now.state {
            State::Prepare(_) => now.partitions.clone(),
            _ => BTreeSet::new(),
        };
        Known { now, is_pending: false, unmarked, asked: BTreeSet::new() }
    }
}

impl Then {
    /// The request that waits.
    fn message(&self) -> Option<&Message> {
        match self {
            Then::Init(message, _) | Then::Add(message) | Then::End(message) => Some(message),
            Then::Nothing => None,
        }
    }

    /// The answer where the change could not be written.
    fn refuse(&self, error: KafkaError, kernel: &mut Kernel) {
        let (message, body) = match self {
            Then::Init(message, _) => {
                (message, TransactionBody::InitProducerIdResponse(Err(error)))
            }
            Then::Add(message) => {
                (message, TransactionBody::AddPartitionsToTxnResponse(Err(error)))
            }
            Then::End(message) => (message, TransactionBody::EndTxnResponse(Err(error))),
            Then::Nothing => return,
        };
        kernel.answer(message, Body::Transaction(body));
    }
}

impl Transactions {
    /// A transactional id as its coordinator knows it; `None` if this broker is not it.
    #[must_use]
    pub fn get(&self, home: &TopicPartition, id: &str) -> Option<&Transaction> {
        Some(&self.homes.get(home)?.ids.get(id)?.now)
    }
}

impl Broker {
    /// The partition of `__transaction_state` that holds a transactional id
    /// (`TransactionStateManager.partitionFor`).
    pub(in crate::sim) fn transaction_home(&self, id: &str) -> TopicPartition {
        let topic = self.image.topics.get(TRANSACTIONS_TOPIC);
        let count = topic.map_or(1, |topic| topic.partition_count);
        TopicPartition::new(TRANSACTIONS_TOPIC, partition_for(id, count))
    }

    /// The broker that coordinates a transactional id: the leader of its home.
    fn find_transaction_coordinator(&self, id: &str) -> Result<BrokerId, KafkaError> {
        let state = self.image.partitions.get(&self.transaction_home(id));
        let leader = state.and_then(|state| state.leader);
        leader
            .filter(|leader| self.image.is_active(*leader))
            .ok_or(KafkaError::CoordinatorNotAvailable)
    }

    pub(super) fn handle_transaction(
        &mut self,
        message: &Message,
        body: &TransactionBody,
        kernel: &mut Kernel,
    ) {
        match body {
            TransactionBody::FindCoordinator { transactional_id } => {
                let found = self.find_transaction_coordinator(transactional_id);
                kernel.answer(message, Body::FindCoordinatorResponse(found));
            }
            TransactionBody::InitProducerId { transactional_id, timeout_ms } => {
                self.handle_init(message, transactional_id, *timeout_ms, kernel);
            }
            TransactionBody::AddPartitionsToTxn { transactional_id, producer, partitions } => {
                let now_ms = kernel.now_ms;
                self.step(transactional_id, Then::Add(message.clone()), kernel, |known| {
                    known.add(*producer, partitions, now_ms)
                });
            }
            TransactionBody::EndTxn { transactional_id, producer, outcome } => {
                let now_ms = kernel.now_ms;
                self.step(transactional_id, Then::End(message.clone()), kernel, |known| {
                    known.end(*producer, *outcome, now_ms)
                });
            }
            TransactionBody::AddPartitionsToTxnResponse(result) => {
                self.verification_answered(message, *result, kernel);
            }
            TransactionBody::TxnOffsetCommit(commit) => {
                self.handle_txn_offset_commit(message, commit, kernel);
            }
            TransactionBody::WriteTxnMarkers(marker) => self.write_markers(message, marker, kernel),
            TransactionBody::WriteTxnMarkersResponse(parts) => {
                self.markers_answered(message, parts, kernel);
            }
            _ => {}
        }
    }

    /// Writes a change of a transactional id to the log; what follows comes once it is committed.
    ///
    /// # Differs from Kafka
    /// The coordinator waits for that as long as it leads; a client's own time-out ends the wait
    /// for the client.
    fn write_transaction(
        &mut self,
        (home, id): (&TopicPartition, &str),
        next: Transaction,
        then: Then,
        kernel: &mut Kernel,
    ) {
        let record = transaction_record(id, &next, kernel.now_ms);
        let required = match self.append_internal(home, Batch::of(vec![record]), kernel) {
            Ok(required) => required,
            Err(error) => {
                then.refuse(coordinator_error(error), kernel);
                self.write_failed(home, id, &next, kernel);
                return;
            }
        };
        if let Some(message) = then.message() {
            kernel.hold(message);
        }
        let Some(leads) = self.transactions.homes.get_mut(home) else { return };
        if let Some(known) = leads.ids.get_mut(id) {
            known.is_pending = true;
        }
        leads.writes.push_back(Write { required, id: id.to_owned(), next, then });
        self.complete_transaction_writes(home, kernel);
        self.complete_held(home, kernel);
    }

    /// Changes up to the high watermark count now.
    pub(super) fn complete_transaction_writes(
        &mut self,
        home: &TopicPartition,
        kernel: &mut Kernel,
    ) {
        let Some(replica) = self.replicas.get(home) else { return };
        let committed = replica.high_watermark;
        while let Some(leads) = self.transactions.homes.get_mut(home) {
            if leads.writes.front().is_none_or(|write| write.required > committed) {
                return;
            }
            let Some(write) = leads.writes.pop_front() else { return };
            if write.next.state == State::Dead {
                leads.ids.remove(&write.id);
                continue;
            }
            leads.ids.insert(write.id.clone(), Known::new(write.next.clone()));
            self.transaction_changed(home, &write, kernel);
        }
    }

    /// A record of this process's own coordinator has to go before its answer: takes up a home.
    pub(super) fn load_transactions(&mut self, home: &TopicPartition, kernel: &mut Kernel) {
        if home.topic != TRANSACTIONS_TOPIC {
            return;
        }
        let Some(replica) = self.replicas.get(home) else { return };
        let mut leads = Home { epoch: replica.leader_epoch.0, ..Home::default() };
        for (_, record, _) in replica.log.records_from(replica.log.start_offset()) {
            if let Some(InternalRecord::Transaction(id, state)) = record.internal.as_deref() {
                match state.state {
                    State::Dead => leads.ids.remove(id),
                    _ => leads.ids.insert(id.clone(), Known::new(state.clone())),
                };
            }
        }
        self.transactions.homes.insert(home.clone(), leads);
        self.send_all_markers(kernel);
    }

    /// This broker no longer leads a partition: who waits has to find the new coordinator.
    pub(super) fn unload_transactions(&mut self, home: &TopicPartition, kernel: &mut Kernel) {
        if let Some(led) = self.transactions.homes.remove(home) {
            for write in led.writes {
                write.then.refuse(KafkaError::NotCoordinator, kernel);
            }
        }
    }
}

/// What the coordinator writes of a transactional id.
fn transaction_record(id: &str, next: &Transaction, now_ms: u64) -> Record {
    let topics: BTreeSet<&str> = next.partitions.iter().map(|one| one.topic.as_str()).collect();
    let names: usize = topics.iter().map(|topic| 2 + topic.len() + 4).sum();
    // Version, ids and epochs, time-out, state, times; each topic with its partitions.
    let bytes = 2 + 8 + 8 + 2 + 2 + 4 + 1 + 4 + names + 4 * next.partitions.len() + 8 + 8;
    Record::internal(
        // Version, length, id.
        format!("\0\0\0\0{id}").into(),
        (next.state != State::Dead).then_some(bytes as u64),
        InternalRecord::Transaction(id.to_owned(), next.clone()),
        now_ms,
    )
}
