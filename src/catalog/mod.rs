//! Facts of Kafka as data: every setting and every error code of Kafka 4.3.
//!
//! The data stand in `configs.json`, `descriptions.json` and `errors.json` beside this file and are
//! part of the program; they are read once, at the first use. Knows nothing of the simulator's
//! internals, of files or of pages. What the simulator does with a setting says [`treatment()`].

mod check;
mod combination;
mod effective;
mod error_code;
mod setting;
mod treatment;
mod valid;
mod value;
mod words;

pub use check::{Wrong, check, find};
pub use combination::{Refusal, refused_combination};
pub use effective::topic_default;
pub use error_code::{ErrorCode, error_code, error_codes};
pub use setting::{
    Importance, Mode, Scope, Setting, Synonym, ValueType, doc_url, setting, settings,
    settings_named, settings_of,
};
pub use treatment::{Treatment, treatment};
pub use valid::Valid;
pub use value::{canonical, compare};
pub use words::in_words;

#[cfg(test)]
mod tests;
