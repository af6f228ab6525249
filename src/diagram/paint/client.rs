//! Cards of producers and consumers: the record in their hands, and their facts.

use super::super::facts::{ClientFacts, Fact, assigned, given_up, held as held_records};
use super::super::layout::ClientPlace;
use super::super::scene::{Anchor, Group, Item, Part, Point, Rect, Role, Subject, at};
use super::super::settings::acks;
use super::super::text::{Face, fit, room};
use super::broker::cross;
use super::lane::record;
use super::row::{Row, Value};
use super::{Paint, ring, segment};
use crate::sim::snapshot::{ConsumerState, ConsumerView, ProducerState, ProducerView, SeenRecord};

impl Paint<'_> {
    /// All producers and consumers.
    pub(super) fn clients(&self) -> Vec<Group> {
        let producers = self.facts.producers.iter().zip(&self.places.producers);
        let consumers = self.facts.consumers.iter().zip(&self.places.consumers);
        let producers = producers.map(|(facts, place)| self.producer(facts, place));
        let consumers = consumers.map(|(facts, place)| self.consumer(facts, place));
        producers.chain(consumers).collect()
    }

    fn producer(&self, facts: &ClientFacts, place: &ClientPlace) -> Group {
        let snapshot = self.snapshot();
        let view = snapshot.producers.get(&facts.name).cloned().unwrap_or_default();
        let is_off = view.state == ProducerState::Stopped;
        let mut items = card(place, &facts.name, is_off);
        let path = format!("producers.{}", segment(&facts.name));
        let acks = format!("acks={}", acks(&self.run.world, snapshot, &facts.name));
        let has_changed = self.has_changed(&format!("{path}.config.acks"));
        items.extend(second_line(place, &acks, Part::Mute, has_changed));
        let grew = self.grew(&format!("{path}.buffered"));
        if let Some(slot) = place.slot {
            match buffer(&view, slot) {
                Some(text) => items.extend(held(slot, &text, Role::Pending, grew)),
                None => items.extend(empty(slot, if is_off { "stopped" } else { "buffer" })),
            }
        }
        for (fact, start, end) in &place.rows {
            let (label, count, field) = match fact {
                Fact::Buffered => ("buffered", view.buffered, "buffered"),
                Fact::InFlight => ("in flight", view.in_flight, "in_flight"),
                Fact::Acked => ("acked", view.acked, "acked"),
                Fact::Failed => ("failed", view.failed, "failed"),
                _ => {
                    items.extend(self.producer_state(facts, &view, (*start, *end)));
                    continue;
                }
            };
            let row = Row::new(&[label], Value::Count(count));
            let has_changed = self.has_changed(&format!("{path}.{field}"));
            items.extend(Row { has_changed, ..row }.items((*start, *end)));
        }
        Group { subject: Subject::Client(facts.name.clone()), items }
    }

    fn consumer(&self, facts: &ClientFacts, place: &ClientPlace) -> Group {
        let view = self.snapshot().consumers.get(&facts.name).cloned().unwrap_or_default();
        let is_off = view.state == ConsumerState::Stopped;
        let mut items = card(place, &facts.name, is_off);
        let group = facts.group.unwrap_or(0);
        let name = self.facts.groups.get(group).cloned().unwrap_or_default();
        let sub = second_line(place, &name, Part::Colour, false);
        items.extend(sub.into_iter().map(|item| item.role(Paint::group_role(group))));
        let path = format!("consumers.{}", segment(&facts.name));
        let read = self.has_changed(&format!("{path}.consumed"));
        if let Some(slot) = place.slot {
            match view.last_record.as_ref().map(record_text) {
                Some(text) => items.extend(held(slot, &text, Role::Ok, read)),
                None => items.extend(empty(slot, if is_off { "stopped" } else { "records" })),
            }
        }
        for (fact, start, end) in &place.rows {
            let (row, has_changed) = match fact {
                Fact::Read => (Row::new(&["read"], Value::Count(view.consumed)), read),
                Fact::Lag => self.lag_row(&name, &view),
                fact => self.membership_row(*fact, facts, &view),
            };
            items.extend(Row { has_changed, ..row }.items((*start, *end)));
        }
        Group { subject: Subject::Client(facts.name.clone()), items }
    }

    /// What a consumer is to its group.
    fn membership_row(&self, fact: Fact, facts: &ClientFacts, view: &ConsumerView) -> (Row, bool) {
        let path = format!("consumers.{}", segment(&facts.name));
        let changed = |field: &str| self.has_changed(&format!("{path}.{field}"));
        // What is not among the observables is compared with the step before itself.
        let before = self.before();
        let group = facts.group.unwrap_or(0);
        let name = &self.facts.groups[group];
        match fact {
            Fact::Reads => {
                (Row::new(&["reads"], Value::partitions(&view.assignment)), changed("assignment"))
            }
            Fact::Assigned => {
                let now = assigned(self.snapshot(), name, &facts.name);
                let was = before.map(|before| assigned(before, name, &facts.name));
                let value = now.map_or(Value::Word("–"), Value::partitions);
                (Row::new(&["assigned"], value), was.is_some_and(|was| was != now))
            }
            Fact::GivesUp => {
                let was = before.map(|before| given_up(before, &facts.name));
                let value = Value::partitions(&view.revoking);
                let mut row = Row::new(&["gives up"], value);
                if !view.revoking.is_empty() {
                    row.role = Role::Pending;
                }
                (row, was.is_some_and(|was| was != view.revoking))
            }
            Fact::Holds => {
                let now = held_records(self.snapshot(), &facts.name);
                let was = before.map(|before| held_records(before, &facts.name));
                let has_changed = was.is_some_and(|was| was != now);
                (Row::new(&["holds"], Value::offsets(&now)), has_changed)
            }
            Fact::Epoch => {
                let is_known = view.state != ConsumerState::Stopped && view.epoch > 0;
                let known = u64::try_from(view.epoch).ok().filter(|_| is_known);
                let value = known.map_or(Value::Word("–"), Value::Count);
                let word = self.epoch_word(group);
                (Row::new(&[word, "gen."], value), changed("epoch"))
            }
            _ => (Row::new(&[view.state.word()], Value::None), changed("state")),
        }
    }

    /// What a producer is doing: of one with a transaction, the coordinator's word for that.
    fn producer_state(
        &self,
        facts: &ClientFacts,
        view: &ProducerView,
        place: (Point, f64),
    ) -> Vec<Item> {
        let declared = self.run.world.producers.iter().find(|spec| spec.name == facts.name);
        let id = declared.and_then(|spec| spec.config.get("transactional.id"));
        let transaction = id.and_then(|id| Some((id, self.snapshot().transactions.get(id)?)));
        let path = format!("producers.{}.state", segment(&facts.name));
        let mut has_changed = self.has_changed(&path);
        let texts = match (view.state, transaction) {
            (ProducerState::Ready | ProducerState::InTransaction, Some((id, it)))
                if !it.state.is_empty() =>
            {
                has_changed |= self.has_changed(&format!("transactions.{}.state", segment(id)));
                let short = transaction_state(&it.state);
                vec![format!("txn {}", it.state), format!("txn {short}"), short.to_owned()]
            }
            _ => vec![producer_state(view.state).to_owned()],
        };
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        Row { has_changed, ..Row::new(&texts, Value::None) }.items(place)
    }

    fn lag_row(&self, group: &str, view: &ConsumerView) -> (Row, bool) {
        let lag = self.lag(group, &view.assignment);
        let path = |name: String| format!("groups.{}.lag.{}", segment(group), segment(&name));
        let mut read = view.assignment.iter().map(|name| path(name.to_string()));
        let has_changed = read.any(|path| self.has_changed(&path));
        let value = match lag {
            None => Value::Word("none"),
            Some(lag) => u64::try_from(lag).map_or(Value::Negative(lag), Value::Count),
        };
        (Row::new(&["lag"], value), has_changed)
    }

    /// Whether a count has risen since the step before.
    fn grew(&self, path: &str) -> bool {
        let number = |value: &Option<serde_json::Value>| {
            value.as_ref().and_then(serde_json::Value::as_u64).unwrap_or(0)
        };
        let mut changes = self.frame.changed.iter().filter(|change| change.path == path);
        changes.any(|change| number(&change.to) > number(&change.from))
    }
}

