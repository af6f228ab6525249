//! Share groups (KIP-932): what becomes of the records of a partition that several members share.
//!
//! It knows no network and no log. The partition's leader keeps a [`SharePartition`] for each
//! group; what must outlive that leader is a [`SavedState`], which the share coordinator keeps in
//! `__share_group_state`.

mod acknowledge;
mod acquire;
mod partition;
mod saved;
#[cfg(test)]
mod tests;

use super::group::java_string_hash;
use super::ids::TopicPartition;

pub use acknowledge::{Acknowledgement, Verdict};
pub use acquire::{Acquired, Limits, Offered};
pub use partition::{Phase, SharePartition};
pub use saved::{Saved, SavedState, SavedStates, StateChange};

/// The topic that holds the state of share groups.
pub const STATE_TOPIC: &str = "__share_group_state";

/// The partition of `__share_group_state` that holds a group's state of one partition: Java's hash
/// of `group:topic id:partition`, made positive, modulo the number of partitions
/// (`SharePartitionKey.asCoordinatorKey`, `ShareCoordinatorService.partitionFor`).
///
/// # Differs from Kafka
/// The topic's name stands for its id, which Kafka draws at random.
#[must_use]
pub fn state_home_of(group: &str, of: &TopicPartition, partition_count: u32) -> TopicPartition {
    let hash = java_string_hash(&format!("{group}:{}:{}", of.topic, of.partition));
    let positive = if hash == i32::MIN { 0 } else { hash.unsigned_abs() };
    TopicPartition::new(STATE_TOPIC, positive % partition_count.max(1))
}
