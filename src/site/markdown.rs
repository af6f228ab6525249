//! Markdown to HTML: CommonMark with tables. Raw HTML is shown as text, links are resolved and
//! noted for the link check, headings get ids. Knows addresses of the site, but not what stands
//! there.

use std::collections::BTreeSet;
use std::sync::Arc;

use pulldown_cmark::{CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd, html};

use crate::diag::{Code, Problem, Report, SourceFile, Span};

use super::address::{self, Address};
use super::links::Link;
use super::outcomes::Insertion;

/// A Markdown text and where it stands.
#[derive(Clone, Copy)]
pub struct Text<'a> {
    /// The text itself.
    pub text: &'a str,
    /// Where it comes from.
    pub source: Source<'a>,
    /// The page that it becomes part of.
    pub page: &'a Address,
    /// What its headings are on that page.
    pub headings: Headings,
}

/// Where a text comes from, so that a mistake in it can be shown at its place.
#[derive(Clone, Copy)]
pub enum Source<'a> {
    /// The text is a whole file of the content folder.
    File {
        /// The file.
        file: &'a Arc<SourceFile>,
        /// Its path below the content folder, from which its links count.
        below: &'a str,
    },
    /// The text is one of a scenario's, with values filled in.
    Scenario(&'a crate::scenario::model::Text),
}

impl<'a> Source<'a> {
    fn file(self) -> &'a Arc<SourceFile> {
        match self {
            Source::File { file, .. } => file,
            Source::Scenario(text) => &text.written.file,
        }
    }

    fn below(self) -> Option<&'a str> {
        match self {
            Source::File { below, .. } => Some(below),
            Source::Scenario(_) => None,
        }
    }
}

/// What the headings of a text are on its page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Headings {
    /// The text is the page: its first heading is taken out as the title, all have ids.
    Page,
    /// The text is a section under the page's title, all have ids.
    Section,
    /// The text stands under a heading of this level, none has an id.
    Under(usize),
}

/// A text as HTML.
#[derive(Clone, Debug, Default)]
pub struct Rendered {
    /// The HTML.
    pub html: String,
    /// Where in it the last block begins: the decisive part of a step's text.
    pub last_block: usize,
    /// The first heading of [`Headings::Page`], as HTML and as plain text.
    pub title: Option<(String, String)>,
    /// The words alone, for descriptions.
    pub plain: String,
    /// How many words it has.
    pub word_count: usize,
    /// Links inside the site.
    pub links: Vec<Link>,
    /// Tables that it asks for; their marks stand in the HTML.
    pub tables: Vec<Insertion>,
    /// What is wrong with it.
    pub report: Report,
}

/// Turns a text into HTML.
#[must_use]
pub fn render(text: Text<'_>) -> Rendered {
    let mut writer = Writer {
        text,
        out: Rendered::default(),
        ids: TAKEN.map(ToOwned::to_owned).into(),
        open: Vec::new(),
        is_code: false,
        is_image: false,
    };
    let mut out = Vec::new();
    let mut last_block = 0;
    let mut depth = 0_usize;
    let mut heading = None;
    for (event, range) in Parser::new_ext(text.text, Options::ENABLE_TABLES).into_offset_iter() {
        match &event {
            Event::Start(_) => {
                if depth == 0 {
                    last_block = out.len();
                }
                depth += 1;
            }
            Event::End(_) => depth -= 1,
            _ => {}
        }
        match event {
            Event::Start(Tag::Heading { level, .. }) => heading = Some((level, Vec::new())),
            Event::End(TagEnd::Heading(_)) => {
                let (level, inner) = heading.take().expect("a heading that ends has begun");
                writer.heading(level, inner, &mut out);
            }
            event => match &mut heading {
                Some((_, inner)) => writer.event(event, &range, inner),
                None => writer.event(event, &range, &mut out),
            },
        }
    }
    let last = out.split_off(last_block);
    html::push_html(&mut writer.out.html, out.into_iter());
    writer.out.last_block = writer.out.html.len();
    html::push_html(&mut writer.out.html, last.into_iter());
    writer.out
}

/// Ids that pages have of their own.
const TAKEN: [&str; 2] = ["main", "guide"];

/// What a text may ask to have inserted.
const DIRECTIVES: [&str; 2] = ["kafka-scenario", "kafka-table"];

