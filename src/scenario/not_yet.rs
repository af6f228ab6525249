//! What the format has and the simulator does not run yet. One table: what works is taken out of
//! it, and nothing else needs to change.

use super::model::{Given, Scenario, Script};
use crate::catalog::{Treatment, treatment};
use crate::diag::{Code, Problem, Report, Span};
use crate::sim::command::Command;
use crate::sim::world::Protocol;

/// How a row recognises what it refuses.
enum Rule {
    /// An action of this name.
    Action(&'static str),
    /// Something about the world; the function says where it stands.
    World(fn(&Script) -> Option<Span>),
    /// A setting whose value asks for this.
    Setting(fn(&Given) -> bool),
}

/// The table: a rule, and what is not supported.
static ROWS: &[(Rule, &str)] = &[
    (Rule::Action("pause_consumer"), "pausing consumers"),
    (Rule::Action("resume_consumer"), "pausing consumers"),
    (Rule::Action("pause_partitions"), "pausing partitions"),
    (Rule::Action("resume_partitions"), "pausing partitions"),
    (Rule::Action("seek"), "seek"),
    (Rule::Action("reset_offsets"), "resetting offsets"),
    (Rule::Setting(|given| given.setting.name == "replica.selector.class"), "reads from followers"),
    (Rule::Setting(|given| given.setting.name == "client.rack"), "reads from followers"),
    (Rule::World(|script| script.cold), "a world that starts cold"),
    (Rule::World(several_members), "classic groups with more than one consumer"),
    (Rule::World(stops_classic_member), "stopping consumers of classic groups"),
];

/// Reports everything that a scenario asks for and that does not run yet.
#[must_use]
pub fn check(scenario: &Scenario) -> Report {
    let mut report = Report::default();
    let variants = scenario.variants.iter().map(|variant| &variant.script);
    let cells = scenario.tables.iter().flat_map(|table| table.scripts.iter().flatten());
    for script in std::iter::once(&scenario.script).chain(variants).chain(cells) {
        for (rule, what) in ROWS {
            for span in places(rule, script) {
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
        let refused = ROWS.iter().any(|row| matches!(&row.0, Rule::Setting(asks) if asks(given)));
        let is_ignored = treatment(given.setting) == Treatment::Ignored;
        if is_ignored && shows && !is_default && !refused {
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

fn places(rule: &Rule, script: &Script) -> Vec<Span> {
    match rule {
        Rule::Action(name) => {
            let actions = script.actions.iter().filter(|action| action.name == *name);
            actions.map(|action| action.span).collect()
        }
        Rule::Setting(asks) => {
            let given = script.settings.iter().filter(|given| asks(given));
            given.map(|given| given.span).collect()
        }
        Rule::World(find) => find(script).into_iter().collect(),
    }
}

fn stops_classic_member(script: &Script) -> Option<Span> {
    let classic = script.world.groups.iter().filter(|group| group.protocol == Protocol::Classic);
    let names: Vec<&String> =
        classic.flat_map(|group| &group.consumers).map(|consumer| &consumer.name).collect();
    let stops = |command: &Command| match command {
        Command::StopConsumer { consumer } => names.contains(&consumer),
        _ => false,
    };
    script.actions.iter().find(|action| stops(&action.command)).map(|action| action.span)
}

fn several_members(script: &Script) -> Option<Span> {
    let mut classic = script.world.groups.iter().filter(|g| g.protocol == Protocol::Classic);
    let found = classic.find(|group| group.consumers.len() > 1)?;
    Some(script.place(&found.name))
}