/// What the cell of the last record says: its key, its value, or its place.
fn record_text(seen: &SeenRecord) -> String {
    let text = seen.key.as_ref().or(seen.value.as_ref());
    text.cloned().unwrap_or_else(|| format!("{}@{}", seen.partition, seen.offset))
}

/// What the buffer's cell says: the key of the only record, or how many there are.
fn buffer(view: &ProducerView, slot: Rect) -> Option<String> {
    match (view.buffered, view.buffered_keys.first()) {
        (0, _) => None,
        (1, Some(Some(key))) => Some(key.clone()),
        (1, _) => Some("1 record".to_owned()),
        (count, _) => {
            let long = format!("{count} records");
            let fits = room(&long, Face::Mono) <= slot.w - 8.0;
            Some(if fits { long } else { format!("×{count}") })
        }
    }
}

fn producer_state(state: ProducerState) -> &'static str {
    match state {
        ProducerState::Ready => "ready",
        ProducerState::InTransaction => "in transaction",
        ProducerState::Fenced => "fenced",
        ProducerState::Failed => "failed",
        ProducerState::Stopped => "stopped",
    }
}

/// The coordinator's word for a transaction in plain words.
fn transaction_state(state: &str) -> &str {
    match state {
        "Empty" => "empty",
        "Ongoing" => "open",
        "PrepareCommit" => "committing",
        "PrepareAbort" => "aborting",
        "CompleteCommit" => "committed",
        "CompleteAbort" => "aborted",
        other => other,
    }
}

