//! The settings that the model honours, with Kafka 4.3's defaults, read into typed form.

mod broker;
mod group;

use super::assignor::client::Strategy;
use super::message::{Acks, Isolation};
use super::world::Settings;

pub use broker::BrokerSettings;
pub use group::{GroupSettings, ShareSettings};

/// Settings that the model honours and their defaults in Kafka 4.3. A test holds them against the
/// catalogue. A topic's settings stand under the topic's names. What has no default is empty text.
pub const DEFAULTS: &[(&str, &str)] = &[
    ("acks", "all"),
    ("auto.commit.interval.ms", "5000"),
    ("auto.leader.rebalance.enable", "true"),
    ("auto.offset.reset", "latest"),
    ("batch.size", "16384"),
    ("broker.heartbeat.interval.ms", "2000"),
    ("broker.session.timeout.ms", "9000"),
    ("buffer.memory", "33554432"),
    ("cleanup.policy", "delete"),
    ("client.rack", ""),
    ("consumer.assignment.interval.ms", "1000"),
    ("consumer.heartbeat.interval.ms", "5000"),
    ("consumer.session.timeout.ms", "45000"),
    ("controller.quorum.append.linger.ms", "25"),
    ("controller.quorum.election.timeout.ms", "1000"),
    ("controller.quorum.fetch.timeout.ms", "2000"),
    ("controller.quorum.request.timeout.ms", "2000"),
    ("default.replication.factor", "1"),
    ("delete.retention.ms", "86400000"),
    ("delivery.timeout.ms", "120000"),
    ("enable.auto.commit", "true"),
    ("enable.idempotence", "true"),
    ("fetch.max.bytes", "52428800"),
    ("fetch.max.wait.ms", "500"),
    ("fetch.min.bytes", "1"),
    ("group.consumer.assignment.interval.ms", "1000"),
    ("group.consumer.assignors", "uniform,range"),
    ("group.consumer.heartbeat.interval.ms", "5000"),
    ("group.consumer.max.assignment.interval.ms", "15000"),
    ("group.consumer.max.heartbeat.interval.ms", "15000"),
    ("group.consumer.max.session.timeout.ms", "60000"),
    ("group.consumer.max.size", "2147483647"),
    ("group.consumer.min.assignment.interval.ms", "0"),
    ("group.consumer.min.heartbeat.interval.ms", "5000"),
    ("group.consumer.min.session.timeout.ms", "45000"),
    ("group.consumer.session.timeout.ms", "45000"),
    ("group.initial.rebalance.delay.ms", "3000"),
    ("group.instance.id", ""),
    ("group.max.session.timeout.ms", "1800000"),
    ("group.max.size", "2147483647"),
    ("group.min.session.timeout.ms", "6000"),
    ("group.share.delivery.count.limit", "5"),
    ("group.share.heartbeat.interval.ms", "5000"),
    ("group.share.max.record.lock.duration.ms", "60000"),
    ("group.share.max.size", "200"),
    ("group.share.min.record.lock.duration.ms", "15000"),
    ("group.share.partition.max.record.locks", "2000"),
    ("group.share.record.lock.duration.ms", "30000"),
    ("group.share.session.timeout.ms", "45000"),
    ("heartbeat.interval.ms", "3000"),
    ("index.interval.bytes", "4096"),
    ("isolation.level", "read_uncommitted"),
    ("leader.imbalance.check.interval.seconds", "300"),
    ("linger.ms", "5"),
    ("log.cleaner.backoff.ms", "15000"),
    ("log.cleaner.enable", "true"),
    ("log.initial.task.delay.ms", "30000"),
    ("log.retention.check.interval.ms", "300000"),
    ("max.block.ms", "60000"),
    ("max.compaction.lag.ms", "9223372036854775807"),
    ("max.in.flight.requests.per.connection", "5"),
    ("max.message.bytes", "1048588"),
    ("max.partition.fetch.bytes", "1048576"),
    ("max.poll.interval.ms", "300000"),
    ("max.poll.records", "500"),
    ("max.request.size", "1048576"),
    ("metadata.max.age.ms", "300000"),
    ("min.cleanable.dirty.ratio", "0.5"),
    ("min.compaction.lag.ms", "0"),
    ("min.insync.replicas", "1"),
    ("num.partitions", "1"),
    ("offsets.retention.check.interval.ms", "600000"),
    ("offsets.retention.minutes", "10080"),
    ("offsets.topic.num.partitions", "50"),
    ("offsets.topic.replication.factor", "3"),
    ("offsets.topic.segment.bytes", "104857600"),
    (
        "partition.assignment.strategy",
        "org.apache.kafka.clients.consumer.RangeAssignor,\
         org.apache.kafka.clients.consumer.CooperativeStickyAssignor",
    ),
    ("partitioner.adaptive.partitioning.enable", "true"),
    ("producer.id.expiration.check.interval.ms", "600000"),
    ("producer.id.expiration.ms", "86400000"),
    ("replica.fetch.backoff.ms", "1000"),
    ("replica.fetch.max.bytes", "1048576"),
    ("replica.fetch.min.bytes", "1"),
    ("replica.fetch.wait.max.ms", "500"),
    ("replica.high.watermark.checkpoint.interval.ms", "5000"),
    ("replica.lag.time.max.ms", "30000"),
    ("replica.selector.class", ""),
    ("replica.socket.timeout.ms", "30000"),
    ("request.timeout.ms", "30000"),
    ("retention.bytes", "-1"),
    ("retention.ms", "604800000"),
    ("retries", "2147483647"),
    ("retry.backoff.max.ms", "1000"),
    ("retry.backoff.ms", "100"),
    ("segment.bytes", "1073741824"),
    ("segment.index.bytes", "10485760"),
    ("segment.ms", "604800000"),
    ("session.timeout.ms", "45000"),
    ("share.acknowledgement.mode", "implicit"),
    ("share.acquire.mode", "BATCH_OPTIMIZED"),
    ("share.assignment.interval.ms", "1000"),
    ("share.auto.offset.reset", "latest"),
    ("share.coordinator.state.topic.num.partitions", "50"),
    ("share.coordinator.state.topic.replication.factor", "3"),
    ("share.delivery.count.limit", "5"),
    ("share.heartbeat.interval.ms", "5000"),
    ("share.partition.max.record.locks", "2000"),
    ("share.record.lock.duration.ms", "30000"),
    ("share.renew.acknowledge.enable", "true"),
    ("share.session.timeout.ms", "45000"),
    ("transaction.abort.timed.out.transaction.cleanup.interval.ms", "10000"),
    ("transaction.max.timeout.ms", "900000"),
    ("transaction.remove.expired.transaction.cleanup.interval.ms", "3600000"),
    ("transaction.state.log.min.isr", "2"),
    ("transaction.state.log.num.partitions", "50"),
    ("transaction.state.log.replication.factor", "3"),
    ("transaction.state.log.segment.bytes", "104857600"),
    ("transaction.timeout.ms", "60000"),
    ("transactional.id.expiration.ms", "604800000"),
    ("unclean.leader.election.enable", "false"),
    ("unclean.leader.election.interval.ms", "300000"),
];

