//! What holds for every file, however it was mangled, and for hostile ones in particular.

use std::fmt::Write as _;
use std::sync::Arc;

use kafka_sim_site::diag::{Report, SourceFile};
use kafka_sim_site::scenario;
use kafka_sim_site::scenario::model::Scenario;
use proptest::prelude::*;

const EXAMPLE: &str = include_str!("../problems/whole-example.yaml");

fn read(text: impl Into<String>) -> (Option<Scenario>, Report) {
    scenario::read(&Arc::new(SourceFile::new("scenarios/a/b.yaml", text)))
}

/// One way to spoil a text.
#[derive(Clone, Debug)]
enum Slip {
    Cut(prop::sample::Index, usize),
    Insert(prop::sample::Index, &'static str),
    Swap(prop::sample::Index, prop::sample::Index),
}

fn slip() -> impl Strategy<Value = Slip> {
    let index = any::<prop::sample::Index>;
    let bits = vec![
        "{",
        "}",
        "[",
        "]",
        ":",
        "\"",
        "'",
        "\n",
        "\t",
        " - ",
        "{{",
        "}}",
        "&a ",
        "*a",
        "!!int ",
        "null",
        "-1",
        "99999999999999999999",
        "é",
        "\u{0}",
        "|\n",
        "#",
        ".",
        "0s",
        "1e9",
        ": {",
    ];
    prop_oneof![
        (index(), 1_usize..40).prop_map(|(at, length)| Slip::Cut(at, length)),
        (index(), prop::sample::select(bits)).prop_map(|(at, bit)| Slip::Insert(at, bit)),
        (index(), index()).prop_map(|(one, other)| Slip::Swap(one, other)),
    ]
}

fn spoil(text: &str, slip: &Slip) -> String {
    let mut characters: Vec<char> = text.chars().collect();
    if characters.is_empty() {
        return String::new();
    }
    match slip {
        Slip::Cut(at, length) => {
            let at = at.index(characters.len());
            let end = (at + length).min(characters.len());
            characters.drain(at..end);
            characters.into_iter().collect()
        }
        Slip::Insert(at, bit) => {
            let at = at.index(characters.len());
            characters.splice(at..at, bit.chars());
            characters.into_iter().collect()
        }
        Slip::Swap(one, other) => {
            let mut lines: Vec<&str> = text.lines().collect();
            let (one, other) = (one.index(lines.len().max(1)), other.index(lines.len().max(1)));
            if lines.len() > 1 {
                lines.swap(one, other);
            }
            lines.join("\n")
        }
    }
}

proptest! {
    #[test]
    fn a_mangled_file_is_read_or_refused_with_reasons(
        slips in prop::collection::vec(slip(), 1..4)
    ) {
        let mut text = EXAMPLE.to_owned();
        for slip in &slips {
            text = spoil(&text, slip);
        }
        let (scenario, report) = read(text.clone());
        prop_assert_eq!(scenario.is_none(), report.has_errors());
        for problem in &report.problems {
            prop_assert!(problem.span.start <= problem.span.end);
            prop_assert!(problem.span.end <= text.len(), "{:?}", problem);
            prop_assert!(text.is_char_boundary(problem.span.start), "{:?}", problem);
            prop_assert!(text.is_char_boundary(problem.span.end), "{:?}", problem);
        }
        prop_assert_eq!(report, read(text).1);
    }
}

#[test]
fn a_byte_order_mark_and_windows_line_ends_do_not_matter() {
    for text in [format!("\u{feff}{EXAMPLE}"), EXAMPLE.replace('\n', "\r\n")] {
        let (scenario, report) = read(text);
        assert_eq!(report.problems, []);
        assert_eq!(scenario.expect("it is the example").script.steps.len(), 6);
    }
}

#[test]
fn hostile_files_are_refused() {
    let mut keys = String::new();
    for number in 0..90_000 {
        writeln!(keys, "k{number}: 1").expect("a String takes every write");
    }
    let bomb = "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n".to_owned();
    let list = format!("tags: [{}]", "a,".repeat(300_000));
    let files = [
        String::new(),
        "\n# nothing\n".to_owned(),
        "\t- a\n".to_owned(),
        "a: \u{0}".to_owned(),
        "[".repeat(100_000),
        "{a: ".repeat(50_000),
        "- ".repeat(100_000),
        "? ".repeat(10_000),
        "x".repeat((1 << 20) + 1),
        format!("title: {}", "x".repeat(1 << 19)),
        "---\n".repeat(10_000),
        "%YAML 1.2\n---\n".to_owned(),
        "id: [".to_owned(),
        keys,
        bomb,
        list,
    ];
    for file in files {
        let shown: String = file.chars().take(30).collect();
        let (scenario, report) = read(file);
        assert!(scenario.is_none() && report.has_errors(), "{shown}");
    }
}
