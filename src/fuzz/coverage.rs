//! What a set of runs has exercised: actions, error codes, rules.

use std::collections::BTreeMap;
use std::fmt;

use crate::sim::command::Command;
use crate::sim::error::KafkaError;
use crate::sim::trace::{EventKind, TraceEvent};

use super::action::{ACTIONS, name_of};

/// A rule of the simulator, recognised by the event that tells of its effect.
pub struct Rule {
    /// The rule.
    pub name: &'static str,
    /// The kind of event.
    kind: EventKind,
    /// What its text holds.
    says: &'static str,
}

const fn rule(name: &'static str, kind: EventKind, says: &'static str) -> Rule {
    Rule { name, kind, says }
}

/// The rules whose work is counted. A rule that the simulator learns gets a row.
pub static RULES: &[Rule] = &[
    rule("a leader appends", EventKind::Append, " log end "),
    rule("a duplicate is recognised", EventKind::Append, "has these records already"),
    rule("the high watermark follows the ISR", EventKind::HighWatermark, " high watermark "),
    rule("a follower learns the high watermark", EventKind::HighWatermark, "learns"),
    rule("a follower cuts a diverging log", EventKind::Truncate, "cuts its log"),
    rule("a leader proposes an ISR", EventKind::Action, "proposes ISR"),
    rule("a partition changes", EventKind::PartitionChange, "leader "),
    rule("nobody may lead", EventKind::PartitionChange, "no leader"),
    rule("below the minimum the lost stay eligible", EventKind::PartitionChange, ", ELR ["),
    rule("the ISR becomes empty", EventKind::PartitionChange, "ISR [],"),
    rule("a replica takes the lead", EventKind::RoleChange, "leads "),
    rule("a replica follows", EventKind::RoleChange, "follows "),
    rule("a replica is deleted", EventKind::RoleChange, "deletes its replica"),
    rule("a silent broker is fenced", EventKind::Timeout, "was silent"),
    rule("a broker ends in an orderly way", EventKind::BrokerChange, "ends its process"),
    rule("a broker takes up its parts", EventKind::BrokerChange, "caught up with the metadata"),
    rule("a controller becomes active", EventKind::ControllerChange, ""),
    rule("a batch goes again", EventKind::Timeout, " go again in "),
    rule("a batch is split", EventKind::Refused, "splits a batch"),
    rule("a record is given up", EventKind::Failed, "gives up"),
    rule("a request is held", EventKind::Wait, "holds the "),
    rule("a message is lost on a cut link", EventKind::Drop, "the link is cut"),
    rule("a message finds nobody", EventKind::Drop, "nobody is there"),
    rule("a late answer is ignored", EventKind::Drop, "ignores a late"),
    rule("a connection is lost", EventKind::Drop, "loses its connection"),
    rule("a fetcher backs off", EventKind::Timeout, "fetches again in"),
    rule("settings change at run time", EventKind::ConfigChange, ""),
    rule("a poll returns", EventKind::Poll, ""),
    rule("an offset is committed", EventKind::Commit, ""),
    rule("a group prepares a rebalance", EventKind::GroupChange, "prepares a rebalance"),
    rule("a generation begins", EventKind::GroupChange, "begins generation"),
    rule("a group is empty", EventKind::GroupChange, "is empty in generation"),
    rule("a member is assigned its part", EventKind::GroupChange, "is assigned ["),
    rule("a member gives partitions up", EventKind::GroupChange, "gives up ["),
    rule("a member loses partitions", EventKind::GroupChange, "loses ["),
    rule("a silent member is missed", EventKind::GroupChange, "its session is over"),
    rule("a member does not come back in time", EventKind::GroupChange, "again"),
    rule("a stuck member leaves by itself", EventKind::GroupChange, "max.poll.interval.ms"),
    rule("a static member takes its place again", EventKind::GroupChange, "takes the place of"),
    rule("a leader notices other topics", EventKind::GroupChange, "the topics have changed"),
    rule("a consumer notices truncation", EventKind::Truncate, "what it has read"),
    rule("a log loses its oldest segments", EventKind::LogStart, " deletes "),
    rule("a follower learns the log start", EventKind::LogStart, "learns log start"),
    rule("a log is compacted", EventKind::Compaction, "is compacted"),
    rule("a follower begins anew at the log start", EventKind::Truncate, "begins anew"),
    rule("a transaction is open", EventKind::Transaction, "is Ongoing"),
    rule("a transaction is decided", EventKind::Transaction, "is Prepare"),
    rule("a transaction is committed", EventKind::Transaction, "is CompleteCommit"),
    rule("a transaction is aborted", EventKind::Transaction, "is CompleteAbort"),
    rule("a transaction is open for too long", EventKind::Timeout, "open for too long"),
    rule("a group changes", EventKind::GroupChange, ""),
    rule("a group's epoch rises", EventKind::GroupChange, "is in group epoch"),
    rule("the coordinator assigns", EventKind::GroupChange, "has a target assignment"),
    rule("a member goes to its target", EventKind::GroupChange, "in member epoch"),
    rule("a member is shut out", EventKind::GroupChange, "shuts "),
    rule("a member that does not poll leaves", EventKind::GroupChange, "no poll() in time"),
    rule("records are shared out", EventKind::Share, " gets "),
    rule("a lock runs out", EventKind::Share, " run out"),
    rule("a session ends and frees its records", EventKind::Share, "frees "),
    rule("a leader learns where a share group stands", EventKind::Share, " stands at "),
];

