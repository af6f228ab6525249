//! A deterministic simulator of a Kafka 4.3 cluster and its clients.
//!
//! It knows no files, threads, wall clock or hash order: the same [`World`], the same commands and
//! the same seed give the same events, byte for byte. It uses nothing else of this crate.
//!
//! The order of things: one queue holds everything that will happen, ordered by millisecond; within
//! one, actions come first, then events in the order in which they were scheduled (`queue`). A
//! machine acts only when a message, a timer or an action reaches it, and only through the
//! `kernel`.

pub mod assignor;
mod broker;
mod check;
mod client;
mod clients;
pub mod command;
mod commands;
mod consumer;
mod consumer_commands;
mod controller;
mod defect;
mod election;
pub mod error;
mod group;
pub mod ids;
mod kernel;
mod log;
mod message;
mod metadata;
mod network;
mod observe;
pub mod partitioner;
mod producer;
mod producer_state;
mod queue;
mod record;
mod replication;
pub mod rng;
pub mod settings;
mod setup;
mod share;
pub mod snapshot;
mod timer;
pub mod trace;
mod txn;
pub mod world;

use std::collections::BTreeMap;

use broker::Broker;
use check::Checker;
use command::Command;
use consumer::Consumer;
use controller::Controller;
use error::KafkaError;
use ids::{BrokerId, Machine, Offset, TopicPartition};
use kernel::{Event, Kernel};
use message::{Message, MessageId};
use producer::Producer;
use snapshot::{MessageView, Snapshot};
use timer::Timer;
use trace::TraceEvent;
use world::{Start, World};

#[cfg(test)]
pub(crate) use defect::Defect;

/// Events after which a run is stopped.
const EVENTS_MAX: u64 = 50_000_000;
/// Records after which a run is stopped.
const RECORDS_MAX: u64 = 1_000_000;

/// Partitions of topics that are not Kafka's own after which a run is stopped.
const PARTITIONS_MAX: u64 = 10_000;

/// A running simulation.
///
/// Driven from outside one millisecond at a time: [`Sim::next_event_ms`] says when something
/// happens next, [`Sim::run_millisecond`] lets all of it happen, [`Sim::snapshot`] looks.
pub struct Sim {
    world: World,
    commands: Vec<Command>,
    kernel: Kernel,
    controllers: BTreeMap<String, Controller>,
    brokers: BTreeMap<BrokerId, Broker>,
    producers: BTreeMap<String, Producer>,
    consumers: BTreeMap<String, Consumer>,
    checker: Checker,
    admin_error: Option<KafkaError>,
    record_count: u64,
    reached_ms: Option<u64>,
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
    /// `controller`, `brokers`, `topics` without Kafka's own, `admin`.
    Cluster,
    /// One topic, which may be one of Kafka's own.
    Topic(String),
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

/// Why a run cannot go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// It passed a limit of the format, which the text names.
    Limit(String),
    /// The model broke the rule that the text names: a defect of this program.
    Broken(String),
}

impl Sim {
    /// The world at 0 s, before its first millisecond has run, with the commands that will come,
    /// each with its time in milliseconds. Commands of one millisecond run in the order given,
    /// before anything else of that millisecond.
    #[must_use]
    pub fn new(world: World, commands: Vec<(u64, Command)>) -> Sim {
        let mut sim = setup::warm(world);
        for (at_ms, command) in commands {
            sim.add_command(at_ms, command);
        }
        sim
    }

    /// Breaks a rule of the model, for a test of the checkers.
    #[cfg(test)]
    pub(crate) fn break_rule(&mut self, defect: Defect) {
        self.kernel.defect = Some(defect);
    }

    fn add_command(&mut self, at_ms: u64, command: Command) {
        self.kernel.schedule_command(at_ms, self.commands.len());
        self.commands.push(command);
    }

    /// The time that the simulation has reached, in milliseconds. Everything of it has happened.
    /// `None` before the first millisecond has run.
    #[must_use]
    pub fn now_ms(&self) -> Option<u64> {
        self.reached_ms
    }

