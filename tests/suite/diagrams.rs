//! Pictures: what the write path shows, what fits and where, and that nothing is dropped when
//! drawn.

#[path = "diagrams/dense.rs"]
mod dense;
#[path = "diagrams/members.rs"]
mod members;
#[path = "diagrams/messages.rs"]
mod messages;
#[path = "diagrams/raster.rs"]
mod raster;
#[path = "diagrams/regular.rs"]
mod regular;
#[path = "diagrams/rules.rs"]
mod rules;
#[path = "diagrams/sequence.rs"]
mod sequence;
#[path = "diagrams/simulated.rs"]
mod simulated;
#[path = "diagrams/states.rs"]
mod states;
#[path = "diagrams/twins.rs"]
mod twins;
#[path = "diagrams/worlds.rs"]
mod worlds;
#[path = "diagrams/write_path.rs"]
mod write_path;

use kafka_sim_site::diagram::scene::{Item, Mark, Part, Role, Shape, Subject};
use kafka_sim_site::diagram::svg::{self, Caption};
use kafka_sim_site::diagram::theme::Scheme;
use kafka_sim_site::diagram::{Form, Scene, Storyboard, changes, storyboard};
use kafka_sim_site::scenario::run::{Change, Frame, Run};
use kafka_sim_site::sim::snapshot::Snapshot;
use serde_json::json;

fn caption<'a>(board: &'a Storyboard, step: usize, id: &'a str) -> Caption<'a> {
    let picture = &board.pictures[step];
    Caption { title: &picture.title, description: &picture.description, id }
}

/// A step of a run, at a time in milliseconds, without texts.
fn frame(
    (number, time_ms): (u32, u64),
    title: &str,
    snapshot: Snapshot,
    changed: Vec<Change>,
) -> Frame {
    Frame {
        number,
        time_ms,
        title: title.to_owned(),
        text: String::new(),
        ask: None,
        answer: None,
        simplified: None,
        configs: Vec::new(),
        cite: Vec::new(),
        statement_count: 0,
        tree: (&snapshot).into(),
        snapshot,
        changed,
    }
}

/// Worlds that are drawn in full.
const FULL: worlds::Size = worlds::Size { brokers: 6, lanes: 12, clients: 8 };

#[test]
fn random_worlds_fit_and_keep_their_places() {
    let mut bad = Vec::new();
    let mut dense = [0, 0];
    for seed in 0..800 {
        let run = worlds::run(seed, &FULL);
        let board = storyboard(&run);
        for form in [Form::Wide, Form::Narrow] {
            let scenes: Vec<&Scene> =
                board.pictures.iter().map(|picture| picture.scene(form)).collect();
            for scene in &scenes {
                bad.extend(rules::faults(scene).into_iter().map(|fault| (seed, form, fault)));
            }
            let first = rules::places(scenes[0]);
            dense[form as usize] += usize::from(rules::is_dense(scenes[0]));
            for scene in &scenes {
                let moved = rules::places(scene)
                    .into_iter()
                    .find(|(name, place)| first.get(name).is_some_and(|before| before != place));
                assert_eq!(moved, None, "seed {seed}, {form:?}: something moved");
                assert_eq!((scene.width, scene.height), (scenes[0].width, scenes[0].height));
            }
        }
    }
    assert!(dense[0] < 16 && dense[1] < 80, "{dense:?} of 800 worlds are not drawn in full");
    let count = bad.len();
    let shown: Vec<String> = bad.iter().take(40).map(|one| format!("{one:?}")).collect();
    assert!(bad.is_empty(), "{count} faults:\n{}", shown.join("\n"));
}

#[test]
fn the_six_pictures_of_the_write_path_obey_the_rules() {
    for picture in storyboard(&write_path::run()).pictures {
        for form in [Form::Wide, Form::Narrow] {
            assert_eq!(
                rules::faults(picture.scene(form)),
                Vec::<String>::new(),
                "{}",
                picture.title
            );
        }
    }
}

