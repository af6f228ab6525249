//! What retention deletes was due: recomputed from the segments that went and those that are left.

use crate::sim::Sim;
use crate::sim::ids::{BrokerId, Offset, TopicPartition};
use crate::sim::log::Segment;

/// Segments that a broker has just deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removal {
    /// Whose log.
    pub broker: BrokerId,
    /// What went, ascending.
    pub segments: Vec<Segment>,
    /// The log start before.
    pub log_start: Offset,
    /// The present, in milliseconds.
    pub now_ms: i64,
}

impl Sim {
    /// A deleted segment was committed, and lay below the log start, or `retention.bytes` was
    /// reached without it, or each of its records was older than `retention.ms`.
    pub(super) fn check_removal(
        &self,
        partition: &TopicPartition,
        removal: &Removal,
    ) -> Result<(), String> {
        let broker = self.brokers.get(&removal.broker);
        let Some(replica) = broker.and_then(|broker| broker.replicas.get(partition)) else {
            return Ok(());
        };
        let config = &replica.config;
        let bytes_limit = config.retention_bytes.filter(|_| config.deletes);
        let age_limit = config.retention_ms.filter(|_| config.deletes);
        let left = replica.log.segments();
        let mut bytes_left: u64 = left.iter().map(|segment| segment.bytes).sum();
        let mut end = left[0].base_offset;
        for segment in removal.segments.iter().rev() {
            let batches = || segment.batches.iter().map(|stored| &stored.batch);
            let newest = batches().map(|batch| batch.max_timestamp()).max();
            let age_ms = newest.map(|newest| removal.now_ms.saturating_sub(newest));
            let is_below = end <= removal.log_start;
            let is_too_much = bytes_limit.is_some_and(|limit| bytes_left >= limit);
            let is_too_old = age_ms.zip(age_limit).is_some_and(|(age, limit)| age > limit);
            let base = segment.base_offset;
            if end > replica.high_watermark {
                return Err(format!("{partition}: deleted {base} to {end}, not all committed"));
            }
            if !is_below && !is_too_much && !is_too_old {
                return Err(format!(
                    "{partition}: deleted {base} to {end}, whose newest record is {age_ms:?} ms \
                     old, with {bytes_left} bytes left"
                ));
            }
            bytes_left += batches().map(|batch| batch.bytes).sum::<u64>();
            end = base;
        }
        Ok(())
    }
}
