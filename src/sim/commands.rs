//! What each action of a scenario does.

use super::Sim;
use super::broker::Broker;
use super::command::{Command, LinkDirection, Produce, TransactionOffsets};
use super::controller::Controller;
use super::error::KafkaError;
use super::ids::{BrokerId, Machine, Offset, TopicPartition};
use super::kernel::{Kernel, ProcessStatus};
use super::message::list;
use super::observe::metadata;
use super::producer::{Call, GroupPositions, Sent, record_of};
use super::record::{Outcome, timestamp};
use super::timer::Timer;
use super::trace::EventKind;

impl Sim {
    /// Does one action, by its place in the list.
    pub(super) fn command(&mut self, index: usize) {
        let command = self.commands[index].clone();
        match command {
            Command::Produce(_) => self.burst(index, 1),
            Command::CrashBroker { broker } => self.crash_broker(broker),
            Command::StartBroker { broker } => self.start_broker(broker),
            Command::ShutdownBroker { broker } => self.shut_down_broker(broker),
            Command::CrashController { controller } => self.crash_controller(&controller),
            Command::StartController { controller } => self.start_controller(&controller),
            Command::PauseBroker { broker } => {
                self.report(format!("pauses broker-{broker}"));
                self.kernel.pause(&Machine::Broker(broker));
            }
            Command::ResumeBroker { broker } => {
                self.report(format!("resumes broker-{broker}"));
                self.kernel.resume(&Machine::Broker(broker));
                self.checker.resumed(broker, self.kernel.now_ms);
            }
            Command::StallReplica { broker, partition } => self.stall(broker, partition),
            Command::UnstallReplica { broker, partition } => {
                self.unstall(broker, partition.as_ref());
            }
            Command::PartitionNetwork { groups } => {
                self.report("cuts the network".to_owned());
                self.kernel.network.partition(&groups);
            }
            Command::HealNetwork => {
                self.report("heals the network".to_owned());
                self.kernel.network.heal();
            }
            Command::SlowLink { from, to, latency_ms, direction } => {
                self.slow_link(&from, &to, latency_ms, direction);
            }
            Command::StartProducer { producer } => {
                self.report(format!("starts {producer}"));
                self.start_producer(&producer);
            }
            Command::CloseProducer { producer } => {
                self.report(format!("closes {producer}"));
                if let Some(closing) = self.producers.get_mut(&producer) {
                    closing.close(&mut self.kernel);
                }
                self.end_if_closed(&producer);
            }
            Command::CrashProducer { producer } => {
                self.report(format!("kills {producer}"));
                self.end_producer(&producer);
            }
            Command::BeginTransaction { .. }
            | Command::CommitTransaction { .. }
            | Command::AbortTransaction { .. } => self.transaction(&command),
            other => self.consumer_command(other),
        }
    }

    /// Runs a periodic job now on every broker whose process runs.
    fn on_brokers(
        &mut self,
        what: &str,
        partition: Option<&TopicPartition>,
        job: impl Fn(&mut Broker, Option<&TopicPartition>, &mut Kernel),
    ) {
        let of = partition.map_or_else(|| "all logs".to_owned(), ToString::to_string);
        self.report(format!("{what} for {of}"));
        for broker in self.brokers.values_mut() {
            if self.kernel.status(&broker.machine) == ProcessStatus::Running {
                job(broker, partition, &mut self.kernel);
            }
        }
    }

    /// Asks the leader to delete records. Without one that answers the request times out.
    fn delete_records(&mut self, partition: &TopicPartition, before: Offset) {
        let state = metadata(self).partitions.get(partition);
        let leader = state.map(|state| state.leader);
        let outcome = match leader {
            None => Err(KafkaError::UnknownTopicOrPartition),
            Some(leader) => leader
                .and_then(|leader| self.brokers.get_mut(&leader))
                .filter(|broker| self.kernel.status(&broker.machine) == ProcessStatus::Running)
                .ok_or(KafkaError::RequestTimedOut)
                .and_then(|broker| broker.delete_records(partition, before, &mut self.kernel)),
        };
        self.note_outcome(&format!("deletes records of {partition} before {before}"), outcome);
    }

    fn transaction(&mut self, command: &Command) {
        match command {
            Command::BeginTransaction { producer } => self.transact(producer, None, Call::Begin),
            Command::CommitTransaction { producer, offsets } => {
                self.transact(producer, offsets.as_ref(), Call::End(Outcome::Commit));
            }
            Command::AbortTransaction { producer } => {
                self.transact(producer, None, Call::End(Outcome::Abort));
            }
            _ => {}
        }
    }

