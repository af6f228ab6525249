//! Whatever happens to a cluster, the simulator keeps its own rules: its checkers look after every
//! event, and a broken rule ends the run. And it happens the same way again.

use std::fmt::Write as _;
use std::sync::Arc;

use kafka_sim_site::diag::SourceFile;
use kafka_sim_site::scenario;
use proptest::prelude::*;

/// Something that is done to a cluster of three brokers.
#[derive(Clone, Debug)]
enum Deed {
    Produce,
    Broker(&'static str, u32),
    Elect(&'static str),
}

fn deed() -> impl Strategy<Value = Deed> {
    let names = vec![
        "crash_broker",
        "start_broker",
        "shutdown_broker",
        "pause_broker",
        "resume_broker",
        "stall_replica",
        "unstall_replica",
    ];
    prop_oneof![
        4 => Just(Deed::Produce),
        6 => (prop::sample::select(names), 1_u32..4).prop_map(|(name, id)| Deed::Broker(name, id)),
        1 => prop::sample::select(vec!["preferred", "unclean"]).prop_map(Deed::Elect),
    ]
}

/// A cluster's circumstances.
#[derive(Clone, Debug)]
struct World {
    network_ms: u32,
    replication_factor: u32,
    min_isr: u32,
    acks: &'static str,
    unclean: bool,
    deeds: Vec<(u32, Deed)>,
}

fn world() -> impl Strategy<Value = World> {
    let acks = prop::sample::select(vec!["all", "1"]);
    let deeds = prop::collection::vec((0_u32..60_000, deed()), 1..24);
    let numbers = (1_u32..400, 1_u32..4, 1_u32..3);
    (numbers, acks, any::<bool>(), deeds).prop_map(|(numbers, acks, unclean, mut deeds)| {
        deeds.sort_by_key(|(at_ms, _)| *at_ms);
        let (network_ms, replication_factor, min_isr) = numbers;
        World { network_ms, replication_factor, min_isr, acks, unclean, deeds }
    })
}

/// The world as an author would write it.
fn text(world: &World) -> String {
    let World { network_ms, replication_factor, min_isr, acks, unclean, deeds } = world;
    let mut text = format!(
        "id: 1.1.1\n\
         title: A random world\n\
         level: advanced\n\
         summary: Whatever happens.\n\
         timing: {{ network: {network_ms}ms }}\n\
         cluster: {{ brokers: 3, config: {{ unclean.leader.election.enable: {unclean} }} }}\n\
         topics:\n  orders:\n    replication_factor: {replication_factor}\n    \
         config: {{ min.insync.replicas: {min_isr} }}\n\
         producers:\n  checkout: {{ topic: orders, config: {{ acks: {acks}, \
         enable.idempotence: {} }} }}\n\
         groups:\n  analytics: {{ topics: [orders], consumers: [reader-1] }}\n\
         actions:\n",
        *acks == "all"
    );
    for (at_ms, deed) in deeds {
        let what = match deed {
            Deed::Produce => "produce: { producer: checkout, value: x }".to_owned(),
            Deed::Broker(name, id) => format!("{name}: {{ broker: {id} }}"),
            Deed::Elect(kind) => format!("elect_leaders: {{ type: {kind} }}"),
        };
        writeln!(text, "  - {{ at: {at_ms}ms, {what} }}").expect("a String takes every write");
    }
    text + "steps:\n  - { at: 0s, title: Before }\n  - { at: 90s, title: After }\n"
}

/// All events, messages and snapshots of the run, or what is wrong with the file.
fn events(text: &str) -> Result<String, String> {
    let file = Arc::new(SourceFile::new("scenarios/a/b.yaml", text));
    let (scenario, report) = scenario::read(&file);
    let scenario = scenario.ok_or_else(|| format!("{:#?}", report.problems))?;
    let (simulated, report) = scenario::simulate(&scenario);
    let run = simulated.ok_or_else(|| format!("{:#?}", report.problems))?.main;
    Ok(format!("{:?} {:?} {:?}", run.events, run.messages, run.frames))
}

proptest! {
    #[test]
    fn no_event_breaks_a_rule_and_the_same_file_gives_the_same_run(world in world()) {
        let text = text(&world);
        let first = events(&text).map_err(TestCaseError::fail)?;
        prop_assert_eq!(first, events(&text).expect("it ran before"));
    }
}