/// Settings that the model honours and that have no value unless one is given.
pub const WITHOUT_DEFAULT: &[&str] =
    &["group.instance.id", "group.remote.assignor", "transactional.id"];

/// Broker settings that give a setting of a topic or group its default, with the factor that turns
/// their unit into that setting's; the first that is set counts.
const BROKER_NAMES: &[(&str, &[(&str, i64)])] = &[
    ("cleanup.policy", &[("log.cleanup.policy", 1)]),
    ("delete.retention.ms", &[("log.cleaner.delete.retention.ms", 1)]),
    ("index.interval.bytes", &[("log.index.interval.bytes", 1)]),
    ("max.compaction.lag.ms", &[("log.cleaner.max.compaction.lag.ms", 1)]),
    ("consumer.assignment.interval.ms", &[("group.consumer.assignment.interval.ms", 1)]),
    ("consumer.heartbeat.interval.ms", &[("group.consumer.heartbeat.interval.ms", 1)]),
    ("consumer.session.timeout.ms", &[("group.consumer.session.timeout.ms", 1)]),
    ("max.message.bytes", &[("message.max.bytes", 1)]),
    ("min.cleanable.dirty.ratio", &[("log.cleaner.min.cleanable.ratio", 1)]),
    ("min.compaction.lag.ms", &[("log.cleaner.min.compaction.lag.ms", 1)]),
    ("retention.bytes", &[("log.retention.bytes", 1)]),
    (
        "retention.ms",
        &[
            ("log.retention.ms", 1),
            ("log.retention.minutes", 60_000),
            ("log.retention.hours", 3_600_000),
        ],
    ),
    ("segment.bytes", &[("log.segment.bytes", 1)]),
    ("segment.index.bytes", &[("log.index.size.max.bytes", 1)]),
    ("segment.ms", &[("log.roll.ms", 1), ("log.roll.hours", 3_600_000)]),
    ("share.delivery.count.limit", &[("group.share.delivery.count.limit", 1)]),
    ("share.heartbeat.interval.ms", &[("group.share.heartbeat.interval.ms", 1)]),
    ("share.partition.max.record.locks", &[("group.share.partition.max.record.locks", 1)]),
    ("share.record.lock.duration.ms", &[("group.share.record.lock.duration.ms", 1)]),
    ("share.session.timeout.ms", &[("group.share.session.timeout.ms", 1)]),
];