    /// The next millisecond in which something happens; `None` when nothing is left to happen.
    #[must_use]
    pub fn next_event_ms(&self) -> Option<u64> {
        if self.reached_ms.is_none() { Some(0) } else { self.kernel.next_ms() }
    }

    /// Goes on to `time_ms` and lets everything of that millisecond happen.
    ///
    /// `time_ms` is at most [`Sim::next_event_ms`], and later than [`Sim::now_ms`].
    ///
    /// # Errors
    /// [`Stopped::Limit`] after 50 million events, 1,000,000 records or 10,000 partitions,
    /// [`Stopped::Broken`] when a checker finds a broken rule.
    pub fn run_millisecond(&mut self, time_ms: u64) -> Result<(), Stopped> {
        self.kernel.now_ms = time_ms;
        if self.reached_ms.is_none() {
            self.begin();
        }
        self.reached_ms = Some(time_ms);
        while let Some(event) = self.kernel.next_due() {
            let is_action = matches!(event, Event::Command(_));
            let actor = self.happen(event);
            self.check(actor).map_err(Stopped::Broken)?;
            if is_action && self.partition_count() > PARTITIONS_MAX {
                return Err(Stopped::Limit(format!("more than {PARTITIONS_MAX} partitions")));
            }
            if self.kernel.event_count() > EVENTS_MAX {
                return Err(Stopped::Limit(format!("more than {EVENTS_MAX} events")));
            }
            if self.record_count > RECORDS_MAX {
                return Err(Stopped::Limit(format!("more than {RECORDS_MAX} records")));
            }
        }
        Ok(())
    }

    /// In a cold world every process starts at 0 s: controllers, brokers, producers, consumers, in
    /// the file's order.
    fn begin_cold(&mut self) {
        for name in self.world.controllers.clone() {
            if let Some(controller) = self.controllers.get_mut(&name) {
                self.kernel.start(&controller.machine);
                controller.start(&mut self.kernel);
            }
        }
        for spec in self.world.brokers.clone() {
            if let Some(broker) = self.brokers.get_mut(&spec.id) {
                self.kernel.start(&broker.machine);
                broker.start(&mut self.kernel);
            }
        }
        for spec in self.world.producers.clone() {
            if spec.start == Start::WithWorld {
                self.start_producer(&spec.name);
            }
        }
        for spec in self.world.groups.clone().iter().flat_map(|group| &group.consumers) {
            if spec.start == Start::WithWorld {
                self.start_consumer(&spec.name);
            }
        }
    }

    /// What happens of itself at 0 s: controllers, brokers, consumers, in the file's order.
    fn begin(&mut self) {
        if !self.world.warm {
            self.begin_cold();
            return;
        }
        for machine in self.world.controllers.clone() {
            if let Some(controller) = self.controllers.get_mut(&machine) {
                controller.begin(&mut self.kernel);
            }
        }
        for spec in self.world.brokers.clone() {
            if let Some(broker) = self.brokers.get_mut(&spec.id) {
                broker.begin_warm(&mut self.kernel);
            }
        }
        for spec in self.world.groups.clone().iter().flat_map(|group| &group.consumers) {
            if let Some(consumer) = self.consumers.get_mut(&spec.name) {
                consumer.begin(&mut self.kernel);
            }
        }
    }

    /// Lets an event happen; the broker that it happens to, if it is one.
    fn happen(&mut self, event: Event) -> Option<BrokerId> {
        match event {
            Event::Command(index) => {
                self.command(index);
                None
            }
            Event::Deliver(id) => {
                let message = self.kernel.arrive(id)?;
                self.deliver(&message);
                message.to.broker()
            }
            Event::Disconnected { machine, request, peer, .. } => {
                if self.kernel.take_outstanding(request) {
                    self.disconnected(&machine, request, &peer);
                }
                machine.broker()
            }
            Event::Timer { machine, timer, .. } => {
                self.timer(&machine, timer);
                machine.broker()
            }
            Event::HungUp { machine, peer, .. } => {
                let id = machine.broker()?;
                if let Some(broker) = self.brokers.get_mut(&id) {
                    broker.on_hang_up(&peer, &mut self.kernel);
                }
                Some(id)
            }
        }
    }

