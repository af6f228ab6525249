//! A scenario's thumbnail: its last state in cells, one row per replica, one square per offset.

use crate::scenario::run::Run;
use crate::sim::snapshot::{PartitionView, ProcessState, ReplicaView, Snapshot};

/// The most rows and columns.
const MOST: usize = 4;
/// So many columns at least, so that an empty log has a shape.
const LEAST: usize = 3;

/// A thumbnail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glyph {
    /// From top to bottom, at most four.
    pub rows: Vec<GlyphRow>,
}

/// One replica.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GlyphRow {
    /// From left to right, at most four.
    pub squares: Vec<Square>,
    /// Before which square the high watermark stands.
    pub high_watermark: Option<usize>,
}

/// What an offset is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Square {
    /// Below the high watermark.
    Committed,
    /// Written, not committed.
    Pending,
    /// Not what the leader has there.
    Diverged,
    /// On a machine that is not there.
    Offline,
    /// Nothing there.
    Free,
}

/// The thumbnail of a run's last frame.
#[must_use]
pub fn glyph(run: &Run) -> Glyph {
    let Some(frame) = run.frames.last() else { return Glyph { rows: Vec::new() } };
    let snapshot = &frame.snapshot;
    let partitions = snapshot.partitions.iter().filter(|(name, _)| !name.is_internal());
    let replicas: Vec<(&PartitionView, u32, &ReplicaView)> = partitions
        .flat_map(|(_, view)| view.replicas.iter().map(move |(id, one)| (view, id.0, one)))
        .take(MOST)
        .collect();
    let ends = replicas.iter().map(|(_, _, one)| one.log_end_offset.0);
    let end = ends.max().unwrap_or(0);
    let columns = usize::try_from(end).unwrap_or(MOST).saturating_add(1).clamp(LEAST, MOST);
    let first = end.saturating_sub(columns as u64 - 1);
    let rows = replicas
        .into_iter()
        .map(|(view, id, one)| row(snapshot, (view, id, one), first, columns))
        .collect();
    Glyph { rows }
}

fn row(
    snapshot: &Snapshot,
    (partition, id, replica): (&PartitionView, u32, &ReplicaView),
    first: u64,
    columns: usize,
) -> GlyphRow {
    let is_off = snapshot
        .brokers
        .iter()
        .any(|(broker, view)| broker.0 == id && view.process == ProcessState::Stopped);
    let squares = (first..first + columns as u64).map(|offset| {
        let own = replica.records.iter().find(|(at, _)| at.0 == offset);
        let leaders = partition.records.iter().find(|(at, _)| at.0 == offset);
        let epochs =
            own.zip(leaders).map(|(own, other)| (own.1.leader_epoch, other.1.leader_epoch));
        if offset >= replica.log_end_offset.0 || offset < replica.log_start_offset.0 {
            Square::Free
        } else if is_off {
            Square::Offline
        } else if epochs.is_some_and(|(own, other)| own != other) {
            Square::Diverged
        } else if offset < replica.high_watermark.0 {
            Square::Committed
        } else {
            Square::Pending
        }
    });
    let mark = replica.high_watermark.0.saturating_sub(first).min(columns as u64);
    GlyphRow {
        squares: squares.collect(),
        high_watermark: (!is_off).then(|| usize::try_from(mark).unwrap_or(columns)),
    }
}