struct Writer<'a> {
    text: Text<'a>,
    out: Rendered,
    ids: BTreeSet<String>,
    /// Whether what comes is a block of code, where braces are just that.
    is_code: bool,
    /// Whether what comes is said of an image.
    is_image: bool,
    /// The levels of the headings over the next one, as written.
    open: Vec<HeadingLevel>,
}

impl<'a> Writer<'a> {
    fn event(
        &mut self,
        event: Event<'a>,
        range: &std::ops::Range<usize>,
        out: &mut Vec<Event<'a>>,
    ) {
        match event {
            Event::Html(raw) | Event::InlineHtml(raw) => out.push(Event::Text(raw)),
            Event::Text(text) => {
                self.out.word_count += text.split_whitespace().count();
                self.out.plain.push_str(&text);
                match self.directive(&text, range.start) {
                    Some(mark) => out.push(Event::Html(mark.into())),
                    None if self.is_code || self.is_image => out.push(Event::Text(text)),
                    None => whole_names(text, out),
                }
            }
            Event::Code(code) => {
                self.out.word_count += 1;
                self.out.plain.push_str(&code);
                out.push(Event::Code(code));
            }
            Event::SoftBreak | Event::HardBreak | Event::End(TagEnd::Paragraph) => {
                self.out.plain.push(' ');
                out.push(event);
            }
            Event::Start(Tag::Link { link_type, dest_url, title, id }) => {
                let dest_url = self.link(dest_url, range);
                out.push(Event::Start(Tag::Link { link_type, dest_url, title, id }));
            }
            Event::Start(Tag::Image { link_type, dest_url, title, id }) => {
                self.refuse_elsewhere(&dest_url, range);
                let dest_url = self.link(dest_url, range);
                out.push(Event::Start(Tag::Image { link_type, dest_url, title, id }));
                self.is_image = true;
            }
            Event::End(TagEnd::Image) => {
                self.is_image = false;
                out.push(Event::End(TagEnd::Image));
            }
            Event::Start(Tag::Table(alignment)) => {
                out.push(Event::Html("<div class=\"scroll\" tabindex=\"0\">".into()));
                out.push(Event::Start(Tag::Table(alignment)));
            }
            Event::End(TagEnd::Table) => {
                out.push(Event::End(TagEnd::Table));
                out.push(Event::Html("</div>\n".into()));
            }
            Event::Start(Tag::CodeBlock(_)) => {
                self.is_code = true;
                out.push(Event::Html("<pre tabindex=\"0\"><code>".into()));
            }
            Event::End(TagEnd::CodeBlock) => {
                self.is_code = false;
                out.push(Event::Html("</code></pre>\n".into()));
            }
            other => out.push(other),
        }
    }

    fn heading(&mut self, level: HeadingLevel, inner: Vec<Event<'a>>, out: &mut Vec<Event<'a>>) {
        let plain = plain_text(&inner);
        let mut inner_html = String::new();
        html::push_html(&mut inner_html, inner.into_iter());
        let first = self.text.headings == Headings::Page && self.out.title.is_none();
        if first && level == HeadingLevel::H1 {
            self.out.title = Some((inner_html, plain));
            return;
        }
        let (over, named) = match self.text.headings {
            Headings::Page | Headings::Section => (1, true),
            Headings::Under(level) => (level, false),
        };
        // Whatever levels the author chose, the page skips none.
        self.open.retain(|over| *over < level);
        self.open.push(level);
        let level = (over + self.open.len()).min(6);
        let id = if named { format!(" id=\"{}\"", self.unique_id(&plain)) } else { String::new() };
        out.push(Event::Html(format!("<h{level}{id}>{inner_html}</h{level}>\n").into()));
    }

    fn unique_id(&mut self, plain: &str) -> String {
        let base = slug(plain);
        let mut id = base.clone();
        let mut count = 1;
        while !self.ids.insert(id.clone()) {
            count += 1;
            id = format!("{base}-{count}");
        }
        id
    }

