//! The records of a log as they can be observed: data or marker, and what became of their
//! transaction.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::sim::broker::Replica;
use crate::sim::ids::Offset;
use crate::sim::log::Standing;
use crate::sim::record::{BatchKind, Outcome, Record, StoredBatch};
use crate::sim::snapshot::{RecordKind, RecordView, TransactionMark};

/// The records of a replica's own log from an offset on.
pub(super) fn records(replica: &Replica, from: Offset) -> BTreeMap<Offset, RecordView> {
    let start = from.max(replica.log.start_offset());
    replica
        .log
        .records_from(start)
        .map(|(offset, record, stored)| (offset, view(replica, (offset, record), stored)))
        .collect()
}

/// The record at an offset, if there is one.
pub(super) fn record_at(replica: &Replica, offset: Offset) -> Option<(Offset, RecordView)> {
    if offset < replica.log.start_offset() {
        return None;
    }
    let (found, record, stored) = replica.log.records_from(offset).next()?;
    (found == offset).then(|| (found, view(replica, (found, record), stored)))
}

fn view(
    replica: &Replica,
    (offset, record): (Offset, &Record),
    stored: &StoredBatch,
) -> RecordView {
    let plain = RecordView {
        timestamp: record.timestamp,
        leader_epoch: stored.leader_epoch,
        ..RecordView::default()
    };
    let text = |text: &Option<Arc<str>>| Some(text.as_deref().map(str::to_owned));
    match stored.batch.kind {
        BatchKind::Marker { outcome: Outcome::Commit, .. } => {
            RecordView { kind: RecordKind::Commit, ..plain }
        }
        BatchKind::Marker { outcome: Outcome::Abort, .. } => {
            RecordView { kind: RecordKind::Abort, ..plain }
        }
        BatchKind::Plain | BatchKind::Transactional => RecordView {
            key: text(&record.key),
            value: text(&record.value),
            txn: mark(replica, offset, stored),
            ..plain
        },
    }
}

/// What became of a record's transaction.
fn mark(replica: &Replica, offset: Offset, stored: &StoredBatch) -> TransactionMark {
    let Some(stamp) = stored.batch.stamp else { return TransactionMark::None };
    if stored.batch.kind != BatchKind::Transactional {
        return TransactionMark::None;
    }
    match replica.producers.standing(stamp.producer_id, offset) {
        Standing::Open => TransactionMark::Open,
        Standing::Ended(Outcome::Commit) => TransactionMark::Committed,
        Standing::Ended(Outcome::Abort) => TransactionMark::Aborted,
    }
}
