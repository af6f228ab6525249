//! `check`: everything that `build` does, but nothing is written. For editors and for CI.

use std::convert::Infallible;

use clap::{Args, ValueEnum};

use crate::diag::Severity;
use crate::diag::render::{to_github, to_json};
use crate::project::{self, Error};
use crate::site;

use super::{Outcome, SiteArguments, outcome, print_report, print_result};

/// The arguments of `check`.
#[derive(Clone, Debug, Args)]
pub struct Arguments {
    #[command(flatten)]
    site: SiteArguments,
    /// How to print what is wrong.
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
    /// Treat warnings as errors.
    #[arg(long)]
    deny_warnings: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people, on stderr.
    Human,
    /// One JSON document on stdout.
    Json,
    /// Annotations of GitHub's CI on stdout.
    Github,
}

/// Checks the site.
///
/// # Errors
/// When the environment fails.
pub fn run(arguments: &Arguments) -> Result<Outcome, Error> {
    let mut site = project::read(&arguments.site.folder)?;
    let options = arguments.site.options(&mut site.inputs);
    let built = arguments
        .site
        .on_threads(|| site::build(&site.inputs, &options, &mut |_| Ok::<_, Infallible>(())));
    let Ok(built) = built;
    site.report.extend(built);
    match arguments.format {
        Format::Human => print_report(&site.report),
        Format::Json => print_result(&to_json(&site.report))?,
        Format::Github => print_result(&to_github(&site.report))?,
    }
    let deny = if arguments.deny_warnings { Severity::Warning } else { Severity::Error };
    let outcome = outcome(&site.report, deny);
    if outcome == Outcome::Fine && arguments.format == Format::Human {
        print_result("The site is in order.\n")?;
    }
    Ok(outcome)
}
