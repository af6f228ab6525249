//! The rules of replication, seen from a partition's leader: how far followers are, who is in sync,
//! and where the high watermark stands.
//!
//! Follows `Partition`, `Replica` and `ReplicaState` of Kafka's core module. Knows no messages.

use std::collections::BTreeMap;

use super::ids::{BrokerId, Offset};

/// What a leader knows of one follower.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RemoteReplica {
    /// The end of its log, from the offset of its last fetch; `None` until it has fetched under
    /// this leader.
    pub log_end: Option<Offset>,
    /// When it last had everything, in milliseconds; `None`: not under this leader.
    pub last_caught_up_ms: Option<u64>,
    /// When it last fetched.
    last_fetch_ms: Option<u64>,
    /// The leader's log end at that fetch.
    last_fetch_leader_end: Option<Offset>,
    /// The epoch of the follower's registration, from its last fetch.
    pub broker_epoch: Option<u64>,
}

/// One fetch of a follower.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FollowerFetch {
    /// The offset that it asked for, which is the end of its log.
    pub offset: Offset,
    /// When, in milliseconds.
    pub time_ms: u64,
    /// The leader's log end before the read.
    pub leader_end: Offset,
    /// The epoch of the follower's registration.
    pub broker_epoch: u64,
}

impl RemoteReplica {
    /// A follower that had everything at 0 s.
    #[must_use]
    pub fn caught_up(log_end: Offset, broker_epoch: u64) -> RemoteReplica {
        RemoteReplica {
            log_end: Some(log_end),
            last_caught_up_ms: Some(0),
            last_fetch_ms: Some(0),
            last_fetch_leader_end: Some(log_end),
            broker_epoch: Some(broker_epoch),
        }
    }

    /// A follower under a new leader: its log end is unknown; members of the ISR count as caught up
    /// now (`Replica.resetReplicaState`).
    #[must_use]
    pub fn under_new_leader(in_sync_since_ms: Option<u64>) -> RemoteReplica {
        RemoteReplica { last_caught_up_ms: in_sync_since_ms, ..RemoteReplica::default() }
    }

    /// Takes note of a fetch (`Replica.updateFetchStateOrThrow`): a follower that asks for the
    /// leader's end has everything now; one that asks for what was the end at its previous fetch
    /// had everything then.
    pub fn note_fetch(&mut self, fetch: FollowerFetch) {
        if fetch.offset >= fetch.leader_end {
            self.last_caught_up_ms = self.last_caught_up_ms.max(Some(fetch.time_ms));
        } else if self.last_fetch_leader_end.is_some_and(|end| fetch.offset >= end) {
            self.last_caught_up_ms = self.last_caught_up_ms.max(self.last_fetch_ms);
        }
        self.log_end = Some(fetch.offset);
        self.last_fetch_ms = Some(fetch.time_ms);
        self.last_fetch_leader_end = self.last_fetch_leader_end.max(Some(fetch.leader_end));
        self.broker_epoch = Some(fetch.broker_epoch);
    }

    /// Whether it has everything, or had it not long ago (`ReplicaState.isCaughtUp`).
    #[must_use]
    pub fn is_caught_up(&self, leader_end: Offset, now_ms: u64, lag_time_max_ms: u64) -> bool {
        self.log_end == Some(leader_end)
            || self.last_caught_up_ms.is_some_and(|at| now_ms.saturating_sub(at) <= lag_time_max_ms)
    }
}

/// What a leader knows of its partition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeaderState {
    /// The log end when it became leader: where its epoch starts.
    pub epoch_start: Offset,
    /// The ISR that the controller has confirmed.
    pub isr: Vec<BrokerId>,
    /// The ISR that it has proposed, while the controller has not answered.
    pub proposed_isr: Option<Vec<BrokerId>>,
    /// Counts the controller's changes of this partition.
    pub partition_epoch: u32,
    /// Its followers.
    pub remotes: BTreeMap<BrokerId, RemoteReplica>,
    /// Whether it came from an unclean election that it has not confirmed.
    pub recovering: bool,
}

