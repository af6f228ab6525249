//! The rules of share groups, each in a small scenario whose statements are worked out by hand.

use crate::traces::holds;

/// A topic of one partition, a producer, and a share group whose members say what becomes of
/// records; these settings, members and what follows.
fn shared(config: &str, members: &str, rest: &str) {
    holds(&format!(
        "
topics: {{ orders: {{ partitions: 1 }} }}
producers: {{ p: {{ topic: orders }} }}
groups:
  g:
    topics: [orders]
    protocol: share
    poll_interval: 1s
    config: {{ share.auto.offset.reset: earliest, {config} }}
    consumers: [{members}]
{rest}"
    ));
}

#[test]
fn a_record_is_handed_out_no_more_often_than_the_limit_says() {
    shared(
        "share.acknowledgement.mode: explicit, share.delivery.count.limit: 2",
        "a",
        "
actions:
  - { at: 5s, produce: { producer: p, key: k, value: v } }
  - { at: 10s, acknowledge: { consumer: a, partition: orders-0, offset: 0, type: release } }
  - { at: 20s, acknowledge: { consumer: a, partition: orders-0, offset: 0, type: release } }
steps:
  - { at: 9s, title: Once, expect: { groups.g.share.orders-0.records.0.delivery_count: 1 } }
  - at: 19s
    title: Twice
    expect:
      groups.g.share.orders-0.records.0.delivery_count: 2
      groups.g.share.orders-0.records.0.state: acquired
  - at: 30s
    title: Not a third time
    expect:
      consumers.a.seen: ['orders-0@0', 'orders-0@0']
      groups.g.share.orders-0.start_offset: 1
",
    );
}

#[test]
fn who_leaves_frees_its_records_at_once() {
    for leave in ["stop_consumer", "crash_consumer"] {
        shared(
            "share.acknowledgement.mode: explicit",
            "a, { name: b, start: manual }",
            &format!(
                "
actions:
  - {{ at: 5s, produce: {{ producer: p, key: k, value: v }} }}
  - {{ at: 10s, {leave}: {{ consumer: a }} }}
  - {{ at: 12s, start_consumer: {{ consumer: b }} }}
steps:
  - {{ at: 9s, title: Held, expect: {{ groups.g.share.orders-0.records.0.state: acquired }} }}
  - {{ at: 11s, title: Free, expect: {{ groups.g.share.orders-0.records.0.state: available }} }}
  - {{ at: 30s, title: With another, expect: {{ consumers.b.seen: ['orders-0@0'] }} }}
"
            ),
        );
    }
}

#[test]
fn several_members_read_one_partition_and_no_record_goes_to_two() {
    // Each takes one record and works on it for 5 s.
    shared(
        "share.acquire.mode: record_limit, max.poll.records: 1",
        "{ name: a, poll_interval: 5s, poll_timeout: 60s },
      { name: b, poll_interval: 5s, poll_timeout: 60s }",
        "
actions:
  - { at: 20s, produce: { producer: p, key: k, value: v, count: 2 } }
steps:
  - at: 24s
    title: One each
    expect:
      consumers.a.assignment: [orders-0]
      consumers.b.assignment: [orders-0]
      consumers.a.consumed: 1
      consumers.b.consumed: 1
      groups.g.share.orders-0.records.0.state: acquired
      groups.g.share.orders-0.records.1.state: acquired
  - at: 40s
    title: Settled
    expect:
      groups.g.share.orders-0.start_offset: 2
      consumers.a.consumed: 1
      consumers.b.consumed: 1
",
    );
}

#[test]
fn without_words_of_its_own_the_next_poll_accepts_what_the_last_one_returned() {
    shared(
        "max.poll.records: 500",
        "{ name: a, poll_interval: 5s, poll_timeout: 60s }",
        "
actions: [{ at: 20s, produce: { producer: p, key: k, value: v, count: 2 } }]
steps:
  - { at: 24s, title: Held, expect: { groups.g.share.orders-0.start_offset: 0 } }
  - { at: 27s, title: Accepted, expect: { groups.g.share.orders-0.start_offset: 2 } }
",
    );
}

#[test]
fn a_renewed_lock_lasts_from_then_on() {
    shared(
        "share.acknowledgement.mode: explicit, share.record.lock.duration.ms: 20000",
        "a",
        "
actions:
  - { at: 5s, produce: { producer: p, key: k, value: v } }
  - { at: 20s, acknowledge: { consumer: a, partition: orders-0, offset: 0, type: renew } }
steps:
  - { at: 39s, title: Renewed, expect: { groups.g.share.orders-0.records.0.state: acquired } }
  - { at: 41s, title: Run out, expect: { groups.g.share.orders-0.records.0.state: available } }
",
    );
}

#[test]
fn a_share_group_that_is_full_takes_nobody_more() {
    holds(
        "
cluster: { brokers: 3, config: { group.share.max.size: 1 } }
topics: { orders: { partitions: 1 } }
groups: { g: { topics: [orders], protocol: share, consumers: [a, { name: b, start: 5s }] } }
steps:
  - at: 20s
    title: Full
    expect: { groups.g.members: [a], consumers.b.last_error: GROUP_MAX_SIZE_REACHED }
",
    );
}
