//! The warning about bare numbers: a number in a step's text that the simulator does not vouch for.

use std::ops::Range;

use pulldown_cmark::{Event, Parser, Tag, TagEnd};

/// Words that a number after them makes a name: `broker 1`, `Kafka 4.3`.
const NAMING: &[&str] = &["broker", "brokers", "kafka", "version", "step", "steps", "kip", "java"];

/// What may stand at the end of a number and leaves it one.
const UNITS: &[&str] = &[
    "ms", "us", "ns", "s", "sec", "m", "min", "h", "d", "x", "st", "nd", "rd", "th", "k", "b",
    "kb", "mb", "gb", "kib", "mib", "gib",
];

/// The bare numbers of a Markdown text, as bytes: neither `{{ }}` nor code nor part of a name.
pub fn bare_numbers(text: &str) -> Vec<Range<usize>> {
    let blanked = without_values(text);
    let mut found = Vec::new();
    let mut code_depth = 0;
    for (event, range) in Parser::new(&blanked).into_offset_iter() {
        match event {
            Event::Start(Tag::CodeBlock(_)) => code_depth += 1,
            Event::End(TagEnd::CodeBlock) => code_depth -= 1,
            Event::Text(_) if code_depth == 0 => numbers_in(&blanked, range, &mut found),
            _ => {}
        }
    }
    found
}

/// The text with every `{{ }}` replaced by as many letters, so that places stay.
fn without_values(text: &str) -> String {
    let mut blanked = text.to_owned();
    let mut from = 0;
    while let Some(at) = blanked[from..].find("{{").map(|at| from + at) {
        let end = blanked[at..].find("}}").map_or(blanked.len(), |length| at + length + 2);
        blanked.replace_range(at..end, &"x".repeat(end - at));
        from = end;
    }
    blanked
}

fn numbers_in(text: &str, range: Range<usize>, found: &mut Vec<Range<usize>>) {
    let mut at = range.start;
    let glue = |character: char| character.is_alphanumeric() || "-_./=:@#".contains(character);
    while at < range.end {
        let rest = &text[at..range.end];
        let length = rest.find(|character| !glue(character)).unwrap_or(rest.len());
        if length == 0 {
            at += rest.chars().next().map_or(1, char::len_utf8);
            continue;
        }
        let word = rest[..length].trim_end_matches(['.', ':', '-', '/', '=']);
        if is_number(word) && !is_named(&text[..at]) {
            found.push(at..at + word.len());
        }
        at += length;
    }
}

/// Digits of any script, alone or with signs between them, and perhaps a unit: `42`, `1.4`, `1/2`
/// or `300ms`; not `order-17`.
fn is_number(word: &str) -> bool {
    let word = word.strip_prefix('-').unwrap_or(word);
    let letter = |character: char| character.is_alphabetic() && !character.is_numeric();
    let number = word.trim_end_matches(letter);
    let unit = &word[number.len()..];
    number.starts_with(char::is_numeric)
        && !number.contains(letter)
        && (unit.is_empty() || UNITS.contains(&unit.to_lowercase().as_str()))
}

/// Whether the word before makes a name of what follows.
fn is_named(before: &str) -> bool {
    let word = before.trim_end().rsplit(|character: char| !character.is_alphanumeric()).next();
    word.is_some_and(|word| NAMING.contains(&word.to_lowercase().as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bare(text: &str) -> Vec<&str> {
        bare_numbers(text).into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn numbers_that_nothing_vouches_for_are_found() {
        assert_eq!(bare("The log ends at 1, the 42 others wait 300ms."), ["1", "42", "300ms"]);
        assert_eq!(bare("Epoch 0, then 1.5 s."), ["0", "1.5"]);
        assert_eq!(
            bare("Of \u{ff11}\u{ff12} and \u{0664}, \u{00bd} are lost."),
            ["\u{ff11}\u{ff12}", "\u{0664}", "\u{00bd}"]
        );
        assert_eq!(bare("After 1_000 records 1/2 of 10MB is left."), ["1_000", "1/2", "10MB"]);
    }

    #[test]
    fn values_code_and_names_are_not() {
        for text in [
            "It ends at {{ partitions.orders-0.log_end_offset }}.",
            "`linger.ms=5` and `42`",
            "KIP-966 came with Kafka 4.3, as order-17 did.",
            "Broker 1 and broker-2 lead orders-0; acks=1.",
            "1. an item\n2. another\n",
            "[a link](https://example.org/42)",
            "```\n42\n```\n",
        ] {
            assert_eq!(bare(text), [] as [&str; 0], "{text}");
        }
    }
}
