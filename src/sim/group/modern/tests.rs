//! The rules of groups whose coordinator assigns, each by its name.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::*;

/// A group with a clock, and a second one that is told only what was written.
struct Bench {
    group: ModernGroup,
    replayed: ModernGroup,
    now_ms: u64,
    topics: TopicRacks,
    assignors: Vec<ServerAssignor>,
}

fn topic(partitions: usize) -> Vec<BTreeSet<String>> {
    vec![BTreeSet::new(); partitions]
}

impl Bench {
    fn of(kind: Kind) -> Bench {
        Bench {
            group: ModernGroup::new("g", kind),
            replayed: ModernGroup::new("g", kind),
            now_ms: 0,
            topics: BTreeMap::from([("t".to_owned(), topic(4))]),
            assignors: vec![ServerAssignor::Uniform, ServerAssignor::Range],
        }
    }

    fn wants(id: &str) -> Subscription {
        Subscription {
            client: id.to_owned(),
            topics: BTreeSet::from(["t".to_owned()]),
            rebalance_timeout_ms: 300_000,
            ..Subscription::default()
        }
    }

    fn beat(&mut self, beat: &Beat) -> Result<Reply, KafkaError> {
        let around = Around {
            now_ms: self.now_ms,
            topics: Some(&self.topics),
            session_timeout_ms: 45_000,
            assignment_interval_ms: 1000,
            max_size: 3,
            assignors: &self.assignors,
        };
        let mut changes = Vec::new();
        let reply = self.group.heartbeat(beat, &around, &mut changes);
        self.replay(&changes);
        reply
    }

    fn replay(&mut self, changes: &[Change]) {
        for change in changes {
            self.replayed.apply(change);
        }
        assert_eq!(self.replayed.members, self.group.members, "the log says the same");
        assert_eq!(self.replayed.owners, self.group.owners);
        assert_eq!(
            (self.replayed.epoch, self.replayed.target_epoch),
            (self.group.epoch, self.group.target_epoch)
        );
    }

    fn join(&mut self, id: &str) -> Result<Reply, KafkaError> {
        self.join_as(id, Bench::wants(id))
    }

    fn join_as(&mut self, id: &str, wants: Subscription) -> Result<Reply, KafkaError> {
        let instance = wants.instance.clone();
        let subscription = Some(Arc::new(wants));
        let owned = Some(BTreeSet::new());
        self.beat(&Beat { member: id.to_owned(), epoch: 0, subscription, instance, owned })
    }

    fn stay(&mut self, id: &str, epoch: i32) -> Result<Reply, KafkaError> {
        let member = id.to_owned();
        self.beat(&Beat { member, epoch, subscription: None, instance: None, owned: None })
    }

    fn stay_with(&mut self, id: &str, epoch: i32, owned: &[u32]) -> Result<Reply, KafkaError> {
        let owned = Some(owned.iter().map(|p| TopicPartition::new("t", *p)).collect());
        let member = id.to_owned();
        self.beat(&Beat { member, epoch, subscription: None, instance: None, owned })
    }

    fn expire(&mut self, id: &str) -> bool {
        let mut changes = Vec::new();
        let over = self.group.expire(id, self.now_ms, &mut changes);
        self.replay(&changes);
        over
    }
}

#[allow(clippy::unnecessary_wraps, reason = "what a heartbeat is answered")]
fn told(epoch: i32, partitions: &[u32]) -> Result<Reply, KafkaError> {
    let assignment = partitions.iter().map(|p| TopicPartition::new("t", *p)).collect();
    Ok(Reply { epoch, assignment: Some(assignment) })
}

#[allow(clippy::unnecessary_wraps, reason = "what a heartbeat is answered")]
fn nothing_new(epoch: i32) -> Result<Reply, KafkaError> {
    Ok(Reply { epoch, assignment: None })
}

/// `a` with all partitions, and `b` who has just joined.
fn two() -> Bench {
    let mut bench = Bench::of(Kind::Consumer);
    bench.join("a").expect("the first");
    bench.now_ms = 9000;
    bench.join("b").expect("the second");
    bench
}

#[test]
fn the_first_member_of_a_new_group_gets_epoch_2_and_everything() {
    let mut bench = Bench::of(Kind::Consumer);
    assert_eq!(bench.group.state(), "Empty");
    assert_eq!(bench.join("a"), told(2, &[0, 1, 2, 3]));
    assert_eq!((bench.group.epoch, bench.group.state()), (2, "Stable"));
    assert_eq!(bench.stay("a", 2), nothing_new(2));
}

