//! The sender: which batches leave, and when.
//!
//! Follows `Sender.runOnce`, `RecordAccumulator.ready` and `drain`.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::sim::error::KafkaError;
use crate::sim::ids::{BrokerId, Machine, TopicPartition};
use crate::sim::kernel::Kernel;
use crate::sim::message::{Acks, Body, MessageId};
use crate::sim::producer_state::sequence_after;
use crate::sim::record::{Batch, BatchKind, ProducerStamp};
use crate::sim::snapshot::NextSend;

use super::{InFlight, PendingBatch, Producer, Transactional};

impl Producer {
    /// Does everything that is due: time-outs, draining, metadata; then sleeps until the next
    /// thing.
    pub(super) fn pump(&mut self, kernel: &mut Kernel) {
        self.unblock(kernel);
        self.expire_requests(kernel);
        self.expire_batches(kernel);
        self.expire_blocked(kernel);
        self.bump_epoch(kernel);
        self.ask_for_id(kernel);
        self.go_on_with_transaction(kernel);
        self.drain(kernel);
        let rules = self.refresh_rules();
        let machine = self.machine.clone();
        self.network.refresh(rules, &machine, kernel);
        self.sleep(kernel);
    }

    /// Whether a partition's first batch may leave (`RecordAccumulator.batchReady`): it is full or
    /// not alone, it has waited `linger.ms`, or `send()` is blocked on memory.
    fn is_sendable(&self, partition: &TopicPartition, now_ms: u64) -> bool {
        let Some(queue) = self.buffer.queue(partition) else { return false };
        let Some(first) = queue.front() else { return false };
        if first.not_before_ms > now_ms {
            return false;
        }
        let waited = first.attempts > 0 || now_ms >= first.created_ms + self.settings.linger_ms;
        let full = queue.len() > 1 || first.is_full(self.settings.batch_size);
        let flushes =
            self.closing || self.transactional.as_ref().is_some_and(Transactional::is_flushing);
        full || waited || flushes || self.is_blocked_on_memory()
    }

    fn is_blocked_on_memory(&self) -> bool {
        self.blocked.front().is_some_and(|(_, sent)| self.choose_count(sent).is_some())
    }

    /// With `max.in.flight.requests.per.connection=1`, a partition with a batch in flight is muted.
    fn is_muted(&self, partition: &TopicPartition) -> bool {
        self.settings.max_in_flight == 1 && self.has_in_flight(partition)
    }

    fn has_in_flight(&self, partition: &TopicPartition) -> bool {
        self.in_flight.values().any(|request| request.batch_of(partition).is_some())
    }

    /// Sends one request to every broker that has a sendable partition, as long as there are any.
    fn drain(&mut self, kernel: &mut Kernel) {
        if self.lacks_id() {
            return;
        }
        loop {
            let ready = self.ready_brokers(kernel.now_ms);
            let mut sent = false;
            for broker in ready {
                let machine = self.machine.clone();
                let free = self.requests_to(broker) < self.settings.max_in_flight;
                if free && self.network.is_ready(broker, &machine, kernel) {
                    let batches = self.take_for(broker, kernel.now_ms);
                    sent |= !batches.is_empty();
                    self.send_request(broker, batches, kernel);
                }
            }
            if !sent {
                return;
            }
        }
    }

    fn requests_to(&self, broker: BrokerId) -> usize {
        self.in_flight.values().filter(|request| request.broker == broker).count()
    }

    fn ready_brokers(&mut self, now_ms: u64) -> BTreeSet<BrokerId> {
        let mut brokers = BTreeSet::new();
        let mut leaderless = false;
        for (partition, _) in self.buffer.partitions() {
            match self.network.leader(partition) {
                Some(broker)
                    if self.is_sendable(partition, now_ms) && !self.is_muted(partition) =>
                {
                    brokers.insert(broker);
                }
                Some(_) => {}
                None => leaderless = true,
            }
        }
        if leaderless {
            self.network.want_refresh();
        }
        brokers
    }

    /// The first batch of each partition that a broker leads, ready or not, up to
    /// `max.request.size` (`RecordAccumulator.drainBatchesForOneNode`).
    fn take_for(&mut self, broker: BrokerId, now_ms: u64) -> Vec<(TopicPartition, PendingBatch)> {
        let candidates: Vec<TopicPartition> = self
            .buffer
            .partitions()
            .filter(|(partition, queue)| {
                self.network.leader(partition) == Some(broker)
                    && !self.is_muted(partition)
                    && queue.front().is_some_and(|first| first.not_before_ms <= now_ms)
                    && self.keeps_order(partition, &queue[0])
            })
            .map(|(partition, _)| partition.clone())
            .collect();
        let mut taken: Vec<(TopicPartition, PendingBatch)> = Vec::new();
        let mut bytes = 0;
        for partition in candidates {
            let first = self.buffer.queue(&partition).and_then(|queue| queue.front());
            let size = first.map_or(0, |batch| batch.bytes);
            if !taken.is_empty() && bytes + size > self.settings.max_request_size {
                break;
            }
            bytes += size;
            taken.extend(self.buffer.take_first(&partition).map(|batch| (partition, batch)));
        }
        taken
    }

