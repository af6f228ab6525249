//! A consumer: its application's `poll()` calls, its fetches, its positions, its commits and
//! heartbeats.
//!
//! Follows `ClassicKafkaConsumer`, `Fetcher`, `ConsumerCoordinator` of Kafka's clients.

mod classic;
mod closing;
mod commits;
mod fetcher;
mod heartbeat;
mod isolation;
mod membership;
mod modern;
mod poll;
mod positions;
mod share;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::client::{ClientNetwork, RefreshRules};
use super::error::KafkaError;
use super::ids::{BrokerId, Machine, Offset, TopicPartition};
use super::kernel::Kernel;
use super::message::{Body, Message, MessageId};
use super::record::Record;
use super::settings::ConsumerSettings;
use super::snapshot::SeenRecord;
use super::timer::Timer;

pub use classic::Classic;
use closing::Closing;
pub(super) use commits::{Commit, CommitKind};
pub use fetcher::Fetched;
pub use membership::{Membership, Protocol};
pub use modern::Modern;
pub use positions::Reading;
pub use share::Hand;

/// What an application can count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Records returned by `poll()`.
    pub consumed: u64,
    /// What the application got last.
    pub last_error: Option<&'static str>,
    /// What a broker answered last that was an error.
    pub last_refusal: Option<KafkaError>,
    /// The last record that `poll()` returned.
    pub last_record: Option<SeenRecord>,
    /// Every record that `poll()` returned, in that order.
    pub seen: Vec<(TopicPartition, Offset)>,
}

impl Counters {
    /// `poll()` has returned a record.
    fn note_returned(&mut self, partition: TopicPartition, offset: Offset, record: &Record) {
        self.consumed += 1;
        self.last_record = Some(SeenRecord {
            topic: partition.topic.clone(),
            partition: partition.partition,
            offset,
            key: record.key.as_deref().map(str::to_owned),
            value: record.value.as_deref().map(str::to_owned),
        });
        self.seen.push((partition, offset));
    }
}

/// How the application polls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rhythm {
    /// Its work between two calls, in milliseconds.
    pub interval_ms: u64,
    /// How long one call may wait, in milliseconds.
    pub timeout_ms: u64,
}

/// A consumer.
pub struct Consumer {
    /// Its name on the network.
    pub machine: Machine,
    /// Its settings.
    pub settings: ConsumerSettings,
    /// How its application polls.
    pub rhythm: Rhythm,
    /// Its part in its group.
    pub membership: Membership,
    /// Its picture of the cluster.
    pub network: ClientNetwork,
    /// The partitions that it reads.
    pub assignment: BTreeSet<TopicPartition>,
    /// The next offset that it will ask for; none while unresolved.
    pub positions: BTreeMap<TopicPartition, Option<Offset>>,
    /// The topics that it subscribes to.
    pub topics: BTreeSet<String>,
    /// What else it remembers of those partitions.
    pub reading: BTreeMap<TopicPartition, Reading>,
    /// Whether the application does not call `poll()` again once the present call returns.
    pub application_pauses: bool,
    /// What the application can count.
    pub counters: Counters,
    /// Fetched, not returned yet.
    fetched: VecDeque<Fetched>,
    /// Fetch answers that came while the application was at work.
    arrived: Vec<Message>,
    /// The fetch under way to each broker.
    fetches: BTreeMap<BrokerId, MessageId>,
    /// Offset look-ups under way.
    look_ups: BTreeMap<MessageId, Vec<TopicPartition>>,
    /// The end of the present `poll()`; none while the application works.
    poll_until: Option<u64>,
    poll_began_ms: u64,
    /// When the next automatic commit is due.
    auto_commit_ms: u64,
    commits: BTreeMap<MessageId, Commit>,
    /// Commits of the application that wait for a coordinator.
    waiting_commits: Vec<Vec<(TopicPartition, Offset)>>,
    waiting_from_ms: u64,
    /// The question for committed offsets, under way.
    offset_fetch: Option<MessageId>,
    offset_fetch_from_ms: u64,
    closing: Option<Closing>,
    /// A `poll()` is due while the application pauses.
    poll_is_due: bool,
    wakes_ms: Option<u64>,
    /// When the last `poll()` returned.
    polled_ms: u64,
    /// What it holds as a member of a share group.
    pub(super) hand: Hand,
}

impl Consumer {
    /// A consumer whose process is there and has done nothing.
    #[must_use]
    pub fn new(
        settings: ConsumerSettings,
        rhythm: Rhythm,
        membership: Membership,
        network: ClientNetwork,
    ) -> Consumer {
        Consumer {
            machine: Machine::Client(membership.name.clone()),
            auto_commit_ms: 0,
            topics: network.topics.clone(),
            settings,
            rhythm,
            membership,
            network,
            assignment: BTreeSet::new(),
            positions: BTreeMap::new(),
            counters: Counters::default(),
            fetched: VecDeque::new(),
            arrived: Vec::new(),
            fetches: BTreeMap::new(),
            look_ups: BTreeMap::new(),
            poll_until: None,
            poll_began_ms: 0,
            commits: BTreeMap::new(),
            waiting_commits: Vec::new(),
            waiting_from_ms: 0,
            offset_fetch: None,
            offset_fetch_from_ms: 0,
            closing: None,
            poll_is_due: false,
            reading: BTreeMap::new(),
            application_pauses: false,
            wakes_ms: None,
            polled_ms: 0,
            hand: Hand::default(),
        }
    }

