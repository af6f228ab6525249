//! What a rendered report shows, and what it must never let through.

use std::sync::Arc;

use super::{Style, to_github, to_json, to_text};
use crate::diag::{Code, Problem, Report, SourceFile, Span};

fn file(text: &str) -> Arc<SourceFile> {
    Arc::new(SourceFile::new("scenarios/a.yaml", text))
}

fn text_of(problem: Problem) -> String {
    to_text(&Report { problems: vec![problem] }, Style::Plain)
}

#[test]
fn a_problem_shows_place_line_label_notes_and_help() {
    let file = file("id: 1\ntitel: One record\n");
    let text = text_of(
        Problem::error(Code::UnknownKey, &file, Span::new(6, 11), "unknown key `titel`")
            .label("not a key of a scenario")
            .note("keys are: title, text")
            .did_you_mean("titel", ["title", "text"]),
    );
    let expected = "\
error[KS0004]: unknown key `titel`
 --> scenarios/a.yaml:2:1
  |
2 | titel: One record
  | ^^^^^ not a key of a scenario
  |
  = note: keys are: title, text
  = help: did you mean `title`?

1 error
";
    assert_eq!(text, expected);
}

#[test]
fn problems_are_sorted_counted_and_printed_once() {
    let file = file("a\nb\nc\n");
    let at = |byte| Problem::error(Code::BadValue, &file, Span::new(byte, byte + 1), "m");
    let warning = Problem::warning(Code::NoExpect, &file, Span::new(2, 3), "w");
    let report = Report { problems: vec![at(4), at(0), warning, at(4)] };
    let text = to_text(&report, Style::Plain);
    let places: Vec<&str> = text.lines().filter(|line| line.contains("-->")).collect();
    let expected: Vec<String> =
        (1..=3).map(|line| format!(" --> scenarios/a.yaml:{line}:1")).collect();
    assert_eq!(places, expected);
    assert!(text.ends_with("2 errors, 1 warning\n"), "{text}");
}

#[test]
fn nothing_that_a_terminal_obeys_gets_through() {
    let hostile = "a: \u{1b}[31mred\u{7}\t\u{202e}x\u{9b}2J\r\u{0}";
    let file = file(hostile);
    let problem = Problem::error(Code::Syntax, &file, Span::new(3, hostile.len()), hostile)
        .label(hostile)
        .note(format!("line one\nline two {hostile}"))
        .help(hostile);
    let text = text_of(problem);
    let bad = |c: char| c != '\n' && (c.is_control() || ('\u{202a}'..='\u{202e}').contains(&c));
    assert!(!text.chars().any(bad), "{text:?}");
    assert!(text.contains('␛') && text.contains("line one␊line two"), "{text}");
}

#[test]
fn of_a_long_line_the_part_around_the_place_is_shown() {
    let long = format!("{}WRONG{}", "x".repeat(100_000), "y".repeat(900_000));
    let file = file(&long);
    let text = text_of(Problem::error(
        Code::Syntax,
        &file,
        Span::new(100_000, 100_005),
        "m".repeat(9_999),
    ));
    assert!(text.len() < 3_000, "{} bytes", text.len());
    assert!(text.contains("xWRONGy") && text.contains("^^^^^"), "{text}");
    assert!(!text.contains(":::"), "{text}");
    assert!(text.contains("scenarios/a.yaml:1:100001"), "{text}");
}

#[test]
fn places_at_the_edges_are_shown_without_a_panic() {
    for text in ["", "\n", "a", "ä", "日本語\n", "a\r\nb"] {
        let file = file(text);
        for start in 0..=text.len() + 2 {
            for end in 0..=text.len() + 2 {
                let problem = Problem::error(Code::Syntax, &file, Span::new(start, end), "m");
                let report = Report { problems: vec![problem] };
                assert!(to_text(&report, Style::Coloured).contains("KS0003"));
                assert!(to_json(&report).contains("KS0003"));
                assert!(to_github(&report).contains("KS0003"));
            }
        }
    }
}

#[test]
fn marks_stand_under_wide_characters() {
    let file = file("名: 日本 x\n");
    let text = text_of(Problem::error(Code::BadValue, &file, Span::new(5, 11), "m"));
    assert!(text.contains("1 | 名: 日本 x\n  |     ^^^^\n"), "{text}");
}

#[test]
fn json_holds_lines_and_columns_from_one() {
    let file = file("a: 1\nb: ä\n");
    let problem = Problem::error(Code::BadValue, &file, Span::new(8, 10), "m").note("n");
    let json: serde_json::Value =
        serde_json::from_str(&to_json(&Report { problems: vec![problem] })).expect("it is JSON");
    assert_eq!(json[0]["code"], "KS0008");
    assert_eq!((&json[0]["line"], &json[0]["column"]), (&2.into(), &4.into()));
    assert_eq!((&json[0]["end_line"], &json[0]["end_column"]), (&2.into(), &5.into()));
    assert_eq!(json[0]["notes"][0], "n");
}

#[test]
fn a_github_annotation_is_one_line_with_its_marks_escaped() {
    let file = Arc::new(SourceFile::new("a,b.yaml", "x"));
    let problem = Problem::warning(Code::NoExpect, &file, Span::new(0, 1), "100%\nsure").help("h");
    let text = to_github(&Report { problems: vec![problem] });
    let title = "title=KS0212 step without expectations";
    assert_eq!(
        text,
        format!("::warning file=a%2Cb.yaml,line=1,col=1,{title}::100%25%0Asure%0Ah\n")
    );
}
