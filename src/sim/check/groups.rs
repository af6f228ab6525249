//! Invariants of groups: one owner of a partition, generations that never fall, and nothing that is
//! committed comes again without a reason.

use std::collections::{BTreeMap, BTreeSet};

use crate::sim::Sim;
use crate::sim::consumer::Consumer;
use crate::sim::group::{ClassicGroup, Member};
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
    /// When each coordinator has last taken a heartbeat of a member, in milliseconds.
    heard_ms: BTreeMap<(BrokerId, String), u64>,
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

    /// A coordinator has taken a heartbeat.
    pub(super) fn heard(&mut self, who: (BrokerId, String), now_ms: u64) {
        self.heard_ms.insert(who, now_ms);
    }

    /// Nobody is missed whose heartbeats come in time.
    pub(super) fn missed(
        &mut self,
        who: (BrokerId, String),
        timeout_ms: u64,
        now_ms: u64,
    ) -> Result<(), String> {
        let Some(heard_ms) = self.heard_ms.remove(&who) else { return Ok(()) };
        let silent_ms = now_ms - heard_ms;
        if silent_ms >= timeout_ms {
            return Ok(());
        }
        let (coordinator, member) = who;
        Err(format!(
            "{coordinator} misses {member} after {timeout_ms} ms, but it was heard of {silent_ms} \
             ms ago"
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
        one_owner(group)?;
        let epoch = broker.replicas.get(home).map(|replica| replica.leader_epoch);
        let generation = group.generation;
        let reign = (coordinator, epoch.unwrap_or_default());
        self.checker.groups.generation(name, reign, generation)
    }

    /// Members that know the same generation never hold the same partition: who has to give
    /// something up does so before it joins that generation. Who the coordinator does not know,
    /// such as a static member that was replaced, does not count: it will hear of it.
    pub(super) fn check_owners(&self, name: &str) -> Result<(), String> {
        let Some(own) = self.consumers.get(name) else { return Ok(()) };
        let Some(members) = self.members_at_coordinator(own) else { return Ok(()) };
        for (other_name, other) in self.consumers.iter().filter(|(known, _)| *known != name) {
            let fellows = own.membership.group == other.membership.group
                && own.membership.epoch == other.membership.epoch
                && other.membership.member.as_ref().is_some_and(|id| members.contains_key(id));
            if !fellows {
                continue;
            }
            if let Some(partition) = own.assignment.intersection(&other.assignment).next() {
                return Err(format!(
                    "{name} and {other_name} both hold {partition} in one generation, {}",
                    own.membership.epoch
                ));
            }
        }
        Ok(())
    }

    /// The members of a consumer's classic group, as the coordinator knows them that it asks.
    fn members_at_coordinator(&self, consumer: &Consumer) -> Option<&BTreeMap<String, Member>> {
        let group = &consumer.membership.group;
        let coordinator = self.brokers.get(&consumer.membership.coordinator?)?;
        let groups = coordinator.offsets.groups(&metadata(self).home_of(group))?;
        groups.classic(group).map(|group| &group.members)
    }

    /// A consumer is told where its group stands: nothing is skipped that nobody was given.
    pub(super) fn check_start(
        &mut self,
        place: &Place,
        offset: Option<Offset>,
    ) -> Result<(), String> {
        self.checker.groups.started(place, offset);
        let (consumer, partition) = place;
        let group = self.consumers.get(consumer).map(|one| one.membership.group.clone());
        let (Some(group), Some(offset)) = (group, offset) else { return Ok(()) };
        let of_group = (group, partition.clone());
        let furthest = self.checker.furthest.get(&of_group).copied().unwrap_or_default();
        if offset <= furthest || self.checker.set_by_action.contains(&of_group) {
            return Ok(());
        }
        Err(format!(
            "{consumer} begins at {offset} of {partition}, but nobody stood beyond {furthest}"
        ))
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

/// A partition has one owner by the coordinator's view.
fn one_owner(group: &ClassicGroup) -> Result<(), String> {
    let mut owned: BTreeSet<&TopicPartition> = BTreeSet::new();
    for partition in group.members.values().flat_map(|member| &member.assignment) {
        if !owned.insert(partition) {
            return Err(format!("{}: {partition} has two owners", group.name));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::group::Member;

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

    #[test]
    fn two_owners_of_a_partition_are_found() {
        let member = |id: &str, own: &[u32]| {
            let mut member = Member::default();
            id.clone_into(&mut member.id);
            member.assignment = own.iter().map(|n| TopicPartition::new("orders", *n)).collect();
            member
        };
        let healthy = ClassicGroup::stable("g", 1, vec![member("a", &[0]), member("b", &[1])]);
        assert!(one_owner(&healthy).is_ok());
        let broken = ClassicGroup::stable("g", 1, vec![member("a", &[0, 1]), member("b", &[1])]);
        let said = one_owner(&broken).expect_err("it has two owners");
        assert!(said.contains("orders-1 has two owners"), "{said}");
    }

    #[test]
    fn a_member_that_is_missed_although_it_was_heard_of_is_found() {
        let mut seen = Seen::default();
        let who = || (BrokerId(1), "reader-1".to_owned());
        seen.heard(who(), 1000);
        assert!(seen.missed(who(), 3000, 4000).is_ok());
        seen.heard(who(), 1000);
        let said = seen.missed(who(), 3000, 3999).expect_err("it was heard of");
        assert!(said.contains("was heard of 2999 ms ago"), "{said}");
        assert!(seen.missed((BrokerId(2), "reader-1".to_owned()), 3000, 3999).is_ok(), "another");
    }
}