    /// The application calls a transactional method; with offsets, after
    /// `sendOffsetsToTransaction()`.
    fn transact(&mut self, name: &str, offsets: Option<&TransactionOffsets>, call: Call) {
        let what = match call {
            Call::Begin => "begin a transaction",
            Call::End(Outcome::Abort) => "abort its transaction",
            _ => "commit its transaction",
        };
        self.report(format!("asks {name} to {what}"));
        let positions = offsets.and_then(|offsets| self.positions_of(&offsets.consumer));
        let Some(producer) = self.producers.get_mut(name) else { return };
        if let Some(positions) = positions {
            producer.call(Call::SendOffsets(positions), &mut self.kernel);
        }
        producer.call(call, &mut self.kernel);
    }

    /// A consumer's positions and its `groupMetadata()`.
    fn positions_of(&self, consumer: &str) -> Option<GroupPositions> {
        let consumer = self.consumers.get(consumer)?;
        let speaker = consumer.committer().ok();
        let known = consumer.positions.iter();
        Some(GroupPositions {
            group: consumer.membership.group.clone(),
            generation: speaker.as_ref().map_or(-1, |speaker| speaker.epoch),
            member: speaker.map(|speaker| speaker.member),
            offsets: known
                .filter_map(|(partition, offset)| Some((partition.clone(), (*offset)?)))
                .collect(),
        })
    }

    fn slow_link(
        &mut self,
        from: &Machine,
        to: &Machine,
        latency_ms: Option<u64>,
        direction: LinkDirection,
    ) {
        self.report(format!("changes the link from {from} to {to}"));
        self.kernel.network.set_latency(from, to, latency_ms);
        if direction == LinkDirection::BothWays {
            self.kernel.network.set_latency(to, from, latency_ms);
        }
    }

    /// Does what an administrator asks the controller for.
    pub(super) fn administration(&mut self, command: Command) {
        match command {
            Command::ElectLeaders { kind, partition } => {
                self.administer("asks for an election", |controller, kernel| {
                    controller.elect_leaders(kind, partition.as_ref(), kernel)
                });
            }
            Command::CreateTopic(spec) => {
                let text = format!("creates topic {}", spec.name);
                self.administer(&text, |controller, kernel| controller.create_topic(&spec, kernel));
            }
            Command::AlterConfig(wish) => {
                self.administer("changes settings", |controller, kernel| {
                    controller.alter_config(&wish, kernel)
                });
            }
            Command::DeleteTopic { topic } => {
                let text = format!("deletes topic {topic}");
                self.administer(&text, |controller, kernel| {
                    controller.delete_topic(&topic, kernel)
                });
            }
            Command::CreatePartitions { topic, total, assignment } => {
                let text = format!("asks for {total} partitions of {topic}");
                self.administer(&text, |controller, kernel| {
                    controller.create_partitions(&topic, total, assignment, kernel)
                });
            }
            Command::ResetOffsets { group, to, partition } => {
                self.reset_offsets(&group, to, partition);
            }
            Command::ReassignPartitions { partition, replicas } => {
                let text = format!("moves {partition} to {}", list(&replicas));
                self.administer(&text, |controller, kernel| {
                    controller.reassign(&partition, &replicas, kernel)
                });
            }
            Command::DeleteRecords { partition, before } => self.delete_records(&partition, before),
            Command::RunRetention { partition } => {
                self.on_brokers("runs retention", partition.as_ref(), Broker::run_retention);
            }
            Command::RunCleaner { partition } => {
                self.on_brokers("runs the cleaner", partition.as_ref(), Broker::run_cleaner);
            }
            // The format takes these actions up as the model does; until then no scenario holds
            // them.
            other => self.report(format!("asks for what is not simulated: {other:?}")),
        }
    }

    /// Puts an administrator's wish to the active controller, and remembers the answer. Without an
    /// active controller the request times out.
    fn administer(
        &mut self,
        text: &str,
        wish: impl FnOnce(&mut Controller, &mut Kernel) -> Result<(), KafkaError>,
    ) {
        let active = self.controllers.values_mut().find(|controller| controller.active.is_some());
        let outcome = match active {
            Some(controller) => wish(controller, &mut self.kernel),
            None => Err(KafkaError::RequestTimedOut),
        };
        self.note_outcome(text, outcome);
    }

    fn note_outcome(&mut self, text: &str, outcome: Result<(), KafkaError>) {
        self.admin_error = outcome.err();
        let text = match self.admin_error {
            Some(error) => format!("{text} and gets {error}"),
            None => text.to_owned(),
        };
        self.kernel.trace_admin(EventKind::Action, text, self.admin_error);
    }

    pub(super) fn report(&mut self, text: String) {
        self.kernel.trace_admin(EventKind::Action, text, None);
    }

    /// `kill -9`: memory is gone, connections are reset, the disk stays.
    fn crash_broker(&mut self, id: BrokerId) {
        let machine = Machine::Broker(id);
        self.report(format!("kills broker-{id}"));
        if self.kernel.status(&machine) == ProcessStatus::Stopped {
            return;
        }
        self.kernel.stop(&machine);
        if let Some(broker) = self.brokers.get_mut(&id) {
            broker.lose_memory();
        }
    }

