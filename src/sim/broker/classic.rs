//! The group coordinator's part in a classic rebalance: members join, the first of them assigns,
//! everybody is told.
//!
//! Follows `GroupMetadataManager.classicGroupJoin` and `classicGroupSync`. A group that was empty
//! waits `group.initial.rebalance.delay.ms`, and once more as long as new members come; another one
//! waits until its known members have joined again.

use std::collections::BTreeMap;

use crate::sim::error::KafkaError;
use crate::sim::group::{ClassicGroup, Group, GroupPhase};
use crate::sim::ids::TopicPartition;
use crate::sim::kernel::Kernel;
use crate::sim::message::{Assignments, Body, JoinRequest, Joined, Message, MessageId};
use crate::sim::record::Batch;
use crate::sim::timer::Timer;
use crate::sim::trace::EventKind;

use super::offsets::{COMMIT_TIMEOUT_MS, coordinator_error, group_record};
use super::{Broker, Held};

/// Members that have joined and wait for the others.
#[derive(Clone, Debug, Default)]
pub struct Gathering {
    /// In the order in which they came; the first leads.
    joined: Vec<(Message, JoinRequest)>,
    /// Whether one came since the last deadline was set.
    grew: bool,
    /// The latest end.
    until_ms: u64,
}

impl Broker {
    pub(super) fn handle_join(&mut self, message: &Message, kernel: &mut Kernel) {
        let Body::JoinGroup(request) = &*message.body else { return };
        let home = self.home_of(&request.group);
        if !self.offsets.is_loaded(&home) {
            kernel.answer(message, Body::JoinGroupResponse(Err(KafkaError::NotCoordinator)));
            return;
        }
        if request.member.is_none() {
            kernel.answer(message, Body::JoinGroupResponse(Err(KafkaError::MemberIdRequired)));
            return;
        }
        kernel.hold(message);
        let first = !self.gatherings.contains_key(&request.group);
        let gathering = self.gatherings.entry(request.group.clone()).or_default();
        gathering.joined.push((message.clone(), request.clone()));
        gathering.grew = !first;
        if first {
            self.begin_gathering(&home, request, kernel);
        }
        if self.everybody_is_back(&home, &request.group) {
            self.finish_join(&request.group, kernel);
        }
    }

    fn begin_gathering(
        &mut self,
        home: &TopicPartition,
        request: &JoinRequest,
        kernel: &mut Kernel,
    ) {
        let Some(group) = self.offsets.classic_mut(home, &request.group) else { return };
        let wait_ms = if group.members.is_empty() {
            self.settings.initial_rebalance_delay_ms.min(request.rebalance_timeout_ms)
        } else {
            request.rebalance_timeout_ms
        };
        group.phase = GroupPhase::PreparingRebalance;
        if let Some(gathering) = self.gatherings.get_mut(&request.group) {
            gathering.until_ms = kernel.now_ms + request.rebalance_timeout_ms;
        }
        kernel.trace(
            EventKind::GroupChange,
            &self.machine,
            format!("{} prepares a rebalance", request.group),
        );
        let timer = Timer::GroupDeadline(request.group.clone());
        kernel.timer(&self.machine, kernel.now_ms + wait_ms, timer);
    }

    /// Whether every known member has joined; a group without members waits for its deadline.
    fn everybody_is_back(&mut self, home: &TopicPartition, group: &str) -> bool {
        let Some(gathering) = self.gatherings.get(group) else { return false };
        let joined: Vec<&str> =
            gathering.joined.iter().filter_map(|(_, request)| request.member.as_deref()).collect();
        let known = self.offsets.groups(home).and_then(|groups| groups.classic(group));
        known.is_some_and(|known| {
            !known.members.is_empty()
                && known.members.keys().all(|member| joined.contains(&member.as_str()))
        })
    }

    /// The time to gather is over; while new members come it is extended once more.
    pub(super) fn gathering_is_over(&mut self, group: &str, kernel: &mut Kernel) {
        let delay_ms = self.settings.initial_rebalance_delay_ms;
        let Some(gathering) = self.gatherings.get_mut(group) else { return };
        if gathering.grew && kernel.now_ms < gathering.until_ms {
            gathering.grew = false;
            let at = (kernel.now_ms + delay_ms).min(gathering.until_ms);
            kernel.timer(&self.machine, at, Timer::GroupDeadline(group.to_owned()));
        } else {
            self.finish_join(group, kernel);
        }
    }

