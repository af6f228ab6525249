//! Decisions about partitions: who leads, who is in sync, after a broker's coming or going, a
//! leader's proposal, or an administrator's wish.
//!
//! Follows `ReplicationControlManager`.

use std::sync::Arc;

use crate::sim::command::ElectionKind;
use crate::sim::defect::Defect;
use crate::sim::election::{Ballot, Election, next_state};
use crate::sim::error::KafkaError;
use crate::sim::ids::{BrokerId, TopicPartition};
use crate::sim::kernel::Kernel;
use crate::sim::message::{Body, Message, list};
use crate::sim::metadata::{Change, IsrChange, IsrState, PartitionState};
use crate::sim::settings::Effective;
use crate::sim::timer::Timer;
use crate::sim::trace::EventKind;

use super::Controller;

/// What a broker's coming or going means to the partitions
/// (`ReplicationControlManager.generateLeaderAndIsrUpdates`).
#[derive(Clone, Copy)]
struct BrokerNews {
    /// It can no longer lead or be in sync.
    gone: Option<BrokerId>,
    /// It can again.
    back: Option<BrokerId>,
    /// It has lost what was not on its disk.
    unclean: Option<BrokerId>,
}

impl BrokerNews {
    /// The broker that can no longer lead, whatever the reason.
    fn lost(self) -> Option<BrokerId> {
        self.gone.or(self.unclean)
    }

    /// Whether a partition may look different now.
    fn concerns(self, state: &PartitionState) -> bool {
        // Coming back matters to partitions without a leader only.
        if let Some(broker) = self.back {
            return state.leader.is_none() && state.replicas.contains(&broker);
        }
        self.lost().is_some_and(|broker| {
            state.leader == Some(broker)
                || state.isr.contains(&broker)
                || state.elr.contains(&broker)
        })
    }
}

const NO_NEWS: BrokerNews = BrokerNews { gone: None, back: None, unclean: None };

/// What is to become of a partition; the election rules say what comes of it.
pub(super) struct Wish {
    isr: Vec<BrokerId>,
    election: Election,
    news: BrokerNews,
    reassign_to: Option<Vec<BrokerId>>,
    recovered: bool,
}

impl Wish {
    /// This ISR, and a leader by this kind of election.
    fn new(isr: Vec<BrokerId>, election: Election) -> Wish {
        Wish { isr, election, news: NO_NEWS, reassign_to: None, recovered: false }
    }
}

impl Controller {
    pub(super) fn handle_fenced(&mut self, broker: BrokerId, kernel: &mut Kernel) {
        self.update_partitions(BrokerNews { gone: Some(broker), ..NO_NEWS }, kernel);
    }

    pub(super) fn handle_unfenced(&mut self, broker: BrokerId, kernel: &mut Kernel) {
        self.update_partitions(BrokerNews { back: Some(broker), ..NO_NEWS }, kernel);
    }

    /// A new process of a broker: it is in sync nowhere; after an unclean end it is not eligible
    /// either.
    pub(super) fn handle_process_change(
        &mut self,
        broker: BrokerId,
        clean: bool,
        kernel: &mut Kernel,
    ) {
        let news = if clean {
            BrokerNews { gone: Some(broker), ..NO_NEWS }
        } else {
            BrokerNews { unclean: Some(broker), ..NO_NEWS }
        };
        self.update_partitions(news, kernel);
    }

    fn update_partitions(&mut self, news: BrokerNews, kernel: &mut Kernel) {
        let touched: Vec<TopicPartition> = self
            .image
            .partitions
            .iter()
            .filter(|(_, state)| news.concerns(state))
            .map(|(partition, _)| partition.clone())
            .collect();
        for partition in touched {
            let Some(state) = self.image.partitions.get(&partition) else { continue };
            let lost = news.lost();
            let isr = state.isr.iter().copied().filter(|broker| Some(*broker) != lost).collect();
            let wish = Wish { news, ..Wish::new(isr, self.usual_election(&partition.topic)) };
            self.change_partition(&partition, wish, kernel);
        }
    }

    /// Whether a topic lets an unclean election happen by itself.
    fn usual_election(&self, topic: &str) -> Election {
        let own =
            self.image.topics.get(topic).map(|topic| topic.config.clone()).unwrap_or_default();
        let allowed =
            Effective::topic(&own, &self.image.config).flag("unclean.leader.election.enable");
        if allowed { Election::Unclean } else { Election::Online }
    }

