//! What a transactional producer asks of coordinators, what it makes of their answers, and how a
//! transaction fails.
//!
//! Follows `TransactionManager.TxnRequestHandler` and its kinds,
//! `Sender.maybeSendAndPollTransactionalRequest`.

use crate::sim::error::KafkaError;
use crate::sim::ids::BrokerId;
use crate::sim::kernel::Kernel;
use crate::sim::message::{Body, Message, MessageId};
use crate::sim::record::Outcome;
use crate::sim::txn::ProducerIdentity;
use crate::sim::txn::message::{OffsetsInTransaction, TransactionBody};

use super::super::{Idempotence, Producer};
use super::{Call, Phase, Role};

impl Producer {
    /// Takes the present call as far as it goes: asks coordinators, ends what can be ended.
    pub(in crate::sim::producer) fn go_on_with_transaction(&mut self, kernel: &mut Kernel) {
        if self.closing {
            self.abort_on_close();
        }
        self.abort_undrained(kernel);
        self.make_calls(kernel);
        self.expire_call(kernel);
        let Some(transactional) = &self.transactional else { return };
        if transactional.request.is_some() || transactional.not_before_ms > kernel.now_ms {
            return;
        }
        match transactional.phase.clone() {
            Phase::Initializing => {
                let body = TransactionBody::InitProducerId {
                    transactional_id: transactional.id.clone(),
                    timeout_ms: self.settings.transaction_timeout_ms,
                };
                self.ask(Role::Transactions, body, kernel);
            }
            Phase::SendingOffsets(positions) => {
                let Some(producer) = self.identity() else { return };
                let body = TransactionBody::TxnOffsetCommit(OffsetsInTransaction {
                    transactional_id: transactional.id.clone(),
                    producer,
                    group: positions.group,
                    member: positions.member,
                    generation: positions.generation,
                    offsets: positions.offsets,
                });
                self.ask(Role::Group, body, kernel);
            }
            Phase::Ending(outcome) if self.has_nothing_to_send() => {
                let Some(producer) = self.identity() else { return };
                if !transactional.is_started {
                    // Nothing was written: there is nothing to end, and no marker.
                    self.ended(producer, kernel);
                    return;
                }
                let transactional_id = transactional.id.clone();
                let body = TransactionBody::EndTxn { transactional_id, producer, outcome };
                self.ask(Role::Transactions, body, kernel);
            }
            _ => {}
        }
    }

    fn has_nothing_to_send(&self) -> bool {
        self.in_flight.is_empty() && self.buffer.record_count() == 0 && self.blocked.is_empty()
    }

    fn identity(&self) -> Option<ProducerIdentity> {
        let known = self.idempotence.as_ref()?;
        Some(ProducerIdentity { id: known.producer_id, epoch: known.epoch })
    }

    /// Sends a request to a coordinator, after asking who that is.
    fn ask(&mut self, role: Role, body: TransactionBody, kernel: &mut Kernel) {
        let machine = self.machine.clone();
        let Some(transactional) = &mut self.transactional else { return };
        let look_up = match (&body, role) {
            (TransactionBody::TxnOffsetCommit(commit), Role::Group) => {
                Body::FindCoordinator { group: commit.group.clone() }
            }
            _ => Body::Transaction(TransactionBody::FindCoordinator {
                transactional_id: transactional.id.clone(),
            }),
        };
        let coordinator = transactional.coordinator(role);
        if coordinator.look_up.is_some() {
            return;
        }
        if let Some(broker) = coordinator.broker {
            if self.network.is_ready(broker, &machine, kernel) {
                let id = self.network.request(&machine, broker, Body::Transaction(body), kernel);
                transactional.request = Some(id);
            }
        } else if let Some(broker) = self.network.reachable_broker(&machine, kernel) {
            coordinator.look_up = Some(self.network.request(&machine, broker, look_up, kernel));
        }
    }

    pub(in crate::sim::producer) fn handle_coordinator(
        &mut self,
        message: &Message,
        result: Result<BrokerId, KafkaError>,
        kernel: &Kernel,
    ) {
        let wait_ms = self.settings.retry_backoff_ms;
        let Some(transactional) = &mut self.transactional else { return };
        for role in [Role::Transactions, Role::Group] {
            let coordinator = transactional.coordinator(role);
            if coordinator.look_up.is_some() && coordinator.look_up == message.answers {
                coordinator.look_up = None;
                coordinator.broker = result.ok();
                if let Err(error) = result {
                    transactional.not_before_ms = kernel.now_ms + wait_ms;
                    self.counters.last_refusal = Some(error);
                }
                return;
            }
        }
    }

    /// The answer to the request of the present call.
    pub(in crate::sim::producer) fn handle_transaction_answer(
        &mut self,
        message: &Message,
        body: &TransactionBody,
        kernel: &mut Kernel,
    ) {
        let Some(transactional) = &mut self.transactional else { return };
        if transactional.request.is_none() || transactional.request != message.answers {
            return;
        }
        transactional.request = None;
        match body {
            TransactionBody::InitProducerIdResponse(Ok(producer)) => {
                transactional.unblock(Phase::Ready);
                self.take_identity(*producer);
            }
            TransactionBody::EndTxnResponse(Ok(producer)) => self.ended(*producer, kernel),
            TransactionBody::TxnOffsetCommitResponse(Ok(())) => {
                transactional.unblock(Phase::InTransaction);
            }
            other => {
                if let Some(error) = other.error() {
                    self.transaction_refused(error, kernel);
                }
            }
        }
    }

