//! Walks a file's tree beside the table of keys and reports every structural mistake in one pass:
//! unknown and missing keys, wrong types, values outside their set, durations, ids. Knows nothing
//! of meaning.

use std::sync::Arc;

use super::duration;
use super::id;
use super::shape::{Need, Object, Shape};
use super::tree::{Entry, Kind, Node};
use crate::diag::{Code, Problem, Report, SourceFile, Span};

/// Checks a tree against the shape of its file.
pub fn lint(file: &Arc<SourceFile>, root: &Node, object: &'static Object, report: &mut Report) {
    let mut lint = Lint { file, report };
    lint.object(root, object, &Place { name: object.name, span: Span::default() });
}

/// What a value stands under.
struct Place<'a> {
    /// The key, for messages.
    name: &'a str,
    /// Where to point when something is missing.
    span: Span,
}

struct Lint<'a> {
    file: &'a Arc<SourceFile>,
    report: &'a mut Report,
}

impl Lint<'_> {
    fn problem(&self, code: Code, span: Span, message: String) -> Problem {
        Problem::error(code, self.file, span, message)
    }

    fn node(&mut self, node: &Node, shape: &'static Shape, place: &Place<'_>) {
        match (shape, &node.kind) {
            (_, Kind::Broken) => {}
            (Shape::Choice(shapes), _) => match shapes.iter().find(|shape| fits(shape, node)) {
                Some(shape) => self.node(node, shape, place),
                None => self.wrong_type(node, shape, place),
            },
            (Shape::List(item), Kind::List(items)) => {
                for node in items {
                    self.node(node, item, &Place { name: place.name, span: node.span });
                }
            }
            (Shape::Map(_, value), Kind::Map(entries)) => {
                for Entry { key, key_span, value: node } in entries {
                    self.node(node, value, &Place { name: key, span: *key_span });
                }
            }
            (Shape::Object(object), _) => self.object(node, object, place),
            (shape, Kind::Scalar(_)) if fits(shape, node) => self.scalar(node, shape, place),
            _ => self.wrong_type(node, shape, place),
        }
    }

    fn object(&mut self, node: &Node, object: &'static Object, place: &Place<'_>) {
        if matches!(node.kind, Kind::Broken) {
            return;
        }
        if !node.is_null() && !matches!(node.kind, Kind::Map(_)) {
            let message = format!(
                "`{}` takes a mapping ({}), not {}",
                place.name,
                object.name,
                node.describe()
            );
            let problem = self.problem(Code::WrongType, node.span, message);
            return self.report.push(problem);
        }
        for entry in node.entries() {
            match object.key(&entry.key) {
                Some(key) => {
                    let place = Place { name: &entry.key, span: entry.key_span };
                    self.node(&entry.value, &key.shape, &place);
                }
                None => self.unknown_key(entry, object),
            }
        }
        self.missing_keys(node, object, place);
        self.one_of(node, object, place);
    }

    fn unknown_key(&mut self, entry: &Entry, object: &'static Object) {
        let message = format!("{} has no key `{}`", object.name, entry.key);
        let names: Vec<&str> = object.keys.iter().map(|key| key.name).collect();
        let known = if names.is_empty() { "it takes none".to_owned() } else { names.join(", ") };
        let problem = self
            .problem(Code::UnknownKey, entry.key_span, message)
            .label("unknown key")
            .note(format!("its keys: {known}"))
            .did_you_mean(&entry.key, names);
        self.report.push(problem);
    }

    fn missing_keys(&mut self, node: &Node, object: &'static Object, place: &Place<'_>) {
        for key in object.keys {
            if key.need == Need::Required && node.get(key.name).is_none() {
                let message = format!("{} needs the key `{}`", object.name, key.name);
                let problem = self.problem(Code::MissingKey, place.span, message).note(format!(
                    "`{}` takes {}",
                    key.name,
                    key.shape.describe()
                ));
                self.report.push(problem);
            }
        }
    }

    fn one_of(&mut self, node: &Node, object: &'static Object, place: &Place<'_>) {
        let present: Vec<&Entry> = node
            .entries()
            .iter()
            .filter(|entry| object.one_of.contains(&entry.key.as_str()))
            .collect();
        if object.one_of.is_empty() || present.len() == 1 {
            return;
        }
        let problem = if let Some(second) = present.get(1) {
            let message = format!(
                "{} takes one of `{}` and `{}`, not both",
                object.name, present[0].key, second.key
            );
            self.problem(Code::DuplicateKey, second.key_span, message)
        } else if node.entries().iter().any(|entry| object.key(&entry.key).is_none()) {
            // The unknown key, which has been reported, was most likely meant to be the one.
            return;
        } else {
            let message = format!("{} needs one of the keys that say what it is", object.name);
            self.problem(Code::MissingKey, place.span, message)
                .note(format!("it takes one of: {}", object.one_of.join(", ")))
        };
        self.report.push(problem);
    }

    fn scalar(&mut self, node: &Node, shape: &'static Shape, place: &Place<'_>) {
        let Some(text) = node.text() else { return };
        let (code, message) = match shape {
            Shape::Id if !id::is_id(text) => (Code::BadId, format!("`{text}` is not an id")),
            Shape::Slug if !id::is_slug(text) => (Code::BadId, format!("`{text}` is not a slug")),
            Shape::Word(words) if !words.contains(&text) => {
                (Code::BadValue, format!("`{}` cannot be `{text}`", place.name))
            }
            Shape::Boolean if text != "true" && text != "false" => {
                (Code::WrongType, format!("`{}` cannot be `{text}`", place.name))
            }
            Shape::Number(least, most) => match node.number::<u64>() {
                Some(number) if (*least..=*most).contains(&number) => return,
                Some(_) => (Code::BadValue, format!("`{}` cannot be {text}", place.name)),
                None => (Code::WrongType, format!("`{text}` is not a whole number")),
            },
            Shape::Duration | Shape::SignedDuration => {
                let parsed = match shape {
                    Shape::Duration => duration::parse(text).map(|_| ()),
                    _ => duration::parse_signed(text).map(|_| ()),
                };
                let Err(reason) = parsed else { return };
                let problem = self.problem(Code::BadDuration, node.span, reason);
                return self.report.push(problem.note(duration::expected(text)));
            }
            _ => return,
        };
        let problem = self.problem(code, node.span, message).note(format!(
            "`{}` takes {}",
            place.name,
            shape.describe()
        ));
        let problem = match shape {
            Shape::Word(words) => problem.did_you_mean(text, words.iter().copied()),
            _ => problem,
        };
        self.report.push(problem);
    }

    fn wrong_type(&mut self, node: &Node, shape: &'static Shape, place: &Place<'_>) {
        let message = if node.is_null() {
            format!("`{}` has no value", place.name)
        } else {
            format!("`{}` cannot be {}", place.name, node.describe())
        };
        let span = if node.is_null() { place.span } else { node.span };
        let problem = self.problem(Code::WrongType, span, message).note(format!(
            "`{}` takes {}",
            place.name,
            shape.describe()
        ));
        self.report.push(problem);
    }
}

/// Whether a node is of the kind that a shape wants; its text is another matter.
fn fits(shape: &Shape, node: &Node) -> bool {
    match shape {
        Shape::Nullable => matches!(node.kind, Kind::Scalar(_)),
        Shape::List(_) => matches!(node.kind, Kind::List(_)),
        Shape::Map(..) | Shape::Object(_) => matches!(node.kind, Kind::Map(_)),
        Shape::Choice(shapes) => shapes.iter().any(|shape| fits(shape, node)),
        _ => matches!(node.kind, Kind::Scalar(_)) && !node.is_null(),
    }
}
