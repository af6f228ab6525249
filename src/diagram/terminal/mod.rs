//! What Kafka's own tools would print at one instant, in their own layout, column for column. What
//! differs from run to run (ids that Kafka draws at random, addresses) is an ellipsis.

mod columns;
mod groups;
mod share;
mod topics;
mod transactions;

use serde::Serialize;

use super::facts::owners;
use crate::sim::ids::{BrokerId, Machine, TopicPartition};
use crate::sim::snapshot::{GroupView, ProcessState, Snapshot};
use crate::sim::world::{Protocol, World};

/// One command with its output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CommandView {
    /// The tool: `kafka-topics.sh`.
    pub tool: &'static str,
    /// Its arguments.
    pub arguments: String,
    /// What it prints.
    pub output: String,
    /// What a reader must know to read it.
    pub note: Option<&'static str>,
}

/// What Kafka draws at random or takes from the network, and no simulator can know.
#[derive(Clone, Copy, Debug)]
pub struct Unknown {
    /// A topic's id, by its name.
    pub topic_id: fn(&str) -> String,
    /// A member's id, by its client's name, and whether the client's name begins it.
    pub member_id: fn(&str, Begins) -> String,
    /// Where a client's connection comes from.
    pub host: fn(&str) -> String,
}

/// How a member's id begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begins {
    /// With the client's name: the classic protocol.
    WithName,
    /// At random: the newer ones.
    AtRandom,
}

impl Default for Unknown {
    /// Ellipses.
    fn default() -> Unknown {
        Unknown {
            topic_id: |_| "…".to_owned(),
            member_id: |name, begins| match begins {
                Begins::WithName => format!("{name}-…"),
                Begins::AtRandom => "…".to_owned(),
            },
            host: |_| "/…".to_owned(),
        }
    }
}

/// The commands worth running at this instant: for each topic, group and transactional id.
#[must_use]
pub fn commands(world: &World, snapshot: &Snapshot, unknown: &Unknown) -> Vec<CommandView> {
    let Some(server) = snapshot.brokers.keys().find(|id| answers(snapshot, **id)) else {
        return Vec::new();
    };
    let server = format!("--bootstrap-server {}:9092", Machine::Broker(*server));
    let at = At { snapshot, server: &server, unknown };
    let mut commands = topics::commands(&at);
    for (name, group) in &snapshot.groups {
        let declared = world.groups.iter().find(|spec| spec.name == *name);
        let protocol = declared.map_or(Protocol::Classic, |spec| spec.protocol);
        commands.extend(match protocol {
            Protocol::Share => share::commands(&at, (name, group)),
            Protocol::Classic | Protocol::Consumer => {
                groups::commands(&at, (name, group), protocol)
            }
        });
    }
    commands.extend(transactions::commands(&at));
    commands
}

/// Whom and what the tools ask.
struct At<'a> {
    snapshot: &'a Snapshot,
    /// `--bootstrap-server broker-1:9092`.
    server: &'a str,
    unknown: &'a Unknown,
}

impl At<'_> {
    fn command(&self, tool: &'static str, arguments: &str, output: String) -> CommandView {
        let arguments = format!("{} {arguments}", self.server);
        CommandView { tool, arguments, output, note: None }
    }
}

/// Whether a broker's process answers.
fn answers(snapshot: &Snapshot, id: BrokerId) -> bool {
    let broker = snapshot.brokers.get(&id);
    broker.is_some_and(|it| matches!(it.process, ProcessState::Up | ProcessState::ShuttingDown))
}

/// The broker that coordinates a group, if it answers.
fn coordinator(snapshot: &Snapshot, group: &GroupView) -> Option<BrokerId> {
    group.coordinator.filter(|id| answers(snapshot, *id))
}

/// What a member has been given, as its coordinator tells; nothing while a classic group rebalances
/// (`ClassicGroupMember.describeNoMetadata`).
fn given<'a>(group: &'a GroupView, member: &str) -> &'a [TopicPartition] {
    owners(group).and_then(|owners| owners.get(member)).map_or(&[], Vec::as_slice)
}

/// What the tools for groups print while no broker answers for the group.
fn no_coordinator(kind: &str) -> String {
    format!(
        "Error: Executing {kind} group command failed due to \
         org.apache.kafka.common.errors.CoordinatorNotAvailableException: \
         The coordinator is not available."
    )
}

/// What the tools print where there is nothing.
fn dash() -> String {
    "-".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::snapshot::BrokerView;

    #[test]
    fn a_group_whose_coordinator_is_gone_gives_an_error_and_no_table() {
        let up = BrokerView { process: ProcessState::Up, ..BrokerView::default() };
        let mut snapshot = Snapshot::default();
        snapshot.brokers.insert(BrokerId(1), up);
        let gone = GroupView { coordinator: Some(BrokerId(2)), ..GroupView::default() };
        snapshot.groups.insert("ledger".to_owned(), gone);
        let commands = commands(&World::default(), &snapshot, &Unknown::default());
        assert_eq!(commands.len(), 3);
        for command in commands {
            assert!(command.output.ends_with("The coordinator is not available."), "{command:?}");
            assert_eq!(command.note, None);
        }
    }
}
