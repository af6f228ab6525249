//! The group coordinator's part for groups that it assigns itself: KIP-848 groups and share groups.
//!
//! Follows `GroupCoordinatorService`, `GroupMetadataManager`. The rules stand in
//! [`crate::sim::group::modern`]; here heartbeats come in, changes are written to
//! `__consumer_offsets`, and answers wait until that is committed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::sim::check::Note;
use crate::sim::defect::Defect;
use crate::sim::error::KafkaError;
use crate::sim::group::Kind;
use crate::sim::group::modern::{Around, Change, Reply, TopicRacks};
use crate::sim::ids::{Offset, TopicPartition};
use crate::sim::kernel::Kernel;
use crate::sim::message::{BeatAnswer, Body, GroupBeat, Message, MessageId};
use crate::sim::metadata::Image;
use crate::sim::record::{Batch, InternalRecord, Record};
use crate::sim::settings::GroupSettings;
use crate::sim::timer::Timer;
use crate::sim::trace::EventKind;

use super::offsets::{COMMIT_TIMEOUT_MS, coordinator_error};
use super::{Broker, Held};

/// Pause before a coordinator tries again to shut a member out
/// (`CoordinatorTimer.schedule`).
const RETRY_MS: u64 = 500;

/// How many changes go into one batch.
const RECORDS_PER_BATCH: usize = 1000;

impl Broker {
    pub(super) fn handle_group_beat(&mut self, message: &Message, kernel: &mut Kernel) {
        let (Body::ConsumerGroupHeartbeat(said) | Body::ShareGroupHeartbeat(said)) = &*message.body
        else {
            return;
        };
        let kind = match &*message.body {
            Body::ShareGroupHeartbeat(_) => Kind::Share,
            _ => Kind::Consumer,
        };
        let home = self.home_of(&said.group);
        match self.take_beat(&home, kind, said, kernel) {
            Ok((answer, required)) if self.is_committed(&home, required) => {
                answer_beat(message, Ok(answer), kernel);
            }
            Ok((answer, required)) => {
                let held = Held::Beat(message.clone(), home.clone(), required, answer);
                self.hold(held, COMMIT_TIMEOUT_MS, kernel);
            }
            Err(error) => {
                let text = format!("refuses the heartbeat of {}: {error}", said.beat.member);
                kernel.trace_error(EventKind::Refused, &self.machine, text, error);
                answer_beat(message, Err(error), kernel);
            }
        }
        self.complete_held(&home, kernel);
    }

    /// Handles a heartbeat. What has to be committed before it is answered.
    fn take_beat(
        &mut self,
        home: &TopicPartition,
        kind: Kind,
        said: &GroupBeat,
        kernel: &mut Kernel,
    ) -> Result<(BeatAnswer, Offset), KafkaError> {
        self.loaded(home)?;
        self.check_internal_append(home).map_err(coordinator_error)?;
        let settings = self.group_settings(kind, &said.group);
        let image = Arc::clone(&self.image);
        let groups = self.offsets.groups_mut(home).ok_or(KafkaError::NotCoordinator)?;
        let group =
            groups.modern_or_new(&said.group, kind).ok_or(KafkaError::InconsistentGroupProtocol)?;
        if kernel.breaks(Defect::AssignedBeforeRevoked) {
            group.forget_owners();
        }
        let stale = group.metadata_offset != image.offset || said.beat.subscription.is_some();
        let topics = stale.then(|| topic_racks(&image));
        let around = Around {
            now_ms: kernel.now_ms,
            topics: topics.as_ref(),
            session_timeout_ms: settings.session_timeout_ms,
            assignment_interval_ms: settings.assignment_interval_ms,
            max_size: settings.max_size,
            assignors: &settings.assignors,
        };
        let mut changes = Vec::new();
        let Reply { epoch, assignment } = group.heartbeat(&said.beat, &around, &mut changes)?;
        group.metadata_offset = image.offset;
        let answer = BeatAnswer { epoch, assignment, interval_ms: settings.heartbeat_interval_ms };
        let required = self.write_changes(home, (&said.group, kind), &changes, kernel)?;
        self.watch_member(home, &said.group, &said.beat.member, kernel);
        if kind == Kind::Share {
            self.set_up_share_state(home, &said.group, kernel);
        }
        Ok((answer, required))
    }

    fn group_settings(&self, kind: Kind, group: &str) -> GroupSettings {
        let own = self.image.group_config.get(group).cloned().unwrap_or_default();
        match kind {
            Kind::Consumer => GroupSettings::of_consumers(&own, &self.config),
            Kind::Share => GroupSettings::of_sharers(&own, &self.config),
        }
    }

