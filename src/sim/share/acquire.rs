//! Handing records out.
//!
//! Follows `SharePartition.acquire` and what it calls, as in Kafka 4.3.

use super::partition::{InFlight, Phase, SharePartition};
use crate::sim::ids::Offset;

/// What was read from the log: batches, each by its first and last offset.
#[derive(Clone, Copy, Debug)]
pub struct Offered<'a> {
    /// The batches in order; at least one.
    pub batches: &'a [(Offset, Offset)],
    /// The offset that was asked for.
    pub from: Offset,
}

/// How much is handed out, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// About how many records (`max.poll.records`): a batch is not cut, unless `exact` says so.
    pub max_records: u64,
    /// Whether it is never more than that (`share.acquire.mode=record_limit`).
    pub exact: bool,
    /// How many records may be in play (`share.partition.max.record.locks`).
    pub max_locks: u64,
    /// How often a record is handed out at most (`share.delivery.count.limit`).
    pub delivery_limit: u16,
    /// Until when the member holds them, in milliseconds.
    pub lock_until_ms: u64,
}

/// Records that a member has got, all of them for the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acquired {
    /// The first.
    pub first: Offset,
    /// The last.
    pub last: Offset,
    /// How often they have been handed out, this time included.
    pub delivery_count: u16,
}

impl Acquired {
    /// How many offsets.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.last.since(self.first) + 1
    }
}

/// From so many deliveries on records come in ever smaller parts, so that one that nobody can work
/// on does not wear the others out (half of the limit, at least 2: `throttleRecordsDeliveryLimit`).
fn throttled_from(delivery_limit: u16) -> u16 {
    delivery_limit.div_ceil(2).max(2)
}

/// What one call has handed out so far.
struct Catch<'a> {
    member: &'a str,
    limits: Limits,
    max_records: u64,
    got: Vec<Acquired>,
    count: u64,
}

impl Catch<'_> {
    fn is_full(&self) -> bool {
        self.count >= self.max_records
    }

    fn take(&mut self, offset: Offset, record: &mut InFlight) {
        record.phase = Phase::Acquired;
        record.delivery_count += 1;
        record.member = Some(self.member.to_owned());
        record.locked_until_ms = self.limits.lock_until_ms;
        self.count += 1;
        let delivery_count = record.delivery_count;
        match self.got.last_mut() {
            Some(last) if last.last + 1 == offset && last.delivery_count == delivery_count => {
                last.last = offset;
            }
            _ => self.got.push(Acquired { first: offset, last: offset, delivery_count }),
        }
    }
}

impl SharePartition {
    /// Hands records to a member: those that are free again, then new ones.
    pub fn acquire(&mut self, member: &str, offered: Offered<'_>, limits: Limits) -> Vec<Acquired> {
        let (Some((first, _)), Some((_, last))) = (offered.batches.first(), offered.batches.last())
        else {
            return Vec::new();
        };
        let first = (*first).max(self.start);
        let (max_records, last) = self.room(&offered, &limits, *last);
        let mut catch = Catch { member, limits, max_records, got: Vec::new(), count: 0 };
        let goes_on = self.acquire_again(&mut catch, first, last);
        if goes_on && !catch.is_full() && last >= self.end {
            self.acquire_new(&mut catch, &offered, last);
        }
        catch.got
    }

    /// How many records may be handed out, and up to which offset. When there is no room for more
    /// in play, what is free in between still can be (`lastOffsetAndMaxRecordsToAcquire`).
    fn room(&self, offered: &Offered<'_>, limits: &Limits, last: Offset) -> (u64, Offset) {
        let room = limits.max_locks.saturating_sub(self.in_play());
        if room > 0 {
            return (limits.max_records.min(room), last);
        }
        if offered.from < self.end {
            let between = self.end.since(offered.from);
            return (limits.max_records.min(between), last.min(Offset(self.end.0 - 1)));
        }
        (0, last)
    }

