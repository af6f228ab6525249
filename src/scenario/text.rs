//! Texts with `{{ path }}` in them: read, held against the names of the file, and filled in with
//! the values of an instant. The result is Markdown in which a value is never more than its
//! letters.

use std::ops::Range;

use pulldown_cmark::{Event, Parser, Tag, TagEnd};

use super::context::Context;
use super::lookup::comparable;
use super::path::{Known, Path};
use super::value::Value;
use super::written::{Mistake, Written};
use crate::diag::{Code, Span};
use crate::sim::snapshot::Snapshot;

/// A text of the file, in Markdown, with places for values.
#[derive(Clone, Debug)]
pub struct Text {
    /// The text as written, with its place.
    pub written: Written,
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug)]
enum Piece {
    /// Bytes of the text that are taken as they are.
    Literal(Range<usize>),
    /// A value, written at these bytes of the text.
    Value { path: Path, range: Range<usize>, in_code: bool },
}

impl Text {
    /// Reads a text; every mistake in it is reported.
    pub fn read(context: &mut Context<'_>, written: Written, latest_step: u32) -> Text {
        let (pieces, mistakes) = pieces(&written.text, context.known(latest_step));
        for mistake in mistakes {
            context.mistake(mistake, &written);
        }
        Text { written, pieces }
    }

    /// The paths in it.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Value { path, .. } => Some(path),
            Piece::Literal(_) => None,
        })
    }

    /// The paths in it, each with the place of its `{{ }}` in the file.
    pub fn placed_paths(&self) -> impl Iterator<Item = (&Path, Span)> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Value { path, range, .. } => {
                Some((path, self.written.place(range.start, range.len())))
            }
            Piece::Literal(_) => None,
        })
    }

    /// The text with the values of a snapshot, which must hold the parts of [`Text::paths`].
    #[must_use]
    pub fn fill(&self, snapshot: &Snapshot) -> String {
        let mut filled = String::with_capacity(self.written.text.len());
        for piece in &self.pieces {
            match piece {
                Piece::Literal(range) => filled.push_str(&self.written.text[range.clone()]),
                Piece::Value { path, in_code, .. } => {
                    let value = comparable(path, snapshot);
                    if *in_code {
                        filled.push_str(&in_code_span(&value));
                    } else {
                        let value = escaped(&value);
                        let line = filled.rsplit('\n').next().unwrap_or_default();
                        let value = if begins_block(line) { no_block(value) } else { value };
                        filled.push_str(&value);
                    }
                }
            }
        }
        filled
    }

    /// The place in the file of byte `at` of what [`Text::fill`] made of this text; for a byte of a
    /// value, the place of its `{{ }}`.
    #[must_use]
    pub fn place(&self, filled: &str, at: usize) -> Span {
        let mut end = 0;
        let mut pieces = self.pieces.iter().peekable();
        while let Some(piece) = pieces.next() {
            let start = end;
            match piece {
                Piece::Literal(range) => {
                    end = start + range.len();
                    if at < end {
                        return self.written.place(range.start + at - start, 1);
                    }
                }
                Piece::Value { range, .. } => {
                    // A value reaches up to the next literal piece.
                    let next = match pieces.peek() {
                        Some(Piece::Literal(range)) => filled
                            .get(start..)
                            .and_then(|rest| rest.find(&self.written.text[range.clone()])),
                        Some(Piece::Value { .. }) => Some(0),
                        None => None,
                    };
                    end = next.map_or(filled.len(), |length| start + length);
                    if at < end {
                        return self.written.place(range.start, range.len());
                    }
                }
            }
        }
        self.written.span
    }

    /// The text's words, for reading times.
    #[must_use]
    pub fn word_count(&self) -> usize {
        self.written.text.split_whitespace().count()
    }
}

/// Cuts a text at its `{{ }}`. A path that cannot be read leaves nothing behind but its mistake.
fn pieces(text: &str, known: Known<'_>) -> (Vec<Piece>, Vec<Mistake>) {
    let code = code_ranges(text);
    let (mut pieces, mut mistakes) = (Vec::new(), Vec::new());
    let mut start = 0;
    let mut from = 0;
    while let Some(at) = text[from..].find("{{").map(|at| from + at) {
        if text[..at].ends_with('\\') {
            pieces.push(Piece::Literal(start..at - 1));
            (start, from) = (at, at + 2);
        } else if text[at..].starts_with("{{#") {
            from = at + 3;
        } else if let Some(length) = text[at..].find("}}") {
            let range = at..at + length + 2;
            let inner = &text[at + 2..at + length];
            let path = inner.trim();
            let path_at = at + 2 + (inner.len() - inner.trim_start().len());
            pieces.push(Piece::Literal(start..at));
            let in_code = code.iter().any(|code| code.contains(&at));
            match Path::parse(path, known) {
                Ok(path) => pieces.push(Piece::Value { path, range: range.clone(), in_code }),
                Err(mistake) => mistakes.push(mistake.moved(path_at)),
            }
            (start, from) = (range.end, range.end);
        } else {
            let message = "`{{` is not closed with `}}`";
            let mistake = Mistake::new(Code::BadCondition, at, 2, message);
            mistakes.push(mistake.note("braces that are meant as such are written `\\{{`"));
            from = at + 2;
        }
    }
    pieces.push(Piece::Literal(start..text.len()));
    (pieces, mistakes)
}