    /// Writes what has changed in a group, and says it. What has to be committed. If the log does
    /// not take it the groups are as the log has them.
    fn write_changes(
        &mut self,
        home: &TopicPartition,
        (group, kind): (&str, Kind),
        changes: &[Change],
        kernel: &mut Kernel,
    ) -> Result<Offset, KafkaError> {
        let mut required = Offset(0);
        for text in changes.iter().filter_map(|change| told(group, change)) {
            kernel.trace(EventKind::GroupChange, &self.machine, text);
        }
        let now_ms = kernel.now_ms;
        for part in changes.chunks(RECORDS_PER_BATCH) {
            let records =
                part.iter().map(|change| change_record(group, kind, change.clone(), now_ms));
            match self.append_internal(home, Batch::of(records.collect()), kernel) {
                Ok(end) => required = end,
                Err(error) => {
                    self.load_offsets(home);
                    self.restart_member_sessions(home, kernel);
                    return Err(coordinator_error(error));
                }
            }
        }
        kernel.note(Note::Group(group.to_owned()));
        Ok(required)
    }

    /// Sees to it that a member is looked at when its time is over.
    fn watch_member(
        &mut self,
        home: &TopicPartition,
        name: &str,
        member: &str,
        kernel: &mut Kernel,
    ) {
        let group = self.offsets.groups_mut(home).and_then(|groups| groups.find_modern(name));
        if let Some(at_ms) = group.and_then(|group| group.next_look_ms(member)) {
            let timer = Timer::MemberDeadline { group: name.to_owned(), member: member.to_owned() };
            kernel.timer(&self.machine, at_ms, timer);
        }
    }

    /// The time of a member may be over: its session, or the time to give up partitions.
    pub(super) fn look_at_member(&mut self, name: &str, member: &str, kernel: &mut Kernel) {
        let home = self.home_of(name);
        let writable = self.check_internal_append(&home).is_ok();
        let Some(groups) = self.offsets.groups_mut(&home) else { return };
        let Some(group) = groups.find_modern(name) else { return };
        if !group.look(member, kernel.now_ms) {
            return;
        }
        if !writable {
            let timer = Timer::MemberDeadline { group: name.to_owned(), member: member.to_owned() };
            group.look_again(member, kernel.now_ms + RETRY_MS);
            kernel.timer(&self.machine, kernel.now_ms + RETRY_MS, timer);
            return;
        }
        let mut changes = Vec::new();
        let kind = group.kind;
        if group.expire(member, kernel.now_ms, &mut changes) {
            let text = format!("shuts {member} out of {name}");
            kernel.trace(EventKind::GroupChange, &self.machine, text);
        }
        if let Err(error) = self.write_changes(&home, (name, kind), &changes, kernel) {
            let text = format!("cannot write what becomes of {name}: {error}");
            kernel.trace_error(EventKind::Refused, &self.machine, text, error);
        }
        self.watch_member(&home, name, member, kernel);
        self.complete_held(&home, kernel);
    }

    /// On becoming coordinator: reads the groups from the log. What the last coordinator wrote and
    /// could not commit is part of it, and is committed with what follows.
    pub(super) fn load_modern_groups(&mut self, home: &TopicPartition) {
        let Some(replica) = self.replicas.get(home) else { return };
        let Some(groups) = self.offsets.groups_mut(home) else { return };
        for (_, record, _) in replica.log.records_from(replica.log.start_offset()) {
            if let Some(InternalRecord::ModernGroup { group, kind, change }) =
                record.internal.as_deref()
                && let Some(group) = groups.modern_or_new(group, *kind)
            {
                group.apply(change);
            }
        }
    }

    /// A new coordinator gives every member of its groups a whole session.
    pub(super) fn restart_member_sessions(&mut self, home: &TopicPartition, kernel: &mut Kernel) {
        let Some(groups) = self.offsets.groups_mut(home) else { return };
        let known: Vec<(String, Kind)> =
            groups.modern_mut().map(|group| (group.name.clone(), group.kind)).collect();
        for (name, kind) in known {
            let session_ms = self.group_settings(kind, &name).session_timeout_ms;
            let groups = self.offsets.groups_mut(home);
            let Some(group) = groups.and_then(|groups| groups.find_modern(&name)) else { continue };
            group.restart_sessions(kernel.now_ms, session_ms);
            let members: Vec<String> = group.members.keys().cloned().collect();
            for member in members {
                self.watch_member(home, &name, &member, kernel);
            }
        }
    }

    /// The sessions of a warm world begin at 0 s.
    pub(super) fn restart_all_sessions(&mut self, kernel: &mut Kernel) {
        for home in self.offsets.homes() {
            self.restart_member_sessions(&home, kernel);
        }
    }

