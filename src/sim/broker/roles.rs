//! What a broker does when the metadata change its part in a partition.
//!
//! Follows `ReplicaManager.applyDelta`, `Partition.makeLeader`, `Partition.makeFollower`.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::sim::check::Note;
use crate::sim::ids::{BrokerId, TopicPartition};
use crate::sim::kernel::Kernel;
use crate::sim::log::LogConfig;
use crate::sim::message::list;
use crate::sim::metadata::{IsrState, PartitionState};
use crate::sim::replication::{LeaderState, RemoteReplica};
use crate::sim::trace::EventKind;

use super::{Broker, Replica, Role};

impl Broker {
    /// Takes its part in a partition.
    pub(super) fn apply_partition(
        &mut self,
        partition: &TopicPartition,
        state: &PartitionState,
        kernel: &mut Kernel,
    ) {
        let topic_id = self.image.topics.get(&partition.topic).map_or(0, |topic| topic.id);
        // A log of an earlier topic of the same name is not this one's.
        if self.replicas.get(partition).is_some_and(|replica| replica.topic_id != topic_id) {
            self.drop_replica(partition, kernel);
        }
        if !state.replicas.contains(&self.id) {
            self.drop_replica(partition, kernel);
            return;
        }
        if !self.replicas.contains_key(partition) {
            let replica = Replica::empty(topic_id, self.log_config(&partition.topic));
            self.replicas.insert(partition.clone(), replica);
        }
        match state.leader {
            Some(leader) if leader == self.id => self.lead(partition, state, kernel),
            leader => self.follow_leader(partition, state, leader, kernel),
        }
    }

    /// A topic's settings for its logs, in force here.
    fn log_config(&self, topic: &str) -> Arc<LogConfig> {
        Arc::new(match self.image.topics.get(topic) {
            Some(topic) => LogConfig::read(&topic.config, &self.config),
            None => LogConfig::default(),
        })
    }

    /// Settings have changed, of one topic or of this broker: logs go by them from now on.
    pub(super) fn read_log_configs(&mut self, only: Option<&str>) {
        let topics: BTreeSet<String> = self
            .replicas
            .keys()
            .map(|partition| &partition.topic)
            .filter(|topic| only.is_none_or(|only| only == topic.as_str()))
            .cloned()
            .collect();
        for topic in topics {
            let config = self.log_config(&topic);
            let first = TopicPartition::new(topic.clone(), 0);
            let logs = self.replicas.range_mut(first..);
            for (_, replica) in logs.take_while(|(partition, _)| partition.topic == topic) {
                replica.config = Arc::clone(&config);
            }
        }
    }

    /// Deletes a replica with its log.
    fn drop_replica(&mut self, partition: &TopicPartition, kernel: &mut Kernel) {
        if self.replicas.remove(partition).is_some() {
            self.unfollow(partition);
            self.drop_proposal(partition);
            self.dismiss_members(partition, kernel);
            self.offsets.unload(partition);
            self.sharing.unload(partition);
            self.share_states.unload(partition);
            self.unload_transactions(partition, kernel);
            kernel.trace(
                EventKind::RoleChange,
                &self.machine,
                format!("deletes its replica of {partition}"),
            );
            self.complete_held(partition, kernel);
        }
    }

    /// A topic is gone: its replicas go, and with them what groups had committed for it.
    pub(super) fn apply_topic_deletion(&mut self, topic: &str, kernel: &mut Kernel) {
        let gone: Vec<TopicPartition> =
            self.replicas.keys().filter(|partition| partition.topic == *topic).cloned().collect();
        for partition in gone {
            self.drop_replica(&partition, kernel);
        }
        self.forget_offsets_of(topic, kernel);
    }

