//! A text of the file with its place, so that a mistake in the middle of it can be pointed at; and
//! the mistakes that are found in such texts.

use std::fmt;
use std::sync::Arc;

use super::tree::Node;
use crate::diag::{Code, Problem, SourceFile, Span};

/// A text of a file.
#[derive(Clone, PartialEq, Eq)]
pub struct Written {
    /// The file.
    pub file: Arc<SourceFile>,
    /// The place of the whole text in the file, quotes included.
    pub span: Span,
    /// The text, quotes and indentation taken off.
    pub text: String,
}

impl Written {
    /// The text of a node; the empty text where it is none.
    #[must_use]
    pub fn of(file: &Arc<SourceFile>, node: &Node) -> Written {
        let text = node.text().unwrap_or_default().to_owned();
        Written { file: Arc::clone(file), span: node.span, text }
    }

    /// The place in the file of `length` bytes of the text from byte `start` on.
    ///
    /// Walks text and file side by side, over quotes, escapes and indentation.
    #[must_use]
    pub fn place(&self, start: usize, length: usize) -> Span {
        let source = &self.file.text[self.span.start..self.span.end];
        let mut at = source.char_indices().peekable();
        let mut first = self.span.end;
        for (byte, wanted) in self.text.char_indices() {
            while let Some((_, found)) = at.peek() {
                let same = *found == wanted || wanted.is_whitespace() && found.is_whitespace();
                if same {
                    break;
                }
                at.next();
            }
            let here = at.peek().map_or(self.span.end, |(offset, _)| self.span.start + offset);
            if byte == start {
                first = here;
            }
            if byte >= start + length {
                return Span::new(first.min(here), here);
            }
            at.next();
        }
        Span::new(first, (first + length).min(self.span.end).max(first))
    }
}

impl fmt::Debug for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.text)
    }
}

/// A mistake inside a text, before it is known where in the file that text stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// Its kind.
    pub code: Code,
    /// The first byte of the text that is wrong.
    pub start: usize,
    /// How many bytes are.
    pub length: usize,
    /// What is wrong.
    pub message: String,
    /// Further facts.
    pub notes: Vec<String>,
    /// What to do.
    pub help: Option<String>,
}

impl Mistake {
    /// A mistake in `length` bytes from byte `start` on.
    #[must_use]
    pub fn new(code: Code, start: usize, length: usize, message: impl Into<String>) -> Mistake {
        Mistake { code, start, length, message: message.into(), notes: Vec::new(), help: None }
    }

    /// With one more fact.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Mistake {
        self.notes.push(note.into());
        self
    }

    /// With `did you mean ...?`, where a candidate is near.
    #[must_use]
    pub fn did_you_mean<'a>(
        mut self,
        name: &str,
        candidates: impl IntoIterator<Item = &'a str>,
    ) -> Mistake {
        self.help =
            crate::diag::nearest(name, candidates).map(|near| format!("did you mean `{near}`?"));
        self
    }

    /// The same mistake, as one in `length` bytes from byte `start` on.
    #[must_use]
    pub fn over(mut self, start: usize, length: usize) -> Mistake {
        (self.start, self.length) = (start, length);
        self
    }

    /// The same mistake in a longer text, in which this one starts at byte `offset`.
    #[must_use]
    pub fn moved(mut self, offset: usize) -> Mistake {
        self.start += offset;
        self
    }

    /// The problem, once the text's place is known.
    #[must_use]
    pub fn problem(self, written: &Written) -> Problem {
        let span = written.place(self.start, self.length);
        self.at(&written.file, span)
    }

    /// The problem at a place of its own.
    #[must_use]
    pub fn at(self, file: &Arc<SourceFile>, span: Span) -> Problem {
        let problem = Problem::error(self.code, file, span, self.message);
        Problem { notes: self.notes, help: self.help, ..problem }
    }
}
