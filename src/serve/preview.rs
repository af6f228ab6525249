//! What the preview shows: the last good site, and what is wrong with the files since.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use axum::body::Bytes;

/// What one build came to.
#[derive(Clone, Debug, Default)]
pub struct Built {
    /// The files by their path under the site's root; none when there are errors.
    pub files: Option<BTreeMap<String, Vec<u8>>>,
    /// What is wrong, as the terminal shows it without colours; empty when all is well.
    pub problems: String,
    /// The site's path on its host, with `/` at both ends.
    pub base_path: String,
    /// The folders that the site is read from, for watching.
    pub folders: Vec<PathBuf>,
}

/// The newest state of the preview. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Preview {
    /// Counts the builds.
    pub version: u64,
    /// The last site without errors.
    pub site: Option<Arc<Site>>,
    /// What was wrong in the last build.
    pub problems: Arc<str>,
}

/// A whole site in memory.
#[derive(Clone, Debug)]
pub struct Site {
    base_path: String,
    files: BTreeMap<String, Bytes>,
}

/// What stands at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found<'a> {
    /// A file, by its path under the site's root.
    File(&'a str, &'a Bytes),
    /// A page whose address ends in `/`.
    Folder,
    /// Nothing, inside the site.
    Nothing,
    /// Nothing, since it is outside of the site.
    Outside,
}

impl Preview {
    /// The state after the first build.
    #[must_use]
    pub fn first(built: Built) -> Preview {
        let mut preview = Preview { version: 0, site: None, problems: "".into() };
        preview.replace(built);
        preview
    }

    /// Takes over what a build came to. With errors, the last good site stays.
    pub fn replace(&mut self, built: Built) {
        self.version += 1;
        self.problems = built.problems.into();
        if let Some(files) = built.files {
            let files = files.into_iter().map(|(path, bytes)| (path, bytes.into())).collect();
            self.site = Some(Arc::new(Site { base_path: built.base_path, files }));
        }
    }
}

impl Site {
    /// The site's path on its host, with `/` at both ends.
    #[must_use]
    pub fn base_path(&self) -> &str {
        &self.base_path
    }

    /// Looks up a path as it stands in an address, decoded. Nothing but files of the site is found:
    /// `..` is a name like any other.
    #[must_use]
    pub fn find(&self, path: &str) -> Found<'_> {
        let Some(path) = path.strip_prefix(&self.base_path) else { return Found::Outside };
        let file = if path.is_empty() || path.ends_with('/') {
            self.files.get_key_value(&format!("{path}index.html"))
        } else {
            self.files.get_key_value(path)
        };
        match file {
            Some((path, bytes)) => Found::File(path, bytes),
            None if self.files.contains_key(&format!("{path}/index.html")) => Found::Folder,
            None => Found::Nothing,
        }
    }

    /// A file by its path under the site's root.
    #[must_use]
    pub fn file(&self, path: &str) -> Option<&Bytes> {
        self.files.get(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn built(files: Option<&[&str]>, problems: &str) -> Built {
        let files = files.map(|paths| {
            paths.iter().map(|path| ((*path).to_owned(), path.as_bytes().to_vec())).collect()
        });
        let base_path = "/kafka-simulator/".to_owned();
        Built { files, problems: problems.to_owned(), base_path, folders: Vec::new() }
    }

    #[test]
    fn the_last_good_site_stays_while_there_are_errors() {
        let mut preview = Preview::first(built(Some(&["index.html"]), ""));
        preview.replace(built(None, "error[KS0101]"));
        assert_eq!(preview.version, 2);
        assert_eq!(&*preview.problems, "error[KS0101]");
        assert!(preview.site.is_some_and(|site| site.file("index.html").is_some()));
    }

    #[test]
    fn only_files_of_the_site_are_found() {
        let preview = Preview::first(built(Some(&["index.html", "a/index.html", "x.css"]), ""));
        let site = preview.site.expect("the build was good");
        for (path, expected) in [
            ("/kafka-simulator/", "index.html"),
            ("/kafka-simulator/a/", "a/index.html"),
            ("/kafka-simulator/x.css", "x.css"),
            ("/kafka-simulator/a", "folder"),
            ("/kafka-simulator/../Cargo.toml", "nothing"),
            ("/kafka-simulator//etc/passwd", "nothing"),
            ("/kafka-simulator/a/../x.css", "nothing"),
            ("/kafka-simulator", "outside"),
            ("/", "outside"),
        ] {
            let found = match site.find(path) {
                Found::File(path, _) => path,
                Found::Folder => "folder",
                Found::Nothing => "nothing",
                Found::Outside => "outside",
            };
            assert_eq!(found, expected, "{path}");
        }
    }
}
