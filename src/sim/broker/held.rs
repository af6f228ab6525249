//! Requests that a broker holds, and what each waits for.
//!
//! Follows `DelayedOperationPurgatory`. Who waits for a commit is looked at only when the high
//! watermark has reached its offset.

use std::collections::BTreeSet;

use crate::sim::ids::{Offset, TopicPartition};
use crate::sim::kernel::Kernel;
use crate::sim::message::{BeatAnswer, Body, Message, MessageId};
use crate::sim::timer::Timer;

use super::{Broker, produce};

/// A request that is held.
#[derive(Clone, Debug)]
pub enum Held {
    /// A produce request that waits for its records to be committed.
    Produce(Message, Vec<produce::Awaited>),
    /// A fetch that waits for data.
    Fetch(Message),
    /// A commit that waits for its record to be committed.
    OffsetCommit(Message, TopicPartition, Offset),
    /// A member of a classic group that waits for the others; the group answers it.
    Member(Message),
    /// A heartbeat whose changes have to be committed.
    Beat(Message, TopicPartition, Offset, BeatAnswer),
    /// A member of a share group that waits for records, or for what it said to be saved.
    Share(Message),
    /// A change of a share group's state that has to be committed.
    ShareState(Message, TopicPartition, Offset),
    /// A request whose append takes its time.
    Append(Message),
}

/// What a held request waits for in a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Need {
    /// More data, or a higher high watermark.
    Data,
    /// That everything below this offset is committed.
    Committed(Offset),
}

/// Who waits for something in a partition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Watchers {
    data: BTreeSet<MessageId>,
    committed: BTreeSet<(Offset, MessageId)>,
}

impl Watchers {
    /// Those that may be done: all of them, if there is no limit to what is committed; in the order
    /// in which they came.
    fn up_to(&self, high_watermark: Option<Offset>) -> Vec<MessageId> {
        let limit = high_watermark.map(|offset| (offset, MessageId(u64::MAX)));
        let committed =
            self.committed.iter().take_while(|one| limit.is_none_or(|limit| **one <= limit));
        let ids: BTreeSet<MessageId> =
            self.data.iter().copied().chain(committed.map(|(_, id)| *id)).collect();
        ids.into_iter().collect()
    }
}

impl Held {
    fn message(&self) -> &Message {
        match self {
            Held::Produce(message, _)
            | Held::Fetch(message)
            | Held::OffsetCommit(message, ..)
            | Held::Member(message)
            | Held::Beat(message, ..)
            | Held::Share(message)
            | Held::ShareState(message, ..)
            | Held::Append(message) => message,
        }
    }

    /// What it waits for, by partition.
    fn needs(&self) -> Vec<(TopicPartition, Need)> {
        match self {
            Held::Produce(_, awaited) => awaited
                .iter()
                .map(|one| (one.partition.clone(), Need::Committed(one.required)))
                .collect(),
            Held::Fetch(message) => match &*message.body {
                Body::ReplicaFetch { partitions, .. } | Body::Fetch { partitions, .. } => {
                    partitions.iter().map(|part| (part.partition.clone(), Need::Data)).collect()
                }
                _ => Vec::new(),
            },
            Held::OffsetCommit(_, home, required)
            | Held::Beat(_, home, required, _)
            | Held::ShareState(_, home, required) => {
                vec![(home.clone(), Need::Committed(*required))]
            }
            Held::Share(message) => match &*message.body {
                Body::ShareFetch(fetch) => {
                    fetch.partitions.iter().map(|p| (p.clone(), Need::Data)).collect()
                }
                _ => Vec::new(),
            },
            Held::Member(_) | Held::Append(_) => Vec::new(),
        }
    }
}

impl Broker {
    /// Holds a request until one of its partitions completes it or its time is over.
    pub(super) fn hold(&mut self, held: Held, wait_ms: u64, kernel: &mut Kernel) {
        let message = held.message();
        let id = message.id;
        kernel.hold(message);
        kernel.timer(&self.machine, kernel.now_ms + wait_ms, Timer::HeldRequestExpires(id));
        for (partition, need) in held.needs() {
            let watchers = self.watchers.entry(partition).or_default();
            match need {
                Need::Data => watchers.data.insert(id),
                Need::Committed(offset) => watchers.committed.insert((offset, id)),
            };
        }
        self.held.insert(id, held);
    }

    /// Takes a held request off the lists.
    pub(super) fn unhold(&mut self, id: MessageId) -> Option<Held> {
        let held = self.held.remove(&id)?;
        for (partition, need) in held.needs() {
            if let Some(watchers) = self.watchers.get_mut(&partition) {
                match need {
                    Need::Data => watchers.data.remove(&id),
                    Need::Committed(offset) => watchers.committed.remove(&(offset, id)),
                };
            }
        }
        Some(held)
    }

    /// Something about a partition changed: held requests that it completes are answered, in the
    /// order in which they came. Where this broker does not lead any more, that is all of them.
    pub(super) fn complete_held(&mut self, partition: &TopicPartition, kernel: &mut Kernel) {
        let Some(watchers) = self.watchers.get(partition) else { return };
        let leads = self.replicas.get(partition).filter(|replica| replica.leader().is_some());
        for id in watchers.up_to(leads.map(|replica| replica.high_watermark)) {
            match self.held.get(&id) {
                Some(Held::Produce(..)) => self.try_complete_produce(id, kernel),
                Some(Held::Fetch(_)) => self.try_complete_fetch(id, partition, kernel),
                Some(Held::OffsetCommit(..)) => self.try_complete_commit(id, kernel),
                Some(Held::Beat(..)) => self.try_complete_beat(id, kernel),
                Some(Held::Share(_)) => self.try_complete_share(id, kernel),
                Some(Held::ShareState(..)) => self.try_complete_share_state(id, kernel),
                Some(Held::Member(_) | Held::Append(_)) | None => {}
            }
        }
    }

    pub(super) fn expire(&mut self, id: MessageId, kernel: &mut Kernel) {
        match self.held.get(&id) {
            Some(Held::Produce(..)) => self.expire_produce(id, kernel),
            Some(Held::Fetch(_)) => self.answer_held_fetch(id, kernel),
            Some(Held::OffsetCommit(..)) => self.expire_commit(id, kernel),
            Some(Held::Beat(..)) => self.expire_beat(id, kernel),
            Some(Held::Share(_)) => self.expire_share(id, kernel),
            Some(Held::ShareState(..)) => self.expire_share_state(id, kernel),
            Some(Held::Member(_) | Held::Append(_)) | None => {}
        }
    }
}
