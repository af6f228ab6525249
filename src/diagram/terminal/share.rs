//! `kafka-share-groups.sh --describe`, with `--members` and `--state`.

use std::collections::BTreeMap;

use super::columns::{Column, spaced};
use super::{At, Begins, CommandView, coordinator, dash, given, no_coordinator};
use crate::sim::ids::{Machine, TopicPartition};
use crate::sim::snapshot::{GroupView, ShareView};

const TOOL: &str = "kafka-share-groups.sh";

const OFFSETS: [Column; 5] = [
    ("GROUP", Some(15)),
    ("TOPIC", Some(15)),
    ("PARTITION", Some(10)),
    ("START-OFFSET", Some(13)),
    ("LAG", None),
];

const MEMBERS: [Column; 6] = [
    ("GROUP", Some(15)),
    ("CONSUMER-ID", Some(15)),
    ("HOST", Some(15)),
    ("CLIENT-ID", Some(15)),
    ("#PARTITIONS", Some(12)),
    ("ASSIGNMENT", None),
];

const STATE: [Column; 4] =
    [("GROUP", Some(15)), ("COORDINATOR (ID)", Some(25)), ("STATE", Some(15)), ("#MEMBERS", None)];

/// Three for a group.
pub(super) fn commands(at: &At, (name, group): (&str, &GroupView)) -> Vec<CommandView> {
    let asked = format!("--describe --group {name}");
    let command = |more: &str, output: String| at.command(TOOL, &format!("{asked}{more}"), output);
    let Some(id) = coordinator(at.snapshot, group) else {
        let error = || no_coordinator("share");
        return ["", " --members", " --state"].map(|more| command(more, error())).into();
    };
    let state = vec![
        name.to_owned(),
        format!("{}:9092  ({id})", Machine::Broker(id)),
        group.state.clone().unwrap_or_else(dash),
        group.members.len().to_string(),
    ];
    vec![
        command("", offsets(at, (name, group))),
        command(" --members", members(at, (name, group))),
        command(" --state", spaced(&STATE, &[state])),
    ]
}

fn offsets(at: &At, (name, group): (&str, &GroupView)) -> String {
    let rows = group.share.iter().map(|(partition, share)| {
        vec![
            name.to_owned(),
            partition.topic.clone(),
            partition.partition.to_string(),
            share.start_offset.to_string(),
            lag(at, partition, share).map_or_else(dash, |lag| lag.to_string()),
        ]
    });
    spaced(&OFFSETS, &rows.collect::<Vec<_>>())
}

/// The records that are not settled yet (KIP-1226).
fn lag(at: &At, partition: &TopicPartition, share: &ShareView) -> Option<u64> {
    let end = at.snapshot.partitions.get(partition)?.high_watermark?;
    let is_settled = |state: &str| matches!(state, "acknowledged" | "archived");
    let settled = share
        .records
        .iter()
        .filter(|(offset, record)| **offset >= share.start_offset && is_settled(&record.state));
    Some(end.since(share.start_offset).saturating_sub(settled.count() as u64))
}

fn members(at: &At, (name, group): (&str, &GroupView)) -> String {
    let rows = group.members.iter().map(|member| {
        let owned = given(group, member);
        vec![
            name.to_owned(),
            (at.unknown.member_id)(member, Begins::AtRandom),
            (at.unknown.host)(member),
            member.clone(),
            owned.len().to_string(),
            assignment(owned),
        ]
    });
    spaced(&MEMBERS, &rows.collect::<Vec<_>>())
}

/// `orders:0,1,2`.
fn assignment(partitions: &[TopicPartition]) -> String {
    let mut topics: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for partition in partitions {
        topics.entry(&partition.topic).or_default().push(partition.partition.to_string());
    }
    let topics =
        topics.into_iter().map(|(topic, numbers)| format!("{topic}:{}", numbers.join(",")));
    topics.collect::<Vec<_>>().join(";")
}
