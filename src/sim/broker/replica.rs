//! One replica on one broker: its log, the high watermark that it knows, and its role.

use std::sync::Arc;

use crate::sim::ids::{BrokerId, LeaderEpoch, Offset};
use crate::sim::log::{Cleanable, Cleaned, Deleted, Log, LogConfig};
use crate::sim::producer_state::ProducerStates;
use crate::sim::record::StoredBatch;
use crate::sim::replication::LeaderState;

/// What a broker believes that it is to a partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Role {
    /// It takes writes.
    Leader(LeaderState),
    /// It copies from this broker; from nobody while there is no leader.
    Follower(Option<BrokerId>),
}

/// A replica.
///
/// # Differs from Kafka
/// The start of a log survives a crash at once. Kafka writes what `DeleteRecords` moved to disk
/// once a minute (`log.flush.start.offset.checkpoint.interval.ms`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replica {
    /// The topic that it belongs to, by id.
    pub topic_id: u64,
    /// The topic's settings in force here.
    pub config: Arc<LogConfig>,
    /// Its log.
    pub log: Log,
    /// The high watermark that it knows.
    pub high_watermark: Offset,
    /// The high watermark on its disk.
    pub checkpointed: Offset,
    /// Where the cleaner goes on (`cleaner-offset-checkpoint`).
    pub cleaned_to: Offset,
    /// The leader epoch that it knows.
    pub leader_epoch: LeaderEpoch,
    /// Its role.
    pub role: Role,
    /// The producers of its log, and their transactions.
    pub producers: ProducerStates,
}

impl Replica {
    /// An empty replica that follows nobody yet, of the topic with this id.
    #[must_use]
    pub fn empty(topic_id: u64, config: Arc<LogConfig>) -> Replica {
        Replica {
            topic_id,
            config,
            log: Log::default(),
            high_watermark: Offset(0),
            checkpointed: Offset(0),
            cleaned_to: Offset(0),
            leader_epoch: LeaderEpoch(0),
            role: Role::Follower(None),
            producers: ProducerStates::default(),
        }
    }

    /// The leader's state, if it leads.
    #[must_use]
    pub fn leader(&self) -> Option<&LeaderState> {
        match &self.role {
            Role::Leader(state) => Some(state),
            Role::Follower(_) => None,
        }
    }

    /// The leader's state, if it leads.
    pub fn leader_mut(&mut self) -> Option<&mut LeaderState> {
        match &mut self.role {
            Role::Leader(state) => Some(state),
            Role::Follower(_) => None,
        }
    }

    /// Everything below it is committed, and every transaction below it is decided: the high
    /// watermark, or the first offset of a transaction that is open or whose marker is not
    /// committed; never below the log start (`UnifiedLog.fetchLastStableOffsetMetadata`).
    #[must_use]
    pub fn last_stable_offset(&self) -> Offset {
        match self.producers.unstable().first_offset(self.high_watermark) {
            Some(first) => first.max(self.log.start_offset()).min(self.high_watermark),
            None => self.high_watermark,
        }
    }

    /// Adds a batch at the log's end. Where a segment begins, what is known of producers goes to
    /// disk (`UnifiedLog.append`, `roll`).
    pub fn append(&mut self, stored: StoredBatch) {
        if self.log.must_roll(&stored, self.config.roll) {
            self.producers.take_snapshot(stored.base_offset);
        }
        self.producers.note(&stored);
        self.log.append(stored, self.config.roll);
    }

    /// Moves the high watermark up.
    pub fn raise_high_watermark(&mut self, offset: Offset) {
        self.high_watermark = offset;
        self.producers.note_high_watermark(offset);
    }

    /// Moves the log start up. Says whether it moved.
    pub fn raise_start(&mut self, offset: Offset) -> bool {
        let moved = self.log.raise_start(offset);
        if moved {
            self.forget_what_is_below();
        }
        moved
    }

    /// Deletes segments that are too old or too much.
    pub fn delete_old_segments(&mut self, now_ms: i64) -> Vec<Deleted> {
        let deleted = self.log.delete_old_segments(&self.config, self.high_watermark, now_ms);
        if !deleted.is_empty() {
            self.forget_what_is_below();
        }
        deleted
    }

    /// What the cleaner could clean now.
    #[must_use]
    pub fn cleanable(&self, now_ms: i64) -> Cleanable {
        self.log.cleanable(&self.config, self.cleaned_to, self.last_stable_offset(), now_ms)
    }

    /// Compacts a part of the log.
    pub fn clean(&mut self, part: &Cleanable, now_ms: i64) -> Cleaned {
        let done = self.log.clean(part, &self.config, &mut self.producers, now_ms);
        self.cleaned_to = done.end;
        done
    }

    fn forget_what_is_below(&mut self) {
        let start = self.log.start_offset();
        self.producers.forget_below(self.log.segments()[0].base_offset, start);
    }

    /// Cuts the log's end; the high watermark never lies beyond it (`UnifiedLog.truncateTo`).
    pub fn truncate_to(&mut self, offset: Offset) {
        self.log.truncate_to(offset);
        self.high_watermark = self.high_watermark.min(self.log.end_offset());
        self.cleaned_to = self.cleaned_to.min(offset);
        self.producers.reload(&self.log);
    }

    /// Drops everything and begins anew (`UnifiedLog.truncateFullyAndStartAt`).
    pub fn start_anew_at(&mut self, offset: Offset) {
        self.log = Log::starting_at(offset);
        self.high_watermark = offset;
        self.cleaned_to = offset;
        self.producers = ProducerStates::default();
    }

    /// The leader's log may begin in the middle of a batch, where `DeleteRecords` has put its
    /// start. An empty log that begins there takes the whole batch
    /// (`Partition.appendRecordsToFollowerOrFutureReplica`).
    pub fn begin_within(&mut self, first: &StoredBatch) {
        let start = self.log.start_offset();
        let is_empty = start == self.log.end_offset();
        if is_empty && first.base_offset < start && start < first.end_offset() {
            self.log = Log::starting_within(first.base_offset, start);
        }
    }

    /// What a crash leaves: the log, and the high watermark of the last checkpoint.
    pub fn lose_memory(&mut self) {
        self.high_watermark =
            self.checkpointed.min(self.log.end_offset()).max(self.log.start_offset());
        self.role = Role::Follower(None);
        self.producers.reload(&self.log);
    }
}