    pub(super) fn try_complete_beat(&mut self, id: MessageId, kernel: &mut Kernel) {
        let Some(Held::Beat(message, home, required, answer)) = self.held.get(&id).cloned() else {
            return;
        };
        let leads = self.replicas.get(&home).is_some_and(|replica| replica.leader().is_some());
        if self.is_committed(&home, required) {
            self.unhold(id);
            answer_beat(&message, Ok(answer), kernel);
        } else if !leads {
            self.unhold(id);
            answer_beat(&message, Err(KafkaError::NotCoordinator), kernel);
        }
    }

    pub(super) fn expire_beat(&mut self, id: MessageId, kernel: &mut Kernel) {
        if let Some(Held::Beat(message, ..)) = self.unhold(id) {
            answer_beat(&message, Err(KafkaError::CoordinatorNotAvailable), kernel);
        }
    }

    /// The state of some partitions of a share group is there (`InitializeShareGroupState` was
    /// answered): they can be assigned from the next heartbeat on.
    pub(super) fn share_state_is_set_up(
        &mut self,
        group: &str,
        partitions: &[TopicPartition],
        kernel: &mut Kernel,
    ) {
        let home = self.home_of(group);
        if self.check_internal_append(&home).is_err() {
            return;
        }
        let mut changes = Vec::new();
        let groups = self.offsets.groups_mut(&home);
        let Some(known) = groups.and_then(|groups| groups.find_modern(group)) else { return };
        known.end_set_up(partitions, &mut changes);
        if let Err(error) = self.write_changes(&home, (group, Kind::Share), &changes, kernel) {
            let text = format!("cannot write what becomes of {group}: {error}");
            kernel.trace_error(EventKind::Refused, &self.machine, text, error);
        }
        self.complete_held(&home, kernel);
    }
}

fn answer_beat(message: &Message, result: Result<BeatAnswer, KafkaError>, kernel: &mut Kernel) {
    let body = match &*message.body {
        Body::ShareGroupHeartbeat(_) => Body::ShareGroupHeartbeatResponse(result),
        _ => Body::ConsumerGroupHeartbeatResponse(result),
    };
    kernel.answer(message, body);
}

/// Every topic but Kafka's own, with the racks of each partition's replicas.
#[must_use]
pub(in crate::sim) fn topic_racks(image: &Image) -> TopicRacks {
    let mut topics: BTreeMap<String, Vec<BTreeSet<String>>> = BTreeMap::new();
    for (partition, state) in image.partitions.iter().filter(|(p, _)| !p.is_internal()) {
        let brokers = state.replicas.iter().filter_map(|broker| image.brokers.get(broker));
        let racks = brokers.filter_map(|broker| broker.rack.clone()).collect();
        match topics.get_mut(&partition.topic) {
            Some(partitions) => partitions.push(racks),
            None => {
                topics.insert(partition.topic.clone(), vec![racks]);
            }
        }
    }
    topics
}

/// A change in words, where it is worth telling.
fn told(group: &str, change: &Change) -> Option<String> {
    match change {
        Change::Member(member, None) => Some(format!("{member} is no member of {group} any more")),
        Change::Epoch(epoch, _) => Some(format!("{group} is in group epoch {epoch}")),
        Change::TargetEpoch(epoch) => {
            Some(format!("{group} has a target assignment for epoch {epoch}"))
        }
        Change::Current(member, current) => {
            let names: Vec<String> = current.assigned.keys().map(ToString::to_string).collect();
            let epoch = current.epoch;
            Some(format!("{member} has [{}] in member epoch {epoch}", names.join(", ")))
        }
        _ => None,
    }
}

/// A change as a record of `__consumer_offsets`.
#[must_use]
pub(in crate::sim) fn change_record(
    group: &str,
    kind: Kind,
    change: Change,
    now_ms: u64,
) -> Record {
    let (what, of) = match &change {
        Change::Member(member, _) => ("member", member.as_str()),
        Change::Epoch(..) => ("epoch", ""),
        Change::Target(member, _) => ("target", member.as_str()),
        Change::TargetEpoch(_) => ("target epoch", ""),
        Change::Current(member, _) => ("current", member.as_str()),
        Change::SetUp(_) => ("set up", ""),
    };
    let gone = matches!(change, Change::Member(_, None));
    Record::internal(
        format!("{group}:{what}:{of}").into(),
        // The size of small metadata; it depends on names that the model does not have.
        (!gone).then_some(100),
        InternalRecord::ModernGroup { group: group.to_owned(), kind, change },
        now_ms,
    )
}
