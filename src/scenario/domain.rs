//! The sets that names come from: what the value of an observable, or an item of its list, can be
//! at all. A name outside of its set is a slip of the pen that `!=` would hide for ever.

use super::names::Names;
use super::path::join;
use crate::catalog;
use crate::sim::ids::{BrokerId, Offset};

/// Exceptions of Kafka's clients for which there is no error code.
const EXCEPTIONS: &[&str] = &[
    "BufferExhaustedException",
    "CommitFailedException",
    "ConfigException",
    "IllegalArgumentException",
    "IllegalStateException",
    "InterruptException",
    "KafkaException",
    "LogTruncationException",
    "NoOffsetForPartitionException",
    "RecordDeserializationException",
    "RetriableCommitFailedException",
    "SerializationException",
    "TransactionAbortedException",
    "WakeupException",
];

/// The assignors of Kafka's clients and of its coordinator.
const ASSIGNORS: &[&str] =
    &["range", "roundrobin", "sticky", "cooperative-sticky", "uniform", "simple"];

/// A set of names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Domain {
    /// The controllers of the file.
    Controller,
    /// What an application can get: an error code's name, or a client's own exception.
    Error,
    /// What a broker can answer: an error code's name.
    Refusal,
    /// Kafka's assignors.
    Assignor,
    /// The topics of the file.
    Topic,
    /// The racks of the file.
    Rack,
    /// The brokers of the file, by number.
    Broker,
    /// The partitions of the file.
    Partition,
    /// The consumers of the file, as members of their groups.
    Member,
    /// Records, as `orders-0@0`.
    Record,
}

/// Why a name is not in its set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outside {
    /// What the set has.
    pub has: String,
    /// The nearest name of the set.
    pub near: Option<String>,
}

impl Domain {
    /// What its names are names of.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Domain::Controller => "a controller's name",
            Domain::Error => "an error's name",
            Domain::Refusal => "an error code's name",
            Domain::Assignor => "an assignor's name",
            Domain::Topic => "a topic's name",
            Domain::Rack => "a rack's name",
            Domain::Broker => "broker numbers",
            Domain::Partition => "partitions such as orders-0",
            Domain::Member => "consumers' names",
            Domain::Record => "records such as orders-0@0",
        }
    }

    /// Whether a name is in the set.
    ///
    /// # Errors
    /// What the set has instead.
    pub fn check(self, name: &str, names: &Names) -> Result<(), Outside> {
        match self {
            Domain::Controller => among(name, names.controllers.iter().map(String::as_str)),
            Domain::Assignor => among(name, ASSIGNORS.iter().copied()),
            Domain::Topic => among(name, names.topics.keys().map(String::as_str)),
            Domain::Rack => among(name, names.racks.iter().map(String::as_str)),
            Domain::Member => among(name, names.consumers.iter().map(String::as_str)),
            Domain::Refusal => error(name, &[]),
            Domain::Error => error(name, EXCEPTIONS),
            Domain::Broker => {
                let known = name.parse().is_ok_and(|id| names.brokers.contains(&BrokerId(id)));
                known.then_some(()).ok_or_else(|| Outside { has: join(&names.brokers), near: None })
            }
            Domain::Partition => partition(name, names),
            Domain::Record => match name.rsplit_once('@') {
                Some((name, offset)) if offset.parse().map(Offset).is_ok() => {
                    partition(name, names)
                }
                _ => Err(Outside { has: self.word().to_owned(), near: None }),
            },
        }
    }
}

fn among<'a>(name: &str, set: impl Iterator<Item = &'a str>) -> Result<(), Outside> {
    let set: Vec<&str> = set.collect();
    if set.contains(&name) {
        return Ok(());
    }
    let has = if set.is_empty() { "no names".to_owned() } else { set.join(", ") };
    Err(Outside { has, near: nearest(name, &set) })
}

fn nearest(name: &str, set: &[&str]) -> Option<String> {
    crate::diag::nearest(name, set.iter().copied()).map(str::to_owned)
}

fn partition(name: &str, names: &Names) -> Result<(), Outside> {
    let likely = names.likely_partitions();
    let likely: Vec<&str> = likely.iter().map(String::as_str).collect();
    let outside = |has| Outside { has, near: nearest(name, &likely) };
    names.partition(name).map(|_| ()).map_err(outside)
}

/// A name of Kafka's error table or of these exceptions. An exception that has a code goes by the
/// code's name.
fn error(name: &str, exceptions: &[&str]) -> Result<(), Outside> {
    let codes = || catalog::error_codes().iter().filter(|code| code.exception.is_some());
    if codes().any(|code| code.name == name) || exceptions.contains(&name) {
        return Ok(());
    }
    let has = match exceptions {
        [] => "the names of Kafka's error codes".to_owned(),
        _ => format!(
            "the names of Kafka's error codes, and what has no code: {}",
            exceptions.join(", ")
        ),
    };
    let same = codes().find(|code| code.exception.as_deref() == Some(name));
    let near = same.map(|code| code.name.clone()).or_else(|| {
        let names: Vec<&str> = codes().map(|code| code.name.as_str()).collect();
        nearest(name, &[&["none"], exceptions, &names[..]].concat())
    });
    Err(Outside { has, near })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_go_by_their_codes_names() {
        let names = Names::default();
        let near = |name| Domain::Error.check(name, &names).map_err(|outside| outside.near);
        assert_eq!(near("NOT_ENOUGH_REPLICAS"), Ok(()));
        assert_eq!(near("CommitFailedException"), Ok(()));
        assert_eq!(near("NOT_ENOUGH_REPLICA"), Err(Some("NOT_ENOUGH_REPLICAS".to_owned())));
        assert_eq!(near("NotEnoughReplicasException"), Err(Some("NOT_ENOUGH_REPLICAS".to_owned())));
        assert_eq!(near("CommitFaildException"), Err(Some("CommitFailedException".to_owned())));
        assert_eq!(near("NONE"), Err(Some("none".to_owned())));
        assert!(Domain::Refusal.check("CommitFailedException", &names).is_err());
    }

    #[test]
    fn items_of_lists_are_checked_too() {
        let mut names = Names::default();
        names.brokers.extend([BrokerId(1), BrokerId(2)]);
        names.topics.insert("orders".to_owned(), 1);
        for (domain, name, known) in [
            (Domain::Broker, "2", true),
            (Domain::Broker, "3", false),
            (Domain::Broker, "1 2", false),
            (Domain::Partition, "orders-0", true),
            (Domain::Partition, "orders-1", false),
            (Domain::Record, "orders-0@7", true),
            (Domain::Record, "orders-0", false),
        ] {
            assert_eq!(domain.check(name, &names).is_ok(), known, "{name}");
        }
    }
}
