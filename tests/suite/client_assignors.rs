//! Who reads what: the clients' assignors against results of Kafka's own classes, on random inputs
//! against Kafka's own jar where Java and Maven are there, and against what they promise.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use kafka_sim_site::sim::assignor::client::{Assignments, Members, Racks, Strategy, Subscription};
use kafka_sim_site::sim::assignor::{cooperative, sticky};
use kafka_sim_site::sim::ids::TopicPartition;
use kafka_sim_site::sim::rng::{Draw, Rng};
use serde_json::Value;

use crate::kafka_classes;

const STRATEGIES: [Strategy; 4] =
    [Strategy::Range, Strategy::RoundRobin, Strategy::Sticky, Strategy::CooperativeSticky];

fn texts(value: &Value) -> Vec<&str> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

fn partitions(value: &Value) -> Vec<TopicPartition> {
    texts(value).into_iter().filter_map(TopicPartition::parse).collect()
}

fn topics(case: &Value) -> Racks {
    let brokers = texts(&case["broker_racks"]);
    let factor = case["rf"].as_u64().unwrap_or(0);
    let counts: BTreeMap<&String, u64> = case["topics"]
        .as_object()
        .expect("topics")
        .iter()
        .map(|(name, count)| (name, count.as_u64().expect("a count")))
        .collect();
    let mut earlier = 0;
    let mut racks = Racks::new();
    for (name, count) in counts {
        let rack = |number: u64| {
            let broker = usize::try_from(number).expect("small") % brokers.len();
            brokers[broker].to_owned()
        };
        let of =
            |partition| (0..factor).map(|replica| rack(partition + replica + earlier)).collect();
        racks.insert(name.clone(), (0..count).map(of).collect());
        earlier += count;
    }
    racks
}

fn members(case: &Value) -> Members {
    let members = case["members"].as_array().expect("members");
    let text = |value: &Value| value.as_str().map(str::to_owned);
    members
        .iter()
        .map(|member| {
            let generation = member["generation"].as_i64();
            let subscription = Subscription {
                topics: texts(&member["topics"]).into_iter().map(str::to_owned).collect(),
                instance: text(&member["instance"]),
                rack: text(&member["rack"]),
                owned: partitions(&member["owned"]),
                generation: generation.map(|one| i32::try_from(one).expect("small")),
            };
            (text(&member["id"]).expect("an id"), subscription)
        })
        .collect()
}

fn sorted(given: Assignments) -> BTreeMap<String, BTreeSet<TopicPartition>> {
    given.into_iter().map(|(id, own)| (id, own.into_iter().collect())).collect()
}

/// Java's `HashMap` of 16 places hands these ids out in the order of their hashes; ours go by name.
fn in_hash_order(strategy: Strategy, members: &Members, topics: &Racks) -> Assignments {
    let place = |id: &str| {
        let hash = id
            .bytes()
            .fold(0_u32, |hash, byte| hash.wrapping_mul(31).wrapping_add(u32::from(byte)));
        (hash ^ (hash >> 16)) & 15
    };
    let mut order: Vec<&String> = members.keys().collect();
    order.sort_by_key(|id| place(id));
    match strategy {
        Strategy::Sticky => sticky::assign_in_order(members, topics, &order).given,
        Strategy::CooperativeSticky => {
            let outcome = sticky::assign_in_order(members, topics, &order);
            cooperative::without_moving(members, outcome)
        }
        other => other.assign(members, topics),
    }
}

#[test]
fn the_clients_assignors_give_what_kafkas_give() {
    let facts: Value = serde_json::from_str(include_str!("../facts/client-assignors.json"))
        .expect("the facts are JSON");
    let cases = facts["cases"].as_array().expect("a list");
    assert_eq!(cases.len(), 23);
    for case in cases {
        let strategy = case["assignor"].as_str().and_then(Strategy::named).expect("an assignor");
        let found = sorted(in_hash_order(strategy, &members(case), &topics(case)));
        let expected: BTreeMap<String, BTreeSet<TopicPartition>> = case["expect"]
            .as_object()
            .expect("an assignment")
            .iter()
            .map(|(id, own)| (id.clone(), partitions(own).into_iter().collect()))
            .collect();
        assert_eq!(found, expected, "{}", case["id"]);
    }
}

