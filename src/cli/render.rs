//! `render`: simulates one scenario and writes its pictures as files: SVG or PNG, or GIF for all in
//! one.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, ValueEnum};

use crate::diag::{Report, Severity, SourceFile};
use crate::diagram::animated::{self, Step};
use crate::diagram::gif::gif;
use crate::diagram::png::Faces;
use crate::diagram::svg::{self, Caption};
use crate::diagram::theme::Scheme;
use crate::diagram::{Form, Picture, sequence, storyboard};
use crate::project::{self, Error};
use crate::scenario::{self, run::Run};

use super::chosen::{self, Which};
use super::{Outcome, outcome, print_message, print_report, print_result};

/// In a GIF a message is seen at another place as often as this, in milliseconds.
const STILL_MS: f64 = 120.0;

/// The arguments of `render`.
#[derive(Clone, Debug, Args)]
pub struct Arguments {
    #[command(flatten)]
    which: Which,
    /// The file to write, whose ending says the format, or the folder for one file a step.
    #[arg(short, long, value_name = "FILE|DIR")]
    output: PathBuf,
    #[command(flatten)]
    wish: Wish,
}

/// What is drawn, and how.
#[derive(Clone, Debug, Args)]
pub struct Wish {
    /// SVG, PNG or GIF, where the ending does not say it.
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Draw this step only.
    #[arg(long, value_name = "N")]
    step: Option<u32>,
    /// Draw this variant instead of the main script.
    #[arg(long, value_name = "ID")]
    variant: Option<String>,
    /// The colours; if left out, a PNG is light, and an SVG is what its reader prefers.
    #[arg(long, value_enum)]
    theme: Option<Theme>,
    /// Draw for a narrow column.
    #[arg(long)]
    narrow: bool,
    /// What is drawn: the machines at each step, or the messages between the steps.
    #[arg(long, value_enum, default_value_t = View::Cluster)]
    view: View,
}

/// The kinds of file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Vectors.
    Svg,
    /// Pixels, two for each of a vector's units.
    Png,
    /// The whole run as a film, one pixel for each unit.
    Gif,
}

impl Format {
    fn of(path: &Path) -> Option<Format> {
        let ending = path.extension()?.to_str()?;
        Format::from_str(ending, true).ok()
    }

    fn ending(self) -> &'static str {
        match self {
            Format::Svg => "svg",
            Format::Png => "png",
            Format::Gif => "gif",
        }
    }
}

/// The colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs, reason = "the words say it")]
pub enum Theme {
    Light,
    Dark,
}

/// What is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum View {
    /// The machines.
    Cluster,
    /// The messages.
    Sequence,
}

/// Writes the pictures.
///
/// # Errors
/// When the environment fails.
pub fn run(arguments: &Arguments) -> Result<Outcome, Error> {
    let (file, mut report) = match arguments.which.find()? {
        Ok(found) => found,
        Err(message) => return Ok(refuse(&message)),
    };
    let Some(file) = file else {
        print_report(&report);
        return Ok(outcome(&report, Severity::Error));
    };
    let target = match Target::of(arguments) {
        Ok(target) => target,
        Err(message) => return Ok(refuse(&message)),
    };
    let (files, problems) = draw(&file, &arguments.wish, &target);
    report.extend(problems);
    let files = match files {
        Ok(files) => files,
        Err(message) => return Ok(refuse(&message)),
    };
    for (path, bytes) in &files {
        project::write_file(path, bytes)?;
        print_result(&format!("{}\n", path.display()))?;
    }
    print_report(&report);
    Ok(outcome(&report, Severity::Error))
}

fn refuse(message: &str) -> Outcome {
    print_message(&format!("error: {message}\n"));
    Outcome::Failed
}

/// Where the pictures go.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Target {
    File(PathBuf, Format),
    Folder(PathBuf, Format),
}

impl Target {
    fn of(arguments: &Arguments) -> Result<Target, String> {
        let path = arguments.output.clone();
        let asked = arguments.wish.format;
        if path.extension().is_none() || path.is_dir() {
            return Ok(Target::Folder(path, asked.unwrap_or(Format::Svg)));
        }
        let format = asked.or_else(|| Format::of(&path)).ok_or_else(|| {
            format!(
                "the ending of {} is none of .svg, .png and .gif; choose one, or say --format",
                path.display()
            )
        })?;
        Ok(Target::File(path, format))
    }
}

