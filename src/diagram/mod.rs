//! From a [`Run`] to pictures: laid out once per run as scenes (plain data: what stands where),
//! which the SVG writer prints. Also the text twins: description, state table, list of changes.
//! Knows no templates and no disk.

pub mod animated;
mod broker_state;
pub mod card;
pub mod changes;
pub mod describe;
mod facts;
pub mod gif;
pub mod glyph;
mod layout;
mod message;
mod moves;
mod paint;
pub mod png;
mod rail;
mod said;
pub mod scene;
pub mod sequence;
mod settings;
pub mod svg;
pub mod table;
pub mod terminal;
pub mod text;
pub mod theme;
pub mod timeline;

use crate::scenario::run::{Frame, Run};
use facts::Facts;
use paint::Paint;
pub use scene::{Form, Scene};

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

impl Picture {
    /// One of the two layouts.
    #[must_use]
    pub fn scene(&self, form: Form) -> &Scene {
        match form {
            Form::Wide => &self.wide,
            Form::Narrow => &self.narrow,
        }
    }
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
    /// Role class: `ok`, `pend`, `bad` or `quiet`.
    pub role: &'static str,
    /// What stands on the record that it carries, if that is followed or alone: its offset, or
    /// nothing while it has none.
    pub token: Option<String>,
}

/// Lays out and describes every frame of a run.
#[must_use]
pub fn storyboard(run: &Run) -> Storyboard {
    let facts = Facts::of(run);
    let [wide, narrow] = [Form::Wide, Form::Narrow].map(|form| layout::lay_out(&facts, form));
    let picture = |frame| Picture {
        title: describe::title(frame, run.frames.len()),
        description: describe::description(run, frame),
        wide: Paint::new(&facts, &wide, run, frame).scene(),
        narrow: Paint::new(&facts, &narrow, run, frame).scene(),
    };
    let pictures = run.frames.iter().map(picture).collect();
    // The dense form has no rails; the other one may.
    let with_rails = [&wide, &narrow].into_iter().find(|places| places.grid.is_none());
    let moves = with_rails.map(|places| moves::moves(run, &facts, places));
    Storyboard { pictures, moves: moves.unwrap_or_default() }
}

/// The narrow layout of a run, for drawing single frames in the places that the whole run gives
/// them.
#[derive(Debug)]
pub struct NarrowPlan<'a> {
    run: &'a Run,
    facts: Facts,
    places: layout::Places,
}

impl<'a> NarrowPlan<'a> {
    /// Lays out a run.
    #[must_use]
    pub fn of(run: &'a Run) -> NarrowPlan<'a> {
        let facts = Facts::of(run);
        let places = layout::lay_out(&facts, Form::Narrow);
        NarrowPlan { run, facts, places }
    }

    /// What is laid out.
    #[must_use]
    pub fn run(&self) -> &'a Run {
        self.run
    }

    /// A frame as inline SVG, with its title and description.
    #[must_use]
    pub fn inline(&self, frame: &Frame) -> String {
        let scene = Paint::new(&self.facts, &self.places, self.run, frame).scene();
        let title = &describe::title(frame, self.run.frames.len());
        let description = &describe::description(self.run, frame);
        svg::inline(&scene, &svg::Caption { title, description, id: "" })
    }
}
