//! What running a scenario gives: one frame per step, with the texts filled in.

use serde::Serialize;

use crate::sim::snapshot::{MessageView, Snapshot};
use crate::sim::trace::TraceEvent;
use crate::sim::world::World;

use super::diff::Tree;
use super::model::Citation;

/// A scenario and its variants, run.
#[derive(Clone, Debug)]
pub struct Simulated {
    /// The script as it stands.
    pub main: Run,
    /// Its variants, in the file's order.
    pub variants: Vec<VariantRun>,
    /// `summary`, filled in with the last step's values; Markdown.
    pub summary: String,
    /// `start`, with the first step's values; Markdown.
    pub start: Option<String>,
    /// `takeaway`, with the last step's values; Markdown.
    pub takeaway: Option<String>,
    /// What a real cluster does differently, with the last step's values; Markdown.
    pub simplified: Option<String>,
    /// How many `expect` lines held, variants included.
    pub statement_count: usize,
}

/// One variant, run.
#[derive(Clone, Debug)]
pub struct VariantRun {
    /// Its id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Its text, with the last step's values; Markdown.
    pub text: Option<String>,
    /// The run.
    pub run: Run,
}

/// One run of the simulator.
#[derive(Clone, Debug)]
pub struct Run {
    /// What it started from.
    pub world: World,
    /// One frame per step, in order.
    pub frames: Vec<Frame>,
    /// Every event up to the last step.
    pub events: Vec<TraceEvent>,
    /// Every message that was sent up to the last step, in the order of sending.
    pub messages: Vec<MessageView>,
    /// The record whose journey the pictures trace.
    pub follow: Option<crate::sim::snapshot::RecordRef>,
}

/// The world at one step, with the step's texts.
#[derive(Clone, Debug)]
pub struct Frame {
    /// The step's number in the file, from 1; a variant that drops steps leaves their numbers out.
    pub number: u32,
    /// When, in milliseconds.
    pub time_ms: u64,
    /// Its title.
    pub title: String,
    /// Its text, with values filled in; Markdown.
    pub text: String,
    /// The question before the text's decisive part, filled in; Markdown.
    pub ask: Option<String>,
    /// The answer, filled in; Markdown.
    pub answer: Option<String>,
    /// What a real cluster does differently here, filled in; Markdown.
    pub simplified: Option<String>,
    /// Settings that matter at this step.
    pub configs: Vec<String>,
    /// Sources.
    pub cite: Vec<Citation>,
    /// How many `expect` lines held.
    pub statement_count: usize,
    /// The world.
    pub snapshot: Snapshot,
    /// The snapshot as it is compared with others.
    pub tree: Tree,
    /// What differs from the step before (for the first step: nothing).
    pub changed: Vec<Change>,
}

/// One observable that changed. `None` is the format's `none`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    /// The observable's path: `partitions.orders-0.high_watermark`.
    pub path: String,
    /// The value before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<serde_json::Value>,
    /// The value now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<serde_json::Value>,
}
