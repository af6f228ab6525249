//! What a producer's or consumer's card needs room for, read from all frames of a run. Knows no
//! coordinates.

use std::collections::{BTreeMap, BTreeSet};

use super::Said;
use crate::scenario::run::Run;
use crate::sim::ids::{Offset, TopicPartition};
use crate::sim::snapshot::{ConsumerState, GroupView, ProducerState, Snapshot};
use crate::sim::world::Protocol;

/// One producer or consumer.
#[derive(Clone, Debug)]
pub(in crate::diagram) struct ClientFacts {
    pub name: String,
    /// Its group, as an index; none for a producer.
    pub group: Option<usize>,
    /// Brokers that it sends data to or gets data from, as indices.
    pub data: BTreeSet<usize>,
    /// Its group's coordinators, where they are no data brokers.
    pub coordinators: BTreeSet<usize>,
    /// What has a row in its card, from top to bottom.
    pub rows: Vec<Fact>,
    /// What is said of its messages, by frame.
    pub said: Vec<Vec<Said>>,
}

/// A fact of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::diagram) enum Fact {
    Buffered,
    InFlight,
    Acked,
    Failed,
    Read,
    Lag,
    /// The partitions that it reads.
    Reads,
    /// Those that its coordinator counts as its own.
    Assigned,
    /// Those that it reads and has to give up.
    GivesUp,
    /// The records that a share group has given to it.
    Holds,
    /// The generation or member epoch that it knows.
    Epoch,
    State,
}

impl ClientFacts {
    fn new(name: &str, group: Option<usize>, rows: Vec<Fact>) -> ClientFacts {
        ClientFacts {
            name: name.to_owned(),
            group,
            data: BTreeSet::new(),
            coordinators: BTreeSet::new(),
            rows,
            said: Vec::new(),
        }
    }

    /// How many rails it has.
    pub fn rails(&self) -> usize {
        self.data.len() + self.coordinators.len()
    }
}

/// Whether a producer's state says what its card does not: a stopped one is crossed.
fn is_worth_telling(state: ProducerState) -> bool {
    !matches!(state, ProducerState::Ready | ProducerState::Stopped)
}

/// The producers, in the file's order.
pub(super) fn producers(run: &Run) -> Vec<ClientFacts> {
    let declared = run.world.producers.iter();
    let facts = declared.map(|spec| {
        let mut views = run.frames.iter().filter_map(|it| it.snapshot.producers.get(&spec.name));
        let mut rows = vec![Fact::InFlight, Fact::Acked];
        if views.clone().any(|view| view.failed > 0) {
            rows.push(Fact::Failed);
        }
        let has_transactions = spec.config.contains_key("transactional.id");
        if has_transactions || views.any(|view| is_worth_telling(view.state)) {
            rows.push(Fact::State);
        }
        ClientFacts::new(&spec.name, None, rows)
    });
    facts.collect()
}

/// Whether a consumer's state says what its card does not: a stopped one is crossed.
fn is_worth_a_row(state: ConsumerState) -> bool {
    !matches!(state, ConsumerState::Stable | ConsumerState::Stopped)
}

/// The consumers, group by group. `told` are the groups that have a line of their own.
pub(super) fn consumers(run: &Run, told: &[usize]) -> Vec<ClientFacts> {
    let mut facts = Vec::new();
    for (at, group) in run.world.groups.iter().enumerate() {
        for spec in &group.consumers {
            let mut rows = vec![Fact::Read];
            let is_shared = group.protocol == Protocol::Share;
            if !is_shared {
                rows.push(Fact::Lag);
            }
            let any =
                |is: &dyn Fn(&Snapshot) -> bool| run.frames.iter().any(|frame| is(&frame.snapshot));
            let gives_up = any(&|now| !given_up(now, &spec.name).is_empty());
            let is_apart = any(&|now| is_assigned_otherwise(now, &group.name, &spec.name));
            if group.consumers.len() > 1 || gives_up || is_apart {
                rows.push(Fact::Reads);
            }
            let more = [
                (is_apart, Fact::Assigned),
                (gives_up, Fact::GivesUp),
                (is_shared && any(&|now| !held(now, &spec.name).is_empty()), Fact::Holds),
                (told.contains(&at), Fact::Epoch),
            ];
            rows.extend(more.into_iter().filter(|(is, _)| *is).map(|(_, fact)| fact));
            let state = |now: &Snapshot| now.consumers.get(&spec.name).map(|view| view.state);
            if any(&|now| state(now).is_some_and(is_worth_a_row)) {
                rows.push(Fact::State);
            }
            facts.push(ClientFacts::new(&spec.name, Some(at), rows));
        }
    }
    facts
}

/// What a consumer has to give up.
pub(in crate::diagram) fn given_up<'a>(now: &'a Snapshot, name: &str) -> &'a [TopicPartition] {
    now.consumers.get(name).map_or(&[], |view| &view.revoking)
}

/// What each member of a group has been given and may read. While a classic group rebalances, what
/// it gave before counts no more, as Kafka's tools have it.
pub(in crate::diagram) fn owners(
    group: &GroupView,
) -> Option<&BTreeMap<String, Vec<TopicPartition>>> {
    let state = group.state.as_deref()?;
    let is_open = matches!(state, "PreparingRebalance" | "CompletingRebalance");
    (!is_open).then_some(&group.owners)
}

/// What the coordinator counts as a consumer's own; none while that is not settled.
pub(in crate::diagram) fn assigned<'a>(
    now: &'a Snapshot,
    group: &str,
    name: &str,
) -> Option<&'a [TopicPartition]> {
    let owners = owners(now.groups.get(group)?)?;
    Some(owners.get(name).map_or(&[], Vec::as_slice))
}

fn is_assigned_otherwise(now: &Snapshot, group: &str, name: &str) -> bool {
    let reads: &[TopicPartition] = now.consumers.get(name).map_or(&[], |view| &view.assignment);
    let is_same = |given: &[TopicPartition]| {
        given.len() == reads.len() && given.iter().all(|one| reads.contains(one))
    };
    assigned(now, group, name).is_some_and(|given| !is_same(given))
}

/// The records that a share group has given to a consumer and that it has not settled.
pub(in crate::diagram) fn held(now: &Snapshot, name: &str) -> Vec<(TopicPartition, Offset)> {
    let mut held = Vec::new();
    for (partition, share) in now.groups.values().flat_map(|group| &group.share) {
        let own = share.records.iter().filter(|(_, it)| it.holder.as_deref() == Some(name));
        held.extend(own.map(|(offset, _)| (partition.clone(), *offset)));
    }
    held
}
