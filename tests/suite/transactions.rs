//! Transactions through faults: whoever dies, and whenever, a transaction is decided, and a careful
//! reader gets its records once.

use std::sync::Arc;

use kafka_sim_site::diag::SourceFile;
use kafka_sim_site::scenario;

/// A transaction of one record, on a network slow enough that every stage lies at a time of its
/// own: it is over 8 s after its `commit`. Broker 1 leads the partition, broker 2 coordinates.
const STORY: &str = r#"
id: 91.2.1
title: A transaction
level: advanced
summary: One record.
timing: { network: 200ms }
cluster: { brokers: 3, controllers: 3 }
topics:
  orders:
    partitions: 1
    replication_factor: 3
    assignment: [[1, 2, 3]]
    config: { min.insync.replicas: 2 }
  __transaction_state: { partitions: 1, replication_factor: 3, assignment: [[2, 3, 1]] }
  __consumer_offsets: { partitions: 1, replication_factor: 3, assignment: [[3, 1, 2]] }
producers:
  tx: { topic: orders, config: { transactional.id: tx-1, acks: all } }
groups:
  careful:
    topics: [orders]
    config:
      auto.offset.reset: earliest
      enable.auto.commit: false
      isolation.level: read_committed
    consumers: [reader]
actions:
  - { at: 1s, begin_transaction: { producer: tx } }
  - { at: 4s, produce: { producer: tx, value: one } }
  - { at: 8s, COMMIT: { producer: tx } }
  - { at: DOWNms, crash_broker: { broker: VICTIM } }
  - { at: UPms, start_broker: { broker: VICTIM } }
steps:
  - when: "OVER"
    within: 100s
    title: Decided
    text: It is over.
    expect: { consumers.reader.consumed: SEEN }
  - at: 130s
    title: Later
    text: Nothing more comes.
    expect: { consumers.reader.consumed: SEEN, partitions.orders-0.records.0.value: one }
"#;

/// The transaction is decided, its marker is committed, and the reader has passed it.
const OVER: &str = "transactions.tx-1.state == COMPLETE and producers.tx.state == ready \
    and partitions.orders-0.last_stable_offset == partitions.orders-0.high_watermark \
    and partitions.orders-0.high_watermark >= 2 and consumers.reader.position.orders-0 >= 2";

fn run(victim: u32, down_ms: u64, commits: bool) -> Result<(), String> {
    let (commit, complete, seen) = if commits {
        ("commit_transaction", "CompleteCommit", "1")
    } else {
        ("abort_transaction", "CompleteAbort", "0")
    };
    let text = STORY
        .trim_start()
        .replace("OVER", OVER)
        .replace("COMMIT", commit)
        .replace("COMPLETE", complete)
        .replace("SEEN", seen)
        .replace("VICTIM", &victim.to_string())
        .replace("DOWN", &down_ms.to_string())
        .replace("UP", &(down_ms + 15_000).to_string());
    let file = Arc::new(SourceFile::new("transaction.yaml", &text));
    let (scenario, report) = scenario::read(&file);
    let scenario = scenario.ok_or_else(|| format!("{report:?}"))?;
    let (_, report) = scenario::simulate(&scenario);
    if report.has_errors() {
        return Err(format!("broker {victim} dies at {down_ms} ms: {:?}", report.problems));
    }
    Ok(())
}

#[test]
fn a_transaction_is_committed_once_whoever_dies_and_whenever() {
    for victim in 1..=3 {
        for down_ms in (900..13_000).step_by(700) {
            if let Err(why) = run(victim, down_ms, true) {
                panic!("{why}");
            }
        }
    }
}

#[test]
fn an_aborted_transaction_is_never_read_whoever_dies_and_whenever() {
    for victim in 1..=2 {
        for down_ms in (5_000..13_000).step_by(900) {
            if let Err(why) = run(victim, down_ms, false) {
                panic!("{why}");
            }
        }
    }
}