#[test]
fn a_newcomer_gets_what_others_gave_up_with_its_next_heartbeat() {
    let mut bench = Bench::of(Kind::Consumer);
    bench.join("a").expect("the first");
    bench.now_ms = 9000;
    assert_eq!(bench.join("b"), told(3, &[]), "it is in the new epoch at once, with nothing");
    assert_eq!(bench.group.state(), "Reconciling");
    assert_eq!(bench.stay("a", 2), told(2, &[0, 1]), "told to give up, in its old epoch");
    assert_eq!(bench.stay("b", 3), nothing_new(3), "nothing is free yet");
    assert_eq!(bench.stay_with("a", 2, &[0, 1, 2]), nothing_new(2), "not all is given up");
    assert_eq!(bench.stay_with("a", 2, &[0, 1]), nothing_new(3), "now it moves on");
    assert_eq!(bench.group.state(), "Reconciling");
    assert_eq!(bench.stay("b", 3), told(3, &[2, 3]));
    assert_eq!(bench.group.state(), "Stable");
}

#[test]
fn members_that_lose_nothing_are_not_disturbed() {
    let mut bench = two();
    bench.stay("a", 2).expect("told to give up");
    bench.stay_with("a", 2, &[0, 1]).expect("has given up");
    bench.stay("b", 3).expect("gets them");
    bench.now_ms = 20_000;
    assert_eq!(bench.join("c"), told(4, &[]));
    // Two, one and one are wanted: a keeps both of its partitions.
    assert_eq!(bench.stay("a", 3), nothing_new(4));
    assert_eq!(bench.stay("b", 3), told(3, &[2]));
}

#[test]
fn leaving_raises_the_epoch_and_the_next_heartbeat_makes_the_target() {
    let mut bench = two();
    bench.now_ms = 15_000;
    assert_eq!(bench.stay("b", LEAVE_EPOCH), nothing_new(LEAVE_EPOCH));
    assert_eq!((bench.group.epoch, bench.group.state()), (4, "Assigning"));
    assert_eq!(bench.stay("a", 2), nothing_new(4), "it still has everything");
    assert_eq!(bench.group.state(), "Stable");
    bench.stay("a", LEAVE_EPOCH).expect("the last");
    assert_eq!((bench.group.epoch, bench.group.target_epoch, bench.group.state()), (5, 4, "Empty"));
}

#[test]
fn targets_are_made_at_most_once_per_interval() {
    let mut bench = Bench::of(Kind::Consumer);
    bench.join("a").expect("the first");
    bench.now_ms = 999;
    assert_eq!(bench.join("b"), told(2, &[]), "in the epoch of the target that there is");
    assert_eq!((bench.group.epoch, bench.group.state()), (3, "Assigning"));
    bench.now_ms = 1000;
    assert_eq!(bench.stay("a", 2), told(2, &[0, 1]));
    assert_eq!((bench.group.target_epoch, bench.group.state()), (3, "Reconciling"));
}

#[test]
fn a_member_without_heartbeats_is_shut_out_after_its_session() {
    let mut bench = two();
    bench.now_ms = 45_000 - 1;
    assert!(!bench.expire("a"));
    bench.now_ms = 45_000;
    assert!(bench.expire("a"));
    assert_eq!(bench.group.epoch, 4);
    assert_eq!(bench.stay("a", 2), Err(KafkaError::UnknownMemberId));
    assert_eq!(bench.stay("b", 3), told(4, &[0, 1, 2, 3]));
}

#[test]
fn a_member_that_does_not_give_up_in_time_is_shut_out() {
    let mut bench = two();
    bench.stay("a", 2).expect("told to give up");
    for now_ms in (19_000..309_000).step_by(10_000) {
        bench.now_ms = now_ms;
        bench.stay("a", 2).expect("alive, but holds on");
        assert!(!bench.expire("a"));
    }
    bench.now_ms = 309_000;
    assert!(bench.expire("a"));
}

#[test]
fn a_wrong_epoch_is_fenced_but_the_previous_one_of_a_lost_answer_is_not() {
    let mut bench = two();
    assert_eq!(bench.stay("b", 4), Err(KafkaError::FencedMemberEpoch));
    assert_eq!(bench.stay("b", 2), Err(KafkaError::FencedMemberEpoch));
    bench.stay("a", 2).expect("told to give up");
    bench.stay_with("a", 2, &[0, 1]).expect("moves to 3");
    assert_eq!(bench.stay_with("a", 2, &[0, 1]), nothing_new(3), "its answer was lost");
    assert_eq!(bench.stay_with("a", 2, &[0, 1, 2]), Err(KafkaError::FencedMemberEpoch));
    assert_eq!(bench.stay("c", 3), Err(KafkaError::UnknownMemberId));
}

