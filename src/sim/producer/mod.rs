//! A producer: `send()`, its buffer, and the sender that drains it.
//!
//! Follows `KafkaProducer`, `Sender`, `TransactionManager` of Kafka's clients.

mod accumulator;
mod answers;
mod sender;
mod transaction;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::client::{ClientNetwork, RefreshRules};
use super::error::KafkaError;
use super::ids::{BrokerId, Machine, TopicPartition};
use super::kernel::Kernel;
use super::message::{Body, Message, MessageId};
use super::partitioner::{Batches, Candidate, Sticky, murmur2, partition_for_hash};
use super::record::{Record, header_bytes, size_upper_bound};
use super::settings::ProducerSettings;
use super::timer::Timer;
use super::trace::EventKind;

pub use accumulator::{Accumulator, Limits, PendingBatch};
pub use transaction::{Call, GroupPositions, Phase, Transactional};

/// A record on its way into the buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    /// The topic.
    pub topic: String,
    /// An explicit partition.
    pub partition: Option<u32>,
    /// The record.
    pub record: Record,
}

/// A request that is not answered.
#[derive(Clone, Debug)]
struct InFlight {
    broker: BrokerId,
    sent_ms: u64,
    batches: Vec<(TopicPartition, PendingBatch)>,
}

/// What makes a producer idempotent (KIP-98).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Idempotence {
    /// Its id.
    pub producer_id: i64,
    /// Its epoch.
    pub epoch: i16,
    /// The epoch under which a partition's sequence runs, where it is not the first. One that is
    /// behind the producer's own is taken up once nothing of the partition is in flight.
    epochs: BTreeMap<TopicPartition, i16>,
    /// The sequence of the next record, by partition.
    pub next_sequence: BTreeMap<TopicPartition, i32>,
    /// The sequence of the last acknowledged record, by partition.
    last_acked: BTreeMap<TopicPartition, i32>,
    /// Partitions where a batch was given up whose fate is unknown.
    unresolved: Vec<TopicPartition>,
    /// Partitions whose sequences start anew with the next epoch.
    restart: Vec<TopicPartition>,
}

/// What an application can count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Records acknowledged.
    pub acked: u64,
    /// Records given up.
    pub failed: u64,
    /// Batches sent again.
    pub retries: u64,
    /// What the application got last.
    pub last_error: Option<&'static str>,
    /// What a broker answered last that was an error.
    pub last_refusal: Option<KafkaError>,
    /// Partition and offset of the last acknowledged record; -1 where no broker tells.
    pub last_ack: Option<(TopicPartition, i64)>,
    /// murmur2 of the last record's key.
    pub last_key_hash: Option<i32>,
}

/// A producer.
pub struct Producer {
    /// Its name on the network.
    pub machine: Machine,
    /// Its settings.
    pub settings: ProducerSettings,
    /// The topic of records that name none.
    pub default_topic: Option<String>,
    /// Its picture of the cluster.
    pub network: ClientNetwork,
    /// Its buffer.
    pub buffer: Accumulator,
    /// If it is transactional.
    pub transactional: Option<Transactional>,
    /// If it is idempotent.
    pub idempotence: Option<Idempotence>,
    /// What the application can count.
    pub counters: Counters,
    in_flight: BTreeMap<MessageId, InFlight>,
    /// Calls of `send()` that wait for metadata or memory, with the time of the call.
    blocked: VecDeque<(u64, Sent)>,
    sticky: BTreeMap<String, Sticky>,
    id_request: Option<MessageId>,
    /// The application has called `close()`.
    closing: bool,
    /// The next time at which it has set a timer to look what is due.
    wakes_ms: Option<u64>,
}

impl Idempotence {
    /// A producer with this id that has sent nothing.
    #[must_use]
    pub fn new(producer_id: i64) -> Idempotence {
        Idempotence { producer_id, ..Idempotence::default() }
    }

    /// Whether a partition's sequence still runs under an earlier epoch
    /// (`TransactionManager.hasStaleProducerIdAndEpoch`).
    fn is_stale(&self, partition: &TopicPartition) -> bool {
        self.epochs.get(partition).copied().unwrap_or(0) != self.epoch
    }

    /// A partition's sequence starts anew under the present epoch
    /// (`startSequencesAtBeginning`); `next` comes next.
    fn start_anew(&mut self, partition: &TopicPartition, next: i32) {
        self.epochs.insert(partition.clone(), self.epoch);
        self.last_acked.remove(partition);
        self.next_sequence.insert(partition.clone(), next);
    }
}

impl Producer {
    /// A producer whose process is up and has metadata.
    #[must_use]
    pub fn new(machine: Machine, settings: ProducerSettings, network: ClientNetwork) -> Producer {
        Producer {
            transactional: settings.transactional_id.clone().map(Transactional::new),
            machine,
            settings,
            default_topic: None,
            network,
            buffer: Accumulator::default(),
            idempotence: None,
            counters: Counters::default(),
            in_flight: BTreeMap::new(),
            blocked: VecDeque::new(),
            sticky: BTreeMap::new(),
            id_request: None,
            closing: false,
            wakes_ms: None,
        }
    }

