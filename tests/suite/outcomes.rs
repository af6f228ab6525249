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

/// Three batches of 300 073 bytes fit a segment of 1 MiB, six fit 2 MiB; eight make 2 400 584. By
/// size the oldest segment goes while what is left is still as much as the limit; by time it goes
/// when its newest record is too old, and of the eight only the first four are
/// (`UnifiedLog.deleteRetentionSizeBreachedSegments`, `deleteRetentionMsBreachedSegments`).
#[test]
fn retention_takes_whole_segments() {
    let at = |offset: u8| format!("**at {offset}**");
    let (zero, three, six) = (at(0), at(3), at(6));
    let empty = "**nowhere**: it is empty, the next offset is 8";
    let expected = [
        [zero.as_str(), three.as_str(), zero.as_str()],
        [three.as_str(), three.as_str(), zero.as_str()],
        [six.as_str(), six.as_str(), six.as_str()],
        [empty, empty, empty],
    ];
    assert_eq!(said("log-start-offset", "retention"), expected);
}

/// The reset policy counts without a committed offset and outside the log, and only there. The log
/// begins at 5 and ends at 8; with nothing removed a committed 2 leaves six to read.
#[test]
fn a_reset_happens_only_where_there_is_no_offset_in_the_log() {
    let reads = |count: u8| format!("**reads** {count} photos, up to offset 7");
    let (three, six) = (reads(3), reads(6));
    let (three, six) = (three.as_str(), six.as_str());
    let skips = "**skips** all: waits at 8";
    let absent = "**stops**: `NoOffsetForPartitionException`";
    let gone = "**stops**: `OFFSET_OUT_OF_RANGE`";
    let expected = [[three, six, three], [skips, six, skips], [absent, six, gone]];
    assert_eq!(said("log-start-offset", "reset"), expected);
}
