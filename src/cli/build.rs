//! `build`: from a site's folder to the published site, or to a list of what is wrong and no
//! change.

use std::path::{Path, PathBuf};

use clap::Args;

use crate::project::{self, Error, Staging};
use crate::site::{self, Cards, Options};

use super::{Outcome, SiteArguments, print_message, print_report, print_result};

/// The arguments of `build`.
#[derive(Clone, Debug, Args)]
pub struct Arguments {
    #[command(flatten)]
    site: SiteArguments,
    /// The folder to publish to. Replaces `build-dir` of book.toml.
    #[arg(short, long, value_name = "DIR")]
    dest_dir: Option<PathBuf>,
    /// Draw no share cards. Without a whole address in `site-url` there are none in any case.
    #[arg(long)]
    no_cards: bool,
}

/// Builds the site.
///
/// # Errors
/// When the environment fails.
pub fn run(arguments: &Arguments) -> Result<Outcome, Error> {
    let mut site = project::read(&arguments.site.folder)?;
    let target = arguments.dest_dir.as_deref().unwrap_or(&site.build_dir);
    if arguments.dest_dir.is_some() {
        project::keep_apart(target, &site.sources)?;
    }
    let staging = Staging::begin(target)?;
    let kept = |path: &str| staging.kept(path);
    let cards = if arguments.no_cards { Cards::None } else { Cards::Drawn(&kept) };
    let options = Options { cards, ..arguments.site.options(&mut site.inputs) };
    let mut page_count = 0;
    let built = arguments.site.on_threads(|| {
        site::build(&site.inputs, &options, &mut |file| {
            page_count += usize::from(file.path.ends_with(".html"));
            staging.write(&file)
        })
    })?;
    site.report.extend(built);
    print_report(&site.report);
    if site.report.has_errors() {
        print_message("Nothing was published; the site stands as it was.\n");
        return Ok(Outcome::Mistakes);
    }
    let target = staging.publish()?;
    print_result(&success(page_count, &target, &arguments.site.folder))?;
    Ok(Outcome::Fine)
}

/// Where the site is, and how to look at it.
fn success(page_count: usize, target: &Path, folder: &Path) -> String {
    let home = target.join("index.html");
    let home = std::path::absolute(&home).unwrap_or(home);
    let folder = match folder.to_str() {
        Some(".") | None => String::new(),
        Some(folder) => format!(" {folder}"),
    };
    format!(
        "{page_count} pages written to {}\nLook at them: open {} in a browser, or run \
         `kafka-sim-site serve{folder}`\n",
        target.display(),
        home.display(),
    )
}
