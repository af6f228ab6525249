//! Transactions as their coordinator keeps them: states, epochs, and what each request makes of
//! them. Knows no messages under way and no logs.
//!
//! Follows `TransactionMetadata`, `TransactionState`, `TransactionCoordinator` of Kafka's core
//! module, transaction version 2 (KIP-98, KIP-890).
//!
//! # Differs from Kafka
//! Epochs do not run out: a scenario has not enough actions for 32767 of them.

pub mod message;

use std::collections::BTreeSet;

use super::error::KafkaError;
use super::ids::TopicPartition;
use super::record::Outcome;

/// The topic that holds transactions.
pub const TRANSACTIONS_TOPIC: &str = "__transaction_state";

/// How far a transactional id is (`TransactionState`).
///
/// # Differs from Kafka
/// `PrepareEpochFence` is passed through within one event and has no state of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "Kafka's own names")]
pub enum State {
    Empty,
    Ongoing,
    Prepare(Outcome),
    Complete(Outcome),
    /// Forgotten, as soon as its tombstone is written.
    Dead,
}

impl State {
    /// Kafka's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            State::Empty => "Empty",
            State::Ongoing => "Ongoing",
            State::Prepare(Outcome::Commit) => "PrepareCommit",
            State::Prepare(Outcome::Abort) => "PrepareAbort",
            State::Complete(Outcome::Commit) => "CompleteCommit",
            State::Complete(Outcome::Abort) => "CompleteAbort",
            State::Dead => "Dead",
        }
    }
}

/// A producer's id and epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProducerIdentity {
    /// Its id.
    pub id: i64,
    /// Its epoch.
    pub epoch: i16,
}

/// What is known of one transactional id (`TransactionMetadata`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transaction {
    /// The producer.
    pub producer: ProducerIdentity,
    /// The epoch before the last end of a transaction: whose request may have been answered
    /// without the answer arriving.
    pub last_epoch: Option<i16>,
    /// `transaction.timeout.ms`.
    pub timeout_ms: u64,
    /// How far it is.
    pub state: State,
    /// Partitions that belong to the transaction.
    pub partitions: BTreeSet<TopicPartition>,
    /// When the open transaction began, in milliseconds.
    pub started_ms: u64,
    /// When anything changed last, in milliseconds.
    pub updated_ms: u64,
}

/// What a request comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Nothing has to change.
    Done,
    /// This has to be written first.
    Write(Transaction),
}

impl Transaction {
    /// A transactional id that nobody has used; its first epoch will be 0.
    #[must_use]
    pub fn new(producer_id: i64, timeout_ms: u64, now_ms: u64) -> Transaction {
        Transaction {
            producer: ProducerIdentity { id: producer_id, epoch: -1 },
            last_epoch: None,
            timeout_ms,
            state: State::Empty,
            partitions: BTreeSet::new(),
            started_ms: 0,
            updated_ms: now_ms,
        }
    }

    /// `initTransactions()` of a new process: the same producer id with the next epoch. What was
    /// open is aborted first, and the caller tries again
    /// (`TransactionCoordinator.prepareInitProducerIdTransit`). The flag says that it was.
    ///
    /// # Errors
    /// `CONCURRENT_TRANSACTIONS` while the last transaction is being ended.
    pub fn init(&self, timeout_ms: u64, now_ms: u64) -> Result<(Transaction, Fenced), KafkaError> {
        match self.state {
            State::Prepare(_) => Err(KafkaError::ConcurrentTransactions),
            State::Ongoing => Ok((self.ending(Outcome::Abort, now_ms), Fenced::Yes)),
            State::Empty | State::Complete(_) | State::Dead => {
                let next = Transaction {
                    last_epoch: None,
                    timeout_ms,
                    state: State::Empty,
                    partitions: BTreeSet::new(),
                    updated_ms: now_ms,
                    ..self.clone()
                };
                Ok((next.raised(), Fenced::No))
            }
        }
    }

    /// A broker tells that a producer writes to partitions
    /// (`TransactionCoordinator.handleAddPartitionsToTransaction`).
    ///
    /// # Errors
    /// `INVALID_PRODUCER_ID_MAPPING`, `PRODUCER_FENCED` for another epoch,
    /// `CONCURRENT_TRANSACTIONS` while the last transaction is being ended.
    pub fn add(
        &self,
        producer: ProducerIdentity,
        partitions: &[TopicPartition],
        now_ms: u64,
    ) -> Result<Step, KafkaError> {
        if producer.id != self.producer.id {
            return Err(KafkaError::InvalidProducerIdMapping);
        }
        if producer.epoch != self.producer.epoch {
            return Err(KafkaError::ProducerFenced);
        }
        if matches!(self.state, State::Prepare(_)) {
            return Err(KafkaError::ConcurrentTransactions);
        }
        let is_open = self.state == State::Ongoing;
        if is_open && partitions.iter().all(|one| self.partitions.contains(one)) {
            return Ok(Step::Done);
        }
        let mut next = Transaction { state: State::Ongoing, updated_ms: now_ms, ..self.clone() };
        if !is_open {
            next.partitions.clear();
            next.started_ms = now_ms;
        }
        next.partitions.extend(partitions.iter().cloned());
        Ok(Step::Write(next))
    }

