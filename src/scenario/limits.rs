//! The format's limits, each with the name that messages use.

/// Bytes of one file: 1 MiB.
pub const FILE_BYTES: usize = 1 << 20;
/// How deep mappings and lists may stand in each other.
pub const NESTING: usize = 32;
/// Values, lists and mappings of one file.
pub const NODES: usize = 250_000;
/// Steps of one scenario.
pub const STEPS: usize = 100;
/// Actions of one scenario.
pub const ACTIONS: usize = 2_000;
/// Records that the actions of one scenario produce.
pub const RECORDS: u64 = 1_000_000;
/// Brokers, and controllers, of one scenario.
pub const BROKERS: u64 = 100;
/// Partitions of one scenario.
pub const PARTITIONS: u64 = 10_000;
/// Simulated time: 30 days, in milliseconds.
pub const TIME_MS: u64 = 30 * 24 * 3_600_000;
/// Events that a run keeps, idle chatter left out.
pub const KEPT_EVENTS: usize = 1_000_000;
/// A network slower than this lets the controllers' own time-outs fire, in milliseconds.
pub const CALM_NETWORK_MS: u64 = 700;
