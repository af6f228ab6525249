//! The group coordinator's part in classic groups: hands requests and timers to the group, and does
//! what it asks for.
//!
//! Follows `GroupCoordinatorService`, `GroupMetadataManager`.

use crate::sim::check::Note;
use crate::sim::defect::Defect;
use crate::sim::error::KafkaError;
use crate::sim::group::{Change, ClassicGroup, Effect, Group, GroupTimer};
use crate::sim::ids::{Offset, TopicPartition};
use crate::sim::kernel::Kernel;
use crate::sim::message::{Body, JoinAnswer, Message, MessageId};
use crate::sim::record::Batch;
use crate::sim::timer::Timer;
use crate::sim::trace::EventKind;

use super::offsets::{COMMIT_TIMEOUT_MS, coordinator_error, group_record};
use super::{Broker, Held};

/// A write of a group that is not committed yet.
#[derive(Clone, Debug)]
pub struct GroupWrite {
    home: TopicPartition,
    required: Offset,
    group: String,
    generation: i32,
    /// What is answered then.
    answers: Vec<(MessageId, Body)>,
}

impl Broker {
    pub(super) fn handle_join(&mut self, message: &Message, kernel: &mut Kernel) {
        let Body::JoinGroup(request) = &*message.body else { return };
        let bounds =
            self.settings.group_min_session_timeout_ms..=self.settings.group_max_session_timeout_ms;
        let home = self.home_of(&request.group);
        let known = self.offsets.groups(&home).map(|groups| groups.get(&request.group));
        let refused = match known {
            None => Some(KafkaError::NotCoordinator),
            Some(_) if !bounds.contains(&request.session_timeout_ms) => {
                Some(KafkaError::InvalidSessionTimeout)
            }
            // Nobody knows an id of a group that does not exist.
            Some(None) if request.member.is_some() => Some(KafkaError::UnknownMemberId),
            Some(Some(group)) if !matches!(group, Group::Classic(_)) => {
                Some(KafkaError::InconsistentGroupProtocol)
            }
            Some(_) => None,
        };
        if let Some(error) = refused {
            let member = request.member.clone().unwrap_or_default();
            let answer = JoinAnswer { member, result: Err(error) };
            kernel.answer(message, Body::JoinGroupResponse(answer));
            return;
        }
        self.offsets.make_classic(&home, &request.group);
        let client = message.from.to_string();
        self.with_group((&home, &request.group), Some(message), kernel, |group, change| {
            group.join((message.id, &client), request, change);
        });
    }

    pub(super) fn handle_sync(&mut self, message: &Message, kernel: &mut Kernel) {
        let Body::SyncGroup(request) = &*message.body else { return };
        let home = self.home_of(&request.group);
        let place = (&home, request.group.as_str());
        match self.known_classic(place) {
            Ok(()) => self.with_group(place, Some(message), kernel, |group, change| {
                group.sync(message.id, request, change);
            }),
            Err(error) => kernel.answer(message, Body::SyncGroupResponse(Err(error))),
        }
    }

    pub(super) fn handle_classic_heartbeat(&mut self, message: &Message, kernel: &mut Kernel) {
        let Body::Heartbeat { group: name, speaker } = &*message.body else { return };
        let home = self.home_of(name);
        let place = (&home, name.as_str());
        let mut result = self.known_classic(place);
        if result.is_ok() && !kernel.breaks(Defect::HeartbeatIgnored) {
            self.with_group(place, None, kernel, |group, change| {
                result = group.heartbeat(speaker, change);
            });
        }
        if matches!(result, Ok(()) | Err(KafkaError::RebalanceInProgress)) {
            let (coordinator, member) = (self.id, speaker.member.clone());
            kernel.note(Note::Heard { coordinator, member });
        }
        kernel.answer(message, Body::HeartbeatResponse(result));
    }

