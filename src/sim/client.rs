//! What producers and consumers share: their picture of the cluster, and their connections to
//! brokers.
//!
//! Follows `NetworkClient`, `ClusterConnectionStates`, `Metadata` of Kafka's clients.
//!
//! # Differs from Kafka
//! Opening a connection takes one round trip (that of `ApiVersions`).

use std::collections::{BTreeMap, BTreeSet};

use super::assignor::client::Racks;
use super::ids::{BrokerId, LeaderEpoch, Machine, TopicPartition};
use super::kernel::Kernel;
use super::message::{Body, LeaderHint, MessageId};
use super::metadata::Image;

/// Pause before a lost connection is opened again (`reconnect.backoff.ms`), doubled up to the
/// maximum.
const RECONNECT_BACKOFF_MS: u64 = 50;
/// `reconnect.backoff.max.ms`.
const RECONNECT_BACKOFF_MAX_MS: u64 = 1000;

/// A client's connection to one broker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Connection {
    Open,
    /// Being opened by this request, after so many failures.
    Opening(MessageId, u32),
    /// Closed; may be opened again from this time on.
    Closed {
        from_ms: u64,
        failures: u32,
    },
}

/// A client's picture of the cluster, and how it reaches it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClientNetwork {
    /// Leaders and epochs by partition.
    pub leaders: BTreeMap<TopicPartition, LeaderHint>,
    /// Partitions by topic.
    pub partition_counts: BTreeMap<String, u32>,
    /// The racks of the replicas of every topic's partitions, as far as their brokers are there.
    pub racks: Racks,
    /// Topics that it wants to know about.
    pub topics: BTreeSet<String>,
    topic_ids: BTreeMap<String, u64>,
    brokers: Vec<BrokerId>,
    /// The addresses that it was given, to which it returns when it knows no living broker
    /// (KIP-899).
    bootstrap: Vec<BrokerId>,
    connections: BTreeMap<BrokerId, Connection>,
    refreshed_ms: Option<u64>,
    refresh_wanted: bool,
    refresh_from_ms: u64,
    refresh: Option<(MessageId, BrokerId)>,
    /// `request.timeout.ms`.
    pub request_timeout_ms: u64,
}

/// How a client refreshes its metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RefreshRules {
    /// `metadata.max.age.ms`.
    pub max_age_ms: u64,
    /// `retry.backoff.ms`.
    pub backoff_ms: u64,
}

impl ClientNetwork {
    /// A client that has been up for a while: connected, with metadata from just before 0 s.
    #[must_use]
    pub fn warm(image: &Image, topics: BTreeSet<String>) -> ClientNetwork {
        let mut network = ClientNetwork { topics, ..ClientNetwork::default() };
        network.connections =
            image.brokers.keys().map(|broker| (*broker, Connection::Open)).collect();
        network.bootstrap = image.brokers.keys().copied().collect();
        network.take_metadata(image, 0);
        network
    }

    /// A client whose process has just started: it knows addresses, and what it wants to know.
    #[must_use]
    pub fn cold(brokers: Vec<BrokerId>, topics: BTreeSet<String>) -> ClientNetwork {
        ClientNetwork {
            topics,
            brokers: brokers.clone(),
            bootstrap: brokers,
            refresh_wanted: true,
            ..ClientNetwork::default()
        }
    }

