//! A site's folder on disk: read whole into plain values, and published as a whole. The only module
//! that touches files. Knows no page.

mod chapters;
pub mod error;
pub mod publish;
pub mod read;

pub use error::Error;
pub use publish::{Staging, keep_apart, write_file};
pub use read::{Site, read, read_file};
