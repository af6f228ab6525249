//! One scenario on its way through the site: run, drawn, its texts turned to HTML; then its own
//! pages.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::diag::{Code, Problem, Report, Span};
use crate::diagram::animated::{Step, animated, playable};
use crate::diagram::svg::{self, Caption};
use crate::diagram::theme::Scheme;
use crate::diagram::{self, NarrowPlan, Picture, Storyboard, glyph};
use crate::scenario::model::{Scenario, Text as ScenarioText};
use crate::scenario::run::{Simulated, VariantRun};
use crate::scenario::{published, simulate};

use super::OutputFile;
use super::address::Address;
use super::assets;
use super::card::{self, Cards};
use super::embed::PlayerPage;
use super::glossary::Glossary;
use super::index::{ChapterEntry, Entry, LevelView, Use};
use super::links::Link;
use super::markdown::{self, Headings, Rendered, Source, Text};
use super::outcomes::{self, Outcomes, OutcomesView};
use super::page::{Base, Frame};
use super::player::{Place, Reel};
use super::scenario_page::{
    BuilderView, ChapterView, GivenView, ReadingView, RequiredView, ScenarioPage, twins,
};
use super::step::{self, StepView, Steps};
use super::take;
use super::templates::Templates;
use super::what_if::{self, VariantTexts, WhatIfView};
use super::{settings, words};

/// A scenario, run and drawn.
#[derive(Debug)]
pub struct Piece<'a> {
    /// The scenario.
    pub scenario: &'a Scenario,
    /// What other pages need of it.
    pub entry: Entry,
    /// What its players share.
    pub reel: Reel,
    /// Links in its texts.
    pub links: Vec<Link>,
    /// Its tables.
    pub outcomes: Vec<Outcomes<'a>>,
    simulated: Simulated,
    board: Storyboard,
    steps: Vec<StepView>,
    texts: Texts,
}

/// The texts around the steps, as HTML.
#[derive(Debug)]
struct Texts {
    start: String,
    takeaway: Option<String>,
    simplified: Option<String>,
    variants: Vec<VariantTexts>,
}

/// What the pages of a scenario need from outside.
#[derive(Clone, Copy)]
pub struct Around<'a> {
    /// The common part of every page.
    pub frame: &'a Frame<'a>,
    /// The settings that have pages.
    pub glossary: &'a Glossary,
    /// The scenario's chapter.
    pub chapter: &'a ChapterEntry,
    /// Every scenario that has pages, by id.
    pub scenarios: &'a BTreeMap<&'a str, &'a Scenario>,
    /// Whether share cards are drawn.
    pub cards: Cards<'a>,
}

/// Runs and draws a scenario; none when it is untrue.
#[must_use]
pub fn prepare(scenario: &Scenario) -> (Option<Piece<'_>>, Report) {
    let (simulated, mut report) = simulate(scenario);
    let Some(simulated) = simulated else { return (None, report) };
    let board = diagram::storyboard(&simulated.main);
    let page = Address::new(format!("scenarios/{}/", scenario.slug));
    let pictures = inline(&board.pictures);
    let Steps { mut views, mut links, report: found } =
        step::steps(simulated.main.frames.iter().zip(pictures), &scenario.script, &page);
    report.extend(found);
    let sequence = inline(&diagram::sequence::parts(&simulated.main));
    views.iter_mut().zip(sequence).for_each(|(view, sequence)| view.sequence = sequence);
    let mut html = |text: &str, source: &ScenarioText, over: usize| {
        let source = Source::Scenario(source);
        let headings = Headings::Under(over);
        let mut rendered = markdown::render(Text { text, source, page: &page, headings });
        links.append(&mut rendered.links);
        report.extend(std::mem::take(&mut rendered.report));
        rendered
    };
    let summary = html(&simulated.summary, &scenario.summary, 1);
    let mut optional = |text: &Option<String>, source: &Option<ScenarioText>| {
        text.as_deref().zip(source.as_ref()).map(|(text, source)| html(text, source, 2).html)
    };
    let mut texts = Texts {
        start: optional(&simulated.start, &scenario.start).unwrap_or_default(),
        takeaway: optional(&simulated.takeaway, &scenario.takeaway),
        simplified: optional(&simulated.simplified, &scenario.simplified),
        variants: simulated
            .variants
            .iter()
            .zip(&scenario.variants)
            .map(|(run, variant)| VariantTexts {
                text: optional(&run.text, &variant.text).unwrap_or_default(),
                steps: Vec::new(),
            })
            .collect(),
    };
    for (index, variant) in scenario.variants.iter().enumerate() {
        let frames = what_if::own_frames(&simulated.main, &simulated.variants[index], variant);
        let frames = frames.map(|frame| (frame, String::new()));
        let Steps { views, links: more, report: found } =
            step::steps(frames, &variant.script, &page);
        texts.variants[index].steps = views;
        links.extend(more);
        report.extend(found);
    }
    let entry = entry(scenario, &simulated, &summary);
    let tables = scenario.tables.iter().zip(&simulated.tables);
    let outcomes: Vec<_> =
        tables.map(|(table, run)| Outcomes::new(&scenario.slug, table, run)).collect();
    for table in &outcomes {
        report.extend(table.view(&page).1);
    }
    let takes = take::takes(scenario, &simulated, &page);
    let reel = Reel::new(scenario, entry.summary_plain.clone(), (&views, &board), takes);
    let steps = views;
    let piece = Piece { scenario, entry, reel, links, outcomes, simulated, board, steps, texts };
    (Some(piece), report)
}

