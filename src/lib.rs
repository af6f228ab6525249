//! Kafka walkthroughs that are simulated, drawn and proved when the site is built.
//!
//! Data flow one way, and each stage takes and returns plain values:
//! read ([`project`]) → parse ([`scenario`]) → simulate ([`sim`]) → lay out and draw ([`diagram`])
//! → render and verify ([`site`]) → publish ([`project`]). A module may use what stands to its
//! right in `cli → serve → project → site → diagram → scenario → sim`, and everywhere [`diag`] and
//! [`catalog`]; `sim` uses nothing of ours. [`fuzz`] stands aside: it puts `sim` to the test.

#![forbid(unsafe_code)]

pub mod catalog;
pub mod cli;
pub mod diag;
pub mod diagram;
pub mod fuzz;
pub mod project;
pub mod scenario;
#[cfg(feature = "serve")]
pub mod serve;
pub mod sim;
pub mod site;
