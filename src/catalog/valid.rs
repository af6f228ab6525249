//! What Kafka accepts beyond a value's type, read once from what Kafka's validators print.

use serde::Deserialize;

/// The accepted values of a setting.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum Valid {
    /// Everything of the type.
    #[default]
    Any,
    /// Numbers from `min` up to and with `max`, and one number besides.
    Range {
        /// The smallest.
        min: i64,
        /// The largest; `None`: as large as the type.
        max: Option<i64>,
        /// A number outside that has a meaning of its own.
        or: Option<i64>,
    },
    /// One of these words; of a list: each item is one of these words.
    OneOf {
        /// The words, as Kafka prints them.
        words: Vec<String>,
        /// Whether `by_duration:` with an ISO 8601 duration is accepted too.
        duration: bool,
    },
    /// One of these words in any letter case.
    OneOfAnyCase(Vec<String>),
    /// A text that is not empty.
    NotEmpty,
    /// `*`, or pairs such as `0:1,0:2` of a partition and a broker; also nothing.
    PartitionBrokers,
    /// Consumers' assignors, by class name or by their short names.
    Assignors,
}

/// The prefix of a reset by time: `by_duration:PT1H`.
pub(super) const BY_DURATION: &str = "by_duration:";

/// Package of Kafka's assignors.
const ASSIGNOR_PACKAGE: &str = "org.apache.kafka.clients.consumer.";

/// Short names of Kafka's assignors with their classes.
const ASSIGNORS: [(&str, &str); 4] = [
    ("range", "RangeAssignor"),
    ("roundrobin", "RoundRobinAssignor"),
    ("sticky", "StickyAssignor"),
    ("cooperative-sticky", "CooperativeStickyAssignor"),
];

/// The short name of an assignor that is given by its class or its short name.
pub(super) fn assignor(text: &str) -> Option<&'static str> {
    let found = ASSIGNORS.iter().find(|(short, class)| {
        *short == text || text.strip_prefix(ASSIGNOR_PACKAGE).is_some_and(|name| name == *class)
    });
    found.map(|(short, _)| *short)
}

impl TryFrom<String> for Valid {
    type Error = String;

    /// Reads what a validator prints: `[0,...]`, `[1,...,9] or -1`, `[all, -1, 0, 1]`.
    fn try_from(text: String) -> Result<Valid, String> {
        let unknown = || format!("a validator that nobody can read: {text}");
        if let Some(rest) = text.strip_prefix("(case insensitive) ") {
            return Ok(Valid::OneOfAnyCase(words(rest).ok_or_else(unknown)?));
        }
        match text.as_str() {
            "non-empty string" | "non-empty list" => return Ok(Valid::NotEmpty),
            "assignors" => return Ok(Valid::Assignors),
            pairs if pairs.starts_with("[partitionId]") => return Ok(Valid::PartitionBrokers),
            _ => {}
        }
        if let Some(range) = range(&text) {
            return Ok(range);
        }
        let mut words = words(&text).ok_or_else(unknown)?;
        let before = words.len();
        words.retain(|word| !word.starts_with(BY_DURATION));
        let duration = words.len() < before;
        Ok(Valid::OneOf { words, duration })
    }
}

/// The words of `[a, b]`.
fn words(text: &str) -> Option<Vec<String>> {
    let inner = text.strip_prefix('[')?.strip_suffix(']')?;
    Some(inner.split(',').map(|word| word.trim().to_owned()).collect())
}

/// The range of `[1,...]`, `[1,...,9]` or `[1,...,9] or -1`.
fn range(text: &str) -> Option<Valid> {
    let (range, or) = match text.split_once("] or ") {
        Some((range, or)) => (range, Some(or.parse().ok()?)),
        None => (text.strip_suffix(']')?, None),
    };
    let (min, max) = range.strip_prefix('[')?.split_once(",...")?;
    let max = match max.strip_prefix(',') {
        Some(max) => Some(max.parse().ok()?),
        None => None,
    };
    Some(Valid::Range { min: min.parse().ok()?, max, or })
}

impl Valid {
    /// Whether a number is accepted.
    pub(super) fn accepts_number(&self, number: i64) -> bool {
        match self {
            Valid::Range { min, max, or } => {
                *or == Some(number) || (number >= *min && max.is_none_or(|max| number <= max))
            }
            _ => true,
        }
    }

