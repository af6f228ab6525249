//! Produce requests: what the leader refuses, appends, and when it answers.
//!
//! Follows `ReplicaManager.appendRecords`, `Partition.appendRecordsToLeader`, `LogValidator`,
//! `DelayedProduce`.

use std::sync::Arc;

use crate::sim::check::Note;
use crate::sim::defect::Defect;
use crate::sim::error::KafkaError;
use crate::sim::ids::{LeaderEpoch, Offset, TopicPartition};
use crate::sim::kernel::Kernel;
use crate::sim::log::LogConfig;
use crate::sim::message::{Acks, Body, Message, MessageId, ProducedPartition, counted};
use crate::sim::producer_state::Verdict;
use crate::sim::record::{Batch, BatchKind, StoredBatch, timestamp};
use crate::sim::trace::EventKind;
use crate::sim::txn::ProducerIdentity;
use crate::sim::txn::message::TransactionBody;

use super::{Addition, Broker, Held, Replica};

/// How far ahead of the clock a record's timestamp may be (`message.timestamp.after.max.ms`).
const TIMESTAMP_AFTER_MAX_MS: i64 = 3_600_000;

/// One partition of a held produce request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Awaited {
    /// Which.
    pub partition: TopicPartition,
    /// The offset that the high watermark has to reach.
    pub(super) required: Offset,
    /// The answer so far: the first record's offset, or an error that stands already.
    outcome: Result<Offset, KafkaError>,
    /// Whether the answer is final.
    settled: bool,
}

/// What an append did.
pub(super) struct Appended {
    base: Offset,
    end: Offset,
}

impl Awaited {
    /// A transaction's marker that was appended, or not.
    pub(super) fn of_marker(
        partition: &TopicPartition,
        result: Result<Appended, KafkaError>,
    ) -> Awaited {
        Awaited::new(partition, result, Acks::All)
    }

    fn new(
        partition: &TopicPartition,
        result: Result<Appended, KafkaError>,
        acks: Acks,
    ) -> Awaited {
        Awaited {
            partition: partition.clone(),
            required: result.as_ref().map_or(Offset(0), |done| done.end),
            settled: acks != Acks::All || result.is_err(),
            outcome: result.map(|done| done.base),
        }
    }
}

impl Broker {
    /// Takes a produce request. The first write of a transaction to a partition waits for the word
    /// of the transaction's coordinator.
    pub(super) fn handle_produce(&mut self, message: &Message, kernel: &mut Kernel) {
        let Body::Produce { transactional_id: Some(id), batches, .. } = &*message.body else {
            self.append_produced(message, None, kernel);
            return;
        };
        let new: Vec<_> =
            batches.iter().filter(|(partition, batch)| self.is_news(partition, batch)).collect();
        match new.first().and_then(|(_, batch)| batch.stamp) {
            Some(stamp) => {
                let addition = Addition {
                    transactional_id: id.clone(),
                    producer: ProducerIdentity { id: stamp.producer_id, epoch: stamp.epoch },
                    partitions: new.into_iter().map(|(partition, _)| partition.clone()).collect(),
                };
                self.verify(message, addition, kernel);
            }
            None => self.append_produced(message, None, kernel),
        }
    }

    /// Whether a batch of a transaction is the first to a partition that this broker leads, as far
    /// as its log tells (`Partition.maybeStartTransactionVerification`).
    fn is_news(&self, partition: &TopicPartition, batch: &Batch) -> bool {
        let leads = self.replicas.get(partition).filter(|replica| replica.leader().is_some());
        let stamp = batch.stamp.filter(|_| batch.kind == BatchKind::Transactional);
        leads
            .zip(stamp)
            .is_some_and(|(replica, stamp)| !replica.producers.has_open_transaction(stamp))
    }

    /// Appends what a produce request carries; a refusal of the coordinator concerns the batches
    /// that it was asked about.
    pub(super) fn append_produced(
        &mut self,
        message: &Message,
        refusal: Option<KafkaError>,
        kernel: &mut Kernel,
    ) {
        let Body::Produce { acks, timeout_ms, batches, .. } = &*message.body else { return };
        let mut awaited = Vec::new();
        for (partition, batch) in batches {
            let refused = refusal.filter(|_| self.is_news(partition, batch));
            let result = match refused {
                Some(error) => Err(error),
                None => self.append_as_leader(partition, batch, *acks, kernel),
            };
            self.raise_high_watermark(partition, kernel);
            if let Err(error) = &result {
                let error = *error;
                self.meters.failed_produce += 1;
                let text = format!(
                    "{partition} refuses {} from {}: {error}",
                    counted(batch.offset_count(), "record"),
                    message.from
                );
                kernel.trace_error(EventKind::Refused, &self.machine, text, error);
            }
            awaited.push(Awaited::new(partition, result, *acks));
        }
        let touched: Vec<TopicPartition> =
            awaited.iter().map(|one| one.partition.clone()).collect();
        match acks {
            Acks::None => kernel.handled(message.id),
            _ => self.answer_or_hold_produce(message, awaited, *timeout_ms, kernel),
        }
        // As in Kafka, what waited for the data is completed after the request itself was dealt
        // with.
        for partition in touched {
            self.complete_held(&partition, kernel);
        }
    }

