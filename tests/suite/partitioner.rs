//! Where keys go: every row of Kafka's own hash and partitioner.

use kafka_sim_site::sim::partitioner::{murmur2, partition_for_hash};
use serde_json::Value;

fn facts() -> Value {
    let text = include_str!("../facts/partitioner.json");
    serde_json::from_str(text).expect("the facts are JSON")
}

fn bytes(hex: &str) -> Vec<u8> {
    let digit = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).expect("hexadecimal");
    (0..hex.len()).step_by(2).map(digit).collect()
}

fn hash(value: &Value) -> i32 {
    i32::try_from(value.as_i64().expect("a number")).expect("32 bits")
}

/// `UtilsTest.testMurmur2`.
#[test]
fn murmur2_gives_kafkas_values() {
    let facts = facts();
    let vectors = facts["murmur2"]["vectors_UtilsTest.testMurmur2"].as_array().expect("a list");
    assert_eq!(vectors.len(), 6);
    for row in vectors {
        let key = row["key"].as_str().expect("a key");
        assert_eq!(murmur2(key.as_bytes()), hash(&row["murmur2"]), "{key}");
    }
}

/// Every row was run on Kafka's own classes.
#[test]
fn a_key_goes_where_kafka_sends_it() {
    let facts = facts();
    let rows = facts["rows"].as_array().expect("a list");
    assert_eq!(rows.len(), 63);
    for row in rows {
        let found = murmur2(&bytes(row["hex"].as_str().expect("hexadecimal")));
        assert_eq!(found, hash(&row["murmur2"]), "{row}");
        let count = u32::try_from(row["num_partitions"].as_u64().expect("a count")).expect("small");
        assert_eq!(
            Some(u64::from(partition_for_hash(found, count))),
            row["partition"].as_u64(),
            "{row}"
        );
    }
}

#[test]
fn more_partitions_send_the_same_key_elsewhere() {
    let facts = facts();
    for row in facts["same_key_many_counts"].as_array().expect("a list") {
        let found = murmur2(row["key"].as_str().expect("a key").as_bytes());
        for (count, partition) in row["partition_by_count"].as_object().expect("an object") {
            let count = count.parse().expect("a count");
            assert_eq!(
                Some(u64::from(partition_for_hash(found, count))),
                partition.as_u64(),
                "{row}"
            );
        }
    }
}
