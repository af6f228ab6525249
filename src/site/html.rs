//! Reads finished HTML for what its checks need: ids, links, and what a page may not hold. Not a
//! parser: it knows tags, attributes, comments, and the elements whose content is plain text.

use std::collections::BTreeSet;

/// What is found in a page, in order.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Marks<'a> {
    /// Every `id`.
    pub ids: Vec<&'a str>,
    /// Every `href` and `src`, as written.
    pub links: Vec<&'a str>,
    /// What the page may not hold.
    pub faults: Vec<Fault>,
}

/// What breaks the promise of every page: no mark-up that its own policy stops, nothing from
/// another site, no id twice.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fault {
    /// What is wrong.
    pub message: String,
    /// How it is written, for finding its place in a template.
    pub needle: String,
}

/// Elements whose content is text, not tags, as they are closed.
const RAW: [(&str, &str); 4] = [
    ("script", "</script"),
    ("style", "</style"),
    ("textarea", "</textarea"),
    ("title", "</title"),
];

/// Finds the ids, links and faults of a page. Every byte of the site passes here: nothing is
/// copied, and names are compared as they stand.
#[must_use]
pub fn marks(text: &str) -> Marks<'_> {
    let mut marks = Marks::default();
    let mut tag = Tag::default();
    let mut rest = text;
    while let Some(at) = find(rest, b'<') {
        rest = &rest[at..];
        if let Some(comment) = rest.strip_prefix("<!--") {
            rest = after(comment, "-->");
            continue;
        }
        let name_len = rest[1..].bytes().take_while(u8::is_ascii_alphanumeric).count();
        tag.name = &rest[1..=name_len];
        rest = &rest[1 + name_len..];
        if tag.name.is_empty() {
            continue;
        }
        tag.attributes.clear();
        rest = attributes(rest, &mut tag.attributes);
        tag.look(&mut marks);
        if let Some((_, end)) = RAW.iter().find(|(name, _)| tag.is(name)) {
            rest = rest.find(end).map_or("", |end| &rest[end..]);
        }
    }
    let mut seen = BTreeSet::new();
    for id in &marks.ids {
        if !seen.insert(id) {
            let message = format!("the id `{id}` stands twice in one page");
            marks.faults.push(Fault { message, needle: format!("id=\"{id}\"") });
        }
    }
    marks
}

#[derive(Default)]
struct Tag<'a> {
    name: &'a str,
    attributes: Vec<(&'a str, &'a str)>,
}

impl<'a> Tag<'a> {
    fn look(&self, marks: &mut Marks<'a>) {
        let mut fault = |message: String, needle: &str| {
            marks.faults.push(Fault { message, needle: needle.to_owned() });
        };
        if self.is("style") {
            fault("a `style` element is stopped by the page's policy".into(), "<style");
        } else if self.is("base") {
            fault("a `base` element turns every link of the page".into(), "<base");
        } else if self.is("script") && self.value("src").is_none() && !self.is_data() {
            fault("a script inside the page is stopped by its policy".into(), "<script");
        }
        for (name, value) in &self.attributes {
            let is = |other: &str| name.eq_ignore_ascii_case(other);
            if is("style") || (name.len() > 2 && starts_with(name, "on")) {
                let message = format!("the attribute `{name}` is stopped by the page's policy");
                fault(message, &format!("{name}="));
            }
            let address = ["src", "href", "xlink:href", "data", "poster"].into_iter().any(is);
            if (address || ends_with(name, "action"))
                && starts_with(value.trim_start(), "javascript:")
            {
                fault(format!("`{value}` is a script in an address"), value);
            } else if address && self.is_resource() && is_elsewhere(value) {
                fault(format!("`{value}` would be loaded from outside of the site"), value);
            }
            if is("id") {
                marks.ids.push(value);
            } else if (is("href") || is("src")) && !self.is("base") {
                marks.links.push(value);
            }
        }
    }

    fn is(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name)
    }

    fn value(&self, name: &str) -> Option<&'a str> {
        let found = self.attributes.iter().find(|(it, _)| it.eq_ignore_ascii_case(name));
        found.map(|(_, value)| *value)
    }

    /// Whether a script is data and never runs.
    fn is_data(&self) -> bool {
        matches!(self.value("type"), Some("application/json" | "application/ld+json"))
    }

    /// Whether the browser loads what the tag names by itself.
    fn is_resource(&self) -> bool {
        if self.is("a") || self.is("area") {
            return false;
        }
        // `canonical` and its kind only name an address.
        let loaded = ["stylesheet", "icon", "preload", "modulepreload", "manifest"];
        !self.is("link")
            || self
                .value("rel")
                .is_some_and(|rel| rel.split_whitespace().any(|it| loaded.contains(&it)))
    }
}

/// Where a byte of ASCII first stands. Between two tags there is little text: a plain loop is
/// faster than a search that is made for long ones.
fn find(text: &str, byte: u8) -> Option<usize> {
    text.bytes().position(|it| it == byte)
}

