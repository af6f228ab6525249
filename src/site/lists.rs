//! The values of the pages that list things: home, all scenarios, one chapter, and pages of text.

use serde::Serialize;

use super::address::Address;
use super::index::{ChapterEntry, RowView};
use super::page::Base;
use super::player::Player;
use super::step::StepView;

/// The values of `scenarios.html`.
#[derive(Debug, Serialize)]
pub struct ScenariosPage<'a> {
    /// What every page has.
    #[serde(flatten)]
    pub base: Base,
    /// Every chapter with its scenarios.
    pub chapters: Vec<ChapterListView<'a>>,
}

/// The values of `chapter.html`.
#[derive(Debug, Serialize)]
pub struct ChapterPage<'a> {
    /// What every page has.
    #[serde(flatten)]
    pub base: Base,
    /// The chapter.
    pub chapter: ChapterListView<'a>,
    /// How long all of it takes, in minutes.
    pub minutes: u32,
}

/// The values of `home.html`.
#[derive(Debug, Serialize)]
pub struct HomePage<'a> {
    /// What every page has.
    #[serde(flatten)]
    pub base: Base,
    /// The heading, HTML.
    pub heading: String,
    /// The text under it, HTML.
    pub lead: String,
    /// The further sections of the text.
    pub sections: Vec<SectionView>,
    /// The player, where there is a scenario.
    pub player: Option<Player<'a>>,
    /// Its steps.
    pub steps: &'a [StepView],
    /// How many scenarios there are.
    pub scenario_count: usize,
    /// How many statements were checked.
    pub statement_count: usize,
    /// The chapters.
    pub chapters: Vec<ChapterListView<'a>>,
    /// The scenario to start with.
    pub first: Option<FirstView<'a>>,
}

/// A section of the home page's text.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct SectionView {
    /// Its heading, HTML.
    pub title: String,
    /// Its text, HTML.
    pub html: String,
}

/// The scenario to start with.
#[derive(Debug, Serialize)]
pub struct FirstView<'a> {
    /// Link to its walkthrough.
    pub href: String,
    /// Its title.
    pub title: &'a str,
}

/// The values of `page.html`.
#[derive(Debug, Serialize)]
pub struct TextPage {
    /// What every page has.
    #[serde(flatten)]
    pub base: Base,
    /// The heading, HTML.
    pub heading: String,
    /// The text, HTML.
    pub body: String,
}

/// A chapter in a list, with its scenarios.
#[derive(Debug, Serialize)]
pub struct ChapterListView<'a> {
    id: &'a str,
    slug: &'a str,
    title: &'a str,
    summary: &'a str,
    text: Option<&'a str>,
    href: String,
    count: String,
    thumbnail: &'a str,
    rows: Vec<RowView<'a>>,
}

impl<'a> ChapterListView<'a> {
    /// A chapter in a list on the page at `from`.
    #[must_use]
    pub fn new(chapter: &'a ChapterEntry, from: &Address) -> ChapterListView<'a> {
        ChapterListView {
            id: &chapter.id,
            slug: &chapter.slug,
            title: &chapter.title,
            summary: &chapter.summary,
            text: chapter.text.as_deref(),
            href: from.relative(chapter.address().as_str()),
            count: chapter.count(),
            thumbnail: chapter.scenarios.first().map_or("", |entry| entry.thumbnail.as_str()),
            rows: chapter.scenarios.iter().map(|entry| entry.row(from)).collect(),
        }
    }
}

/// Cuts a text at its second-level headings: what comes before the first, and the sections.
#[must_use]
pub fn sections(html: &str) -> (String, Vec<SectionView>) {
    let mut parts = html.split("<h2");
    let lead = parts.next().unwrap_or_default().trim().to_owned();
    let section = |part: &str| {
        let inner = part.split_once('>').map_or("", |(_, inner)| inner);
        let (title, html) = inner.split_once("</h2>").unwrap_or((inner, ""));
        SectionView { title: title.to_owned(), html: html.trim().to_owned() }
    };
    (lead, parts.map(section).collect())
}
