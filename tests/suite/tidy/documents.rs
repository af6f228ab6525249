//! The documents about the repository say what is there.

use std::fs;
use std::process::Command;

use super::{assert_none, root, texts};

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[test]
fn every_part_is_described_in_the_architecture() {
    let text = read("ARCHITECTURE.md");
    let mut findings = Vec::new();
    for entry in fs::read_dir(root().join("src")).expect("the source is there") {
        let entry = entry.expect("an entry of the source's folder can be read");
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.path().is_dir() && !text.contains(&format!("`{name}`")) {
            findings.push(format!("src/{name} is not in ARCHITECTURE.md"));
        }
    }
    assert_none("parts in ARCHITECTURE.md", &findings);
}

#[test]
fn paths_that_the_documents_name_exist() {
    let folders = ["src/", "tests/", "scenarios/", "content/", "templates/", "static/", "benches/"];
    let mut findings = Vec::new();
    for document in ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "tests/README.md"] {
        let text = read(document);
        // Code stands between single backquotes; blocks are commands and examples.
        let prose: String = text.split("```").step_by(2).collect();
        for code in prose.split('`').skip(1).step_by(2) {
            let path = code.trim_end_matches('/');
            let is_path = folders.iter().any(|folder| code.starts_with(folder));
            let is_pattern = code.contains(['<', '*', ' ']);
            if is_path && !is_pattern && !root().join(path).exists() {
                findings.push(format!("{document}: {code}"));
            }
        }
    }
    assert_none("paths in the documents", &findings);
}

#[test]
fn the_commands_of_the_readme_are_those_that_ci_runs() {
    let (readme, ci) = (read("README.md"), read(".ci/run"));
    assert!(readme.contains("cargo run --release -- build"));
    assert!(ci.contains("cargo run --release --locked -- build"));
    assert!(readme.contains("cargo test"));
    assert!(ci.contains("cargo test --locked"));
}

#[test]
fn documents_have_one_title_and_no_skipped_level() {
    let mut findings = Vec::new();
    for document in texts(&["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "tests/README.md"]) {
        let prose: String = document.text.split("```").step_by(2).collect();
        let levels: Vec<usize> = prose
            .lines()
            .filter(|line| line.starts_with('#'))
            .map(|line| line.chars().take_while(|c| *c == '#').count())
            .collect();
        let titles = levels.iter().filter(|level| **level == 1).count();
        let skips = levels.windows(2).any(|pair| pair[1] > pair[0] + 1);
        if levels.first() != Some(&1) || titles != 1 || skips {
            findings.push(format!("{}: {levels:?}", document.path));
        }
    }
    assert_none("headings", &findings);
}

#[test]
fn the_scenario_of_the_readme_runs_as_it_stands() {
    let readme = read("README.md");
    let (_, rest) = readme.split_once("```yaml\n").expect("the README shows a scenario");
    let (yaml, _) = rest.split_once("```").expect("the scenario ends");
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let file = folder.path().join("first-record.yaml");
    fs::write(&file, yaml).expect("the folder can be written to");
    let program = env!("CARGO_BIN_EXE_kafka-sim-site");
    let output = Command::new(program).arg("run").arg(&file).output().expect("the program starts");
    let text = String::from_utf8_lossy(&output.stdout);
    let messages = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}{messages}");
    assert!(text.contains("Acknowledged"), "{text}");
    assert_eq!(messages, "", "not even a warning");
}
