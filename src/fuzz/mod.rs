//! Random worlds: clusters, settings, loads and faults drawn from a seed and run under the
//! simulator's checkers, with what a failing one comes down to.
//!
//! It knows the simulator alone, and no file, no format. The same seed gives the same world and the
//! same run.

mod action;
mod coverage;
mod dice;
mod shrink;
mod world;

use std::any::Any;
use std::fmt;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};

use rayon::prelude::*;

use crate::sim::command::Command;
use crate::sim::trace::TraceEvent;
use crate::sim::world::World;
use crate::sim::{Sim, Stopped};

pub use action::{ACTIONS, name_of};
pub use coverage::{Coverage, NOT_DEMANDED, RULES};
use dice::{Dice, Draws};

/// Lines of the trace that are kept for a violation.
const TRACE_LINES: usize = 60;

/// A world and what is done to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// The world.
    pub world: World,
    /// Actions, each with its time in milliseconds.
    pub deeds: Vec<(u64, Command)>,
    /// Where the run ends, in milliseconds.
    pub end_ms: u64,
}

/// A run that broke a rule of the simulator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The rule, in words.
    pub rule: String,
    /// The last events before it.
    pub trace: Vec<TraceEvent>,
}

/// What came of a set of seeds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Survey {
    /// What was exercised.
    pub coverage: Coverage,
    /// Seeds whose runs broke a rule, ascending.
    pub broken: Vec<u64>,
}

/// Draws the case of a seed.
#[must_use]
pub fn case(seed: u64) -> Case {
    let mut dice = Dice::new(seed);
    let world = world::draw(&mut dice);
    let end_ms = dice.between(5_000, 45_000);
    let mut deeds = Vec::new();
    let mut created = Vec::new();
    for _ in 0..dice.between(2, 30) {
        let at_ms = dice.between(0, end_ms);
        let mut draws = Draws { dice: &mut dice, world: &world, created: &created };
        let Some(command) = action::draw(&mut draws) else { continue };
        if let Command::CreateTopic(spec) = &command {
            created.push(spec.clone());
        }
        if let Some(undoing) = action::undoing(&command)
            && !dice.one_in(6)
        {
            let longest = if dice.one_in(3) { 1000 } else { 12_000 };
            deeds.push((at_ms + dice.between(1, longest), undoing));
        }
        deeds.push((at_ms, command));
    }
    deeds.sort_by_key(|(at_ms, _)| *at_ms);
    Case { world, deeds, end_ms }
}

/// Runs a case under the checkers.
///
/// # Errors
/// The rule that the run broke. A panic of the simulator counts as one.
pub fn run(case: &Case) -> (Coverage, Result<(), Violation>) {
    let mut coverage = Coverage::default();
    coverage.worlds = 1;
    let mut last = Vec::new();
    let mut sim = Sim::new(case.world.clone(), case.deeds.clone());
    let drive = || drive(&mut sim, case.end_ms, &mut coverage, &mut last);
    let outcome = catch_unwind(AssertUnwindSafe(drive));
    let outcome = outcome.unwrap_or_else(|panic| Err(words_of(&*panic)));
    last.extend(sim.take_events());
    let trace = last.split_off(last.len().saturating_sub(TRACE_LINES));
    let reached = sim.now_ms().unwrap_or(0);
    for (_, command) in case.deeds.iter().filter(|(at_ms, _)| *at_ms <= reached) {
        coverage.note_action(command);
    }
    (coverage, outcome.map_err(|rule| Violation { rule, trace }))
}

fn drive(
    sim: &mut Sim,
    end_ms: u64,
    coverage: &mut Coverage,
    last: &mut Vec<TraceEvent>,
) -> Result<(), String> {
    while let Some(next) = sim.next_event_ms().filter(|next| *next <= end_ms) {
        let outcome = sim.run_millisecond(next);
        sim.take_messages();
        let events = sim.take_events();
        for event in &events {
            coverage.note_event(event);
        }
        last.extend(events);
        if last.len() > 20 * TRACE_LINES {
            last.drain(..last.len() - TRACE_LINES);
        }
        match outcome {
            Ok(()) => {}
            Err(Stopped::Limit(_)) => return Ok(()),
            Err(Stopped::Broken(rule)) => return Err(rule),
        }
    }
    Ok(())
}

fn words_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    format!("panics: {}", text.unwrap_or("without a word"))
}

/// Runs the cases of these seeds, on as many threads as there are. The outcome does not depend on
/// their order.
#[must_use]
pub fn survey(seeds: Range<u64>) -> Survey {
    let one = |seed| {
        let (coverage, outcome) = run(&case(seed));
        let broken = outcome.is_err().then_some(seed).into_iter().collect();
        Survey { coverage, broken }
    };
    seeds.into_par_iter().map(one).reduce(Survey::default, |mut all, more| {
        all.broken.extend(more.broken);
        Survey { coverage: all.coverage.and(&more.coverage), broken: all.broken }
    })
}

/// The smallest case that can be made of a seed's broken one, with its violation; `None` if the
/// seed breaks nothing.
#[must_use]
pub fn smallest(seed: u64) -> Option<(Case, Violation)> {
    let case = case(seed);
    let (_, outcome) = run(&case);
    outcome.err()?;
    Some(shrink::shrink(case, |case| run(case).1.err()))
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "world: {:?}", self.world)?;
        writeln!(f, "actions until {} ms:", self.end_ms)?;
        for (at_ms, command) in &self.deeds {
            writeln!(f, "{at_ms:>8} ms  {}  {command:?}", name_of(command))?;
        }
        Ok(())
    }
}
