//! A broker's life as the controller sees it: registration, heartbeats, and the metadata that it
//! fetches.
//!
//! Follows `BrokerLifecycleManager`, `BrokerMetadataPublisher`, and the observer's side of
//! `KRaft`'s fetch.
//!
//! # Differs from Kafka
//! A started process needs no time to load its logs and its code.

use std::sync::Arc;

use crate::sim::error::KafkaError;
use crate::sim::ids::Machine;
use crate::sim::kernel::Kernel;
use crate::sim::message::{Body, BrokerHeartbeat, MessageId, QuorumFetch, QuorumFetched};
use crate::sim::metadata::{Change, Entry};
use crate::sim::timer::Timer;
use crate::sim::trace::EventKind;

use super::Broker;

/// While it starts, a broker sends the next heartbeat so soon (`BrokerLifecycleManager`, 10 ms).
const STARTUP_HEARTBEAT_MS: u64 = 10;

/// First and largest pause before a refused or lost registration or heartbeat goes again.
const RETRY_MS: u64 = 100;

/// How far an orderly end of the process has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shutdown {
    /// Nobody has asked for it.
    NotAsked,
    /// It hands its leaderships over.
    Asked,
    /// The controller has let it go.
    Granted,
}

/// Registration and heartbeats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Life {
    /// The epoch of its present or last registration.
    pub epoch: Option<u64>,
    /// Whether the present process is registered.
    pub registered: bool,
    /// Whether the last process ended in an orderly way.
    pub clean_shutdown: bool,
    /// Whether it was asked to stop.
    pub shutdown: Shutdown,
    /// Whether the controller has it fenced, as far as it knows.
    pub fenced: bool,
    /// The controller that it talks to.
    pub controller: Machine,
    /// All of them.
    pub voters: Vec<Machine>,
    heartbeat: Option<MessageId>,
    registration: Option<MessageId>,
    metadata_fetch: Option<MessageId>,
}

impl Life {
    /// Registered and unfenced.
    #[must_use]
    pub fn active(epoch: u64, voters: &[Machine]) -> Life {
        Life {
            epoch: Some(epoch),
            registered: true,
            clean_shutdown: false,
            shutdown: Shutdown::NotAsked,
            fenced: false,
            controller: voters.first().expect("a quorum has a voter").clone(),
            voters: voters.to_vec(),
            heartbeat: None,
            registration: None,
            metadata_fetch: None,
        }
    }

    /// No process. What the disk remembers is the epoch of the last registration.
    #[must_use]
    pub fn stopped(epoch: Option<u64>, voters: Vec<Machine>) -> Life {
        Life {
            epoch,
            registered: false,
            clean_shutdown: false,
            shutdown: Shutdown::NotAsked,
            fenced: true,
            controller: voters.first().expect("a quorum has a voter").clone(),
            voters,
            heartbeat: None,
            registration: None,
            metadata_fetch: None,
        }
    }
}

impl Broker {
    /// The process of a warm world at 0 s: timers start to run, the first fetches leave.
    pub fn begin_warm(&mut self, kernel: &mut Kernel) {
        self.start_timers(kernel);
        self.watch_all_members(kernel);
        kernel.timer(
            &self.machine,
            kernel.now_ms + self.settings.heartbeat_interval_ms,
            Timer::BrokerHeartbeat,
        );
        self.restart_all_sessions(kernel);
        self.fetch_metadata(kernel);
        let leaders: Vec<_> = self.fetchers.keys().copied().collect();
        for leader in leaders {
            self.wake_fetcher(leader, kernel);
        }
    }

    /// A new process: it reads its disk, registers, and fetches metadata.
    pub fn start(&mut self, kernel: &mut Kernel) {
        self.start_timers(kernel);
        self.register(kernel);
        self.fetch_metadata(kernel);
    }

