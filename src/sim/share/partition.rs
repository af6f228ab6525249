//! One partition as a share group sees it: which records are in play, and who holds them.
//!
//! Follows `SharePartition`, `InFlightBatch`, `InFlightState`, `RecordState`.

use std::collections::BTreeMap;

use super::saved::{Saved, SavedState};
use crate::sim::ids::Offset;

/// What a record is to the group (`RecordState`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// It can be handed out.
    Available,
    /// A member holds it.
    Acquired,
    /// A member has settled it.
    Acknowledged,
    /// It will not be handed out any more.
    Archived,
}

impl Phase {
    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Phase::Available => "available",
            Phase::Acquired => "acquired",
            Phase::Acknowledged => "acknowledged",
            Phase::Archived => "archived",
        }
    }

    /// Whether nothing will become of it any more.
    #[must_use]
    pub fn is_final(self) -> bool {
        matches!(self, Phase::Acknowledged | Phase::Archived)
    }
}

/// A record in play.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct InFlight {
    pub phase: Phase,
    /// How often it was handed out.
    pub delivery_count: u16,
    /// Who holds it.
    pub member: Option<String>,
    /// Until when, in milliseconds.
    pub locked_until_ms: u64,
    /// What it was before a change that is not stored yet.
    pub before: Option<(Phase, Option<String>)>,
}

impl InFlight {
    pub(super) fn free(delivery_count: u16) -> InFlight {
        InFlight {
            phase: Phase::Available,
            delivery_count,
            member: None,
            locked_until_ms: 0,
            before: None,
        }
    }

    /// Whether it can be handed out now.
    pub(super) fn is_available(&self) -> bool {
        self.phase == Phase::Available && self.before.is_none()
    }

    /// Its holder lets it go. One that was handed out as often as the group allows is archived
    /// (`InFlightState.tryUpdateState`).
    pub(super) fn let_go(&mut self, phase: Phase, delivery_limit: u16) {
        let worn_out = phase == Phase::Available && self.delivery_count >= delivery_limit;
        self.phase = if worn_out { Phase::Archived } else { phase };
        self.member = None;
    }
}

/// The state of one partition for one group, at the partition's leader.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SharePartition {
    /// Everything below it is settled.
    pub(super) start: Offset,
    /// Nothing from it on was ever handed out.
    pub(super) end: Offset,
    /// Records in play, in the batches in which they were handed out first, by their first offset.
    pub(super) batches: BTreeMap<Offset, Vec<InFlight>>,
}

impl SharePartition {
    /// A partition whose records from `saved.start` on are free, but for what is saved of them.
    /// Records that somebody held when the last leader ended are free again; how often they were
    /// handed out is known only if it was saved.
    #[must_use]
    pub fn load(saved: &SavedState, start: Offset) -> SharePartition {
        let mut loaded = SharePartition { start, end: start, batches: BTreeMap::new() };
        let of_records = saved.records.range(start..);
        if let Some((last, _)) = of_records.clone().next_back() {
            loaded.end = *last + 1;
            let records = (start.0..loaded.end.0).map(|offset| {
                let known = saved.records.get(&Offset(offset));
                let (phase, delivery_count) = known.copied().unwrap_or((Phase::Available, 0));
                InFlight { phase, ..InFlight::free(delivery_count) }
            });
            loaded.batches.insert(start, records.collect());
            loaded.settle();
        }
        loaded
    }

    /// Breaks the count of a record's deliveries, for tests of the checkers.
    #[cfg(test)]
    pub fn set_delivery_count(&mut self, offset: Offset, count: u16) {
        self.record_mut(offset).expect("a record in play").delivery_count = count;
    }

    /// Gives a record to another holder, for tests of the checkers.
    #[cfg(test)]
    pub fn set_holder(&mut self, offset: Offset, member: &str) {
        self.record_mut(offset).expect("a record in play").member = Some(member.to_owned());
    }

    /// Everything below it is settled.
    #[must_use]
    pub fn start_offset(&self) -> Offset {
        self.start
    }

