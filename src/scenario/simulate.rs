//! Runs a scenario and its variants: fills in the texts, checks every statement, and says what
//! changed.

use super::context::Context;
use super::diff::{self, Tree};
use super::drive::{self, Drive, Moment, Stop};
use super::duration;
use super::ignored;
use super::model::{Kept, Scenario, Script, Step, Text, Variant};
use super::names::Names;
use super::outcomes;
use super::path::Path;
use super::run::{Frame, Run, Simulated, VariantRun};
use crate::diag::{Code, Problem, Report};
use crate::sim::ids::is_internal;
use crate::sim::snapshot::{RecordKind, RecordRef, Snapshot};

/// Runs a scenario. All false statements are found in one run; the result is there unless a run
/// could not be finished, even if statements are false.
#[must_use]
pub fn simulate(scenario: &Scenario) -> (Option<Simulated>, Report) {
    let mut report = ignored::check(scenario);
    let names = Names::default();
    let mut context = Context { file: &scenario.file, names: &names, report: &mut report };
    let at_last = scenario.takeaway.iter().chain(&scenario.simplified);
    let whole = Whole {
        first: scenario.start.iter().flat_map(Text::paths).collect(),
        last: at_last.chain([&scenario.summary]).flat_map(Text::paths).collect(),
    };
    let main = run(&mut context, &scenario.script, &whole);
    let mut variants = Vec::new();
    for variant in &scenario.variants {
        let main = main.as_ref().map(|outcome| &outcome.run);
        variants.extend(run_variant(&mut context, variant, main, &scenario.script));
    }
    let Some(main) = main else { return (None, report) };
    let tables = outcomes::run(&mut context, &scenario.tables, &main.run);
    let Some(tables) = tables.filter(|_| variants.len() == scenario.variants.len()) else {
        return (None, report);
    };
    let frames = std::iter::once(&main.run).chain(variants.iter().map(|variant| &variant.run));
    let statement_count =
        frames.flat_map(|run| &run.frames).map(|frame| frame.statement_count).sum();
    let at_end = |text: &Text| text.fill(&main.last);
    let simulated = Simulated {
        summary: at_end(&scenario.summary),
        start: scenario.start.as_ref().map(|text| text.fill(&main.first)),
        takeaway: scenario.takeaway.as_ref().map(at_end),
        simplified: scenario.simplified.as_ref().map(at_end),
        statement_count,
        variants,
        tables,
        main: main.run,
    };
    (Some(simulated), report)
}

/// What is read at the first and at the last step beside their own texts.
#[derive(Default)]
pub(super) struct Whole<'a> {
    pub first: Vec<&'a Path>,
    pub last: Vec<&'a Path>,
}

/// A finished run with what was read at its ends.
pub(super) struct Outcome {
    pub run: Run,
    pub first: Snapshot,
    pub last: Snapshot,
}

/// Runs a script to its last step. A step that cannot be reached is reported.
pub(super) fn run(
    context: &mut Context<'_>,
    script: &Script,
    whole: &Whole<'_>,
) -> Option<Outcome> {
    let mut drive = Drive::new(script);
    let mut frames: Vec<Frame> = Vec::new();
    let (mut first, mut last) = (Snapshot::default(), Snapshot::default());
    for (step, index) in script.steps.iter().zip(1..) {
        let at_first = if index == 1 { &whole.first[..] } else { &[] };
        let at_last = if index == script.steps.len() { &whole.last[..] } else { &[] };
        let extra: Vec<&Path> = at_first.iter().chain(at_last).copied().collect();
        let moment = match drive.step(step, &extra) {
            Ok(moment) => moment,
            Err(why) => {
                report_stop(context, step, frames.last(), why);
                return None;
            }
        };
        let frame = frame(context, &moment, frames.last());
        if index == 1 {
            first = moment.read.clone();
        }
        last = moment.read;
        frames.push(frame);
    }
    let (events, messages) = drive.finish();
    let follow = script.follow.clone().or_else(|| only_record(frames.last()));
    let run = Run { world: script.world.clone(), frames, events, messages, follow };
    late_actions(context, script, &run);
    Some(Outcome { run, first, last })
}

fn frame(context: &mut Context<'_>, moment: &Moment<'_>, before: Option<&Frame>) -> Frame {
    let Moment { step, snapshot, read } = moment;
    let statement_count = check(context, step, read);
    let fill = |text: &Option<Text>| text.as_ref().map(|text| text.fill(read));
    let tree = Tree::from(snapshot);
    let changed = before.map_or_else(Vec::new, |frame| diff::changes(&frame.tree, &tree));
    Frame {
        number: step.number,
        time_ms: snapshot.time_ms,
        title: step.title.clone(),
        text: fill(&step.text).unwrap_or_default(),
        ask: fill(&step.ask),
        answer: fill(&step.answer),
        simplified: fill(&step.simplified),
        configs: step.configs.clone(),
        cite: step.cite.clone(),
        statement_count,
        changed: diff::readable(&changed),
        snapshot: snapshot.clone(),
        tree,
    }
}