    /// Hands out records that are free again. Says whether new ones may follow.
    fn acquire_again(&mut self, catch: &mut Catch<'_>, first: Offset, last: Offset) -> bool {
        let throttle = throttled_from(catch.limits.delivery_limit);
        for (base, records) in &mut self.batches {
            if *base > last || catch.is_full() {
                break;
            }
            let worn = records
                .iter()
                .zip(base.0..)
                .filter(|(record, offset)| {
                    (first.0..=last.0).contains(offset) && record.is_available()
                })
                .any(|(record, _)| record.delivery_count >= throttle);
            if worn && catch.count > 0 {
                return false;
            }
            let before = catch.count;
            take_from_batch(catch, (*base, records), (first, last));
            if worn && catch.count > before {
                return false;
            }
        }
        true
    }

    /// Hands out records that nobody has had. A batch of the log is not cut; the records are kept
    /// in parts of about `max.poll.records` (`acquireNewBatchRecords`, `createBatches`).
    fn acquire_new(&mut self, catch: &mut Catch<'_>, offered: &Offered<'_>, last: Offset) {
        let base = offered.batches.iter().map(|(first, _)| *first).find(|b| *b >= self.end);
        let inside = offered.batches.iter().any(|(b, l)| *b < self.end && *l >= self.end);
        let first = if inside { self.end } else { base.unwrap_or(self.end) };
        if first > last {
            return;
        }
        let wanted = first + (catch.max_records - catch.count - 1);
        let whole = offered.batches.iter().find(|(b, l)| (*b..=*l).contains(&wanted));
        let last = if wanted >= last { last } else { whole.map_or(wanted, |(_, l)| *l) };
        if self.batches.is_empty() {
            self.start = self.start.max(first);
        }
        let allowed = if catch.limits.exact { catch.max_records - catch.count } else { u64::MAX };
        let part = catch.limits.max_records.max(1);
        let mut begins = first;
        for (next, _) in offered.batches.iter().filter(|(b, _)| *b > first && *b <= last) {
            if !catch.limits.exact && next.since(begins) >= part {
                self.add_batch(catch, begins, (*next, allowed));
                begins = *next;
            }
        }
        self.add_batch(catch, begins, (last + 1, allowed));
        self.end = last + 1;
    }

    fn add_batch(&mut self, catch: &mut Catch<'_>, first: Offset, (end, allowed): (Offset, u64)) {
        let mut records: Vec<InFlight> = (first.0..end.0).map(|_| InFlight::free(0)).collect();
        let taken = records.iter_mut().zip(first.0..);
        for (record, offset) in taken.take(usize::try_from(allowed).unwrap_or(usize::MAX)) {
            catch.take(Offset(offset), record);
        }
        self.batches.insert(first, records);
    }
}

/// Hands out what is free in one batch. The more often a record was handed out, the fewer go with
/// it; one that has its last chance goes alone (`acquireSubsetBatchRecords`).
fn take_from_batch(
    catch: &mut Catch<'_>,
    (base, records): (Offset, &mut [InFlight]),
    (first, last): (Offset, Offset),
) {
    let limit = catch.limits.delivery_limit;
    let throttle = throttled_from(limit);
    let size = records.len();
    let mut taken = 0;
    let mut at_most = usize::MAX;
    for (record, offset) in records.iter_mut().zip(base.0..) {
        let inside = (first.0..=last.0).contains(&offset);
        if !inside || !record.is_available() {
            continue;
        }
        let is_last_chance = limit > 2 && record.delivery_count + 1 == limit;
        if is_last_chance && taken > 0 {
            return;
        }
        if record.delivery_count >= throttle && at_most == usize::MAX {
            at_most = (size >> (record.delivery_count - throttle + 1).min(63)).max(1);
        }
        catch.take(Offset(offset), record);
        taken += 1;
        let full = catch.limits.exact && catch.is_full();
        if is_last_chance || full || taken >= at_most {
            return;
        }
    }
}
