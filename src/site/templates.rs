//! The Tera templates: ours are part of the program, a site's files of the same name replace them.
//! Every mistake in one becomes a problem at its place. Knows no page's content.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;
use tera::{Context, ErrorKind, Kwargs, State, StringInput, Tera, Value};

use crate::diag::{Code, Problem, Report, SourceFile, Span};

use super::html::Fault;

macro_rules! built_in {
    ($($name:literal),* $(,)?) => {
        /// Our templates by name.
        const BUILT_IN: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../../templates/", $name)))),*];
    };
}

built_in![
    "404.html",
    "base.html",
    "chapter.html",
    "config.html",
    "configs.html",
    "embed.html",
    "head.html",
    "home.html",
    "list.html",
    "mark.html",
    "outcomes.html",
    "page.html",
    "play.html",
    "player.html",
    "redirect.html",
    "router.html",
    "scenario.html",
    "scenarios.html",
    "table.html",
];

/// Our templates by name.
fn built_in() -> BTreeMap<String, Arc<SourceFile>> {
    let all = BUILT_IN.iter().map(|(name, text)| {
        let path = format!("templates/{name} (built in)");
        ((*name).to_owned(), Arc::new(SourceFile::new(path, *text)))
    });
    all.collect()
}

fn is_built_in(file: &SourceFile) -> bool {
    file.path.ends_with(" (built in)")
}

/// Parses templates that know of each other.
fn engine(texts: &BTreeMap<String, Arc<SourceFile>>) -> tera::TeraResult<Tera> {
    let mut tera = Tera::default();
    tera.register_filter("safe", safe);
    tera.add_raw_templates(texts.iter().map(|(name, file)| (&**name, &*file.text)))?;
    Ok(tera)
}

/// The filter `safe`: Tera's own takes what is undefined for an empty text, and copies.
fn safe(text: StringInput<'_>, _: Kwargs, _: &State<'_>) -> Value {
    text.into_value().mark_safe()
}

/// Puts ours, or nothing, in the place of templates with problems. Tells whether there were any.
fn set_aside(texts: &mut BTreeMap<String, Arc<SourceFile>>, report: &Report) -> bool {
    let mut ours = built_in();
    let mut changed = false;
    for (name, file) in texts {
        let is_wrong = report.problems.iter().any(|problem| problem.file.path == file.path);
        if is_wrong && !is_built_in(file) {
            let path = format!("templates/{name} (built in)");
            let nothing = || Arc::new(SourceFile::new(path, ""));
            *file = ours.remove(name).unwrap_or_else(nothing);
            changed = true;
        }
    }
    changed
}

/// The innermost tag that is open at the end of a text, and its place.
fn open_tag(text: &str) -> Option<(&str, usize)> {
    let mut open: Vec<(&str, &str, usize)> = Vec::new();
    for (at, _) in text.match_indices("{%") {
        let Some(length) = text[at..].find("%}") else { break };
        let tag = &text[at..at + length + 2];
        let word = tag[2..length].trim_matches(['-', ' ', '\n']).split(' ').next().unwrap_or("");
        match word.strip_prefix("end") {
            Some(ended) if open.last().is_some_and(|(word, ..)| *word == ended) => {
                open.pop();
            }
            None if matches!(word, "if" | "for" | "block" | "filter" | "component" | "raw") => {
                open.push((word, tag, at));
            }
            _ => {}
        }
    }
    open.pop().map(|(_, tag, at)| (tag, at))
}

/// All templates, parsed.
pub struct Templates {
    tera: Tera,
    files: BTreeMap<String, Arc<SourceFile>>,
}

impl Templates {
    /// Parses ours and the site's. Ours, or nothing, takes the place of one with a mistake, so that
    /// what is wrong with the others is found in the same run.
    #[must_use]
    pub fn load(overrides: &[Arc<SourceFile>]) -> (Templates, Report) {
        let mut templates = Templates { tera: Tera::default(), files: built_in() };
        for file in overrides {
            let name = file.path.strip_prefix("templates/").unwrap_or(&file.path);
            templates.files.insert(name.to_owned(), Arc::clone(file));
        }
        let mut report = templates.parse();
        report.extend(templates.unused(overrides));
        (templates, report)
    }

    /// Warns of a site's templates that replace none of ours and that no template asks for.
    fn unused(&self, overrides: &[Arc<SourceFile>]) -> Report {
        let mut report = Report::default();
        for file in overrides {
            let name = file.path.strip_prefix("templates/").unwrap_or(&file.path);
            let ours = BUILT_IN.iter().map(|(name, _)| *name);
            let is_asked_for = self.files.values().any(|other| other.text.contains(name));
            if is_asked_for || file.text.contains("component ") || ours.clone().any(|it| it == name)
            {
                continue;
            }
            let message = format!("the template `{name}` is not used");
            report.push(
                Problem::warning(Code::UnknownName, file, Span::default(), message)
                    .note("a template of the name of one of ours replaces it")
                    .did_you_mean(name, ours),
            );
        }
        report
    }