/// What other pages need of a scenario.
fn entry(scenario: &Scenario, simulated: &Simulated, summary: &Rendered) -> Entry {
    let mut uses: BTreeMap<String, Use> = BTreeMap::new();
    for given in settings::given(&scenario.script.world) {
        let value = format!("{} on {}", given.here, given.on);
        uses.entry(given.name).or_default().values.push(value);
    }
    for name in &scenario.configs {
        uses.entry(name.clone()).or_default();
    }
    for frame in &simulated.main.frames {
        for name in &frame.configs {
            uses.entry(name.clone()).or_default().steps.insert(frame.number);
        }
    }
    Entry {
        id: scenario.id.clone(),
        slug: scenario.slug.clone(),
        title: scenario.title.clone(),
        summary: words::inline(&summary.html),
        summary_plain: summary.plain.trim().to_owned(),
        thumbnail: svg::glyph(&glyph::glyph(&simulated.main)),
        level: scenario.level,
        minutes: scenario.minutes(),
        statement_count: simulated.statement_count,
        configs: scenario.configs.clone(),
        uses,
        step_titles: simulated.main.frames.iter().map(|frame| frame.title.clone()).collect(),
    }
}

/// A page that is ready to be written.
#[derive(Debug)]
pub struct Page {
    /// Its address.
    pub address: Address,
    /// The template that it was made with.
    pub template: &'static str,
    /// Its HTML.
    pub html: String,
}

impl Page {
    /// Fills a template.
    ///
    /// # Errors
    /// What the template gets wrong.
    pub fn make(
        templates: &Templates,
        address: Address,
        template: &'static str,
        values: &impl Serialize,
    ) -> Result<Page, Report> {
        templates.render(template, values).map(|html| Page { address, template, html })
    }
}

/// Everything that a scenario adds to the site.
#[derive(Debug, Default)]
pub struct Files {
    /// Its pages.
    pub pages: Vec<Page>,
    /// Its pictures and data.
    pub others: Vec<OutputFile>,
    /// What templates get wrong.
    pub report: Report,
}

