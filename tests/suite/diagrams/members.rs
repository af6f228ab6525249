//! Groups: who reads what, what changes hands, and in which generation.

use kafka_sim_site::diagram::describe;
use kafka_sim_site::diagram::scene::Subject;
use kafka_sim_site::diagram::{Form, storyboard, table};
use kafka_sim_site::scenario::run::Run;
use kafka_sim_site::sim::ids::Offset;
use kafka_sim_site::sim::snapshot::{ConsumerState, ConsumerView, ShareRecordView, ShareView};
use kafka_sim_site::sim::world::{ConsumerSpec, Protocol};

use super::{rules, words, write_path};

/// The write path with a second reader, to whom the group has just given the only partition; the
/// first one still reads it.
fn handed_over() -> Run {
    let mut run = write_path::run();
    let first = run.world.groups[0].consumers[0].clone();
    let second = ConsumerSpec { name: "reader-2".to_owned(), ..first };
    run.world.groups[0].consumers.push(second);
    for frame in &mut run.frames {
        let member = ConsumerView {
            state: ConsumerState::Joining,
            group: "analytics".to_owned(),
            epoch: 3,
            ..ConsumerView::default()
        };
        frame.snapshot.consumers.insert("reader-2".to_owned(), member);
    }
    let snapshot = &mut run.frames[5].snapshot;
    let group = snapshot.groups.get_mut("analytics").expect("it is declared");
    group.state = Some("Reconciling".to_owned());
    group.epoch = Some(3);
    group.owners = [("reader-2".to_owned(), vec![write_path::orders()])].into();
    let reader = snapshot.consumers.get_mut("reader-1").expect("it is declared");
    reader.revoking = vec![write_path::orders()];
    reader.epoch = 2;
    run
}

#[test]
fn who_gives_a_partition_up_and_who_gets_it_is_seen_in_every_form() {
    let board = storyboard(&handed_over());
    for form in [Form::Wide, Form::Narrow] {
        let scene = board.pictures[5].scene(form);
        assert_eq!(rules::faults(scene), Vec::<String>::new());
        let of = |name: &str| words(scene, &Subject::Client(name.to_owned())).join("|");
        let first = of("reader-1");
        for fact in ["reads|0", "gives up|0", "gen"] {
            assert!(first.contains(fact), "{fact}: {first}");
        }
        assert!(first.ends_with("|2"), "the generation that it knows: {first}");
        let second = of("reader-2");
        for fact in ["reads|none", "assigned|0", "gen"] {
            assert!(second.contains(fact), "{fact}: {second}");
        }
        let line = words(scene, &Subject::Members("analytics".to_owned())).join("|");
        let generation = if form == Form::Wide { "generation 3" } else { "g3" };
        assert_eq!(line, format!("analytics {generation}|Reconciling"));
        let leader = words(scene, &Subject::Replica("orders-0@1".to_owned()));
        assert!(leader.iter().any(|text| text.starts_with("reader-1: gives up at")), "{leader:?}");
    }
}

#[test]
fn the_twins_tell_who_gives_a_partition_up() {
    let run = handed_over();
    let text = describe::description(&run, &run.frames[5]);
    assert!(text.contains("knows epoch 2, has to give up orders-0"), "{text}");
    assert!(text.contains("does not read orders-0, assigned to it"), "{text}");
    let tables = table::tables(&run.frames[5].snapshot, None);
    let table = tables.iter().find(|table| table.subject == "consumer").expect("a table");
    let column = table.columns.iter().position(|it| it.title == "changes hands").expect("it");
    let moves = table.rows.iter().map(|row| row.cells[column].text.as_str());
    assert_eq!(moves.collect::<Vec<_>>(), ["gives it up", "assigned, not read"]);
}

#[test]
fn while_a_classic_group_rebalances_nothing_is_assigned() {
    let mut run = handed_over();
    let group = run.frames[5].snapshot.groups.get_mut("analytics").expect("it is declared");
    group.state = Some("PreparingRebalance".to_owned());
    let board = storyboard(&run);
    let scene = &board.pictures[5].wide;
    let found = words(scene, &Subject::Client("reader-2".to_owned()));
    assert!(!found.contains(&"assigned".to_owned()), "{found:?}");
}

#[test]
fn a_share_consumer_says_which_records_it_holds() {
    let mut run = handed_over();
    run.world.groups[0].protocol = Protocol::Share;
    let record = |state: &str, holder: Option<&str>| ShareRecordView {
        state: state.to_owned(),
        delivery_count: 1,
        holder: holder.map(str::to_owned),
    };
    let records = [
        (Offset(0), record("acquired", Some("reader-2"))),
        (Offset(1), record("acquired", Some("reader-2"))),
        (Offset(2), record("available", None)),
    ];
    let share = ShareView { start_offset: Offset(0), records: records.into() };
    let snapshot = &mut run.frames[5].snapshot;
    let group = snapshot.groups.get_mut("analytics").expect("it is declared");
    group.share = [(write_path::orders(), share)].into();
    let board = storyboard(&run);
    let found = words(&board.pictures[5].wide, &Subject::Client("reader-2".to_owned())).join("|");
    assert!(found.contains("holds|0-1"), "{found}");
    assert!(!found.contains("lag"), "{found}");
    let text = describe::description(&run, &run.frames[5]);
    assert!(text.contains("holds orders-0@0, orders-0@1"), "{text}");
}
