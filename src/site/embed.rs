//! The player alone on a page, for frames and for itself; the lists behind the routers `/embed/`
//! and `/play/`; and what others paste into their pages.
//!
//! Must not know how the player works: these pages are made of [`super::player`]'s data.

use serde::Serialize;

use super::address::Address;
use super::assets;
use super::config::Config;
use super::player::{Place, Player, Reel};
use super::step::StepView;

/// The template's data of `/embed/<slug>/` (`embed.html`) and `/play/<slug>/` (`play.html`).
#[derive(Clone, Debug, Serialize)]
pub struct PlayerPage<'a> {
    /// The language of the texts.
    pub language: &'a str,
    /// The site's name.
    pub site_title: &'a str,
    /// The link to the style sheet.
    pub style: String,
    /// The link to the icon.
    pub icon: String,
    /// The links to the scripts.
    pub scripts: [String; 2],
    /// The walkthrough, which search engines should show instead.
    pub canonical: String,
    /// The player.
    pub player: Player<'a>,
    /// Its steps.
    pub steps: &'a [StepView],
}

impl<'a> PlayerPage<'a> {
    /// The address of the page of a scenario's player alone.
    ///
    /// # Panics
    /// At places that are no pages of their own.
    #[must_use]
    pub fn address(slug: &str, place: Place) -> Address {
        match place {
            Place::Play => Address::new(format!("play/{slug}/")),
            Place::Embed => Address::new(format!("embed/{slug}/")),
            Place::Inline | Place::Walkthrough => panic!("a player on a page with other things"),
        }
    }

    /// The page of a player alone, at [`PlayerPage::address`].
    #[must_use]
    pub fn new(config: &'a Config, reel: &'a Reel, steps: &'a [StepView], place: Place) -> Self {
        let page = PlayerPage::address(&reel.slug, place);
        let asset = |path| page.relative(&assets::link(path));
        PlayerPage {
            language: &config.language,
            site_title: &config.title,
            style: asset("assets/site.css"),
            icon: asset("assets/icon.svg"),
            scripts: [asset("assets/site.js"), asset("assets/player.js")],
            canonical: page.relative(&format!("scenarios/{}/", reel.slug)),
            player: reel.player(place, &page),
            steps,
        }
    }
}

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
            slug: "acks",
            title: "\"all\" & one",
        };
        assert_eq!(
            snippet.html(),
            r#"<iframe src="https://example.org/kafka-simulator/embed/acks/"
  title="Kafka, step by step: &quot;all&quot; &amp; one"
  width="100%" height="840" loading="lazy"></iframe>
<p><a href="https://example.org/kafka-simulator/scenarios/acks/">&quot;all&quot; &amp; one</a>, from Kafka, step by step</p>
"#
        );
    }
}
