//! What actions do to consumers and to groups' offsets.

use super::Sim;
use super::broker::Broker;
use super::command::{AcknowledgeKind, Command, PauseMode, ResetTo};
use super::consumer::Consumer;
use super::error::KafkaError;
use super::ids::{BrokerId, Machine, Offset, TopicPartition};
use super::kernel::ProcessStatus;
use super::observe::metadata;
use super::share::Verdict;
use super::trace::EventKind;

impl Sim {
    /// Does an action that is about a consumer; any other is an administrator's.
    pub(super) fn consumer_command(&mut self, command: Command) {
        match command {
            Command::StartConsumer { consumer } => {
                self.report(format!("starts {consumer}"));
                self.start_consumer(&consumer);
            }
            Command::StopConsumer { consumer } => {
                let wish = format!("closes {consumer}");
                self.ask_consumer(&consumer, &wish, Consumer::close);
                self.end_if_consumer_closed(&consumer);
            }
            Command::CrashConsumer { consumer } => {
                self.report(format!("kills {consumer}"));
                self.end_consumer(&consumer);
            }
            Command::PauseConsumer { consumer, mode } => self.pause_consumer(&consumer, mode),
            Command::ResumeConsumer { consumer, mode } => self.resume_consumer(&consumer, mode),
            Command::PausePartitions { consumer, partitions } => {
                let wish = format!("lets {consumer} pause partitions");
                self.ask_consumer(&consumer, &wish, |consumer, kernel| {
                    consumer.pause_partitions(&partitions, kernel);
                });
            }
            Command::ResumePartitions { consumer, partitions } => {
                let wish = format!("lets {consumer} resume partitions");
                self.ask_consumer(&consumer, &wish, |consumer, kernel| {
                    consumer.resume_partitions(&partitions, kernel);
                });
            }
            Command::Seek { consumer, partition, offset } => {
                let wish = format!("lets {consumer} seek {offset} in {partition}");
                self.ask_consumer(&consumer, &wish, |consumer, kernel| {
                    consumer.seek(&partition, offset, kernel);
                });
            }
            Command::Acknowledge { consumer, partition, offset, kind } => {
                self.acknowledge((&consumer, kind), &partition, offset);
            }
            Command::Commit { consumer, partition, offset } => {
                self.commit(&consumer, &partition, offset);
            }
            other => self.administration(other),
        }
    }

    /// Lets the application of a consumer that runs do something.
    fn ask_consumer(
        &mut self,
        name: &str,
        wish: &str,
        act: impl FnOnce(&mut Consumer, &mut super::kernel::Kernel),
    ) {
        let running = self.kernel.status(&Machine::Client(name.to_owned()));
        match self.consumers.get_mut(name) {
            Some(consumer) if running == ProcessStatus::Running => {
                self.kernel.trace_admin(EventKind::Action, wish.to_owned(), None);
                act(consumer, &mut self.kernel);
            }
            _ => self.report(format!("{wish}, which does not run")),
        }
    }

    fn pause_consumer(&mut self, name: &str, mode: PauseMode) {
        match mode {
            PauseMode::Process => {
                self.report(format!("pauses {name}"));
                self.kernel.pause(&Machine::Client(name.to_owned()));
            }
            PauseMode::App => {
                let wish = format!("lets {name} stop polling");
                self.ask_consumer(name, &wish, |consumer, _| consumer.application_pauses = true);
            }
        }
    }

    fn resume_consumer(&mut self, name: &str, mode: PauseMode) {
        match mode {
            PauseMode::Process => {
                self.report(format!("resumes {name}"));
                self.kernel.resume(&Machine::Client(name.to_owned()));
            }
            PauseMode::App => {
                let wish = format!("lets {name} poll again");
                self.ask_consumer(name, &wish, Consumer::application_goes_on);
            }
        }
    }

