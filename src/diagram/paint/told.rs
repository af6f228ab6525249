//! The lines of groups and of controllers: in which state a group is, in which generation, and with
//! which coordinator; which controller is active, and which are not there.

use super::super::layout::TOLD;
use super::super::scene::{Group, Item, Part, RUN_GAP, Rect, Role, Run, Shape, Subject, at};
use super::super::text::{Face, fit, room};
use super::broker::pill;
use super::{Paint, segment};
use crate::sim::ids::Machine;
use crate::sim::snapshot::GroupView;
use crate::sim::world::Protocol;

/// Left of the name, around the pill and right of it.
const SIDES: f64 = 36.0;

/// One line: its words, and the pill at its end.
struct Line {
    name: Run,
    role: Role,
    /// What is said behind the name, from long to short.
    more: Vec<String>,
    /// From long to short.
    pills: Vec<String>,
    state: Role,
    has_changed: bool,
}

impl Paint<'_> {
    /// The groups' card and, for each of them, its line.
    pub(super) fn told_groups(&self) -> Vec<Group> {
        let lines = self.facts.told_groups.iter().map(|&group| {
            let name = &self.facts.groups[group];
            let view = self.snapshot().groups.get(name).cloned().unwrap_or_default();
            (Subject::Members(name.clone()), self.group_line(group, &view))
        });
        lines_in(self.places.groups, lines.collect())
    }

    /// The controllers' card and, for each of them, its line.
    pub(super) fn controllers(&self) -> Vec<Group> {
        let names = self.facts.controllers.iter();
        let lines =
            names.map(|name| (Subject::Controller(name.clone()), self.controller_line(name)));
        lines_in(self.places.controllers, lines.collect())
    }

    fn group_line(&self, group: usize, view: &GroupView) -> Line {
        let name = &self.facts.groups[group];
        let path = format!("groups.{}", segment(name));
        let has_changed = ["state", "epoch", "coordinator"]
            .iter()
            .any(|field| self.has_changed(&format!("{path}.{field}")));
        let epoch = view.epoch.map(|epoch| format!("{} {epoch}", self.epoch_word(group)));
        // As a leader's epoch is cut where there is little room.
        let short = view.epoch.map(|epoch| format!("{}{epoch}", &self.epoch_word(group)[..1]));
        let coordinator = view.coordinator.map(|id| format!("at {}", Machine::Broker(id)));
        let known = [epoch.clone(), coordinator].into_iter().flatten();
        let known = known.collect::<Vec<_>>().join(" ");
        let assignor = view.assignor.as_ref().filter(|_| !view.members.is_empty());
        let long = assignor.map(|assignor| format!("{known}, {assignor}"));
        let (pills, state) = group_state(view);
        Line {
            name: Run { text: name.clone(), face: Face::SansBold, part: Part::Colour },
            role: Paint::group_role(group),
            more: long.into_iter().chain([known]).chain(epoch).chain(short).collect(),
            pills,
            state,
            has_changed,
        }
    }

    /// What the protocol of a group calls its epoch.
    pub(super) fn epoch_word(&self, group: usize) -> &'static str {
        let spec = self.run.world.groups.get(group);
        match spec.map(|spec| spec.protocol) {
            None | Some(Protocol::Classic) => "generation",
            Some(Protocol::Consumer | Protocol::Share) => "epoch",
        }
    }

    fn controller_line(&self, name: &str) -> Line {
        let view = &self.snapshot().controller;
        let is_stopped = view.stopped.iter().any(|one| one == name);
        let (pill, state) = if view.leader.as_deref() == Some(name) {
            (format!("active, epoch {}", view.epoch), Role::Lead)
        } else if is_stopped {
            ("stopped".to_owned(), Role::Bad)
        } else {
            ("standby".to_owned(), Role::Plain)
        };
        let part = if is_stopped { Part::Mute } else { Part::Text };
        Line {
            name: Run { text: name.to_owned(), face: Face::SansBold, part },
            role: Role::Plain,
            more: Vec::new(),
            pills: vec![pill],
            state,
            has_changed: self.controller_changed(name),
        }
    }

    /// Whether it became the active one or ceased to be.
    fn controller_changed(&self, name: &str) -> bool {
        let is_it = |value: &Option<serde_json::Value>| {
            value.as_ref().and_then(serde_json::Value::as_str) == Some(name)
        };
        let mut changes = self.frame.changed.iter();
        changes.any(|one| one.path == "controller.leader" && (is_it(&one.from) || is_it(&one.to)))
    }
}

/// A group's state in its coordinator's words, in colour while partitions change hands.
fn group_state(view: &GroupView) -> (Vec<String>, Role) {
    let Some(state) = view.state.clone() else {
        return (vec!["no coordinator".to_owned()], Role::Bad);
    };
    match state.as_str() {
        "PreparingRebalance" | "CompletingRebalance" => {
            (vec![state, "rebalancing".to_owned()], Role::Pending)
        }
        "Assigning" | "Reconciling" => (vec![state], Role::Pending),
        _ => (vec![state], Role::Plain),
    }
}

fn lines_in(card: Option<Rect>, lines: Vec<(Subject, Line)>) -> Vec<Group> {
    let Some(card) = card else { return Vec::new() };
    let ground = Item::rect(Part::Card, card, 10.0);
    let mut groups = vec![Group { subject: Subject::Stage, items: vec![ground] }];
    for (index, (subject, line)) in lines.into_iter().enumerate() {
        let y = card.y + 6.0 + TOLD * index as f64;
        let row = Rect::new(card.x, y, card.w, TOLD);
        groups.push(Group { subject, items: line.items(row) });
    }
    groups
}

impl Line {
    fn items(self, row: Rect) -> Vec<Item> {
        let wanted = room(&self.name.text, self.name.face) + RUN_GAP;
        let least = self.more.last().map_or(0.0, |more| room(more, Face::Sans));
        let fits = |pill: &&String| wanted + least + room(pill, Face::SansBold) <= row.w - SIDES;
        let state = self.pills.iter().find(fits).or(self.pills.last()).cloned();
        let state = state.unwrap_or_default();
        let width = room(&state, Face::SansBold) + 8.0;
        let place = Rect::new(row.right() - 10.0 - width, row.y + 3.5, width, 19.0);
        let start = at(row.x + 12.0, row.y + 17.0);
        let free = place.x - start.x - 6.0;
        let whole = self.name.text;
        let text = fit(&whole, self.name.face, free);
        let left = free - room(&text, self.name.face) - RUN_GAP;
        let more = self.more.into_iter().find(|more| room(more, Face::Sans) <= left);
        let is_there = !text.is_empty();
        let mut runs = vec![Run { text, ..self.name }];
        let more = more.filter(|more| !more.is_empty());
        runs.extend(more.map(|text| Run { text, face: Face::Sans, part: Part::Mute }));
        let mut words = Item::text(self.name.part, start, "", self.name.face).whole(&whole);
        if let Shape::Text { runs: all, .. } = &mut words.shape {
            *all = runs;
        }
        let words = words.role(self.role);
        let mut items: Vec<Item> = is_there.then_some(words).into_iter().collect();
        items.extend(pill(place, state, self.state, self.has_changed));
        items
    }
}
