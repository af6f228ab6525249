//! Facts that are known by heart, and whether the data agree with themselves.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use super::setting::absent;
use super::treatment::{FIXED, MODELLED};
use super::*;

fn set(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn get(scope: Scope, name: &str) -> &'static Setting {
    setting(scope, name).unwrap_or_else(|| panic!("no {scope} setting {name}"))
}

#[test]
fn defaults_are_those_of_kafka_4_3() {
    let default = |scope, name| get(scope, name).default.as_deref();
    assert_eq!(default(Scope::Producer, "linger.ms"), Some("5"));
    assert_eq!(default(Scope::Producer, "acks"), Some("all"));
    assert_eq!(default(Scope::Producer, "transactional.id"), None);
    assert_eq!(default(Scope::Topic, "min.insync.replicas"), Some("1"));
    assert_eq!(default(Scope::Topic, "retention.ms"), Some("604800000"));
    assert_eq!(default(Scope::Topic, "segment.bytes"), Some("1073741824"));
    assert_eq!(default(Scope::Broker, "replica.lag.time.max.ms"), Some("30000"));
    assert_eq!(default(Scope::Broker, "group.coordinator.append.linger.ms"), Some("-1"));
    assert_eq!(default(Scope::Consumer, "auto.commit.interval.ms"), Some("5000"));
    assert_eq!(default(Scope::Consumer, "enable.auto.commit"), Some("true"));
    assert_eq!(default(Scope::Group, "consumer.assignment.interval.ms"), Some("1000"));
    assert!(get(Scope::Broker, "node.id").required);
    assert!(!get(Scope::Producer, "transactional.id").required);
}

#[test]
fn every_default_is_accepted_by_its_own_setting() {
    // These lists are empty by default, although an empty one cannot be written.
    let empty = ["controller.quorum.voters", "controller.quorum.bootstrap.servers"];
    for setting in settings() {
        let Some(default) = &setting.default else { continue };
        let accepted = setting.accepts(default) || empty.contains(&setting.name.as_str());
        assert!(accepted, "{} {}: {default}", setting.scope, setting.name);
    }
}

#[test]
fn a_setting_stands_once_in_its_scope_and_is_found() {
    for pair in settings().windows(2) {
        assert!((&pair[0].name, pair[0].scope) < (&pair[1].name, pair[1].scope));
    }
    for setting in settings() {
        assert_eq!(get(setting.scope, &setting.name), setting);
    }
    let scopes: Vec<Scope> =
        settings_named("request.timeout.ms").iter().map(|setting| setting.scope).collect();
    assert_eq!(scopes, [Scope::Broker, Scope::Producer, Scope::Consumer]);
    assert!(settings_named("no.such").is_empty());
}

#[test]
fn only_topics_have_synonyms_and_these_are_settings_of_brokers() {
    for setting in settings() {
        assert!(setting.synonyms.is_empty() || setting.scope == Scope::Topic, "{}", setting.name);
        for synonym in &setting.synonyms {
            get(Scope::Broker, &synonym.name);
        }
    }
}

#[test]
fn what_4_3_does_not_have_is_not_in_its_table() {
    for absent in absent() {
        assert_eq!(setting(absent.scope, &absent.name), None, "{}", absent.name);
    }
    for name in ["remote.copy.lag.ms", "message.format.version", "zookeeper.connect"] {
        assert_eq!(setting(Scope::Topic, name), None);
    }
}

