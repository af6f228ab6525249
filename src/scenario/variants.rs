//! Variants: the same script with changes. A variant's tree is made from the file's, then read as
//! any other, so a variant is checked as thoroughly as the scenario itself.

use super::change::Change;
use super::context::Context;
use super::keys;
use super::lint::lint;
use super::model::{Kept, Script, Step, Variant};
use super::names::Names;
use super::read::{self, optional_text, text_of};
use super::steps;
use super::tree::{Entry, Kind, Node};
use crate::diag::{Code, Problem, Report, SourceFile, Span};
use std::sync::Arc;

/// The names of a file with all that its variants and tables bring.
pub fn names(file: &Arc<SourceFile>, root: &Node) -> Names {
    let mut names = Names::collect(root);
    let own = names.clone();
    for change in all_changes(root) {
        let mut ignored = Report::default();
        let mut context = Context { file, names: &own, report: &mut ignored };
        names.merge(Names::collect(&change.apply(&mut context, root)));
    }
    names
}

fn all_changes(root: &Node) -> Vec<Change> {
    let variants = root.get("variants").map_or(&[][..], Node::items).iter().map(Change::of);
    let tables = root.get("tables").map_or(&[][..], Node::items).iter();
    let axes = tables.flat_map(|table| [table.get("rows"), table.get("columns")]);
    let axes = axes.flat_map(|axis| super::tables::axis(axis)).map(|(_, change)| change);
    variants.chain(axes).collect()
}

/// Reads `variants`; what is wrong with one of them is reported once, even if the file has it too.
pub fn read(context: &mut Context<'_>, root: &Node, main: &Script) -> Vec<Variant> {
    let mut variants: Vec<Variant> = Vec::new();
    for node in root.get("variants").map_or(&[][..], Node::items) {
        let Some(variant) = variant(context, root, node, main) else { continue };
        if variants.iter().any(|other| other.id == variant.id) {
            let message = format!("there are two variants `{}`", variant.id);
            context.error(Code::DuplicateName, variant.span, message);
        }
        variants.push(variant);
    }
    variants
}

fn variant(context: &mut Context<'_>, root: &Node, node: &Node, main: &Script) -> Option<Variant> {
    let id = node.get("id")?;
    let text = optional_text(context, node, "text", context.names.step_count);
    let script = changed(context, root, &Change::of(node), |context, script, _| {
        script.steps = variant_steps(context, root, node, main);
    });
    Some(Variant {
        id: id.text()?.to_owned(),
        span: id.span,
        title: text_of(node, "title")?,
        text,
        script,
    })
}

/// Reads the script of a changed tree; problems that the unchanged one has too are not repeated.
pub fn changed(
    context: &mut Context<'_>,
    root: &Node,
    change: &Change,
    then: impl FnOnce(&mut Context<'_>, &mut Script, &Node),
) -> Script {
    let mut report = Report::default();
    let mut inner = Context { file: context.file, names: context.names, report: &mut report };
    let tree = change.apply(&mut inner, root);
    let mut names = Names::collect(&tree);
    names.merge(context.names.clone());
    lint(context.file, &tree, &keys::SCENARIO, &mut report);
    let mut inner = Context { file: context.file, names: &names, report: &mut report };
    let mut script = read::script(&mut inner, &tree);
    then(&mut inner, &mut script, &tree);
    for problem in report.problems {
        if !context.report.problems.contains(&problem) {
            context.report.push(problem);
        }
    }
    script
}

/// The steps of a variant: each of the file's, with the variant's own entry over it.
fn variant_steps(
    context: &mut Context<'_>,
    root: &Node,
    variant: &Node,
    main: &Script,
) -> Vec<Step> {
    let own = variant.get("steps").map_or(&[][..], Node::entries);
    let items = root.get("steps").map_or(&[][..], Node::items);
    for entry in own {
        let number = entry.key.parse::<usize>().ok();
        if !number.is_some_and(|number| (1..=items.len()).contains(&number)) {
            let message = format!("there is no step `{}`", entry.key);
            let problem = Problem::error(Code::UnknownName, context.file, entry.key_span, message);
            context.report.push(problem.note(format!("the file has {} steps", items.len())));
        }
    }
    let at = variant.get("id").map_or(variant.span, |id| id.span);
    let mut steps = Vec::new();
    for (item, number) in items.iter().zip(1_u32..) {
        let entry = own.iter().find(|entry| entry.key == number.to_string());
        let base = main.steps.iter().find(|step| step.number == number);
        match entry {
            Some(entry) if entry.value.get("drop").is_some_and(Node::is_true) => {}
            Some(entry) => {
                let node = overlaid(item, &entry.value, entry.key_span);
                if let Some(mut step) = steps::step(context, &node, number) {
                    step.kept = kept(&entry.value, base);
                    steps::warn(context, std::slice::from_ref(&step));
                    steps.push(step);
                }
            }
            None => {
                if let Some(mut step) = steps::step(context, item, number) {
                    step.span = at;
                    step.kept = Kept::All;
                    steps.push(step);
                }
            }
        }
    }
    if steps.is_empty() && !items.is_empty() {
        context.error(Code::MissingKey, at, "a variant has at least one step");
    }
    steps::check_order(context, &steps);
    steps
}

/// What a step keeps of the main script's, where it has an entry of its own: nothing only if it has
/// its own title, text and `expect`, so far as the main script has them.
fn kept(own: &Node, base: Option<&Step>) -> Kept {
    let has = |key: &str| own.get(key).is_some();
    let Some(base) = base else { return Kept::No };
    if !has("expect") {
        return Kept::All;
    }
    let aside = [("ask", &base.ask), ("answer", &base.answer), ("simplified", &base.simplified)];
    let keeps_aside = aside.iter().any(|(key, text)| text.is_some() && !has("text") && !has(key));
    let keeps_text = base.text.is_some() && !has("text");
    if has("title") && !keeps_text && !keeps_aside {
        Kept::No
    } else {
        Kept::Text(base.expect.clone())
    }
}

/// A step's node with the variant's keys over its own. A text of the variant's own leaves no
/// question and note of the main script behind, and a time of its own no other time.
fn overlaid(base: &Node, own: &Node, span: Span) -> Node {
    let Kind::Map(entries) = &base.kind else { return base.clone() };
    let has = |key: &str| own.get(key).is_some();
    let leaves = |entry: &&Entry| match entry.key.as_str() {
        "at" | "when" | "within" => !has("at") && !has("when"),
        "ask" | "answer" | "simplified" => !has("text") && !has(&entry.key),
        key => !has(key),
    };
    let mut merged: Vec<Entry> = entries.iter().filter(leaves).cloned().collect();
    let within_only = has("within") && !has("at") && !has("when");
    if within_only {
        merged.retain(|entry| entry.key != "within");
    }
    merged.extend(own.entries().iter().filter(|entry| entry.key != "drop").cloned());
    Node { span, kind: Kind::Map(merged) }
}
