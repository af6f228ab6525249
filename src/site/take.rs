//! What a player shows besides the main run, when its switch is turned: a variant alone, and a
//! variant beside the main run, stepped in lockstep. Knows no player and no page.

use serde::Serialize;

use crate::diagram::{self, NarrowPlan, Storyboard};
use crate::scenario::model::{Scenario, Variant};
use crate::scenario::run::{Simulated, VariantRun};

use super::address::Address;
use super::piece;
use super::step::{self, StepView};
use super::what_if::{self, LockstepView};

/// A variant in a player.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TakeView {
    /// The variant's id.
    pub id: String,
    /// What sets it apart: `acks=1`.
    pub label: String,
    /// What sets the main run apart from it: `acks=all`.
    pub main_label: String,
    /// Its steps.
    pub steps: Vec<StepView>,
    /// Its steps beside those of the main run.
    pub lockstep: Vec<LockstepView>,
}

/// A variant's take with what is drawn of it.
#[derive(Clone, Debug)]
pub struct Take {
    /// For templates.
    pub view: TakeView,
    /// For the messages that move.
    pub board: Storyboard,
}

/// A take for each variant. The texts have their links from the folder of `page`.
#[must_use]
pub fn takes(scenario: &Scenario, simulated: &Simulated, page: &Address) -> Vec<Take> {
    let variants = scenario.variants.iter().zip(&simulated.variants);
    let main = NarrowPlan::of(&simulated.main);
    let take = |(written, variant): (&Variant, &VariantRun)| {
        let board = diagram::storyboard(&variant.run);
        let pictures = piece::inline(&board.pictures);
        let frames = variant.run.frames.iter().zip(pictures);
        // The mistakes in its texts are told where the walkthrough shows them.
        let mut steps = step::steps(frames, &written.script, page).views;
        let sequence = piece::inline(&diagram::sequence::parts(&variant.run));
        for (view, sequence) in steps.iter_mut().zip(sequence) {
            view.sequence = sequence;
        }
        let (main_label, label) = what_if::labels_of(&simulated.main, variant);
        let lockstep = what_if::lockstep(&main, variant);
        let view = TakeView { id: written.id.clone(), label, main_label, steps, lockstep };
        Take { view, board }
    };
    variants.map(take).collect()
}
