//! A checked scenario: names exist, settings are Kafka's, texts are parsed. It cannot be wrong,
//! only untrue.

use std::collections::BTreeMap;
use std::sync::Arc;

pub use super::condition::Condition;
pub use super::expect::Statement;
pub use super::given::Given;
use super::path::Path;
pub use super::text::Text;
pub use super::written::Written;
use crate::diag::{SourceFile, Span};
use crate::sim::command::Command;
use crate::sim::snapshot::RecordRef;
use crate::sim::world::World;

/// How much a reader should know already.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the format's own words")]
pub enum Level {
    Beginner,
    Intermediate,
    Advanced,
}

impl Level {
    /// The format's word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Level::Beginner => "beginner",
            Level::Intermediate => "intermediate",
            Level::Advanced => "advanced",
        }
    }
}

/// A source for a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Citation {
    /// A Kafka improvement proposal, by number.
    Kip(u32),
    /// A page.
    Link {
        /// Its title.
        title: String,
        /// Its address.
        url: String,
    },
}

/// A page for further reading.
#[derive(Clone, Debug)]
pub struct Reading {
    /// Its title.
    pub title: String,
    /// Its address, with its place in the file.
    pub url: Written,
}

/// One chapter: the `chapter.yaml` of its folder.
#[derive(Clone, Debug)]
pub struct Chapter {
    /// The file.
    pub file: Arc<SourceFile>,
    /// `00.1`.
    pub id: String,
    /// Its folder's name.
    pub slug: String,
    /// Its name.
    pub title: String,
    /// What it is about.
    pub summary: Text,
    /// The course that it belongs to.
    pub course: Option<String>,
}

/// One scenario.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// The file.
    pub file: Arc<SourceFile>,
    /// `00.1.2`.
    pub id: String,
    /// Its part of addresses.
    pub slug: String,
    /// The folder that its file stands in: the chapter's slug. `None`: a file on its own.
    pub chapter: Option<String>,
    /// Short name.
    pub title: String,
    /// `h1`.
    pub headline: String,
    /// Level.
    pub level: Level,
    /// What it is about; the last step's values.
    pub summary: Text,
    /// What the reader starts with; the first step's values.
    pub start: Option<Text>,
    /// What to remember; the last step's values.
    pub takeaway: Option<Text>,
    /// What a real cluster does differently; the last step's values.
    pub simplified: Option<Text>,
    /// Settings that the page explains, in this order.
    pub configs: Vec<String>,
    /// Further reading.
    pub reading: Vec<Reading>,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// Ids to read first.
    pub requires: Vec<String>,
    /// Earlier slugs, redirected.
    pub aliases: Vec<String>,
    /// Whether it is checked, but neither simulated nor published.
    pub draft: bool,
    /// Reading time that the author gave, in minutes.
    pub minutes: Option<u32>,
    /// The script: world, actions, steps.
    pub script: Script,
    /// The same script with changes.
    pub variants: Vec<Variant>,
    /// Outcomes that are computed by running.
    pub tables: Vec<Table>,
}

impl Scenario {
    /// Reading time in minutes: the author's, or 200 words a minute and a third of one for each
    /// picture.
    #[must_use]
    pub fn minutes(&self) -> u32 {
        if let Some(minutes) = self.minutes {
            return minutes;
        }
        let whole = [&self.start, &self.takeaway].into_iter().flatten();
        let words: usize = whole
            .chain(self.script.steps.iter().flat_map(Step::texts))
            .chain(std::iter::once(&self.summary))
            .map(Text::word_count)
            .sum();
        let seconds = words * 60 / 200 + self.script.steps.len() * 20;
        u32::try_from(seconds.div_ceil(60).max(1)).unwrap_or(u32::MAX)
    }

    /// Every text of the scenario, variants included, in the file's order of keys.
    #[must_use]
    pub fn texts(&self) -> Vec<&Text> {
        let whole = [Some(&self.summary), self.start.as_ref(), self.takeaway.as_ref()];
        let mut texts: Vec<&Text> = whole.into_iter().flatten().collect();
        texts.extend(&self.simplified);
        texts.extend(self.script.steps.iter().flat_map(Step::texts));
        for variant in &self.variants {
            texts.extend(&variant.text);
            texts.extend(variant.script.steps.iter().flat_map(Step::texts));
        }
        for table in &self.tables {
            texts.extend(table.cells.iter().map(|cell| &cell.say));
        }
        texts
    }
}

