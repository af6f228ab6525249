//! A checked scenario: names exist, settings are Kafka's, texts are parsed. It cannot be wrong, only untrue.

use std::sync::Arc;

use crate::diag::SourceFile;
use crate::sim::command::Command;
use crate::sim::world::World;

/// How much a reader should know already.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the format's own words")]
pub enum Level {
    Beginner,
    Intermediate,
    Advanced,
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

/// One scenario. (The parts about steps, texts and variants are the scenario module's own.)
#[derive(Clone, Debug)]
pub struct Scenario {
    /// The file.
    pub file: Arc<SourceFile>,
    /// `00.1.2`.
    pub id: String,
    /// Its part of addresses.
    pub slug: String,
    /// Short name.
    pub title: String,
    /// `h1`.
    pub headline: String,
    /// Level.
    pub level: Level,
    /// `follow`, `configs`, `reading`, `tags`, ... as in the format.
    pub configs: Vec<String>,
    /// Where the run starts from.
    pub world: World,
    /// Actions with their time in milliseconds, in the file's order.
    pub actions: Vec<(u64, Command)>,
}
