//! `fuzz`: runs random worlds under the simulator's checkers, for those who work on the simulator.

use std::ops::Range;

use clap::Args;

use crate::fuzz;
use crate::project::Error;

use super::{Outcome, print_message, print_result};

/// The arguments of `fuzz`.
#[derive(Clone, Debug, Args)]
pub struct Arguments {
    /// Which worlds: `0..10000`, the last not included.
    #[arg(long, value_name = "A..B", value_parser = seeds)]
    seeds: Range<u64>,
    /// Fail if an action or an error code was hit less often.
    #[arg(long, value_name = "N", default_value_t = 0)]
    require: u64,
}

fn seeds(text: &str) -> Result<Range<u64>, String> {
    let range = text.split_once("..").and_then(|(from, to)| {
        let range: Range<u64> = from.parse().ok()?..to.parse().ok()?;
        (!range.is_empty()).then_some(range)
    });
    range.ok_or_else(|| "two numbers such as 0..1000, the first below the second".to_owned())
}

/// Runs them, and prints the first violation in its smallest form, and what was exercised.
///
/// # Errors
/// When the environment fails.
pub fn run(arguments: &Arguments) -> Result<Outcome, Error> {
    let survey = fuzz::survey(arguments.seeds.clone());
    print_result(&survey.coverage.to_string())?;
    let mut outcome = Outcome::Fine;
    for (name, count) in survey.coverage.below(arguments.require) {
        let required = arguments.require;
        print_message(&format!("error: {name} was hit {count} times of {required}\n"));
        outcome = Outcome::Mistakes;
    }
    if let Some(seed) = survey.broken.first() {
        let seeds: Vec<String> = survey.broken.iter().map(ToString::to_string).collect();
        let (count, seeds) = (seeds.len(), seeds.join(", "));
        print_message(&format!("error: {count} seeds break a rule: {seeds}\n"));
        print_result(&told(*seed))?;
        outcome = Outcome::Mistakes;
    }
    Ok(outcome)
}

/// A seed's violation: its rule, the smallest world that shows it, and the trace's end.
fn told(seed: u64) -> String {
    let Some((case, violation)) = fuzz::smallest(seed) else {
        return format!("\nseed {seed} breaks a rule only now and then\n");
    };
    let trace: Vec<String> = violation.trace.iter().map(ToString::to_string).collect();
    format!("\nseed {seed}: {}\n{case}{}\n", violation.rule, trace.join("\n"))
}
