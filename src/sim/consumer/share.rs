//! A member of a share group: it asks leaders for records, hands them to the application, and says
//! what became of them.
//!
//! Follows `ShareConsumerImpl`, `ShareConsumeRequestManager`.
//!
//! # Differs from Kafka
//! An `acknowledge` of the scenario is `acknowledge()` with `commitAsync()` behind it, so that it
//! goes out at once. A renewed record stays in the application's hands; Kafka returns it again.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::sim::error::KafkaError;
use crate::sim::group::Kind;
use crate::sim::ids::{BrokerId, Machine, Offset, TopicPartition};
use crate::sim::kernel::Kernel;
use crate::sim::message::{
    Body, Message, MessageId, Said, Settled, ShareAcknowledge, ShareFetch, ShareFetched, Shared,
    counted,
};
use crate::sim::share::{Acknowledgement, Verdict};
use crate::sim::trace::EventKind;

use super::{Consumer, Fetched, Protocol};

/// What a member of a share group has, and what it has to say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hand {
    /// Records that `poll()` returned and that are not settled.
    held: BTreeMap<TopicPartition, BTreeSet<Offset>>,
    /// What leaders have to hear.
    said: BTreeMap<TopicPartition, Vec<Acknowledgement>>,
    /// Requests under way, by broker.
    asked: BTreeMap<BrokerId, MessageId>,
    /// Brokers at which it has a session.
    sessions: BTreeSet<BrokerId>,
    /// Its last words, under way.
    closing: BTreeSet<MessageId>,
}

impl Hand {
    /// Whether its last words have been heard.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.closing.is_empty()
    }

    fn say(&mut self, partition: &TopicPartition, offset: Offset, verdict: Verdict) {
        let said = self.said.entry(partition.clone()).or_default();
        match said.last_mut() {
            Some(last) if last.verdict == verdict && last.last + 1 == offset => last.last = offset,
            _ => said.push(Acknowledgement { first: offset, last: offset, verdict }),
        }
    }

    fn accept_all(&mut self) {
        for (partition, offsets) in std::mem::take(&mut self.held) {
            for offset in offsets {
                self.say(&partition, offset, Verdict::Accept);
            }
        }
    }

    fn forget(&mut self, request: MessageId) {
        self.asked.retain(|_, id| *id != request);
        self.closing.remove(&request);
    }
}

impl Consumer {
    /// Whether it is a member of a share group.
    #[must_use]
    pub fn shares(&self) -> bool {
        matches!(&self.membership.protocol, Protocol::Modern(modern) if modern.kind == Kind::Share)
    }

    /// On entering `poll()`: what the last one returned is accepted, unless the application says
    /// so itself (`share.acknowledgement.mode`).
    pub(super) fn accept_last_poll(&mut self) {
        if self.shares() && !self.settings.share_explicit {
            self.hand.accept_all();
        }
    }

    /// Inside `poll()`.
    pub(super) fn go_on_sharing(&mut self, kernel: &mut Kernel) {
        self.take_part(kernel);
        if self.settings.share_explicit && !self.hand.held.is_empty() {
            let why = "all records must be acknowledged first";
            self.throw("IllegalStateException", why, kernel);
            return;
        }
        let nothing = self.fetched.iter().all(|fetched| fetched.records.is_empty());
        self.speak_to_leaders(nothing, kernel);
        if !nothing {
            self.return_shared(kernel);
        } else if self.poll_until.is_some_and(|until| until <= kernel.now_ms) {
            self.leave_poll(kernel);
        }
    }

    /// What leaders have to hear goes out whether or not the application polls.
    pub(super) fn speak_between_polls(&mut self, kernel: &mut Kernel) {
        if !self.hand.said.is_empty() {
            self.speak_to_leaders(false, kernel);
        }
    }

    /// Sends each leader what it has to hear, and asks for records if they are wanted; one request
    /// per broker at a time.
    fn speak_to_leaders(&mut self, wants_records: bool, kernel: &mut Kernel) {
        let mut to: BTreeMap<BrokerId, (Vec<TopicPartition>, Vec<Said>)> = BTreeMap::new();
        let wanted: Vec<TopicPartition> =
            if wants_records { self.assignment.iter().cloned().collect() } else { Vec::new() };
        for partition in wanted {
            if self.waits(&partition, kernel.now_ms) {
                continue;
            }
            match self.network.leader(&partition) {
                Some(leader) => to.entry(leader).or_default().0.push(partition),
                None => self.network.want_refresh(),
            }
        }
        for (partition, said) in &self.hand.said {
            if let Some(leader) = self.network.leader(partition) {
                to.entry(leader).or_default().1.push((partition.clone(), said.clone()));
            }
        }
        for (broker, (partitions, said)) in to {
            let machine = self.machine.clone();
            if self.hand.asked.contains_key(&broker)
                || !self.network.is_ready(broker, &machine, kernel)
            {
                continue;
            }
            for (partition, _) in &said {
                self.hand.said.remove(partition);
            }
            let body = self.share_body(partitions, said);
            let id = self.network.request(&machine, broker, body, kernel);
            self.hand.asked.insert(broker, id);
            self.hand.sessions.insert(broker);
        }
    }

    fn share_body(&self, partitions: Vec<TopicPartition>, said: Vec<Said>) -> Body {
        let group = self.membership.group.clone();
        let member = self.member_id().to_owned();
        if partitions.is_empty() {
            return Body::ShareAcknowledge(ShareAcknowledge { group, member, said, closes: false });
        }
        Body::ShareFetch(ShareFetch {
            group,
            member,
            max_wait_ms: self.settings.fetch_max_wait_ms,
            max_records: self.settings.max_poll_records,
            exact: self.settings.share_exact,
            max_bytes: self.settings.max_partition_fetch_bytes,
            partitions,
            said,
        })
    }