    fn parse(&mut self) -> Report {
        let mut report = Report::default();
        if let Ok(tera) = engine(&self.files) {
            self.tera = tera;
            return report;
        }
        let mut texts: BTreeMap<String, Arc<SourceFile>> = self.files.clone();
        // Tera stops at the first file that does not parse; each is tried by itself.
        for (name, file) in &self.files {
            if let Err(error) = Tera::default().add_raw_template(name, &file.text)
                && matches!(error.kind(), ErrorKind::SyntaxError(_))
            {
                report.extend(self.problems(&error, name));
            }
        }
        let mut changed = set_aside(&mut texts, &report);
        loop {
            let error = match engine(&texts) {
                Ok(tera) => {
                    self.tera = tera;
                    return report;
                }
                Err(error) => error,
            };
            let mut found = self.problems(&error, "base.html");
            if changed {
                // Ours are in order; they may only miss what was set aside.
                found.problems.retain(|problem| !is_built_in(&problem.file));
            }
            changed = set_aside(&mut texts, &found);
            report.extend(found);
            if !changed {
                texts = built_in();
            }
        }
    }

    /// The file of a template.
    ///
    /// # Panics
    /// If there is no such template.
    #[must_use]
    pub fn file(&self, name: &str) -> &Arc<SourceFile> {
        self.files.get(name).expect("only templates of the program are asked for")
    }

    /// Fills a template.
    ///
    /// # Errors
    /// What the template gets wrong.
    pub fn render(&self, name: &str, values: &impl Serialize) -> Result<String, Report> {
        Context::from_serialize(values)
            .and_then(|context| self.tera.render(name, &context))
            .map_err(|error| self.problems(&error, name))
    }

    /// What a page made with the template `name` may not hold, shown where a template of the site
    /// has it.
    #[must_use]
    pub fn fault(&self, name: &str, fault: &Fault) -> Problem {
        let own = self.files.values().filter(|file| file.path.starts_with("templates/"));
        let mut own = own.filter(|file| !file.path.ends_with("(built in)"));
        let file = own.find(|file| file.text.contains(&fault.needle));
        let file = file.unwrap_or_else(|| self.file(name));
        let at = file
            .text
            .find(&fault.needle)
            .map_or(Span::default(), |at| Span::new(at, at + fault.needle.len()));
        Problem::error(Code::PagePolicy, file, at, fault.message.as_str())
    }

    /// A mistake of Tera's as problems at their places. `name` is the template at hand, for
    /// mistakes that do not say where they are.
    fn problems(&self, error: &tera::Error, name: &str) -> Report {
        let mut report = Report::default();
        match error.kind() {
            ErrorKind::SyntaxError(place) => report.push(self.placed(Code::TemplateSyntax, place)),
            ErrorKind::RenderingError(place) => {
                report.push(self.placed(Code::TemplateRender, place));
            }
            ErrorKind::MissingParent { current, parent } => {
                let message = format!("the template extends `{parent}`, which is not there");
                report.push(self.whole(current, parent, &message));
            }
            ErrorKind::Msg(text) if text.contains('\n') && text.contains("--> ") => {
                for message in text.split("\n\n") {
                    report.extend(self.printed(message, name));
                }
            }
            other => report.push(self.whole(name, "", &other.to_string())),
        }
        report
    }

    fn placed(&self, code: Code, place: &tera::ReportError) -> Problem {
        let file = self.files.get(place.filename()).unwrap_or_else(|| self.file("base.html"));
        let from = file.byte(place.span().start_line, place.span().start_col + 1);
        let to = file.byte(place.span().end_line, place.span().end_col + 1);
        let problem = Problem::error(code, file, Span::new(from, to.max(from)), place.message());
        match open_tag(&file.text[..from]) {
            Some((tag, at)) if code == Code::TemplateSyntax => {
                let line = file.line_column(at).0;
                problem.help(format!("`{tag}` of line {line} is still open here"))
            }
            _ => problem,
        }
    }

    /// A problem of a whole template, shown at `needle` where that stands in it.
    fn whole(&self, name: &str, needle: &str, message: &str) -> Problem {
        let file = self.files.get(name).unwrap_or_else(|| self.file("base.html"));
        let at = file.text.find(needle).unwrap_or(0);
        Problem::error(Code::TemplateSyntax, file, Span::new(at, at + needle.len()), message)
    }

    /// Tera gives names that it does not know as printed text alone: `error: ...`, `--> file:1:2`.
    fn printed(&self, text: &str, name: &str) -> Report {
        let mut report = Report::default();
        let message = text.lines().next().unwrap_or_default();
        let message = message.strip_prefix("error: ").unwrap_or(message);
        let place = text.split_once("--> ").and_then(|(_, rest)| rest.lines().next());
        let parts: Vec<&str> = place.unwrap_or_default().rsplitn(3, ':').collect();
        if let [column, line, file] = parts[..]
            && let (Ok(line), Ok(column)) = (line.parse(), column.parse())
            && let Some(file) = self.files.get(file)
        {
            let at = file.byte(line, column);
            let width = text.lines().last().map_or(1, |last| last.matches('^').count().max(1));
            let end = (at + width).min(file.text.len());
            report.push(Problem::error(Code::TemplateSyntax, file, Span::new(at, end), message));
        } else {
            report.push(self.whole(name, "", text));
        }
        report
    }
}
