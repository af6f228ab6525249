//! The player alone on a page, for frames and for itself; the lists behind the routers `/embed/`
//! and `/play/`; and what others paste into their pages.
//!
//! Must not know how the player works: these pages are made of [`super::player`]'s data.

use serde::Serialize;

use super::address::Address;
use super::assets;
use super::card::CARD;
use super::page::{Base, Frame};
use super::player::{Place, Player, Reel};
use super::step::StepView;
use super::words::escaped;

/// The template's data of `/embed/<slug>/` (`embed.html`) and `/play/<slug>/` (`play.html`).
#[derive(Clone, Debug, Serialize)]
pub struct PlayerPage<'a> {
    /// What every page has.
    #[serde(flatten)]
    pub base: Base,
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
    pub fn new(frame: &Frame, reel: &'a Reel, steps: &'a [StepView], place: Place) -> Self {
        let page = PlayerPage::address(&reel.slug, place);
        let base = frame.base_of_scenario(&page, &reel.title, reel);
        PlayerPage { base, player: reel.player(place, &page), steps }
    }
}

/// The template's data of `/embed/` and `/play/` (`router.html`): all players of one kind, and the
/// script that leads from an id to one of them.
#[derive(Clone, Debug, Serialize)]
pub struct RouterPage {
    /// What every page has.
    #[serde(flatten)]
    pub base: Base,
    /// The heading.
    pub heading: &'static str,
    /// What the page is for.
    pub lead: &'static str,
    /// The link to the script.
    pub script: String,
    /// The scenarios.
    pub entries: Vec<RouterEntry>,
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

impl RouterPage {
    /// The address of the router of one kind.
    #[must_use]
    pub fn address(place: Place) -> Address {
        Address::new(match place {
            Place::Embed => "embed/",
            Place::Play | Place::Inline | Place::Walkthrough => "play/",
        })
    }

    /// The router of one kind, at [`RouterPage::address`], over `entries` in the site's order.
    #[must_use]
    pub fn new(frame: &Frame, place: Place, entries: Vec<RouterEntry>) -> RouterPage {
        let page = RouterPage::address(place);
        let (heading, lead) = match place {
            Place::Embed => ("Scenarios to embed", EMBED_LEAD),
            _ => ("Scenarios, full page", PLAY_LEAD),
        };
        RouterPage {
            base: frame.base(&page, heading, lead),
            heading,
            lead,
            script: page.relative(&assets::link("assets/router.js")),
            entries,
        }
    }
}

const EMBED_LEAD: &str =
    "The player of each scenario alone on a page, to be framed by other pages.";
const PLAY_LEAD: &str = "The player of each scenario alone on a page.";

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
    /// The frame's height in pixels.
    pub height: u32,
}

/// One way to show a scenario in another page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FlavourView {
    /// What to call it.
    pub name: &'static str,
    /// Where it is of use.
    pub about: &'static str,
    /// What to paste.
    pub text: String,
}

impl Snippet<'_> {
    /// The HTML to paste: a frame that needs no script of its host, and a paragraph with a link for
    /// feed readers and other places without frames.
    #[must_use]
    pub fn html(&self) -> String {
        let (site, slug, title) = (escaped(self.site_url), escaped(self.slug), escaped(self.title));
        let (name, height) = (escaped(self.site_title), self.height);
        format!(
            "<iframe src=\"{site}embed/{slug}/\"\n  title=\"{name}: {title}\"\n  \
             width=\"100%\" height=\"{height}\" loading=\"lazy\"></iframe>\n\
             <p><a href=\"{site}scenarios/{slug}/\">{title}</a>, from {name}</p>\n"
        )
    }

    /// Every way, the usual one first.
    #[must_use]
    pub fn flavours(&self) -> Vec<FlavourView> {
        let (site, slug, title) = (escaped(self.site_url), escaped(self.slug), escaped(self.title));
        let name = escaped(self.site_title);
        let page = format!("{site}scenarios/{slug}/");
        let link = format!("<a href=\"{page}\">{title}</a>, from {name}");
        let script = |file: &str| format!("<script src=\"{site}assets/{file}\" async></script>\n");
        vec![
            FlavourView { name: "Frame", about: "plays anywhere", text: self.html() },
            FlavourView {
                name: "Frame as high as its content",
                about: "for pages that may have a script of ours, of 1 KB",
                text: self.html() + &script("frame.js"),
            },
            FlavourView {
                name: "Web component",
                about: "for pages that may have a script of ours; with attributes and events",
                text: format!(
                    "<kafka-scenario src=\"{site}embed/{slug}/\">\n  {link}\n</kafka-scenario>\n{}",
                    script("kafka-scenario.js")
                ),
            },
            FlavourView {
                name: "Picture",
                about: "plays by itself, without a script: for posts and slides",
                text: format!(
                    "<a href=\"{page}\"><img src=\"{page}play.svg\"\n  \
                     alt=\"{title}, step by step\" width=\"724\"></a>\n"
                ),
            },
            FlavourView {
                name: "Markdown",
                about: "the same picture, for a README",
                text: format!(
                    "[![{title}, step by step]({page}play.svg)]({page})\n",
                    title = self.title.replace(['[', ']', '\\', '`'], "")
                ),
            },
        ]
    }
}

