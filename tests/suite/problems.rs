//! Files with mistakes, and what is said about them. Each file of `tests/problems/` names its
//! problems in comments of its own, `# error[KS0101] 8:21 words of the message`; all of them, and
//! no others.

use std::path::Path;
use std::sync::Arc;

use kafka_sim_site::diag::{Problem, Report, SourceFile};
use kafka_sim_site::scenario;

/// The problems of a file, one a line: severity, code, place, message.
fn found(report: &Report) -> Vec<String> {
    report.sorted().into_iter().map(line).collect()
}

fn line(problem: &Problem) -> String {
    let (line, column) = problem.file.line_column(problem.span.start);
    let word = problem.severity.word();
    format!("{word}[{}] {line}:{column} {}", problem.code.id(), problem.message)
}

/// The problems that a file's comments announce.
fn announced(text: &str) -> Vec<&str> {
    let comments = text.lines().filter_map(|line| line.trim().strip_prefix("# "));
    let mut found: Vec<&str> = comments
        .filter(|line| line.starts_with("error[") || line.starts_with("warning["))
        .collect();
    found.sort_by_key(|line| place(line));
    found
}

fn place(line: &str) -> (usize, usize) {
    let place = line.split(' ').nth(1).and_then(|place| place.split_once(':'));
    let (line, column) = place.expect("an announced problem has a place");
    (line.parse().expect("a line"), column.parse().expect("a column"))
}

#[test]
fn every_file_has_exactly_the_problems_that_it_announces() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/problems");
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .expect("the folder of problems")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "yaml"))
        .collect();
    paths.sort();
    let mut failures = Vec::new();
    for path in paths {
        let text = std::fs::read_to_string(&path).expect("a text file");
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let file = Arc::new(SourceFile::new(name.clone(), text));
        let (scenario, mut report) = scenario::read(&file);
        assert_eq!(scenario.is_none(), report.has_errors(), "{name}");
        if let Some(scenario) = scenario {
            report.extend(scenario::simulate(&scenario).1);
        }
        let (expected, found) = (announced(&file.text), found(&report));
        let same = expected.len() == found.len()
            && expected.iter().zip(&found).all(|(want, have)| matches(want, have));
        if !same {
            failures.push(format!("{name}\n  announced: {expected:#?}\n  found: {found:#?}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Severity, code and place are the same, and the message has the announced words in it.
fn matches(announced: &str, found: &str) -> bool {
    let parts = |line: &str| -> Vec<String> { line.splitn(3, ' ').map(str::to_owned).collect() };
    let (announced, found) = (parts(announced), parts(found));
    announced[..2] == found[..2] && announced.get(2).is_none_or(|words| found[2].contains(words))
}

fn site(files: &[(&str, &str, &str)]) -> Vec<String> {
    let file = |(path, id, more): &(&str, &str, &str)| {
        let text = if path.ends_with("chapter.yaml") {
            format!("id: {id}\ntitle: T\nsummary: S\n{more}")
        } else {
            let head = "title: T\nlevel: beginner\nsummary: S\n";
            let steps = "steps: [{ at: 0s, title: T, expect: { time_ms: 0 } }]\n";
            format!("id: {id}\n{head}{more}\n{steps}")
        };
        Arc::new(SourceFile::new(*path, text))
    };
    let files: Vec<_> = files.iter().map(file).collect();
    let (_, report) = scenario::catalogue::load(&files);
    report
        .sorted()
        .into_iter()
        .map(|problem| format!("{} {}", problem.file.path, line(problem)))
        .collect()
}

#[test]
fn ids_and_slugs_are_unique_over_the_whole_site() {
    let found = site(&[
        ("scenarios/a/chapter.yaml", "00.1", ""),
        ("scenarios/b/chapter.yaml", "00.2", ""),
        ("scenarios/a/one.yaml", "00.1.1", "requires: [00.1.10]"),
        ("scenarios/a/two.yaml", "00.1.1", "aliases: [one]"),
        ("scenarios/b/three.yaml", "00.1.10", ""),
    ]);
    assert_eq!(
        found,
        [
            "scenarios/a/two.yaml error[KS0102] 1:5 the id `00.1.1` is used by \
             scenarios/a/one.yaml too",
            "scenarios/a/two.yaml error[KS0102] 5:11 the slug `one` is used by \
             scenarios/a/one.yaml too",
            "scenarios/b/three.yaml error[KS0012] 1:5 `00.1.10` does not begin with its \
             chapter's id",
        ]
    );
}

#[test]
fn what_a_scenario_requires_exists() {
    let found = site(&[("scenarios/a/one.yaml", "00.1.1", "requires: [00.1.2]")]);
    assert_eq!(found, ["scenarios/a/one.yaml error[KS0104] 5:12 there is no scenario `00.1.2`"]);
}
