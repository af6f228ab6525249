//! Records and batches, with the bytes they take in a log.
//!
//! Sizes follow the record format v2, uncompressed (`DefaultRecord`, `DefaultRecordBatch`).

use std::sync::Arc;

use super::ids::{LeaderEpoch, Offset, TopicPartition};

/// Bytes of a batch header (`DefaultRecordBatch.RECORD_BATCH_OVERHEAD`).
pub const BATCH_HEADER_BYTES: u64 = 61;

/// One record as its producer made it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// `None` is Kafka's null.
    pub key: Option<Arc<str>>,
    /// `None` is Kafka's null.
    pub value: Option<Arc<str>>,
    /// Bytes of the value; differs from the text's where the scenario gives a size.
    pub value_bytes: Option<u64>,
    /// Bytes of the encoded headers with their count.
    pub header_bytes: u64,
    /// Milliseconds from 0 s.
    pub timestamp: i64,
    /// What one of Kafka's own components wrote, where it is not text.
    pub internal: Option<Arc<InternalRecord>>,
}

/// Simulated time, in milliseconds, as a record's timestamp.
#[must_use]
pub fn timestamp(now_ms: u64) -> i64 {
    i64::try_from(now_ms).unwrap_or(i64::MAX)
}

impl Record {
    /// What one of Kafka's own components writes at `now_ms`. Without `value_bytes` it is a
    /// tombstone.
    #[must_use]
    pub fn internal(
        key: Arc<str>,
        value_bytes: Option<u64>,
        internal: InternalRecord,
        now_ms: u64,
    ) -> Record {
        Record {
            key: Some(key),
            value: None,
            value_bytes,
            header_bytes: 1,
            timestamp: timestamp(now_ms),
            internal: Some(Arc::new(internal)),
        }
    }

    /// A record without key and value, of time 0.
    #[cfg(test)]
    pub(super) fn blank() -> Record {
        Record {
            key: None,
            value: None,
            value_bytes: None,
            header_bytes: 1,
            timestamp: 0,
            internal: None,
        }
    }
}

/// What the group coordinator keeps in `__consumer_offsets`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InternalRecord {
    /// A committed offset.
    OffsetCommit {
        /// `group.id`.
        group: String,
        /// The partition whose offset it is.
        partition: TopicPartition,
        /// The next offset to read; `None` is a tombstone.
        offset: Option<Offset>,
    },
    /// A transactional id with what its coordinator knows of it.
    Transaction(String, super::txn::Transaction),
    /// A group with its members.
    Group(super::group::Group),
    /// A group is forgotten: a tombstone.
    GroupGone(String),
    /// A change of a group whose coordinator assigns.
    ModernGroup {
        /// `group.id`.
        group: String,
        /// Whether it is a share group.
        kind: super::group::Kind,
        /// What has changed.
        change: super::group::modern::Change,
    },
    /// A change of what is saved of a share group, in `__share_group_state`.
    ShareState(super::share::StateChange),
}

/// Who wrote a batch, and its place in that producer's sequence (KIP-98).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProducerStamp {
    /// The producer's id.
    pub producer_id: i64,
    /// Its epoch.
    pub epoch: i16,
    /// The sequence number of the batch's first record.
    pub base_sequence: i32,
}

/// How a transaction ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Its records count.
    Commit,
    /// They do not.
    Abort,
}

impl Outcome {
    /// The word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Outcome::Commit => "commit",
            Outcome::Abort => "abort",
        }
    }
}

/// What kind of batch it is (the attributes `isTransactional` and `isControlBatch`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BatchKind {
    /// Records that belong to no transaction.
    #[default]
    Plain,
    /// Records of a transaction.
    Transactional,
    /// The end of a transaction, one record that no application sees (`EndTransactionMarker`).
    Marker {
        /// How it ended.
        outcome: Outcome,
        /// The leader epoch of the coordinator that sent it.
        coordinator_epoch: u32,
    },
}

/// Records that travel and are stored together. Never changes once made; replicas share it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    /// Its records with the distance of each from the batch's base offset, ascending.
    pub records: Vec<(u32, Record)>,
    /// The idempotent producer's stamp.
    pub stamp: Option<ProducerStamp>,
    /// Whether a transaction's, or the end of one.
    pub kind: BatchKind,
    /// From when on its tombstones, or the marker that it is, may go; stamped by the cleaner
    /// (KIP-534).
    pub delete_horizon_ms: Option<i64>,
    /// Bytes that it takes in a log.
    pub bytes: u64,
    /// Distance of the last offset that it covers from the base offset.
    pub last_delta: u32,
    max_timestamp: i64,
}

