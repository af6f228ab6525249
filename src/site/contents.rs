//! The texts of the content folder, read and sorted by what they become: pages, the home page,
//! what is said about a chapter, guides to settings.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::diag::{Code, Problem, Report, SourceFile, Span};

use super::Inputs;
use super::address::{Address, page_of};
use super::glossary::Glossary;
use super::markdown::{self, Headings, Rendered, Source, Text};

/// The texts of the content folder by what they become.
#[derive(Default)]
pub struct Contents<'a> {
    /// Pages of their own, the home page left out.
    pub pages: Vec<(Address, &'a Arc<SourceFile>, Rendered)>,
    /// The home page.
    pub home: Option<Rendered>,
    /// What is said about chapters, by slug.
    pub chapters: BTreeMap<&'a str, (&'a Arc<SourceFile>, Rendered)>,
    /// Guides to settings.
    pub glossary: Glossary,
}

impl<'a> Contents<'a> {
    /// Reads every text of the content folder.
    #[must_use]
    pub fn read(inputs: &'a Inputs) -> (Contents<'a>, Report) {
        let mut report = Report::default();
        let mut contents = Contents::default();
        let mut guides = Vec::new();
        let mut home: Option<&Arc<SourceFile>> = None;
        for file in &inputs.pages {
            let prefix = format!("{}/", inputs.config.src);
            let below = file.path.strip_prefix(&prefix).unwrap_or(&file.path);
            let named = |folder: &str| below.strip_prefix(folder)?.strip_suffix(".md");
            if let Some(name) = named("configs/") {
                guides.push((name, file));
                continue;
            }
            let chapter = named("chapters/");
            let address = match chapter {
                Some(slug) => Address::new(format!("chapters/{slug}/")),
                None => Address::new(page_of(below)),
            };
            let headings = if chapter.is_some() { Headings::Under(2) } else { Headings::Page };
            let source = Source::File { file, below };
            let mut page =
                markdown::render(Text { text: &file.text, source, page: &address, headings });
            report.extend(std::mem::take(&mut page.report));
            if let Some(slug) = chapter {
                contents.chapters.insert(slug, (file, page));
                continue;
            }
            report.extend(untitled(file, &page));
            if address.as_str().is_empty() {
                if let Some(first) = home.replace(file) {
                    let message = format!("{} is the home page already", first.path);
                    report.push(
                        Problem::error(Code::DuplicateName, file, Span::default(), message)
                            .help("give the file another name"),
                    );
                }
                contents.home = Some(page);
            } else {
                contents.pages.push((address, file, page));
            }
        }
        let (glossary, found) = Glossary::read(guides.into_iter());
        report.extend(found);
        (Contents { glossary, ..contents }, report)
    }

    /// What the navigation lists: pages that stand directly in the content folder.
    #[must_use]
    pub fn navigation(&self) -> Vec<(String, Address)> {
        let top =
            self.pages.iter().filter(|(address, ..)| address.as_str().matches('/').count() == 1);
        let titled = top.filter_map(|(address, _, page)| {
            page.title.as_ref().map(|(_, plain)| (plain.clone(), address.clone()))
        });
        titled.collect()
    }
}

/// What is wrong with a page that does not begin with its title.
fn untitled(file: &Arc<SourceFile>, page: &Rendered) -> Report {
    let mut report = Report::default();
    if page.title.is_none() {
        let message = "the page has no title";
        report.push(
            Problem::error(Code::FrontMatter, file, Span::default(), message)
                .help("begin it with a heading: # How true is it?"),
        );
    }
    report
}
