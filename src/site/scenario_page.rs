//! A scenario's walkthrough: the values of `scenario.html`.

use serde::Serialize;

use crate::diagram::table::{self, TableView};
use crate::diagram::terminal::{self, CommandView, Unknown};
use crate::scenario::run::Run;

use super::address::Address;
use super::embed::FlavourView;
use super::glossary::SettingView;
use super::index::{ChapterEntry, LevelView, RowView};
use super::outcomes::OutcomesView;
use super::page::Base;
use super::player::Player;
use super::step::StepView;
use super::what_if::WhatIfView;

/// The values of `scenario.html`.
#[derive(Debug, Serialize)]
pub struct ScenarioPage<'a> {
    /// What every page has.
    #[serde(flatten)]
    pub base: Base,
    /// `00.1.2`.
    pub id: &'a str,
    /// Its chapter.
    pub chapter: ChapterView<'a>,
    /// The heading.
    pub headline: &'a str,
    /// How much a reader should know.
    pub level: LevelView,
    /// How long it takes, in minutes.
    pub minutes: u32,
    /// How many statements were checked.
    pub statement_count: usize,
    /// The scenarios to read first.
    pub requires: Vec<RequiredView<'a>>,
    /// What it is about, HTML of one paragraph.
    pub summary: &'a str,
    /// The player over the page.
    pub player: Player<'a>,
    /// The steps.
    pub steps: &'a [StepView],
    /// Each step's state in words.
    pub twins: Vec<TwinView>,
    /// What the reader starts with, HTML.
    pub start: &'a str,
    /// What a real cluster does differently, HTML.
    pub simplified: Option<&'a str>,
    /// Settings that differ from Kafka's defaults.
    pub settings: Vec<GivenView>,
    /// The same script with changes.
    pub variants: Vec<WhatIfView>,
    /// Outcomes, computed by running.
    pub outcomes: Vec<OutcomesView<'a>>,
    /// What to remember, HTML.
    pub takeaway: Option<&'a str>,
    /// Settings that the page explains.
    pub configs: Vec<SettingView>,
    /// What to paste into other pages.
    pub flavours: Vec<FlavourView>,
    /// What changes it.
    pub embed: BuilderView,
    /// Further reading.
    pub reading: Vec<ReadingView<'a>>,
    /// The other scenarios of the chapter.
    pub more: Vec<RowView<'a>>,
    /// Link to the player alone on its page.
    pub play: String,
}

/// A scenario's chapter.
#[derive(Debug, Serialize)]
pub struct ChapterView<'a> {
    /// Its name.
    pub title: &'a str,
    /// Link to its page.
    pub href: String,
    /// What is to be said about it, HTML.
    pub text: Option<&'a str>,
}

impl<'a> ChapterView<'a> {
    /// The chapter of the page at `from`.
    #[must_use]
    pub fn new(chapter: &'a ChapterEntry, from: &Address) -> ChapterView<'a> {
        ChapterView {
            title: &chapter.title,
            href: from.relative(chapter.address().as_str()),
            text: chapter.text.as_deref(),
        }
    }
}

/// A scenario to read first.
#[derive(Debug, Serialize)]
pub struct RequiredView<'a> {
    /// Its title.
    pub title: &'a str,
    /// Link to its walkthrough.
    pub href: String,
}

/// One setting that differs from Kafka's default.
#[derive(Debug, Serialize)]
pub struct GivenView {
    /// Link to its page.
    pub href: String,
    /// Its name with places to break it, HTML.
    pub name_html: String,
    /// What it is set on.
    pub on: String,
    /// The value here.
    pub here: String,
    /// Kafka's default.
    pub default: String,
}

/// The form that changes what is to be pasted.
#[derive(Debug, Serialize)]
pub struct BuilderView {
    /// Link to its script.
    pub script: String,
    /// What the addresses begin with where the site's host is not known.
    pub incomplete_url: Option<String>,
    /// The height of a frame in pixels.
    pub height: u32,
}

/// A link for further reading.
#[derive(Debug, Serialize)]
pub struct ReadingView<'a> {
    /// Its title.
    pub title: &'a str,
    /// Its address.
    pub url: &'a str,
}

/// The twins in words of one step's picture.
#[derive(Debug, Serialize)]
pub struct TwinView {
    /// As tables.
    pub tables: Vec<TableView>,
    /// As Kafka's own tools print it.
    pub commands: Vec<CommandView>,
}

/// The twins of every step of a run.
#[must_use]
pub fn twins(run: &Run) -> Vec<TwinView> {
    let before = std::iter::once(None).chain(run.frames.iter().map(|frame| Some(&frame.snapshot)));
    run.frames
        .iter()
        .zip(before)
        .map(|(frame, before)| TwinView {
            tables: table::tables(&frame.snapshot, before),
            commands: terminal::commands(&run.world, &frame.snapshot, &Unknown::default()),
        })
        .collect()
}