    fn acknowledge(
        &mut self,
        (name, kind): (&str, AcknowledgeKind),
        partition: &TopicPartition,
        offset: Offset,
    ) {
        let (word, verdict) = match kind {
            AcknowledgeKind::Accept => ("accept", Verdict::Accept),
            AcknowledgeKind::Release => ("release", Verdict::Release),
            AcknowledgeKind::Reject => ("reject", Verdict::Reject),
            AcknowledgeKind::Renew => ("renew", Verdict::Renew),
        };
        let wish = format!("asks {name} to {word} {partition}@{offset}");
        self.ask_consumer(name, &wish, |consumer, kernel| {
            consumer.acknowledge(partition, offset, verdict, kernel);
        });
    }

    fn commit(&mut self, name: &str, partition: &TopicPartition, offset: Option<Offset>) {
        let position =
            self.consumers.get(name).and_then(|c| c.positions.get(partition).copied().flatten());
        let Some(wanted) = offset.or(position) else { return };
        if let Some(consumer) = self.consumers.get(name).filter(|_| offset.is_some()) {
            self.checker.offset_was_set(&consumer.membership.group, partition);
        }
        let wish = format!("asks {name} to commit offset {wanted} for {partition}");
        self.ask_consumer(name, &wish, |consumer, kernel| {
            consumer.commit(vec![(partition.clone(), wanted)], kernel);
        });
    }

    /// `kafka-consumer-groups --reset-offsets`: sets a group's committed offsets, if it has no
    /// members. Without a partition those of all partitions of its topics. An offset outside a log
    /// becomes its nearest end, as the tool does it
    /// (`ConsumerGroupCommand.checkOffsetsRange`).
    pub(super) fn reset_offsets(
        &mut self,
        group: &str,
        to: ResetTo,
        partition: Option<TopicPartition>,
    ) {
        let spec = self.world.groups.iter().find(|spec| spec.name == group);
        let topics = spec.map(|spec| spec.topics.clone()).unwrap_or_default();
        let image = metadata(self);
        let all = image.partitions.keys().filter(|known| topics.contains(&known.topic));
        let partitions = partition.map_or_else(|| all.cloned().collect(), |one| vec![one]);
        let offsets: Vec<(TopicPartition, Offset)> = partitions
            .into_iter()
            .filter_map(|partition| Some((partition.clone(), self.reset_target(&partition, to)?)))
            .collect();
        let outcome = match self.coordinator_of(group) {
            Some(id) if !offsets.is_empty() => {
                let broker = self.brokers.get_mut(&id);
                let set =
                    |broker: &mut Broker| broker.set_offsets(group, &offsets, &mut self.kernel);
                broker.map_or(Err(KafkaError::CoordinatorNotAvailable), set)
            }
            Some(_) => Err(KafkaError::UnknownTopicOrPartition),
            None => Err(KafkaError::CoordinatorNotAvailable),
        };
        if outcome.is_ok() {
            for (partition, _) in &offsets {
                self.checker.offset_was_set(group, partition);
            }
        }
        self.admin_error = outcome.err();
        let text = match self.admin_error {
            Some(error) => format!("resets the offsets of {group} and gets {error}"),
            None => format!("resets the offsets of {group}"),
        };
        self.kernel.trace_admin(EventKind::Action, text, self.admin_error);
    }

    fn reset_target(&self, partition: &TopicPartition, to: ResetTo) -> Option<Offset> {
        let leader = metadata(self).partitions.get(partition)?.leader?;
        let replica = self.brokers.get(&leader)?.replicas.get(partition)?;
        let (start, end) = (replica.log.start_offset(), replica.high_watermark);
        Some(match to {
            ResetTo::Earliest => start,
            ResetTo::Latest => end,
            ResetTo::Offset(offset) => offset.max(start).min(end),
        })
    }

    /// The running broker that coordinates a group.
    fn coordinator_of(&self, group: &str) -> Option<BrokerId> {
        let image = metadata(self);
        let leader = image.partitions.get(&image.home_of(group))?.leader?;
        let running = self.kernel.status(&Machine::Broker(leader)) == ProcessStatus::Running;
        running.then_some(leader)
    }
}
