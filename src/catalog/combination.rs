//! Settings that Kafka refuses together, although each of them is valid: the process does not
//! start.
//!
//! Follows `ProducerConfig.postProcessAndValidateIdempotenceConfigs`,
//! `KafkaProducer.configureDeliveryTimeout`, `ConsumerConfig.checkUnsupportedConfigsPostProcess`,
//! `Heartbeat`, `LogConfig.validateValues` and `KafkaConfig.validateValues`.

use std::collections::BTreeMap;

use super::setting::{Scope, setting};
use super::value::canonical;

/// A combination that Kafka refuses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The settings that do not go together, the one to point at first. Not all need have been
    /// set: a default may be the other half.
    pub settings: Vec<&'static str>,
    /// The Java exception, without its package.
    pub exception: &'static str,
    /// Kafka's own message.
    pub message: String,
}

/// Settings that somebody set, read with Kafka's defaults behind them.
struct Values<'a> {
    scope: Scope,
    set: &'a BTreeMap<String, String>,
}

impl Values<'_> {
    fn is_set(&self, name: &str) -> bool {
        self.set.contains_key(name)
    }

    /// The value that counts, canonical; empty where Kafka's default is null.
    fn text(&self, name: &str) -> String {
        let setting = setting(self.scope, name).expect("the rules name settings that exist");
        let text = self.set.get(name).map(String::as_str).or(setting.default.as_deref());
        canonical(setting, text.unwrap_or_default())
    }

    /// The value as a number; `None` for a text that is none, which is reported elsewhere.
    fn number(&self, name: &str) -> Option<i64> {
        self.text(name).parse().ok()
    }
}

/// The first combination among these settings that Kafka refuses. `set` holds what was set, each
/// valid by itself; a consumer's holds `group.protocol` too where it is not the default.
#[must_use]
pub fn refused_combination(scope: Scope, set: &BTreeMap<String, String>) -> Option<Refusal> {
    let values = Values { scope, set };
    match scope {
        Scope::Producer => idempotence(&values)
            .or_else(|| transactions(&values))
            .or_else(|| delivery_timeout(&values)),
        Scope::Consumer => protocol(&values).or_else(|| heartbeat(&values)),
        Scope::Topic => compaction_lag(&values),
        Scope::Broker => fetch_wait(&values),
        Scope::Group | Scope::RemoteLogMetadata => None,
    }
}

fn refusal(exception: &'static str, settings: &[&'static str], message: String) -> Refusal {
    Refusal { settings: settings.to_vec(), exception, message }
}

/// What idempotence needs. Without `enable.idempotence=true` of one's own, other `acks` or no
/// retries turn it off in silence, but more requests in flight are refused all the same.
fn idempotence(values: &Values<'_>) -> Option<Refusal> {
    const NAME: &str = "enable.idempotence";
    const IN_FLIGHT: &str = "max.in.flight.requests.per.connection";
    if values.text(NAME) != "true" {
        return None;
    }
    if values.is_set(NAME) && values.number("retries") == Some(0) {
        let message = "Must set retries to non-zero when using the idempotent producer.";
        return Some(refusal("ConfigException", &["retries", NAME], message.to_owned()));
    }
    if values.is_set(NAME) && values.text("acks") != "all" {
        let message = "Must set acks to all in order to use the idempotent producer. Otherwise we \
                       cannot guarantee idempotence.";
        return Some(refusal("ConfigException", &["acks", NAME], message.to_owned()));
    }
    let in_flight = values.number(IN_FLIGHT).filter(|count| *count > 5)?;
    let message = format!(
        "To use the idempotent producer, {IN_FLIGHT} must be set to at most 5. Current value is \
         {in_flight}."
    );
    Some(refusal("ConfigException", &[IN_FLIGHT, NAME], message))
}