/// What the rules look at besides the leader's own state.
pub struct Circumstances<'a> {
    /// The present, in milliseconds.
    pub now_ms: u64,
    /// `replica.lag.time.max.ms`.
    pub lag_time_max_ms: u64,
    /// The effective `min.insync.replicas`.
    pub min_isr: usize,
    /// The registration epoch of a broker that may join an ISR: neither fenced nor shutting down.
    pub eligible_epoch: &'a dyn Fn(BrokerId) -> Option<u64>,
}

impl LeaderState {
    /// The ISR that counts for the high watermark: the confirmed one together with who is about to
    /// join; who is about to leave still counts (`PartitionState.maximalIsr`).
    #[must_use]
    pub fn maximal_isr(&self) -> Vec<BrokerId> {
        let mut isr = self.isr.clone();
        for broker in self.proposed_isr.iter().flatten() {
            if !isr.contains(broker) {
                isr.push(*broker);
            }
        }
        isr
    }

    /// Whether too few replicas are in sync to go on (`Partition.isUnderMinIsr`).
    #[must_use]
    pub fn is_under_min_isr(&self, min_isr: usize) -> bool {
        self.isr.len() < min_isr
    }

    /// Where the high watermark may stand: at the smallest log end among the leader, the maximal
    /// ISR, and those about to be in it. `None`: it stands still, since the ISR is below its
    /// minimum (`Partition.maybeIncrementLeaderHW`).
    #[must_use]
    pub fn high_watermark_candidate(
        &self,
        log_end: Offset,
        around: &Circumstances<'_>,
    ) -> Option<Offset> {
        if self.is_under_min_isr(around.min_isr) {
            return None;
        }
        let isr = self.maximal_isr();
        let mut candidate = log_end;
        for (broker, remote) in &self.remotes {
            let counts = isr.contains(broker)
                || (remote.is_caught_up(log_end, around.now_ms, around.lag_time_max_ms)
                    && is_eligible(*broker, remote, around));
            if counts {
                // An unknown log end holds the high watermark where it is.
                candidate = candidate.min(remote.log_end?);
            }
        }
        Some(candidate)
    }

    /// Whether a follower may be proposed for the ISR: it has everything committed and everything
    /// of earlier epochs, and its broker is in good standing (`Partition.needsExpandIsr`).
    #[must_use]
    pub fn may_join_isr(
        &self,
        broker: BrokerId,
        high_watermark: Offset,
        around: &Circumstances<'_>,
    ) -> bool {
        if self.proposed_isr.is_some() || self.isr.contains(&broker) {
            return false;
        }
        self.remotes.get(&broker).is_some_and(|remote| {
            remote.log_end.is_some_and(|end| end >= high_watermark && end >= self.epoch_start)
                && is_eligible(broker, remote, around)
        })
    }

    /// Members of the ISR that have not kept up (`Partition.getOutOfSyncReplicas`); none while a
    /// proposal is under way.
    #[must_use]
    pub fn out_of_sync(
        &self,
        me: BrokerId,
        log_end: Offset,
        around: &Circumstances<'_>,
    ) -> Vec<BrokerId> {
        if self.proposed_isr.is_some() {
            return Vec::new();
        }
        let lags = |broker: &BrokerId| {
            *broker != me
                && !self.remotes.get(broker).is_some_and(|remote| {
                    remote.is_caught_up(log_end, around.now_ms, around.lag_time_max_ms)
                })
        };
        self.isr.iter().copied().filter(lags).collect()
    }
}

