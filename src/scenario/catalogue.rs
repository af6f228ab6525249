//! All scenarios of a site together: chapters, unique ids and slugs, and what refers from one file
//! to another.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::context::Context;
use super::keys;
use super::lint::lint;
use super::model::{Chapter, Scenario};
use super::names::Names;
use super::outline::Outline;
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
    /// What could be read of scenarios with errors.
    pub broken: Vec<Outline>,
    /// What could be read of chapters with errors.
    pub broken_chapters: Vec<Outline>,
}

/// Reads all files of a site's scenarios: `scenarios/<chapter>/<slug>.yaml` and `chapter.yaml`.
/// Of what has errors there is an outline only, and the report names all of them.
#[must_use]
pub fn load(files: &[Arc<SourceFile>]) -> (Catalogue, Report) {
    let mut catalogue = Catalogue::default();
    let mut report = Report::default();
    for file in files {
        if is_chapter(&file.path) {
            let (chapter, problems) = read_chapter(file);
            match chapter {
                Some(chapter) => catalogue.chapters.push(chapter),
                None => catalogue.broken_chapters.push(Outline::read(file)),
            }
            report.extend(problems);
        } else {
            let (scenario, problems) = read::read(file);
            match scenario {
                Some(scenario) => catalogue.scenarios.push(scenario),
                None => catalogue.broken.push(Outline::read(file)),
            }
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

    /// The slugs of chapters that the files speak of and that have errors or no `chapter.yaml`.
    #[must_use]
    pub fn chapters_with_errors(&self) -> BTreeSet<String> {
        let outlines = self.broken.iter().chain(&self.broken_chapters);
        let named = outlines.map(|outline| &outline.chapter);
        let named = named.chain(self.scenarios.iter().map(|scenario| &scenario.chapter));
        let mut slugs: BTreeSet<String> = named.flatten().cloned().collect();
        for chapter in &self.chapters {
            slugs.remove(&chapter.slug);
        }
        slugs
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

/// Checks what must be unique over the whole site, and what refers to other files. Files with
/// errors count as far as they could be read.
fn check(catalogue: &Catalogue) -> Report {
    let mut chapters: Vec<Outline> = catalogue.chapters.iter().map(Outline::of_chapter).collect();
    chapters.extend(catalogue.broken_chapters.iter().cloned());
    let mut scenarios: Vec<Outline> = catalogue.scenarios.iter().map(Outline::of).collect();
    scenarios.extend(catalogue.broken.iter().cloned());
    scenarios.sort_by_key(|scenario| scenario.id.as_deref().map_or(vec![u64::MAX], id::order));
    let mut report = Report::default();
    let mut seen = Seen { names: BTreeMap::new(), report: Report::default() };
    for chapter in &chapters {
        seen.take_id(chapter, "chapter id");
        seen.take(&chapter.file, "chapter", chapter.chapter.as_deref().unwrap_or_default());
    }
    for scenario in &scenarios {
        seen.take_id(scenario, "id");
        seen.take(&scenario.file, "slug", &scenario.slug);
    }
    // After all slugs, so that the alias is what is reported where it meets one.
    for scenario in &scenarios {
        for alias in &scenario.aliases {
            seen.take(&scenario.file, "slug", alias);
        }
        report.problems.extend(belongs(&chapters, scenario));
        requires(&mut report, &scenarios, scenario);
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
    fn take_id(&mut self, outline: &'a Outline, what: &'static str) {
        if let Some(id) = &outline.id {
            self.take(&outline.file, what, id);
        }
    }

    fn take(&mut self, file: &'a Arc<SourceFile>, what: &'static str, name: &'a str) {
        if let Some(other) = self.names.insert((what, name), file) {
            let message = format!("the {what} `{name}` is used by {} too", other.path);
            let problem = Problem::error(Code::DuplicateName, file, place_of(file, name), message);
            self.report.push(problem);
        }
    }
}

/// A scenario's id begins with its chapter's.
fn belongs(chapters: &[Outline], scenario: &Outline) -> Option<Problem> {
    let (file, slug) = (&scenario.file, scenario.chapter.as_deref()?);
    let chapter = chapters.iter().find(|chapter| chapter.chapter.as_deref() == Some(slug))?;
    let (id, chapter) = (scenario.id.as_deref()?, chapter.id.as_deref()?);
    if id::chapter_of(id) == Some(chapter) {
        return None;
    }
    let message = format!("`{id}` does not begin with its chapter's id");
    let problem = Problem::error(Code::BadId, file, place_of(file, id), message);
    Some(problem.note(format!("the scenarios of `{slug}` are {chapter}.<number>")))
}

fn requires(report: &mut Report, scenarios: &[Outline], scenario: &Outline) {
    let ids = || scenarios.iter().filter_map(|other| other.id.as_deref());
    for required in &scenario.requires {
        if ids().any(|id| id == required) {
            continue;
        }
        let file = &scenario.file;
        let message = format!("there is no scenario `{required}`");
        let problem =
            Problem::error(Code::UnknownScenario, file, place_of(file, required), message);
        // The file itself is never what was meant.
        let others = ids().filter(|id| Some(*id) != scenario.id.as_deref());
        report.push(problem.did_you_mean(required, others));
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