    fn start_timers(&mut self, kernel: &mut Kernel) {
        let now_ms = kernel.now_ms;
        let shrink = now_ms + (self.settings.lag_time_max_ms / 2).max(1);
        kernel.timer(&self.machine, shrink, Timer::IsrShrinkCheck);
        let checkpoint = now_ms + self.settings.checkpoint_interval_ms;
        kernel.timer(&self.machine, checkpoint, Timer::HighWatermarkCheckpoint);
        self.watch_expiry(kernel);
        let retention = now_ms + self.settings.retention_delay_ms;
        kernel.timer(&self.machine, retention, Timer::Retention);
        let timeouts = now_ms + self.settings.transaction_timeout_check_ms;
        kernel.timer(&self.machine, timeouts, Timer::TransactionTimeouts);
        let unused = now_ms + self.settings.transactional_id_check_ms;
        kernel.timer(&self.machine, unused, Timer::TransactionalIdExpiration);
        let cleaner = now_ms + self.settings.cleaner_backoff_ms;
        kernel.timer(&self.machine, cleaner, Timer::Cleaner);
        let expiration = now_ms + self.settings.producer_expiration_interval_ms;
        kernel.timer(&self.machine, expiration, Timer::ProducerExpiration);
    }

    pub(super) fn register(&mut self, kernel: &mut Kernel) {
        let previous_epoch = self.life.epoch.filter(|_| self.life.clean_shutdown);
        let body = Body::BrokerRegistration { broker: self.id, previous_epoch };
        self.life.registration = Some(self.ask_controller(body, kernel));
    }

    pub(super) fn handle_registered(
        &mut self,
        result: Result<u64, KafkaError>,
        kernel: &mut Kernel,
    ) {
        self.life.registration = None;
        if let Ok(epoch) = result {
            self.life.epoch = Some(epoch);
            self.life.registered = true;
            self.life.fenced = true;
            self.send_heartbeat(kernel);
        } else {
            let again = kernel.now_ms + RETRY_MS;
            kernel.timer(&self.machine, again, Timer::RegisterAgain);
        }
    }

    pub(super) fn send_heartbeat(&mut self, kernel: &mut Kernel) {
        let Some(broker_epoch) = self.life.epoch.filter(|_| self.life.registered) else { return };
        if self.life.heartbeat.is_some() {
            return;
        }
        let heartbeat = BrokerHeartbeat {
            broker: self.id,
            broker_epoch,
            metadata_offset: self.image.offset,
            wants_shutdown: self.life.shutdown != Shutdown::NotAsked,
            wants_unfence: self.image.offset > broker_epoch,
        };
        let id = self.ask_controller(Body::BrokerHeartbeat(heartbeat), kernel);
        self.life.heartbeat = Some(id);
    }

    pub(super) fn handle_heartbeat_response(
        &mut self,
        (error, fenced): (Option<KafkaError>, bool),
        should_shut_down: bool,
        kernel: &mut Kernel,
    ) {
        self.life.heartbeat = None;
        if should_shut_down {
            self.life.shutdown = Shutdown::Granted;
        }
        let wait_ms = match error {
            Some(KafkaError::StaleBrokerEpoch) => {
                self.life.registered = false;
                self.register(kernel);
                return;
            }
            Some(_) => RETRY_MS,
            None if fenced && self.life.fenced => STARTUP_HEARTBEAT_MS,
            None => self.settings.heartbeat_interval_ms,
        };
        self.life.fenced = fenced && error.is_none();
        kernel.timer(&self.machine, kernel.now_ms + wait_ms, Timer::BrokerHeartbeat);
    }

    /// SIGTERM: the broker tells the controller with an extra heartbeat
    /// (`BrokerLifecycleManager.beginControlledShutdown`).
    pub fn begin_shutdown(&mut self, kernel: &mut Kernel) {
        self.life.shutdown = Shutdown::Asked;
        self.send_heartbeat(kernel);
    }

    /// Whether nothing keeps it from stopping: it was asked to, and the controller does not count
    /// on it.
    #[must_use]
    pub fn may_stop(&self) -> bool {
        match self.life.shutdown {
            Shutdown::NotAsked => false,
            Shutdown::Asked => !self.life.registered,
            Shutdown::Granted => true,
        }
    }

    /// The process ends in an orderly way: the disk holds everything, its high watermarks included.
    pub fn stop_cleanly(&mut self) {
        for replica in self.replicas.values_mut() {
            replica.checkpointed = replica.high_watermark;
        }
        self.lose_memory();
        self.life.clean_shutdown = true;
    }

    /// Sends a request to the controller that it talks to, with Kafka's time-out for it.
    pub(super) fn ask_controller(&self, body: Body, kernel: &mut Kernel) -> MessageId {
        let id = kernel.request(&self.machine, &self.life.controller, body);
        kernel.expire(id, self.settings.quorum_request_timeout_ms);
        id
    }