    pub(super) fn answer_or_hold_produce(
        &mut self,
        message: &Message,
        awaited: Vec<Awaited>,
        timeout_ms: u64,
        kernel: &mut Kernel,
    ) {
        if awaited.iter().all(|one| one.settled) {
            self.answer_produce(message, &awaited, kernel);
            return;
        }
        self.hold(Held::Produce(message.clone(), awaited), timeout_ms, kernel);
        self.try_complete_produce(message.id, kernel);
    }

    fn answer_produce(&self, message: &Message, awaited: &[Awaited], kernel: &mut Kernel) {
        if matches!(&*message.body, Body::Produce { acks: Acks::All, .. }) {
            for one in awaited.iter().filter(|one| one.outcome.is_ok()) {
                let epoch = self.epoch_before(&one.partition, one.required);
                kernel.note(Note::Acknowledged(one.partition.clone(), epoch, one.required));
            }
        }
        if matches!(&*message.body, Body::Transaction(_)) {
            let marked = awaited.iter().map(|one| (one.partition.clone(), one.outcome.map(|_| ())));
            let body = TransactionBody::WriteTxnMarkersResponse(marked.collect());
            kernel.answer(message, Body::Transaction(body));
            return;
        }
        let parts = awaited
            .iter()
            .map(|one| ProducedPartition {
                partition: one.partition.clone(),
                result: one.outcome,
                hint: one.outcome.is_err().then(|| self.hint(&one.partition)).flatten(),
            })
            .collect();
        kernel.answer(message, Body::ProduceResponse(parts));
    }

    /// The epoch of the record before an offset.
    fn epoch_before(&self, partition: &TopicPartition, end: Offset) -> LeaderEpoch {
        let last = Offset(end.0.saturating_sub(1));
        let log = self.replicas.get(partition).map(|replica| &replica.log);
        log.and_then(|log| log.batches_from(last).next())
            .map_or(LeaderEpoch(0), |stored| stored.leader_epoch)
    }

    fn append_as_leader(
        &mut self,
        partition: &TopicPartition,
        batch: &Arc<Batch>,
        acks: Acks,
        kernel: &mut Kernel,
    ) -> Result<Appended, KafkaError> {
        let replica = self.writable(partition, acks)?;
        check_batch(batch, &replica.config, kernel.now_ms)?;
        let verdict = replica.producers.check(batch);
        if !kernel.breaks(Defect::DuplicateAccepted)
            && let Verdict::Duplicate(base) = verdict?
        {
            let text = format!("{partition} has these records already, from offset {base} on");
            kernel.trace(EventKind::Append, &self.machine, text);
            return Ok(Appended { base, end: base + batch.offset_count() });
        }
        self.append_checked(partition, batch, kernel)
    }

    /// Appends a marker that a transaction's coordinator sent.
    pub(super) fn append_marker(
        &mut self,
        partition: &TopicPartition,
        batch: &Arc<Batch>,
        kernel: &mut Kernel,
    ) -> Result<Appended, KafkaError> {
        let replica = self.writable(partition, Acks::All)?;
        if let (Some(stamp), BatchKind::Marker { coordinator_epoch, .. }) =
            (batch.stamp, batch.kind)
        {
            replica.producers.check_marker(stamp, coordinator_epoch)?;
        }
        self.append_checked(partition, batch, kernel)
    }

    /// The replica of a partition that this broker leads, with as many in sync as `acks` asks for.
    fn writable(&self, partition: &TopicPartition, acks: Acks) -> Result<&Replica, KafkaError> {
        let replica = self.replicas.get(partition).ok_or(KafkaError::UnknownTopicOrPartition)?;
        let leader = replica.leader().ok_or(KafkaError::NotLeaderOrFollower)?;
        if acks == Acks::All && leader.is_under_min_isr(self.effective_min_isr(partition)) {
            return Err(KafkaError::NotEnoughReplicas);
        }
        Ok(replica)
    }

