//! Topics and where their partitions are: creation, deletion, growth, reassignment.
//!
//! Follows `ReplicationControlManager.createTopics`, `deleteTopics`, `createPartitions`,
//! `alterPartitionReassignments`. The administrator's request is handled when the action comes.
//!
//! # Differs from Kafka
//! The administrator talks to the active controller without a network in between.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::sim::error::KafkaError;
use crate::sim::ids::{BrokerId, TopicPartition};
use crate::sim::kernel::Kernel;
use crate::sim::metadata::{Change, PartitionState, TopicState};
use crate::sim::settings::Effective;
use crate::sim::world::TopicSpec;

use super::Controller;
use super::placement::{UsableBroker, place};

/// Partitions of one request (`ReplicationControlManager.MAX_PARTITIONS_PER_BATCH`).
const REQUEST_PARTITIONS_MAX: usize = 10_000;

impl Controller {
    /// Creates a topic.
    ///
    /// # Errors
    /// `POLICY_VIOLATION` for too many partitions, `TOPIC_ALREADY_EXISTS`,
    /// `INVALID_TOPIC_EXCEPTION`, `INVALID_PARTITIONS`, `INVALID_REPLICATION_FACTOR`,
    /// `INVALID_REPLICA_ASSIGNMENT`.
    pub fn create_topic(
        &mut self,
        spec: &TopicSpec,
        kernel: &mut Kernel,
    ) -> Result<(), KafkaError> {
        let config = Effective::of(&self.image.config);
        let default = |name: &str| u32::try_from(config.count(name)).unwrap_or(u32::MAX);
        let count = spec.partitions.unwrap_or_else(|| default("num.partitions"));
        let asked = spec.assignment.as_ref().map(Vec::len);
        let asked = asked.unwrap_or(usize::try_from(count).unwrap_or(usize::MAX));
        if asked > REQUEST_PARTITIONS_MAX {
            return Err(KafkaError::PolicyViolation);
        }
        self.check_name(&spec.name)?;
        let factor =
            spec.replication_factor.unwrap_or_else(|| default("default.replication.factor"));
        let assignment = match &spec.assignment {
            Some(assignment) => assignment.clone(),
            None if count == 0 => return Err(KafkaError::InvalidPartitions),
            None => self.place(count, factor, kernel)?,
        };
        let factor = assignment.first().map_or(0, Vec::len);
        self.check_assignment(&assignment, factor)?;
        let state = TopicState {
            id: self.image.offset,
            partition_count: u32::try_from(assignment.len()).unwrap_or(u32::MAX),
            replication_factor: u32::try_from(factor).unwrap_or(u32::MAX),
            config: spec.config.clone(),
        };
        self.decide(Change::Topic(spec.name.clone(), Some(Arc::new(state))), kernel);
        self.add_partitions(&spec.name, 0, assignment, kernel);
        Ok(())
    }

    /// A name that is free and does not collide: in metric names `.` and `_` are the same.
    fn check_name(&self, name: &str) -> Result<(), KafkaError> {
        if self.image.topics.contains_key(name) {
            return Err(KafkaError::TopicAlreadyExists);
        }
        let plain = |name: &str| name.replace('.', "_");
        if self.image.topics.keys().any(|other| plain(other) == plain(name)) {
            return Err(KafkaError::InvalidTopicException);
        }
        Ok(())
    }

    fn place(
        &self,
        count: u32,
        factor: u32,
        kernel: &mut Kernel,
    ) -> Result<Vec<Vec<BrokerId>>, KafkaError> {
        let usable: Vec<UsableBroker> = self
            .image
            .brokers
            .iter()
            .filter(|(_, state)| !state.in_controlled_shutdown)
            .map(|(id, state)| UsableBroker {
                id: *id,
                rack: state.rack.clone(),
                fenced: state.fenced,
            })
            .collect();
        let factor = usize::try_from(factor).unwrap_or(usize::MAX);
        place(&usable, count, factor, &mut kernel.rng)
    }

