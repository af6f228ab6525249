//! The share card of a scenario: a PNG whose name says its content, so that one which was drawn
//! before is taken over instead of being drawn again.

use crate::diagram::Storyboard;
use crate::diagram::card::{Words, card};
use crate::diagram::png::{DRAWN_BY, Faces, Fault};
use crate::scenario::model::Scenario;
use crate::scenario::run::Run;

use super::OutputFile;
use super::assets::hash;
use super::index::LevelView;
use super::page::KAFKA;

/// Width and height of a card, in pixels.
pub const CARD: (u32, u32) = (1200, 630);

/// Whether share cards are drawn.
#[derive(Clone, Copy, Default)]
pub enum Cards<'a> {
    /// They are left out.
    #[default]
    None,
    /// They are drawn, but for those of which the function returns the bytes: it is given the path
    /// under the site's root.
    Drawn(&'a (dyn Fn(&str) -> Option<Vec<u8>> + Sync)),
}

impl std::fmt::Debug for Cards<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(match self {
            Cards::None => "None",
            Cards::Drawn(_) => "Drawn",
        })
    }
}

/// The card of a scenario.
///
/// # Errors
/// That it cannot be drawn; the pages do without.
pub fn file(
    scenario: &Scenario,
    (run, board): (&Run, &Storyboard),
    site: &str,
    kept: &dyn Fn(&str) -> Option<Vec<u8>>,
) -> Result<OutputFile, Fault> {
    // The step that a question leads up to is what the scenario is about.
    let decisive = run.frames.iter().position(|frame| frame.ask.is_some());
    let picture = &board.pictures[decisive.unwrap_or(run.frames.len() - 1)];
    let note = format!("{} · Apache Kafka {KAFKA}", LevelView::of(scenario.level).word);
    let words = Words { site, note: &note, title: &scenario.title };
    let svg = card(&picture.wide, words);
    let hash = hash(format!("{DRAWN_BY}{svg}").as_bytes());
    let path = format!("scenarios/{}/card-{hash:08x}.png", scenario.slug);
    let drawn = kept(&path).map_or_else(|| Faces::default().png(&svg), Ok);
    Ok(OutputFile { path, bytes: drawn? })
}
