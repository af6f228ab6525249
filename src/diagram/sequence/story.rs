//! What a sequence diagram tells, in order: messages, waits, state changes, steps. What only says
//! that a machine is there is counted; what repeats is told once. Knows no coordinates.

use std::collections::{BTreeMap, BTreeSet};

use super::exchange::{Exchange, Fate, exchanges};
use super::note::{self, Note};
use crate::diagram::scene::Role;
use crate::scenario::run::Run;
use crate::sim::trace::EventKind;

/// So many messages and notes of one step are told at most.
const TOLD_MAX: usize = 44;

/// One thing that happens.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Telling {
    /// A message leaves; its place in [`Run::messages`].
    Sent(usize),
    /// It arrives.
    Arrived(usize),
    /// It is lost.
    Lost(usize),
    /// It is held by its receiver from here on.
    Held(usize),
    /// Exchanges that are alike, told where the first begins.
    Repeated(Repeat),
    /// A state changes.
    Noted(Note),
    /// What is not told one by one.
    Counted(String),
    /// A step, by its place among the frames.
    Step(usize),
}

/// Exchanges that are alike.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Repeat {
    /// The first request's place in [`Run::messages`].
    pub first: usize,
    /// How many.
    pub count: usize,
    /// What was asked for and what came of it.
    pub words: String,
    /// When the last of them began, in milliseconds.
    pub until_ms: u64,
    /// Its colours.
    pub role: Role,
    /// Whether answers were sent.
    pub is_answered: bool,
}

impl Repeat {
    /// How many messages it stands for.
    pub fn messages(&self) -> usize {
        if self.is_answered { 2 * self.count } else { self.count }
    }
}

/// One entry of the story.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row {
    /// When, in milliseconds.
    pub time_ms: u64,
    /// What.
    pub what: Telling,
}

/// The story of a run, each step's part ending with the step itself.
pub(super) fn story(run: &Run) -> Vec<Row> {
    let teller = Teller::new(run);
    let mut rows = Vec::new();
    let mut events = run.events.iter().enumerate().peekable();
    for (number, frame) in run.frames.iter().enumerate() {
        let mut part = Part { skipped: teller.chatter(number), ..Part::default() };
        while let Some((at, event)) = events.next_if(|(_, event)| event.time_ms <= frame.time_ms) {
            let Some(what) = teller.telling(at) else { continue };
            if part.told < TOLD_MAX || matches!(what, Telling::Arrived(_) | Telling::Lost(_)) {
                part.told += usize::from(!matches!(what, Telling::Held(_) | Telling::Arrived(_)));
                part.rows.push(Row { time_ms: event.time_ms, what });
            } else {
                part.left += match what {
                    Telling::Sent(_) => 1,
                    Telling::Repeated(repeat) => repeat.messages(),
                    _ => 0,
                };
            }
        }
        rows.append(&mut part.rows);
        if let Some(text) = part.counted() {
            rows.push(Row { time_ms: frame.time_ms, what: Telling::Counted(text) });
        }
        rows.push(Row { time_ms: frame.time_ms, what: Telling::Step(number) });
    }
    rows
}

/// The story from one step to the next.
#[derive(Default)]
struct Part {
    rows: Vec<Row>,
    told: usize,
    /// Messages beyond [`TOLD_MAX`].
    left: usize,
    /// Exchanges that only say that a machine is there, by their names.
    skipped: BTreeMap<&'static str, usize>,
}

impl Part {
    fn counted(&self) -> Option<String> {
        let mut texts: Vec<String> =
            self.skipped.iter().map(|(name, count)| super::words::counted(*count, name)).collect();
        if self.left > 0 {
            texts.push(super::words::counted(self.left, "later message"));
        }
        let (last, others) = texts.split_last()?;
        Some(match others {
            [] => format!("not drawn: {last}"),
            others => format!("not drawn: {} and {last}", others.join(", ")),
        })
    }
}

