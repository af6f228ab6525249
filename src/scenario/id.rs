//! Ids such as `00.1.2` and slugs such as `write-path`: texts, never numbers.

/// Whether a text is numbers joined by dots.
#[must_use]
pub fn is_id(text: &str) -> bool {
    text.len() <= 40
        && text.split('.').all(|part| {
            !part.is_empty() && part.len() <= 9 && part.bytes().all(|byte| byte.is_ascii_digit())
        })
}

/// Whether a text is small letters, digits and hyphens.
#[must_use]
pub fn is_slug(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= 100
        && text.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-'))
}

/// What ids are sorted by: their numbers, so that `00.1.10` follows `00.1.9`.
#[must_use]
pub fn order(id: &str) -> Vec<u64> {
    id.split('.').map(|part| part.parse().unwrap_or(u64::MAX)).collect()
}

/// The chapter's part of a scenario's id, if it has one.
#[must_use]
pub fn chapter_of(id: &str) -> Option<&str> {
    id.rsplit_once('.').map(|(chapter, _)| chapter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_ordered_by_their_numbers() {
        let mut ids = ["00.1.10", "00.1.9", "01.1.1", "00.2.1", "00.1.1"];
        ids.sort_by_key(|id| order(id));
        assert_eq!(ids, ["00.1.1", "00.1.9", "00.1.10", "00.2.1", "01.1.1"]);
    }

    #[test]
    fn ids_and_slugs_are_narrow() {
        assert!(is_id("00.1.2") && is_id("7") && is_slug("write-path-2"));
        for wrong in ["", "1.", ".1", "1..2", "a.1", "1.-2", "1 .2"] {
            assert!(!is_id(wrong), "{wrong}");
        }
        for wrong in ["", "Write", "a_b", "a b", "ä", "a/b", ".."] {
            assert!(!is_slug(wrong), "{wrong}");
        }
    }
}
