//! The rules of consumers and of their groups, each in a small scenario whose statements are worked
//! out by hand. What a running Kafka has shown stands in `tests/traces`.

use crate::traces::holds;

#[test]
fn a_fetch_waits_for_fetch_min_bytes_or_fetch_max_wait_ms() {
    // From 0 s on a fetch is answered after each 3 s and a little; a large record ends the wait.
    holds(
        "
topics: { orders: {} }
producers: { p: { topic: orders } }
groups:
  g:
    topics: [orders]
    consumers: [c]
    config: { fetch.min.bytes: 50000, fetch.max.wait.ms: 3000 }
actions:
  - { at: 10s, produce: { producer: p, key: k, value: v } }
  - { at: 19s, produce: { producer: p, key: k, size: 60000 } }
steps:
  - { at: 11s, title: Too little, expect: { consumers.c.consumed: 0 } }
  - { at: 13s, title: The wait is over, expect: { consumers.c.consumed: 1 } }
  - { at: 19500ms, title: Enough, expect: { consumers.c.consumed: 2 } }
",
    );
}

#[test]
fn a_fetch_returns_one_batch_at_least_and_no_more_than_its_limits() {
    for (limit, first) in [("max.partition.fetch.bytes: 1", 1), ("fetch.max.bytes: 100000", 3)] {
        holds(&format!(
            "
cluster: {{ brokers: 1, config: {{ group.initial.rebalance.delay.ms: 0 }} }}
topics: {{ orders: {{ partitions: 1, replication_factor: 1 }} }}
producers: {{ p: {{ topic: orders }} }}
groups:
  g:
    topics: [orders]
    consumers: [{{ name: c, start: 5s }}]
    poll_interval: 2s
    config: {{ auto.offset.reset: earliest, {limit} }}
actions:
  - {{ at: 1s, produce: {{ producer: p, key: k, value: v, count: 3, every: 1s }} }}
steps:
  - {{ when: consumers.c.consumed > 0, title: First, expect: {{ consumers.c.consumed: {first} }} }}
  - {{ at: 20s, title: All, expect: {{ consumers.c.consumed: 3 }} }}
"
        ));
    }
    for (limit, first) in [("fetch.max.bytes: 1", 1), ("fetch.max.bytes: 100000", 2)] {
        holds(&format!(
            "
cluster: {{ brokers: 1 }}
topics: {{ bills: {{ partitions: 2, replication_factor: 1 }} }}
producers: {{ p: {{ topic: bills }} }}
groups:
  g: {{ topics: [bills], consumers: [c], poll_interval: 5s, config: {{ {limit} }} }}
actions:
  - {{ at: 3s, produce: {{ producer: p, partition: 0, value: v }} }}
  - {{ at: 3s, produce: {{ producer: p, partition: 1, value: v }} }}
steps:
  - {{ when: consumers.c.consumed > 0, title: First, expect: {{ consumers.c.consumed: {first} }} }}
"
        ));
    }
}

#[test]
fn poll_returns_no_more_than_max_poll_records() {
    holds(
        "
topics: { orders: {} }
producers: { p: { topic: orders } }
groups:
  g: { topics: [orders], consumers: [c], poll_interval: 1s, config: { max.poll.records: 2 } }
actions: [{ at: 10s, produce: { producer: p, key: k, value: v, count: 5 } }]
steps:
  - { when: consumers.c.consumed > 0, title: Two, expect: { consumers.c.consumed: 2 } }
  - { when: consumers.c.consumed > 2, title: Two more, expect: { consumers.c.consumed: 4 } }
  - { when: consumers.c.consumed > 4, title: The last, expect: { consumers.c.consumed: 5 } }
",
    );
}