#[test]
fn the_common_settings_are_described_in_sentences() {
    let common = [
        (Scope::Topic, &["min.insync.replicas", "retention.ms", "cleanup.policy"][..]),
        (Scope::Producer, &["acks", "linger.ms", "enable.idempotence", "transactional.id"]),
        (Scope::Consumer, &["auto.commit.interval.ms", "auto.offset.reset", "isolation.level"]),
        (Scope::Broker, &["auto.leader.rebalance.enable", "replica.lag.time.max.ms"]),
    ];
    for (scope, names) in common {
        for name in names {
            assert!(get(scope, name).description.is_some(), "{scope} {name}");
        }
    }
    for (scope, names) in MODELLED {
        for name in *names {
            assert!(get(*scope, name).description.is_some(), "{scope} {name} is modelled");
        }
    }
    let described: Vec<_> = settings().iter().filter(|it| it.description.is_some()).collect();
    assert!(described.len() >= 70, "{} are described", described.len());
    for setting in described {
        let text = setting.description.as_deref().unwrap_or_default();
        assert!(text.ends_with('.') && text.len() > 25, "{}: {text}", setting.name);
    }
}

#[test]
fn treatments_are_of_settings_that_exist_and_of_one_kind() {
    let mut seen = BTreeSet::new();
    for (scope, names) in MODELLED.iter().chain(FIXED) {
        for name in *names {
            get(*scope, name);
            assert!(seen.insert((*scope, *name)), "{scope} {name} is listed twice");
        }
    }
    assert_eq!(treatment(get(Scope::Producer, "acks")), Treatment::Modelled);
    assert_eq!(treatment(get(Scope::Broker, "node.id")), Treatment::Fixed);
    assert_eq!(treatment(get(Scope::Broker, "num.io.threads")), Treatment::Ignored);
}

#[test]
fn values_are_checked_by_type_and_range() {
    let topic = |name, text| check(&[Scope::Topic], name, text).is_ok();
    assert!(topic("min.insync.replicas", "2") && topic("min.insync.replicas", " 2 "));
    assert!(!topic("min.insync.replicas", "0") && !topic("min.insync.replicas", "two"));
    assert!(!topic("min.insync.replicas", "2147483648") && !topic("min.insync.replicas", "2.0"));
    assert!(topic("retention.ms", "-1") && !topic("retention.ms", "-2"));
    assert!(topic("retention.ms", "9223372036854775807"));
    assert!(topic("segment.bytes", "1048576") && !topic("segment.bytes", "1048575"));
    assert!(topic("min.cleanable.dirty.ratio", "0.01"));
    assert!(!topic("min.cleanable.dirty.ratio", "1.01"));
    assert!(!topic("min.cleanable.dirty.ratio", "NaN"));
    assert!(topic("compression.gzip.level", "-1") && topic("compression.gzip.level", "9"));
    assert!(!topic("compression.gzip.level", "0") && !topic("compression.gzip.level", "10"));
    assert!(topic("unclean.leader.election.enable", "TRUE"));
    assert!(!topic("unclean.leader.election.enable", "yes"));
    assert!(topic("cleanup.policy", "compact, delete") && topic("cleanup.policy", ""));
    assert!(!topic("cleanup.policy", "none"));
    assert!(topic("leader.replication.throttled.replicas", "0:1,1:2"));
    assert!(!topic("leader.replication.throttled.replicas", "0-1"));
}

#[test]
fn words_are_checked_as_kafka_does() {
    let consumer =
        |name: &str, text: &str| check(&[Scope::Consumer, Scope::Group], name, text).is_ok();
    assert!(consumer("auto.offset.reset", "earliest"));
    assert!(!consumer("auto.offset.reset", "newest") && !consumer("auto.offset.reset", "Latest"));
    for duration in ["PT1H", "P1D", "P2DT3H4M5.5S", "pt30s"] {
        assert!(consumer("auto.offset.reset", &format!("by_duration:{duration}")), "{duration}");
    }
    for wrong in ["", "P", "PT", "1H", "PT1D", "PT1M1H", "-PT1H", "PT1.5H", "P1DT"] {
        assert!(!consumer("auto.offset.reset", &format!("by_duration:{wrong}")), "{wrong}");
    }
    assert!(consumer("group.protocol", "Consumer"));
    for strategy in ["range", "cooperative-sticky", "range,sticky"] {
        assert!(consumer("partition.assignment.strategy", strategy));
    }
    let class = "org.apache.kafka.clients.consumer.RoundRobinAssignor";
    assert!(consumer("partition.assignment.strategy", class));
    assert!(!consumer("partition.assignment.strategy", "RoundRobinAssignor"));
    assert!(!consumer("partition.assignment.strategy", ""));
    assert!(consumer("consumer.session.timeout.ms", "45000"), "a group's setting");
    assert!(check(&[Scope::Producer], "acks", "-1").is_ok());
    assert!(check(&[Scope::Producer], "acks", "2").is_err());
}

