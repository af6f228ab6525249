//! What an author most likely did where the YAML parser cannot go on, and what to do about it. The
//! parser's own words are kept as a note.

use std::sync::Arc;

use crate::diag::{Code, Problem, SourceFile, Span};

/// A place at which the parser gave up.
pub struct Slip<'a> {
    /// The file.
    pub file: &'a Arc<SourceFile>,
    /// The place.
    pub byte: usize,
    /// The parser's words.
    pub words: &'a str,
    /// Where the collections begin that are open there, outermost first.
    pub open: Vec<usize>,
}

/// What is said about a slip.
struct Said {
    at: usize,
    message: String,
    help: String,
}

impl Said {
    fn new(at: usize, message: impl Into<String>, help: impl Into<String>) -> Said {
        Said { at, message: message.into(), help: help.into() }
    }
}

const QUOTES: &str = "put the text in quotes";

impl Slip<'_> {
    /// The slip as a problem.
    pub fn problem(&self) -> Problem {
        let said = self
            .tab()
            .or_else(|| self.first_character())
            .or_else(|| self.quote())
            .or_else(|| self.unclosed())
            .or_else(|| self.colon())
            .or_else(|| self.indentation());
        let error =
            |at, message| Problem::error(Code::Syntax, self.file, Span::new(at, at), message);
        match said {
            None => error(self.byte, format!("not valid YAML: {}", self.words)),
            Some(said) => error(said.at, said.message)
                .note(format!("the YAML parser's words: {}", self.words))
                .help(said.help),
        }
    }

    /// The line of a place: where it begins, and its text.
    fn line(&self, byte: usize) -> (usize, &str) {
        let text = &self.file.text;
        let start =
            text.as_bytes()[..byte].iter().rposition(|it| *it == b'\n').map_or(0, |it| it + 1);
        (start, text[start..].lines().next().unwrap_or_default())
    }

    /// Where the value on the line of the mistake begins: after dashes and a key.
    fn value(&self) -> Option<(usize, &str)> {
        let (start, line) = self.line(self.byte);
        let mut rest = line.trim_start();
        while let Some(item) = rest.strip_prefix("- ") {
            rest = item.trim_start();
        }
        let key = rest.split([':', ' ', '"', '\'', '[', '{']).next().unwrap_or_default();
        if !key.is_empty() && rest[key.len()..].starts_with(": ") {
            rest = rest[key.len() + 1..].trim_start();
        }
        let at = start + (line.len() - rest.len());
        (!rest.is_empty() && at <= self.byte).then_some((at, rest))
    }

    fn tab(&self) -> Option<Said> {
        let (start, line) = self.line(self.byte);
        let margin = &line[..line.len() - line.trim_start().len()];
        Some(Said::new(
            start + margin.find('\t')?,
            "YAML does not allow tabs for indentation",
            "indent the line with spaces",
        ))
    }

    fn first_character(&self) -> Option<Said> {
        let at_byte = self.file.text.get(self.byte..).and_then(|rest| rest.chars().next());
        let (at, value) = self.value().unwrap_or((self.byte, ""));
        let first = match (at_byte, value.chars().next()) {
            (Some(it @ ('`' | '@' | '%')), _) => return Some(Self::must_be_quoted(self.byte, it)),
            (_, first) => first?,
        };
        match first {
            '`' | '@' | '%' | '*' | '&' | '!' | ',' | '?' | ']' | '}' => {
                Some(Self::must_be_quoted(at, first))
            }
            '|' | '>' => Some(Said::new(
                at,
                format!("after `{first}` the text begins on the next line"),
                format!("begin a new line after `{first}`, or put the text in quotes"),
            )),
            '-' if value.starts_with("- ") => Some(Said::new(
                at,
                "a list with dashes begins on a line of its own",
                "begin a new line, or put a text in quotes",
            )),
            _ => None,
        }
    }

    fn must_be_quoted(at: usize, first: char) -> Said {
        Said::new(at, format!("a text that begins with `{first}` must stand in quotes"), QUOTES)
    }

    fn quote(&self) -> Option<Said> {
        let (at, value) = self.value()?;
        let quote = value.chars().next().filter(|first| matches!(first, '"' | '\''))?;
        if self.words.contains("unclosed") {
            let message = format!("the text that begins with {quote} has no {quote} at its end");
            return Some(Said::new(at, message, format!("close it with {quote}")));
        }
        let inside = if quote == '"' { "\\\"" } else { "''" };
        Some(Said::new(
            self.byte,
            "the text goes on after its closing quote",
            format!("put the whole text in quotes, and write a {quote} inside of it as {inside}"),
        ))
    }

    /// A bracket that is open at the mistake, on an earlier line or at the start of a text.
    fn unclosed(&self) -> Option<Said> {
        let bracket = |at: usize| self.file.text[at..].chars().next();
        let is_flow = |at: &&usize| matches!(bracket(**at), Some('[' | '{'));
        if let Some(at) = self.open.iter().rev().find(is_flow)
            && self.line(*at).0 < self.line(self.byte).0
        {
            let (open, close) = match bracket(*at) {
                Some('[') => ('[', ']'),
                _ => ('{', '}'),
            };
            let help = format!("close it with `{close}`; if it begins a text, put that in quotes");
            return Some(Said::new(*at, format!("`{open}` is not closed"), help));
        }
        let (at, value) = self.value()?;
        let first = value.chars().next().filter(|first| matches!(first, '[' | '{'))?;
        let after = at + value.rfind([']', '}'])?;
        (self.open.iter().all(|open| *open != at) && self.byte > at && self.byte >= after).then(
            || Said {
                at: self.byte,
                message: format!("what begins with `{first}` ends before this"),
                help: "if all of it is one text, put it in quotes; otherwise take this out".into(),
            },
        )
    }

    fn colon(&self) -> Option<Said> {
        if !self.words.contains("mapping values") {
            return None;
        }
        let Some((at, value)) = self.value() else { return Some(self.indented()) };
        if value.contains(": ") || value.ends_with(':') {
            let (_, line) = self.line(self.byte);
            // A key alone on the line: the value of the key above goes on, deeper.
            if !line.trim_start().starts_with(value) {
                let message = "a text with a colon and a space in it must stand in quotes";
                return Some(Said::new(at, message, QUOTES));
            }
        }
        Some(self.indented())
    }

    fn indentation(&self) -> Option<Said> {
        let (start, line) = self.line(self.byte);
        if self.words.contains("simple key expected") {
            let message = format!("`{}` is no key, since no colon follows", line.trim());
            let help = "write `key: value`, or indent the line if it belongs to a text above";
            return Some(Said::new(self.byte, message, help));
        }
        let margin = line.len() - line.trim_start().len();
        let fits =
            ["expected key", "expected '-'", "indent"].iter().any(|it| self.words.contains(it));
        (fits && self.byte == start + margin).then(|| self.indented())
    }

    /// The indentation of the line fits none around it.
    fn indented(&self) -> Said {
        let (start, line) = self.line(self.byte);
        let margin = line.len() - line.trim_start().len();
        let mut columns: Vec<usize> = self
            .open
            .iter()
            .filter(|at| !self.file.text[**at..].starts_with(['[', '{']))
            .map(|at| at - self.line(*at).0)
            .collect();
        columns.dedup();
        let columns: Vec<String> = columns.iter().map(ToString::to_string).collect();
        let help = match columns.as_slice() {
            [] => "indent it like the lines that it belongs to".to_owned(),
            columns => format!("it can begin after this many spaces: {}", columns.join(" or ")),
        };
        let message = format!("the line is indented by {margin}, which fits no line above it");
        Said::new(start + margin, message, help)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::Report;
    use crate::scenario::yaml;

    #[test]
    fn every_common_slip_is_told_in_the_authors_words_at_its_place() {
        for (text, place, message, help) in [
            ("a: x\nb: `code` is", (2, 4), "begins with ``` must", "put the text in quotes"),
            ("a: x\nb: @home", (2, 4), "begins with `@` must", "put the text in quotes"),
            ("a: x\nb: %20", (2, 4), "begins with `%` must", "put the text in quotes"),
            ("a: x\nb: *all* of", (2, 4), "aliases are not", "put the text in quotes"),
            ("a: x\nb: one: two", (2, 4), "with a colon and a space", "put the text in quotes"),
            ("a: [x, y\nb: z\n", (1, 4), "`[` is not closed", "close it with `]`"),
            ("a: {x: y\nb: z\n", (1, 4), "`{` is not closed", "close it with `}`"),
            ("a: [One] record", (1, 10), "begins with `[` ends", "put it in quotes"),
            ("a: \"One\" record", (1, 10), "after its closing quote", "whole text in quotes"),
            ("a:\n\tb: x", (2, 1), "does not allow tabs", "with spaces"),
            ("a:\n  b: x\n   c: x", (3, 4), "is indented by 3", "spaces: 0 or 2"),
            ("a:\n  - b: x\n   c: x", (3, 4), "is indented by 3", "spaces: 0 or 2"),
            ("a: x\n  b: x", (2, 3), "is indented by 2", "spaces: 0"),
            ("a: x\nb\nc: x", (2, 1), "`b` is no key", "write `key: value`"),
            ("a: | x", (1, 4), "begins on the next line", "begin a new line"),
        ] {
            let file = Arc::new(SourceFile::new("x.yaml", text));
            let mut report = Report::default();
            yaml::read(&file, &mut report);
            let [problem] = &report.problems[..] else { panic!("{text}: {report:?}") };
            assert_eq!(file.line_column(problem.span.start), place, "{text}: {problem:?}");
            assert!(problem.message.contains(message), "{text}: {problem:?}");
            let helped = problem.help.as_deref().is_some_and(|found| found.contains(help));
            assert!(helped, "{text}: {problem:?}");
        }
    }
}
