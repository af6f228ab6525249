//! A consumer: its application's `poll()` calls, its fetches, its positions, its commits and
//! heartbeats.
//!
//! Follows `ClassicKafkaConsumer`, `Fetcher`, `ConsumerCoordinator` of Kafka's clients.

mod classic;
mod fetcher;
mod isolation;
mod membership;
mod modern;
mod poll;
mod share;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::client::{ClientNetwork, RefreshRules};
use super::error::KafkaError;
use super::ids::{BrokerId, Machine, Offset, TopicPartition};
use super::kernel::Kernel;
use super::message::{Body, Message, MessageId};
use super::settings::ConsumerSettings;
use super::snapshot::SeenRecord;
use super::timer::Timer;

pub use classic::Classic;
pub use fetcher::Fetched;
pub use membership::{Membership, Protocol};
pub use modern::Modern;
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
    /// What the application can count.
    pub counters: Counters,
    /// Fetched, not returned yet.
    fetched: VecDeque<Fetched>,
    /// Fetch answers that came while the application was at work.
    arrived: Vec<Message>,
    /// The fetch under way to each broker.
    fetches: BTreeMap<BrokerId, MessageId>,
    /// Partitions that wait after an error, until this time.
    paused_until: BTreeMap<TopicPartition, u64>,
    /// Offset look-ups under way.
    look_ups: BTreeMap<MessageId, Vec<TopicPartition>>,
    /// The end of the present `poll()`; none while the application works.
    poll_until: Option<u64>,
    poll_began_ms: u64,
    /// When the next automatic commit is due.
    auto_commit_ms: u64,
    commits: BTreeMap<MessageId, Vec<(TopicPartition, Offset)>>,
    wakes_ms: Option<u64>,
    /// When the last `poll()` returned.
    polled_ms: u64,
    /// Whether `close()` has returned.
    has_left: bool,
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
            machine: Machine::Client(membership.member.clone()),
            auto_commit_ms: 0,
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
            paused_until: BTreeMap::new(),
            look_ups: BTreeMap::new(),
            poll_until: None,
            poll_began_ms: 0,
            commits: BTreeMap::new(),
            wakes_ms: None,
            polled_ms: 0,
            has_left: false,
            hand: Hand::default(),
        }
    }

    /// Its timers count from now.
    pub fn set_first_deadlines(&mut self, now_ms: u64) {
        self.auto_commit_ms = now_ms + self.settings.auto_commit_interval_ms;
        self.set_first_heartbeat(now_ms);
    }

    /// `close()`: leaves the group. [`Consumer::has_left`] says when it has.
    pub fn close(&mut self, kernel: &mut Kernel) {
        match self.membership.protocol {
            Protocol::Classic(_) => self.has_left = true,
            Protocol::Modern(_) => self.modern_leave(kernel),
        }
        self.finish_leaving();
    }

    /// `close()` returns once all last words are answered.
    fn finish_leaving(&mut self) {
        let waits = !self.hand.is_closed();
        if let Some(modern) = self.modern() {
            self.has_left |= modern.has_said_goodbye() && !waits;
        }
    }

    /// Whether `close()` has returned.
    #[must_use]
    pub fn has_left(&self) -> bool {
        self.has_left
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
            Body::HeartbeatResponse(result) => self.handle_heartbeat_response(*result, kernel),
            Body::ConsumerGroupHeartbeatResponse(result)
            | Body::ShareGroupHeartbeatResponse(result) => {
                self.handle_beat_answer(result.as_ref(), kernel);
            }
            Body::FindCoordinatorResponse(result) => self.handle_coordinator(*result, kernel),
            Body::MetadataResponse(image) => {
                for partition in self.network.take_metadata(image, kernel.now_ms) {
                    self.paused_until.remove(&partition);
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
            Timer::Poll => self.enter_poll(kernel),
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
        self.coordinator_lost(request, broker);
        self.sharing_lost(request, broker, kernel);
        self.finish_leaving();
    }

    /// Does everything that is due, then sleeps until the next thing.
    fn pump(&mut self, kernel: &mut Kernel) {
        self.beat(kernel);
        self.find_coordinator(kernel);
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
        let beat = self.next_beat_ms();
        let paused = self.paused_until.values().copied();
        let network = self.network.next_due_ms(self.refresh_rules(), now_ms);
        let due = polling
            .chain(beat)
            .chain(paused)
            .chain(network)
            .chain([self.membership.next_due_ms()])
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
