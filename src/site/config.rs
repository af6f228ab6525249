//! `book.toml`: mdBook's file with one table of ours, read with the place of every value.
//! Knows no disk. Tables that are not ours belong to mdBook and are left alone.

use std::path::Path;
use std::sync::Arc;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::diag::{Code, Problem, Report, SourceFile, Span};

/// What the site is called, where it stands and where its texts come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// The site's name: header, `<title>`.
    pub title: String,
    /// One sentence for search engines; may be empty.
    pub description: String,
    /// The language of the texts, a BCP 47 tag.
    pub language: String,
    /// Who wrote the texts.
    pub authors: Vec<String>,
    /// The folder of Markdown pages and guides.
    pub src: String,
    /// The folder that is published, relative to the site's folder.
    pub build_dir: String,
    /// A path, or a whole address; ends in `/`.
    pub site_url: String,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            title: "Kafka, step by step".to_owned(),
            description: String::new(),
            language: "en".to_owned(),
            authors: Vec::new(),
            src: "content".to_owned(),
            build_dir: "book".to_owned(),
            site_url: "/kafka-simulator/".to_owned(),
        }
    }
}

impl Config {
    /// The part of the address that is a path: `/kafka-simulator/`.
    #[must_use]
    pub fn base_path(&self) -> &str {
        match self.site_url.split_once("://") {
            Some((_, rest)) => rest.find('/').map_or("/", |at| &rest[at..]),
            None => &self.site_url,
        }
    }

    /// The whole address, if the file gives one.
    #[must_use]
    pub fn absolute_url(&self) -> Option<&str> {
        self.site_url.contains("://").then_some(self.site_url.as_str())
    }
}

/// The folders besides the content folder that belong to a site's source.
pub const SOURCES: [&str; 3] = ["scenarios", "static", "templates"];

/// Reads the file; what is wrong keeps its default and is reported.
#[must_use]
pub fn parse(file: &Arc<SourceFile>) -> (Config, Report) {
    let mut reader = Reader { file, report: Report::default(), folders: 0..0 };
    let mut config = Config::default();
    let (root, errors) = DeTable::parse_recoverable(&file.text);
    for error in errors {
        reader.problem(Code::Syntax, &error.span().unwrap_or(0..0), error.message());
    }
    for (name, table) in root.get_ref() {
        match name.get_ref().as_ref() {
            "book" => reader.book(table, &mut config),
            "build" => reader.build(table, &mut config),
            "output" => {
                if let Some(ours) = table.get_ref().get("kafka-sim") {
                    reader.output(ours, &mut config);
                }
            }
            _ => {}
        }
    }
    reader.apart(&config);
    (config, reader.report)
}

/// Checks an address as `site-url` takes it and ends it with `/`.
///
/// # Errors
/// A sentence that says what is allowed.
pub fn site_url(text: &str) -> Result<String, String> {
    let host = |rest: &str| {
        let host = rest.split('/').next().unwrap_or_default();
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | ':' | '[' | ']');
        (host.chars().all(plain) && host.contains(char::is_alphanumeric)).then_some(host.len())
    };
    let path = match ["https://", "http://"].iter().find_map(|scheme| text.strip_prefix(scheme)) {
        Some(rest) => host(rest).map(|end| &rest[end..]),
        None => text.starts_with('/').then_some(text),
    };
    match path.map(|path| path.strip_suffix('/').unwrap_or(path)) {
        Some(path) if path.is_empty() || path.strip_prefix('/').is_some_and(is_path) => {
            Ok(format!("{}/", text.strip_suffix('/').unwrap_or(text)))
        }
        _ => Err("expected a path such as /kafka-simulator/ or a whole address such as \
                  https://example.org/kafka-simulator/; a path is of letters, digits, `-`, `_`, \
                  `.` and `~` between single slashes, and has no `..`"
            .to_owned()),
    }
}

/// Whether every part of a path is plain text in an address and stays where it is.
fn is_path(path: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '~');
    path.split('/').all(|part| !matches!(part, "" | "." | "..") && part.chars().all(plain))
}

/// Whether a text has the form of a language tag (BCP 47): `en`, `pt-BR`, `zh-Hans`.
fn is_language(text: &str) -> bool {
    let part = |part: &str| {
        (1..=8).contains(&part.len()) && part.chars().all(|c| c.is_ascii_alphanumeric())
    };
    let first = text.split('-').next().unwrap_or_default();
    (2..=8).contains(&first.len())
        && first.chars().all(|c| c.is_ascii_alphabetic())
        && text.split('-').all(part)
}

const BOOK_KEYS: [&str; 5] = ["title", "description", "language", "authors", "src"];
const BUILD_KEYS: [&str; 1] = ["build-dir"];
const OUTPUT_KEYS: [&str; 2] = ["optional", "site-url"];

