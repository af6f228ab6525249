//! Invariants, checked from outside the model after every event on what it touched.
//!
//! The rules of the model never ask the checker; it only watches. A violation is a defect of the
//! model.

mod groups;
mod logs;

use std::collections::{BTreeMap, BTreeSet};

use super::Sim;
use super::ids::{BrokerId, LeaderEpoch, Machine, Offset, TopicPartition};
use super::kernel::ProcessStatus;
use super::metadata::{Image, PartitionState};

use logs::Scan;
pub use logs::{BeforeCleaning, Given};

/// Something that checkers look at, reported by the machine that did it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// A replica or the controller's state of this partition changed.
    Touched(TopicPartition),
    /// A leader has acknowledged everything below this offset to an `acks=all` producer.
    Acknowledged(TopicPartition, LeaderEpoch, Offset),
    /// A consumer stands at this offset: everything before was handed out, or skipped by a rule.
    Position { group: String, partition: TopicPartition, offset: Offset },
    /// A consumer's position was put somewhere by a rule or by its application.
    Reset { consumer: String, partition: TopicPartition },
    /// A consumer was told what is committed.
    Started { consumer: String, partition: TopicPartition, offset: Option<Offset> },
    /// `poll()` returned this record.
    Delivered { consumer: String, partition: TopicPartition, offset: Offset },
    /// Something happened to a group at its coordinator.
    Group { coordinator: BrokerId, home: TopicPartition, group: String },
    /// A log was compacted.
    Cleaned(TopicPartition, BeforeCleaning),
    /// A fetch gave a consumer these records.
    Given(TopicPartition, Given),
    /// A group's committed offset.
    Committed { by: String, group: String, partition: TopicPartition, offset: Offset },
}

/// What a partition looked like when it was last checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Seen {
    /// The topic, by id: one that is created anew has nothing to do with the one before.
    topic_id: u64,
    /// The epoch of the last unclean election: what was acknowledged under an earlier one may be
    /// lost.
    unclean: Option<LeaderEpoch>,
    leader_epoch: LeaderEpoch,
    partition_epoch: u32,
    high_watermark: BTreeMap<BrokerId, (LeaderEpoch, Offset)>,
    /// The end of what was acknowledged, and the epoch of its last record.
    acknowledged: Option<(LeaderEpoch, Offset)>,
    /// What was read in each replica's log.
    scans: BTreeMap<BrokerId, Scan>,
}

/// The memory of the checkers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checker {
    partitions: BTreeMap<TopicPartition, Seen>,
    furthest: BTreeMap<(String, TopicPartition), Offset>,
    /// Offsets that an action set.
    set_by_action: BTreeSet<(String, TopicPartition)>,
    groups: groups::Seen,
}

impl Checker {
    /// An action set a group's offset; from now on it may be anything.
    pub fn offset_was_set(&mut self, group: &str, partition: &TopicPartition) {
        self.set_by_action.insert((group.to_owned(), partition.clone()));
    }

    fn is_set(&self, group: &str, partition: &TopicPartition) -> bool {
        self.set_by_action.contains(&(group.to_owned(), partition.clone()))
    }
}

impl Sim {
    /// Checks what the last event touched.
    ///
    /// # Errors
    /// A sentence that names the broken invariant.
    pub(super) fn check(&mut self) -> Result<(), String> {
        let notes = self.kernel.take_notes();
        let mut touched = BTreeSet::new();
        for note in notes {
            match note {
                Note::Touched(partition) => {
                    touched.insert(partition);
                }
                Note::Acknowledged(partition, epoch, end) => {
                    let seen = self.seen(&partition);
                    if seen.acknowledged.is_none_or(|(_, known)| known < end) {
                        seen.acknowledged = Some((epoch, end));
                    }
                    touched.insert(partition);
                }
                Note::Position { group, partition, offset } => {
                    let furthest = self.checker.furthest.entry((group, partition)).or_default();
                    *furthest = offset.max(*furthest);
                }
                Note::Cleaned(partition, before) => self.check_cleaning(&partition, &before)?,
                Note::Given(partition, given) => self.check_given(&partition, &given)?,
                Note::Reset { consumer, partition } => {
                    self.checker.groups.reset(&(consumer, partition));
                }
                Note::Started { consumer, partition, offset } => {
                    self.checker.groups.started(&(consumer, partition), offset);
                }
                Note::Delivered { consumer, partition, offset } => {
                    self.check_delivery(&(consumer, partition), offset)?;
                }
                Note::Group { coordinator, home, group } => {
                    self.check_group(coordinator, &home, &group)?;
                }
                Note::Committed { by, group, partition, offset } => {
                    let set = self.checker.is_set(&group, &partition);
                    self.check_committed((group, partition.clone()), offset)?;
                    if !set {
                        self.checker.groups.committed((by, partition), offset);
                    }
                }
            }
        }
        for partition in touched {
            self.check_partition(&partition)?;
        }
        Ok(())
    }