/// `oembed.json` (<https://oembed.com>): how a place that knows a page's address shows its player.
#[derive(Debug, Serialize)]
struct OEmbed<'a> {
    version: &'static str,
    #[serde(rename = "type")]
    kind: &'static str,
    provider_name: &'a str,
    provider_url: &'a str,
    title: &'a str,
    html: String,
    width: u32,
    height: u32,
    #[serde(flatten)]
    thumbnail: Option<Thumbnail<'a>>,
}

/// The share card, for places that show a picture first.
#[derive(Debug, Serialize)]
struct Thumbnail<'a> {
    #[serde(rename = "thumbnail_url")]
    url: &'a str,
    #[serde(rename = "thumbnail_width")]
    width: u32,
    #[serde(rename = "thumbnail_height")]
    height: u32,
}

/// The width of a column of text, for which the height of a frame is worked out; in pixels.
const COLUMN: u32 = 640;

impl Snippet<'_> {
    /// The answer for programs that ask how to show this scenario; `card` is the address of its
    /// share card, if it has one.
    #[must_use]
    pub fn oembed(&self, card: Option<&str>) -> String {
        let answer = OEmbed {
            version: "1.0",
            kind: "rich",
            provider_name: self.site_title,
            provider_url: self.site_url,
            title: self.title,
            html: self.html(),
            width: COLUMN,
            height: self.height,
            thumbnail: card.map(|url| Thumbnail { url, width: CARD.0, height: CARD.1 }),
        };
        let mut json = serde_json::to_string_pretty(&answer).expect("texts can be written as JSON");
        json.push('\n');
        json
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snippet_is_a_frame_with_a_title_and_a_paragraph_with_a_link() {
        let snippet = Snippet {
            site_url: "https://example.org/k/",
            site_title: "Kafka, step by step",
            slug: "acks",
            title: "\"all\" & one",
            height: 840,
        };
        let frame = r#"<iframe src="https://example.org/k/embed/acks/"
  title="Kafka, step by step: &quot;all&quot; &amp; one"
  width="100%" height="840" loading="lazy"></iframe>"#;
        let name = "&quot;all&quot; &amp; one";
        let link = format!("<a href=\"https://example.org/k/scenarios/acks/\">{name}</a>");
        let expected = format!("{frame}\n<p>{link}, from Kafka, step by step</p>\n");
        assert_eq!(snippet.html(), expected);
        let oembed: serde_json::Value = serde_json::from_str(&snippet.oembed(None)).expect("JSON");
        assert_eq!(oembed["html"], expected);
        assert_eq!((&oembed["type"], &oembed["height"]), (&"rich".into(), &840.into()));
        for flavour in snippet.flavours() {
            assert!(flavour.text.contains("https://example.org/k/"), "{}", flavour.name);
            let is_html = flavour.name != "Markdown";
            assert!(!(is_html && flavour.text.contains("\"all\" &")), "{}", flavour.name);
        }
    }
}
