//! Random worlds: whatever happens to a cluster, no checker finds a broken rule, and it happens the
//! same way again.

use kafka_sim_site::fuzz::{ACTIONS, case, name_of, run, survey};
use kafka_sim_site::sim::Sim;
use kafka_sim_site::sim::command::Command;

#[test]
fn no_world_of_500_seeds_breaks_a_rule() {
    let survey = survey(0..500);
    let seeds = &survey.broken;
    let rules = seeds.iter().take(8).map(|seed| run(&case(*seed)).1.map_err(|it| it.rule));
    let rules: Vec<_> = rules.collect();
    assert!(seeds.is_empty(), "see `kafka-sim-site fuzz --seeds N..M`: {seeds:?} {rules:#?}");
    assert_eq!(survey.coverage.worlds, 500);
    assert_eq!(survey.coverage.below(1), [], "actions and error codes that were never hit");
}

#[test]
fn a_seed_gives_the_same_run_again() {
    let events = |seed| {
        let case = case(seed);
        let mut sim = Sim::new(case.world, case.deeds);
        while let Some(next) = sim.next_event_ms().filter(|next| *next <= 10_000) {
            sim.run_millisecond(next).expect("nothing is broken");
        }
        sim.take_events()
    };
    for seed in 0..5 {
        let first = events(seed);
        assert!(!first.is_empty());
        assert_eq!(first, events(seed), "seed {seed}");
    }
    assert_ne!(events(0), events(1));
}

#[test]
fn an_action_is_drawn_under_its_own_name() {
    let drawn: Vec<Command> =
        (0..200).flat_map(|seed| case(seed).deeds).map(|(_, command)| command).collect();
    for action in ACTIONS {
        assert!(drawn.iter().any(|command| name_of(command) == action.name), "{}", action.name);
    }
    for command in &drawn {
        let name = name_of(command);
        assert!(ACTIONS.iter().any(|action| action.name == name), "{name} has no row");
    }
}
