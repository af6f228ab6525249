//! Invariants, checked from outside the model after every event on what it touched.
//!
//! The rules of the model never ask the checker; it only watches. A violation is a defect of the
//! model. What it costs grows with what an event changed, not with what there is.

#[cfg(test)]
mod broken_rules;
mod committed;
mod groups;
mod logs;
mod modern;
mod partition;
mod retention;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::Sim;
use super::ids::{BrokerId, LeaderEpoch, Offset, TopicPartition};
use super::message::Isolation;
use super::metadata::PartitionState;

pub use logs::{BeforeCleaning, Given};
use modern::GroupChecker;
use partition::Seen;
pub use retention::Removal;

/// Something that checkers look at, reported by the machine that did it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// A replica of this partition changed on the broker that acts.
    Touched(TopicPartition),
    /// The quorum has committed a partition's state, for the topic with this id.
    Decided { partition: TopicPartition, topic_id: u64, state: Arc<PartitionState> },
    /// A leader has acknowledged everything below this offset to an `acks=all` producer.
    Acknowledged(TopicPartition, LeaderEpoch, Offset),
    /// A consumer stands at this offset: everything before was handed out, or skipped by a rule.
    Position { group: String, partition: TopicPartition, offset: Offset },
    /// A consumer's position was put somewhere by a rule or by its application.
    Reset { consumer: String, partition: TopicPartition },
    /// A consumer was told what is committed.
    Started { consumer: String, partition: TopicPartition, offset: Option<Offset> },
    /// `poll()` returned this record to a consumer with this `isolation.level`.
    Delivered { consumer: String, partition: TopicPartition, offset: Offset, isolation: Isolation },
    /// A member of a classic group was given its part.
    Assigned { consumer: String },
    /// A coordinator has taken a heartbeat, with which the member's session begins anew.
    Heard { coordinator: BrokerId, member: String },
    /// A coordinator takes a member for gone, of whom it has not heard for so long.
    Missed { coordinator: BrokerId, member: String, timeout_ms: u64 },
    /// Something happened to a classic group at its coordinator.
    ClassicGroup { coordinator: BrokerId, home: TopicPartition, group: String },
    /// What a share group makes of a partition changed at the partition's leader.
    Shared { group: String, partition: TopicPartition },
    /// A group whose coordinator assigns changed.
    Group(String),
    /// A log was compacted.
    Cleaned(TopicPartition, BeforeCleaning),
    /// Segments of a log were deleted.
    Removed(TopicPartition, Removal),
    /// A fetch gave a consumer these records.
    Given(TopicPartition, Given),
    /// A group's committed offset.
    Committed { by: String, group: String, partition: TopicPartition, offset: Offset },
}

/// The memory of the checkers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checker {
    partitions: BTreeMap<TopicPartition, Seen>,
    furthest: BTreeMap<(String, TopicPartition), Offset>,
    /// What members hold of groups whose coordinator assigns.
    modern: GroupChecker,
    /// Generations of classic groups, and what consumers are given.
    groups: groups::Seen,
    /// Offsets that an action set.
    set_by_action: BTreeSet<(String, TopicPartition)>,
}

impl Checker {
    /// An action set a group's offset; from now on it may be anything.
    pub fn offset_was_set(&mut self, group: &str, partition: &TopicPartition) {
        self.set_by_action.insert((group.to_owned(), partition.clone()));
    }

    /// A broker goes on after a pause.
    pub fn resumed(&mut self, broker: BrokerId, now_ms: u64) {
        self.modern.resumed(broker, now_ms);
    }

    fn is_set(&self, group: &str, partition: &TopicPartition) -> bool {
        self.set_by_action.contains(&(group.to_owned(), partition.clone()))
    }

    /// What the world starts from.
    pub fn begin(&mut self, partition: &TopicPartition, topic_id: u64, state: &PartitionState) {
        self.partitions.insert(partition.clone(), Seen::new(topic_id, state));
    }
}

