//! The value that a topic's setting has when nobody set it on the topic.

use std::collections::BTreeMap;

use super::setting::{Scope, setting};

/// The default of a topic's setting under these settings of the broker: the first synonym that is
/// set, in the topic's unit, and otherwise Kafka's default. `None` for an unknown name, or where
/// the default is null.
#[must_use]
pub fn topic_default(name: &str, broker: &BTreeMap<String, String>) -> Option<String> {
    let topic = setting(Scope::Topic, name)?;
    for synonym in &topic.synonyms {
        let Some(text) = broker.get(&synonym.name) else { continue };
        return Some(match text.trim().parse::<i64>() {
            // A negative number means "no limit" in every unit.
            Ok(number) if number < 0 => "-1".to_owned(),
            Ok(number) if synonym.factor != 1 => number.saturating_mul(synonym.factor).to_string(),
            _ => text.clone(),
        });
    }
    topic.default.clone()
}
