//! Values as authors write them on the right of an observable, read by the observable's type.

use super::observable::Kind;
use super::path::Path;
use super::settings;
use super::value::Value;

/// Reads a single value for a path.
///
/// # Errors
/// A clause: what is wrong, and what was expected.
pub fn single(path: &Path, text: &str) -> Result<Value, String> {
    match (path.kind(), text) {
        (Kind::Messages, _) => Err(expected(path, text)),
        (_, "none") => Ok(Value::None),
        (Kind::Text, "null") => Ok(Value::Null),
        (Kind::List | Kind::Set, "[]") => Ok(Value::List(Vec::new())),
        _ => literal(path, text),
    }
}

/// Reads a single value as it stands there: `none` and `null` are four letters.
///
/// # Errors
/// As [`single`].
pub fn literal(path: &Path, text: &str) -> Result<Value, String> {
    match path.kind() {
        Kind::Number => text.parse().map(Value::Number).map_err(|_| expected(path, text)),
        Kind::Word(words) if words.contains(&text) => Ok(Value::Text(text.to_owned())),
        Kind::Name | Kind::Text => Ok(Value::Text(text.to_owned())),
        Kind::Setting => setting(path, text),
        Kind::Word(_) | Kind::List | Kind::Set | Kind::Messages => Err(expected(path, text)),
    }
}

/// Reads a list.
///
/// # Errors
/// As [`single`].
pub fn list(path: &Path, items: &[&str]) -> Result<Value, String> {
    let written = format!("[{}]", items.join(", "));
    match path.kind() {
        Kind::List | Kind::Set => {
            let items = items.iter().map(|item| (*item).to_owned()).collect();
            Ok(sorted(path.kind(), Value::List(items)))
        }
        Kind::Setting => setting(path, &items.join(",")),
        _ => Err(expected(path, &written)),
    }
}

/// A set's items in order; any other value as it is. Numbers are ordered as numbers.
#[must_use]
pub fn sorted(kind: Kind, value: Value) -> Value {
    match value {
        Value::List(mut items) if kind == Kind::Set => {
            items.sort_by(|left, right| {
                let numbers = left.parse::<u64>().ok().zip(right.parse::<u64>().ok());
                numbers.map_or_else(|| left.cmp(right), |(left, right)| left.cmp(&right))
            });
            Value::List(items)
        }
        other => other,
    }
}

fn setting(path: &Path, text: &str) -> Result<Value, String> {
    let name = path.segments.last().map_or("", String::as_str);
    let Some(found) = settings::find(name, settings::scope_of_path(path.row.pattern)) else {
        return Ok(Value::Text(text.to_owned()));
    };
    if found.accepts(text) {
        Ok(super::lookup::setting_value(found, text))
    } else {
        Err(format!("`{}` is never `{text}`; it is {}", path.text, found.accepted()))
    }
}

fn expected(path: &Path, text: &str) -> String {
    format!("`{}` is never `{text}`; it is {}", path.text, path.kind().describe())
}