    fn lead(&mut self, partition: &TopicPartition, state: &PartitionState, kernel: &mut Kernel) {
        let replica = self.replicas.get_mut(partition).expect("made before it is given a role");
        if replica.leader().is_some() && replica.leader_epoch == state.leader_epoch {
            let isr = IsrState {
                isr: state.isr.clone(),
                leader_epoch: state.leader_epoch,
                partition_epoch: state.partition_epoch,
            };
            self.note_assignment(partition, state);
            self.take_isr(partition, &isr, kernel);
            return;
        }
        let epoch_start = replica.log.end_offset();
        replica.leader_epoch = state.leader_epoch;
        replica.log.note_epoch(state.leader_epoch, epoch_start);
        replica.role = Role::Leader(new_leader_state(self.id, state, epoch_start, kernel.now_ms));
        self.unfollow(partition);
        let text = format!(
            "leads {partition} from epoch {} on, ISR {}",
            state.leader_epoch,
            list(&state.isr)
        );
        kernel.trace(EventKind::RoleChange, &self.machine, text);
        kernel.note(Note::Touched(partition.clone()));
        self.sharing.unload(partition);
        self.load_offsets(partition);
        self.watch_members(partition, kernel);
        self.load_transactions(partition, kernel);
        self.restart_member_sessions(partition, kernel);
        self.advance_high_watermark(partition, kernel);
        // Fetches that were held here as a follower's belong to another epoch now.
        self.complete_held(partition, kernel);
    }

    /// A leader that stays takes note of who is a replica now.
    fn note_assignment(&mut self, partition: &TopicPartition, state: &PartitionState) {
        let me = self.id;
        let Some(leader) =
            self.replicas.get_mut(partition).and_then(|replica| replica.leader_mut())
        else {
            return;
        };
        leader.remotes.retain(|broker, _| state.replicas.contains(broker));
        for broker in state.replicas.iter().filter(|broker| **broker != me) {
            leader.remotes.entry(*broker).or_insert_with(|| RemoteReplica::under_new_leader(None));
        }
    }

    fn follow_leader(
        &mut self,
        partition: &TopicPartition,
        state: &PartitionState,
        leader: Option<BrokerId>,
        kernel: &mut Kernel,
    ) {
        let replica = self.replicas.get_mut(partition).expect("made before it is given a role");
        let same =
            replica.role == Role::Follower(leader) && replica.leader_epoch == state.leader_epoch;
        let follows = leader.is_none_or(|leader| {
            self.fetchers
                .get(&leader)
                .is_some_and(|fetcher| fetcher.partitions.contains_key(partition))
        });
        if same && follows {
            return;
        }
        replica.role = Role::Follower(leader);
        replica.leader_epoch = state.leader_epoch;
        self.drop_proposal(partition);
        self.dismiss_members(partition, kernel);
        self.offsets.unload(partition);
        self.sharing.unload(partition);
        self.share_states.unload(partition);
        self.unload_transactions(partition, kernel);
        let text = match leader {
            Some(leader) => {
                format!("follows broker-{leader} for {partition}, epoch {}", state.leader_epoch)
            }
            None => format!("{partition} has no leader, epoch {}", state.leader_epoch),
        };
        kernel.trace(EventKind::RoleChange, &self.machine, text);
        self.complete_held(partition, kernel);
        match leader {
            Some(leader) => self.follow(partition, leader, kernel),
            None => self.unfollow(partition),
        }
    }

    /// After a start: takes its part in every partition that the image knows.
    pub(super) fn apply_image(&mut self, kernel: &mut Kernel) {
        let image = Arc::clone(&self.image);
        let gone: Vec<TopicPartition> = self
            .replicas
            .keys()
            .filter(|partition| !image.partitions.contains_key(*partition))
            .cloned()
            .collect();
        for partition in gone {
            self.drop_replica(&partition, kernel);
        }
        for (partition, state) in &image.partitions {
            self.apply_partition(partition, state, kernel);
        }
    }
}

/// A new leader does not know its followers' log ends until they fetch; members of the ISR count as
/// caught up now (`Partition.makeLeader`).
fn new_leader_state(
    me: BrokerId,
    state: &PartitionState,
    epoch_start: crate::sim::ids::Offset,
    now_ms: u64,
) -> LeaderState {
    let followers = state.replicas.iter().filter(|replica| **replica != me);
    LeaderState {
        epoch_start,
        isr: state.isr.clone(),
        proposed_isr: None,
        partition_epoch: state.partition_epoch,
        remotes: followers
            .map(|replica| {
                let in_sync = state.isr.contains(replica).then_some(now_ms);
                (*replica, RemoteReplica::under_new_leader(in_sync))
            })
            .collect(),
        recovering: state.recovering,
    }
}
