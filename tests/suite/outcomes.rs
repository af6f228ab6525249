//! The shipped tables of outcomes against tables that were worked out by hand from Kafka's rules.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use kafka_sim_site::diag::SourceFile;
use kafka_sim_site::scenario;

/// What the cells of a table of the first chapter say, by row, then column.
fn said(slug: &str, id: &str) -> Vec<Vec<String>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("scenarios/anatomy/{slug}.yaml"));
    let text = fs::read_to_string(path).expect("a shipped scenario");
    let file = Arc::new(SourceFile::new(format!("{slug}.yaml"), text));
    let scenario = scenario::read(&file).0.expect("a scenario without mistakes");
    let (simulated, report) = scenario::simulate(&scenario);
    assert!(!report.has_errors(), "{:#?}", report.problems);
    let simulated = simulated.expect("a scenario that runs");
    let at = scenario.tables.iter().position(|table| table.id == id).expect("the table");
    let row = |row: &Vec<scenario::run::CellRun>| row.iter().map(|it| it.said.clone()).collect();
    simulated.tables[at].cells.iter().map(row).collect()
}

/// The leader refuses below the minimum only what asks for all; the high watermark does not move
/// below the minimum for anybody (`Partition.maybeIncrementLeaderHW`).
#[test]
fn below_the_minimum_all_is_refused_and_the_rest_is_hidden() {
    let silent = "**hidden**: written, nobody answers";
    let hidden = "**hidden**: written and acknowledged, one copy";
    let refused = "**refused**: `NOT_ENOUGH_REPLICAS`, nothing is written";
    let expected = [
        ["**readable**: written, nobody answers, one copy", silent, silent],
        ["**readable**: written and acknowledged, one copy", hidden, hidden],
        ["**readable**: written and acknowledged, one copy", refused, refused],
    ];
    assert_eq!(said("high-watermark", "minimum"), expected);
}

/// With three replicas a write with `acks=all` needs as many in sync as the minimum says.
#[test]
fn all_is_accepted_while_the_minimum_is_met() {
    let refused = "**refused**: `NOT_ENOUGH_REPLICAS`";
    let accepted = |on: &str| format!("**accepted**: on the brokers {on}");
    let (all, two, one) = (accepted("1, 2, 3"), accepted("1, 3"), accepted("1"));
    let expected = [
        [all.as_str(), all.as_str(), all.as_str()],
        [two.as_str(), two.as_str(), refused],
        [one.as_str(), refused, refused],
    ];
    assert_eq!(said("high-watermark", "brokers-lost"), expected);
}

/// An acknowledged record is lost when its leader dies before a follower has copied it, unless the
/// producer waits for the followers and so still has it.
#[test]
fn what_is_left_when_the_leader_dies() {
    let copied = "**kept**: the new leader has it";
    let lost = "**lost**: no log has it";
    let again = "**kept**: the producer has sent it again";
    let expected = [[copied, lost], [copied, lost], [copied, again]];
    assert_eq!(said("reading-up-to-the-high-watermark", "leader-dies"), expected);
}

/// A batch has 61 bytes of its own. The record `order-17: 42 EUR` takes 21 bytes at its beginning
/// and 22 where its time is 64 ms or more after the batch's first. A hundred bytes hold one such
/// record. With `linger.ms=500` records at 0, 150, 300 and 450 ms share a batch: ten make batches
/// of four, four and two.
#[test]
fn waiting_saves_bytes_unless_batches_are_too_small() {
    let alone = format!("a log of {} bytes", 10 * (61 + 21));
    let together = format!("a log of {} bytes", 2 * (61 + 21 + 3 * 22) + 61 + 21 + 22);
    let (alone, together) = (alone.as_str(), together.as_str());
    let expected = [[alone, alone], [alone, alone], [alone, together]];
    assert_eq!(said("write-path", "batching"), expected);
}
