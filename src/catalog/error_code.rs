//! Kafka's error codes: the table of `org.apache.kafka.common.protocol.Errors`.

use std::sync::LazyLock;

use serde::Deserialize;

/// One error that a broker answers with.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ErrorCode {
    /// The number in the protocol; 0 is no error.
    pub code: i16,
    /// Its name: `NOT_ENOUGH_REPLICAS`.
    pub name: String,
    /// The Java client's exception, without its package; none for no error.
    pub exception: Option<String>,
    /// Whether a client may try again.
    pub retriable: bool,
    /// Whether a client first asks for new metadata.
    pub invalid_metadata: bool,
    /// Whether an open transaction has to be aborted.
    pub transaction_abortable: bool,
}

static TABLE: LazyLock<Vec<ErrorCode>> = LazyLock::new(|| {
    serde_json::from_str(include_str!("errors.json"))
        .expect("the data are part of the program, and a test reads them")
});

/// All error codes, by number.
#[must_use]
pub fn error_codes() -> &'static [ErrorCode] {
    &TABLE
}

/// The error of this name.
#[must_use]
pub fn error_code(name: &str) -> Option<&'static ErrorCode> {
    TABLE.iter().find(|error| error.name == name)
}
