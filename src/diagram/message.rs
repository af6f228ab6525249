//! What a message is to a reader: how loud, in which colour, with which words. Knows no
//! coordinates.

use super::scene::Role;
use crate::sim::snapshot::{MessageView, RecordRef, Snapshot};

/// How loud a message is; the louder one wins where two are in one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Voice {
    /// Heartbeats, commits and their replies: grey, without words, alone on their rail or not at
    /// all.
    Background,
    /// Fetches and empty replies: grey, with words.
    Quiet,
    /// Records, acknowledgements, errors: in colour, with words.
    Loud,
}

/// Who a broker replicates from and reads like: the kinds of message that carry records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Produce,
    Acknowledgement,
    Fetch,
    FetchReply,
    /// A transaction's end, or what comes of it.
    End,
    Other,
}

fn kind(message: &MessageView) -> Kind {
    match message.kind {
        "produce" => Kind::Produce,
        "produce_response" => Kind::Acknowledgement,
        "fetch" | "replica_fetch" | "share_fetch" => Kind::Fetch,
        "fetch_response" | "replica_fetch_response" | "share_fetch_response" => Kind::FetchReply,
        "end_txn" | "write_txn_markers" => Kind::End,
        _ => Kind::Other,
    }
}

/// Whether a follower takes part in it as a follower.
pub(super) fn is_replication(message: &MessageView) -> bool {
    matches!(message.kind, "replica_fetch" | "replica_fetch_response")
}

/// Whether it belongs in pictures: replication of internal topics alone does not.
pub(super) fn is_shown(message: &MessageView) -> bool {
    !is_replication(message) || !message.fetches.is_empty() || message.error.is_some()
}

/// How many of its records belong to partitions that are drawn.
fn record_count(message: &MessageView) -> u64 {
    let hidden = message.records.iter().filter(|record| record.partition.is_internal()).count();
    message.record_count.saturating_sub(hidden as u64)
}

/// The records of drawn partitions that have an offset.
fn records(message: &MessageView) -> Vec<&RecordRef> {
    message.records.iter().filter(|record| !record.partition.is_internal()).collect()
}

/// How loud it is.
pub(super) fn voice(message: &MessageView) -> Voice {
    match kind(message) {
        _ if message.error.is_some() => Voice::Loud,
        Kind::Produce if message.waiting => Voice::Quiet,
        Kind::Produce | Kind::Acknowledgement => Voice::Loud,
        Kind::FetchReply if record_count(message) > 0 => Voice::Loud,
        Kind::Fetch | Kind::FetchReply | Kind::End => Voice::Quiet,
        Kind::Other => Voice::Background,
    }
}

/// Its colours: what it carries, as far as the leaders have committed it.
pub(super) fn role(message: &MessageView, snapshot: &Snapshot) -> Role {
    if message.error.is_some() {
        return Role::Bad;
    }
    let is_committed = |record: &RecordRef| {
        let view = snapshot.partitions.get(&record.partition);
        view.and_then(|view| view.high_watermark).is_some_and(|high| record.offset < high)
    };
    match kind(message) {
        Kind::Produce if !message.waiting => Role::Pending,
        Kind::Acknowledgement => Role::Ok,
        Kind::FetchReply if record_count(message) > 0 => {
            if records(message).into_iter().all(is_committed) { Role::Ok } else { Role::Pending }
        }
        _ => Role::Plain,
    }
}

/// Its words, or none for what stays in the background.
pub(super) fn words(message: &MessageView) -> Option<String> {
    if let Some(error) = &message.error {
        return Some(error.clone());
    }
    let carries = message.carries.as_str();
    let records = record_count(message);
    let count = if records == 1 { "1 record".to_owned() } else { format!("{records} records") };
    match kind(message) {
        Kind::Produce if message.waiting => Some("waits for replicas".to_owned()),
        Kind::Acknowledgement if carries.is_empty() => Some("ack".to_owned()),
        Kind::Acknowledgement => Some(carries.to_owned()),
        Kind::Fetch if message.waiting && is_replication(message) => {
            Some(format!("{} waits", fetch_words(message)))
        }
        Kind::Fetch if message.waiting => Some("fetch waits".to_owned()),
        Kind::Fetch => Some(fetch_words(message)),
        Kind::FetchReply if records == 0 => Some("empty reply".to_owned()),
        Kind::FetchReply if is_replication(message) => Some(format!("reply with {count}")),
        Kind::Produce | Kind::FetchReply => Some(count),
        Kind::End => Some(carries.to_owned()).filter(|words| !words.is_empty()),
        Kind::Other => None,
    }
}

/// `fetch from 3`, or of how many drawn partitions.
fn fetch_words(message: &MessageView) -> String {
    match message.fetches.as_slice() {
        [] => "fetch".to_owned(),
        [only] => format!("fetch from {}", only.offset),
        many => format!("fetch of {} partitions", many.len()),
    }
}

/// What stands on the record that travels with it: its offset, or how many there are.
pub(super) fn token(message: &MessageView) -> Option<String> {
    let carries = matches!(kind(message), Kind::Produce | Kind::FetchReply);
    let count = record_count(message);
    if !carries || message.waiting || count == 0 || message.error.is_some() {
        return None;
    }
    Some(match records(message).as_slice() {
        [only] => only.offset.to_string(),
        [] if count == 1 => String::new(),
        _ => format!("×{count}"),
    })
}
