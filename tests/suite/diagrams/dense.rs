//! The dense form: what is too much to draw in full.

use kafka_sim_site::diagram::scene::{Part, Subject};
use kafka_sim_site::diagram::{Form, Scene, storyboard};
use kafka_sim_site::scenario::run::Run;
use kafka_sim_site::sim::ids::BrokerId;

use super::regular::regular;
use super::{rules, words, worlds};

/// Larger than anything that a reader has to see.
const LARGE: worlds::Size = worlds::Size { brokers: 14, lanes: 200, clients: 9 };

/// Twelve brokers, 48 partitions with three replicas each, eight clients.
fn full_house() -> Run {
    regular(12, 48, 8)
}

#[test]
fn what_is_too_much_for_the_full_form_is_a_grid_that_fits_and_keeps_its_places() {
    let mut dense = 0;
    for seed in 0..300 {
        let board = storyboard(&worlds::run(seed, &LARGE));
        for form in [Form::Wide, Form::Narrow] {
            let scenes: Vec<&Scene> = board.pictures.iter().map(|one| one.scene(form)).collect();
            let first = rules::places(scenes[0]);
            for scene in scenes {
                assert_eq!(rules::faults(scene), Vec::<String>::new(), "seed {seed}, {form:?}");
                let places = rules::places(scene);
                let moved = places
                    .iter()
                    .find(|(name, place)| first.get(*name).is_some_and(|before| before != *place));
                assert_eq!(moved, None, "seed {seed}, {form:?}");
                dense += usize::from(rules::is_dense(scene));
            }
        }
    }
    assert!(dense > 300);
}

#[test]
fn a_full_house_shows_leader_isr_lag_and_all_clients() {
    let run = full_house();
    let board = storyboard(&run);
    for form in [Form::Wide, Form::Narrow] {
        let scene = board.pictures[0].scene(form);
        assert_eq!(rules::faults(scene), Vec::<String>::new());
        assert!(rules::is_dense(scene));
        let count = |part: Part| scene.items().filter(|item| item.part == part).count();
        assert_eq!((count(Part::CellLead), count(Part::CellSync)), (48, 95), "{form:?}");
        assert_eq!(count(Part::CellOut), 1, "one replica is out of the ISR");
        let clients = scene.groups.iter();
        let clients = clients.filter(|group| matches!(group.subject, Subject::Client(_)));
        assert_eq!(clients.count(), 8);
        let stage = words(scene, &Subject::Stage);
        assert!(stage.iter().any(|text| text == "17"), "the lag in orders-5: {stage:?}");
        let replica = words(scene, &Subject::Replica("orders-5@6".to_owned()));
        assert!(replica.last().is_some_and(|text| text.ends_with('9')), "{replica:?}");
    }
}

#[test]
fn only_what_has_changed_is_ringed() {
    let board = storyboard(&full_house());
    for form in [Form::Wide, Form::Narrow] {
        let rings = |step: usize| {
            let scene = board.pictures[step].scene(form);
            let ringed = scene.groups.iter().filter(|group| {
                matches!(group.subject, Subject::Replica(_))
                    && group.items.iter().any(|item| item.part == Part::Ring)
            });
            ringed.map(|group| group.subject.clone()).collect::<Vec<Subject>>()
        };
        assert_eq!(rings(0), []);
        assert_eq!(rings(1), [Subject::Replica("orders-5@8".to_owned())]);
    }
}

#[test]
fn wide_columns_show_a_strip_of_each_log() {
    let board = storyboard(&regular(3, 11, 2));
    let scene = &board.pictures[0].wide;
    let squares = scene.items().filter(|item| item.part == Part::Cell).count();
    // A bar for each leader and the committed records of each replica.
    assert_eq!(squares, 11 + 33);
    let narrow = &board.pictures[0].narrow;
    assert_eq!(narrow.items().filter(|item| item.part == Part::Cell).count(), 11);
}

#[test]
fn a_stopped_broker_and_a_partition_without_a_leader_say_so() {
    let mut run = full_house();
    let snapshot = &mut run.frames[1].snapshot;
    let broker = snapshot.brokers.get_mut(&BrokerId(3)).expect("it is declared");
    broker.process = kafka_sim_site::sim::snapshot::ProcessState::Stopped;
    let name = kafka_sim_site::sim::ids::TopicPartition::new("orders", 2);
    snapshot.partitions.get_mut(&name).expect("it is declared").leader = None;
    let board = storyboard(&run);
    for form in [Form::Wide, Form::Narrow] {
        let scene = board.pictures[1].scene(form);
        assert_eq!(rules::faults(scene), Vec::<String>::new());
        let stage = words(scene, &Subject::Stage);
        assert!(stage.contains(&"no leader".to_owned()), "{form:?}");
        let head = words(scene, &Subject::Broker(3));
        let says = |texts: &[String]| texts.iter().any(|text| text.contains("stopped"));
        assert!(says(&head) || says(&stage), "{head:?}");
        let off = scene.items().filter(|item| item.part == Part::CellStop).count();
        assert_eq!(off, 1 + 12, "its head and its replicas are grey");
    }
}
