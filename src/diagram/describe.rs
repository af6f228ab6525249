//! A picture in words, for readers who do not see it: its title and its long description, generated
//! from the state. Knows no coordinates.

mod groups;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::message::{Voice, is_replication, is_shown, voice, words};
use super::settings::{is_compacted, min_insync_replicas};
use crate::scenario::run::{Frame, Run};
use crate::sim::ids::{BrokerId, Offset, TopicPartition};
use crate::sim::snapshot::{
    ConsumerState, MessageView, PartitionView, ProcessState, ProducerState, RecordKind, RecordView,
    Registration, ReplicaRole, Snapshot, TransactionMark,
};

/// So many partitions are described one by one; more are counted.
const PARTITIONS_MAX: usize = 6;
/// So many messages are told; more are counted.
const MESSAGES_MAX: usize = 8;

/// `Step 3 of 6: Leader append`.
#[must_use]
pub fn title(frame: &Frame, count: usize) -> String {
    format!("Step {} of {count}: {}", frame.number, frame.title)
}

/// The state in plain sentences.
#[must_use]
pub fn description(run: &Run, frame: &Frame) -> String {
    let snapshot = &frame.snapshot;
    let mut sentences = brokers(snapshot);
    sentences.extend(controller(run, snapshot));
    sentences.extend(network(snapshot));
    for (name, view) in snapshot.partitions.iter().take(PARTITIONS_MAX) {
        sentences.push(partition(run, snapshot, name, view));
    }
    if let Some(more) = snapshot.partitions.len().checked_sub(PARTITIONS_MAX).filter(|n| *n > 0) {
        sentences.push(format!("{} more.", counted(more, "partition")));
    }
    sentences.extend(producers(snapshot));
    sentences.extend(groups::transactions(snapshot));
    sentences.extend(groups::groups(snapshot));
    sentences.extend(consumers(snapshot));
    sentences.extend(groups::admin(snapshot));
    sentences.extend(messages(snapshot));
    sentences.join(" ")
}

fn brokers(snapshot: &Snapshot) -> Vec<String> {
    let mut sentences = vec![format!("{}.", counted(snapshot.brokers.len(), "broker"))];
    for (id, view) in &snapshot.brokers {
        let state = match (view.process, view.registration) {
            (ProcessState::Stopped, _) => "is stopped",
            (ProcessState::Paused, _) => "is paused",
            (ProcessState::ShuttingDown, _) => "is shutting down",
            (ProcessState::Up, Registration::Fenced) => "is fenced",
            (ProcessState::Up, Registration::ControlledShutdown) => "is in controlled shutdown",
            (ProcessState::Up, Registration::Active) => continue,
        };
        sentences.push(format!("broker-{id} {state}."));
    }
    sentences
}

/// What a partition has that most do not: eligible leaders, an open transaction, segments.
fn particulars(view: &PartitionView) -> String {
    let mut text = String::new();
    for (ids, what) in [
        (&view.elr, "eligible leader replicas"),
        (&view.last_known_elr, "last known to be eligible"),
    ] {
        if !ids.is_empty() {
            let _ = write!(text, " {}: {}.", capital(what), listed(ids));
        }
    }
    let stable = view.last_stable_offset.zip(view.high_watermark);
    if let Some((stable, _)) = stable.filter(|(stable, high)| stable < high) {
        let _ = write!(text, " Last stable offset {stable}: a transaction is open from there on.");
    }
    if let Some(segments) = view.segments.filter(|count| *count > 1) {
        let _ = write!(text, " Its log has {segments} segments.");
    }
    text
}

