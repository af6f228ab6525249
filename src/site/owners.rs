//! Which file of the published site is whose, so that none is replaced in silence. Names that
//! differ in letter case only are one file on some systems, and so they are here.

use std::collections::BTreeMap;

/// The files that are written so far, and the folders that they stand in.
#[derive(Clone, Debug, Default)]
pub struct Owners {
    files: BTreeMap<String, Place>,
    folders: BTreeMap<String, Place>,
}

#[derive(Clone, Debug)]
struct Place {
    path: String,
    owner: String,
}

impl Owners {
    /// Takes a path for `owner`.
    ///
    /// # Errors
    /// A sentence that names whose the path is already.
    pub fn take(&mut self, path: &str, owner: &str) -> Result<(), String> {
        let place = |path: &str| Place { path: path.to_owned(), owner: owner.to_owned() };
        let key = path.to_lowercase();
        if let Some(other) = self.files.get(&key) {
            return Err(clash(path, other));
        }
        if let Some(other) = self.folders.get(&key) {
            return Err(format!("the file `{path}` would replace a folder of {}", other.owner));
        }
        let folders: Vec<&str> = path.match_indices('/').map(|(at, _)| &path[..at]).collect();
        for folder in &folders {
            let key = folder.to_lowercase();
            if let Some(other) = self.files.get(&key) {
                return Err(format!(
                    "the folder `{folder}` would replace a file of {}",
                    other.owner
                ));
            }
            if let Some(other) = self.folders.get(&key).filter(|other| other.path != *folder) {
                return Err(clash(folder, other));
            }
        }
        self.files.insert(key, place(path));
        for folder in folders {
            self.folders.entry(folder.to_lowercase()).or_insert_with(|| place(folder));
        }
        Ok(())
    }
}

fn clash(path: &str, other: &Place) -> String {
    let Place { path: taken, owner } = other;
    if taken == path {
        format!("`{path}` is written by {owner} already")
    } else {
        format!("`{path}` differs in letter case only from `{taken}` of {owner}")
    }
}

#[cfg(test)]
mod tests {
    use super::Owners;

    #[test]
    fn a_path_has_one_owner() {
        let mut owners = Owners::default();
        assert_eq!(owners.take("scenarios/index.html", "the build"), Ok(()));
        assert_eq!(owners.take("guide/index.html", "content/guide.md"), Ok(()));
        for (path, named) in [
            ("scenarios/index.html", "the build"),
            ("scenarios", "the build"),
            ("guide/index.html/a.png", "content/guide.md"),
            ("Guide/index.html", "`guide/index.html` of content/guide.md"),
            ("Guide/b.png", "`guide` of content/guide.md"),
        ] {
            let told = owners.take(path, "content/x").expect_err(path);
            assert!(told.contains(path.split('/').next().unwrap()), "{told}");
            assert!(told.contains(named), "{told}");
        }
        assert_eq!(owners.take("guide/b.png", "content/guide/b.png"), Ok(()));
    }
}
