//! Mistakes of authors as values: what, where, what was expected. Knows nothing of Kafka or of pages.
//!
//! A stage returns what it could make plus a [`Report`]; the report is printed once, at the end.

pub mod source;

use std::sync::Arc;

pub use source::{SourceFile, Span};

/// How bad a problem is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The build stops.
    Error,
    /// The build goes on, unless warnings are denied.
    Warning,
}

/// One mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Its code, one of the table of codes: `KS0101`.
    pub code: &'static str,
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
}
