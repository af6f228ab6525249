//! A classic group's rules, one by one, without a network and a log.

use super::*;
use crate::sim::assignor::client::Subscription;
use crate::sim::ids::TopicPartition;
use crate::sim::message::{JoinAnswer, JoinRequest, Joined, SyncRequest};

const DELAY_MS: u64 = 3000;

/// A group with a clock: what it asks for is done at once, its timers when the time has come.
struct World {
    group: ClassicGroup,
    now_ms: u64,
    max_size: usize,
    next: u64,
    timers: Vec<(u64, GroupTimer)>,
    answers: BTreeMap<MessageId, Body>,
}

impl World {
    fn new() -> World {
        World {
            group: ClassicGroup::new("g"),
            now_ms: 0,
            max_size: usize::MAX,
            next: 1,
            timers: Vec::new(),
            answers: BTreeMap::new(),
        }
    }

    fn happen(&mut self, what: impl FnOnce(&mut ClassicGroup, &mut Change)) {
        let mut change = Change::at(self.now_ms, DELAY_MS, self.max_size);
        what(&mut self.group, &mut change);
        let mut stored = None;
        for effect in change.effects {
            match effect {
                Effect::Answer(id, body) => {
                    self.answers.insert(id, body);
                }
                Effect::Wake(at_ms, timer) => self.timers.push((at_ms, timer)),
                Effect::Store(answers) => {
                    self.answers.extend(answers);
                    stored = Some(self.group.generation);
                }
                Effect::Say(_) | Effect::Miss { .. } => {}
            }
        }
        if let Some(generation) = stored {
            self.written(generation);
        }
    }

    /// A write is committed at once.
    fn written(&mut self, generation: i32) {
        let mut change = Change::at(self.now_ms, DELAY_MS, self.max_size);
        self.group.written(generation, &mut change);
        for effect in change.effects {
            match effect {
                Effect::Answer(id, body) => {
                    self.answers.insert(id, body);
                }
                Effect::Wake(at_ms, timer) => self.timers.push((at_ms, timer)),
                Effect::Store(_) | Effect::Say(_) | Effect::Miss { .. } => {}
            }
        }
    }

    fn pass(&mut self, until_ms: u64) {
        loop {
            let due = self.timers.iter().enumerate().filter(|(_, (at, _))| *at <= until_ms);
            let Some((index, _)) = due.min_by_key(|(_, (at, _))| *at) else { break };
            let (at_ms, timer) = self.timers.remove(index);
            self.now_ms = at_ms.max(self.now_ms);
            self.happen(|group, change| group.on_timer(&timer, change));
        }
        self.now_ms = until_ms;
    }

    fn id(&mut self) -> MessageId {
        self.next += 1;
        MessageId(self.next)
    }

    fn ask(&mut self, client: &str, request: &JoinRequest) -> MessageId {
        let id = self.id();
        self.happen(|group, change| group.join((id, client), request, change));
        id
    }

    /// A client joins: it fetches an id first. Gives the id and the request that waits.
    fn join(&mut self, client: &str) -> (String, MessageId) {
        let first = self.ask(client, &request(None, None));
        let answer = self.joined(first).expect("an answer");
        assert_eq!(answer.result, Err(KafkaError::MemberIdRequired));
        let id = answer.member.clone();
        let request = request(Some(&id), None);
        let waiting = self.ask(client, &request);
        (id, waiting)
    }

    fn joined(&self, request: MessageId) -> Option<&JoinAnswer> {
        match self.answers.get(&request)? {
            Body::JoinGroupResponse(answer) => Some(answer),
            other => panic!("not an answer to a join: {other:?}"),
        }
    }

    fn generation(&self, request: MessageId) -> Joined {
        self.joined(request).expect("answered").result.clone().expect("a generation")
    }

    fn sync(&mut self, member: &str, assignments: Assignments) -> MessageId {
        let id = self.id();
        let speaker = self.speaker(member);
        let request = SyncRequest { group: "g".to_owned(), speaker, assignments };
        self.happen(|group, change| group.sync(id, &request, change));
        id
    }

    fn speaker(&self, member: &str) -> Speaker {
        let instance = self.group.members.get(member).and_then(|one| one.instance.clone());
        Speaker { member: member.to_owned(), instance, epoch: self.group.generation }
    }

    fn beat(&mut self, speaker: &Speaker) -> Result<(), KafkaError> {
        let mut result = Ok(());
        self.happen(|group, change| result = group.heartbeat(speaker, change));
        result
    }

    /// A stable group of two dynamic members in generation 1.
    fn two_members() -> (World, String, String) {
        let mut world = World::new();
        let (first, _) = world.join("a");
        let (second, _) = world.join("b");
        world.pass(2 * DELAY_MS);
        let given = Assignments::from([(first.clone(), vec![partition(0)])]);
        world.sync(&first, given);
        world.sync(&second, Assignments::new());
        assert_eq!((world.group.phase, world.group.generation), (GroupPhase::Stable, 1));
        (world, first, second)
    }
}

