//! Who leads: the controller's rules for the leader, the ISR and the ELR of one partition.
//!
//! Follows `PartitionChangeBuilder` of Kafka's metadata module (KIP-966 for the ELR). Pure: from a
//! partition's state and what is known of the brokers to its next state.

use super::ids::BrokerId;
use super::metadata::PartitionState;

/// How far an election may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Election {
    /// Keep the leader while it is valid; otherwise the first valid replica.
    Online,
    /// The first replica if it is valid.
    Preferred,
    /// As online, but an acceptable replica outside the ISR will do if no valid one is there.
    Unclean,
}

/// What an election looks at besides the partition's state.
pub struct Ballot<'a> {
    /// Whether a broker may lead at all: registered, not fenced, not shutting down.
    pub is_acceptable: &'a dyn Fn(BrokerId) -> bool,
    /// The effective `min.insync.replicas`.
    pub min_isr: usize,
    /// How far it may go.
    pub election: Election,
    /// The ISR to come.
    pub target_isr: Vec<BrokerId>,
    /// A reassignment that begins.
    pub reassign_to: Option<Vec<BrokerId>>,
    /// Whether the leader says that it has recovered from an unclean election.
    pub recovered: bool,
    /// Brokers that are known to have lost what was not on disk.
    pub unclean_shutdown: Vec<BrokerId>,
}

/// A partition's next state; `None` when nothing changes (`PartitionChangeBuilder.build`).
#[must_use]
pub fn next_state(current: &PartitionState, ballot: &Ballot<'_>) -> Option<PartitionState> {
    let mut next = current.clone();
    next.isr.clone_from(&ballot.target_isr);
    if ballot.recovered {
        next.recovering = false;
    }
    if let Some(target) = &ballot.reassign_to {
        begin_reassignment(&mut next, target);
    }
    complete_reassignment(&mut next);
    next.elr = eligible_leader_replicas(current, &next, ballot);
    if next.isr.len() >= ballot.min_isr {
        next.last_known_elr.clear();
    }
    if next.isr.is_empty() && !current.isr.is_empty() {
        // Remembered once, when the partition loses its last in-sync replica.
        next.last_known_elr = current.leader.into_iter().collect();
    }
    elect(current, &mut next, ballot);
    if next == *current {
        return None;
    }
    // A replica that is gone must not go on fetching under the old epoch.
    let removed = current.replicas.iter().any(|replica| !next.replicas.contains(replica));
    if next.leader != current.leader || removed {
        next.leader_epoch = current.leader_epoch.next();
    }
    next.partition_epoch = current.partition_epoch + 1;
    Some(next)
}

/// A reassignment begins, whether or not an earlier one was done: the replicas to come, then those
/// to go, are replicas until it is done (`PartitionReassignmentReplicas`). A mere change of order
/// is no reassignment.
fn begin_reassignment(next: &mut PartitionState, target: &[BrokerId]) {
    let mut leaving = next.replicas.clone();
    leaving.retain(|replica| !target.contains(replica));
    leaving.sort_unstable();
    let adds = target.iter().any(|replica| !next.replicas.contains(replica));
    next.target = (adds || !leaving.is_empty()).then(|| target.to_vec());
    next.replicas = target.iter().chain(&leaving).copied().collect();
}

/// A reassignment is done once every replica to come is in the ISR
/// (`completeReassignmentIfNeeded`).
fn complete_reassignment(next: &mut PartitionState) {
    let Some(target) = &next.target else { return };
    if target.iter().all(|replica| next.isr.contains(replica)) {
        next.replicas.clone_from(target);
        next.isr.retain(|replica| next.replicas.contains(replica));
        next.target = None;
    }
}

/// Below the minimum, who was in the ISR or ELR stays eligible, unless it is in the ISR to come or
/// has shut down uncleanly; at the minimum nobody needs to be (`maybePopulateTargetElr`).
fn eligible_leader_replicas(
    current: &PartitionState,
    next: &PartitionState,
    ballot: &Ballot<'_>,
) -> Vec<BrokerId> {
    if next.isr.len() >= ballot.min_isr {
        return Vec::new();
    }
    let mut eligible: Vec<BrokerId> = current.isr.iter().chain(&current.elr).copied().collect();
    eligible.sort_unstable();
    eligible.dedup();
    eligible.retain(|replica| {
        next.replicas.contains(replica)
            && !next.isr.contains(replica)
            && !ballot.unclean_shutdown.contains(replica)
    });
    eligible
}

