//! A laid-out story as scenes: the whole, or one step's part of it. Knows no SVG.

use super::columns::Columns;
use super::layout::{Arrow, End, Layout};
use crate::diagram::scene::{
    Anchor, Form, Group, Item, Part, Point, Rect, Role, Run, Scene, Shape, Stroke, Subject, at,
};
use crate::diagram::text::Face;

/// Between the heads and the first row, and below the last.
const TOP: f64 = 6.0;
/// Length and half width of an arrow's head.
const HEAD: (f64, f64) = (8.0, 3.6);

/// The part of a layout between two heights, under the heads of its columns.
pub(super) fn scene(
    layout: &Layout,
    columns: &Columns,
    (form, width): (Form, f64),
    (top, bottom): (f64, f64),
) -> Scene {
    let height = columns.bottom + TOP + bottom - top;
    let view = View { top, bottom, shift: columns.bottom + TOP - top, width };
    let mut groups = vec![view.stage(layout, columns, height)];
    for arrow in &layout.arrows {
        groups.extend(view.arrow(arrow));
    }
    groups.push(Group { subject: Subject::Words, items: view.words(layout) });
    Scene { form, width, height, groups }
}

struct View {
    top: f64,
    bottom: f64,
    /// From the layout's heights to the scene's.
    shift: f64,
    width: f64,
}

impl View {
    fn has(&self, y: f64) -> bool {
        self.top <= y && y <= self.bottom
    }

    fn down(&self, point: Point) -> Point {
        at(point.x, point.y + self.shift)
    }

    /// Heads, lines, marks and waits.
    fn stage(&self, layout: &Layout, columns: &Columns, height: f64) -> Group {
        let mut items = Vec::new();
        for column in &columns.all {
            let (from, to) = (at(column.x, column.head.bottom()), at(column.x, height));
            items.push(Item::line(Part::Life, from, to));
        }
        for column in &columns.all {
            items.push(Item::rect(Part::Card, column.head, 6.0));
            let base = at(column.x, column.head.y + 15.5);
            let name = Item::text(Part::Text, base, &column.label, Face::SansBold);
            items.push(name.anchor(Anchor::Middle).whole(&column.name));
        }
        for &mark in layout.marks.iter().filter(|mark| self.has(**mark)) {
            let y = mark + self.shift;
            items.push(Item::line(Part::StepLine, at(0.0, y), at(self.width, y)));
        }
        for chip in layout.chips.iter().filter(|chip| self.has(chip.y)) {
            let rect = Rect { y: chip.y + self.shift, ..*chip };
            items.push(Item::rect(Part::Badge, rect, 5.0).role(Role::Lead));
        }
        for bar in &layout.bars {
            let (top, bottom) = (bar.top.max(self.top), bar.bottom.min(self.bottom));
            if top < bottom {
                let rect = Rect::new(bar.x, top + self.shift, 5.0, bottom - top);
                items.push(Item::rect(Part::Bar, rect, 2.0).role(bar.role));
            }
        }
        for dot in layout.dots.iter().filter(|dot| self.has(dot.at.y)) {
            let shape = Shape::Circle { centre: self.down(dot.at), radius: 3.5 };
            let item = Item { shape, ..Item::line(Part::Head, dot.at, dot.at) };
            items.push(item.role(dot.role));
        }
        Group { subject: Subject::Stage, items }
    }

    /// An arrow, or the piece of it that lies in the view.
    fn arrow(&self, arrow: &Arrow) -> Option<Group> {
        let (from, to) = (arrow.from, arrow.to);
        if to.y < self.top || from.y > self.bottom {
            return None;
        }
        let at_height = |y: f64| at(from.x + (to.x - from.x) * (y - from.y) / (to.y - from.y), y);
        let start = if from.y < self.top { at_height(self.top) } else { from };
        let end = if to.y > self.bottom { at_height(self.bottom) } else { to };
        let is_whole = end == to;
        let (start, end) = (self.down(start), self.down(end));
        let way = Item::line(Part::Way, start, end).role(arrow.role);
        let mut items = vec![way];
        match arrow.end {
            End::Head | End::Both if is_whole => {
                items.push(head((from, to), end, arrow.role));
                if arrow.end == End::Both {
                    items.push(head((to, from), start, arrow.role));
                }
            }
            End::Cross if is_whole => items.push(cross(end).role(arrow.role)),
            _ => {}
        }
        Some(Group { subject: Subject::Message(arrow.id), items })
    }

    fn words(&self, layout: &Layout) -> Vec<Item> {
        let labels = layout.labels.iter().filter(|label| self.has(label.at.y));
        labels
            .map(|label| {
                let runs =
                    vec![Run { text: label.text.clone(), face: label.face, part: label.part }];
                let shape = Shape::Text { at: self.down(label.at), anchor: label.anchor, runs };
                let item = Item { shape, ..Item::text(label.part, label.at, "", label.face) };
                item.role(label.role).whole(&label.whole)
            })
            .collect()
    }
}

/// A triangle whose tip is at `tip`, on the way from one point to another.
fn head((from, to): (Point, Point), tip: Point, role: Role) -> Item {
    let (dx, dy) = (to.x - from.x, to.y - from.y);
    let length = dx.hypot(dy).max(0.01);
    let (ux, uy) = (dx / length, dy / length);
    let back = at(tip.x - ux * HEAD.0, tip.y - uy * HEAD.0);
    let corner = |side: f64| at(back.x - uy * HEAD.1 * side, back.y + ux * HEAD.1 * side);
    let strokes = vec![
        Stroke::Move(tip),
        Stroke::Line(corner(1.0)),
        Stroke::Line(corner(-1.0)),
        Stroke::Close,
    ];
    Item::path(Part::Head, strokes).role(role)
}

/// Where a message is lost.
fn cross(centre: Point) -> Item {
    let arm = 4.5;
    let corner = |x: f64, y: f64| at(centre.x + arm * x, centre.y + arm * y);
    Item::path(
        Part::Way,
        vec![
            Stroke::Move(corner(-1.0, -1.0)),
            Stroke::Line(corner(1.0, 1.0)),
            Stroke::Move(corner(-1.0, 1.0)),
            Stroke::Line(corner(1.0, -1.0)),
        ],
    )
}
