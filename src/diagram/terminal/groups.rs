//! `kafka-consumer-groups.sh --describe`, with `--members` and `--state`.

use super::columns::{Column, spaced};
use super::{At, Begins, CommandView, coordinator, dash, given, no_coordinator};
use crate::sim::ids::{Machine, TopicPartition};
use crate::sim::snapshot::GroupView;
use crate::sim::world::Protocol;

const TOOL: &str = "kafka-consumer-groups.sh";

const HIGH_WATERMARK: &str = "What this tool calls LOG-END-OFFSET is the high watermark: the end \
                              of what a consumer may read.";

const OFFSETS: [Column; 9] = [
    ("GROUP", Some(15)),
    ("TOPIC", Some(15)),
    ("PARTITION", Some(10)),
    ("CURRENT-OFFSET", Some(15)),
    ("LOG-END-OFFSET", Some(15)),
    ("LAG", Some(15)),
    ("CONSUMER-ID", Some(15)),
    ("HOST", Some(15)),
    ("CLIENT-ID", None),
];

/// The empty column at the end gives the space that the tool prints there.
const MEMBERS: [Column; 6] = [
    ("GROUP", Some(15)),
    ("CONSUMER-ID", Some(15)),
    ("HOST", Some(15)),
    ("CLIENT-ID", Some(15)),
    ("#PARTITIONS", Some(15)),
    ("", None),
];

const STATE: [Column; 5] = [
    ("GROUP", Some(15)),
    ("COORDINATOR (ID)", Some(25)),
    ("ASSIGNMENT-STRATEGY", Some(20)),
    ("STATE", Some(20)),
    ("#MEMBERS", None),
];

/// Three for a group.
pub(super) fn commands(
    at: &At,
    (name, group): (&str, &GroupView),
    protocol: Protocol,
) -> Vec<CommandView> {
    let asked = format!("--describe --group {name}");
    let command = |more: &str, output: String| at.command(TOOL, &format!("{asked}{more}"), output);
    if coordinator(at.snapshot, group).is_none() {
        let error = || no_coordinator("consumer");
        return ["", " --members", " --state"].map(|more| command(more, error())).into();
    }
    let begins = if protocol == Protocol::Classic { Begins::WithName } else { Begins::AtRandom };
    let offsets = offsets(at, (name, group), begins);
    let note = offsets.contains("LOG-END-OFFSET").then_some(HIGH_WATERMARK);
    vec![
        CommandView { note, ..command("", offsets) },
        command(" --members", members(at, (name, group), begins)),
        command(" --state", state(at, (name, group))),
    ]
}

/// A table, after what the tool says first about a group without members.
fn with_warning(name: &str, group: &GroupView, table: Option<String>) -> String {
    let warning =
        group.members.is_empty().then(|| format!("Consumer group '{name}' has no active members."));
    warning.into_iter().chain(table).collect::<Vec<_>>().join("\n\n")
}

/// One line for each partition that the group owns or has committed.
fn offsets(at: &At, (name, group): (&str, &GroupView), begins: Begins) -> String {
    let owner = |partition: &TopicPartition| {
        let owns = |member: &&String| given(group, member).contains(partition);
        group.members.iter().find(owns)
    };
    let mut rows = Vec::new();
    for (partition, view) in &at.snapshot.partitions {
        let (owner, committed) = (owner(partition), group.committed.get(partition));
        if owner.is_none() && committed.is_none() {
            continue;
        }
        rows.push(vec![
            name.to_owned(),
            partition.topic.clone(),
            partition.partition.to_string(),
            committed.map_or_else(dash, ToString::to_string),
            view.high_watermark.map_or_else(dash, |offset| offset.to_string()),
            group.lag.get(partition).map_or_else(dash, ToString::to_string),
            owner.map_or_else(dash, |owner| (at.unknown.member_id)(owner, begins)),
            owner.map_or_else(dash, |owner| (at.unknown.host)(owner)),
            owner.map_or_else(dash, Clone::clone),
        ]);
    }
    let table = (!rows.is_empty()).then(|| spaced(&OFFSETS, &rows));
    with_warning(name, group, table)
}

fn members(at: &At, (name, group): (&str, &GroupView), begins: Begins) -> String {
    let rows = group.members.iter().map(|member| {
        let owned = given(group, member).len();
        vec![
            name.to_owned(),
            (at.unknown.member_id)(member, begins),
            (at.unknown.host)(member),
            member.clone(),
            owned.to_string(),
            String::new(),
        ]
    });
    with_warning(name, group, Some(spaced(&MEMBERS, &rows.collect::<Vec<_>>())))
}

fn state(at: &At, (name, group): (&str, &GroupView)) -> String {
    let broker = coordinator(at.snapshot, group)
        .map_or_else(dash, |id| format!("{}:9092  ({id})", Machine::Broker(id)));
    let assignor = group.assignor.clone().filter(|_| !group.members.is_empty());
    let row = vec![
        name.to_owned(),
        broker,
        assignor.unwrap_or_else(dash),
        group.state.clone().unwrap_or_else(dash),
        group.members.len().to_string(),
    ];
    with_warning(name, group, Some(spaced(&STATE, &[row])))
}
