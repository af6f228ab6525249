//! A broker: replicas, the requests that it handles and holds, its fetchers, its life as seen by
//! the controller. One file per duty; this one holds the state and hands messages and timers out.

mod classic;
mod cleaning;
mod expiry;
mod fetch;
mod follower;
mod held;
mod isr;
mod lifecycle;
mod modern;
mod offsets;
mod produce;
pub mod replica;
mod retention;
mod roles;
mod share;
mod share_state;
#[cfg(test)]
mod tests;
mod txn;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::check::Note;
use super::defect::Defect;
use super::ids::{BrokerId, Machine, TopicPartition};
use super::kernel::Kernel;
use super::message::{Body, LeaderHint, Message, MessageId};
use super::metadata::Image;
use super::replication::Circumstances;
use super::settings::BrokerSettings;
use super::timer::Timer;
use super::trace::EventKind;
use super::world::Settings;

pub(super) use classic::GroupWrite;
pub use follower::Fetcher;
pub use held::{Held, Watchers};
pub use isr::IsrProposals;
pub use lifecycle::{Life, Shutdown};
pub(super) use modern::{change_record, topic_racks};
pub use offsets::GroupOffsets;
pub(super) use offsets::group_record;
pub use replica::{Replica, Role};
pub use share::Sharing;
pub use share_state::ShareStates;
pub(super) use share_state::state_record;
pub use txn::{Addition, Transactions};

/// A broker.
pub struct Broker {
    /// Its id.
    pub id: BrokerId,
    /// Its name on the network.
    pub machine: Machine,
    /// Its settings.
    pub settings: BrokerSettings,
    /// Time that an append takes, in milliseconds.
    pub append_ms: u64,
    /// Its settings in force as text, those changed at run time included.
    pub config: Arc<Settings>,
    /// The metadata that it has applied.
    pub image: Arc<Image>,
    /// Its replicas.
    pub replicas: BTreeMap<TopicPartition, Replica>,
    /// Requests held.
    pub held: BTreeMap<MessageId, Held>,
    /// Held requests by the partitions that may complete them.
    pub(super) watchers: BTreeMap<TopicPartition, Watchers>,
    /// One per leader that it follows.
    pub fetchers: BTreeMap<BrokerId, Fetcher>,
    /// Partitions that an action keeps from fetching.
    pub stalled: Stalled,
    /// ISR changes on their way to the controller.
    pub proposals: IsrProposals,
    /// Its registration and heartbeats.
    pub life: Life,
    /// Committed offsets of the groups that it coordinates.
    pub offsets: GroupOffsets,
    /// What it makes of records for share groups.
    pub sharing: Sharing,
    /// What it remembers for share groups, and asks others to remember.
    pub share_states: ShareStates,
    /// Writes of groups that are not committed yet.
    pub(super) group_writes: Vec<GroupWrite>,
    /// Transactions that it coordinates, or that write to its partitions.
    pub transactions: Transactions,
    /// How many producer ids it has handed out.
    pub producer_ids: i64,
    /// Counts of meters since the process started.
    pub meters: Meters,
}

/// Which of a broker's replicas do not fetch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stalled {
    /// All of them.
    pub all: bool,
    /// These.
    pub partitions: BTreeSet<TopicPartition>,
}

impl Stalled {
    /// Whether a partition's replica does not fetch.
    #[must_use]
    pub fn covers(&self, partition: &TopicPartition) -> bool {
        self.all || self.partitions.contains(partition)
    }
}

/// Counts of a broker's meters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Meters {
    /// `IsrShrinksPerSec`.
    pub isr_shrinks: i64,
    /// `IsrExpandsPerSec`.
    pub isr_expands: i64,
    /// `FailedProduceRequestsPerSec`.
    pub failed_produce: i64,
}

