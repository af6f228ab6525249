//! The link check: every link inside the site leads to a file that the build wrote, and every `#`
//! to an id on that page. Fed page by page, so that no page has to be kept.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::diag::{Code, Problem, Report, SourceFile, Span};

use super::address::{Address, file_of};
use super::html::Marks;

/// A link that an author wrote, with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The page that shows it.
    pub page: Address,
    /// The path under the site's root that it leads to.
    pub path: String,
    /// What follows `#`.
    pub fragment: Option<String>,
    /// The link as it was written.
    pub written: String,
    /// The author's file.
    pub file: Arc<SourceFile>,
    /// Its place there.
    pub span: Span,
}

/// What the site has, and what leads there.
#[derive(Debug, Default)]
pub struct LinkCheck {
    /// Files with the ids in them.
    files: BTreeMap<String, BTreeSet<String>>,
    /// Links of authors.
    written: Vec<Link>,
    /// Links found in finished pages, with the template of the page.
    found: BTreeSet<Found>,
    templates: BTreeMap<String, Arc<SourceFile>>,
    /// Folders of pages that a mistake kept from being made.
    unmade: BTreeSet<String>,
    /// Whether places in pages are checked.
    places: Places,
}

/// Whether the places in pages are those that the author's templates make.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Places {
    /// They are.
    #[default]
    Known,
    /// Templates have errors, so that there may be others.
    Unknown,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Found {
    page: Address,
    path: String,
    fragment: Option<String>,
    template: String,
}

impl LinkCheck {
    /// Notes a file without links: a picture, a script, data.
    pub fn file(&mut self, path: impl Into<String>) {
        self.files.insert(path.into(), BTreeSet::new());
    }

    /// With what is known of places in pages.
    #[must_use]
    pub fn with_places(self, places: Places) -> LinkCheck {
        LinkCheck { places, ..self }
    }

    /// Notes a page, with all below it, that could not be made because of a mistake that is
    /// reported elsewhere: links to it are no mistakes of their own.
    pub fn unmade(&mut self, page: &Address) {
        self.unmade.insert(page.as_str().to_owned());
    }

    /// Notes a finished page: its ids and its links.
    pub fn page(&mut self, page: &Address, marks: Marks<'_>, template: &Arc<SourceFile>) {
        self.templates.entry(template.path.clone()).or_insert_with(|| Arc::clone(template));
        for link in marks.links {
            let Some((path, fragment)) = inside(page, link) else { continue };
            let template = template.path.clone();
            self.found.insert(Found { page: page.clone(), path, fragment, template });
        }
        self.files.insert(page.file(), marks.ids.into_iter().map(ToOwned::to_owned).collect());
    }

    /// Notes links of authors.
    pub fn written(&mut self, links: Vec<Link>) {
        self.written.extend(links);
    }

    /// What leads nowhere.
    #[must_use]
    pub fn finish(self) -> Report {
        let mut report = Report::default();
        let mut reported = BTreeSet::new();
        for link in &self.written {
            let Some(message) = self.fault(&link.path, link.fragment.as_deref()) else { continue };
            // The same text may stand on several pages.
            reported.insert((&link.path, &link.fragment));
            let problem = Problem::error(Code::DeadLink, &link.file, link.span, message)
                .note(format!("expected a page that the build writes, such as {}", self.example()));
            let problem = self.help(problem, &link.path, link.fragment.as_deref());
            // A variant may show a text of the main script again.
            if !report.problems.contains(&problem) {
                report.push(problem);
            }
        }
        for link in &self.found {
            let Some(message) = self.fault(&link.path, link.fragment.as_deref()) else { continue };
            if reported.contains(&(&link.path, &link.fragment)) {
                continue;
            }
            let template = &self.templates[&link.template];
            let problem = Problem::error(Code::DeadLink, template, Span::default(), message)
                .note(format!("found on the page /{}", link.page));
            report.push(self.help(problem, &link.path, link.fragment.as_deref()));
        }
        report
    }

    /// What is wrong with a link, if anything.
    fn fault(&self, path: &str, fragment: Option<&str>) -> Option<String> {
        let Some(ids) = self.files.get(&file_of(path)) else {
            let mut folders = path.match_indices('/').map(|(at, _)| &path[..=at]);
            let is_unmade =
                self.unmade.contains(path) || folders.any(|folder| self.unmade.contains(folder));
            let message = || format!("the link leads to /{path}, and there is no such page");
            return (!is_unmade).then(message);
        };
        match fragment {
            _ if self.places == Places::Unknown => None,
            Some(id) if !id.is_empty() && !ids.contains(id) => {
                Some(format!("the page /{path} has no place with the id `{id}`"))
            }
            _ => None,
        }
    }

    fn help(&self, problem: Problem, path: &str, fragment: Option<&str>) -> Problem {
        if let (Some(ids), Some(id)) = (self.files.get(&file_of(path)), fragment) {
            return problem.did_you_mean(id, ids.iter().map(String::as_str));
        }
        let paths: Vec<String> = self.files.keys().filter_map(|file| address_of(file)).collect();
        problem.did_you_mean(&format!("/{path}"), paths.iter().map(String::as_str))
    }

    fn example(&self) -> String {
        let scenario = self.files.keys().find(|file| file.starts_with("scenarios/"));
        scenario.and_then(|file| address_of(file)).unwrap_or_else(|| "/".to_owned())
    }
}

fn address_of(file: &str) -> Option<String> {
    file.strip_suffix("index.html").map(|folder| format!("/{folder}"))
}

/// Where a link of a finished page leads, if it stays on the site.
fn inside(page: &Address, link: &str) -> Option<(String, Option<String>)> {
    if link.contains("://") || link.starts_with("mailto:") || link.starts_with("data:") {
        return None;
    }
    let (link, fragment) = match link.split_once('#') {
        Some((link, fragment)) => (link, Some(fragment.to_owned())),
        None => (link, None),
    };
    let link = link.split_once('?').map_or(link, |(path, _)| path);
    if link.is_empty() {
        return Some((page.as_str().to_owned(), fragment));
    }
    // Only the page for addresses that do not exist links from the server's root.
    if link.starts_with('/') {
        return None;
    }
    let folder = page.as_str().rfind('/').map_or("", |at| &page.as_str()[..=at]);
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in link.split('/') {
        match part {
            ".." if parts.is_empty() => parts.push(".."),
            ".." => {
                parts.pop();
            }
            "." | "" => {}
            other => parts.push(other),
        }
    }
    let mut path = parts.join("/");
    let last = link.rsplit('/').next().unwrap_or_default();
    if matches!(last, "" | "." | "..") && !path.is_empty() {
        path.push('/');
    }
    Some((path, fragment))
}