    /// SIGTERM: the broker asks the controller to let it go. While it hangs it does not hear of it.
    fn shut_down_broker(&mut self, id: BrokerId) {
        self.report(format!("stops broker-{id} in an orderly way"));
        let running = self.kernel.status(&Machine::Broker(id)) == ProcessStatus::Running;
        if let Some(broker) = self.brokers.get_mut(&id).filter(|_| running) {
            broker.begin_shutdown(&mut self.kernel);
        }
        self.end_if_let_go(id);
    }

    /// Ends the process of a broker that may stop.
    pub(super) fn end_if_let_go(&mut self, id: BrokerId) {
        let Some(broker) = self.brokers.get_mut(&id).filter(|broker| broker.may_stop()) else {
            return;
        };
        self.kernel.trace(EventKind::BrokerChange, &broker.machine, "ends its process");
        self.kernel.stop(&broker.machine);
        broker.stop_cleanly();
    }

    fn start_broker(&mut self, id: BrokerId) {
        let machine = Machine::Broker(id);
        self.report(format!("starts broker-{id}"));
        if self.kernel.status(&machine) != ProcessStatus::Stopped {
            return;
        }
        self.kernel.start(&machine);
        if let Some(broker) = self.brokers.get_mut(&id) {
            broker.start(&mut self.kernel);
        }
    }

    fn crash_controller(&mut self, name: &str) {
        self.report(format!("kills {name}"));
        if let Some(controller) = self.controllers.get_mut(name)
            && self.kernel.status(&controller.machine) != ProcessStatus::Stopped
        {
            self.kernel.stop(&controller.machine);
            controller.lose_memory();
        }
    }

    fn start_controller(&mut self, name: &str) {
        self.report(format!("starts {name}"));
        if let Some(controller) = self.controllers.get_mut(name)
            && self.kernel.status(&controller.machine) == ProcessStatus::Stopped
        {
            self.kernel.start(&controller.machine);
            controller.start(&mut self.kernel);
        }
    }

    fn stall(&mut self, id: BrokerId, partition: Option<TopicPartition>) {
        let what =
            partition.as_ref().map_or_else(|| "all replicas".to_owned(), ToString::to_string);
        self.report(format!("stalls {what} of broker-{id}"));
        let Some(broker) = self.brokers.get_mut(&id) else { return };
        match partition {
            Some(partition) => {
                broker.stalled.partitions.insert(partition);
            }
            None => broker.stalled.all = true,
        }
    }

    fn unstall(&mut self, id: BrokerId, partition: Option<&TopicPartition>) {
        let what = partition.map_or_else(|| "all replicas".to_owned(), ToString::to_string);
        self.report(format!("lets {what} of broker-{id} fetch again"));
        let Some(broker) = self.brokers.get_mut(&id) else { return };
        match partition {
            Some(partition) => {
                broker.stalled.partitions.remove(partition);
            }
            None => broker.stalled = super::broker::Stalled::default(),
        }
        let machine = Machine::Broker(id);
        let leaders: Vec<BrokerId> = broker.fetchers.keys().copied().collect();
        for leader in leaders {
            self.kernel.timer(&machine, self.kernel.now_ms, Timer::FetcherWake(leader));
        }
    }

    /// Sends the records of a `produce` from number `first` on: all at once, or one now and the
    /// rest later.
    pub(super) fn burst(&mut self, index: usize, first: u64) {
        let Command::Produce(produce) = self.commands[index].clone() else { return };
        let machine = Machine::Client(produce.producer.clone());
        if self.kernel.status(&machine) == ProcessStatus::Stopped {
            self.report(format!("asks {} to send, which does not run", produce.producer));
            return;
        }
        if produce.every_ms > 0 {
            self.send(&produce, first);
            if first < produce.count {
                let timer = Timer::Burst { command: index, number: first + 1 };
                self.kernel.timer(&machine, self.kernel.now_ms + produce.every_ms, timer);
            }
        } else {
            for number in first..=produce.count {
                self.send(&produce, number);
            }
        }
    }

    fn send(&mut self, produce: &Produce, number: u64) {
        self.record_count += 1;
        let Some(producer) = self.producers.get_mut(&produce.producer) else { return };
        let Some(topic) = produce.topic.clone().or_else(|| producer.default_topic.clone()) else {
            return;
        };
        let fill = |text: &Option<String>| {
            text.as_ref().map(|text| text.replace("{n}", &number.to_string()))
        };
        let (key, value) = (fill(&produce.key), fill(&produce.value));
        let now_ms = timestamp(self.kernel.now_ms);
        let timestamp = now_ms.saturating_add(produce.timestamp_ms.unwrap_or(0));
        let record = record_of(
            (key.as_deref(), value.as_deref()),
            &produce.headers,
            produce.size_bytes,
            timestamp,
        );
        let sent = Sent { topic, partition: produce.partition, record };
        producer.call(Call::Send(sent), &mut self.kernel);
        // The sender's thread looks at the buffer once the application has sent everything of this
        // moment.
        producer.wake_sender(&mut self.kernel);
    }
}
