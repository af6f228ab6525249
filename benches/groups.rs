//! What it costs that one more consumer joins a group with as many members as partitions:
//! `cargo bench --bench groups`. Each row doubles the group of the row before, so a cost that
//! grows with the square shows as a factor of four.
#![expect(clippy::print_stdout, reason = "a bench is there to print")]

mod cost;

use cost::cpu_seconds;
use kafka_sim_site::sim::Sim;
use kafka_sim_site::sim::world::{
    ConsumerSpec, GroupSpec, Protocol, Settings, Start, TopicSpec, World,
};

const SIZES: [u32; 4] = [250, 500, 1000, 2000];
/// When the consumer joins, and when the group has long been quiet again, in milliseconds.
const JOINS_MS: u64 = 5000;
const END_MS: u64 = 20_000;

const CLIENT: &str = "partition.assignment.strategy";
const SERVER: &str = "group.remote.assignor";
/// Each assignor under its protocol, with the setting that chooses it.
const KINDS: [(Protocol, &str, &str); 7] = [
    (Protocol::Classic, CLIENT, "RangeAssignor"),
    (Protocol::Classic, CLIENT, "RoundRobinAssignor"),
    (Protocol::Classic, CLIENT, "StickyAssignor"),
    (Protocol::Classic, CLIENT, "CooperativeStickyAssignor"),
    (Protocol::Consumer, SERVER, "uniform"),
    (Protocol::Consumer, SERVER, "range"),
    (Protocol::Share, "", "simple"),
];

fn main() {
    println!("{:<28}{:>10}{:>12}{:>12}", "assignor", "members", "set up", "one joins");
    for (protocol, setting, assignor) in KINDS {
        for size in SIZES {
            let start = cpu_seconds();
            let mut sim = Sim::new(world(size, protocol, (setting, assignor)), Vec::new());
            sim.forget_trace();
            run_until(&mut sim, JOINS_MS - 1);
            let ready = cpu_seconds();
            run_until(&mut sim, END_MS);
            let (set_up, joins) = (ready - start, cpu_seconds() - ready);
            println!("{assignor:<28}{size:>10}{set_up:>11.2}s{joins:>11.2}s");
        }
    }
}

fn run_until(sim: &mut Sim, end_ms: u64) {
    while let Some(next) = sim.next_event_ms().filter(|next| *next <= end_ms) {
        sim.run_millisecond(next).expect("nothing is broken");
    }
}

fn settings(pairs: &[(&str, &str)]) -> Settings {
    let filled = pairs.iter().filter(|(name, _)| !name.is_empty());
    filled.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

/// A group that is stable, and a consumer that will join it.
fn world(size: u32, protocol: Protocol, (setting, assignor): (&str, &str)) -> World {
    let topic = TopicSpec {
        name: "orders".to_owned(),
        partitions: Some(size),
        replication_factor: Some(1),
        assignment: None,
        config: Settings::new(),
    };
    let assignor = match protocol {
        Protocol::Classic => format!("org.apache.kafka.clients.consumer.{assignor}"),
        _ => assignor.to_owned(),
    };
    let consumers = (0..=size).map(|number| ConsumerSpec {
        name: format!("c{number:04}"),
        start: if number == size { Start::At(JOINS_MS) } else { Start::WithWorld },
        config: Settings::new(),
        topics: None,
        poll_interval_ms: 1000,
        poll_timeout_ms: 1000,
    });
    World {
        config: settings(&[("group.share.max.size", "10000")]),
        topics: vec![topic],
        groups: vec![GroupSpec {
            name: "readers".to_owned(),
            topics: vec!["orders".to_owned()],
            protocol,
            config: settings(&[(setting, &assignor)]),
            consumers: consumers.collect(),
        }],
        ..World::default()
    }
}
