//! A transactional producer: what the application's calls do, and in which order they wait for each
//! other.
//!
//! Follows `TransactionManager` and the transactional methods of `KafkaProducer`, transaction
//! version 2 (KIP-98, KIP-890). The application makes one call after the other: while one blocks,
//! later ones wait.
//!
//! # Differs from Kafka
//! An application whose call threw after `max.block.ms` goes on waiting for the same thing.

mod requests;

use std::collections::VecDeque;

use crate::sim::error::KafkaError;
use crate::sim::ids::{BrokerId, Offset, TopicPartition};
use crate::sim::kernel::Kernel;
use crate::sim::message::MessageId;
use crate::sim::record::Outcome;
use crate::sim::trace::EventKind;

use super::{Producer, Sent};

/// What the application calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    /// `beginTransaction()`; `initTransactions()` goes before the first.
    Begin,
    /// `send()`.
    Send(Sent),
    /// `sendOffsetsToTransaction()`.
    SendOffsets(GroupPositions),
    /// `commitTransaction()` or `abortTransaction()`.
    End(Outcome),
}

/// The positions of a consumer with its `groupMetadata()`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupPositions {
    /// `group.id`.
    pub group: String,
    /// Its member id, while it is a member.
    pub member: Option<String>,
    /// Its generation or member epoch.
    pub generation: i32,
    /// The next offset to read of each partition.
    pub offsets: Vec<(TopicPartition, Offset)>,
}

/// How far the producer is (`TransactionManager.State`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Phase {
    /// `initTransactions()` was not called.
    Uninitialized,
    /// It waits for its producer id.
    Initializing,
    /// No transaction is open.
    Ready,
    /// One is open.
    InTransaction,
    /// Offsets are on their way to the group's coordinator.
    SendingOffsets(GroupPositions),
    /// One is being ended: what is buffered goes first.
    Ending(Outcome),
    /// The transaction has to be aborted.
    AbortableError(KafkaError),
    /// The producer cannot go on.
    FatalError(KafkaError),
}

/// Which coordinator a request goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Transactions,
    Group,
}

/// A coordinator, as far as it is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Coordinator {
    broker: Option<BrokerId>,
    look_up: Option<MessageId>,
}

/// What makes a producer transactional.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transactional {
    /// `transactional.id`.
    pub id: String,
    /// How far it is.
    pub phase: Phase,
    /// Calls that wait.
    calls: VecDeque<Call>,
    /// Since when the present call blocks.
    blocks_since_ms: Option<u64>,
    transactions: Coordinator,
    group: Coordinator,
    /// The request that is not answered.
    request: Option<MessageId>,
    /// After a refusal nothing is asked before this time.
    not_before_ms: u64,
    /// Whether anything was sent in the open transaction.
    pub(super) is_started: bool,
}

impl Transactional {
    /// A fresh process with this `transactional.id`.
    #[must_use]
    pub fn new(id: String) -> Transactional {
        Transactional {
            id,
            phase: Phase::Uninitialized,
            calls: VecDeque::new(),
            blocks_since_ms: None,
            transactions: Coordinator::default(),
            group: Coordinator::default(),
            request: None,
            not_before_ms: 0,
            is_started: false,
        }
    }

    /// Whether everything in the buffer is sent at once.
    pub(super) fn is_flushing(&self) -> bool {
        matches!(self.phase, Phase::Ending(_))
    }

    /// Records in calls that wait.
    pub(super) fn waiting_count(&self) -> u64 {
        self.calls.iter().filter(|call| matches!(call, Call::Send(_))).count() as u64
    }

    /// Whether nothing is open and nobody waits.
    pub(super) fn is_idle(&self) -> bool {
        let is_done = match self.phase {
            Phase::Uninitialized | Phase::Ready | Phase::FatalError(_) => true,
            Phase::AbortableError(_)
            | Phase::Initializing
            | Phase::InTransaction
            | Phase::SendingOffsets(_)
            | Phase::Ending(_) => false,
        };
        is_done && self.calls.is_empty()
    }

    fn coordinator(&mut self, role: Role) -> &mut Coordinator {
        match role {
            Role::Transactions => &mut self.transactions,
            Role::Group => &mut self.group,
        }
    }

