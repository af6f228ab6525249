//! Pictures of random clusters that were really simulated, with random settings, loads and faults.

use kafka_sim_site::diagram::{Form, storyboard};
use kafka_sim_site::fuzz::case;
use kafka_sim_site::scenario::diff;
use kafka_sim_site::scenario::run::{Frame, Run};
use kafka_sim_site::sim::{Scope, Sim};

use super::rules;

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
        let tree = (&snapshot).into();
        let before = frames.last();
        let changed = before.map_or_else(Vec::new, |before| diff::changes(&before.tree, &tree));
        frames.push(Frame {
            number: u32::try_from(step).expect("few steps") + 1,
            time_ms: sim.now_ms().unwrap_or(0),
            title: "A step".to_owned(),
            text: String::new(),
            ask: None,
            answer: None,
            simplified: None,
            configs: Vec::new(),
            cite: Vec::new(),
            statement_count: 0,
            tree,
            snapshot,
            changed: diff::readable(&changed),
        });
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
