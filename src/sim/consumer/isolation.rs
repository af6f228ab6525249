//! Which of the fetched records an application sees: no markers, and with
//! `isolation.level=read_committed` nothing of aborted transactions.
//!
//! Follows `CompletedFetch.nextFetchedRecord`.

use std::collections::{BTreeSet, VecDeque};

use crate::sim::ids::{LeaderEpoch, Offset};
use crate::sim::message::FetchedData;
use crate::sim::record::{BatchKind, Outcome, Record};

/// The records at and above an offset that an application sees. The answer names aborted
/// transactions only to who asked for committed records.
#[must_use]
pub(super) fn visible(data: &FetchedData, from: Offset) -> VecDeque<(Offset, LeaderEpoch, Record)> {
    let mut records = VecDeque::new();
    let mut ahead = data.aborted.clone();
    ahead.sort_by_key(|aborted| aborted.first);
    let mut ahead = ahead.into_iter().peekable();
    let mut aborted: BTreeSet<i64> = BTreeSet::new();
    for stored in &data.batches {
        while let Some(next) = ahead.next_if(|next| next.first < stored.end_offset()) {
            aborted.insert(next.producer_id);
        }
        let producer = stored.batch.stamp.map(|stamp| stamp.producer_id);
        if let BatchKind::Marker { outcome, .. } = stored.batch.kind {
            if outcome == Outcome::Abort
                && let Some(producer) = producer
            {
                aborted.remove(&producer);
            }
            continue;
        }
        let is_hidden = stored.batch.kind == BatchKind::Transactional
            && producer.is_some_and(|producer| aborted.contains(&producer));
        if is_hidden {
            continue;
        }
        for (delta, record) in &stored.batch.records {
            let offset = stored.base_offset + u64::from(*delta);
            if offset >= from {
                records.push_back((offset, stored.leader_epoch, record.clone()));
            }
        }
    }
    records
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::sim::log::Aborted;
    use crate::sim::record::{Batch, ProducerStamp, StoredBatch};

    fn stored(base: u64, producer: Option<i64>, kind: BatchKind) -> StoredBatch {
        let mut batch = match kind {
            BatchKind::Marker { outcome, .. } => Batch::marker((0, 1), outcome, 0, 0),
            _ => Batch::of(vec![Record::blank()]),
        };
        batch.stamp =
            producer.map(|producer_id| ProducerStamp { producer_id, epoch: 0, base_sequence: 0 });
        batch.kind = kind;
        StoredBatch {
            base_offset: Offset(base),
            leader_epoch: LeaderEpoch(0),
            batch: Arc::new(batch),
        }
    }

    fn seen(batches: Vec<StoredBatch>, aborted: &[(i64, u64)]) -> Vec<u64> {
        let data = FetchedData {
            batches,
            high_watermark: Offset(9),
            log_start: Offset(0),
            diverging: None,
            preferred: None,
            aborted: aborted
                .iter()
                .map(|(producer_id, first)| Aborted {
                    producer_id: *producer_id,
                    first: Offset(*first),
                    last: Offset(9),
                    last_stable: Offset(9),
                })
                .collect(),
        };
        visible(&data, Offset(0)).into_iter().map(|(offset, ..)| offset.0).collect()
    }

    /// `replication.md`, section 11: 0 of p1, 1 plain, 2 of p2, 3 ABORT p1, 4 COMMIT p2.
    #[test]
    fn a_reader_of_committed_records_drops_what_was_aborted() {
        let marker = |outcome| BatchKind::Marker { outcome, coordinator_epoch: 0 };
        let all = || {
            vec![
                stored(0, Some(1), BatchKind::Transactional),
                stored(1, None, BatchKind::Plain),
                stored(2, Some(2), BatchKind::Transactional),
                stored(3, Some(1), marker(Outcome::Abort)),
                stored(4, Some(2), marker(Outcome::Commit)),
                stored(5, Some(1), BatchKind::Transactional),
            ]
        };
        assert_eq!(seen(all(), &[(1, 0)]), [1, 2, 5], "after its marker the producer counts again");
        assert_eq!(seen(all(), &[]), [0, 1, 2, 5], "others see all but markers");
    }
}