    /// The address to write for a link of the author's; notes it for the link check.
    fn link(&mut self, dest: CowStr<'a>, range: &std::ops::Range<usize>) -> CowStr<'a> {
        let span = self.find(&dest, range);
        match address::resolve(&dest, self.text.page, self.text.source.below()) {
            Ok(address::Target::Elsewhere) => dest,
            Ok(address::Target::Inside { path, fragment }) => {
                let mut href = self.text.page.relative(&path);
                if let Some(fragment) = &fragment {
                    href.push('#');
                    href.push_str(fragment);
                }
                self.out.links.push(Link {
                    page: self.text.page.clone(),
                    path,
                    fragment,
                    written: dest.to_string(),
                    file: Arc::clone(self.file()),
                    span,
                });
                href.into()
            }
            Err(refusal) => {
                self.report(
                    Problem::error(refusal.code, self.file(), span, refusal.message)
                        .help(refusal.help),
                );
                "#".into()
            }
        }
    }

    /// The mark of a table that the text asks for. Anything else in braces is reported.
    fn directive(&mut self, text: &str, start: usize) -> Option<String> {
        let is_page = matches!(self.text.source, Source::File { .. }) && !self.is_code;
        let begin = if is_page { "{{" } else { "{{#kafka-" };
        let at = text.find(begin)?;
        let escaped = at == 0 && start > 0 && self.text.text.as_bytes()[start - 1] == b'\\';
        if escaped {
            return None;
        }
        let end = text[at..].find("}}").map_or(text.len(), |end| at + end + 2);
        let span = self.find(&text[at..end], &(start..self.text.text.len()));
        let inner = text[at..end].trim_start_matches(['{', '#', ' ']);
        let name = inner.split([' ', '}']).next().unwrap_or_default();
        let problem = if !text[at..].starts_with("{{#kafka-") {
            let message = format!("nothing is inserted for `{name}`: pages know no values");
            Problem::warning(Code::BadMacro, self.file(), span, message)
                .help("write \\{{ where braces are meant")
        } else if !DIRECTIVES.contains(&name) {
            let message = format!("there is no insertion `{name}`");
            Problem::error(Code::BadMacro, self.file(), span, message)
                .note(format!("there are: {}", DIRECTIVES.join(", ")))
                .did_you_mean(name, DIRECTIVES)
        } else if name == "kafka-table" && !matches!(self.text.headings, Headings::Under(_)) {
            let words: Vec<&str> = inner.trim_end_matches('}').split_whitespace().collect();
            if let ([_, slug, id], true) = (&words[..], text.trim() == &text[at..end]) {
                let (slug, id) = ((*slug).to_owned(), (*id).to_owned());
                let insertion = Insertion { slug, id, file: Arc::clone(self.file()), span };
                let mark = insertion.mark();
                self.out.tables.push(insertion);
                return Some(mark);
            }
            let message = "a table is asked for by its scenario and its id, alone in a paragraph";
            Problem::error(Code::BadMacro, self.file(), span, message)
                .help("write {{#kafka-table write-path survives}} and nothing else there")
        } else {
            let message = "pictures and tables inside such texts are not yet there";
            Problem::error(Code::NotYet, self.file(), span, message)
                .help("link to the scenario instead: [its title](/scenarios/its-slug/)")
        };
        self.report(problem);
        None
    }

    /// Reports a picture that lies on another site.
    fn refuse_elsewhere(&mut self, url: &str, range: &std::ops::Range<usize>) {
        if url.contains("://") {
            let message = format!("the picture `{url}` lies on another site");
            let problem =
                Problem::error(Code::UnsafeLink, self.file(), self.find(url, range), message);
            self.report(
                problem.help("put it into the site's folder: pages ask no other site for anything"),
            );
        }
    }

    /// Where `needle` stands in the file; `range` is where in the text to look for it.
    fn find(&self, needle: &str, range: &std::ops::Range<usize>) -> Span {
        let text = self.text.text;
        let at = text[range.start..].find(needle).map_or(range.start, |at| range.start + at);
        match self.text.source {
            Source::File { .. } => Span::new(at, at + needle.len()),
            Source::Scenario(source) => source.place(text, at),
        }
    }

    fn report(&mut self, problem: Problem) {
        self.out.report.push(problem);
    }

    fn file(&self) -> &'a Arc<SourceFile> {
        self.text.source.file()
    }
}

/// A text in which names such as `broker-1` do not break at their hyphens.
fn whole_names<'a>(text: CowStr<'a>, out: &mut Vec<Event<'a>>) {
    if !text.contains('-') {
        return out.push(Event::Text(text));
    }
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let is_name = |word: &str| {
        let end = word.rsplit('-').next().unwrap_or_default();
        word.starts_with(|c: char| c.is_ascii_alphabetic())
            && end.len() < word.len()
            && !end.is_empty()
            && end.bytes().all(|byte| byte.is_ascii_digit())
    };
    let mut done = 0;
    let mut rest = 0;
    while let Some(start) = text[rest..].find(is_part).map(|at| rest + at) {
        let end = text[start..].find(|c| !is_part(c)).map_or(text.len(), |at| start + at);
        if is_name(&text[start..end]) {
            out.push(Event::Text(text[done..start].to_owned().into()));
            let name = format!("<span class=\"nb\">{}</span>", &text[start..end]);
            out.push(Event::InlineHtml(name.into()));
            done = end;
        }
        rest = end;
    }
    out.push(Event::Text(text[done..].to_owned().into()));
}