    /// Committed ≤ the furthest position, unless an action set it.
    fn check_committed(
        &self,
        place: (String, TopicPartition),
        offset: Offset,
    ) -> Result<(), String> {
        let furthest = self.checker.furthest.get(&place).copied().unwrap_or_default();
        if offset <= furthest || self.checker.set_by_action.contains(&place) {
            return Ok(());
        }
        let (group, partition) = place;
        Err(format!(
            "{group} committed {offset} for {partition}, but nobody stood beyond {furthest}"
        ))
    }

    /// The metadata that the quorum has decided: those of the controller that knows most of them.
    /// What is committed stays so, but an active controller may be late to learn it.
    fn decided(&self) -> &Image {
        let known = self.controllers.values().max_by_key(|controller| controller.committed);
        &known.expect("a world has a controller").committed_image
    }

    /// What is remembered of a partition; nothing when its topic was created anew.
    fn seen(&mut self, partition: &TopicPartition) -> &mut Seen {
        let topic_id = self.decided().topics.get(&partition.topic).map_or(0, |topic| topic.id);
        let seen = self.checker.partitions.entry(partition.clone()).or_default();
        if seen.topic_id != topic_id {
            *seen = Seen { topic_id, ..Seen::default() };
        }
        seen
    }

    fn check_partition(&mut self, partition: &TopicPartition) -> Result<(), String> {
        self.check_offsets(partition)?;
        let image = self.decided();
        let Some(state) = image.partitions.get(partition).cloned() else { return Ok(()) };
        self.seen(partition);
        self.check_epochs(partition, &state)?;
        self.check_high_watermark(partition)?;
        self.check_logs(partition)?;
        check_membership(partition, &state)?;
        self.check_acknowledged(partition, &state)
    }

    /// Log start ≤ high watermark ≤ log end, on every replica.
    fn check_offsets(&self, partition: &TopicPartition) -> Result<(), String> {
        for (id, broker) in &self.brokers {
            let Some(replica) = broker.replicas.get(partition) else { continue };
            let (start, end) = (replica.log.start_offset(), replica.log.end_offset());
            let high_watermark = replica.high_watermark;
            if start > high_watermark || high_watermark > end {
                return Err(format!(
                    "{partition} on broker-{id}: log start {start}, high watermark \
                     {high_watermark}, log end {end}"
                ));
            }
        }
        Ok(())
    }

    /// Epochs never fall.
    fn check_epochs(
        &mut self,
        partition: &TopicPartition,
        state: &PartitionState,
    ) -> Result<(), String> {
        let seen = self.checker.partitions.entry(partition.clone()).or_default();
        if state.leader_epoch < seen.leader_epoch || state.partition_epoch < seen.partition_epoch {
            return Err(format!(
                "{partition}: leader epoch {} -> {}, partition epoch {} -> {}",
                seen.leader_epoch, state.leader_epoch, seen.partition_epoch, state.partition_epoch
            ));
        }
        if state.recovering && state.leader_epoch > seen.leader_epoch {
            seen.unclean = Some(state.leader_epoch);
        }
        seen.leader_epoch = state.leader_epoch;
        seen.partition_epoch = state.partition_epoch;
        Ok(())
    }

    /// A leader's high watermark never falls under one leader epoch.
    fn check_high_watermark(&mut self, partition: &TopicPartition) -> Result<(), String> {
        let seen = self.checker.partitions.entry(partition.clone()).or_default();
        for (id, broker) in &self.brokers {
            let Some(replica) = broker.replicas.get(partition) else { continue };
            if replica.leader().is_none() || replica.topic_id != seen.topic_id {
                seen.high_watermark.remove(id);
                continue;
            }
            let now = (replica.leader_epoch, replica.high_watermark);
            if let Some((epoch, before)) = seen.high_watermark.insert(*id, now)
                && epoch == now.0
                && before > now.1
            {
                return Err(format!(
                    "{partition} on broker-{id}: high watermark {before} -> {} in epoch {epoch}",
                    now.1
                ));
            }
        }
        Ok(())
    }