/// What is run: a world, what happens to it, and the moments to look at.
#[derive(Clone, Debug)]
pub struct Script {
    /// Where the run starts from.
    pub world: World,
    /// In the file's order.
    pub actions: Vec<Action>,
    /// At least one.
    pub steps: Vec<Step>,
    /// The record whose journey the pictures trace, where the author named one.
    pub follow: Option<RecordRef>,
    /// Where producers and groups are declared, by name.
    pub places: BTreeMap<String, Span>,
    /// The settings that it gives.
    pub settings: Vec<Given>,
    /// Where `warm: false` stands, if it does.
    pub cold: Option<Span>,
}

impl Script {
    /// Where a producer or group is declared.
    #[must_use]
    pub fn place(&self, name: &str) -> Span {
        self.places.get(name).copied().unwrap_or_default()
    }
}

/// One action.
#[derive(Clone, Debug)]
pub struct Action {
    /// The format's name of it: `produce`.
    pub name: &'static str,
    /// When, in milliseconds.
    pub at_ms: u64,
    /// What.
    pub command: Command,
    /// Its place.
    pub span: Span,
}

/// When a step is.
#[derive(Clone, Debug)]
pub enum Timing {
    /// At this time, in milliseconds.
    At(u64),
    /// The first instant at which the condition is true.
    When {
        /// The condition.
        condition: Condition,
        /// How long it may take, counted from the step before, in milliseconds.
        within_ms: u64,
    },
}

/// One step.
#[derive(Clone, Debug)]
pub struct Step {
    /// Its number in the file, from 1; a variant's steps keep theirs.
    pub number: u32,
    /// The place of the step.
    pub span: Span,
    /// When.
    pub timing: Timing,
    /// The place of `at` or `when`.
    pub timing_span: Span,
    /// Its heading.
    pub title: String,
    /// What happens.
    pub text: Option<Text>,
    /// A question before the text's decisive part.
    pub ask: Option<Text>,
    /// Its answer.
    pub answer: Option<Text>,
    /// What a real cluster does differently here.
    pub simplified: Option<Text>,
    /// What must be true.
    pub expect: Vec<Statement>,
    /// Settings that matter here.
    pub configs: Vec<String>,
    /// Sources.
    pub cite: Vec<Citation>,
    /// In a variant: the text and `expect` are the main script's.
    pub kept: Kept,
}

impl Step {
    /// The observables that its texts and statements read.
    pub(super) fn paths(&self) -> impl Iterator<Item = &Path> {
        let kept: &[Statement] = match &self.kept {
            Kept::Text(statements) => statements,
            _ => &[],
        };
        let stated = self.expect.iter().chain(kept).map(|statement| &statement.path);
        stated.chain(self.texts().flat_map(Text::paths))
    }

    /// Its texts.
    pub fn texts(&self) -> impl Iterator<Item = &Text> {
        [&self.text, &self.ask, &self.answer, &self.simplified].into_iter().flatten()
    }
}

/// What a variant's step says with the main script's words, which therefore must be true here too.
#[derive(Clone, Debug, Default)]
pub enum Kept {
    /// Nothing: it speaks for itself.
    #[default]
    No,
    /// Its text, so these lines of the main script must hold.
    Text(Vec<Statement>),
    /// Its `expect`, and with it all that it says.
    All,
}

/// The same script with changes.
#[derive(Clone, Debug)]
pub struct Variant {
    /// Its part of addresses.
    pub id: String,
    /// The place of its id.
    pub span: Span,
    /// Its name.
    pub title: String,
    /// What differs; the last step's values.
    pub text: Option<Text>,
    /// The changed script.
    pub script: Script,
}

impl Variant {
    /// Whether the file has an entry of the variant's own for a step. A step without one stands at
    /// the variant's id.
    #[must_use]
    pub fn has_entry(&self, number: u32) -> bool {
        self.script.steps.iter().any(|step| step.number == number && step.span != self.span)
    }
}

/// Outcomes, computed by running.
#[derive(Clone, Debug)]
pub struct Table {
    /// Its part of addresses.
    pub id: String,
    /// The place of its id.
    pub span: Span,
    /// Its heading.
    pub title: String,
    /// The headings of its rows.
    pub rows: Vec<String>,
    /// The headings of its columns; empty where it has none.
    pub columns: Vec<String>,
    /// The lines of which each cell prints the first that holds.
    pub cells: Vec<Cell>,
    /// The changed scripts by row, then column; one column where there are no columns. Their steps
    /// are the main script's.
    pub scripts: Vec<Vec<Script>>,
}

/// One line of a table's `cells`.
#[derive(Clone, Debug)]
pub struct Cell {
    /// When it is printed; `None`: always.
    pub condition: Option<Condition>,
    /// What it says.
    pub say: Text,
}
