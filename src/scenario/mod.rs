//! The scenario format: from a YAML file to a checked [`model::Scenario`], and from there, by
//! driving the simulator through its steps, to a [`run::Run`]. Knows no HTML, no SVG and no disk.

mod action_keys;
mod actions;
pub mod catalogue;
mod change;
mod condition;
mod context;
pub mod diff;
mod domain;
mod drive;
mod duration;
mod effect;
mod expect;
mod fields;
mod given;
pub mod id;
mod ignored;
mod keys;
mod limits;
mod lint;
mod literal;
mod lookup;
pub mod model;
mod names;
mod numbers;
pub mod observable;
mod outcomes;
pub mod outline;
mod path;
mod placement;
pub mod published;
mod read;
mod record;
#[cfg(test)]
mod reference;
pub mod run;
pub mod schema;
mod settings;
mod shape;
mod simulate;
mod slip;
mod steps;
mod tables;
mod text;
mod topology;
mod tree;
mod value;
mod variants;
mod written;
mod yaml;

pub use diff::{Tree, changes};
pub use read::read;
pub use simulate::simulate;