    /// Applies the election rules to one partition; says whether anything changed.
    pub(super) fn change_partition(
        &mut self,
        partition: &TopicPartition,
        wish: Wish,
        kernel: &mut Kernel,
    ) -> bool {
        let Some(current) = self.image.partitions.get(partition).cloned() else { return false };
        let image = &self.image;
        let news = wish.news;
        let replicas = wish.reassign_to.as_ref().map_or(current.replicas.len(), Vec::len);
        let ballot = Ballot {
            is_acceptable: &|broker| {
                Some(broker) != news.gone
                    && Some(broker) != news.unclean
                    && (Some(broker) == news.back || image.is_active(broker))
            },
            min_isr: image.min_isr(&partition.topic).min(replicas),
            election: wish.election,
            target_isr: wish.isr,
            unclean_shutdown: news.unclean.into_iter().collect(),
            reassign_to: wish.reassign_to,
            recovered: wish.recovered,
        };
        let Some(mut next) = next_state(&current, &ballot) else { return false };
        if kernel.breaks(Defect::TwoLeaders) {
            next.leader_epoch = current.leader_epoch;
        }
        if let Some(active) = self.active.as_mut() {
            let elected = next.leader.is_some() && next.leader != current.leader;
            active.elections += i64::from(elected);
            active.unclean_elections +=
                i64::from(elected && next.recovering && !current.recovering);
        }
        self.decide(Change::Partition(partition.clone(), Arc::new(next)), kernel);
        true
    }

    /// The minimum of in-sync replicas has changed: an ELR may no longer be needed.
    pub(super) fn reconsider_partitions(&mut self, kernel: &mut Kernel) {
        let all: Vec<(TopicPartition, Vec<BrokerId>)> =
            self.image.partitions.iter().map(|(p, state)| (p.clone(), state.isr.clone())).collect();
        for (partition, isr) in all {
            self.change_partition(&partition, Wish::new(isr, Election::Online), kernel);
        }
    }

    /// A reassignment begins; it may be done at once.
    pub(super) fn begin_reassignment(
        &mut self,
        partition: &TopicPartition,
        state: &PartitionState,
        replicas: &[BrokerId],
        kernel: &mut Kernel,
    ) {
        let election = self.usual_election(&partition.topic);
        let wish = Wish::new(state.isr.clone(), election);
        let wish = Wish { reassign_to: Some(replicas.to_vec()), ..wish };
        self.change_partition(partition, wish, kernel);
    }

    /// A leader proposes ISRs (`ReplicationControlManager.alterPartition`).
    pub(super) fn handle_alter_partition(
        &mut self,
        message: &Message,
        from: (BrokerId, u64),
        changes: &[IsrChange],
        kernel: &mut Kernel,
    ) {
        let known = self.image.brokers.get(&from.0).map(|state| state.epoch);
        if known != Some(from.1) {
            let body = Body::AlterPartitionResponse(Err(KafkaError::StaleBrokerEpoch));
            kernel.answer(message, body);
            return;
        }
        let mut answers = Vec::new();
        for change in changes {
            let checked = self.check_isr_change(from.0, change);
            if checked.is_ok() {
                let election = self.usual_election(&change.partition.topic);
                let wish = Wish { recovered: true, ..Wish::new(change.isr.clone(), election) };
                self.change_partition(&change.partition, wish, kernel);
            }
            let answer = checked.map(|()| self.isr_state(&change.partition));
            answers.push((change.partition.clone(), answer));
        }
        self.answer_when_committed(message, Body::AlterPartitionResponse(Ok(answers)), kernel);
    }

    fn isr_state(&self, partition: &TopicPartition) -> IsrState {
        let state = self.image.partitions.get(partition).expect("checked before");
        IsrState {
            isr: state.isr.clone(),
            leader_epoch: state.leader_epoch,
            partition_epoch: state.partition_epoch,
        }
    }

    /// `ReplicationControlManager.validateAlterPartitionData`.
    fn check_isr_change(&self, from: BrokerId, change: &IsrChange) -> Result<(), KafkaError> {
        let state = self
            .image
            .partitions
            .get(&change.partition)
            .ok_or(KafkaError::UnknownTopicOrPartition)?;
        if change.leader_epoch > state.leader_epoch
            || change.partition_epoch > state.partition_epoch
        {
            return Err(KafkaError::NotController);
        }
        if change.leader_epoch < state.leader_epoch {
            return Err(KafkaError::FencedLeaderEpoch);
        }
        if state.leader != Some(from) {
            return Err(KafkaError::InvalidRequest);
        }
        if change.partition_epoch < state.partition_epoch {
            return Err(KafkaError::InvalidUpdateVersion);
        }
        let inside = change.isr.iter().all(|broker| state.replicas.contains(broker));
        if !inside || !change.isr.contains(&from) {
            return Err(KafkaError::InvalidRequest);
        }
        let eligible = |(broker, epoch): (&BrokerId, &Option<u64>)| {
            self.image.brokers.get(broker).is_some_and(|state| {
                state.is_active() && epoch.is_none_or(|epoch| epoch == state.epoch)
            })
        };
        if change.isr.iter().zip(&change.broker_epochs).all(eligible) {
            Ok(())
        } else {
            Err(KafkaError::IneligibleReplica)
        }
    }

