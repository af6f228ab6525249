//! What a loaded cluster costs with the checkers on and the trace not kept: events a second of CPU
//! time on one core, and how memory grows by record. `cargo bench --bench load`.
//!
//! Each cluster takes a part of its records, then more, so that a cost that grows faster than the
//! events shows.
#![expect(clippy::print_stdout, reason = "a bench is there to print")]

mod cost;

use cost::{cpu_seconds, resident_bytes};
use kafka_sim_site::sim::Sim;
use kafka_sim_site::sim::command::{Command, Produce};
use kafka_sim_site::sim::ids::BrokerId;
use kafka_sim_site::sim::world::{BrokerSpec, ProducerSpec, Settings, Start, TopicSpec, World};

const PRODUCERS: u64 = 4;
/// What each producer sends every millisecond.
const BURST: u64 = 20;
/// How long the last records may take to be everywhere, in milliseconds.
const REST_MS: u64 = 2000;

fn main() {
    println!(
        "brokers x partitions x records      events    CPU  events/s  records/s  bytes/record"
    );
    for (brokers, partitions, records) in [(3, 12, 100_000), (12, 48, 1_000_000)] {
        for part in [4, 2, 1] {
            measure(brokers, partitions, records / part);
        }
    }
}

fn measure(brokers: u32, partitions: u32, records: u64) {
    let end_ms = records / PRODUCERS / BURST + REST_MS;
    let mut sim = Sim::new(world(brokers, partitions), load(records));
    sim.forget_trace();
    let (before, start) = (resident_bytes(), cpu_seconds());
    while let Some(next) = sim.next_event_ms().filter(|next| *next <= end_ms) {
        sim.run_millisecond(next).expect("nothing is broken");
    }
    let seconds = cpu_seconds() - start;
    let bytes = resident_bytes().saturating_sub(before) / records;
    let events = sim.event_count();
    println!(
        "{brokers:>7} x {partitions:>10} x {records:>7} {events:>11} {seconds:>5.2}s {:>8.2}M \
         {:>9.2}M {bytes:>13}",
        events as f64 / seconds / 1e6,
        records as f64 / seconds / 1e6,
    );
}

fn world(brokers: u32, partitions: u32) -> World {
    let topic = TopicSpec {
        name: "orders".to_owned(),
        partitions: Some(partitions),
        replication_factor: Some(3),
        assignment: None,
        config: Settings::new(),
    };
    let producers = (1..=PRODUCERS).map(|number| ProducerSpec {
        name: format!("p{number}"),
        topic: Some("orders".to_owned()),
        config: Settings::new(),
        start: Start::WithWorld,
    });
    World {
        brokers: (1..=brokers).map(|id| BrokerSpec { id: BrokerId(id), rack: None }).collect(),
        topics: vec![topic],
        producers: producers.collect(),
        ..World::default()
    }
}

/// Bursts of records with keys of their own, from all producers every millisecond.
fn load(records: u64) -> Vec<(u64, Command)> {
    let bursts = (0..records / BURST).map(|number| {
        let produce = Produce {
            producer: format!("p{}", number % PRODUCERS + 1),
            topic: None,
            key: Some(format!("k{number}-{{n}}")),
            value: Some("v".to_owned()),
            headers: Vec::new(),
            partition: None,
            timestamp_ms: None,
            size_bytes: Some(100),
            count: BURST,
            every_ms: 0,
        };
        (number / PRODUCERS, Command::Produce(produce))
    });
    bursts.collect()
}
