//! The folders of `scenarios/`: every chapter has one with a `chapter.yaml`, and every scenario
//! stands directly in one. What stands elsewhere would be left out of the site without a word.

use std::sync::Arc;

use crate::diag::{Code, Problem, Report, SourceFile, Span, nearest};
use crate::scenario::id;

const CHAPTER: &str = "chapter.yaml";

/// What stands under `scenarios/`.
pub struct Folders<'a> {
    /// The names of its folders.
    pub names: Vec<String>,
    /// The paths of all files in it, those that are not read too.
    pub paths: Vec<String>,
    /// The files that were read.
    pub files: &'a mut Vec<Arc<SourceFile>>,
}

/// Checks the folders. A file that was most likely meant to be a `chapter.yaml` is set aside, since
/// what is wrong with it as a scenario is not worth reading.
pub fn check(folders: &mut Folders<'_>) -> Report {
    let mut report = Report::default();
    for name in &folders.names {
        let inside = format!("scenarios/{name}/");
        let names: Vec<&str> =
            folders.paths.iter().filter_map(|path| path.strip_prefix(&inside)).collect();
        if names.contains(&CHAPTER) {
            continue;
        }
        let likely = likely(folders.files, &inside, &names);
        if let Some(likely) = &likely {
            folders.files.retain(|file| file.path != *likely);
        }
        report.push(no_chapter(name, likely.as_deref(), names.is_empty()));
    }
    for path in folders.paths.iter().filter(|path| path.ends_with(".yml")) {
        report.push(
            problem(path, "the file is not read, since its name does not end in `.yaml`")
                .help("rename it"),
        );
    }
    for path in folders.paths.iter().filter(|path| path.ends_with(".yaml")) {
        if path.matches('/').count() != 2 {
            let message = "the file does not stand directly in a chapter's folder";
            report.push(
                problem(path, message)
                    .help("scenarios are files such as `scenarios/<chapter>/<slug>.yaml`"),
            );
        }
    }
    report
}

/// The file that was most likely meant to be the `chapter.yaml`: a name near to it, and no steps.
fn likely(files: &[Arc<SourceFile>], inside: &str, names: &[&str]) -> Option<String> {
    let has_steps = |path: &str| {
        let file = files.iter().find(|file| file.path == path);
        file.is_some_and(|file| file.text.lines().any(|line| line.starts_with("steps:")))
    };
    let candidates = names.iter().copied().filter(|name| !has_steps(&format!("{inside}{name}")));
    nearest(CHAPTER, candidates).map(|name| format!("{inside}{name}"))
}

fn no_chapter(name: &str, likely: Option<&str>, is_empty: bool) -> Problem {
    let mut problem = problem(
        &format!("scenarios/{name}"),
        &format!("the folder `{name}` has no `{CHAPTER}`, so it is no chapter"),
    );
    if is_empty {
        problem = problem.note("the folder is empty");
    }
    if !id::is_slug(name) {
        let note = "its name cannot be a chapter's either: small letters, digits and hyphens only";
        problem = problem.note(note);
    }
    problem.help(match likely {
        Some(likely) => format!("rename `{likely}` to `{CHAPTER}`"),
        None => format!("give it a `{CHAPTER}` with `id`, `title` and `summary`"),
    })
}

fn problem(path: &str, message: &str) -> Problem {
    let file = Arc::new(SourceFile::new(path, ""));
    Problem::error(Code::ChapterFolder, &file, Span::default(), message)
}
