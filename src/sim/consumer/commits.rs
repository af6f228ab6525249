//! Commits: who asks for them, and what becomes of one that is refused.
//!
//! Follows `ConsumerCoordinator.sendOffsetCommitRequest`, `OffsetCommitResponseHandler`.

use crate::sim::defect::Defect;
use crate::sim::error::KafkaError;
use crate::sim::ids::{Offset, TopicPartition};
use crate::sim::kernel::Kernel;
use crate::sim::message::{Body, Message, MessageId};
use crate::sim::trace::EventKind;

use super::Consumer;

/// Who asks for a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sim) enum CommitKind {
    /// The consumer itself; if it fails the next one will do.
    Auto,
    /// The application, which waits until it succeeds or cannot (`commitSync`).
    Manual,
    /// `close()`.
    Closing,
}

/// A commit under way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::sim) struct Commit {
    kind: CommitKind,
    offsets: Vec<(TopicPartition, Offset)>,
    /// The generation or member epoch under which it was sent.
    epoch: i32,
}

impl Consumer {
    /// The application commits.
    pub fn commit(&mut self, offsets: Vec<(TopicPartition, Offset)>, kernel: &mut Kernel) {
        self.send_commit(offsets, CommitKind::Manual, kernel);
    }

    /// Sends a commit, if there is anything to commit and somebody to tell. The application's waits
    /// for a coordinator.
    pub(super) fn send_commit(
        &mut self,
        mut offsets: Vec<(TopicPartition, Offset)>,
        kind: CommitKind,
        kernel: &mut Kernel,
    ) -> Option<MessageId> {
        if kernel.breaks(Defect::CommitBeyondPosition) {
            for (_, offset) in &mut offsets {
                *offset += 1;
            }
        }
        if offsets.is_empty() {
            return None;
        }
        let speaker = match self.committer() {
            Ok(speaker) => speaker,
            Err(error) => {
                self.commit_failed(kind, error, kernel);
                return None;
            }
        };
        let Some(coordinator) = self.reachable_coordinator(kernel) else {
            if kind == CommitKind::Manual {
                self.waiting_commits.push(offsets);
            }
            return None;
        };
        let group = self.membership.group.clone();
        let epoch = speaker.epoch;
        let body = Body::OffsetCommit { group, speaker: Some(speaker), offsets: offsets.clone() };
        let id = self.network.request(&self.machine, coordinator, body, kernel);
        self.commits.insert(id, Commit { kind, offsets, epoch });
        Some(id)
    }

    /// Sends commits of the application that have waited for a coordinator.
    pub(super) fn send_waiting_commits(&mut self, kernel: &mut Kernel) {
        let due = !self.waiting_commits.is_empty() && self.waiting_from_ms <= kernel.now_ms;
        if due && self.reachable_coordinator(kernel).is_some() {
            for offsets in std::mem::take(&mut self.waiting_commits) {
                self.send_commit(offsets, CommitKind::Manual, kernel);
            }
        }
    }

    pub(super) fn handle_commit_response(
        &mut self,
        message: &Message,
        result: Result<(), &KafkaError>,
        kernel: &mut Kernel,
    ) {
        let commit = message.answers.and_then(|request| self.commits.remove(&request));
        let (Some(commit), Err(error)) = (commit, result) else { return };
        let text = format!("its commit was refused: {error}");
        kernel.trace_error(EventKind::Refused, &self.machine, text, *error);
        self.coordinator_refused(*error, kernel);
        if error.is_retriable() {
            self.commit_later(commit, kernel);
        } else {
            self.commit_refused(*error, commit.epoch, kernel);
            self.commit_failed(commit.kind, *error, kernel);
        }
    }

    /// The connection of a commit is gone.
    pub(super) fn commit_lost(&mut self, request: MessageId, kernel: &Kernel) {
        if let Some(commit) = self.commits.remove(&request) {
            self.commit_later(commit, kernel);
        }
    }

    fn commit_later(&mut self, commit: Commit, kernel: &Kernel) {
        let again_ms = kernel.now_ms + self.settings.retry_backoff_ms;
        match commit.kind {
            CommitKind::Auto => self.auto_commit_ms = self.auto_commit_ms.min(again_ms),
            CommitKind::Manual => {
                self.waiting_commits.push(commit.offsets);
                self.waiting_from_ms = again_ms;
            }
            // `close()` looks for itself whether its commit is done.
            CommitKind::Closing => {}
        }
    }

    /// The application learns that its commit has failed; without one it is a line of a log.
    fn commit_failed(&mut self, kind: CommitKind, error: KafkaError, kernel: &mut Kernel) {
        if kind != CommitKind::Manual {
            return;
        }
        let name = match error {
            KafkaError::UnknownMemberId
            | KafkaError::IllegalGeneration
            | KafkaError::StaleMemberEpoch => "CommitFailedException",
            error => error.name(),
        };
        self.counters.last_error = Some(name);
        kernel.trace(EventKind::Failed, &self.machine, format!("its commit fails: {name}"));
    }
}
