//! From the events of the YAML parser to a [`Node`] tree, within the format's limits and without
//! anchors, aliases and tags. Knows nothing of the format's keys.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_yaml::granit_parser::{Event, Options, Parser, ScalarStyle, ScanError, Span as YamlSpan};

use super::limits;
use super::slip::Slip;
use super::tree::{Entry, Kind, Node, Scalar};
use crate::diag::{Code, Problem, Report, SourceFile, Span};

/// Reads a file. `None`: nothing could be made of it, and the report says why.
pub fn read(file: &Arc<SourceFile>, report: &mut Report) -> Option<Node> {
    if file.text.len() > limits::FILE_BYTES {
        let message = format!("the file is larger than 1 MiB ({} bytes)", file.text.len());
        report.push(Problem::error(Code::Limit, file, Span::default(), message));
        return None;
    }
    let mut builder = Builder { file, report, stack: Vec::new(), node_count: 0, root: None };
    let mut options = Options::default();
    options.emit_unresolved_aliases = true;
    options.disallow_directives = true;
    for next in Parser::new_from_str_with_options(&file.text, options) {
        let go_on = match next {
            Ok((event, span)) => builder.event(event, &span),
            Err(error) => builder.syntax(&error),
        };
        go_on?;
    }
    if builder.root.is_none() {
        let problem = Problem::error(Code::MissingKey, file, Span::default(), "the file is empty");
        report.push(problem);
        return None;
    }
    builder.root
}

/// A collection that is not closed yet.
enum Open {
    List(Span, Vec<Node>),
    Map {
        span: Span,
        entries: Vec<Entry>,
        /// The keys so far, each with its place.
        seen: BTreeMap<String, Span>,
        /// The key whose value comes next; without a text where it cannot be one.
        key: Option<(Option<String>, Span)>,
    },
}

struct Builder<'a> {
    file: &'a Arc<SourceFile>,
    report: &'a mut Report,
    stack: Vec<Open>,
    node_count: usize,
    root: Option<Node>,
}