/// Whether a text starts with a lower-case one, in any case.
fn starts_with(text: &str, start: &str) -> bool {
    text.get(..start.len()).is_some_and(|it| it.eq_ignore_ascii_case(start))
}

/// Whether a text ends with a lower-case one, in any case.
fn ends_with(text: &str, end: &str) -> bool {
    let at = text.len().checked_sub(end.len());
    at.and_then(|at| text.get(at..)).is_some_and(|it| it.eq_ignore_ascii_case(end))
}

/// Whether an address names its own scheme or host.
fn is_elsewhere(address: &str) -> bool {
    let address = address.trim();
    let scheme = address.split(['/', '?', '#']).next().is_some_and(|first| first.contains(':'));
    scheme || address.starts_with("//")
}

/// Reads the attributes of one tag; returns what follows the tag.
fn attributes<'a>(mut rest: &'a str, found: &mut Vec<(&'a str, &'a str)>) -> &'a str {
    loop {
        rest = trim_start(rest);
        if rest.is_empty() {
            return rest;
        }
        if let Some(end) = rest.strip_prefix('>') {
            return end;
        }
        let ends = |it: u8| matches!(it, b'=' | b'>' | b'/') || it.is_ascii_whitespace();
        let name = &rest[..rest.bytes().position(ends).unwrap_or(rest.len())];
        rest = trim_start(&rest[name.len()..]);
        if name.is_empty() {
            // A lone `/` or `=`.
            rest = rest.get(1..).unwrap_or("");
            continue;
        }
        let Some(value) = rest.strip_prefix('=').map(trim_start) else {
            found.push((name, ""));
            continue;
        };
        let quote = value.bytes().next().filter(|first| matches!(first, b'"' | b'\''));
        let (value, end) = if let Some(quote) = quote {
            let value = &value[1..];
            find(value, quote).map_or((value, ""), |end| (&value[..end], &value[end + 1..]))
        } else {
            let end = value.bytes().position(|it| it == b'>' || it.is_ascii_whitespace());
            value.split_at(end.unwrap_or(value.len()))
        };
        found.push((name, value));
        rest = end;
    }
}

/// The text without the white space before it. HTML knows ASCII white space alone.
fn trim_start(text: &str) -> &str {
    let blanks = text.bytes().take_while(u8::is_ascii_whitespace).count();
    &text[blanks..]
}

fn after<'a>(text: &'a str, end: &str) -> &'a str {
    text.find(end).map_or("", |at| &text[at + end.len()..])
}

#[cfg(test)]
mod tests {
    use super::marks;

    #[test]
    fn ids_and_links_are_found_in_tags_only() {
        let found = marks(
            "<!DOCTYPE html><title>id=\"no\"</title><a id=\"x\" href=\"../y/#z\">id=\"no\"</a>\
             <!-- <a href=\"no\"> --><script type=\"application/json\">{\"a\":\"<a href=\\\"no\"}\
             </script><br/><img alt=\"a > b\" src=\"p.png\"/> 1 < 2 <input disabled id=\"q\">",
        );
        assert_eq!(found.ids, ["x", "q"]);
        assert_eq!(found.links, ["../y/#z", "p.png"]);
    }

    #[test]
    fn what_the_policy_stops_is_a_fault() {
        for (page, message) in [
            ("<p style='color:red'>", "the attribute `style` is stopped by the page's policy"),
            ("<p onClick=go()>", "the attribute `onClick` is stopped by the page's policy"),
            ("<SCRIPT>go()</SCRIPT>", "a script inside the page is stopped by its policy"),
            ("<style>p{}</style>", "a `style` element is stopped by the page's policy"),
            ("<base href=\"/\">", "a `base` element turns every link of the page"),
            (
                "<script src=//cdn.example/a.js></script>",
                "`//cdn.example/a.js` would be loaded from outside of the site",
            ),
            (
                "<link rel=\"stylesheet\" href=\"https://e.example/a.css\">",
                "`https://e.example/a.css` would be loaded from outside of the site",
            ),
            (
                "<img src=\"data:image/png,x\">",
                "`data:image/png,x` would be loaded from outside of the site",
            ),
            ("<a href=\" javascript:go()\">", "` javascript:go()` is a script in an address"),
            ("<p id=\"a\"><b id=\"a\">", "the id `a` stands twice in one page"),
        ] {
            let found: Vec<String> = marks(page).faults.into_iter().map(|it| it.message).collect();
            assert_eq!(found, [message], "{page}");
        }
        for page in [
            "<a href=\"https://example.org/\">a</a>",
            "<link rel=\"canonical\" href=\"https://example.org/\">",
            "<script src=\"../a.js\" defer></script><img src=\"a.png?at=1:2\">",
            "<script type=\"application/json\">{\"a\":\"<b style=\"}</script>",
            "<title><p style=\"\"></title>&lt;p style=\"\"&gt;",
        ] {
            assert_eq!(marks(page).faults, [], "{page}");
        }
    }

    #[test]
    fn broken_html_ends() {
        for text in ["<", "<a", "<a href=\"", "<a href", "<!--", "<script>", "<a =\"x\">", "<a / >"]
        {
            let _ = marks(text);
        }
    }
}
