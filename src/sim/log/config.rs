//! A topic's settings for its logs, as they are in force on one broker.
//!
//! Follows `LogConfig` of Kafka's storage module. Read once per change of settings, not per append.

use crate::sim::settings::Effective;
use crate::sim::world::Settings;

/// What a log goes by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogConfig {
    /// `max.message.bytes`.
    pub max_message_bytes: u64,
    /// `min.insync.replicas`.
    pub min_isr: usize,
    /// When a new segment starts.
    pub roll: RollRules,
    /// `cleanup.policy` has `delete`.
    pub deletes: bool,
    /// `cleanup.policy` has `compact`.
    pub compacts: bool,
    /// `retention.ms`; `None`: no limit.
    pub retention_ms: Option<i64>,
    /// `retention.bytes`; `None`: no limit.
    pub retention_bytes: Option<u64>,
    /// `delete.retention.ms`.
    pub delete_retention_ms: i64,
    /// `min.compaction.lag.ms`.
    pub min_compaction_lag_ms: i64,
    /// `max.compaction.lag.ms`.
    pub max_compaction_lag_ms: i64,
    /// `min.cleanable.dirty.ratio` in billionths.
    pub min_dirty_billionths: u64,
}

/// When a log starts a new segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RollRules {
    /// `segment.bytes`.
    pub segment_bytes: u64,
    /// `segment.ms`; on a compacted topic at most `max.compaction.lag.ms`.
    pub segment_ms: i64,
    /// `segment.index.bytes`.
    pub index_bytes: u64,
    /// `index.interval.bytes`.
    pub index_interval_bytes: u64,
}

#[cfg(test)]
impl RollRules {
    /// A log that stays one segment for ever.
    #[must_use]
    pub fn never() -> RollRules {
        RollRules {
            segment_bytes: u64::MAX,
            segment_ms: i64::MAX,
            index_bytes: u64::MAX,
            index_interval_bytes: u64::MAX,
        }
    }
}

impl LogConfig {
    /// A topic's own settings over the broker's over Kafka's defaults.
    #[must_use]
    pub fn read(own: &Settings, broker: &Settings) -> LogConfig {
        let config = Effective::topic(own, broker);
        let limit = |name| Some(config.number(name)).filter(|limit| *limit >= 0);
        let policy = config.text("cleanup.policy");
        let has = |word| policy.split(',').any(|one| one.trim() == word);
        let (compacts, max_compaction_lag_ms) =
            (has("compact"), config.number("max.compaction.lag.ms"));
        let segment_ms = config.number("segment.ms");
        LogConfig {
            max_message_bytes: config.count("max.message.bytes"),
            min_isr: usize::try_from(config.count("min.insync.replicas")).unwrap_or(usize::MAX),
            roll: RollRules {
                segment_bytes: config.count("segment.bytes"),
                segment_ms: if compacts {
                    segment_ms.min(max_compaction_lag_ms)
                } else {
                    segment_ms
                },
                index_bytes: config.count("segment.index.bytes"),
                index_interval_bytes: config.count("index.interval.bytes"),
            },
            deletes: has("delete"),
            compacts,
            retention_ms: limit("retention.ms"),
            retention_bytes: limit("retention.bytes").and_then(|limit| u64::try_from(limit).ok()),
            delete_retention_ms: config.number("delete.retention.ms"),
            min_compaction_lag_ms: config.number("min.compaction.lag.ms"),
            max_compaction_lag_ms,
            min_dirty_billionths: config.billionths("min.cleanable.dirty.ratio"),
        }
    }
}

impl Default for LogConfig {
    /// Kafka's defaults.
    fn default() -> LogConfig {
        LogConfig::read(&Settings::new(), &Settings::new())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(own: &[(&str, &str)]) -> LogConfig {
        let own = own.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        LogConfig::read(&own, &Settings::new())
    }

    #[test]
    fn a_compacted_topic_rolls_at_the_latest_when_it_has_to_be_compacted() {
        let set = [("segment.ms", "5000"), ("max.compaction.lag.ms", "3000")];
        assert_eq!(read(&set).roll.segment_ms, 5000);
        let compacted = [set[0], set[1], ("cleanup.policy", "compact")];
        assert_eq!(read(&compacted).roll.segment_ms, 3000);
    }

    #[test]
    fn minus_one_is_no_limit_and_an_empty_policy_neither_deletes_nor_compacts() {
        let config = read(&[("retention.ms", "-1"), ("cleanup.policy", "")]);
        assert_eq!((config.retention_ms, config.retention_bytes), (None, None));
        assert!(!config.deletes && !config.compacts);
        let both = read(&[("cleanup.policy", "compact, delete"), ("retention.bytes", "7")]);
        assert!(both.deletes && both.compacts);
        assert_eq!(both.retention_bytes, Some(7));
        assert_eq!(both.min_dirty_billionths, 500_000_000);
    }
}
