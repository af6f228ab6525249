//! Facts of Kafka as data: every setting and every error code of Kafka 4.3.
//!
//! The data stand in `configs.json` and `errors.json` beside this file and are part of the program.