    /// The transaction is over. The epoch is the one to go on with, and sequences start anew where
    /// it has changed (KIP-890).
    fn ended(&mut self, producer: ProducerIdentity, kernel: &mut Kernel) {
        if self.identity() != Some(producer) {
            self.take_identity(producer);
        }
        if let Some(idempotence) = &mut self.idempotence {
            idempotence.unresolved.clear();
        }
        let Some(transactional) = &mut self.transactional else { return };
        if let Phase::Ending(outcome) = transactional.phase {
            transactional.unblock(Phase::Ready);
            transactional.is_started = false;
            let text = format!("its transaction is over: {}", outcome.word());
            self.say(&text, kernel);
        }
    }

    fn take_identity(&mut self, producer: ProducerIdentity) {
        let fresh = Idempotence { epoch: producer.epoch, ..Idempotence::new(producer.id) };
        self.idempotence = Some(fresh);
    }

    /// A coordinator refused: the request goes again, or the transaction or the producer cannot go
    /// on (`TransactionManager.TxnRequestHandler`).
    fn transaction_refused(&mut self, error: KafkaError, kernel: &mut Kernel) {
        self.counters.last_refusal = Some(error);
        let wait_ms = self.settings.retry_backoff_ms;
        let Some(transactional) = &mut self.transactional else { return };
        let role = match transactional.phase {
            Phase::SendingOffsets(_) => Role::Group,
            _ => Role::Transactions,
        };
        if matches!(error, KafkaError::NotCoordinator | KafkaError::CoordinatorNotAvailable) {
            transactional.coordinator(role).broker = None;
        }
        if error.is_retriable() {
            transactional.not_before_ms = kernel.now_ms + wait_ms;
            return;
        }
        let (name, phase) = match (role, error) {
            (_, KafkaError::InvalidProducerEpoch | KafkaError::ProducerFenced) => {
                let fenced = KafkaError::ProducerFenced;
                (fenced.name(), Phase::FatalError(fenced))
            }
            // A group that refuses its member is no end for the producer.
            (Role::Group, KafkaError::UnknownMemberId | KafkaError::IllegalGeneration) => {
                ("CommitFailedException", Phase::AbortableError(error))
            }
            (Role::Group, _) => (error.name(), Phase::AbortableError(error)),
            (Role::Transactions, _) => (error.name(), Phase::FatalError(error)),
        };
        transactional.unblock(phase);
        self.throw(name, kernel);
    }

    /// A batch was given up: the transaction can only be aborted. What is aborted already goes on
    /// (`TransactionManager.transitionToAbortableError`).
    pub(in crate::sim::producer) fn note_failed_batch(&mut self, error: KafkaError) {
        let Some(transactional) = &mut self.transactional else { return };
        match transactional.phase {
            Phase::Ending(Outcome::Abort) | Phase::FatalError(_) | Phase::AbortableError(_) => {}
            _ => transactional.unblock(Phase::AbortableError(error)),
        }
    }

    /// What was never sent of a transaction that cannot be committed any more fails
    /// (`RecordAccumulator.abortUndrainedBatches`).
    fn abort_undrained(&mut self, kernel: &mut Kernel) {
        let Some(transactional) = &self.transactional else { return };
        let name = match transactional.phase {
            Phase::Ending(Outcome::Abort) => "TransactionAbortedException",
            Phase::AbortableError(error) | Phase::FatalError(error) => error.name(),
            _ => return,
        };
        let mut count = self.blocked.len() as u64;
        self.blocked.clear();
        for batch in self.buffer.take_unstamped() {
            self.buffer.release(&batch);
            count += batch.len();
        }
        if count > 0 {
            self.counters.failed += count;
            self.throw(name, kernel);
        }
    }

    /// A call that has blocked for `max.block.ms` throws; what it began goes on.
    fn expire_call(&mut self, kernel: &mut Kernel) {
        let limit = self.settings.max_block_ms;
        let Some(transactional) = &mut self.transactional else { return };
        if transactional.blocks_since_ms.is_some_and(|since| kernel.now_ms >= since + limit) {
            transactional.blocks_since_ms = None;
            self.throw(KafkaError::RequestTimedOut.name(), kernel);
        }
    }

    /// The connection of a request is gone: it goes again, perhaps to another coordinator.
    pub(in crate::sim::producer) fn transaction_disconnected(
        &mut self,
        request: MessageId,
        broker: BrokerId,
    ) {
        let Some(transactional) = &mut self.transactional else { return };
        if transactional.request == Some(request) {
            transactional.request = None;
        }
        for role in [Role::Transactions, Role::Group] {
            let coordinator = transactional.coordinator(role);
            if coordinator.look_up == Some(request) {
                coordinator.look_up = None;
            }
            if coordinator.broker == Some(broker) {
                coordinator.broker = None;
            }
        }
    }

    /// `close()` aborts what is open.
    fn abort_on_close(&mut self) {
        let Some(transactional) = &mut self.transactional else { return };
        let is_open =
            matches!(transactional.phase, Phase::InTransaction | Phase::AbortableError(_));
        if is_open && transactional.calls.is_empty() {
            transactional.calls.push_back(Call::End(Outcome::Abort));
        }
    }
}