/// The words in a group of a picture.
fn words(scene: &Scene, subject: &Subject) -> Vec<String> {
    let groups = scene.groups.iter().filter(|group| &group.subject == subject);
    groups
        .flat_map(|group| &group.items)
        .filter_map(|item| match &item.shape {
            Shape::Text { runs, .. } => {
                Some(runs.iter().map(|run| run.text.as_str()).collect::<Vec<_>>().join(" "))
            }
            _ => None,
        })
        .collect()
}

#[test]
fn a_follower_shows_the_high_watermark_that_it_knows() {
    let board = storyboard(&write_path::run());
    let words =
        |replica: &str| words(&board.pictures[3].wide, &Subject::Replica(replica.to_owned()));
    assert_eq!(
        words("orders-0@1"),
        ["orders-0", "0", "order-17", "HW 1", "LEO 1", "position 0", "committed 0"]
    );
    assert_eq!(words("orders-0@2"), ["orders-0", "0", "order-17", "HW 0", "LEO 1"]);
}

#[test]
fn words_beside_rails_say_what_moves_and_what_waits() {
    let board = storyboard(&write_path::run());
    let said: Vec<Vec<String>> =
        board.pictures.iter().map(|picture| words(&picture.narrow, &Subject::Labels)).collect();
    assert_eq!(said[0], ["fetch from\u{a0}0"; 3]);
    assert_eq!(said[1], ["sends at 1.100\u{a0}s", "empty reply", "empty reply", "empty reply"]);
    assert_eq!(
        said[2],
        ["waits for replicas", "fetch waits", "reply with 1 record", "reply with 1 record"]
    );
    assert_eq!(
        said[3],
        ["ack: offset\u{a0}0", "empty reply", "fetch from 1 waits", "fetch from 1 waits"]
    );
}

#[test]
fn the_trail_is_orange_until_the_record_is_committed() {
    let board = storyboard(&write_path::run());
    let trail: Vec<Vec<Role>> = board
        .pictures
        .iter()
        .map(|picture| {
            let trail = picture.wide.items().filter(|item| item.part == Part::Trail);
            trail.map(|item| item.role).collect()
        })
        .collect();
    let expected: [&[Role]; 6] =
        [&[], &[], &[Role::Pending], &[Role::Ok; 3], &[Role::Ok; 4], &[Role::Ok; 4]];
    assert_eq!(trail, expected);
}

#[test]
fn one_cause_has_one_ring() {
    let board = storyboard(&write_path::run());
    let rings: Vec<usize> = board
        .pictures
        .iter()
        .map(|picture| picture.wide.items().filter(|item| item.part == Part::Ring).count())
        .collect();
    // Buffer; record and in flight; high watermark, two records, committed, lag; in flight, acked,
    // slot, read, position, two known high watermarks; committed, lag.
    assert_eq!(rings, [0, 1, 2, 5, 7, 2]);
}

#[test]
fn changes_are_said_in_words_and_followers_that_changed_alike_share_a_line() {
    let run = write_path::run();
    let lines: Vec<Vec<String>> = run
        .frames
        .iter()
        .map(|frame| {
            let lines = changes::list(frame);
            lines.iter().map(|line| format!("{} {} → {}", line.what, line.from, line.to)).collect()
        })
        .collect();
    assert_eq!(lines[0], Vec::<String>::new());
    assert_eq!(lines[1], ["checkout, records in the buffer 0 → 1"]);
    assert_eq!(
        lines[3],
        [
            "orders-0, high watermark 0 → 1",
            "broker-2 and broker-3, log end offset 0 → 1",
            "analytics, committed offset none → 0",
            "analytics, lag none → 1",
        ]
    );
    assert!(lines[4].contains(&"broker-2 and broker-3, known high watermark 0 → 1".to_owned()));
    assert!(lines[4].contains(&"checkout, records acknowledged 0 → 1".to_owned()));
}