#[test]
fn what_is_wrong_is_said_in_words() {
    let wrong = |scope, name, text| check(&[scope], name, text).expect_err("it is wrong");
    let message = |scope, name, text| wrong(scope, name, text).message();
    assert_eq!(
        message(Scope::Producer, "retention.ms", "1"),
        "`retention.ms` is set on a topic, not on a producer"
    );
    assert_eq!(
        message(Scope::Topic, "message.format.version", "1"),
        "Kafka 4.3 has no setting `message.format.version`: it is gone since Kafka 4.0"
    );
    assert!(matches!(
        wrong(Scope::Topic, "min.insync.replica", "1"),
        Wrong::Unknown { nearest: Some("min.insync.replicas"), .. }
    ));
    assert!(matches!(
        wrong(Scope::Topic, "log.retention.hours", "1"),
        Wrong::Elsewhere { instead: Some("retention.ms"), .. }
    ));
    assert!(matches!(
        wrong(Scope::Broker, "retention.bytes", "1"),
        Wrong::Elsewhere { instead: Some("log.retention.bytes"), .. }
    ));
    let accepted = |scope, name| get(scope, name).accepted();
    assert_eq!(accepted(Scope::Topic, "min.insync.replicas"), "a whole number, 1 or more");
    assert_eq!(accepted(Scope::Producer, "retries"), "a whole number, 0 or more");
    assert_eq!(accepted(Scope::Producer, "acks"), "all, -1, 0 or 1");
    assert_eq!(accepted(Scope::Topic, "min.cleanable.dirty.ratio"), "a number, from 0 to 1");
    assert_eq!(accepted(Scope::Topic, "cleanup.policy"), "a list of compact or delete");
    assert_eq!(
        accepted(Scope::Topic, "compression.gzip.level"),
        "a whole number, from 1 to 9, or -1"
    );
    assert_eq!(accepted(Scope::Consumer, "group.protocol"), "consumer or classic");
    assert_eq!(accepted(Scope::Consumer, "enable.auto.commit"), "true or false");
}

#[test]
fn values_compare_by_their_type() {
    let order = |scope, name, a, b| compare(get(scope, name), a, b);
    assert_eq!(order(Scope::Producer, "linger.ms", "9", "10"), Ordering::Less);
    assert_eq!(order(Scope::Producer, "linger.ms", "07", "7"), Ordering::Equal);
    assert_eq!(order(Scope::Producer, "acks", "-1", "all"), Ordering::Equal);
    assert_ne!(order(Scope::Producer, "acks", "1", "all"), Ordering::Equal);
    assert_eq!(order(Scope::Consumer, "enable.auto.commit", "True", "true"), Ordering::Equal);
    let ratio = "min.cleanable.dirty.ratio";
    assert_eq!(order(Scope::Topic, ratio, "0.50", ".5"), Ordering::Equal);
    assert_eq!(order(Scope::Topic, "cleanup.policy", "a, b", "a,b"), Ordering::Equal);
    let class = "org.apache.kafka.clients.consumer.RangeAssignor";
    let strategy = "partition.assignment.strategy";
    assert_eq!(order(Scope::Consumer, strategy, class, "range"), Ordering::Equal);
}