/// What is put to an assignor.
struct Input {
    members: Members,
    topics: Racks,
}

/// Members are called `m0` to `m9`, whose order by hash is that by name.
fn draw(rng: &mut Rng) -> Input {
    let racks = rng.draw(3);
    let topic_count = 1 + rng.draw(4);
    let mut topics = Racks::new();
    for number in 0..topic_count {
        let partition = |rng: &mut Rng| -> BTreeSet<String> {
            (0..=rng.draw(2)).filter(|_| racks > 0).map(|_| format!("r{}", rng.draw(3))).collect()
        };
        let count = 1 + rng.draw(8);
        topics.insert(format!("t{number}"), (0..count).map(|_| partition(rng)).collect());
    }
    let all: Vec<TopicPartition> = topics
        .iter()
        .flat_map(|(topic, racks)| {
            (0..).zip(racks).map(|(number, _)| TopicPartition::new(topic.clone(), number))
        })
        .collect();
    let same = rng.draw(2) == 0;
    let chosen: BTreeSet<String> = some_topics(&topics, rng);
    let mut members = Members::new();
    let mut free = all;
    for number in 0..=rng.draw(9) {
        let subscribed = if same { chosen.clone() } else { some_topics(&topics, rng) };
        let mut owned = Vec::new();
        for _ in 0..rng.draw(5) {
            if !free.is_empty() {
                let one = free.swap_remove(rng.draw(free.len()));
                if subscribed.contains(&one.topic) {
                    owned.push(one);
                }
            }
        }
        owned.sort();
        let subscription = Subscription {
            topics: subscribed,
            instance: (rng.draw(4) == 0).then(|| format!("i{}", 9 - number)),
            rack: (racks > 0 && rng.draw(3) > 0).then(|| format!("r{}", rng.draw(3))),
            generation: Some(i32::try_from(1 + rng.draw(2)).expect("small")),
            owned,
        };
        members.insert(format!("m{number}"), subscription);
    }
    Input { members, topics }
}

fn some_topics(topics: &Racks, rng: &mut Rng) -> BTreeSet<String> {
    let mut some: BTreeSet<String> = topics.keys().filter(|_| rng.draw(3) > 0).cloned().collect();
    if some.is_empty() {
        some.extend(topics.keys().next().cloned());
    }
    some
}

/// Nobody gets what it does not subscribe to, nothing is given twice, and but for what the
/// cooperative assignor holds back everything that somebody wants is given.
#[test]
fn every_partition_has_one_owner_that_subscribes_to_it() {
    let mut rng = Rng::new(7);
    for _ in 0..2000 {
        let input = draw(&mut rng);
        for strategy in STRATEGIES {
            let given = strategy.assign(&input.members, &input.topics);
            assert!(given.keys().eq(input.members.keys()));
            let mut seen = BTreeSet::new();
            for (id, own) in &given {
                for partition in own {
                    assert!(input.members[id].topics.contains(&partition.topic), "{strategy:?}");
                    assert!(seen.insert(partition.clone()), "{strategy:?}: {partition} twice");
                }
            }
            let wanted: BTreeSet<&String> =
                input.members.values().flat_map(|member| &member.topics).collect();
            let count: usize = wanted.into_iter().map(|topic| input.topics[topic].len()).sum();
            let held_back = count - seen.len();
            assert!(held_back == 0 || strategy == Strategy::CooperativeSticky, "{strategy:?}");
        }
    }
}

/// With equal subscriptions shares differ by at most one.
#[test]
fn the_sticky_assignor_balances_equal_subscriptions() {
    let mut rng = Rng::new(8);
    for _ in 0..500 {
        let mut input = draw(&mut rng);
        let all: BTreeSet<String> = input.topics.keys().cloned().collect();
        for member in input.members.values_mut() {
            member.topics.clone_from(&all);
            member.rack = None;
        }
        let given = Strategy::Sticky.assign(&input.members, &input.topics);
        let sizes: Vec<usize> = given.values().map(Vec::len).collect();
        assert!(sizes.iter().max().unwrap_or(&0) - sizes.iter().min().unwrap_or(&0) <= 1);
    }
}