#[test]
fn the_list_begins_with_what_weighs_most_and_leaves_out_what_repeats() {
    let mut run = write_path::run();
    let change = |path: &str, from: serde_json::Value, to: serde_json::Value| Change {
        path: path.to_owned(),
        from: Some(from).filter(|value| !value.is_null()),
        to: Some(to).filter(|value| !value.is_null()),
    };
    run.frames[5].changed = vec![
        change("partitions.orders-0.segments", json!(1), json!(null)),
        change("partitions.orders-0.log_start_offset", json!(0), json!(null)),
        change("partitions.orders-0.log_end_offset", json!(1), json!(null)),
        change("partitions.orders-0.high_watermark", json!(1), json!(null)),
        change("partitions.orders-0.leader_epoch", json!(0), json!(1)),
        change("partitions.orders-0.leader", json!(1), json!(2)),
        change("groups.analytics.assignor", json!(null), json!("range")),
        change("producers.checkout.acked", json!(0), json!(1)),
        change("brokers.1.process", json!("up"), json!("stopped")),
    ];
    let lines = changes::list(&run.frames[5]);
    let told: Vec<String> =
        lines.iter().map(|line| format!("{} {} → {}", line.what, line.from, line.to)).collect();
    assert_eq!(
        told,
        [
            "broker-1, process up → stopped",
            "orders-0, leader 1 → 2",
            "orders-0, leader epoch 0 → 1",
            "orders-0, high watermark 1 → none",
            "orders-0, log end offset 1 → none",
            "checkout, records acknowledged 0 → 1",
        ]
    );
}

#[test]
fn a_brokers_own_belief_and_a_stall_are_said() {
    let mut run = write_path::run();
    let partitions = &mut run.frames[5].snapshot.partitions;
    let partition = partitions.get_mut(&write_path::orders()).expect("it is declared");
    partition.leader = Some(kafka_sim_site::sim::ids::BrokerId(2));
    partition.leader_epoch = kafka_sim_site::sim::ids::LeaderEpoch(1);
    let third = kafka_sim_site::sim::ids::BrokerId(3);
    partition.replicas.get_mut(&third).expect("it is declared").stalled = true;
    let board = storyboard(&run);
    let badges: Vec<String> = (1..=3)
        .map(|id| words(&board.pictures[5].narrow, &Subject::Broker(id)).pop().expect("a badge"))
        .collect();
    let said =
        [["believes it leads", "old leader"], ["elected", "leader, epoch 1 (not yet aware)"]];
    for (badge, texts) in badges.iter().zip(said) {
        assert!(texts.iter().any(|text| badge.starts_with(text)), "{badges:?}");
    }
    assert_eq!(badges[2], "stalled, in sync");
    let tables = kafka_sim_site::diagram::table::tables(&run.frames[5].snapshot, None);
    let columns: Vec<&str> = tables[0].columns.iter().map(|column| column.title).collect();
    assert_eq!(columns[..2], ["believes it is", "controller has it as"]);
    assert!(columns.contains(&"stalled"));
    let row = |at: usize| [0, 1].map(|cell| tables[0].rows[at].cells[cell].text.as_str());
    assert_eq!([row(0), row(1)], [["leader", "follower"], ["follower", "leader"]]);
}

#[test]
fn ordinary_names_stand_whole_and_longer_ones_in_a_title() {
    let mut run = write_path::run();
    run.world.groups[0].consumers[0].name = "book-keeper".to_owned();
    let board = storyboard(&run);
    let name = |board: &Storyboard, form, client: &str| {
        words(board.pictures[0].scene(form), &Subject::Client(client.to_owned())).remove(0)
    };
    for form in [Form::Wide, Form::Narrow] {
        assert_eq!(name(&board, form, "book-keeper"), "book-keeper");
    }
    let long = "fraud-detection-worker-12";
    run.world.groups[0].consumers[0].name = long.to_owned();
    let board = storyboard(&run);
    assert!(name(&board, Form::Wide, long).contains('…'));
    let svg = svg::inline(&board.pictures[0].wide, &caption(&board, 0, "a"));
    assert!(svg.contains(&format!("<title>{long}</title>")));
}

