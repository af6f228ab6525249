//! What a broker or controller goes by.

use crate::sim::world::Settings;

use super::Effective;

/// Longer than any run; times may be added to it.
const FAR_MS: u64 = i64::MAX.unsigned_abs();

/// What a broker or controller goes by.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields are Kafka's settings of the same name")]
pub struct BrokerSettings {
    pub heartbeat_interval_ms: u64,
    pub session_timeout_ms: u64,
    pub fetch_backoff_ms: u64,
    pub fetch_max_bytes: u64,
    pub fetch_min_bytes: u64,
    pub fetch_wait_max_ms: u64,
    pub checkpoint_interval_ms: u64,
    pub lag_time_max_ms: u64,
    pub replica_socket_timeout_ms: u64,
    pub append_linger_ms: u64,
    pub election_timeout_ms: u64,
    pub quorum_fetch_timeout_ms: u64,
    pub quorum_request_timeout_ms: u64,
    pub auto_leader_rebalance: bool,
    pub imbalance_check_interval_ms: u64,
    pub unclean_election_interval_ms: u64,
    pub initial_rebalance_delay_ms: u64,
    pub group_max_size: usize,
    pub group_min_session_timeout_ms: u64,
    pub group_max_session_timeout_ms: u64,
    pub offsets_retention_ms: u64,
    pub offsets_retention_check_ms: u64,
    /// `replica.selector.class` is `RackAwareReplicaSelector`.
    pub selects_near_replicas: bool,
    pub retention_delay_ms: u64,
    pub retention_interval_ms: u64,
    pub cleaner_enabled: bool,
    pub cleaner_backoff_ms: u64,
    pub request_timeout_ms: u64,
    pub transaction_max_timeout_ms: u64,
    pub transaction_timeout_check_ms: u64,
    pub transactional_id_check_ms: u64,
    pub transactional_id_expiration_ms: u64,
    pub producer_expiration_ms: i64,
    pub producer_expiration_interval_ms: u64,
}

impl BrokerSettings {
    /// Reads them.
    #[must_use]
    pub fn read(config: &Settings) -> BrokerSettings {
        let config = Effective::of(config);
        BrokerSettings {
            heartbeat_interval_ms: config.count("broker.heartbeat.interval.ms"),
            session_timeout_ms: config.count("broker.session.timeout.ms"),
            fetch_backoff_ms: config.count("replica.fetch.backoff.ms"),
            fetch_max_bytes: config.count("replica.fetch.max.bytes"),
            fetch_min_bytes: config.count("replica.fetch.min.bytes"),
            fetch_wait_max_ms: config.count("replica.fetch.wait.max.ms"),
            checkpoint_interval_ms: config
                .count("replica.high.watermark.checkpoint.interval.ms")
                .max(1),
            lag_time_max_ms: config.count("replica.lag.time.max.ms"),
            replica_socket_timeout_ms: config.count("replica.socket.timeout.ms"),
            append_linger_ms: config.count("controller.quorum.append.linger.ms"),
            election_timeout_ms: config.count("controller.quorum.election.timeout.ms").max(1),
            quorum_fetch_timeout_ms: config.count("controller.quorum.fetch.timeout.ms"),
            quorum_request_timeout_ms: config.count("controller.quorum.request.timeout.ms"),
            auto_leader_rebalance: config.flag("auto.leader.rebalance.enable"),
            imbalance_check_interval_ms: config
                .count("leader.imbalance.check.interval.seconds")
                .clamp(1, FAR_MS / 1000)
                * 1000,
            unclean_election_interval_ms: config
                .count("unclean.leader.election.interval.ms")
                .max(1),
            initial_rebalance_delay_ms: config.count("group.initial.rebalance.delay.ms"),
            group_max_size: super::group::size(config.count("group.max.size")),
            group_min_session_timeout_ms: config.count("group.min.session.timeout.ms"),
            group_max_session_timeout_ms: config.count("group.max.session.timeout.ms"),
            offsets_retention_ms: config.count("offsets.retention.minutes").saturating_mul(60_000),
            offsets_retention_check_ms: config.count("offsets.retention.check.interval.ms").max(1),
            selects_near_replicas: config
                .text("replica.selector.class")
                .ends_with("RackAwareReplicaSelector"),
            retention_delay_ms: config.count("log.initial.task.delay.ms"),
            retention_interval_ms: config.count("log.retention.check.interval.ms").max(1),
            cleaner_enabled: config.flag("log.cleaner.enable"),
            cleaner_backoff_ms: config.count("log.cleaner.backoff.ms").max(1),
            request_timeout_ms: config.count("request.timeout.ms"),
            transaction_max_timeout_ms: config.count("transaction.max.timeout.ms"),
            transaction_timeout_check_ms: config
                .count("transaction.abort.timed.out.transaction.cleanup.interval.ms")
                .max(1),
            transactional_id_check_ms: config
                .count("transaction.remove.expired.transaction.cleanup.interval.ms")
                .max(1),
            transactional_id_expiration_ms: config.count("transactional.id.expiration.ms"),
            producer_expiration_ms: config.number("producer.id.expiration.ms"),
            producer_expiration_interval_ms: config
                .count("producer.id.expiration.check.interval.ms")
                .max(1),
        }
    }
}
