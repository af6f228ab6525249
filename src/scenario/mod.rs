//! The scenario format: from a YAML file to a checked [`model::Scenario`], and from there, by driving
//! the simulator through its steps, to a [`run::Run`]. Knows no HTML, no SVG and no disk.

pub mod model;
pub mod run;