    /// Asks the controller for the next metadata records; the controller holds the request until
    /// there are some.
    pub(super) fn fetch_metadata(&mut self, kernel: &mut Kernel) {
        if self.life.metadata_fetch.is_some() {
            return;
        }
        let fetch = QuorumFetch {
            offset: self.image.offset,
            // What a broker has is committed, so it agrees with every later log.
            last_epoch: u32::MAX,
            committed: self.image.offset,
            epoch: 0,
        };
        self.life.metadata_fetch = Some(self.ask_controller(Body::QuorumFetch(fetch), kernel));
    }

    pub(super) fn handle_metadata(&mut self, fetched: &QuorumFetched, kernel: &mut Kernel) {
        self.life.metadata_fetch = None;
        if fetched.error.is_some() {
            match &fetched.leader {
                Some((leader, _)) => self.life.controller = leader.clone(),
                None => self.try_next_controller(),
            }
            kernel.timer(&self.machine, kernel.now_ms + RETRY_MS, Timer::QuorumFetchAgain);
            return;
        }
        let was_registered = self.knows_own_registration();
        let from = self.image.offset;
        let news: Vec<&Entry> = fetched.entries.iter().map(Arc::as_ref).collect();
        let news: Vec<&Entry> = news.into_iter().filter(|entry| entry.offset >= from).collect();
        let image = Arc::make_mut(&mut self.image);
        for entry in &news {
            image.apply(entry);
        }
        if was_registered {
            self.apply_changes(&news, kernel);
        } else if self.knows_own_registration() {
            // The metadata have reached this process's own registration: it takes up its parts.
            let text = "has caught up with the metadata";
            kernel.trace(EventKind::BrokerChange, &self.machine, text);
            self.apply_image(kernel);
        }
        for entry in &news {
            self.apply_settings(&entry.change);
        }
        self.fetch_metadata(kernel);
    }

    /// What comes in one answer counts as one change: the image has all of it before the broker
    /// takes its part in anything, and of a partition there is its last state only
    /// (`MetadataDelta`, `BrokerMetadataPublisher.onMetadataUpdate`).
    fn apply_changes(&mut self, news: &[&Entry], kernel: &mut Kernel) {
        for entry in news {
            match &entry.change {
                Change::Partition(partition, state)
                    if self.image.partitions.get(partition) == Some(state) =>
                {
                    self.apply_partition(partition, state, kernel);
                }
                Change::Topic(topic, None) => self.apply_topic_deletion(topic, kernel),
                _ => {}
            }
        }
    }

    /// Settings come into force after what came with them for partitions
    /// (`BrokerMetadataPublisher.onMetadataUpdate`).
    fn apply_settings(&mut self, change: &Change) {
        match change {
            Change::ClusterConfig(_) | Change::BrokerConfig(..) => {
                self.config = self.image.config_of(self.id);
                self.read_log_configs(None);
            }
            Change::Topic(topic, Some(_)) => self.read_log_configs(Some(topic)),
            _ => {}
        }
    }

    /// The controller that it talks to does not answer: the next one in order may know better.
    fn try_next_controller(&mut self) {
        let place = self.life.voters.iter().position(|voter| *voter == self.life.controller);
        let next = place.map_or(0, |place| (place + 1) % self.life.voters.len());
        self.life.controller = self.life.voters[next].clone();
    }

    /// Whether the image holds the registration of the present process.
    fn knows_own_registration(&self) -> bool {
        let known = self.image.brokers.get(&self.id).map(|state| state.epoch);
        self.life.registered && known.is_some() && known == self.life.epoch
    }

    /// A request to the controller was lost with its connection.
    pub(super) fn controller_unreachable(&mut self, request: MessageId, kernel: &mut Kernel) {
        let again = kernel.now_ms + RETRY_MS;
        if self.life.metadata_fetch == Some(request) {
            self.try_next_controller();
        }
        if self.life.heartbeat == Some(request) {
            self.life.heartbeat = None;
            kernel.timer(&self.machine, again, Timer::BrokerHeartbeat);
        } else if self.life.registration == Some(request) {
            self.life.registration = None;
            kernel.timer(&self.machine, again, Timer::RegisterAgain);
        } else if self.life.metadata_fetch == Some(request) {
            self.life.metadata_fetch = None;
            kernel.timer(&self.machine, again, Timer::QuorumFetchAgain);
        } else {
            self.proposals_lost(request, kernel);
        }
    }
}