    /// An idempotent producer sends nothing new while the fate of an earlier batch is unknown, and
    /// after a failure only the batch with the first sequence in flight
    /// (`shouldStopDrainBatchesForPartition`).
    fn keeps_order(&self, partition: &TopicPartition, batch: &PendingBatch) -> bool {
        let Some(idempotence) = &self.idempotence else { return true };
        let Some(stamp) = batch.stamp else {
            let waits = idempotence.unresolved.contains(partition)
                || self.retries_first(partition)
                || (idempotence.is_stale(partition) && self.has_in_flight(partition));
            return !waits;
        };
        let first_in_flight = self
            .in_flight
            .values()
            .filter_map(|request| request.batch_of(partition))
            .filter_map(|batch| batch.stamp.map(|stamp| stamp.base_sequence))
            .min();
        first_in_flight.is_none_or(|first| stamp.base_sequence <= first)
    }

    /// Whether a batch that was sent before waits to be sent again.
    fn retries_first(&self, partition: &TopicPartition) -> bool {
        self.buffer
            .queue(partition)
            .is_some_and(|queue| queue.iter().any(|batch| batch.stamp.is_some()))
    }

    fn send_request(
        &mut self,
        broker: BrokerId,
        mut batches: Vec<(TopicPartition, PendingBatch)>,
        kernel: &mut Kernel,
    ) {
        if batches.is_empty() {
            return;
        }
        for (partition, batch) in &mut batches {
            if batch.attempts > 0 {
                self.counters.retries += 1;
            }
            batch.attempts += 1;
            self.stamp(partition, batch);
        }
        let body = Body::Produce {
            acks: self.settings.acks,
            transactional_id: self.settings.transactional_id.clone(),
            timeout_ms: self.settings.request_timeout_ms,
            batches: batches
                .iter()
                .map(|(partition, batch)| (partition.clone(), self.sealed(batch)))
                .collect(),
        };
        let to = Machine::Broker(broker);
        if self.settings.acks == Acks::None {
            kernel.request_without_answer(&self.machine, &to, body);
            for (partition, batch) in &batches {
                self.acknowledge(partition, batch, None, kernel);
            }
        } else {
            let id = kernel.request(&self.machine, &to, body);
            self.in_flight.insert(id, InFlight { broker, sent_ms: kernel.now_ms, batches });
        }
    }

    /// Gives a batch its place in the sequence, once.
    fn stamp(&mut self, partition: &TopicPartition, batch: &mut PendingBatch) {
        let Some(idempotence) = self.idempotence.as_mut() else { return };
        if batch.stamp.is_some() {
            return;
        }
        if idempotence.is_stale(partition) {
            idempotence.start_anew(partition, 0);
        }
        let next = idempotence.next_sequence.entry(partition.clone()).or_insert(0);
        batch.stamp = Some(ProducerStamp {
            producer_id: idempotence.producer_id,
            epoch: idempotence.epoch,
            base_sequence: *next,
        });
        *next = sequence_after(*next, batch.len());
    }

    /// A request that is not answered within `request.timeout.ms` ends its connection, and with it
    /// every request on that connection (`NetworkClient.handleTimedOutRequests`).
    fn expire_requests(&mut self, kernel: &mut Kernel) {
        let timeout = self.settings.request_timeout_ms;
        let late: BTreeSet<BrokerId> = self
            .in_flight
            .values()
            .filter(|request| kernel.now_ms >= request.sent_ms + timeout)
            .map(|request| request.broker)
            .collect();
        for broker in late {
            self.connection_lost(broker, KafkaError::RequestTimedOut, kernel);
        }
    }

    /// Every request on a connection fails with it.
    pub(super) fn connection_lost(
        &mut self,
        broker: BrokerId,
        error: KafkaError,
        kernel: &mut Kernel,
    ) {
        let lost: Vec<MessageId> = self
            .in_flight
            .iter()
            .filter(|(_, request)| request.broker == broker)
            .map(|(id, _)| *id)
            .collect();
        self.network.closed(broker, kernel);
        for id in lost {
            kernel.give_up(id);
            let Some(request) = self.in_flight.remove(&id) else { continue };
            for (partition, batch) in request.batches {
                self.batch_refused(&partition, batch, error, kernel);
            }
        }
    }

    /// The connection of a request is gone.
    pub fn on_disconnect(&mut self, request: MessageId, broker: BrokerId, kernel: &mut Kernel) {
        if self.id_request == Some(request) {
            self.id_request = None;
        }
        self.transaction_disconnected(request, broker);
        if self.in_flight.contains_key(&request) {
            self.connection_lost(broker, KafkaError::NetworkException, kernel);
        } else {
            self.network.closed(broker, kernel);
        }
        self.pump(kernel);
    }

