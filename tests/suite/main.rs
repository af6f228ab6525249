//! Everything that is tested from outside, in one binary; see `tests/README.md`.

mod assignors;
mod cards;
mod cli;
mod client_assignors;
mod consumers;
mod determinism;
mod diagrams;
mod fuzz;
mod hostile;
mod kafka_classes;
mod outcomes;
mod pages;
mod partitioner;
mod problems;
mod project;
mod properties;
mod references;
mod render;
mod rules;
#[cfg(feature = "serve")]
mod serve;
mod server_assignors;
mod share_groups;
mod simulation;
mod terminal;
mod tidy;
mod traces;
mod transactions;
