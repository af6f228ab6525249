//! The coordinator's part: what it answers, which transactions it ends by itself.
//!
//! Follows `TransactionCoordinator`.

use crate::sim::error::KafkaError;
use crate::sim::ids::TopicPartition;
use crate::sim::kernel::Kernel;
use crate::sim::message::{Body, Message};
use crate::sim::record::Outcome;
use crate::sim::timer::Timer;
use crate::sim::trace::EventKind;
use crate::sim::txn::message::TransactionBody;
use crate::sim::txn::{Fenced, State, Step, Transaction};

use super::super::Broker;
use super::{Known, Then, Write};

/// How soon a completion that could not be written is tried again, in milliseconds.
const RETRY_MS: u64 = 100;

impl Broker {
    /// `InitProducerId` with a transactional id (`TransactionCoordinator.handleInitProducerId`).
    pub(super) fn handle_init(
        &mut self,
        message: &Message,
        id: &str,
        timeout_ms: u64,
        kernel: &mut Kernel,
    ) {
        let home = self.transaction_home(id);
        let max_timeout_ms = self.settings.transaction_max_timeout_ms;
        let now_ms = kernel.now_ms;
        let is_new = self.transactions.get(&home, id).is_none();
        let fresh = is_new.then(|| Transaction::new(self.next_producer_id(), timeout_ms, now_ms));
        let known = self.transactions.homes.get_mut(&home).ok_or(KafkaError::NotCoordinator);
        let checked = known.and_then(|leads| {
            if timeout_ms > max_timeout_ms {
                return Err(KafkaError::InvalidTransactionTimeout);
            }
            if let Some(fresh) = fresh {
                leads.ids.insert(id.to_owned(), Known::new(fresh));
            }
            let known = leads.ids.get(id).ok_or(KafkaError::NotCoordinator)?;
            if known.is_pending {
                return Err(KafkaError::ConcurrentTransactions);
            }
            known.now.init(timeout_ms, now_ms)
        });
        match checked {
            Ok((next, fenced)) => {
                let then = Then::Init(message.clone(), fenced);
                self.write_transaction((&home, id), next, then, kernel);
            }
            Err(error) => self.refuse(&Then::Init(message.clone(), Fenced::No), error, kernel),
        }
    }

    /// A request that takes a transactional id one step further.
    pub(super) fn step(
        &mut self,
        id: &str,
        then: Then,
        kernel: &mut Kernel,
        rule: impl Fn(&Transaction) -> Result<Step, KafkaError>,
    ) {
        let home = self.transaction_home(id);
        let leads = self.transactions.homes.get(&home).ok_or(KafkaError::NotCoordinator);
        let checked = leads.and_then(|leads| {
            let known = leads.ids.get(id).ok_or(KafkaError::InvalidProducerIdMapping)?;
            if known.is_pending {
                return Err(KafkaError::ConcurrentTransactions);
            }
            Ok((rule(&known.now)?, known.now.producer))
        });
        match checked {
            Ok((Step::Write(next), _)) => self.write_transaction((&home, id), next, then, kernel),
            Ok((Step::Done, producer)) => {
                let body = match then {
                    Then::End(_) => TransactionBody::EndTxnResponse(Ok(producer)),
                    _ => TransactionBody::AddPartitionsToTxnResponse(Ok(())),
                };
                if let Some(message) = then.message() {
                    kernel.answer(message, Body::Transaction(body));
                }
            }
            Err(error) => self.refuse(&then, error, kernel),
        }
    }

    fn refuse(&self, then: &Then, error: KafkaError, kernel: &mut Kernel) {
        if let Some(message) = then.message() {
            let text = format!("refuses {} of {}: {error}", message.body.kind(), message.from);
            kernel.trace_error(EventKind::Refused, &self.machine, text, error);
        }
        then.refuse(error, kernel);
    }

