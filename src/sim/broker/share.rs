//! A partition's leader and the share groups that read it: fetches that acquire records, what
//! members say about them, locks that run out, sessions that end.
//!
//! Follows `SharePartitionManager`, `DelayedShareFetch`, `ShareFetchUtils`. What becomes of a
//! record is [`crate::sim::share`]'s.

use std::collections::{BTreeMap, BTreeSet};

use crate::sim::check::Note;
use crate::sim::defect::Defect;
use crate::sim::error::KafkaError;
use crate::sim::ids::{LeaderEpoch, Machine, Offset, TopicPartition};
use crate::sim::kernel::Kernel;
use crate::sim::message::{
    Body, Message, MessageId, OffsetSpec, ShareFetch, ShareFetched, Shared, StateRead,
};
use crate::sim::record::timestamp;
use crate::sim::settings::{OffsetReset, ShareSettings};
use crate::sim::share::{
    Acknowledgement, Acquired, Limits, Offered, SavedState, SharePartition, StateChange,
};
use crate::sim::timer::Timer;
use crate::sim::trace::EventKind;

use super::share_state::Errand;
use super::{Broker, Held};

/// A request that only says something waits for its answer no longer than this.
const ACKNOWLEDGE_WAIT_MS: u64 = 30_000;

/// A group and a partition.
type Place = (String, TopicPartition);

/// What a leader keeps of the groups that share its partitions.
#[derive(Clone, Debug, Default)]
pub struct Sharing {
    /// By group and partition; none while it is being read.
    shared: BTreeMap<Place, Option<SharePartition>>,
    /// Members' requests that are worked on.
    work: BTreeMap<MessageId, Work>,
    /// Members that speak from each client: the sessions that end with its connection.
    sessions: BTreeMap<Machine, BTreeSet<(String, String)>>,
}

/// A member's request on the way to its answer.
#[derive(Clone, Debug, Default)]
struct Work {
    /// Changes that have to be saved first.
    unsaved: BTreeSet<TopicPartition>,
    answer: ShareFetched,
    /// Whether it does not wait for records any more.
    is_over: bool,
}

impl Sharing {
    /// What a group makes of a partition, if this broker knows.
    #[must_use]
    pub fn get(&self, group: &str, partition: &TopicPartition) -> Option<&SharePartition> {
        self.shared.get(&(group.to_owned(), partition.clone()))?.as_ref()
    }

    /// Everything that is shared, by group and partition.
    pub fn all(&self) -> impl Iterator<Item = (&str, &TopicPartition, &SharePartition)> {
        self.shared.iter().filter_map(|((group, partition), shared)| {
            Some((group.as_str(), partition, shared.as_ref()?))
        })
    }

    /// What a group makes of a partition, for tests of the checkers.
    #[cfg(test)]
    pub fn for_test(
        &mut self,
        group: &str,
        partition: &TopicPartition,
    ) -> Option<&mut SharePartition> {
        self.get_mut(group, partition)
    }

    fn get_mut(&mut self, group: &str, partition: &TopicPartition) -> Option<&mut SharePartition> {
        self.shared.get_mut(&(group.to_owned(), partition.clone()))?.as_mut()
    }

    /// Forgets a partition that this broker leads no more, or leads anew.
    pub fn unload(&mut self, partition: &TopicPartition) {
        self.shared.retain(|(_, of), _| of != partition);
    }
}

impl Broker {
    fn share_settings(&self, group: &str, kernel: &Kernel) -> ShareSettings {
        let own = self.image.group_config.get(group).cloned().unwrap_or_default();
        let mut settings = ShareSettings::read(&own, &self.config);
        if kernel.breaks(Defect::DeliveryLimitIgnored) {
            settings.delivery_limit = u16::MAX;
        }
        settings
    }

