//! Tables: outcomes computed by running the script once for each cell. Here they are read and their
//! changed scripts made.

use super::change::Change;
use super::condition::Condition;
use super::context::Context;
use super::model::{Cell, Script, Table, Written};
use super::read::{optional_text, text_of};
use super::tree::{Entry, Kind, Node};
use super::{settings, variants};
use crate::diag::{Code, Problem};

/// The most cells of one table: each is a run.
const CELLS: usize = 400;

/// Reads `tables`; what cannot be read is reported.
pub fn read(context: &mut Context<'_>, root: &Node, main: &Script) -> Vec<Table> {
    let mut tables: Vec<Table> = Vec::new();
    for node in root.get("tables").map_or(&[][..], Node::items) {
        let Some(mut table) = table(context, root, node) else { continue };
        for script in table.scripts.iter_mut().flatten() {
            script.steps.clone_from(&main.steps);
        }
        if tables.iter().any(|other| other.id == table.id) {
            let message = format!("there are two tables `{}`", table.id);
            context.error(Code::DuplicateName, table.span, message);
        }
        tables.push(table);
    }
    tables
}

fn table(context: &mut Context<'_>, root: &Node, node: &Node) -> Option<Table> {
    let id = node.get("id")?;
    for axis in [node.get("rows"), node.get("columns")].into_iter().flatten() {
        if axis.entries().len() > 1 {
            let message = "an axis varies one path; several changes are written as a list";
            context.error(Code::BadValue, axis.entries()[1].key_span, message);
        }
    }
    let (rows, columns) = (axis(node.get("rows")), axis(node.get("columns")));
    if rows.is_empty() {
        context.error(Code::MissingKey, id.span, "a table has at least one row");
    }
    if rows.len() * columns.len().max(1) > CELLS {
        context.error(Code::Limit, id.span, format!("a table has at most {CELLS} cells"));
        return None;
    }
    let cells = cells(context, node);
    let scripts = rows.iter().map(|(_, row)| scripts(context, root, row, &columns)).collect();
    let titles = |axis: Vec<(String, Change)>| axis.into_iter().map(|(title, _)| title).collect();
    Some(Table {
        id: id.text()?.to_owned(),
        span: id.span,
        title: text_of(node, "title")?,
        rows: titles(rows),
        columns: titles(columns),
        cells,
        scripts,
    })
}

/// The changes of one axis with their headings.
pub fn axis(node: Option<&Node>) -> Vec<(String, Change)> {
    let Some(node) = node else { return Vec::new() };
    match &node.kind {
        Kind::List(items) => items
            .iter()
            .map(|item| (text_of(item, "title").unwrap_or_default(), Change::of(item)))
            .collect(),
        _ => node.entries().iter().take(1).flat_map(values).collect(),
    }
}

/// One path with its values: a change for each.
fn values(entry: &Entry) -> Vec<(String, Change)> {
    let path = entry.key.as_str();
    let name = match path.split_once(".config.") {
        Some((_, setting)) => setting,
        None => path.rsplit('.').next().unwrap_or(path),
    };
    let change = |value: &Node| {
        let value_text = settings::text(value).unwrap_or_else(|| "null".to_owned());
        let title = format!("{name}={value_text}");
        let set = vec![Entry { value: value.clone(), ..entry.clone() }];
        (title, Change { set, ..Change::default() })
    };
    entry.value.items().iter().map(change).collect()
}

fn scripts(
    context: &mut Context<'_>,
    root: &Node,
    row: &Change,
    columns: &[(String, Change)],
) -> Vec<Script> {
    let mut one = |change: &Change| variants::changed(context, root, change, |_, _, _| {});
    if columns.is_empty() {
        return vec![one(row)];
    }
    let both = columns.iter().map(|(_, column)| Change {
        set: row.set.iter().chain(&column.set).cloned().collect(),
        actions: row.actions.iter().chain(&column.actions).cloned().collect(),
        drop_actions: row.drop_actions.iter().chain(&column.drop_actions).cloned().collect(),
    });
    both.map(|change| one(&change)).collect()
}

fn cells(context: &mut Context<'_>, node: &Node) -> Vec<Cell> {
    let all = context.names.step_count;
    let mut cells = Vec::new();
    for item in node.get("cells").map_or(&[][..], Node::items) {
        let say = optional_text(context, item, "say", all);
        let condition = match item.get("if").filter(|node| node.text().is_some()) {
            None => None,
            Some(node) => {
                let written = Written::of(context.file, node);
                match Condition::parse(&written.text, context.known(all)) {
                    Ok(condition) => Some(condition),
                    Err(mistake) => {
                        context.mistake(mistake, &written);
                        continue;
                    }
                }
            }
        };
        cells.extend(say.map(|say| Cell { condition, say }));
    }
    if cells.last().is_some_and(|cell| cell.condition.is_some()) {
        let span = node.entry("cells").map_or(node.span, |entry| entry.key_span);
        let message = "the last line of `cells` has an `if`, so a cell could be left without words";
        let problem = Problem::error(Code::MissingKey, context.file, span, message);
        context.report.push(problem.help("end with a line that has only `say`"));
    }
    cells
}
