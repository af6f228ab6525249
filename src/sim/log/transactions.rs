//! The transactions of one log: which are open, which ended but are not committed to all replicas,
//! and which were aborted. From these the last stable offset follows.
//!
//! Follows `ProducerStateManager` (`ongoingTxns`, `unreplicatedTxns`), `TransactionIndex`, KIP-98.

use std::collections::BTreeMap;

use crate::sim::ids::Offset;
use crate::sim::record::Outcome;

/// A transaction that was aborted, as readers are told of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aborted {
    /// Whose.
    pub producer_id: i64,
    /// Its first record here.
    pub first: Offset,
    /// Its marker.
    pub last: Offset,
    /// The last stable offset after the marker: no transaction aborted later begins below it.
    pub last_stable: Offset,
}

/// Transactions that are not over for every replica; small, and part of a snapshot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unstable {
    /// Open ones by their first offset.
    ongoing: BTreeMap<Offset, i64>,
    /// Ended ones by their first offset, with that of the marker; until the high watermark has
    /// passed it.
    unreplicated: BTreeMap<Offset, Offset>,
}

impl Unstable {
    /// A producer's first record of a transaction.
    pub fn begin(&mut self, producer_id: i64, first: Offset) {
        self.ongoing.insert(first, producer_id);
    }

    /// The marker of a transaction that began at `first`. Returns the last stable offset that
    /// follows once the marker is committed (`ProducerStateManager.lastStableOffset`).
    pub fn end(&mut self, first: Offset, marker: Offset) -> Offset {
        self.ongoing.remove(&first);
        self.unreplicated.insert(first, marker);
        self.ongoing.first_key_value().map_or(marker + 1, |(first, _)| *first)
    }

    /// Ended transactions whose marker is committed are over
    /// (`removeUnreplicatedTransactions`).
    pub fn note_high_watermark(&mut self, high_watermark: Offset) {
        self.unreplicated.retain(|_, marker| *marker >= high_watermark);
    }

    /// The first offset of the earliest transaction that is open, or whose marker is not below the
    /// high watermark (`ProducerStateManager.firstUnstableOffset`).
    #[must_use]
    pub fn first_offset(&self, high_watermark: Offset) -> Option<Offset> {
        let ended = self.unreplicated.iter().find(|(_, marker)| **marker >= high_watermark);
        let open = self.ongoing.first_key_value();
        open.map(|(first, _)| *first).into_iter().chain(ended.map(|(first, _)| *first)).min()
    }
}

/// The aborted transactions of a log, by their markers (`TransactionIndex`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AbortedIndex {
    list: Vec<Aborted>,
}

impl AbortedIndex {
    /// Takes note of one; markers come in order.
    pub fn push(&mut self, aborted: Aborted) {
        self.list.push(aborted);
    }

    /// Forgets those whose marker lies at `offset` or beyond.
    pub fn truncate_to(&mut self, offset: Offset) {
        let kept = self.list.partition_point(|one| one.last < offset);
        self.list.truncate(kept);
    }

    /// Forgets those whose marker lies below `offset`.
    pub fn forget_below(&mut self, offset: Offset) {
        let gone = self.list.partition_point(|one| one.last < offset);
        self.list.drain(..gone);
    }

    /// Keeps, of those whose marker lies below `end`, only the ones that `keeps` says yes to.
    pub fn retain_below(&mut self, end: Offset, keeps: impl Fn(&Aborted) -> bool) {
        self.list.retain(|one| one.last >= end || keeps(one));
    }

    /// Those that matter to a reader of `from..to` (`TransactionIndex.collectAbortedTxns`).
    pub fn between(&self, from: Offset, to: Offset) -> impl Iterator<Item = &Aborted> {
        let first = self.list.partition_point(|one| one.last < from);
        let mut done = false;
        self.list[first..]
            .iter()
            .take_while(move |one| !std::mem::replace(&mut done, one.last_stable >= to))
            .filter(move |one| one.first < to)
    }

    /// Whether a producer's record at `offset` belongs to an aborted transaction.
    #[must_use]
    pub fn covers(&self, producer_id: i64, offset: Offset) -> bool {
        let first = self.list.partition_point(|one| one.last < offset);
        let ended = self.list[first..].iter().find(|one| one.producer_id == producer_id);
        ended.is_some_and(|one| one.first <= offset)
    }
}

/// A producer's transaction as it stands in a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It has no marker.
    Open,
    /// Its marker says this.
    Ended(Outcome),
}
