//! The invariants of one partition: its replicas' offsets, its leaders, and that nothing committed
//! is lost.

use std::collections::BTreeMap;

use crate::sim::Sim;
use crate::sim::broker::{Broker, Replica};
use crate::sim::ids::{BrokerId, LeaderEpoch, Offset, TopicPartition};
use crate::sim::metadata::PartitionState;

use super::committed::{Cleaning, Committed};
use super::logs::Scan;

/// What a partition looked like when it was last checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The topic, by id: one that is created anew has nothing to do with the one before.
    pub(super) topic_id: u64,
    /// What the quorum has decided.
    pub(super) state: PartitionState,
    /// The epoch of the last unclean election: what was committed under an earlier one may be lost.
    pub(super) unclean: Option<LeaderEpoch>,
    /// Who led in which epoch.
    leaders: BTreeMap<LeaderEpoch, BrokerId>,
    /// Each leader's high watermark, with its epoch.
    high_watermarks: BTreeMap<BrokerId, (LeaderEpoch, Offset)>,
    committed: Committed,
    /// Whether its logs are, or were, compacted.
    cleaning: Cleaning,
    /// What was read in each replica's log.
    pub(super) scans: BTreeMap<BrokerId, Scan>,
    /// How far each replica's log is known to agree with what is committed.
    agreed: BTreeMap<BrokerId, Offset>,
}

impl Seen {
    /// A partition of the topic with this id that the quorum has just decided on.
    pub fn new(topic_id: u64, state: &PartitionState) -> Seen {
        Seen {
            topic_id,
            state: state.clone(),
            unclean: None,
            leaders: state.leader.map(|leader| (state.leader_epoch, leader)).into_iter().collect(),
            high_watermarks: BTreeMap::new(),
            committed: Committed::default(),
            cleaning: Cleaning::Deletes,
            scans: BTreeMap::new(),
            agreed: BTreeMap::new(),
        }
    }

    /// Whether a leader of this epoch may go on without knowing that an unclean election has put
    /// another in its place.
    fn is_overruled(&self, epoch: LeaderEpoch) -> bool {
        self.unclean.is_some_and(|unclean| epoch < unclean)
    }

    /// No two leaders of one epoch. Says whether the leader is new.
    fn note_leader(&mut self, epoch: LeaderEpoch, leader: BrokerId) -> Result<bool, String> {
        match self.leaders.insert(epoch, leader) {
            None => Ok(true),
            Some(known) if known == leader => Ok(false),
            Some(known) => Err(format!("broker-{known} and broker-{leader} lead in epoch {epoch}")),
        }
    }

    /// A leader's high watermark never falls under one leader epoch.
    fn note_high_watermark(&mut self, id: BrokerId, replica: &Replica) -> Result<(), String> {
        let now = (replica.leader_epoch, replica.high_watermark);
        match self.high_watermarks.insert(id, now) {
            Some((epoch, before)) if epoch == now.0 && before > now.1 => {
                Err(format!("broker-{id}: high watermark {before} -> {} in epoch {epoch}", now.1))
            }
            _ => Ok(()),
        }
    }

    /// Looks how far a replica agrees with what is committed.
    fn note_agreement(&mut self, id: BrokerId, replica: &Replica) -> Offset {
        let known = self.agreed.get(&id).copied().unwrap_or_default();
        if replica.config.compacts {
            self.cleaning = Cleaning::Compacts;
        }
        let log = &replica.log;
        let from = known.min(log.end_offset()).min(self.committed.end());
        let agreed = self.committed.agrees_up_to(log, from, self.cleaning);
        self.agreed.insert(id, agreed);
        agreed
    }

    /// Takes note of what a leader has committed, which no other may contradict.
    fn commit(&mut self, id: BrokerId, replica: &Replica) -> Result<(), String> {
        let agreed = self.note_agreement(id, replica);
        if agreed < self.committed.end().min(replica.high_watermark) {
            return Err(self.lacking(id, replica, "which commits"));
        }
        self.committed.extend(&replica.log, replica.high_watermark)?;
        let agreed = agreed.max(replica.high_watermark.min(self.committed.end()));
        self.agreed.insert(id, agreed);
        Ok(())
    }

    /// What a replica without what is committed breaks.
    fn lacking(&self, id: BrokerId, replica: &Replica, what: &str) -> String {
        let agreed = self.agreed.get(&id).copied().unwrap_or_default();
        format!(
            "everything below {} is committed, but broker-{id}, {what}, ends at {} and agrees up \
             to {agreed}",
            self.committed.end(),
            replica.log.end_offset()
        )
    }
}

impl Sim {
    /// Checks a partition's replica on the broker that acted; on all of them if none did.
    pub(super) fn check_replica(
        &mut self,
        partition: &TopicPartition,
        actor: Option<BrokerId>,
    ) -> Result<(), String> {
        let Some(seen) = self.checker.partitions.get_mut(partition) else { return Ok(()) };
        let before = seen.committed.end();
        let checked = match actor {
            Some(id) => check_one(seen, self.brokers.get(&id), partition),
            None => self
                .brokers
                .values()
                .try_for_each(|broker| check_one(seen, Some(broker), partition)),
        };
        checked.map_err(|why| format!("{partition}: {why}"))?;
        if seen.committed.end() > before {
            self.check_in_sync(partition)?;
        }
        Ok(())
    }

