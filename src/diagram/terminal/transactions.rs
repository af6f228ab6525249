//! `kafka-transactions.sh list` and `describe`.

use super::columns::tabbed;
use super::{At, CommandView, answers};
use crate::sim::snapshot::TransactionView;

const TOOL: &str = "kafka-transactions.sh";

const FROM_ZERO: &str = "Times are counted from 0 s of the scenario; a real cluster counts them \
                         from 1970.";

const DESCRIBED: [&str; 9] = [
    "CoordinatorId",
    "TransactionalId",
    "ProducerId",
    "ProducerEpoch",
    "TransactionState",
    "TransactionTimeoutMs",
    "CurrentTransactionStartTimeMs",
    "TransactionDurationMs",
    "TopicPartitions",
];

/// One for all transactional ids whose coordinators answer, and one for each of them
/// (`TransactionsCommand`).
pub(super) fn commands(at: &At) -> Vec<CommandView> {
    let all = at.snapshot.transactions.iter();
    let known = all.filter(|(_, it)| coordinator(at, it).is_some());
    let known: Vec<(&String, &TransactionView)> = known.collect();
    if known.is_empty() {
        return Vec::new();
    }
    let rows = known.iter().map(|(id, transaction)| {
        vec![
            (*id).clone(),
            coordinator(at, transaction).unwrap_or_default(),
            transaction.details.producer_id.to_string(),
            transaction.state.clone(),
        ]
    });
    let heads = ["TransactionalId", "Coordinator", "ProducerId", "TransactionState"];
    let list = at.command(TOOL, "list", tabbed(&heads, &rows.collect::<Vec<_>>()));
    let described = known.iter().map(|(id, transaction)| describe(at, id, transaction));
    std::iter::once(list).chain(described).collect()
}

/// The id of the broker that coordinates it, if that answers.
fn coordinator(at: &At, transaction: &TransactionView) -> Option<String> {
    let id = transaction.details.coordinator.filter(|id| answers(at.snapshot, *id));
    id.map(|id| id.to_string())
}

fn describe(at: &At, id: &str, transaction: &TransactionView) -> CommandView {
    let details = &transaction.details;
    let absent = || "None".to_owned();
    let lasts = |started: u64| at.snapshot.time_ms.saturating_sub(started).to_string();
    let partitions: Vec<String> = transaction.partitions.iter().map(ToString::to_string).collect();
    let row = vec![
        coordinator(at, transaction).unwrap_or_default(),
        id.to_owned(),
        details.producer_id.to_string(),
        transaction.producer_epoch.to_string(),
        transaction.state.clone(),
        details.timeout_ms.to_string(),
        details.started_ms.map_or_else(absent, |started| started.to_string()),
        details.started_ms.map_or_else(absent, lasts),
        partitions.join(","),
    ];
    let note = details.started_ms.map(|_| FROM_ZERO);
    let asked = format!("describe --transactional-id {id}");
    CommandView { note, ..at.command(TOOL, &asked, tabbed(&DESCRIBED, &[row])) }
}
