//! What can go wrong that is no author's mistake: the environment's failures.

use std::io;
use std::path::{Path, PathBuf};

/// A failure of the environment: what was tried, on what, and why it did not work.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The system refused an operation.
    #[error("cannot {operation} {}: {cause}", path.display())]
    Io {
        /// What was tried: `read`, `write`, `listen on`.
        operation: &'static str,
        /// On what.
        path: PathBuf,
        /// The system's answer.
        cause: io::Error,
    },
    /// The folder holds no site.
    #[error(
        "{} holds no site: there is neither a book.toml nor a folder scenarios/ in it",
        path.display()
    )]
    NotASite {
        /// The folder.
        path: PathBuf,
    },
    /// The folder to publish to holds something else.
    #[error(
        "{} is not empty and was not written by this program, so it is left alone; \
         name another folder, or empty this one first",
        path.display()
    )]
    Foreign {
        /// The folder.
        path: PathBuf,
    },
    /// The folder to publish to and a folder that the site is read from lie one in the other.
    #[error(
        "cannot publish to {}: the site is read from {}; name a folder apart from it",
        path.display(),
        folder.display()
    )]
    InSource {
        /// The folder to publish to.
        path: PathBuf,
        /// The folder that the site is read from.
        folder: PathBuf,
    },
}

impl Error {
    /// Makes an error of the system's answer: `fs::read(path).map_err(Error::io("read", path))`.
    pub fn io(operation: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
        let path = path.to_owned();
        move |cause| Error::Io { operation, path, cause }
    }
}
