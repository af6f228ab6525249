//! From places and one frame to a scene. Decides what is seen in each place, never where it is.

mod broker;
mod client;
mod dense;
mod heading;
mod lane;
mod marks;
mod message;
mod rails;
mod row;
mod standing;
mod strip;
mod told;
mod window;

use std::collections::BTreeSet;

use crate::scenario::run::{Frame, Run};
use crate::sim::ids::TopicPartition;
use crate::sim::snapshot::Snapshot;

use super::facts::Facts;
use super::layout::Places;
use super::scene::{Group, Item, Part, Rect, Role, Scene, Subject};
use window::Window;

/// Everything that one picture is made from.
pub(super) struct Paint<'a> {
    facts: &'a Facts,
    places: &'a Places,
    run: &'a Run,
    frame: &'a Frame,
    changed: BTreeSet<&'a str>,
    /// By partition: which offsets are shown.
    windows: Vec<Window>,
}

impl<'a> Paint<'a> {
    /// Looks at one frame.
    pub fn new(facts: &'a Facts, places: &'a Places, run: &'a Run, frame: &'a Frame) -> Paint<'a> {
        let windows = facts
            .partitions
            .iter()
            .map(|one| Window::of(frame.snapshot.partitions.get(&one.name), &places.cells))
            .collect();
        let changed = frame.changed.iter().map(|change| change.path.as_str()).collect();
        Paint { facts, places, run, frame, changed, windows }
    }

    /// The picture.
    pub fn scene(&self) -> Scene {
        let mut groups = vec![self.stage()];
        groups.extend(self.clients());
        match &self.places.grid {
            Some(grid) => groups.extend(self.dense(grid)),
            None => groups.extend(self.brokers()),
        }
        groups.extend(self.told_groups());
        groups.extend(self.controllers());
        groups.extend(self.messages());
        groups.push(Group { subject: Subject::Stage, items: self.cuts() });
        groups.push(self.words());
        groups.retain(|group| !group.items.is_empty());
        Scene {
            form: self.places.form,
            width: self.places.width,
            height: self.places.height,
            groups,
        }
    }

    fn stage(&self) -> Group {
        let mut items = self.headings();
        items.extend(self.tubes());
        items.extend(self.trail());
        Group { subject: Subject::Stage, items }
    }

    fn snapshot(&self) -> &'a Snapshot {
        &self.frame.snapshot
    }

    /// The step before; none where the picture is compared with another one than that.
    fn before(&self) -> Option<&'a Snapshot> {
        let at = self.run.frames.iter().position(|frame| std::ptr::eq(frame, self.frame))?;
        Some(&self.run.frames[at.checked_sub(1)?].snapshot)
    }

    /// Whether the observable has changed since the step before.
    fn has_changed(&self, path: &str) -> bool {
        self.changed.contains(path)
    }

    /// Whether something below this observable has changed.
    fn has_changed_below(&self, path: &str) -> bool {
        let path = format!("{path}.");
        let next = self.changed.range(path.as_str()..).next();
        next.is_some_and(|changed| changed.starts_with(&path))
    }

    /// The colours of a group.
    fn group_role(index: usize) -> Role {
        Role::Group(u8::try_from(index % 4).unwrap_or(0))
    }
}

/// A name as it stands in an observable's path.
pub(super) fn segment(name: &str) -> String {
    if name.contains('.') { format!("\"{name}\"") } else { name.to_owned() }
}

/// The path of a partition.
pub(super) fn partition_path(name: &TopicPartition) -> String {
    format!("partitions.{}", segment(&name.to_string()))
}

/// The ring around what has changed.
fn ring(rect: Rect) -> Item {
    Item::rect(Part::Ring, rect, 7.0)
}