#[test]
fn without_automatic_commits_only_the_application_commits() {
    holds(
        "
topics: { orders: { partitions: 1 } }
producers: { p: { topic: orders } }
groups:
  g: { topics: [orders], consumers: [c], config: { enable.auto.commit: false } }
actions:
  - { at: 1s, produce: { producer: p, key: k, value: v, count: 3 } }
  - { at: 20s, commit: { consumer: c, partition: orders-0 } }
  - { at: 30s, commit: { consumer: c, partition: orders-0, offset: 1 } }
steps:
  - at: 19s
    title: Read
    expect: { consumers.c.position.orders-0: 3, groups.g.committed.orders-0: none }
  - at: 21s
    title: The position is committed
    expect: { groups.g.committed.orders-0: 3, groups.g.lag.orders-0: 0 }
  - at: 31s
    title: Another offset is committed
    expect:
      groups.g.committed.orders-0: 1
      groups.g.lag.orders-0: 2
      consumers.c.position.orders-0: 3
",
    );
}

#[test]
fn close_commits_unless_automatic_commits_are_off() {
    for (automatic, committed) in [("true", "1"), ("false", "none")] {
        holds(&format!(
            "
topics: {{ orders: {{ partitions: 1 }} }}
producers: {{ p: {{ topic: orders }} }}
groups:
  g:
    topics: [orders]
    consumers: [c]
    config: {{ enable.auto.commit: {automatic}, auto.commit.interval.ms: 600000 }}
actions:
  - {{ at: 1s, produce: {{ producer: p, key: k, value: v }} }}
  - {{ at: 10s, stop_consumer: {{ consumer: c }} }}
steps:
  - at: 9s
    title: Read
    expect: {{ consumers.c.consumed: 1, groups.g.committed.orders-0: none }}
  - at: 12s
    title: Closed
    expect:
      consumers.c.state: stopped
      groups.g.committed.orders-0: {committed}
      groups.g.state: Empty
"
        ));
    }
}

#[test]
fn partitions_are_committed_before_they_are_given_up() {
    // The newcomer starts where the other one ended, although the interval of commits is long.
    for protocol in ["classic", "consumer"] {
        holds(&format!(
            "
topics: {{ orders: {{ partitions: 2 }} }}
producers: {{ p: {{ topic: orders }} }}
groups:
  g:
    topics: [orders]
    protocol: {protocol}
    consumers: [a, {{ name: b, start: 10s }}]
    config: {{ auto.offset.reset: earliest, auto.commit.interval.ms: 600000 }}
actions:
  - {{ at: 1s, produce: {{ producer: p, partition: 0, value: v }} }}
  - {{ at: 1s, produce: {{ producer: p, partition: 1, value: v }} }}
steps:
  - at: 9s
    title: Alone
    expect: {{ consumers.a.consumed: 2, groups.g.committed.orders-1: none }}
  - at: 40s
    title: Together
    expect:
      consumers.a.assignment: [orders-0]
      consumers.b.assignment: [orders-1]
      groups.g.committed.orders-1: 1
      consumers.b.position.orders-1: 1
      consumers.b.consumed: 0
"
        ));
    }
}

#[test]
fn without_a_committed_offset_auto_offset_reset_decides_where_to_begin() {
    holds(
        "
topics: { orders: { partitions: 1 } }
producers: { p: { topic: orders } }
groups:
  first:
    topics: [orders]
    consumers: [{ name: all, start: 20s }]
    config: { auto.offset.reset: earliest }
  last:
    topics: [orders]
    consumers: [{ name: new, start: 20s }]
    config: { auto.offset.reset: latest }
  since:
    topics: [orders]
    consumers: [{ name: some, start: 20s }]
    config: { auto.offset.reset: 'by_duration:PT15S' }
  nowhere:
    topics: [orders]
    consumers: [{ name: lost, start: 20s }]
    config: { auto.offset.reset: none }
actions:
  - { at: 1s, produce: { producer: p, key: k, value: v } }
  - { at: 15s, produce: { producer: p, key: k, value: v } }
  - { at: 40s, produce: { producer: p, key: k, value: v } }
steps:
  - at: 50s
    title: Each from its own place
    expect:
      consumers.all.seen: ['orders-0@0', 'orders-0@1', 'orders-0@2']
      consumers.some.seen: ['orders-0@1', 'orders-0@2']
      consumers.new.seen: ['orders-0@2']
      consumers.lost.seen: []
      consumers.lost.last_error: NoOffsetForPartitionException
",
    );
}

