//! What machines say to each other: Kafka's requests and responses, so far as the model has them.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::error::KafkaError;
use super::ids::{BrokerId, LeaderEpoch, Machine, Offset, TopicPartition};
use super::metadata::{Entry, Image, IsrChange, IsrState};
use super::record::{Batch, StoredBatch};
use super::snapshot::RecordRef;

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

/// One partition of a fetch response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchedPartition {
    /// Which.
    pub partition: TopicPartition,
    /// The offset that was asked for.
    pub offset: Offset,
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
    /// Where the fetcher's log leaves the leader's (KIP-595): the leader's epoch and its end.
    pub diverging: Option<(LeaderEpoch, Offset)>,
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

/// What each member of a group is given.
pub type Assignments = BTreeMap<String, Vec<TopicPartition>>;

/// A consumer asks to be a member of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JoinRequest {
    /// `group.id`.
    pub group: String,
    /// Its member id; none at its first attempt, which only fetches one (KIP-394).
    pub member: Option<String>,
    /// Topics that it subscribes to.
    pub topics: Vec<String>,
    /// How long others may have to wait for it (`max.poll.interval.ms`).
    pub rebalance_timeout_ms: u64,
}

/// A member of the next generation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Joined {
    /// The generation.
    pub generation: i32,
    /// Every member with its topics, for the leader, who assigns; empty for the others.
    pub members: BTreeMap<String, Vec<String>>,
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
    FindCoordinator {
        group: String,
    },
    FindCoordinatorResponse(Result<BrokerId, KafkaError>),
    JoinGroup(JoinRequest),
    JoinGroupResponse(Result<Joined, KafkaError>),
    SyncGroup {
        group: String,
        member: String,
        generation: i32,
        assignments: Assignments,
    },
    SyncGroupResponse(Result<Vec<TopicPartition>, KafkaError>),
    OffsetFetch {
        group: String,
        partitions: Vec<TopicPartition>,
    },
    OffsetFetchResponse(Result<Vec<(TopicPartition, Option<Offset>)>, KafkaError>),
    InitProducerId,
    InitProducerIdResponse(i64),
    Heartbeat {
        group: String,
        member: String,
        generation: i32,
    },
    HeartbeatResponse(Result<(), KafkaError>),
    OffsetCommit {
        group: String,
        member: Option<String>,
        generation: i32,
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

/// What the controller says to each ISR that a leader proposed.
pub type IsrAnswers = Result<Vec<(TopicPartition, Result<IsrState, KafkaError>)>, KafkaError>;

/// Which offset `ListOffsets` asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OffsetSpec {
    /// The log start.
    Earliest,
    /// The high watermark.
    Latest,
    /// The log end, which only replicas ask for.
    LogEnd,
    /// The first record that is not older, in milliseconds from 0 s.
    At(i64),
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

impl Body {
    /// Kafka's API name in snake case; answers end in `_response`.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Body::Produce { .. } => "produce",
            Body::ProduceResponse(_) => "produce_response",
            Body::ReplicaFetch { .. } => "replica_fetch",
            Body::ReplicaFetchResponse(_) => "replica_fetch_response",
            Body::Fetch { .. } => "fetch",
            Body::FetchResponse(_) => "fetch_response",
            Body::Metadata => "metadata",
            Body::MetadataResponse(_) => "metadata_response",
            Body::ApiVersions => "api_versions",
            Body::ApiVersionsResponse => "api_versions_response",
            Body::ListOffsets { .. } => "list_offsets",
            Body::ListOffsetsResponse(_) => "list_offsets_response",
            Body::FindCoordinator { .. } => "find_coordinator",
            Body::FindCoordinatorResponse(_) => "find_coordinator_response",
            Body::JoinGroup(_) => "join_group",
            Body::JoinGroupResponse(_) => "join_group_response",
            Body::SyncGroup { .. } => "sync_group",
            Body::SyncGroupResponse(_) => "sync_group_response",
            Body::OffsetFetch { .. } => "offset_fetch",
            Body::OffsetFetchResponse(_) => "offset_fetch_response",
            Body::InitProducerId => "init_producer_id",
            Body::InitProducerIdResponse(_) => "init_producer_id_response",
            Body::Heartbeat { .. } => "heartbeat",
            Body::HeartbeatResponse(_) => "heartbeat_response",
            Body::OffsetCommit { .. } => "offset_commit",
            Body::OffsetCommitResponse(_) => "offset_commit_response",
            Body::BrokerRegistration { .. } => "broker_registration",
            Body::BrokerRegistrationResponse(_) => "broker_registration_response",
            Body::BrokerHeartbeat(_) => "broker_heartbeat",
            Body::BrokerHeartbeatResponse { .. } => "broker_heartbeat_response",
            Body::AlterPartition { .. } => "alter_partition",
            Body::AlterPartitionResponse(_) => "alter_partition_response",
            Body::Vote { .. } => "vote",
            Body::VoteResponse { .. } => "vote_response",
            Body::BeginQuorumEpoch { .. } => "begin_quorum_epoch",
            Body::QuorumFetch(_) => "quorum_fetch",
            Body::QuorumFetchResponse(_) => "quorum_fetch_response",
        }
    }

    /// How many records are in it.
    #[must_use]
    pub fn record_count(&self) -> u64 {
        match self {
            Body::Produce { batches, .. } => {
                batches.iter().map(|(_, batch)| batch.records.len() as u64).sum()
            }
            Body::ReplicaFetchResponse(parts) | Body::FetchResponse(parts) => {
                fetched(parts).map(|(_, stored)| stored.batch.records.len() as u64).sum()
            }
            _ => 0,
        }
    }

    /// The records in it that have an offset.
    #[must_use]
    pub fn records(&self) -> Vec<RecordRef> {
        let (Body::ReplicaFetchResponse(parts) | Body::FetchResponse(parts)) = self else {
            return Vec::new();
        };
        fetched(parts)
            .flat_map(|(partition, stored)| {
                stored.batch.records.iter().map(|(delta, _)| RecordRef {
                    partition: partition.clone(),
                    offset: stored.base_offset + u64::from(*delta),
                })
            })
            .collect()
    }

    /// The places that a fetch asks for, or that the answer to one is about.
    #[must_use]
    pub fn fetches(&self) -> Vec<RecordRef> {
        let place =
            |partition: &TopicPartition, offset| RecordRef { partition: partition.clone(), offset };
        match self {
            Body::ReplicaFetch { partitions, .. } | Body::Fetch { partitions, .. } => {
                partitions.iter().map(|part| place(&part.partition, part.offset)).collect()
            }
            Body::ReplicaFetchResponse(parts) | Body::FetchResponse(parts) => {
                parts.iter().map(|part| place(&part.partition, part.offset)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The first error in an answer.
    #[must_use]
    pub fn error(&self) -> Option<KafkaError> {
        match self {
            Body::ProduceResponse(parts) => {
                parts.iter().find_map(|part| part.result.as_ref().err().copied())
            }
            Body::ReplicaFetchResponse(parts) | Body::FetchResponse(parts) => {
                parts.iter().find_map(|part| part.result.as_ref().err().copied())
            }
            Body::HeartbeatResponse(result) => result.as_ref().err().copied(),
            Body::ListOffsetsResponse(parts) => {
                parts.iter().find_map(|(_, result)| result.as_ref().err().copied())
            }
            Body::FindCoordinatorResponse(result) => result.as_ref().err().copied(),
            Body::JoinGroupResponse(result) => result.as_ref().err().copied(),
            Body::SyncGroupResponse(result) | Body::OffsetCommitResponse(result) => {
                result.as_ref().err().copied()
            }
            Body::OffsetFetchResponse(result) => result.as_ref().err().copied(),
            Body::BrokerRegistrationResponse(result) => result.as_ref().err().copied(),
            Body::BrokerHeartbeatResponse { error, .. } => *error,
            Body::QuorumFetchResponse(fetched) => fetched.error,
            Body::AlterPartitionResponse(result) => match result {
                Err(error) => Some(*error),
                Ok(parts) => parts.iter().find_map(|(_, result)| result.as_ref().err().copied()),
            },
            _ => None,
        }
    }

    /// What it carries, in a few words.
    #[must_use]
    pub fn carries(&self) -> String {
        if let Some(error) = self.error() {
            return error.name().to_owned();
        }
        match self {
            Body::Produce { .. } => counted(self.record_count(), "record"),
            Body::ProduceResponse(parts) => acknowledged(parts),
            Body::ReplicaFetch { partitions, .. } | Body::Fetch { partitions, .. } => {
                fetch_from(partitions)
            }
            Body::ReplicaFetchResponse(_) | Body::FetchResponse(_) => match self.record_count() {
                0 => "empty reply".to_owned(),
                count => format!("reply with {}", counted(count, "record")),
            },
            Body::OffsetCommit { offsets, .. } => match offsets.as_slice() {
                [(_, offset)] => format!("commit offset {offset}"),
                many => format!("commit {} offsets", many.len()),
            },
            Body::OffsetCommitResponse(_) => "commit stored".to_owned(),
            Body::AlterPartition { changes, .. } => match changes.as_slice() {
                [change] => format!("propose ISR {} for {}", list(&change.isr), change.partition),
                many => format!("propose {} ISR changes", many.len()),
            },
            Body::QuorumFetch(fetch) => format!("metadata from {}", fetch.offset),
            Body::QuorumFetchResponse(fetched) => {
                counted(fetched.entries.len() as u64, "metadata record")
            }
            Body::Vote { epoch, kind: VoteKind::Real, .. } => {
                format!("asks for a vote in epoch {epoch}")
            }
            Body::Vote { .. } => "asks whether it would get votes".to_owned(),
            Body::VoteResponse { granted, .. } => if *granted { "yes" } else { "no" }.to_owned(),
            Body::BeginQuorumEpoch { epoch } => format!("leads the quorum in epoch {epoch}"),
            other => other.kind().replace('_', " ").replace(" response", " reply"),
        }
    }
}

fn fetched(parts: &[FetchedPartition]) -> impl Iterator<Item = (&TopicPartition, &StoredBatch)> {
    parts
        .iter()
        .filter_map(|part| part.result.as_ref().ok().map(|data| (&part.partition, data)))
        .flat_map(|(partition, data)| data.batches.iter().map(move |stored| (partition, stored)))
}

fn acknowledged(parts: &[ProducedPartition]) -> String {
    match parts {
        [part] => part
            .result
            .map_or_else(|e| e.name().to_owned(), |offset| format!("ack: offset {offset}")),
        many => format!("ack: {} partitions", many.len()),
    }
}

fn fetch_from(partitions: &[FetchPartition]) -> String {
    let mut own = partitions.iter().filter(|part| !part.partition.is_internal());
    match (own.next(), own.next()) {
        (Some(part), None) => format!("fetch from {}", part.offset),
        _ => format!("fetch {}", counted(partitions.len() as u64, "partition")),
    }
}

/// `1 record`, `2 records`.
#[must_use]
pub fn counted(count: u64, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// `[1, 2, 3]`.
#[must_use]
pub fn list<'a>(brokers: impl IntoIterator<Item = &'a BrokerId>) -> String {
    let ids: Vec<String> = brokers.into_iter().map(ToString::to_string).collect();
    format!("[{}]", ids.join(", "))
}
