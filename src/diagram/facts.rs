//! What a run's pictures need room for, read from all its frames: brokers, replicas, clients, pairs
//! of machines that talk, lengths of logs. Knows no coordinates.

mod clients;

use std::collections::{BTreeMap, BTreeSet};

use super::broker_state;
use super::said::{self, Said};
use crate::scenario::run::Run;
use crate::sim::ids::{BrokerId, Machine, TopicPartition};
use crate::sim::snapshot::{PartitionView, RecordKind, RecordView, Snapshot};

pub(super) use clients::{ClientFacts, Fact, assigned, given_up, held, owners};

/// What is to be placed.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts {
    /// Brokers from top to bottom.
    pub brokers: Vec<BrokerFacts>,
    /// Partitions in the order of their lanes.
    pub partitions: Vec<PartitionFacts>,
    /// Producers from top to bottom.
    pub producers: Vec<ClientFacts>,
    /// Consumers from top to bottom.
    pub consumers: Vec<ClientFacts>,
    /// Pairs of brokers that replicate from one another, as indices, the upper one first.
    pub pairs: BTreeSet<(usize, usize)>,
    /// Names of the groups, in the file's order.
    pub groups: Vec<String>,
    /// The groups whose state has a line, as indices: those whose members share partitions, or
    /// change.
    pub told_groups: Vec<usize>,
    /// Names of the controllers, where it matters which of them is active.
    pub controllers: Vec<String>,
    /// The brokers that are out of the ordinary, by frame.
    pub states: Vec<String>,
}

/// One broker.
#[derive(Clone, Debug)]
pub(super) struct BrokerFacts {
    pub id: BrokerId,
    pub rack: Option<String>,
    pub lanes: Vec<LaneFacts>,
    /// The brokers that it follows in some frame, as indices.
    pub leaders: BTreeSet<usize>,
    /// What is said of its fetches, by frame.
    pub said: Vec<Vec<Said>>,
}

/// One replica.
#[derive(Clone, Debug)]
pub(super) struct LaneFacts {
    /// Index of its partition.
    pub partition: usize,
    /// Whether it leads in some frame.
    pub leads: bool,
}

/// One partition.
#[derive(Clone, Debug)]
pub(super) struct PartitionFacts {
    pub name: TopicPartition,
    /// The most offsets from a log's start to its end.
    pub longest: u64,
    /// The highest offset that is shown, a mark's included.
    pub highest: u64,
    /// The longest label of a record.
    pub widest_label: String,
    /// Whether a log start above 0, a last stable offset below the high watermark, or several
    /// segments are shown.
    pub has_lower_marks: bool,
    /// Whether it has no leader in some frame.
    pub lacks_leader: bool,
    /// Groups that read it, as indices.
    pub groups: BTreeSet<usize>,
}

impl Facts {
    /// Reads a run.
    pub fn of(run: &Run) -> Facts {
        let mut facts = Facts { brokers: brokers(run), ..Facts::default() };
        facts.groups = run.world.groups.iter().map(|group| group.name.clone()).collect();
        facts.partitions = partitions(run);
        facts.place_lanes(run);
        facts.read_groups(run);
        facts.told_groups = told_groups(run);
        facts.producers = clients::producers(run);
        facts.consumers = clients::consumers(run, &facts.told_groups);
        facts.read_talk(run);
        facts.read_words(run);
        facts.controllers = controllers(run);
        let states = run.frames.iter().map(|frame| broker_state::listed(&frame.snapshot));
        facts.states = states.collect();
        facts
    }

    /// The broker's place.
    pub fn broker(&self, id: BrokerId) -> Option<usize> {
        self.brokers.iter().position(|broker| broker.id == id)
    }

    /// With how many brokers a broker replicates.
    pub fn partners(&self, at: usize) -> usize {
        self.pairs.iter().filter(|(upper, lower)| *upper == at || *lower == at).count()
    }

    /// How many replicas there are.
    pub fn lane_count(&self) -> usize {
        self.brokers.iter().map(|broker| broker.lanes.len()).sum()
    }

