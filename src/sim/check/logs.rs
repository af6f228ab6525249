//! Invariants of logs: last stable offsets, log starts, compaction, and what readers are given.
//!
//! It goes by what lies in the logs alone, never by what the model remembers of producers.

use std::collections::BTreeMap;

use crate::sim::Sim;
use crate::sim::broker::{Broker, Replica};
use crate::sim::ids::{BrokerId, LeaderEpoch, Offset, TopicPartition};
use crate::sim::message::Isolation;
use crate::sim::record::{BatchKind, Outcome, Record, StoredBatch};

use super::partition::Seen;

/// A log before it was compacted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BeforeCleaning {
    /// Whose log.
    pub broker: BrokerId,
    /// All of its batches.
    pub batches: Vec<StoredBatch>,
    /// Where its active segment began.
    pub active_from: Offset,
    /// The present, in milliseconds.
    pub now_ms: i64,
}

/// What a consumer was given by one fetch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    /// From which offset it asked.
    pub from: Offset,
    /// Up to which offset it goes on.
    pub to: Offset,
    /// What it asked for.
    pub isolation: Isolation,
    /// The records, ascending.
    pub offsets: Vec<Offset>,
}

/// What was read in a replica's log so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scan {
    /// Whether something may have been there that was not read.
    is_partial: bool,
    to: Offset,
    high_watermark: Offset,
    log_start: (LeaderEpoch, Offset),
    /// Where each producer's open transaction begins.
    open: BTreeMap<i64, Offset>,
    /// Ended transactions by producer and marker.
    ended: BTreeMap<(i64, Offset), (Offset, Outcome)>,
    /// Those whose marker was not committed when it was last looked at, by their first offset.
    uncommitted: BTreeMap<Offset, Offset>,
}

impl Scan {
    /// Reads on. A log that was cut is read anew.
    fn read(&mut self, replica: &Replica) -> Result<(), String> {
        let log = &replica.log;
        let was_cut = log.end_offset() < self.to || log.start_offset() > self.to;
        if was_cut || replica.high_watermark < self.high_watermark {
            *self = Scan { is_partial: true, ..Scan::default() };
        }
        for stored in replica.log.batches_from(self.to) {
            self.take(stored);
        }
        self.to = replica.log.end_offset();
        self.high_watermark = replica.high_watermark;
        self.uncommitted.retain(|_, marker| *marker >= replica.high_watermark);
        let first = self.open.values().chain(self.uncommitted.keys()).min().copied();
        let (start, known) = (replica.log.start_offset(), replica.last_stable_offset());
        let expected = first
            .map_or(replica.high_watermark, |first| first.max(start).min(replica.high_watermark));
        // What retention took, and markers above a high watermark that a crash has set back, are
        // known to the replica alone.
        let is_excused = self.is_partial && (known == start || known > expected);
        if known == expected || is_excused {
            Ok(())
        } else {
            Err(format!("last stable offset {known}, but the log says {expected}"))
        }
    }

    fn take(&mut self, stored: &StoredBatch) {
        let Some(stamp) = stored.batch.stamp else { return };
        let (producer, base) = (stamp.producer_id, stored.base_offset);
        match stored.batch.kind {
            BatchKind::Plain => {}
            BatchKind::Transactional => {
                self.open.entry(producer).or_insert(base);
            }
            BatchKind::Marker { outcome, .. } => {
                if let Some(first) = self.open.remove(&producer) {
                    self.ended.insert((producer, base), (first, outcome));
                    self.uncommitted.insert(first, base);
                }
            }
        }
    }

    /// What became of the transaction of a producer's record; `None` while it is open.
    pub(super) fn outcome(&self, producer: i64, offset: Offset) -> Option<Outcome> {
        let (marker, (_, outcome)) = self.ended.range((producer, offset)..).next()?;
        (marker.0 == producer).then_some(*outcome)
    }
}

impl Sim {
    /// The last stable offset is the high watermark or where the first undecided transaction
    /// begins; a leader's log start never falls. Looks at the replica on the broker that acted; at
    /// all of them if none did.
    pub(super) fn check_logs(
        &mut self,
        partition: &TopicPartition,
        actor: Option<BrokerId>,
    ) -> Result<(), String> {
        let Some(seen) = self.checker.partitions.get_mut(partition) else { return Ok(()) };
        match actor {
            Some(id) => check_log(seen, self.brokers.get(&id), partition),
            None => self
                .brokers
                .values()
                .try_for_each(|broker| check_log(seen, Some(broker), partition)),
        }
    }

    /// Compaction moves no record, touches nothing of the active segment, and takes only what has
    /// a later record of its key, was aborted, or is a tombstone or marker whose time is over.
    pub(super) fn check_cleaning(
        &self,
        partition: &TopicPartition,
        before: &BeforeCleaning,
    ) -> Result<(), String> {
        let broker = self.brokers.get(&before.broker);
        let Some(replica) = broker.and_then(|broker| broker.replicas.get(partition)) else {
            return Ok(());
        };
        let seen = self.checker.partitions.get(partition);
        let scan = seen.and_then(|seen| seen.scans.get(&before.broker));
        let mut left = replica.log.records_from(Offset(0)).peekable();
        let latest = latest_offsets(before, scan);
        for (offset, record, stored) in records(&before.batches) {
            if let Some((_, now, _)) = left.next_if(|(now, ..)| *now == offset) {
                if now != record {
                    return Err(format!("{partition}: another record stands at {offset} now"));
                }
                continue;
            }
            // What retention took in the same breath went by its own rules.
            if offset < replica.log.start_offset() {
                continue;
            }
            if let Err(why) = may_go((offset, record), stored, before, (&latest, scan)) {
                return Err(format!("{partition}: {offset} was removed, but {why}"));
            }
        }
        match left.next() {
            None => Ok(()),
            Some((offset, ..)) => Err(format!("{partition}: {offset} was not there before")),
        }
    }