#[test]
fn moves_have_a_rail_in_both_layouts() {
    let run = write_path::run();
    let board = storyboard(&run);
    // All but the commit, which is told only where the coordinator has a rail of its own.
    assert_eq!(board.moves.len(), run.messages.len() - 1);
    for picture in &board.pictures {
        for form in [Form::Wide, Form::Narrow] {
            let scene = picture.scene(form);
            for found in &board.moves {
                let is_rail = |item: &Item| item.mark == Mark::Rail(found.rail.clone());
                assert!(scene.items().any(is_rail), "{} in {form:?}", found.rail);
            }
        }
    }
    let told =
        |at: u64| board.moves.iter().find(|found| found.sent_ms == at && found.role != "quiet");
    let produce = told(1100).unwrap();
    assert_eq!(
        (produce.rail.as_str(), produce.back, produce.role),
        ("checkout:broker-1", false, "pend")
    );
    let copy = told(1400).unwrap();
    assert_eq!((copy.rail.as_str(), copy.back), ("broker-1:broker-2", false));
    assert_eq!((copy.role, copy.token.as_deref()), ("pend", Some("0")));
    let ack = told(2000).unwrap();
    assert_eq!((ack.back, ack.role, ack.token.as_deref()), (true, "ok", None));
}

#[test]
fn the_same_run_gives_the_same_bytes() {
    let draw = || {
        let board = storyboard(&write_path::run());
        svg::inline(&board.pictures[3].wide, &caption(&board, 3, "a"))
    };
    assert_eq!(draw(), draw());
    assert!(!draw().contains("style="), "a page allows no inline style");
}

#[test]
fn all_pictures_of_a_walkthrough_compress_to_less_than_16_kb() {
    use std::io::Write as _;
    let board = storyboard(&write_path::run());
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    let simulated = sequence::run("scenarios/anatomy/write-path.yaml");
    let messages = kafka_sim_site::diagram::sequence::parts(&simulated);
    for picture in board.pictures.iter().chain(&messages) {
        for scene in [&picture.wide, &picture.narrow] {
            let (title, description) = (&picture.title, &picture.description);
            let svg = svg::inline(scene, &Caption { title, description, id: "a" });
            packed.write_all(svg.as_bytes()).expect("memory takes it");
        }
    }
    let bytes = packed.finish().expect("memory takes it").len();
    assert!(bytes < 16 * 1024, "{bytes} bytes");
}

#[test]
fn an_error_is_red_and_stands_whole_beside_its_rail() {
    let mut run = write_path::run();
    let reply = run.frames[3].snapshot.messages.iter_mut();
    for message in reply.filter(|message| message.kind == "produce_response") {
        message.error = Some("NOT_ENOUGH_REPLICAS".to_owned());
    }
    let board = storyboard(&run);
    let said = words(&board.pictures[3].wide, &Subject::Labels);
    assert_eq!(said[..3], ["NOT_", "ENOUGH_", "REPLICAS"]);
    let head = board.pictures[3]
        .wide
        .items()
        .find(|item| item.part == Part::Head && item.role == Role::Bad);
    assert!(head.is_some());
    assert_eq!(rules::faults(&board.pictures[3].wide), Vec::<String>::new());
}

#[test]
fn a_stopped_leader_is_crossed_and_says_so() {
    let mut run = write_path::run();
    let snapshot = &mut run.frames[5].snapshot;
    let one = kafka_sim_site::sim::ids::BrokerId(1);
    let broker = snapshot.brokers.get_mut(&one).expect("it is declared");
    broker.process = kafka_sim_site::sim::snapshot::ProcessState::Stopped;
    let partition = snapshot.partitions.get_mut(&write_path::orders()).expect("it is declared");
    partition.leader = Some(kafka_sim_site::sim::ids::BrokerId(2));
    partition.isr = vec![kafka_sim_site::sim::ids::BrokerId(2)];
    let second = partition.replicas.get_mut(&kafka_sim_site::sim::ids::BrokerId(2));
    second.expect("it is declared").role = kafka_sim_site::sim::snapshot::ReplicaRole::Leader;
    let board = storyboard(&run);
    let scene = &board.pictures[5].wide;
    assert_eq!(words(scene, &Subject::Broker(1)), ["broker-1 rack-a", "stopped"]);
    assert_eq!(words(scene, &Subject::Broker(2)), ["broker-2 rack-b", "leader, epoch 0"]);
    assert_eq!(words(scene, &Subject::Broker(3)), ["broker-3 rack-c", "out of ISR"]);
    assert!(scene.items().any(|item| item.part == Part::Cross));
    let off = scene.items().filter(|item| item.part == Part::Record && item.role == Role::Off);
    assert_eq!(off.count(), 1);
    let described = &board.pictures[5].description;
    assert!(described.contains(
        "broker-1 is stopped. broker-2 leads orders-0 in epoch 0; 1 of 3 replicas in sync"
    ));
}

