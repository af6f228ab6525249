//! What differs between two snapshots, by the paths of their trees.

use std::sync::Arc;

use serde_json::{Map, Value as Json};

use super::run::Change;
use crate::sim::snapshot::Snapshot;

/// Roots that differ at every instant, or that are a list of their own.
const LEFT_OUT: &[&str] = &["time_ms", "since", "messages"];

/// A snapshot as a tree of observables, made once and compared often.
#[derive(Clone, Debug)]
pub struct Tree(Arc<Json>);

impl From<&Snapshot> for Tree {
    fn from(snapshot: &Snapshot) -> Self {
        let tree = serde_json::to_value(snapshot);
        Self(Arc::new(tree.expect("a snapshot is plain data with text keys")))
    }
}

/// Every observable that differs, in the order of the tree; clocks and messages are left out.
#[must_use]
pub fn changes(before: &Tree, after: &Tree) -> Vec<Change> {
    let mut changes = Vec::new();
    compare(&mut String::new(), Some(&before.0), Some(&after.0), &mut changes);
    changes
}

/// The changes that readers look for: counts of messages, meters, and single records, which the
/// pictures show better, are left out.
#[must_use]
pub fn readable(changes: &[Change]) -> Vec<Change> {
    let told = |change: &&Change| {
        let path = change.path.as_str();
        let root = path.split('.').next().unwrap_or_default();
        !matches!(root, "in_flight" | "waiting" | "metrics")
            && !path.contains(".records.")
            && !path.contains(".segment.")
            && !path.contains(".next_sequence.")
            && !path.ends_with(".seen")
    };
    changes.iter().filter(told).cloned().collect()
}

fn compare(path: &mut String, from: Option<&Json>, to: Option<&Json>, changes: &mut Vec<Change>) {
    let none = Map::new();
    match (from.and_then(Json::as_object), to.and_then(Json::as_object)) {
        (None, None) => {
            if from != to {
                changes.push(Change { path: path.clone(), from: from.cloned(), to: to.cloned() });
            }
        }
        (before, after) => {
            let (before, after) = (before.unwrap_or(&none), after.unwrap_or(&none));
            // Two trees nearly always have the same keys in the same order.
            let mut aligned = before.iter();
            for (key, to) in after {
                let from = match aligned.next() {
                    Some((same, value)) if same == key => Some(value),
                    _ => before.get(key),
                };
                below(path, key, (from, Some(to)), changes);
            }
            for (key, from) in before.iter().filter(|(key, _)| !after.contains_key(*key)) {
                below(path, key, (Some(from), None), changes);
            }
        }
    }
}

fn below(
    path: &mut String,
    key: &str,
    (from, to): (Option<&Json>, Option<&Json>),
    changes: &mut Vec<Change>,
) {
    if path.is_empty() && LEFT_OUT.contains(&key) {
        return;
    }
    let length = path.len();
    push(path, key);
    compare(path, from, to, changes);
    path.truncate(length);
}

/// Adds one part; a name with a dot in it is quoted, but what follows `.config.` is the rest as it
/// is.
fn push(path: &mut String, key: &str) {
    let in_config = path.ends_with(".config");
    if !path.is_empty() {
        path.push('.');
    }
    if key.contains('.') && !in_config {
        path.push('"');
        path.push_str(key);
        path.push('"');
    } else {
        path.push_str(key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::ids::{Offset, TopicPartition};
    use crate::sim::snapshot::PartitionView;

    fn snapshot(log_end_offset: Option<u64>, time_ms: u64) -> Snapshot {
        let view = PartitionView {
            log_end_offset: log_end_offset.map(Offset),
            ..PartitionView::default()
        };
        let mut snapshot = Snapshot { time_ms, ..Snapshot::default() };
        snapshot.partitions.insert(TopicPartition::new("my.topic", 0), view);
        snapshot
    }

    #[test]
    fn what_changed_is_named_by_its_path() {
        let changes = changes(&Tree::from(&snapshot(None, 1)), &Tree::from(&snapshot(Some(2), 5)));
        assert_eq!(
            changes,
            [Change {
                path: "partitions.\"my.topic-0\".log_end_offset".to_owned(),
                from: None,
                to: Some(Json::from(2)),
            }]
        );
    }

    #[test]
    fn a_whole_branch_that_comes_is_told_leaf_by_leaf() {
        let empty = Tree::from(&Snapshot::default());
        let changes = changes(&empty, &Tree::from(&snapshot(Some(2), 0)));
        let paths: Vec<&str> = changes.iter().map(|change| change.path.as_str()).collect();
        assert!(paths.contains(&"partitions.\"my.topic-0\".isr"));
        assert!(!paths.contains(&"partitions"));
    }
}
