//! The sequence diagram: what holds for every run, whatever happens in it, and what a reader finds
//! in that of the write path.

use std::fs;
use std::sync::Arc;

use kafka_sim_site::diag::SourceFile;
use kafka_sim_site::diagram::scene::{Mark, Part, Rect, Shape, Stroke, Subject};
use kafka_sim_site::diagram::{Form, Picture, Scene, sequence};
use kafka_sim_site::scenario::run::Run;
use kafka_sim_site::scenario::{read, simulate};
use kafka_sim_site::sim::snapshot::MessageView;
use kafka_sim_site::sim::trace::TraceEvent;
use kafka_sim_site::sim::world::ConsumerSpec;

/// The main run of a scenario of the repository.
pub fn run(path: &str) -> Run {
    let text = fs::read_to_string(path).expect("the scenario is there");
    let (scenario, _) = read(&Arc::new(SourceFile::new(path, text)));
    let (simulated, report) = simulate(&scenario.expect("it is right"));
    assert!(!report.has_errors(), "{path}: {report:?}");
    simulated.expect("it is true").main
}

/// Every scenario whose values were seen on a running Kafka, and the shipped one.
fn runs() -> Vec<(String, Run)> {
    let mut paths: Vec<String> = fs::read_dir("tests/traces")
        .expect("they are there")
        .map(|entry| entry.expect("it can be read").path().display().to_string())
        .filter(|path| path.ends_with(".yaml"))
        .collect();
    paths.sort();
    paths.push("scenarios/anatomy/write-path.yaml".to_owned());
    paths.into_iter().map(|path| (path.clone(), run(&path))).collect()
}

fn words(item: &kafka_sim_site::diagram::scene::Item) -> Option<(String, Rect)> {
    let Shape::Text { runs, .. } = &item.shape else { return None };
    let text = runs.iter().map(|run| run.text.as_str()).collect::<Vec<_>>().join(" ");
    Some((text, item.shape.text_room()?))
}

/// The ends of the arrows, first to last.
fn arrows(scene: &Scene) -> Vec<(f64, f64)> {
    let ways = scene.items().filter(|item| item.part == Part::Way);
    ways.filter_map(|item| match &item.shape {
        Shape::Path(strokes) => match strokes.as_slice() {
            [Stroke::Move(from), Stroke::Line(to)] => Some((from.y, to.y)),
            _ => None,
        },
        _ => None,
    })
    .collect()
}

fn faults(scene: &Scene) -> Vec<String> {
    let mut faults = Vec::new();
    let view = scene.view();
    let texts: Vec<(String, Rect)> = scene.items().filter_map(words).collect();
    for (index, (text, room)) in texts.iter().enumerate() {
        if !view.contains(*room) {
            faults.push(format!("`{text}` leaves the view: {room:?} of {view:?}"));
        }
        for (other, second) in &texts[index + 1..] {
            if room.overlaps(*second) {
                faults.push(format!("`{text}` meets `{other}`"));
            }
        }
    }
    for (from, to) in arrows(scene) {
        if from > to {
            faults.push(format!("an arrow goes back in time: {from} to {to}"));
        }
    }
    for item in scene.items() {
        let Shape::Box { rect, .. } = item.shape else { continue };
        if !view.contains(rect) {
            faults.push(format!("{:?} leaves the view", item.part));
        }
    }
    faults
}

/// The heads of the columns.
fn heads(scene: &Scene) -> Vec<Rect> {
    let cards = scene.items().filter(|item| item.part == Part::Card);
    cards
        .filter_map(|item| if let Shape::Box { rect, .. } = item.shape { Some(rect) } else { None })
        .collect()
}

#[test]
fn whatever_happens_texts_have_room_and_time_goes_down() {
    let mut found = Vec::new();
    for (path, run) in runs() {
        let parts = sequence::parts(&run);
        assert_eq!(parts.len(), run.frames.len(), "{path}");
        let whole = sequence::whole(&run);
        for form in [Form::Wide, Form::Narrow] {
            let first = heads(parts[0].scene(form));
            for picture in parts.iter().chain([&whole]) {
                let scene = picture.scene(form);
                let name = &picture.title;
                found.extend(faults(scene).into_iter().map(|it| format!("{path} {name}: {it}")));
                assert_eq!(heads(scene), first, "{path}: {name}: a machine moved");
            }
            // Every part has the heads, the whole has them once.
            let over = first.iter().map(|head| head.bottom()).fold(0.0, f64::max) + 6.0;
            let sum: f64 = parts.iter().map(|part| part.scene(form).height - over).sum();
            assert!((sum + over - whole.scene(form).height).abs() < 0.1, "{path}");
        }
    }
    let shown = found.iter().take(30).cloned().collect::<Vec<_>>().join("\n");
    assert!(found.is_empty(), "{} faults:\n{shown}", found.len());
}

/// The texts of a diagram, each list of what is not drawn in one piece.
fn unwrapped(scene: &Scene) -> Vec<String> {
    let mut texts: Vec<(String, Rect)> = Vec::new();
    for (text, room) in scene.items().filter_map(words) {
        match texts.last_mut() {
            Some((list, above))
                if list.starts_with("not drawn: ")
                    && !text.starts_with("not drawn: ")
                    && (room.x - above.x).abs() < 0.1
                    && room.y - above.y < 20.0 =>
            {
                list.push(' ');
                list.push_str(&text);
                *above = room;
            }
            _ => texts.push((text, room)),
        }
    }
    texts.into_iter().map(|(text, _)| text).collect()
}