/// A few whole pictures, reviewed as files: `SNAPSHOTS=overwrite cargo test` writes them anew.
#[test]
fn step_four_is_drawn_as_reviewed() {
    let board = storyboard(&write_path::run());
    let picture = &board.pictures[3];
    let caption = caption(&board, 3, "step-4");
    for (scene, name) in [(&picture.wide, "wide"), (&picture.narrow, "narrow")] {
        let svg = svg::standalone(scene, &caption, Scheme::Auto).replace("><", ">\n<");
        let file = format!("{}/tests/golden/step-4-{name}.svg", env!("CARGO_MANIFEST_DIR"));
        snapbox::assert_data_eq!(svg, snapbox::Data::read_from(file.as_ref(), None).raw());
    }
}

#[test]
fn a_run_without_anything_is_a_picture_too() {
    let mut run = write_path::run();
    run.world = kafka_sim_site::sim::world::World::default();
    for frame in &mut run.frames {
        frame.snapshot = kafka_sim_site::sim::snapshot::Snapshot::default();
    }
    assert_eq!(storyboard(&run).pictures.len(), 6);
    run.world.brokers.clear();
    assert_eq!(storyboard(&run).pictures.len(), 6);
}

/// Writes its pages into the folder that `PICTURES` names, for people to look at.
#[test]
fn a_page_shows_both_layouts_of_every_step() {
    let seeds = std::env::var("SEEDS").unwrap_or("1 2 3".to_owned());
    let seeds = seeds.split(' ').map(|seed| seed.parse().expect("SEEDS are numbers"));
    let mut runs = vec![("path".to_owned(), write_path::run())];
    runs.extend(seeds.map(|seed| (format!("seed{seed}"), worlds::run(seed, &FULL))));
    for (name, run) in runs {
        for theme in ["light", "dark"] {
            let page = page(&run, theme);
            assert_eq!(page.matches("role=\"img\"").count(), 2 * run.frames.len());
            if let Ok(folder) = std::env::var("PICTURES") {
                let path = std::path::Path::new(&folder).join(format!("{name}-{theme}.html"));
                std::fs::write(path, page).expect("PICTURES is a folder");
            }
        }
    }
}

fn page(run: &Run, theme: &str) -> String {
    let board = storyboard(run);
    let mut page = format!(
        "<!doctype html><html data-theme={theme}><meta charset=utf-8>\
         <link rel=stylesheet href=site.css>\
         <style>.one .k{{display:block!important;max-width:none!important}}</style>\
         <body style='background:var(--paper)'>"
    );
    for (step, picture) in board.pictures.iter().enumerate() {
        let caption = caption(&board, step, "a");
        page += "<div style='display:flex;gap:30px;padding:20px;align-items:start'>";
        for scene in [&picture.wide, &picture.narrow] {
            let svg = svg::inline(scene, &caption);
            let width = scene.width + 4.0;
            page.extend([format!("<div class=one style='width:{width}px'>{svg}</div>")]);
        }
        page.extend([format!("</div><p>{}</p><ul>", caption.description)]);
        for line in changes::list(&run.frames[step]) {
            page.extend([format!("<li>{} {} → {}", line.what, line.from, line.to)]);
        }
        page += "</ul>";
    }
    page
}
