//! Producers: batches, requests, retries, time-outs.

use super::*;

/// Sends to a leader that refuses everything: its only other replica is gone, and two are asked
/// for.
fn refused(producer: Pairs<'_>, at_ms: u64) -> Run {
    let world = world(&[&[1, 2]], &[("min.insync.replicas", "2")], producer);
    Run::new(world, vec![(0, crash(2)), (at_ms, send(0, 1))])
}

/// `RecordAccumulator.drainBatchesForOneNode`.
#[test]
fn a_request_takes_the_first_batch_of_every_partition_of_its_broker_ready_or_not() {
    let world = world(&[&[1], &[1]], &[], &[("linger.ms", "100")]);
    let mut run = Run::new(world, vec![(1000, send(0, 1)), (1060, send(1, 1))]);
    assert_eq!(run.producer(1099).buffered, 2);
    run.to(2000);
    assert_eq!(run.produce_requests(), [(1100, 2)]);
}

/// `batch.size` 0 counts as 1.
#[test]
fn without_a_batch_size_every_record_is_a_batch_and_a_request_takes_one_of_a_partition() {
    let mut run = Run::new(world(&[&[1]], &[], &[("batch.size", "0")]), vec![(1000, send(0, 3))]);
    run.to(1500);
    assert_eq!(run.produce_requests(), [(1000, 1); 3]);
}

/// `InFlightRequests.canSendMore`: the third request leaves with the first answer, 20 ms later.
#[test]
fn no_more_requests_are_in_flight_to_a_broker_than_allowed() {
    let config =
        [("batch.size", "0"), ("max.in.flight.requests.per.connection", "2"), ("acks", "1")];
    let world = World { network_ms: 10, ..world(&[&[1]], &[], &config) };
    let mut run = Run::new(world, vec![(1000, send(0, 5))]);
    assert_eq!(run.producer(1019).in_flight, 2);
    run.to(2000);
    let times: Vec<u64> = run.produce_requests().iter().map(|(at_ms, _)| *at_ms).collect();
    assert_eq!(times, [1000, 1000, 1020, 1020, 1040]);
}

/// `ExponentialBackoff`: each answer comes two hops after its request.
#[test]
fn a_refused_batch_waits_100_200_400_800_1000_1000_ms_give_or_take_a_fifth() {
    let mut run = refused(&[], 12_000);
    run.to(17_500);
    let times: Vec<u64> = run.produce_requests().iter().map(|(at_ms, _)| *at_ms).collect();
    let waits: Vec<u64> = times.windows(2).map(|pair| pair[1] - pair[0] - 2).collect();
    for (wait, plain) in waits.iter().zip([100, 200, 400, 800, 1000, 1000]) {
        assert!((plain * 8 / 10..=plain * 12 / 10).contains(wait), "{waits:?}");
    }
    assert!(waits.len() >= 6, "{waits:?}");
}

/// KIP-951: the old leader's refusal names the new one, and the batch goes there at once.
#[test]
fn news_of_a_new_leader_end_the_wait() {
    let world = world(&[&[1, 2]], &[], &[("retry.backoff.ms", "20000"), ("linger.ms", "0")]);
    let swap = Command::ReassignPartitions { partition: orders(0), replicas: ids(&[2, 1]) };
    let commands = vec![(1000, swap), (2000, elect(ElectionKind::Preferred)), (5000, send(0, 1))];
    let mut run = Run::new(world, commands);
    assert_eq!(led(&run.partition(4999)), (Some(2), 1, vec![1, 2], vec![]));
    let sent = run.producer(5100);
    assert_eq!((sent.retries, sent.last_refusal.as_deref()), (1, Some("NOT_LEADER_OR_FOLLOWER")));
    let times: Vec<u64> = run.produce_requests().iter().map(|(at_ms, _)| *at_ms).collect();
    assert_eq!(times, [5000, 5002]);
    assert_eq!(run.producer(6000).acked, 1);
}

/// `Sender.getExpiredInflightBatches`, `maybeResolveSequences`.
#[test]
fn a_batch_is_given_up_at_its_delivery_timeout_and_the_next_sequence_has_a_higher_epoch() {
    let config = [("delivery.timeout.ms", "6000"), ("request.timeout.ms", "3000")];
    let mut run = refused(&config, 12_000);
    let before = run.producer(17_999);
    assert_eq!((before.failed, before.producer_epoch), (0, Some(0)));
    let after = run.producer(18_000);
    assert_eq!((after.failed, after.producer_epoch), (1, Some(1)));
    assert_eq!(after.last_error.as_deref(), Some("REQUEST_TIMED_OUT"));
}

/// `KafkaProducer.configureDeliveryTimeout`: nobody has set it, so 120 s become 125.
#[test]
fn a_default_delivery_timeout_gives_way_to_linger_and_request_timeout() {
    let config = [("linger.ms", "5000"), ("request.timeout.ms", "120000")];
    let mut run = refused(&config, 20_000);
    assert_eq!(run.producer(144_999).failed, 0);
    assert_eq!(run.producer(145_000).failed, 1);
}

/// `BufferPool.allocate`: the leader hangs, so nothing leaves the buffer.
#[test]
fn send_waits_for_memory_and_fails_after_max_block_ms() {
    let config = [("batch.size", "0"), ("buffer.memory", "150"), ("max.block.ms", "700")];
    let hang = Command::PauseBroker { broker: BrokerId(1) };
    let world = world(&[&[1]], &[], &config);
    let mut run = Run::new(world, vec![(0, hang), (1000, send(0, 1)), (1000, send(0, 1))]);
    assert_eq!(run.producer(1699).failed, 0);
    let after = run.producer(1700);
    assert_eq!((after.failed, after.in_flight), (1, 1));
}

/// `NetworkClient.handleTimedOutRequests`: the second one had half a second left.
#[test]
fn a_request_that_times_out_ends_its_connection_and_all_requests_on_it() {
    let config = [("batch.size", "0"), ("linger.ms", "0"), ("request.timeout.ms", "1000")];
    let hang = Command::PauseBroker { broker: BrokerId(1) };
    let world = world(&[&[1]], &[], &config);
    let mut run = Run::new(world, vec![(0, hang), (1000, send(0, 1)), (1500, send(0, 1))]);
    assert_eq!(run.producer(1999).in_flight, 2);
    assert_eq!(run.producer(2000).in_flight, 0);
}
