//! What a partition has committed: the batches below the furthest high watermark of its leaders, in
//! order, as long as the logs retain them.
//!
//! A committed batch never changes and never goes, but by retention, `DeleteRecords`, compaction or
//! an unclean election; and a producer's sequence numbers follow one another in it.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use crate::sim::ids::{LeaderEpoch, Offset};
use crate::sim::log::Log;
use crate::sim::producer_state::sequence_after;
use crate::sim::record::{Batch, StoredBatch};

/// What is remembered of a committed batch.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Kept {
    base: Offset,
    end: Offset,
    epoch: LeaderEpoch,
    batch: Arc<Batch>,
}

impl Kept {
    fn of(stored: &StoredBatch) -> Kept {
        Kept {
            base: stored.base_offset,
            end: stored.end_offset(),
            epoch: stored.leader_epoch,
            batch: Arc::clone(&stored.batch),
        }
    }

    /// Whether a log holds this very batch; the cleaner may have taken records out of it.
    fn is(&self, stored: &StoredBatch, cleaning: Cleaning) -> bool {
        let same_place = self.base == stored.base_offset && self.epoch == stored.leader_epoch;
        same_place
            && (Arc::ptr_eq(&self.batch, &stored.batch)
                || self.batch == stored.batch
                || (cleaning == Cleaning::Compacts && self.end == stored.end_offset()))
    }
}

/// Whether a topic's logs are compacted (`cleanup.policy`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cleaning {
    /// Batches may lose records, and go.
    Compacts,
    /// Batches stay whole.
    Deletes,
}

/// The end of a producer's sequence in a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sequence {
    epoch: i16,
    last: i32,
}

/// A partition's committed batches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Committed {
    batches: VecDeque<Kept>,
    end: Offset,
    sequences: BTreeMap<i64, Sequence>,
}

impl Committed {
    /// The offset after the last committed record.
    #[must_use]
    pub fn end(&self) -> Offset {
        self.end
    }

    /// A leader's high watermark has risen: everything below it is committed.
    ///
    /// # Errors
    /// A producer's record that is there twice or out of order.
    pub fn extend(&mut self, log: &Log, high_watermark: Offset) -> Result<(), String> {
        if high_watermark <= self.end {
            return Ok(());
        }
        for stored in log.batches_from(self.end) {
            if stored.base_offset >= high_watermark {
                break;
            }
            self.follow_sequence(stored)?;
            self.batches.push_back(Kept::of(stored));
        }
        self.end = high_watermark;
        Ok(())
    }

    /// Records below the start of a leader's log have been deleted.
    pub fn forget_below(&mut self, start: Offset) {
        while self.batches.front().is_some_and(|kept| kept.end <= start) {
            self.batches.pop_front();
        }
        self.end = self.end.max(start);
    }

    /// An unclean election has put an end to what is committed from `offset` on.
    pub fn cut(&mut self, offset: Offset) {
        if offset >= self.end {
            return;
        }
        self.end = offset;
        while self.batches.back().is_some_and(|kept| kept.end > offset) {
            self.batches.pop_back();
        }
        self.sequences.clear();
        let kept = std::mem::take(&mut self.batches);
        for one in &kept {
            // What was in order stays in order when its end is cut.
            let _ = self.follow(&one.batch);
        }
        self.batches = kept;
    }

    /// How far a log agrees with what is committed, beginning at an offset up to which it is known
    /// to.
    #[must_use]
    pub fn agrees_up_to(&self, log: &Log, from: Offset, cleaning: Cleaning) -> Offset {
        let from = from.max(log.start_offset());
        let to = self.end.min(log.end_offset());
        if from >= to {
            return from.min(to);
        }
        let first = self.batches.partition_point(|kept| kept.end <= from);
        let mut kept = self.batches.range(first..).peekable();
        let mut agreed = from;
        for stored in log.batches_from(from).take_while(|stored| stored.base_offset < to) {
            if cleaning == Cleaning::Compacts {
                while kept.peek().is_some_and(|kept| kept.end <= stored.base_offset) {
                    kept.next();
                }
            }
            match kept.peek() {
                // Retention has taken what this log still has.
                Some(kept) if agreed == from && stored.end_offset() <= kept.base => {}
                Some(one) if one.is(stored, cleaning) => {
                    agreed = one.end;
                    kept.next();
                }
                Some(_) => return agreed,
                None => return to,
            }
        }
        if cleaning == Cleaning::Compacts { to } else { agreed.min(to) }
    }

    fn follow_sequence(&mut self, stored: &StoredBatch) -> Result<(), String> {
        self.follow(&stored.batch).map_err(|why| {
            let (base, end) = (stored.base_offset, stored.end_offset());
            format!("offsets {base} to {end}: {why}")
        })
    }

    fn follow(&mut self, batch: &Arc<Batch>) -> Result<(), String> {
        let Some(stamp) = batch.stamp.filter(|stamp| stamp.base_sequence >= 0) else {
            return Ok(());
        };
        let last = sequence_after(stamp.base_sequence, batch.offset_count() - 1);
        let Some(known) = self.sequences.get_mut(&stamp.producer_id) else {
            let first = Sequence { epoch: stamp.epoch, last };
            self.sequences.insert(stamp.producer_id, first);
            return Ok(());
        };
        let due = match stamp.epoch.cmp(&known.epoch) {
            std::cmp::Ordering::Less => None,
            std::cmp::Ordering::Equal => Some(sequence_after(known.last, 1)),
            std::cmp::Ordering::Greater => Some(0),
        };
        if due != Some(stamp.base_sequence) {
            return Err(format!(
                "producer {} epoch {} sequence {} after epoch {} sequence {}",
                stamp.producer_id, stamp.epoch, stamp.base_sequence, known.epoch, known.last
            ));
        }
        (known.epoch, known.last) = (stamp.epoch, last);
        Ok(())
    }
}
