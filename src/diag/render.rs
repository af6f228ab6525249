//! A report as text for a terminal, as JSON, and as annotations of GitHub's CI.
//!
//! Whatever an author's file holds is shown safely: control characters, escapes and characters that
//! turn the direction of writing are replaced by visible ones, and of a very long line only the
//! part around the place is shown.

use std::fmt::Write as _;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use serde::Serialize;

use super::{Problem, Report, Severity};

/// Characters shown of a line at most.
const LINE_CHARS_MAX: usize = 120;
/// Characters shown before the place, where the line is too long.
const LEAD_CHARS: usize = 40;
/// Characters shown of a message, note, label or help at most.
const TEXT_CHARS_MAX: usize = 2_000;

/// Whether terminal text carries colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Text alone.
    Plain,
    /// With ANSI colours.
    Coloured,
}

/// The report as text for people, by file and place, the counts last. Empty for an empty report.
#[must_use]
pub fn to_text(report: &Report, style: Style) -> String {
    let renderer = match style {
        Style::Plain => Renderer::plain(),
        Style::Coloured => Renderer::styled(),
    };
    let problems = report.sorted();
    let mut text = String::new();
    for problem in &problems {
        let _ = writeln!(text, "{}\n", problem_text(problem, &renderer));
    }
    if !problems.is_empty() {
        let _ = writeln!(text, "{}", summary(&problems));
    }
    text
}

/// How many errors and warnings there are: `2 errors, 1 warning`.
fn summary(problems: &[&Problem]) -> String {
    let count = |severity| problems.iter().filter(|problem| problem.severity == severity).count();
    let part = |severity: Severity| match count(severity) {
        0 => None,
        1 => Some(format!("1 {}", severity.word())),
        many => Some(format!("{many} {}s", severity.word())),
    };
    [Severity::Error, Severity::Warning].into_iter().filter_map(part).collect::<Vec<_>>().join(", ")
}

fn problem_text(problem: &Problem, renderer: &Renderer) -> String {
    let (line, column) = problem.file.line_column(problem.span.start);
    let level = match problem.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let shown = shown_line(problem, line);
    let mark = AnnotationKind::Primary.span(shown.mark.0..shown.mark.1);
    let snippet = Snippet::source(shown.text)
        .line_start(line)
        .annotation(if problem.label.is_empty() { mark } else { mark.label(safe(&problem.label)) });
    let path = safe(&problem.file.path);
    let title = level.primary_title(safe(&problem.message)).id(problem.code.id());
    // The snippet works out the column from what it holds, which is wrong where a line was cut.
    let place = format!("{path}:{line}:");
    let mut group: Group<'_> = title.element(snippet.path(path));
    for note in &problem.notes {
        group = group.element(Level::NOTE.message(safe(note)));
    }
    if let Some(help) = &problem.help {
        group = group.element(Level::HELP.message(safe(help)));
    }
    let text = renderer.render(&[group]);
    match text.split_once(&place) {
        Some((before, after)) if shown.cut => {
            let after = after.trim_start_matches(|it: char| it.is_ascii_digit());
            format!("{before}{place}{column}{after}")
        }
        _ => text,
    }
}

/// One line as it is shown, and the bytes in it to mark.
struct ShownLine {
    text: String,
    mark: (usize, usize),
    /// Whether its beginning is left out.
    cut: bool,
}

