//! The cooperative sticky assignor: as the sticky one, but a partition that a living member has to
//! give up is left out until it has done so.
//!
//! Follows `CooperativeStickyAssignor`.

use std::collections::BTreeMap;

use crate::sim::ids::TopicPartition;

use super::client::{Assignments, Members, Racks};
use super::sticky::{self, Outcome};

/// Who reads what until the next rebalance.
#[must_use]
pub fn assign(members: &Members, topics: &Racks) -> Assignments {
    without_moving(members, sticky::assign(members, topics))
}

/// Leaves out of the sticky assignor's outcome what a living member has to give up first.
#[must_use]
pub fn without_moving(members: &Members, outcome: Outcome) -> Assignments {
    let moving = outcome.moving.unwrap_or_else(|| transfers(members, &outcome.given));
    let mut given = outcome.given;
    for (partition, taker) in moving {
        if let Some(own) = given.get_mut(&taker) {
            own.retain(|one| *one != partition);
        }
    }
    given
}

/// Partitions that are given to somebody while somebody else holds them
/// (`CooperativeStickyAssignor.computePartitionsTransferringOwnership`).
fn transfers(members: &Members, given: &Assignments) -> BTreeMap<TopicPartition, String> {
    let mut added: BTreeMap<&TopicPartition, &String> = BTreeMap::new();
    let mut revoked = Vec::new();
    for (id, own) in given {
        let owned = &members[id].owned;
        added.extend(own.iter().filter(|one| !owned.contains(one)).map(|one| (one, id)));
        revoked.extend(owned.iter().filter(|one| !own.contains(one)));
    }
    let taken =
        revoked.into_iter().filter_map(|one| Some((one.clone(), (*added.get(one)?).clone())));
    taken.collect()
}
