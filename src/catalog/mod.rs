//! Facts of Kafka as data: every setting and every error code of Kafka 4.3.
//!
//! The data stand in `configs.json`, `descriptions.json` and `errors.json` beside this file and are
//! part of the program; they are read once, at the first use. Knows nothing of the simulator's
//! internals, of files or of pages. What the simulator does with a setting stands in [`treatment`].

pub mod check;
pub mod combination;
pub mod effective;
pub mod error_code;
pub mod setting;
pub mod treatment;
pub mod valid;
pub mod value;

pub use check::{Wrong, check, find};
pub use combination::{Refusal, refused_combination};
pub use effective::topic_default;
pub use error_code::{ErrorCode, error_code, error_codes};
pub use setting::{
    Importance, Mode, Scope, Setting, ValueType, doc_url, setting, settings, settings_named,
    settings_of,
};
pub use treatment::{Treatment, treatment};
pub use valid::Valid;
pub use value::{canonical, compare};

#[cfg(test)]
mod tests;