/// Codes of the model that random worlds need not bring about, and why.
pub static NOT_DEMANDED: &[(KafkaError, &str)] = &[
    (KafkaError::NotEnoughReplicasAfterAppend, "the high watermark stands still below the minimum"),
    (KafkaError::OffsetNotAvailable, "needs a consumer that starts right after an election"),
    (KafkaError::StaleBrokerEpoch, "needs a request that outlives its process and a registration"),
    (KafkaError::InvalidTxnState, "needs a client that breaks the protocol"),
    (KafkaError::InvalidProducerIdMapping, "needs a coordinator that has forgotten an id"),
    (KafkaError::TransactionCoordinatorFenced, "needs a coordinator that does not know it is over"),
    (
        KafkaError::StaleMemberEpoch,
        "needs a commit on its way while its member goes to a new epoch",
    ),
    (KafkaError::CoordinatorLoadInProgress, "comes in fewer than one of 500 worlds"),
    (KafkaError::IllegalGeneration, "comes in fewer than one of 500 worlds"),
    (KafkaError::InvalidProducerEpoch, "comes in fewer than one of 500 worlds"),
    (KafkaError::ProducerFenced, "comes in fewer than one of 500 worlds"),
    (KafkaError::FencedMemberEpoch, "comes in fewer than one of 500 worlds"),
];

/// Counts of what happened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Worlds run.
    pub worlds: u64,
    /// Events of all runs.
    pub events: u64,
    actions: BTreeMap<&'static str, u64>,
    errors: BTreeMap<String, u64>,
    rules: BTreeMap<&'static str, u64>,
}

impl Coverage {
    /// Takes note of an action that was done.
    pub fn note_action(&mut self, command: &Command) {
        *self.actions.entry(name_of(command)).or_default() += 1;
    }

    /// Takes note of an event.
    pub fn note_event(&mut self, event: &TraceEvent) {
        self.events += 1;
        if let Some(error) = &event.error {
            match self.errors.get_mut(error) {
                Some(count) => *count += 1,
                None => {
                    self.errors.insert(error.clone(), 1);
                }
            }
        }
        for rule in RULES.iter().filter(|rule| rule.kind == event.event) {
            if event.text.contains(rule.says) {
                *self.rules.entry(rule.name).or_default() += 1;
            }
        }
    }

    /// Adds what other runs have exercised.
    #[must_use]
    pub fn and(mut self, other: &Coverage) -> Coverage {
        self.worlds += other.worlds;
        self.events += other.events;
        add(&mut self.actions, &other.actions);
        add(&mut self.errors, &other.errors);
        add(&mut self.rules, &other.rules);
        self
    }

    /// Actions and error codes that were hit fewer than so many times, with the count of each.
    #[must_use]
    pub fn below(&self, required: u64) -> Vec<(&'static str, u64)> {
        let actions = ACTIONS.iter().map(|action| (action.name, self.action(action.name)));
        let errors = KafkaError::ALL.iter().filter(|error| is_demanded(**error));
        let errors = errors.map(|error| (error.name(), self.error(*error)));
        actions.chain(errors).filter(|(_, count)| *count < required).collect()
    }

    fn action(&self, name: &str) -> u64 {
        self.actions.get(name).copied().unwrap_or(0)
    }

    fn error(&self, error: KafkaError) -> u64 {
        self.errors.get(error.name()).copied().unwrap_or(0)
    }

    /// How often a rule was at work.
    #[must_use]
    pub fn rule(&self, name: &str) -> u64 {
        self.rules.get(name).copied().unwrap_or(0)
    }
}

fn add<K: Ord + Clone>(to: &mut BTreeMap<K, u64>, from: &BTreeMap<K, u64>) {
    for (key, count) in from {
        *to.entry(key.clone()).or_default() += count;
    }
}

fn is_demanded(error: KafkaError) -> bool {
    !NOT_DEMANDED.iter().any(|(other, _)| *other == error)
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} worlds, {} events", self.worlds, self.events)?;
        let errors = KafkaError::ALL.iter().filter(|error| self.error(**error) > 0);
        section(f, "actions", ACTIONS.iter().map(|one| (one.name, self.action(one.name))))?;
        section(f, "error codes", errors.map(|error| (error.name(), self.error(*error))))?;
        section(f, "rules", RULES.iter().map(|rule| (rule.name, self.rule(rule.name))))
    }
}

fn section<'a>(
    f: &mut fmt::Formatter<'_>,
    title: &str,
    mut rows: impl Iterator<Item = (&'a str, u64)>,
) -> fmt::Result {
    writeln!(f, "\n{title}")?;
    rows.try_for_each(|(name, count)| writeln!(f, "{count:>12}  {name}"))
}
