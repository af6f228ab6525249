//! One fact in a client's card: its label and its value, in the space that there is.

use super::super::scene::{Anchor, Item, Part, Point, Rect, Role, at};
use super::super::text::{Face, fit, room};
use super::ring;
use crate::sim::ids::{Offset, TopicPartition};

/// A fact.
pub(super) struct Row {
    /// From long to short.
    pub labels: Vec<String>,
    pub value: Value,
    /// The colours of both.
    pub role: Role,
    /// Whether it differs from the step before.
    pub has_changed: bool,
}

/// The value of a fact.
pub(super) enum Value {
    Count(u64),
    Negative(i64),
    Word(&'static str),
    /// The first of these that fits.
    Texts(Vec<String>),
    None,
}

impl Row {
    /// As before and in the usual colours; the labels from long to short.
    pub fn new(labels: &[&str], value: Value) -> Row {
        let labels = labels.iter().map(|label| (*label).to_owned()).collect();
        Row { labels, value, role: Role::Plain, has_changed: false }
    }

    /// From `start` to `end`, ringed where it has changed. The label gives way before the value.
    pub fn items(&self, (start, end): (Point, f64)) -> Vec<Item> {
        let mut items = Vec::new();
        if self.has_changed {
            let rect = Rect::new(start.x - 5.0, start.y - 11.9, end - start.x + 10.0, 15.8);
            items.push(ring(rect));
        }
        let whole = end - start.x;
        let wanted = |label: &&String| room(label, Face::Sans) + self.value.room() <= whole;
        let label = self.labels.iter().find(wanted).or(self.labels.last());
        let label = fit(label.map_or("", String::as_str), Face::Sans, whole);
        let value = self.value.text(whole - room(&label, Face::Sans) - 3.0);
        let (voice, strong) = match self.role {
            Role::Plain => (Part::Mute, Part::Text),
            _ => (Part::Colour, Part::Colour),
        };
        items.push(Item::text(voice, start, label, Face::Sans).role(self.role));
        if !value.is_empty() {
            let right = Item::text(strong, at(end, start.y), value, Face::MonoBold);
            items.push(right.anchor(Anchor::End).role(self.role));
        }
        items
    }
}

impl Value {
    /// That there is nothing.
    fn nothing() -> Value {
        Value::Texts(vec!["none".to_owned(), "–".to_owned()])
    }

    /// Partitions by their names, by their numbers, or how many there are.
    pub fn partitions(partitions: &[TopicPartition]) -> Value {
        let Some(first) = partitions.first() else { return Value::nothing() };
        let list = |texts: Vec<String>| texts.join(" ");
        let mut texts = vec![list(partitions.iter().map(ToString::to_string).collect())];
        if partitions.iter().all(|one| one.topic == first.topic) {
            texts.push(list(partitions.iter().map(|one| one.partition.to_string()).collect()));
        }
        texts.push(format!("×{}", partitions.len()));
        Value::Texts(texts)
    }

    /// Records by their offsets, in ranges, or how many there are.
    pub fn offsets(records: &[(TopicPartition, Offset)]) -> Value {
        let mut ranges: Vec<(&TopicPartition, u64, u64)> = Vec::new();
        for (partition, offset) in records {
            match ranges.last_mut() {
                Some((known, _, last)) if *known == partition && *last + 1 == offset.0 => {
                    *last = offset.0;
                }
                _ => ranges.push((partition, offset.0, offset.0)),
            }
        }
        let Some((only, ..)) = ranges.first() else { return Value::nothing() };
        let range = |(_, first, last): &(&TopicPartition, u64, u64)| {
            if first == last { first.to_string() } else { format!("{first}-{last}") }
        };
        let mut texts = Vec::new();
        if ranges.iter().all(|(partition, ..)| partition == only) {
            texts.push(ranges.iter().map(range).collect::<Vec<_>>().join(" "));
        }
        texts.push(format!("×{}", records.len()));
        Value::Texts(texts)
    }

    /// What it takes at best; nothing for what may be shortened.
    fn room(&self) -> f64 {
        let text = match self {
            Value::None | Value::Texts(_) => return 0.0,
            Value::Word(word) => (*word).to_owned(),
            Value::Negative(value) => value.to_string(),
            Value::Count(count) => count.to_string(),
        };
        room(&text, Face::MonoBold) + 3.0
    }

    /// The value in the space that there is; a long number in thousands or millions.
    fn text(&self, space: f64) -> String {
        let first = |texts: &[String]| {
            let fits = |text: &&String| room(text, Face::MonoBold) <= space;
            texts.iter().find(fits).cloned().unwrap_or_default()
        };
        match self {
            Value::None => String::new(),
            Value::Word(word) => fit(word, Face::MonoBold, space),
            Value::Texts(texts) => first(texts),
            Value::Negative(value) => fit(&value.to_string(), Face::MonoBold, space),
            Value::Count(count) => first(&[
                count.to_string(),
                format!("{}k", count / 1000),
                format!("{}M", count / 1_000_000),
            ]),
        }
    }
}
