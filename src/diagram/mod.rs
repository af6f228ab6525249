//! From a [`Run`] to pictures: laid out once per run as scenes (plain data: what stands where), which the
//! SVG writer prints. Also the text twins: description, state table, list of changes. Knows no templates
//! and no disk.

pub mod table;
pub mod terminal;

use crate::scenario::run::Run;

/// Everything drawn for one run. The same thing keeps the same place in all its pictures.
#[derive(Clone, Debug)]
pub struct Storyboard {
    /// One per frame, in order.
    pub pictures: Vec<Picture>,
    /// The messages of the run that have a rail, for the player, in the order of sending.
    pub moves: Vec<Move>,
}

/// One step's picture in both layouts.
#[derive(Clone, Debug)]
pub struct Picture {
    /// For `<title>`: `Step 3 of 6: Leader append`.
    pub title: String,
    /// For `<desc>`: the state in plain sentences, generated.
    pub description: String,
    /// Three columns; from 620 px of container width.
    pub wide: Scene,
    /// Rows; for phones.
    pub narrow: Scene,
}

/// What stands where in one picture, in logical units (one unit is one pixel at natural size).
#[derive(Clone, Debug, PartialEq)]
pub struct Scene {
    /// Width of the view.
    pub width: f64,
    /// Height of the view.
    pub height: f64,
}

/// One message's way along a rail; the rail is the SVG path with `data-rail` equal to `rail`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Move {
    /// The rail's name, the same in both layouts.
    pub rail: String,
    /// True when it travels from the path's end to its start.
    pub back: bool,
    /// When it was sent, in milliseconds.
    pub sent_ms: u64,
    /// When it arrives, in milliseconds.
    pub arrives_ms: u64,
    /// Role class: `ok`, `pend`, `bad`, `cons`, or `quiet`.
    pub role: &'static str,
    /// The offset on the record that it carries, if it carries one that is followed or alone.
    pub token: Option<String>,
}

/// Lays out and describes every frame of a run.
#[must_use]
pub fn storyboard(_run: &Run) -> Storyboard {
    unimplemented!()
}
