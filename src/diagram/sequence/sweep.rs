//! From a story to places: goes through it from top to bottom and gives each entry its own height,
//! so that no two texts can meet. Knows no SVG.

use std::collections::BTreeMap;

use super::columns::Columns;
use super::layout::{Arrow, Bar, Dot, End, Label, Layout};
use super::story::{Repeat, Row, Telling};
use super::words::{counted, seconds, words};
use crate::diagram::message;
use crate::diagram::scene::{Anchor, Form, Part, Point, Rect, Role, at};
use crate::diagram::text::{Face, fit, room};
use crate::scenario::run::Run;
use crate::sim::snapshot::{MessageView, Snapshot};

/// A line of text, and what a message takes from the row before.
const LINE: f64 = 15.0;
const SEND: f64 = 20.0;
const ARRIVE: f64 = 10.0;
/// Between two bars of waiting requests side by side, and how many stand so.
const BAR_STEP: f64 = 8.0;
const BARS_MAX: usize = 4;
/// Between a line and what stands beside it.
const BESIDE: f64 = 8.0;
/// Height of a step's mark.
pub(super) const MARK: f64 = 24.0;

/// A message whose arrow has begun.
struct Begun {
    from: Point,
    /// Whether a step's mark was passed since.
    is_carried: bool,
}

/// A side of a machine's line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Left,
    Right,
}

impl Side {
    /// Where `other` is, seen from `column`.
    fn of(other: usize, column: usize) -> Side {
        if other > column { Side::Right } else { Side::Left }
    }

    fn sign(self) -> f64 {
        if self == Side::Right { 1.0 } else { -1.0 }
    }
}

/// A request that is held now.
struct Held {
    /// Its receiver's column, and the side from which it came.
    column: usize,
    side: Side,
    lane: usize,
    top: f64,
    role: Role,
}

pub(super) struct Sweep<'a> {
    run: &'a Run,
    columns: &'a Columns,
    form: Form,
    /// Where texts may stand.
    bounds: (f64, f64),
    /// Right end of the times; none where they have a line of their own.
    gutter: Option<f64>,
    y: f64,
    time: Option<u64>,
    /// Bottom of the last time.
    time_bottom: f64,
    /// The columns at which something arrived in the row before, if that was all.
    arrivals: Vec<usize>,
    begun: BTreeMap<usize, Begun>,
    held: BTreeMap<u64, Held>,
    /// Messages of this part between machines that share a line.
    unseen: usize,
    out: Layout,
}

/// Lays a story out.
pub(super) fn lay_out(
    run: &Run,
    rows: &[Row],
    columns: &Columns,
    (form, left, right): (Form, f64, f64),
) -> Layout {
    let mut sweep = Sweep {
        run,
        columns,
        form,
        bounds: (left, right),
        gutter: (form == Form::Wide).then_some(left - 14.0),
        y: 0.0,
        time: None,
        time_bottom: 0.0,
        arrivals: Vec::new(),
        begun: BTreeMap::new(),
        held: BTreeMap::new(),
        unseen: 0,
        out: Layout::default(),
    };
    for row in rows {
        sweep.row(row);
    }
    sweep.finish()
}

