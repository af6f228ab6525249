//! What every reader of a part of a file needs: the file, the names in it, and where problems go.

use std::sync::Arc;

use super::names::Names;
use super::path::Known;
use super::tree::Node;
use super::written::{Mistake, Written};
use crate::diag::{Code, Problem, Report, SourceFile, Span};

/// Handed from reader to reader.
pub struct Context<'a> {
    /// The file.
    pub file: &'a Arc<SourceFile>,
    /// The names that stand anywhere in it.
    pub names: &'a Names,
    /// Where problems go.
    pub report: &'a mut Report,
}

impl<'a> Context<'a> {
    /// Reports an error at a place.
    pub fn error(&mut self, code: Code, span: Span, message: impl Into<String>) {
        self.report.push(Problem::error(code, self.file, span, message));
    }

    /// Reports a name that is not among the candidates.
    pub fn unknown(&mut self, what: &str, node: &Node, candidates: &[&str]) {
        let name = node.text().unwrap_or_default();
        let known = if candidates.is_empty() { "none".to_owned() } else { candidates.join(", ") };
        let message = format!("there is no {what} `{name}`");
        let problem = Problem::error(Code::UnknownName, self.file, node.span, message)
            .note(format!("there are: {known}"))
            .did_you_mean(name, candidates.iter().copied());
        self.report.push(problem);
    }

    /// Reports a mistake inside a text.
    pub fn mistake(&mut self, mistake: Mistake, written: &Written) {
        self.report.push(mistake.problem(written));
    }

    /// What paths may refer to at a place where steps up to this one have been reached.
    pub fn known(&self, latest_step: u32) -> Known<'a> {
        Known { names: self.names, latest_step }
    }
}
