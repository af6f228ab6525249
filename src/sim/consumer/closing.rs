//! `close()`: commits if the consumer does so by itself, leaves the group, and ends.
//!
//! Follows `ClassicKafkaConsumer.close`, `ConsumerCoordinator.close`, `AbstractCoordinator.close`.

use crate::sim::kernel::Kernel;
use crate::sim::message::MessageId;
use crate::sim::trace::EventKind;

use super::{CommitKind, Consumer};

/// How long `close()` may take (`DEFAULT_CLOSE_TIMEOUT_MS`).
const CLOSE_TIMEOUT_MS: u64 = 30_000;

/// How far `close()` has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Its commit has to be sent.
    Commits,
    /// Its commit is under way.
    Committing(MessageId),
    /// It has to say that it leaves.
    Leaves,
    /// It has said so.
    Leaving(MessageId),
    Done,
}

/// A `close()` under way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Closing {
    stage: Stage,
    until_ms: u64,
}

impl Closing {
    /// When it gives up what is not done by then.
    pub(super) fn until_ms(&self) -> u64 {
        self.until_ms
    }
}

impl Consumer {
    /// The application calls `close()`.
    pub fn close(&mut self, kernel: &mut Kernel) {
        if self.closing.is_some() {
            return;
        }
        self.poll_until = None;
        let commits = self.settings.auto_commit && !self.shares();
        let stage = if commits { Stage::Commits } else { Stage::Leaves };
        let until_ms = kernel.now_ms + CLOSE_TIMEOUT_MS;
        self.closing = Some(Closing { stage, until_ms });
        self.pump(kernel);
    }

    /// Whether `close()` has returned.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        let is_done = |closing: &Closing| closing.stage == Stage::Done;
        self.closing.as_ref().is_some_and(is_done) && self.hand.is_closed()
    }

    /// The coordinator knows that it leaves, or cannot be told.
    pub(super) fn left(&mut self, request: Option<MessageId>) {
        if let Some(closing) = &mut self.closing
            && matches!(closing.stage, Stage::Leaving(id) if Some(id) == request)
        {
            closing.stage = Stage::Done;
        }
    }

    /// Takes the next steps of `close()` that can be taken now.
    pub(super) fn go_on_closing(&mut self, kernel: &mut Kernel) {
        loop {
            let Some(closing) = &self.closing else { return };
            let (stage, over) = (closing.stage, closing.until_ms <= kernel.now_ms);
            let next = match stage {
                Stage::Commits => self.close_with_commit(kernel),
                Stage::Committing(id) if self.commits.contains_key(&id) => stage,
                Stage::Committing(_) => Stage::Leaves,
                Stage::Leaves => {
                    kernel.trace(EventKind::GroupChange, &self.machine, "closes");
                    if self.shares() {
                        self.end_sharing(kernel);
                    }
                    self.leave_group(kernel).map_or(Stage::Done, Stage::Leaving)
                }
                Stage::Leaving(_) | Stage::Done => stage,
            };
            let next = match next {
                Stage::Commits | Stage::Committing(_) if over => Stage::Leaves,
                Stage::Leaving(_) if over => Stage::Done,
                next => next,
            };
            if let Some(closing) = &mut self.closing {
                closing.stage = next;
            }
            if next == stage {
                return;
            }
        }
    }

    fn close_with_commit(&mut self, kernel: &mut Kernel) -> Stage {
        let positions = self.known_positions();
        if positions.is_empty() || self.committer().is_err() {
            return Stage::Leaves;
        }
        match self.send_commit(positions, CommitKind::Closing, kernel) {
            Some(id) => Stage::Committing(id),
            None => Stage::Commits,
        }
    }
}