impl Broker {
    /// Takes a message.
    pub fn receive(&mut self, message: &Message, kernel: &mut Kernel) {
        match &*message.body {
            Body::Produce { .. } if self.append_ms > 0 => self.hold_for_append(message, kernel),
            Body::Produce { .. } => self.handle_produce(message, kernel),
            Body::ReplicaFetch { .. } | Body::Fetch { .. } => self.handle_fetch(message, kernel),
            Body::ReplicaFetchResponse(parts)
                if self.append_ms > 0 && message.body.record_count() > 0 =>
            {
                debug_assert!(!parts.is_empty(), "records come in partitions");
                self.hold_for_append(message, kernel);
            }
            Body::ReplicaFetchResponse(_) => self.handle_replica_fetch_response(message, kernel),
            Body::Metadata => {
                kernel.answer(message, Body::MetadataResponse(Arc::clone(&self.image)));
            }
            Body::ApiVersions => kernel.answer(message, Body::ApiVersionsResponse),
            Body::ListOffsets { partitions } => {
                self.handle_list_offsets(message, partitions, kernel);
            }
            Body::ListOffsetsResponse(found) => self.handle_log_ends(message, found, kernel),
            Body::FindCoordinator { group } => {
                let found = self.find_coordinator(group);
                kernel.answer(message, Body::FindCoordinatorResponse(found));
            }
            Body::JoinGroup(_) => self.handle_join(message, kernel),
            Body::SyncGroup(_) => self.handle_sync(message, kernel),
            Body::LeaveGroup { .. } => self.handle_leave(message, kernel),
            Body::OffsetForLeaderEpoch(asked) => {
                let ends = asked.iter().map(|one| (one.partition.clone(), self.epoch_end(one)));
                kernel.answer(message, Body::OffsetForLeaderEpochResponse(ends.collect()));
            }
            Body::OffsetFetch { .. } => self.handle_offset_fetch(message, kernel),
            Body::Transaction(body) => self.handle_transaction(message, body, kernel),
            Body::InitProducerId => {
                let id = self.next_producer_id();
                kernel.answer(message, Body::InitProducerIdResponse(id));
            }
            Body::OffsetCommit { .. } => self.handle_offset_commit(message, kernel),
            Body::ConsumerGroupHeartbeat(_) | Body::ShareGroupHeartbeat(_) => {
                self.handle_group_beat(message, kernel);
            }
            Body::Heartbeat { .. } => self.handle_classic_heartbeat(message, kernel),
            Body::BrokerRegistrationResponse(result) => self.handle_registered(*result, kernel),
            Body::BrokerHeartbeatResponse { error, fenced, should_shut_down } => {
                self.handle_heartbeat_response((*error, *fenced), *should_shut_down, kernel);
            }
            Body::QuorumFetchResponse(fetched) => self.handle_metadata(fetched, kernel),
            Body::AlterPartitionResponse(result) => {
                self.handle_alter_partition_response(result, kernel);
            }
            _ => self.receive_of_share_group(message, kernel),
        }
        kernel.handled(message.id);
    }

    /// Takes a message about a share group.
    fn receive_of_share_group(&mut self, message: &Message, kernel: &mut Kernel) {
        match &*message.body {
            Body::ShareFetch(_) | Body::ShareAcknowledge(_) => {
                self.handle_share_fetch(message, kernel);
            }
            Body::InitializeShareGroupState { .. }
            | Body::ReadShareGroupState(_)
            | Body::WriteShareGroupState(_) => self.handle_share_state(message, kernel),
            Body::InitializeShareGroupStateResponse(_)
            | Body::ReadShareGroupStateResponse(_)
            | Body::WriteShareGroupStateResponse(_) => {
                self.handle_share_state_answer(message, kernel);
            }
            _ => {}
        }
    }

    /// Takes a timer.
    pub fn on_timer(&mut self, timer: Timer, kernel: &mut Kernel) {
        match timer {
            Timer::BrokerHeartbeat => self.send_heartbeat(kernel),
            Timer::RegisterAgain => self.register(kernel),
            Timer::QuorumFetchAgain => self.fetch_metadata(kernel),
            Timer::IsrShrinkCheck => self.check_isr_shrink(kernel),
            Timer::HighWatermarkCheckpoint => self.checkpoint_high_watermarks(kernel),
            Timer::Retention => self.retention_is_due(kernel),
            Timer::TransactionTimeouts => self.abort_timed_out_transactions(kernel),
            Timer::TransactionalIdExpiration => self.forget_transactional_ids(kernel),
            Timer::TransactionMarkers => self.send_all_markers(kernel),
            Timer::VerifyAgain(request) => self.ask_coordinator(request, kernel),
            Timer::Cleaner => self.cleaner_is_due(kernel),
            Timer::ProducerExpiration => self.forget_idle_producers(kernel),
            Timer::AlterPartitionAgain => self.send_proposals(kernel),
            Timer::FetcherWake(leader) => self.wake_fetcher(leader, kernel),
            Timer::HeldRequestExpires(id) => self.expire(id, kernel),
            Timer::Group { group, timer } => self.group_timer(&group, &timer, kernel),
            Timer::OffsetsExpiry => self.expire_offsets(kernel),
            Timer::MemberDeadline { group, member } => {
                self.look_at_member(&group, &member, kernel);
            }
            Timer::ShareLocks { group, partition } => {
                self.expire_share_locks(&group, &partition, kernel);
            }
            Timer::ShareStateAgain(number) => self.errand_again(number, kernel),
            Timer::AppendDone(id) => self.append_done(id, kernel),
            _ => {}
        }
    }

    /// A connection is gone: the request will not be answered.
    pub fn on_disconnect(&mut self, request: MessageId, kernel: &mut Kernel) {
        if self.fetchers.values().any(|fetcher| fetcher.in_flight == Some(request)) {
            self.fetch_failed(request, kernel);
        } else if !self.look_up_failed(request, kernel)
            && !self.markers_lost(request, kernel)
            && !self.question_lost(request, kernel)
            && !self.errand_lost(request, kernel)
        {
            self.controller_unreachable(request, kernel);
        }
    }

