//! What producers, brokers and transaction coordinators say to each other.

use crate::sim::error::KafkaError;
use crate::sim::ids::{Offset, TopicPartition};
use crate::sim::record::Outcome;

use super::ProducerIdentity;

/// A request about transactions, or the answer to one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields are those of Kafka's request of the same name")]
pub enum TransactionBody {
    /// `FindCoordinator` for a transactional id; answered as that for a group is.
    FindCoordinator {
        transactional_id: String,
    },
    /// `InitProducerId` with a transactional id.
    InitProducerId {
        transactional_id: String,
        timeout_ms: u64,
    },
    InitProducerIdResponse(Result<ProducerIdentity, KafkaError>),
    AddPartitionsToTxn {
        transactional_id: String,
        producer: ProducerIdentity,
        partitions: Vec<TopicPartition>,
    },
    AddPartitionsToTxnResponse(Result<(), KafkaError>),
    TxnOffsetCommit(OffsetsInTransaction),
    TxnOffsetCommitResponse(Result<(), KafkaError>),
    EndTxn {
        transactional_id: String,
        producer: ProducerIdentity,
        outcome: Outcome,
    },
    /// The producer with its epoch after the end (KIP-890).
    EndTxnResponse(Result<ProducerIdentity, KafkaError>),
    WriteTxnMarkers(Marker),
    WriteTxnMarkersResponse(Vec<(TopicPartition, Result<(), KafkaError>)>),
}

/// Offsets that a transaction commits for a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OffsetsInTransaction {
    /// Whose transaction.
    pub transactional_id: String,
    /// Its producer.
    pub producer: ProducerIdentity,
    /// `group.id`.
    pub group: String,
    /// The member whose positions they are.
    pub member: Option<String>,
    /// Its generation or member epoch.
    pub generation: i32,
    /// The next offset to read of each partition.
    pub offsets: Vec<(TopicPartition, Offset)>,
}

/// The end of a transaction, for the partitions that one broker leads.
///
/// # Differs from Kafka
/// A request carries the markers of one transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marker {
    /// Whose transaction.
    pub producer: ProducerIdentity,
    /// The leader epoch of the coordinator's partition.
    pub coordinator_epoch: u32,
    /// How it ends.
    pub outcome: Outcome,
    /// Where.
    pub partitions: Vec<TopicPartition>,
}

impl TransactionBody {
    /// Kafka's API name in snake case; answers end in `_response`.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            TransactionBody::FindCoordinator { .. } => "find_coordinator",
            TransactionBody::InitProducerId { .. } => "init_producer_id",
            TransactionBody::InitProducerIdResponse(_) => "init_producer_id_response",
            TransactionBody::AddPartitionsToTxn { .. } => "add_partitions_to_txn",
            TransactionBody::AddPartitionsToTxnResponse(_) => "add_partitions_to_txn_response",
            TransactionBody::TxnOffsetCommit(_) => "txn_offset_commit",
            TransactionBody::TxnOffsetCommitResponse(_) => "txn_offset_commit_response",
            TransactionBody::EndTxn { .. } => "end_txn",
            TransactionBody::EndTxnResponse(_) => "end_txn_response",
            TransactionBody::WriteTxnMarkers(_) => "write_txn_markers",
            TransactionBody::WriteTxnMarkersResponse(_) => "write_txn_markers_response",
        }
    }

    /// The error in an answer.
    #[must_use]
    pub fn error(&self) -> Option<KafkaError> {
        match self {
            TransactionBody::InitProducerIdResponse(result)
            | TransactionBody::EndTxnResponse(result) => result.err(),
            TransactionBody::AddPartitionsToTxnResponse(result)
            | TransactionBody::TxnOffsetCommitResponse(result) => result.err(),
            TransactionBody::WriteTxnMarkersResponse(parts) => {
                parts.iter().find_map(|(_, result)| result.err())
            }
            _ => None,
        }
    }

    /// What it carries, in a few words; `None` where its kind says it all.
    #[must_use]
    pub fn carries(&self) -> Option<String> {
        match self {
            TransactionBody::AddPartitionsToTxn { partitions, .. } => {
                let names: Vec<String> = partitions.iter().map(ToString::to_string).collect();
                Some(format!("add {}", names.join(", ")))
            }
            TransactionBody::EndTxn { outcome, .. } => Some(outcome.word().to_owned()),
            TransactionBody::WriteTxnMarkers(marker) => {
                Some(format!("{} marker", marker.outcome.word()))
            }
            TransactionBody::InitProducerIdResponse(Ok(producer))
            | TransactionBody::EndTxnResponse(Ok(producer)) => {
                Some(format!("epoch {}", producer.epoch))
            }
            _ => None,
        }
    }
}
