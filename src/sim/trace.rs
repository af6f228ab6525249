//! The event trace: one entry per thing that happened, one line per entry.
//!
//! Columns of a line, in this order:
//!
//! | column | width | meaning |
//! | --- | --- | --- |
//! | time | 10 | seconds with three decimals, right-aligned |
//! | machine | 14 | who did or noticed it |
//! | event | 18 | the kind, one word of [`EventKind`] |
//! | text | rest | what happened, in words |

use std::fmt;

use serde::Serialize;

use super::ids::Machine;

/// One thing that happened. Serialised, one object of `events.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TraceEvent {
    /// Counts the events of a run from 0.
    pub sequence: u64,
    /// When, in milliseconds.
    pub time_ms: u64,
    /// Who did or noticed it; absent for the administrator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machine: Option<Machine>,
    /// What kind of event.
    pub event: EventKind,
    /// What happened, in words.
    pub text: String,
    /// The message that was sent or received, by its id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<u64>,
    /// Kafka's error code by name, where something was refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// The kinds of event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EventKind {
    /// An action of the scenario.
    Action,
    /// A message left.
    Send,
    /// A message arrived.
    Receive,
    /// A message was lost: its connection is gone or its link is cut.
    Drop,
    /// A request is held at its receiver.
    Wait,
    /// A record joined a producer's batch.
    Buffer,
    /// A log grew.
    Append,
    /// A log was cut at its end.
    Truncate,
    /// A log lost records at its start.
    LogStart,
    /// A log was compacted.
    Compaction,
    /// A high watermark rose.
    HighWatermark,
    /// A leader, epoch or ISR changed at the controller.
    PartitionChange,
    /// A setting was changed at run time.
    ConfigChange,
    /// The quorum has another active controller, or none.
    ControllerChange,
    /// A topic was created, changed or deleted.
    TopicChange,
    /// A broker was registered, fenced or unfenced.
    BrokerChange,
    /// A broker became leader or follower of a partition.
    RoleChange,
    /// A `poll()` returned.
    Poll,
    /// A consumer's offset was stored.
    Commit,
    /// A transaction changed its state.
    Transaction,
    /// A group changed its state.
    GroupChange,
    /// The application got an acknowledgement.
    Acknowledged,
    /// A record was given up, or a call failed.
    Failed,
    /// A request was refused.
    Refused,
    /// A client's own time-out or back-off.
    Timeout,
}

impl EventKind {
    /// The word in the trace.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            EventKind::Action => "action",
            EventKind::Send => "send",
            EventKind::Receive => "receive",
            EventKind::Drop => "drop",
            EventKind::Wait => "wait",
            EventKind::Buffer => "buffer",
            EventKind::Append => "append",
            EventKind::Truncate => "truncate",
            EventKind::LogStart => "log_start",
            EventKind::Compaction => "compaction",
            EventKind::HighWatermark => "high_watermark",
            EventKind::PartitionChange => "partition_change",
            EventKind::ConfigChange => "config_change",
            EventKind::ControllerChange => "controller_change",
            EventKind::TopicChange => "topic_change",
            EventKind::BrokerChange => "broker_change",
            EventKind::RoleChange => "role_change",
            EventKind::Poll => "poll",
            EventKind::Commit => "commit",
            EventKind::Transaction => "transaction",
            EventKind::GroupChange => "group_change",
            EventKind::Acknowledged => "acknowledged",
            EventKind::Failed => "failed",
            EventKind::Refused => "refused",
            EventKind::Timeout => "timeout",
        }
    }
}

impl fmt::Display for TraceEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let machine = self.machine.as_ref().map_or_else(|| "admin".to_owned(), ToString::to_string);
        let seconds = format!("{}.{:03}", self.time_ms / 1000, self.time_ms % 1000);
        write!(f, "{seconds:>10}  {machine:<14}  {:<18}  {}", self.event.word(), self.text)
    }
}
