//! Paths of observables: read, held against the table and the names of the file. Knows nothing of
//! values.

use std::sync::LazyLock;

use super::names::Names;
use super::observable::{Kind, METRICS, REQUESTS, ROWS, Row};
use super::settings;
use super::written::Mistake;
use crate::diag::Code;
use crate::sim::Part;
use crate::sim::ids::{BrokerId, Offset, TopicPartition};

/// A path that names an observable of this file.
#[derive(Clone, Debug)]
pub struct Path {
    /// Its row of the table.
    pub row: &'static Row,
    /// Its parts, quotes taken off; a setting's name is one part.
    pub segments: Vec<String>,
    /// As the author wrote it.
    pub text: String,
}

/// What paths of one place may refer to.
#[derive(Clone, Copy, Debug)]
pub struct Known<'a> {
    /// The file's names.
    pub names: &'a Names,
    /// The latest step that `since` may name here; 0: none.
    pub latest_step: u32,
}

struct Segment<'a> {
    start: usize,
    text: &'a str,
}

impl Path {
    /// Reads a path.
    ///
    /// # Errors
    /// What is wrong with it, with the nearest name.
    pub fn parse(text: &str, known: Known<'_>) -> Result<Path, Mistake> {
        let segments = split(text)?;
        let row = find(text, &segments)?;
        for (segment, pattern) in segments.iter().zip(row.pattern.split('.')) {
            if pattern.starts_with('<') {
                check(segment, pattern, row, known)?;
            }
        }
        let segments = segments.iter().map(|segment| segment.text.to_owned()).collect();
        Ok(Path { row, segments, text: text.to_owned() })
    }

    /// The type of its value.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.row.kind
    }

    /// Whether its value changes with time alone, though nothing happens.
    #[must_use]
    pub fn is_clock(&self) -> bool {
        matches!(self.segments[0].as_str(), "time_ms" | "since")
    }

    /// The partition that its second part names.
    pub(super) fn partition(&self) -> Option<TopicPartition> {
        TopicPartition::parse(self.segments.get(1)?)
    }

    /// The parts of a snapshot that its value stands in.
    #[must_use]
    pub fn parts(&self) -> Vec<Part> {
        let name = || self.segments.get(1).cloned().unwrap_or_default();
        let part = match self.segments[0].as_str() {
            "controller" | "brokers" | "admin" => Part::Cluster,
            "topics" => return vec![Part::Cluster, Part::Topic(name())],
            "partitions" => return self.partition_parts(),
            "producers" => Part::Producer(name()),
            "transactions" => Part::Transaction(name()),
            "groups" => Part::Group(name()),
            "consumers" => Part::Consumer(name()),
            "metrics" => Part::Metrics,
            "in_flight" | "waiting" | "messages" => Part::Messages,
            _ => return Vec::new(),
        };
        vec![part]
    }

    fn partition_parts(&self) -> Vec<Part> {
        let Some(partition) = self.partition() else { return Vec::new() };
        let offset = match self.segments.get(2).map(String::as_str) {
            Some("records") => self.segments.get(3).and_then(|offset| offset.parse().ok()),
            _ => None,
        };
        match offset {
            Some(offset) => vec![Part::Record(partition, Offset(offset))],
            None => vec![Part::Partition(partition)],
        }
    }
}

/// Cuts a path at its dots, but not inside quotes and not in a setting's name.
fn split(text: &str) -> Result<Vec<Segment<'_>>, Mistake> {
    let mut segments: Vec<Segment<'_>> = Vec::new();
    let mut at = 0;
    loop {
        let rest = &text[at..];
        let (segment, end) = if let Some(quoted) = rest.strip_prefix('"') {
            let Some(length) = quoted.find('"') else {
                let message = "a quote is not closed";
                return Err(Mistake::new(Code::UnknownPath, at, rest.len(), message));
            };
            (Segment { start: at + 1, text: &quoted[..length] }, at + length + 2)
        } else if segments.len() == 3 && segments[2].text == "config" {
            (Segment { start: at, text: rest }, text.len())
        } else {
            let length = rest.find('.').unwrap_or(rest.len());
            (Segment { start: at, text: &rest[..length] }, at + length)
        };
        if segment.text.is_empty() {
            let message = format!("`{text}` is not a path");
            return Err(Mistake::new(Code::UnknownPath, 0, text.len(), message));
        }
        segments.push(segment);
        if end == text.len() {
            return Ok(segments);
        }
        if !text[end..].starts_with('.') {
            let message = "a dot is missing after the quote";
            return Err(Mistake::new(Code::UnknownPath, end, 1, message));
        }
        at = end + 1;
    }
}

/// A row of the table with its pattern cut at the dots.
type Form = (&'static Row, Vec<&'static str>);

static FORMS: LazyLock<Vec<Form>> =
    LazyLock::new(|| ROWS.iter().map(|row| (row, row.pattern.split('.').collect())).collect());

