//! Files as the author wrote them, and places in them.

use std::fmt;

/// One file's text with its path, for messages.
#[derive(Clone, PartialEq, Eq)]
pub struct SourceFile {
    /// The path as messages show it: relative to the site's folder, with `/`.
    pub path: String,
    /// The whole text.
    pub text: String,
    line_starts: Vec<usize>,
}

impl SourceFile {
    /// A file with its text.
    #[must_use]
    pub fn new(path: impl Into<String>, text: impl Into<String>) -> SourceFile {
        let text = text.into();
        let line_starts =
            std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        SourceFile { path: path.into(), text, line_starts }
    }

    /// Line and column of a byte, both from 1; columns count characters.
    #[must_use]
    pub fn line_column(&self, byte: usize) -> (usize, usize) {
        let byte = byte.min(self.text.len());
        let line = self.line_starts.partition_point(|start| *start <= byte);
        let start = self.line_starts[line - 1];
        let column =
            self.text[start..].char_indices().take_while(|(at, _)| start + at < byte).count();
        (line, column + 1)
    }

    /// The byte of a line and column, both from 1; the nearest place where there is none.
    #[must_use]
    pub fn byte(&self, line: usize, column: usize) -> usize {
        let Some(start) = self.line_starts.get(line.saturating_sub(1)) else {
            return self.text.len();
        };
        let rest = &self.text[*start..];
        rest.char_indices()
            .nth(column.saturating_sub(1))
            .map_or(self.text.len(), |(at, _)| start + at)
    }
}

impl fmt::Debug for SourceFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SourceFile({}, {} bytes)", self.path, self.text.len())
    }
}

/// A place in a file, as bytes from `start` up to `end`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// The byte after the last.
    pub end: usize,
}

impl Span {
    /// From `start` up to `end`.
    #[must_use]
    pub fn new(start: usize, end: usize) -> Span {
        Span { start, end }
    }
}
