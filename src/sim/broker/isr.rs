//! A leader's proposals for its ISR, and the controller's answers.
//!
//! Follows `Partition.maybeExpandIsr`, `maybeShrinkIsr`, `AlterPartitionManager` (KIP-497): one
//! request to the controller is under way at a time, one proposal per partition.

use std::collections::BTreeMap;

use crate::sim::error::KafkaError;
use crate::sim::ids::{BrokerId, Machine, TopicPartition};
use crate::sim::kernel::Kernel;
use crate::sim::message::{Body, IsrAnswers, Message, MessageId, list};
use crate::sim::metadata::{IsrChange, IsrState};
use crate::sim::timer::Timer;
use crate::sim::trace::EventKind;

use super::Broker;

/// How long a failed proposal waits (`DefaultAlterPartitionManager`, 50 ms).
const RETRY_MS: u64 = 50;

/// Proposals on their way.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IsrProposals {
    /// Not sent yet.
    queued: BTreeMap<TopicPartition, IsrChange>,
    /// The request that is not answered, with what it proposes.
    in_flight: Option<(MessageId, Vec<IsrChange>)>,
}

impl Broker {
    /// After a follower's fetch: proposes to take it into the ISR, if it may.
    pub(super) fn propose_expansion(
        &mut self,
        partition: &TopicPartition,
        fetch: &Message,
        kernel: &mut Kernel,
    ) {
        let Machine::Broker(follower) = fetch.from else { return };
        let Some(replica) = self.replicas.get(partition) else { return };
        let Some(leader) = replica.leader() else { return };
        let may = self.around(partition, kernel.now_ms, |around| {
            leader.may_join_isr(follower, replica.high_watermark, around)
        });
        if may {
            let mut isr = leader.isr.clone();
            isr.push(follower);
            self.propose(partition, isr, kernel);
        }
    }

    /// Proposes to take followers out of the ISR that have not kept up; runs every
    /// `replica.lag.time.max.ms` / 2.
    pub(super) fn check_isr_shrink(&mut self, kernel: &mut Kernel) {
        let next = kernel.now_ms + (self.settings.lag_time_max_ms / 2).max(1);
        kernel.timer(&self.machine, next, Timer::IsrShrinkCheck);
        let mut proposals = Vec::new();
        for (partition, replica) in &self.replicas {
            let Some(leader) = replica.leader() else { continue };
            let gone = self.around(partition, kernel.now_ms, |around| {
                leader.out_of_sync(self.id, replica.log.end_offset(), around)
            });
            if !gone.is_empty() {
                let isr: Vec<BrokerId> =
                    leader.isr.iter().copied().filter(|broker| !gone.contains(broker)).collect();
                proposals.push((partition.clone(), isr));
            }
        }
        for (partition, isr) in proposals {
            self.propose(&partition, isr, kernel);
        }
    }

    fn propose(&mut self, partition: &TopicPartition, isr: Vec<BrokerId>, kernel: &mut Kernel) {
        let (me, own_epoch) = (self.id, self.life.epoch);
        let Some(replica) = self.replicas.get_mut(partition) else { return };
        let leader_epoch = replica.leader_epoch;
        let Some(leader) = replica.leader_mut() else { return };
        let broker_epochs =
            isr.iter()
                .map(|broker| {
                    if *broker == me { own_epoch } else { leader.remotes.get(broker)?.broker_epoch }
                })
                .collect();
        leader.proposed_isr = Some(isr.clone());
        let change = IsrChange {
            partition: partition.clone(),
            leader_epoch,
            partition_epoch: leader.partition_epoch,
            isr,
            broker_epochs,
            recovering: false,
        };
        let text = format!("{partition} proposes ISR {}", list(&change.isr));
        kernel.trace(EventKind::Action, &self.machine, text);
        self.proposals.queued.insert(partition.clone(), change);
        self.send_proposals(kernel);
    }

