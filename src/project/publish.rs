//! Publishing: the new site is built in a folder beside the old one, files that did not change are
//! taken over from it, and the two are exchanged in one step at the end. Until then the published
//! folder is not touched, and a folder that holds something else never is.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use tempfile::TempDir;

use crate::site::OutputFile;

use super::Error;

/// Says whose the folder is. Its presence allows the folder to be replaced.
const MARKER: &str = ".kafka-sim-site";
const MARKER_TEXT: &str =
    "This folder is written by `kafka-sim-site build` and replaced as a whole each time.\n";

/// A site that is being written beside the place where it will stand.
#[derive(Debug)]
pub struct Staging {
    /// Where it will stand.
    target: PathBuf,
    /// Goes away with all that is in it, also when the build fails.
    work: TempDir,
    /// The new site, inside `work`.
    new: PathBuf,
}

impl Staging {
    /// Prepares to publish to `target`, which is absent, empty, or was published before.
    ///
    /// # Errors
    /// [`Error::Foreign`] when the folder holds something else; when the system refuses.
    pub fn begin(target: &Path) -> Result<Staging, Error> {
        // Through a symbolic link, the folder that it leads to is meant.
        let target = fs::canonicalize(target).unwrap_or_else(|_| target.to_owned());
        if !is_ours(&target)? {
            return Err(Error::Foreign { path: target });
        }
        let parent = match target.parent() {
            Some(parent) if parent.as_os_str().is_empty() => Path::new("."),
            Some(parent) => parent,
            None => return Err(Error::Foreign { path: target }),
        };
        fs::create_dir_all(parent).map_err(Error::io("create", parent))?;
        let work = tempfile::Builder::new()
            .prefix(".kafka-sim-site-")
            .tempdir_in(parent)
            .map_err(Error::io("create a folder in", parent))?;
        // A folder of its own, since a temporary one cannot be read by everybody.
        let new = work.path().join("new");
        fs::create_dir(&new).map_err(Error::io("create", &new))?;
        let staging = Staging { target, work, new };
        staging.write(&OutputFile { path: MARKER.to_owned(), bytes: MARKER_TEXT.into() })?;
        Ok(staging)
    }

    /// Writes one file of the new site; one that did not change is the old one, under both names.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn write(&self, file: &OutputFile) -> Result<(), Error> {
        let new = self.new.join(&file.path);
        if let Some(parent) = new.parent() {
            fs::create_dir_all(parent).map_err(Error::io("create", parent))?;
        }
        let old = self.target.join(&file.path);
        if has_content(&old, &file.bytes) && fs::hard_link(&old, &new).is_ok() {
            return Ok(());
        }
        fs::write(&new, &file.bytes).map_err(Error::io("write", &new))
    }

    /// A file of the old site. Only for files whose name says their content.
    #[must_use]
    pub fn kept(&self, path: &str) -> Option<Vec<u8>> {
        fs::read(self.target.join(path)).ok()
    }

    /// Puts the new site in the place of the old one; returns where it stands.
    ///
    /// # Errors
    /// When the system refuses; the old site then stands where it stood.
    pub fn publish(self) -> Result<PathBuf, Error> {
        if self.target.exists() {
            exchange(&self.new, &self.target, &self.work.path().join("old"))
        } else {
            fs::rename(&self.new, &self.target)
        }
        .map_err(Error::io("publish to", &self.target))?;
        Ok(self.target)
    }
}

/// Writes one file that is no part of a site, and the folders that lead to it.
///
/// # Errors
/// When the system refuses.
pub fn write_file(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        fs::create_dir_all(parent).map_err(Error::io("create", parent))?;
    }
    fs::write(path, bytes).map_err(Error::io("write", path))
}

/// Refuses a folder to publish to that lies in one of `sources`, or in which one of them lies.
///
/// # Errors
/// [`Error::InSource`].
pub fn keep_apart(target: &Path, sources: &[PathBuf]) -> Result<(), Error> {
    let place = real(target);
    for source in sources {
        let from = real(source);
        if place.starts_with(&from) || from.starts_with(&place) {
            return Err(Error::InSource { path: target.to_owned(), folder: source.clone() });
        }
    }
    Ok(())
}

/// Where a path leads, links followed as far as it exists, without `.` and `..`.
fn real(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut found = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                found.pop();
            }
            part => {
                found.push(part);
                found = fs::canonicalize(&found).unwrap_or(found);
            }
        }
    }
    found
}

/// Whether the folder may be replaced.
fn is_ours(target: &Path) -> Result<bool, Error> {
    match fs::read_dir(target) {
        Ok(mut entries) => Ok(target.join(MARKER).is_file() || entries.next().is_none()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => Ok(false),
        Err(error) => Err(Error::io("read", target)(error)),
    }
}

fn has_content(path: &Path, bytes: &[u8]) -> bool {
    let same_size = fs::symlink_metadata(path)
        .is_ok_and(|found| found.is_file() && found.len() == bytes.len() as u64);
    same_size && fs::read(path).is_ok_and(|found| found == bytes)
}

/// Exchanges two folders in one step where the system has one; otherwise by two renames, the second
/// of which is undone by a third if it fails.
fn exchange(new: &Path, target: &Path, old: &Path) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        if renameat_with(CWD, new, CWD, target, RenameFlags::EXCHANGE).is_ok() {
            return Ok(());
        }
    }
    fs::rename(target, old)?;
    fs::rename(new, target).inspect_err(|_| {
        let _ = fs::rename(old, target);
    })
}