#[test]
fn times_and_sizes_are_said_in_words() {
    let words = |scope, name, text| in_words(get(scope, name), text).unwrap_or_default();
    assert_eq!(words(Scope::Topic, "retention.ms", "604800000"), "7 days");
    assert_eq!(words(Scope::Topic, "retention.ms", "-1"), "no limit");
    assert_eq!(words(Scope::Topic, "flush.ms", "9223372036854775807"), "no limit");
    assert_eq!(words(Scope::Topic, "segment.bytes", "1073741824"), "1 GiB");
    assert_eq!(words(Scope::Producer, "batch.size", "16384"), "16 KiB");
    assert_eq!(words(Scope::Producer, "retries", "2147483647"), "no limit");
    assert_eq!(words(Scope::Consumer, "auto.commit.interval.ms", "5000"), "5 seconds");
    assert_eq!(words(Scope::Consumer, "auto.commit.interval.ms", "1440"), "");
    assert_eq!(words(Scope::Topic, "file.delete.delay.ms", "60000"), "1 minute");
    assert_eq!(words(Scope::Topic, "max.message.bytes", "1048588"), "");
    assert_eq!(words(Scope::Topic, "min.insync.replicas", "1000"), "");
}

#[test]
fn a_topics_default_comes_from_the_brokers_settings_in_its_unit() {
    let of = |name, broker: &[(&str, &str)]| topic_default(name, &set(broker));
    assert_eq!(of("retention.ms", &[]).as_deref(), Some("604800000"));
    assert_eq!(of("retention.ms", &[("log.retention.hours", "2")]).as_deref(), Some("7200000"));
    let both = [("log.retention.hours", "2"), ("log.retention.minutes", "3")];
    assert_eq!(of("retention.ms", &both).as_deref(), Some("180000"));
    assert_eq!(of("retention.ms", &[("log.retention.hours", "-1")]).as_deref(), Some("-1"));
    assert_eq!(of("min.insync.replicas", &[("min.insync.replicas", "2")]).as_deref(), Some("2"));
    assert_eq!(of("no.such", &[]), None);
}

#[test]
fn producers_are_refused_as_kafkas_client_refuses_them() {
    let refused = |pairs: &[(&str, &str)]| {
        refused_combination(Scope::Producer, &set(pairs)).map(|refusal| refusal.message)
    };
    let in_flight = "max.in.flight.requests.per.connection";
    for fine in [
        &[][..],
        &[("acks", "1")],
        &[("acks", "0")],
        &[("retries", "0")],
        &[("enable.idempotence", "false"), (in_flight, "6")],
        &[("enable.idempotence", "true"), ("acks", "-1")],
        &[("transactional.id", "t"), ("acks", "all")],
        &[("linger.ms", "100000")],
        &[("delivery.timeout.ms", "30005")],
    ] {
        assert_eq!(refused(fine), None, "{fine:?}");
    }
    for (wrong, message) in [
        (&[("enable.idempotence", "true"), ("acks", "1")][..], "Must set acks to all in order"),
        (&[("enable.idempotence", "true"), ("retries", "0")], "Must set retries to non-zero"),
        (&[(in_flight, "6")], "must be set to at most 5. Current value is 6."),
        (&[(in_flight, "6"), ("acks", "1")], "must be set to at most 5. Current value is 6."),
        (&[("transactional.id", "t"), ("acks", "1")], "Cannot set a transactional.id"),
        (&[("transactional.id", "t"), ("retries", "0")], "Cannot set a transactional.id"),
        (&[("delivery.timeout.ms", "30004")], "larger than linger.ms + request.timeout.ms"),
    ] {
        let refused = refused(wrong).unwrap_or_default();
        assert!(refused.contains(message), "{wrong:?}: {refused}");
    }
}

