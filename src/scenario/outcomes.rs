//! Runs the cells of tables: each is the script with its row's and its column's changes, up to the
//! time at which the main run ended.

use super::condition::{Condition, Term};
use super::context::Context;
use super::duration;
use super::model::{Kept, Script, Step, Table, Timing};
use super::path::Path;
use super::run::{CellRun, Run, TableRun};
use super::simulate::{self, Whole};

/// Runs every cell of every table. `None` when a run could not be finished, which is reported.
pub fn run(context: &mut Context<'_>, tables: &[Table], main: &Run) -> Option<Vec<TableRun>> {
    tables.iter().map(|table| run_table(context, table, main)).collect()
}

fn run_table(context: &mut Context<'_>, table: &Table, main: &Run) -> Option<TableRun> {
    let mut row = |scripts: &Vec<Script>| {
        scripts.iter().map(|script| run_cell(context, table, &timed(script, main))).collect()
    };
    let cells = table.scripts.iter().map(&mut row).collect::<Option<_>>()?;
    Some(TableRun { cells })
}

fn run_cell(context: &mut Context<'_>, table: &Table, script: &Script) -> Option<CellRun> {
    let conditions = table.cells.iter().filter_map(|cell| cell.condition.as_ref());
    let read = conditions.flat_map(|condition| &condition.terms).flat_map(Term::paths);
    let last: Vec<&Path> =
        read.chain(table.cells.iter().flat_map(|cell| cell.say.paths())).collect();
    let mut outcome = simulate::run(context, script, &Whole { last, ..Whole::default() })?;
    let holds = |condition: &Condition| condition.holds(&outcome.last);
    let line = table.cells.iter().position(|cell| cell.condition.as_ref().is_none_or(holds))?;
    let said = table.cells[line].say.fill(&outcome.last);
    if let Some(end) = outcome.run.frames.last_mut() {
        end.text.clone_from(&said);
    }
    Some(CellRun { line, said, run: outcome.run })
}

/// The script with a step at the time of each of the main run's. The words and statements of the
/// main script's steps are not about this run, so none is kept.
fn timed(script: &Script, main: &Run) -> Script {
    let step = |(frame, step): (&super::run::Frame, &Step)| Step {
        number: frame.number,
        span: step.span,
        timing: Timing::At(frame.time_ms),
        timing_span: step.timing_span,
        title: format!("At {}", duration::display(frame.time_ms)),
        text: None,
        ask: None,
        answer: None,
        simplified: None,
        expect: Vec::new(),
        configs: Vec::new(),
        cite: Vec::new(),
        kept: Kept::No,
    };
    let steps = main.frames.iter().zip(&script.steps).map(step).collect();
    Script { steps, ..script.clone() }
}