    /// Takes over what a broker knows of the topics that matter. Returns the partitions whose
    /// leader or epoch is news.
    pub fn take_metadata(&mut self, image: &Image, now_ms: u64) -> Vec<TopicPartition> {
        self.refresh = None;
        self.refresh_wanted = false;
        self.refreshed_ms = Some(now_ms);
        let there = image.brokers.iter().filter(|(_, state)| !state.fenced);
        let there: Vec<BrokerId> = there.map(|(broker, _)| *broker).collect();
        // An answer without brokers is of no use.
        if !there.is_empty() {
            self.brokers = there;
        }
        let mut news = Vec::new();
        for topic in self.topics.clone() {
            let state = image.topics.get(&topic);
            let count = state.map_or(0, |state| state.partition_count);
            self.partition_counts.insert(topic.clone(), count);
            // Another topic of the same name counts its epochs anew.
            let id = state.map(|state| state.id);
            if id != self.topic_ids.get(&topic).copied() {
                self.leaders.retain(|partition, _| partition.topic != topic);
                self.topic_ids.remove(&topic);
                self.topic_ids.extend(id.map(|id| (topic.clone(), id)));
            }
            let mut racks = Vec::new();
            for number in 0..count {
                let partition = TopicPartition::new(topic.clone(), number);
                let Some(state) = image.partitions.get(&partition) else { continue };
                racks.push(racks_of(image, &state.replicas));
                let hint = LeaderHint { leader: state.leader, epoch: state.leader_epoch };
                if self.take_hint(&partition, hint) {
                    news.push(partition);
                }
            }
            self.racks.insert(topic, racks);
        }
        // A topic that no broker knows, or a partition without leader, is asked for again.
        self.refresh_wanted = self.topics.iter().any(|topic| self.is_incomplete(topic));
        news
    }

    fn is_incomplete(&self, topic: &str) -> bool {
        let count = self.partition_counts.get(topic).copied().unwrap_or(0);
        count == 0
            || (0..count).any(|number| self.leader(&TopicPartition::new(topic, number)).is_none())
    }

    /// Takes over a leader, unless a newer epoch is known (KIP-951). Says whether it is news.
    pub fn take_hint(&mut self, partition: &TopicPartition, hint: LeaderHint) -> bool {
        let known = self.leaders.get(partition);
        if known.is_some_and(|known| known.epoch > hint.epoch || *known == hint) {
            return false;
        }
        self.leaders.insert(partition.clone(), hint);
        true
    }

    /// The leader of a partition, as far as it knows.
    #[must_use]
    pub fn leader(&self, partition: &TopicPartition) -> Option<BrokerId> {
        self.leaders.get(partition)?.leader
    }

    /// The leader epoch of a partition, as far as it knows.
    #[must_use]
    pub fn leader_epoch(&self, partition: &TopicPartition) -> LeaderEpoch {
        self.leaders.get(partition).map_or(LeaderEpoch(0), |hint| hint.epoch)
    }

    /// Whether a broker is there, as far as it knows.
    #[must_use]
    pub fn is_online(&self, broker: BrokerId) -> bool {
        self.brokers.contains(&broker)
    }

    /// How many partitions a topic has; `None` while unknown.
    #[must_use]
    pub fn partition_count(&self, topic: &str) -> Option<u32> {
        self.partition_counts.get(topic).copied().filter(|count| *count > 0)
    }

    /// Whether a request to a broker can leave now; otherwise a connection is opened if it may be.
    pub fn is_ready(&mut self, broker: BrokerId, me: &Machine, kernel: &mut Kernel) -> bool {
        let connection = self
            .connections
            .entry(broker)
            .or_insert(Connection::Closed { from_ms: 0, failures: 0 });
        match connection {
            Connection::Open => true,
            Connection::Opening(..) => false,
            Connection::Closed { from_ms, .. } if *from_ms > kernel.now_ms => false,
            Connection::Closed { failures, .. } => {
                let id = kernel.request(me, &Machine::Broker(broker), Body::ApiVersions);
                kernel.expire(id, self.request_timeout_ms);
                *connection = Connection::Opening(id, *failures);
                false
            }
        }
    }

    /// A connection is open.
    pub fn opened(&mut self, broker: BrokerId) {
        self.connections.insert(broker, Connection::Open);
    }

    /// A connection is gone; the metadata may be out of date.
    pub fn closed(&mut self, broker: BrokerId, kernel: &Kernel) {
        let failures = match self.connections.get(&broker) {
            Some(Connection::Closed { failures, .. } | Connection::Opening(_, failures)) => {
                *failures
            }
            _ => 0,
        };
        let wait = (RECONNECT_BACKOFF_MS << failures.min(10)).min(RECONNECT_BACKOFF_MAX_MS);
        let from_ms = kernel.now_ms + wait;
        self.connections.insert(broker, Connection::Closed { from_ms, failures: failures + 1 });
        if self.refresh.is_some_and(|(_, asked)| asked == broker) {
            self.refresh = None;
        }
        self.want_refresh();
    }

