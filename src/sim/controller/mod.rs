//! A controller: the metadata log, and, while it is active, the decisions that go into it.
//!
//! Follows `QuorumController` and `KRaft` (`KafkaRaftClient`). A decision takes effect in the
//! active controller's own image at once; it is told to others, and answered, once a majority of
//! the voters has it.

mod brokers;
mod config;
mod partitions;
pub mod placement;
mod quorum;
mod topics;
mod vote;

use std::collections::BTreeMap;
use std::sync::Arc;

use super::error::KafkaError;
use super::ids::{BrokerId, Machine};
use super::kernel::Kernel;
use super::message::{Body, Message, MessageId, QuorumFetch};
use super::metadata::{Change, Entry, Image};
use super::settings::BrokerSettings;
use super::timer::Timer;

pub use brokers::Contact;
use vote::Candidacy;

/// A controller.
pub struct Controller {
    /// Its name on the network.
    pub machine: Machine,
    /// Its settings.
    pub settings: BrokerSettings,
    /// The quorum's members, itself included, in order.
    pub voters: Vec<Machine>,
    /// The quorum's epoch.
    pub epoch: u32,
    /// The active controller, as far as it knows.
    pub leader: Option<Machine>,
    /// Whom it voted for in this epoch.
    voted_for: Option<Machine>,
    /// The election that it stands in.
    candidacy: Option<Candidacy>,
    /// When it looks for another active controller.
    patience_ms: u64,
    /// The log from its first entry on.
    log: Vec<Arc<Entry>>,
    /// The offset of the first entry.
    log_start: u64,
    /// Every entry below it is on a majority of the voters.
    pub committed: u64,
    /// All entries of its log applied; decisions are made on it.
    pub image: Image,
    /// The committed entries applied; what others may know.
    pub committed_image: Image,
    /// The active controller's own state.
    pub active: Option<Active>,
    fetch: Option<MessageId>,
}

/// How far another voter's log reaches, and when it said so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Progress {
    end: u64,
    fetched_ms: u64,
}

/// What only the active controller has.
#[derive(Default)]
pub struct Active {
    /// How far each other voter's log reaches.
    voters: BTreeMap<Machine, Progress>,
    /// Fetches that wait for entries, in the order in which they came.
    waiting: Vec<(Message, QuorumFetch)>,
    /// Decisions that are not in the log yet (`controller.quorum.append.linger.ms`).
    gathered: Vec<Change>,
    /// Answers that wait until the log is committed up to an offset.
    deferred: Vec<(u64, Message, Body)>,
    /// When each broker was last heard of.
    pub contacts: BTreeMap<BrokerId, Contact>,
    /// Leader elections since it became active (`LeaderElectionRateAndTimeMs`).
    pub elections: i64,
    /// Unclean ones (`UncleanLeaderElectionsPerSec`).
    pub unclean_elections: i64,
}

impl Controller {
    /// A controller of a warm world: everything in `image` is committed.
    #[must_use]
    pub fn warm(
        machine: Machine,
        voters: Vec<Machine>,
        settings: BrokerSettings,
        image: Image,
    ) -> Controller {
        let leader = voters.first().expect("a quorum has a voter").clone();
        let active = (machine == leader).then(|| Active {
            voters: voters
                .iter()
                .filter(|voter| **voter != machine)
                .map(|v| (v.clone(), Progress { end: image.offset, fetched_ms: 0 }))
                .collect(),
            contacts: image.brokers.keys().map(|broker| (*broker, Contact::at(0))).collect(),
            ..Active::default()
        });
        Controller {
            machine,
            voters,
            epoch: 1,
            leader: Some(leader.clone()),
            voted_for: Some(leader),
            candidacy: None,
            patience_ms: settings.quorum_fetch_timeout_ms,
            settings,
            log: Vec::new(),
            log_start: image.offset,
            committed: image.offset,
            committed_image: image.clone(),
            image,
            active,
            fetch: None,
        }
    }

    /// The first timers and fetches at 0 s.
    pub fn begin(&mut self, kernel: &mut Kernel) {
        self.schedule_quorum_check(kernel);
        if self.active.is_some() {
            self.schedule_fence_check(kernel);
            self.schedule_balance(kernel);
            self.schedule_unclean_election(kernel);
        } else {
            self.fetch_from_leader(kernel);
        }
    }

    /// Takes a message.
    pub fn receive(&mut self, message: &Message, kernel: &mut Kernel) {
        match &*message.body {
            Body::QuorumFetch(fetch) => self.handle_fetch(message, *fetch, kernel),
            Body::QuorumFetchResponse(fetched) => self.take_entries(message, fetched, kernel),
            Body::Vote { epoch, log, kind } => {
                self.handle_vote(message, (*epoch, *log), *kind, kernel);
            }
            Body::VoteResponse { epoch, kind, granted } => {
                self.count_vote(&message.from, (*epoch, *kind), *granted, kernel);
            }
            Body::BeginQuorumEpoch { epoch } => self.follow(&message.from, *epoch, kernel),
            other if self.active.is_none() => refer(message, other, kernel),
            Body::BrokerRegistration { broker, previous_epoch } => {
                self.handle_registration(message, *broker, *previous_epoch, kernel);
            }
            Body::BrokerHeartbeat(heartbeat) => self.handle_heartbeat(message, *heartbeat, kernel),
            Body::AlterPartition { broker, broker_epoch, changes } => {
                self.handle_alter_partition(message, (*broker, *broker_epoch), changes, kernel);
            }
            _ => {}
        }
        kernel.handled(message.id);
    }

    /// Takes a timer.
    pub fn on_timer(&mut self, timer: &Timer, kernel: &mut Kernel) {
        match timer {
            Timer::MetadataDrain => self.drain(kernel),
            Timer::FenceCheck => self.fence_silent_broker(kernel),
            Timer::UncleanElection => self.elect_where_nobody_leads(kernel),
            Timer::LeaderBalance => self.balance_leaders(kernel),
            Timer::HeldRequestExpires(id) => self.expire_fetch(*id, kernel),
            Timer::QuorumCheck => self.check_quorum(kernel),
            Timer::QuorumFetchAgain => self.fetch_from_leader(kernel),
            _ => {}
        }
    }
}

/// Only the active controller answers brokers; the others say that they are not.
fn refer(message: &Message, body: &Body, kernel: &mut Kernel) {
    let error = KafkaError::NotController;
    let answer = match body {
        Body::BrokerRegistration { .. } => Body::BrokerRegistrationResponse(Err(error)),
        Body::BrokerHeartbeat(_) => {
            let error = Some(error);
            Body::BrokerHeartbeatResponse { error, fenced: false, should_shut_down: false }
        }
        Body::AlterPartition { .. } => Body::AlterPartitionResponse(Err(error)),
        _ => return,
    };
    kernel.answer(message, answer);
}