/// Whether a follower's broker is neither fenced nor shutting down, and the same process that
/// fetched (`Partition.isReplicaIsrEligible`).
fn is_eligible(broker: BrokerId, remote: &RemoteReplica, around: &Circumstances<'_>) -> bool {
    let registered = (around.eligible_epoch)(broker);
    registered.is_some() && registered == remote.broker_epoch
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAG_MS: u64 = 30_000;

    fn around(now_ms: u64, min_isr: usize) -> Circumstances<'static> {
        Circumstances { now_ms, lag_time_max_ms: LAG_MS, min_isr, eligible_epoch: &|_| Some(1) }
    }

    fn fetch(offset: u64, time_ms: u64, leader_end: u64) -> FollowerFetch {
        FollowerFetch {
            offset: Offset(offset),
            time_ms,
            leader_end: Offset(leader_end),
            broker_epoch: 1,
        }
    }

    fn leader(isr: &[u32], followers: &[u32]) -> LeaderState {
        LeaderState {
            isr: isr.iter().map(|id| BrokerId(*id)).collect(),
            remotes: followers
                .iter()
                .map(|id| {
                    let in_sync = isr.contains(id).then_some(0);
                    (BrokerId(*id), RemoteReplica::under_new_leader(in_sync))
                })
                .collect(),
            ..LeaderState::default()
        }
    }

    impl LeaderState {
        fn fetched(&mut self, broker: u32, fetch: FollowerFetch) {
            self.remotes.get_mut(&BrokerId(broker)).expect("a follower").note_fetch(fetch);
        }
    }

    /// `PartitionTest.testUpdateFollowerFetchState`.
    #[test]
    fn a_follower_was_caught_up_at_its_previous_fetch_if_it_asks_for_what_was_the_end_then() {
        let mut remote = RemoteReplica::under_new_leader(Some(0));
        remote.note_fetch(fetch(3, 500, 6));
        assert_eq!((remote.log_end, remote.last_caught_up_ms), (Some(Offset(3)), Some(0)));
        remote.note_fetch(fetch(6, 1000, 6));
        assert_eq!((remote.log_end, remote.last_caught_up_ms), (Some(Offset(6)), Some(1000)));
        remote.note_fetch(fetch(6, 1500, 8));
        assert_eq!(remote.last_caught_up_ms, Some(1000));
    }

    /// `PartitionTest.testMaybeShrinkIsr`.
    #[test]
    fn a_silent_member_holds_the_high_watermark_until_the_controller_confirms_its_removal() {
        let mut leader = leader(&[0, 1, 2], &[1, 2]);
        leader.fetched(1, fetch(10, 10_000, 10));
        let log_end = Offset(10);
        assert_eq!(leader.high_watermark_candidate(log_end, &around(10_000, 1)), None);
        assert_eq!(leader.out_of_sync(BrokerId(0), log_end, &around(30_000, 1)), []);
        let late = around(30_001, 1);
        assert_eq!(leader.out_of_sync(BrokerId(0), log_end, &late), [BrokerId(2)]);
        leader.proposed_isr = Some(vec![BrokerId(0), BrokerId(1)]);
        assert_eq!(leader.high_watermark_candidate(log_end, &late), None);
        leader.isr = leader.proposed_isr.take().expect("proposed");
        assert_eq!(leader.high_watermark_candidate(log_end, &late), Some(log_end));
    }

    /// `PartitionTest.testIsrExpansion`.
    #[test]
    fn a_follower_joins_once_it_has_everything_committed() {
        let mut leader = leader(&[0], &[1]);
        leader.fetched(1, fetch(3, 100, 10));
        assert!(!leader.may_join_isr(BrokerId(1), Offset(10), &around(100, 1)));
        leader.fetched(1, fetch(10, 200, 10));
        assert!(leader.may_join_isr(BrokerId(1), Offset(10), &around(200, 1)));
        leader.proposed_isr = Some(vec![BrokerId(0), BrokerId(1)]);
        assert!(!leader.may_join_isr(BrokerId(1), Offset(10), &around(200, 1)));
        assert_eq!(leader.maximal_isr(), [BrokerId(0), BrokerId(1)]);
        assert_eq!(leader.isr, [BrokerId(0)]);
    }

    #[test]
    fn below_the_minimum_the_high_watermark_stands_still() {
        let mut leader = leader(&[0], &[1]);
        leader.fetched(1, fetch(5, 100, 5));
        assert_eq!(leader.high_watermark_candidate(Offset(5), &around(100, 2)), None);
        leader.proposed_isr = Some(vec![BrokerId(0), BrokerId(1)]);
        assert_eq!(leader.high_watermark_candidate(Offset(5), &around(100, 2)), None);
    }

    #[test]
    fn a_caught_up_outsider_counts_before_it_is_in_the_isr_unless_it_may_not_join() {
        let mut leader = leader(&[0], &[1]);
        leader.fetched(1, fetch(5, 100, 5));
        assert_eq!(leader.high_watermark_candidate(Offset(7), &around(200, 1)), Some(Offset(5)));
        let fenced = Circumstances { eligible_epoch: &|_| None, ..around(200, 1) };
        assert_eq!(leader.high_watermark_candidate(Offset(7), &fenced), Some(Offset(7)));
    }
}