    /// What an `acks=all` producer was told is stored is in the log of every ISR member.
    fn check_acknowledged(
        &self,
        partition: &TopicPartition,
        state: &PartitionState,
    ) -> Result<(), String> {
        let Some(seen) = self.checker.partitions.get(partition) else { return Ok(()) };
        let Some((epoch, end)) = seen.acknowledged else { return Ok(()) };
        if seen.unclean.is_some_and(|unclean| epoch < unclean) {
            return Ok(());
        }
        for id in &state.isr {
            let Some(replica) =
                self.brokers.get(id).and_then(|broker| broker.replicas.get(partition))
            else {
                continue;
            };
            if replica.log.start_offset() >= end {
                continue;
            }
            let last = Offset(end.0.saturating_sub(1));
            let held = replica.log.batches_from(last).next();
            if last < replica.cleaned_to && held.is_none_or(|held| held.base_offset > last) {
                // Compaction took it.
                continue;
            }
            let held = held.map(|stored| stored.leader_epoch);
            if replica.log.end_offset() < end || held != Some(epoch) {
                let up = self.kernel.status(&Machine::Broker(*id)) != ProcessStatus::Stopped;
                let process = if up { "up" } else { "stopped" };
                return Err(format!(
                    "{partition}: everything below {end} was acknowledged in epoch {epoch}, but \
                     broker-{id} ({process}), in the ISR, ends at {}",
                    replica.log.end_offset()
                ));
            }
        }
        Ok(())
    }
}

