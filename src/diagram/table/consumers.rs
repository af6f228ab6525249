//! Consumers as a table: a row for each partition that one reads or has been given.

use super::{Shape, none};
use crate::diagram::facts::{assigned, held};
use crate::sim::ids::TopicPartition;
use crate::sim::snapshot::{ConsumerState, ConsumerView, Snapshot};

/// What stands where a partition stays with who reads it.
const STAYS: &str = "stays";

/// What stands where a member knows its group's generation or epoch.
const OF_GROUP: &str = "the group's";

/// All consumers, a row for each of their partitions.
pub(super) fn consumers(snapshot: &Snapshot) -> Shape {
    let mut rows = Vec::new();
    for (name, consumer) in &snapshot.consumers {
        let given = assigned(snapshot, &consumer.group, name).unwrap_or_default();
        let to_come = given.iter().filter(|one| !consumer.assignment.contains(one));
        let partitions: Vec<&TopicPartition> = consumer.assignment.iter().chain(to_come).collect();
        if partitions.is_empty() {
            rows.push(row(snapshot, (name, consumer), None));
        }
        let own = partitions.into_iter();
        rows.extend(own.map(|partition| row(snapshot, (name, consumer), Some(partition))));
    }
    Shape {
        subject: "consumer".to_owned(),
        columns: &[
            ("reads", false, None),
            ("position", true, None),
            ("committed", true, None),
            ("lag", true, None),
            ("changes hands", false, Some(STAYS)),
            ("holds", false, Some("none")),
            ("epoch", true, Some(OF_GROUP)),
            ("state", false, Some("stable")),
        ],
        rows,
    }
}

fn row(
    snapshot: &Snapshot,
    (name, consumer): (&str, &ConsumerView),
    partition: Option<&TopicPartition>,
) -> (String, Vec<String>) {
    let group = snapshot.groups.get(&consumer.group);
    let of = |text: Option<&dyn ToString>| text.map_or_else(none, ToString::to_string);
    let own = held(snapshot, name);
    let own = own.iter().filter(|(of, _)| Some(of) == partition);
    let own: Vec<String> = own.map(|(_, offset)| offset.to_string()).collect();
    let moves = match partition {
        Some(it) if consumer.revoking.contains(it) => "gives it up",
        Some(it) if !consumer.assignment.contains(it) => "assigned, not read",
        _ => STAYS,
    };
    let is_member = !matches!(consumer.state, ConsumerState::Stopped | ConsumerState::Left);
    let known = group.and_then(|group| group.epoch);
    let epoch =
        (is_member && known.is_some_and(|known| known != consumer.epoch)).then_some(consumer.epoch);
    let values = vec![
        of(partition.map(|it| it as _)),
        of(partition.and_then(|it| consumer.position.get(it)).map(|it| it as _)),
        of(partition.and_then(|it| group?.committed.get(it)).map(|it| it as _)),
        of(partition.and_then(|it| group?.lag.get(it)).map(|it| it as _)),
        moves.to_owned(),
        if own.is_empty() { none() } else { own.join(", ") },
        epoch.map_or(OF_GROUP.to_owned(), |epoch| epoch.to_string()),
        consumer.state.word().to_owned(),
    ];
    (name.to_owned(), values)
}