fn default_of(name: &str) -> &'static str {
    let index = DEFAULTS.binary_search_by_key(&name, |(known, _)| known);
    DEFAULTS[index.expect("every setting that is read stands in the table of defaults")].1
}

/// A view of settings in layers: the first that names a setting decides, else Kafka's default.
#[derive(Clone, Copy)]
pub struct Effective<'a> {
    own: &'a Settings,
    fallback: Option<&'a Settings>,
}

impl<'a> Effective<'a> {
    /// These settings over the defaults.
    #[must_use]
    pub fn of(own: &'a Settings) -> Effective<'a> {
        Effective { own, fallback: None }
    }

    /// A topic's settings over the broker's over the defaults.
    #[must_use]
    pub fn topic(own: &'a Settings, broker: &'a Settings) -> Effective<'a> {
        Effective { own, fallback: Some(broker) }
    }

    /// Whether the author set it.
    #[must_use]
    pub fn is_set(&self, name: &str) -> bool {
        self.own.contains_key(name)
    }

    /// The value as text.
    #[must_use]
    pub fn text(&self, name: &str) -> &'a str {
        let own = self.own.get(name).map(String::as_str);
        own.or_else(|| self.of_broker(name).next().map(|(text, _)| text))
            .unwrap_or_else(|| default_of(name))
    }

    /// What the broker's settings say of a topic's setting, each with the factor that turns it into
    /// the topic setting's unit.
    fn of_broker(&self, name: &str) -> impl Iterator<Item = (&'a str, i64)> {
        let names = BROKER_NAMES.iter().find(|(topic, _)| *topic == name).map(|(_, names)| *names);
        let same =
            if names.is_none() { self.fallback.and_then(|broker| broker.get(name)) } else { None };
        let mapped = names.unwrap_or(&[]).iter().filter_map(|(broker_name, factor)| {
            Some((self.fallback?.get(*broker_name)?.as_str(), *factor))
        });
        same.map(|text| (text.as_str(), 1)).into_iter().chain(mapped)
    }

    /// The value as a whole number. Values are checked before a run; one that is not a number,
    /// which only a program can bring here, counts as the default.
    #[must_use]
    pub fn number(&self, name: &str) -> i64 {
        if let Some(number) = self.own.get(name).and_then(|text| text.trim().parse().ok()) {
            return number;
        }
        let of_broker = self.of_broker(name).find_map(|(text, factor)| {
            let value: i64 = text.trim().parse().ok()?;
            // -1 is "no limit" in every unit.
            Some(if value < 0 { value } else { value.saturating_mul(factor) })
        });
        of_broker.or_else(|| default_of(name).parse().ok()).unwrap_or(0)
    }

    /// A ratio from 0 to 1, in billionths.
    #[must_use]
    pub fn billionths(&self, name: &str) -> u64 {
        let ratio: f64 = self.text(name).trim().parse().unwrap_or(0.0);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it lies between 0 and 1"
        )]
        let billionths = (ratio.clamp(0.0, 1.0) * 1e9).round() as u64;
        billionths
    }

    /// The value as a count, a size or a time that cannot be negative.
    #[must_use]
    pub fn count(&self, name: &str) -> u64 {
        u64::try_from(self.number(name)).unwrap_or(0)
    }

    /// The value as a yes or no.
    #[must_use]
    pub fn flag(&self, name: &str) -> bool {
        self.text(name).trim().eq_ignore_ascii_case("true")
    }
}