    /// An administrator asks for an election. Without a partition, those that need none are passed
    /// over (`ReplicationControlManager.electLeaders`).
    ///
    /// # Errors
    /// The first error of the partitions asked for.
    pub fn elect_leaders(
        &mut self,
        kind: ElectionKind,
        partition: Option<&TopicPartition>,
        kernel: &mut Kernel,
    ) -> Result<(), KafkaError> {
        if let Some(partition) = partition {
            return self.elect_leader(kind, partition, kernel);
        }
        let mut outcome = Ok(());
        let all: Vec<TopicPartition> = self.image.partitions.keys().cloned().collect();
        for partition in all {
            let result = self.elect_leader(kind, &partition, kernel);
            if let Err(error) = result
                && error != KafkaError::ElectionNotNeeded
            {
                outcome = outcome.and(Err(error));
            }
        }
        outcome
    }

    fn elect_leader(
        &mut self,
        kind: ElectionKind,
        partition: &TopicPartition,
        kernel: &mut Kernel,
    ) -> Result<(), KafkaError> {
        let state = self
            .image
            .partitions
            .get(partition)
            .cloned()
            .ok_or(KafkaError::UnknownTopicOrPartition)?;
        let (needed, election, failure) = match kind {
            ElectionKind::Preferred => (
                state.leader.is_none() || state.leader != state.replicas.first().copied(),
                Election::Preferred,
                KafkaError::PreferredLeaderNotAvailable,
            ),
            ElectionKind::Unclean => {
                (state.leader.is_none(), Election::Unclean, KafkaError::EligibleLeadersNotAvailable)
            }
        };
        if !needed {
            return Err(KafkaError::ElectionNotNeeded);
        }
        if self.change_partition(partition, Wish::new(state.isr.clone(), election), kernel) {
            Ok(())
        } else {
            Err(failure)
        }
    }

    pub(super) fn schedule_unclean_election(&self, kernel: &mut Kernel) {
        let at = kernel.now_ms + self.settings.unclean_election_interval_ms;
        kernel.timer(&self.machine, at, Timer::UncleanElection);
    }

    /// Partitions without a leader whose topic allows an unclean election get one
    /// (`QuorumController.maybeElectUnclean`).
    pub(super) fn elect_where_nobody_leads(&mut self, kernel: &mut Kernel) {
        if self.active.is_none() {
            return;
        }
        let leaderless: Vec<(TopicPartition, Vec<BrokerId>)> = self
            .image
            .partitions
            .iter()
            .filter(|(partition, state)| {
                state.leader.is_none() && self.usual_election(&partition.topic) == Election::Unclean
            })
            .map(|(partition, state)| (partition.clone(), state.isr.clone()))
            .collect();
        for (partition, isr) in leaderless {
            self.change_partition(&partition, Wish::new(isr, Election::Unclean), kernel);
        }
        self.schedule_unclean_election(kernel);
    }

    pub(super) fn schedule_balance(&self, kernel: &mut Kernel) {
        if self.settings.auto_leader_rebalance {
            let at = kernel.now_ms + self.settings.imbalance_check_interval_ms;
            kernel.timer(&self.machine, at, Timer::LeaderBalance);
        }
    }

    /// Moves leaderships back to preferred replicas (`maybeBalancePartitionLeaders`).
    pub(super) fn balance_leaders(&mut self, kernel: &mut Kernel) {
        if self.active.is_some() {
            let done = self.elect_leaders(ElectionKind::Preferred, None, kernel);
            if let Err(error) = done {
                let text = format!("not every preferred replica can lead: {error}");
                kernel.trace_error(EventKind::Refused, &self.machine, text, error);
            }
            self.schedule_balance(kernel);
        }
    }
}

/// What changed about a partition, in words.
pub(super) fn describe(
    partition: &TopicPartition,
    before: Option<&PartitionState>,
    after: &PartitionState,
) -> String {
    let leader =
        after.leader.map_or_else(|| "no leader".to_owned(), |leader| format!("leader {leader}"));
    let (epoch, isr) = (after.leader_epoch, list(&after.isr));
    let elr = match after.elr.as_slice() {
        [] => String::new(),
        elr => format!(", ELR {}", list(elr)),
    };
    let was = before.map_or_else(String::new, |it| format!(" (was ISR {})", list(&it.isr)));
    format!("{partition}: {leader}, epoch {epoch}, ISR {isr}{elr}{was}")
}

#[cfg(test)]
mod tests;
