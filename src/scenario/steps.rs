//! `steps`: when each is, what it says, what must be true at it.

use super::actions::time;
use super::condition::Condition;
use super::context::Context;
use super::expect;
use super::model::{Citation, Kept, Step, Timing, Written};
use super::read::{config_names, optional_text};
use super::tree::{Kind, Node};
use super::{duration, limits, numbers};
use crate::diag::{Code, Problem, Span};

/// How long a `when` may take where the author does not say.
const DEFAULT_WITHIN_MS: u64 = 60_000;

/// Reads `steps`; what cannot be read is reported.
pub fn read(context: &mut Context<'_>, node: Option<&Node>) -> Vec<Step> {
    let items = node.map_or(&[][..], Node::items);
    if let Some(node) =
        node.filter(|node| matches!(&node.kind, Kind::List(items) if items.is_empty()))
    {
        context.error(Code::MissingKey, node.span, "a scenario has at least one step");
    }
    if items.len() > limits::STEPS {
        let message = format!("a scenario has at most {} steps", limits::STEPS);
        context.error(Code::Limit, items[limits::STEPS].span, message);
    }
    let mut steps = Vec::new();
    for (item, number) in items.iter().zip(1..) {
        steps.extend(step(context, item, number));
    }
    check_order(context, &steps);
    steps
}

/// Reads one step.
pub fn step(context: &mut Context<'_>, node: &Node, number: u32) -> Option<Step> {
    let timing = timing(context, node, number);
    let mut text = |key| optional_text(context, node, key, number);
    let (body, ask, answer) = (text("text"), text("ask"), text("answer"));
    let simplified = text("simplified");
    let (timing, timing_span) = timing?;
    Some(Step {
        number,
        span: node.span,
        timing,
        timing_span,
        title: node.get("title").and_then(Node::text).unwrap_or_default().to_owned(),
        text: body,
        ask,
        answer,
        simplified,
        expect: expect::read(context, node.get("expect"), number),
        configs: config_names(context, node.get("configs")),
        cite: citations(context, node),
        kept: Kept::No,
    })
}

/// Reads `at`, or `when` and `within`.
fn timing(context: &mut Context<'_>, node: &Node, number: u32) -> Option<(Timing, Span)> {
    if let Some(at) = node.get("at") {
        if let Some(within) = node.entry("within") {
            let message = "`within` belongs to `when`, and this step has `at`";
            context.error(Code::UnknownKey, within.key_span, message);
        }
        return Some((Timing::At(time(context, at)?), at.span));
    }
    let when = node.get("when")?;
    let written = Written::of(context.file, when);
    let within_ms = match node.get("within") {
        Some(within) => time(context, within)?,
        None => DEFAULT_WITHIN_MS,
    };
    when.text()?;
    match Condition::parse(&written.text, context.known(number.saturating_sub(1))) {
        Ok(condition) => Some((Timing::When { condition, within_ms }, when.span)),
        Err(mistake) => {
            context.mistake(mistake, &written);
            None
        }
    }
}

/// Steps at fixed times must not go back.
pub fn check_order(context: &mut Context<'_>, steps: &[Step]) {
    let mut latest: Option<(u32, u64)> = None;
    for step in steps {
        let Timing::At(at) = step.timing else { continue };
        match latest {
            Some((number, time)) if at < time => {
                let message = format!(
                    "step {} is at {}, before step {number} at {}",
                    step.number,
                    duration::display(at),
                    duration::display(time)
                );
                context.error(Code::StepOrder, step.timing_span, message);
            }
            _ => latest = Some((step.number, at)),
        }
    }
}

fn citations(context: &mut Context<'_>, node: &Node) -> Vec<Citation> {
    let mut citations = Vec::new();
    for item in node.get("cite").map_or(&[][..], Node::items) {
        if let Some(text) = item.text() {
            let number = text.strip_prefix("KIP-").unwrap_or(text).parse();
            if let Ok(number) = number {
                citations.push(Citation::Kip(number));
            } else {
                let message = format!("`{text}` is not a KIP number");
                let problem = Problem::error(Code::BadValue, context.file, item.span, message);
                context
                    .report
                    .push(problem.note("`cite` takes KIP numbers (KIP-101) or { title, url }"));
            }
        } else if let (Some(title), Some(url)) = (item.get("title"), item.get("url")) {
            let text = |node: &Node| node.text().unwrap_or_default().to_owned();
            citations.push(Citation::Link { title: text(title), url: text(url) });
        }
    }
    citations
}

/// Warns about steps that state nothing and about numbers that nothing vouches for.
pub fn warn(context: &mut Context<'_>, steps: &[Step]) {
    for step in steps {
        if step.expect.is_empty() {
            let message = format!("step {} states nothing that must be true", step.number);
            let span = Span::new(step.span.start, step.span.start + 1);
            let problem = Problem::warning(Code::NoExpect, context.file, span, message);
            context.report.push(problem.help("add `expect` with what the step shows"));
        }
        let Some(text) = &step.text else { continue };
        for number in numbers::bare_numbers(&text.written.text) {
            let span = text.written.place(number.start, number.len());
            let message =
                format!("the number `{}` is not from the simulator", &text.written.text[number]);
            let problem = Problem::warning(Code::BareNumber, context.file, span, message)
                .help("print an observable with {{ path }}, put code in backticks, or use words");
            context.report.push(problem);
        }
    }
}