type Files = Vec<(PathBuf, Vec<u8>)>;

/// The files of a scenario, none where it has errors; the inner error says what cannot be drawn.
fn draw(file: &Arc<SourceFile>, wish: &Wish, target: &Target) -> (Result<Files, String>, Report) {
    let (scenario, mut report) = scenario::read(file);
    let Some(scenario) = scenario else { return (Ok(Files::new()), report) };
    let (simulated, problems) = scenario::simulate(&scenario);
    report.extend(problems);
    let Some(simulated) = simulated.filter(|_| !report.has_errors()) else {
        return (Ok(Files::new()), report);
    };
    let files = chosen::run(&simulated, wish.variant.as_deref()).and_then(|run| {
        let (Target::File(path, format) | Target::Folder(path, format)) = target;
        if *format == Format::Gif {
            return Ok(vec![(path.clone(), film(run, wish, target)?)]);
        }
        let faces = Faces::default();
        let encoded = |(path, picture): (PathBuf, Picture)| {
            let bytes = encode(&picture, wish, *format, &faces)?;
            Ok((path, bytes))
        };
        pictures(run, wish, target)?.into_iter().map(encoded).collect()
    });
    (files, report)
}

/// The whole run as GIF.
fn film(run: &Run, wish: &Wish, target: &Target) -> Result<Vec<u8>, String> {
    if matches!(target, Target::Folder(..)) {
        return Err("a GIF shows all steps in one: name a file, not a folder".to_owned());
    }
    if wish.step.is_some() || wish.narrow || wish.view == View::Sequence {
        return Err("a GIF shows all steps of the machines, in the wide layout: \
                    --step, --narrow and --view are for SVG and PNG"
            .to_owned());
    }
    let scheme = if wish.theme == Some(Theme::Dark) { Scheme::Dark } else { Scheme::Light };
    let frames = run.frames.iter();
    let steps: Vec<Step<'_>> =
        frames.map(|it| Step { title: &it.title, time_ms: it.time_ms }).collect();
    let stills = animated::film(&storyboard(run), &steps, scheme, STILL_MS);
    gif(&stills, &Faces::default()).map_err(|fault| fault.to_string())
}

/// Each picture with its file.
fn pictures(run: &Run, wish: &Wish, target: &Target) -> Result<Vec<(PathBuf, Picture)>, String> {
    let drawn = || match wish.view {
        View::Cluster => storyboard(run).pictures,
        View::Sequence => sequence::parts(run),
    };
    let step = wish.step.map(|number| chosen::step(run, number)).transpose()?;
    match (target, step) {
        (Target::File(path, _), Some(step)) => Ok(vec![(path.clone(), drawn().swap_remove(step))]),
        (Target::File(path, _), None) if wish.view == View::Sequence => {
            Ok(vec![(path.clone(), sequence::whole(run))])
        }
        (Target::File(path, _), None) if run.frames.len() == 1 => {
            Ok(vec![(path.clone(), drawn().swap_remove(0))])
        }
        (Target::File(..), None) => Err(format!(
            "the run has {} steps, one picture each: choose one with --step, or name a folder",
            run.frames.len()
        )),
        (Target::Folder(path, format), step) => {
            let numbered = run.frames.iter().map(|frame| frame.number).zip(drawn()).enumerate();
            let chosen = numbered.filter(|(at, _)| step.is_none_or(|step| step == *at));
            let named = chosen.map(|(_, (number, picture))| {
                (path.join(format!("step-{number}.{}", format.ending())), picture)
            });
            Ok(named.collect())
        }
    }
}

fn encode(
    picture: &Picture,
    wish: &Wish,
    format: Format,
    faces: &Faces,
) -> Result<Vec<u8>, String> {
    let form = if wish.narrow { Form::Narrow } else { Form::Wide };
    let scheme = match (wish.theme, format) {
        (Some(Theme::Dark), _) => Scheme::Dark,
        (None, Format::Svg) => Scheme::Auto,
        (Some(Theme::Light) | None, _) => Scheme::Light,
    };
    let caption = Caption { title: &picture.title, description: &picture.description, id: "p" };
    let svg = svg::standalone(picture.scene(form), &caption, scheme);
    match format {
        Format::Svg => Ok(svg.into_bytes()),
        _ => faces.png(&svg).map_err(|fault| format!("{}: {fault}", picture.title)),
    }
}
