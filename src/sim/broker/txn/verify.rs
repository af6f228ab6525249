//! A leader asks the coordinator before it takes a transaction's first write to a partition, which
//! adds the partition to the transaction (KIP-890).
//!
//! Follows `ReplicaManager.maybeSendPartitionsToTransactionCoordinator`,
//! `AddPartitionsToTxnManager`.

use crate::sim::error::KafkaError;
use crate::sim::ids::{Machine, TopicPartition};
use crate::sim::kernel::Kernel;
use crate::sim::message::{Body, Message, MessageId};
use crate::sim::timer::Timer;
use crate::sim::txn::ProducerIdentity;
use crate::sim::txn::message::TransactionBody;

use super::super::Broker;

/// While the last transaction is being ended, the leader asks again so soon
/// (`add.partitions.to.txn.retry.backoff.ms`), for so long
/// (`add.partitions.to.txn.retry.backoff.max.ms`).
const RETRY_MS: u64 = 20;
const RETRY_MAX_MS: u64 = 100;

/// Partitions that a producer begins to write to in its transaction.
#[derive(Clone, Debug)]
pub struct Addition {
    /// `transactional.id`.
    pub transactional_id: String,
    /// The producer.
    pub producer: ProducerIdentity,
    /// The partitions.
    pub partitions: Vec<TopicPartition>,
}

/// A client's request that waits for the coordinator's word.
#[derive(Debug)]
pub(super) struct Verification {
    message: Message,
    addition: Addition,
    began_ms: u64,
}

impl Broker {
    /// Holds a request until the coordinator has added its partitions to the transaction.
    pub(in crate::sim::broker) fn verify(
        &mut self,
        message: &Message,
        addition: Addition,
        kernel: &mut Kernel,
    ) {
        kernel.hold(message);
        let verification =
            Verification { message: message.clone(), addition, began_ms: kernel.now_ms };
        self.transactions.verifications.insert(message.id, verification);
        self.ask_coordinator(message.id, kernel);
    }

    pub(in crate::sim::broker) fn ask_coordinator(
        &mut self,
        client_request: MessageId,
        kernel: &mut Kernel,
    ) {
        let Some(asked) = self.transactions.verifications.get(&client_request) else { return };
        let addition = asked.addition.clone();
        let home = self.transaction_home(&addition.transactional_id);
        let Some(coordinator) = self.image.partitions.get(&home).and_then(|state| state.leader)
        else {
            self.verified(client_request, Err(KafkaError::CoordinatorNotAvailable), kernel);
            return;
        };
        let body = TransactionBody::AddPartitionsToTxn {
            transactional_id: addition.transactional_id,
            producer: addition.producer,
            partitions: addition.partitions,
        };
        let to = Machine::Broker(coordinator);
        let question = kernel.request(&self.machine, &to, Body::Transaction(body));
        kernel.expire(question, self.settings.request_timeout_ms);
        self.transactions.questions.insert(question, client_request);
    }

    pub(super) fn verification_answered(
        &mut self,
        message: &Message,
        result: Result<(), KafkaError>,
        kernel: &mut Kernel,
    ) {
        let Some(client_request) =
            message.answers.and_then(|id| self.transactions.questions.remove(&id))
        else {
            return;
        };
        let began_ms =
            self.transactions.verifications.get(&client_request).map(|asked| asked.began_ms);
        let may_ask_again = began_ms.is_some_and(|began| kernel.now_ms < began + RETRY_MAX_MS);
        if result == Err(KafkaError::ConcurrentTransactions) && may_ask_again {
            let again = Timer::VerifyAgain(client_request);
            kernel.timer(&self.machine, kernel.now_ms + RETRY_MS, again);
        } else {
            self.verified(client_request, result, kernel);
        }
    }

    /// A question will not be answered; says whether it was one.
    pub(in crate::sim::broker) fn question_lost(
        &mut self,
        request: MessageId,
        kernel: &mut Kernel,
    ) -> bool {
        match self.transactions.questions.remove(&request) {
            Some(client_request) => {
                self.verified(client_request, Err(KafkaError::NetworkException), kernel);
                true
            }
            None => false,
        }
    }

    /// The request goes on: its batches are appended, or refused with what the coordinator said.
    fn verified(
        &mut self,
        client_request: MessageId,
        result: Result<(), KafkaError>,
        kernel: &mut Kernel,
    ) {
        let Some(asked) = self.transactions.verifications.remove(&client_request) else { return };
        match &*asked.message.body {
            Body::Produce { .. } => {
                let refusal = result.err().map(refusal_of_produce);
                self.append_produced(&asked.message, refusal, kernel);
            }
            Body::Transaction(TransactionBody::TxnOffsetCommit(commit)) => {
                let refusal = result.err().map(refusal_of_offsets);
                self.commit_in_transaction(&asked.message, commit, refusal, kernel);
            }
            _ => {}
        }
    }
}

/// What a producer is told of the coordinator's refusal. A producer whose epoch is old hears that,
/// whatever the coordinator called it; where the coordinator could not be asked it tries again.
fn refusal_of_produce(error: KafkaError) -> KafkaError {
    match error {
        KafkaError::ProducerFenced => KafkaError::InvalidProducerEpoch,
        KafkaError::ConcurrentTransactions
        | KafkaError::InvalidProducerIdMapping
        | KafkaError::InvalidTxnState => error,
        _ => KafkaError::NotEnoughReplicas,
    }
}

/// The same for offsets in a transaction.
fn refusal_of_offsets(error: KafkaError) -> KafkaError {
    match error {
        KafkaError::ProducerFenced => KafkaError::InvalidProducerEpoch,
        KafkaError::ConcurrentTransactions
        | KafkaError::InvalidProducerIdMapping
        | KafkaError::InvalidTxnState => error,
        KafkaError::NetworkException => KafkaError::CoordinatorLoadInProgress,
        _ => KafkaError::CoordinatorNotAvailable,
    }
}