    pub(super) fn handle_share_fetch(&mut self, message: &Message, kernel: &mut Kernel) {
        let (group, member, said, wait_ms) = match &*message.body {
            Body::ShareFetch(fetch) => {
                (&fetch.group, &fetch.member, &fetch.said, fetch.max_wait_ms)
            }
            Body::ShareAcknowledge(end) => {
                (&end.group, &end.member, &end.said, ACKNOWLEDGE_WAIT_MS)
            }
            _ => return,
        };
        let session = (group.clone(), member.clone());
        self.sharing.sessions.entry(message.from.clone()).or_default().insert(session);
        let mut work = Work::default();
        for (partition, said) in said {
            match self.take_said((group, member), (partition, said), message, kernel) {
                Ok(true) => {
                    work.unsaved.insert(partition.clone());
                }
                Ok(false) => work.answer.settled.push((partition.clone(), Ok(()))),
                Err(error) => {
                    let text = format!("refuses what {member} says of {partition}: {error}");
                    kernel.trace_error(EventKind::Refused, &self.machine, text, error);
                    work.answer.settled.push((partition.clone(), Err(error)));
                }
            }
        }
        if matches!(&*message.body, Body::ShareAcknowledge(end) if end.closes) {
            self.end_session(group, member, kernel);
        }
        let asks =
            matches!(&*message.body, Body::ShareFetch(fetch) if !fetch.partitions.is_empty());
        work.is_over = !asks;
        self.sharing.work.insert(message.id, work);
        self.hold(Held::Share(message.clone()), wait_ms, kernel);
        self.try_complete_share(message.id, kernel);
    }

    /// Takes what a member says about records of one partition. Whether that has to be saved.
    fn take_said(
        &mut self,
        (group, member): (&str, &str),
        (partition, said): (&TopicPartition, &[Acknowledgement]),
        message: &Message,
        kernel: &mut Kernel,
    ) -> Result<bool, KafkaError> {
        self.check_leads(partition)?;
        let settings = self.share_settings(group, kernel);
        let renew_until_ms = kernel.now_ms + settings.lock_duration_ms;
        let shared =
            self.sharing.get_mut(group, partition).ok_or(KafkaError::InvalidRecordState)?;
        let changed =
            shared.acknowledge(member, said, (settings.delivery_limit, renew_until_ms))?;
        let start = shared.start_offset();
        kernel.note(Note::Shared { group: group.to_owned(), partition: partition.clone() });
        self.watch_locks(group, partition, kernel);
        if changed.is_empty() {
            return Ok(false);
        }
        self.save_share_change((group, partition), (start, changed), Some(message.id), kernel);
        Ok(true)
    }

    fn check_leads(&self, partition: &TopicPartition) -> Result<(), KafkaError> {
        let replica = self.replicas.get(partition).ok_or(KafkaError::UnknownTopicOrPartition)?;
        replica.leader().map(|_| ()).ok_or(KafkaError::NotLeaderOrFollower)
    }

    /// Answers a member's request, if there is something for it and everything it said is saved.
    pub(super) fn try_complete_share(&mut self, id: MessageId, kernel: &mut Kernel) {
        let Some(Held::Share(message)) = self.held.get(&id).cloned() else { return };
        let Some(mut work) = self.sharing.work.remove(&id) else { return };
        if let Body::ShareFetch(fetch) = &*message.body
            && !work.is_over
        {
            work.answer.parts = self.acquire(fetch, kernel);
            work.is_over = !work.answer.parts.is_empty();
        }
        if !work.is_over || !work.unsaved.is_empty() {
            self.sharing.work.insert(id, work);
            return;
        }
        self.unhold(id);
        let body = match &*message.body {
            Body::ShareAcknowledge(_) => Body::ShareAcknowledgeResponse(work.answer.settled),
            _ => Body::ShareFetchResponse(work.answer),
        };
        kernel.answer(&message, body);
    }

    /// A member's request has waited long enough for records.
    pub(super) fn expire_share(&mut self, id: MessageId, kernel: &mut Kernel) {
        if let Some(work) = self.sharing.work.get_mut(&id) {
            work.is_over = true;
        }
        self.try_complete_share(id, kernel);
    }

    /// Hands records of the partitions asked for to a member, and says where it asked wrongly.
    fn acquire(&mut self, fetch: &ShareFetch, kernel: &mut Kernel) -> Vec<Shared> {
        let mut parts = Vec::new();
        let mut left = fetch.max_records;
        for partition in &fetch.partitions {
            let part = match self.check_leads(partition) {
                Ok(()) if left > 0 => self.acquire_from(partition, (fetch, left), kernel),
                Ok(()) => None,
                Err(error) => Some(Shared {
                    partition: partition.clone(),
                    batches: Vec::new(),
                    acquired: Vec::new(),
                    error: Some(error),
                    hint: self.hint(partition),
                }),
            };
            if let Some(part) = part {
                let got: u64 = part.acquired.iter().map(Acquired::count).sum();
                left = left.saturating_sub(got);
                parts.push(part);
            }
        }
        parts
    }