impl Sweep<'_> {
    fn row(&mut self, row: &Row) {
        match &row.what {
            Telling::Sent(place) => self.sent(*place, row.time_ms),
            Telling::Arrived(place) => self.ended(*place, row.time_ms, End::Head),
            Telling::Lost(place) => self.ended(*place, row.time_ms, End::Cross),
            Telling::Held(place) => self.hold(*place),
            Telling::Repeated(repeat) => self.repeated(repeat, row.time_ms),
            Telling::Noted(note) => {
                if let (None, Some(killed)) = (&note.machine, note.text.strip_prefix("kills ")) {
                    self.release(|message| message.to.to_string() == killed);
                }
                let column = note.machine.as_ref().and_then(|one| self.columns.place(one));
                self.noted(column, (&note.text, note.role), row.time_ms);
            }
            Telling::Counted(text) => self.counted(text),
            Telling::Step(at) => self.step(*at, row.time_ms),
        }
    }

    /// Goes `height` down to a row of its own, and says the time where it is another one.
    fn down(&mut self, height: f64, time_ms: u64) {
        self.arrivals.clear();
        if self.time == Some(time_ms) {
            self.y += height;
            return;
        }
        self.time = Some(time_ms);
        let text = seconds(time_ms);
        if let Some(right) = self.gutter {
            self.y = (self.y + height.max(LINE)).max(self.time_bottom + LINE);
            self.label(at(right, self.y), Anchor::End, (text.trim_end_matches(" s"), Face::Mono));
        } else {
            self.y += LINE + 2.0;
            self.label(at(self.bounds.0, self.y), Anchor::Start, (&text, Face::Mono));
            self.y += height;
        }
        self.time_bottom = self.y;
    }

    /// A line of text in the second voice.
    fn label(&mut self, at: Point, anchor: Anchor, (text, face): (&str, Face)) {
        self.out.labels.push(Label {
            at,
            anchor,
            text: text.to_owned(),
            whole: text.to_owned(),
            face,
            part: Part::Mute,
            role: Role::Plain,
        });
    }

    /// A line of text that begins `gap` beside `x`, to the right or to the left, moved as far as
    /// the view asks for.
    fn beside(&mut self, (x, gap): (f64, f64), y: f64, text: &str, look: (Part, Role)) {
        let (left, right) = self.bounds;
        let shown = fit(text, Face::Sans, right - left);
        let width = room(&shown, Face::Sans);
        let start = if gap > 0.0 { x + gap } else { x + gap - width };
        let start = start.min(right - width).max(left);
        // Anchored where it belongs, so that a narrower face does not leave it.
        let (anchor, x) =
            if gap > 0.0 { (Anchor::Start, start) } else { (Anchor::End, start + width) };
        self.out.labels.push(Label {
            at: at(x, y),
            anchor,
            text: shown,
            whole: text.to_owned(),
            face: Face::Sans,
            part: look.0,
            role: look.1,
        });
    }

    fn x(&self, column: usize) -> f64 {
        self.columns.all[column].x
    }

    /// The columns of sender and receiver, where they differ.
    fn ends(&self, message: &MessageView) -> Option<(usize, usize)> {
        let (from, to) = (self.columns.place(&message.from)?, self.columns.place(&message.to)?);
        (from != to).then_some((from, to))
    }

    fn role(&self, message: &MessageView) -> Role {
        let since = self.run.frames.iter().rev().find(|frame| frame.time_ms <= message.sent_ms);
        let nothing = Snapshot::default();
        message::role(message, since.map_or(&nothing, |frame| &frame.snapshot))
    }

    /// How many bars stand on one side of a column's line.
    fn bars(&self, column: usize, side: Side) -> usize {
        let here = self.held.values().filter(|held| held.column == column && held.side == side);
        here.map(|held| held.lane + 1).max().unwrap_or(0)
    }

    fn sent(&mut self, place: usize, time_ms: u64) {
        let message = &self.run.messages[place];
        let Some((from, to)) = self.ends(message) else {
            self.unseen += 1;
            return;
        };
        self.down(SEND, time_ms);
        let side = Side::of(to, from);
        let gap = side.sign() * (BESIDE + BAR_STEP * self.bars(from, side) as f64);
        if let Some(held) = message.answers.and_then(|request| self.held.remove(&request)) {
            self.bar(&held, self.y);
        }
        let role = self.role(message);
        let part = if role == Role::Plain { Part::Mute } else { Part::Colour };
        self.beside((self.x(from), gap), self.y - 4.0, &words(message), (part, role));
        self.begun.insert(place, Begun { from: at(self.x(from), self.y), is_carried: false });
    }

    fn ended(&mut self, place: usize, time_ms: u64, end: End) {
        let message = &self.run.messages[place];
        let Some((from, to)) = self.ends(message) else { return };
        let Some(begun) = self.begun.remove(&place) else { return };
        let is_told = begun.is_carried || end == End::Cross;
        let is_beside = !self.arrivals.is_empty()
            && self.time == Some(time_ms)
            && !self.arrivals.contains(&to)
            && !is_told;
        let mut arrivals = std::mem::take(&mut self.arrivals);
        if !is_beside {
            arrivals.clear();
            self.down(ARRIVE, time_ms);
        }
        let side = Side::of(from, to);
        let role = if end == End::Cross { Role::Bad } else { self.role(message) };
        let head = self.x(to) + side.sign() * BAR_STEP * self.bars(to, side) as f64;
        self.arrow(place, (begun.from, at(head, self.y)), role, end);
        if is_told {
            let text = words(message);
            let text = if end == End::Cross { format!("{text}, lost") } else { text };
            self.y += LINE - 2.0;
            let part = if role == Role::Plain { Part::Mute } else { Part::Colour };
            // Beside the bar that may grow from here on.
            let gap = BESIDE + BAR_STEP * (self.bars(to, side) + 1).min(BARS_MAX) as f64;
            self.beside((self.x(to), side.sign() * gap), self.y, &text, (part, role));
            self.y += 2.0;
        } else {
            arrivals.push(to);
            self.arrivals = arrivals;
        }
    }

    fn arrow(&mut self, place: usize, (from, to): (Point, Point), role: Role, end: End) {
        let id = self.run.messages[place].id;
        self.out.arrows.push(Arrow { id, from, to, role, end });
    }

    /// A bar grows on the receiver's line, on the side from which the request came.
    fn hold(&mut self, place: usize) {
        let message = &self.run.messages[place];
        let Some((from, column)) = self.ends(message) else { return };
        let side = Side::of(from, column);
        let is_taken = |lane: &usize| {
            self.held
                .values()
                .any(|held| held.column == column && held.side == side && held.lane == *lane)
        };
        let lane = (0..BARS_MAX - 1).find(|lane| !is_taken(lane)).unwrap_or(BARS_MAX - 1);
        let role = if message.record_count > 0 { Role::Pending } else { Role::Plain };
        // The request's head ends at the bar.
        let x = self.x(column) + side.sign() * BAR_STEP * (lane + 1) as f64;
        let mut top = self.y;
        if let Some(arrow) = self.out.arrows.iter_mut().rev().find(|arrow| arrow.id == message.id) {
            arrow.to.x = x;
            top = arrow.to.y;
        }
        self.arrivals.clear();
        self.held.insert(message.id, Held { column, side, lane, top: top - 3.0, role });
    }

    fn bar(&mut self, held: &Held, bottom: f64) {
        let line = self.x(held.column);
        let near = line + held.side.sign() * (BAR_STEP * held.lane as f64 + 1.5);
        let x = if held.side == Side::Right { near } else { near - (BAR_STEP - 1.5) };
        self.out.bars.push(Bar { x, top: held.top, bottom, role: held.role });
    }

    /// Ends the bars of requests that nobody holds any more.
    fn release(&mut self, is_gone: impl Fn(&MessageView) -> bool) {
        let gone: Vec<u64> =
            self.run.messages.iter().filter(|one| is_gone(one)).map(|one| one.id).collect();
        for id in gone {
            if let Some(held) = self.held.remove(&id) {
                self.bar(&held, self.y);
            }
        }
    }

    fn repeated(&mut self, repeat: &Repeat, time_ms: u64) {
        let message = &self.run.messages[repeat.first];
        let Some((from, to)) = self.ends(message) else {
            self.unseen += repeat.messages();
            return;
        };
        self.down(SEND, time_ms);
        let end = match (repeat.is_answered, repeat.role) {
            (true, _) => End::Both,
            (false, Role::Bad) => End::Cross,
            (false, _) => End::Head,
        };
        let ends = (at(self.x(from), self.y), at(self.x(to), self.y));
        self.arrow(repeat.first, ends, repeat.role, end);
        let until = seconds(repeat.until_ms);
        let text = format!("{} × {}, until {until}", repeat.count, repeat.words);
        let part = if repeat.role == Role::Plain { Part::Mute } else { Part::Colour };
        let side = Side::of(to, from);
        let gap = side.sign() * (BESIDE + BAR_STEP * self.bars(from, side) as f64);
        self.beside((self.x(from), gap), self.y - 4.0, &text, (part, repeat.role));
    }

    /// A note stands right of its line where it fits there, or else where there is more room.
    fn noted(&mut self, column: Option<usize>, (text, role): (&str, Role), time_ms: u64) {
        let (left, right) = self.bounds;
        let Some(column) = column else {
            return self.lines((left, 0.01), &format!("admin {text}"), role, time_ms);
        };
        let x = self.x(column);
        let gap = |side| BESIDE + BAR_STEP * self.bars(column, side) as f64;
        let (after, before) = (gap(Side::Right), gap(Side::Left));
        let is_right =
            x + after + room(text, Face::Sans) <= right || right - x - after > x - before - left;
        self.lines((x, if is_right { after } else { -before }), text, role, time_ms);
        let first = self.out.labels.iter().rposition(|label| text.starts_with(&label.whole));
        let y = first.map_or(self.y, |at| self.out.labels[at].at.y);
        self.out.dots.push(Dot { at: at(x, y - 4.0), role });
    }

    /// A text in as many lines as it needs beside `x`.
    fn lines(&mut self, (x, gap): (f64, f64), text: &str, role: Role, time_ms: u64) {
        let (left, right) = self.bounds;
        let free = if gap > 0.0 { right - x - gap } else { x + gap - left };
        let part = if role == Role::Plain { Part::Text } else { Part::Colour };
        for (at, line) in wrapped(text, free).iter().enumerate() {
            self.down(if at == 0 { LINE + 2.0 } else { LINE }, time_ms);
            self.beside((x, gap), self.y, line, (part, role));
        }
    }

    fn counted(&mut self, text: &str) {
        let (left, right) = self.bounds;
        self.arrivals.clear();
        self.y += 3.0;
        for line in wrapped(text, right - left) {
            self.y += LINE;
            self.label(at(left, self.y), Anchor::Start, (&line, Face::Sans));
        }
    }

    fn step(&mut self, place: usize, time_ms: u64) {
        let frame = &self.run.frames[place];
        let unseen = std::mem::take(&mut self.unseen);
        if unseen > 0 {
            let text = format!("not drawn: {} between others", counted(unseen, "message"));
            self.counted(&text);
        }
        self.arrivals.clear();
        self.y += MARK;
        let left = if self.form == Form::Wide { 0.0 } else { self.bounds.0 };
        let number = frame.number.to_string();
        let start = left + room(&number, Face::MonoBold) + 18.0;
        let time = seconds(time_ms);
        let free = self.bounds.1 - start - room(&time, Face::Mono) - 8.0;
        let mut label = |x: f64, anchor, text: &str, (face, part, role)| {
            self.out.labels.push(Label {
                at: at(x, self.y - 3.0),
                anchor,
                text: text.to_owned(),
                whole: text.to_owned(),
                face,
                part,
                role,
            });
        };
        let chip = Rect::new(left, self.y - 16.0, room(&number, Face::MonoBold) + 12.0, 18.0);
        self.out.chips.push(chip);
        label(left + 6.0, Anchor::Start, &number, (Face::MonoBold, Part::Colour, Role::Lead));
        let title = fit(&frame.title, Face::SansBold, free);
        label(start, Anchor::Start, &title, (Face::SansBold, Part::Text, Role::Plain));
        label(self.bounds.1, Anchor::End, &time, (Face::Mono, Part::Mute, Role::Plain));
        if let Some(label) = self.out.labels.iter_mut().rev().nth(1) {
            label.whole.clone_from(&frame.title);
        }
        self.y += 6.0;
        let waits = |one: &MessageView| {
            frame.snapshot.messages.iter().any(|other| other.id == one.id && other.waiting)
        };
        self.release(|message| !waits(message));
        self.out.marks.push(self.y);
        self.y += 4.0;
        self.time = None;
        self.time_bottom = self.y;
        self.begun.values_mut().for_each(|begun| begun.is_carried = true);
    }

    /// What is under way or held at the end reaches to the end.
    fn finish(mut self) -> Layout {
        let bottom = self.out.marks.last().copied().unwrap_or(self.y);
        let end_ms = self.run.frames.last().map_or(0, |frame| frame.time_ms);
        for (place, begun) in std::mem::take(&mut self.begun) {
            let message = &self.run.messages[place];
            let Some((_, to)) = self.ends(message) else { continue };
            let whole = message.arrives_ms.saturating_sub(message.sent_ms).max(1) as f64;
            let part = (end_ms.saturating_sub(message.sent_ms) as f64 / whole).clamp(0.1, 0.95);
            let x = begun.from.x + (self.x(to) - begun.from.x) * part;
            let role = self.role(message);
            self.arrow(place, (begun.from, at(x, bottom)), role, End::Open);
        }
        for held in std::mem::take(&mut self.held).into_values() {
            self.bar(&held, bottom);
        }
        self.out
    }
}

/// A text in lines that are no wider than `width`.
fn wrapped(text: &str, width: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        let longer = lines.last().map(|line| format!("{line} {word}"));
        match (lines.last_mut(), longer) {
            (Some(line), Some(longer)) if room(&longer, Face::Sans) <= width => *line = longer,
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}