fn partition(number: u32) -> TopicPartition {
    TopicPartition::new("orders", number)
}

fn request(member: Option<&str>, instance: Option<&str>) -> JoinRequest {
    let said = Subscription { topics: ["orders".to_owned()].into(), ..Subscription::default() };
    JoinRequest {
        group: "g".to_owned(),
        member: member.map(str::to_owned),
        instance: instance.map(str::to_owned),
        session_timeout_ms: 10_000,
        rebalance_timeout_ms: 60_000,
        protocols: vec![(Strategy::Range, said.clone()), (Strategy::CooperativeSticky, said)],
    }
}

#[test]
fn the_first_rebalance_waits_for_company_and_once_more_when_it_comes() {
    let mut world = World::new();
    let (_, alone) = world.join("a");
    world.pass(2999);
    assert!(world.joined(alone).is_none());
    world.pass(3000);
    assert_eq!(world.generation(alone).generation, 1);

    let mut world = World::new();
    let (_, first) = world.join("a");
    world.pass(1000);
    let (_, second) = world.join("b");
    world.pass(5999);
    assert!(world.joined(first).is_none());
    world.pass(6000);
    assert_eq!(world.generation(first).members.len(), 2, "the first leads");
    assert_eq!(world.generation(second).members.len(), 0);
}

#[test]
fn the_first_assignor_that_all_support_is_used() {
    let mut world = World::new();
    let (_, first) = world.join("a");
    let mut other = request(None, None);
    other.protocols.remove(0);
    let asked = world.ask("b", &other);
    let id = world.joined(asked).expect("an id").member.clone();
    other.member = Some(id);
    world.ask("b", &other);
    world.pass(6000);
    assert_eq!(world.generation(first).strategy, Strategy::CooperativeSticky);
    let mut stranger = request(None, None);
    stranger.protocols.truncate(1);
    let refused = world.ask("c", &stranger);
    let error = world.joined(refused).expect("refused").result.clone();
    assert_eq!(error, Err(KafkaError::InconsistentGroupProtocol));
}

#[test]
fn a_member_is_missed_after_its_session_and_the_others_gather() {
    let (mut world, first, second) = World::two_members();
    let begun_ms = world.now_ms;
    for seconds in [3, 6, 9] {
        world.pass(begun_ms + seconds * 1000);
        let speaker = world.speaker(&first);
        assert_eq!(world.beat(&speaker), Ok(()));
    }
    world.pass(begun_ms + 10_000);
    assert_eq!(world.group.phase, GroupPhase::PreparingRebalance);
    assert!(!world.group.members.contains_key(&second));
    let speaker = world.speaker(&first);
    assert_eq!(world.beat(&speaker), Err(KafkaError::RebalanceInProgress));
}

#[test]
fn who_leaves_is_not_waited_for_and_the_last_one_leaves_it_empty() {
    let (mut world, first, second) = World::two_members();
    world.happen(|group, change| {
        assert_eq!(group.leave(&second, None, change), Ok(()));
    });
    let again = request(Some(&first), None);
    let waiting = world.ask("a", &again);
    assert_eq!(world.generation(waiting).generation, 2, "nobody else is waited for");
    world.happen(|group, change| {
        assert_eq!(group.leave(&first, None, change), Ok(()));
        assert_eq!(group.leave(&first, None, change), Err(KafkaError::UnknownMemberId));
    });
    assert_eq!((world.group.phase, world.group.generation), (GroupPhase::Empty, 3));
}

#[test]
fn an_old_generation_and_a_stranger_are_refused() {
    let (mut world, first, _) = World::two_members();
    let mut speaker = world.speaker(&first);
    assert_eq!(world.group.check_commit(Some(&speaker)), Ok(()));
    assert_eq!(world.group.check_commit(None), Err(KafkaError::UnknownMemberId));
    speaker.epoch = 0;
    assert_eq!(world.beat(&speaker), Err(KafkaError::IllegalGeneration));
    assert_eq!(world.group.check_commit(Some(&speaker)), Err(KafkaError::IllegalGeneration));
    speaker.member = "nobody".to_owned();
    assert_eq!(world.beat(&speaker), Err(KafkaError::UnknownMemberId));
}

#[test]
fn commits_are_taken_while_the_group_gathers_but_not_while_it_is_told() {
    let (mut world, first, _) = World::two_members();
    let (newcomer, _) = world.join("c");
    assert_eq!(world.group.phase, GroupPhase::PreparingRebalance);
    let old = world.speaker(&first);
    assert_eq!(world.group.check_commit(Some(&old)), Ok(()));
    world.ask("a", &request(Some(&first), None));
    // The other one is silent, and missed.
    world.pass(world.now_ms + 10_000);
    assert_eq!(world.group.phase, GroupPhase::CompletingRebalance);
    let speaker = world.speaker(&newcomer);
    let refused = Err(KafkaError::RebalanceInProgress);
    assert_eq!(world.group.check_commit(Some(&speaker)), refused);
}