#[test]
fn every_message_is_drawn_or_counted() {
    for (path, run) in runs() {
        let whole = sequence::whole(&run);
        let mut sent = run.messages.len();
        let mut drawn = 0;
        for group in &whole.wide.groups {
            drawn += usize::from(matches!(group.subject, Subject::Message(_)));
        }
        let mut counted = 0;
        for text in unwrapped(&whole.wide) {
            let number = |text: &str| text.split(' ').next().and_then(|n| n.parse::<usize>().ok());
            if let Some((count, rest)) = text.split_once(" × ") {
                // A folded exchange is two messages, or one where it was lost; one arrow shows it.
                let each = if rest.contains(", lost") { 1 } else { 2 };
                counted += count.parse::<usize>().expect("a count") * each;
                drawn -= 1;
            }
            if let Some(list) = text.strip_prefix("not drawn: ") {
                let parts = list.split(", ").flat_map(|part| part.split(" and "));
                // An exchange is two messages.
                let each = |part: &str| if part.contains("message") { 1 } else { 2 };
                counted += parts.filter_map(|it| Some(number(it)? * each(it))).sum::<usize>();
            }
        }
        sent = sent.saturating_sub(drawn);
        // Chatter whose answer is still to come, or was lost, is one message and counted as two.
        assert!(counted >= sent, "{path}: {sent} messages are not drawn, {counted} are counted");
    }
}

#[test]
fn what_repeats_is_told_once() {
    let texts = |picture: &Picture| -> Vec<String> {
        picture.wide.items().filter_map(words).map(|(text, _)| text).collect()
    };
    let run = run("tests/traces/leader-crash.yaml");
    assert!(run.messages.len() > 800);
    for part in sequence::parts(&run) {
        let count = part.wide.items().filter(|item| item.part == Part::Way).count();
        assert!(count < 100, "{}: {count} arrows", part.title);
    }
    let all = sequence::parts(&run).iter().flat_map(texts).collect::<Vec<_>>();
    assert!(all.iter().any(|text| text.contains(" × fetch from ")), "{all:?}");
    assert!(all.iter().any(|text| text.contains("broker heartbeats")), "{all:?}");
    let cut = sequence::whole(&run).wide.items().filter(|it| it.mark != Mark::None).count();
    assert!(cut < 10, "{cut} texts are cut");
}

#[test]
fn a_request_that_waits_is_a_bar_until_its_answer_leaves() {
    let parts = sequence::parts(&run("scenarios/anatomy/write-path.yaml"));
    let bars = |step: usize| {
        let items = parts[step].wide.items().filter(|item| item.part == Part::Bar);
        items.count()
    };
    // At the leader: three fetches; those, anew, and the produce; the produce, the consumer's fetch
    // and two fetches from 1; these two; three fetches.
    assert_eq!([0, 1, 2, 3, 4, 5].map(bars), [0, 3, 4, 4, 2, 3]);
}

#[test]
fn what_a_killed_broker_held_waits_no_longer() {
    let run = run("tests/traces/leader-crash.yaml");
    let parts = sequence::parts(&run);
    // The second step's part has the kill; in the third, broker-1 is gone and broker-2 holds a
    // fetch and a produce request.
    assert!(parts[1].description.contains("the administrator: kills broker-1"));
    let bars = parts[2].wide.items().filter(|item| item.part == Part::Bar).count();
    assert_eq!(bars, 2);
}

#[test]
fn machines_that_are_many_share_the_last_line() {
    let mut run = run("scenarios/anatomy/write-path.yaml");
    // Thirty consumers that each commit once, and nobody else.
    let template =
        run.messages.iter().find(|one| one.kind == "offset_commit").expect("one").clone();
    let event = run.events.iter().find(|it| it.message == Some(template.id)).expect("it").clone();
    let consumer = run.world.groups[0].consumers[0].clone();
    run.messages.clear();
    run.events.clear();
    run.world.groups[0].consumers.clear();
    for number in 0..30u64 {
        let name = format!("reader-{number}");
        let from = kafka_sim_site::sim::ids::Machine::Client(name.clone());
        run.world.groups[0].consumers.push(ConsumerSpec { name, ..consumer.clone() });
        run.messages.push(MessageView { id: number, from, ..template.clone() });
        let message = Some(number);
        run.events.push(TraceEvent { sequence: number, message, ..event.clone() });
    }
    for picture in sequence::parts(&run).iter().chain([&sequence::whole(&run)]) {
        for (form, most) in [(Form::Wide, 20), (Form::Narrow, 9)] {
            let scene = picture.scene(form);
            assert_eq!(faults(scene), Vec::<String>::new(), "{}", picture.title);
            assert_eq!(heads(scene).len(), most);
            let texts: Vec<String> = scene.items().filter_map(words).map(|it| it.0).collect();
            let others = format!("{} others", 31 - (most - 1));
            assert!(texts.contains(&others), "{texts:?}");
        }
    }
}

#[test]
fn the_story_can_be_read() {
    let parts = sequence::parts(&run("scenarios/anatomy/write-path.yaml"));
    assert_eq!(parts[1].title, "Messages from step 1 to step 2 of 6: Producer batches");
    let text = &parts[3].description;
    for sentence in [
        "At 1.440 s, reader-1 sends to broker-1: commit offset 0.",
        "At 1.700 s, broker-2: orders-0 log end 0 → 1.",
        "broker-1: orders-0 high watermark 0 → 1. broker-1 sends to checkout: ack: offset 0.",
    ] {
        assert!(text.contains(sentence), "{text}");
    }
}
