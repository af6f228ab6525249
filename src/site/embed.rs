//! What others paste into their pages, and the lists behind the routers `/embed/` and `/play/`.
//!
//! Must not know how the player works; the frame's page is made of [`super::player`]'s data.

use serde::Serialize;

/// What a snippet says.
#[derive(Clone, Copy, Debug)]
pub struct Snippet<'a> {
    /// `site-url`: a whole URL, or a path where the site's host is not known. Ends in `/`.
    pub site_url: &'a str,
    /// The site's title.
    pub site_title: &'a str,
    /// The scenario's part of addresses.
    pub slug: &'a str,
    /// The scenario's title.
    pub title: &'a str,
}

impl Snippet<'_> {
    /// The HTML to paste: a frame that needs no script of its host, and a paragraph with a link for
    /// feed readers and other places without frames.
    #[must_use]
    pub fn html(&self) -> String {
        let (site, slug, title) = (escape(self.site_url), escape(self.slug), escape(self.title));
        let name = escape(self.site_title);
        format!(
            "<iframe src=\"{site}embed/{slug}/\"\n  title=\"{name}: {title}\"\n  \
             width=\"100%\" height=\"840\" loading=\"lazy\"></iframe>\n\
             <p><a href=\"{site}scenarios/{slug}/\">{title}</a>, from {name}</p>\n"
        )
    }
}

/// One line of a router's list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RouterEntry {
    /// The scenario's id.
    pub id: String,
    /// Its part of addresses.
    pub slug: String,
    /// Its title.
    pub title: String,
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    pulldown_cmark_escape::escape_html(&mut out, text).expect("a String takes every text");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snippet_is_a_frame_with_a_title_and_a_paragraph_with_a_link() {
        let snippet = Snippet {
            site_url: "https://example.org/kafka-simulator/",
            site_title: "Kafka, step by step",
            slug: "write-path",
            title: "Acks \"all\" & one",
        };
        assert_eq!(
            snippet.html(),
            r#"<iframe src="https://example.org/kafka-simulator/embed/write-path/"
  title="Kafka, step by step: Acks &quot;all&quot; &amp; one"
  width="100%" height="840" loading="lazy"></iframe>
<p><a href="https://example.org/kafka-simulator/scenarios/write-path/">Acks &quot;all&quot; &amp; one</a>, from Kafka, step by step</p>
"#
        );
    }
}
