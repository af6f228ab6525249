//! What compaction and retention cost by the number of records: `cargo bench --bench logs`. Each
//! measures the one millisecond in which the job runs; both grow with the records, not faster.

use divan::Bencher;
use kafka_sim_site::sim::Sim;
use kafka_sim_site::sim::command::{Command, Produce};
use kafka_sim_site::sim::ids::BrokerId;
use kafka_sim_site::sim::world::{BrokerSpec, ProducerSpec, Settings, Start, TopicSpec, World};

const COUNTS: [u64; 3] = [10_000, 100_000, 1_000_000];
/// When the job runs, in milliseconds.
const JOB_MS: u64 = 20_000;

fn main() {
    divan::main();
}

#[divan::bench(args = COUNTS, sample_count = 5, sample_size = 1)]
fn compact(bencher: Bencher, count: u64) {
    let job = Command::RunCleaner { partition: None };
    bencher
        .with_inputs(|| filled(count, &[("cleanup.policy", "compact")], &job))
        .bench_values(run_job);
}

#[divan::bench(args = COUNTS, sample_count = 5, sample_size = 1)]
fn delete_old_segments(bencher: Bencher, count: u64) {
    let job = Command::RunRetention { partition: None };
    bencher.with_inputs(|| filled(count, &[("retention.bytes", "0")], &job)).bench_values(run_job);
}

fn run_job(mut sim: Sim) -> Sim {
    sim.run_millisecond(JOB_MS).expect("nothing is broken");
    sim
}

fn settings(pairs: &[(&str, &str)]) -> Settings {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

/// A world just before the job: half as many keys as records, each written twice, in segments of
/// 1 MiB.
fn filled(count: u64, topic: &[(&str, &str)], job: &Command) -> Sim {
    let mut config = settings(topic);
    config.insert("segment.bytes".to_owned(), "1048576".to_owned());
    let never = "1000000000";
    let world = World {
        brokers: vec![BrokerSpec { id: BrokerId(1), rack: None }],
        config: settings(&[
            ("log.cleaner.backoff.ms", never),
            ("log.initial.task.delay.ms", never),
        ]),
        topics: vec![TopicSpec {
            name: "orders".to_owned(),
            partitions: Some(1),
            replication_factor: Some(1),
            assignment: None,
            config,
        }],
        producers: vec![ProducerSpec {
            name: "p".to_owned(),
            topic: Some("orders".to_owned()),
            config: settings(&[("buffer.memory", "9000000000")]),
            start: Start::WithWorld,
        }],
        ..World::default()
    };
    let burst = Command::Produce(Produce {
        producer: "p".to_owned(),
        topic: None,
        key: Some("k{n}".to_owned()),
        value: Some("v".to_owned()),
        headers: Vec::new(),
        partition: None,
        timestamp_ms: None,
        size_bytes: None,
        count: count / 2,
        every_ms: 0,
    });
    let deeds = vec![(1000, burst.clone()), (10_000, burst), (JOB_MS, job.clone())];
    let mut sim = Sim::new(world, deeds);
    while let Some(next) = sim.next_event_ms().filter(|next| *next < JOB_MS) {
        sim.run_millisecond(next).expect("nothing is broken");
        sim.take_events();
        sim.take_messages();
    }
    sim
}