/// Where code stands in a Markdown text.
fn code_ranges(text: &str) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut in_block = false;
    for (event, range) in Parser::new(text).into_offset_iter() {
        match event {
            Event::Start(Tag::CodeBlock(_)) => in_block = true,
            Event::End(TagEnd::CodeBlock) => in_block = false,
            Event::Code(_) => ranges.push(range),
            Event::Text(_) if in_block => ranges.push(range),
            _ => {}
        }
    }
    ranges
}

/// A value with a backslash before everything that Markdown could read as more than a letter.
fn escaped(value: &Value) -> String {
    let mut escaped = String::new();
    for character in value.to_string().chars() {
        match character {
            '\\' | '`' | '*' | '_' | '{' | '}' | '[' | ']' | '<' | '>' | '(' | ')' | '#' | '!'
            | '|' | '&' | '~' | '$' | '^' => {
                escaped.push('\\');
                escaped.push(character);
            }
            '\n' | '\r' | '\t' => escaped.push(' '),
            _ => escaped.push(character),
        }
    }
    escaped
}

/// Whether a block could begin after this: only blanks and the marks of quotes, lists and headings
/// stand before it on its line.
fn begins_block(line: &str) -> bool {
    line.chars().all(|it| it.is_whitespace() || it.is_ascii_digit() || "->*+#.)&;".contains(it))
}

/// An escaped value where a block could begin: `1.` would be a list, `-` too, four blanks code. Its
/// first letter is written as a character reference, which begins nothing.
fn no_block(value: String) -> String {
    match value.chars().next() {
        Some(first) if !first.is_alphabetic() && first != '\\' => {
            format!("&#{};{}", u32::from(first), &value[first.len_utf8()..])
        }
        _ => value,
    }
}

/// A value inside a code span, where backslashes are letters and a backtick would end it. Nothing
/// between two backticks would make one mark of them.
fn in_code_span(value: &Value) -> String {
    match value.to_string() {
        text if text.is_empty() => " ".to_owned(),
        text => text.replace('`', "'").replace(['\n', '\r', '\t'], " "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::names::Names;

    fn known(names: &Names) -> Known<'_> {
        Known { names, latest_step: 3 }
    }

    fn fill(text: &str) -> String {
        fill_with(text, "A_B*")
    }

    fn fill_with(text: &str, error: &str) -> String {
        let names = Names::default();
        let (pieces, mistakes) = pieces(text, known(&names));
        assert_eq!(mistakes, [], "{text}");
        let file = std::sync::Arc::new(crate::diag::SourceFile::new("a.yaml", text));
        let written = Written { file, span: Span::new(0, text.len()), text: text.to_owned() };
        let mut snapshot = Snapshot { time_ms: 1_400, ..Snapshot::default() };
        snapshot.admin.last_error = Some(error.to_owned());
        Text { written, pieces }.fill(&snapshot)
    }

    #[test]
    fn values_are_letters_and_nothing_more() {
        assert_eq!(fill("at {{ time_ms }} ms"), "at 1400 ms");
        assert_eq!(fill("{{admin.last_error}}!"), "A\\_B\\*!");
        assert_eq!(fill("`{{ admin.last_error }}`"), "`A_B*`");
        assert_eq!(fill("it took\n{{ time_ms }}. Then"), "it took\n&#49;400. Then");
    }

    #[test]
    fn a_value_begins_no_block() {
        for value in [
            " - item", "- item", "+ item", "    code", "\tcode", "1. one", "1) one", "# head",
            "===", "---", "> said", "```", "~~~", "* item", "***", "| a |", " 1. one",
        ] {
            for before in ["", "A line\n", "A line\n\n", "- ", "> ", "1. ", "{{ since.3 }}"] {
                let blocks = |text: &str| -> usize {
                    let starts = Parser::new(text).filter(|event| matches!(event, Event::Start(_)));
                    starts.count()
                };
                let text = format!("{before}{{{{ admin.last_error }}}}");
                assert_eq!(
                    blocks(&fill_with(&text, value)),
                    blocks(&fill_with(&text, "word")),
                    "{text:?} with {value:?}"
                );
            }
        }
        assert_eq!(fill_with("`{{ admin.last_error }}`", ""), "` `");
    }

    #[test]
    fn escaped_braces_and_insertions_stay() {
        assert_eq!(fill("a \\{{ path }} b"), "a {{ path }} b");
        assert_eq!(
            fill("{{#kafka-table write-path survives}}"),
            "{{#kafka-table write-path survives}}"
        );
    }

    #[test]
    fn every_mistake_of_a_text_is_found_at_its_place() {
        let names = Names::default();
        let (_, mistakes) = pieces("a {{ nothing }} b {{ time_mss }} c {{ d", known(&names));
        let places: Vec<usize> = mistakes.iter().map(|mistake| mistake.start).collect();
        assert_eq!(places, [5, 21, 35]);
    }
}
