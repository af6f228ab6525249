//! What the rest of a site needs to know of a file: what it is called and what it refers to. It is
//! found in files with errors too, as far as they can be read, so that a mistake in one file does
//! not make the references of others wrong.

use std::sync::Arc;

use super::model::{Chapter, Scenario};
use super::read::{folder_of, slug_of_file, text_of, texts};
use super::tree::Node;
use super::{id, yaml};
use crate::diag::{Report, SourceFile};

/// The outline of a scenario's or chapter's file.
#[derive(Clone, Debug)]
pub struct Outline {
    /// The file.
    pub file: Arc<SourceFile>,
    /// The folder that it stands in: the chapter's slug.
    pub chapter: Option<String>,
    /// Its id, where it has one.
    pub id: Option<String>,
    /// A scenario's slug.
    pub slug: String,
    /// Earlier slugs.
    pub aliases: Vec<String>,
    /// Ids of scenarios to read first.
    pub requires: Vec<String>,
}

impl Outline {
    /// Of a scenario without errors.
    #[must_use]
    pub fn of(scenario: &Scenario) -> Outline {
        Outline {
            file: Arc::clone(&scenario.file),
            chapter: scenario.chapter.clone(),
            id: Some(scenario.id.clone()),
            slug: scenario.slug.clone(),
            aliases: scenario.aliases.clone(),
            requires: scenario.requires.clone(),
        }
    }

    /// Of a chapter without errors.
    #[must_use]
    pub fn of_chapter(chapter: &Chapter) -> Outline {
        Outline {
            file: Arc::clone(&chapter.file),
            chapter: Some(chapter.slug.clone()),
            id: Some(chapter.id.clone()),
            slug: chapter.slug.clone(),
            aliases: Vec::new(),
            requires: Vec::new(),
        }
    }

    /// What can be read of a file with errors, which are reported elsewhere.
    #[must_use]
    pub fn read(file: &Arc<SourceFile>) -> Outline {
        let root = yaml::read(file, &mut Report::default());
        let root = root.as_ref();
        let value = |key| match root {
            Some(root) => text_of(root, key),
            None => line_value(&file.text, key),
        };
        let list = |key| root.map_or_else(Vec::new, |root: &Node| texts(root.get(key)));
        let slug = value("slug").filter(|slug| id::is_slug(slug));
        Outline {
            file: Arc::clone(file),
            chapter: folder_of(&file.path),
            id: value("id").filter(|id| id::is_id(id)),
            slug: slug.unwrap_or_else(|| slug_of_file(&file.path).to_owned()),
            aliases: list("aliases"),
            requires: list("requires"),
        }
    }
}

/// The value of a key at the beginning of a line, for files that are not YAML.
fn line_value(text: &str, key: &str) -> Option<String> {
    let after = |line: &'_ str| Some(line.strip_prefix(key)?.strip_prefix(':')?.to_owned());
    let value = text.lines().find_map(after)?;
    let value = value.split(" #").next().unwrap_or_default().trim();
    Some(value.trim_matches(['"', '\'']).to_owned())
}