fn card(place: &ClientPlace, name: &str, is_off: bool) -> Vec<Item> {
    let part = if is_off { Part::CardStop } else { Part::Card };
    let mut items = vec![Item::rect(part, place.card, 10.0)];
    if is_off {
        items.push(cross(place.card));
    }
    let voice = if is_off { Part::Mute } else { Part::Text };
    // A name that is a little too long is set a little smaller before it is cut.
    let is_long = room(name, Face::Name) > place.name_room;
    let face = if is_long { Face::SansBold } else { Face::Name };
    let start = at(place.card.x + 12.0, place.card.y + 22.0);
    let text = fit(name, face, place.name_room);
    items.push(Item::text(voice, start, text, face).whole(name));
    items
}

fn second_line(place: &ClientPlace, text: &str, voice: Part, has_changed: bool) -> Vec<Item> {
    let face = if voice == Part::Mute { Face::Mono } else { Face::Sans };
    let whole = text;
    let text = fit(whole, face, place.name_room);
    let base = place.card.y + 39.0;
    let mut items = Vec::new();
    if has_changed {
        let width = room(&text, face) + 10.0;
        items.push(ring(Rect::new(place.card.x + 7.0, base - 11.0, width, 16.0)));
    }
    items.push(Item::text(voice, at(place.card.x + 12.0, base), text, face).whole(whole));
    items
}

fn held(slot: Rect, text: &str, role: Role, has_changed: bool) -> Vec<Item> {
    let mut items = Vec::new();
    if has_changed {
        items.push(ring(Rect::new(slot.x - 3.0, slot.y - 4.0, slot.w + 6.0, slot.h + 8.0)));
    }
    items.extend(record(slot, role, None, Some(text)));
    items
}

fn empty(slot: Rect, word: &str) -> Vec<Item> {
    let frame = Rect::new(slot.x + 1.0, slot.y, slot.w - 2.0, slot.h);
    let middle = at(slot.x + slot.w / 2.0, slot.y + 19.0);
    let fits = room(word, Face::Sans) <= slot.w - 6.0;
    let word = Item::text(Part::Mute, middle, word, Face::Sans).anchor(Anchor::Middle);
    let frame = Item::rect(Part::Slot, frame, 5.0);
    if fits { vec![frame, word] } else { vec![frame] }
}