impl Batch {
    /// A batch of these records, without a stamp.
    #[must_use]
    pub fn of(records: Vec<Record>) -> Batch {
        let bytes = batch_bytes(&records);
        let last_delta = u32::try_from(records.len().saturating_sub(1)).unwrap_or(u32::MAX);
        let max_timestamp = records.iter().map(|record| record.timestamp).max().unwrap_or(0);
        let records = (0..).zip(records).collect();
        Batch {
            records,
            stamp: None,
            kind: BatchKind::Plain,
            delete_horizon_ms: None,
            bytes,
            last_delta,
            max_timestamp,
        }
    }

    /// The marker that ends a producer's transaction, 78 bytes.
    #[must_use]
    pub fn marker(
        producer: (i64, i16),
        outcome: Outcome,
        coordinator_epoch: u32,
        timestamp: i64,
    ) -> Batch {
        let record = Record {
            key: Some("\0\0\0\0".into()),
            value: None,
            value_bytes: Some(6),
            header_bytes: 1,
            timestamp,
            internal: None,
        };
        let (producer_id, epoch) = producer;
        Batch {
            stamp: Some(ProducerStamp { producer_id, epoch, base_sequence: -1 }),
            kind: BatchKind::Marker { outcome, coordinator_epoch },
            ..Batch::of(vec![record])
        }
    }

    /// The same batch with only these of its records: it covers the same offsets and keeps its
    /// stamp and its largest timestamp (`MemoryRecords.buildRetainedRecordsInto`,
    /// `DefaultRecordBatch.writeEmptyHeader`). Times count from the delete horizon, if there is
    /// one.
    #[must_use]
    pub fn retaining(&self, records: Vec<(u32, Record)>, delete_horizon_ms: Option<i64>) -> Batch {
        let first = records.first().map_or(0, |(_, record)| record.timestamp);
        let base = delete_horizon_ms.unwrap_or(first);
        let sizes = records.iter().map(|(delta, record)| {
            record_bytes(record, i64::from(*delta), record.timestamp.saturating_sub(base))
        });
        Batch {
            bytes: BATCH_HEADER_BYTES + sizes.sum::<u64>(),
            max_timestamp: records
                .iter()
                .map(|(_, record)| record.timestamp)
                .max()
                .unwrap_or(self.max_timestamp),
            records,
            stamp: self.stamp,
            kind: self.kind,
            delete_horizon_ms,
            last_delta: self.last_delta,
        }
    }

    /// How many offsets it covers.
    #[must_use]
    pub fn offset_count(&self) -> u64 {
        u64::from(self.last_delta) + 1
    }

    /// The largest timestamp in it.
    #[must_use]
    pub fn max_timestamp(&self) -> i64 {
        self.max_timestamp
    }

    /// Whether it is the end of a transaction.
    #[must_use]
    pub fn is_marker(&self) -> bool {
        matches!(self.kind, BatchKind::Marker { .. })
    }
}

/// A batch at its place in a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredBatch {
    /// The offset of its first record.
    pub base_offset: Offset,
    /// The epoch under which its leader appended it.
    pub leader_epoch: LeaderEpoch,
    /// What it holds.
    pub batch: Arc<Batch>,
}

impl StoredBatch {
    /// The offset after its last.
    #[must_use]
    pub fn end_offset(&self) -> Offset {
        self.base_offset + self.batch.offset_count()
    }
}

/// Bytes of a batch of these records (`DefaultRecordBatch.sizeInBytes`).
#[must_use]
pub fn batch_bytes(records: &[Record]) -> u64 {
    let first = records.first().map_or(0, |record| record.timestamp);
    BATCH_HEADER_BYTES
        + (0..)
            .zip(records)
            .map(|(delta, record)| record_bytes(record, delta, record.timestamp - first))
            .sum::<u64>()
}

/// Bytes of one record within a batch (`DefaultRecord.sizeInBytes`).
#[must_use]
pub fn record_bytes(record: &Record, offset_delta: i64, timestamp_delta: i64) -> u64 {
    let field = |bytes: Option<u64>| match bytes {
        None => 1,
        Some(bytes) => varint_bytes(i64::try_from(bytes).unwrap_or(i64::MAX)) + bytes,
    };
    let body = 1
        + varint_bytes(timestamp_delta)
        + varint_bytes(offset_delta)
        + field(record.key.as_ref().map(|key| key.len() as u64))
        + field(record.value_bytes)
        + record.header_bytes;
    varint_bytes(i64::try_from(body).unwrap_or(i64::MAX)) + body
}