    pub(super) fn handle_leave(&mut self, message: &Message, kernel: &mut Kernel) {
        let Body::LeaveGroup { group: name, member, instance } = &*message.body else { return };
        let home = self.home_of(name);
        let place = (&home, name.as_str());
        let mut result = self.known_classic(place);
        if result.is_ok() {
            self.with_group(place, None, kernel, |group, change| {
                result = group.leave(member, instance.as_deref(), change);
            });
        }
        kernel.answer(message, Body::LeaveGroupResponse(result));
    }

    /// A member that commits is alive.
    pub(super) fn hear_of_committer(
        &mut self,
        place: (&TopicPartition, &str),
        member: &str,
        kernel: &mut Kernel,
    ) {
        if self.known_classic(place).is_ok() {
            self.with_group(place, None, kernel, |group, change| group.heard_of(member, change));
        }
    }

    pub(super) fn group_timer(&mut self, name: &str, timer: &GroupTimer, kernel: &mut Kernel) {
        let home = self.home_of(name);
        if let GroupTimer::WriteOver { generation } = timer {
            let waits = |write: &GroupWrite| write.group == name && write.generation == *generation;
            if !self.group_writes.iter().any(waits) {
                return;
            }
            let (late, rest) = std::mem::take(&mut self.group_writes)
                .into_iter()
                .partition::<Vec<_>, _>(|write| waits(write));
            self.group_writes = rest;
            for write in late {
                self.refuse_write(write.answers, KafkaError::CoordinatorNotAvailable, kernel);
            }
        }
        if self.known_classic((&home, name)).is_ok() {
            self.with_group((&home, name), None, kernel, |group, change| {
                group.on_timer(timer, change);
            });
        }
    }

    /// Whether this broker coordinates this classic group.
    fn known_classic(&self, place: (&TopicPartition, &str)) -> Result<(), KafkaError> {
        let groups = self.offsets.groups(place.0).ok_or(KafkaError::NotCoordinator)?;
        groups.classic(place.1).map(|_| ()).ok_or(KafkaError::UnknownMemberId)
    }

    /// Lets something happen to a group, and does what it then asks for. The request that caused
    /// it is held unless it is answered.
    fn with_group(
        &mut self,
        place: (&TopicPartition, &str),
        message: Option<&Message>,
        kernel: &mut Kernel,
        happen: impl FnOnce(&mut ClassicGroup, &mut Change),
    ) {
        let (home, name) = place;
        if let Some(message) = message {
            self.held.insert(message.id, Held::Member(message.clone()));
        }
        let (delay_ms, max_size) =
            (self.settings.initial_rebalance_delay_ms, self.settings.group_max_size);
        let mut change = Change::at(kernel.now_ms, delay_ms, max_size);
        if let Some(group) = self.offsets.classic_mut(home, name) {
            happen(group, &mut change);
        }
        let (coordinator, group) = (self.id, name.to_owned());
        kernel.note(Note::ClassicGroup { coordinator, home: home.clone(), group });
        for effect in change.effects {
            match effect {
                Effect::Answer(request, body) => self.answer_member(request, body, kernel),
                Effect::Wake(at_ms, timer) => {
                    let timer = Timer::Group { group: name.to_owned(), timer };
                    kernel.timer(&self.machine, at_ms, timer);
                }
                Effect::Store(answers) => self.store_group(place, answers, kernel),
                Effect::Miss { member, timeout_ms } => {
                    let text = format!("{name} misses {member}: its session is over");
                    kernel.trace(EventKind::GroupChange, &self.machine, text);
                    kernel.note(Note::Missed { coordinator, member, timeout_ms });
                }
                Effect::Say(text) => kernel.trace(EventKind::GroupChange, &self.machine, text),
            }
        }
        if let Some(message) = message
            && self.held.contains_key(&message.id)
        {
            kernel.hold(message);
        }
    }

    fn answer_member(&mut self, request: MessageId, body: Body, kernel: &mut Kernel) {
        if let Some(Held::Member(message)) = self.unhold(request) {
            kernel.answer(&message, body);
        }
    }

