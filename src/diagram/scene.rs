//! A picture as plain data: what stands where, in logical units (one unit is one pixel at natural
//! size). Knows no SVG and no Kafka.

use super::text::{Face, room};

/// Which layout a scene is drawn in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Form {
    /// Three columns, 692 units.
    Wide,
    /// Rows for phones, 328 units.
    Narrow,
}

/// What stands where in one picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Scene {
    /// The layout.
    pub form: Form,
    /// Width of the view.
    pub width: f64,
    /// Height of the view.
    pub height: f64,
    /// What is drawn, first to last.
    pub groups: Vec<Group>,
}

/// Items that belong to one thing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Group {
    /// Which thing.
    pub subject: Subject,
    /// What is drawn, first to last.
    pub items: Vec<Item>,
}

/// The thing that a group shows; becomes its `data-` attribute.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Subject {
    /// Headings, rails and other parts of no single thing.
    #[default]
    Stage,
    /// A broker's card.
    Broker(u32),
    /// A replica: `orders-0@2`.
    Replica(String),
    /// A producer's or consumer's card.
    Client(String),
    /// The line of a group of consumers, by its name.
    Members(String),
    /// A controller, by its name.
    Controller(String),
    /// A message, by its id.
    Message(u64),
    /// Words about what moves or waits.
    Labels,
    /// Words over lines: each clears the ground around it.
    Words,
}

/// One mark.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// What it means; decides how it looks.
    pub part: Part,
    /// The pair of colours that it takes.
    pub role: Role,
    /// Its shape.
    pub shape: Shape,
    /// What scripts and tests may look for.
    pub mark: Mark,
}

/// What a script or a test can address an item by.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Mark {
    /// Nothing.
    #[default]
    None,
    /// A record's cell.
    Offset(u64),
    /// A rail, by its name.
    Rail(String),
    /// The whole of a text that is cut.
    Whole(String),
}

/// What a mark means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the visual language's own words")]
pub enum Part {
    /// Ground of a machine.
    Card,
    /// Of a broker that leads.
    CardLead,
    /// Of a machine that is not there.
    CardStop,
    /// Of a replica out of the ISR, of a fenced or paused broker.
    CardOut,
    Cross,
    /// Ground of a replica's log.
    Lane,
    Tick,
    /// A record's cell.
    Record,
    /// Through a record of an aborted transaction.
    Strike,
    /// Under the records of one segment.
    Segment,
    /// What a log no longer holds, or does not show.
    Gap,
    /// A place that is reserved and empty.
    Slot,
    HighWatermark,
    LogEnd,
    LastStable,
    LogStart,
    Position,
    Committed,
    Stem,
    Badge,
    /// A rail.
    Tube,
    /// A rail to a coordinator.
    TubeQuiet,
    /// The edge of a rail that crosses another one.
    Case,
    /// Of a rail to a coordinator.
    CaseQuiet,
    /// A rail that the followed record has travelled.
    Trail,
    /// A message's way so far.
    Way,
    /// Its head.
    Head,
    /// A request that is held.
    Hold,
    /// Face and hands of the clock at its end; in red, a cut.
    Clock,
    /// The ring around what has changed.
    Ring,
    /// A word in full ink.
    Text,
    /// A word in a second voice.
    Mute,
    /// A word in its role's colour.
    Colour,
    /// A square of a strip: a record that is committed; or a leader's bar.
    Cell,
    /// A record that is not.
    CellOpen,
    /// Ground of a leader in the dense form.
    CellLead,
    /// Of a follower in the ISR.
    CellSync,
    /// Of one that is not.
    CellOut,
    /// On a machine that is not there.
    CellStop,
    /// A machine's line in a sequence diagram.
    Life,
    /// A request that is held there.
    Bar,
    /// Where a step is.
    StepLine,
}

/// A pair of colours with one meaning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// None.
    #[default]
    Plain,
    /// Committed, acknowledged.
    Ok,
    /// Written, not committed.
    Pending,
    /// Refused, stopped, lost.
    Bad,
    /// A leader.
    Lead,
    /// A consumer group; the number tells groups apart.
    Group(u8),
    /// On a machine that is not there.
    Off,
}

impl Role {
    /// Its class in pages.
    #[must_use]
    pub fn class(self) -> &'static str {
        match self {
            Role::Plain => "",
            Role::Ok => "r-ok",
            Role::Pending => "r-pend",
            Role::Bad => "r-bad",
            Role::Lead => "r-lead",
            Role::Group(0) => "r-cons",
            Role::Group(1) => "r-cons2",
            Role::Group(2) => "r-cons3",
            Role::Group(_) => "r-cons4",
            Role::Off => "off",
        }
    }
}

/// A point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// From the left.
    pub x: f64,
    /// From the top.
    pub y: f64,
}

/// A point at `x`, `y`.
#[must_use]
pub fn at(x: f64, y: f64) -> Point {
    Point { x, y }
}

/// A rectangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rect {
    /// Left edge.
    pub x: f64,
    /// Top edge.
    pub y: f64,
    /// Width.
    pub w: f64,
    /// Height.
    pub h: f64,
}

impl Rect {
    /// Left, top, width, height.
    #[must_use]
    pub fn new(x: f64, y: f64, w: f64, h: f64) -> Rect {
        Rect { x, y, w, h }
    }