    fn refresh_rules(&self) -> RefreshRules {
        RefreshRules {
            max_age_ms: self.settings.metadata_max_age_ms,
            backoff_ms: self.settings.retry_backoff_ms,
        }
    }

    /// The process has just started: it opens a connection and asks for metadata and an id.
    pub fn begin(&mut self, kernel: &mut Kernel) {
        self.pump(kernel);
    }

    /// The application calls `close()`: everything that waits is sent at once.
    pub fn close(&mut self, kernel: &mut Kernel) {
        self.closing = true;
        self.pump(kernel);
    }

    /// Whether `close()` has nothing left to wait for.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        let is_idle = self.transactional.as_ref().is_none_or(Transactional::is_idle);
        self.closing && is_idle && self.in_flight.is_empty() && self.buffered_count() == 0
    }

    /// An idempotent producer asks any broker for its id; until then nothing leaves
    /// (`TransactionManager`, `InitProducerId`).
    fn ask_for_id(&mut self, kernel: &mut Kernel) {
        if !self.lacks_id() || self.transactional.is_some() || self.id_request.is_some() {
            return;
        }
        let machine = self.machine.clone();
        if let Some(broker) = self.network.reachable_broker(&machine, kernel) {
            let id = self.network.request(&machine, broker, Body::InitProducerId, kernel);
            self.id_request = Some(id);
        }
    }

    fn lacks_id(&self) -> bool {
        self.settings.idempotent && self.idempotence.is_none()
    }

    /// The application calls `send()`.
    pub fn send(&mut self, sent: Sent, kernel: &mut Kernel) {
        self.network.topics.insert(sent.topic.clone());
        if let Some(key) = &sent.record.key {
            self.counters.last_key_hash = Some(murmur2(key.as_bytes()));
        }
        let bytes = size_upper_bound(&sent.record);
        if bytes > self.settings.max_request_size || bytes > self.settings.buffer_memory {
            self.give_up(1, KafkaError::MessageTooLarge, kernel);
            return;
        }
        self.blocked.push_back((kernel.now_ms, sent));
        self.unblock(kernel);
    }

    /// Moves waiting calls of `send()` into the buffer, in order, as far as metadata and memory
    /// allow.
    fn unblock(&mut self, kernel: &mut Kernel) {
        while let Some((since_ms, sent)) = self.blocked.pop_front() {
            if !self.try_buffer(&sent, kernel) {
                self.blocked.push_front((since_ms, sent));
                break;
            }
        }
        // Calls come one after the other: the first one waits, and for metadata or memory.
        if self.blocked.front().is_some_and(|(_, sent)| self.choose_count(sent).is_none()) {
            self.network.want_refresh();
        }
    }

    /// How many partitions the record's topic has, if its partition can be chosen.
    fn choose_count(&self, sent: &Sent) -> Option<u32> {
        let count = self.network.partition_count(&sent.topic)?;
        sent.partition.is_none_or(|partition| partition < count).then_some(count)
    }

    fn try_buffer(&mut self, sent: &Sent, kernel: &mut Kernel) -> bool {
        let Some(count) = self.choose_count(sent) else { return false };
        let Some(number) = self.partition_of(sent, count, kernel) else { return false };
        let partition = TopicPartition::new(sent.topic.clone(), number);
        let limits = Limits {
            batch_size: self.settings.batch_size,
            buffer_memory: self.settings.buffer_memory,
            now_ms: kernel.now_ms,
        };
        let Some(bytes) = self.buffer.append(&partition, sent.record.clone(), limits) else {
            return false;
        };
        if sent.partition.is_none() && sent.record.key.is_none() {
            let batches = self.buffer.batches(&partition, self.settings.batch_size);
            self.note_sticky(&sent.topic, bytes, batches);
        }
        let key = sent.record.key.as_deref().unwrap_or("no key");
        kernel.trace(
            EventKind::Buffer,
            &self.machine,
            format!("record ({key}) joins a batch for {partition}"),
        );
        true
    }

    /// The partition of a record: the explicit one, the key's, or the sticky one.
    fn partition_of(&mut self, sent: &Sent, count: u32, kernel: &mut Kernel) -> Option<u32> {
        if let Some(partition) = sent.partition {
            return Some(partition);
        }
        if let Some(key) = &sent.record.key {
            return Some(partition_for_hash(murmur2(key.as_bytes()), count));
        }
        if let Some(present) = self.sticky.get(&sent.topic).and_then(Sticky::present) {
            // A change that was put off while a batch had room is made up for once all are full.
            let partition = TopicPartition::new(sent.topic.clone(), present);
            let batches = self.buffer.batches(&partition, self.settings.batch_size);
            self.note_sticky(&sent.topic, 0, batches);
        }
        if self.sticky.get(&sent.topic).and_then(Sticky::present).is_none() {
            let candidates = self.candidates(&sent.topic, count);
            let sticky = self.sticky.entry(sent.topic.clone()).or_default();
            sticky.choose(&candidates, &mut kernel.rng);
        }
        self.sticky.get(&sent.topic).and_then(Sticky::present)
    }

    /// Counts bytes that went to a topic's present partition for records without a key.
    fn note_sticky(&mut self, topic: &str, bytes: u64, batches: Batches) {
        if let Some(sticky) = self.sticky.get_mut(topic) {
            sticky.note(bytes, self.settings.batch_size, batches);
        }
    }

    /// The sender looks at the buffer later in this millisecond, when the application has sent
    /// everything that it sends now.
    pub fn wake_sender(&mut self, kernel: &mut Kernel) {
        if self.wakes_ms != Some(kernel.now_ms) {
            self.wakes_ms = Some(kernel.now_ms);
            kernel.timer(&self.machine, kernel.now_ms, Timer::ClientWake);
        }
    }

    /// Partitions for a record without a key: those with a leader; all of them if none has one.
    fn candidates(&self, topic: &str, count: u32) -> Vec<Candidate> {
        let all = (0..count).map(|number| TopicPartition::new(topic, number));
        let (led, leaderless): (Vec<_>, Vec<_>) =
            all.partition(|partition| self.network.leader(partition).is_some());
        let chosen = if led.is_empty() { leaderless } else { led };
        chosen
            .iter()
            .map(|partition| Candidate {
                partition: partition.partition,
                queue_length: self
                    .buffer
                    .queue(partition)
                    .filter(|_| self.settings.adaptive_partitioning)
                    .map(VecDeque::len),
            })
            .collect()
    }

    /// Takes a message.
    pub fn receive(&mut self, message: &Message, kernel: &mut Kernel) {
        match &*message.body {
            Body::ProduceResponse(parts) => self.handle_answer(message, parts, kernel),
            Body::InitProducerIdResponse(id) => {
                self.id_request = None;
                self.idempotence = Some(Idempotence::new(*id));
            }
            Body::FindCoordinatorResponse(result) => {
                self.handle_coordinator(message, *result, kernel);
            }
            Body::Transaction(body) => self.handle_transaction_answer(message, body, kernel),
            Body::MetadataResponse(image) => {
                for partition in self.network.take_metadata(image, kernel.now_ms) {
                    self.buffer.cancel_back_off(&partition);
                }
            }
            Body::ApiVersionsResponse => {
                if let Machine::Broker(broker) = message.from {
                    self.network.opened(broker);
                }
            }
            _ => {}
        }
        self.pump(kernel);
    }

    /// A timer of this process.
    pub fn on_wake(&mut self, kernel: &mut Kernel) {
        if self.wakes_ms.is_some_and(|at| at <= kernel.now_ms) {
            self.wakes_ms = None;
        }
        self.pump(kernel);
    }

    /// How many batches are in requests that are not answered.
    #[must_use]
    pub fn in_flight_count(&self) -> u64 {
        self.in_flight.values().map(|request| request.batches.len() as u64).sum()
    }

    /// Records that are in no request: in the buffer, or in a blocked call.
    #[must_use]
    pub fn buffered_count(&self) -> u64 {
        let waiting = self.transactional.as_ref().map_or(0, Transactional::waiting_count);
        self.buffer.record_count() + self.blocked.len() as u64 + waiting
    }

    /// The application is told that records are lost to it.
    fn give_up(&mut self, count: u64, error: KafkaError, kernel: &mut Kernel) {
        self.counters.failed += count;
        self.counters.last_error = Some(error.name());
        self.note_failed_batch(error);
        let text = format!("gives up {}: {error}", super::message::counted(count, "record"));
        kernel.trace_error(EventKind::Failed, &self.machine, text, error);
    }
}

/// A record as `send()` makes it.
#[must_use]
pub fn record_of(
    text: (Option<&str>, Option<&str>),
    headers: &[(String, String)],
    size_bytes: Option<u64>,
    timestamp: i64,
) -> Record {
    let (key, value) = text;
    Record {
        key: key.map(Arc::from),
        value: value.map(Arc::from),
        value_bytes: size_bytes.or(value.map(|value| value.len() as u64)),
        header_bytes: header_bytes(headers),
        timestamp,
        internal: None,
    }
}

impl Producer {
    /// Sets a timer for the next thing that comes due.
    fn sleep(&mut self, kernel: &mut Kernel) {
        let Some(at) = self.next_due_ms(kernel.now_ms) else { return };
        if self.wakes_ms.is_none_or(|wakes| at < wakes) {
            self.wakes_ms = Some(at);
            kernel.timer(&self.machine, at, Timer::ClientWake);
        }
    }
}