    /// Hands records of one partition to a member (`DelayedShareFetch.tryComplete`).
    fn acquire_from(
        &mut self,
        partition: &TopicPartition,
        (fetch, max_records): (&ShareFetch, u64),
        kernel: &mut Kernel,
    ) -> Option<Shared> {
        let settings = self.share_settings(&fetch.group, kernel);
        self.read_share_state(&fetch.group, partition, kernel);
        let replica = self.replicas.get(partition)?;
        let shared = self.sharing.get_mut(&fetch.group, partition)?;
        shared.log_start_moved(replica.log.start_offset());
        if !shared.can_acquire(settings.max_locks) {
            return None;
        }
        let from = shared.next_fetch_offset();
        let batches = replica.log.read(from, replica.high_watermark, fetch.max_bytes);
        let offered: Vec<(Offset, Offset)> = batches
            .iter()
            .map(|stored| (stored.base_offset, Offset(stored.end_offset().0 - 1)))
            .collect();
        let limits = Limits {
            max_records,
            exact: fetch.exact,
            max_locks: settings.max_locks,
            delivery_limit: settings.delivery_limit,
            lock_until_ms: kernel.now_ms + settings.lock_duration_ms,
        };
        let acquired = shared.acquire(&fetch.member, Offered { batches: &offered, from }, limits);
        if acquired.is_empty() {
            return None;
        }
        for one in &acquired {
            let text = format!(
                "{} gets {partition} {}-{}, delivery {}",
                fetch.member, one.first, one.last, one.delivery_count
            );
            kernel.trace(EventKind::Share, &self.machine, text);
        }
        kernel.note(Note::Shared { group: fetch.group.clone(), partition: partition.clone() });
        self.watch_locks(&fetch.group, partition, kernel);
        let partition = partition.clone();
        Some(Shared { partition, batches, acquired, error: None, hint: None })
    }

    /// Asks the share coordinator where a group stands, unless that is known or asked already.
    fn read_share_state(&mut self, group: &str, partition: &TopicPartition, kernel: &mut Kernel) {
        let place = (group.to_owned(), partition.clone());
        if self.sharing.shared.contains_key(&place) {
            return;
        }
        self.sharing.shared.insert(place, None);
        let leader_epoch =
            self.replicas.get(partition).map_or(LeaderEpoch(0), |replica| replica.leader_epoch);
        let (group, partition) = (group.to_owned(), partition.clone());
        self.run_errand(Errand::Read { group, partition, leader_epoch }, 0, kernel);
    }

    /// It is known where a group stands. One that stands nowhere begins where
    /// `share.auto.offset.reset` says.
    pub(super) fn begin_sharing(
        &mut self,
        (group, partition): (&str, &TopicPartition),
        leader_epoch: LeaderEpoch,
        read: StateRead,
        kernel: &mut Kernel,
    ) {
        let place = (group.to_owned(), partition.clone());
        let current = self.replicas.get(partition).is_some_and(|replica| {
            replica.leader().is_some() && replica.leader_epoch == leader_epoch
        });
        match read {
            Ok(saved) if current && self.sharing.shared.contains_key(&place) => {
                let start = self.share_start(group, partition, (&saved, kernel));
                let shared = SharePartition::load(&saved, start);
                let text = format!("{group} stands at {} of {partition}", shared.start_offset());
                kernel.trace(EventKind::Share, &self.machine, text);
                self.sharing.shared.insert(place, Some(shared));
                self.complete_held(partition, kernel);
            }
            _ => {
                if self.sharing.shared.get(&place) == Some(&None) {
                    self.sharing.shared.remove(&place);
                }
            }
        }
    }

    fn share_start(
        &self,
        group: &str,
        partition: &TopicPartition,
        (saved, kernel): (&SavedState, &Kernel),
    ) -> Offset {
        let Some(replica) = self.replicas.get(partition) else { return Offset(0) };
        let log_start = replica.log.start_offset();
        let start =
            saved.start.unwrap_or_else(|| match self.share_settings(group, kernel).offset_reset {
                OffsetReset::Earliest => log_start,
                OffsetReset::ByDuration(ms) => {
                    let since = timestamp(kernel.now_ms) - ms;
                    let found = self.look_up_offset(partition, OffsetSpec::At(since));
                    found.ok().flatten().unwrap_or(replica.high_watermark)
                }
                OffsetReset::Latest | OffsetReset::None => replica.high_watermark,
            });
        start.max(log_start)
    }

