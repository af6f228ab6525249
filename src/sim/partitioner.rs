//! Which partition a record goes to.
//!
//! Follows `BuiltInPartitioner` and `Utils.murmur2` of Kafka's clients (KIP-794 for records without
//! a key).
//!
//! # Differs from Kafka
//! A record without a key goes to a uniformly drawn partition; Kafka weighs the draw by queue
//! lengths when brokers are slow.

use super::rng::Draw;

/// Kafka's murmur2 of a byte string.
#[must_use]
pub fn murmur2(bytes: &[u8]) -> i32 {
    const M: u32 = 0x5bd1_e995;
    const R: u32 = 24;
    let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    let mut hash = 0x9747_b28c_u32 ^ length;
    let mut words = bytes.chunks_exact(4);
    for word in &mut words {
        let mut k = u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
        k = k.wrapping_mul(M);
        k ^= k >> R;
        k = k.wrapping_mul(M);
        hash = hash.wrapping_mul(M) ^ k;
    }
    let tail = words.remainder();
    if !tail.is_empty() {
        for (index, byte) in tail.iter().enumerate() {
            hash ^= u32::from(*byte) << (8 * index);
        }
        hash = hash.wrapping_mul(M);
    }
    hash ^= hash >> 13;
    hash = hash.wrapping_mul(M);
    hash ^= hash >> 15;
    hash.cast_signed()
}

/// The partition of a key: its hash, made positive, modulo the number of partitions
/// (`BuiltInPartitioner.partitionForKey`).
#[must_use]
pub fn partition_for_hash(hash: i32, partition_count: u32) -> u32 {
    (hash.cast_unsigned() & 0x7fff_ffff) % partition_count.max(1)
}

/// Where a topic's records without a key go at present.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sticky {
    partition: Option<u32>,
    produced_bytes: u64,
}

impl Sticky {
    /// The present partition, drawn from `available` if there is none.
    pub fn partition(&mut self, available: &[u32], draw: &mut dyn Draw) -> Option<u32> {
        if self.partition.is_none() && !available.is_empty() {
            self.partition = Some(available[draw.draw(available.len())]);
            self.produced_bytes = 0;
        }
        self.partition
    }

    /// Counts bytes that were added; the next record draws anew once they reach `batch.size` and
    /// the partition's batches are full, or at twice that size
    /// (`BuiltInPartitioner.updatePartitionInfo`).
    pub fn note(&mut self, bytes: u64, batch_size: u64, batches: Batches) {
        self.produced_bytes += bytes;
        let reached = self.produced_bytes >= batch_size && batches == Batches::AllFull;
        if reached || self.produced_bytes >= 2 * batch_size {
            self.partition = None;
        }
    }
}

/// Whether a partition's queue has a batch with room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Batches {
    /// No batch, or none with room.
    AllFull,
    /// The last one has room.
    OneOpen,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `UtilsTest.testMurmur2`.
    #[test]
    fn murmur2_gives_kafkas_values() {
        for (key, hash) in [
            ("21", -973_932_308),
            ("foobar", -790_332_482),
            ("a-little-bit-long-string", -985_981_536),
            ("a-little-bit-longer-string", -1_486_304_829),
        ] {
            assert_eq!(murmur2(key.as_bytes()), hash, "{key}");
        }
    }
}
