//! How long the shipped scenario takes to be read, simulated and drawn:
//! `cargo bench --bench speed`.

use std::sync::Arc;

use divan::{Bencher, black_box};
use kafka_sim_site::diag::SourceFile;
use kafka_sim_site::diagram::png::Faces;
use kafka_sim_site::diagram::theme::Scheme;
use kafka_sim_site::diagram::{self, svg};
use kafka_sim_site::scenario::model::Scenario;
use kafka_sim_site::scenario::run::Run;
use kafka_sim_site::scenario::{read, simulate};

const PATH: &str = "scenarios/anatomy/write-path.yaml";

fn main() {
    divan::main();
}

fn file() -> Arc<SourceFile> {
    let text = include_str!("../scenarios/anatomy/write-path.yaml");
    Arc::new(SourceFile::new(PATH, text))
}

fn scenario() -> Scenario {
    let (scenario, report) = read(&file());
    assert!(!report.has_errors(), "{report:?}");
    scenario.expect("a file without errors gives a scenario")
}

fn whole_run() -> Run {
    let (simulated, report) = simulate(&scenario());
    assert!(!report.has_errors(), "{report:?}");
    simulated.expect("a run without errors gives frames").main
}

/// A run of one frame: the last, in which most is to be seen.
fn one_frame() -> Run {
    let mut run = whole_run();
    run.frames.drain(..run.frames.len() - 1);
    run
}

#[divan::bench]
fn read_one_scenario(bencher: Bencher) {
    let file = file();
    bencher.bench(|| read(black_box(&file)));
}

#[divan::bench]
fn simulate_one_scenario(bencher: Bencher) {
    let scenario = scenario();
    bencher.bench(|| simulate(black_box(&scenario)));
}

/// Lays out all pictures of the scenario's six steps, machines and messages, wide and narrow, and
/// writes them as SVG.
#[divan::bench]
fn lay_out_and_write_all_pictures(bencher: Bencher) {
    let run = whole_run();
    bencher.bench(|| {
        let storyboard = diagram::storyboard(black_box(&run));
        let sequence = diagram::sequence::parts(&run);
        let pictures = storyboard.pictures.iter().chain(&sequence);
        pictures
            .flat_map(|picture| {
                let (title, description) = (&picture.title, &picture.description);
                let caption = svg::Caption { title, description, id: "p" };
                [&picture.wide, &picture.narrow].map(|scene| svg::inline(scene, &caption))
            })
            .collect::<Vec<_>>()
    });
}

/// Draws one picture as PNG, faces included.
#[divan::bench]
fn draw_one_png(bencher: Bencher) {
    let picture = diagram::storyboard(&one_frame()).pictures.swap_remove(0);
    let caption = svg::Caption { title: "", description: "", id: "p" };
    let svg = svg::standalone(&picture.wide, &caption, Scheme::Light);
    bencher.bench(|| Faces::default().png(black_box(&svg)));
}

/// Lays out one picture in its wide and its narrow form, and writes the wide one as SVG.
#[divan::bench]
fn lay_out_and_write_one_picture(bencher: Bencher) {
    let run = one_frame();
    bencher.bench(|| {
        let storyboard = diagram::storyboard(black_box(&run));
        let picture = &storyboard.pictures[0];
        let caption =
            svg::Caption { title: &picture.title, description: &picture.description, id: "p" };
        svg::inline(&picture.wide, &caption)
    });
}
