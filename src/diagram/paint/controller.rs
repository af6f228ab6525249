//! The controllers' card: which of them is active, and which are not there.

use super::super::layout::CONTROLLER;
use super::super::scene::{Group, Item, Part, Rect, Role, Subject, at};
use super::super::text::{Face, fit, room};
use super::Paint;
use super::broker::pill;

impl Paint<'_> {
    /// The card and, for each controller, its line.
    pub(super) fn controllers(&self) -> Vec<Group> {
        let Some(card) = self.places.controllers else { return Vec::new() };
        let ground = Item::rect(Part::Card, card, 10.0);
        let mut groups = vec![Group { subject: Subject::Stage, items: vec![ground] }];
        for (index, name) in self.facts.controllers.iter().enumerate() {
            let y = card.y + 6.0 + CONTROLLER * index as f64;
            let row = Rect::new(card.x, y, card.w, CONTROLLER);
            let items = self.controller(name, row);
            groups.push(Group { subject: Subject::Controller(name.clone()), items });
        }
        groups
    }

    fn controller(&self, name: &str, row: Rect) -> Vec<Item> {
        let view = &self.snapshot().controller;
        let is_active = view.leader.as_deref() == Some(name);
        let is_stopped = view.stopped.iter().any(|one| one == name);
        let (text, role) = if is_active {
            (format!("active, epoch {}", view.epoch), Role::Lead)
        } else if is_stopped {
            ("stopped".to_owned(), Role::Bad)
        } else {
            ("standby".to_owned(), Role::Plain)
        };
        let width = room(&text, Face::SansBold) + 8.0;
        let place = Rect::new(row.right() - 10.0 - width, row.y + 1.5, width, 19.0);
        let voice = if is_stopped { Part::Mute } else { Part::Text };
        let start = at(row.x + 12.0, row.y + 15.0);
        let words = fit(name, Face::SansBold, place.x - start.x - 6.0);
        let mut items = vec![Item::text(voice, start, words, Face::SansBold).whole(name)];
        items.extend(pill(place, text, role, self.controller_changed(name)));
        items
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
