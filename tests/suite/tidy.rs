//! Rules about the repository itself: who may know whom, how long things may be, nothing unused.

use std::fs;
use std::path::{Path, PathBuf};

use kafka_sim_site::diag::Code;
use walkdir::WalkDir;

mod documents;
mod layers;
mod limits;
mod settings;

/// A text file of the repository.
pub struct Text {
    /// Its path from the repository's root, with `/`.
    pub path: String,
    /// What it holds.
    pub text: String,
}

impl Text {
    /// The lines with their numbers from 1.
    fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(index, line)| (index + 1, line))
    }

    fn has_ending(&self, ending: &str) -> bool {
        Path::new(&self.path).extension().is_some_and(|it| it == ending)
    }
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// All text files under these folders or files of the repository, sorted by path. What is built or
/// fetched is left out.
fn texts(places: &[&str]) -> Vec<Text> {
    let mut texts = Vec::new();
    for place in places {
        let walk = WalkDir::new(root().join(place)).sort_by_file_name().into_iter();
        let kept = walk.filter_entry(|entry| {
            let built = ["target", "node_modules", ".git", "book"];
            !built.iter().any(|name| entry.file_name() == *name)
        });
        for entry in kept.filter_map(Result::ok).filter(|entry| entry.file_type().is_file()) {
            let Ok(text) = fs::read_to_string(entry.path()) else { continue };
            let path = entry.path().strip_prefix(root()).expect("the walk begins at the root");
            let path = path.to_string_lossy().replace('\\', "/");
            texts.push(Text { path, text });
        }
    }
    texts
}

/// The Rust files under these folders.
fn rust(places: &[&str]) -> Vec<Text> {
    texts(places).into_iter().filter(|text| text.has_ending("rs")).collect()
}

/// Fails with all findings at once.
#[track_caller]
fn assert_none(what: &str, findings: &[String]) {
    assert!(findings.is_empty(), "{what}:\n{}", findings.join("\n"));
}

/// What of a file of `src` is in the product, and what are its unit tests.
fn product_and_tests(text: &Text) -> (&str, &str) {
    if text.path.ends_with("tests.rs") {
        return ("", &text.text);
    }
    text.text.split_once("#[cfg(test)]").unwrap_or((&text.text, ""))
}

/// Whether a code is named as one, and not only as the beginning of another.
fn names_code(text: &str, code: Code) -> bool {
    let name = format!("Code::{code:?}");
    text.match_indices(&name).any(|(at, _)| {
        let next = text[at + name.len()..].chars().next();
        !next.is_some_and(char::is_alphanumeric)
    })
}

#[test]
fn every_problem_code_is_reported_and_tested() {
    let source: Vec<Text> =
        rust(&["src"]).into_iter().filter(|text| text.path != "src/diag/code.rs").collect();
    let tests = texts(&["tests/problems", "tests/suite"]);
    let mut findings = Vec::new();
    for code in Code::ALL {
        if !source.iter().any(|text| names_code(product_and_tests(text).0, *code)) {
            findings.push(format!("{code} (Code::{code:?}) is reported nowhere"));
        }
        let tested =
            tests.iter().any(|text| text.text.contains(code.id()) || names_code(&text.text, *code))
                || source.iter().any(|text| names_code(product_and_tests(text).1, *code));
        if !tested {
            findings.push(format!("{code} (Code::{code:?}) is in no test"));
        }
    }
    assert_none("every code of src/diag/code.rs is reported and tested", &findings);
}

#[test]
fn every_template_and_static_file_is_used() {
    let users = texts(&["src", "templates", "static"]);
    let mut findings = Vec::new();
    for file in texts(&["templates", "static"]) {
        let name = file.path.rsplit('/').next().expect("a path has a last part");
        // A licence and the like stands beside the thing that is used.
        let is_note = file.has_ending("txt") || file.has_ending("md");
        let used = users.iter().any(|user| {
            let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
            let component = format!("{stem}.");
            user.path != file.path && (user.text.contains(name) || user.text.contains(&component))
        });
        if !used && !is_note {
            findings.push(format!("{} is named nowhere", file.path));
        }
    }
    assert_none("templates and static files are used", &findings);
}

#[test]
fn every_rust_file_is_a_module() {
    let files = rust(&["src", "tests/suite"]);
    let mut findings = Vec::new();
    for file in &files {
        let (folder, name) = file.path.rsplit_once('/').expect("all stand in a folder");
        let module = match name {
            "main.rs" | "lib.rs" => continue,
            "mod.rs" => folder.rsplit_once('/').map_or(folder, |(_, last)| last),
            name => name.trim_end_matches(".rs"),
        };
        let declares = |text: &Text| {
            text.text.lines().any(|line| {
                let line = line.trim_start_matches("pub ").trim_start_matches("pub(crate) ");
                let line = line.trim_start_matches("pub(super) ");
                line == format!("mod {module};")
            })
        };
        if !files.iter().any(declares) {
            findings.push(format!("{} is compiled nowhere", file.path));
        }
    }
    assert_none("every Rust file is part of the crate or of its tests", &findings);
}

#[test]
fn every_scenario_stands_in_a_chapter_and_every_chapter_has_one() {
    let mut findings = Vec::new();
    let files = texts(&["scenarios"]);
    for file in &files {
        let parts: Vec<&str> = file.path.split('/').collect();
        let [_, chapter, name] = parts[..] else {
            findings.push(format!("{} is not in a chapter's folder", file.path));
            continue;
        };
        let in_chapter = format!("scenarios/{chapter}/");
        let chapter_file = format!("{in_chapter}chapter.yaml");
        if !files.iter().any(|other| other.path == chapter_file) {
            findings.push(format!("{} has no chapter.yaml beside it", file.path));
        }
        let members = files.iter().filter(|other| other.path.starts_with(&in_chapter)).count();
        if name == "chapter.yaml" && members < 2 {
            findings.push(format!("{} has no scenario beside it", file.path));
        }
    }
    assert_none("scenarios and chapters belong together", &findings);
}

#[test]
fn the_withdrawn_release_of_arrayref_is_not_used() {
    let lock = fs::read_to_string(root().join("Cargo.lock")).expect("the lock file is there");
    let (_, rest) = lock.split_once("name = \"arrayref\"\n").expect("resvg needs arrayref");
    assert!(rest.starts_with("version = \"0.3.9\"\n"), "a later release carried malicious code");
}