#[test]
fn a_static_member_comes_back_to_its_place_without_a_rebalance() {
    let mut world = World::new();
    let waiting = world.ask("a", &request(None, Some("one")));
    world.pass(3000);
    let old = world.generation(waiting).leader;
    let given = Assignments::from([(old.clone(), vec![partition(0), partition(1)])]);
    world.sync(&old, given);
    let again = world.ask("a", &request(None, Some("one")));
    let joined = world.generation(again);
    assert_eq!((joined.generation, world.group.phase), (1, GroupPhase::Stable));
    assert_ne!(joined.leader, old);
    let own = world.sync(&joined.leader, Assignments::new());
    let Some(Body::SyncGroupResponse(Ok(own))) = world.answers.get(&own) else { panic!("no part") };
    assert_eq!(own.len(), 2);
    let fenced = Speaker { member: old, instance: Some("one".to_owned()), epoch: 1 };
    assert_eq!(world.beat(&fenced), Err(KafkaError::FencedInstanceId));
}

#[test]
fn who_does_not_join_again_in_time_is_out() {
    let (mut world, first, second) = World::two_members();
    let (_, newcomer) = world.join("c");
    world.ask("a", &request(Some(&first), None));
    let begun_ms = world.now_ms;
    for seconds in 1..60 {
        world.pass(begun_ms + seconds * 1000);
        let speaker = world.speaker(&second);
        assert_eq!(world.beat(&speaker), Err(KafkaError::RebalanceInProgress));
    }
    assert!(world.joined(newcomer).is_none());
    world.pass(begun_ms + 60_000);
    assert_eq!(world.generation(newcomer).generation, 2);
    assert!(!world.group.members.contains_key(&second));
}

#[test]
fn a_failed_write_sends_everybody_back_to_gather() {
    let (mut world, first, second) = World::two_members();
    let (third, _) = world.join("c");
    world.ask("a", &request(Some(&first), None));
    world.ask("b", &request(Some(&second), None));
    assert_eq!(world.group.phase, GroupPhase::CompletingRebalance);
    let waiting = world.sync(&third, Assignments::new());
    let error = KafkaError::CoordinatorNotAvailable;
    world.happen(|group, change| group.not_written(2, error, change));
    assert_eq!(world.group.phase, GroupPhase::PreparingRebalance);
    let answer = world.answers.get(&waiting);
    assert!(matches!(answer, Some(Body::SyncGroupResponse(Err(found))) if *found == error));
}

#[test]
fn a_new_coordinator_reads_what_was_written() {
    let (world, first, _) = World::two_members();
    let read = world.group.stored();
    assert_eq!((read.phase, read.generation), (GroupPhase::Stable, 1));
    assert_eq!(read.members[&first].assignment, [partition(0)]);
    assert_eq!(read.leader, Some(first));
}

#[test]
fn a_full_group_takes_nobody_more() {
    let (mut world, first, _) = World::two_members();
    world.max_size = 2;
    let refused = world.ask("c", &request(None, None));
    let answer = world.joined(refused).expect("an answer").result.clone();
    assert_eq!(answer, Err(KafkaError::GroupMaxSizeReached));
    assert_eq!(world.group.phase, GroupPhase::Stable, "nobody else is disturbed");
    let again = world.ask("a", &request(Some(&first), None));
    assert!(world.joined(again).is_none(), "a member is taken again, and waits");
}

#[test]
fn a_group_that_is_too_large_loses_who_joins_again_last() {
    let (mut world, first, second) = World::two_members();
    world.max_size = 1;
    let stays = world.ask("a", &request(Some(&first), None));
    let late = world.ask("b", &request(Some(&second), None));
    let answer = world.joined(late).expect("an answer").result.clone();
    assert_eq!(answer, Err(KafkaError::GroupMaxSizeReached));
    assert_eq!(world.generation(stays).generation, 2);
    assert_eq!(world.group.members.len(), 1);
}

#[test]
fn a_wrong_or_replaced_instance_is_fenced() {
    let mut world = World::new();
    let asked = world.ask("a", &request(None, Some("i1")));
    world.pass(DELAY_MS);
    let old = world.joined(asked).expect("an answer").member.clone();
    let speaker = world.speaker(&old);
    world.sync(&old, Assignments::new());
    world.ask("a", &request(None, Some("i1")));
    assert_eq!(world.beat(&speaker), Err(KafkaError::FencedInstanceId));
    assert_eq!(world.group.check_commit(Some(&speaker)), Err(KafkaError::FencedInstanceId));
    let stranger = Speaker { instance: Some("i2".to_owned()), ..speaker };
    assert_eq!(world.beat(&stranger), Err(KafkaError::UnknownMemberId));
}
