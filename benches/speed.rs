//! How long one scenario and one picture take: `cargo bench`.
fn main() {}
