//! What stands where in a sequence diagram, as plain data, from the top of the first part on.

use crate::diagram::scene::{Anchor, Part, Point, Rect, Role};
use crate::diagram::text::Face;

/// An arrow.
#[derive(Clone, Debug)]
pub(super) struct Arrow {
    /// The message's id.
    pub id: u64,
    pub from: Point,
    pub to: Point,
    pub role: Role,
    pub end: End,
}

/// How an arrow ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// It arrives.
    Head,
    /// It is lost.
    Cross,
    /// It is still under way.
    Open,
    /// Both ways, for what repeats.
    Both,
}

/// A request that is held.
#[derive(Clone, Debug)]
pub(super) struct Bar {
    pub x: f64,
    pub top: f64,
    pub bottom: f64,
    pub role: Role,
}

/// A line of text in its place.
#[derive(Clone, Debug)]
pub(super) struct Label {
    pub at: Point,
    pub anchor: Anchor,
    pub text: String,
    /// The whole, where it had to be cut.
    pub whole: String,
    pub face: Face,
    pub part: Part,
    pub role: Role,
}

/// A dot on a machine's line, beside which a note stands.
#[derive(Clone, Debug)]
pub(super) struct Dot {
    pub at: Point,
    pub role: Role,
}

/// Everything in its place, from the top of the first part on.
#[derive(Clone, Debug, Default)]
pub(super) struct Layout {
    pub arrows: Vec<Arrow>,
    pub bars: Vec<Bar>,
    pub labels: Vec<Label>,
    pub dots: Vec<Dot>,
    /// Grounds of the steps' numbers.
    pub chips: Vec<Rect>,
    /// Where each step's part ends.
    pub marks: Vec<f64>,
}