    /// Sends what is queued, unless a request is under way.
    pub(super) fn send_proposals(&mut self, kernel: &mut Kernel) {
        let Some(broker_epoch) = self.life.epoch else { return };
        if self.proposals.in_flight.is_some() || self.proposals.queued.is_empty() {
            return;
        }
        let changes: Vec<IsrChange> =
            std::mem::take(&mut self.proposals.queued).into_values().collect();
        let body = Body::AlterPartition { broker: self.id, broker_epoch, changes: changes.clone() };
        let id = self.ask_controller(body, kernel);
        self.proposals.in_flight = Some((id, changes));
    }

    pub(super) fn handle_alter_partition_response(
        &mut self,
        result: &IsrAnswers,
        kernel: &mut Kernel,
    ) {
        let Some((_, changes)) = self.proposals.in_flight.take() else { return };
        match result {
            Ok(parts) => {
                for (partition, answer) in parts {
                    self.take_isr_answer(partition, answer.as_ref(), kernel);
                }
                self.send_proposals(kernel);
            }
            Err(_) => self.propose_again(changes, kernel),
        }
    }

    fn take_isr_answer(
        &mut self,
        partition: &TopicPartition,
        answer: Result<&IsrState, &KafkaError>,
        kernel: &mut Kernel,
    ) {
        match answer {
            Ok(state) => self.take_isr(partition, state, kernel),
            Err(error) => {
                let text = format!("{partition}: the controller refuses the ISR: {error}");
                kernel.trace_error(EventKind::Refused, &self.machine, text, *error);
                // Of the final errors only this one says that the confirmed ISR stands; after the
                // others the leader waits for fresh metadata
                // (`Partition.handleAlterPartitionError`).
                if *error == KafkaError::IneligibleReplica
                    && let Some(leader) =
                        self.replicas.get_mut(partition).and_then(|r| r.leader_mut())
                {
                    leader.proposed_isr = None;
                }
            }
        }
    }

    /// Takes over a confirmed ISR, from an answer or from metadata, whichever comes first.
    pub(super) fn take_isr(
        &mut self,
        partition: &TopicPartition,
        state: &IsrState,
        kernel: &mut Kernel,
    ) {
        let Some(replica) = self.replicas.get_mut(partition) else { return };
        if replica.leader_epoch != state.leader_epoch {
            return;
        }
        let Some(leader) = replica.leader_mut() else { return };
        if state.partition_epoch <= leader.partition_epoch {
            return;
        }
        let (before, after) = (leader.isr.len(), state.isr.len());
        if leader.proposed_isr.take().is_some_and(|proposed| proposed == state.isr) {
            self.meters.isr_expands += i64::from(after > before);
            self.meters.isr_shrinks += i64::from(after < before);
        }
        leader.partition_epoch = state.partition_epoch;
        leader.isr.clone_from(&state.isr);
        self.advance_high_watermark(partition, kernel);
    }

    /// The controller did not take a request: its proposals go again after a pause.
    pub(super) fn propose_again(&mut self, changes: Vec<IsrChange>, kernel: &mut Kernel) {
        for change in changes {
            self.proposals.queued.entry(change.partition.clone()).or_insert(change);
        }
        kernel.timer(&self.machine, kernel.now_ms + RETRY_MS, Timer::AlterPartitionAgain);
    }

    /// Whether a lost request carried proposals; they go again.
    pub(super) fn proposals_lost(&mut self, request: MessageId, kernel: &mut Kernel) -> bool {
        match self.proposals.in_flight.take() {
            Some((id, changes)) if id == request => {
                self.propose_again(changes, kernel);
                true
            }
            other => {
                self.proposals.in_flight = other;
                false
            }
        }
    }

    /// Forgets proposals for a partition that this broker no longer leads.
    pub(super) fn drop_proposal(&mut self, partition: &TopicPartition) {
        self.proposals.queued.remove(partition);
    }
}
