//! What members of share groups, partition leaders and share coordinators say to each other.

use crate::sim::error::KafkaError;
use crate::sim::ids::{LeaderEpoch, TopicPartition};
use crate::sim::record::StoredBatch;
use crate::sim::share::{Acknowledgement, Acquired, SavedState};

use super::LeaderHint;

/// What a member says about records of one partition.
pub type Said = (TopicPartition, Vec<Acknowledgement>);

/// A member of a share group asks a leader for records, and says what became of earlier ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShareFetch {
    /// `group.id`.
    pub group: String,
    /// Its member id.
    pub member: String,
    /// How long it waits, in milliseconds.
    pub max_wait_ms: u64,
    /// About how many records it takes (`max.poll.records`).
    pub max_records: u64,
    /// Whether it never takes more than that (`share.acquire.mode`).
    pub exact: bool,
    /// How many bytes of each partition.
    pub max_bytes: u64,
    /// The partitions that it wants records of.
    pub partitions: Vec<TopicPartition>,
    /// What it says about records that it holds.
    pub said: Vec<Said>,
}

/// A member of a share group says what became of records, without asking for more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShareAcknowledge {
    /// `group.id`.
    pub group: String,
    /// Its member id.
    pub member: String,
    /// What it says.
    pub said: Vec<Said>,
    /// Whether its session at this leader is over: what it holds is free.
    pub closes: bool,
}

/// What a leader answers for one partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shared {
    /// Which.
    pub partition: TopicPartition,
    /// The batches that hold the records.
    pub batches: Vec<StoredBatch>,
    /// What of them the member has got.
    pub acquired: Vec<Acquired>,
    /// Why there is nothing.
    pub error: Option<KafkaError>,
    /// Where the leader is, if not here.
    pub hint: Option<LeaderHint>,
}

/// The answer to what a member said, by partition.
pub type Settled = Vec<(TopicPartition, Result<(), KafkaError>)>;

/// The answer to a share fetch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShareFetched {
    /// Records.
    pub parts: Vec<Shared>,
    /// What became of what the member said.
    pub settled: Settled,
}

/// A partition's leader asks the share coordinator where a group stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadState {
    /// `group.id`.
    pub group: String,
    /// Which partition.
    pub partition: TopicPartition,
    /// The epoch of the one who asks.
    pub leader_epoch: LeaderEpoch,
}

/// Where a group stands.
pub type StateRead = Result<SavedState, KafkaError>;
