//! Durations as authors write them: `900ms`, `1.4s`, `0`. In whole milliseconds; nothing is
//! rounded.

const UNITS: [(&str, u64); 5] =
    [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)];

/// What a message says about durations beside what is wrong with this one.
#[must_use]
pub fn expected(text: &str) -> &'static str {
    if text.ends_with(|last: char| last.is_ascii_alphabetic()) && text.contains('.') {
        "the simulator counts in whole milliseconds: `900ms`, `1.4s`"
    } else {
        "a duration carries a unit: ms, s, m, h or d, as in `900ms` or `1.4s`"
    }
}

/// Reads a duration, in milliseconds.
///
/// # Errors
/// A clause that says what is wrong with the text.
pub fn parse(text: &str) -> Result<u64, String> {
    if text == "0" {
        return Ok(0);
    }
    let digits = text.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
    let (number, unit) = text.split_at(digits);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() || number.ends_with('.') || fraction.contains('.') {
        return Err(format!("`{text}` is not a duration"));
    }
    if unit.is_empty() {
        return Err(format!("`{text}` has no unit"));
    }
    let Some((_, factor)) = UNITS.iter().find(|(name, _)| *name == unit) else {
        return Err(format!("`{unit}` is not a unit of time"));
    };
    let fraction = fraction.trim_end_matches('0');
    if fraction.len() > 8 {
        return Err(format!("`{text}` is finer than 1 ms"));
    }
    let too_long = || format!("`{text}` is too long");
    let scale = 10_u64.pow(u32::try_from(fraction.len()).expect("at most 8 digits"));
    let part: u64 =
        if fraction.is_empty() { 0 } else { fraction.parse().map_err(|_| too_long())? };
    if !(part * factor).is_multiple_of(scale) {
        return Err(format!("`{text}` is finer than 1 ms"));
    }
    let whole: u64 = whole.parse().map_err(|_| too_long())?;
    whole
        .checked_mul(*factor)
        .and_then(|whole| whole.checked_add(part * factor / scale))
        .filter(|total| i64::try_from(*total).is_ok())
        .ok_or_else(too_long)
}

/// Reads a duration that may have a minus sign, in milliseconds.
///
/// # Errors
/// As [`parse`].
pub fn parse_signed(text: &str) -> Result<i64, String> {
    let (sign, rest) = text.strip_prefix('-').map_or((1, text), |rest| (-1, rest));
    let length = i64::try_from(parse(rest)?).expect("parse keeps within i64");
    Ok(sign * length)
}

/// Writes milliseconds with the largest unit that needs no more than three decimals: `1.4s`.
#[must_use]
pub fn display(ms: u64) -> String {
    if ms < 1_000 {
        return format!("{ms}ms");
    }
    let decimals = format!("{:03}", ms % 1_000);
    let decimals = decimals.trim_end_matches('0');
    let point = if decimals.is_empty() { "" } else { "." };
    format!("{}{point}{decimals}s", ms / 1_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_whole_milliseconds() {
        for (text, ms) in [
            ("0", 0),
            ("900ms", 900),
            ("1.4s", 1_400),
            ("0.001s", 1),
            ("1.500s", 1_500),
            ("1.5m", 90_000),
            ("2h", 7_200_000),
            ("30d", 2_592_000_000),
        ] {
            assert_eq!(parse(text), Ok(ms), "{text}");
        }
        assert_eq!(parse_signed("-8d"), Ok(-691_200_000));
    }

    #[test]
    fn what_is_no_duration_says_why() {
        for (text, reason) in [
            ("900", "has no unit"),
            ("0.5ms", "finer than 1 ms"),
            ("1.0005s", "finer than 1 ms"),
            ("5 s", "not a unit"),
            ("5sec", "not a unit"),
            ("s", "not a duration"),
            ("1.s", "not a duration"),
            ("1.2.3s", "not a duration"),
            ("-1s", "not a duration"),
            ("", "not a duration"),
            ("99999999999999999999s", "too long"),
            ("99999999999999999d", "too long"),
        ] {
            let error = parse(text).expect_err(text);
            assert!(error.contains(reason), "{text}: {error}");
        }
    }

    #[test]
    fn milliseconds_print_as_they_are_written() {
        assert_eq!(display(1_400), "1.4s");
        assert_eq!(display(900), "900ms");
        assert_eq!(display(60_000), "60s");
    }
}
