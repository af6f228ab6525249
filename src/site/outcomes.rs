//! Tables of outcomes on pages: what each cell says, with a link to the page that steps through its
//! run. Also the marks that stand in a text for a table until it can be filled in.

use serde::Serialize;

use crate::diag::{Problem, Report, SourceFile, Span};
use crate::scenario::model::Table;
use crate::scenario::run::TableRun;
use std::sync::Arc;

use super::address::Address;
use super::markdown::{self, Headings, Source, Text};
use super::words;

/// A table with what its cells say, for pages that come later than its scenario.
#[derive(Clone, Debug)]
pub struct Outcomes<'a> {
    slug: &'a str,
    table: &'a Table,
    /// By row, then column: the line that held, and what it says.
    said: Vec<Vec<(usize, String)>>,
}

/// A table, ready for templates.
#[derive(Clone, Debug, Serialize)]
pub struct OutcomesView<'a> {
    /// Its part of the section's id.
    pub id: &'a str,
    /// Its heading.
    pub title: &'a str,
    /// The headings of its columns, HTML; empty where it has one column without a name.
    pub columns: Vec<String>,
    /// Its rows.
    pub rows: Vec<RowView>,
}

/// One row.
#[derive(Clone, Debug, Serialize)]
pub struct RowView {
    /// Its heading, HTML.
    pub title: String,
    /// Its cells.
    pub cells: Vec<CellView>,
}

/// One cell.
#[derive(Clone, Debug, Serialize)]
pub struct CellView {
    /// What it says, HTML of one paragraph.
    pub said: String,
    /// What the run is of, plain text.
    pub label: String,
    /// Link to the page that steps through its run.
    pub href: String,
}

impl<'a> Outcomes<'a> {
    /// A table of the scenario `slug` with what its runs gave.
    #[must_use]
    pub fn new(slug: &'a str, table: &'a Table, run: &TableRun) -> Outcomes<'a> {
        let said = |row: &Vec<_>| row.iter().map(said).collect();
        Outcomes { slug, table, said: run.cells.iter().map(said).collect() }
    }

    /// Whether it is the table that an insertion names.
    #[must_use]
    pub fn is(&self, insertion: &Insertion) -> bool {
        self.slug == insertion.slug && self.table.id == insertion.id
    }

    /// The table on the page at `from`, and what is wrong with its texts.
    #[must_use]
    pub fn view(&self, from: &Address) -> (OutcomesView<'a>, Report) {
        let mut report = Report::default();
        let mut rows = Vec::new();
        for (row, (title, cells)) in self.table.rows.iter().zip(&self.said).enumerate() {
            let mut views = Vec::new();
            for (column, (line, text)) in cells.iter().enumerate() {
                let source = Source::Scenario(&self.table.cells[*line].say);
                let headings = Headings::Under(3);
                let said = markdown::render(Text { text, source, page: from, headings });
                report.extend(said.report);
                let place = Place { row, column };
                views.push(CellView {
                    said: words::inline(&said.html),
                    label: label(self.table, place),
                    href: from.relative(address(self.slug, self.table, place).as_str()),
                });
            }
            rows.push(RowView { title: words::breakable(title), cells: views });
        }
        let columns = self.table.columns.iter().map(|title| words::breakable(title)).collect();
        let view = OutcomesView { id: &self.table.id, title: &self.table.title, columns, rows };
        (view, report)
    }
}

fn said(cell: &crate::scenario::run::CellRun) -> (usize, String) {
    (cell.line, cell.said.clone())
}

/// Where a cell stands, counted from 0.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// Its row.
    pub row: usize,
    /// Its column.
    pub column: usize,
}

/// What a cell's run is of, in plain words: `acks=1, nobody dies`.
#[must_use]
pub fn label(table: &Table, place: Place) -> String {
    match table.columns.get(place.column) {
        Some(column) => format!("{}, {column}", table.rows[place.row]),
        None => table.rows[place.row].clone(),
    }
}

/// The address of the page that steps through a cell's run; rows and columns count from 1 there.
#[must_use]
pub fn address(slug: &str, table: &Table, place: Place) -> Address {
    Address::new(format!("play/{slug}/{}/{}-{}/", table.id, place.row + 1, place.column + 1))
}

/// A table that a text asks for.
#[derive(Clone, Debug)]
pub struct Insertion {
    /// The scenario that has it.
    pub slug: String,
    /// The table's id.
    pub id: String,
    /// The file that asks for it.
    pub file: Arc<SourceFile>,
    /// Where it does.
    pub span: Span,
}

impl Insertion {
    /// What stands in the HTML until the table does. No author's text can hold it, since raw HTML
    /// is shown as text.
    #[must_use]
    pub fn mark(&self) -> String {
        format!("<!--kafka-table {} {}-->", self.slug, self.id)
    }

    /// The HTML with the table in the place of the mark.
    #[must_use]
    pub fn insert(&self, html: &str, table: &str) -> String {
        html.replace(&format!("<p>{}</p>", self.mark()), table)
    }

    /// That there is no such table.
    #[must_use]
    pub fn unknown(&self, all: &[Outcomes<'_>]) -> Problem {
        let written = format!("{} {}", self.slug, self.id);
        let message = format!("there is no table `{written}`");
        let names: Vec<String> =
            all.iter().map(|table| format!("{} {}", table.slug, table.table.id)).collect();
        Problem::error(crate::diag::Code::BadMacro, &self.file, self.span, message)
            .note("an insertion names a scenario by its slug, then one of its `tables` by its id")
            .did_you_mean(&written, names.iter().map(String::as_str))
    }
}
