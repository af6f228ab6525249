//! A variant beside the main run: the first step at which the two differ, side by side, and what
//! differs at each step.

use serde::Serialize;

use crate::diagram::changes::{self, ChangeLine};
use crate::diagram::{self, Picture};
use crate::scenario::run::{Change, Frame, Run, VariantRun};
use crate::sim::world::{Settings, World};

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
    /// The step that is shown.
    pub step: u32,
    /// Its simulated time in the main run.
    pub time: String,
    /// The main run.
    pub main: SideView,
    /// The variant.
    pub here: SideView,
    /// What differs at each step.
    pub rows: Vec<DifferenceView>,
}

/// One of the two.
#[derive(Clone, Debug, Serialize)]
pub struct SideView {
    /// What sets it apart: `acks=1`.
    pub label: String,
    /// The title of its step.
    pub title: String,
    /// Its picture for narrow columns, inline SVG.
    pub picture: String,
}

/// One thing that differs at one step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DifferenceView {
    /// The step.
    pub step: u32,
    /// What differs.
    pub what: String,
    /// Its value in the main run.
    pub main: String,
    /// Its value in the variant.
    pub here: String,
}

/// Compares a variant with the main run. `text` is the variant's text as HTML, `draw` writes a
/// picture for a narrow column.
#[must_use]
pub fn view(main: &Run, variant: &VariantRun, text: String, draw: Draw<'_>) -> WhatIfView {
    let pairs = pairs(main, &variant.run);
    let mut rows = Vec::new();
    let mut shown = None;
    // What differs from the start comes with the settings: it is the cause, not the effect.
    let given = pairs.first().map(|(one, other)| differences(one, other)).unwrap_or_default();
    for (index, (one, other)) in pairs.iter().enumerate() {
        let mut changed = differences(one, other);
        changed.retain(|change| !given.contains(change));
        let mut lines = changes::list(&Frame { changed: changed.clone(), ..(*other).clone() });
        lines.extend(changed.iter().filter_map(message_count));
        if shown.is_none() && !lines.is_empty() {
            shown = Some((index, changed));
        }
        rows.extend(lines.into_iter().map(|line| difference(one.number, line)));
    }
    let (index, changed) = shown.unwrap_or_default();
    let (one, other) = pairs[index];
    let (main_label, label) = labels(&main.world, &variant.run.world, &variant.title);
    WhatIfView {
        id: variant.id.clone(),
        title: variant.title.clone(),
        text,
        step: one.number,
        time: words::seconds(one.time_ms),
        main: SideView {
            label: main_label,
            title: one.title.clone(),
            picture: draw(&picture(main, one, &changed), "main"),
        },
        here: SideView {
            label,
            title: other.title.clone(),
            picture: draw(&picture(&variant.run, other, &changed), "here"),
        },
        rows,
    }
}

/// Writes a picture for a narrow column; the word tells the two sides apart.
pub type Draw<'a> = &'a dyn Fn(&Picture, &str) -> String;

/// How many messages of a kind are under way or held, in words. Lists of changes in time leave
/// these out, since they change all the time; between two runs at the same instant they tell much.
fn message_count(change: &Change) -> Option<ChangeLine> {
    let (place, kind) = change.path.split_once('.')?;
    let words = match place {
        "in_flight" => "under way",
        "waiting" => "held at the broker",
        _ => return None,
    };
    let count = |value: &Option<serde_json::Value>| {
        value.as_ref().map_or_else(|| "0".to_owned(), ToString::to_string)
    };
    Some(ChangeLine {
        what: format!("messages {words}, {}", kind.replace('_', " ")),
        from: count(&change.from),
        to: count(&change.to),
    })
}

fn difference(step: u32, line: ChangeLine) -> DifferenceView {
    DifferenceView { step, what: line.what, main: line.from, here: line.to }
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
    let mut changed = crate::scenario::changes(&main.snapshot, &other.snapshot);
    changed.retain(|change| !change.path.contains(".config."));
    changed
}

/// A step drawn so that the rings mark what differs between the runs, not what changed in time.
fn picture(run: &Run, frame: &Frame, changed: &[Change]) -> Picture {
    let mut run = Run { events: Vec::new(), ..run.clone() };
    let index = run.frames.iter().position(|it| it.number == frame.number).unwrap_or_default();
    run.frames[index].changed = changed.to_vec();
    diagram::storyboard(&run).pictures.swap_remove(index)
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
