//! Settings that Kafka refuses together, although each of them is valid: the process does not
//! start.
//!
//! Follows `ProducerConfig.postProcessAndValidateIdempotenceConfigs`,
//! `KafkaProducer.configureDeliveryTimeout`, `ConsumerConfig.checkUnsupportedConfigsPostProcess`,
//! `Heartbeat`, `LogConfig.validateValues`, `KafkaConfig.validateValues`, `GroupCoordinatorConfig`
//! and `GroupConfig.validate`.

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

/// How settings begin that a broker has for all groups.
const AT_BROKER: &str = "group.";

/// Settings that somebody set, read with Kafka's defaults behind them.
struct Values<'a> {
    scope: Scope,
    set: &'a BTreeMap<String, String>,
}

impl Values<'_> {
    fn is_set(&self, name: &str) -> bool {
        self.set.contains_key(name)
    }

    /// The value that counts, canonical; empty where Kafka's default is null. Among a group's
    /// settings stand those that its brokers have for all groups.
    fn text(&self, name: &str) -> String {
        let of_all = self.scope == Scope::Group && name.starts_with(AT_BROKER);
        let scope = if of_all { Scope::Broker } else { self.scope };
        let setting = setting(scope, name).expect("the rules name settings that exist");
        let text = self.set.get(name).map(String::as_str).or(setting.default.as_deref());
        canonical(setting, text.unwrap_or_default())
    }

    /// The value as a number; `None` for a text that is none, which is reported elsewhere.
    fn number(&self, name: &str) -> Option<i64> {
        self.text(name).parse().ok()
    }
}

/// The first combination among these settings that Kafka refuses. `set` holds what was set, each
/// valid by itself; a consumer's holds `group.protocol` too where it is not the default, and a
/// group's what its brokers have for all groups.
#[must_use]
pub fn refused_combination(scope: Scope, set: &BTreeMap<String, String>) -> Option<Refusal> {
    let values = Values { scope, set };
    match scope {
        Scope::Producer => idempotence(&values)
            .or_else(|| transactions(&values))
            .or_else(|| delivery_timeout(&values)),
        Scope::Consumer => protocol(&values).or_else(|| heartbeat(&values)),
        Scope::Topic => compaction_lag(&values),
        Scope::Broker => fetch_wait(&values).or_else(|| group_defaults(&values)),
        Scope::Group => one_group(&values),
        Scope::RemoteLogMetadata => None,
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

/// What brokers have for all groups, with the bounds of what a group may set for itself: its name
/// at a broker, the least, the most, and its name at a group.
const BOUNDED: [[&str; 4]; 4] = [
    [
        "group.consumer.heartbeat.interval.ms",
        "group.consumer.min.heartbeat.interval.ms",
        "group.consumer.max.heartbeat.interval.ms",
        "consumer.heartbeat.interval.ms",
    ],
    [
        "group.consumer.session.timeout.ms",
        "group.consumer.min.session.timeout.ms",
        "group.consumer.max.session.timeout.ms",
        "consumer.session.timeout.ms",
    ],
    [
        "group.consumer.assignment.interval.ms",
        "group.consumer.min.assignment.interval.ms",
        "group.consumer.max.assignment.interval.ms",
        "consumer.assignment.interval.ms",
    ],
    [
        "group.share.record.lock.duration.ms",
        "group.share.min.record.lock.duration.ms",
        "group.share.max.record.lock.duration.ms",
        "share.record.lock.duration.ms",
    ],
];

/// Heartbeats come more often than sessions last: the names at a broker, then those at a group.
const BEATING: [[&str; 4]; 2] = [
    [
        "group.consumer.heartbeat.interval.ms",
        "group.consumer.session.timeout.ms",
        "consumer.heartbeat.interval.ms",
        "consumer.session.timeout.ms",
    ],
    [
        "group.share.heartbeat.interval.ms",
        "group.share.session.timeout.ms",
        "share.heartbeat.interval.ms",
        "share.session.timeout.ms",
    ],
];

/// A broker's settings for all groups lie within their bounds (`GroupCoordinatorConfig`).
fn group_defaults(values: &Values<'_>) -> Option<Refusal> {
    const EXCEPTION: &str = "IllegalArgumentException";
    for [name, least, most, _] in BOUNDED {
        for (larger, smaller) in [(most, least), (name, least), (most, name)] {
            if values.number(larger)? >= values.number(smaller)? {
                continue;
            }
            let message = if smaller == name {
                format!("{name} must be less than or equal to {most}")
            } else {
                format!("{larger} must be greater than or equal to {smaller}")
            };
            return Some(refusal(EXCEPTION, &in_order(values, [larger, smaller]), message));
        }
    }
    let [beat, session, ..] =
        BEATING.into_iter().find(|names| too_slow(values, names[0], names[1]))?;
    let message = format!("{beat} must be less than {session}");
    Some(refusal(EXCEPTION, &in_order(values, [beat, session]), message))
}

/// A group's own settings lie within the bounds that its brokers have (`GroupConfig.validate`).
fn one_group(values: &Values<'_>) -> Option<Refusal> {
    const EXCEPTION: &str = "InvalidConfigurationException";
    for [_, least, most, own] in BOUNDED.into_iter().filter(|names| values.is_set(names[3])) {
        let number = values.number(own)?;
        if number < values.number(least)? {
            let message = format!("{own} must be greater than or equal to {least}");
            return Some(refusal(EXCEPTION, &[own, least], message));
        }
        if number > values.number(most)? {
            let message = format!("{own} must be less than or equal to {most}");
            return Some(refusal(EXCEPTION, &[own, most], message));
        }
    }
    for [beat_of_all, session_of_all, beat, session] in BEATING {
        let used = |own, of_all| if values.is_set(own) { own } else { of_all };
        let names = [used(beat, beat_of_all), used(session, session_of_all)];
        if names != [beat_of_all, session_of_all] && too_slow(values, names[0], names[1]) {
            let message = format!("{session} must be greater than {beat}");
            return Some(refusal(EXCEPTION, &in_order(values, [session, beat]), message));
        }
    }
    None
}

fn too_slow(values: &Values<'_>, beat: &str, session: &str) -> bool {
    let numbers = values.number(beat).zip(values.number(session));
    numbers.is_some_and(|(beat, session)| beat >= session)
}

/// Two settings, one that was set first.
fn in_order(values: &Values<'_>, [one, other]: [&'static str; 2]) -> [&'static str; 2] {
    if values.is_set(one) { [one, other] } else { [other, one] }
}
