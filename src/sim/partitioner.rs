//! Which partition a record goes to.
//!
//! Follows `BuiltInPartitioner` and `Utils.murmur2` of Kafka's clients (KIP-794 for records without
//! a key).
//!

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
    /// The present partition, if one has been drawn.
    #[must_use]
    pub fn present(&self) -> Option<u32> {
        self.partition
    }

    /// Draws the next partition.
    pub fn choose(&mut self, candidates: &[Candidate], draw: &mut dyn Draw) {
        if !candidates.is_empty() {
            self.partition = Some(drawn(candidates, draw));
            self.produced_bytes = 0;
        }
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

/// A partition that may be drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Its number.
    pub partition: u32,
    /// How many batches wait for it; `None`: it has had none so far.
    pub queue_length: Option<usize>,
}

/// Draws one: all alike until every partition has had a batch and the queues differ; then the
/// shorter the queue, the likelier (`BuiltInPartitioner.nextPartition`,
/// `updatePartitionLoadStats`).
fn drawn(candidates: &[Candidate], draw: &mut dyn Draw) -> u32 {
    let lengths: Option<Vec<usize>> = candidates.iter().map(|one| one.queue_length).collect();
    let longest = lengths.iter().flatten().copied().max().unwrap_or(0);
    match lengths {
        Some(lengths) if lengths.len() > 1 && lengths.iter().any(|length| *length != longest) => {
            let weights = lengths.iter().map(|length| longest + 1 - length);
            let mut left = draw.draw(weights.clone().sum());
            for (candidate, weight) in candidates.iter().zip(weights) {
                if left < weight {
                    return candidate.partition;
                }
                left -= weight;
            }
            unreachable!("a draw lies below the sum of the weights")
        }
        _ => candidates[draw.draw(candidates.len())].partition,
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

    /// Draws 0, 1, 2, ...
    struct Counting(usize);

    impl Draw for Counting {
        fn draw(&mut self, bound: usize) -> usize {
            self.0 += 1;
            (self.0 - 1) % bound
        }
    }

    fn fresh(partitions: &[u32]) -> Vec<Candidate> {
        partitions.iter().map(|p| Candidate { partition: *p, queue_length: None }).collect()
    }

    /// `BuiltInPartitionerTest.testStickyPartitioning`.
    #[test]
    fn records_without_a_key_stay_until_batch_size_is_reached() {
        let (mut sticky, mut draw) = (Sticky::default(), Counting(0));
        let mut went = Vec::new();
        for _ in 0..4 {
            if sticky.present().is_none() {
                sticky.choose(&fresh(&[0, 1, 2]), &mut draw);
            }
            went.extend(sticky.present());
            sticky.note(1, 3, Batches::AllFull);
        }
        assert_eq!(went, [0, 0, 0, 1]);
    }

    #[test]
    fn a_batch_with_room_keeps_records_up_to_twice_its_size() {
        let (mut sticky, mut draw) = (Sticky::default(), Counting(0));
        sticky.choose(&fresh(&[0, 1]), &mut draw);
        for _ in 0..5 {
            sticky.note(1, 3, Batches::OneOpen);
        }
        assert_eq!(sticky.present(), Some(0));
        sticky.note(1, 3, Batches::OneOpen);
        assert_eq!(sticky.present(), None);
    }

    /// The example of the facts: queues of 0, 3 and 1 batches weigh 4, 1 and 3.
    #[test]
    fn shorter_queues_are_likelier() {
        let queues = [(0, 0), (1, 3), (2, 1)];
        let candidates =
            queues.map(|(partition, length)| Candidate { partition, queue_length: Some(length) });
        let picks: Vec<u32> = (0..8).map(|at| drawn(&candidates, &mut Counting(at))).collect();
        assert_eq!(picks, [0, 0, 0, 0, 1, 2, 2, 2]);
    }
}
