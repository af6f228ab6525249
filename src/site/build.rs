//! The order of work: templates and texts are read; chapter by chapter the scenarios are run, drawn
//! and written; then come the pages that need to know of all of them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rayon::prelude::*;
use serde::Serialize;

use crate::catalog;
use crate::diag::{Code, Problem, Report, SourceFile, Span};
use crate::scenario::catalogue::{self, Catalogue};
use crate::scenario::model::{Chapter, Scenario};

use super::address::Address;
use super::card::Cards;
use super::contents::Contents;
use super::embed::{RouterEntry, RouterPage};
use super::html::{self, Fault};
use super::index::{ChapterEntry, Entry};
use super::links::{LinkCheck, Places};
use super::lists::{
    self, ChapterListView, ChapterPage, FirstView, HomePage, ScenariosPage, TextPage,
};
use super::markdown::{self, Headings, Rendered, Source, Text};
use super::outcomes::{Outcomes, OutcomesView};
use super::owners::Owners;
use super::page::{Base, Frame};
use super::piece::{self, Around, Page, Piece};
use super::player::{Place, Reel};
use super::step::StepView;
use super::templates::Templates;
use super::{Drafts, Inputs, Options, OutputFile, assets, data, settings, words};

/// Takes the files of the site, one at a time.
pub type Sink<'a, E> = &'a mut (dyn FnMut(OutputFile) -> Result<(), E> + Send);

/// Builds the whole site: hands its files to `sink` and returns what is wrong. Nothing may be
/// published when that holds an error.
///
/// # Errors
/// What `sink` returns.
pub fn build<E>(inputs: &Inputs, options: &Options<'_>, sink: Sink<'_, E>) -> Result<Report, E> {
    let (templates, mut report) = Templates::load(&inputs.templates);
    let places = if report.has_errors() { Places::Unknown } else { Places::Known };
    let (contents, found) = Contents::read(inputs);
    report.extend(found);
    let (catalogue, found) = catalogue::load(&inputs.scenarios);
    report.extend(found);
    let frame = Frame::new(&inputs.config, contents.navigation());
    let check = LinkCheck::default().with_places(places);
    let mut out = Out {
        sink,
        templates,
        check,
        report,
        pages: Vec::new(),
        owners: Owners::default(),
        faults: BTreeSet::new(),
    };
    let unmade = catalogue.chapters_with_errors();
    let all = catalogue.chapters.iter().flat_map(|it| shown(&catalogue, it, options.drafts));
    let scenarios = all.map(|scenario| (scenario.id.as_str(), scenario)).collect();
    let mut work = Work {
        inputs,
        frame,
        contents,
        chapters: Vec::new(),
        unmade,
        star: None,
        scenarios,
        cards: options.cards,
        outcomes: Vec::new(),
        is_whole: true,
    };
    work.unmade(&catalogue, &mut out);
    for chapter in &catalogue.chapters {
        work.chapter(chapter, &shown(&catalogue, chapter, options.drafts), &mut out)?;
    }
    work.is_whole = !out.report.has_errors();
    work.lists(&mut out)?;
    work.glossary(&mut out)?;
    work.own_files(&mut out)?;
    work.texts(&mut out)?;
    work.files(&mut out)?;
    let Out { check, mut report, .. } = out;
    report.extend(check.finish());
    Ok(report)
}

/// The scenarios of a chapter that have pages.
fn shown<'a>(catalogue: &'a Catalogue, chapter: &'a Chapter, drafts: Drafts) -> Vec<&'a Scenario> {
    let shown = |scenario: &&Scenario| drafts == Drafts::Show || !scenario.draft;
    catalogue.scenarios_of(&chapter.slug).filter(shown).collect()
}

/// Where files go, and what is kept of them.
struct Out<'a, E> {
    sink: Sink<'a, E>,
    templates: Templates,
    check: LinkCheck,
    report: Report,
    /// Every page that search engines should know.
    pages: Vec<Address>,
    /// Whose each file is.
    owners: Owners,
    /// What pages may not hold, each once.
    faults: BTreeSet<(&'static str, Fault)>,
}