#[test]
fn consumers_topics_and_brokers_are_refused_too() {
    let message = |scope, pairs: &[(&str, &str)]| {
        refused_combination(scope, &set(pairs)).map(|refusal| refusal.message).unwrap_or_default()
    };
    let consumer = [("group.protocol", "consumer"), ("session.timeout.ms", "6000")];
    assert_eq!(
        message(Scope::Consumer, &consumer),
        "session.timeout.ms cannot be set when group.protocol=CONSUMER"
    );
    assert_eq!(
        message(Scope::Consumer, &[("group.remote.assignor", "uniform")]),
        "group.remote.assignor cannot be set when group.protocol=CLASSIC"
    );
    let slow = [("session.timeout.ms", "6000"), ("heartbeat.interval.ms", "6000")];
    assert!(message(Scope::Consumer, &slow).starts_with("Heartbeat must be set lower"));
    assert_eq!(message(Scope::Consumer, &[("session.timeout.ms", "6000")]), "");
    assert_eq!(
        message(Scope::Topic, &[("min.compaction.lag.ms", "9"), ("max.compaction.lag.ms", "8")]),
        "conflict topic config setting min.compaction.lag.ms (9) > max.compaction.lag.ms (8)"
    );
    let wait = [("replica.lag.time.max.ms", "400")];
    assert!(message(Scope::Broker, &wait).contains("to prevent frequent changes in ISR"));
    assert_eq!(message(Scope::Broker, &[]), "");
}

#[test]
fn groups_keep_within_the_bounds_of_their_brokers() {
    let message = |scope, pairs: &[(&str, &str)]| {
        refused_combination(scope, &set(pairs)).map(|refusal| refusal.message).unwrap_or_default()
    };
    let short = ("consumer.session.timeout.ms", "44999");
    let least = "group.consumer.min.session.timeout.ms";
    assert_eq!(
        message(Scope::Group, &[short]),
        format!("consumer.session.timeout.ms must be greater than or equal to {least}")
    );
    assert_eq!(message(Scope::Group, &[short, (least, "6000")]), "");
    assert_eq!(
        message(Scope::Group, &[("share.record.lock.duration.ms", "60001")]),
        "share.record.lock.duration.ms must be less than or equal to \
         group.share.max.record.lock.duration.ms"
    );
    let beat = ("share.heartbeat.interval.ms", "9000");
    let session = ("share.session.timeout.ms", "9000");
    assert_eq!(
        message(Scope::Group, &[beat, session]),
        "share.session.timeout.ms must be greater than share.heartbeat.interval.ms"
    );
    assert_eq!(message(Scope::Group, &[beat]), "");
    let of_all = ("group.consumer.session.timeout.ms", "9000");
    assert_eq!(
        message(Scope::Broker, &[of_all]),
        format!("group.consumer.session.timeout.ms must be greater than or equal to {least}")
    );
    assert_eq!(message(Scope::Broker, &[of_all, (least, "6000")]), "");
    assert_eq!(
        message(
            Scope::Broker,
            &[of_all, (least, "4000"), ("group.consumer.session.timeout.ms", "5000")]
        ),
        "group.consumer.heartbeat.interval.ms must be less than group.consumer.session.timeout.ms"
    );
    assert_eq!(
        message(Scope::Broker, &[("group.consumer.heartbeat.interval.ms", "20000")]),
        "group.consumer.heartbeat.interval.ms must be less than or equal to \
         group.consumer.max.heartbeat.interval.ms"
    );
}

#[test]
fn errors_have_kafkas_numbers_and_classes() {
    let error = error_code("NOT_ENOUGH_REPLICAS").expect("Kafka has it");
    assert_eq!((error.code, error.retriable), (19, true));
    assert_eq!(error.exception.as_deref(), Some("NotEnoughReplicasException"));
    let none = error_code("NONE").expect("no error has a code too");
    assert_eq!((none.code, none.exception.as_deref()), (0, None));
    assert!(error_codes().windows(2).all(|pair| pair[0].code < pair[1].code));
    assert_eq!(error_code("NOPE"), None);
}

#[test]
fn a_setting_leads_to_its_place_in_kafkas_documentation() {
    let setting = get(Scope::Topic, "min.insync.replicas");
    assert_eq!(
        doc_url(setting),
        "https://kafka.apache.org/documentation/#topicconfigs_min.insync.replicas"
    );
}
