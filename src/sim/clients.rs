//! Client processes: how they come to be, warm or cold, and how they end.

use std::collections::BTreeSet;

use super::Sim;
use super::client::ClientNetwork;
use super::consumer::{Classic, Consumer, Membership, Modern, Protocol, Rhythm};
use super::group::Kind;
use super::ids::{BrokerId, Machine};
use super::kernel::ProcessStatus;
use super::producer::Producer;
use super::settings::{ConsumerSettings, ProducerSettings};
use super::world::{self, ConsumerSpec, GroupSpec, ProducerSpec};

/// A producer as declared, with this picture of the cluster.
pub(super) fn producer(spec: &ProducerSpec, mut network: ClientNetwork) -> Producer {
    let settings = ProducerSettings::read(&spec.config);
    network.request_timeout_ms = settings.request_timeout_ms;
    let mut producer = Producer::new(Machine::Client(spec.name.clone()), settings, network);
    producer.default_topic.clone_from(&spec.topic);
    producer
}

/// The topics that a consumer subscribes to.
pub(super) fn subscription(group: &GroupSpec, spec: &ConsumerSpec) -> BTreeSet<String> {
    spec.topics.as_ref().unwrap_or(&group.topics).iter().cloned().collect()
}

/// A consumer as declared, which is not a member yet, with this picture of the cluster: when its
/// process begins, and how many there were of its name before.
pub(super) fn consumer(
    group: &GroupSpec,
    spec: &ConsumerSpec,
    mut network: ClientNetwork,
    (now_ms, process): (u64, u32),
) -> Consumer {
    let mut config = group.config.clone();
    config.extend(spec.config.clone());
    let modern = |kind| Protocol::Modern(Modern::new(kind, (&spec.name, process), &config));
    let protocol = match group.protocol {
        world::Protocol::Classic => Protocol::Classic(Classic::default()),
        world::Protocol::Consumer => modern(Kind::Consumer),
        world::Protocol::Share => modern(Kind::Share),
    };
    let membership = Membership::new(&group.name, &spec.name, protocol);
    let rhythm = Rhythm { interval_ms: spec.poll_interval_ms, timeout_ms: spec.poll_timeout_ms };
    let settings = ConsumerSettings::read(&config);
    network.request_timeout_ms = settings.request_timeout_ms;
    let mut consumer = Consumer::new(settings, rhythm, membership, network);
    consumer.set_first_deadlines(now_ms);
    consumer
}

impl Sim {
    fn bootstrap_brokers(&self) -> Vec<BrokerId> {
        self.world.brokers.iter().map(|spec| spec.id).collect()
    }

    /// A fresh process of a producer: no metadata, no connections, no producer id.
    pub(super) fn start_producer(&mut self, name: &str) {
        let machine = Machine::Client(name.to_owned());
        let spec = self.world.producers.iter().find(|spec| spec.name == name).cloned();
        if let Some(spec) = spec.filter(|_| self.kernel.status(&machine) == ProcessStatus::Stopped)
        {
            let topics = spec.topic.iter().cloned().collect();
            let network = ClientNetwork::cold(self.bootstrap_brokers(), topics);
            self.kernel.start(&machine);
            let mut producer = producer(&spec, network);
            producer.begin(&mut self.kernel);
            self.producers.insert(spec.name, producer);
        }
    }

    /// Ends the process of a producer whose `close()` has returned.
    pub(super) fn end_if_closed(&mut self, name: &str) {
        if self.producers.get(name).is_some_and(Producer::is_closed) {
            self.end_producer(name);
        }
    }

    /// Ends the process of a consumer whose `close()` has returned.
    pub(super) fn end_if_consumer_closed(&mut self, name: &str) {
        if self.consumers.get(name).is_some_and(Consumer::is_closed) {
            self.end_consumer(name);
        }
    }

    /// Ends a consumer's process, with whatever it holds; brokers notice that its connections are
    /// gone.
    pub(super) fn end_consumer(&mut self, name: &str) {
        let machine = Machine::Client(name.to_owned());
        let Some(consumer) = self.consumers.remove(name) else { return };
        self.kernel.stop(&machine);
        self.kernel.hang_up(&machine, &consumer.network.connected());
    }

    /// Ends a producer's process, with whatever it holds.
    pub(super) fn end_producer(&mut self, name: &str) {
        self.kernel.stop(&Machine::Client(name.to_owned()));
        self.producers.remove(name);
    }

    /// A fresh process of a consumer: it has to join its group.
    pub(super) fn start_consumer(&mut self, name: &str) {
        let machine = Machine::Client(name.to_owned());
        if self.kernel.status(&machine) != ProcessStatus::Stopped {
            return;
        }
        for group in self.world.groups.clone() {
            let Some(spec) = group.consumers.iter().find(|spec| spec.name == name) else {
                continue;
            };
            let topics = subscription(&group, spec);
            let network = ClientNetwork::cold(self.bootstrap_brokers(), topics);
            self.kernel.start(&machine);
            let birth = (self.kernel.now_ms, self.kernel.incarnation(&machine));
            let mut consumer = consumer(&group, spec, network, birth);
            consumer.begin(&mut self.kernel);
            self.consumers.insert(spec.name.clone(), consumer);
        }
    }
}
