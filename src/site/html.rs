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

/// Elements whose content is text, not tags.
const RAW: [&str; 4] = ["script", "style", "textarea", "title"];

/// Finds the ids, links and faults of a page.
#[must_use]
pub fn marks(text: &str) -> Marks<'_> {
    let mut marks = Marks::default();
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        rest = &rest[at..];
        if let Some(comment) = rest.strip_prefix("<!--") {
            rest = after(comment, "-->");
            continue;
        }
        let name_len = rest[1..].bytes().take_while(u8::is_ascii_alphanumeric).count();
        let name = rest[1..=name_len].to_ascii_lowercase();
        rest = &rest[1 + name_len..];
        if name.is_empty() {
            continue;
        }
        let mut tag = Tag { name: &name, attributes: Vec::new() };
        rest = attributes(rest, &mut tag.attributes);
        tag.look(&mut marks);
        if RAW.contains(&name.as_str()) {
            rest = rest.find(&format!("</{name}")).map_or("", |end| &rest[end..]);
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

struct Tag<'t, 'a> {
    name: &'t str,
    attributes: Vec<(&'a str, &'a str)>,
}

impl<'a> Tag<'_, 'a> {
    fn look(&self, marks: &mut Marks<'a>) {
        let mut fault = |message: String, needle: &str| {
            marks.faults.push(Fault { message, needle: needle.to_owned() });
        };
        match self.name {
            "style" => fault("a `style` element is stopped by the page's policy".into(), "<style"),
            "base" => fault("a `base` element turns every link of the page".into(), "<base"),
            "script" if self.value("src").is_none() && !self.is_data() => {
                fault("a script inside the page is stopped by its policy".into(), "<script");
            }
            _ => {}
        }
        for (name, value) in &self.attributes {
            let lower = name.to_ascii_lowercase();
            if lower == "style" || (lower.len() > 2 && lower.starts_with("on")) {
                let message = format!("the attribute `{name}` is stopped by the page's policy");
                fault(message, &format!("{name}="));
            }
            let address = matches!(&*lower, "src" | "href" | "xlink:href" | "data" | "poster");
            let script = value.trim_start().to_ascii_lowercase().starts_with("javascript:");
            if (address || lower.ends_with("action")) && script {
                fault(format!("`{value}` is a script in an address"), value);
            } else if address && self.is_resource(&lower) && is_elsewhere(value) {
                fault(format!("`{value}` would be loaded from outside of the site"), value);
            }
            match &*lower {
                "id" => marks.ids.push(value),
                "href" | "src" if self.name != "base" => marks.links.push(value),
                _ => {}
            }
        }
    }

    fn value(&self, name: &str) -> Option<&'a str> {
        let found = self.attributes.iter().find(|(it, _)| it.eq_ignore_ascii_case(name));
        found.map(|(_, value)| *value)
    }

    /// Whether a script is data and never runs.
    fn is_data(&self) -> bool {
        matches!(self.value("type"), Some("application/json" | "application/ld+json"))
    }

    /// Whether the browser loads what the attribute names by itself.
    fn is_resource(&self, attribute: &str) -> bool {
        match (self.name, attribute) {
            ("a" | "area", _) => false,
            // `canonical` and its kind only name an address.
            ("link", _) => self.value("rel").is_some_and(|rel| {
                let loaded = ["stylesheet", "icon", "preload", "modulepreload", "manifest"];
                rel.split_whitespace().any(|it| loaded.contains(&it))
            }),
            _ => true,
        }
    }
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
        rest = rest.trim_start();
        if rest.is_empty() {
            return rest;
        }
        if let Some(end) = rest.strip_prefix('>') {
            return end;
        }
        let name_len = rest.find(|c: char| c == '=' || c == '>' || c == '/' || c.is_whitespace());
        let name = &rest[..name_len.unwrap_or(rest.len())];
        rest = rest[name.len()..].trim_start();
        if name.is_empty() {
            // A lone `/` or `=`.
            rest = rest.get(1..).unwrap_or("");
            continue;
        }
        let Some(value) = rest.strip_prefix('=').map(str::trim_start) else {
            found.push((name, ""));
            continue;
        };
        let quote = value.chars().next().filter(|first| matches!(first, '"' | '\''));
        let (value, end) = if let Some(quote) = quote {
            value[1..].split_once(quote).unwrap_or((&value[1..], ""))
        } else {
            let end = value.find(|c: char| c == '>' || c.is_whitespace());
            value.split_at(end.unwrap_or(value.len()))
        };
        found.push((name, value));
        rest = end;
    }
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
