//! All scenarios of a site together: chapters, unique ids and slugs, and what refers from one file
//! to another.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::context::Context;
use super::keys;
use super::lint::lint;
use super::model::{Chapter, Scenario};
use super::names::Names;
use super::read::{self, folder_of, optional_text, text_of};
use super::{id, yaml};
use crate::diag::{Code, Problem, Report, SourceFile, Span};

/// The chapters and scenarios of a site, each in the order of their ids.
#[derive(Clone, Debug, Default)]
pub struct Catalogue {
    /// The chapters.
    pub chapters: Vec<Chapter>,
    /// The scenarios, drafts included.
    pub scenarios: Vec<Scenario>,
}

/// Reads all files of a site's scenarios: `scenarios/<chapter>/<slug>.yaml` and `chapter.yaml`.
/// What has errors is left out of the catalogue, and the report names all of them.
#[must_use]
pub fn load(files: &[Arc<SourceFile>]) -> (Catalogue, Report) {
    let mut catalogue = Catalogue::default();
    let mut report = Report::default();
    for file in files {
        if is_chapter(&file.path) {
            let (chapter, problems) = read_chapter(file);
            catalogue.chapters.extend(chapter);
            report.extend(problems);
        } else {
            let (scenario, problems) = read::read(file);
            catalogue.scenarios.extend(scenario);
            report.extend(problems);
        }
    }
    catalogue.sort();
    report.extend(check(&catalogue));
    (catalogue, report)
}

/// Whether a file describes a chapter.
#[must_use]
pub fn is_chapter(path: &str) -> bool {
    path.rsplit('/').next() == Some("chapter.yaml")
}

impl Catalogue {
    /// Puts everything in the order of the ids.
    pub fn sort(&mut self) {
        self.chapters.sort_by_key(|chapter| id::order(&chapter.id));
        self.scenarios.sort_by_key(|scenario| id::order(&scenario.id));
    }

    /// The scenarios of a chapter, by its slug.
    pub fn scenarios_of<'a>(&'a self, chapter: &'a str) -> impl Iterator<Item = &'a Scenario> {
        let in_chapter = move |it: &&Scenario| it.chapter.as_deref() == Some(chapter);
        self.scenarios.iter().filter(in_chapter)
    }
}

/// Reads a `chapter.yaml`. `None`: it has errors, and the report names all of them.
#[must_use]
pub fn read_chapter(file: &Arc<SourceFile>) -> (Option<Chapter>, Report) {
    let mut report = Report::default();
    let chapter = yaml::read(file, &mut report).and_then(|root| {
        lint(file, &root, &keys::CHAPTER, &mut report);
        let names = Names::default();
        let mut context = Context { file, names: &names, report: &mut report };
        let summary = optional_text(&mut context, &root, "summary", 0);
        let slug = folder_of(&file.path).unwrap_or_default();
        if !id::is_slug(&slug) {
            let message = format!("the folder's name `{slug}` is not a slug");
            context.error(Code::BadId, Span::default(), message);
        }
        Some(Chapter {
            id: text_of(&root, "id")?,
            slug,
            title: text_of(&root, "title")?,
            summary: summary?,
            course: text_of(&root, "course"),
            file: Arc::clone(file),
        })
    });
    (chapter.filter(|_| !report.has_errors()), report)
}

/// Checks what must be unique over the whole site, and what refers to other files.
#[must_use]
pub fn check(catalogue: &Catalogue) -> Report {
    let mut report = Report::default();
    let mut seen = Seen { names: BTreeMap::new(), report: Report::default() };
    for chapter in &catalogue.chapters {
        seen.take(&chapter.file, "chapter id", &chapter.id);
        seen.take(&chapter.file, "chapter", &chapter.slug);
    }
    for scenario in &catalogue.scenarios {
        seen.take(&scenario.file, "id", &scenario.id);
        seen.take(&scenario.file, "slug", &scenario.slug);
    }
    // After all slugs, so that the alias is what is reported where it meets one.
    for scenario in &catalogue.scenarios {
        for alias in &scenario.aliases {
            seen.take(&scenario.file, "slug", alias);
        }
        belongs(&mut report, catalogue, scenario);
        requires(&mut report, catalogue, scenario);
    }
    report.extend(seen.report);
    report
}

/// What has been named so far: by kind and name, the file that did.
struct Seen<'a> {
    names: BTreeMap<(&'static str, &'a str), &'a Arc<SourceFile>>,
    report: Report,
}

impl<'a> Seen<'a> {
    fn take(&mut self, file: &'a Arc<SourceFile>, what: &'static str, name: &'a str) {
        if let Some(other) = self.names.insert((what, name), file) {
            let message = format!("the {what} `{name}` is used by {} too", other.path);
            let problem = Problem::error(Code::DuplicateName, file, place_of(file, name), message);
            self.report.push(problem);
        }
    }
}

/// A scenario's id begins with its chapter's.
fn belongs(report: &mut Report, catalogue: &Catalogue, scenario: &Scenario) {
    let file = &scenario.file;
    let Some(slug) = &scenario.chapter else { return };
    let Some(chapter) = catalogue.chapters.iter().find(|chapter| chapter.slug == *slug) else {
        return;
    };
    if id::chapter_of(&scenario.id) != Some(&chapter.id) {
        let message = format!("`{}` does not begin with its chapter's id", scenario.id);
        let problem = Problem::error(Code::BadId, file, place_of(file, &scenario.id), message);
        report.push(problem.note(format!("the scenarios of `{slug}` are {}.<number>", chapter.id)));
    }
}

fn requires(report: &mut Report, catalogue: &Catalogue, scenario: &Scenario) {
    for required in &scenario.requires {
        if !catalogue.scenarios.iter().any(|other| other.id == *required) {
            let file = &scenario.file;
            let message = format!("there is no scenario `{required}`");
            let span = place_of(file, required);
            let ids = catalogue.scenarios.iter().map(|other| other.id.as_str());
            let problem = Problem::error(Code::UnknownScenario, file, span, message);
            report.push(problem.did_you_mean(required, ids));
        }
    }
}

/// The first place at which a name stands as a word of its own; the start of the file where it does
/// not.
fn place_of(file: &SourceFile, name: &str) -> Span {
    let part_of_word = |character: Option<char>| {
        character.is_some_and(|it| it.is_alphanumeric() || matches!(it, '.' | '-' | '_'))
    };
    let found = file.text.match_indices(name).find(|(at, _)| {
        !part_of_word(file.text[..*at].chars().next_back())
            && !part_of_word(file.text[at + name.len()..].chars().next())
    });
    found.map_or(Span::default(), |(at, name)| Span::new(at, at + name.len()))
}
