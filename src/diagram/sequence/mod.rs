//! The second view of a run: the sequence diagram. Machines are columns, messages are arrows from
//! the instant of sending down to that of arriving, held requests are bars, state changes are
//! notes. Each step has the part that leads to it. Knows no SVG.

mod columns;
mod draw;
mod exchange;
mod layout;
mod note;
mod story;
mod sweep;
mod tell;
mod words;

use super::Picture;
use super::scene::{Form, Scene};
use crate::scenario::run::Run;
use columns::Columns;
use layout::Layout;
use story::{Row, Telling};

/// Widths of the two forms, and where their columns begin.
const WIDE: (f64, f64) = (692.0, 76.0);
const NARROW: (f64, f64) = (328.0, 0.0);

/// Each step's part of the diagram, under the same columns: what happened since the step before.
#[must_use]
pub fn parts(run: &Run) -> Vec<Picture> {
    let rows = story::story(run);
    let [wide, narrow] = [Form::Wide, Form::Narrow].map(|form| Drawing::of(run, &rows, form));
    let mut rest = rows.as_slice();
    let mut before = None;
    let mut pictures = Vec::new();
    for (at, frame) in run.frames.iter().enumerate() {
        let is_end = |row: &Row| row.what == Telling::Step(at);
        let length = rest.iter().position(is_end).map_or(rest.len(), |end| end + 1);
        let (own, others) = rest.split_at(length);
        rest = others;
        pictures.push(Picture {
            title: tell::title(run, frame, before),
            description: tell::description(run, own),
            wide: wide.part(at),
            narrow: narrow.part(at),
        });
        before = Some(frame);
    }
    pictures
}

/// The whole diagram with the marks of all steps.
#[must_use]
pub fn whole(run: &Run) -> Picture {
    let rows = story::story(run);
    let [wide, narrow] =
        [Form::Wide, Form::Narrow].map(|form| Drawing::of(run, &rows, form).whole());
    let title = "All messages of the run".to_owned();
    Picture { title, description: tell::description(run, &rows), wide, narrow }
}

/// A diagram in one form.
struct Drawing {
    form: Form,
    width: f64,
    columns: Columns,
    layout: Layout,
}

impl Drawing {
    fn of(run: &Run, rows: &[Row], form: Form) -> Drawing {
        let (width, left) = if form == Form::Wide { WIDE } else { NARROW };
        let columns = Columns::of(run, rows, form, (left, width));
        let layout = sweep::lay_out(run, rows, &columns, (form, left, width));
        Drawing { form, width, columns, layout }
    }

    fn scene(&self, heights: (f64, f64)) -> Scene {
        draw::scene(&self.layout, &self.columns, (self.form, self.width), heights)
    }

    fn part(&self, at: usize) -> Scene {
        let marks = &self.layout.marks;
        let top = at.checked_sub(1).map_or(0.0, |before| marks[before]);
        self.scene((top, marks[at]))
    }

    fn whole(&self) -> Scene {
        self.scene((0.0, self.layout.marks.last().copied().unwrap_or(0.0)))
    }
}
