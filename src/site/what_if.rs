//! A variant beside the main run: the steps of which it says something of its own (or else the
//! first at which the two differ), side by side, and what differs at each step.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::diagram::NarrowPlan;
use crate::diagram::changes::{self, ChangeLine};
use crate::scenario::model::Variant;
use crate::scenario::run::{Change, Frame, Run, VariantRun};
use crate::sim::world::{Settings, World};

use super::step::StepView;
use super::words;

/// A variant, ready for its section. Texts are HTML where they say so.
#[derive(Clone, Debug, Serialize)]
pub struct WhatIfView {
    /// Its part of the section's id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// What differs and why, HTML.
    pub text: String,
    /// What sets the main run apart: `acks=all`.
    pub main_label: String,
    /// What sets the variant apart: `acks=1`.
    pub label: String,
    /// The steps that are shown side by side.
    pub turns: Vec<TurnView>,
    /// What differs at each step.
    pub rows: Vec<DifferenceView>,
}

/// One step of both runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TurnView {
    /// Its number in both.
    pub number: u32,
    /// Its title in the variant.
    pub title: String,
    /// What the variant says of it in words of its own.
    pub told: Option<StepView>,
    /// Whether it is at the same instant in both.
    pub is_simultaneous: bool,
    /// The main run.
    pub main: SideView,
    /// The variant.
    pub here: SideView,
}

/// One of the two.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SideView {
    /// The title of its step.
    pub title: String,
    /// Its simulated time.
    pub time: String,
    /// The same in milliseconds.
    pub time_ms: u64,
    /// Its picture for narrow columns, inline SVG.
    pub picture: String,
}

/// One step of a variant beside the main run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LockstepView {
    /// The step in both; the variant's words of its own stand elsewhere.
    #[serde(flatten)]
    pub turn: TurnView,
    /// How many steps both have.
    pub total: usize,
    /// What differs at it, but for what differs from the start.
    pub rows: Vec<DifferenceView>,
}

/// One thing that differs at one step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DifferenceView {
    /// The step.
    pub step: u32,
    /// What differs.
    pub what: String,
    /// Its value in the main run, HTML.
    pub main: String,
    /// Its value in the variant, HTML.
    pub here: String,
}

/// A variant's texts as HTML.
#[derive(Clone, Debug, Default)]
pub struct VariantTexts {
    /// What differs and why.
    pub text: String,
    /// The steps of which it says something of its own.
    pub steps: Vec<StepView>,
}

/// The steps of a variant's run of which the variant says something of its own.
pub fn own_frames<'a>(
    main: &'a Run,
    variant: &'a VariantRun,
    written: &'a Variant,
) -> impl Iterator<Item = &'a Frame> {
    let speaks = |(one, other): &(&Frame, &Frame)| {
        written.has_entry(other.number)
            && (&one.title, &one.text, &one.ask, &one.answer)
                != (&other.title, &other.text, &other.ask, &other.answer)
    };
    pairs(main, &variant.run).into_iter().filter(speaks).map(|(_, other)| other)
}

/// Compares a variant with the main run.
#[must_use]
pub fn view(main: &NarrowPlan<'_>, variant: &VariantRun, texts: &VariantTexts) -> WhatIfView {
    let pairs = pairs(main.run(), &variant.run);
    let given = given(&pairs);
    let plans = [main, &NarrowPlan::of(&variant.run)];
    let mut rows = Vec::new();
    let mut turns = Vec::new();
    let mut first = None;
    for (one, other) in pairs {
        let (changed, lines) = effects(one, other, &given);
        let told = texts.steps.iter().find(|step| step.number == one.number);
        if told.is_some() {
            turns.push(turn([one, other], told, &changed, plans));
        } else if first.is_none() && !lines.is_empty() {
            first = Some((one, other, changed));
        }
        rows.extend(lines.into_iter().map(|line| difference(one.number, line)));
    }
    if let (true, Some((one, other, changed))) = (turns.is_empty(), first) {
        turns.push(turn([one, other], None, &changed, plans));
    }
    let (main_label, label) = labels_of(main.run(), variant);
    WhatIfView {
        id: variant.id.clone(),
        title: variant.title.clone(),
        text: texts.text.clone(),
        main_label,
        label,
        turns,
        rows,
    }
}

/// Every step that both runs have, side by side.
#[must_use]
pub fn lockstep(main: &NarrowPlan<'_>, variant: &VariantRun) -> Vec<LockstepView> {
    let pairs = pairs(main.run(), &variant.run);
    let plans = [main, &NarrowPlan::of(&variant.run)];
    let (given, total) = (given(&pairs), pairs.len());
    let step = |(one, other): (&Frame, &Frame)| {
        let (changed, mut lines) = effects(one, other, &given);
        let (here, there) = (&one.snapshot, &other.snapshot);
        lines.extend(counts("under way", &here.in_flight, &there.in_flight));
        lines.extend(counts("held by the receiver", &here.waiting, &there.waiting));
        LockstepView {
            turn: turn([one, other], None, &changed, plans),
            total,
            rows: lines.into_iter().map(|line| difference(one.number, line)).collect(),
        }
    };
    pairs.into_iter().map(step).collect()
}

