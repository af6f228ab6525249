//! The words of a sequence diagram: what a message is called, and which are alike. Knows no order
//! and no coordinates.

use crate::diagram::message;
use crate::sim::snapshot::MessageView;

/// What a message says, in a few words.
pub(super) fn words(message: &MessageView) -> String {
    if let Some(words) = message::words(message) {
        return words;
    }
    let kind = base(message.kind);
    // Where the message has nothing to tell but its kind, Kafka's own name says it best.
    let plain = kind.replace('_', " ");
    match message.carries.strip_prefix(&plain) {
        Some("") => api_name(kind),
        Some(" reply") => format!("{} reply", api_name(kind)),
        _ => message.carries.clone(),
    }
}

/// The request that a kind of message is, or answers.
pub(super) fn base(kind: &str) -> &str {
    kind.strip_suffix("_response").unwrap_or(kind)
}

/// Whether it is an answer.
pub(super) fn is_answer(message: &MessageView) -> bool {
    message.kind.ends_with("_response")
}

/// `join_group` as `JoinGroup`.
pub(super) fn api_name(kind: &str) -> String {
    let capital = |part: &str| {
        let mut letters = part.chars();
        letters.next().map_or_else(String::new, |first| {
            first.to_uppercase().collect::<String>() + letters.as_str()
        })
    };
    kind.split('_').map(capital).collect()
}

/// A text with each number replaced by a sign, so that texts that differ in numbers alone are
/// equal. Numbers that are part of a name (`orders-0`, `broker-1`) are kept.
pub(super) fn alike(text: &str) -> String {
    let is_number = |word: &str| {
        let digits = word.trim_matches(|c: char| !c.is_alphanumeric());
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    let words = text.split(' ').map(|word| if is_number(word) { "#" } else { word });
    words.collect::<Vec<_>>().join(" ")
}

/// The last of a text's numbers.
fn last_number(text: &str) -> Option<&str> {
    let words = text.rsplit(' ').map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    words.into_iter().find(|word| !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit()))
}

/// One text for several that are alike: `ack: offset 0 … 49`, `orders-0 log end 0 → 50`.
pub(super) fn merged(first: &str, last: &str) -> String {
    if first == last {
        return first.to_owned();
    }
    if let (Some((start, _)), Some((_, end))) = (first.rsplit_once(" → "), last.rsplit_once(" → "))
    {
        return format!("{start} → {end}");
    }
    match last_number(last) {
        Some(number) if first.ends_with(char::is_numeric) => format!("{first} … {number}"),
        _ => first.to_owned(),
    }
}

/// `1 heartbeat`, `2 heartbeats`, `2 metadata fetches`, `2 questions for versions`.
pub(super) fn counted(count: usize, noun: &str) -> String {
    let attribute = [" of ", " for "].into_iter().find_map(|word| noun.find(word));
    let (noun, attribute) = noun.split_at(attribute.unwrap_or(noun.len()));
    let ending = match (count, noun.ends_with("ch")) {
        (1, _) => "",
        (_, true) => "es",
        _ => "s",
    };
    format!("{count} {noun}{ending}{attribute}")
}

/// A time as pages print it: `1.400 s`.
pub(super) fn seconds(time_ms: u64) -> String {
    format!("{}.{:03} s", time_ms / 1000, time_ms % 1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_several_is_its_noun_and_not_what_it_is_about() {
        assert_eq!(counted(3, "fetch of internal topics"), "3 fetches of internal topics");
        assert_eq!(counted(1, "question for versions"), "1 question for versions");
    }

    #[test]
    fn texts_that_differ_in_numbers_alone_are_alike_and_names_are_not_numbers() {
        assert_eq!(alike("fetch from 3"), alike("fetch from 14"));
        assert_eq!(alike("orders-0 log end 0 → 1"), "orders-0 log end # → #");
        assert_ne!(alike("orders-0 log end 0 → 1"), alike("orders-1 log end 0 → 1"));
        assert_eq!(alike("goes again in 100 ms: X"), alike("goes again in 200 ms: X"));
    }

    #[test]
    fn what_is_folded_says_where_it_begins_and_ends() {
        assert_eq!(merged("ack: offset 0", "ack: offset 49"), "ack: offset 0 … 49");
        assert_eq!(merged("o-0 log end 0 → 1", "o-0 log end 49 → 50"), "o-0 log end 0 → 50");
        assert_eq!(merged("empty reply", "empty reply"), "empty reply");
        assert_eq!(merged("[1] is in", "[2] is in"), "[1] is in");
    }

    #[test]
    fn kinds_have_kafkas_names() {
        assert_eq!(api_name("find_coordinator"), "FindCoordinator");
        assert_eq!(base("join_group_response"), "join_group");
    }
}
