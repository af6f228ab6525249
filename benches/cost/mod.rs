//! What benches of whole worlds count: the CPU time and the memory of this process, as Linux
//! counts them. Other processes on the machine do not matter to the first.

use std::fs;

/// The CPU time that this process has used, in seconds; it must have one thread.
pub fn cpu_seconds() -> f64 {
    let text = fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    let nanoseconds = text.split_whitespace().next().and_then(|field| field.parse::<u64>().ok());
    nanoseconds.unwrap_or(0) as f64 / 1e9
}

/// The memory that this process holds, in bytes.
#[allow(dead_code, reason = "not every bench counts memory")]
pub fn resident_bytes() -> u64 {
    let text = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    1024 * kib.unwrap_or(0)
}
