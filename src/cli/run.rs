//! `run`: simulates one scenario and prints its steps, what changed at each, and the event log.

use std::fmt::Write as _;
use std::sync::Arc;

use clap::{Args, ValueEnum};

use crate::catalog::{self, Scope};
use crate::diag::{Report, Severity, SourceFile};
use crate::project::Error;
use crate::scenario::model::Scenario;
use crate::scenario::run::{Frame, Simulated};
use crate::scenario::{self, published};
use crate::sim::trace::TraceEvent;
use crate::sim::world::World;

use super::chosen::{self, Which};
use super::{Outcome, outcome, print_message, print_report, print_result};

/// The arguments of `run`.
#[derive(Clone, Debug, Args)]
pub struct Arguments {
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    view: View,
}

/// What is printed of a run.
#[derive(Clone, Debug, Default, Args)]
pub struct View {
    /// Print this step only.
    #[arg(long, value_name = "N")]
    pub step: Option<u32>,
    /// Print this variant instead of the main script.
    #[arg(long, value_name = "ID")]
    pub variant: Option<String>,
    /// How to print.
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub format: Format,
    /// Print the event log too; with `--format json` instead.
    #[arg(long)]
    pub events: bool,
}

/// How a run is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    #[default]
    Human,
    /// What the site publishes as `scenario.json`, or `events.json`.
    Json,
}

/// Runs the scenario.
///
/// # Errors
/// When the environment fails.
pub fn run(arguments: &Arguments) -> Result<Outcome, Error> {
    let (file, mut report) = match arguments.which.find()? {
        Ok(found) => found,
        Err(message) => {
            print_message(&format!("error: {message}\n"));
            return Ok(Outcome::Failed);
        }
    };
    let Some(file) = file else {
        print_report(&report);
        return Ok(outcome(&report, Severity::Error));
    };
    let (printed, problems) = print(&file, &arguments.view);
    report.extend(problems);
    let printed = match printed {
        Ok(text) => text,
        Err(message) => {
            print_message(&format!("error: {message}\n"));
            return Ok(Outcome::Failed);
        }
    };
    print_result(&printed)?;
    print_report(&report);
    Ok(outcome(&report, Severity::Error))
}

/// What `run` prints for a file, and what is wrong with it. The inner error: there is no such step
/// or variant.
pub fn print(file: &Arc<SourceFile>, view: &View) -> (Result<String, String>, Report) {
    let (scenario, mut report) = scenario::read(file);
    let Some(scenario) = scenario else { return (Ok(String::new()), report) };
    let (simulated, problems) = scenario::simulate(&scenario);
    report.extend(problems);
    let Some(simulated) = simulated else { return (Ok(String::new()), report) };
    let printed = match view.format {
        Format::Human => text(&scenario, &simulated, view),
        Format::Json => json(&scenario, &simulated, view),
    };
    (printed, report)
}

fn json(scenario: &Scenario, simulated: &Simulated, view: &View) -> Result<String, String> {
    let run = chosen::run(simulated, view.variant.as_deref())?;
    if view.events {
        return Ok(published::events_json(run));
    }
    Ok(match view.step {
        Some(number) => published::json(&published::steps(run)[chosen::step(run, number)?]),
        None if view.variant.is_some() => published::json(&published::steps(run)),
        None => published::scenario_json(scenario, simulated),
    })
}

fn text(scenario: &Scenario, simulated: &Simulated, view: &View) -> Result<String, String> {
    let run = chosen::run(simulated, view.variant.as_deref())?;
    let mut out = format!("{} {}\n", scenario.id, scenario.title);
    if let Some(id) = &view.variant {
        let _ = writeln!(out, "Variant {id}");
    }
    let (first, last) = match view.step {
        Some(number) => {
            let at = chosen::step(run, number)?;
            (at, at)
        }
        None => (0, run.frames.len().saturating_sub(1)),
    };
    for frame in &run.frames[first..=last] {
        step_text(&mut out, frame, &run.world);
    }
    let held: usize = run.frames[first..=last].iter().map(|frame| frame.statement_count).sum();
    let words = if held == 1 { "statement holds" } else { "statements hold" };
    let _ = writeln!(out, "\n{held} {words}.");
    if view.events {
        let after = first.checked_sub(1).map(|before| run.frames[before].time_ms);
        let until = run.frames[last].time_ms;
        let shown = run.events.iter().filter(|event| {
            event.time_ms <= until && after.is_none_or(|after| event.time_ms > after)
        });
        event_text(&mut out, shown);
    }
    Ok(out)
}

/// The value that a setting has where nobody set it, if the path leads to a setting.
fn default_of(world: &World, path: &str) -> Option<String> {
    let (owner, name) = path.split_once(".config.")?;
    let scope = match owner.split('.').next()? {
        "topics" => return catalog::topic_default(name, &world.config),
        "brokers" => Scope::Broker,
        "producers" => Scope::Producer,
        "consumers" => Scope::Consumer,
        _ => Scope::Group,
    };
    catalog::setting(scope, name)?.default.clone()
}

fn step_text(out: &mut String, frame: &Frame, world: &World) {
    let seconds = format!("{}.{:03}", frame.time_ms / 1000, frame.time_ms % 1000);
    let _ = writeln!(out, "\nStep {} at {seconds} s: {}", frame.number, frame.title);
    let width = frame.changed.iter().map(|change| change.path.len()).max().unwrap_or(0);
    let value = |value: &Option<serde_json::Value>| match value {
        None => "none".to_owned(),
        Some(serde_json::Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
    };
    for change in &frame.changed {
        let path = &change.path;
        let effective = |it: &Option<serde_json::Value>| match it {
            None => default_of(world, path).unwrap_or_else(|| value(it)),
            it => value(it),
        };
        let (from, to) = (effective(&change.from), effective(&change.to));
        let _ = writeln!(out, "  {path:<width$}  {from} -> {to}");
    }
}

fn event_text<'a>(out: &mut String, events: impl Iterator<Item = &'a TraceEvent>) {
    let (time, machine, event) = ("time/s", "machine", "event");
    let _ = writeln!(out, "\n{time:>10}  {machine:<14}  {event:<18}  text");
    for event in events {
        let _ = writeln!(out, "{event}");
    }
}
