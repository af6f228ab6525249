//! What coordinators that assign, and leaders whose partitions are shared, go by.

use crate::sim::assignor::ServerAssignor;
use crate::sim::world::Settings;

use super::{Effective, OffsetReset, offset_reset};

/// What a coordinator that assigns goes by, for one group.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields are Kafka's settings of the same name")]
pub struct GroupSettings {
    pub session_timeout_ms: u64,
    pub heartbeat_interval_ms: u64,
    pub assignment_interval_ms: u64,
    pub max_size: usize,
    /// `group.consumer.assignors`; of a share group none.
    pub assignors: Vec<ServerAssignor>,
}

impl GroupSettings {
    /// Of a group of KIP-848, whose own settings go before the broker's.
    #[must_use]
    pub fn of_consumers(own: &Settings, broker: &Settings) -> GroupSettings {
        let config = Effective::topic(own, broker);
        GroupSettings {
            session_timeout_ms: config.count("consumer.session.timeout.ms"),
            heartbeat_interval_ms: config.count("consumer.heartbeat.interval.ms").max(1),
            assignment_interval_ms: config.count("consumer.assignment.interval.ms"),
            max_size: size(config.count("group.consumer.max.size")),
            assignors: config
                .text("group.consumer.assignors")
                .split(',')
                .filter_map(|name| ServerAssignor::named(name.trim()))
                .collect(),
        }
    }

    /// Whether brokers take these as a group's own settings: each within the broker's bounds, and
    /// heartbeats more often than sessions last (`GroupConfig.validate`).
    #[must_use]
    pub fn are_accepted(own: &Settings, broker: &Settings) -> bool {
        let config = Effective::topic(own, broker);
        let is_inside = |(kind, name): (&str, &str)| {
            let own_name = format!("{kind}.{name}");
            let bound = |which: &str| config.count(&format!("group.{kind}.{which}.{name}"));
            let inside = (bound("min")..=bound("max")).contains(&config.count(&own_name));
            inside || !config.is_set(&own_name)
        };
        let beats = |kind: &str| {
            let names = ["heartbeat.interval.ms", "session.timeout.ms"];
            let [beat, session] = names.map(|name| format!("{kind}.{name}"));
            config.count(&beat) < config.count(&session)
                || !(config.is_set(&beat) || config.is_set(&session))
        };
        let bounded = [
            ("consumer", "heartbeat.interval.ms"),
            ("consumer", "session.timeout.ms"),
            ("consumer", "assignment.interval.ms"),
            ("share", "record.lock.duration.ms"),
        ];
        bounded.into_iter().all(is_inside) && ["consumer", "share"].into_iter().all(beats)
    }

    /// Of a share group, whose own settings go before the broker's.
    #[must_use]
    pub fn of_sharers(own: &Settings, broker: &Settings) -> GroupSettings {
        let config = Effective::topic(own, broker);
        GroupSettings {
            session_timeout_ms: config.count("share.session.timeout.ms"),
            heartbeat_interval_ms: config.count("share.heartbeat.interval.ms").max(1),
            assignment_interval_ms: config.count("share.assignment.interval.ms"),
            max_size: size(config.count("group.share.max.size")),
            assignors: Vec::new(),
        }
    }
}

pub(super) fn size(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

/// What a partition's leader goes by when a group shares its records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields are Kafka's settings of the same name")]
pub struct ShareSettings {
    pub lock_duration_ms: u64,
    pub delivery_limit: u16,
    pub max_locks: u64,
    pub offset_reset: OffsetReset,
    pub renews: bool,
}

impl ShareSettings {
    /// Of one group, whose own settings go before the broker's.
    #[must_use]
    pub fn read(own: &Settings, broker: &Settings) -> ShareSettings {
        let config = Effective::topic(own, broker);
        ShareSettings {
            lock_duration_ms: config.count("share.record.lock.duration.ms"),
            delivery_limit: u16::try_from(config.count("share.delivery.count.limit"))
                .unwrap_or(u16::MAX)
                .max(1),
            max_locks: config.count("share.partition.max.record.locks"),
            offset_reset: offset_reset(config.text("share.auto.offset.reset")),
            renews: config.flag("share.renew.acknowledge.enable"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_keeps_within_the_bounds_of_its_brokers() {
        let set = |pairs: &[(&str, &str)]| -> Settings {
            pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
        };
        let session = |ms| set(&[("consumer.session.timeout.ms", ms)]);
        let none = Settings::new();
        assert!(GroupSettings::are_accepted(&none, &none));
        assert!(GroupSettings::are_accepted(&session("50000"), &none));
        assert!(!GroupSettings::are_accepted(&session("44999"), &none));
        assert!(!GroupSettings::are_accepted(&session("60001"), &none));
        let lower = set(&[("group.consumer.min.session.timeout.ms", "1000")]);
        assert!(GroupSettings::are_accepted(&session("5001"), &lower));
        assert!(!GroupSettings::are_accepted(&session("5000"), &lower), "heartbeats are too slow");
    }
}