    fn place_lanes(&mut self, run: &Run) {
        for (at, partition) in self.partitions.iter().enumerate() {
            let views: Vec<&PartitionView> = run
                .frames
                .iter()
                .filter_map(|frame| frame.snapshot.partitions.get(&partition.name))
                .collect();
            for broker in &mut self.brokers {
                let id = broker.id;
                let is_here = |view: &&PartitionView| {
                    view.replicas.contains_key(&id) || view.assignment.contains(&id)
                };
                if views.iter().any(is_here) {
                    let leads = views.iter().any(|view| view.leader == Some(id));
                    broker.lanes.push(LaneFacts { partition: at, leads });
                }
            }
        }
        for view in run.frames.iter().flat_map(|frame| frame.snapshot.partitions.values()) {
            let Some(leader) = view.leader.and_then(|id| self.broker(id)) else { continue };
            let others: Vec<usize> =
                view.assignment.iter().filter_map(|&id| self.broker(id)).collect();
            for other in others {
                if other != leader {
                    self.brokers[other].leaders.insert(leader);
                    self.pairs.insert((leader.min(other), leader.max(other)));
                }
            }
        }
    }

    fn read_groups(&mut self, run: &Run) {
        for (at, name) in self.groups.iter().enumerate() {
            let mut read: BTreeSet<&TopicPartition> = BTreeSet::new();
            for snapshot in run.frames.iter().map(|frame| &frame.snapshot) {
                read.extend(
                    snapshot.groups.get(name).iter().flat_map(|view| view.committed.keys()),
                );
                read.extend(snapshot.groups.get(name).iter().flat_map(|view| view.share.keys()));
                let members = snapshot.consumers.values().filter(|view| &view.group == name);
                read.extend(members.flat_map(|view| view.position.keys().chain(&view.assignment)));
            }
            for partition in self.partitions.iter_mut().filter(|one| read.contains(&one.name)) {
                partition.groups.insert(at);
            }
        }
    }

    /// Who talks with whom: from the messages, and, where none was sent yet, from what is declared.
    fn read_talk(&mut self, run: &Run) {
        let brokers: Vec<BrokerId> = self.brokers.iter().map(|broker| broker.id).collect();
        let index = |machine: &Machine| match machine {
            Machine::Broker(id) => brokers.iter().position(|known| known == id),
            _ => None,
        };
        for message in &run.messages {
            let ends = [(&message.from, &message.to), (&message.to, &message.from)];
            for (client, other) in ends {
                let (Machine::Client(name), Some(broker)) = (client, index(other)) else {
                    continue;
                };
                let decides = matches!(
                    message.kind.trim_end_matches("_response"),
                    "add_partitions_to_txn" | "add_offsets_to_txn" | "end_txn"
                );
                if let Some(client) = self.client(name).filter(|_| decides) {
                    client.coordinators.insert(broker);
                }
                let carries_data = matches!(
                    message.kind.trim_end_matches("_response"),
                    "produce" | "fetch" | "share_fetch"
                );
                if let Some(client) = self.client(name).filter(|_| carries_data) {
                    client.data.insert(broker);
                }
            }
        }
        for frame in &run.frames {
            self.read_declared(run, &frame.snapshot, &brokers);
        }
    }

    fn read_declared(&mut self, run: &Run, snapshot: &Snapshot, brokers: &[BrokerId]) {
        let index = |id: &BrokerId| brokers.iter().position(|known| known == id);
        let leader = |view: &PartitionView| view.leader.as_ref().and_then(index);
        for spec in &run.world.producers {
            let of_topic = |name: &&TopicPartition| spec.topic.as_ref() == Some(&name.topic);
            let leaders: Vec<usize> = snapshot
                .partitions
                .iter()
                .filter(|(name, _)| of_topic(name))
                .filter_map(|(_, view)| leader(view))
                .collect();
            if let Some(client) = self.client(&spec.name) {
                client.data.extend(leaders);
            }
        }
        for (name, view) in &snapshot.consumers {
            let read = view.assignment.iter().filter_map(|name| snapshot.partitions.get(name));
            let leaders: Vec<usize> = read.filter_map(leader).collect();
            let group = snapshot.groups.get(&view.group);
            let coordinator = group.and_then(|group| group.coordinator.as_ref()).and_then(index);
            if let Some(client) = self.client(name) {
                client.data.extend(leaders);
                client.coordinators.extend(coordinator);
            }
        }
        for client in self.producers.iter_mut().chain(&mut self.consumers) {
            client.coordinators.retain(|broker| !client.data.contains(broker));
        }
    }

