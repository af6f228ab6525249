//! The glossary: one page per setting that a scenario changes or explains, or that has a guide, and
//! the list of them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::Serialize;

use crate::catalog;
use crate::diag::{Code, Problem, Report, SourceFile, Span};

use super::address::Address;
use super::index::{ChapterEntry, Entry, Use};
use super::markdown::{self, Headings, Rendered, Source, Text};
use super::page::Base;
use super::settings::{self, FactView};

/// One setting on its page or in a list.
#[derive(Clone, Debug, Serialize)]
pub struct SettingView {
    /// Kafka's name.
    pub name: String,
    /// The name with places to break it, HTML.
    pub name_html: String,
    /// Link to its page.
    pub href: String,
    /// What it does, HTML.
    pub definition: String,
    /// Where it can be set.
    pub scopes: String,
    /// Kafka's default.
    pub default: String,
    /// Whether its page has a guide.
    pub has_guide: bool,
}

/// The values of `config.html`.
#[derive(Debug, Serialize)]
pub struct ConfigPage {
    #[serde(flatten)]
    base: Base,
    setting: SettingView,
    elsewhere: Vec<ElsewhereView>,
    facts: Vec<FactView>,
    guide: Option<String>,
    places: Vec<PlaceView>,
}

impl ConfigPage {
    /// The page with its guide, HTML.
    #[must_use]
    pub fn with_guide(self, guide: Option<String>) -> ConfigPage {
        ConfigPage { guide, ..self }
    }
}

/// What a setting does in its further scopes.
#[derive(Debug, Serialize)]
struct ElsewhereView {
    scope: &'static str,
    definition: String,
}

/// One scenario where a setting matters.
#[derive(Debug, Serialize)]
struct PlaceView {
    href: String,
    title: String,
    id: String,
    why: String,
    steps: Vec<PlaceStepView>,
}

#[derive(Debug, Serialize)]
struct PlaceStepView {
    href: String,
    number: u32,
    title: String,
}

/// The values of `configs.html`.
#[derive(Debug, Serialize)]
pub struct ConfigsPage {
    #[serde(flatten)]
    base: Base,
    settings: Vec<SettingView>,
}

/// All settings that have a page.
#[derive(Debug, Default)]
pub struct Glossary {
    /// Names in order.
    names: BTreeSet<String>,
    /// Guides by name.
    guides: BTreeMap<String, Rendered>,
}

impl Glossary {
    /// Reads the guides, `configs/<name>.md` of the content folder. A guide to what is no setting
    /// is an error.
    #[must_use]
    pub fn read<'a>(
        guides: impl Iterator<Item = (&'a str, &'a Arc<SourceFile>)>,
    ) -> (Glossary, Report) {
        let mut glossary = Glossary::default();
        let mut report = Report::default();
        for (name, file) in guides {
            if catalog::settings_named(name).is_empty() {
                let message = format!("Kafka 4.3 has no setting `{name}`");
                let all = catalog::settings().iter().map(|setting| setting.name.as_str());
                report.push(
                    Problem::error(Code::UnknownSetting, file, Span::default(), message)
                        .note("a guide has the name of its setting: configs/acks.md")
                        .did_you_mean(name, all),
                );
                continue;
            }
            let page = settings::address(name);
            let below = format!("configs/{name}.md");
            let source = Source::File { file, below: &below };
            let text = Text { text: &file.text, source, page: &page, headings: Headings::Section };
            let mut guide = markdown::render(text);
            report.extend(std::mem::take(&mut guide.report));
            glossary.names.insert(name.to_owned());
            glossary.guides.insert(name.to_owned(), guide);
        }
        (glossary, report)
    }

    /// Adds the settings that a scenario uses.
    pub fn add(&mut self, entry: &Entry) {
        self.names.extend(entry.uses.keys().cloned());
    }

    /// Every setting with a page, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// The links of a setting's guide, for the link check.
    #[must_use]
    pub fn links(&self, name: &str) -> &[super::links::Link] {
        self.guides.get(name).map_or(&[], |guide| &guide.links)
    }

    /// A setting's guide, as far as it can be written without what scenarios give.
    #[must_use]
    pub fn guide(&self, name: &str) -> Option<&Rendered> {
        self.guides.get(name)
    }

    /// A setting in a list on the page at `from`.
    #[must_use]
    pub fn view(&self, name: &str, from: &Address) -> SettingView {
        let found = catalog::settings_named(name);
        SettingView {
            name: name.to_owned(),
            name_html: settings::name_html(name),
            href: from.relative(settings::address(name).as_str()),
            definition: found.first().map(settings::definition).unwrap_or_default(),
            scopes: settings::scopes(found),
            default: found.first().map_or_else(String::new, settings::default),
            has_guide: self.guides.contains_key(name),
        }
    }

    /// The values of a setting's page, but for its guide.
    #[must_use]
    pub fn page(&self, name: &str, chapters: &[ChapterEntry], base: Base) -> ConfigPage {
        let address = settings::address(name);
        let found = catalog::settings_named(name);
        let elsewhere = found.iter().skip(1).map(|setting| ElsewhereView {
            scope: setting.scope.word(),
            definition: settings::definition(setting),
        });
        let entries = chapters.iter().flat_map(|chapter| &chapter.scenarios);
        let places = entries.filter_map(|entry| {
            let used = entry.uses.get(name)?;
            Some(place(entry, used, &address))
        });
        ConfigPage {
            base,
            setting: self.view(name, &address),
            elsewhere: elsewhere.filter(|it| !it.definition.is_empty()).collect(),
            facts: settings::facts(found),
            guide: None,
            places: places.collect(),
        }
    }

    /// The values of the list of settings.
    #[must_use]
    pub fn list(&self, address: &Address, base: Base) -> ConfigsPage {
        ConfigsPage { base, settings: self.names().map(|name| self.view(name, address)).collect() }
    }
}

fn place(entry: &Entry, used: &Use, from: &Address) -> PlaceView {
    let href = from.relative(entry.address().as_str());
    let step = |number: &u32| PlaceStepView {
        href: format!("{href}#step-{number}"),
        number: *number,
        title: entry.step_titles.get(*number as usize - 1).cloned().unwrap_or_default(),
    };
    PlaceView {
        title: entry.title.clone(),
        id: entry.id.clone(),
        why: if used.values.is_empty() {
            "Kafka’s default".to_owned()
        } else {
            format!("Set to {}", used.values.join("; "))
        },
        steps: used.steps.iter().map(step).collect(),
        href,
    }
}
