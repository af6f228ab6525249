//! What a run starts from: machines, topics, clients and their settings, as the author declared
//! them.
//!
//! Values are plain and already checked: names exist, settings are known to the catalogue and have
//! values of the right type. Nothing here changes during a run.

use std::collections::BTreeMap;

use super::ids::BrokerId;

/// Kafka settings by Kafka's names, each with its value as text (`"200"`, `"all"`, `"true"`).
/// Only what the author set; everything else has Kafka's default.
pub type Settings = BTreeMap<String, String>;

/// The declared world: the input of [`super::Sim::new`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct World {
    /// Every random choice of the run comes from this number.
    pub seed: u64,
    /// True: at 0 s the world has been up for a while. False: everything starts cold at 0 s.
    pub warm: bool,
    /// One-way delay between any two machines, in milliseconds, at least 1.
    pub network_ms: u64,
    /// Time to append a batch on one replica, in milliseconds.
    pub append_ms: u64,
    /// Names of the controllers, in order: `controller-1`, ...
    pub controllers: Vec<String>,
    /// The brokers, in the file's order; at least one.
    pub brokers: Vec<BrokerSpec>,
    /// Settings of all brokers and controllers.
    pub config: Settings,
    /// The topics, in the file's order; may place internal topics.
    pub topics: Vec<TopicSpec>,
    /// The producers, in the file's order.
    pub producers: Vec<ProducerSpec>,
    /// The groups, in the file's order.
    pub groups: Vec<GroupSpec>,
}

impl Default for World {
    /// One controller, three brokers without racks, no topics, no clients, a 1 ms network.
    fn default() -> World {
        World {
            seed: 1,
            warm: true,
            network_ms: 1,
            append_ms: 0,
            controllers: vec!["controller-1".to_owned()],
            brokers: (1..=3).map(|id| BrokerSpec { id: BrokerId(id), rack: None }).collect(),
            config: Settings::new(),
            topics: Vec::new(),
            producers: Vec::new(),
            groups: Vec::new(),
        }
    }
}

/// One broker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokerSpec {
    /// Its id.
    pub id: BrokerId,
    /// `broker.rack`, if any.
    pub rack: Option<String>,
}

/// One topic, as declared or as `create_topic` asks for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopicSpec {
    /// Its name.
    pub name: String,
    /// How many partitions; `None`: `num.partitions`.
    pub partitions: Option<u32>,
    /// How many replicas of each; `None`: `default.replication.factor`.
    pub replication_factor: Option<u32>,
    /// The replicas of partition 0, 1, ...; the first is the preferred leader. `None`: Kafka's
    /// placement.
    pub assignment: Option<Vec<Vec<BrokerId>>>,
    /// The topic's own settings.
    pub config: Settings,
}

/// When a client's process starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// It is there at 0 s.
    WithWorld,
    /// At this time, in milliseconds.
    At(u64),
    /// Only by an action.
    Manual,
}

/// One producer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProducerSpec {
    /// Its name, unique among clients and controllers.
    pub name: String,
    /// The topic of records that name none.
    pub topic: Option<String>,
    /// Its settings.
    pub config: Settings,
    /// When it starts.
    pub start: Start,
}

/// How the members of a group agree on who reads what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// `group.protocol=classic`, the client's default.
    Classic,
    /// `group.protocol=consumer`, KIP-848.
    Consumer,
    /// A share group, KIP-932.
    Share,
}

/// One group with its consumers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupSpec {
    /// `group.id`.
    pub name: String,
    /// Topics that its consumers subscribe to, unless they say otherwise.
    pub topics: Vec<String>,
    /// Its protocol.
    pub protocol: Protocol,
    /// Settings of its clients, and the broker's settings of this group.
    pub config: Settings,
    /// Its consumers, in the file's order.
    pub consumers: Vec<ConsumerSpec>,
}

/// One consumer of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsumerSpec {
    /// Its name, unique among clients and controllers.
    pub name: String,
    /// When it starts.
    pub start: Start,
    /// Its own settings, over those of the group.
    pub config: Settings,
    /// Its own subscription, if it differs from the group's.
    pub topics: Option<Vec<String>>,
    /// The application's work between two `poll()` calls, in milliseconds.
    pub poll_interval_ms: u64,
    /// How long one `poll()` may wait for records, in milliseconds.
    pub poll_timeout_ms: u64,
}