#[test]
fn a_position_out_of_range_is_reset_by_the_policy() {
    for (reset, position, error) in
        [("earliest", "5", "none"), ("latest", "5", "none"), ("none", "1", "OFFSET_OUT_OF_RANGE")]
    {
        holds(&format!(
            "
topics: {{ orders: {{ partitions: 1 }} }}
producers: {{ p: {{ topic: orders }} }}
groups:
  g: {{ topics: [orders], consumers: [c], config: {{ auto.offset.reset: earliest }} }}
  h: {{ topics: [orders], consumers: [d], config: {{ auto.offset.reset: {reset} }} }}
actions:
  - {{ at: 0s, commit: {{ consumer: d, partition: orders-0, offset: 0 }} }}
  - {{ at: 1s, produce: {{ producer: p, key: k, value: v, count: 5 }} }}
  - {{ at: 10s, delete_records: {{ partition: orders-0, before: 3 }} }}
  - {{ at: 11s, seek: {{ consumer: c, partition: orders-0, offset: 1 }} }}
  - {{ at: 12s, seek: {{ consumer: d, partition: orders-0, offset: 1 }} }}
steps:
  - at: 20s
    title: Reset
    expect:
      consumers.c.consumed: 7
      consumers.c.last_record.offset: 4
      consumers.d.position.orders-0: {position}
      consumers.d.last_error: {error}
"
        ));
    }
}

#[test]
fn seek_moves_the_position_and_records_come_again() {
    holds(
        "
topics: { orders: { partitions: 1 } }
producers: { p: { topic: orders } }
groups: { g: { topics: [orders], consumers: [c] } }
actions:
  - { at: 1s, produce: { producer: p, key: k, value: v, count: 3 } }
  - { at: 10s, seek: { consumer: c, partition: orders-0, offset: 1 } }
steps:
  - at: 15s
    title: Again
    expect:
      consumers.c.seen: [orders-0@0, orders-0@1, orders-0@2, orders-0@1, orders-0@2]
",
    );
}

#[test]
fn a_paused_partition_gives_nothing_and_its_consumer_stays_a_member() {
    holds(
        "
topics: { orders: { partitions: 2 } }
producers: { p: { topic: orders } }
groups:
  g: { topics: [orders], consumers: [c], config: { max.poll.interval.ms: 5000 } }
actions:
  - { at: 1s, pause_partitions: { consumer: c, partitions: [orders-0] } }
  - { at: 5s, produce: { producer: p, partition: 0, value: v } }
  - { at: 5s, produce: { producer: p, partition: 1, value: v } }
  - { at: 30s, resume_partitions: { consumer: c, partitions: [orders-0] } }
steps:
  - at: 29s
    title: Paused
    expect: { consumers.c.seen: ['orders-1@0'], groups.g.members: [c], groups.g.epoch: 1 }
  - at: 31s
    title: Resumed
    expect: { consumers.c.seen: ['orders-1@0', 'orders-0@0'] }
",
    );
}

#[test]
fn a_dead_member_is_missed_after_its_session_and_its_partitions_go_on() {
    for (protocol, config, gone_s) in [
        ("classic", "session.timeout.ms: 9000", 19),
        ("consumer", "consumer.session.timeout.ms: 45000", 55),
    ] {
        holds(&format!(
            "
topics: {{ orders: {{ partitions: 2 }} }}
groups:
  g: {{ topics: [orders], protocol: {protocol}, consumers: [a, b], config: {{ {config} }} }}
actions: [{{ at: 10s, crash_consumer: {{ consumer: b }} }}]
steps:
  - at: {}s
    title: Nobody knows yet
    expect: {{ groups.g.members: [a, b], consumers.a.assignment: [orders-0] }}
  - at: {}s
    title: Missed
    expect: {{ groups.g.members: [a], consumers.a.assignment: [orders-0, orders-1] }}
",
            gone_s - 6,
            gone_s + 12,
        ));
    }
}

