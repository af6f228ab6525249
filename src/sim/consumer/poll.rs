//! `poll()`: when it returns, with what, and the commits that happen inside it.
//!
//! Follows `ClassicKafkaConsumer.poll`, `ConsumerCoordinator.maybeAutoCommitOffsetsAsync`.

use crate::sim::check::Note;
use crate::sim::kernel::Kernel;
use crate::sim::message::{Body, Message, counted};
use crate::sim::settings::OffsetReset;
use crate::sim::timer::Timer;
use crate::sim::trace::EventKind;

use super::{CommitKind, Consumer};

impl Consumer {
    /// The application's first call of `poll()`.
    pub fn begin(&mut self, kernel: &mut Kernel) {
        self.enter_poll(kernel);
        self.pump(kernel);
    }

    pub(super) fn enter_poll(&mut self, kernel: &mut Kernel) {
        self.poll_until = Some(kernel.now_ms + self.rhythm.timeout_ms);
        self.poll_began_ms = kernel.now_ms;
        self.accept_last_poll();
        self.commit_if_due(kernel);
        for message in std::mem::take(&mut self.arrived) {
            self.handle_in_poll(&message, kernel);
        }
    }

    /// These answers are looked at inside `poll()` only; until then they lie in the socket.
    pub(super) fn handle_in_poll(&mut self, message: &Message, kernel: &mut Kernel) {
        if self.poll_until.is_none() {
            self.arrived.push(message.clone());
            return;
        }
        match &*message.body {
            Body::FetchResponse(_) => self.take_fetch_response(message, kernel),
            Body::ShareFetchResponse(fetched) => self.take_share_fetch(message, fetched, kernel),
            Body::OffsetFetchResponse(_) => self.handle_committed(message, kernel),
            _ => self.take_group_answer(message, kernel),
        }
    }

    /// Inside `poll()`: returns if records are in hand or the time is over; otherwise fetches.
    pub(super) fn go_on_polling(&mut self, kernel: &mut Kernel) {
        if self.shares() {
            self.go_on_sharing(kernel);
            return;
        }
        self.commit_if_due(kernel);
        self.take_part(kernel);
        self.throw_if_lost(kernel);
        if self.poll_until.is_none() {
            return;
        }
        self.fetch_committed(kernel);
        self.resolve_positions(kernel);
        self.check_positions(kernel);
        if self.fetched.iter().all(|fetched| self.is_paused(&fetched.partition)) {
            self.send_fetches(kernel);
            if self.poll_until.is_some_and(|until| until <= kernel.now_ms) {
                self.leave_poll(kernel);
            }
        } else {
            self.return_records(kernel);
        }
    }

    /// Without a committed offset and without a policy `poll()` throws
    /// (`NoOffsetForPartitionException`).
    fn throw_if_lost(&mut self, kernel: &mut Kernel) {
        let lost = self.settings.offset_reset == OffsetReset::None;
        let lacks = self.positions.iter().find(|(_, position)| position.is_none());
        if let Some((partition, _)) = lacks.filter(|_| lost) {
            let text = format!("{partition} has no committed offset");
            self.throw("NoOffsetForPartitionException", &text, kernel);
        }
    }

    /// An exception ends the call; the application remembers it and polls again.
    pub(super) fn throw(&mut self, name: &'static str, why: &str, kernel: &mut Kernel) {
        self.counters.last_error = Some(name);
        let text = format!("poll() throws {name}: {why}");
        kernel.trace(EventKind::Failed, &self.machine, text);
        if self.poll_until.is_some() {
            self.leave_poll(kernel);
        }
    }

    /// Hands records to the application, at most `max.poll.records`; the next fetch leaves before
    /// that.
    fn return_records(&mut self, kernel: &mut Kernel) {
        let mut count = 0;
        while count < self.settings.max_poll_records {
            let ready = self.fetched.iter().position(|one| !self.is_paused(&one.partition));
            let Some(next) = ready.and_then(|index| self.fetched.get_mut(index)) else { break };
            let partition = next.partition.clone();
            let Some((offset, epoch, record)) = next.records.pop_front() else {
                // Nothing but gaps: the position goes behind them.
                let (end, epoch) = (next.end, next.epoch);
                self.fetched.retain(|fetched| fetched.partition != partition);
                self.positions.insert(partition.clone(), Some(end));
                self.reading(&partition).epoch = Some(epoch);
                continue;
            };
            // The position behind the last record is that behind its batch: markers and gaps are
            // skipped.
            let is_last = next.records.is_empty();
            let position = if is_last { next.end } else { offset + 1 };
            if is_last {
                self.fetched.retain(|fetched| fetched.partition != partition);
            }
            self.positions.insert(partition.clone(), Some(position));
            self.reading(&partition).epoch = Some(epoch);
            count += 1;
            let consumer = self.membership.name.clone();
            let isolation = self.settings.isolation;
            let partition_read = partition.clone();
            kernel.note(Note::Delivered { consumer, partition: partition_read, offset, isolation });
            self.counters.note_returned(partition, offset, &record);
        }
        self.note_positions(kernel);
        self.send_fetches(kernel);
        if count > 0 {
            let text = format!("poll() returns {}", counted(count, "record"));
            kernel.trace(EventKind::Poll, &self.machine, text);
            self.leave_poll(kernel);
        }
    }

    pub(super) fn leave_poll(&mut self, kernel: &mut Kernel) {
        self.poll_until = None;
        self.polled_ms = kernel.now_ms;
        // A call and the application's work take at least a millisecond together: time goes on.
        let least = u64::from(self.poll_began_ms == kernel.now_ms);
        let next = kernel.now_ms + self.rhythm.interval_ms.max(least);
        kernel.timer(&self.machine, next, Timer::Poll);
    }

    /// Commits the positions if `auto.commit.interval.ms` has passed since the last time.
    fn commit_if_due(&mut self, kernel: &mut Kernel) {
        if !self.settings.auto_commit || self.auto_commit_ms > kernel.now_ms {
            return;
        }
        self.auto_commit_ms = kernel.now_ms + self.settings.auto_commit_interval_ms;
        let positions = self.known_positions();
        self.send_commit(positions, CommitKind::Auto, kernel);
    }

    /// The application goes on after a pause: a `poll()` that was due comes now.
    pub fn application_goes_on(&mut self, kernel: &mut Kernel) {
        self.application_pauses = false;
        if std::mem::take(&mut self.poll_is_due) && self.closing.is_none() {
            self.enter_poll(kernel);
        }
        self.pump(kernel);
    }
}