    /// Whether a number with a fraction is accepted.
    #[expect(clippy::cast_precision_loss, reason = "bounds of such settings are 0 and 1")]
    pub(super) fn accepts_fraction(&self, number: f64) -> bool {
        match self {
            Valid::Range { min, max, .. } => {
                number >= *min as f64 && max.is_none_or(|max| number <= max as f64)
            }
            _ => true,
        }
    }

    /// Whether a text, or an item of a list, is accepted.
    pub(super) fn accepts_text(&self, text: &str) -> bool {
        match self {
            Valid::Any | Valid::Range { .. } => true,
            Valid::OneOf { words, duration } => {
                words.iter().any(|word| word == text)
                    || (*duration && text.strip_prefix(BY_DURATION).is_some_and(is_duration))
            }
            Valid::OneOfAnyCase(words) => words.iter().any(|word| word.eq_ignore_ascii_case(text)),
            Valid::NotEmpty => !text.is_empty(),
            Valid::PartitionBrokers => text == "*" || is_partition_broker(text),
            Valid::Assignors => assignor(text).is_some(),
        }
    }

    /// The accepted words, for "did you mean"; empty where anything goes.
    pub(super) fn candidates(&self) -> Vec<&str> {
        match self {
            Valid::OneOf { words, .. } | Valid::OneOfAnyCase(words) => {
                words.iter().map(String::as_str).collect()
            }
            Valid::Assignors => ASSIGNORS.iter().map(|(short, _)| *short).collect(),
            _ => Vec::new(),
        }
    }

    /// What is accepted beyond the type, in words that follow the type's; empty for everything.
    pub(super) fn words(&self) -> String {
        match self {
            Valid::Any => String::new(),
            Valid::Range { min, max, or } => {
                let largest = max.filter(|max| *max < i64::from(i32::MAX));
                let range = match largest {
                    Some(max) => format!("from {min} to {max}"),
                    None => format!("{min} or more"),
                };
                or.map_or(range.clone(), |or| format!("{range}, or {or}"))
            }
            Valid::OneOf { duration, .. } => {
                let mut words = self.candidates();
                if *duration {
                    words.push("by_duration: with an ISO 8601 duration (by_duration:PT1H)");
                }
                any_of(&words)
            }
            Valid::OneOfAnyCase(words) => {
                let lower: Vec<String> = words.iter().map(|word| word.to_lowercase()).collect();
                any_of(&lower.iter().map(String::as_str).collect::<Vec<_>>())
            }
            Valid::NotEmpty => "not empty".to_owned(),
            Valid::PartitionBrokers => "`*`, or pairs partition:broker such as 0:1,0:2".to_owned(),
            Valid::Assignors => {
                let mut words = self.candidates();
                words.push("their class names");
                any_of(&words)
            }
        }
    }
}

/// `a, b or c`.
pub(super) fn any_of(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

fn is_partition_broker(text: &str) -> bool {
    let number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    text.split_once(':').is_some_and(|(partition, broker)| number(partition) && number(broker))
}

/// Whether this is a duration as Java reads it, and not negative: `PnDTnHnMn.nS`.
fn is_duration(text: &str) -> bool {
    let text = text.to_ascii_uppercase();
    let Some(rest) = text.strip_prefix('P') else { return false };
    let (days, time) = match rest.split_once('T') {
        Some((days, time)) => (days, Some(time)),
        None => (rest, None),
    };
    let days_fit = days.is_empty() || parts_fit(days, "D");
    match time {
        Some(time) => days_fit && parts_fit(time, "HMS"),
        None => !days.is_empty() && days_fit,
    }
}

/// Whether the text is one or more numbers, each with a unit of these, in this order.
fn parts_fit(text: &str, units: &str) -> bool {
    let mut units = units.chars();
    let mut rest = text;
    while let Some(end) = rest.find(|c: char| c.is_ascii_uppercase()) {
        let (number, unit) = (&rest[..end], rest.as_bytes()[end] as char);
        if !units.any(|known| known == unit) || !is_number(number, unit) {
            return false;
        }
        rest = &rest[end + 1..];
    }
    rest.is_empty() && !text.is_empty()
}

/// Digits, and for seconds up to nine more behind a dot.
fn is_number(text: &str, unit: char) -> bool {
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    match text.split_once('.') {
        Some((whole, fraction)) => {
            unit == 'S' && digits(whole) && digits(fraction) && fraction.len() <= 9
        }
        None => digits(text),
    }
}
