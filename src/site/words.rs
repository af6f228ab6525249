//! Small conversions for the words of the pages.

use pulldown_cmark_escape::escape_html;

/// Milliseconds as the pages print them: `1.400 s`.
#[must_use]
pub fn seconds(time_ms: u64) -> String {
    format!("{}.{:03} s", time_ms / 1000, time_ms % 1000)
}

/// Plain text as HTML that may break after the dots and low lines of its names:
/// `NETWORK_<wbr>EXCEPTION`, `min.<wbr>insync.<wbr>replicas`. Numbers and sentences stay whole.
#[must_use]
pub fn breakable(plain: &str) -> String {
    let mut html = String::new();
    let mut from = 0;
    for (at, mark) in plain.match_indices(['.', '_']) {
        let after = at + mark.len();
        if plain[after..].starts_with(char::is_alphabetic) {
            html += &escaped(&plain[from..after]);
            html += "<wbr>";
            from = after;
        }
    }
    html + &escaped(&plain[from..])
}

/// A plain sentence as HTML with the names of settings and values in it as code:
/// `is <code>by_<wbr>duration</code> since 4.0`.
#[must_use]
pub fn coded(plain: &str) -> String {
    let word = |word: &str| {
        let html = breakable(word);
        if html.contains("<wbr>") { format!("<code>{html}</code>") } else { html }
    };
    plain.split(' ').map(word).collect::<Vec<_>>().join(" ")
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

/// The first sentence of a text.
#[must_use]
pub fn first_sentence(plain: &str) -> String {
    let plain = plain.trim();
    plain.find(". ").map_or(plain, |at| &plain[..=at]).to_owned()
}

/// A plain text as HTML.
#[must_use]
pub fn escaped(plain: &str) -> String {
    let mut html = String::with_capacity(plain.len());
    escape_html(&mut html, plain).expect("a String takes every write");
    html
}

#[cfg(test)]
mod tests {
    use super::{breakable, coded};

    #[test]
    fn names_in_a_sentence_are_code() {
        assert_eq!(coded("as a_b since 4.0;"), "as <code>a_<wbr>b</code> since 4.0;");
    }

    #[test]
    fn names_may_break_after_dots_and_low_lines_and_numbers_may_not() {
        for (plain, expected) in [
            ("NETWORK_EXCEPTION", "NETWORK_<wbr>EXCEPTION"),
            ("acks.a < 1.5", "acks.<wbr>a &lt; 1.5"),
            ("One. Two_", "One. Two_"),
        ] {
            assert_eq!(breakable(plain), expected);
        }
    }
}
