//! Drives the simulator through the steps of a script: when each step is, what it shows there, and
//! whether its statements hold.
//!
//! The rules are those of the format's section "Time": a step sees all that happens in its
//! millisecond; a `when` is tested after each millisecond, beginning with that of the step before,
//! and strictly later if that one was a `when` too; the run ends with the last step.

use super::condition::{Condition, parts};
use super::model::{Script, Step, Timing};
use super::path::Path;
use super::record::Record;
use super::{duration, limits};
use crate::sim::snapshot::{MessageView, Snapshot};
use crate::sim::trace::TraceEvent;
use crate::sim::{Scope, Sim, Stopped};

/// Why a run ended before its last step.
#[derive(Debug)]
pub enum Stop {
    /// Step `at` lies before what has been reached.
    TooEarly {
        /// The time that has been reached, in milliseconds.
        now_ms: u64,
    },
    /// `when` was not true in time.
    NeverTrue {
        /// Until when it was waited for, in milliseconds.
        until_ms: u64,
        /// The values of its left sides at the end.
        values: Vec<String>,
    },
    /// A limit of the format was passed.
    Limit(String),
}

impl From<Stopped> for Stop {
    fn from(stopped: Stopped) -> Stop {
        match stopped {
            Stopped::Limit(limit) => Stop::Limit(limit),
            Stopped::Broken(rule) => panic!("the simulator breaks its own rule: {rule}"),
        }
    }
}

/// A moment of a run: a step's, with what it reads.
pub struct Moment<'a> {
    /// The step.
    pub step: &'a Step,
    /// Everything that can be observed.
    pub snapshot: Snapshot,
    /// What the step's texts and statements read, and `extra` paths: a narrow snapshot.
    pub read: Snapshot,
}

/// A script under way.
pub struct Drive {
    sim: Sim,
    record: Record,
    /// Times of the steps so far, by their numbers.
    reached: Vec<(u32, u64)>,
    /// Whether the step before was a `when`.
    after_when: bool,
}

impl Drive {
    /// At 0 s, before anything has happened.
    pub fn new(script: &Script) -> Drive {
        let commands =
            script.actions.iter().map(|action| (action.at_ms, action.command.clone())).collect();
        let sim = Sim::new(script.world.clone(), commands);
        Drive { sim, record: Record::default(), reached: Vec::new(), after_when: false }
    }

    /// Goes on to a step and looks; `extra` paths are read with the step's own.
    ///
    /// # Errors
    /// The step cannot be reached.
    pub fn step<'a>(&mut self, step: &'a Step, extra: &[&Path]) -> Result<Moment<'a>, Stop> {
        let before = self.reached.last().map_or(0, |(_, ms)| *ms);
        match &step.timing {
            Timing::At(at_ms) if !self.reached.is_empty() && *at_ms < before => {
                return Err(Stop::TooEarly { now_ms: before });
            }
            Timing::At(at_ms) => self.advance(*at_ms)?,
            Timing::When { condition, within_ms } => {
                let until_ms = before.saturating_add(*within_ms).min(limits::TIME_MS);
                self.wait(condition, until_ms)?;
            }
        }
        self.after_when = matches!(step.timing, Timing::When { .. });
        let now = self.now();
        self.reached.push((step.number, now));
        let paths = step.paths().chain(extra.iter().copied());
        let read = self.look(&Scope::Parts(parts(paths)));
        Ok(Moment { step, snapshot: self.look(&Scope::All), read })
    }

    /// Goes on to a time.
    ///
    /// # Errors
    /// A limit was passed.
    pub fn advance(&mut self, to_ms: u64) -> Result<(), Stop> {
        while let Some(next) = self.sim.next_event_ms().filter(|next| *next <= to_ms) {
            self.sim.run_millisecond(next)?;
            self.record.keep_up(&mut self.sim).map_err(Stop::Limit)?;
        }
        if self.sim.now_ms().is_none_or(|now| now < to_ms) {
            self.sim.run_millisecond(to_ms)?;
        }
        Ok(())
    }

    /// What can be observed now, with the times since the steps so far.
    pub fn look(&self, scope: &Scope) -> Snapshot {
        let mut snapshot = self.sim.snapshot(scope);
        snapshot.time_ms = self.now();
        let since = |(number, ms): &(u32, u64)| (*number, snapshot.time_ms - ms);
        snapshot.since = self.reached.iter().map(since).collect();
        snapshot
    }

    /// Everything that happened and every message that was sent.
    pub fn finish(mut self) -> (Vec<TraceEvent>, Vec<MessageView>) {
        self.record.take(&mut self.sim);
        (self.record.events, self.record.messages)
    }

    fn now(&self) -> u64 {
        self.sim.now_ms().unwrap_or(0)
    }

    /// Goes on until a condition is true.
    fn wait(&mut self, condition: &Condition, until_ms: u64) -> Result<(), Stop> {
        let scope = Scope::Parts(condition.parts());
        if self.sim.now_ms().is_none() {
            self.sim.run_millisecond(0)?;
        }
        let mut snapshot = self.look(&scope);
        if !self.after_when && condition.holds(&snapshot) {
            return Ok(());
        }
        loop {
            let now = snapshot.time_ms;
            let happens = self.sim.next_event_ms();
            let clock = condition.next_clock_ms(&snapshot);
            let next = [happens, clock].into_iter().flatten().min();
            // Without a clock nothing can change before the next event, so nothing is tested
            // before.
            let next = match next {
                Some(next) if next <= until_ms => next,
                _ => {
                    let values = condition.values(&snapshot);
                    return Err(Stop::NeverTrue { until_ms, values });
                }
            };
            debug_assert!(next > now, "time goes on");
            self.sim.run_millisecond(next)?;
            self.record.keep_up(&mut self.sim).map_err(Stop::Limit)?;
            snapshot = self.look(&scope);
            if condition.holds(&snapshot) {
                return Ok(());
            }
        }
    }
}

/// How a step is named in messages: `step 3 at 1.4s`.
pub fn name(number: u32, time_ms: u64) -> String {
    format!("step {number} at {}", duration::display(time_ms))
}