/// Transactions need idempotence, also where other settings turned it off.
fn transactions(values: &Values<'_>) -> Option<Refusal> {
    const NAME: &str = "transactional.id";
    if !values.is_set(NAME) {
        return None;
    }
    let spoiler = if values.text("enable.idempotence") != "true" {
        "enable.idempotence"
    } else if values.number("retries") == Some(0) {
        "retries"
    } else if values.text("acks") != "all" {
        "acks"
    } else {
        return None;
    };
    let message = "Cannot set a transactional.id without also enabling idempotence.";
    Some(refusal("ConfigException", &[NAME, spoiler], message.to_owned()))
}

/// One's own delivery timeout must leave room for one attempt; Kafka's default is raised instead.
fn delivery_timeout(values: &Values<'_>) -> Option<Refusal> {
    const NAME: &str = "delivery.timeout.ms";
    let attempt = values.number("linger.ms")?.saturating_add(values.number("request.timeout.ms")?);
    if !values.is_set(NAME) || values.number(NAME)? >= attempt.min(i64::from(i32::MAX)) {
        return None;
    }
    let message = "delivery.timeout.ms should be equal to or larger than linger.ms + \
                   request.timeout.ms";
    Some(refusal("ConfigException", &[NAME, "linger.ms", "request.timeout.ms"], message.to_owned()))
}

/// Each protocol of groups has settings that the other does not take.
fn protocol(values: &Values<'_>) -> Option<Refusal> {
    const NAME: &str = "group.protocol";
    let protocol = values.text(NAME);
    let refused: &[&'static str] = if protocol == "consumer" {
        &[
            "partition.assignment.strategy",
            "heartbeat.interval.ms",
            "session.timeout.ms",
            "share.acknowledgement.mode",
        ]
    } else {
        &["group.remote.assignor", "share.acknowledgement.mode"]
    };
    let found = refused.iter().copied().find(|name| values.is_set(name))?;
    let message = format!("{found} cannot be set when {NAME}={}", protocol.to_uppercase());
    Some(refusal("ConfigException", &[found, NAME], message))
}

/// A classic consumer has to be heard more often than its session lasts.
fn heartbeat(values: &Values<'_>) -> Option<Refusal> {
    let (interval, session) = ("heartbeat.interval.ms", "session.timeout.ms");
    let classic = values.text("group.protocol") == "classic";
    if !classic || values.number(interval)? < values.number(session)? {
        return None;
    }
    let message = "Heartbeat must be set lower than the session timeout";
    let first_set = if values.is_set(session) { [session, interval] } else { [interval, session] };
    Some(refusal("IllegalArgumentException", &first_set, message.to_owned()))
}

fn compaction_lag(values: &Values<'_>) -> Option<Refusal> {
    let (least, most) = ("min.compaction.lag.ms", "max.compaction.lag.ms");
    let (min, max) = (values.number(least)?, values.number(most)?);
    if min <= max {
        return None;
    }
    let message = format!("conflict topic config setting {least} ({min}) > {most} ({max})");
    Some(refusal("InvalidConfigurationException", &[least, most], message))
}

/// A follower's fetch may not wait longer than its connection or its place in the ISR lasts.
fn fetch_wait(values: &Values<'_>) -> Option<Refusal> {
    let (wait, socket, lag) =
        ("replica.fetch.wait.max.ms", "replica.socket.timeout.ms", "replica.lag.time.max.ms");
    let waits = values.number(wait)?;
    if waits > values.number(socket)? {
        let message = format!(
            "requirement failed: {socket} should always be at least {wait} to prevent unnecessary \
             socket timeouts"
        );
        return Some(refusal("IllegalArgumentException", &[wait, socket], message));
    }
    if waits > values.number(lag)? {
        let message = format!(
            "requirement failed: {wait} should always be less than or equal to {lag} to prevent \
             frequent changes in ISR"
        );
        return Some(refusal("IllegalArgumentException", &[wait, lag], message));
    }
    None
}
