//! The fields of one action, read by what they refer to; a name that the file does not have is
//! reported.

use super::context::Context;
use super::placement;
use super::topology;
use super::tree::Node;
use crate::diag::{Code, Problem};
use crate::sim::ids::{BrokerId, Machine, TopicPartition};

/// One action's fields.
pub struct Fields<'a, 'b> {
    /// Where names are known and problems go.
    pub context: &'a mut Context<'b>,
    /// The mapping of the fields.
    pub node: &'a Node,
}

impl<'a> Fields<'a, '_> {
    /// The text of a field.
    pub fn text(&self, key: &str) -> Option<&'a str> {
        self.node.get(key)?.text()
    }

    /// A whole number.
    pub fn number<T: std::str::FromStr>(&self, key: &str) -> Option<T> {
        self.node.get(key)?.number()
    }

    /// A producer of the file.
    pub fn producer(&mut self) -> Option<String> {
        let names: Vec<&str> = self.context.names.producers.iter().map(String::as_str).collect();
        self.name("producer", "producer", &names)
    }

    /// A consumer of the file.
    pub fn consumer(&mut self) -> Option<String> {
        let names: Vec<&str> = self.context.names.consumers.iter().map(String::as_str).collect();
        self.name("consumer", "consumer", &names)
    }

    /// A controller.
    pub fn controller(&mut self) -> Option<String> {
        let names: Vec<&str> = self.context.names.controllers.iter().map(String::as_str).collect();
        self.name("controller", "controller", &names)
    }

    /// A group of the file.
    pub fn group(&mut self, key: &str) -> Option<String> {
        let names: Vec<&str> = self.context.names.groups.iter().map(String::as_str).collect();
        self.name(key, "group", &names)
    }

    /// A topic that the file declares or creates.
    pub fn topic(&mut self) -> Option<String> {
        let node = self.node.get("topic")?;
        topology::known_topic(self.context, node);
        node.text().map(str::to_owned)
    }

    /// A broker of the cluster.
    pub fn broker(&mut self) -> Option<BrokerId> {
        placement::broker(self.context, self.node.get("broker")?)
    }

    /// A partition of the file, as `orders-0`.
    pub fn partition(&mut self, key: &str) -> Option<TopicPartition> {
        self.partition_at(self.node.get(key)?)
    }

    /// The partitions of a list.
    pub fn partitions(&mut self) -> Vec<TopicPartition> {
        let items = self.node.get("partitions").map_or(&[][..], Node::items);
        items.iter().filter_map(|item| self.partition_at(item)).collect()
    }

    /// The partition that is named; `None`: all are meant (or the name is wrong, which is
    /// reported).
    pub fn partition_or_all(&mut self) -> Option<TopicPartition> {
        self.partition("partition")
    }

    /// A machine: a broker's id, or the name of a controller or client.
    pub fn machine(&mut self, node: &Node) -> Option<Machine> {
        let name = node.text()?;
        let machine = self.context.names.machine(name);
        if machine.is_none() {
            let names = self.context.names.machines();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            self.context.unknown("machine", node, &names);
        }
        machine
    }

    fn partition_at(&mut self, node: &Node) -> Option<TopicPartition> {
        let name = node.text()?;
        match self.context.names.partition(name) {
            Ok(partition) => Some(partition),
            Err(instead) => {
                let likely = self.context.names.likely_partitions();
                let message = format!("there is no partition `{name}`");
                let problem =
                    Problem::error(Code::UnknownName, self.context.file, node.span, message)
                        .note(instead)
                        .did_you_mean(name, likely.iter().map(String::as_str));
                self.context.report.push(problem);
                None
            }
        }
    }

    fn name(&mut self, key: &str, what: &str, candidates: &[&str]) -> Option<String> {
        let node = self.node.get(key)?;
        let name = node.text()?;
        if !candidates.contains(&name) {
            self.context.unknown(what, node, candidates);
            return None;
        }
        Some(name.to_owned())
    }
}
