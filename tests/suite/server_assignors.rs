//! Who reads what: the coordinator's assignors on random inputs, against Kafka's own jar where Java
//! and Maven are there, and against what they promise.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use kafka_sim_site::sim::assignor::{
    ServerAssignor, Subscriber, Subscribers, Target, Topics, simple,
};
use kafka_sim_site::sim::ids::TopicPartition;
use kafka_sim_site::sim::rng::{Draw, Rng};

use crate::kafka_classes;

/// What an assignor is called, and what it does.
type Named = (&'static str, fn(&Subscribers, &Topics) -> Target);

const ASSIGNORS: [Named; 3] = [
    ("uniform", |members, topics| ServerAssignor::Uniform.assign(members, topics)),
    ("range", |members, topics| ServerAssignor::Range.assign(members, topics)),
    ("simple", simple::assign),
];

/// Members and topics as a coordinator may see them: without an assignment, or with one that may
/// hold what a member has subscribed to no longer. Nobody has what another has, unless partitions
/// are shared. There are few partitions, so that Kafka's hash tables keep their order.
fn draw(rng: &mut Rng, shares: bool) -> (Subscribers, Topics) {
    let mut topics: Topics = (0..=rng.draw(3))
        .map(|number| (format!("t{number}"), u32::try_from(1 + rng.draw(5)).expect("small")))
        .collect();
    let (same, fresh, left) = (rng.draw(2) == 0, rng.draw(4) == 0, rng.draw(3) == 0);
    let chosen = some_topics(&topics, rng);
    let mut free: Vec<TopicPartition> = topics
        .iter()
        .flat_map(|(topic, count)| (0..*count).map(|n| TopicPartition::new(topic.clone(), n)))
        .collect();
    let mut members = Subscribers::new();
    for number in 0..=rng.draw(8) {
        let subscribed = if same { chosen.clone() } else { some_topics(&topics, rng) };
        let mut owned = BTreeSet::new();
        for _ in 0..rng.draw(if fresh { 1 } else { 6 }) {
            if !free.is_empty() {
                let at = rng.draw(free.len());
                owned.insert(free[at].clone());
                if !shares {
                    free.swap_remove(at);
                }
            }
        }
        owned.retain(|partition| left || subscribed.contains(&partition.topic));
        let instance = (rng.draw(4) == 0).then(|| format!("i{}", 9 - number));
        members.insert(format!("m{number}"), Subscriber { instance, topics: subscribed, owned });
    }
    topics.retain(|topic, _| members.values().any(|member| member.topics.contains(topic)));
    for member in members.values_mut() {
        member.owned.retain(|partition| topics.contains_key(&partition.topic));
    }
    (members, topics)
}

fn some_topics(topics: &Topics, rng: &mut Rng) -> BTreeSet<String> {
    let mut some: BTreeSet<String> = topics.keys().filter(|_| rng.draw(3) > 0).cloned().collect();
    if some.is_empty() {
        some.extend(topics.keys().next().cloned());
    }
    some
}

/// One line per thing, so that a small Java program can read it without a library.
fn written(name: &str, (members, topics): &(Subscribers, Topics)) -> String {
    let mut text = format!("case {name}\n");
    for (topic, count) in topics {
        writeln!(text, "topic {topic} {count}").expect("memory");
    }
    for (id, member) in members {
        let topics: Vec<&str> = member.topics.iter().map(String::as_str).collect();
        let owned: Vec<String> = member.owned.iter().map(ToString::to_string).collect();
        let owned = if owned.is_empty() { "-".to_owned() } else { owned.join(",") };
        let instance = member.instance.as_deref().unwrap_or("-");
        writeln!(text, "member {id} {instance} {} {owned}", topics.join(",")).expect("memory");
    }
    text
}

fn found(target: &Target) -> String {
    let one = |(id, own): (&String, &BTreeSet<TopicPartition>)| {
        let own: Vec<String> = own.iter().map(ToString::to_string).collect();
        format!("{id}={}", own.join(","))
    };
    target.iter().map(one).collect::<Vec<_>>().join(" ")
}

#[test]
fn on_random_inputs_kafkas_coordinator_gives_the_same() {
    let mut rng = Rng::new(11);
    let mut cases = Vec::new();
    for (name, assign) in ASSIGNORS {
        for _ in 0..150 {
            let input = draw(&mut rng, name == "simple");
            let ours = found(&assign(&input.0, &input.1));
            cases.push((written(name, &input), ours));
        }
    }
    let text: String = cases.iter().map(|(text, _)| text.as_str()).collect();
    let Some(answers) = kafka_classes::answers("AssignOnServer", &text) else { return };
    assert_eq!(answers.len(), cases.len());
    let differ: Vec<String> = cases
        .iter()
        .zip(answers)
        .filter(|((_, ours), kafkas)| ours != kafkas)
        .map(|((input, ours), kafkas)| format!("{input}ours   {ours}\nKafka's {kafkas}"))
        .collect();
    assert!(differ.is_empty(), "{} differ, the first:\n{}", differ.len(), differ[0]);
}

/// What the coordinator's assignors promise: nothing is given to who does not subscribe to it, and
/// everything is given, once where it is not shared.
#[test]
fn every_partition_is_assigned_to_who_subscribes_to_it() {
    let mut rng = Rng::new(12);
    for round in 0..1000 {
        let (name, assign) = ASSIGNORS[round % 3];
        let (members, topics) = draw(&mut rng, name == "simple");
        let target = assign(&members, &topics);
        let given: Vec<&TopicPartition> = target.values().flatten().collect();
        for (id, own) in &target {
            assert!(own.iter().all(|p| members[id].topics.contains(&p.topic)), "{name}");
        }
        let all: usize = topics.values().map(|count| *count as usize).sum();
        let different: BTreeSet<&TopicPartition> = given.iter().copied().collect();
        assert_eq!(different.len(), all, "{name}: {members:?} {topics:?}");
        assert!(name == "simple" || given.len() == all, "{name}");
    }
}
