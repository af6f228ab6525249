//! Facts in the words of the pages: times, changes, how long a text takes to read.

use serde_json::Value;

use crate::scenario::run::Change;

use super::step::ChangeView;

/// Milliseconds as the pages print them: `1.400 s`.
#[must_use]
pub fn seconds(time_ms: u64) -> String {
    format!("{}.{:03} s", time_ms / 1000, time_ms % 1000)
}

/// How many minutes a walkthrough takes: 200 words a minute, and 15 seconds for each picture.
#[must_use]
pub fn minutes(word_count: usize, picture_count: usize) -> usize {
    (word_count * 60 + picture_count * 15 * 200).div_ceil(200 * 60).max(1)
}

/// The HTML of one paragraph without its `<p>`, for places that take phrases only.
#[must_use]
pub fn inline(html: &str) -> String {
    let html = html.trim();
    match html.strip_prefix("<p>").and_then(|html| html.strip_suffix("</p>")) {
        Some(one) if !one.contains("<p>") => one.to_owned(),
        _ => html.to_owned(),
    }
}

/// A value as a reader knows it.
#[must_use]
pub fn value(value: Option<&Value>) -> String {
    match value {
        None => "none".to_owned(),
        Some(Value::Null) => "null".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Bool(yes)) => if *yes { "yes" } else { "no" }.to_owned(),
        Some(Value::Array(items)) if items.is_empty() => "none".to_owned(),
        Some(Value::Array(items)) => {
            items.iter().map(|item| self::value(Some(item))).collect::<Vec<_>>().join(", ")
        }
        Some(other) => other.to_string(),
    }
}

/// The changes worth a line.
#[must_use]
pub fn changes(changed: &[Change]) -> Vec<ChangeView> {
    changed
        .iter()
        .map(|change| ChangeView {
            what: change.path.clone(),
            from: value(change.from.as_ref()),
            to: value(change.to.as_ref()),
        })
        .collect()
}
