//! The cluster's metadata: what the controller decides, as entries of a log and as the image that
//! applying them gives. Every controller and broker holds its own image.
//!
//! Follows `MetadataImage`, `PartitionRegistration`, `BrokerRegistration`.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::group::{OFFSETS_TOPIC, home_of};
use super::ids::{BrokerId, LeaderEpoch, TopicPartition};
use super::world::Settings;

/// A partition as the controller registers it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PartitionState {
    /// Its replicas in order; the first is preferred. During a reassignment those to come, then
    /// those to go.
    pub replicas: Vec<BrokerId>,
    /// The replicas that a reassignment moves to; none while there is no reassignment.
    pub target: Option<Vec<BrokerId>>,
    /// In-sync replicas.
    pub isr: Vec<BrokerId>,
    /// Eligible leader replicas (KIP-966).
    pub elr: Vec<BrokerId>,
    /// The last leader, remembered when the ISR became empty.
    pub last_known_elr: Vec<BrokerId>,
    /// The leader; none while nobody may lead.
    pub leader: Option<BrokerId>,
    /// Counts elections.
    pub leader_epoch: LeaderEpoch,
    /// Counts changes of any kind.
    pub partition_epoch: u32,
    /// Whether an unclean election has not been confirmed by its leader.
    pub recovering: bool,
}

/// A topic as the controller knows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TopicState {
    /// Tells topics of one name apart; the offset of its creation in the metadata log.
    pub id: u64,
    /// How many partitions.
    pub partition_count: u32,
    /// Replicas of each at creation.
    pub replication_factor: u32,
    /// Its own settings.
    pub config: Settings,
}

/// A broker as the controller registers it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BrokerState {
    /// The offset of its registration, which tells its processes apart.
    pub epoch: u64,
    /// Its rack.
    pub rack: Option<String>,
    /// Whether it may not lead or be in sync.
    pub fenced: bool,
    /// Whether it is shutting down politely.
    pub in_controlled_shutdown: bool,
}

impl BrokerState {
    /// Whether it may lead (`BrokerRegistration`: neither fenced nor in controlled shutdown).
    #[must_use]
    pub fn is_active(&self) -> bool {
        !self.fenced && !self.in_controlled_shutdown
    }
}

/// One record of the metadata log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its place in the log.
    pub offset: u64,
    /// The quorum's epoch in which it was written.
    pub epoch: u32,
    /// What it changes.
    pub change: Change,
}

/// What a metadata record changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// A partition's state.
    Partition(TopicPartition, Arc<PartitionState>),
    /// A topic's state; none: it is gone, with its partitions.
    Topic(String, Option<Arc<TopicState>>),
    /// Settings of all brokers that were changed at run time.
    ClusterConfig(Arc<Settings>),
    /// Settings of one broker that were changed at run time.
    BrokerConfig(BrokerId, Arc<Settings>),
    /// Settings of a group.
    GroupConfig(String, Arc<Settings>),
    /// A new active controller's first entry.
    NewController,
    /// A broker's registration.
    Broker(BrokerId, Arc<BrokerState>),
}

/// The state of the cluster after all entries below `offset`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Image {
    /// How many entries it has applied.
    pub offset: u64,
    /// Settings of all brokers that are in force: those changed at run time over those of the
    /// start.
    pub config: Arc<Settings>,
    /// Settings that all brokers started with.
    pub static_config: Arc<Settings>,
    /// Settings of all brokers that were changed at run time.
    pub dynamic_config: Arc<Settings>,
    /// Settings of single brokers that were changed at run time.
    pub broker_config: BTreeMap<BrokerId, Arc<Settings>>,
    /// Settings of groups.
    pub group_config: BTreeMap<String, Arc<Settings>>,
    /// The brokers.
    pub brokers: BTreeMap<BrokerId, Arc<BrokerState>>,
    /// The topics.
    pub topics: BTreeMap<String, Arc<TopicState>>,
    /// The partitions.
    pub partitions: BTreeMap<TopicPartition, Arc<PartitionState>>,
}

impl Image {
    /// Takes note of one entry; entries come in order.
    pub fn apply(&mut self, entry: &Entry) {
        self.offset = entry.offset + 1;
        match &entry.change {
            Change::Partition(partition, state) => {
                self.partitions.insert(partition.clone(), Arc::clone(state));
            }
            Change::Topic(topic, Some(state)) => {
                self.topics.insert(topic.clone(), Arc::clone(state));
            }
            Change::Topic(topic, None) => {
                self.topics.remove(topic);
                self.partitions.retain(|partition, _| partition.topic != *topic);
            }
            Change::ClusterConfig(dynamic) => {
                self.dynamic_config = Arc::clone(dynamic);
                let mut config = (*self.static_config).clone();
                config.extend((**dynamic).clone());
                self.config = Arc::new(config);
            }
            Change::BrokerConfig(broker, dynamic) => {
                self.broker_config.insert(*broker, Arc::clone(dynamic));
            }
            Change::GroupConfig(group, config) => {
                self.group_config.insert(group.clone(), Arc::clone(config));
            }
            Change::NewController => {}
            Change::Broker(broker, state) => {
                self.brokers.insert(*broker, Arc::clone(state));
            }
        }
    }

    /// The partition of `__consumer_offsets` that holds a group
    /// (`GroupCoordinatorService.partitionFor`).
    #[must_use]
    pub fn home_of(&self, group: &str) -> TopicPartition {
        let count = self.topics.get(OFFSETS_TOPIC).map_or(1, |topic| topic.partition_count);
        home_of(group, count)
    }

    /// The settings in force on one broker.
    #[must_use]
    pub fn config_of(&self, broker: BrokerId) -> Arc<Settings> {
        match self.broker_config.get(&broker) {
            Some(own) if !own.is_empty() => {
                let mut config = (*self.config).clone();
                config.extend((**own).clone());
                Arc::new(config)
            }
            _ => Arc::clone(&self.config),
        }
    }

    /// Whether a broker is registered, not fenced and not shutting down.
    #[must_use]
    pub fn is_active(&self, broker: BrokerId) -> bool {
        self.brokers.get(&broker).is_some_and(|state| state.is_active())
    }

    /// A topic's `min.insync.replicas`.
    #[must_use]
    pub fn min_isr(&self, topic: &str) -> usize {
        let own = self.topics.get(topic).map(|topic| &topic.config);
        let text = own
            .and_then(|config| config.get("min.insync.replicas"))
            .or_else(|| self.config.get("min.insync.replicas"));
        text.and_then(|text| text.parse().ok()).unwrap_or(1)
    }
}

/// One partition of an `AlterPartition` request: the ISR that the leader proposes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IsrChange {
    /// Which partition.
    pub partition: TopicPartition,
    /// The leader epoch of the one who asks.
    pub leader_epoch: LeaderEpoch,
    /// The partition epoch that it knows.
    pub partition_epoch: u32,
    /// The ISR wanted, each with the broker epoch that the leader saw.
    pub isr: Vec<BrokerId>,
    /// Broker epochs of `isr`, in its order; `None`: not known to the leader.
    pub broker_epochs: Vec<Option<u64>>,
    /// Whether the leader is still recovering from an unclean election.
    pub recovering: bool,
}

/// The answer for one partition of an `AlterPartition` request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IsrState {
    /// The committed ISR.
    pub isr: Vec<BrokerId>,
    /// The leader epoch.
    pub leader_epoch: LeaderEpoch,
    /// The partition epoch.
    pub partition_epoch: u32,
}