/// What is told of the leader's records: those that the cleaner took out, tombstones, and what came
/// of transactions.
fn records(view: &PartitionView, is_compacted: bool) -> String {
    let (Some(start), Some(end)) = (view.log_start_offset, view.log_end_offset) else {
        return String::new();
    };
    let mut text = String::new();
    let mut told = |what: &str, offsets: Vec<u64>| {
        if !offsets.is_empty() {
            let _ = write!(text, " {what}: {}.", ranges(&offsets));
        }
    };
    let is_gone = |offset: &u64| !view.records.contains_key(&Offset(*offset));
    let gone = (start.0..end.0).filter(is_gone).collect();
    told("Compacted away", if view.records.is_empty() { Vec::new() } else { gone });
    let all = |is: &dyn Fn(&RecordView) -> bool| {
        let found = view.records.iter().filter(|(_, record)| is(record));
        found.map(|(offset, _)| offset.0).collect::<Vec<u64>>()
    };
    told("Tombstones", all(&|it| is_compacted && it.is_tombstone()));
    let is_data = |it: &RecordView| it.kind == RecordKind::Data;
    told("In an open transaction", all(&|it| is_data(it) && it.txn == TransactionMark::Open));
    told("Aborted", all(&|it| is_data(it) && it.txn == TransactionMark::Aborted));
    told("Commit markers", all(&|it| it.kind == RecordKind::Commit));
    told("Abort markers", all(&|it| it.kind == RecordKind::Abort));
    text
}

/// `0 to 3, 5`.
fn ranges(offsets: &[u64]) -> String {
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for &offset in offsets {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == offset => *last = offset,
            _ => ranges.push((offset, offset)),
        }
    }
    let texts = ranges.iter().map(|(first, last)| {
        if first == last { first.to_string() } else { format!("{first} to {last}") }
    });
    texts.collect::<Vec<_>>().join(", ")
}

/// The active controller, where it may be another one.
fn controller(run: &Run, snapshot: &Snapshot) -> Option<String> {
    if run.world.controllers.len() < 2 {
        return None;
    }
    Some(match &snapshot.controller.leader {
        Some(name) => {
            format!("{name} is the active controller, epoch {}.", snapshot.controller.epoch)
        }
        None => "There is no active controller.".to_owned(),
    })
}

/// The controllers that are not there, and who is cut off from whom.
fn network(snapshot: &Snapshot) -> Vec<String> {
    let stopped = snapshot.controller.stopped.iter();
    let mut sentences: Vec<String> = stopped.map(|name| format!("{name} is stopped.")).collect();
    let mut sides: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for (machine, side) in &snapshot.sides {
        sides.entry(*side).or_default().push(machine.to_string());
    }
    if sides.len() > 1 {
        let sides = sides.into_values().map(|names| names.join(", "));
        let sides = sides.collect::<Vec<_>>().join("; from ");
        sentences.push(format!("The network is cut: {sides}."));
    }
    sentences
}

fn partition(
    run: &Run,
    snapshot: &Snapshot,
    name: &TopicPartition,
    view: &PartitionView,
) -> String {
    let mut text = match view.leader {
        Some(leader) => format!("broker-{leader} leads {name} in epoch {}", view.leader_epoch),
        None => format!("{name} has no leader, epoch {}", view.leader_epoch),
    };
    let least = min_insync_replicas(&run.world, snapshot, &name.topic);
    let _ = write!(
        text,
        "; {} of {} replicas in sync, min.insync.replicas is {least}.",
        view.isr.len(),
        view.assignment.len()
    );
    text.push_str(&particulars(view));
    text.push_str(&records(view, is_compacted(&run.world, snapshot, &name.topic)));
    let mut alike: Vec<(String, Vec<BrokerId>)> = Vec::new();
    for (id, replica) in &view.replicas {
        let mut state = format!(
            "log end offset {}, high watermark {}",
            replica.log_end_offset, replica.high_watermark
        );
        if replica.log_start_offset.0 > 0 {
            let _ = write!(state, ", log start {}", replica.log_start_offset);
        }
        if !view.isr.contains(id) {
            state.push_str(", out of sync");
        }
        match (view.leader == Some(*id), replica.role) {
            (true, ReplicaRole::Follower) => state.push_str(", does not know yet that it leads"),
            (false, ReplicaRole::Leader) => state.push_str(", still believes that it leads"),
            _ => {}
        }
        if replica.stalled {
            state.push_str(", stalled");
        }
        match alike.iter_mut().find(|(known, _)| *known == state) {
            Some((_, ids)) => ids.push(*id),
            None => alike.push((state, vec![*id])),
        }
    }
    for (state, ids) in alike {
        let _ = write!(text, " {}: {state}.", listed(&ids));
    }
    text
}