/// Bytes of the encoded headers, their count included; 1 where there are none.
#[must_use]
pub fn header_bytes(headers: &[(String, String)]) -> u64 {
    let text = |text: &str| {
        varint_bytes(i64::try_from(text.len()).unwrap_or(i64::MAX)) + text.len() as u64
    };
    varint_bytes(i64::try_from(headers.len()).unwrap_or(i64::MAX))
        + headers.iter().map(|(name, value)| text(name) + text(value)).sum::<u64>()
}

/// An upper bound of a batch with this one record, which the client compares with its limits
/// (`AbstractRecords.estimateSizeInBytesUpperBound`).
#[must_use]
pub fn size_upper_bound(record: &Record) -> u64 {
    let field = |bytes: Option<u64>| match bytes {
        None => 1,
        Some(bytes) => varint_bytes(i64::try_from(bytes).unwrap_or(i64::MAX)) + bytes,
    };
    BATCH_HEADER_BYTES
        + 21
        + field(record.key.as_ref().map(|key| key.len() as u64))
        + field(record.value_bytes)
        + record.header_bytes
}

/// Bytes of a zigzag varint: 1 for -64..=63, 2 for -8192..=8191, ...
fn varint_bytes(value: i64) -> u64 {
    let zigzag = (value.wrapping_shl(1) ^ (value >> 63)).cast_unsigned();
    u64::from((64 - zigzag.leading_zeros()).max(1).div_ceil(7))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(key: Option<usize>, value: Option<u64>) -> Record {
        Record {
            key: key.map(|bytes| "k".repeat(bytes).into()),
            value: None,
            value_bytes: value,
            header_bytes: 1,
            timestamp: 0,
            internal: None,
        }
    }

    #[test]
    fn record_bytes_are_those_that_kafka_wrote() {
        let cases = [
            (0, 0, None, Some(0), 7),
            (0, 0, None, Some(100), 109),
            (0, 0, Some(1), Some(1), 9),
            (0, 0, Some(3), Some(10), 20),
            (64, 63, Some(3), Some(10), 21),
            (64, 64, Some(3), Some(10), 22),
            (0, 0, Some(10), Some(1000), 1019),
            (8192, 8192, Some(10), Some(1000), 1023),
        ];
        for (offset_delta, timestamp_delta, key, value, bytes) in cases {
            assert_eq!(record_bytes(&record(key, value), offset_delta, timestamp_delta), bytes);
        }
        let mut with_header = record(Some(3), Some(10));
        with_header.header_bytes = header_bytes(&[("h".to_owned(), "1".to_owned())]);
        assert_eq!(record_bytes(&with_header, 0, 0), 24);
    }

    #[test]
    fn batch_bytes_are_those_that_kafka_wrote() {
        for (count, bytes) in [(1, 175), (2, 289), (10, 1201), (64, 7357), (65, 7472), (100, 11497)]
        {
            assert_eq!(batch_bytes(&vec![record(Some(5), Some(100)); count]), bytes);
        }
    }

    #[test]
    fn a_marker_takes_78_bytes() {
        assert_eq!(Batch::marker((1, 0), Outcome::Commit, 0, 5).bytes, 78);
    }

    #[test]
    fn a_batch_that_loses_records_keeps_its_offsets_and_its_stamp() {
        let mut batch = Batch::of(vec![record(Some(5), Some(100)); 3]);
        batch.stamp = Some(ProducerStamp { producer_id: 7, epoch: 1, base_sequence: 4 });
        let last = batch.records[2].clone();
        let kept = batch.retaining(vec![last], None);
        assert_eq!((kept.bytes, kept.last_delta, kept.stamp), (175, 2, batch.stamp));
        assert_eq!(batch.retaining(Vec::new(), None).bytes, 61);
        let stamped = batch.retaining(vec![batch.records[0].clone()], Some(64));
        assert_eq!(stamped.bytes, 175, "a time of -64 still takes one byte");
        assert_eq!(batch.retaining(vec![batch.records[0].clone()], Some(65)).bytes, 176);
    }

    #[test]
    fn the_clients_estimate_is_an_upper_bound() {
        assert_eq!(size_upper_bound(&record(None, Some(600))), 686);
    }
}
