//! The command line: arguments, printing, exit codes. Results go to stdout, messages to stderr.
//! Knows entry points only, and no stage's inside.

pub mod build;
pub mod check;
pub mod chosen;
pub mod explain;
pub mod fuzz;
pub mod list;
pub mod render;
pub mod run;
pub mod schema;
#[cfg(feature = "serve")]
pub mod serve;

use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

use crate::diag::render::{Style, to_text};
use crate::diag::{Report, Severity};
use crate::project::Error;
use crate::site::{Drafts, Inputs, Options};

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All is well: exit code 0.
    Fine,
    /// The site's files have errors, or an expectation is false: exit code 1.
    Mistakes,
    /// Wrong usage, or the environment failed: exit code 2.
    Failed,
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> ExitCode {
        ExitCode::from(match outcome {
            Outcome::Fine => 0,
            Outcome::Mistakes => 1,
            Outcome::Failed => 2,
        })
    }
}

/// Builds sites of Kafka walkthroughs that are simulated, drawn and proved.
#[derive(Debug, Parser)]
#[command(name = "kafka-sim-site", version, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Simulate, check and draw everything, and write the whole site.
    Build(build::Arguments),
    /// Do everything that `build` does but writing.
    Check(check::Arguments),
    /// Simulate one scenario and print its steps.
    Run(run::Arguments),
    /// Simulate one scenario and write its pictures as SVG, PNG or GIF.
    Render(render::Arguments),
    /// List the chapters and scenarios of a site.
    List(list::Arguments),
    /// Say what the code of a problem means.
    Explain(explain::Arguments),
    /// Print the JSON Schema of scenario files, for editors.
    Schema,
    /// Run random worlds under the simulator's checkers.
    #[command(hide = true)]
    Fuzz(fuzz::Arguments),
    /// Show a preview that follows the files.
    #[cfg(feature = "serve")]
    Serve(serve::Arguments),
}

/// What every command over a whole site takes.
#[derive(Clone, Debug, Args)]
pub struct SiteArguments {
    /// The site's folder.
    #[arg(default_value = ".", value_name = "DIR")]
    pub folder: PathBuf,
    /// Where the site will stand: a path or a whole address. Replaces `site-url` of book.toml.
    #[arg(long, value_name = "URL", value_parser = crate::site::config::site_url)]
    pub site_url: Option<String>,
    /// Simulate and show drafts too.
    #[arg(long)]
    pub drafts: bool,
    /// How many scenarios to work on at a time; the number of processors if left out.
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub jobs: Option<u16>,
}

impl SiteArguments {
    /// What the site is built with; takes over what the command line says about `inputs`.
    #[must_use]
    pub fn options(&self, inputs: &mut Inputs) -> Options<'static> {
        if let Some(site_url) = &self.site_url {
            inputs.config.site_url.clone_from(site_url);
        }
        let drafts = if self.drafts { Drafts::Show } else { Drafts::Hide };
        Options { drafts, ..Options::default() }
    }

    /// Runs `work` on as many threads as were asked for.
    pub fn on_threads<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        let jobs = self.jobs.map_or(0, usize::from);
        match rayon::ThreadPoolBuilder::new().num_threads(jobs).build() {
            Ok(pool) => pool.install(work),
            // Where no thread can be had, the calling one does it all.
            Err(_) => work(),
        }
    }
}

/// Reads the arguments (the program's name first), does what they say and prints what comes of it.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> Outcome {
    let arguments = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments,
        Err(error) => {
            // Help and version are results and were asked for.
            let _ = error.print();
            return if error.use_stderr() { Outcome::Failed } else { Outcome::Fine };
        }
    };
    let outcome = match arguments.command {
        Command::Build(arguments) => build::run(&arguments),
        Command::Check(arguments) => check::run(&arguments),
        Command::Run(arguments) => run::run(&arguments),
        Command::Render(arguments) => render::run(&arguments),
        Command::List(arguments) => list::run(&arguments),
        Command::Explain(arguments) => explain::run(&arguments),
        Command::Schema => schema::run(),
        Command::Fuzz(arguments) => fuzz::run(&arguments),
        #[cfg(feature = "serve")]
        Command::Serve(arguments) => serve::run(&arguments),
    };
    outcome.unwrap_or_else(|error| {
        print_message(&format!("error: {error}\n"));
        Outcome::Failed
    })
}

/// Prints a result to stdout.
///
/// # Errors
/// When the system refuses; a reader that has gone away is no error.
pub fn print_result(text: &str) -> Result<(), Error> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Error::io("write to", "the standard output".as_ref())(error))
        }
        _ => Ok(()),
    }
}

/// Prints a message to stderr. That it cannot be printed is nothing that could be told.
pub fn print_message(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// Prints a report to stderr, in colours where a person sees them.
pub fn print_report(report: &Report) {
    let colours =
        io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty());
    let style = if colours { Style::Coloured } else { Style::Plain };
    print_message(&to_text(report, style));
}

/// What a report means for the exit code.
#[must_use]
pub fn outcome(report: &Report, deny: Severity) -> Outcome {
    let denied = report.problems.iter().any(|problem| problem.severity <= deny);
    if denied { Outcome::Mistakes } else { Outcome::Fine }
}
