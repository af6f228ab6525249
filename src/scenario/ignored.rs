//! Settings that a scenario gives a value of its own and that the simulator ignores: the run would
//! be the same without them.

use super::model::Scenario;
use crate::catalog::{Treatment, treatment};
use crate::diag::{Code, Problem, Report};

/// Warns about settings that the simulator does not honour, where they differ from what it does.
#[must_use]
pub fn check(scenario: &Scenario) -> Report {
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
