//! From scenarios, texts and templates to the pages of the site. Files leave one at a time; what is
//! kept is what other pages need: names, links, and one row per scenario. Knows no disk and no
//! network.

pub mod address;
pub mod assets;
pub mod build;
pub mod card;
pub mod config;
pub mod contents;
pub mod data;
pub mod embed;
pub mod frame_height;
pub mod glossary;
pub mod html;
pub mod index;
pub mod links;
pub mod lists;
pub mod markdown;
pub mod outcomes;
pub mod owners;
pub mod page;
pub mod piece;
pub mod player;
pub mod scenario_page;
pub mod settings;
pub mod step;
pub mod take;
pub mod templates;
pub mod what_if;
pub mod words;

use std::sync::Arc;

use crate::diag::SourceFile;

pub use build::build;
pub use card::Cards;
use config::Config;

/// A site's folder as plain values, in the order of their paths.
#[derive(Clone, Debug, Default)]
pub struct Inputs {
    /// `book.toml`, or the defaults.
    pub config: Config,
    /// Every `*.yaml` under `scenarios/`.
    pub scenarios: Vec<Arc<SourceFile>>,
    /// Every Markdown file of the content folder.
    pub pages: Vec<Arc<SourceFile>>,
    /// Every file of `templates/`.
    pub templates: Vec<Arc<SourceFile>>,
    /// The content folder's other files, copied as they are.
    pub files: Vec<OutputFile>,
}

/// One file of the published site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputFile {
    /// Its path under the site's root, with `/`.
    pub path: String,
    /// Its content.
    pub bytes: Vec<u8>,
}

/// What happens to drafts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Drafts {
    /// They are parsed and linted, and have no page.
    #[default]
    Hide,
    /// They are treated like the others.
    Show,
}

/// How to build.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options<'a> {
    /// What happens to drafts.
    pub drafts: Drafts,
    /// Whether share cards are drawn. They need `site-url` to be a whole address.
    pub cards: Cards<'a>,
}
