//! What is kept of a run: its events and messages. A long run leaves out idle chatter, so that a
//! day in which nothing happens does not fill the memory.

use std::collections::BTreeSet;

use super::limits;
use crate::sim::Sim;
use crate::sim::snapshot::MessageView;
use crate::sim::trace::TraceEvent;

/// How many events the simulator gathers before they are looked at.
const GATHERED_MAX: usize = 20_000;

/// How many events are kept with everything; beyond it messages without content are left out.
const WHOLE_MAX: usize = 200_000;

/// Events and messages so far.
#[derive(Debug, Default)]
pub struct Record {
    /// In the order in which they happened.
    pub events: Vec<TraceEvent>,
    /// In the order of sending.
    pub messages: Vec<MessageView>,
    /// How many events were left after idle chatter was last left out.
    after_thinning: usize,
}

impl Record {
    /// Takes over what the simulator has gathered, once that is much.
    ///
    /// # Errors
    /// The limit of what is kept.
    pub fn keep_up(&mut self, sim: &mut Sim) -> Result<(), String> {
        if sim.pending_event_count() > GATHERED_MAX {
            self.take(sim);
        }
        if self.events.len() <= limits::KEPT_EVENTS {
            return Ok(());
        }
        self.leave_out_idle_messages();
        if self.events.len() <= limits::KEPT_EVENTS {
            return Ok(());
        }
        Err(format!("more than {} events that have to be kept", limits::KEPT_EVENTS))
    }

    /// Takes over everything that the simulator has gathered.
    pub fn take(&mut self, sim: &mut Sim) {
        self.events.extend(sim.take_events());
        self.messages.extend(sim.take_messages());
        // Doubling keeps the work linear where nearly everything has content.
        if self.events.len() > WHOLE_MAX.max(2 * self.after_thinning) {
            self.leave_out_idle_messages();
            self.after_thinning = self.events.len();
        }
    }

    fn leave_out_idle_messages(&mut self) {
        let idle: BTreeSet<u64> =
            self.messages.iter().filter(|message| is_idle(message)).map(|one| one.id).collect();
        self.messages.retain(|message| !idle.contains(&message.id));
        self.events.retain(|event| event.message.is_none_or(|id| !idle.contains(&id)));
    }
}

/// Whether a message only says that its sender is there, or asks for what is not there.
fn is_idle(message: &MessageView) -> bool {
    const KINDS: [&str; 5] =
        ["quorum_fetch", "broker_heartbeat", "heartbeat", "replica_fetch", "fetch"];
    let kind = message.kind.strip_suffix("_response").unwrap_or(message.kind);
    KINDS.contains(&kind) && message.record_count == 0 && message.error.is_none()
}