    /// Batches that are not acknowledged within `delivery.timeout.ms` of their start are given up,
    /// whether they wait or are in flight (`RecordAccumulator.expiredBatches`,
    /// `Sender.getExpiredInflightBatches`).
    fn expire_batches(&mut self, kernel: &mut Kernel) {
        let Some(limit_ms) = kernel.now_ms.checked_sub(self.settings.delivery_timeout_ms) else {
            return;
        };
        let mut expired = self.buffer.take_started_by(limit_ms);
        for request in self.in_flight.values_mut() {
            if request.batches.iter().all(|(_, batch)| batch.created_ms > limit_ms) {
                continue;
            }
            let (late, kept) = std::mem::take(&mut request.batches)
                .into_iter()
                .partition(|(_, batch)| batch.created_ms <= limit_ms);
            request.batches = kept;
            expired.extend::<Vec<_>>(late);
        }
        for (partition, batch) in expired {
            if batch.stamp.is_some()
                && let Some(idempotence) = self.idempotence.as_mut()
                && !idempotence.unresolved.contains(&partition)
            {
                idempotence.unresolved.push(partition);
            }
            self.buffer.release(&batch);
            self.give_up(batch.len(), KafkaError::RequestTimedOut, kernel);
        }
    }

    /// Calls of `send()` that have waited for `max.block.ms` fail.
    fn expire_blocked(&mut self, kernel: &mut Kernel) {
        let limit = self.settings.max_block_ms;
        while self.blocked.front().is_some_and(|(since, _)| kernel.now_ms >= since + limit) {
            self.blocked.pop_front();
            self.give_up(1, KafkaError::RequestTimedOut, kernel);
        }
    }

    /// Where the fate of a batch is unknown and nothing is in flight any more, the sequence starts
    /// anew with a higher epoch (`maybeResolveSequences`, `bumpIdempotentProducerEpoch`).
    fn bump_epoch(&mut self, _kernel: &mut Kernel) {
        if self.transactional.is_some() {
            // The end of the transaction settles everything.
            return;
        }
        let settled: Vec<TopicPartition> = match &self.idempotence {
            Some(idempotence) => idempotence
                .unresolved
                .iter()
                .filter(|partition| {
                    !self.has_in_flight(partition) && !self.retries_first(partition)
                })
                .cloned()
                .collect(),
            None => return,
        };
        let Some(idempotence) = self.idempotence.as_mut() else { return };
        idempotence.unresolved.retain(|partition| !settled.contains(partition));
        idempotence.restart.extend(settled);
        if idempotence.restart.is_empty() {
            return;
        }
        idempotence.epoch = idempotence.epoch.saturating_add(1);
        for partition in std::mem::take(&mut idempotence.restart) {
            // Batches that were sent before and wait to be sent again get new places.
            let first = ProducerStamp {
                producer_id: idempotence.producer_id,
                epoch: idempotence.epoch,
                base_sequence: 0,
            };
            let next = self.buffer.restamp(&partition, first);
            idempotence.start_anew(&partition, next);
        }
    }

    /// When a batch that waits for its time leaves; none where all of them wait for something else.
    pub fn next_send(&self, now_ms: u64) -> Option<NextSend> {
        let waiting = self.buffer.partitions().filter(|(partition, queue)| {
            self.network.leader(partition).is_some()
                && !self.is_muted(partition)
                && self.keeps_order(partition, &queue[0])
        });
        let sends = waiting.map(|(_, queue)| {
            let first = &queue[0];
            let is_ready = first.attempts > 0 || queue.len() > 1;
            let lingers = !is_ready && !first.is_full(self.settings.batch_size);
            let linger_ms = if lingers { self.settings.linger_ms } else { 0 };
            let at_ms = first.not_before_ms.max(first.created_ms + linger_ms);
            NextSend { at_ms, is_retry: first.attempts > 0 }
        });
        sends.filter(|send| send.at_ms > now_ms).min_by_key(|send| send.at_ms)
    }

    /// The next time at which anything comes due.
    pub(super) fn next_due_ms(&self, now_ms: u64) -> Option<u64> {
        let settings = &self.settings;
        let queued =
            self.buffer.partitions().filter_map(|(_, queue)| queue.front()).flat_map(|first| {
                let linger = first.created_ms + settings.linger_ms;
                [linger, first.not_before_ms, first.created_ms + settings.delivery_timeout_ms]
            });
        let flying = self.in_flight.values().flat_map(|request| {
            let expiries =
                request.batches.iter().map(|(_, b)| b.created_ms + settings.delivery_timeout_ms);
            expiries.chain([request.sent_ms + settings.request_timeout_ms])
        });
        let blocked = self.blocked.front().map(|(since, _)| since + settings.max_block_ms);
        let transaction = self
            .transactional
            .as_ref()
            .and_then(|one| one.next_due_ms(settings.max_block_ms, now_ms));
        let network = self.network.next_due_ms(self.refresh_rules(), now_ms);
        queued
            .chain(flying)
            .chain(blocked)
            .chain(network)
            .chain(transaction)
            .filter(|at| *at > now_ms)
            .min()
    }

    /// The batch as it travels.
    fn sealed(&self, batch: &PendingBatch) -> Arc<Batch> {
        let mut sealed = Batch::of(batch.records.clone());
        sealed.stamp = batch.stamp;
        if self.transactional.is_some() {
            sealed.kind = BatchKind::Transactional;
        }
        Arc::new(sealed)
    }
}
