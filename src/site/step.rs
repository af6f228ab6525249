//! One step as the pages show it: texts as HTML, what changed, the picture. The walkthrough and the
//! player both start from it.

use serde::Serialize;

use crate::diag::Report;
use crate::diagram::changes::{self, ChangeLine};
use crate::scenario::model::{Citation, Script, Text as ScenarioText};
use crate::scenario::run::Frame;

use super::address::Address;
use super::links::Link;
use super::markdown::{self, Headings, Rendered, Source, Text};
use super::words;

/// One step, ready for templates. Texts are HTML.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct StepView {
    /// Counts from 1.
    pub number: u32,
    /// How many steps the run has.
    pub total: usize,
    /// The simulated time: `1.400 s`.
    pub time: String,
    /// The simulated time in milliseconds.
    pub time_ms: u64,
    /// Its title, plain text.
    pub title: String,
    /// Both layouts of its picture, as inline SVG.
    pub picture: String,
    /// The same of the sequence diagram that leads to it.
    pub sequence: String,
    /// The text before the question; empty where the text is one block.
    pub first: String,
    /// The question.
    pub ask: Option<String>,
    /// The answer.
    pub answer: Option<String>,
    /// The decisive part of the text: its last block.
    pub rest: String,
    /// [`StepView::first`] and [`StepView::rest`] for players whose steps have an `h2`.
    pub raised: String,
    /// What changed since the step before.
    pub changes: Vec<ChangeView>,
    /// What a real cluster does differently here.
    pub simplified: Option<String>,
    /// Sources.
    pub cite: Vec<CiteView>,
}

/// One line of "Changed since step 3". All plain text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ChangeView {
    /// What: `orders-0, high watermark`.
    pub what: String,
    /// The value before.
    pub from: String,
    /// The value now.
    pub to: String,
}

impl From<ChangeLine> for ChangeView {
    fn from(line: ChangeLine) -> ChangeView {
        ChangeView { what: line.what, from: line.from, to: line.to }
    }
}

/// One source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CiteView {
    /// What to call it.
    pub title: String,
    /// Its address.
    pub url: String,
}

/// All steps of a run, with what their texts brought along.
#[derive(Clone, Debug, Default)]
pub struct Steps {
    /// One per frame.
    pub views: Vec<StepView>,
    /// Links inside the site.
    pub links: Vec<Link>,
    /// What is wrong with the texts.
    pub report: Report,
}

/// Prepares steps for a page: each frame with its picture as inline SVG. `script` is what was run.
#[must_use]
pub fn steps<'a>(
    frames: impl Iterator<Item = (&'a Frame, String)>,
    script: &Script,
    page: &Address,
) -> Steps {
    let mut steps = Steps::default();
    let total = script.steps.len();
    for (frame, picture) in frames {
        let written = script.steps.iter().find(|step| step.number == frame.number);
        let mut html = |text: &str, source: Option<&ScenarioText>| {
            let Some(source) = source else { return Rendered::default() };
            let source = Source::Scenario(source);
            let mut rendered =
                markdown::render(Text { text, source, page, headings: Headings::Under(3) });
            steps.links.append(&mut rendered.links);
            steps.report.extend(std::mem::take(&mut rendered.report));
            rendered
        };
        let text = html(&frame.text, written.and_then(|step| step.text.as_ref()));
        let mut optional = |text: &Option<String>, source: Option<&ScenarioText>| {
            text.as_deref().map(|text| html(text, source).html)
        };
        let ask = optional(&frame.ask, written.and_then(|step| step.ask.as_ref()));
        steps.views.push(StepView {
            number: frame.number,
            total,
            time: words::seconds(frame.time_ms),
            time_ms: frame.time_ms,
            title: frame.title.clone(),
            picture,
            sequence: String::new(),
            first: text.html[..text.last_block].to_owned(),
            ask: ask.map(|html| words::inline(&html)),
            answer: optional(&frame.answer, written.and_then(|step| step.answer.as_ref())),
            rest: text.html[text.last_block..].to_owned(),
            raised: markdown::raised(&text.html),
            changes: changes::list(frame).into_iter().map(ChangeView::from).collect(),
            simplified: optional(
                &frame.simplified,
                written.and_then(|step| step.simplified.as_ref()),
            ),
            cite: citations(frame),
        });
    }
    steps
}

fn citations(frame: &Frame) -> Vec<CiteView> {
    let view = |citation: &Citation| match citation {
        Citation::Kip(number) => CiteView {
            title: format!("KIP-{number}"),
            // A proposal's own address holds its whole title; the list has them all by number.
            url: "https://cwiki.apache.org/confluence/display/KAFKA/Kafka+Improvement+Proposals"
                .to_owned(),
        },
        Citation::Link { title, url } => CiteView { title: title.clone(), url: url.clone() },
    };
    frame.cite.iter().map(view).collect()
}
