//! Groups, transactions and the administrator in words.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::counted;
use crate::sim::ids::Machine;
use crate::sim::snapshot::{GroupView, ShareView, Snapshot};

/// Every group, and what it has committed where no consumer tells of it.
pub(super) fn groups(snapshot: &Snapshot) -> Vec<String> {
    snapshot.groups.iter().map(|(name, view)| group(snapshot, name, view)).collect()
}

fn group(snapshot: &Snapshot, name: &str, view: &GroupView) -> String {
    let mut text = format!("Group {name}");
    match (&view.state, view.coordinator) {
        (Some(state), Some(coordinator)) => {
            let _ = write!(text, " is {state} at {}", Machine::Broker(coordinator));
        }
        (Some(state), None) => {
            let _ = write!(text, " is {state}");
        }
        (None, _) => text.push_str(" has no coordinator that answers"),
    }
    if let Some(epoch) = view.epoch {
        let _ = write!(text, ", epoch {epoch}");
    }
    if let Some(assignor) = view.assignor.as_ref().filter(|_| !view.members.is_empty()) {
        let _ = write!(text, ", assignor {assignor}");
    }
    match view.members.as_slice() {
        [] => text.push_str(", without members"),
        members => {
            let _ = write!(text, ", {}: {}", counted(members.len(), "member"), members.join(", "));
        }
    }
    let has_readers =
        snapshot.consumers.values().any(|it| it.group == name && !it.position.is_empty());
    for (partition, offset) in view.committed.iter().filter(|_| !has_readers) {
        let _ = write!(text, "; {partition}: committed offset {offset}");
        if let Some(lag) = view.lag.get(partition) {
            let _ = write!(text, ", lag {lag}");
        }
    }
    for (partition, share) in &view.share {
        let _ = write!(text, "; {partition}: {}", shared(share));
    }
    text + "."
}

/// `start offset 2, 1 acquired, 3 available`.
fn shared(share: &ShareView) -> String {
    let mut states: BTreeMap<&str, usize> = BTreeMap::new();
    for record in share.records.values() {
        *states.entry(&record.state).or_default() += 1;
    }
    let mut text = format!("start offset {}", share.start_offset);
    for (state, count) in states {
        let _ = write!(text, ", {count} {state}");
    }
    text
}

/// Every transactional id.
pub(super) fn transactions(snapshot: &Snapshot) -> Vec<String> {
    let views = snapshot.transactions.iter();
    views
        .map(|(id, view)| {
            let mut text = format!(
                "Transaction {id} is {}, producer epoch {}",
                view.state, view.producer_epoch
            );
            if !view.partitions.is_empty() {
                let names: Vec<String> = view.partitions.iter().map(ToString::to_string).collect();
                let _ = write!(text, ", with {}", names.join(", "));
            }
            text + "."
        })
        .collect()
}

/// What the administrator was told last.
pub(super) fn admin(snapshot: &Snapshot) -> Option<String> {
    let error = snapshot.admin.last_error.as_ref()?;
    Some(format!("The administrator's last action failed with {error}."))
}
