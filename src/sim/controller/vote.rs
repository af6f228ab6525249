//! The quorum's elections: who becomes the active controller, and when it gives up.
//!
//! Follows `KafkaRaftClient`, `EpochElection`, KIP-595, KIP-835 (an active controller that does not
//! hear of a majority stands back) and KIP-996 (an election is asked about before it is held).

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::sim::ids::Machine;
use crate::sim::kernel::Kernel;
use crate::sim::message::{Body, LogEnd, Message, MessageId, VoteKind};
use crate::sim::metadata::{Change, Entry};
use crate::sim::rng::Draw;
use crate::sim::timer::Timer;
use crate::sim::trace::EventKind;

use super::{Active, Contact, Controller, Progress};

/// How often the quorum's state is looked at.
const CHECK_MS: u64 = 100;

/// An election that a voter stands in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidacy {
    kind: VoteKind,
    granted: BTreeSet<Machine>,
}

impl Controller {
    pub(super) fn schedule_quorum_check(&self, kernel: &mut Kernel) {
        kernel.timer(&self.machine, kernel.now_ms + CHECK_MS, Timer::QuorumCheck);
    }

    fn majority(&self) -> usize {
        self.voters.len() / 2 + 1
    }

    fn others(&self) -> Vec<Machine> {
        self.voters.iter().filter(|voter| **voter != self.machine).cloned().collect()
    }

    /// An active controller tells voters that do not fetch that it is there, and stands back when
    /// it has not heard of a majority for one and a half fetch time-outs. Others lose patience
    /// after the fetch time-out.
    pub(super) fn check_quorum(&mut self, kernel: &mut Kernel) {
        self.schedule_quorum_check(kernel);
        let timeout = self.settings.quorum_fetch_timeout_ms;
        if let Some(active) = &self.active {
            let now_ms = kernel.now_ms;
            let heard =
                active.voters.values().filter(|p| now_ms <= p.fetched_ms + timeout * 3 / 2).count();
            if heard + 1 < self.majority() {
                self.stand_back(self.epoch + 1, kernel);
                return;
            }
            let silent: Vec<Machine> = active
                .voters
                .iter()
                .filter(|(_, progress)| now_ms > progress.fetched_ms + timeout / 2)
                .map(|(voter, _)| voter.clone())
                .collect();
            for voter in silent {
                self.announce(&voter, kernel);
            }
        } else if kernel.now_ms >= self.patience_ms {
            self.stand(VoteKind::Preliminary, kernel);
        }
    }

    fn announce(&self, voter: &Machine, kernel: &mut Kernel) {
        let body = Body::BeginQuorumEpoch { epoch: self.epoch };
        kernel.request_without_answer(&self.machine, voter, body);
    }

    /// Stands in an election, real ones in a new epoch.
    fn stand(&mut self, kind: VoteKind, kernel: &mut Kernel) {
        if kind == VoteKind::Real {
            self.epoch += 1;
            self.voted_for = Some(self.machine.clone());
        }
        self.leader = None;
        self.candidacy = Some(Candidacy { kind, granted: BTreeSet::from([self.machine.clone()]) });
        self.wait_for_election(kernel);
        let body = Body::Vote { epoch: self.epoch, log: self.end(), kind };
        let text = body.carries();
        kernel.trace(EventKind::ControllerChange, &self.machine, text);
        for voter in self.others() {
            let body = Body::Vote { epoch: self.epoch, log: self.end(), kind };
            let id = kernel.request(&self.machine, &voter, body);
            kernel.expire(id, self.settings.quorum_request_timeout_ms);
        }
        self.win_if_elected(kernel);
    }

    /// The next attempt comes after one to two election time-outs, by chance, so that two seldom
    /// collide.
    fn wait_for_election(&mut self, kernel: &mut Kernel) {
        let timeout = self.settings.election_timeout_ms;
        let extra = kernel.rng.draw(usize::try_from(timeout).unwrap_or(usize::MAX).max(1));
        self.patience_ms = kernel.now_ms + timeout + extra as u64;
    }