impl<E> Out<'_, E> {
    fn file(&mut self, path: &str, bytes: Vec<u8>) -> Result<(), E> {
        self.own(path);
        self.check.file(path);
        (self.sink)(OutputFile { path: path.to_owned(), bytes })
    }

    /// Fills a template and writes the page.
    fn page(
        &mut self,
        address: &Address,
        template: &'static str,
        values: &impl Serialize,
    ) -> Result<(), E> {
        match Page::make(&self.templates, address.clone(), template, values) {
            Ok(page) => self.made(page),
            Err(report) => {
                self.check.unmade(address);
                self.report.extend(report);
                Ok(())
            }
        }
    }

    /// Notes that a scenario has no pages because of a mistake. With it, settings may be without
    /// the page that it would have given them.
    fn unmade<'a>(&mut self, slug: &'a str, aliases: &'a [String]) {
        for slug in std::iter::once(slug).chain(aliases.iter().map(String::as_str)) {
            for kind in ["scenarios", "play", "embed"] {
                self.check.unmade(&Address::new(format!("{kind}/{slug}/")));
            }
        }
        for setting in catalog::settings() {
            self.check.unmade(&settings::address(&setting.name));
        }
    }

    /// Takes a path for the site itself. That two scenarios meet is said where they are read.
    fn own(&mut self, path: &str) {
        let _ = self.owners.take(path, "the site itself");
    }

    /// Takes a path for a file of the author's; says whose it is already.
    fn claim(&mut self, path: &str, file: &Arc<SourceFile>) -> bool {
        let Err(message) = self.owners.take(path, &file.path) else { return true };
        self.report.push(
            Problem::error(Code::DuplicateName, file, Span::default(), message)
                .help("give the file another name"),
        );
        false
    }

    fn made(&mut self, page: Page) -> Result<(), E> {
        self.own(&page.address.file());
        let mut marks = html::marks(&page.html);
        for fault in std::mem::take(&mut marks.faults) {
            if self.faults.insert((page.template, fault.clone())) {
                let note = format!("found on the page /{}", page.address);
                self.report.push(self.templates.fault(page.template, &fault).note(note));
            }
        }
        self.check.page(&page.address, marks, self.templates.file(page.template));
        if !matches!(page.template, "play.html" | "embed.html" | "redirect.html" | "404.html") {
            self.pages.push(page.address.clone());
        }
        (self.sink)(OutputFile { path: page.address.file(), bytes: page.html.into_bytes() })
    }
}

/// What the whole site is made from, and what is known of it so far.
struct Work<'a> {
    inputs: &'a Inputs,
    frame: Frame<'a>,
    contents: Contents<'a>,
    chapters: Vec<ChapterEntry>,
    /// Slugs of chapters that have errors.
    unmade: BTreeSet<String>,
    star: Option<Star>,
    /// Every scenario that has pages, by id.
    scenarios: BTreeMap<&'a str, &'a Scenario>,
    cards: Cards<'a>,
    /// The tables of every scenario so far.
    outcomes: Vec<Outcomes<'a>>,
    /// Whether every scenario has been run, so that a table that is not there is a mistake.
    is_whole: bool,
}

/// The scenario that plays on the home page.
struct Star {
    reel: Reel,
    steps: Vec<StepView>,
}

impl<'a> Work<'a> {
    /// Notes what has no pages since it could not be read.
    fn unmade<E>(&self, catalogue: &Catalogue, out: &mut Out<'_, E>) {
        for slug in &self.unmade {
            out.check.unmade(&Address::new(format!("chapters/{slug}/")));
            for scenario in catalogue.scenarios_of(slug) {
                out.unmade(&scenario.slug, &scenario.aliases);
            }
        }
        for scenario in &catalogue.broken {
            out.unmade(&scenario.slug, &scenario.aliases);
        }
    }

