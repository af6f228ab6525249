//! The site as data: the list of scenarios, and the files that search engines read.

use std::fmt::Write as _;

use serde::Serialize;

use super::address::Address;
use super::config::Config;
use super::index::ChapterEntry;
use super::page::KAFKA;
use super::words;

/// `scenarios.json`.
#[derive(Debug, Serialize)]
struct Listing<'a> {
    format: u32,
    kafka: &'static str,
    chapters: Vec<Chapter<'a>>,
}

#[derive(Debug, Serialize)]
struct Chapter<'a> {
    id: &'a str,
    slug: &'a str,
    title: &'a str,
    summary: &'a str,
    scenarios: Vec<Scenario<'a>>,
}

#[derive(Debug, Serialize)]
struct Scenario<'a> {
    id: &'a str,
    slug: &'a str,
    title: &'a str,
    level: &'static str,
    minutes: u32,
    steps: usize,
    settings: Vec<&'a str>,
    walkthrough: String,
    snapshots: String,
    events: String,
}

/// Every scenario of the site with its addresses, relative to the site's root.
#[must_use]
pub fn scenarios(chapters: &[ChapterEntry]) -> String {
    let chapters = chapters.iter().map(|chapter| Chapter {
        id: &chapter.id,
        slug: &chapter.slug,
        title: &chapter.title,
        summary: chapter.summary_plain.trim(),
        scenarios: chapter
            .scenarios
            .iter()
            .map(|entry| Scenario {
                id: &entry.id,
                slug: &entry.slug,
                title: &entry.title,
                level: entry.level.word(),
                minutes: entry.minutes,
                steps: entry.step_titles.len(),
                settings: entry.uses.keys().map(String::as_str).collect(),
                walkthrough: entry.address().to_string(),
                snapshots: format!("{}scenario.json", entry.address()),
                events: format!("{}events.json", entry.address()),
            })
            .collect(),
    });
    let listing = Listing { format: 1, kafka: KAFKA, chapters: chapters.collect() };
    let mut json = serde_json::to_string_pretty(&listing).expect("texts can be written as JSON");
    json.push('\n');
    json
}

/// `sitemap.xml`; none where the site's whole address is not known, since it holds only such.
#[must_use]
pub fn sitemap(config: &Config, pages: &[Address]) -> Option<String> {
    let site = config.absolute_url()?;
    let mut xml = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n",
    );
    for page in pages {
        let url = words::escaped(&format!("{site}{page}"));
        let _ = writeln!(xml, "<url><loc>{url}</loc></url>");
    }
    xml.push_str("</urlset>\n");
    Some(xml)
}

/// `robots.txt`: everything may be read; players alone on a page are shown by their walkthrough.
#[must_use]
pub fn robots(config: &Config) -> String {
    let mut text = String::from("User-agent: *\nAllow: /\n");
    if let Some(site) = config.absolute_url() {
        let _ = writeln!(text, "Sitemap: {site}sitemap.xml");
    }
    text
}
