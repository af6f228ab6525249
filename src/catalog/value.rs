//! Values of settings: read by the setting's type, written in one way, compared.

use std::cmp::Ordering;

use super::setting::{Setting, ValueType};
use super::valid::{Valid, assignor};

impl ValueType {
    /// Whether the text is a value of this type, by Kafka's own rules (blanks around it are cut).
    #[must_use]
    pub fn accepts(self, text: &str) -> bool {
        let text = text.trim();
        match self {
            ValueType::Boolean => {
                text.eq_ignore_ascii_case("true") || text.eq_ignore_ascii_case("false")
            }
            ValueType::Short => text.parse::<i16>().is_ok(),
            ValueType::Int => text.parse::<i32>().is_ok(),
            ValueType::Long => text.parse::<i64>().is_ok(),
            ValueType::Double => text.parse::<f64>().is_ok_and(f64::is_finite),
            ValueType::String | ValueType::List | ValueType::Class => true,
        }
    }

    /// The type in words: `a whole number`.
    #[must_use]
    pub fn in_words(self) -> &'static str {
        match self {
            ValueType::Boolean => "true or false",
            ValueType::Short | ValueType::Int | ValueType::Long => "a whole number",
            ValueType::Double => "a number",
            ValueType::String => "a text",
            ValueType::List => "a list, separated by commas",
            ValueType::Class => "a class name",
        }
    }

    /// The largest whole number of this type, for types that have one.
    #[must_use]
    pub fn max(self) -> Option<i64> {
        match self {
            ValueType::Short => Some(i64::from(i16::MAX)),
            ValueType::Int => Some(i64::from(i32::MAX)),
            ValueType::Long => Some(i64::MAX),
            _ => None,
        }
    }
}

/// The items of a list's text; none for an empty text.
pub(super) fn items(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|item| !item.is_empty())
}

/// The one way to write a value of this setting, so that equal values are equal texts: `TRUE` is
/// `true`, `007` is `7`, `acks=-1` is `all`, an assignor is its short name. A text that is not of
/// the setting's type stays as it is.
#[must_use]
pub fn canonical(setting: &Setting, text: &str) -> String {
    let text = text.trim();
    let number = || text.parse::<i64>().map_or_else(|_| text.to_owned(), |it| it.to_string());
    match setting.value_type {
        ValueType::Boolean => text.to_ascii_lowercase(),
        ValueType::Short | ValueType::Int | ValueType::Long => number(),
        ValueType::Double => {
            text.parse::<f64>().map_or_else(|_| text.to_owned(), |it| it.to_string())
        }
        ValueType::List => {
            let items: Vec<String> =
                items(text).map(|item| canonical_text(setting, item)).collect();
            items.join(",")
        }
        ValueType::String | ValueType::Class => canonical_text(setting, text),
    }
}

fn canonical_text(setting: &Setting, text: &str) -> String {
    match &setting.valid {
        Valid::OneOfAnyCase(_) => text.to_lowercase(),
        Valid::Assignors => assignor(text).unwrap_or(text).to_owned(),
        Valid::OneOf { .. } if setting.name == "acks" && text == "-1" => "all".to_owned(),
        _ => text.to_owned(),
    }
}

/// Compares two values of this setting: numbers as numbers, all others as canonical texts.
#[must_use]
pub fn compare(setting: &Setting, left: &str, right: &str) -> Ordering {
    let (left, right) = (canonical(setting, left), canonical(setting, right));
    match setting.value_type {
        ValueType::Short | ValueType::Int | ValueType::Long => {
            match (left.parse::<i64>(), right.parse::<i64>()) {
                (Ok(left), Ok(right)) => left.cmp(&right),
                _ => left.cmp(&right),
            }
        }
        ValueType::Double => match (left.parse::<f64>(), right.parse::<f64>()) {
            (Ok(left), Ok(right)) => left.total_cmp(&right),
            _ => left.cmp(&right),
        },
        _ => left.cmp(&right),
    }
}
