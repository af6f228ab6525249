//! What is out of the ordinary about a broker, in a word. Knows no coordinates.

use super::scene::Role;
use crate::sim::ids::{BrokerId, Machine};
use crate::sim::snapshot::{ProcessState, Registration, Snapshot};

/// A broker's state, where it is not simply up and registered.
pub(super) fn state(snapshot: &Snapshot, id: BrokerId) -> Option<(&'static str, Role)> {
    let view = snapshot.brokers.get(&id)?;
    Some(match (view.process, view.registration) {
        (ProcessState::Stopped, _) => ("stopped", Role::Bad),
        (ProcessState::Paused, _) => ("paused", Role::Pending),
        _ if is_cut_off(snapshot, id) => ("cut off", Role::Bad),
        (ProcessState::ShuttingDown, _) => ("shutting down", Role::Pending),
        (_, Registration::Fenced) => ("fenced", Role::Bad),
        _ => return None,
    })
}

/// Whether a cut of the network keeps it from the active controller, or, where that has no side,
/// from most other brokers.
fn is_cut_off(snapshot: &Snapshot, id: BrokerId) -> bool {
    let Some(own) = snapshot.sides.get(&Machine::Broker(id)) else { return false };
    let leader = snapshot.controller.leader.clone();
    if let Some(side) = leader.and_then(|it| snapshot.sides.get(&Machine::Controller(it))) {
        return side != own;
    }
    let brokers = snapshot.sides.iter().filter(|(it, _)| matches!(it, Machine::Broker(_)));
    let here = brokers.clone().filter(|(_, side)| *side == own).count();
    2 * here < brokers.count()
}

/// All brokers that are out of the ordinary: `broker-3 stopped, broker-7 fenced`.
pub(super) fn listed(snapshot: &Snapshot) -> String {
    let states = snapshot.brokers.keys().filter_map(|&id| Some((id, state(snapshot, id)?.0)));
    states.map(|(id, state)| format!("broker-{id} {state}")).collect::<Vec<_>>().join(", ")
}