/// Reports the statements that do not hold; gives the number of those that do.
fn check(context: &mut Context<'_>, step: &Step, snapshot: &Snapshot) -> usize {
    let at = drive::name(step.number, snapshot.time_ms);
    let kept = match &step.kept {
        Kept::No => &[][..],
        Kept::Text(statements) => statements,
        Kept::All => &step.expect,
    };
    let untrue: Vec<Problem> =
        kept.iter().filter_map(|statement| statement.check(context, &at, snapshot)).collect();
    if !untrue.is_empty() {
        let number = step.number;
        let (message, help) = match step.kept {
            Kept::Text(_) => (
                format!(
                    "the variant's step {number} has its own `expect`, but keeps a `title` or \
                     `text` of the main script that is not true here"
                ),
                "give the step both a `title` and a `text` of its own",
            ),
            _ => (
                format!(
                    "in this variant the text of step {number} is not true as it stands in the \
                     main script"
                ),
                "give the variant's step its own title, text and expect",
            ),
        };
        let mut problem = Problem::error(Code::VariantText, context.file, step.span, message);
        problem.notes.extend(untrue.into_iter().map(|problem| problem.message));
        let problem = problem.note(format!("at {at}"));
        context.report.push(problem.help(help));
        return 0;
    }
    if matches!(step.kept, Kept::All) {
        return step.expect.len();
    }
    let mut held = 0;
    for statement in &step.expect {
        match statement.check(context, &at, snapshot) {
            Some(problem) => context.report.push(problem),
            None => held += 1,
        }
    }
    held
}

fn report_stop(context: &mut Context<'_>, step: &Step, before: Option<&Frame>, why: Stop) {
    let error =
        |code, message: String| Problem::error(code, context.file, step.timing_span, message);
    let problem = match why {
        Stop::TooEarly { now_ms } => {
            let before = before.map_or_else(String::new, |it| drive::name(it.number, it.time_ms));
            let message = format!("step {} comes before {before}", step.number);
            error(Code::StepOrder, message)
                .note(format!("{} has been reached", duration::display(now_ms)))
        }
        Stop::NeverTrue { until_ms, values } => {
            let until = duration::display(until_ms);
            let message = format!("step {}: `when` was not true by {until}", step.number);
            let mut problem = error(Code::NeverTrue, message);
            problem.notes.extend(values);
            problem
        }
        Stop::Limit(limit) => error(Code::Limit, limit),
    };
    context.report.push(problem);
}

/// Warns about actions that the run does not reach.
fn late_actions(context: &mut Context<'_>, script: &Script, run: &Run) {
    let Some(end) = run.frames.last().map(|frame| frame.time_ms) else { return };
    for action in script.actions.iter().filter(|action| action.at_ms > end) {
        let message = "this action comes after the last step, where the run ends";
        let problem = Problem::warning(Code::AfterTheEnd, context.file, action.span, message)
            .note(format!("the last step is at {}", duration::display(end)));
        let known = |other: &Problem| other.code == problem.code && other.span == problem.span;
        if !context.report.problems.iter().any(known) {
            context.report.push(problem);
        }
    }
}

fn run_variant(
    context: &mut Context<'_>,
    variant: &Variant,
    main: Option<&Run>,
    main_script: &Script,
) -> Option<VariantRun> {
    let last = variant.text.iter().flat_map(Text::paths).collect();
    let outcome = run(context, &variant.script, &Whole { last, ..Whole::default() })?;
    let same_steps = main_script.steps.len() == variant.script.steps.len();
    if main.is_some_and(|main| same_steps && looks_the_same(main, &outcome.run)) {
        let message = format!("the variant `{}` changes nothing that can be observed", variant.id);
        context.error(Code::NoDifference, variant.span, message);
    }
    Some(VariantRun {
        id: variant.id.clone(),
        title: variant.title.clone(),
        text: variant.text.as_ref().map(|text| text.fill(&outcome.last)),
        run: outcome.run,
    })
}

/// Whether two runs show the same at the same times; the settings themselves do not count.
fn looks_the_same(one: &Run, other: &Run) -> bool {
    one.frames.iter().zip(&other.frames).all(|(one, other)| {
        one.time_ms == other.time_ms
            && diff::changes(&one.tree, &other.tree)
                .iter()
                .all(|change| change.path.contains(".config."))
    })
}

/// The record of a run that has just one, at its end.
fn only_record(last: Option<&Frame>) -> Option<RecordRef> {
    let partitions = last?.snapshot.partitions.iter();
    let own = partitions.filter(|(partition, _)| !is_internal(&partition.topic));
    let mut records = own.flat_map(|(partition, view)| {
        let data = view.records.iter().filter(|(_, record)| record.kind == RecordKind::Data);
        data.map(|(offset, _)| RecordRef { partition: partition.clone(), offset: *offset })
    });
    let only = records.next()?;
    records.next().is_none().then_some(only)
}