    /// Right edge.
    #[must_use]
    pub fn right(self) -> f64 {
        self.x + self.w
    }

    /// Bottom edge.
    #[must_use]
    pub fn bottom(self) -> f64 {
        self.y + self.h
    }

    /// Whether the two share more than an edge.
    #[must_use]
    pub fn overlaps(self, other: Rect) -> bool {
        let slack = 0.01;
        self.x + slack < other.right()
            && other.x + slack < self.right()
            && self.y + slack < other.bottom()
            && other.y + slack < self.bottom()
    }

    /// Whether `other` lies within.
    #[must_use]
    pub fn contains(self, other: Rect) -> bool {
        let slack = 0.01;
        other.x >= self.x - slack
            && other.right() <= self.right() + slack
            && other.y >= self.y - slack
            && other.bottom() <= self.bottom() + slack
    }
}

/// Where a text's given point lies on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// At its left end.
    Start,
    /// In its middle.
    Middle,
    /// At its right end.
    End,
}

/// One step of a path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stroke {
    /// Go there without drawing.
    Move(Point),
    /// A straight line.
    Line(Point),
    /// A bend: control point, end.
    Bend(Point, Point),
    /// Back to the start.
    Close,
}

/// A shape.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// A box with rounded corners.
    Box {
        /// Where.
        rect: Rect,
        /// The corners' radius.
        radius: f64,
    },
    /// One line of text; its second and further runs follow on the first with a small gap.
    Text {
        /// On its base line.
        at: Point,
        /// Where `at` lies on it.
        anchor: Anchor,
        /// Its runs: text, face, and what each means.
        runs: Vec<Run>,
    },
    /// A path.
    Path(Vec<Stroke>),
    /// A circle.
    Circle {
        /// Centre.
        centre: Point,
        /// Radius.
        radius: f64,
    },
}

/// A part of a line of text.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// The text.
    pub text: String,
    /// Its face.
    pub face: Face,
    /// Its voice: [`Part::Text`], [`Part::Mute`] or [`Part::Colour`].
    pub part: Part,
}

/// Between two runs of one line.
pub const RUN_GAP: f64 = 6.0;

impl Shape {
    /// The room that a text may take on any reader's machine; other shapes have none.
    #[must_use]
    pub fn text_room(&self) -> Option<Rect> {
        let Shape::Text { at, anchor, runs } = self else { return None };
        let width: f64 = runs.iter().map(|run| room(&run.text, run.face)).sum::<f64>()
            + RUN_GAP * runs.len().saturating_sub(1) as f64;
        let size = runs.first().map_or(0.0, |run| run.face.size());
        let x = match anchor {
            Anchor::Start => at.x,
            Anchor::Middle => at.x - width / 2.0,
            Anchor::End => at.x - width,
        };
        Some(Rect::new(x, at.y - size * 0.76, width, size * 0.96))
    }
}

impl Item {
    /// A box.
    #[must_use]
    pub fn rect(part: Part, rect: Rect, radius: f64) -> Item {
        Item { part, role: Role::Plain, shape: Shape::Box { rect, radius }, mark: Mark::None }
    }

    /// A path.
    #[must_use]
    pub fn path(part: Part, strokes: Vec<Stroke>) -> Item {
        Item { part, role: Role::Plain, shape: Shape::Path(strokes), mark: Mark::None }
    }

    /// A straight line.
    #[must_use]
    pub fn line(part: Part, from: Point, to: Point) -> Item {
        Item::path(part, vec![Stroke::Move(from), Stroke::Line(to)])
    }

    /// A line of text with one run, anchored at its start.
    #[must_use]
    pub fn text(part: Part, at: Point, text: impl Into<String>, face: Face) -> Item {
        let runs = vec![Run { text: text.into(), face, part }];
        let shape = Shape::Text { at, anchor: Anchor::Start, runs };
        Item { part, role: Role::Plain, shape, mark: Mark::None }
    }

    /// The same in a role's colours.
    #[must_use]
    pub fn role(mut self, role: Role) -> Item {
        self.role = role;
        self
    }

    /// The same text, anchored elsewhere.
    #[must_use]
    pub fn anchor(mut self, to: Anchor) -> Item {
        if let Shape::Text { anchor, .. } = &mut self.shape {
            *anchor = to;
        }
        self
    }

    /// The same text, which says `whole` to who asks where it had to be cut.
    #[must_use]
    pub fn whole(self, whole: &str) -> Item {
        let is_cut = match &self.shape {
            Shape::Text { runs, .. } => runs.first().is_none_or(|run| run.text != whole),
            _ => false,
        };
        if is_cut { self.mark(Mark::Whole(whole.to_owned())) } else { self }
    }

    /// The same, addressable.
    #[must_use]
    pub fn mark(mut self, mark: Mark) -> Item {
        self.mark = mark;
        self
    }
}

impl Scene {
    /// All items, first to last.
    pub fn items(&self) -> impl Iterator<Item = &Item> {
        self.groups.iter().flat_map(|group| &group.items)
    }

    /// The view.
    #[must_use]
    pub fn view(&self) -> Rect {
        Rect::new(0.0, 0.0, self.width, self.height)
    }
}
