//! Who reads what: the coordinator's assignors against results of Kafka's own classes.

use std::collections::BTreeMap;

use kafka_sim_site::sim::assignor::{ServerAssignor, Subscriber, Subscribers, Target, Topics};
use kafka_sim_site::sim::ids::TopicPartition;
use serde_json::Value;

fn texts(value: &Value) -> Vec<&str> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

/// The facts were run with topics in the order in which they are listed; ours go by name. So a
/// topic's place is put before its name.
struct Case<'v> {
    case: &'v Value,
    names: BTreeMap<&'v str, String>,
}

impl<'v> Case<'v> {
    fn of(case: &'v Value) -> Case<'v> {
        let topics = case["topics"].as_object().expect("topics");
        let names =
            topics.keys().zip(0..).map(|(name, place)| (name.as_str(), format!("{place}{name}")));
        Case { case, names: names.collect() }
    }

    fn partition(&self, text: &str) -> TopicPartition {
        let known = TopicPartition::parse(text).expect("a partition");
        let name = self.names.get(known.topic.as_str()).cloned().unwrap_or(known.topic);
        TopicPartition::new(name, known.partition)
    }

    fn topics(&self) -> Topics {
        let counts = self.case["topics"].as_object().expect("topics");
        let count = |value: &Value| u32::try_from(value.as_u64().expect("a count")).expect("small");
        counts
            .iter()
            .map(|(name, value)| (self.names[name.as_str()].clone(), count(value)))
            .collect()
    }

    fn members(&self) -> Subscribers {
        let members = self.case["members"].as_array().expect("members");
        members
            .iter()
            .map(|member| {
                let topics = texts(&member["topics"]);
                let subscriber = Subscriber {
                    instance: member["instance"].as_str().map(str::to_owned),
                    topics: topics.iter().map(|topic| self.names[topic].clone()).collect(),
                    owned: texts(&member["owned"]).iter().map(|p| self.partition(p)).collect(),
                };
                (member["id"].as_str().expect("an id").to_owned(), subscriber)
            })
            .collect()
    }

    fn expected(&self) -> Target {
        let expected = self.case["expect"].as_object().expect("an assignment");
        expected
            .iter()
            .map(|(id, own)| (id.clone(), texts(own).iter().map(|p| self.partition(p)).collect()))
            .collect()
    }
}

#[test]
fn the_coordinators_assignors_give_what_kafkas_give() {
    let facts: Value = serde_json::from_str(include_str!("../facts/server-assignors.json"))
        .expect("the facts are JSON");
    let cases = facts["cases"].as_array().expect("a list");
    assert_eq!(cases.len(), 12);
    for value in cases {
        let case = Case::of(value);
        let name = value["assignor"].as_str().and_then(|name| name.strip_prefix("server-"));
        let assignor = name.and_then(ServerAssignor::named).expect("a known assignor");
        let found = assignor.assign(&case.members(), &case.topics());
        assert_eq!(found, case.expected(), "{}", value["id"]);
    }
}