    /// Everything committed is in the log of every member of the ISR and of the ELR, so that any
    /// one of them that is left can go on.
    fn check_in_sync(&mut self, partition: &TopicPartition) -> Result<(), String> {
        let Some(seen) = self.checker.partitions.get_mut(partition) else { return Ok(()) };
        let members: Vec<BrokerId> =
            seen.state.isr.iter().chain(&seen.state.elr).copied().collect();
        for id in members {
            let replica = self.brokers.get(&id).and_then(|broker| broker.replicas.get(partition));
            let Some(replica) = replica.filter(|replica| replica.topic_id == seen.topic_id) else {
                continue;
            };
            let agreed = seen.note_agreement(id, replica);
            if agreed < seen.committed.end() && replica.log.start_offset() < seen.committed.end() {
                let why = seen.lacking(id, replica, "in the ISR or ELR");
                return Err(format!("{partition}: {why}"));
            }
        }
        Ok(())
    }

    /// Checks a decision of the quorum: epochs never fall, a leader is in the ISR, the ISR among
    /// the replicas, and who is in sync has everything committed.
    pub(super) fn check_decision(
        &mut self,
        partition: &TopicPartition,
        topic_id: u64,
        state: &PartitionState,
    ) -> Result<(), String> {
        check_membership(partition, state)?;
        let Some(seen) =
            self.checker.partitions.get_mut(partition).filter(|seen| seen.topic_id >= topic_id)
        else {
            self.checker.begin(partition, topic_id, state);
            return Ok(());
        };
        // A controller that becomes active tells again what its predecessor has decided.
        if seen.topic_id > topic_id || state.partition_epoch <= seen.state.partition_epoch {
            return Ok(());
        }
        if state.leader_epoch < seen.state.leader_epoch {
            let (before, now) = (seen.state.leader_epoch, state.leader_epoch);
            return Err(format!("{partition}: leader epoch {before} -> {now}"));
        }
        if let Some(leader) = state.leader {
            seen.note_leader(state.leader_epoch, leader)
                .map_err(|why| format!("{partition}: {why}"))?;
        }
        let trusted = |leader| seen.state.isr.contains(&leader) || seen.state.elr.contains(&leader);
        let unclean = state.leader.filter(|leader| !trusted(*leader));
        let unclean = unclean.filter(|_| state.leader != seen.state.leader);
        seen.state = state.clone();
        if let Some(leader) = unclean {
            seen.unclean = Some(state.leader_epoch);
            let agreed = seen.agreed.get(&leader).copied().unwrap_or_default();
            seen.committed.cut(agreed);
        }
        self.check_in_sync(partition)
    }

    /// What an `acks=all` producer was told is stored is committed.
    pub(super) fn check_acknowledged(
        &self,
        partition: &TopicPartition,
        epoch: LeaderEpoch,
        end: Offset,
    ) -> Result<(), String> {
        let Some(seen) = self.checker.partitions.get(partition) else { return Ok(()) };
        let committed = seen.committed.end();
        if committed >= end || seen.is_overruled(epoch) {
            return Ok(());
        }
        Err(format!(
            "{partition}: everything below {end} was acknowledged in epoch {epoch}, but only what \
             is below {committed} is committed"
        ))
    }
}

/// Checks one broker's replica.
fn check_one(
    seen: &mut Seen,
    broker: Option<&Broker>,
    partition: &TopicPartition,
) -> Result<(), String> {
    let Some(broker) = broker else { return Ok(()) };
    let Some(replica) = broker.replicas.get(partition) else { return Ok(()) };
    let (id, log) = (broker.id, &replica.log);
    let (start, end) = (log.start_offset(), log.end_offset());
    let high_watermark = replica.high_watermark;
    if start > high_watermark || high_watermark > end {
        return Err(format!(
            "broker-{id}: log start {start}, high watermark {high_watermark}, log end {end}"
        ));
    }
    if replica.topic_id != seen.topic_id {
        return Ok(());
    }
    if replica.leader().is_none() {
        let led = seen.high_watermarks.remove(&id);
        check_follower(seen, id, replica)?;
        // One that stepped down in this event may have committed something just before.
        match led {
            Some((epoch, _)) if !seen.is_overruled(epoch) => seen.commit(id, replica),
            _ => Ok(()),
        }
    } else if seen.is_overruled(replica.leader_epoch) {
        Ok(())
    } else {
        check_leader(seen, id, replica)
    }
}

/// A member of the ISR never cuts off what is committed.
fn check_follower(seen: &mut Seen, id: BrokerId, replica: &Replica) -> Result<(), String> {
    let agreed = seen.note_agreement(id, replica);
    let in_sync = seen.state.isr.contains(&id) || seen.state.elr.contains(&id);
    let end = seen.committed.end();
    if in_sync && agreed < end && replica.log.start_offset() < end {
        return Err(seen.lacking(id, replica, "in the ISR or ELR"));
    }
    Ok(())
}

/// A leader has everything committed; what it commits stays so.
fn check_leader(seen: &mut Seen, id: BrokerId, replica: &Replica) -> Result<(), String> {
    let is_new = seen.note_leader(replica.leader_epoch, id)?
        || seen.high_watermarks.get(&id).is_none_or(|(epoch, _)| *epoch != replica.leader_epoch);
    seen.note_high_watermark(id, replica)?;
    seen.committed.forget_below(replica.log.start_offset());
    let agreed = seen.note_agreement(id, replica);
    // One that does not know yet that it has a successor need not have what that has committed.
    let is_latest = replica.leader_epoch >= seen.state.leader_epoch;
    if is_latest && agreed < seen.committed.end() {
        if !(is_new && seen.unclean == Some(replica.leader_epoch)) {
            return Err(seen.lacking(id, replica, "the leader"));
        }
        seen.committed.cut(agreed);
    }
    seen.commit(id, replica)
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
