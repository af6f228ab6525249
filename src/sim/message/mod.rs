//! What machines say to each other: Kafka's requests and responses, so far as the model has them.

mod describe;
mod group;
mod share;

use std::sync::Arc;

use super::error::KafkaError;
use super::ids::{BrokerId, LeaderEpoch, Machine, Offset, TopicPartition};
use super::metadata::{Entry, Image, IsrChange, IsrState};
use super::record::{Batch, StoredBatch};
use crate::sim::log::Aborted;
use crate::sim::txn::message::TransactionBody;

pub use describe::{counted, list};
pub use group::{
    BeatAnswer, GroupBeat, JoinAnswer, JoinRequest, Joined, Speaker, SyncAnswer, SyncRequest,
};
pub use share::{
    ReadState, Said, Settled, ShareAcknowledge, ShareFetch, ShareFetched, Shared, StateRead,
};

/// A message by the order of sending.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MessageId(pub u64);

/// A message under way, or a request that is held at its receiver.
#[derive(Clone, Debug)]
pub struct Message {
    /// Its id.
    pub id: MessageId,
    /// Who sent it.
    pub from: Machine,
    /// Who gets it.
    pub to: Machine,
    /// The request that it answers.
    pub answers: Option<MessageId>,
    /// What it says.
    pub body: Arc<Body>,
}

/// Where a partition's leader is, as far as the one who says it knows (KIP-951).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeaderHint {
    /// The leader; `None` while there is none.
    pub leader: Option<BrokerId>,
    /// Its epoch.
    pub epoch: LeaderEpoch,
}

/// One partition of a fetch request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchPartition {
    /// Which.
    pub partition: TopicPartition,
    /// The first offset wanted.
    pub offset: Offset,
    /// The epoch of the last record that the fetcher has (replicas only).
    pub last_fetched_epoch: Option<LeaderEpoch>,
    /// The leader epoch that the fetcher knows.
    pub leader_epoch: LeaderEpoch,
}

/// One partition of an `OffsetForLeaderEpoch` request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EpochQuestion {
    /// Which.
    pub partition: TopicPartition,
    /// The leader epoch that the one who asks knows.
    pub leader_epoch: LeaderEpoch,
    /// The epoch whose end is asked for.
    pub epoch: LeaderEpoch,
}

/// One partition of a fetch response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchedPartition {
    /// Which.
    pub partition: TopicPartition,
    /// The offset that was asked for.
    pub offset: Offset,
    /// The leader epoch that was asked under.
    pub leader_epoch: LeaderEpoch,
    /// What was read, or why nothing was.
    pub result: Result<FetchedData, KafkaError>,
    /// Where the leader is, if not here.
    pub hint: Option<LeaderHint>,
}

/// What a fetch read from one partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchedData {
    /// The batches.
    pub batches: Vec<StoredBatch>,
    /// The high watermark of the one who answers, from before it took note of this fetch.
    pub high_watermark: Offset,
    /// The start of its log.
    pub log_start: Offset,
    /// Aborted transactions among them, for who reads committed records only.
    pub aborted: Vec<Aborted>,
    /// Where the fetcher's log leaves the leader's (KIP-595): the leader's epoch and its end.
    pub diverging: Option<(LeaderEpoch, Offset)>,
    /// The replica that a consumer had better read from (KIP-392).
    pub preferred: Option<BrokerId>,
}

/// The answer for one partition of a produce request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProducedPartition {
    /// Which.
    pub partition: TopicPartition,
    /// The first record's offset, or why it was refused.
    pub result: Result<Offset, KafkaError>,
    /// Where the leader is, if not here.
    pub hint: Option<LeaderHint>,
}

/// A broker's heartbeat to the controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BrokerHeartbeat {
    /// Who.
    pub broker: BrokerId,
    /// The epoch of its registration.
    pub broker_epoch: u64,
    /// How much of the metadata log it has applied.
    pub metadata_offset: u64,
    /// Whether it wants to shut down (`wantShutDown`).
    pub wants_shutdown: bool,
    /// Whether it wants to be unfenced.
    pub wants_unfence: bool,
}

/// The end of a metadata log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LogEnd {
    /// The quorum's epoch of its last entry.
    pub epoch: u32,
    /// The offset after it.
    pub offset: u64,
}

/// A voter or a broker asks for metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuorumFetch {
    /// The first offset wanted.
    pub offset: u64,
    /// The epoch of the entry before it.
    pub last_epoch: u32,
    /// What it knows to be committed (KIP-1166).
    pub committed: u64,
    /// The quorum's epoch that it knows.
    pub epoch: u32,
}

/// The answer to a metadata fetch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuorumFetched {
    /// The entries from the offset asked for on.
    pub entries: Vec<Arc<Entry>>,
    /// Everything below it is committed.
    pub committed: u64,
    /// The log of the one who asked leaves this one's here: it has to be cut.
    pub diverging: Option<u64>,
    /// Why there is nothing.
    pub error: Option<KafkaError>,
    /// The active controller and its epoch, as far as the one who answers knows.
    pub leader: Option<(Machine, u32)>,
}

/// Whether a vote counts (KIP-996).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VoteKind {
    /// A question whether an election would be won; nothing changes by it.
    Preliminary,
    /// An election.
    Real,
}

