//! Reads a site's folder: every file in the order of its path, texts checked to be UTF-8 and of a
//! size that a person can have written. Symbolic links are not followed.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use walkdir::WalkDir;

use crate::diag::{Code, Problem, Report, SourceFile, Span};
use crate::site::config::{self, Config};
use crate::site::{Inputs, OutputFile};

use super::Error;
use super::chapters::{self, Folders};

/// The largest text file, in bytes.
const TEXT_BYTES_MAX: u64 = 1 << 20;

/// A site's folder, read.
#[derive(Clone, Debug, Default)]
pub struct Site {
    /// What stands in it.
    pub inputs: Inputs,
    /// What is wrong with its files.
    pub report: Report,
    /// The folder that `book.toml` names for the result.
    pub build_dir: PathBuf,
    /// The folders that it is read from.
    pub sources: Vec<PathBuf>,
}

/// Reads the site in `folder`.
///
/// # Errors
/// When there is no site, or the system refuses to read something.
pub fn read(folder: &Path) -> Result<Site, Error> {
    let mut reader = Reader { folder, report: Report::default() };
    let book = folder.join("book.toml");
    let scenarios = folder.join("scenarios");
    // Said about the folder itself, so that a wrong path does not look like an empty site.
    fs::read_dir(folder).map_err(Error::io("read", folder))?;
    if !book.exists() && !scenarios.exists() {
        return Err(Error::NotASite { path: folder.to_owned() });
    }
    let mut config = Config::default();
    if book.exists()
        && let Some(file) = reader.text(&book)?
    {
        let (read, report) = config::parse(&file);
        reader.report.extend(report);
        config = read;
    }
    let mut inputs = Inputs::default();
    let mut paths = Vec::new();
    for path in reader.files("scenarios")? {
        if has_ending(&path, "yaml") {
            inputs.scenarios.extend(reader.text(&path)?);
        }
        paths.push(reader.name(&path));
    }
    let names = reader.folders("scenarios")?;
    let mut folders = Folders { names, paths, files: &mut inputs.scenarios };
    reader.report.extend(chapters::check(&mut folders));
    for path in reader.files("templates")? {
        inputs.templates.extend(reader.text(&path)?);
    }
    for path in reader.files(&config.src)? {
        if has_ending(&path, "md") {
            inputs.pages.extend(reader.text(&path)?);
        } else {
            let bytes = fs::read(&path).map_err(Error::io("read", &path))?;
            let name = reader.name(&path);
            let below = name.strip_prefix(&format!("{}/", config.src)).unwrap_or(&name);
            inputs.files.push(OutputFile { path: below.to_owned(), bytes });
        }
    }
    let build_dir = folder.join(&config.build_dir);
    let names = config::SOURCES.into_iter().chain([config.src.as_str()]);
    let sources = names.map(|name| folder.join(name)).collect();
    inputs.config = config;
    Ok(Site { inputs, report: reader.report, build_dir, sources })
}

/// Reads one text file anywhere. No file: it is too large, and the report says so.
///
/// # Errors
/// When the system refuses to read it.
pub fn read_file(path: &Path) -> Result<(Option<Arc<SourceFile>>, Report), Error> {
    let mut reader = Reader { folder: Path::new(""), report: Report::default() };
    let file = reader.text(path)?;
    Ok((file, reader.report))
}

struct Reader<'a> {
    folder: &'a Path,
    report: Report,
}

impl Reader<'_> {
    /// The regular files under a folder of the site, in the order of their names.
    fn files(&mut self, below: &str) -> Result<Vec<PathBuf>, Error> {
        let mut top = self.folder.to_owned();
        for part in below.split('/') {
            top.push(part);
            if top.is_symlink() {
                self.link(&top);
                return Ok(Vec::new());
            }
        }
        if !top.exists() {
            return Ok(Vec::new());
        }
        let visible = |name: &OsStr| !name.to_string_lossy().starts_with('.');
        let mut files = Vec::new();
        let walk = WalkDir::new(&top).sort_by_file_name().into_iter();
        for entry in walk.filter_entry(|entry| visible(entry.file_name())) {
            let entry = entry.map_err(|error| {
                let path = error.path().unwrap_or(&top).to_owned();
                Error::io("read", &path)(error.into())
            })?;
            if entry.path_is_symlink() {
                self.link(entry.path());
            } else if entry.file_type().is_file() {
                files.push(entry.into_path());
            }
        }
        Ok(files)
    }

    /// The names of the folders directly under a folder of the site, in their order.
    fn folders(&self, below: &str) -> Result<Vec<String>, Error> {
        let top = self.folder.join(below);
        let mut names = Vec::new();
        if top.exists() && !top.is_symlink() {
            for entry in WalkDir::new(&top).min_depth(1).max_depth(1).sort_by_file_name() {
                let entry = entry.map_err(|error| Error::io("read", &top)(error.into()))?;
                let name = entry.file_name().to_string_lossy();
                if entry.file_type().is_dir() && !name.starts_with('.') {
                    names.push(name.into_owned());
                }
            }
        }
        Ok(names)
    }

    fn link(&mut self, path: &Path) {
        let file = Arc::new(SourceFile::new(self.name(path), ""));
        let message = "a symbolic link is not followed";
        self.report.push(
            Problem::warning(Code::SymbolicLink, &file, Span::default(), message)
                .help("put the file itself there"),
        );
    }

    /// A text file; none when it is too large. What is not UTF-8 in it is replaced and reported.
    fn text(&mut self, path: &Path) -> Result<Option<Arc<SourceFile>>, Error> {
        let name = self.name(path);
        let size = fs::metadata(path).map_err(Error::io("read", path))?.len();
        if size > TEXT_BYTES_MAX {
            let file = Arc::new(SourceFile::new(name, ""));
            let message = format!("the file has {size} bytes, a text may have 1 MiB");
            self.report.push(Problem::error(Code::Limit, &file, Span::default(), message));
            return Ok(None);
        }
        let bytes = fs::read(path).map_err(Error::io("read", path))?;
        Ok(Some(match String::from_utf8(bytes) {
            Ok(text) => Arc::new(SourceFile::new(name, text)),
            Err(error) => {
                let at = error.utf8_error().valid_up_to();
                let text = String::from_utf8_lossy(error.as_bytes()).into_owned();
                let file = Arc::new(SourceFile::new(name, text));
                let message = "the file is not UTF-8 from here on";
                self.report.push(Problem::error(Code::NotUtf8, &file, Span::new(at, at), message));
                file
            }
        }))
    }

    /// A path as messages show it: relative to the site's folder, with `/`.
    fn name(&self, path: &Path) -> String {
        let path = path.strip_prefix(self.folder).unwrap_or(path);
        let parts: Vec<_> = path.iter().map(OsStr::to_string_lossy).collect();
        parts.join("/")
    }
}

fn has_ending(path: &Path, ending: &str) -> bool {
    path.extension().is_some_and(|found| found.eq_ignore_ascii_case(ending))
}