/// A leader is in the ISR, and the ISR among the replicas.
fn check_membership(partition: &TopicPartition, state: &PartitionState) -> Result<(), String> {
    if let Some(leader) = state.leader
        && !state.isr.contains(&leader)
    {
        return Err(format!("{partition}: leader {leader} is not in the ISR {:?}", state.isr));
    }
    if state.isr.iter().any(|broker| !state.replicas.contains(broker)) {
        return Err(format!(
            "{partition}: ISR {:?} is not among the replicas {:?}",
            state.isr, state.replicas
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::broker::{Replica, Role};
    use super::super::ids::{BrokerId, LeaderEpoch, Offset, TopicPartition};
    use super::super::metadata::PartitionState;
    use super::super::world::{TopicSpec, World};
    use super::super::{Sim, setup};
    use super::Note;

    const ACKED: u64 = 2;

    fn partition() -> TopicPartition {
        TopicPartition::new("orders", 0)
    }

    /// Three replicas in sync, two records acknowledged.
    fn healthy() -> Sim {
        let topic = TopicSpec {
            name: "orders".to_owned(),
            partitions: Some(1),
            replication_factor: None,
            assignment: Some(vec![vec![BrokerId(1), BrokerId(2), BrokerId(3)]]),
            config: super::super::world::Settings::new(),
        };
        let mut sim = setup::warm(World { topics: vec![topic], ..World::default() });
        for broker in 1..=3 {
            replica(&mut sim, broker, |replica| {
                for offset in 0..ACKED {
                    replica.append(stored(offset));
                }
                replica.high_watermark = Offset(ACKED);
            });
        }
        sim.kernel.note(Note::Acknowledged(partition(), LeaderEpoch(0), Offset(ACKED)));
        sim.check().expect("a healthy world breaks no rule");
        sim
    }

    fn stored(offset: u64) -> crate::sim::record::StoredBatch {
        let record = crate::sim::record::Record {
            key: None,
            value: None,
            value_bytes: None,
            header_bytes: 1,
            timestamp: 0,
            internal: None,
        };
        crate::sim::record::StoredBatch {
            base_offset: Offset(offset),
            leader_epoch: LeaderEpoch(0),
            batch: Arc::new(crate::sim::record::Batch::of(vec![record])),
        }
    }

    fn replica(sim: &mut Sim, broker: u32, change: impl FnOnce(&mut Replica)) {
        let broker = sim.brokers.get_mut(&BrokerId(broker)).expect("a broker");
        change(broker.replicas.get_mut(&partition()).expect("a replica"));
    }

    fn registered(sim: &mut Sim, change: impl FnOnce(&mut PartitionState)) {
        let controller = sim.controllers.values_mut().next().expect("a controller");
        let state =
            controller.committed_image.partitions.get_mut(&partition()).expect("registered");
        change(Arc::make_mut(state));
    }

    /// Checks a world with this mutation; what the checker says.
    fn violation(mutate: impl FnOnce(&mut Sim)) -> String {
        let mut sim = healthy();
        mutate(&mut sim);
        sim.kernel.note(Note::Touched(partition()));
        sim.check().expect_err("the checker fires")
    }

    fn fires(mutate: impl FnOnce(&mut Sim), says: &str) {
        let said = violation(mutate);
        assert!(said.contains(says), "{said}");
    }

    #[test]
    fn a_high_watermark_beyond_a_followers_log_end_is_found() {
        fires(|sim| replica(sim, 2, |replica| replica.high_watermark = Offset(3)), "broker-2");
    }

    #[test]
    fn a_high_watermark_below_the_log_start_is_found() {
        let mutate = |replica: &mut Replica| {
            replica.log.raise_start(Offset(2));
            replica.high_watermark = Offset(1);
        };
        fires(|sim| replica(sim, 3, mutate), "log start 2, high watermark 1");
    }

    #[test]
    fn a_high_watermark_that_falls_within_an_epoch_is_found() {
        fires(
            |sim| replica(sim, 1, |replica| replica.high_watermark = Offset(1)),
            "high watermark 2 -> 1",
        );
    }

    #[test]
    fn a_leader_outside_the_isr_is_found() {
        fires(
            |sim| registered(sim, |state| state.isr.retain(|b| b.0 != 1)),
            "leader 1 is not in the ISR",
        );
    }

    #[test]
    fn an_isr_member_that_is_no_replica_is_found() {
        fires(|sim| registered(sim, |state| state.isr.push(BrokerId(9))), "not among the replicas");
    }

    #[test]
    fn an_epoch_that_falls_is_found() {
        let mut sim = healthy();
        registered(&mut sim, |state| state.leader_epoch = LeaderEpoch(4));
        sim.kernel.note(Note::Touched(partition()));
        sim.check().expect("an epoch may rise");
        registered(&mut sim, |state| state.leader_epoch = LeaderEpoch(3));
        sim.kernel.note(Note::Touched(partition()));
        let said = sim.check().expect_err("the checker fires");
        assert!(said.contains("leader epoch 4 -> 3"), "{said}");
    }

    #[test]
    fn an_acknowledged_record_that_an_isr_member_lacks_is_found() {
        let mutate = |replica: &mut Replica| replica.truncate_to(Offset(1));
        fires(|sim| replica(sim, 3, mutate), "everything below 2 was acknowledged");
    }

    #[test]
    fn an_acknowledged_record_that_another_took_the_place_of_is_found() {
        let mutate = |replica: &mut Replica| {
            replica.truncate_to(Offset(1));
            let other =
                crate::sim::record::StoredBatch { leader_epoch: LeaderEpoch(1), ..stored(1) };
            replica.append(other);
            replica.high_watermark = Offset(2);
        };
        fires(|sim| replica(sim, 2, mutate), "everything below 2 was acknowledged");
    }

    #[test]
    fn an_unclean_election_or_a_departure_from_the_isr_excuses_a_lost_record() {
        for excuse in [
            |state: &mut PartitionState| {
                state.recovering = true;
                state.leader_epoch = LeaderEpoch(1);
            },
            |state: &mut PartitionState| state.isr.retain(|broker| broker.0 != 3),
        ] {
            let mut sim = healthy();
            registered(&mut sim, excuse);
            replica(&mut sim, 3, |replica| replica.truncate_to(Offset(1)));
            sim.kernel.note(Note::Touched(partition()));
            sim.check().expect("nothing is broken");
        }
    }

    #[test]
    fn a_commit_beyond_the_furthest_position_is_found_unless_an_action_set_it() {
        let mut sim = healthy();
        let place = || ("analytics".to_owned(), partition());
        let (group, partition) = place();
        sim.kernel.note(Note::Position { group, partition, offset: Offset(1) });
        let commit = |offset| {
            let (group, partition) = place();
            Note::Committed { by: "reader-1".to_owned(), group, partition, offset: Offset(offset) }
        };
        sim.kernel.note(commit(1));
        sim.check().expect("a position may be committed");
        sim.kernel.note(commit(2));
        assert!(sim.check().expect_err("the checker fires").contains("nobody stood beyond 1"));
        sim.checker.offset_was_set("analytics", &place().1);
        sim.kernel.note(commit(2));
        sim.check().expect("an action may set anything");
    }

    #[test]
    fn the_mutations_above_start_from_a_leader_with_followers() {
        let sim = healthy();
        let role = |broker| &sim.brokers[&BrokerId(broker)].replicas[&partition()].role;
        assert!(matches!(role(1), Role::Leader(_)));
        assert_eq!(*role(2), Role::Follower(Some(BrokerId(1))));
    }
}