    /// A producer ends its transaction (`TransactionCoordinator.endTransaction`, version 2). A
    /// request that was answered before, as its epoch tells, is answered again.
    ///
    /// # Errors
    /// `INVALID_PRODUCER_ID_MAPPING`, `PRODUCER_FENCED` for another epoch,
    /// `CONCURRENT_TRANSACTIONS` while this end is under way, `INVALID_TXN_STATE` where the other
    /// end was decided or there is nothing to commit.
    pub fn end(
        &self,
        producer: ProducerIdentity,
        outcome: Outcome,
        now_ms: u64,
    ) -> Result<Step, KafkaError> {
        if producer.id != self.producer.id {
            return Err(KafkaError::InvalidProducerIdMapping);
        }
        let is_repeated = producer.epoch.checked_add(1) == Some(self.producer.epoch);
        let is_present = producer.epoch == self.producer.epoch;
        let is_valid = match self.state {
            State::Ongoing | State::Empty | State::Dead => is_present,
            State::Prepare(_) => is_repeated,
            State::Complete(_) => is_repeated || is_present,
        };
        if !is_valid {
            return Err(KafkaError::ProducerFenced);
        }
        match self.state {
            State::Ongoing => Ok(Step::Write(self.ending(outcome, now_ms))),
            State::Prepare(decided) if decided == outcome => {
                Err(KafkaError::ConcurrentTransactions)
            }
            State::Complete(decided) if is_repeated && decided == outcome => Ok(Step::Done),
            State::Complete(_) if is_repeated => Err(KafkaError::InvalidTxnState),
            // An abort of a transaction to which no partition was added raises the epoch, so that
            // what is still under way is refused.
            State::Empty | State::Complete(_) if outcome == Outcome::Abort => {
                let next = Transaction { partitions: BTreeSet::new(), ..self.clone() };
                Ok(Step::Write(next.ending(outcome, now_ms)))
            }
            _ => Err(KafkaError::InvalidTxnState),
        }
    }

    /// The coordinator ends it: the decision, with the next epoch, which markers carry
    /// (`TransactionMetadata.prepareAbortOrCommit`).
    #[must_use]
    pub fn ending(&self, outcome: Outcome, now_ms: u64) -> Transaction {
        let next = Transaction {
            last_epoch: Some(self.producer.epoch),
            state: State::Prepare(outcome),
            updated_ms: now_ms,
            ..self.clone()
        };
        next.raised()
    }

    /// Every marker is written (`TransactionMetadata.prepareComplete`).
    #[must_use]
    pub fn completed(&self, outcome: Outcome, now_ms: u64) -> Transaction {
        Transaction {
            state: State::Complete(outcome),
            partitions: BTreeSet::new(),
            updated_ms: now_ms,
            ..self.clone()
        }
    }

    /// Whether it has been open for longer than its time-out
    /// (`TransactionStateManager.timedOutTransactions`).
    #[must_use]
    pub fn is_timed_out(&self, now_ms: u64) -> bool {
        self.state == State::Ongoing && self.started_ms + self.timeout_ms < now_ms
    }

    /// Whether it has not been used for `transactional.id.expiration.ms`.
    #[must_use]
    pub fn is_expired(&self, expiration_ms: u64, now_ms: u64) -> bool {
        matches!(self.state, State::Empty | State::Complete(_))
            && self.updated_ms + expiration_ms <= now_ms
    }

    fn raised(mut self) -> Transaction {
        self.producer.epoch = self.producer.epoch.saturating_add(1);
        self
    }
}