    /// A change is saved, or cannot be.
    pub(super) fn share_change_is_saved(
        &mut self,
        change: &StateChange,
        asked_by: Option<MessageId>,
        result: Result<(), KafkaError>,
        kernel: &mut Kernel,
    ) {
        let (group, partition) = (&change.group, &change.partition);
        let lost = result.is_err().then(|| self.share_settings(group, kernel).delivery_limit);
        if let Some(shared) = self.sharing.get_mut(group, partition) {
            match lost {
                None => shared.saved(&change.records),
                Some(limit) => shared.roll_back(&change.records, (limit, kernel.now_ms)),
            }
            kernel.note(Note::Shared { group: group.clone(), partition: partition.clone() });
        }
        if let Some(work) = asked_by.and_then(|id| self.sharing.work.get_mut(&id)) {
            work.unsaved.remove(partition);
            work.answer.settled.push((partition.clone(), result));
        }
        if let Some(id) = asked_by {
            self.try_complete_share(id, kernel);
        }
        self.complete_held(partition, kernel);
    }

    /// Sees to it that locks are looked at when the first of them runs out.
    fn watch_locks(&self, group: &str, partition: &TopicPartition, kernel: &mut Kernel) {
        let Some(shared) = self.sharing.get(group, partition) else { return };
        if let Some(at_ms) = shared.next_lock_ms() {
            let timer = Timer::ShareLocks { group: group.to_owned(), partition: partition.clone() };
            kernel.timer(&self.machine, at_ms, timer);
        }
    }

    /// Some locks may have run out (`AcquisitionLockTimerTask`).
    pub(super) fn expire_share_locks(
        &mut self,
        group: &str,
        partition: &TopicPartition,
        kernel: &mut Kernel,
    ) {
        if kernel.breaks(Defect::LockNeverExpires) {
            kernel.note(Note::Shared { group: group.to_owned(), partition: partition.clone() });
            return;
        }
        let limit = self.share_settings(group, kernel).delivery_limit;
        let Some(shared) = self.sharing.get_mut(group, partition) else { return };
        let changed = shared.expire_locks(kernel.now_ms, limit);
        let start = shared.start_offset();
        if changed.is_empty() {
            return;
        }
        let text = format!("locks of {} records of {partition} run out", changed.len());
        kernel.trace(EventKind::Share, &self.machine, text);
        kernel.note(Note::Shared { group: group.to_owned(), partition: partition.clone() });
        self.watch_locks(group, partition, kernel);
        self.save_share_change((group, partition), (start, changed), None, kernel);
        self.complete_held(partition, kernel);
    }

    /// The connection of a client has ended, and with it the sessions of its members: what they
    /// hold is free at once (`SharePartitionManager.ConnectionDisconnectListener`).
    pub fn on_hang_up(&mut self, client: &Machine, kernel: &mut Kernel) {
        for (group, member) in self.sharing.sessions.remove(client).unwrap_or_default() {
            self.end_session(&group, &member, kernel);
        }
    }

    /// A member that is gone waits for no records.
    fn end_waiting(&mut self, (group, member): (&str, &str), kernel: &mut Kernel) {
        let of_member = |held: &Held| match held {
            Held::Share(message) => matches!(&*message.body,
                Body::ShareFetch(fetch) if fetch.group == group && fetch.member == member),
            _ => false,
        };
        let waiting: Vec<MessageId> =
            self.held.iter().filter(|(_, held)| of_member(held)).map(|(id, _)| *id).collect();
        for id in waiting {
            self.expire_share(id, kernel);
        }
    }

    fn end_session(&mut self, group: &str, member: &str, kernel: &mut Kernel) {
        self.end_waiting((group, member), kernel);
        let limit = self.share_settings(group, kernel).delivery_limit;
        let places: Vec<TopicPartition> = self
            .sharing
            .all()
            .filter(|(of, ..)| *of == group)
            .map(|(_, partition, _)| partition.clone())
            .collect();
        for partition in places {
            let Some(shared) = self.sharing.get_mut(group, &partition) else { continue };
            let changed = shared.release(member, limit);
            let start = shared.start_offset();
            if !changed.is_empty() {
                let text = format!("frees {} records of {partition}", changed.len());
                kernel.trace(EventKind::Share, &self.machine, text);
                self.save_share_change((group, &partition), (start, changed), None, kernel);
            }
        }
    }
}
