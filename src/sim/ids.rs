//! Names of things: brokers, partitions, offsets, epochs.
//!
//! Newtypes, so that an offset is never taken for an epoch. They print and serialise as Kafka's
//! tools print them: a broker as its number, a partition as `orders-0`.

use std::fmt;
use std::ops::{Add, AddAssign};

use serde::{Serialize, Serializer};

/// A broker's id (`node.id`), from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct BrokerId(pub u32);

impl fmt::Display for BrokerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A position in a partition's log, from 0; also the count of a log that was never cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Offset(pub u64);

impl Offset {
    /// How many offsets lie from `start` up to this one; 0 when this one is lower.
    #[must_use]
    pub fn since(self, start: Offset) -> u64 {
        self.0.saturating_sub(start.0)
    }
}

impl Add<u64> for Offset {
    type Output = Offset;
    fn add(self, count: u64) -> Offset {
        Offset(self.0 + count)
    }
}

impl AddAssign<u64> for Offset {
    fn add_assign(&mut self, count: u64) {
        self.0 += count;
    }
}

impl fmt::Display for Offset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// How often a partition has changed its leader; Kafka's leader epoch, from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct LeaderEpoch(pub u32);

impl LeaderEpoch {
    /// The epoch after this one.
    #[must_use]
    pub fn next(self) -> LeaderEpoch {
        LeaderEpoch(self.0 + 1)
    }
}

impl fmt::Display for LeaderEpoch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// One partition of one topic, written `orders-0`. Ordered by topic, then number.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TopicPartition {
    /// The topic's name.
    pub topic: String,
    /// The partition's number, from 0.
    pub partition: u32,
}

impl TopicPartition {
    /// The partition `partition` of `topic`.
    pub fn new(topic: impl Into<String>, partition: u32) -> TopicPartition {
        TopicPartition { topic: topic.into(), partition }
    }

    /// Reads `orders-0`: what follows the last hyphen is the number.
    #[must_use]
    pub fn parse(text: &str) -> Option<TopicPartition> {
        let (topic, number) = text.rsplit_once('-')?;
        let plain = number == "0" || !number.starts_with('0');
        if topic.is_empty() || !plain || !number.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        Some(TopicPartition::new(topic, number.parse().ok()?))
    }

    /// Whether the topic is one of Kafka's own, which pictures and lists leave out.
    #[must_use]
    pub fn is_internal(&self) -> bool {
        is_internal(&self.topic)
    }
}

/// Whether `topic` is one of Kafka's internal topics.
#[must_use]
pub fn is_internal(topic: &str) -> bool {
    matches!(topic, "__consumer_offsets" | "__transaction_state" | "__share_group_state")
}

impl fmt::Display for TopicPartition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.topic, self.partition)
    }
}

impl Serialize for TopicPartition {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A machine of the model: what a message goes from and to. Ordered controllers, brokers, clients.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Machine {
    /// A controller of the quorum, by its name (`controller-1`).
    Controller(String),
    /// A broker.
    Broker(BrokerId),
    /// A producer or a consumer, by its name.
    Client(String),
}

impl Machine {
    /// The broker that it is, if it is one.
    #[must_use]
    pub fn broker(&self) -> Option<BrokerId> {
        match self {
            Machine::Broker(id) => Some(*id),
            _ => None,
        }
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Machine::Controller(name) | Machine::Client(name) => name.fmt(f),
            Machine::Broker(id) => write!(f, "broker-{id}"),
        }
    }
}

impl Serialize for Machine {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_partition_is_read_from_what_follows_the_last_hyphen() {
        assert_eq!(TopicPartition::parse("a-b-12"), Some(TopicPartition::new("a-b", 12)));
        for wrong in ["orders", "orders-", "-0", "orders-01", "orders-x", "orders-99999999999"] {
            assert_eq!(TopicPartition::parse(wrong), None, "{wrong}");
        }
    }
}