/// Whether a new process had to abort what another left open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fenced {
    /// It had to.
    Yes,
    /// There was nothing open.
    No,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn orders() -> Vec<TopicPartition> {
        vec![TopicPartition::new("orders", 0)]
    }

    fn written(step: Result<Step, KafkaError>) -> Transaction {
        match step {
            Ok(Step::Write(next)) => next,
            other => panic!("nothing to write: {other:?}"),
        }
    }

    /// A transactional id whose producer has the epoch 0.
    fn initialised() -> Transaction {
        Transaction::new(7, 60_000, 0).init(60_000, 0).expect("nothing is open").0
    }

    fn open() -> Transaction {
        let empty = initialised();
        written(empty.add(empty.producer, &orders(), 100))
    }

    #[test]
    fn the_first_epoch_is_0_and_each_end_raises_it() {
        let mut transaction = initialised();
        let mut epochs = vec![transaction.producer.epoch];
        for outcome in [Outcome::Commit, Outcome::Abort, Outcome::Commit] {
            let opened = written(transaction.add(transaction.producer, &orders(), 0));
            let decided = written(opened.end(opened.producer, outcome, 0));
            assert_eq!(decided.partitions.len(), 1);
            transaction = decided.completed(outcome, 0);
            assert!(transaction.partitions.is_empty());
            epochs.push(transaction.producer.epoch);
        }
        assert_eq!(epochs, [0, 1, 2, 3]);
        assert_eq!(transaction.producer.id, 7);
    }

    #[test]
    fn a_second_process_aborts_what_is_open_and_gets_the_epoch_after_that() {
        let open = open();
        let (aborting, fenced) = open.init(60_000, 0).expect("it can");
        assert_eq!(fenced, Fenced::Yes);
        assert_eq!((aborting.state, aborting.producer.epoch), (State::Prepare(Outcome::Abort), 1));
        let busy = aborting.init(60_000, 0).map(|_| ());
        assert_eq!(busy, Err(KafkaError::ConcurrentTransactions));
        let aborted = aborting.completed(Outcome::Abort, 0);
        let (second, _) = aborted.init(60_000, 0).expect("nothing is open");
        assert_eq!((second.state, second.producer.epoch), (State::Empty, 2));
        // The first one is shut out everywhere.
        let zombie = open.producer;
        assert_eq!(second.add(zombie, &orders(), 0), Err(KafkaError::ProducerFenced));
        assert_eq!(second.end(zombie, Outcome::Commit, 0), Err(KafkaError::ProducerFenced));
    }

    #[test]
    fn a_repeated_end_is_answered_again_and_the_other_end_refused() {
        let open = open();
        let decided = written(open.end(open.producer, Outcome::Commit, 0));
        let again = decided.end(open.producer, Outcome::Commit, 0);
        assert_eq!(again, Err(KafkaError::ConcurrentTransactions));
        let other = decided.end(open.producer, Outcome::Abort, 0);
        assert_eq!(other, Err(KafkaError::InvalidTxnState));
        let completed = decided.completed(Outcome::Commit, 0);
        assert_eq!(completed.end(open.producer, Outcome::Commit, 0), Ok(Step::Done));
        let other = completed.end(open.producer, Outcome::Abort, 0);
        assert_eq!(other, Err(KafkaError::InvalidTxnState));
    }

    #[test]
    fn an_aborted_producer_may_abort_once_more_and_goes_on_with_the_raised_epoch() {
        let open = open();
        assert!(!open.is_timed_out(60_100) && open.is_timed_out(60_101));
        let aborted = open.ending(Outcome::Abort, 0).completed(Outcome::Abort, 0);
        assert_eq!(aborted.end(open.producer, Outcome::Abort, 0), Ok(Step::Done));
        let commit = aborted.end(open.producer, Outcome::Commit, 0);
        assert_eq!(commit, Err(KafkaError::InvalidTxnState));
        assert!(aborted.add(aborted.producer, &orders(), 0).is_ok());
    }

    #[test]
    fn nothing_can_be_committed_where_nothing_was_added_but_an_abort_raises_the_epoch() {
        let empty = initialised();
        let commit = empty.end(empty.producer, Outcome::Commit, 0);
        assert_eq!(commit, Err(KafkaError::InvalidTxnState));
        let aborting = written(empty.end(empty.producer, Outcome::Abort, 0));
        assert_eq!((aborting.partitions.len(), aborting.producer.epoch), (0, 1));
    }

    #[test]
    fn a_partition_is_added_once_and_not_while_the_last_transaction_is_ended() {
        let open = open();
        assert_eq!(open.add(open.producer, &orders(), 0), Ok(Step::Done));
        let decided = written(open.end(open.producer, Outcome::Commit, 0));
        let busy = decided.add(decided.producer, &orders(), 0);
        assert_eq!(busy, Err(KafkaError::ConcurrentTransactions));
        let other = ProducerIdentity { id: 8, epoch: 0 };
        let stranger = open.add(other, &orders(), 0);
        assert_eq!(stranger, Err(KafkaError::InvalidProducerIdMapping));
    }

    #[test]
    fn an_unused_id_expires_unless_a_transaction_is_open() {
        assert!(initialised().is_expired(1000, 1000) && !initialised().is_expired(1000, 999));
        assert!(!open().is_expired(1000, 99_999));
    }
}
