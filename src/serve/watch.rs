//! Watches a site's folder: `book.toml` and the folders that the site is read from, not what else
//! stands beside them (the published site, a repository's own files).

use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use notify::{ErrorKind, RecommendedWatcher, RecursiveMode};
use notify_debouncer_full::{DebounceEventResult, Debouncer, RecommendedCache, new_debouncer};

use crate::project::Error;

/// How long nothing may change before a build begins; an editor saves in several moves.
const QUIET_MS: u64 = 80;

/// A watched folder.
pub struct Watcher {
    debouncer: Debouncer<RecommendedWatcher, RecommendedCache>,
    root: PathBuf,
    relevant: Arc<Mutex<Vec<PathBuf>>>,
}

impl Watcher {
    /// Watches `folder` itself; each change that matters is told to `changes`.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn new(folder: &Path, changes: Sender<()>) -> Result<Watcher, Error> {
        // The names in events begin with what was asked for.
        let root = std::path::absolute(folder).map_err(Error::io("watch", folder))?;
        let relevant = Arc::new(Mutex::new(Vec::new()));
        let matters = Arc::clone(&relevant);
        let whole = root.clone();
        let told = move |result: DebounceEventResult| {
            let matters = matters.lock().unwrap_or_else(PoisonError::into_inner);
            if result.is_ok_and(|events| {
                events
                    .iter()
                    .filter(|event| !event.kind.is_access())
                    .flat_map(|event| &event.paths)
                    .any(|path| *path == whole || matters.iter().any(|part| path.starts_with(part)))
            }) {
                // The receiver is gone only when the program ends.
                let _ = changes.send(());
            }
        };
        let mut debouncer = new_debouncer(Duration::from_millis(QUIET_MS), None, told)
            .map_err(|error| Error::io("watch", folder)(io::Error::other(error)))?;
        debouncer
            .watch(&root, RecursiveMode::NonRecursive)
            .map_err(|error| Error::io("watch", folder)(io::Error::other(error)))?;
        Ok(Watcher { debouncer, root, relevant })
    }

    /// Watches these folders too, all the way down, as far as they are there. One that comes later
    /// is seen in the folder above and watched after the build that follows.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn follow(&mut self, folders: &[PathBuf]) -> Result<(), Error> {
        let folders: Vec<PathBuf> = folders.iter().map(|folder| self.root.join(folder)).collect();
        let mut relevant = folders.clone();
        relevant.push(self.root.join("book.toml"));
        *self.relevant.lock().unwrap_or_else(PoisonError::into_inner) = relevant;
        for folder in folders {
            match self.debouncer.watch(&folder, RecursiveMode::Recursive) {
                Err(error) if !is_absent(&error) => {
                    return Err(Error::io("watch", &folder)(io::Error::other(error)));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

fn is_absent(error: &notify::Error) -> bool {
    match &error.kind {
        ErrorKind::PathNotFound => true,
        ErrorKind::Io(cause) => cause.kind() == io::ErrorKind::NotFound,
        _ => false,
    }
}
