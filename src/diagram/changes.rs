//! What changed since the step before, as a list that people read: `orders-0, high watermark 0 →
//! 1`. Followers that changed alike share a line; what only repeats another line is left out.

use serde_json::Value;

use crate::scenario::run::{Change, Frame};
use crate::sim::ids::BrokerId;

use super::describe::listed;

/// One line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeLine {
    /// What: `orders-0, high watermark`.
    pub what: String,
    /// Its value before.
    pub from: String,
    /// Its value now.
    pub to: String,
}

/// The lines of a frame: brokers, then what happened to partitions, the weightiest first, then
/// replicas, producers, consumers, groups; otherwise in the order of the frame's changes.
#[must_use]
pub fn list(frame: &Frame) -> Vec<ChangeLine> {
    let mut lines: Vec<Line> = Vec::new();
    for change in &frame.changed {
        let names = split(&change.path);
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        if is_noise(frame, &names, change) {
            continue;
        }
        let Some((subject, what)) = read(frame, &names) else { continue };
        let (from, to) = (value(change.from.as_ref()), value(change.to.as_ref()));
        add(&mut lines, Line { rank: rank(&names), subject, what, from, to, source: change });
    }
    lines.sort_by_key(|line| line.rank);
    lines
        .into_iter()
        .map(|line| {
            let subject = match line.subject {
                Subject::One(name) => name,
                Subject::Brokers(ids, on) => {
                    on.map_or(listed(&ids), |partition| format!("{}, {partition}", listed(&ids)))
                }
            };
            ChangeLine { what: format!("{subject}, {}", line.what), from: line.from, to: line.to }
        })
        .collect()
}

/// What a line is about.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Subject {
    One(String),
    /// Brokers, and the partition where there are several.
    Brokers(Vec<BrokerId>, Option<String>),
}

struct Line<'a> {
    /// Its place: the lower, the weightier.
    rank: usize,
    subject: Subject,
    what: String,
    from: String,
    to: String,
    source: &'a Change,
}

/// Adds a line, or its broker to an equal one.
fn add<'a>(lines: &mut Vec<Line<'a>>, line: Line<'a>) {
    if let Subject::Brokers(new, on) = &line.subject {
        for known in lines.iter_mut() {
            let alike = known.what == line.what
                && known.source.from == line.source.from
                && known.source.to == line.source.to;
            if let Subject::Brokers(ids, known_on) = &mut known.subject
                && alike
                && known_on == on
            {
                ids.extend(new);
                return;
            }
        }
    }
    lines.push(line);
}

/// A partition's fields, the weightiest first.
const WEIGHTS: [&str; 5] = ["leader", "leader_epoch", "isr", "high_watermark", "log_end_offset"];

/// How early a change is told.
fn rank(names: &[&str]) -> usize {
    let last = WEIGHTS.len() + 1;
    match names {
        ["partitions", _, field] => {
            1 + WEIGHTS.iter().position(|known| known == field).unwrap_or(WEIGHTS.len())
        }
        ["partitions", ..] => last + 1,
        ["producers" | "transactions" | "admin", ..] => last + 2,
        ["consumers", ..] => last + 3,
        ["groups", ..] => last + 4,
        _ => 0,
    }
}

/// Whether a change says nothing of its own: the leader's log end where the line of its replica
/// says it; what comes and goes with a leader.
fn is_noise(frame: &Frame, names: &[&str], change: &Change) -> bool {
    match names {
        ["partitions", _, "log_start_offset" | "segments"] => {
            change.from.is_none() || change.to.is_none()
        }
        // Without an open transaction it is the high watermark.
        ["partitions", _, "last_stable_offset"] => {
            let path = change.path.replace("last_stable_offset", "high_watermark");
            let mut others = frame.changed.iter();
            change.from.is_none()
                || change.to.is_none()
                || others
                    .any(|one| one.path == path && one.from == change.from && one.to == change.to)
        }
        ["partitions", name, "log_end_offset"] => {
            let mut views = frame.snapshot.partitions.iter();
            let view = views.find(|(known, _)| known.to_string() == *name);
            let Some(leader) = view.and_then(|(_, view)| view.leader) else { return false };
            let path = change.path.trim_end_matches("log_end_offset");
            let own = format!("{path}replicas.{leader}.log_end_offset");
            let mut others = frame.changed.iter();
            others.any(|one| one.path == own && one.from == change.from && one.to == change.to)
        }
        _ => false,
    }
}

