//! From scenarios, texts and templates to the pages of the site. Files leave one at a time; what is
//! kept is what other pages need: names, links, and one row per scenario. Knows no disk and no network.

pub mod address;
pub mod assets;
pub mod config;
pub mod embed;
pub mod html;
pub mod links;
pub mod markdown;
pub mod player;
pub mod step;
pub mod templates;
pub mod words;

use std::sync::Arc;

use crate::diag::SourceFile;

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