    /// Takes a leader's answer to what it was told.
    pub(super) fn handle_settled(
        &mut self,
        message: &Message,
        settled: &Settled,
        kernel: &mut Kernel,
    ) {
        if let Some(request) = message.answers {
            self.hand.forget(request);
        }
        self.note_settled(settled, kernel);
    }

    fn note_settled(&mut self, settled: &Settled, kernel: &mut Kernel) {
        for (partition, result) in settled {
            if let Err(error) = result {
                self.counters.last_refusal = Some(*error);
                let text = format!("what it said of {partition} was refused: {error}");
                kernel.trace_error(EventKind::Refused, &self.machine, text, *error);
            }
        }
    }

    /// Takes records, inside `poll()`.
    pub(super) fn take_share_fetch(
        &mut self,
        message: &Message,
        fetched: &ShareFetched,
        kernel: &mut Kernel,
    ) {
        if let Some(request) = message.answers {
            self.hand.forget(request);
        }
        self.note_settled(&fetched.settled, kernel);
        for part in &fetched.parts {
            match part.error {
                Some(error) => self.share_refused(part, error, kernel),
                None => self.take_shared(part),
            }
        }
    }

    /// Records that it got; offsets without a record are said to be gaps.
    fn take_shared(&mut self, part: &Shared) {
        let mut records = VecDeque::new();
        for got in &part.acquired {
            let mut next = got.first;
            for stored in &part.batches {
                for (delta, record) in &stored.batch.records {
                    let offset = stored.base_offset + u64::from(*delta);
                    if (next..=got.last).contains(&offset) {
                        for gap in (next.0..offset.0).map(Offset) {
                            self.hand.say(&part.partition, gap, Verdict::Gap);
                        }
                        records.push_back((offset, stored.leader_epoch, record.clone()));
                        next = offset + 1;
                    }
                }
            }
            for gap in (next.0..=got.last.0).map(Offset) {
                self.hand.say(&part.partition, gap, Verdict::Gap);
            }
        }
        if let Some((last, epoch, _)) = records.back() {
            let (end, epoch) = (*last + 1, *epoch);
            let partition = part.partition.clone();
            self.fetched.push_back(Fetched { partition, records, end, epoch });
        }
    }

    fn share_refused(&mut self, part: &Shared, error: KafkaError, kernel: &mut Kernel) {
        self.counters.last_refusal = Some(error);
        let news = part.hint.is_some_and(|hint| self.network.take_hint(&part.partition, hint));
        if !news {
            self.wait_a_little(&part.partition, kernel);
        }
        self.network.want_refresh();
    }

    /// Hands records to the application, at most `max.poll.records`.
    fn return_shared(&mut self, kernel: &mut Kernel) {
        let mut count = 0;
        while count < self.settings.max_poll_records {
            let Some(next) = self.fetched.front_mut() else { break };
            let partition = next.partition.clone();
            let Some((offset, _, record)) = next.records.pop_front() else {
                self.fetched.pop_front();
                continue;
            };
            count += 1;
            self.hand.held.entry(partition.clone()).or_default().insert(offset);
            self.counters.note_returned(partition, offset, &record);
        }
        let text = format!("poll() returns {}", counted(count, "record"));
        kernel.trace(EventKind::Poll, &self.machine, text);
        self.leave_poll(kernel);
    }

    /// The application says what became of a record.
    pub fn acknowledge(
        &mut self,
        partition: &TopicPartition,
        offset: Offset,
        verdict: Verdict,
        kernel: &mut Kernel,
    ) {
        let held = self.hand.held.get_mut(partition);
        let holds = held.as_ref().is_some_and(|held| held.contains(&offset));
        if !self.shares() || !self.settings.share_explicit || !holds {
            self.counters.last_error = Some("IllegalStateException");
            let text = format!("acknowledge() of {partition}@{offset} is not possible now");
            kernel.trace(EventKind::Failed, &self.machine, text);
            return;
        }
        if verdict != Verdict::Renew
            && let Some(held) = self.hand.held.get_mut(partition)
        {
            held.remove(&offset);
            if held.is_empty() {
                self.hand.held.remove(partition);
            }
        }
        self.hand.say(partition, offset, verdict);
        self.speak_to_leaders(false, kernel);
    }

    /// The last words: what was returned is settled, unless the application does that itself, and
    /// the sessions end.
    pub(super) fn end_sharing(&mut self, kernel: &mut Kernel) {
        self.accept_last_poll();
        let mut said: BTreeMap<BrokerId, Vec<Said>> =
            self.hand.sessions.iter().map(|broker| (*broker, Vec::new())).collect();
        for (partition, words) in std::mem::take(&mut self.hand.said) {
            if let Some(leader) = self.network.leader(&partition) {
                said.entry(leader).or_default().push((partition, words));
            }
        }
        let machine = self.machine.clone();
        for (broker, said) in said {
            if self.network.is_ready(broker, &machine, kernel) {
                let body = Body::ShareAcknowledge(ShareAcknowledge {
                    group: self.membership.group.clone(),
                    member: self.member_id().to_owned(),
                    said,
                    closes: true,
                });
                let id = self.network.request(&machine, broker, body, kernel);
                self.hand.closing.insert(id);
            }
        }
    }

    /// The connection of a request is gone: what it said is lost, and the leader frees what the
    /// member held there.
    pub(super) fn sharing_lost(
        &mut self,
        request: MessageId,
        broker: BrokerId,
        kernel: &mut Kernel,
    ) {
        self.hand.forget(request);
        if self.shares() {
            self.hand.sessions.remove(&broker);
            let me: Machine = self.machine.clone();
            kernel.hang_up(&me, &[broker]);
        }
    }
}
