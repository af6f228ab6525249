//! What pages need to know of other pages' scenarios: one entry each, small enough to keep for all.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::scenario::model::Level;

use super::address::Address;

/// One chapter with its scenarios.
#[derive(Clone, Debug)]
pub struct ChapterEntry {
    /// `00.1`.
    pub id: String,
    /// Its part of addresses.
    pub slug: String,
    /// Its name.
    pub title: String,
    /// What it is about, HTML of one paragraph.
    pub summary: String,
    /// The same without mark-up.
    pub summary_plain: String,
    /// What is to be said about it, HTML: its file in `chapters/` of the content folder.
    pub text: Option<String>,
    /// Its scenarios in reading order.
    pub scenarios: Vec<Entry>,
}

impl ChapterEntry {
    /// The address of its page.
    #[must_use]
    pub fn address(&self) -> Address {
        Address::new(format!("chapters/{}/", self.slug))
    }

    /// How many scenarios it has, in words.
    #[must_use]
    pub fn count(&self) -> String {
        match self.scenarios.len() {
            1 => "1 scenario".to_owned(),
            count => format!("{count} scenarios"),
        }
    }
}

/// One scenario.
#[derive(Clone, Debug)]
pub struct Entry {
    /// `00.1.2`.
    pub id: String,
    /// Its part of addresses.
    pub slug: String,
    /// Short name.
    pub title: String,
    /// What it is about, HTML of one paragraph.
    pub summary: String,
    /// The same without mark-up.
    pub summary_plain: String,
    /// Its last state in cells, inline SVG.
    pub thumbnail: String,
    /// How much a reader should know.
    pub level: Level,
    /// How long it takes, in minutes.
    pub minutes: u32,
    /// How many statements were checked.
    pub statement_count: usize,
    /// Settings that its page explains, by name.
    pub configs: Vec<String>,
    /// Settings that it changes or that matter at one of its steps, by name.
    pub uses: BTreeMap<String, Use>,
    /// The titles of its steps.
    pub step_titles: Vec<String>,
}

/// What a scenario has to do with a setting.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Use {
    /// The values that it gives: `2 on orders`.
    pub values: Vec<String>,
    /// The steps where it matters.
    pub steps: BTreeSet<u32>,
}

impl Entry {
    /// The address of its walkthrough.
    #[must_use]
    pub fn address(&self) -> Address {
        Address::new(format!("scenarios/{}/", self.slug))
    }

    /// Its row in a list on the page at `from`.
    #[must_use]
    pub fn row<'a>(&'a self, from: &Address) -> RowView<'a> {
        RowView {
            href: from.relative(self.address().as_str()),
            id: &self.id,
            title: &self.title,
            summary: &self.summary,
            thumbnail: &self.thumbnail,
            level: LevelView::of(self.level),
            minutes: self.minutes,
            settings: self.configs.join(", "),
        }
    }
}

/// One scenario in a list.
#[derive(Clone, Debug, Serialize)]
pub struct RowView<'a> {
    href: String,
    id: &'a str,
    title: &'a str,
    summary: &'a str,
    thumbnail: &'a str,
    level: LevelView,
    minutes: u32,
    settings: String,
}

/// A level as word and dots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct LevelView {
    /// The word.
    pub word: &'static str,
    /// One to three filled dots.
    pub dots: &'static str,
}

impl LevelView {
    /// The view of a level.
    #[must_use]
    pub fn of(level: Level) -> LevelView {
        let (word, dots) = match level {
            Level::Beginner => ("Beginner", "●○○"),
            Level::Intermediate => ("Intermediate", "●●○"),
            Level::Advanced => ("Advanced", "●●●"),
        };
        LevelView { word, dots }
    }
}