    /// What is said in each frame.
    fn read_words(&mut self, run: &Run) {
        let snapshots: Vec<&Snapshot> = run.frames.iter().map(|frame| &frame.snapshot).collect();
        for client in self.producers.iter_mut().chain(&mut self.consumers) {
            let rails = client.rails();
            let said = snapshots.iter().map(|now| said::of_client(now, &client.name, rails));
            client.said = said.collect();
        }
        for at in 0..self.brokers.len() {
            let (id, rails) = (self.brokers[at].id, self.partners(at));
            let said = snapshots.iter().map(|now| said::of_follower(now, id, rails));
            self.brokers[at].said = said.collect();
        }
    }

    fn client(&mut self, name: &str) -> Option<&mut ClientFacts> {
        self.producers.iter_mut().chain(&mut self.consumers).find(|client| client.name == name)
    }
}

fn brokers(run: &Run) -> Vec<BrokerFacts> {
    let declared = run.world.brokers.iter();
    declared
        .map(|spec| BrokerFacts {
            id: spec.id,
            rack: spec.rack.clone(),
            lanes: Vec::new(),
            leaders: BTreeSet::new(),
            said: Vec::new(),
        })
        .collect()
}

/// All controllers, where not the same one is active all the time, or not all are there.
fn controllers(run: &Run) -> Vec<String> {
    let mut views = run.frames.iter().map(|frame| &frame.snapshot.controller);
    let first = views.next();
    let is_calm =
        first.is_some_and(|one| one.stopped.is_empty()) && views.all(|it| Some(it) == first);
    if is_calm { Vec::new() } else { run.world.controllers.clone() }
}

/// The groups with several consumers, and those that begin a new generation or epoch.
fn told_groups(run: &Run) -> Vec<usize> {
    let groups = run.world.groups.iter().enumerate();
    let told = groups.filter(|(_, spec)| {
        let views = run.frames.iter().filter_map(|frame| frame.snapshot.groups.get(&spec.name));
        let epochs: BTreeSet<i32> =
            views.filter_map(|view| view.epoch).filter(|epoch| *epoch > 0).collect();
        spec.consumers.len() > 1 || epochs.len() > 1
    });
    told.map(|(at, _)| at).collect()
}

fn partitions(run: &Run) -> Vec<PartitionFacts> {
    let mut views: BTreeMap<(usize, TopicPartition), Vec<&PartitionView>> = BTreeMap::new();
    for (name, view) in run.frames.iter().flat_map(|frame| &frame.snapshot.partitions) {
        if !name.is_internal() {
            let declared = run.world.topics.iter().position(|topic| topic.name == name.topic);
            let key = (declared.unwrap_or(usize::MAX), name.clone());
            views.entry(key).or_default().push(view);
        }
    }
    views.into_iter().map(|((_, name), views)| partition(name, &views)).collect()
}

fn partition(name: TopicPartition, views: &[&PartitionView]) -> PartitionFacts {
    let mut facts = PartitionFacts {
        name,
        longest: 0,
        highest: 0,
        widest_label: String::new(),
        has_lower_marks: false,
        lacks_leader: views.iter().any(|view| view.leader.is_none()),
        groups: BTreeSet::new(),
    };
    for view in views {
        let stable = view.last_stable_offset.zip(view.high_watermark);
        facts.has_lower_marks |= stable.is_some_and(|(stable, high)| stable < high);
        for replica in view.replicas.values() {
            let length = replica.log_end_offset.since(replica.log_start_offset);
            facts.longest = facts.longest.max(length);
            facts.highest = facts.highest.max(replica.log_end_offset.0);
            let is_cut = replica.log_start_offset.0 > 0 || replica.segment_bases.len() > 1;
            facts.has_lower_marks |= is_cut;
        }
        let records = view.replicas.values().flat_map(|replica| replica.records.values());
        for record in view.records.values().chain(records) {
            let label = label(record);
            if label.chars().count() > facts.widest_label.chars().count() {
                label.clone_into(&mut facts.widest_label);
            }
        }
    }
    facts
}

/// What a record's cell says: its key, or its value where it has no key; what a marker decides.
pub(super) fn label(record: &RecordView) -> &str {
    match record.kind {
        RecordKind::Commit => "commit",
        RecordKind::Abort => "abort",
        RecordKind::Data => {
            let key = record.key.as_ref().and_then(Option::as_deref);
            let value = record.value.as_ref().and_then(Option::as_deref);
            key.or(value).unwrap_or("")
        }
    }
}
