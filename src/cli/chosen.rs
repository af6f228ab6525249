//! Which scenario, variant and step a command is about: looks them up by what the command line
//! says, and names the nearest where there is none.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;

use crate::diag::{Report, SourceFile, nearest};
use crate::project::{self, Error};
use crate::scenario;
use crate::scenario::run::{Run, Simulated};

/// The scenario that a command is about.
#[derive(Clone, Debug, Args)]
pub struct Which {
    /// A file, or the id or slug of a scenario of the site.
    #[arg(value_name = "SCENARIO")]
    pub scenario: String,
    /// The site's folder, where an id or slug is looked up.
    #[arg(long, default_value = ".", value_name = "DIR")]
    pub site: PathBuf,
}

/// A scenario's file, none if it cannot be read, and what is wrong with it.
pub type Found = (Option<Arc<SourceFile>>, Report);

impl Which {
    /// The file of the scenario that was asked for; the inner error says that there is none.
    ///
    /// # Errors
    /// When the environment fails.
    pub fn find(&self) -> Result<Result<Found, String>, Error> {
        let name = self.scenario.as_str();
        let path = Path::new(name);
        if path.is_file() || name.contains('/') || path.extension().is_some_and(|it| it == "yaml") {
            return project::read_file(path).map(Ok);
        }
        let site = project::read(&self.site)?;
        let mut names: Vec<String> = Vec::new();
        for file in &site.inputs.scenarios {
            if scenario::catalogue::is_chapter(&file.path) {
                continue;
            }
            let (scenario, _) = scenario::read(file);
            let stem =
                Path::new(&file.path).file_stem().map(|stem| stem.to_string_lossy().into_owned());
            let own = scenario.map(|scenario| [scenario.id, scenario.slug]);
            let own: Vec<String> = own.into_iter().flatten().chain(stem).collect();
            if own.iter().any(|own| own == name) {
                return Ok(Ok((Some(Arc::clone(file)), Report::default())));
            }
            names.extend(own);
        }
        Ok(Err(format!("there is no scenario `{name}` here{}", hint(name, &names))))
    }
}

/// The nearest of the names that there are, as the end of a sentence.
fn hint(name: &str, names: &[String]) -> String {
    let near = nearest(name, names.iter().map(String::as_str));
    near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"))
}

/// The run of a variant, or the main one.
///
/// # Errors
/// There is no such variant.
pub fn run<'a>(simulated: &'a Simulated, variant: Option<&str>) -> Result<&'a Run, String> {
    let Some(id) = variant else { return Ok(&simulated.main) };
    let found = simulated.variants.iter().find(|variant| variant.id == id);
    found.map(|variant| &variant.run).ok_or_else(|| {
        let ids: Vec<&str> = simulated.variants.iter().map(|it| it.id.as_str()).collect();
        if ids.is_empty() {
            return format!("there is no variant `{id}`; the scenario has none");
        }
        format!("there is no variant `{id}`; there are: {}", ids.join(", "))
    })
}

/// The place of a step among a run's frames.
///
/// # Errors
/// There is no such step.
pub fn step(run: &Run, number: u32) -> Result<usize, String> {
    let found = run.frames.iter().position(|frame| frame.number == number);
    found.ok_or_else(|| format!("there is no step {number}; the run has {}", run.frames.len()))
}
