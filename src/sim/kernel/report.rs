//! What machines report: events for the trace, notes for the checkers, messages for the pictures.

use std::fmt::Display;

use crate::sim::check::Note;
use crate::sim::error::KafkaError;
use crate::sim::ids::Machine;
use crate::sim::message::Message;
use crate::sim::snapshot::MessageView;
use crate::sim::trace::{EventKind, TraceEvent};

use super::Kernel;

/// Whether events and messages are kept until they are handed over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keep {
    /// All of them.
    #[default]
    Everything,
    /// None: they are only counted, and their texts are not even written.
    Nothing,
}

/// An event of the trace before it has its text, its number and its time.
struct Report<'a> {
    event: EventKind,
    machine: Option<&'a Machine>,
    message: Option<u64>,
    error: Option<KafkaError>,
}

impl Report<'_> {
    fn new(event: EventKind) -> Report<'static> {
        Report { event, machine: None, message: None, error: None }
    }
}

impl Kernel {
    /// Reports an event of a machine.
    pub fn trace(&mut self, event: EventKind, machine: &Machine, text: impl Display) {
        let machine = Some(machine);
        self.push_event(&Report { machine, ..Report::new(event) }, text);
    }

    /// Reports an event of the administrator.
    pub fn trace_admin(&mut self, event: EventKind, text: impl Display, error: Option<KafkaError>) {
        self.push_event(&Report { error, ..Report::new(event) }, text);
    }

    /// Reports a refusal or failure with Kafka's error code.
    pub fn trace_error(
        &mut self,
        event: EventKind,
        machine: &Machine,
        text: impl Display,
        error: KafkaError,
    ) {
        let (machine, error) = (Some(machine), Some(error));
        self.push_event(&Report { machine, error, ..Report::new(event) }, text);
    }

    /// Reports what becomes of a message: its sender sends it, all else happens where it goes.
    pub(super) fn trace_message(
        &mut self,
        event: EventKind,
        text: impl Display,
        message: &Message,
    ) {
        if self.keep == Keep::Nothing {
            self.next_event += 1;
            return;
        }
        let machine = if event == EventKind::Send { &message.from } else { &message.to };
        let report = Report {
            machine: Some(machine),
            message: Some(message.id.0),
            error: message.body.error(),
            ..Report::new(event)
        };
        self.push_event(&report, text);
    }

    fn push_event(&mut self, report: &Report<'_>, text: impl Display) {
        let sequence = self.next_event;
        self.next_event += 1;
        if self.keep == Keep::Nothing {
            return;
        }
        self.events.push(TraceEvent {
            sequence,
            time_ms: self.now_ms,
            machine: report.machine.cloned(),
            event: report.event,
            text: text.to_string(),
            message: report.message,
            error: report.error.map(|error| error.name().to_owned()),
        });
    }

    /// Tells the checkers what to look at.
    pub fn note(&mut self, note: Note) {
        self.notes.push(note);
    }

    /// Whether there is anything to look at.
    #[must_use]
    pub fn has_notes(&self) -> bool {
        !self.notes.is_empty()
    }

    /// Hands the checkers what was noted since the last call.
    pub fn take_notes(&mut self) -> Vec<Note> {
        std::mem::take(&mut self.notes)
    }

    /// Takes the empty list back, whose memory serves again.
    pub fn give_back_notes(&mut self, notes: Vec<Note>) {
        self.notes = notes;
    }

    /// How many events wait to be handed over.
    #[must_use]
    pub fn pending_event_count(&self) -> usize {
        self.events.len()
    }

    /// How many events there were so far.
    #[must_use]
    pub fn event_count(&self) -> u64 {
        self.next_event
    }

    /// Hands over the events since the last call.
    pub fn take_events(&mut self) -> Vec<TraceEvent> {
        std::mem::take(&mut self.events)
    }

    /// Hands over the messages that were sent since the last call.
    pub fn take_messages(&mut self) -> Vec<MessageView> {
        std::mem::take(&mut self.sent)
    }
}