/// Nobody is given what another living member still holds; a second round gives it.
#[test]
fn the_cooperative_assignor_moves_a_partition_in_two_rounds() {
    let mut rng = Rng::new(9);
    for _ in 0..500 {
        let mut input = draw(&mut rng);
        let all: BTreeSet<String> = input.topics.keys().cloned().collect();
        for member in input.members.values_mut() {
            (member.generation, member.rack) = (Some(1), None);
            member.topics.clone_from(&all);
        }
        let first = Strategy::CooperativeSticky.assign(&input.members, &input.topics);
        for (id, own) in &first {
            for (other, member) in &input.members {
                let both = own.iter().any(|one| member.owned.contains(one));
                assert!(other == id || !both, "{id} is given what {other} holds");
            }
        }
        for (id, member) in &mut input.members {
            (member.owned, member.generation) = (first[id].clone(), Some(2));
        }
        let second = Strategy::CooperativeSticky.assign(&input.members, &input.topics);
        let given: usize = second.values().map(Vec::len).sum();
        let count: usize = input.topics.values().map(Vec::len).sum();
        assert_eq!(given, count);
    }
}

/// One line per thing, so that a small Java program can read it without a library.
fn written(inputs: &[(Strategy, Input)]) -> String {
    let mut text = String::new();
    let list =
        |own: &[TopicPartition]| own.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
    for (strategy, input) in inputs {
        writeln!(text, "case {}", strategy.name()).expect("memory");
        for (topic, racks) in &input.topics {
            let racks: Vec<String> =
                racks.iter().map(|one| one.iter().cloned().collect::<Vec<_>>().join("+")).collect();
            writeln!(text, "topic {topic} {}", racks.join(",")).expect("memory");
        }
        for (id, member) in &input.members {
            let topics: Vec<&str> = member.topics.iter().map(String::as_str).collect();
            let or_none = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
            writeln!(
                text,
                "member {id} {} {} {} {} {}",
                topics.join(","),
                or_none(&member.instance),
                or_none(&member.rack),
                member.generation.unwrap_or(-1),
                if member.owned.is_empty() { "-".to_owned() } else { list(&member.owned) }
            )
            .expect("memory");
        }
    }
    text
}

fn found(given: &Assignments) -> String {
    let one = |(id, own): (&String, &Vec<TopicPartition>)| {
        let own: BTreeSet<&TopicPartition> = own.iter().collect();
        let own: Vec<String> = own.into_iter().map(ToString::to_string).collect();
        format!("{id}={}", own.join(","))
    };
    given.iter().map(one).collect::<Vec<_>>().join(" ")
}

#[test]
fn on_random_inputs_kafkas_own_classes_give_the_same() {
    let mut rng = Rng::new(10);
    let inputs: Vec<(Strategy, Input)> = STRATEGIES
        .into_iter()
        .flat_map(|strategy| std::iter::repeat_n(strategy, 100))
        .map(|strategy| (strategy, draw(&mut rng)))
        .collect();
    let Some(lines) = kafka_classes::answers("AssignAtClient", &written(&inputs)) else { return };
    assert_eq!(lines.len(), inputs.len());
    for (number, (line, (strategy, input))) in lines.iter().zip(&inputs).enumerate() {
        let ours = found(&strategy.assign(&input.members, &input.topics));
        let asked = &inputs[number..=number];
        assert_eq!(ours, *line, "{}", written_one(asked));
    }
}

fn written_one(asked: &[(Strategy, Input)]) -> String {
    let copies: Vec<(Strategy, Input)> = asked
        .iter()
        .map(|(strategy, input)| {
            let input = Input { members: input.members.clone(), topics: input.topics.clone() };
            (*strategy, input)
        })
        .collect();
    written(&copies)
}