#[test]
fn offsets_of_an_empty_group_expire() {
    for protocol in ["classic", "consumer"] {
        holds(&format!(
            "
cluster:
  brokers: 3
  config: {{ offsets.retention.minutes: 1, offsets.retention.check.interval.ms: 10000 }}
topics: {{ orders: {{ partitions: 1 }} }}
producers: {{ p: {{ topic: orders }} }}
groups:
  g: {{ topics: [orders], protocol: {protocol}, consumers: [c] }}
  h:
    topics: [orders]
    protocol: {protocol}
    consumers: [d]
    config: {{ auto.commit.interval.ms: 600000 }}
actions:
  - {{ at: 1s, produce: {{ producer: p, key: k, value: v }} }}
  - {{ at: 9s, commit: {{ consumer: d, partition: orders-0 }} }}
  - {{ at: 10s, stop_consumer: {{ consumer: c }} }}
steps:
  - {{ at: 69s, title: Kept, expect: {{ groups.g.committed.orders-0: 1 }} }}
  - at: 90s
    title: Expired
    expect: {{ groups.g.committed.orders-0: none, groups.h.committed.orders-0: 1 }}
"
        ));
    }
}

#[test]
fn topics_that_a_group_subscribes_to_come_and_go() {
    for protocol in ["classic", "consumer"] {
        holds(&format!(
            "
topics: {{ orders: {{ partitions: 1 }} }}
groups:
  g:
    topics: [orders, bills]
    protocol: {protocol}
    consumers: [c]
    config: {{ metadata.max.age.ms: 3000 }}
actions:
  - {{ at: 10s, create_topic: {{ topic: bills, partitions: 2 }} }}
  - {{ at: 40s, delete_topic: {{ topic: bills }} }}
steps:
  - {{ at: 9s, title: One, expect: {{ consumers.c.assignment: [orders-0] }} }}
  - {{ at: 39s, title: Two, expect: {{ consumers.c.assignment: [orders-0, bills-0, bills-1] }} }}
  - {{ at: 70s, title: One again, expect: {{ consumers.c.assignment: [orders-0] }} }}
"
        ));
    }
}

#[test]
fn group_max_size_keeps_members_out_of_a_classic_group() {
    holds(
        "
cluster: { brokers: 3, config: { group.max.size: 1 } }
topics: { orders: { partitions: 2 } }
groups: { g: { topics: [orders], consumers: [a, { name: b, start: 5s }] } }
steps:
  - at: 20s
    title: Full
    expect:
      groups.g.members: [a]
      groups.g.epoch: 1
      consumers.b.last_error: GROUP_MAX_SIZE_REACHED
      consumers.b.assignment: []
",
    );
}

#[test]
fn a_coordinator_that_does_not_offer_an_assignor_refuses_it() {
    holds(
        "
cluster: { brokers: 3, config: { group.consumer.assignors: range } }
topics: { orders: { partitions: 4 } }
groups:
  g:
    topics: [orders]
    protocol: consumer
    consumers: [a, { name: b, start: 5s, config: { group.remote.assignor: uniform } }]
steps:
  - at: 20s
    title: Refused
    expect:
      groups.g.assignor: range
      groups.g.members: [a]
      consumers.b.last_error: UNSUPPORTED_ASSIGNOR
",
    );
}

#[test]
fn a_client_that_reaches_nobody_it_knows_returns_to_its_first_addresses() {
    // At 25 s the consumer learns that broker 1 is alone; when that dies the others are back.
    holds(
        "
cluster: { brokers: 3 }
topics:
  orders:
    partitions: 1
    replication_factor: 3
    assignment: [[1, 2, 3]]
    config: { min.insync.replicas: 1 }
producers: { p: { topic: orders } }
groups:
  g:
    topics: [orders]
    consumers: [c]
    config: { metadata.max.age.ms: 20000, enable.auto.commit: false }
actions:
  - { at: 5s, crash_broker: { broker: 2 } }
  - { at: 5s, crash_broker: { broker: 3 } }
  - { at: 22s, start_broker: { broker: 2 } }
  - { at: 22s, start_broker: { broker: 3 } }
  - { at: 35s, crash_broker: { broker: 1 } }
  - { at: 60s, produce: { producer: p, key: k, value: v } }
steps:
  - { at: 34s, title: All are there, expect: { 'partitions.orders-0.isr': [1, 2, 3] } }
  - { at: 90s, title: Found, expect: { consumers.c.consumed: 1 } }
",
    );
}