    fn is_blocking(&self) -> bool {
        matches!(self.phase, Phase::Initializing | Phase::SendingOffsets(_) | Phase::Ending(_))
    }

    fn block(&mut self, phase: Phase, now_ms: u64) {
        self.phase = phase;
        self.blocks_since_ms = Some(now_ms);
    }

    /// The present call returns.
    fn unblock(&mut self, phase: Phase) {
        self.phase = phase;
        self.blocks_since_ms = None;
    }

    /// When it has to look again.
    pub(super) fn next_due_ms(&self, max_block_ms: u64, now_ms: u64) -> Option<u64> {
        let again = self.is_blocking().then_some(self.not_before_ms);
        let blocked = self.blocks_since_ms.map(|since| since + max_block_ms);
        again.into_iter().chain(blocked).filter(|at| *at > now_ms).min()
    }
}

impl Producer {
    /// The application makes a call; it waits for those before.
    pub fn call(&mut self, call: Call, kernel: &mut Kernel) {
        match (&mut self.transactional, call) {
            (Some(transactional), call) => transactional.calls.push_back(call),
            (None, Call::Send(sent)) => return self.send(sent, kernel),
            // Without a `transactional.id` the methods throw.
            (None, _) => return self.throw("IllegalStateException", kernel),
        }
        self.make_calls(kernel);
        self.wake_sender(kernel);
    }

    /// Makes the calls that wait, until one blocks.
    pub(super) fn make_calls(&mut self, kernel: &mut Kernel) {
        while let Some(transactional) = &mut self.transactional {
            // A `send()` that waits for metadata or memory blocks too.
            if transactional.is_blocking() || !self.blocked.is_empty() {
                return;
            }
            let next = transactional.calls.front();
            if next == Some(&Call::Begin) && transactional.phase == Phase::Uninitialized {
                transactional.block(Phase::Initializing, kernel.now_ms);
                return;
            }
            let Some(call) = transactional.calls.pop_front() else { return };
            self.make_call(call, kernel);
        }
    }

    fn make_call(&mut self, call: Call, kernel: &mut Kernel) {
        let Some(transactional) = &mut self.transactional else { return };
        let phase = transactional.phase.clone();
        match (phase, call) {
            (Phase::AbortableError(_), Call::End(Outcome::Abort)) => {
                transactional.block(Phase::Ending(Outcome::Abort), kernel.now_ms);
            }
            (Phase::AbortableError(error) | Phase::FatalError(error), call) => {
                // `maybeFailWithError`: these two come as they are, others as a cause.
                let name = match error {
                    KafkaError::ProducerFenced | KafkaError::InvalidProducerEpoch => error.name(),
                    _ => "KafkaException",
                };
                self.counters.failed += u64::from(matches!(call, Call::Send(_)));
                self.throw(name, kernel);
            }
            (Phase::Ready, Call::Begin) => {
                transactional.phase = Phase::InTransaction;
                self.say("begins a transaction", kernel);
            }
            (Phase::InTransaction, Call::Send(sent)) => {
                transactional.is_started = true;
                self.send(sent, kernel);
            }
            (Phase::InTransaction, Call::SendOffsets(positions)) => {
                if !positions.offsets.is_empty() {
                    transactional.is_started = true;
                    transactional.block(Phase::SendingOffsets(positions), kernel.now_ms);
                }
            }
            (Phase::InTransaction, Call::End(outcome)) => {
                transactional.block(Phase::Ending(outcome), kernel.now_ms);
            }
            (_, call) => {
                self.counters.failed += u64::from(matches!(call, Call::Send(_)));
                self.throw("IllegalStateException", kernel);
            }
        }
    }

    /// A call throws.
    fn throw(&mut self, name: &'static str, kernel: &mut Kernel) {
        self.counters.last_error = Some(name);
        let text = format!("the call throws {name}");
        kernel.trace(EventKind::Failed, &self.machine, text);
    }

    fn say(&self, text: &str, kernel: &mut Kernel) {
        kernel.trace(EventKind::Transaction, &self.machine, text);
    }
}
