//! Mistakes of authors as values: what, where, what was expected. Knows nothing of Kafka or of
//! pages.
//!
//! A stage returns what it could make plus a [`Report`]; the report is printed once, at the end.

pub mod code;
pub mod nearest;
pub mod render;
pub mod source;

use std::sync::Arc;

pub use code::Code;
pub use nearest::nearest;
pub use source::{SourceFile, Span};

/// How bad a problem is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The build stops.
    Error,
    /// The build goes on, unless warnings are denied.
    Warning,
}

impl Severity {
    /// The word that is printed: `error` or `warning`.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
        }
    }
}

/// One mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Its kind.
    pub code: Code,
    /// How bad it is.
    pub severity: Severity,
    /// The file.
    pub file: Arc<SourceFile>,
    /// The place in the file.
    pub span: Span,
    /// One sentence: what is wrong.
    pub message: String,
    /// A few words at the place itself; may be empty.
    pub label: String,
    /// Further facts, a sentence each: expected and actual values, allowed sets.
    pub notes: Vec<String>,
    /// What to do: `did you mean ...?`.
    pub help: Option<String>,
}

impl Problem {
    /// An error at a place: `Problem::error(Code::BadValue, &file, span, "...").label("here")`.
    #[must_use]
    pub fn error(
        code: Code,
        file: &Arc<SourceFile>,
        span: Span,
        message: impl Into<String>,
    ) -> Problem {
        Problem {
            code,
            severity: Severity::Error,
            file: Arc::clone(file),
            span,
            message: message.into(),
            label: String::new(),
            notes: Vec::new(),
            help: None,
        }
    }

    /// A warning at a place.
    #[must_use]
    pub fn warning(
        code: Code,
        file: &Arc<SourceFile>,
        span: Span,
        message: impl Into<String>,
    ) -> Problem {
        Problem { severity: Severity::Warning, ..Problem::error(code, file, span, message) }
    }

    /// With a few words at the place itself.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Problem {
        self.label = label.into();
        self
    }

    /// With one more fact, a sentence.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Problem {
        self.notes.push(note.into());
        self
    }

    /// With what to do.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Problem {
        self.help = Some(help.into());
        self
    }

    /// With `did you mean ...?`, where a candidate is near to the name that was written.
    #[must_use]
    pub fn did_you_mean<'a>(
        self,
        name: &str,
        candidates: impl IntoIterator<Item = &'a str>,
    ) -> Problem {
        match nearest(name, candidates) {
            Some(candidate) => self.help(format!("did you mean `{candidate}`?")),
            None => self,
        }
    }
}

/// Problems, collected over all files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// In the order of finding.
    pub problems: Vec<Problem>,
}

impl Report {
    /// Adds one.
    pub fn push(&mut self, problem: Problem) {
        self.problems.push(problem);
    }

    /// Adds all of another report.
    pub fn extend(&mut self, other: Report) {
        self.problems.extend(other.problems);
    }

    /// Whether any is an error.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.problems.iter().any(|problem| problem.severity == Severity::Error)
    }

    /// How many problems are this bad.
    #[must_use]
    pub fn count(&self, severity: Severity) -> usize {
        self.problems.iter().filter(|problem| problem.severity == severity).count()
    }

    /// All problems by file, place, and then code; those found twice at one place only once.
    #[must_use]
    pub fn sorted(&self) -> Vec<&Problem> {
        let mut sorted: Vec<&Problem> = self.problems.iter().collect();
        sorted.sort_by_key(|problem| {
            (&problem.file.path, problem.span, problem.code, &problem.message)
        });
        sorted.dedup();
        sorted
    }
}
