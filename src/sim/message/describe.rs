//! Messages in words, for the trace and for pictures: kinds, errors, what is carried.

use crate::sim::error::KafkaError;
use crate::sim::ids::{BrokerId, TopicPartition};
use crate::sim::record::StoredBatch;
use crate::sim::snapshot::RecordRef;

use crate::sim::share::Acquired;

use super::{Body, FetchPartition, FetchedPartition, ProducedPartition, Said, Settled, VoteKind};

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
            Body::LeaveGroup { .. } => "leave_group",
            Body::LeaveGroupResponse(_) => "leave_group_response",
            Body::OffsetForLeaderEpoch(_) => "offset_for_leader_epoch",
            Body::OffsetForLeaderEpochResponse(_) => "offset_for_leader_epoch_response",
            Body::OffsetFetch { .. } => "offset_fetch",
            Body::OffsetFetchResponse(_) => "offset_fetch_response",
            Body::Transaction(body) => body.kind(),
            Body::InitProducerId => "init_producer_id",
            Body::InitProducerIdResponse(_) => "init_producer_id_response",
            Body::Heartbeat { .. } => "heartbeat",
            Body::HeartbeatResponse(_) => "heartbeat_response",
            Body::ConsumerGroupHeartbeat(_) => "consumer_group_heartbeat",
            Body::ConsumerGroupHeartbeatResponse(_) => "consumer_group_heartbeat_response",
            Body::ShareGroupHeartbeat(_) => "share_group_heartbeat",
            Body::ShareGroupHeartbeatResponse(_) => "share_group_heartbeat_response",
            Body::ShareFetch(_) => "share_fetch",
            Body::ShareFetchResponse(_) => "share_fetch_response",
            Body::ShareAcknowledge(_) => "share_acknowledge",
            Body::ShareAcknowledgeResponse(_) => "share_acknowledge_response",
            Body::InitializeShareGroupState { .. } => "initialize_share_group_state",
            Body::InitializeShareGroupStateResponse(_) => "initialize_share_group_state_response",
            Body::ReadShareGroupState(_) => "read_share_group_state",
            Body::ReadShareGroupStateResponse(_) => "read_share_group_state_response",
            Body::WriteShareGroupState(_) => "write_share_group_state",
            Body::WriteShareGroupStateResponse(_) => "write_share_group_state_response",
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
            Body::ShareFetchResponse(fetched) => {
                let got = fetched.parts.iter().flat_map(|part| &part.acquired);
                got.map(Acquired::count).sum()
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
            Body::HeartbeatResponse(result) | Body::LeaveGroupResponse(result) => {
                result.as_ref().err().copied()
            }
            Body::ConsumerGroupHeartbeatResponse(result)
            | Body::ShareGroupHeartbeatResponse(result) => result.as_ref().err().copied(),
            Body::OffsetForLeaderEpochResponse(parts) => {
                parts.iter().find_map(|(_, result)| result.as_ref().err().copied())
            }
            Body::ListOffsetsResponse(parts) => {
                parts.iter().find_map(|(_, result)| result.as_ref().err().copied())
            }
            Body::FindCoordinatorResponse(result) => result.as_ref().err().copied(),
            Body::JoinGroupResponse(answer) => answer.result.as_ref().err().copied(),
            Body::SyncGroupResponse(result) | Body::OffsetCommitResponse(result) => {
                result.as_ref().err().copied()
            }
            Body::OffsetFetchResponse(result) => result.as_ref().err().copied(),
            Body::ShareFetchResponse(fetched) => {
                let parts = fetched.parts.iter().find_map(|part| part.error);
                parts.or_else(|| first_refusal(&fetched.settled))
            }
            Body::ShareAcknowledgeResponse(settled) => first_refusal(settled),
            Body::ReadShareGroupStateResponse(result) => result.as_ref().err().copied(),
            Body::InitializeShareGroupStateResponse(result)
            | Body::WriteShareGroupStateResponse(result) => result.as_ref().err().copied(),
            Body::BrokerRegistrationResponse(result) => result.as_ref().err().copied(),
            Body::Transaction(body) => body.error(),
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
            Body::ReplicaFetchResponse(_)
            | Body::FetchResponse(_)
            | Body::ShareFetchResponse(_) => match self.record_count() {
                0 => "empty reply".to_owned(),
                count => format!("reply with {}", counted(count, "record")),
            },
            Body::OffsetCommit { offsets, .. } => match offsets.as_slice() {
                [(_, offset)] => format!("commit offset {offset}"),
                many => format!("commit {} offsets", many.len()),
            },
            Body::OffsetCommitResponse(_) => "commit stored".to_owned(),
            Body::ShareFetch(fetch) => match verdicts(&fetch.said) {
                0 => "asks for records".to_owned(),
                count => format!("settles {}, asks for more", counted(count, "record")),
            },
            Body::ShareAcknowledge(end) => {
                format!("settles {}", counted(verdicts(&end.said), "record"))
            }
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
            Body::Transaction(body) if body.carries().is_some() => {
                body.carries().unwrap_or_default()
            }
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

/// What became of what a member of a share group said.
fn first_refusal(settled: &Settled) -> Option<KafkaError> {
    settled.iter().find_map(|(_, result)| result.err())
}

/// About how many records a member of a share group says something.
fn verdicts(said: &[Said]) -> u64 {
    said.iter().flat_map(|(_, said)| said).map(|one| one.last.since(one.first) + 1).sum()
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