    /// The smallest ISR with which `acks=all` writes are taken: `min.insync.replicas`, but never
    /// more than there are replicas (`Partition.effectiveMinIsr`).
    #[must_use]
    pub fn effective_min_isr(&self, partition: &TopicPartition) -> usize {
        let wanted = self.replicas.get(partition).map_or(1, |replica| replica.config.min_isr);
        let known = self.image.partitions.get(partition);
        wanted.min(known.map_or(1, |state| state.replicas.len()))
    }

    /// The circumstances under which a partition's leader rules.
    fn around<R>(
        &self,
        partition: &TopicPartition,
        now_ms: u64,
        rule: impl Fn(&Circumstances<'_>) -> R,
    ) -> R {
        let image = &self.image;
        rule(&Circumstances {
            now_ms,
            lag_time_max_ms: self.settings.lag_time_max_ms,
            min_isr: self.effective_min_isr(partition),
            eligible_epoch: &|broker| {
                image
                    .brokers
                    .get(&broker)
                    .filter(|state| state.is_active())
                    .map(|state| state.epoch)
            },
        })
    }

    /// The next id for an idempotent producer. Kafka's controller hands out blocks of 1000 to
    /// brokers.
    ///
    /// # Differs from Kafka
    /// A broker's block follows from its id, and it needs no second one.
    fn next_producer_id(&mut self) -> i64 {
        self.producer_ids += 1;
        1000 * i64::from(self.id.0) + self.producer_ids - 1
    }

    /// Where a partition's leader is, as far as this broker knows.
    fn hint(&self, partition: &TopicPartition) -> Option<LeaderHint> {
        let state = self.image.partitions.get(partition)?;
        Some(LeaderHint { leader: state.leader, epoch: state.leader_epoch })
    }

    fn hold_for_append(&mut self, message: &Message, kernel: &mut Kernel) {
        kernel.hold(message);
        self.held.insert(message.id, Held::Append(message.clone()));
        kernel.timer(&self.machine, kernel.now_ms + self.append_ms, Timer::AppendDone(message.id));
    }

    fn append_done(&mut self, id: MessageId, kernel: &mut Kernel) {
        let Some(Held::Append(message)) = self.held.remove(&id) else { return };
        match &*message.body {
            Body::Produce { .. } => self.handle_produce(&message, kernel),
            _ => self.handle_replica_fetch_response(&message, kernel),
        }
    }

    /// Moves a leader's high watermark as far as the rules let it, and completes what waited for
    /// that.
    fn advance_high_watermark(&mut self, partition: &TopicPartition, kernel: &mut Kernel) {
        if self.raise_high_watermark(partition, kernel) {
            self.complete_held(partition, kernel);
        }
    }

    /// Moves a leader's high watermark as far as the rules let it; says whether it moved.
    fn raise_high_watermark(&mut self, partition: &TopicPartition, kernel: &mut Kernel) -> bool {
        let Some(replica) = self.replicas.get(partition) else { return false };
        let Some(leader) = replica.leader() else { return false };
        let log_end = replica.log.end_offset();
        let candidate = self.around(partition, kernel.now_ms, |around| {
            if kernel.breaks(Defect::HighWatermarkIgnoresIsr) {
                return Some(log_end);
            }
            let frozen = !kernel.breaks(Defect::HighWatermarkNotFrozen);
            let min_isr = if frozen { around.min_isr } else { 0 };
            leader.high_watermark_candidate(log_end, &Circumstances { min_isr, ..*around })
        });
        let Some(candidate) = candidate else { return false };
        let replica = self.replicas.get_mut(partition).expect("it was there a line ago");
        let before = replica.high_watermark;
        if candidate <= before {
            return false;
        }
        replica.raise_high_watermark(candidate);
        let text = format!("{partition} high watermark {before} -> {candidate}");
        kernel.trace(EventKind::HighWatermark, &self.machine, text);
        kernel.note(Note::Touched(partition.clone()));
        self.note_committed_offsets(partition);
        self.complete_group_writes(partition, kernel);
        self.complete_transaction_writes(partition, kernel);
        true
    }

    fn checkpoint_high_watermarks(&mut self, kernel: &mut Kernel) {
        for replica in self.replicas.values_mut() {
            replica.checkpointed = replica.high_watermark;
        }
        let next = kernel.now_ms + self.settings.checkpoint_interval_ms;
        kernel.timer(&self.machine, next, Timer::HighWatermarkCheckpoint);
    }

    /// The process is killed: memory is gone, the disk stays.
    pub fn lose_memory(&mut self) {
        for replica in self.replicas.values_mut() {
            replica.lose_memory();
        }
        self.held.clear();
        self.watchers.clear();
        self.fetchers.clear();
        self.proposals = IsrProposals::default();
        self.offsets = GroupOffsets::default();
        self.group_writes.clear();
        self.sharing = Sharing::default();
        self.share_states = ShareStates::default();
        self.transactions = Transactions::default();
        self.meters = Meters::default();
        self.life = Life::stopped(self.life.epoch, std::mem::take(&mut self.life.voters));
    }
}