    /// Its timers count from now.
    pub fn set_first_deadlines(&mut self, now_ms: u64) {
        self.auto_commit_ms = now_ms + self.settings.auto_commit_interval_ms;
        self.set_first_heartbeat(now_ms);
    }

    fn refresh_rules(&self) -> RefreshRules {
        RefreshRules {
            max_age_ms: self.settings.metadata_max_age_ms,
            backoff_ms: self.settings.retry_backoff_ms,
        }
    }

    /// Takes a message.
    pub fn receive(&mut self, message: &Message, kernel: &mut Kernel) {
        match &*message.body {
            Body::ShareAcknowledgeResponse(settled) => {
                self.handle_settled(message, settled, kernel);
            }
            Body::ListOffsetsResponse(found) => self.handle_offsets_found(message, found, kernel),
            Body::OffsetCommitResponse(result) => {
                self.handle_commit_response(message, result.as_ref().map(|_| ()), kernel);
            }
            Body::FetchResponse(_)
            | Body::ShareFetchResponse(_)
            | Body::JoinGroupResponse(_)
            | Body::SyncGroupResponse(_)
            | Body::OffsetFetchResponse(_) => {
                self.handle_in_poll(message, kernel);
            }
            Body::OffsetForLeaderEpochResponse(ends) => {
                self.handle_epoch_ends(message, ends, kernel);
            }
            Body::LeaveGroupResponse(_) => self.left(message.answers),
            Body::HeartbeatResponse(result) => {
                self.handle_heartbeat_response(message.answers, *result, kernel);
            }
            Body::ConsumerGroupHeartbeatResponse(result)
            | Body::ShareGroupHeartbeatResponse(result) => {
                self.handle_beat_answer(message, result.as_ref(), kernel);
            }
            Body::FindCoordinatorResponse(result) => self.handle_coordinator(*result, kernel),
            Body::MetadataResponse(image) => {
                for partition in self.network.take_metadata(image, kernel.now_ms) {
                    if let Some(reading) = self.reading.get_mut(&partition) {
                        reading.not_before_ms = 0;
                    }
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

    /// Takes a timer.
    pub fn on_timer(&mut self, timer: &Timer, kernel: &mut Kernel) {
        match timer {
            Timer::Poll if self.application_pauses => self.poll_is_due = true,
            Timer::Poll if self.closing.is_none() => self.enter_poll(kernel),
            Timer::ClientWake if self.wakes_ms.is_some_and(|at| at <= kernel.now_ms) => {
                self.wakes_ms = None;
            }
            _ => {}
        }
        self.pump(kernel);
    }

    /// The connection of a request is gone.
    pub fn on_disconnect(&mut self, request: MessageId, broker: BrokerId, kernel: &mut Kernel) {
        self.connection_lost(request, broker, kernel);
        self.pump(kernel);
    }

    fn connection_lost(&mut self, request: MessageId, broker: BrokerId, kernel: &mut Kernel) {
        self.network.closed(broker, kernel);
        self.fetches.retain(|_, id| *id != request);
        self.look_ups.remove(&request);
        if self.offset_fetch == Some(request) {
            self.offset_fetch = None;
        }
        for reading in self.reading.values_mut() {
            reading.connection_lost(request, broker);
        }
        self.commit_lost(request, kernel);
        self.left(Some(request));
        self.coordinator_lost(request, broker);
        self.sharing_lost(request, broker, kernel);
    }

    /// Does everything that is due, then sleeps until the next thing.
    fn pump(&mut self, kernel: &mut Kernel) {
        self.beat(kernel);
        self.find_coordinator(kernel);
        self.send_waiting_commits(kernel);
        self.go_on_closing(kernel);
        if self.poll_until.is_some() {
            self.go_on_polling(kernel);
        } else {
            self.speak_between_polls(kernel);
        }
        let rules = self.refresh_rules();
        let machine = self.machine.clone();
        self.network.refresh(rules, &machine, kernel);
        self.sleep(kernel);
    }

    fn sleep(&mut self, kernel: &mut Kernel) {
        let now_ms = kernel.now_ms;
        let polling = self.poll_until.into_iter().flat_map(|until| {
            let commit = self.settings.auto_commit.then_some(self.auto_commit_ms);
            commit.into_iter().chain([until])
        });
        let beat = self.next_group_due_ms();
        let paused = self.reading.values().filter_map(Reading::next_due_ms);
        let closing = self.closing.as_ref().map(Closing::until_ms);
        let network = self.network.next_due_ms(self.refresh_rules(), now_ms);
        let due = polling
            .chain(beat)
            .chain(paused)
            .chain(network)
            .chain(closing)
            .chain([self.membership.next_due_ms(), self.waiting_from_ms, self.offset_fetch_from_ms])
            .filter(|at| *at > now_ms)
            .min();
        if let Some(at) = due
            && self.wakes_ms.is_none_or(|wakes| at < wakes)
        {
            self.wakes_ms = Some(at);
            kernel.timer(&self.machine, at, Timer::ClientWake);
        }
    }
}