/// The row whose pattern has the path's form.
fn find(text: &str, segments: &[Segment<'_>]) -> Result<&'static Row, Mistake> {
    let mut rows: Vec<&Form> = FORMS.iter().collect();
    for (index, segment) in segments.iter().enumerate() {
        let matches = |pattern: &&str| pattern.starts_with('<') || *pattern == segment.text;
        let next: Vec<&Form> = rows
            .iter()
            .copied()
            .filter(|(_, pattern)| pattern.get(index).is_some_and(matches))
            .collect();
        if next.is_empty() {
            return Err(no_such(text, segment, index, &rows));
        }
        rows = next;
    }
    let whole = rows.iter().find(|(_, pattern)| pattern.len() == segments.len());
    whole.map(|(row, _)| *row).ok_or_else(|| {
        let message = format!("`{text}` is not an observable by itself");
        let mistake = Mistake::new(Code::UnknownPath, 0, text.len(), message);
        mistake.note(format!(
            "it goes on with one of: {}",
            following(&rows, segments.len()).join(", ")
        ))
    })
}

/// What may stand at `index` in these rows, each once.
fn following(rows: &[&Form], index: usize) -> Vec<&'static str> {
    let mut names: Vec<&'static str> = Vec::new();
    for name in rows.iter().filter_map(|(_, pattern)| pattern.get(index)) {
        if !names.contains(name) {
            names.push(name);
        }
    }
    names
}

fn no_such(text: &str, segment: &Segment<'_>, index: usize, rows: &[&Form]) -> Mistake {
    let names = following(rows, index);
    let before = text[..segment.start].trim_end_matches(['.', '"']);
    let message = match (before, names.is_empty()) {
        ("", _) => format!("there is no observable `{}`", segment.text),
        (_, true) => format!("`{before}` has nothing below it"),
        _ => format!("`{before}` has no `{}`", segment.text),
    };
    let mut mistake = Mistake::new(Code::UnknownPath, segment.start, segment.text.len(), message);
    if !names.is_empty() {
        mistake = mistake.note(format!("it has: {}", names.join(", ")));
    }
    if index > 1 && !text.contains('"') {
        mistake =
            mistake.note("a name with a dot in it is quoted: partitions.\"my.topic-0\".leader");
    }
    mistake.did_you_mean(segment.text, names)
}

/// Holds one name of the path against the file's names.
fn check(
    segment: &Segment<'_>,
    pattern: &str,
    row: &'static Row,
    known: Known<'_>,
) -> Result<(), Mistake> {
    let Known { names, latest_step } = known;
    let text = segment.text;
    let unknown = |what: &str| {
        let message = format!("there is no {what} `{text}`");
        Mistake::new(Code::UnknownName, segment.start, text.len(), message)
    };
    let listed = |what: &str, candidates: Vec<&str>| {
        ensure(candidates.contains(&text), || with_candidates(unknown(what), text, &candidates))
    };
    match pattern {
        "<step>" => {
            match text.parse::<u32>() {
                Ok(step) if (1..=latest_step).contains(&step) => Ok(()),
                Ok(step) if (1..=names.step_count).contains(&step) => Err(unknown("earlier step")
                    .note("`since` counts from a step that has been reached")),
                _ => Err(unknown("step").note(format!("the file has {} steps", names.step_count))),
            }
        }
        "<broker>" => {
            let known = text.parse().is_ok_and(|id| names.brokers.contains(&BrokerId(id)));
            ensure(known, || {
                unknown("broker").note(format!("the brokers: {}", join(&names.brokers)))
            })
        }
        "<topic>" => listed("topic", names.topics.keys().map(String::as_str).collect()),
        "<partition>" => names.partition(text).map(|_| ()).map_err(|instead| {
            let likely = names.likely_partitions();
            unknown("partition").note(instead).did_you_mean(text, likely.iter().map(String::as_str))
        }),
        "<producer>" => listed("producer", names.producers.iter().map(String::as_str).collect()),
        "<group>" => listed("group", names.groups.iter().map(String::as_str).collect()),
        "<consumer>" => listed("consumer", names.consumers.iter().map(String::as_str).collect()),
        "<transactional-id>" => {
            listed("transactional.id", names.transactions.iter().map(String::as_str).collect())
        }
        "<metric>" => listed("metric", METRICS.to_vec()),
        "<kind>" => {
            let request = text.strip_suffix("_response").unwrap_or(text);
            ensure(REQUESTS.contains(&request), || {
                unknown("message kind").did_you_mean(text, REQUESTS.iter().copied())
            })
        }
        "<setting>" => settings::known(text, settings::scope_of_path(row.pattern))
            .map_err(|mistake| mistake.moved(segment.start)),
        _ => ensure(text.parse::<u64>().is_ok(), || unknown("number")),
    }
}

fn ensure(holds: bool, otherwise: impl FnOnce() -> Mistake) -> Result<(), Mistake> {
    if holds { Ok(()) } else { Err(otherwise()) }
}

fn with_candidates(mistake: Mistake, name: &str, candidates: &[&str]) -> Mistake {
    let known = if candidates.is_empty() { "none".to_owned() } else { candidates.join(", ") };
    mistake.note(format!("there are: {known}")).did_you_mean(name, candidates.iter().copied())
}

/// Names joined by commas.
pub fn join<T: ToString>(names: impl IntoIterator<Item = T>) -> String {
    names.into_iter().map(|name| name.to_string()).collect::<Vec<_>>().join(", ")
}