    /// Somebody asks for a vote. Granted to a log that is not shorter, once per epoch; a question
    /// only by those who do not hear of an active controller themselves.
    pub(super) fn handle_vote(
        &mut self,
        message: &Message,
        (epoch, log): (u32, LogEnd),
        kind: VoteKind,
        kernel: &mut Kernel,
    ) {
        if kind == VoteKind::Real && epoch > self.epoch {
            self.stand_back(epoch, kernel);
        }
        let long_enough = epoch >= self.epoch && log >= self.end();
        let granted = long_enough
            && match kind {
                VoteKind::Preliminary => self.active.is_none() && self.leader.is_none(),
                VoteKind::Real => {
                    self.voted_for.as_ref().is_none_or(|voted| *voted == message.from)
                }
            };
        if granted && kind == VoteKind::Real {
            self.voted_for = Some(message.from.clone());
            self.wait_for_election(kernel);
        }
        kernel.answer(message, Body::VoteResponse { epoch: self.epoch, kind, granted });
    }

    pub(super) fn count_vote(
        &mut self,
        voter: &Machine,
        (epoch, kind): (u32, VoteKind),
        granted: bool,
        kernel: &mut Kernel,
    ) {
        if epoch > self.epoch {
            self.stand_back(epoch, kernel);
            return;
        }
        let Some(candidacy) = self.candidacy.as_mut() else { return };
        if granted && candidacy.kind == kind && epoch == self.epoch {
            candidacy.granted.insert(voter.clone());
            self.win_if_elected(kernel);
        }
    }

    fn win_if_elected(&mut self, kernel: &mut Kernel) {
        let majority = self.majority();
        let Some(candidacy) = self.candidacy.take_if(|c| c.granted.len() >= majority) else {
            return;
        };
        match candidacy.kind {
            VoteKind::Preliminary => self.stand(VoteKind::Real, kernel),
            VoteKind::Real => self.become_active(kernel),
        }
    }

    /// The new active controller writes an entry of its epoch; with it everything before is
    /// committed. Every broker counts as heard of now.
    fn become_active(&mut self, kernel: &mut Kernel) {
        let now_ms = kernel.now_ms;
        let progress = Progress { end: self.log_start, fetched_ms: now_ms };
        self.leader = Some(self.machine.clone());
        self.active = Some(Active {
            voters: self.others().into_iter().map(|voter| (voter, progress)).collect(),
            contacts: self.image.brokers.keys().map(|b| (*b, Contact::at(now_ms))).collect(),
            ..Active::default()
        });
        let entry =
            Entry { offset: self.log_end(), epoch: self.epoch, change: Change::NewController };
        self.image.apply(&entry);
        self.log.push(Arc::new(entry));
        for voter in self.others() {
            self.announce(&voter, kernel);
        }
        self.schedule_fence_check(kernel);
        self.schedule_balance(kernel);
        self.schedule_unclean_election(kernel);
        self.drain(kernel);
    }

    /// Gives way to a newer epoch: decisions that are not in the log are forgotten, who waits is
    /// told.
    pub(super) fn stand_back(&mut self, epoch: u32, kernel: &mut Kernel) {
        if let Some(active) = self.active.take() {
            let text = format!("is no longer the active controller of epoch {}", self.epoch);
            kernel.trace(EventKind::ControllerChange, &self.machine, text);
            self.truncate_log(self.log_end());
            for (_, message, _) in active.deferred {
                super::refer(&message, &message.body, kernel);
            }
            for (message, fetch) in active.waiting {
                self.handle_fetch(&message, fetch, kernel);
            }
        }
        self.epoch = epoch;
        self.voted_for = None;
        self.leader = None;
        self.candidacy = None;
        self.wait_for_election(kernel);
    }

    /// There is an active controller: copies its log from now on.
    pub(super) fn follow(&mut self, leader: &Machine, epoch: u32, kernel: &mut Kernel) {
        if epoch < self.epoch || *leader == self.machine {
            return;
        }
        if epoch > self.epoch {
            self.stand_back(epoch, kernel);
        }
        self.candidacy = None;
        self.leader = Some(leader.clone());
        self.patience_ms = kernel.now_ms + self.settings.quorum_fetch_timeout_ms;
        self.fetch_from_leader(kernel);
    }

    /// The process has just started: it waits to hear of an active controller.
    pub fn start(&mut self, kernel: &mut Kernel) {
        self.patience_ms = kernel.now_ms + self.settings.quorum_fetch_timeout_ms;
        self.schedule_quorum_check(kernel);
    }

    /// The process is killed; log, epoch and vote are on the disk.
    pub fn lose_memory(&mut self) {
        self.active = None;
        self.candidacy = None;
        self.leader = None;
        self.fetch = None;
        self.truncate_log(self.log_end());
    }

    /// A connection is gone.
    pub fn on_disconnect(&mut self, request: MessageId, kernel: &mut Kernel) {
        self.fetch_lost(request, kernel);
    }
}