impl Piece<'_> {
    /// The pages, pictures and data of the scenario.
    #[must_use]
    pub fn files(&self, around: Around<'_>, templates: &Templates) -> Files {
        let mut files = Files::default();
        let card = self.card(around, &mut files.report);
        let card_url = card.as_ref().and_then(|card| around.frame.absolute(&card.path));
        files.others.extend(card);
        let mut page = |made: Result<Page, Report>| match made {
            Ok(page) => files.pages.push(page),
            Err(report) => files.report.extend(report),
        };
        let mut walkthrough = self.walkthrough(around);
        walkthrough.base.page.card.clone_from(&card_url);
        page(Page::make(templates, self.entry.address(), "scenario.html", &walkthrough));
        for (place, template) in [(Place::Play, "play.html"), (Place::Embed, "embed.html")] {
            let mut values = PlayerPage::new(around.frame, &self.reel, &self.steps, place);
            values.base.page.card.clone_from(&card_url);
            let address = PlayerPage::address(&self.scenario.slug, place);
            page(Page::make(templates, address, template, &values));
        }
        for made in self.cells(around, templates) {
            page(made);
        }
        for alias in &self.scenario.aliases {
            for kind in ["scenarios", "play", "embed"] {
                let address = Address::new(format!("{kind}/{alias}/"));
                let target = address.relative(&format!("{kind}/{}/", self.scenario.slug));
                let title = &self.scenario.title;
                let values = RedirectPage { base: around.frame.base(&address, title, ""), target };
                page(Page::make(templates, address, "redirect.html", &values));
            }
        }
        if let Some(path) = around.frame.oembed(&self.scenario.slug) {
            let bytes = around.frame.snippet(&self.reel).oembed(card_url.as_deref()).into_bytes();
            files.others.push(OutputFile { path, bytes });
        }
        let folder = self.entry.address();
        let mut add = |name: &str, text: String| {
            let path = format!("{folder}{name}");
            files.others.push(OutputFile { path, bytes: text.into_bytes() });
        };
        add("scenario.json", published::scenario_json(self.scenario, &self.simulated));
        add("events.json", published::events_json(&self.simulated.main));
        for (index, picture) in self.board.pictures.iter().enumerate() {
            let caption =
                Caption { title: &picture.title, description: &picture.description, id: "p" };
            let svg = svg::standalone(&picture.wide, &caption, Scheme::Auto);
            add(&format!("step-{}.svg", index + 1), svg);
        }
        add("play.svg", self.animated(animated));
        add("player.svg", self.animated(playable));
        files
    }

    /// The pages that step through the runs of tables.
    fn cells(&self, around: Around<'_>, templates: &Templates) -> Vec<Result<Page, Report>> {
        let mut pages = Vec::new();
        for (table, run) in self.scenario.tables.iter().zip(&self.simulated.tables) {
            let cells = run.cells.iter().enumerate().flat_map(|(row, cells)| {
                let cells = cells.iter().enumerate();
                cells.map(move |(column, cell)| (outcomes::Place { row, column }, cell))
            });
            for (place, cell) in cells {
                let address = outcomes::address(&self.scenario.slug, table, place);
                let board = diagram::storyboard(&cell.run);
                let frames = cell.run.frames.iter().zip(inline(&board.pictures));
                let steps = step::steps(frames, &table.scripts[place.row][place.column], &address);
                let summary = format!("{}: {}", table.title, outcomes::label(table, place));
                let reel = Reel::new(self.scenario, summary, (&steps.views, &board), Vec::new());
                let title = outcomes::label(table, place);
                let reel = Reel { title, ..reel };
                let values = PlayerPage {
                    base: around.frame.base_with_player(&address, &reel.title, &reel.summary),
                    player: reel.player(Place::Play, &address),
                    steps: &steps.views,
                };
                pages.push(Page::make(templates, address, "play.html", &values));
            }
        }
        pages
    }

    /// The share card, where there is to be one.
    fn card(&self, around: Around<'_>, report: &mut Report) -> Option<OutputFile> {
        let Cards::Drawn(kept) = around.cards else { return None };
        around.frame.absolute("")?;
        let drawn = (&self.simulated.main, &self.board);
        card::file(self.scenario, drawn, around.frame.site_title(), kept)
            .map_err(|fault| {
                let (file, message) =
                    (&self.scenario.file, format!("the share card is left out: {fault}"));
                report.push(Problem::warning(Code::ShareCard, file, Span::default(), message));
            })
            .ok()
    }

    /// The tables as they stand on the page at `from`.
    fn outcomes(&self, from: &Address) -> Vec<OutcomesView<'_>> {
        self.outcomes.iter().map(|table| table.view(from).0).collect()
    }

    /// The run as one picture that plays, of one of two kinds.
    fn animated(&self, draw: fn(&Storyboard, &[Step<'_>], &Caption) -> String) -> String {
        let steps: Vec<Step<'_>> =
            self.steps.iter().map(|it| Step { title: &it.title, time_ms: it.time_ms }).collect();
        let (title, description) = (&*self.scenario.title, &*self.reel.summary);
        draw(&self.board, &steps, &Caption { title, description, id: "p" })
    }

    /// The steps with links and pictures for a page at another place.
    #[must_use]
    pub fn steps_for(&self, page: &Address) -> Vec<StepView> {
        let pictures = self.steps.iter().map(|step| step.picture.clone());
        let frames = self.simulated.main.frames.iter().zip(pictures);
        let mut views = step::steps(frames, &self.scenario.script, page).views;
        for (view, step) in views.iter_mut().zip(&self.steps) {
            view.sequence.clone_from(&step.sequence);
        }
        views
    }

    fn walkthrough<'b>(&'b self, around: Around<'b>) -> ScenarioPage<'b> {
        let (scenario, entry) = (self.scenario, &self.entry);
        let page = entry.address();
        let given = settings::given(&scenario.script.world).into_iter().map(|given| GivenView {
            href: page.relative(settings::address(&given.name).as_str()),
            name_html: settings::name_html(&given.name),
            on: given.on,
            here: given.here,
            default: given.default,
        });
        let others = around.chapter.scenarios.iter().filter(|other| other.slug != entry.slug);
        let reading = scenario.reading.iter();
        ScenarioPage {
            base: around.frame.base_of_scenario(&page, &scenario.headline, &self.reel),
            id: &scenario.id,
            chapter: ChapterView::new(around.chapter, &page),
            headline: &scenario.headline,
            level: LevelView::of(scenario.level),
            minutes: entry.minutes,
            statement_count: entry.statement_count,
            requires: self.required(around, &page),
            summary: &entry.summary,
            player: self.reel.player(Place::Walkthrough, &page),
            steps: &self.steps,
            twins: twins(&self.simulated.main),
            start: &self.texts.start,
            simplified: self.texts.simplified.as_deref(),
            settings: given.collect(),
            variants: self.variants(),
            outcomes: self.outcomes(&page),
            takeaway: self.texts.takeaway.as_deref(),
            configs: scenario
                .configs
                .iter()
                .map(|name| around.glossary.view(name, &page))
                .collect(),
            flavours: around.frame.snippet(&self.reel).flavours(),
            embed: self.builder(around, &page),
            reading: reading
                .map(|it| ReadingView { title: &it.title, url: &it.url.text })
                .collect(),
            more: others.map(|other| other.row(&page)).collect(),
            play: page.relative(PlayerPage::address(&scenario.slug, Place::Play).as_str()),
        }
    }

    /// What the builder of snippets offers.
    fn builder(&self, around: Around<'_>, page: &Address) -> BuilderView {
        BuilderView {
            script: page.relative(&assets::link("assets/embed.js")),
            incomplete_url: around.frame.incomplete_url().map(ToOwned::to_owned),
            height: self.reel.frame_height,
        }
    }

    /// What to read first, as far as it has pages.
    fn required<'b>(&self, around: Around<'b>, page: &Address) -> Vec<RequiredView<'b>> {
        let found = self.scenario.requires.iter().filter_map(|id| around.scenarios.get(&**id));
        let view = |first: &&'b Scenario| RequiredView {
            title: &first.title,
            href: page.relative(&format!("scenarios/{}/", first.slug)),
        };
        found.map(view).collect()
    }

    fn variants(&self) -> Vec<WhatIfView> {
        let runs = self.simulated.variants.iter().zip(&self.texts.variants);
        let main = NarrowPlan::of(&self.simulated.main);
        let view =
            |(variant, texts): (&VariantRun, &VariantTexts)| what_if::view(&main, variant, texts);
        runs.map(view).collect()
    }
}

/// The values of `redirect.html`.
#[derive(Debug, Serialize)]
struct RedirectPage {
    #[serde(flatten)]
    base: Base,
    target: String,
}

/// Both layouts of each picture as inline SVG.
pub(super) fn inline(pictures: &[Picture]) -> Vec<String> {
    let draw = |picture: &Picture| {
        let caption = Caption { title: &picture.title, description: &picture.description, id: "" };
        svg::inline(&picture.wide, &caption) + &svg::inline(&picture.narrow, &caption)
    };
    pictures.iter().map(draw).collect()
}