    /// Records in play from the start offset on: what they are, how often they were handed out, who
    /// holds them.
    pub fn records(&self) -> impl Iterator<Item = (Offset, Phase, u16, Option<&str>)> {
        self.in_flight().filter(|(offset, _)| *offset >= self.start).map(|(offset, record)| {
            (offset, record.phase, record.delivery_count, record.member.as_deref())
        })
    }

    pub(super) fn in_flight(&self) -> impl Iterator<Item = (Offset, &InFlight)> {
        self.batches.iter().flat_map(|(first, records)| {
            records.iter().zip(first.0..).map(|(record, offset)| (Offset(offset), record))
        })
    }

    pub(super) fn in_flight_mut(&mut self) -> impl Iterator<Item = (Offset, &mut InFlight)> {
        self.batches.iter_mut().flat_map(|(first, records)| {
            records.iter_mut().zip(first.0..).map(|(record, offset)| (Offset(offset), record))
        })
    }

    pub(super) fn record_mut(&mut self, offset: Offset) -> Option<&mut InFlight> {
        let (first, records) = self.batches.range_mut(..=offset).next_back()?;
        records.get_mut(usize::try_from(offset.since(*first)).ok()?)
    }

    /// The offset from which to read next: that of the first record that is free again, or of what
    /// was never handed out (`SharePartition.nextFetchOffset`).
    #[must_use]
    pub fn next_fetch_offset(&self) -> Offset {
        let free = self
            .in_flight()
            .find(|(offset, record)| *offset >= self.start && record.is_available());
        free.map_or(self.end, |(offset, _)| offset)
    }

    /// Whether there may be something to hand out: a free record, or room for more in play
    /// (`SharePartition.canAcquireRecords`).
    #[must_use]
    pub fn can_acquire(&self, max_locks: u64) -> bool {
        self.next_fetch_offset() != self.end || self.in_play() < max_locks
    }

    pub(super) fn in_play(&self) -> u64 {
        if self.batches.is_empty() { 0 } else { self.end.since(self.start) }
    }

    /// When the first lock runs out, in milliseconds.
    #[must_use]
    pub fn next_lock_ms(&self) -> Option<u64> {
        let held = self.in_flight().filter(|(_, record)| record.phase == Phase::Acquired);
        held.map(|(_, record)| record.locked_until_ms).min()
    }

    /// Locks that have run out free their records
    /// (`releaseAcquisitionLockOnTimeout`). What that changes.
    pub fn expire_locks(&mut self, now_ms: u64, delivery_limit: u16) -> Vec<Saved> {
        let mut changed = Vec::new();
        let start = self.start;
        for (offset, record) in self.in_flight_mut() {
            if record.phase == Phase::Acquired && record.locked_until_ms <= now_ms {
                let phase = if offset < start { Phase::Archived } else { Phase::Available };
                record.let_go(phase, delivery_limit);
                changed.push(Saved::of(offset, record));
            }
        }
        self.settle();
        changed
    }

    /// The log begins later now: what was free below that is archived, and the start offset moves
    /// (`updateCacheAndOffsets`).
    pub fn log_start_moved(&mut self, log_start: Offset) {
        if log_start <= self.start {
            return;
        }
        for (offset, record) in self.in_flight_mut() {
            if offset < log_start && record.phase == Phase::Available {
                record.phase = Phase::Archived;
            }
        }
        self.start = log_start;
        self.end = self.end.max(log_start);
        self.drop_settled_batches();
    }

    /// Moves the start offset over everything that is settled for good
    /// (`maybeUpdateCachedStateAndOffsets`).
    pub(super) fn settle(&mut self) {
        let from = self.start;
        let unsettled = self
            .in_flight()
            .find(|(offset, r)| *offset >= from && (r.before.is_some() || !r.phase.is_final()));
        self.start = unsettled.map_or(self.end, |(offset, _)| offset);
        self.drop_settled_batches();
    }

    fn drop_settled_batches(&mut self) {
        let start = self.start;
        self.batches.retain(|first, records| {
            let end = *first + records.len() as u64;
            end > start || records.iter().any(|record| !record.phase.is_final())
        });
    }
}