fn producers(snapshot: &Snapshot) -> Vec<String> {
    let views = snapshot.producers.iter();
    views
        .map(|(name, view)| {
            let mut text = format!(
                "Producer {name}: {} buffered, {} in flight, {} acknowledged",
                counted_u64(view.buffered, "record"),
                counted_u64(view.in_flight, "batch"),
                view.acked
            );
            if view.failed > 0 {
                let _ = write!(text, ", {} given up", view.failed);
            }
            match view.state {
                ProducerState::Ready => {}
                ProducerState::InTransaction => text.push_str(", in a transaction"),
                ProducerState::Fenced => text.push_str(", fenced"),
                ProducerState::Failed => text.push_str(", failed"),
                ProducerState::Stopped => text.push_str(", stopped"),
            }
            text + "."
        })
        .collect()
}

fn consumers(snapshot: &Snapshot) -> Vec<String> {
    let mut sentences = Vec::new();
    for (name, view) in &snapshot.consumers {
        let mut text = format!("Consumer {name} of group {}", view.group);
        match view.state {
            ConsumerState::Stopped => text.push_str(" is stopped"),
            ConsumerState::Joining => text.push_str(" waits for its group"),
            ConsumerState::Left => text.push_str(" has left its group"),
            ConsumerState::Fenced => text.push_str(" is fenced"),
            ConsumerState::Stable => {
                let _ = write!(text, " has read {}", counted_u64(view.consumed, "record"));
            }
        }
        text.push_str(&groups::membership(snapshot, name, view));
        let group = snapshot.groups.get(&view.group);
        for (partition, position) in &view.position {
            let committed = group.and_then(|group| group.committed.get(partition));
            let committed = committed.map_or("none".to_owned(), ToString::to_string);
            let lag = group.and_then(|group| group.lag.get(partition));
            let lag = lag.map_or("none".to_owned(), ToString::to_string);
            let _ = write!(
                text,
                "; {partition}: position {position}, committed offset {committed}, lag {lag}"
            );
        }
        sentences.push(text + ".");
    }
    sentences
}

fn messages(snapshot: &Snapshot) -> Vec<String> {
    let told =
        snapshot.messages.iter().filter(|one| is_shown(one) && voice(one) > Voice::Background);
    let told: Vec<String> = told.filter_map(message).collect();
    let count = told.len();
    let mut sentences: Vec<String> = told.into_iter().take(MESSAGES_MAX).collect();
    if count > MESSAGES_MAX {
        sentences.push(format!("{} more.", counted(count - MESSAGES_MAX, "message")));
    }
    sentences
}

fn message(one: &MessageView) -> Option<String> {
    let words = words(one)?;
    Some(if one.waiting && one.kind == "produce" {
        format!("The produce request of {} waits at {}.", one.from, one.to)
    } else if one.waiting && is_replication(one) {
        let fetch = words.trim_end_matches(" waits");
        format!("{}'s {fetch} waits at {}.", one.from, one.to)
    } else if one.waiting {
        format!("A fetch of {} waits at {}.", one.from, one.to)
    } else {
        format!("On its way from {} to {}: {words}.", one.from, one.to)
    })
}

/// `broker-1`, `broker-1 and broker-2`, `broker-1, broker-2 and broker-3`.
pub(super) fn listed(ids: &[BrokerId]) -> String {
    let names: Vec<String> = ids.iter().map(|id| format!("broker-{id}")).collect();
    match names.split_last() {
        None => String::new(),
        Some((only, [])) => only.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn counted(count: usize, word: &str) -> String {
    counted_u64(count as u64, word)
}

fn counted_u64(count: u64, word: &str) -> String {
    let ending = match (count, word.ends_with("ch")) {
        (1, _) => "",
        (_, true) => "es",
        _ => "s",
    };
    format!("{count} {word}{ending}")
}