fn is(text: &str, word: &str) -> bool {
    text.trim().eq_ignore_ascii_case(word)
}

/// What a producer goes by.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields are Kafka's settings of the same name")]
pub struct ProducerSettings {
    pub acks: Acks,
    pub adaptive_partitioning: bool,
    pub batch_size: u64,
    pub buffer_memory: u64,
    pub delivery_timeout_ms: u64,
    pub idempotent: bool,
    pub linger_ms: u64,
    pub max_block_ms: u64,
    pub max_in_flight: usize,
    pub max_request_size: u64,
    pub metadata_max_age_ms: u64,
    pub request_timeout_ms: u64,
    pub retries: u64,
    pub retry_backoff_ms: u64,
    pub retry_backoff_max_ms: u64,
    pub transactional_id: Option<String>,
    pub transaction_timeout_ms: u64,
}

impl ProducerSettings {
    /// Reads them. Idempotence is on unless the author switched it off or, without asking for it,
    /// set `acks` or `retries` to what it cannot work with
    /// (`ProducerConfig.postProcessAndValidateIdempotenceConfigs`).
    #[must_use]
    pub fn read(settings: &Settings) -> ProducerSettings {
        let config = Effective::of(settings);
        let acks = match config.text("acks").trim() {
            "0" => Acks::None,
            "1" => Acks::Leader,
            _ => Acks::All,
        };
        let retries = config.count("retries");
        let wanted = config.is_set("enable.idempotence");
        let possible = acks == Acks::All && retries > 0;
        let linger_ms = config.count("linger.ms");
        let request_timeout_ms = config.count("request.timeout.ms");
        ProducerSettings {
            acks,
            adaptive_partitioning: config.flag("partitioner.adaptive.partitioning.enable"),
            batch_size: config.count("batch.size").max(1),
            buffer_memory: config.count("buffer.memory"),
            // Silently raised when only the others were set
            // (`KafkaProducer.configureDeliveryTimeout`).
            delivery_timeout_ms: config
                .count("delivery.timeout.ms")
                .max(linger_ms + request_timeout_ms),
            idempotent: config.flag("enable.idempotence") && (wanted || possible),
            linger_ms,
            max_block_ms: config.count("max.block.ms"),
            max_in_flight: usize::try_from(config.count("max.in.flight.requests.per.connection"))
                .unwrap_or(usize::MAX)
                .max(1),
            max_request_size: config.count("max.request.size"),
            metadata_max_age_ms: config.count("metadata.max.age.ms"),
            request_timeout_ms,
            retries,
            retry_backoff_ms: config.count("retry.backoff.ms"),
            retry_backoff_max_ms: config.count("retry.backoff.max.ms"),
            transactional_id: settings.get("transactional.id").cloned(),
            transaction_timeout_ms: config.count("transaction.timeout.ms"),
        }
    }
}

/// Where a consumer starts without a committed offset (`auto.offset.reset`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OffsetReset {
    /// The log start.
    Earliest,
    /// The high watermark.
    Latest,
    /// Nowhere: the application gets an error.
    None,
    /// The first record that is not older than this many milliseconds (KIP-1106).
    ByDuration(i64),
}

/// What a consumer goes by.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields are Kafka's settings of the same name")]
pub struct ConsumerSettings {
    pub assignors: Vec<Strategy>,
    pub auto_commit: bool,
    pub auto_commit_interval_ms: u64,
    pub offset_reset: OffsetReset,
    pub fetch_max_bytes: u64,
    /// `group.instance.id`: it is a static member.
    pub instance: Option<String>,
    /// `client.rack`; empty: it has none.
    pub rack: String,
    pub fetch_max_wait_ms: u64,
    pub fetch_min_bytes: u64,
    pub heartbeat_interval_ms: u64,
    pub isolation: Isolation,
    pub max_partition_fetch_bytes: u64,
    pub max_poll_interval_ms: u64,
    pub max_poll_records: u64,
    pub metadata_max_age_ms: u64,
    pub request_timeout_ms: u64,
    pub retry_backoff_ms: u64,
    pub session_timeout_ms: u64,
    /// `share.acknowledgement.mode=explicit`.
    pub share_explicit: bool,
    /// `share.acquire.mode=record_limit`.
    pub share_exact: bool,
}

