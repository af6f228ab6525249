//! Groups and transactions as tables.

use super::{Shape, none};
use crate::sim::snapshot::{GroupView, Snapshot};

/// One row for each group.
pub(super) fn groups(snapshot: &Snapshot) -> Shape {
    let rows = snapshot.groups.iter().map(|(name, view)| {
        let of = |text: Option<&dyn ToString>| text.map_or_else(none, ToString::to_string);
        let members = if view.members.is_empty() { none() } else { view.members.join(", ") };
        let values = vec![
            view.state.clone().unwrap_or_else(none),
            of(view.epoch.as_ref().map(|it| it as _)),
            view.assignor.clone().unwrap_or_else(none),
            view.coordinator.map_or_else(none, |id| format!("broker-{id}")),
            members,
            of(view.total_lag.as_ref().map(|it| it as _)),
        ];
        (name.clone(), values)
    });
    Shape {
        subject: "group".to_owned(),
        columns: &[
            ("state", false, None),
            ("epoch", true, None),
            ("assignor", false, Some("none")),
            ("coordinator", false, None),
            ("members", false, None),
            ("lag", true, Some("none")),
        ],
        rows: rows.collect(),
    }
}

/// What each share group has in play, partition by partition.
pub(super) fn shares(snapshot: &Snapshot) -> Vec<Shape> {
    let groups = snapshot.groups.iter().filter(|(_, view)| !view.share.is_empty());
    groups.map(|(name, view)| shared(name, view)).collect()
}

fn shared(name: &str, view: &GroupView) -> Shape {
    let rows = view.share.iter().map(|(partition, share)| {
        let count = |state: &str| {
            share.records.values().filter(|record| record.state == state).count().to_string()
        };
        let mut values = vec![share.start_offset.to_string()];
        values.extend(["available", "acquired", "acknowledged", "archived"].map(count));
        (partition.to_string(), values)
    });
    Shape {
        subject: format!("{name} in"),
        columns: &[
            ("start offset", true, None),
            ("available", true, None),
            ("acquired", true, None),
            ("acknowledged", true, Some("0")),
            ("archived", true, Some("0")),
        ],
        rows: rows.collect(),
    }
}

/// One row for each transactional id.
pub(super) fn transactions(snapshot: &Snapshot) -> Shape {
    let rows = snapshot.transactions.iter().map(|(id, view)| {
        let names: Vec<String> = view.partitions.iter().map(ToString::to_string).collect();
        let partitions = if names.is_empty() { none() } else { names.join(", ") };
        let values = vec![view.state.clone(), view.producer_epoch.to_string(), partitions];
        (id.clone(), values)
    });
    Shape {
        subject: "transaction".to_owned(),
        columns: &[
            ("state", false, None),
            ("producer epoch", true, None),
            ("partitions", false, Some("none")),
        ],
        rows: rows.collect(),
    }
}