/// The kinds of message of which the two have not the same number.
fn counts(
    what: &str,
    main: &BTreeMap<String, u64>,
    here: &BTreeMap<String, u64>,
) -> Vec<ChangeLine> {
    let kinds: BTreeSet<&String> = main.keys().chain(here.keys()).collect();
    let count =
        |of: &BTreeMap<String, u64>, kind: &String| of.get(kind).copied().unwrap_or_default();
    let line = |kind: &String| {
        let (from, to) = (count(main, kind), count(here, kind));
        let what = format!("{}, {what}", kind.replace('_', " "));
        (from != to).then(|| ChangeLine { what, from: from.to_string(), to: to.to_string() })
    };
    kinds.into_iter().filter_map(line).collect()
}

/// What differs from the start: it comes with the settings, and is the cause, not the effect.
fn given(pairs: &[(&Frame, &Frame)]) -> Vec<Change> {
    pairs.first().map(|(one, other)| differences(one, other)).unwrap_or_default()
}

/// What differs at a step but for what is `given`: all of it, and as lines to read.
fn effects(one: &Frame, other: &Frame, given: &[Change]) -> (Vec<Change>, Vec<ChangeLine>) {
    let mut changed = differences(one, other);
    changed.retain(|change| !given.contains(change));
    let lines = changes::list(&Frame { changed: state(&changed), ..other.clone() });
    (changed, lines)
}

/// A step of the main run and of the variant, drawn so that the rings mark what differs between
/// the two, not what changed in time.
fn turn(
    [one, other]: [&Frame; 2],
    told: Option<&StepView>,
    changed: &[Change],
    [main, here]: [&NarrowPlan<'_>; 2],
) -> TurnView {
    let side = |frame: &Frame, plan: &NarrowPlan<'_>| SideView {
        title: frame.title.clone(),
        time: words::seconds(frame.time_ms),
        time_ms: frame.time_ms,
        picture: plan.inline(&Frame { changed: changed.to_vec(), ..frame.clone() }),
    };
    TurnView {
        number: one.number,
        title: other.title.clone(),
        told: told.cloned(),
        is_simultaneous: one.time_ms == other.time_ms,
        main: side(one, main),
        here: side(other, here),
    }
}

/// The differences that a table names: what is the case, without what is under way just then.
fn state(changed: &[Change]) -> Vec<Change> {
    changed.iter().filter(|change| !change.path.ends_with(".in_flight")).cloned().collect()
}

fn difference(step: u32, line: ChangeLine) -> DifferenceView {
    let (main, here) = (words::breakable(&line.from), words::breakable(&line.to));
    DifferenceView { step, what: line.what, main, here }
}

/// The steps that both runs have, by number.
fn pairs<'a>(main: &'a Run, other: &'a Run) -> Vec<(&'a Frame, &'a Frame)> {
    let by_number = |frame: &'a Frame| {
        let same = other.frames.iter().find(|candidate| candidate.number == frame.number)?;
        Some((frame, same))
    };
    main.frames.iter().filter_map(by_number).collect()
}

/// What differs, but for the settings themselves.
fn differences(main: &Frame, other: &Frame) -> Vec<Change> {
    let mut changed = crate::scenario::changes(&main.tree, &other.tree);
    changed.retain(|change| !change.path.contains(".config."));
    changed
}

/// What sets the main run apart, and what the variant.
#[must_use]
pub fn labels_of(main: &Run, variant: &VariantRun) -> (String, String) {
    labels(&main.world, &variant.run.world, &variant.title)
}

/// What tells the two apart: the settings that differ, or words where none does.
fn labels(main: &World, other: &World, title: &str) -> (String, String) {
    let (main, other) = (settings(main), settings(other));
    let differing: Vec<_> = main
        .iter()
        .zip(&other)
        .flat_map(|(one, two)| {
            let names = one.keys().chain(two.keys().filter(|name| !one.contains_key(*name)));
            names.map(move |name| (name, one.get(name), two.get(name)))
        })
        .filter(|(_, one, two)| one != two)
        .collect();
    if differing.is_empty() {
        return ("As above".to_owned(), title.to_owned());
    }
    let words = |name: &str, value: Option<&String>| match value {
        Some(value) => format!("{name}={value}"),
        None => format!("{name} by default"),
    };
    let (main, other): (Vec<String>, Vec<String>) =
        differing.into_iter().map(|(name, one, two)| (words(name, one), words(name, two))).unzip();
    (main.join(", "), other.join(", "))
}

/// Every map of settings of a world, in the same order for every variant of it.
fn settings(world: &World) -> Vec<&Settings> {
    let topics = world.topics.iter().map(|topic| &topic.config);
    let producers = world.producers.iter().map(|producer| &producer.config);
    let groups = world.groups.iter().flat_map(|group| {
        std::iter::once(&group.config).chain(group.consumers.iter().map(|it| &it.config))
    });
    std::iter::once(&world.config).chain(topics).chain(producers).chain(groups).collect()
}
