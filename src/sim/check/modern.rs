//! Invariants of groups whose coordinator assigns, and of share groups, watched from outside.

use std::collections::BTreeMap;

use crate::sim::Sim;
use crate::sim::group::{Group, Kind};
use crate::sim::ids::{BrokerId, LeaderEpoch, Machine, Offset, TopicPartition};
use crate::sim::kernel::ProcessStatus;
use crate::sim::observe::metadata;
use crate::sim::settings::ShareSettings;
use crate::sim::share::Phase;

/// One record of a share group when it was last checked.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Held {
    phase: Phase,
    delivery_count: u16,
    member: Option<String>,
}

/// One partition of a share group when it was last checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Shared {
    leader: Option<(BrokerId, LeaderEpoch, u32)>,
    records: BTreeMap<Offset, Held>,
    /// The highest limit that was in force.
    limit: u16,
}

/// The memory of these checkers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupChecker {
    shared: BTreeMap<(String, TopicPartition), Shared>,
    /// When a broker was last let go on, in milliseconds: what it slept through happens then.
    resumed_ms: BTreeMap<BrokerId, u64>,
}

impl GroupChecker {
    /// A broker goes on after a pause.
    pub fn resumed(&mut self, broker: BrokerId, now_ms: u64) {
        self.resumed_ms.insert(broker, now_ms);
    }
}

impl Sim {
    /// No partition has two owners; no member is ahead of its group.
    pub(super) fn check_group(&self, name: &str) -> Result<(), String> {
        let home = metadata(self).home_of(name);
        let known = self.brokers.values().filter_map(|broker| {
            let running = self.kernel.status(&broker.machine) == ProcessStatus::Running;
            broker.offsets.groups(&home).filter(|_| running)?.get(name)
        });
        for group in known {
            let Group::Modern(group) = group else { continue };
            let mut owners: BTreeMap<&TopicPartition, &String> = BTreeMap::new();
            for (id, member) in &group.members {
                if member.current.epoch > group.epoch {
                    return Err(format!(
                        "{name}: {id} is in epoch {}, the group in {}",
                        member.current.epoch, group.epoch
                    ));
                }
                if group.kind == Kind::Share {
                    continue;
                }
                for partition in member.current.held() {
                    if let Some(other) = owners.insert(partition, id) {
                        return Err(format!("{name}: {other} and {id} both own {partition}"));
                    }
                }
            }
        }
        Ok(())
    }

    /// A record has one holder, who has it no longer than the lock lasts; what it was handed out
    /// never falls, and is no more than the group allows.
    pub(super) fn check_shared(
        &mut self,
        group: &str,
        partition: &TopicPartition,
    ) -> Result<(), String> {
        let now_ms = self.kernel.now_ms;
        let place = (group.to_owned(), partition.clone());
        for (id, broker) in &self.brokers {
            let Some(shared) = broker.sharing.get(group, partition) else { continue };
            let Some(replica) = broker.replicas.get(partition) else { continue };
            let life = (*id, replica.leader_epoch, self.kernel.incarnation(&Machine::Broker(*id)));
            let own = broker.image.group_config.get(group).cloned().unwrap_or_default();
            let limit = ShareSettings::read(&own, &broker.config).delivery_limit;
            let seen = self.checker.modern.shared.entry(place.clone()).or_default();
            if seen.leader != Some(life) {
                *seen = Shared { leader: Some(life), records: BTreeMap::new(), limit };
            }
            seen.limit = seen.limit.max(limit);
            // What sleeps frees nothing, and knows nothing of those who lead in its place.
            let sleeps = self.kernel.status(&broker.machine) != ProcessStatus::Running
                || self.checker.modern.resumed_ms.get(id) == Some(&now_ms);
            if !sleeps && shared.next_lock_ms().is_some_and(|until| until < now_ms) {
                return Err(format!("{group}: a lock in {partition} has run out and still holds"));
            }
            let mut records = BTreeMap::new();
            for (offset, phase, delivery_count, member) in shared.records() {
                let member = member.map(str::to_owned);
                let now = Held { phase, delivery_count, member };
                check_record(
                    (group, partition, offset),
                    seen.records.get(&offset),
                    &now,
                    seen.limit,
                )?;
                records.insert(offset, now);
            }
            seen.records = records;
        }
        Ok(())
    }
}