    fn append_checked(
        &mut self,
        partition: &TopicPartition,
        batch: &Arc<Batch>,
        kernel: &mut Kernel,
    ) -> Result<Appended, KafkaError> {
        let replica =
            self.replicas.get_mut(partition).ok_or(KafkaError::UnknownTopicOrPartition)?;
        let base = replica.log.end_offset();
        replica.append(StoredBatch {
            base_offset: base,
            leader_epoch: replica.leader_epoch,
            batch: Arc::clone(batch),
        });
        let end = replica.log.end_offset();
        let text = format!("{partition} log end {base} -> {end}");
        kernel.trace(EventKind::Append, &self.machine, text);
        kernel.note(Note::Touched(partition.clone()));
        Ok(Appended { base, end })
    }

    /// Whether records of Kafka's own can be appended to a partition now.
    pub(super) fn check_internal_append(
        &self,
        partition: &TopicPartition,
    ) -> Result<(), KafkaError> {
        let replica = self.replicas.get(partition).ok_or(KafkaError::UnknownTopicOrPartition)?;
        let leader = replica.leader().ok_or(KafkaError::NotLeaderOrFollower)?;
        if leader.is_under_min_isr(self.effective_min_isr(partition)) {
            return Err(KafkaError::NotEnoughReplicas);
        }
        Ok(())
    }

    /// Appends records of Kafka's own to a partition that this broker leads. Returns the offset
    /// that the high watermark has to reach.
    pub(super) fn append_internal(
        &mut self,
        partition: &TopicPartition,
        batch: Batch,
        kernel: &mut Kernel,
    ) -> Result<Offset, KafkaError> {
        let appended = self.append_as_leader(partition, &Arc::new(batch), Acks::All, kernel)?;
        self.raise_high_watermark(partition, kernel);
        Ok(appended.end)
    }

    /// Whether every partition of a held produce request has an answer
    /// (`DelayedProduce.tryComplete`, `Partition.checkEnoughReplicasReachOffset`).
    pub(super) fn try_complete_produce(&mut self, id: MessageId, kernel: &mut Kernel) {
        let Some(Held::Produce(message, mut awaited)) = self.held.get(&id).cloned() else { return };
        for one in awaited.iter_mut().filter(|one| !one.settled) {
            let Some(replica) = self.replicas.get(&one.partition) else {
                (one.settled, one.outcome) = (true, Err(KafkaError::UnknownTopicOrPartition));
                continue;
            };
            let Some(leader) = replica.leader() else {
                (one.settled, one.outcome) = (true, Err(KafkaError::NotLeaderOrFollower));
                continue;
            };
            if replica.high_watermark < one.required {
                continue;
            }
            one.settled = true;
            let min_isr = self.effective_min_isr(&one.partition);
            if leader.maximal_isr().len() < min_isr {
                one.outcome = Err(KafkaError::NotEnoughReplicasAfterAppend);
            }
        }
        if awaited.iter().all(|one| one.settled) {
            self.unhold(id);
            self.answer_produce(&message, &awaited, kernel);
        } else if let Some(Held::Produce(_, kept)) = self.held.get_mut(&id) {
            *kept = awaited;
        }
    }

    pub(super) fn expire_produce(&mut self, id: MessageId, kernel: &mut Kernel) {
        let Some(Held::Produce(message, mut awaited)) = self.unhold(id) else { return };
        for one in awaited.iter_mut().filter(|one| !one.settled) {
            one.outcome = Err(KafkaError::RequestTimedOut);
        }
        self.answer_produce(&message, &awaited, kernel);
    }
}

/// What a leader checks before it appends (`LogValidator`, `UnifiedLog.analyzeAndValidateRecords`).
fn check_batch(batch: &Batch, config: &LogConfig, now_ms: u64) -> Result<(), KafkaError> {
    if batch.bytes > config.max_message_bytes {
        return Err(KafkaError::MessageTooLarge);
    }
    if batch.bytes > config.roll.segment_bytes {
        return Err(KafkaError::RecordListTooLarge);
    }
    let now_ms = timestamp(now_ms);
    if batch.max_timestamp() > now_ms + TIMESTAMP_AFTER_MAX_MS {
        return Err(KafkaError::InvalidTimestamp);
    }
    if config.compacts && batch.records.iter().any(|(_, record)| record.key.is_none()) {
        return Err(KafkaError::InvalidRecord);
    }
    Ok(())
}
