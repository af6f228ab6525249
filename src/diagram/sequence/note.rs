//! State changes that a sequence diagram notes beside a machine. Knows no coordinates.

use std::collections::BTreeMap;

use super::words::{alike, merged};
use crate::diagram::scene::Role;
use crate::scenario::run::Run;
use crate::sim::ids::{Machine, is_internal};
use crate::sim::trace::{EventKind, TraceEvent};

/// So many notes of one step that are alike are one.
const FOLDED_FROM: usize = 3;

/// A state change.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Note {
    /// Whose; none for the administrator.
    pub machine: Option<Machine>,
    /// What.
    pub text: String,
    /// Its colours.
    pub role: Role,
}

/// The notes of a run by the event at which they are told; those that are alike within a step are
/// told at the first.
pub(super) fn notes(run: &Run) -> BTreeMap<usize, Note> {
    let mut found: BTreeMap<(usize, String), Vec<(usize, Note)>> = BTreeMap::new();
    for (at, event) in run.events.iter().enumerate() {
        let Some(note) = note(event) else { continue };
        let part = run.frames.partition_point(|frame| frame.time_ms < event.time_ms);
        let machine = note.machine.as_ref().map(ToString::to_string).unwrap_or_default();
        let key = format!("{machine} {:?} {}", event.event, alike(&note.text));
        found.entry((part, key)).or_default().push((at, note));
    }
    let mut notes = BTreeMap::new();
    for alike in found.into_values() {
        if alike.len() < FOLDED_FROM {
            notes.extend(alike);
            continue;
        }
        let (at, first) = &alike[0];
        let last = &alike[alike.len() - 1].1;
        let text = format!("{}, {} times", merged(&first.text, &last.text), alike.len());
        notes.insert(*at, Note { text, ..first.clone() });
    }
    notes
}

/// What an event is worth noting as. What messages show themselves is left out.
fn note(event: &TraceEvent) -> Option<Note> {
    let text = event.text.replace("->", "→");
    let text =
        if event.event == EventKind::Acknowledged { format!("is told: {text}") } else { text };
    let role = match event.event {
        EventKind::Append | EventKind::Truncate => Role::Pending,
        EventKind::HighWatermark | EventKind::Acknowledged => Role::Ok,
        EventKind::Failed | EventKind::Timeout => Role::Bad,
        // A candidate's questions are messages.
        EventKind::ControllerChange if text.starts_with("asks ") => return None,
        EventKind::PartitionChange | EventKind::RoleChange | EventKind::ControllerChange => {
            Role::Lead
        }
        EventKind::Action if event.machine.is_none() => Role::Plain,
        EventKind::Buffer
        | EventKind::Poll
        | EventKind::Commit
        | EventKind::ConfigChange
        | EventKind::TopicChange
        | EventKind::BrokerChange
        | EventKind::GroupChange => Role::Plain,
        _ => return None,
    };
    let is_of_internal_topic = text
        .split([' ', ':', ','])
        .filter_map(|word| word.rsplit_once('-'))
        .any(|(topic, _)| is_internal(topic));
    (!is_of_internal_topic).then(|| Note { machine: event.machine.clone(), text, role })
}
