//! `serve`: a preview of the site that follows its files.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use clap::Args;

use crate::diag::render::{Style, to_text};
use crate::project::{self, Error};
use crate::serve::{self, Built, Settings};
use crate::site;

use super::{Outcome, SiteArguments, print_message, print_report, print_result};

/// The arguments of `serve`.
#[derive(Clone, Debug, Args)]
pub struct Arguments {
    #[command(flatten)]
    site: SiteArguments,
    /// The name or address to listen on.
    #[arg(short = 'n', long, value_name = "NAME", default_value = "localhost")]
    hostname: String,
    /// The port to listen on; 0 takes any that is free.
    #[arg(short, long, value_name = "PORT", default_value_t = 3000)]
    port: u16,
    /// Open the site in a browser.
    #[arg(short, long)]
    open: bool,
}

/// Serves the preview until Ctrl-C.
///
/// # Errors
/// When the environment fails: no site, a port in use.
pub fn run(arguments: &Arguments) -> Result<Outcome, Error> {
    // Once, so that a wrong folder is a message and not an empty preview.
    project::read(&arguments.site.folder)?;
    let settings = Settings {
        hostname: arguments.hostname.clone(),
        port: arguments.port,
        folder: arguments.site.folder.clone(),
    };
    let site = arguments.site.clone();
    let mut was_wrong = false;
    let mut printed = Ok(());
    serve::run(
        &settings,
        move || {
            let built = build(&site);
            let is_wrong = !built.problems.is_empty();
            if was_wrong && !is_wrong {
                print_message("The site is in order again.\n");
            }
            was_wrong = is_wrong;
            built
        },
        |home| {
            printed = print_result(&format!("The preview is at {home} (Ctrl-C ends it)\n"));
            if arguments.open {
                open(home);
            }
        },
    )?;
    printed?;
    Ok(Outcome::Fine)
}

/// Builds the site into memory and says on the terminal what is wrong.
fn build(arguments: &SiteArguments) -> Built {
    let mut site = match project::read(&arguments.folder) {
        Ok(site) => site,
        Err(error) => {
            let problems = format!("error: {error}\n");
            print_message(&problems);
            return Built { problems, base_path: "/".to_owned(), ..Built::default() };
        }
    };
    let options = arguments.options(&mut site.inputs);
    let mut files = BTreeMap::new();
    let built = arguments.on_threads(|| {
        site::build(&site.inputs, &options, &mut |file| {
            files.insert(file.path, file.bytes);
            Ok::<(), Infallible>(())
        })
    });
    let Ok(built) = built;
    site.report.extend(built);
    print_report(&site.report);
    let config = &site.inputs.config;
    let wrong = site.report.has_errors();
    Built {
        problems: if wrong { to_text(&site.report, Style::Plain) } else { String::new() },
        base_path: config.base_path().to_owned(),
        folders: ["scenarios", "templates", &config.src].map(PathBuf::from).to_vec(),
        files: (!wrong).then_some(files),
    }
}

/// Asks the system to open a page; where it cannot, the address on the terminal is enough.
fn open(address: &str) {
    let (program, first): (&str, &[&str]) = if cfg!(target_os = "macos") {
        ("open", &[])
    } else if cfg!(windows) {
        ("cmd", &["/C", "start"])
    } else {
        ("xdg-open", &[])
    };
    let quiet = Command::new(program)
        .args(first)
        .arg(address)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    if quiet.is_err() {
        print_message("No browser could be opened.\n");
    }
}
