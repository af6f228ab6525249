//! Invariants of groups: one owner of a partition, generations that never fall, and nothing that is
//! committed comes again without a reason.

use std::collections::{BTreeMap, BTreeSet};

use crate::sim::Sim;
use crate::sim::ids::{BrokerId, LeaderEpoch, Offset, TopicPartition};
use crate::sim::message::Isolation;
use crate::sim::observe::metadata;
use crate::sim::record::{Batch, BatchKind, Outcome};

/// A coordinator: a broker, and the epoch under which it leads the group's partition.
type Reign = (BrokerId, LeaderEpoch);
/// A consumer's name and a partition.
pub(super) type Place = (String, TopicPartition);

/// What groups looked like when they were last checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Seen {
    /// By group, with the coordinator's reign: what it has not written is lost with it, the number
    /// of its last generation included.
    generations: BTreeMap<String, (Reign, i32)>,
    /// What each consumer was told is committed, or has committed itself.
    committed: BTreeMap<Place, Offset>,
    /// The next record that each consumer has to be given.
    next: BTreeMap<Place, Offset>,
}

impl Seen {
    /// A consumer's position is put somewhere by a rule or an action: anything may come.
    pub(super) fn reset(&mut self, place: &Place) {
        self.committed.remove(place);
        self.next.remove(place);
    }

    /// A consumer is told where its group stands.
    pub(super) fn started(&mut self, place: &Place, offset: Option<Offset>) {
        self.reset(place);
        if let Some(offset) = offset {
            self.committed.insert(place.clone(), offset);
            self.next.insert(place.clone(), offset);
        }
    }

    /// A consumer's commit is stored; it may also go back. One from before a reset says nothing.
    pub(super) fn committed(&mut self, place: Place, offset: Offset) {
        if self.next.get(&place).is_some_and(|next| *next >= offset) {
            self.committed.insert(place, offset);
        }
    }

    /// A record below the committed offset does not come again.
    fn comes_again(&self, place: &Place, offset: Offset) -> Result<(), String> {
        let committed = self.committed.get(place).copied().unwrap_or_default();
        if offset >= committed {
            return Ok(());
        }
        let (consumer, partition) = place;
        Err(format!(
            "{consumer} is given offset {offset} of {partition}, although {committed} is committed"
        ))
    }

    /// Under one coordinator generations never fall.
    fn generation(&mut self, group: &str, reign: Reign, now: i32) -> Result<(), String> {
        match self.generations.insert(group.to_owned(), (reign, now)) {
            Some((known, before)) if known == reign && before > now => {
                Err(format!("{group}: generation {before} -> {now}"))
            }
            _ => Ok(()),
        }
    }
}

impl Sim {
    /// Checks a group as its coordinator knows it.
    pub(super) fn check_classic_group(
        &mut self,
        coordinator: BrokerId,
        home: &TopicPartition,
        name: &str,
    ) -> Result<(), String> {
        let Some(broker) = self.brokers.get(&coordinator) else { return Ok(()) };
        let group = broker.offsets.groups(home).and_then(|groups| groups.classic(name));
        let Some(group) = group else {
            self.checker.groups.generations.remove(name);
            return Ok(());
        };
        let epoch = broker.replicas.get(home).map(|replica| replica.leader_epoch);
        let mut owned: BTreeSet<&TopicPartition> = BTreeSet::new();
        for partition in group.members.values().flat_map(|member| &member.assignment) {
            if !owned.insert(partition) {
                return Err(format!("{name}: {partition} has two owners"));
            }
        }
        let generation = group.generation;
        let reign = (coordinator, epoch.unwrap_or_default());
        self.checker.groups.generation(name, reign, generation)
    }

    /// A record comes to an application: it is not one that is committed already or was given
    /// before, and none that is still in the log is left out, unless its transaction hides it.
    pub(super) fn check_delivery(
        &mut self,
        place: &Place,
        offset: Offset,
        isolation: Isolation,
    ) -> Result<(), String> {
        self.checker.groups.comes_again(place, offset)?;
        let next = self.checker.groups.next.insert(place.clone(), offset + 1);
        let Some(next) = next.filter(|next| *next != offset) else { return Ok(()) };
        let (consumer, partition) = place;
        let seen = self.checker.partitions.get(partition);
        let Some(seen) = seen.filter(|seen| seen.unclean.is_none()) else { return Ok(()) };
        if offset < next {
            return Err(format!("{consumer} is given {offset} of {partition} twice"));
        }
        let leader = metadata(self).partitions.get(partition).and_then(|state| state.leader);
        let log = leader.and_then(|id| self.brokers.get(&id)?.replicas.get(partition));
        let scan = leader.and_then(|id| seen.scans.get(&id));
        let is_due = |at: Offset, batch: &Batch| match (batch.kind, batch.stamp) {
            (BatchKind::Marker { .. }, _) => false,
            (BatchKind::Transactional, Some(stamp)) if isolation == Isolation::Committed => {
                let outcome = scan.and_then(|scan| scan.outcome(stamp.producer_id, at));
                outcome == Some(Outcome::Commit)
            }
            _ => true,
        };
        let between = log.into_iter().flat_map(|replica| replica.log.records_from(next));
        let left_out = between
            .take_while(|(at, ..)| *at < offset)
            .find(|(at, _, stored)| is_due(*at, &stored.batch));
        match left_out {
            Some((at, ..)) => {
                Err(format!("{consumer} is given {offset} of {partition}, but not {at}"))
            }
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place() -> Place {
        ("reader-1".to_owned(), TopicPartition::new("orders", 0))
    }

    #[test]
    fn what_is_committed_does_not_come_again_unless_a_position_was_put_back() {
        let mut seen = Seen::default();
        seen.started(&place(), Some(Offset(3)));
        assert!(seen.comes_again(&place(), Offset(3)).is_ok());
        let said = seen.comes_again(&place(), Offset(2)).expect_err("it is committed");
        assert!(said.contains("although 3 is committed"), "{said}");
        seen.next.insert(place(), Offset(5));
        seen.committed(place(), Offset(5));
        assert!(seen.comes_again(&place(), Offset(4)).is_err());
        seen.reset(&place());
        assert!(seen.comes_again(&place(), Offset(0)).is_ok());
        // A commit from before the reset says nothing of what comes after it.
        seen.committed(place(), Offset(5));
        assert!(seen.comes_again(&place(), Offset(0)).is_ok());
    }

    #[test]
    fn a_generation_that_falls_is_found() {
        let mut seen = Seen::default();
        let reign = (BrokerId(1), LeaderEpoch(0));
        assert!(seen.generation("g", reign, 1).is_ok());
        assert!(seen.generation("g", reign, 2).is_ok());
        let said = seen.generation("g", reign, 1).expect_err("it falls");
        assert!(seen.generation("g", (BrokerId(2), LeaderEpoch(1)), 1).is_ok(), "a new one");
        assert!(said.contains("generation 2 -> 1"), "{said}");
    }
}