/// What a message says.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the fields are those of Kafka's request of the same name")]
pub enum Body {
    Produce {
        acks: Acks,
        transactional_id: Option<String>,
        timeout_ms: u64,
        batches: Vec<(TopicPartition, Arc<Batch>)>,
    },
    ProduceResponse(Vec<ProducedPartition>),
    ReplicaFetch {
        broker_epoch: u64,
        max_wait_ms: u64,
        partitions: Vec<FetchPartition>,
    },
    ReplicaFetchResponse(Vec<FetchedPartition>),
    Fetch {
        max_wait_ms: u64,
        min_bytes: u64,
        max_bytes: u64,
        partition_max_bytes: u64,
        rack: String,
        isolation: Isolation,
        partitions: Vec<FetchPartition>,
    },
    FetchResponse(Vec<FetchedPartition>),
    Metadata,
    MetadataResponse(Arc<Image>),
    ApiVersions,
    ApiVersionsResponse,
    ListOffsets {
        partitions: Vec<(TopicPartition, OffsetSpec)>,
    },
    ListOffsetsResponse(Vec<(TopicPartition, Result<Option<Offset>, KafkaError>)>),
    OffsetForLeaderEpoch(Vec<EpochQuestion>),
    OffsetForLeaderEpochResponse(Vec<(TopicPartition, Result<EpochEnd, KafkaError>)>),
    FindCoordinator {
        group: String,
    },
    FindCoordinatorResponse(Result<BrokerId, KafkaError>),
    JoinGroup(JoinRequest),
    JoinGroupResponse(JoinAnswer),
    SyncGroup(SyncRequest),
    SyncGroupResponse(SyncAnswer),
    LeaveGroup {
        group: String,
        member: String,
        instance: Option<String>,
    },
    LeaveGroupResponse(Result<(), KafkaError>),
    OffsetFetch {
        group: String,
        /// Who asks; a member of a classic group does not say.
        speaker: Option<Speaker>,
        partitions: Vec<TopicPartition>,
    },
    OffsetFetchResponse(Result<Vec<(TopicPartition, Option<Offset>)>, KafkaError>),
    /// About transactions.
    Transaction(TransactionBody),
    InitProducerId,
    InitProducerIdResponse(i64),
    Heartbeat {
        group: String,
        speaker: Speaker,
    },
    HeartbeatResponse(Result<(), KafkaError>),
    ConsumerGroupHeartbeat(GroupBeat),
    ConsumerGroupHeartbeatResponse(Result<BeatAnswer, KafkaError>),
    ShareGroupHeartbeat(GroupBeat),
    ShareGroupHeartbeatResponse(Result<BeatAnswer, KafkaError>),
    ShareFetch(ShareFetch),
    ShareFetchResponse(ShareFetched),
    ShareAcknowledge(ShareAcknowledge),
    ShareAcknowledgeResponse(Settled),
    InitializeShareGroupState {
        group: String,
        partitions: Vec<TopicPartition>,
    },
    InitializeShareGroupStateResponse(Result<(), KafkaError>),
    ReadShareGroupState(ReadState),
    ReadShareGroupStateResponse(StateRead),
    WriteShareGroupState(crate::sim::share::StateChange),
    WriteShareGroupStateResponse(Result<(), KafkaError>),
    OffsetCommit {
        group: String,
        speaker: Option<Speaker>,
        offsets: Vec<(TopicPartition, Offset)>,
    },
    OffsetCommitResponse(Result<Vec<TopicPartition>, KafkaError>),
    BrokerRegistration {
        broker: BrokerId,
        previous_epoch: Option<u64>,
    },
    BrokerRegistrationResponse(Result<u64, KafkaError>),
    BrokerHeartbeat(BrokerHeartbeat),
    BrokerHeartbeatResponse {
        error: Option<KafkaError>,
        fenced: bool,
        should_shut_down: bool,
    },
    AlterPartition {
        broker: BrokerId,
        broker_epoch: u64,
        changes: Vec<IsrChange>,
    },
    AlterPartitionResponse(IsrAnswers),
    QuorumFetch(QuorumFetch),
    QuorumFetchResponse(QuorumFetched),
    Vote {
        epoch: u32,
        log: LogEnd,
        kind: VoteKind,
    },
    VoteResponse {
        epoch: u32,
        kind: VoteKind,
        granted: bool,
    },
    BeginQuorumEpoch {
        epoch: u32,
    },
}

/// Where a leader epoch ends: the largest epoch that is not larger than the one asked for, with its
/// end; `None` if the leader does not know any.
pub type EpochEnd = Option<(LeaderEpoch, Offset)>;

/// What the controller says to each ISR that a leader proposed.
pub type IsrAnswers = Result<Vec<(TopicPartition, Result<IsrState, KafkaError>)>, KafkaError>;

/// Which offset `ListOffsets` asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OffsetSpec {
    /// The log start.
    Earliest,
    /// The high watermark.
    Latest,
    /// The last stable offset.
    LatestStable,
    /// The log end, which only replicas ask for.
    LogEnd,
    /// The first record that is not older, in milliseconds from 0 s.
    At(i64),
}

/// `isolation.level`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isolation {
    /// Everything below the high watermark.
    Uncommitted,
    /// What is below the last stable offset, without what was aborted.
    Committed,
}

/// `acks`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acks {
    /// 0: no answer.
    None,
    /// 1: the leader has it.
    Leader,
    /// `all` or -1: every in-sync replica has it.
    All,
}