    /// The next generation: everybody learns its number, the first member whom to assign to.
    fn finish_join(&mut self, name: &str, kernel: &mut Kernel) {
        let home = self.home_of(name);
        let Some(gathering) = self.gatherings.remove(name) else { return };
        let Some(group) = self.offsets.classic_mut(&home, name) else { return };
        group.generation += 1;
        group.phase = GroupPhase::CompletingRebalance;
        let generation = group.generation;
        let all: BTreeMap<String, Vec<String>> = gathering
            .joined
            .iter()
            .filter_map(|(_, request)| Some((request.member.clone()?, request.topics.clone())))
            .collect();
        group.members = all.keys().map(|member| (member.clone(), Vec::new())).collect();
        let text = format!("{name} begins generation {generation} with {} members", all.len());
        kernel.trace(EventKind::GroupChange, &self.machine, text);
        for (index, (message, _)) in gathering.joined.iter().enumerate() {
            let members = if index == 0 { all.clone() } else { BTreeMap::new() };
            kernel.answer(message, Body::JoinGroupResponse(Ok(Joined { generation, members })));
        }
    }

    pub(super) fn handle_sync(&mut self, message: &Message, kernel: &mut Kernel) {
        let Body::SyncGroup { group: name, member, generation, assignments } = &*message.body
        else {
            return;
        };
        let home = self.home_of(name);
        let known = self.offsets.groups(&home).and_then(|groups| groups.classic(name)).cloned();
        let Some(group) = known.filter(|group| group.members.contains_key(member)) else {
            kernel.answer(message, Body::SyncGroupResponse(Err(KafkaError::UnknownMemberId)));
            return;
        };
        if group.generation != *generation {
            kernel.answer(message, Body::SyncGroupResponse(Err(KafkaError::IllegalGeneration)));
            return;
        }
        if group.phase == GroupPhase::Stable {
            let own = group.members.get(member).cloned().unwrap_or_default();
            kernel.answer(message, Body::SyncGroupResponse(Ok(own)));
            return;
        }
        let held = Held::Sync(message.clone(), home.clone());
        self.hold(held, COMMIT_TIMEOUT_MS, kernel);
        if !assignments.is_empty() {
            self.store_generation(&home, group, assignments, kernel);
        }
    }

    /// The leader's assignment becomes a record; the group is stable once that is committed.
    fn store_generation(
        &mut self,
        home: &TopicPartition,
        mut group: ClassicGroup,
        assignments: &Assignments,
        kernel: &mut Kernel,
    ) {
        group.phase = GroupPhase::Stable;
        group.assignor = Some("range".to_owned());
        group.members.clone_from(assignments);
        let batch = Batch::of(vec![group_record(Group::Classic(group), kernel.now_ms)]);
        if let Err(error) = self.append_internal(home, batch, kernel).map_err(coordinator_error) {
            let waiting: Vec<MessageId> = self
                .held
                .iter()
                .filter(|(_, held)| held.is_sync_of(home))
                .map(|(id, _)| *id)
                .collect();
            for id in waiting {
                if let Some(Held::Sync(message, _)) = self.unhold(id) {
                    kernel.answer(&message, Body::SyncGroupResponse(Err(error)));
                }
            }
            return;
        }
        self.complete_held(home, kernel);
    }

    pub(super) fn try_complete_sync(&mut self, id: MessageId, kernel: &mut Kernel) {
        let Some(Held::Sync(message, home)) = self.held.get(&id).cloned() else { return };
        let Body::SyncGroup { group, member, .. } = &*message.body else { return };
        let known = self.offsets.groups(&home).and_then(|groups| groups.classic(group));
        match known {
            None => {
                self.unhold(id);
                kernel.answer(&message, Body::SyncGroupResponse(Err(KafkaError::NotCoordinator)));
            }
            Some(known) if known.phase == GroupPhase::Stable => {
                let own = known.members.get(member).cloned().unwrap_or_default();
                self.unhold(id);
                kernel.answer(&message, Body::SyncGroupResponse(Ok(own)));
            }
            Some(_) => {}
        }
    }

    pub(super) fn expire_sync(&mut self, id: MessageId, kernel: &mut Kernel) {
        if let Some(Held::Sync(message, _)) = self.unhold(id) {
            let error = KafkaError::RebalanceInProgress;
            kernel.answer(&message, Body::SyncGroupResponse(Err(error)));
        }
    }
    pub(super) fn handle_classic_heartbeat(&mut self, message: &Message, kernel: &mut Kernel) {
        let Body::Heartbeat { group, member, generation } = &*message.body else { return };
        let home = self.home_of(group);
        let result = self
            .loaded(&home)
            .and_then(|loaded| loaded.groups.check_commit(group, Some(member), (*generation, &[])));
        kernel.answer(message, Body::HeartbeatResponse(result));
    }
}