    /// Runs, draws and writes the scenarios of a chapter. They are worked on side by side and
    /// written in their order.
    fn chapter<E>(
        &mut self,
        chapter: &Chapter,
        scenarios: &[&'a Scenario],
        out: &mut Out<'_, E>,
    ) -> Result<(), E> {
        let prepared: Vec<_> = scenarios.par_iter().map(|it| piece::prepare(it)).collect();
        let mut pieces = Vec::new();
        for (scenario, (piece, report)) in scenarios.iter().zip(prepared) {
            out.report.extend(report);
            if piece.is_none() {
                out.unmade(&scenario.slug, &scenario.aliases);
            }
            pieces.extend(piece);
        }
        let chapter = self.entry(chapter, &pieces);
        for piece in &mut pieces {
            self.contents.glossary.add(&piece.entry);
            out.check.written(std::mem::take(&mut piece.links));
            self.outcomes.append(&mut piece.outcomes.clone());
        }
        if self.star.is_none() {
            self.star = pieces.first().map(|piece| Star {
                reel: piece.reel.clone(),
                steps: piece.steps_for(&Address::default()),
            });
        }
        let (glossary, templates) = (&self.contents.glossary, &out.templates);
        let around = Around {
            frame: &self.frame,
            glossary,
            chapter: &chapter,
            scenarios: &self.scenarios,
            cards: self.cards,
        };
        let made: Vec<_> = pieces.par_iter().map(|piece| piece.files(around, templates)).collect();
        for (piece, files) in pieces.iter().zip(made) {
            if files.report.has_errors() {
                out.unmade(&piece.scenario.slug, &piece.scenario.aliases);
            }
            out.report.extend(files.report);
            for page in files.pages {
                out.made(page)?;
            }
            for file in files.others {
                out.file(&file.path, file.bytes)?;
            }
        }
        self.chapters.push(chapter);
        Ok(())
    }

    fn entry(&self, chapter: &Chapter, pieces: &[Piece<'_>]) -> ChapterEntry {
        let text = &chapter.summary.written.text;
        let address = Address::new(format!("chapters/{}/", chapter.slug));
        let source = Source::Scenario(&chapter.summary);
        let headings = Headings::Under(1);
        let summary = markdown::render(Text { text, source, page: &address, headings });
        let about = self.contents.chapters.get(chapter.slug.as_str());
        ChapterEntry {
            id: chapter.id.clone(),
            slug: chapter.slug.clone(),
            title: chapter.title.clone(),
            summary: words::inline(&summary.html),
            summary_plain: summary.plain.trim().to_owned(),
            text: about.map(|(_, about)| about.html.clone()),
            scenarios: pieces.iter().map(|piece| piece.entry.clone()).collect(),
        }
    }

    /// Home, all scenarios, each chapter, the routers of players, and the page for lost addresses.
    fn lists<E>(&self, out: &mut Out<'_, E>) -> Result<(), E> {
        self.home(out)?;
        let list = Address::new("scenarios/");
        let lead = "Every scenario, chapter by chapter, in reading order.";
        let values = ScenariosPage {
            base: self.frame.base(&list, "All scenarios", lead),
            chapters: self.chapter_views(&list),
        };
        out.page(&list, "scenarios.html", &values)?;
        for chapter in &self.chapters {
            let address = chapter.address();
            let values = ChapterPage {
                base: self.frame.base(&address, &chapter.title, &chapter.summary_plain),
                chapter: ChapterListView::new(chapter, &address),
                minutes: chapter.scenarios.iter().map(|entry| entry.minutes).sum(),
            };
            out.page(&address, "chapter.html", &values)?;
        }
        let entries: Vec<RouterEntry> = self.chapters.iter().flat_map(router_entries).collect();
        for place in [Place::Embed, Place::Play] {
            let values = RouterPage::new(&self.frame, place, entries.clone());
            out.page(&RouterPage::address(place), "router.html", &values)?;
        }
        let absent = Address::new("404.html");
        let values = LostPage { base: self.frame.base(&absent, "Not found", "") };
        out.page(&absent, "404.html", &values)
    }

    fn home<E>(&self, out: &mut Out<'_, E>) -> Result<(), E> {
        let address = Address::default();
        let none = Rendered::default();
        let text = self.contents.home.as_ref().unwrap_or(&none);
        let config = &self.inputs.config;
        let (lead, sections) = lists::sections(&self.filled(text, &address, out));
        let entries = || self.chapters.iter().flat_map(|chapter| &chapter.scenarios);
        let heading = match &text.title {
            Some((html, _)) => html.clone(),
            None => words::escaped(&config.title),
        };
        let star = self.star.as_ref();
        let values = HomePage {
            base: self.frame.base_with_player(&address, &config.title, &config.description),
            heading,
            lead,
            sections,
            player: star.map(|star| star.reel.player(Place::Inline, &address)),
            steps: star.map_or(&[], |star| &star.steps),
            scenario_count: entries().count(),
            statement_count: entries().map(|entry| entry.statement_count).sum(),
            chapters: self.chapter_views(&address),
            first: entries().next().map(|entry| FirstView {
                href: address.relative(entry.address().as_str()),
                title: &entry.title,
            }),
        };
        out.check.written(text.links.clone());
        out.page(&address, "home.html", &values)
    }

    /// A text's HTML with the tables that it asks for.
    fn filled<E>(&self, text: &Rendered, from: &Address, out: &mut Out<'_, E>) -> String {
        let mut html = text.html.clone();
        for insertion in &text.tables {
            let Some(outcomes) = self.outcomes.iter().find(|table| table.is(insertion)) else {
                if self.is_whole {
                    out.report.push(insertion.unknown(&self.outcomes));
                }
                continue;
            };
            let values = TableValues { table: outcomes.view(from).0 };
            match out.templates.render("outcomes.html", &values) {
                Ok(table) => html = insertion.insert(&html, &table),
                Err(report) => out.report.extend(report),
            }
        }
        html
    }

    fn chapter_views(&self, from: &Address) -> Vec<ChapterListView<'_>> {
        let filled = self.chapters.iter().filter(|chapter| !chapter.scenarios.is_empty());
        filled.map(|chapter| ChapterListView::new(chapter, from)).collect()
    }

    fn glossary<E>(&self, out: &mut Out<'_, E>) -> Result<(), E> {
        let glossary = &self.contents.glossary;
        let list = Address::new("configs/");
        let lead = "Every setting that a scenario changes or explains.";
        let base = self.frame.base(&list, "Settings", lead);
        out.page(&list, "configs.html", &glossary.list(&list, base))?;
        for name in glossary.names() {
            let address = settings::address(name);
            let lead = format!("{name} in Kafka: what it does, its default, where it matters.");
            let base = self.frame.base(&address, name, &lead);
            out.check.written(glossary.links(name).to_vec());
            let guide = glossary.guide(name).map(|guide| self.filled(guide, &address, out));
            let page = glossary.page(name, &self.chapters, base).with_guide(guide);
            out.page(&address, "config.html", &page)?;
        }
        Ok(())
    }

    /// Markdown pages, and texts about chapters that there must be.
    fn texts<E>(&mut self, out: &mut Out<'_, E>) -> Result<(), E> {
        for (slug, (file, about)) in std::mem::take(&mut self.contents.chapters) {
            out.check.written(about.links);
            let is_known = self.chapters.iter().any(|chapter| chapter.slug == slug);
            if !is_known && !self.unmade.contains(slug) {
                let message = format!("there is no chapter `{slug}`");
                let slugs = self.chapters.iter().map(|chapter| chapter.slug.as_str());
                out.report.push(
                    Problem::error(Code::UnknownScenario, file, Span::default(), message)
                        .did_you_mean(slug, slugs),
                );
            }
        }
        for (address, file, page) in std::mem::take(&mut self.contents.pages) {
            if !out.claim(&address.file(), file) {
                continue;
            }
            let (heading, plain) = page.title.clone().unwrap_or_default();
            let base = self.frame.base(&address, &plain, &words::first_sentence(&page.plain));
            let body = self.filled(&page, &address, out);
            out.check.written(page.links);
            out.page(&address, "page.html", &TextPage { base, heading, body })?;
        }
        Ok(())
    }

    /// Static files and data.
    fn own_files<E>(&self, out: &mut Out<'_, E>) -> Result<(), E> {
        for asset in assets::ALL {
            out.file(asset.path, asset.bytes.to_vec())?;
        }
        // Written last, or not at all; no other file may stand there.
        out.own("sitemap.xml");
        out.file("scenarios.json", data::scenarios(&self.chapters).into_bytes())?;
        out.file("robots.txt", data::robots(&self.inputs.config).into_bytes())
    }

    /// The content folder's other files, and the list of all pages.
    fn files<E>(&self, out: &mut Out<'_, E>) -> Result<(), E> {
        let config = &self.inputs.config;
        for file in &self.inputs.files {
            let path = format!("{}/{}", config.src, file.path);
            if out.claim(&file.path, &Arc::new(SourceFile::new(path, ""))) {
                out.file(&file.path, file.bytes.clone())?;
            }
        }
        match data::sitemap(config, &out.pages) {
            Some(sitemap) => out.file("sitemap.xml", sitemap.into_bytes()),
            None => Ok(()),
        }
    }
}

/// The values of `outcomes.html`.
#[derive(Serialize)]
struct TableValues<'a> {
    table: OutcomesView<'a>,
}

/// The values of `404.html`.
#[derive(Serialize)]
struct LostPage {
    #[serde(flatten)]
    base: Base,
}

fn router_entries(chapter: &ChapterEntry) -> Vec<RouterEntry> {
    let entry = |entry: &Entry| RouterEntry {
        id: entry.id.clone(),
        slug: entry.slug.clone(),
        title: entry.title.clone(),
    };
    chapter.scenarios.iter().map(entry).collect()
}
