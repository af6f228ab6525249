//! A broker's log cleaner: which of its compacted logs is cleaned, and when.
//!
//! Follows `LogCleaner`, `LogCleanerManager` of Kafka's storage module. Every replica is cleaned on
//! its own.

use crate::sim::check::{BeforeCleaning, Note};
use crate::sim::defect::Defect;
use crate::sim::ids::{Offset, TopicPartition};
use crate::sim::kernel::Kernel;
use crate::sim::log::Cleanable;
use crate::sim::message::counted;
use crate::sim::record::timestamp;
use crate::sim::timer::Timer;
use crate::sim::trace::EventKind;

use super::Broker;

impl Broker {
    /// The cleaner's turn: it works until nothing is due, then rests for `log.cleaner.backoff.ms`.
    pub(super) fn cleaner_is_due(&mut self, kernel: &mut Kernel) {
        self.run_cleaner(None, kernel);
        let next = kernel.now_ms + self.settings.cleaner_backoff_ms;
        kernel.timer(&self.machine, next, Timer::Cleaner);
    }

    /// Cleans every compacted log that is due, or one, the filthiest first; then deletes old
    /// segments of those logs, which the retention job leaves alone.
    pub fn run_cleaner(&mut self, only: Option<&TopicPartition>, kernel: &mut Kernel) {
        if !self.settings.cleaner_enabled {
            return;
        }
        let now_ms = timestamp(kernel.now_ms);
        while let Some((partition, part)) = self.filthiest(only, now_ms) {
            self.clean(&partition, &part, kernel);
        }
        let compacted: Vec<TopicPartition> = self
            .replicas
            .iter()
            .filter(|(partition, replica)| {
                replica.config.compacts && only.is_none_or(|only| only == *partition)
            })
            .map(|(partition, _)| partition.clone())
            .collect();
        for partition in compacted {
            self.delete_old_segments(&partition, kernel);
        }
    }

    /// The log that is due and of which the largest part is dirty; of equal ones the first by name
    /// (`LogCleanerManager.grabFilthiestCompactedLog`).
    fn filthiest(
        &self,
        only: Option<&TopicPartition>,
        now_ms: i64,
    ) -> Option<(TopicPartition, Cleanable)> {
        let mut filthiest: Option<(&TopicPartition, Cleanable)> = None;
        for (partition, replica) in &self.replicas {
            if !replica.config.compacts || only.is_some_and(|only| only != partition) {
                continue;
            }
            let part = replica.cleanable(now_ms);
            if part.is_due(&replica.config)
                && filthiest.as_ref().is_none_or(|(_, other)| part.is_filthier_than(other))
            {
                filthiest = Some((partition, part));
            }
        }
        filthiest.map(|(partition, part)| (partition.clone(), part))
    }

    fn clean(&mut self, partition: &TopicPartition, part: &Cleanable, kernel: &mut Kernel) {
        let now_ms = timestamp(kernel.now_ms);
        let Some(replica) = self.replicas.get_mut(partition) else { return };
        let segments = replica.log.segments();
        let before = BeforeCleaning {
            broker: self.id,
            batches: segments.iter().flat_map(|segment| &segment.batches).cloned().collect(),
            active_from: segments.last().map_or(Offset(0), |active| active.base_offset),
            now_ms,
        };
        let mut part = *part;
        if kernel.breaks(Defect::ActiveSegmentCompacted) {
            part.first_uncleanable = Offset(u64::MAX);
        }
        let done = replica.clean(&part, now_ms);
        if kernel.breaks(Defect::TombstoneDroppedAtOnce) {
            // A second pass at the end of time.
            replica.clean(&part, i64::MAX);
        }
        let text = format!(
            "{partition} is compacted up to {}: {} removed",
            done.end,
            counted(done.removed, "record")
        );
        kernel.trace(EventKind::Compaction, &self.machine, text);
        kernel.note(Note::Cleaned(partition.clone(), before));
        kernel.note(Note::Touched(partition.clone()));
    }
}
