//! The published data: `scenario.json` with every snapshot, and `events.json` beside it.

use serde::Serialize;

use super::diff;
use super::model::Scenario;
use super::run::{Change, Frame, Run, Simulated};
use crate::sim::snapshot::Snapshot;

/// The version of the form of `scenario.json`.
const FORMAT: u32 = 1;

/// `scenario.json`.
#[derive(Debug, Serialize)]
pub struct Published<'a> {
    format: u32,
    id: &'a str,
    slug: &'a str,
    title: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    chapter: Option<&'a str>,
    level: &'static str,
    kafka: &'static str,
    seed: u64,
    steps: Vec<PublishedStep<'a>>,
    variants: Vec<PublishedVariant<'a>>,
}

/// One step of it.
#[derive(Debug, Serialize)]
pub struct PublishedStep<'a> {
    number: u32,
    time_ms: u64,
    title: &'a str,
    changed: Vec<Change>,
    snapshot: &'a Snapshot,
}

/// One variant of it.
#[derive(Debug, Serialize)]
pub struct PublishedVariant<'a> {
    id: &'a str,
    title: &'a str,
    steps: Vec<PublishedStep<'a>>,
}

/// The data of a scenario that has been run.
#[must_use]
pub fn scenario<'a>(scenario: &'a Scenario, simulated: &'a Simulated) -> Published<'a> {
    Published {
        format: FORMAT,
        id: &scenario.id,
        slug: &scenario.slug,
        title: &scenario.title,
        chapter: scenario.chapter.as_deref(),
        level: scenario.level.word(),
        kafka: "4.3",
        seed: scenario.script.world.seed,
        steps: steps(&simulated.main),
        variants: simulated
            .variants
            .iter()
            .map(|variant| PublishedVariant {
                id: &variant.id,
                title: &variant.title,
                steps: steps(&variant.run),
            })
            .collect(),
    }
}

/// The steps of a run, each with everything that changed since the one before.
#[must_use]
pub fn steps(run: &Run) -> Vec<PublishedStep<'_>> {
    let before = std::iter::once(None).chain(run.frames.iter().map(Some));
    run.frames.iter().zip(before).map(|(frame, before)| step(frame, before)).collect()
}

fn step<'a>(frame: &'a Frame, before: Option<&Frame>) -> PublishedStep<'a> {
    PublishedStep {
        number: frame.number,
        time_ms: frame.time_ms,
        title: &frame.title,
        changed: before.map_or_else(Vec::new, |before| diff::changes(&before.tree, &frame.tree)),
        snapshot: &frame.snapshot,
    }
}

/// The text of `scenario.json`.
#[must_use]
pub fn scenario_json(of: &Scenario, simulated: &Simulated) -> String {
    json(&scenario(of, simulated))
}

/// The text of `events.json`: one object per event of a run.
#[must_use]
pub fn events_json(run: &Run) -> String {
    json(&run.events)
}

/// Any of the published data as text, ending with a line feed.
#[must_use]
pub fn json<T: Serialize>(data: &T) -> String {
    let mut text = serde_json::to_string(data).expect("published data are plain, with text keys");
    text.push('\n');
    text
}
