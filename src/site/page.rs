//! What every page has: title, description, navigation, links to style and scripts.

use serde::Serialize;

use super::address::Address;
use super::assets;
use super::config::Config;
use super::embed::Snippet;
use super::player::Reel;

/// The version of Kafka that scenarios are about.
pub const KAFKA: &str = "4.3";

/// The part of a page's values that `base.html` uses.
#[derive(Clone, Debug, Serialize)]
pub struct Base {
    /// About the site.
    pub site: SiteView,
    /// About the page.
    pub page: PageView,
}

/// About the site.
#[derive(Clone, Debug, Serialize)]
pub struct SiteView {
    /// Its name.
    pub title: String,
    /// The language of its texts.
    pub language: String,
    /// The version of Kafka.
    pub kafka: &'static str,
}

/// About the page.
#[derive(Clone, Debug, Serialize)]
pub struct PageView {
    /// The title in the browser's tab, the site's name included.
    pub title: String,
    /// One sentence for search engines; may be empty.
    pub description: String,
    /// The page's whole address, where the site's is known.
    pub canonical: Option<String>,
    /// Link to the home page.
    pub home: String,
    /// Whether this is the home page.
    pub is_home: bool,
    /// Link to the list of scenarios.
    pub scenarios: String,
    /// Link to the glossary.
    pub settings: String,
    /// Link to the list of scenarios as JSON.
    pub data: String,
    /// Link to the icon.
    pub icon: String,
    /// Link to the style sheet.
    pub css: String,
    /// Link to the script of every page.
    pub js: String,
    /// Link to the player's script, on pages with a player.
    pub player_js: Option<String>,
    /// The address of `oembed.json`, on pages of one scenario, where the site's host is known.
    pub oembed: Option<String>,
    /// The address of the share card, on pages that have one.
    pub card: Option<String>,
    /// The navigation.
    pub nav: Vec<NavView>,
}

/// One entry of the navigation.
#[derive(Clone, Debug, Serialize)]
pub struct NavView {
    /// Its words.
    pub title: String,
    /// Its link.
    pub href: String,
    /// The value of `aria-current`: `page` for the page itself, `true` for what the page belongs
    /// to.
    pub current: Option<&'static str>,
}

/// Makes the common part of every page.
#[derive(Clone, Debug)]
pub struct Frame<'a> {
    config: &'a Config,
    /// Title and address of the entries of the navigation.
    nav: Vec<(String, Address)>,
}

impl<'a> Frame<'a> {
    /// The frame of a site. `pages` are the Markdown pages that the navigation lists.
    #[must_use]
    pub fn new(config: &'a Config, pages: Vec<(String, Address)>) -> Frame<'a> {
        let mut nav = vec![
            ("Scenarios".to_owned(), Address::new("scenarios/")),
            ("Settings".to_owned(), Address::new("configs/")),
        ];
        nav.extend(pages);
        Frame { config, nav }
    }

    /// The common part of the page at `address`.
    #[must_use]
    pub fn base(&self, address: &Address, title: &str, description: &str) -> Base {
        // The page for addresses that do not exist is shown at any of them.
        let lost = address.as_str() == "404.html";
        let to = |path: &str| {
            if lost { format!("{}{path}", self.config.base_path()) } else { address.relative(path) }
        };
        let is_home = address.as_str().is_empty();
        let nav = self.nav.iter().map(|(title, target)| NavView {
            title: title.clone(),
            href: to(target.as_str()),
            current: if target == address {
                Some("page")
            } else {
                address.as_str().starts_with(target.as_str()).then_some("true")
            },
        });
        Base {
            site: SiteView {
                title: self.config.title.clone(),
                language: self.config.language.clone(),
                kafka: KAFKA,
            },
            page: PageView {
                title: if is_home {
                    self.config.title.clone()
                } else {
                    format!("{title} | {}", self.config.title)
                },
                description: description.trim().to_owned(),
                canonical: self
                    .config
                    .absolute_url()
                    .filter(|_| !lost)
                    .map(|url| format!("{url}{address}")),
                home: to(""),
                is_home,
                scenarios: to("scenarios/"),
                settings: to("configs/"),
                data: to("scenarios.json"),
                icon: to(&assets::link("assets/icon.svg")),
                css: to(&assets::link("assets/site.css")),
                js: to(&assets::link("assets/site.js")),
                player_js: None,
                oembed: None,
                card: None,
                nav: nav.collect(),
            },
        }
    }

    /// What to paste into another page to show a scenario there.
    #[must_use]
    pub fn snippet<'b>(&'b self, reel: &'b Reel) -> Snippet<'b> {
        let (site_url, site_title) = (&self.config.site_url, &self.config.title);
        let (slug, title, height) = (&reel.slug, &reel.title, reel.frame_height);
        Snippet { site_url, site_title, slug, title, height }
    }

    /// The whole address of a file, where the site's host is known.
    #[must_use]
    pub fn absolute(&self, path: &str) -> Option<String> {
        self.config.absolute_url().map(|url| format!("{url}{path}"))
    }

    /// The site's name.
    #[must_use]
    pub fn site_title(&self) -> &str {
        &self.config.title
    }

    /// The path of a scenario's `oembed.json`; none where the site's host is not known, since it
    /// needs whole addresses.
    #[must_use]
    pub fn oembed(&self, slug: &str) -> Option<String> {
        self.config.absolute_url().map(|_| format!("embed/{slug}/oembed.json"))
    }

    /// The site's path where its host is not known: what a snippet's addresses begin with, and what
    /// the page's script completes.
    #[must_use]
    pub fn incomplete_url(&self) -> Option<&str> {
        let config = self.config;
        config.absolute_url().is_none().then_some(config.site_url.as_str())
    }

    /// The common part of a page with a player.
    #[must_use]
    pub fn base_with_player(&self, address: &Address, title: &str, description: &str) -> Base {
        let mut base = self.base(address, title, description);
        base.page.player_js = Some(address.relative(&assets::link("assets/player.js")));
        base
    }

    /// The common part of a page of one scenario, which others may show in their own.
    #[must_use]
    pub fn base_of_scenario(&self, address: &Address, title: &str, reel: &Reel) -> Base {
        let mut base = self.base_with_player(address, title, &reel.summary);
        let (site, oembed) = (self.config.absolute_url(), self.oembed(&reel.slug));
        base.page.oembed = site.zip(oembed).map(|(site, path)| format!("{site}{path}"));
        base
    }
}
