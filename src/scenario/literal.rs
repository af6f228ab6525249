//! Values as authors write them on the right of an observable, read by the observable's type.
//!
//! What the observable can never be is a mistake: `==` would fail, but `!=` would hold for ever.
//! The place of such a mistake is the caller's to say.

use super::domain::Domain;
use super::names::Names;
use super::observable::Kind;
use super::path::Path;
use super::settings;
use super::value::{Op, Value};
use super::written::Mistake;
use crate::diag::Code;

/// Reads a comparison without its path: an operator, if there is one, and a value. Without an
/// operator it asks for equality.
///
/// # Errors
/// What is wrong, at its place in the text.
pub fn comparison(path: &Path, text: &str, names: &Names) -> Result<(Op, Value), Mistake> {
    let operator = Op::ALL.iter().find(|(symbol, op)| *op != Op::Equal && text.starts_with(symbol));
    let Some((symbol, op)) = operator else {
        let value = single(path, text, names);
        return Ok((Op::Equal, value.map_err(|mistake| mistake.over(0, text.len()))?));
    };
    check_operator(path, text, symbol.len(), *op)?;
    let rest = text[symbol.len()..].trim_start();
    let value = single(path, rest.trim_end(), names);
    let at = text.len() - rest.len();
    Ok((*op, value.map_err(|mistake| mistake.over(at, rest.trim_end().len()))?))
}

/// Checks the operator of `length` bytes at the beginning of a text: nothing that looks like one
/// more follows it, and only numbers have an order.
///
/// # Errors
/// What is wrong with it.
pub fn check_operator(path: &Path, text: &str, length: usize, op: Op) -> Result<(), Mistake> {
    let more = text[length..].chars().take_while(|next| "=!<>".contains(*next)).count();
    if more > 0 {
        let message = format!("`{}` is not an operator", &text[..length + more]);
        let mistake = Mistake::new(Code::BadCondition, 0, length + more, message);
        return Err(mistake.note("the operators: ==, !=, <, <=, >, >="));
    }
    let has_order = match path.kind() {
        Kind::Number => true,
        Kind::Setting => setting(path).is_none_or(settings::is_number),
        _ => false,
    };
    if op.is_ordering() && !has_order {
        let message = format!(
            "`{}` has no order, so `{}` cannot compare it; == and != can",
            path.text,
            op.symbol()
        );
        return Err(Mistake::new(Code::BadCondition, 0, length, message));
    }
    Ok(())
}

/// Reads a single value for a path; a list stands in brackets.
///
/// # Errors
/// What is wrong, and what was expected.
pub fn single(path: &Path, text: &str, names: &Names) -> Result<Value, Mistake> {
    match (path.kind(), text) {
        (Kind::Messages, _) => Err(never(path, text)),
        (_, "none") => Ok(Value::None),
        (Kind::Text, "null") => Ok(Value::Null),
        (Kind::List(_) | Kind::Set(_) | Kind::Setting, _) => match bracketed(text) {
            Some(items) => list(path, &items, names),
            None => literal(path, text, names),
        },
        _ => literal(path, text, names),
    }
}

/// The items of a list in brackets, quotes taken off.
pub fn bracketed(text: &str) -> Option<Vec<&str>> {
    let inner = text.strip_prefix('[')?.strip_suffix(']')?;
    if inner.trim().is_empty() {
        return Some(Vec::new());
    }
    Some(inner.split(',').map(|item| item.trim().trim_matches('"')).collect())
}

/// Reads a single value as it stands there: `none` and `null` are four letters.
///
/// # Errors
/// As [`single`].
pub fn literal(path: &Path, text: &str, names: &Names) -> Result<Value, Mistake> {
    match path.kind() {
        Kind::Number => text.parse().map(Value::Number).map_err(|_| never(path, text)),
        Kind::Word(words) if words.contains(&text) => Ok(Value::Text(text.to_owned())),
        Kind::Word(words) => Err(never(path, text).did_you_mean(text, words.iter().copied())),
        Kind::Name(domain) => {
            inside(path, domain, text, names)?;
            Ok(Value::Text(text.to_owned()))
        }
        Kind::Text => Ok(Value::Text(text.to_owned())),
        Kind::Setting => setting_value(path, text),
        Kind::List(_) | Kind::Set(_) | Kind::Messages => Err(never(path, text)),
    }
}

/// Reads a list.
///
/// # Errors
/// As [`single`].
pub fn list(path: &Path, items: &[&str], names: &Names) -> Result<Value, Mistake> {
    match path.kind() {
        Kind::List(domain) | Kind::Set(domain) => {
            for item in items {
                inside(path, domain, item, names)?;
            }
            let items = items.iter().map(|item| (*item).to_owned()).collect();
            Ok(sorted(path.kind(), Value::List(items)))
        }
        Kind::Setting => setting_value(path, &items.join(",")),
        _ => Err(never(path, &format!("[{}]", items.join(", ")))),
    }
}

/// A set's items in order; any other value as it is. Numbers are ordered as numbers.
#[must_use]
pub fn sorted(kind: Kind, value: Value) -> Value {
    match value {
        Value::List(mut items) if matches!(kind, Kind::Set(_)) => {
            items.sort_by(|left, right| {
                let numbers = left.parse::<u64>().ok().zip(right.parse::<u64>().ok());
                numbers.map_or_else(|| left.cmp(right), |(left, right)| left.cmp(&right))
            });
            Value::List(items)
        }
        other => other,
    }
}

fn inside(path: &Path, domain: Domain, name: &str, names: &Names) -> Result<(), Mistake> {
    domain.check(name, names).map_err(|outside| {
        let message = match path.kind() {
            Kind::Name(_) => format!("`{}` is never `{name}`", path.text),
            _ => format!("`{}` never has `{name}` in it", path.text),
        };
        let mistake = Mistake::new(Code::BadValue, 0, 0, message);
        let mistake = mistake.note(format!("there are: {}", outside.has));
        mistake.did_you_mean(name, outside.near.as_deref())
    })
}

fn setting(path: &Path) -> Option<&'static crate::catalog::Setting> {
    let name = path.segments.last().map_or("", String::as_str);
    settings::find(name, settings::scope_of_path(path.row.pattern))
}

fn setting_value(path: &Path, text: &str) -> Result<Value, Mistake> {
    let Some(found) = setting(path) else { return Ok(Value::Text(text.to_owned())) };
    if found.accepts(text) {
        return Ok(super::lookup::setting_value(found, text));
    }
    let message = format!("`{}` is never `{text}`; it is {}", path.text, found.accepted());
    Err(Mistake::new(Code::BadValue, 0, 0, message))
}

/// The mistake of a value that is not of the observable's type.
fn never(path: &Path, text: &str) -> Mistake {
    let message = format!("`{}` is never `{text}`; it is {}", path.text, path.kind().describe());
    Mistake::new(Code::BadValue, 0, 0, message)
}