fn elect(current: &PartitionState, next: &mut PartitionState, ballot: &Ballot<'_>) {
    let (leader, unclean) = chosen(current, next, ballot);
    if leader == current.leader {
        return;
    }
    next.leader = leader;
    let Some(leader) = leader else { return };
    if unclean {
        // Records may be lost with it, so nobody else's log is known to be complete any more.
        next.isr = vec![leader];
        next.elr.clear();
        next.recovering = true;
        next.last_known_elr.clear();
    } else if next.isr.is_empty() {
        // Elected from the ELR.
        next.isr = vec![leader];
    }
    next.elr.retain(|replica| *replica != leader);
    if next.isr.len() >= ballot.min_isr {
        next.elr.clear();
    }
}

/// The leader to come, and whether records may be lost with it (`electLeader`).
fn chosen(
    current: &PartitionState,
    next: &PartitionState,
    ballot: &Ballot<'_>,
) -> (Option<BrokerId>, bool) {
    let acceptable = |replica: BrokerId| (ballot.is_acceptable)(replica);
    let valid = |replica: BrokerId| {
        let trusted =
            next.isr.contains(&replica) || (next.isr.is_empty() && next.elr.contains(&replica));
        trusted && acceptable(replica)
    };
    if ballot.election == Election::Preferred
        && let Some(first) = next.replicas.first()
        && valid(*first)
    {
        return (Some(*first), false);
    }
    if let Some(leader) = current.leader
        && valid(leader)
    {
        return (Some(leader), false);
    }
    if let Some(replica) = next.replicas.iter().find(|replica| valid(**replica)) {
        return (Some(*replica), false);
    }
    if let [last] = next.last_known_elr[..]
        && next.isr.is_empty()
        && next.elr.is_empty()
        && acceptable(last)
    {
        return (Some(last), true);
    }
    if ballot.election == Election::Unclean
        && let Some(replica) = next.replicas.iter().find(|replica| acceptable(**replica))
    {
        return (Some(*replica), true);
    }
    (None, false)
}

#[cfg(test)]
mod tests {
    use super::super::ids::LeaderEpoch;
    use super::*;

    /// A partition [1, 2, 3] and the brokers that are not fenced.
    struct Drill {
        state: PartitionState,
        active: Vec<u32>,
        min_isr: usize,
        unclean: bool,
    }

    fn ids(ids: &[u32]) -> Vec<BrokerId> {
        ids.iter().map(|id| BrokerId(*id)).collect()
    }

    impl Drill {
        fn new(isr: &[u32], min_isr: usize) -> Drill {
            let state = PartitionState {
                replicas: ids(&[1, 2, 3]),
                isr: ids(isr),
                leader: Some(BrokerId(1)),
                ..PartitionState::default()
            };
            Drill { state, active: vec![1, 2, 3], min_isr, unclean: false }
        }

        fn change(
            &mut self,
            target_isr: Vec<BrokerId>,
            election: Election,
            unclean_shutdown: &[u32],
        ) {
            let active = self.active.clone();
            let ballot = Ballot {
                is_acceptable: &|broker| active.contains(&broker.0),
                min_isr: self.min_isr,
                election,
                target_isr,
                unclean_shutdown: ids(unclean_shutdown),
                reassign_to: None,
                recovered: false,
            };
            if let Some(next) = next_state(&self.state, &ballot) {
                self.state = next;
            }
        }

        fn usual(&self) -> Election {
            if self.unclean { Election::Unclean } else { Election::Online }
        }

        fn fence(&mut self, broker: u32) -> &mut Drill {
            self.active.retain(|id| *id != broker);
            let isr = self.state.isr.iter().copied().filter(|id| id.0 != broker).collect();
            self.change(isr, self.usual(), &[]);
            self
        }

        fn unfence(&mut self, broker: u32) -> &mut Drill {
            self.active.push(broker);
            self.change(self.state.isr.clone(), self.usual(), &[]);
            self
        }

