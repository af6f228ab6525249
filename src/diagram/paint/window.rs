//! Which offsets of a partition one picture shows: all from 0 on if they fit, so that a record
//! stays where it is when those before it go; otherwise the end.

use super::super::layout::{Cells, GAP, LanePlace};
use crate::sim::snapshot::PartitionView;

/// The offsets that all replicas of a partition show.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Window {
    /// The first offset that may have a cell.
    pub first: u64,
    /// The first offset behind the last cell.
    pub end: u64,
    /// Whether something before the first is not shown or no longer there.
    pub has_gap: bool,
    /// A cell's width.
    pub cell: f64,
}

impl Window {
    /// The window for a partition as it is now.
    pub fn of(view: Option<&PartitionView>, cells: &Cells) -> Window {
        let replicas = || view.into_iter().flat_map(|view| view.replicas.values());
        let start = replicas().map(|one| one.log_start_offset.0).min().unwrap_or(0);
        let end = replicas().map(|one| one.log_end_offset.0).max().unwrap_or(0);
        let (first, has_gap, capacity) = if end <= cells.capacity {
            (0, false, cells.capacity)
        } else {
            let first = start.max(end.saturating_sub(cells.capacity_with_gap));
            (first, first > 0, cells.capacity_with_gap)
        };
        Window { first, end: first + capacity, has_gap, cell: cells.width }
    }

    /// Where `offset` begins on a lane; offsets outside stand at the window's edges.
    pub fn x(&self, place: &LanePlace, offset: u64) -> f64 {
        let lead = if self.has_gap { GAP } else { 0.0 };
        let cells = offset.min(self.end).saturating_sub(self.first);
        let before = self.has_gap && offset < self.first;
        place.lane.x + if before { 4.0 } else { lead + cells as f64 * self.cell }
    }

    /// Whether the offset has a cell.
    pub fn shows(&self, offset: u64) -> bool {
        (self.first..self.end).contains(&offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::ids::{BrokerId, Offset};
    use crate::sim::snapshot::ReplicaView;

    fn view(start: u64, end: u64) -> PartitionView {
        let replica = ReplicaView {
            log_start_offset: Offset(start),
            log_end_offset: Offset(end),
            ..ReplicaView::default()
        };
        PartitionView { replicas: [(BrokerId(1), replica)].into(), ..PartitionView::default() }
    }

    #[test]
    fn a_long_log_shows_its_end() {
        let cells = Cells { width: 22.0, has_labels: false, capacity: 6, capacity_with_gap: 5 };
        let first = |start, end| {
            let window = Window::of(Some(&view(start, end)), &cells);
            (window.first, window.has_gap)
        };
        assert_eq!(first(0, 6), (0, false));
        assert_eq!(first(3, 6), (0, false), "what is deleted keeps its place");
        assert_eq!(first(0, 7), (2, true));
        assert_eq!(first(41, 44), (41, true));
        assert_eq!(first(41, 60), (55, true));
    }
}
