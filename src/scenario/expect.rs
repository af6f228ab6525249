//! `expect`: what must be true at a step, read from the file and held against a snapshot.

use super::context::Context;
use super::literal;
use super::lookup::{comparable, lookup};
use super::observable::Kind;
use super::path::Path;
use super::tree::{Entry, Kind as NodeKind, Node};
use super::value::{Op, Value};
use super::written::{Mistake, Written};
use crate::diag::{Code, Problem, Span};
use crate::sim::snapshot::Snapshot;

/// One line of `expect`.
#[derive(Clone, Debug)]
pub struct Statement {
    /// The observable.
    pub path: Path,
    /// What its value must be; all of it.
    pub tests: Vec<(Op, Value)>,
    /// The place of the line.
    pub span: Span,
}

impl Statement {
    /// Whether it holds.
    #[must_use]
    pub fn holds(&self, snapshot: &Snapshot) -> bool {
        let actual = comparable(&self.path, snapshot);
        self.tests.iter().all(|(op, expected)| op.holds(&actual, expected))
    }

    /// The problem, where it does not hold at this step.
    #[must_use]
    pub fn check(&self, context: &Context<'_>, at: &str, snapshot: &Snapshot) -> Option<Problem> {
        if self.holds(snapshot) {
            return None;
        }
        let actual = self.show(&literal::sorted(self.path.kind(), lookup(&self.path, snapshot)));
        let message = format!("`{}` is {actual}, not {}", self.path.text, self.expected());
        let problem = Problem::error(Code::ExpectFailed, context.file, self.span, message)
            .label(format!("is {actual}"))
            .note(format!("at {at}"));
        Some(problem)
    }

    /// What is expected, as text.
    #[must_use]
    pub fn expected(&self) -> String {
        let tests: Vec<String> = self
            .tests
            .iter()
            .map(|(op, value)| match op {
                Op::Equal => self.show(value),
                op => format!("{} {}", op.symbol(), self.show(value)),
            })
            .collect();
        tests.join(" and ")
    }

    /// A value as the author would write it.
    fn show(&self, value: &Value) -> String {
        match value {
            Value::List(items) => format!("[{}]", items.join(", ")),
            Value::Text(text) if self.path.kind() == Kind::Text => format!("{text:?}"),
            other => other.to_string(),
        }
    }
}

/// Reads the `expect` of a step; lines that cannot be read are reported and left out.
pub fn read(context: &mut Context<'_>, expect: Option<&Node>, step: u32) -> Vec<Statement> {
    let entries = expect.map_or(&[][..], Node::entries);
    entries.iter().filter_map(|entry| statement(context, entry, step)).collect()
}

fn statement(context: &mut Context<'_>, entry: &Entry, step: u32) -> Option<Statement> {
    let key = Written {
        file: std::sync::Arc::clone(context.file),
        span: entry.key_span,
        text: entry.key.clone(),
    };
    let path = match Path::parse(&entry.key, context.known(step)) {
        Ok(path) => path,
        Err(mistake) => {
            context.mistake(mistake, &key);
            return None;
        }
    };
    let end = entry.value.span.end.max(entry.key_span.end);
    let tests = tests(context, &path, &entry.value)?;
    Some(Statement { path, tests, span: Span::new(entry.key_span.start, end) })
}

/// What a line compares with; `None`: something is wrong with it, which has been reported.
fn tests(context: &mut Context<'_>, path: &Path, node: &Node) -> Option<Vec<(Op, Value)>> {
    let names = context.names;
    match &node.kind {
        NodeKind::Map(_) => {
            let mut tests = Vec::new();
            if let Some(text) = node.get("eq").and_then(scalar) {
                tests.push(equal(context, node, literal::literal(path, text, names))?);
            }
            for item in node.get("all").map_or(&[][..], Node::items) {
                tests.push(single(context, path, item)?);
            }
            if node.get("all").is_some_and(|all| all.items().is_empty()) {
                let message = format!("`{}` is compared with nothing", path.text);
                context.error(Code::BadCondition, node.span, message);
                return None;
            }
            Some(tests)
        }
        NodeKind::List(items) => {
            let items: Vec<&str> = items.iter().filter_map(scalar).collect();
            Some(vec![equal(context, node, literal::list(path, &items, names))?])
        }
        NodeKind::Scalar(_) => Some(vec![single(context, path, node)?]),
        NodeKind::Broken => None,
    }
}

/// The text of a single value, `null` included.
fn scalar(node: &Node) -> Option<&str> {
    match &node.kind {
        NodeKind::Scalar(scalar) => Some(&scalar.text),
        _ => None,
    }
}

fn single(context: &mut Context<'_>, path: &Path, node: &Node) -> Option<(Op, Value)> {
    let text = scalar(node)?;
    if text.is_empty() && node.is_null() {
        let message = format!("`{}` has no expected value", path.text);
        context.error(Code::WrongType, node.span, message);
        return None;
    }
    match literal::comparison(path, text, context.names) {
        Ok(comparison) => Some(comparison),
        Err(mistake) => {
            context.mistake(mistake, &Written::of(context.file, node));
            None
        }
    }
}

fn equal(
    context: &mut Context<'_>,
    node: &Node,
    value: Result<Value, Mistake>,
) -> Option<(Op, Value)> {
    match value {
        Ok(value) => Some((Op::Equal, value)),
        Err(mistake) => {
            let problem = mistake.at(context.file, node.span);
            context.report.push(problem);
            None
        }
    }
}