/// The subject and the words of an observable, or nothing where a line would repeat another one or
/// say what no reader looks for.
fn read(frame: &Frame, names: &[&str]) -> Option<(Subject, String)> {
    let one = |name: &str, what: &str| Some((Subject::One(name.to_owned()), what.to_owned()));
    match names {
        ["controller", field] => one(
            "controller",
            match *field {
                "leader" => "active",
                _ => "epoch",
            },
        ),
        ["brokers", id, field @ ("process" | "registration")] => {
            one(&format!("broker-{id}"), field)
        }
        ["brokers", id, "config", name] => one(&format!("broker-{id}"), name),
        ["topics", topic, "config", name] => one(topic, name),
        ["topics", topic, "partitions"] => one(topic, "partitions"),
        ["partitions", name, "replicas", id, field] => replica(frame, name, id, field),
        ["partitions", name, field] => one(name, partition_field(field)?),
        ["producers", name, field] => one(name, producer_field(field)?),
        ["producers", name, "config", setting] => one(name, setting),
        ["transactions", id, "state"] => one(id, "transaction"),
        ["transactions", id, "producer_epoch"] => one(id, "producer epoch"),
        ["transactions", id, "partitions"] => one(id, "partitions in the transaction"),
        ["groups", name, "share", partition, "start_offset"] => {
            one(name, &on(frame, "start offset", partition))
        }
        ["groups", name, "share", partition, "records", offset, field] => {
            let what = share_field(field)?;
            one(name, &on(frame, &format!("{what} of record {offset}"), partition))
        }
        ["admin", "last_error"] => one("administrator", "last error"),
        ["groups", name, "committed", partition] => {
            one(name, &on(frame, "committed offset", partition))
        }
        ["groups", name, "lag", partition] => one(name, &on(frame, "lag", partition)),
        ["groups", name, field] => one(name, group_field(field)?),
        ["consumers", name, "position", partition] => one(name, &on(frame, "position", partition)),
        ["consumers", name, field] => one(name, consumer_field(field)?),
        _ => None,
    }
}

/// Words, with the partition where the run has several.
fn on(frame: &Frame, words: &str, partition: &str) -> String {
    if frame.snapshot.partitions.len() > 1 {
        format!("{words} in {partition}")
    } else {
        words.to_owned()
    }
}

fn replica(frame: &Frame, name: &str, id: &str, field: &str) -> Option<(Subject, String)> {
    let partitions = &frame.snapshot.partitions;
    let view = partitions.iter().find(|(known, _)| known.to_string() == name).map(|(_, view)| view);
    let id = BrokerId(id.parse().ok()?);
    let leads = view.is_some_and(|view| view.leader == Some(id));
    let words = match field {
        // The leader's high watermark and log start are the partition's, which has lines of its
        // own.
        "high_watermark" if !leads => "known high watermark",
        "log_end_offset" => "log end offset",
        "log_start_offset" if !leads => "log start offset",
        "role" => "believes it is",
        "stalled" => "stalled",
        _ => return None,
    };
    let several = (partitions.len() > 1).then(|| name.to_owned());
    Some((Subject::Brokers(vec![id], several), words.to_owned()))
}

fn partition_field(field: &str) -> Option<&'static str> {
    Some(match field {
        "leader" => "leader",
        "leader_epoch" => "leader epoch",
        "assignment" => "replicas",
        "isr" => "in-sync replicas",
        "elr" => "eligible leader replicas",
        "high_watermark" => "high watermark",
        "log_end_offset" => "log end offset",
        "log_start_offset" => "log start offset",
        "last_stable_offset" => "last stable offset",
        "last_known_elr" => "last known eligible replicas",
        "segments" => "segments",
        _ => return None,
    })
}

fn share_field(field: &str) -> Option<&'static str> {
    Some(match field {
        "state" => "state",
        "delivery_count" => "deliveries",
        _ => return None,
    })
}

fn producer_field(field: &str) -> Option<&'static str> {
    Some(match field {
        "buffered" => "records in the buffer",
        "in_flight" => "batches in flight",
        "acked" => "records acknowledged",
        "failed" => "records given up",
        "retries" => "batches sent again",
        "last_error" => "last error",
        "last_refusal" => "last refusal",
        "state" => "state",
        "producer_epoch" => "producer epoch",
        _ => return None,
    })
}

fn group_field(field: &str) -> Option<&'static str> {
    Some(match field {
        "state" => "state",
        "epoch" => "generation",
        "members" => "members",
        "coordinator" => "coordinator",
        _ => return None,
    })
}

fn consumer_field(field: &str) -> Option<&'static str> {
    Some(match field {
        "state" => "state",
        "assignment" => "partitions",
        "consumed" => "records read",
        "last_error" => "last error",
        "last_refusal" => "last refusal",
        _ => return None,
    })
}

/// The names of a path: `partitions."my.topic-0".leader` has three. What follows `config` is one
/// name.
fn split(path: &str) -> Vec<String> {
    let mut names = vec![String::new()];
    let mut is_quoted = false;
    for (at, c) in path.char_indices() {
        match c {
            '"' => is_quoted = !is_quoted,
            '.' if !is_quoted => {
                if names.last().is_some_and(|name| name == "config") {
                    names.push(path[at + 1..].to_owned());
                    return names;
                }
                names.push(String::new());
            }
            c => names.last_mut().expect("starts with one").push(c),
        }
    }
    names
}

/// A value as a reader knows it.
fn value(value: Option<&Value>) -> String {
    match value {
        None => "none".to_owned(),
        Some(Value::Null) => "null".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Bool(yes)) => if *yes { "yes" } else { "no" }.to_owned(),
        Some(Value::Array(items)) if items.is_empty() => "none".to_owned(),
        Some(Value::Array(items)) => {
            let texts: Vec<String> = items.iter().map(|item| self::value(Some(item))).collect();
            texts.join(", ")
        }
        Some(other) => other.to_string(),
    }
}