/// The words of a text without any mark-up.
fn plain_text(events: &[Event<'_>]) -> String {
    let mut plain = String::new();
    for event in events {
        match event {
            Event::Text(text) | Event::Code(text) => plain.push_str(text),
            // Of names that do not break, see `whole_names`.
            Event::InlineHtml(tag) => plain.push_str(
                tag.trim_start_matches("<span class=\"nb\">").trim_end_matches("</span>"),
            ),
            Event::SoftBreak | Event::HardBreak => plain.push(' '),
            _ => {}
        }
    }
    plain
}

/// A heading's id: its letters and digits in lower case, anything else one hyphen.
fn slug(plain: &str) -> String {
    let mut slug = String::new();
    for letter in plain.chars() {
        if letter.is_alphanumeric() {
            slug.extend(letter.to_lowercase());
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    let slug = slug.trim_end_matches('-');
    if slug.is_empty() { "section".to_owned() } else { slug.to_owned() }
}

/// A text under an `h3`, as it stands under an `h2`.
#[must_use]
pub fn raised(html: &str) -> String {
    (4..=6).fold(html.to_owned(), |html, level| {
        let up = level - 1;
        html.replace(&format!("<h{level}>"), &format!("<h{up}>"))
            .replace(&format!("</h{level}>"), &format!("</h{up}>"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headings(text: &str, headings: Headings) -> String {
        let file = Arc::new(SourceFile::new("content/a.md", text));
        let source = Source::File { file: &file, below: "a.md" };
        let page = Address::new("a/");
        render(Text { text, source, page: &page, headings }).html.replace('\n', "")
    }

    #[test]
    fn headings_follow_the_one_above_without_a_gap() {
        let text = "# A\n## B\n#### C\n## D\n# E";
        assert_eq!(
            headings(text, Headings::Under(3)),
            "<h4>A</h4><h5>B</h5><h6>C</h6><h5>D</h5><h4>E</h4>"
        );
        assert_eq!(headings("### A\n# B", Headings::Under(2)), "<h3>A</h3><h3>B</h3>");
        assert_eq!(
            headings("# Title\n### Main\n# Other", Headings::Page),
            "<h2 id=\"main-2\">Main</h2><h2 id=\"other\">Other</h2>"
        );
    }

    #[test]
    fn a_text_in_the_player_stands_one_level_higher() {
        let text = headings("# A\n## B\n`<h4>`", Headings::Under(3));
        assert_eq!(raised(&text), "<h3>A</h3><h4>B</h4><p><code>&lt;h4&gt;</code></p>");
    }

    fn rendered(text: &str, headings: Headings) -> Rendered {
        let file = Arc::new(SourceFile::new("content/a.md", text));
        let source = Source::File { file: &file, below: "a.md" };
        render(Text { text, source, page: &Address::new("a/"), headings })
    }

    #[test]
    fn a_table_is_asked_for_in_a_paragraph_of_its_own() {
        let alone = rendered("One.\n\n{{#kafka-table write-path survives}}\n", Headings::Section);
        assert!(alone.report.problems.is_empty());
        assert_eq!((&*alone.tables[0].slug, &*alone.tables[0].id), ("write-path", "survives"));
        let filled = alone.tables[0].insert(&alone.html, "<table></table>");
        assert_eq!(filled, "<p>One.</p>\n<table></table>\n");
        for text in ["See {{#kafka-table a b}}.", "{{#kafka-table a}}", "{{#kafka-table a b c}}"] {
            let found = rendered(text, Headings::Section);
            assert!(found.tables.is_empty() && found.report.has_errors(), "{text}");
        }
        assert!(rendered("{{#kafka-table a b}}", Headings::Under(2)).report.has_errors());
    }

    #[test]
    fn no_text_can_hold_the_mark_of_a_table() {
        let html = rendered("<!--kafka-table a b-->", Headings::Section).html;
        assert!(!html.contains("<!--"), "{html}");
    }
}