    /// The brokers that it is connected to.
    #[must_use]
    pub fn connected(&self) -> Vec<BrokerId> {
        let open = self.connections.iter().filter(|(_, state)| **state == Connection::Open);
        open.map(|(broker, _)| *broker).collect()
    }

    /// Asks for fresh metadata at the next occasion.
    pub fn want_refresh(&mut self) {
        self.refresh_wanted = true;
    }

    /// Sends a metadata request if one is due and a broker can be reached: the first connected one
    /// in the order of ids.
    pub fn refresh(&mut self, rules: RefreshRules, me: &Machine, kernel: &mut Kernel) {
        let aged = self.refreshed_ms.is_none_or(|at| kernel.now_ms >= at + rules.max_age_ms);
        let due = (self.refresh_wanted || aged) && self.refresh_from_ms <= kernel.now_ms;
        if !due || self.refresh.is_some() || self.topics.is_empty() {
            return;
        }
        self.rebootstrap_if_cut_off(kernel.now_ms);
        let Some(broker) = self.reachable_broker(me, kernel) else { return };
        let body = Body::Metadata;
        let id = self.request(me, broker, body, kernel);
        self.refresh = Some((id, broker));
        self.refresh_from_ms = kernel.now_ms + rules.backoff_ms;
    }

    /// A client that can reach none of the brokers that it knows, nor may try to just now, returns
    /// to the addresses that it was given (KIP-899, `metadata.recovery.strategy=rebootstrap`;
    /// `NetworkClient.DefaultMetadataUpdater.maybeUpdate`).
    ///
    /// # Differs from Kafka
    /// It keeps the leaders that it knows until an answer comes, and a broker's address waits with
    /// the broker after a failure.
    fn rebootstrap_if_cut_off(&mut self, now_ms: u64) {
        let waits = |broker: &BrokerId| match self.connections.get(broker) {
            Some(Connection::Closed { from_ms, .. }) => *from_ms > now_ms,
            Some(Connection::Open | Connection::Opening(..)) | None => false,
        };
        if self.brokers.iter().all(waits) {
            self.brokers.clone_from(&self.bootstrap);
        }
    }

    /// Sends a request that ends its connection if it is not answered within `request.timeout.ms`.
    pub fn request(
        &self,
        me: &Machine,
        broker: BrokerId,
        body: Body,
        kernel: &mut Kernel,
    ) -> MessageId {
        let id = kernel.request(me, &Machine::Broker(broker), body);
        kernel.expire(id, self.request_timeout_ms);
        id
    }

    /// The first broker, in the order of ids, to which a request can leave now.
    pub fn reachable_broker(&mut self, me: &Machine, kernel: &mut Kernel) -> Option<BrokerId> {
        let brokers = self.brokers.clone();
        brokers.into_iter().find(|broker| self.is_ready(*broker, me, kernel))
    }

    /// When this has to be looked at again.
    #[must_use]
    pub fn next_due_ms(&self, rules: RefreshRules, now_ms: u64) -> Option<u64> {
        let refresh = match (self.refresh, self.refresh_wanted, self.refreshed_ms) {
            (Some(_), ..) => None,
            (None, true, _) => Some(self.refresh_from_ms),
            (None, false, at) => at.map(|at| at + rules.max_age_ms),
        };
        let connections = self.connections.values().filter_map(|connection| match connection {
            Connection::Closed { from_ms, .. } => Some(*from_ms),
            _ => None,
        });
        connections.chain(refresh).filter(|at| *at > now_ms).min()
    }
}

/// The racks of replicas whose brokers are there (`ConsumerCoordinator.PartitionRackInfo`).
fn racks_of(image: &Image, replicas: &[BrokerId]) -> BTreeSet<String> {
    let there = replicas.iter().filter_map(|broker| image.brokers.get(broker));
    there.filter(|state| !state.fenced).filter_map(|state| state.rack.clone()).collect()
}
