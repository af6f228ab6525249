//! `kafka-transactions.sh list`.

use super::columns::tabbed;
use super::{At, CommandView};

/// One, where there is a transactional id.
///
/// # Differs from Kafka
/// Which broker coordinates an id is not part of a snapshot, so the column holds an ellipsis.
pub(super) fn commands(at: &At) -> Option<CommandView> {
    let rows = at.snapshot.transactions.iter().map(|(id, transaction)| {
        let uses = |name: &String| name == id;
        let mut producers = at.snapshot.producers.values();
        let producer = producers.find(|it| it.config.get("transactional.id").is_some_and(uses));
        let number = producer.and_then(|it| it.producer_id);
        vec![
            id.clone(),
            "…".to_owned(),
            number.map_or_else(|| "…".to_owned(), |number| number.to_string()),
            transaction.state.clone(),
        ]
    });
    let rows: Vec<Vec<String>> = rows.collect();
    if rows.is_empty() {
        return None;
    }
    let heads = ["TransactionalId", "Coordinator", "ProducerId", "TransactionState"];
    Some(at.command("kafka-transactions.sh", "list", tabbed(&heads, &rows)))
}