struct Reader<'a> {
    file: &'a Arc<SourceFile>,
    report: Report,
    /// Where the last of the folders is named.
    folders: std::ops::Range<usize>,
}

type Value<'i> = Spanned<DeValue<'i>>;

impl Reader<'_> {
    fn book(&mut self, table: &Value<'_>, config: &mut Config) {
        for (key, value) in self.entries(table, &BOOK_KEYS) {
            match key {
                "title" => {
                    let expected = "expected the site's name; it is on every page";
                    let fits = |text: &str| !text.trim().is_empty();
                    self.text_that(value, &mut config.title, fits, expected);
                }
                "description" => self.text(value, &mut config.description),
                "language" => {
                    let expected = "expected a language tag such as `en` or `pt-BR`";
                    self.text_that(value, &mut config.language, is_language, expected);
                }
                "src" => self.folder(value, &mut config.src),
                _ => self.texts(value, &mut config.authors),
            }
        }
    }

    fn build(&mut self, table: &Value<'_>, config: &mut Config) {
        for (_, value) in self.entries(table, &BUILD_KEYS) {
            self.folder(value, &mut config.build_dir);
        }
    }

    fn output(&mut self, table: &Value<'_>, config: &mut Config) {
        for (key, value) in self.entries(table, &OUTPUT_KEYS) {
            if key == "optional" {
                if !value.get_ref().is_bool() {
                    self.problem(Code::WrongType, &value.span(), "expected true or false");
                }
                continue;
            }
            match value.get_ref().as_str().map(site_url) {
                Some(Ok(url)) => config.site_url = url,
                Some(Err(expected)) => self.problem(Code::BadValue, &value.span(), &expected),
                None => self.text(value, &mut config.site_url),
            }
        }
    }

    /// The entries with known names; the others are problems.
    fn entries<'t, 'i>(
        &mut self,
        table: &'t Value<'i>,
        known: &[&str],
    ) -> Vec<(&'t str, &'t Value<'i>)> {
        let Some(entries) = table.get_ref().as_table() else {
            self.problem(Code::WrongType, &table.span(), "expected a table");
            return Vec::new();
        };
        let mut found = Vec::new();
        for (key, value) in entries {
            if known.contains(&key.get_ref().as_ref()) {
                found.push((key.get_ref().as_ref(), value));
            } else {
                let span = Span::new(key.span().start, key.span().end);
                let message = format!("unknown key `{}`", key.get_ref());
                self.report.push(
                    Problem::error(Code::UnknownKey, self.file, span, message)
                        .did_you_mean(key.get_ref(), known.iter().copied())
                        .note(format!("allowed here: {}", known.join(", "))),
                );
            }
        }
        found
    }

    fn text(&mut self, value: &Value<'_>, target: &mut String) {
        match value.get_ref().as_str() {
            Some(text) => text.clone_into(target),
            None => self.problem(Code::WrongType, &value.span(), "expected a text in quotes"),
        }
    }

    /// A text that `fits`.
    fn text_that(
        &mut self,
        value: &Value<'_>,
        target: &mut String,
        fits: fn(&str) -> bool,
        expected: &str,
    ) {
        match value.get_ref().as_str() {
            Some(text) if !fits(text) => self.problem(Code::BadValue, &value.span(), expected),
            _ => self.text(value, target),
        }
    }

    fn texts(&mut self, value: &Value<'_>, target: &mut Vec<String>) {
        let Some(list) = value.get_ref().as_array() else {
            self.problem(Code::WrongType, &value.span(), "expected a list of texts");
            return;
        };
        for item in list {
            let mut text = String::new();
            self.text(item, &mut text);
            target.push(text);
        }
    }

    /// A folder inside the site's folder: written with `/`, no way out of it.
    fn folder(&mut self, value: &Value<'_>, target: &mut String) {
        let mut text = String::new();
        self.text(value, &mut text);
        let text = text.trim_end_matches('/');
        let inside = text.split('/').all(|part| !matches!(part, "" | "." | ".."));
        if inside && !text.contains('\\') {
            self.folders = value.span();
            text.clone_into(target);
        } else if value.get_ref().is_str() {
            let message = "expected a folder inside the site's folder, such as `book`";
            self.problem(Code::BadValue, &value.span(), message);
        }
    }

    /// The result and what it is made from lie apart.
    fn apart(&mut self, config: &Config) {
        let build = Path::new(&config.build_dir);
        for source in SOURCES.into_iter().chain([config.src.as_str()]) {
            if build.starts_with(source) || Path::new(source).starts_with(build) {
                let message = format!(
                    "the site cannot be published to `{}`: it is read from `{source}`",
                    build.display()
                );
                self.problem(Code::BadValue, &self.folders.clone(), &message);
            }
        }
    }

    fn problem(&mut self, code: Code, span: &std::ops::Range<usize>, message: &str) {
        let span = Span::new(span.start, span.end);
        self.report.push(Problem::error(code, self.file, span, message));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Config, Vec<String>) {
        let file = Arc::new(SourceFile::new("book.toml", text));
        let (config, report) = parse(&file);
        let lines = report.problems.iter().map(|problem| {
            let (line, column) = file.line_column(problem.span.start);
            format!("{line}:{column} {}", problem.message)
        });
        (config, lines.collect())
    }

    #[test]
    fn the_three_tables_are_read() {
        let (config, problems) = read(
            "[book]\ntitle = \"T\"\nauthors = [\"A\"]\n[build]\nbuild-dir = \"out/site\"\n\
             [output.kafka-sim]\noptional = true\nsite-url = \"https://example.org/x\"\n",
        );
        assert_eq!(problems, Vec::<String>::new());
        assert_eq!((config.title.as_str(), config.build_dir.as_str()), ("T", "out/site"));
        assert_eq!(config.site_url, "https://example.org/x/");
        assert_eq!(config.base_path(), "/x/");
    }

    #[test]
    fn other_tables_are_left_to_mdbook() {
        let (config, problems) = read("[output.html]\nanything = 1\n[preprocessor.links]\n");
        assert_eq!((config, problems), (Config::default(), Vec::new()));
    }

    #[test]
    fn an_address_keeps_to_its_own_place() {
        for (text, expected) in [
            ("/", "/"),
            ("/k", "/k/"),
            ("/a/b-1/", "/a/b-1/"),
            ("https://example.org", "https://example.org/"),
            ("http://localhost:8080/k/", "http://localhost:8080/k/"),
        ] {
            assert_eq!(site_url(text).as_deref(), Ok(expected), "{text}");
        }
        for text in [
            "",
            "k/",
            "//evil.example/",
            "/../x/",
            "/a/./b/",
            "/a//b/",
            "/k//",
            "/k?a=1",
            "/k#a",
            "/a b/",
            "/a\"b/",
            "/a&b/",
            "/a\\b/",
            "https://",
            "https:///x/",
            "https://a@b/",
            "ftp://example.org/",
            "https://example.org/../x/",
        ] {
            assert!(site_url(text).is_err(), "{text}");
        }
    }

    #[test]
    fn titles_languages_and_addresses_are_checked_at_their_place() {
        let (config, problems) = read(
            "[book]\ntitle = \"\"\nlanguage = \"en us\"\n[output.kafka-sim]\nsite-url = \"\"\n",
        );
        assert_eq!(config, Config::default());
        let places: Vec<&str> =
            problems.iter().map(|text| &text[..text.find(' ').unwrap()]).collect();
        assert_eq!(places, ["3:12", "2:9", "5:12"]);
        for (tag, good) in [
            ("en", true),
            ("pt-BR", true),
            ("zh-Hans-CN", true),
            ("e", false),
            ("", false),
            ("en_US", false),
            ("en-", false),
            ("1a", false),
            ("\"><b>", false),
        ] {
            assert_eq!(is_language(tag), good, "{tag}");
        }
    }

    #[test]
    fn the_result_and_what_it_is_made_from_lie_apart() {
        for (file, place) in [
            ("[build]\nbuild-dir = \"content/out\"\n", "2:13"),
            ("[build]\nbuild-dir = \"scenarios\"\n", "2:13"),
            ("[build]\nbuild-dir = \"static/x\"\n", "2:13"),
            ("[book]\nsrc = \"book/texts\"\n", "2:7"),
        ] {
            let (_, problems) = read(file);
            assert_eq!(problems.len(), 1, "{file}: {problems:?}");
            assert!(problems[0].starts_with(&format!("{place} ")), "{problems:?}");
        }
        assert_eq!(read("[build]\nbuild-dir = \"contents\"\n").1, Vec::<String>::new());
    }

    #[test]
    fn wrong_keys_and_values_are_named_at_their_place() {
        let (_, problems) = read(
            "[book]\ntitel = \"x\"\ntitle = 3\n[build]\nbuild-dir = \"../up\"\n\
             [output.kafka-sim]\nsite-url = \"example.org\"\n",
        );
        assert_eq!(
            problems,
            [
                "2:1 unknown key `titel`",
                "3:9 expected a text in quotes",
                "5:13 expected a folder inside the site's folder, such as `book`",
                "7:12 expected a path such as /kafka-simulator/ or a whole address such as \
                 https://example.org/kafka-simulator/; a path is of letters, digits, `-`, `_`, \
                 `.` and `~` between single slashes, and has no `..`",
            ]
        );
    }
}
