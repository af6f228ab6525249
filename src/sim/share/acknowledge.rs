//! What a member says about the records that it holds, and what becomes of them when it goes.
//!
//! Follows `SharePartition.acknowledge`, `releaseAcquiredRecords`, `rollbackOrProcessStateUpdates`.

use super::partition::{Phase, SharePartition};
use super::saved::Saved;
use crate::sim::error::KafkaError;
use crate::sim::ids::Offset;

/// What a member says about a record (`AcknowledgeType`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// There is no record at this offset.
    Gap,
    /// It is done.
    Accept,
    /// Another may try.
    Release,
    /// It cannot be worked on.
    Reject,
    /// The member needs more time.
    Renew,
}

/// What a member says about some records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acknowledgement {
    /// The first.
    pub first: Offset,
    /// The last.
    pub last: Offset,
    /// What it says.
    pub verdict: Verdict,
}

impl SharePartition {
    /// Takes what a member says. The changes hold once they are saved: [`SharePartition::saved`]
    /// says so. Either all of it is taken or nothing.
    ///
    /// # Errors
    /// `INVALID_RECORD_STATE` if the member does not hold a record; `INVALID_REQUEST` if it was
    /// never handed out.
    pub fn acknowledge(
        &mut self,
        member: &str,
        said: &[Acknowledgement],
        (delivery_limit, renew_until_ms): (u16, u64),
    ) -> Result<Vec<Saved>, KafkaError> {
        let mut changed: Vec<Saved> = Vec::new();
        for one in said {
            let first = one.first.max(self.start);
            if one.last >= self.end {
                self.roll_back(&changed, (delivery_limit, 0));
                return Err(KafkaError::InvalidRequest);
            }
            for offset in (first.0..=one.last.0).map(Offset) {
                let holds = self.record_mut(offset).filter(|record| {
                    record.phase == Phase::Acquired
                        && record.before.is_none()
                        && record.member.as_deref() == Some(member)
                });
                let Some(record) = holds else {
                    self.roll_back(&changed, (delivery_limit, 0));
                    return Err(KafkaError::InvalidRecordState);
                };
                let phase = match one.verdict {
                    Verdict::Renew => {
                        record.locked_until_ms = renew_until_ms;
                        continue;
                    }
                    Verdict::Accept => Phase::Acknowledged,
                    Verdict::Release => Phase::Available,
                    Verdict::Reject | Verdict::Gap => Phase::Archived,
                };
                record.before = Some((record.phase, record.member.clone()));
                record.let_go(phase, delivery_limit);
                changed.push(Saved::of(offset, record));
            }
        }
        Ok(changed)
    }

    /// A member's session at this leader is over: what it holds is free again.
    pub fn release(&mut self, member: &str, delivery_limit: u16) -> Vec<Saved> {
        let start = self.start;
        let mut changed = Vec::new();
        for (offset, record) in self.in_flight_mut() {
            let holds = record.phase == Phase::Acquired
                && record.before.is_none()
                && record.member.as_deref() == Some(member);
            if holds {
                record.before = Some((record.phase, record.member.clone()));
                let phase = if offset < start { Phase::Archived } else { Phase::Available };
                record.let_go(phase, delivery_limit);
                changed.push(Saved::of(offset, record));
            }
        }
        changed
    }

    /// These changes are saved: they hold, and the start offset moves over what is settled.
    pub fn saved(&mut self, changed: &[Saved]) {
        for one in changed {
            if let Some(record) = self.record_mut(one.offset) {
                record.before = None;
            }
        }
        self.settle();
    }

    /// These changes could not be saved: everything is as before. What its holder has lost the
    /// lock of meanwhile is free, or archived if it was handed out as often as the group allows
    /// (`InFlightState.completeStateTransition`).
    pub fn roll_back(&mut self, changed: &[Saved], (delivery_limit, now_ms): (u16, u64)) {
        for one in changed {
            let Some(record) = self.record_mut(one.offset) else { continue };
            let Some((phase, member)) = record.before.take() else { continue };
            (record.phase, record.member) = (phase, member);
            if phase == Phase::Acquired && record.locked_until_ms <= now_ms {
                record.let_go(Phase::Available, delivery_limit);
            }
        }
    }
}
