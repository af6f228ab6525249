//! Changes to a script: what variants and tables do to the file's tree before it is read again.
//! Knows nothing of what the tree means.

use super::context::Context;
use super::tree::{Entry, Kind, Node};
use super::written::{Mistake, Written};
use crate::diag::{Code, Problem, Span};

/// The parts of a file that a change may reach.
const CHANGEABLE: &[&str] =
    &["seed", "warm", "timing", "cluster", "topics", "producers", "groups", "actions"];

/// What is changed.
#[derive(Clone, Debug, Default)]
pub struct Change {
    /// Paths of the file with their new values.
    pub set: Vec<Entry>,
    /// Actions that are added.
    pub actions: Vec<Node>,
    /// Numbers of the actions that are left out.
    pub drop_actions: Vec<Node>,
}

impl Change {
    /// The change that a variant, or a row or column of a table, asks for.
    pub fn of(node: &Node) -> Change {
        let items = |key: &str| node.get(key).map_or(&[][..], Node::items).to_vec();
        Change {
            set: node.get("set").map_or(&[][..], Node::entries).to_vec(),
            actions: items("actions"),
            drop_actions: items("drop_actions"),
        }
    }

    /// The tree with the change made, without its variants and tables. Changes that cannot be made
    /// are reported.
    pub fn apply(&self, context: &mut Context<'_>, root: &Node) -> Node {
        let mut root = root.clone();
        if let Kind::Map(entries) = &mut root.kind {
            entries.retain(|entry| entry.key != "variants" && entry.key != "tables");
        }
        for entry in &self.set {
            if let Err(mistake) = set(&mut root, entry) {
                let written = Written {
                    file: std::sync::Arc::clone(context.file),
                    span: entry.key_span,
                    text: entry.key.clone(),
                };
                context.mistake(mistake, &written);
            }
        }
        self.change_actions(context, &mut root);
        root
    }

    fn change_actions(&self, context: &mut Context<'_>, root: &mut Node) {
        let count = root.get("actions").map_or(0, |actions| actions.items().len());
        let mut dropped = Vec::new();
        for node in &self.drop_actions {
            match node.number::<usize>() {
                Some(number) if (1..=count).contains(&number) => dropped.push(number - 1),
                Some(number) => {
                    let message = format!("there is no action {number}");
                    let problem =
                        Problem::error(Code::UnknownName, context.file, node.span, message);
                    context.report.push(problem.note(format!("the file has {count} actions")));
                }
                None => {}
            }
        }
        let Kind::Map(entries) = &mut root.kind else { return };
        let mut kept: Vec<Node> = Vec::new();
        if let Some(entry) = entries.iter_mut().find(|entry| entry.key == "actions")
            && let Kind::List(items) = &mut entry.value.kind
        {
            let all = std::mem::take(items).into_iter().enumerate();
            kept.extend(all.filter(|(at, _)| !dropped.contains(at)).map(|(_, node)| node));
        }
        kept.extend(self.actions.iter().cloned());
        entries.retain(|entry| entry.key != "actions");
        let value = Node { span: Span::default(), kind: Kind::List(kept) };
        entries.push(Entry { key: "actions".to_owned(), key_span: Span::default(), value });
    }
}

/// Puts a new value at a path of the tree.
fn set(root: &mut Node, change: &Entry) -> Result<(), Mistake> {
    let segments = split(&change.key);
    let first = segments[0].1;
    if !CHANGEABLE.contains(&first) {
        let message = format!("a variant cannot change `{first}`");
        return Err(Mistake::new(Code::BadValue, 0, first.len(), message)
            .note(format!("it changes: {}", CHANGEABLE.join(", ")))
            .did_you_mean(first, CHANGEABLE.iter().copied()));
    }
    let mut node = root;
    let mut in_config = false;
    for (at, segment) in segments {
        if segment == "config" || in_config {
            add_missing(node, segment, change.key_span);
        }
        in_config = segment == "config";
        let names: Vec<String> = match &node.kind {
            Kind::Map(entries) => entries.iter().map(|entry| entry.key.clone()).collect(),
            Kind::List(items) => (1..=items.len()).map(|number| number.to_string()).collect(),
            _ => Vec::new(),
        };
        let Some(next) = child(node, segment) else {
            let message = format!("the file has no `{}`", &change.key[..at + segment.len()]);
            let mistake = Mistake::new(Code::UnknownName, at, segment.len(), message)
                .note("a variant changes what the file names, and any setting under `.config.`")
                .did_you_mean(segment, names.iter().map(String::as_str));
            return Err(mistake);
        };
        node = next;
    }
    *node = change.value.clone();
    Ok(())
}

/// A place for a `config`, or for a setting in one, where the file has none yet.
fn add_missing(node: &mut Node, key: &str, span: Span) {
    let kind = if key == "config" { Kind::Map(Vec::new()) } else { Kind::Broken };
    if node.is_null() {
        node.kind = Kind::Map(Vec::new());
    }
    if let Kind::Map(entries) = &mut node.kind
        && entries.iter().all(|entry| entry.key != key)
    {
        let value = Node { span, kind };
        entries.push(Entry { key: key.to_owned(), key_span: span, value });
    }
}

/// The value below a node: by key, by number from 1, or by the `name` of a list's item.
fn child<'a>(node: &'a mut Node, segment: &str) -> Option<&'a mut Node> {
    match &mut node.kind {
        Kind::Map(entries) => {
            let entry = entries.iter_mut().find(|entry| entry.key == segment)?;
            Some(&mut entry.value)
        }
        Kind::List(items) => {
            let named = |item: &Node| item.get("name").and_then(Node::text) == Some(segment);
            let by_name = items.iter().position(named);
            let number = segment.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
            items.get_mut(by_name.or(number)?)
        }
        _ => None,
    }
}

/// Cuts a path at its dots, but not inside quotes and not in a setting's name, with the byte at
/// which each part starts.
fn split(path: &str) -> Vec<(usize, &str)> {
    let mut segments: Vec<(usize, &str)> = Vec::new();
    let mut at = 0;
    while at <= path.len() {
        let rest = &path[at..];
        if segments.last().is_some_and(|(_, last)| *last == "config") {
            segments.push((at, rest));
            break;
        }
        let quoted = rest.strip_prefix('"').and_then(|rest| rest.split_once('"'));
        let (start, segment, end) = if let Some((inside, _)) = quoted {
            (at + 1, inside, at + inside.len() + 2)
        } else {
            let length = rest.find('.').unwrap_or(rest.len());
            (at, &rest[..length], at + length)
        };
        segments.push((start, segment));
        at = end + 1;
    }
    segments
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn a_settings_name_and_a_quoted_name_keep_their_dots() {
        let parts = |path| split(path).into_iter().map(|(_, part)| part).collect::<Vec<_>>();
        assert_eq!(
            parts("topics.\"a.b\".config.min.insync.replicas"),
            ["topics", "a.b", "config", "min.insync.replicas"]
        );
        assert_eq!(parts("cluster.config.a.b"), ["cluster", "config", "a.b"]);
        assert_eq!(parts("timing.network"), ["timing", "network"]);
        assert_eq!(parts(""), [""]);
    }
}