impl Sim {
    /// Checks what the last event touched; `actor` is the broker that it happened to, if it was
    /// one.
    ///
    /// # Errors
    /// A sentence that names the broken invariant.
    pub(super) fn check(&mut self, actor: Option<BrokerId>) -> Result<(), String> {
        if !self.kernel.has_notes() {
            return Ok(());
        }
        let mut notes = self.kernel.take_notes();
        let mut last = None;
        for note in notes.drain(..) {
            match note {
                // One event often touches one partition several times over.
                Note::Touched(partition) if last.as_ref() == Some(&partition) => {}
                Note::Touched(partition) => {
                    self.check_replica(&partition, actor)?;
                    self.check_logs(&partition, actor)?;
                    last = Some(partition);
                }
                Note::Decided { partition, topic_id, state } => {
                    self.check_decision(&partition, topic_id, &state)?;
                }
                Note::Acknowledged(partition, epoch, end) => {
                    self.check_replica(&partition, actor)?;
                    // A topic that went in the same event has left nothing to compare with.
                    if self.has_replica(actor, &partition) {
                        self.check_acknowledged(&partition, epoch, end)?;
                    }
                }
                Note::Position { group, partition, offset } => {
                    let furthest = self.checker.furthest.entry((group, partition)).or_default();
                    *furthest = offset.max(*furthest);
                }
                Note::Shared { group, partition } => self.check_shared(&group, &partition)?,
                Note::Group(group) => self.check_group(&group)?,
                Note::Cleaned(partition, before) => self.check_cleaning(&partition, &before)?,
                Note::Given(partition, given) => self.check_given(&partition, &given)?,
                Note::Removed(partition, removal) => self.check_removal(&partition, &removal)?,
                Note::Committed { by, group, partition, offset } => {
                    let set = self.checker.is_set(&group, &partition);
                    self.check_committed((group, partition.clone()), offset)?;
                    if !set {
                        self.checker.groups.committed((by, partition), offset);
                    }
                }
                of_members => self.check_members(of_members)?,
            }
        }
        self.kernel.give_back_notes(notes);
        Ok(())
    }

    /// Checks what members of groups are told, are given, and say.
    fn check_members(&mut self, note: Note) -> Result<(), String> {
        match note {
            Note::Reset { consumer, partition } => {
                self.checker.groups.reset(&(consumer, partition));
            }
            Note::Started { consumer, partition, offset } => {
                self.check_start(&(consumer, partition), offset)?;
            }
            Note::Delivered { consumer, partition, offset, isolation } => {
                self.check_delivery(&(consumer, partition), offset, isolation)?;
            }
            Note::Assigned { consumer } => self.check_owners(&consumer)?,
            Note::Heard { coordinator, member } => {
                self.checker.groups.heard((coordinator, member), self.kernel.now_ms);
            }
            Note::Missed { coordinator, member, timeout_ms } => {
                let now_ms = self.kernel.now_ms;
                self.checker.groups.missed((coordinator, member), timeout_ms, now_ms)?;
            }
            Note::ClassicGroup { coordinator, home, group } => {
                self.check_classic_group(coordinator, &home, &group)?;
            }
            _ => {}
        }
        Ok(())
    }

    fn has_replica(&self, broker: Option<BrokerId>, partition: &TopicPartition) -> bool {
        let broker = broker.and_then(|id| self.brokers.get(&id));
        broker.is_some_and(|broker| broker.replicas.contains_key(partition))
    }

    /// Committed ≤ the furthest position, unless an action set it.
    fn check_committed(
        &self,
        place: (String, TopicPartition),
        offset: Offset,
    ) -> Result<(), String> {
        let furthest = self.checker.furthest.get(&place).copied().unwrap_or_default();
        if offset <= furthest || self.checker.set_by_action.contains(&place) {
            return Ok(());
        }
        let (group, partition) = place;
        Err(format!(
            "{group} committed {offset} for {partition}, but nobody stood beyond {furthest}"
        ))
    }
}
