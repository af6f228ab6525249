//! Numbers of settings as people say them: `604800000` of a setting in milliseconds is `7 days`.

use super::setting::{Setting, ValueType};

/// The value in words, where these say more than the number: a time, a size, or no limit.
#[must_use]
pub fn in_words(setting: &Setting, text: &str) -> Option<String> {
    let number: i64 = text.trim().parse().ok()?;
    let largest = match setting.value_type {
        ValueType::Int => i64::from(i32::MAX),
        ValueType::Long => i64::MAX,
        _ => return None,
    };
    let name = setting.name.as_str();
    if number == largest || (number == -1 && name.contains("retention.")) {
        return Some("no limit".to_owned());
    }
    if name.ends_with(".ms") {
        return time(number);
    }
    let sizes = ["bytes", "batch.size", "buffer.size", "buffer.memory", "request.size"];
    sizes.iter().any(|ending| name.ends_with(ending)).then(|| size(number))?
}

/// Seconds, minutes, hours or days, whichever is the largest that gives a whole number.
fn time(ms: i64) -> Option<String> {
    let units = [("day", 86_400_000), ("hour", 3_600_000), ("minute", 60_000), ("second", 1_000)];
    let (unit, count) = whole(ms, &units)?;
    Some(if count == 1 { format!("1 {unit}") } else { format!("{count} {unit}s") })
}

/// GiB, MiB or KiB, whichever is the largest that gives a whole number.
fn size(bytes: i64) -> Option<String> {
    let (unit, count) = whole(bytes, &[("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)])?;
    Some(format!("{count} {unit}"))
}

fn whole<'a>(number: i64, units: &[(&'a str, i64)]) -> Option<(&'a str, i64)> {
    let found = units.iter().find(|(_, size)| number >= *size && number % size == 0)?;
    Some((found.0, number / found.1))
}
