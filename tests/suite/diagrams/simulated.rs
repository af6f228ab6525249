//! Pictures of random clusters that were really simulated, with random settings, loads and faults.

use kafka_sim_site::diagram::{Form, storyboard};
use kafka_sim_site::fuzz::case;
use kafka_sim_site::scenario::diff;
use kafka_sim_site::scenario::run::{Frame, Run};
use kafka_sim_site::sim::{Scope, Sim};

use super::{frame, rules};

/// How many worlds, and how many steps each run has.
const SEEDS: u64 = 150;
const STEPS: u64 = 5;

/// The run of a seed's world, with steps spread over its first half minute.
fn run(seed: u64) -> Run {
    let case = case(seed);
    let mut sim = Sim::new(case.world.clone(), case.deeds);
    let mut frames: Vec<Frame> = Vec::new();
    for step in 0..STEPS {
        // A little beside the full second, where messages are under way.
        let time_ms = case.end_ms.min(30_000) * step / STEPS + step * 7;
        while let Some(next) = sim.next_event_ms().filter(|next| *next <= time_ms) {
            sim.run_millisecond(next).expect("no rule breaks");
        }
        let snapshot = sim.snapshot(&Scope::All);
        let number = u32::try_from(step).expect("few steps") + 1;
        let time_ms = sim.now_ms().unwrap_or(0);
        let mut frame = frame((number, time_ms), "A step", snapshot, Vec::new());
        if let Some(before) = frames.last() {
            frame.changed = diff::readable(&diff::changes(&before.tree, &frame.tree));
        }
        frames.push(frame);
    }
    let messages = sim.take_messages();
    Run { world: case.world, frames, events: Vec::new(), messages, follow: None }
}

#[test]
fn simulated_worlds_fit_and_keep_their_places() {
    let mut dense = 0;
    for seed in 0..SEEDS {
        let board = storyboard(&run(seed));
        for form in [Form::Wide, Form::Narrow] {
            let first = rules::places(board.pictures[0].scene(form));
            for picture in &board.pictures {
                let scene = picture.scene(form);
                assert_eq!(rules::faults(scene), Vec::<String>::new(), "seed {seed}, {form:?}");
                let places = rules::places(scene);
                let moved = places
                    .iter()
                    .find(|(name, place)| first.get(*name).is_some_and(|was| was != *place));
                assert_eq!(moved, None, "seed {seed}, {form:?}: something moved");
                dense += usize::from(rules::is_dense(scene));
            }
        }
    }
    let all =
        usize::try_from(SEEDS * 2).expect("few seeds") * usize::try_from(STEPS).expect("few steps");
    assert!((all / 10..9 * all / 10).contains(&dense), "{dense} of {all} are dense");
}
