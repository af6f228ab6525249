//! What the simulator does with each setting. The lists are edited by hand as the simulator grows;
//! a test finds names that do not exist.

use super::setting::{Scope, Setting};

/// What the simulator does with a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Treatment {
    /// Its value counts as it does in Kafka.
    Modelled,
    /// The simulator, or another key of the scenario file, decides it, whatever its value is.
    Fixed,
    /// It is accepted and has no effect.
    Ignored,
}

impl Treatment {
    /// The word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Treatment::Modelled => "modelled",
            Treatment::Fixed => "fixed",
            Treatment::Ignored => "ignored",
        }
    }
}

/// What is modelled.
pub(super) const MODELLED: &[(Scope, &[&str])] = &[
    (
        Scope::Topic,
        &[
            "cleanup.policy",
            "delete.retention.ms",
            "index.interval.bytes",
            "max.compaction.lag.ms",
            "max.message.bytes",
            "min.cleanable.dirty.ratio",
            "min.compaction.lag.ms",
            "min.insync.replicas",
            "retention.bytes",
            "retention.ms",
            "segment.bytes",
            "segment.index.bytes",
            "segment.ms",
            "unclean.leader.election.enable",
        ],
    ),
    (
        Scope::Broker,
        &[
            "auto.leader.rebalance.enable",
            "broker.heartbeat.interval.ms",
            "broker.session.timeout.ms",
            "controller.quorum.append.linger.ms",
            "controller.quorum.election.timeout.ms",
            "controller.quorum.fetch.timeout.ms",
            "controller.quorum.request.timeout.ms",
            "default.replication.factor",
            "group.consumer.assignment.interval.ms",
            "group.consumer.assignors",
            "group.consumer.heartbeat.interval.ms",
            "group.consumer.max.assignment.interval.ms",
            "group.consumer.max.heartbeat.interval.ms",
            "group.consumer.max.session.timeout.ms",
            "group.consumer.max.size",
            "group.consumer.min.assignment.interval.ms",
            "group.consumer.min.heartbeat.interval.ms",
            "group.consumer.min.session.timeout.ms",
            "group.consumer.session.timeout.ms",
            "group.initial.rebalance.delay.ms",
            "group.max.session.timeout.ms",
            "group.max.size",
            "group.min.session.timeout.ms",
            "group.share.delivery.count.limit",
            "group.share.heartbeat.interval.ms",
            "group.share.max.record.lock.duration.ms",
            "group.share.max.size",
            "group.share.min.record.lock.duration.ms",
            "group.share.partition.max.record.locks",
            "group.share.record.lock.duration.ms",
            "group.share.session.timeout.ms",
            "leader.imbalance.check.interval.seconds",
            "log.cleaner.backoff.ms",
            "log.cleaner.delete.retention.ms",
            "log.cleaner.enable",
            "log.cleaner.max.compaction.lag.ms",
            "log.cleaner.min.cleanable.ratio",
            "log.cleaner.min.compaction.lag.ms",
            "log.cleanup.policy",
            "log.index.interval.bytes",
            "log.index.size.max.bytes",
            "log.initial.task.delay.ms",
            "log.retention.bytes",
            "log.retention.check.interval.ms",
            "log.retention.hours",
            "log.retention.minutes",
            "log.retention.ms",
            "log.roll.hours",
            "log.roll.ms",
            "log.segment.bytes",
            "message.max.bytes",
            "min.insync.replicas",
            "num.partitions",
            "offsets.retention.check.interval.ms",
            "offsets.retention.minutes",
            "offsets.topic.num.partitions",
            "offsets.topic.replication.factor",
            "offsets.topic.segment.bytes",
            "producer.id.expiration.check.interval.ms",
            "producer.id.expiration.ms",
            "replica.fetch.backoff.ms",
            "replica.fetch.max.bytes",
            "replica.fetch.min.bytes",
            "replica.fetch.wait.max.ms",
            "replica.high.watermark.checkpoint.interval.ms",
            "replica.lag.time.max.ms",
            "replica.selector.class",
            "replica.socket.timeout.ms",
            "request.timeout.ms",
            "share.coordinator.state.topic.num.partitions",
            "share.coordinator.state.topic.replication.factor",
            "transaction.abort.timed.out.transaction.cleanup.interval.ms",
            "transaction.max.timeout.ms",
            "transaction.remove.expired.transaction.cleanup.interval.ms",
            "transaction.state.log.min.isr",
            "transaction.state.log.num.partitions",
            "transaction.state.log.replication.factor",
            "transaction.state.log.segment.bytes",
            "transactional.id.expiration.ms",
            "unclean.leader.election.enable",
            "unclean.leader.election.interval.ms",
        ],
    ),
    (
        Scope::Producer,
        &[
            "acks",
            "batch.size",
            "buffer.memory",
            "delivery.timeout.ms",
            "enable.idempotence",
            "linger.ms",
            "max.block.ms",
            "max.in.flight.requests.per.connection",
            "max.request.size",
            "metadata.max.age.ms",
            "partitioner.adaptive.partitioning.enable",
            "request.timeout.ms",
            "retries",
            "retry.backoff.max.ms",
            "retry.backoff.ms",
            "transaction.timeout.ms",
            "transactional.id",
        ],
    ),
    (
        Scope::Consumer,
        &[
            "auto.commit.interval.ms",
            "auto.offset.reset",
            "client.rack",
            "enable.auto.commit",
            "fetch.max.bytes",
            "fetch.max.wait.ms",
            "fetch.min.bytes",
            "group.instance.id",
            "group.remote.assignor",
            "heartbeat.interval.ms",
            "isolation.level",
            "max.partition.fetch.bytes",
            "max.poll.interval.ms",
            "max.poll.records",
            "metadata.max.age.ms",
            "partition.assignment.strategy",
            "request.timeout.ms",
            "retry.backoff.ms",
            "session.timeout.ms",
            "share.acknowledgement.mode",
            "share.acquire.mode",
        ],
    ),
    (
        Scope::Group,
        &[
            "consumer.assignment.interval.ms",
            "consumer.heartbeat.interval.ms",
            "consumer.session.timeout.ms",
            "share.assignment.interval.ms",
            "share.auto.offset.reset",
            "share.delivery.count.limit",
            "share.heartbeat.interval.ms",
            "share.partition.max.record.locks",
            "share.record.lock.duration.ms",
            "share.renew.acknowledge.enable",
            "share.session.timeout.ms",
        ],
    ),
];

/// What is decided elsewhere: by the file's own keys, or once for all by the simulator.
pub(super) const FIXED: &[(Scope, &[&str])] = &[
    (
        Scope::Broker,
        &[
            "advertised.listeners",
            "broker.id",
            "broker.rack",
            "controller.listener.names",
            "controller.quorum.bootstrap.servers",
            "controller.quorum.voters",
            "inter.broker.listener.name",
            "listeners",
            "node.id",
            "process.roles",
        ],
    ),
    (Scope::Producer, &["bootstrap.servers", "client.id", "key.serializer", "value.serializer"]),
    (
        Scope::Consumer,
        &[
            "bootstrap.servers",
            "client.id",
            "group.id",
            "group.protocol",
            "key.deserializer",
            "value.deserializer",
        ],
    ),
];

/// What the simulator does with this setting.
#[must_use]
pub fn treatment(setting: &Setting) -> Treatment {
    let lists = |table: &[(Scope, &[&str])]| {
        table
            .iter()
            .any(|(scope, names)| *scope == setting.scope && names.contains(&setting.name.as_str()))
    };
    if lists(MODELLED) {
        Treatment::Modelled
    } else if lists(FIXED) {
        Treatment::Fixed
    } else {
        Treatment::Ignored
    }
}