impl ConsumerSettings {
    /// Reads them.
    #[must_use]
    pub fn read(settings: &Settings) -> ConsumerSettings {
        let config = Effective::of(settings);
        ConsumerSettings {
            assignors: config
                .text("partition.assignment.strategy")
                .split(',')
                .filter_map(Strategy::named)
                .collect(),
            auto_commit: config.flag("enable.auto.commit"),
            auto_commit_interval_ms: config.count("auto.commit.interval.ms"),
            offset_reset: offset_reset(config.text("auto.offset.reset")),
            fetch_max_bytes: config.count("fetch.max.bytes"),
            instance: Some(config.text("group.instance.id").to_owned())
                .filter(|instance| !instance.is_empty()),
            rack: config.text("client.rack").to_owned(),
            fetch_max_wait_ms: config.count("fetch.max.wait.ms"),
            fetch_min_bytes: config.count("fetch.min.bytes"),
            heartbeat_interval_ms: config.count("heartbeat.interval.ms").max(1),
            isolation: match config.text("isolation.level").trim() {
                "read_committed" => Isolation::Committed,
                _ => Isolation::Uncommitted,
            },
            max_partition_fetch_bytes: config.count("max.partition.fetch.bytes"),
            max_poll_interval_ms: config.count("max.poll.interval.ms"),
            max_poll_records: config.count("max.poll.records").max(1),
            metadata_max_age_ms: config.count("metadata.max.age.ms"),
            request_timeout_ms: config.count("request.timeout.ms"),
            retry_backoff_ms: config.count("retry.backoff.ms"),
            session_timeout_ms: config.count("session.timeout.ms"),
            share_explicit: is(config.text("share.acknowledgement.mode"), "explicit"),
            share_exact: is(config.text("share.acquire.mode"), "record_limit"),
        }
    }
}

fn offset_reset(text: &str) -> OffsetReset {
    match text.trim() {
        "earliest" => OffsetReset::Earliest,
        "none" => OffsetReset::None,
        other => other
            .strip_prefix("by_duration:")
            .and_then(iso_duration_ms)
            .map_or(OffsetReset::Latest, OffsetReset::ByDuration),
    }
}

/// Milliseconds of an ISO 8601 duration such as `P1DT2H3M4S`.
fn iso_duration_ms(text: &str) -> Option<i64> {
    let (days, time) = match text.strip_prefix('P')?.split_once('T') {
        Some((days, time)) => (days, time),
        None => (text.strip_prefix('P')?, ""),
    };
    let mut total = 0_i64;
    for (part, units) in
        [(days, &[('D', 86_400_000)][..]), (time, &[('H', 3_600_000), ('M', 60_000), ('S', 1000)])]
    {
        let mut rest = part;
        while !rest.is_empty() {
            let end = rest.find(|c: char| c.is_ascii_alphabetic())?;
            let unit = rest[end..].chars().next()?;
            let (_, factor) = units.iter().find(|(name, _)| *name == unit)?;
            total = total.checked_add(rest[..end].parse::<i64>().ok()?.checked_mul(*factor)?)?;
            rest = &rest[end + 1..];
        }
    }
    Some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(pairs: &[(&str, &str)]) -> Settings {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn defaults_are_sorted_so_that_they_can_be_found() {
        assert!(DEFAULTS.is_sorted_by_key(|(name, _)| *name));
    }

    #[test]
    fn idempotence_gives_way_silently_unless_it_was_asked_for() {
        assert!(ProducerSettings::read(&settings(&[])).idempotent);
        assert!(!ProducerSettings::read(&settings(&[("acks", "1")])).idempotent);
        assert!(!ProducerSettings::read(&settings(&[("retries", "0")])).idempotent);
        assert!(!ProducerSettings::read(&settings(&[("enable.idempotence", "false")])).idempotent);
    }

    #[test]
    fn a_topic_setting_falls_back_to_the_brokers_in_its_unit() {
        let broker = settings(&[("log.roll.hours", "2")]);
        let own = settings(&[]);
        assert_eq!(Effective::topic(&own, &broker).number("segment.ms"), 7_200_000);
    }

    #[test]
    fn an_iso_duration_is_read() {
        assert_eq!(iso_duration_ms("P1DT2H"), Some(93_600_000));
        assert_eq!(iso_duration_ms("PT30S"), Some(30_000));
        assert_eq!(iso_duration_ms("30s"), None);
    }
}
