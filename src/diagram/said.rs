//! What is said of the messages of one machine, beside its rail or in its card. Knows no
//! coordinates.

use std::collections::BTreeMap;

use super::message::{Voice, is_replication, is_shown, role, voice, words};
use super::scene::Role;
use super::text::{Face, wrap};
use crate::sim::ids::{BrokerId, Machine};
use crate::sim::snapshot::{MessageView, Snapshot};

/// Words and their colour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Said {
    pub text: String,
    pub role: Role,
}

/// Of a client that has so many rails; of a producer that is silent, what it will send.
pub(super) fn of_client(snapshot: &Snapshot, name: &str, rails: usize) -> Vec<Said> {
    let machine = Machine::Client(name.to_owned());
    let mut said = said(snapshot, rails, |one| {
        let ends = [(&one.from, &one.to), (&one.to, &one.from)];
        ends.into_iter().find(|(own, _)| **own == machine).map(|(_, other)| other)
    });
    if said.is_empty() {
        said.extend(will_send(snapshot, name));
    }
    said
}

/// Of a broker that follows, and replicates with so many others.
pub(super) fn of_follower(snapshot: &Snapshot, id: BrokerId, rails: usize) -> Vec<Said> {
    let follower = Machine::Broker(id);
    said(snapshot, rails, |one| match one.kind {
        _ if !is_replication(one) => None,
        "replica_fetch" => (one.from == follower).then_some(&one.to),
        _ => (one.to == follower).then_some(&one.from),
    })
}

/// The loudest message with each machine at the other end, the earliest where several are equally
/// loud; the loudest of all first. Who has several `rails` says with whom.
fn said<'a>(
    snapshot: &'a Snapshot,
    rails: usize,
    other_end: impl Fn(&'a MessageView) -> Option<&'a Machine>,
) -> Vec<Said> {
    let mut loudest: BTreeMap<&Machine, &MessageView> = BTreeMap::new();
    for one in snapshot.messages.iter().filter(|one| is_shown(one)) {
        let Some(end) = other_end(one) else { continue };
        let best = loudest.entry(end).or_insert(one);
        if voice(one) > voice(best) {
            *best = one;
        }
    }
    let mut all: Vec<(&Machine, &MessageView)> = loudest.into_iter().collect();
    all.sort_by_key(|(_, one)| std::cmp::Reverse(voice(one)));
    let mut alike: Vec<(Said, Vec<&Machine>)> = Vec::new();
    for (end, one) in all {
        let Some(text) = words(one).filter(|_| voice(one) > Voice::Background) else { continue };
        let said = Said { text, role: role(one, snapshot) };
        match alike.iter_mut().find(|(known, _)| *known == said) {
            Some((_, ends)) => ends.push(end),
            None => alike.push((said, vec![end])),
        }
    }
    alike.into_iter().flat_map(|(said, ends)| with_whom(&said, &ends, rails)).collect()
}

/// The same words once for each machine at the other end, or once for all where there are many.
fn with_whom(said: &Said, ends: &[&Machine], rails: usize) -> Vec<Said> {
    let Said { text, role } = said;
    let named = |whom: String| Said { text: format!("{whom}: {text}"), role: *role };
    match ends.len() {
        _ if rails <= 1 => vec![said.clone()],
        0..=2 => ends.iter().map(|end| named(end.to_string())).collect(),
        count => vec![named(format!("{count} brokers"))],
    }
}

/// When a producer's next batch leaves, or is sent again.
fn will_send(snapshot: &Snapshot, name: &str) -> Option<Said> {
    let send = snapshot.producers.get(name)?.next_send?;
    let words = if send.is_retry { "tries again at" } else { "sends at" };
    let text = format!("{words} {}.{:03}\u{a0}s", send.at_ms / 1000, send.at_ms % 1000);
    Some(Said { text, role: Role::Plain })
}

/// The lines that these words take in a place of that width and so many lines; what does not fit
/// any more is left out.
pub(super) fn lines(said: &[Said], width: f64, most: usize) -> Vec<(String, Role)> {
    let mut lines: Vec<(String, Role)> = Vec::new();
    for one in said {
        let more = wrap(&one.text, Face::Sans, (width, most));
        if lines.len() + more.len() <= most {
            lines.extend(more.into_iter().map(|line| (line, one.role)));
        }
    }
    lines
}

/// The most lines that any of these takes.
pub(super) fn most_lines(all: &[Vec<Said>], width: f64, most: usize) -> usize {
    all.iter().map(|said| lines(said, width, most).len()).max().unwrap_or(0)
}