    fn deliver(&mut self, message: &Message) {
        match &message.to {
            Machine::Controller(name) => {
                if let Some(controller) = self.controllers.get_mut(name) {
                    controller.receive(message, &mut self.kernel);
                }
            }
            Machine::Broker(id) => {
                if let Some(broker) = self.brokers.get_mut(id) {
                    broker.receive(message, &mut self.kernel);
                    self.end_if_let_go(*id);
                }
            }
            Machine::Client(name) => {
                if let Some(producer) = self.producers.get_mut(name) {
                    producer.receive(message, &mut self.kernel);
                    self.end_if_closed(name);
                } else if let Some(consumer) = self.consumers.get_mut(name) {
                    consumer.receive(message, &mut self.kernel);
                    self.end_if_consumer_closed(name);
                }
            }
        }
    }

    fn disconnected(&mut self, machine: &Machine, request: MessageId, peer: &Machine) {
        let text = format!("loses its connection to {peer}");
        self.kernel.trace(trace::EventKind::Drop, machine, text);
        match (machine, peer) {
            (Machine::Controller(name), _) => {
                if let Some(controller) = self.controllers.get_mut(name) {
                    controller.on_disconnect(request, &mut self.kernel);
                }
            }
            (Machine::Broker(id), _) => {
                if let Some(broker) = self.brokers.get_mut(id) {
                    broker.on_disconnect(request, &mut self.kernel);
                }
            }
            (Machine::Client(name), Machine::Broker(broker)) => {
                if let Some(producer) = self.producers.get_mut(name) {
                    producer.on_disconnect(request, *broker, &mut self.kernel);
                } else if let Some(consumer) = self.consumers.get_mut(name) {
                    consumer.on_disconnect(request, *broker, &mut self.kernel);
                    self.end_if_consumer_closed(name);
                }
            }
            _ => {}
        }
    }

    fn timer(&mut self, machine: &Machine, timer: Timer) {
        if let Timer::Burst { command, number } = timer {
            self.burst(command, number);
            return;
        }
        match machine {
            Machine::Controller(name) => {
                if let Some(controller) = self.controllers.get_mut(name) {
                    controller.on_timer(&timer, &mut self.kernel);
                }
            }
            Machine::Broker(id) => {
                if let Some(broker) = self.brokers.get_mut(id) {
                    broker.on_timer(timer, &mut self.kernel);
                }
            }
            Machine::Client(name) => {
                if let Some(producer) = self.producers.get_mut(name) {
                    producer.on_wake(&mut self.kernel);
                    self.end_if_closed(name);
                } else if let Some(consumer) = self.consumers.get_mut(name) {
                    consumer.on_timer(&timer, &mut self.kernel);
                    self.end_if_consumer_closed(name);
                }
            }
        }
    }

    /// The active controller, if there is one.
    fn active_controller(&self) -> Option<&Controller> {
        self.controllers.values().find(|controller| controller.active.is_some())
    }

    /// Partitions of topics that are not Kafka's own, as the active controller knows them.
    fn partition_count(&self) -> u64 {
        let topics = self.active_controller().map(|controller| &controller.image.topics);
        let topics = topics.into_iter().flatten().filter(|(name, _)| !ids::is_internal(name));
        topics.map(|(_, topic)| u64::from(topic.partition_count)).sum()
    }

    /// How many events [`Sim::take_events`] would hand over.
    #[must_use]
    pub fn pending_event_count(&self) -> usize {
        self.kernel.pending_event_count()
    }

    /// Hands over the events since the last call.
    pub fn take_events(&mut self) -> Vec<TraceEvent> {
        self.kernel.take_events()
    }

    /// Hands over every message that was sent since the last call, in the order of sending (for the
    /// animation between two steps and for the followed record's trail).
    pub fn take_messages(&mut self) -> Vec<MessageView> {
        self.kernel.take_messages()
    }

    /// What can be observed now.
    #[must_use]
    pub fn snapshot(&self, scope: &Scope) -> Snapshot {
        observe::snapshot(self, scope)
    }
}