    /// A reader is given every record of the range that it passes, and with `read_committed` none
    /// of an open or aborted transaction.
    pub(super) fn check_given(
        &self,
        partition: &TopicPartition,
        given: &Given,
    ) -> Result<(), String> {
        let seen = self.checker.partitions.get(partition);
        let Some(seen) = seen.filter(|seen| seen.unclean.is_none()) else { return Ok(()) };
        let leader = seen.state.leader;
        let Some(leader) = leader else { return Ok(()) };
        let replica = self.brokers.get(&leader).and_then(|one| one.replicas.get(partition));
        let scan = seen.scans.get(&leader);
        let Some((replica, scan)) = replica.zip(scan) else { return Ok(()) };
        if replica.leader().is_none() || scan.to < given.to {
            return Ok(());
        }
        let range = replica.log.records_from(given.from.max(replica.log.start_offset()));
        for (offset, _, stored) in range.take_while(|(offset, ..)| *offset < given.to) {
            if stored.batch.is_marker() {
                continue;
            }
            let stamp = stored.batch.stamp.filter(|_| stored.batch.kind != BatchKind::Plain);
            let outcome = stamp.map(|stamp| scan.outcome(stamp.producer_id, offset));
            let is_due = given.isolation == Isolation::Uncommitted
                || matches!(outcome, None | Some(Some(Outcome::Commit)));
            if given.offsets.binary_search(&offset).is_ok() != is_due {
                return Err(format!(
                    "{partition}: a {:?} reader passes {offset} of an {outcome:?} transaction",
                    given.isolation
                ));
            }
        }
        Ok(())
    }
}

/// Checks one broker's log.
fn check_log(
    seen: &mut Seen,
    broker: Option<&Broker>,
    partition: &TopicPartition,
) -> Result<(), String> {
    let Some(broker) = broker else { return Ok(()) };
    let id = broker.id;
    let replica = broker.replicas.get(partition);
    let Some(replica) = replica.filter(|one| one.topic_id == seen.topic_id) else {
        seen.scans.remove(&id);
        return Ok(());
    };
    let scan = seen.scans.entry(id).or_default();
    scan.read(replica).map_err(|what| format!("{partition} on broker-{id}: {what}"))?;
    let now = (replica.leader_epoch, replica.log.start_offset());
    let (epoch, before) = std::mem::replace(&mut scan.log_start, now);
    if replica.leader().is_some() && epoch == now.0 && before > now.1 {
        return Err(format!(
            "{partition} on broker-{id}: log start {before} -> {} in epoch {epoch}",
            now.1
        ));
    }
    Ok(())
}

fn records(batches: &[StoredBatch]) -> impl Iterator<Item = (Offset, &Record, &StoredBatch)> {
    batches.iter().flat_map(|stored| {
        let base = stored.base_offset;
        let records = stored.batch.records.iter();
        records.map(move |(delta, record)| (base + u64::from(*delta), record, stored))
    })
}

fn is_aborted(offset: Offset, stored: &StoredBatch, scan: Option<&Scan>) -> bool {
    let stamp = stored.batch.stamp.filter(|_| stored.batch.kind == BatchKind::Transactional);
    stamp.zip(scan).is_some_and(|(stamp, scan)| {
        scan.outcome(stamp.producer_id, offset) == Some(Outcome::Abort)
    })
}

/// The last place of each key below the active segment.
fn latest_offsets<'b>(
    before: &'b BeforeCleaning,
    scan: Option<&Scan>,
) -> BTreeMap<&'b str, Offset> {
    let counted = records(&before.batches).filter(|(offset, _, stored)| {
        *offset < before.active_from
            && !stored.batch.is_marker()
            && !is_aborted(*offset, stored, scan)
    });
    counted.filter_map(|(offset, record, _)| Some((record.key.as_deref()?, offset))).collect()
}

fn may_go(
    (offset, record): (Offset, &Record),
    stored: &StoredBatch,
    before: &BeforeCleaning,
    (latest, scan): (&BTreeMap<&str, Offset>, Option<&Scan>),
) -> Result<(), &'static str> {
    if offset >= before.active_from {
        return Err("it stood in the active segment");
    }
    let is_over = stored.batch.delete_horizon_ms.is_some_and(|horizon| horizon <= before.now_ms);
    if stored.batch.is_marker() {
        return if is_over { Ok(()) } else { Err("its time as a marker is not over") };
    }
    let Some(key) = record.key.as_deref() else { return Ok(()) };
    let is_replaced = latest.get(key).is_some_and(|latest| *latest > offset);
    if is_replaced || is_aborted(offset, stored, scan) {
        return Ok(());
    }
    match record.value_bytes {
        Some(_) => Err("it is the latest of its key"),
        None if is_over => Ok(()),
        None => Err("its time as a tombstone is not over"),
    }
}

#[cfg(test)]
mod tests;
