//! Golden scenarios: every `expect` line in `tests/traces/` was seen on a running Kafka 4.3.0
//! cluster. They hold by the rules of the simulator alone.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use kafka_sim_site::diag::{Report, SourceFile};
use kafka_sim_site::scenario;

/// Runs a golden scenario; the statements that held, or what is wrong.
pub fn run(name: &str, text: &str) -> Result<usize, Report> {
    let file = Arc::new(SourceFile::new(name, text));
    let (scenario, mut report) = scenario::read(&file);
    let Some(scenario) = scenario else { return Err(report) };
    let (simulated, problems) = scenario::simulate(&scenario);
    report.extend(problems);
    match simulated {
        Some(simulated) if !report.has_errors() => Ok(simulated.statement_count),
        _ => Err(report),
    }
}

/// Runs a small scenario, its title and the like left out; everything that it states has to hold.
pub fn holds(scenario: &str) {
    let start = "id: 99.9.9\ntitle: t\nlevel: beginner\nsummary: s\n";
    let held = run("rule", &format!("{start}{scenario}"));
    assert!(held.as_ref().is_ok_and(|count| *count > 0), "{held:#?}");
}

fn read(name: &str) -> String {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/traces").join(format!("{name}.yaml"));
    fs::read_to_string(&path).expect("a golden scenario")
}

/// What was seen on the cluster holds, with as many values as were seen.
#[test]
fn what_was_seen_on_a_running_kafka_holds() {
    for (name, values) in [
        ("write-path", 71),
        ("min-isr-refusal", 93),
        ("leader-crash", 92),
        ("idempotent-and-retry", 27),
        ("paused-follower", 56),
        ("appended-then-too-few", 51),
        ("retry-duplicates", 18),
        ("lagging-follower", 51),
        ("min-isr-above-replicas", 37),
        ("controlled-shutdown", 66),
        ("unclean-and-elr", 88),
        ("reassignment", 83),
        ("keys-partitions", 44),
        ("controller-failover", 52),
        ("too-large", 42),
        ("acks1-lost-record", 67),
        ("empty-topic", 33),
        ("auto-commit", 27),
        ("classic-group", 26),
        ("cooperative-group", 11),
        ("stuck-consumer", 18),
        ("follower-fetch", 29),
        ("topic-deleted", 16),
        ("delete-records", 57),
        ("retention", 51),
        ("compaction", 55),
        ("transactions", 77),
        ("zombie-fencing", 31),
        ("transaction-timeout", 29),
        ("consumer-protocol-group", 25),
        ("share-group", 24),
    ] {
        match run(name, &read(name)) {
            Ok(held) => assert_eq!(held, values, "{name}"),
            Err(report) => panic!("{name}: {:#?}", report.problems),
        }
    }
}

/// A false line in a golden scenario is found: the check above can fail.
#[test]
fn what_was_not_seen_does_not_hold() {
    let text = read("leader-crash").replacen(
        "partitions.orders-0.leader: 2",
        "partitions.orders-0.leader: 3",
        1,
    );
    let report = run("leader-crash", &text).expect_err("the second broker leads");
    let wrong: Vec<&str> = report
        .problems
        .iter()
        .filter(|p| p.message.contains("leader"))
        .map(|p| p.message.as_str())
        .collect();
    assert!(!wrong.is_empty(), "{report:?}");
}

/// Scenarios of our own, each a fault that was once there; their statements are worked out by hand
/// from the rules.
#[test]
fn what_follows_from_the_rules_holds() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/runs");
    let mut count = 0;
    for entry in fs::read_dir(&folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let held = run(&name, &fs::read_to_string(&path).expect("a scenario"));
        assert!(held.as_ref().is_ok_and(|held| *held > 0), "{name}: {held:#?}");
        count += 1;
    }
    assert!(count >= 4, "the scenarios are there");
}