#[test]
fn a_static_member_keeps_its_place_while_it_is_away() {
    let mut bench = Bench::of(Kind::Consumer);
    let wants = || Subscription { instance: Some("i".to_owned()), ..Bench::wants("a") };
    assert_eq!(bench.join_as("a1", wants()), told(2, &[0, 1, 2, 3]));
    assert_eq!(bench.join_as("a2", wants()), Err(KafkaError::UnreleasedInstanceId));
    let away = Beat {
        member: "a1".to_owned(),
        epoch: LEAVE_STATIC_EPOCH,
        subscription: None,
        instance: Some("i".to_owned()),
        owned: None,
    };
    bench.beat(&away).expect("leaves for a while");
    assert_eq!((bench.group.epoch, bench.group.members.len()), (2, 1));
    assert_eq!(bench.join_as("a2", wants()), told(2, &[0, 1, 2, 3]));
    assert_eq!(bench.group.epoch, 2, "nobody else has noticed");
    let late = Beat { epoch: 2, ..away };
    assert_eq!(bench.beat(&late), Err(KafkaError::FencedInstanceId));
}

#[test]
fn a_commit_needs_the_present_epoch_or_one_since_which_the_partition_is_held() {
    let mut bench = two();
    bench.stay("a", 2).expect("told to give up");
    bench.stay_with("a", 2, &[0, 1]).expect("moves to 3");
    let held = TopicPartition::new("t", 0);
    let given_up = TopicPartition::new("t", 3);
    let check = |epoch, partition| bench.group.check_commit(Some("a"), epoch, [partition]);
    assert_eq!(check(3, &given_up), Ok(()));
    assert_eq!(check(2, &held), Ok(()), "held since epoch 2");
    assert_eq!(check(2, &given_up), Err(KafkaError::StaleMemberEpoch));
    assert_eq!(check(1, &held), Err(KafkaError::StaleMemberEpoch));
    assert_eq!(check(4, &held), Err(KafkaError::StaleMemberEpoch));
    let admin = bench.group.check_commit(None, -1, [&held]);
    assert_eq!(admin, Err(KafkaError::UnknownMemberId), "the group is not empty");
}

#[test]
fn other_partitions_or_racks_of_a_topic_raise_the_epoch() {
    let mut bench = Bench::of(Kind::Consumer);
    bench.join("a").expect("the first");
    bench.topics.insert("u".to_owned(), topic(9));
    bench.now_ms = 5000;
    assert_eq!(bench.stay("a", 2), nothing_new(2), "nobody subscribes to that");
    bench.topics.insert("t".to_owned(), topic(5));
    assert_eq!(bench.stay("a", 2), told(3, &[0, 1, 2, 3, 4]));
    let racks = vec![BTreeSet::from(["r1".to_owned()]); 5];
    bench.topics.insert("t".to_owned(), racks);
    bench.now_ms = 10_000;
    assert_eq!(bench.stay("a", 3), nothing_new(4));
}

#[test]
fn the_assignor_that_most_members_ask_for_is_used() {
    let mut bench = Bench::of(Kind::Consumer);
    let wants = |id, assignor: &str| Subscription {
        assignor: Some(assignor.to_owned()),
        ..Bench::wants(id)
    };
    let unknown = bench.join_as("a", wants("a", "sticky"));
    assert_eq!(unknown, Err(KafkaError::UnsupportedAssignor));
    bench.join_as("a", wants("a", "range")).expect("known");
    bench.join("b").expect("asks for none");
    assert_eq!(bench.group.assignor(), "range");
    assert_eq!(Bench::of(Kind::Consumer).group.assignor(), "uniform");
}

#[test]
fn the_first_assignor_that_the_coordinator_offers_is_the_default_and_others_are_refused() {
    let mut bench = Bench::of(Kind::Consumer);
    bench.assignors = vec![ServerAssignor::Range];
    let uniform = Subscription { assignor: Some("uniform".to_owned()), ..Bench::wants("a") };
    assert_eq!(bench.join_as("a", uniform), Err(KafkaError::UnsupportedAssignor));
    bench.join("a").expect("asks for none");
    assert_eq!(bench.group.assignor(), "range");
}

#[test]
fn a_full_group_takes_nobody_more() {
    let mut bench = Bench::of(Kind::Consumer);
    for id in ["a", "b", "c"] {
        bench.join(id).expect("there is room");
    }
    assert_eq!(bench.join("d"), Err(KafkaError::GroupMaxSizeReached));
}

#[test]
fn a_share_group_assigns_once_the_state_of_its_partitions_is_set_up() {
    let mut bench = Bench::of(Kind::Share);
    assert_eq!(bench.join("a"), told(2, &[]));
    assert_eq!(bench.group.being_set_up().len(), 4);
    let mut changes = Vec::new();
    let pending: Vec<_> = bench.group.being_set_up().iter().cloned().collect();
    bench.group.end_set_up(&pending, &mut changes);
    bench.replay(&changes);
    bench.now_ms = 5000;
    assert_eq!(bench.stay("a", 2), told(3, &[0, 1, 2, 3]));
    bench.now_ms = 6000;
    assert_eq!(bench.join("b").map(|reply| reply.epoch), Ok(4));
    assert_eq!(bench.group.state(), "Stable");
    assert_eq!(bench.stay("a", 3).map(|reply| reply.epoch), Ok(4), "and is not asked to give up");
}