        fn shows(&self) -> (i64, u32, u32, Vec<u32>, Vec<u32>) {
            let plain = |ids: &[BrokerId]| ids.iter().map(|id| id.0).collect();
            (
                self.state.leader.map_or(-1, |leader| i64::from(leader.0)),
                self.state.leader_epoch.0,
                self.state.partition_epoch,
                plain(&self.state.isr),
                plain(&self.state.elr),
            )
        }
    }

    #[test]
    fn the_first_valid_replica_in_replica_order_leads() {
        let mut drill = Drill::new(&[3, 2, 1], 1);
        assert_eq!(drill.fence(1).shows(), (2, 1, 1, vec![3, 2], vec![]));
        assert_eq!(drill.unfence(1).shows(), (2, 1, 1, vec![3, 2], vec![]));
        drill.change(ids(&[2, 3, 1]), Election::Online, &[]);
        assert_eq!(drill.shows(), (2, 1, 2, vec![2, 3, 1], vec![]));
        drill.change(ids(&[2, 3, 1]), Election::Preferred, &[]);
        assert_eq!(drill.shows(), (1, 2, 3, vec![2, 3, 1], vec![]));
    }

    #[test]
    fn below_the_minimum_the_fenced_stay_eligible() {
        let mut drill = Drill::new(&[1, 2, 3], 2);
        assert_eq!(drill.fence(3).shows(), (1, 0, 1, vec![1, 2], vec![]));
        assert_eq!(drill.fence(2).shows(), (1, 0, 2, vec![1], vec![2]));
        assert_eq!(drill.fence(1).shows(), (-1, 1, 3, vec![], vec![1, 2]));
        assert_eq!(drill.unfence(3).shows(), (-1, 1, 3, vec![], vec![1, 2]));
        assert_eq!(drill.unfence(2).shows(), (2, 2, 4, vec![2], vec![1]));
        assert_eq!(drill.unfence(1).shows(), (2, 2, 4, vec![2], vec![1]));
    }

    #[test]
    fn an_unclean_shutdown_ends_eligibility() {
        let mut drill = Drill::new(&[1, 2], 2);
        assert_eq!(drill.fence(2).shows(), (1, 0, 1, vec![1], vec![2]));
        drill.change(ids(&[1]), Election::Online, &[2]);
        assert_eq!(drill.shows(), (1, 0, 2, vec![1], vec![]));
        assert_eq!(drill.fence(1).shows(), (-1, 1, 3, vec![], vec![1]));
        assert_eq!(drill.unfence(2).shows(), (-1, 1, 3, vec![], vec![1]));
        assert_eq!(drill.unfence(1).shows(), (1, 2, 4, vec![1], vec![]));
    }

    #[test]
    fn an_unclean_election_makes_the_first_acceptable_replica_the_whole_isr() {
        let mut drill = Drill::new(&[1], 1);
        drill.unclean = true;
        assert_eq!(drill.fence(1).shows(), (2, 1, 1, vec![2], vec![]));
        assert!(drill.state.recovering);
    }

    #[test]
    fn a_second_reassignment_starts_from_every_replica_of_the_first() {
        let mut state = Drill::new(&[1, 2, 3], 1).state;
        begin_reassignment(&mut state, &ids(&[4, 5]));
        assert_eq!((&state.replicas, &state.target), (&ids(&[4, 5, 1, 2, 3]), &Some(ids(&[4, 5]))));
        begin_reassignment(&mut state, &ids(&[5, 3]));
        assert_eq!((&state.replicas, &state.target), (&ids(&[5, 3, 1, 2, 4]), &Some(ids(&[5, 3]))));
        begin_reassignment(&mut state, &ids(&[1, 2, 3, 4, 5]));
        assert_eq!((state.replicas, state.target), (ids(&[1, 2, 3, 4, 5]), None));
    }

    #[test]
    fn an_isr_change_does_not_raise_the_leader_epoch() {
        let mut drill = Drill::new(&[1, 2, 3], 1);
        drill.state.leader_epoch = LeaderEpoch(5);
        drill.change(ids(&[1, 2]), Election::Online, &[]);
        drill.change(ids(&[1]), Election::Online, &[]);
        drill.change(ids(&[1, 2]), Election::Online, &[]);
        assert_eq!((drill.state.leader_epoch.0, drill.state.partition_epoch), (5, 3));
    }
}