/// Knows what becomes of each event of a run.
struct Teller<'a> {
    run: &'a Run,
    /// Messages by their id.
    places: BTreeMap<u64, usize>,
    exchanges: Vec<Exchange>,
    /// Messages that are not drawn one by one.
    hidden: BTreeSet<usize>,
    /// What stands in their place, by the message at whose sending it is told.
    repeats: BTreeMap<usize, Repeat>,
    /// Notes by their event.
    notes: BTreeMap<usize, Note>,
}

impl<'a> Teller<'a> {
    fn new(run: &'a Run) -> Teller<'a> {
        let places = run.messages.iter().enumerate().map(|(at, message)| (message.id, at));
        let places: BTreeMap<u64, usize> = places.collect();
        let exchanges = exchanges(run, &places);
        let notes = note::notes(run);
        let (hidden, repeats) = (BTreeSet::new(), BTreeMap::new());
        let mut teller = Teller { run, places, exchanges, hidden, repeats, notes };
        teller.fold();
        teller
    }

    /// The step during whose part a moment is.
    fn part_of(&self, time_ms: u64) -> usize {
        self.run.frames.partition_point(|frame| frame.time_ms < time_ms)
    }

    fn telling(&self, at: usize) -> Option<Telling> {
        let event = &self.run.events[at];
        if let Some(note) = self.notes.get(&at) {
            return Some(Telling::Noted(note.clone()));
        }
        let place = *self.places.get(&event.message?)?;
        if event.event == EventKind::Send
            && let Some(repeat) = self.repeats.get(&place)
        {
            return Some(Telling::Repeated(repeat.clone()));
        }
        if self.hidden.contains(&place) {
            return None;
        }
        match event.event {
            EventKind::Send => Some(Telling::Sent(place)),
            EventKind::Receive => Some(Telling::Arrived(place)),
            EventKind::Drop => Some(Telling::Lost(place)),
            EventKind::Wait => Some(Telling::Held(place)),
            _ => None,
        }
    }

    /// Hides what only says that a machine is there, and folds what is alike within a step.
    fn fold(&mut self) {
        let mut alike: BTreeMap<(usize, Vec<String>), Vec<usize>> = BTreeMap::new();
        for (at, exchange) in self.exchanges.iter().enumerate() {
            if exchange.chatter.is_some() {
                self.hidden.insert(exchange.request);
                self.hidden.extend(exchange.answer);
            } else if exchange.fate != Fate::Open {
                let request = &self.run.messages[exchange.request];
                let part = self.part_of(request.sent_ms);
                alike.entry((part, exchange.key(self.run))).or_default().push(at);
            }
        }
        for found in alike.into_values() {
            let first = &self.exchanges[found[0]];
            let threshold = if first.is_quiet(self.run) { 2 } else { 3 };
            if found.len() < threshold {
                continue;
            }
            let last = &self.exchanges[found[found.len() - 1]];
            let repeat = Repeat {
                first: first.request,
                count: found.len(),
                words: first.merged(last, self.run),
                until_ms: self.run.messages[last.request].sent_ms,
                role: first.role(self.run),
                is_answered: first.fate != Fate::Lost,
            };
            self.repeats.insert(first.request, repeat);
            for at in found {
                self.hidden.insert(self.exchanges[at].request);
                self.hidden.extend(self.exchanges[at].answer);
            }
        }
    }

    /// How many exchanges of one step's part only say that a machine is there.
    fn chatter(&self, part: usize) -> BTreeMap<&'static str, usize> {
        let mut counts = BTreeMap::new();
        for exchange in &self.exchanges {
            let sent_ms = self.run.messages[exchange.request].sent_ms;
            if let Some(name) = exchange.chatter.filter(|_| self.part_of(sent_ms) == part) {
                *counts.entry(name).or_default() += 1;
            }
        }
        counts
    }
}