/// The part of the problem's first line that fits, with the place marked in it. A place that goes
/// on over further lines is marked to the line's end.
fn shown_line(problem: &Problem, line: usize) -> ShownLine {
    let start = problem.file.byte(line, 1);
    let whole = problem.file.text[start..].split('\n').next().unwrap_or_default();
    let whole = whole.strip_suffix('\r').unwrap_or(whole);
    let at = |byte: usize| {
        let byte = byte.saturating_sub(start).min(whole.len());
        whole.char_indices().take_while(|(index, _)| *index < byte).count()
    };
    let (from, to) = (at(problem.span.start), at(problem.span.end.max(problem.span.start)));
    let total = whole.chars().count();
    let first = if total <= LINE_CHARS_MAX { 0 } else { from.saturating_sub(LEAD_CHARS) };
    let mut text = String::new();
    let mut bounds = Vec::new();
    if first > 0 {
        text.push('…');
    }
    for character in whole.chars().skip(first).take(LINE_CHARS_MAX) {
        bounds.push(text.len());
        text.push(visible(character));
    }
    bounds.push(text.len());
    if first + LINE_CHARS_MAX < total {
        text.push('…');
    }
    let bound = |chars: usize| bounds[chars.saturating_sub(first).min(bounds.len() - 1)];
    // An empty place is shown as one character where there is one.
    let mark = (bound(from), bound(to.max(from + 1)));
    ShownLine { text, mark, cut: first > 0 }
}

/// A text on one line without anything that a terminal would obey, cut where it is too long.
fn safe(text: &str) -> String {
    let mut safe: String = text.chars().take(TEXT_CHARS_MAX).map(visible).collect();
    if safe.len() < text.len() && text.chars().nth(TEXT_CHARS_MAX).is_some() {
        safe.push('…');
    }
    safe
}

/// The character itself, or a visible one in its place.
fn visible(character: char) -> char {
    match character {
        '\t' => ' ',
        '\u{0}'..='\u{1f}' => {
            char::from_u32(0x2400 + u32::from(character)).unwrap_or(char::REPLACEMENT_CHARACTER)
        }
        '\u{7f}' => '␡',
        '\u{80}'..='\u{9f}'
        | '\u{ad}'
        | '\u{61c}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}' => char::REPLACEMENT_CHARACTER,
        other => other,
    }
}

/// One problem as JSON holds it. Lines and columns count from 1, columns in characters.
#[derive(Serialize)]
struct JsonProblem<'a> {
    code: &'a str,
    title: &'a str,
    severity: &'a str,
    path: &'a str,
    line: usize,
    column: usize,
    end_line: usize,
    end_column: usize,
    message: &'a str,
    label: &'a str,
    notes: &'a [String],
    help: Option<&'a str>,
}

/// The report as a JSON list, by file and place, texts as they are.
#[must_use]
pub fn to_json(report: &Report) -> String {
    let problems: Vec<JsonProblem<'_>> = report.sorted().into_iter().map(json_problem).collect();
    serde_json::to_string_pretty(&problems).expect("texts and numbers can always be written")
}

fn json_problem(problem: &Problem) -> JsonProblem<'_> {
    let (line, column) = problem.file.line_column(problem.span.start);
    let (end_line, end_column) = problem.file.line_column(problem.span.end);
    JsonProblem {
        code: problem.code.id(),
        title: problem.code.title(),
        severity: problem.severity.word(),
        path: &problem.file.path,
        line,
        column,
        end_line,
        end_column,
        message: &problem.message,
        label: &problem.label,
        notes: &problem.notes,
        help: problem.help.as_deref(),
    }
}

/// The report as workflow commands of GitHub Actions, one line for each problem.
#[must_use]
pub fn to_github(report: &Report) -> String {
    let mut text = String::new();
    for problem in report.sorted() {
        let (line, column) = problem.file.line_column(problem.span.start);
        let mut lines = vec![problem.message.as_str()];
        lines.extend(problem.notes.iter().map(String::as_str));
        lines.extend(problem.help.as_deref());
        let _ = writeln!(
            text,
            "::{} file={},line={line},col={column},title={}::{}",
            problem.severity.word(),
            github_property(&problem.file.path),
            github_property(&format!("{} {}", problem.code, problem.code.title())),
            github_data(&lines.join("\n")),
        );
    }
    text
}

fn github_data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn github_property(text: &str) -> String {
    github_data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests;