impl Builder<'_> {
    fn error(&mut self, code: Code, span: Span, message: impl Into<String>) {
        self.report.push(Problem::error(code, self.file, span, message));
    }

    /// Takes one event; `None` ends the reading.
    fn event(&mut self, event: Event<'_>, span: &YamlSpan) -> Option<()> {
        let place = self.place(span);
        if event.is_node() {
            self.refuse_extras(&event, place);
            self.within_limits(place)?;
        }
        match event {
            Event::Scalar(text, style, ..) => {
                let plain = style == ScalarStyle::Plain;
                let text = if place.start == place.end && plain { "".into() } else { text };
                let scalar = Scalar { text: text.into_owned(), plain };
                self.close(Node { span: place, kind: Kind::Scalar(scalar) });
            }
            Event::SequenceStart(..) => self.stack.push(Open::List(place, Vec::new())),
            Event::MappingStart(..) => {
                self.stack.push(Open::Map {
                    span: place,
                    entries: Vec::new(),
                    seen: BTreeMap::new(),
                    key: None,
                });
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(place.end),
            Event::Alias(_) | Event::UnresolvedAlias(_) => {
                self.refuse(place, "aliases are not part of the format");
                self.close(Node { span: place, kind: Kind::Broken });
            }
            Event::DocumentStart(..) if self.root.is_some() => {
                self.error(Code::Syntax, place, "the file holds a second YAML document");
                return None;
            }
            _ => {}
        }
        Some(())
    }

    /// Anchors and tags are reported; the node itself is used.
    fn refuse_extras(&mut self, event: &Event<'_>, place: Span) {
        if event.anchor_id().is_some() {
            self.refuse(place, "anchors are not part of the format");
        }
        if event.tag().is_some() {
            self.refuse(place, "tags are not part of the format");
        }
    }

    /// What looks like an alias, anchor or tag was most likely meant as a text.
    fn refuse(&mut self, place: Span, message: &str) {
        let problem = Problem::error(Code::Syntax, self.file, place, message);
        self.report.push(problem.help("if it is a text, put the text in quotes"));
    }

    fn within_limits(&mut self, place: Span) -> Option<()> {
        self.node_count += 1;
        let message = if self.node_count > limits::NODES {
            format!("the file has more than {} nodes", limits::NODES)
        } else if self.stack.len() >= limits::NESTING {
            format!("the nesting is deeper than {}", limits::NESTING)
        } else {
            return Some(());
        };
        self.error(Code::Limit, place, message);
        None
    }

    /// A node is complete: it joins what is open around it.
    fn close(&mut self, node: Node) {
        match self.stack.last_mut() {
            None => self.root = Some(node),
            Some(Open::List(_, items)) => items.push(node),
            Some(Open::Map { entries, seen, key, .. }) => match key.take() {
                None => {
                    let text = match &node.kind {
                        Kind::Scalar(scalar) => Some(scalar.text.clone()),
                        _ => None,
                    };
                    let span = node.span;
                    *key = Some((text, span));
                    if !matches!(node.kind, Kind::Scalar(_)) {
                        self.complex_key(span);
                    }
                }
                Some((Some(key), key_span)) => {
                    if let Some(first) = seen.get(&key) {
                        let (line, _) = self.file.line_column(first.start);
                        let message = format!("`{key}` stands here twice");
                        let problem =
                            Problem::error(Code::DuplicateKey, self.file, key_span, message);
                        self.report.push(problem.note(format!("the first one is on line {line}")));
                    } else {
                        seen.insert(key.clone(), key_span);
                        entries.push(Entry { key, key_span, value: node });
                    }
                }
                Some((None, _)) => {}
            },
        }
    }

    /// A key that is no single value: most often braces without quotes, which are reported where
    /// the mapping around them ends.
    fn complex_key(&mut self, span: Span) {
        let before = self.file.text[..span.start].trim_end();
        if !before.ends_with('{') || !self.file.text[span.start..].starts_with('{') {
            self.error(Code::Syntax, span, "a key is a single value");
        }
    }

    fn end(&mut self, end: usize) {
        let Some(open) = self.stack.pop() else { return };
        let node = match open {
            Open::List(span, items) => {
                Node { span: Span::new(span.start, end.max(span.end)), kind: Kind::List(items) }
            }
            Open::Map { span, entries, .. } => {
                let span = Span::new(span.start, end.max(span.end));
                if self.file.text[span.start..].starts_with("{{") {
                    self.unquoted_braces(span);
                    Node { span, kind: Kind::Broken }
                } else {
                    Node { span, kind: Kind::Map(entries) }
                }
            }
        };
        self.close(node);
    }

    fn unquoted_braces(&mut self, span: Span) {
        let known =
            |other: &Problem| other.code == Code::UnquotedBraces && other.span.start == span.start;
        if self.report.problems.iter().any(known) {
            return;
        }
        let message = "a value that begins with `{{` must be quoted";
        let problem = Problem::error(Code::UnquotedBraces, self.file, span, message);
        self.report.push(problem.help("put the whole value in double quotes"));
    }

    /// The parser cannot go on. Braces without quotes are the likely reason when they stand just
    /// before.
    fn syntax(&mut self, error: &ScanError) -> Option<()> {
        let marker = error.marker();
        let byte = marker
            .byte_offset()
            .unwrap_or_else(|| self.file.byte(marker.line(), marker.col() + 1))
            .min(self.file.text.len());
        if let Some(braces) = self.braces_before(byte) {
            self.unquoted_braces(Span::new(braces, braces + 2));
            return None;
        }
        let open = self.stack.iter().map(|open| match open {
            Open::List(span, _) | Open::Map { span, .. } => span.start,
        });
        let open: Vec<usize> = open.collect();
        let mut start = byte;
        while !self.file.text.is_char_boundary(start) {
            start -= 1;
        }
        let slip = Slip { file: self.file, byte: start, words: &error.info(), open };
        let problem = slip.problem();
        // An alias that was reported on the same line is what the parser stumbled over.
        let line = |span: Span| self.file.line_column(span.start).0;
        let known =
            |other: &Problem| other.code == Code::Syntax && line(other.span) == line(problem.span);
        if !self.report.problems.iter().any(known) {
            self.report.push(problem);
        }
        None
    }

    /// A `{{` at the start of a value on the line of `byte` or the one before it.
    fn braces_before(&self, byte: usize) -> Option<usize> {
        let text = &self.file.text;
        let mut start = byte;
        while !text.is_char_boundary(start) {
            start -= 1;
        }
        let end = text[start..].find('\n').map_or(text.len(), |at| start + at);
        let from = text[..start].rmatch_indices('\n').nth(1).map_or(0, |(at, _)| at + 1);
        let lines = &text[from..end];
        lines.match_indices("{{").map(|(at, _)| at).find_map(|at| {
            let before = lines[..at].trim_end_matches(' ');
            let value = before.ends_with(": ")
                || before.ends_with([':', ',', '[', '{'])
                || before.ends_with('-') && before.trim_end_matches('-').trim_end().is_empty();
            value.then_some(from + at)
        })
    }

    fn place(&self, span: &YamlSpan) -> Span {
        let byte = |marker: &serde_yaml::granit_parser::Marker| {
            let byte = marker.byte_offset();
            byte.unwrap_or_else(|| self.file.byte(marker.line(), marker.col() + 1))
        };
        let start = byte(&span.start).min(self.file.text.len());
        Span::new(start, byte(&span.end).clamp(start, self.file.text.len()))
    }
}