    /// Every list names known brokers, none twice, and all are of one length.
    fn check_assignment(&self, lists: &[Vec<BrokerId>], factor: usize) -> Result<(), KafkaError> {
        let good = |replicas: &Vec<BrokerId>| {
            let distinct: BTreeSet<&BrokerId> = replicas.iter().collect();
            !replicas.is_empty()
                && replicas.len() == factor
                && distinct.len() == replicas.len()
                && replicas.iter().all(|broker| self.image.brokers.contains_key(broker))
        };
        if lists.iter().all(good) { Ok(()) } else { Err(KafkaError::InvalidReplicaAssignment) }
    }

    /// New partitions from number `first` on; fenced brokers are not in sync, and the first replica
    /// that is leads.
    fn add_partitions(
        &mut self,
        topic: &str,
        first: u32,
        lists: Vec<Vec<BrokerId>>,
        kernel: &mut Kernel,
    ) {
        for (number, replicas) in (first..).zip(lists) {
            let mut isr: Vec<BrokerId> =
                replicas.iter().copied().filter(|broker| self.image.is_active(*broker)).collect();
            let leader = isr.first().copied();
            isr.sort_unstable();
            let state = PartitionState { replicas, isr, leader, ..PartitionState::default() };
            let partition = TopicPartition::new(topic, number);
            self.decide(Change::Partition(partition, Arc::new(state)), kernel);
        }
    }

    /// Deletes a topic with its partitions.
    ///
    /// # Errors
    /// `UNKNOWN_TOPIC_OR_PARTITION`.
    pub fn delete_topic(&mut self, topic: &str, kernel: &mut Kernel) -> Result<(), KafkaError> {
        if !self.image.topics.contains_key(topic) {
            return Err(KafkaError::UnknownTopicOrPartition);
        }
        self.decide(Change::Topic(topic.to_owned(), None), kernel);
        Ok(())
    }

    /// Adds partitions up to `total`; there can never be fewer.
    ///
    /// # Errors
    /// `UNKNOWN_TOPIC_OR_PARTITION`, `INVALID_PARTITIONS`, `INVALID_REPLICA_ASSIGNMENT`,
    /// `INVALID_REPLICATION_FACTOR`.
    pub fn create_partitions(
        &mut self,
        topic: &str,
        total: u32,
        assignment: Option<Vec<Vec<BrokerId>>>,
        kernel: &mut Kernel,
    ) -> Result<(), KafkaError> {
        let known = self.image.topics.get(topic).cloned();
        let state = known.ok_or(KafkaError::UnknownTopicOrPartition)?;
        if total <= state.partition_count {
            return Err(KafkaError::InvalidPartitions);
        }
        let added = total - state.partition_count;
        let lists = match assignment {
            Some(lists) => lists,
            None => self.place(added, state.replication_factor, kernel)?,
        };
        if u32::try_from(lists.len()) != Ok(added) {
            return Err(KafkaError::InvalidReplicaAssignment);
        }
        self.check_assignment(
            &lists,
            usize::try_from(state.replication_factor).unwrap_or(usize::MAX),
        )?;
        let grown = TopicState { partition_count: total, ..(*state).clone() };
        self.decide(Change::Topic(topic.to_owned(), Some(Arc::new(grown))), kernel);
        self.add_partitions(topic, state.partition_count, lists, kernel);
        Ok(())
    }

    /// Moves a partition to other replicas.
    ///
    /// # Errors
    /// `UNKNOWN_TOPIC_OR_PARTITION`, `INVALID_REPLICA_ASSIGNMENT`.
    pub fn reassign(
        &mut self,
        partition: &TopicPartition,
        replicas: &[BrokerId],
        kernel: &mut Kernel,
    ) -> Result<(), KafkaError> {
        let state = self.image.partitions.get(partition).cloned();
        let state = state.ok_or(KafkaError::UnknownTopicOrPartition)?;
        self.check_assignment(&[replicas.to_vec()], replicas.len())?;
        self.begin_reassignment(partition, &state, replicas, kernel);
        Ok(())
    }
}
