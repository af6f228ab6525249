//! Warns about actions that can do nothing by the script alone: each machine's actions are walked
//! through in the order of their times. What the cluster makes of an action is no matter here.

use std::collections::BTreeMap;

use super::context::Context;
use super::duration;
use super::model::Action;
use crate::diag::{Code, Problem};
use crate::sim::command::{Command, PauseMode};
use crate::sim::world::{Start, World};

/// What a process is doing, as far as the script says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Runs,
    Paused,
    Stopped,
}

/// What an action does to a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    Start,
    Stop,
    Pause,
    Resume,
    /// It asks the process to do something.
    Use,
}

impl Change {
    /// The state after it, or what is in its way.
    fn apply(self, state: State) -> Result<State, &'static str> {
        match (self, state) {
            (Change::Start, State::Stopped) | (Change::Resume, State::Paused) => Ok(State::Runs),
            (Change::Start, _) => Err("runs already"),
            (_, State::Stopped) => Err("does not run"),
            (Change::Stop, _) => Ok(State::Stopped),
            (Change::Pause, State::Runs) => Ok(State::Paused),
            (Change::Pause, State::Paused) => Err("is paused already"),
            (Change::Resume, State::Runs) => Err("is not paused"),
            (Change::Use, state) => Ok(state),
        }
    }
}

/// Warns about every action whose machine is in no state for it.
pub fn warn(context: &mut Context<'_>, actions: &[Action], world: &World) {
    let mut states: BTreeMap<String, State> = BTreeMap::new();
    let mut later: Vec<(u64, String)> = Vec::new();
    for (name, start) in clients(world) {
        match start {
            Start::WithWorld => {}
            Start::Manual => drop(states.insert(name.to_owned(), State::Stopped)),
            Start::At(at_ms) => {
                states.insert(name.to_owned(), State::Stopped);
                later.push((at_ms, name.to_owned()));
            }
        }
    }
    let mut sorted: Vec<&Action> = actions.iter().collect();
    sorted.sort_by_key(|action| action.at_ms);
    for action in sorted {
        later.retain(|(at_ms, name)| {
            let is_due = *at_ms <= action.at_ms;
            if is_due {
                states.insert(name.clone(), State::Runs);
            }
            !is_due
        });
        let Some((name, change)) = change(&action.command) else { continue };
        let state = states.entry(name.clone()).or_insert(State::Runs);
        match change.apply(*state) {
            Ok(next) => *state = next,
            Err(why) => {
                let at = duration::display(action.at_ms);
                let message = format!("`{}` can do nothing: {name} {why} at {at}", action.name);
                let problem = Problem::warning(Code::NoEffect, context.file, action.span, message);
                context.report.push(problem);
            }
        }
    }
}

fn clients(world: &World) -> impl Iterator<Item = (&str, Start)> {
    let producers = world.producers.iter().map(|it| (it.name.as_str(), it.start));
    let consumers = world.groups.iter().flat_map(|group| &group.consumers);
    producers.chain(consumers.map(|it| (it.name.as_str(), it.start)))
}

/// The process that an action is about, by its name, and what it does to it.
fn change(command: &Command) -> Option<(String, Change)> {
    use Change::{Pause, Resume, Start, Stop, Use};
    Some(match command {
        Command::CrashBroker { broker } | Command::ShutdownBroker { broker } => {
            (format!("broker {broker}"), Stop)
        }
        Command::StartBroker { broker } => (format!("broker {broker}"), Start),
        Command::PauseBroker { broker } => (format!("broker {broker}"), Pause),
        Command::ResumeBroker { broker } => (format!("broker {broker}"), Resume),
        Command::CrashController { controller } => (controller.clone(), Stop),
        Command::StartController { controller } => (controller.clone(), Start),
        Command::StartProducer { producer } => (producer.clone(), Start),
        Command::CloseProducer { producer } | Command::CrashProducer { producer } => {
            (producer.clone(), Stop)
        }
        Command::Produce(produce) => (produce.producer.clone(), Use),
        Command::BeginTransaction { producer }
        | Command::CommitTransaction { producer, .. }
        | Command::AbortTransaction { producer } => (producer.clone(), Use),
        Command::StartConsumer { consumer } => (consumer.clone(), Start),
        Command::StopConsumer { consumer } | Command::CrashConsumer { consumer } => {
            (consumer.clone(), Stop)
        }
        Command::PauseConsumer { consumer, mode: PauseMode::Process } => (consumer.clone(), Pause),
        Command::ResumeConsumer { consumer, mode: PauseMode::Process } => {
            (consumer.clone(), Resume)
        }
        Command::Commit { consumer, .. }
        | Command::Seek { consumer, .. }
        | Command::Acknowledge { consumer, .. }
        | Command::PausePartitions { consumer, .. }
        | Command::ResumePartitions { consumer, .. } => (consumer.clone(), Use),
        _ => return None,
    })
}
