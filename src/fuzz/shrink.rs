//! From a case that breaks a rule to the shortest list of actions that still does.
//!
//! Delta debugging (Zeller, Hildebrandt: "Simplifying and isolating failure-inducing input", 2002):
//! ever smaller parts are left out, as long as the rule stays broken; in the end no single action
//! can be left out.

use super::{Case, Violation};

/// Shrinks a case that `breaks`.
///
/// # Panics
/// If the case as given breaks nothing.
pub fn shrink(case: Case, breaks: impl Fn(&Case) -> Option<Violation>) -> (Case, Violation) {
    let violation = breaks(&case).expect("only a broken case is shrunk");
    let mut best = (case, violation);
    let mut part = best.0.deeds.len().div_ceil(2).max(1);
    loop {
        let before = best.0.deeds.len();
        let mut from = 0;
        while from < best.0.deeds.len() {
            let mut fewer = best.0.clone();
            fewer.deeds.drain(from..(from + part).min(fewer.deeds.len()));
            match breaks(&fewer) {
                Some(violation) => best = (fewer, violation),
                None => from += part,
            }
        }
        if part > 1 {
            part /= 2;
        } else if best.0.deeds.len() == before {
            break;
        }
    }
    without_clients(&mut best, &breaks);
    best
}

/// Leaves out groups and producers that have no part in it.
fn without_clients(best: &mut (Case, Violation), breaks: &impl Fn(&Case) -> Option<Violation>) {
    for index in (0..best.0.world.groups.len()).rev() {
        let mut fewer = best.0.clone();
        fewer.world.groups.remove(index);
        if let Some(violation) = breaks(&fewer) {
            *best = (fewer, violation);
        }
    }
    for index in (0..best.0.world.producers.len()).rev() {
        let mut fewer = best.0.clone();
        fewer.world.producers.remove(index);
        if let Some(violation) = breaks(&fewer) {
            *best = (fewer, violation);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::command::Command;
    use crate::sim::ids::BrokerId;
    use crate::sim::world::World;

    #[test]
    fn what_has_no_part_in_it_is_left_out() {
        let crash = Command::CrashBroker { broker: BrokerId(1) };
        let deeds = (0..17).map(|at_ms| (at_ms, crash.clone()));
        let case = Case { world: World::default(), deeds: deeds.collect(), end_ms: 100 };
        let holds = |case: &Case, at: u64| case.deeds.iter().any(|(at_ms, _)| *at_ms == at);
        let (small, _) = shrink(case, |case| {
            (holds(case, 3) && holds(case, 11))
                .then(|| Violation { rule: "both".to_owned(), trace: Vec::new() })
        });
        let times: Vec<u64> = small.deeds.iter().map(|(at_ms, _)| *at_ms).collect();
        assert_eq!(times, [3, 11]);
    }
}
