//! A deterministic simulator of a Kafka 4.3 cluster and its clients.
//!
//! It knows no files, threads, wall clock or hash order: the same [`World`], the same commands and the
//! same seed give the same events, byte for byte. It uses nothing else of this crate.

pub mod command;
pub mod ids;
pub mod snapshot;
pub mod trace;
pub mod world;

use command::Command;
use ids::{BrokerId, Offset, TopicPartition};
use snapshot::{MessageView, Snapshot};
use trace::TraceEvent;
use world::World;

/// A running simulation.
///
/// Driven from outside one millisecond at a time: [`Sim::next_event_ms`] says when something happens
/// next, [`Sim::run_millisecond`] lets all of it happen, [`Sim::snapshot`] looks.
pub struct Sim {
    _world: World,
}

/// What a snapshot holds; a narrow one is cheap enough to take after every millisecond.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Everything.
    All,
    /// Only these parts.
    Parts(Vec<Part>),
}

/// One part of the tree. Parts that are not asked for are left empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// `controller`, `brokers`, `topics`, `admin`.
    Cluster,
    /// One partition without its records.
    Partition(TopicPartition),
    /// One record of a partition's leader.
    Record(TopicPartition, Offset),
    /// One replica with the records of its own log (for pictures, from the first offset given).
    ReplicaRecords(TopicPartition, BrokerId, Offset),
    /// One producer.
    Producer(String),
    /// One transactional id.
    Transaction(String),
    /// One group.
    Group(String),
    /// One consumer.
    Consumer(String),
    /// `metrics`.
    Metrics,
    /// `in_flight`, `waiting` and `messages`.
    Messages,
}

/// Why a run cannot go on: it passed a limit of the format. The text names the limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LimitExceeded(pub String);

impl Sim {
    /// The world at 0 s, before its first millisecond has run, with the commands that will come.
    /// Commands of one millisecond run in the order given, before anything else of that millisecond.
    #[must_use]
    pub fn new(world: World, _commands: Vec<(u64, Command)>) -> Sim {
        Sim { _world: world }
    }

    /// The time that the simulation has reached, in milliseconds. Everything of it has happened.
    /// `None` before the first millisecond has run.
    #[must_use]
    pub fn now_ms(&self) -> Option<u64> {
        unimplemented!()
    }

    /// The next millisecond in which something happens; `None` when nothing is left to happen.
    #[must_use]
    pub fn next_event_ms(&self) -> Option<u64> {
        unimplemented!()
    }

    /// Goes on to `time_ms` and lets everything of that millisecond happen.
    ///
    /// `time_ms` is at most [`Sim::next_event_ms`], and later than [`Sim::now_ms`].
    ///
    /// # Errors
    /// [`LimitExceeded`] after 50 million events or 1,000,000 records.
    pub fn run_millisecond(&mut self, _time_ms: u64) -> Result<(), LimitExceeded> {
        unimplemented!()
    }

    /// What can be observed now.
    #[must_use]
    pub fn snapshot(&self, _scope: &Scope) -> Snapshot {
        unimplemented!()
    }

    /// Hands over the events since the last call.
    pub fn take_events(&mut self) -> Vec<TraceEvent> {
        unimplemented!()
    }

    /// Hands over every message that was sent since the last call, with its final `arrives_ms`
    /// (for the animation between two steps and for the followed record's trail).
    pub fn take_messages(&mut self) -> Vec<MessageView> {
        unimplemented!()
    }
}
