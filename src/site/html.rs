//! Reads finished HTML for what the link check needs: ids and links. Not a parser: it knows tags,
//! quoted attributes, comments, and the elements whose content is plain text.

/// The ids and links of a page, in order.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Marks<'a> {
    /// Every `id`.
    pub ids: Vec<&'a str>,
    /// Every `href` and `src`, as written.
    pub links: Vec<&'a str>,
}

/// Elements whose content is text, not tags.
const RAW: [&str; 4] = ["script", "style", "textarea", "title"];

/// Finds the ids and links of a page.
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
        let name = &rest[1..=name_len];
        rest = &rest[1 + name_len..];
        if name.is_empty() {
            continue;
        }
        rest = attributes(rest, name, &mut marks);
        if RAW.contains(&name) {
            rest = rest.find(&format!("</{name}")).map_or("", |end| &rest[end..]);
        }
    }
    marks
}

/// Reads the attributes of one tag; returns what follows the tag.
fn attributes<'a>(mut rest: &'a str, element: &str, marks: &mut Marks<'a>) -> &'a str {
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
        rest = &rest[name.len()..];
        let Some(value) = rest.strip_prefix("=\"") else {
            let skip = usize::from(name.is_empty() && !rest.starts_with('>'));
            rest = &rest[skip..];
            continue;
        };
        let end = value.find('"').unwrap_or(value.len());
        match name {
            "id" => marks.ids.push(&value[..end]),
            // `<link rel="canonical">` names the page itself by its whole address.
            "href" | "src" if element != "base" => marks.links.push(&value[..end]),
            _ => {}
        }
        rest = value.get(end + 1..).unwrap_or("");
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
    fn broken_html_ends() {
        for text in ["<", "<a", "<a href=\"", "<a href", "<!--", "<script>", "<a =\"x\">", "<a / >"]
        {
            let _ = marks(text);
        }
    }
}
