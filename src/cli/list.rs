//! `list`: the chapters and scenarios of a site.

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;

use crate::diag::Severity;
use crate::project::{self, Error};
use crate::scenario::catalogue::{self, Catalogue};
use crate::scenario::model::Scenario;

use super::{Outcome, outcome, print_report, print_result};

/// The arguments of `list`.
#[derive(Clone, Debug, Args)]
pub struct Arguments {
    /// The site's folder.
    #[arg(default_value = ".", value_name = "DIR")]
    folder: PathBuf,
}

/// Prints the list; files with errors are reported instead.
///
/// # Errors
/// When the environment fails.
pub fn run(arguments: &Arguments) -> Result<Outcome, Error> {
    let site = project::read(&arguments.folder)?;
    let (catalogue, mut report) = catalogue::load(&site.inputs.scenarios);
    report.problems.splice(0..0, site.report.problems);
    print_result(&text(&catalogue))?;
    print_report(&report);
    Ok(outcome(&report, Severity::Error))
}

fn text(catalogue: &Catalogue) -> String {
    let mut out = String::new();
    for chapter in &catalogue.chapters {
        let _ = writeln!(out, "{} {}", chapter.id, chapter.title);
        for scenario in catalogue.scenarios_of(&chapter.slug) {
            line(&mut out, scenario);
        }
    }
    let known = |slug: &str| catalogue.chapters.iter().any(|chapter| chapter.slug == slug);
    let strays = catalogue
        .scenarios
        .iter()
        .filter(|scenario| !scenario.chapter.as_deref().is_some_and(known));
    for (index, scenario) in strays.enumerate() {
        if index == 0 {
            out.push_str("In no chapter\n");
        }
        line(&mut out, scenario);
    }
    out
}

fn line(out: &mut String, scenario: &Scenario) {
    let draft = if scenario.draft { " (draft)" } else { "" };
    let Scenario { id, slug, title, .. } = scenario;
    let _ = writeln!(out, "  {id:<10} {slug:<28} {title}{draft}");
}
