//! Requests with what came of them, as far as a sequence diagram folds them. Knows no coordinates.

use std::collections::{BTreeMap, BTreeSet};

use super::words::{alike, base, is_answer, merged, words};
use crate::diagram::message;
use crate::diagram::scene::Role;
use crate::scenario::run::Run;
use crate::sim::snapshot::Snapshot;
use crate::sim::trace::EventKind;

/// What came of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It was answered, and the answer arrived.
    Answered,
    /// It or its answer was lost.
    Lost,
    /// Nothing yet.
    Open,
}

/// A request and its answer, by their places in [`Run::messages`].
#[derive(Clone, Debug)]
pub(super) struct Exchange {
    pub request: usize,
    pub answer: Option<usize>,
    pub fate: Fate,
    /// Its name, if it only says that a machine is there.
    pub chatter: Option<&'static str>,
}

/// The exchanges of a run, in the order of their requests.
pub(super) fn exchanges(run: &Run, places: &BTreeMap<u64, usize>) -> Vec<Exchange> {
    let mut answers: BTreeMap<u64, usize> = BTreeMap::new();
    for (at, message) in run.messages.iter().enumerate() {
        if let Some(request) = message.answers {
            answers.insert(request, at);
        }
    }
    let (mut received, mut lost) = (BTreeSet::new(), BTreeSet::new());
    for event in &run.events {
        let place = event.message.and_then(|id| places.get(&id).copied());
        match event.event {
            EventKind::Receive => received.extend(place),
            EventKind::Drop => lost.extend(place),
            _ => {}
        }
    }
    let requests = run.messages.iter().enumerate().filter(|(_, message)| !is_answer(message));
    requests
        .map(|(request, message)| {
            let answer = answers.get(&message.id).copied();
            let is_lost = lost.contains(&request) || answer.is_some_and(|at| lost.contains(&at));
            let fate = match answer {
                _ if is_lost => Fate::Lost,
                Some(answer) if received.contains(&answer) => Fate::Answered,
                _ => Fate::Open,
            };
            let exchange = Exchange { request, answer, fate, chatter: None };
            Exchange { chatter: exchange.chatter(run), ..exchange }
        })
        .collect()
}

impl Exchange {
    /// What it is called if it only says that a machine is there.
    fn chatter(&self, run: &Run) -> Option<&'static str> {
        let request = &run.messages[self.request];
        let has_error = self.answer.is_some_and(|at| run.messages[at].error.is_some());
        match base(request.kind) {
            "quorum_fetch" => Some("metadata fetch"),
            "begin_quorum_epoch" => Some("controller announcement"),
            "broker_heartbeat" => Some("broker heartbeat"),
            "api_versions" => Some("version question"),
            "heartbeat" if !has_error => Some("heartbeat"),
            _ if !message::is_shown(request) && !has_error => Some("fetch of internal topics"),
            _ => None,
        }
    }

    /// Whether it brought nothing.
    pub fn is_quiet(&self, run: &Run) -> bool {
        let answer = self.answer.map(|at| &run.messages[at]);
        let brings = answer.is_some_and(|one| one.record_count > 0 || one.error.is_some());
        !brings && run.messages[self.request].record_count == 0
    }

    /// What two exchanges have in common that are alike.
    pub fn key(&self, run: &Run) -> Vec<String> {
        let request = &run.messages[self.request];
        let outcome = self.answer.map_or_else(String::new, |at| words(&run.messages[at]));
        vec![
            request.from.to_string(),
            request.to.to_string(),
            request.kind.to_owned(),
            alike(&words(request)),
            alike(&outcome),
            format!("{:?}", self.fate),
        ]
    }

    /// What it and a later one that is alike asked for, and what they got.
    pub fn merged(&self, last: &Exchange, run: &Run) -> String {
        let asked = |exchange: &Exchange| words(&run.messages[exchange.request]);
        let got = |exchange: &Exchange| {
            exchange.answer.map_or_else(String::new, |at| words(&run.messages[at]))
        };
        let asked = merged(&asked(self), &asked(last));
        match (self.fate, merged(&got(self), &got(last))) {
            (Fate::Lost, _) => format!("{asked}, lost"),
            (_, got) if got.is_empty() => asked,
            (_, got) => format!("{asked}: {got}"),
        }
    }

    /// The colours of what it brought.
    pub fn role(&self, run: &Run) -> Role {
        let nothing = Snapshot::default();
        let of = |at: usize| message::role(&run.messages[at], &nothing);
        match self.fate {
            Fate::Lost => Role::Bad,
            _ => self.answer.map_or_else(|| of(self.request), of),
        }
    }
}
