//! What the format has and the simulator does not run yet. One table: what works is taken out of
//! it, and nothing else needs to change.

use super::condition::Term;
use super::model::{Scenario, Script, Step, Text, Timing};
use super::path::Path;
use crate::catalog::{Treatment, treatment};
use crate::diag::{Code, Problem, Report, Span};
use crate::sim::world::Protocol;

/// How a row recognises what it refuses.
enum Rule {
    /// An action of this name.
    Action(&'static str),
    /// An observable whose pattern begins like this.
    Path(&'static str),
    /// Something about the world; the function says where it stands.
    World(fn(&Script) -> Option<Span>),
    /// Something about the scenario as a whole.
    Scenario(fn(&Scenario) -> Option<Span>),
}

/// The table: a rule, and what is not supported.
static ROWS: &[(Rule, &str)] = &[
    (Rule::Action("acknowledge"), "share groups"),
    (Rule::Path("groups.<group>.share."), "share groups"),
    (Rule::World(share_group), "share groups"),
    (Rule::Scenario(table), "tables"),
];

/// Reports everything that a scenario asks for and that does not run yet.
#[must_use]
pub fn check(scenario: &Scenario) -> Report {
    let mut report = Report::default();
    let variants = scenario.variants.iter().map(|variant| &variant.script);
    for script in std::iter::once(&scenario.script).chain(variants) {
        for (rule, what) in ROWS {
            for span in places(rule, scenario, script) {
                let message = format!("not yet: {what}");
                let problem = Problem::error(Code::NotYet, &scenario.file, span, message);
                if !report.problems.contains(&problem) {
                    report.push(problem);
                }
            }
        }
    }
    report
}

/// Warns about settings that the simulator does not honour, where they differ from what it does.
#[must_use]
pub fn ignored(scenario: &Scenario) -> Report {
    let mut report = Report::default();
    let variants = scenario.variants.iter().map(|variant| &variant.script);
    let scripts = std::iter::once(&scenario.script).chain(variants);
    for given in scripts.flat_map(|script| &script.settings) {
        let name = given.setting.name.as_str();
        let is_default = given.setting.default.as_ref() == Some(&given.value);
        let shows = !UNSEEN.iter().any(|part| name.contains(part));
        let is_ignored = treatment(given.setting) == Treatment::Ignored;
        if is_ignored && shows && !is_default {
            let message = format!("`{name}` is set, but the simulator ignores it");
            let file = &scenario.file;
            let problem = Problem::warning(Code::IgnoredSetting, file, given.span, message);
            if !report.problems.contains(&problem) {
                report.push(problem);
            }
        }
    }
    report
}

/// Parts of names of settings that change nothing that can be observed here.
const UNSEEN: &[&str] = &[
    "threads",
    "buffer.bytes",
    "log.dir",
    "ssl.",
    "sasl.",
    "metric",
    "interceptor",
    "client.dns",
    "check.crcs",
    "thread.pool",
    "preallocate",
    "index.",
    "quota.",
    "reporters",
];

fn places(rule: &Rule, scenario: &Scenario, script: &Script) -> Vec<Span> {
    match rule {
        Rule::Action(name) => {
            let actions = script.actions.iter().filter(|action| action.name == *name);
            actions.map(|action| action.span).collect()
        }
        Rule::Path(prefix) => {
            let begins = |path: &Path| path.row.pattern.starts_with(prefix);
            let statements = script.steps.iter().flat_map(|step| &step.expect);
            let expected = statements.filter(|line| begins(&line.path)).map(|line| line.span);
            let waits = |step: &&Step| match &step.timing {
                Timing::When { condition, .. } => {
                    condition.terms.iter().flat_map(Term::paths).any(begins)
                }
                Timing::At(_) => false,
            };
            let awaited = script.steps.iter().filter(waits).map(|step| step.timing_span);
            let texts = scenario.texts().into_iter().flat_map(Text::placed_paths);
            let told = texts.filter(|(path, _)| begins(path)).map(|(_, span)| span);
            expected.chain(awaited).chain(told).collect()
        }
        Rule::World(find) => find(script).into_iter().collect(),
        Rule::Scenario(find) => find(scenario).into_iter().collect(),
    }
}

fn share_group(script: &Script) -> Option<Span> {
    let mut groups = script.world.groups.iter();
    let found = groups.find(|group| group.protocol == Protocol::Share)?;
    Some(script.place(&found.name))
}

fn table(scenario: &Scenario) -> Option<Span> {
    scenario.tables.first().map(|table| table.span)
}