    /// Writes a group as it is now; what depends on it goes on once that is committed.
    fn store_group(
        &mut self,
        place: (&TopicPartition, &str),
        answers: Vec<(MessageId, Body)>,
        kernel: &mut Kernel,
    ) {
        let (home, name) = place;
        let Some(group) = self.offsets.groups(home).and_then(|groups| groups.classic(name)) else {
            return;
        };
        let generation = group.generation;
        let record = group_record(Group::Classic(Box::new(group.stored())), kernel.now_ms);
        match self.append_internal(home, Batch::of(vec![record]), kernel).map_err(coordinator_error)
        {
            Ok(required) => {
                let (home, group) = (home.clone(), name.to_owned());
                self.group_writes.push(GroupWrite { home, required, group, generation, answers });
                let timer = Timer::Group {
                    group: name.to_owned(),
                    timer: GroupTimer::WriteOver { generation },
                };
                kernel.timer(&self.machine, kernel.now_ms + COMMIT_TIMEOUT_MS, timer);
                self.complete_held(place.0, kernel);
                self.complete_group_writes(place.0, kernel);
            }
            Err(error) => {
                self.refuse_write(answers, error, kernel);
                self.with_group(place, None, kernel, |group, change| {
                    group.not_written(generation, error, change);
                });
            }
        }
    }

    /// Members that wait for a write to be told their generation are told that it failed.
    fn refuse_write(
        &mut self,
        answers: Vec<(MessageId, Body)>,
        error: KafkaError,
        kernel: &mut Kernel,
    ) {
        for (request, body) in answers {
            let Body::JoinGroupResponse(answer) = body else { continue };
            let refused = JoinAnswer { result: Err(error), ..answer };
            self.answer_member(request, Body::JoinGroupResponse(refused), kernel);
        }
    }

    /// The high watermark of `__consumer_offsets` has moved: writes below it are committed.
    pub(super) fn complete_group_writes(&mut self, home: &TopicPartition, kernel: &mut Kernel) {
        if self.group_writes.is_empty() {
            return;
        }
        let Some(replica) = self.replicas.get(home) else { return };
        let up_to = replica.high_watermark;
        let (done, rest) = std::mem::take(&mut self.group_writes)
            .into_iter()
            .partition::<Vec<_>, _>(|write| write.home == *home && write.required <= up_to);
        self.group_writes = rest;
        for write in done {
            for (request, body) in write.answers {
                self.answer_member(request, body, kernel);
            }
            self.with_group((home, &write.group), None, kernel, |group, change| {
                group.written(write.generation, change);
            });
        }
    }

    /// On becoming coordinator: every member gets its whole session timeout.
    pub(super) fn watch_members(&mut self, home: &TopicPartition, kernel: &mut Kernel) {
        let groups = self.offsets.groups(home);
        let names: Vec<String> = groups
            .map(|groups| groups.all_classic().map(|group| group.name.clone()).collect())
            .unwrap_or_default();
        for name in names {
            self.with_group((home, &name), None, kernel, ClassicGroup::watch);
        }
    }

    /// In a warm world sessions begin at 0 s.
    pub(super) fn watch_all_members(&mut self, kernel: &mut Kernel) {
        let homes: Vec<TopicPartition> = self.offsets.homes();
        for home in homes {
            self.watch_members(&home, kernel);
        }
    }

    /// On losing the coordinator's part: who waits is told to look for the new one
    /// (`GroupMetadataManager.onUnloaded`).
    pub(super) fn dismiss_members(&mut self, home: &TopicPartition, kernel: &mut Kernel) {
        self.group_writes.retain(|write| write.home != *home);
        let waiting: Vec<(MessageId, Body)> = self
            .offsets
            .groups(home)
            .map(|groups| groups.all_classic().flat_map(ClassicGroup::waiting).collect())
            .unwrap_or_default();
        for (request, body) in waiting {
            self.answer_member(request, body, kernel);
        }
    }
}
