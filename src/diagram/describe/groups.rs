//! Groups, transactions and the administrator in words.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::counted;
use crate::diagram::facts::{assigned, held};
use crate::sim::ids::{Machine, TopicPartition};
use crate::sim::snapshot::{ConsumerState, ConsumerView, GroupView, ShareView, Snapshot};

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

/// What a consumer is to its group, as far as that is out of the ordinary: an epoch that is not the
/// group's, partitions that change hands, records that it holds.
pub(super) fn membership(snapshot: &Snapshot, name: &str, view: &ConsumerView) -> String {
    let mut text = String::new();
    let epoch = snapshot.groups.get(&view.group).and_then(|group| group.epoch);
    let is_member = !matches!(view.state, ConsumerState::Stopped | ConsumerState::Left);
    if is_member && epoch.is_some_and(|epoch| epoch != view.epoch) {
        let _ = write!(text, ", knows epoch {}", view.epoch);
    }
    let names = |partitions: &[&TopicPartition]| {
        partitions.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
    };
    let leaves: Vec<&TopicPartition> = view.revoking.iter().collect();
    if !leaves.is_empty() {
        let _ = write!(text, ", has to give up {}", names(&leaves));
    }
    let given = assigned(snapshot, &view.group, name).unwrap_or_default();
    let to_come: Vec<&TopicPartition> =
        given.iter().filter(|one| !view.assignment.contains(one)).collect();
    if !to_come.is_empty() {
        let _ = write!(text, ", does not read {}, assigned to it", names(&to_come));
    }
    let held = held(snapshot, name);
    if !held.is_empty() {
        let places = held.iter().map(|(partition, offset)| format!("{partition}@{offset}"));
        let _ = write!(text, ", holds {}", places.collect::<Vec<_>>().join(", "));
    }
    text
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