    /// A change is committed: who asked for it is answered, and a decision is carried out.
    pub(super) fn transaction_changed(
        &mut self,
        home: &TopicPartition,
        write: &Write,
        kernel: &mut Kernel,
    ) {
        let Write { id, next, then, .. } = write;
        let text = format!("{id} is {}, epoch {}", next.state.name(), next.producer.epoch);
        kernel.trace(EventKind::Transaction, &self.machine, text);
        let answer = match then {
            Then::Init(message, Fenced::No) => {
                Some((message, TransactionBody::InitProducerIdResponse(Ok(next.producer))))
            }
            Then::Init(message, Fenced::Yes) => {
                let error = KafkaError::ConcurrentTransactions;
                Some((message, TransactionBody::InitProducerIdResponse(Err(error))))
            }
            Then::Add(message) => {
                Some((message, TransactionBody::AddPartitionsToTxnResponse(Ok(()))))
            }
            Then::End(message) => {
                Some((message, TransactionBody::EndTxnResponse(Ok(next.producer))))
            }
            Then::Nothing => None,
        };
        if let Some((message, body)) = answer {
            kernel.answer(message, Body::Transaction(body));
        }
        if matches!(next.state, State::Prepare(_)) {
            self.send_markers(home, id, kernel);
        }
    }

    /// A change could not be written. Whoever asked was told; what the coordinator decided itself
    /// it tries again.
    pub(super) fn write_failed(
        &mut self,
        home: &TopicPartition,
        id: &str,
        next: &Transaction,
        kernel: &mut Kernel,
    ) {
        let leads =
            self.transactions.homes.get(home).is_some_and(|leads| leads.ids.contains_key(id));
        if leads && matches!(next.state, State::Complete(_)) {
            kernel.timer(&self.machine, kernel.now_ms + RETRY_MS, Timer::TransactionMarkers);
        }
    }

    /// Every `transaction.abort.timed.out.transaction.cleanup.interval.ms`: aborts transactions
    /// that are open for too long (`TransactionCoordinator.abortTimedOutTransactions`).
    pub(in crate::sim::broker) fn abort_timed_out_transactions(&mut self, kernel: &mut Kernel) {
        let now_ms = kernel.now_ms;
        for (home, id, transaction) in self.idle_transactions(|now| now.is_timed_out(now_ms)) {
            let text = format!("{id} has been open for too long: its transaction is aborted");
            kernel.trace(EventKind::Timeout, &self.machine, text);
            let next = transaction.ending(Outcome::Abort, now_ms);
            self.write_transaction((&home, &id), next, Then::Nothing, kernel);
        }
        let next = now_ms + self.settings.transaction_timeout_check_ms;
        kernel.timer(&self.machine, next, Timer::TransactionTimeouts);
    }

    /// Every `transaction.remove.expired.transaction.cleanup.interval.ms`: forgets transactional
    /// ids that nobody has used for `transactional.id.expiration.ms`
    /// (`TransactionStateManager.removeExpiredTransactionalIds`).
    pub(in crate::sim::broker) fn forget_transactional_ids(&mut self, kernel: &mut Kernel) {
        let now_ms = kernel.now_ms;
        let expiration_ms = self.settings.transactional_id_expiration_ms;
        for (home, id, transaction) in
            self.idle_transactions(|now| now.is_expired(expiration_ms, now_ms))
        {
            let next = Transaction { state: State::Dead, ..transaction };
            self.write_transaction((&home, &id), next, Then::Nothing, kernel);
        }
        let next = now_ms + self.settings.transactional_id_check_ms;
        kernel.timer(&self.machine, next, Timer::TransactionalIdExpiration);
    }

    /// Transactional ids of which nothing is being written and that a rule picks.
    fn idle_transactions(
        &self,
        picks: impl Fn(&Transaction) -> bool,
    ) -> Vec<(TopicPartition, String, Transaction)> {
        let of_home = |(home, leads): (&TopicPartition, &super::Home)| {
            let picked =
                leads.ids.iter().filter(|(_, known)| !known.is_pending && picks(&known.now));
            picked
                .map(|(id, known)| (home.clone(), id.clone(), known.now.clone()))
                .collect::<Vec<_>>()
        };
        self.transactions.homes.iter().flat_map(of_home).collect()
    }
}