fn check_record(
    (group, partition, offset): (&str, &TopicPartition, Offset),
    before: Option<&Held>,
    now: &Held,
    limit: u16,
) -> Result<(), String> {
    let what = format!("{group}: {partition}@{offset}");
    if now.delivery_count > limit {
        return Err(format!("{what} was handed out {} times of {limit}", now.delivery_count));
    }
    if (now.phase == Phase::Acquired) != now.member.is_some() {
        return Err(format!("{what} is {} by {:?}", now.phase.name(), now.member));
    }
    let Some(before) = before else { return Ok(()) };
    if now.delivery_count < before.delivery_count {
        return Err(format!(
            "{what}: deliveries {} -> {}",
            before.delivery_count, now.delivery_count
        ));
    }
    let taken = before.member.is_some() && now.member.is_some() && before.member != now.member;
    if taken && now.delivery_count == before.delivery_count {
        return Err(format!("{what} is taken from {:?} by {:?}", before.member, now.member));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::check::Note;
    use crate::sim::command::{Command, Produce};
    use crate::sim::group::home_of;
    use crate::sim::group::modern::{Change, Current};
    use crate::sim::world::{
        ConsumerSpec, GroupSpec, ProducerSpec, Protocol, Start, TopicSpec, World,
    };

    fn partition() -> TopicPartition {
        TopicPartition::new("orders", 0)
    }

    fn member(name: &str) -> ConsumerSpec {
        ConsumerSpec {
            name: name.to_owned(),
            start: Start::WithWorld,
            config: crate::sim::world::Settings::new(),
            topics: None,
            poll_interval_ms: 60_000,
            poll_timeout_ms: 60_000,
        }
    }

    /// Two members of a group, and three records.
    fn healthy(protocol: Protocol) -> Sim {
        let world = World {
            topics: vec![TopicSpec {
                name: "orders".to_owned(),
                partitions: Some(1),
                replication_factor: Some(1),
                assignment: Some(vec![vec![BrokerId(1)]]),
                config: crate::sim::world::Settings::new(),
            }],
            producers: vec![ProducerSpec {
                name: "p".to_owned(),
                topic: Some("orders".to_owned()),
                config: crate::sim::world::Settings::new(),
                start: Start::WithWorld,
            }],
            groups: vec![GroupSpec {
                name: "g".to_owned(),
                topics: vec!["orders".to_owned()],
                protocol,
                config: crate::sim::world::Settings::new(),
                consumers: vec![member("a"), member("b")],
            }],
            ..World::default()
        };
        let three = Produce {
            producer: "p".to_owned(),
            topic: None,
            key: None,
            value: Some("v".to_owned()),
            headers: Vec::new(),
            partition: Some(0),
            timestamp_ms: None,
            size_bytes: None,
            count: 3,
            every_ms: 0,
        };
        let mut sim = Sim::new(world, vec![(100, Command::Produce(three))]);
        while let Some(next) = sim.next_event_ms().filter(|next| *next <= 1000) {
            sim.run_millisecond(next).expect("nothing is broken");
        }
        sim
    }

    fn coordinator(sim: &mut Sim) -> &mut crate::sim::group::ModernGroup {
        let home = home_of("g", 50);
        let leader = metadata(sim).partitions[&home].leader.expect("a leader");
        let broker = sim.brokers.get_mut(&leader).expect("a broker");
        broker.offsets.groups_for_test(&home).and_then(|g| g.find_modern("g")).expect("the group")
    }

    fn shared(sim: &mut Sim) -> &mut crate::sim::share::SharePartition {
        let broker = sim.brokers.get_mut(&BrokerId(1)).expect("a broker");
        broker.sharing.for_test("g", &partition()).expect("it is shared")
    }

    fn said(sim: &mut Sim, note: Note) -> String {
        sim.kernel.note(note);
        sim.check(None).expect_err("the checker fires")
    }

    fn of_share() -> Note {
        Note::Shared { group: "g".to_owned(), partition: partition() }
    }

    #[test]
    fn two_owners_of_a_partition_are_found() {
        let mut sim = healthy(Protocol::Consumer);
        let group = coordinator(&mut sim);
        let both = Current {
            epoch: group.epoch,
            assigned: BTreeMap::from([(partition(), group.epoch)]),
            ..Current::default()
        };
        for id in ["a", "b"] {
            group.apply(&Change::Current(id.to_owned(), both.clone()));
        }
        let said = said(&mut sim, Note::Group("g".to_owned()));
        assert!(said.contains("a and b both own orders-0"), "{said}");
    }

    #[test]
    fn a_member_ahead_of_its_group_is_found() {
        let mut sim = healthy(Protocol::Consumer);
        let group = coordinator(&mut sim);
        let ahead = Current { epoch: group.epoch + 1, ..Current::default() };
        group.apply(&Change::Current("a".to_owned(), ahead));
        let said = said(&mut sim, Note::Group("g".to_owned()));
        assert!(said.contains("a is in epoch"), "{said}");
    }

    #[test]
    fn a_lock_that_has_run_out_and_still_holds_is_found() {
        let mut sim = healthy(Protocol::Share);
        assert_eq!(shared(&mut sim).next_lock_ms().map(|at| at / 1000), Some(30));
        sim.kernel.now_ms = 31_000;
        let said = said(&mut sim, of_share());
        assert!(said.contains("has run out and still holds"), "{said}");
    }

    #[test]
    fn a_record_that_is_handed_out_too_often_is_found() {
        let mut sim = healthy(Protocol::Share);
        shared(&mut sim).set_delivery_count(Offset(0), 6);
        let said = said(&mut sim, of_share());
        assert!(said.contains("was handed out 6 times of 5"), "{said}");
    }

    #[test]
    fn deliveries_that_fall_are_found() {
        let mut sim = healthy(Protocol::Share);
        shared(&mut sim).set_delivery_count(Offset(0), 0);
        let said = said(&mut sim, of_share());
        assert!(said.contains("deliveries 1 -> 0"), "{said}");
    }

    #[test]
    fn a_record_that_changes_hands_without_a_delivery_is_found() {
        let mut sim = healthy(Protocol::Share);
        shared(&mut sim).set_holder(Offset(0), "z");
        let said = said(&mut sim, of_share());
        assert!(said.contains("is taken from"), "{said}");
    }
}
