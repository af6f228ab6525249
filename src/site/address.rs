//! Addresses of pages, and what an author's link means. All of it is arithmetic on text.

use std::fmt;

use crate::diag::Code;

/// The address of a page under the site's root: `scenarios/write-path/`, or nothing for the home
/// page. The page's file is `index.html` in it, unless the address is that of a file (`404.html`).
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Address(String);

impl Address {
    /// The address of a page. `path` is empty or ends in `/`, or is the name of a file.
    #[must_use]
    pub fn new(path: impl Into<String>) -> Address {
        Address(path.into())
    }

    /// The address as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The file that a browser gets for it.
    #[must_use]
    pub fn file(&self) -> String {
        file_of(&self.0)
    }

    /// What leads from this page to the site's root: `../../`, or nothing.
    #[must_use]
    pub fn root(&self) -> String {
        "../".repeat(self.0.matches('/').count())
    }

    /// A relative link from this page to another path of the site.
    #[must_use]
    pub fn relative(&self, path: &str) -> String {
        let link = self.root() + path;
        if link.is_empty() { "./".to_owned() } else { link }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The file behind a path: a folder's is its `index.html`.
#[must_use]
pub fn file_of(path: &str) -> String {
    if path.is_empty() || path.ends_with('/') {
        format!("{path}index.html")
    } else {
        path.to_owned()
    }
}

/// Where a link leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// To another site.
    Elsewhere,
    /// To a path of this site, and a place in it.
    Inside {
        /// The path under the site's root.
        path: String,
        /// What follows `#`.
        fragment: Option<String>,
    },
}

/// Why a link is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The problem's code.
    pub code: Code,
    /// What is wrong.
    pub message: String,
    /// What to write instead.
    pub help: String,
}

/// What a link means that is shown on `page`. `below` is the path below the content folder of the
/// Markdown file that it stands in; none for texts of scenarios.
///
/// `/configs/acks/` counts from the site's root. Between Markdown pages, `other.md` counts from the
/// file, as mdBook has it.
///
/// # Errors
/// For schemes other than `http`, `https` and `mailto`, and for links that leave the site's root.
pub fn resolve(link: &str, page: &Address, below: Option<&str>) -> Result<Target, Refusal> {
    if let Some(scheme) = scheme(link) {
        return match scheme.to_ascii_lowercase().as_str() {
            "http" | "https" | "mailto" => Ok(Target::Elsewhere),
            other => Err(Refusal {
                code: Code::UnsafeLink,
                message: format!("a link may not begin with `{other}:`"),
                help: "http:, https: and mailto: are allowed".to_owned(),
            }),
        };
    }
    if link.trim().is_empty() {
        return Err(Refusal {
            code: Code::DeadLink,
            message: "the link leads nowhere: its address is empty".to_owned(),
            help: "write the address between the brackets: [text](/configs/acks/)".to_owned(),
        });
    }
    let (path, fragment) = match link.split_once('#') {
        Some((path, fragment)) => (path, Some(fragment.to_owned())),
        None => (link, None),
    };
    if path.is_empty() {
        return Ok(Target::Inside { path: page.as_str().to_owned(), fragment });
    }
    let path = match (path.strip_prefix('/'), below) {
        (Some(from_root), _) if !from_root.starts_with('/') => normal(from_root),
        (None, Some(from)) => {
            let folder = from.rfind('/').map_or("", |at| &from[..=at]);
            normal(&format!("{folder}{path}"))
        }
        _ => None,
    };
    match path {
        Some(path) => Ok(Target::Inside { path: page_of(&path), fragment }),
        None => Err(Refusal {
            code: Code::DeadLink,
            message: format!("the link `{link}` leads nowhere"),
            help: "write links inside the site from its root: /scenarios/write-path/".to_owned(),
        }),
    }
}

/// The path under the site's root that a Markdown file's own path stands for: `guide/index.md` and
/// `guide/README.md` are `guide/`, `fidelity.md` is `fidelity/`. Other paths stay.
#[must_use]
pub fn page_of(path: &str) -> String {
    let Some(stem) = path.strip_suffix(".md") else { return path.to_owned() };
    match stem.rsplit_once('/') {
        None if matches!(stem, "index" | "README") => String::new(),
        Some((folder, "index" | "README")) => format!("{folder}/"),
        _ => format!("{stem}/"),
    }
}

fn scheme(link: &str) -> Option<&str> {
    let (scheme, _) = link.trim_start().split_once(':')?;
    let valid = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'));
    valid.then_some(scheme)
}

/// The path without `.` and `..`; none when it leaves the root.
fn normal(path: &str) -> Option<String> {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "." => {}
            ".." => {
                parts.pop()?;
            }
            other => parts.push(other),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inside(link: &str, page: &str, below: Option<&str>) -> String {
        match resolve(link, &Address::new(page), below) {
            Ok(Target::Inside { path, fragment }) => {
                path + &fragment.map(|f| format!("#{f}")).unwrap_or_default()
            }
            Ok(Target::Elsewhere) => "elsewhere".to_owned(),
            Err(refusal) => refusal.code.to_string(),
        }
    }

    #[test]
    fn links_count_from_the_root_or_from_the_markdown_file() {
        let page = "guide/a/";
        for (link, expected) in [
            ("/configs/acks/", "configs/acks/"),
            ("/scenarios/write-path/#step-3", "scenarios/write-path/#step-3"),
            ("b.md", "guide/b/"),
            ("../index.md#top", "#top"),
            ("./pic.png", "guide/pic.png"),
            ("#here", "guide/a/#here"),
            ("https://kafka.apache.org/", "elsewhere"),
            ("MAILTO:a@b.c", "elsewhere"),
            ("javascript:alert(1)", "KS0303"),
            (" data:text/html,x", "KS0303"),
            ("//evil.example/", "KS0401"),
            ("", "KS0401"),
            ("../../up.md", "KS0401"),
        ] {
            assert_eq!(inside(link, page, Some("guide/a.md")), expected, "{link}");
        }
        assert_eq!(inside("b.md", "scenarios/x/", None), "KS0401");
    }

    #[test]
    fn a_relative_link_leads_back_to_where_it_was_meant() {
        let page = Address::new("scenarios/write-path/");
        assert_eq!(page.relative("configs/acks/"), "../../configs/acks/");
        assert_eq!(page.relative("scenarios/write-path/"), "../../scenarios/write-path/");
        assert_eq!(Address::new("").relative(""), "./");
        assert_eq!(Address::new("").relative("scenarios/"), "scenarios/");
        assert_eq!(Address::new("404.html").root(), "");
    }
}
