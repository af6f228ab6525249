//! How long things may be, and what must not be left behind.

use super::{Text, assert_none, rust, texts};

const FILE_LINES_MAX: usize = 500;
const FUNCTION_LINES_MAX: usize = 60;
const COLUMNS_MAX: usize = 100;
const PARAMETERS_MAX: usize = 4;

/// A function as it stands in a file.
struct Function<'a> {
    line: usize,
    lines: usize,
    public: bool,
    name: &'a str,
    parameters: Vec<String>,
}

/// The functions of a file that rustfmt has laid out: each ends with a brace at its own indent.
fn functions(text: &Text) -> Vec<Function<'_>> {
    let lines: Vec<&str> = text.text.lines().collect();
    let mut functions = Vec::new();
    for (start, line) in lines.iter().enumerate() {
        let indent = line.len() - line.trim_start().len();
        let Some((public, name)) = function_name(line.trim_start()) else { continue };
        let signature: Vec<&str> = lines[start..]
            .iter()
            .scan(false, |done, line| {
                let take = !*done;
                *done = line.ends_with('{') || line.ends_with(';') || line.ends_with('}');
                take.then_some(*line)
            })
            .collect();
        let last = signature.last().copied().unwrap_or_default();
        let length = if last.ends_with('{') {
            let closing = format!("{}}}", " ".repeat(indent));
            let end = lines[start..].iter().position(|line| **line == closing);
            end.unwrap_or(lines.len() - start) + 1
        } else {
            signature.len()
        };
        let parameters = parameters(&signature.join(" "));
        functions.push(Function { line: start + 1, lines: length, public, name, parameters });
    }
    functions
}

/// Whether the line begins a function, whether that is public, and its name.
fn function_name(line: &str) -> Option<(bool, &str)> {
    let public = line.starts_with("pub ");
    let mut rest = line;
    for word in ["pub(crate) ", "pub(super) ", "pub ", "const ", "async "] {
        rest = rest.strip_prefix(word).unwrap_or(rest);
    }
    let name = rest.strip_prefix("fn ")?;
    Some((public, name.split(['(', '<']).next().unwrap_or_default()))
}

/// The parameters of a signature, each with its type, without the receiver.
fn parameters(signature: &str) -> Vec<String> {
    let (_, name) = signature.split_once("fn ").unwrap_or_default();
    let mut parameters = vec![String::new()];
    // Parentheses alone say where the list begins; inside, all brackets hold their commas together.
    let (mut depth, mut before) = (0, ' ');
    for c in name[start_of_parameters(name)..].chars() {
        match c {
            '(' | '[' | '{' | '<' => depth += 1,
            '>' if before == '-' => {}
            ')' | ']' | '}' | '>' => depth -= 1,
            _ => {}
        }
        before = c;
        match (c, depth) {
            (_, 0) => break,
            ('(', 1) => {}
            (',', 1) => parameters.push(String::new()),
            _ => parameters.last_mut().expect("begins with one").push(c),
        }
    }
    let is_receiver = |text: &str| text.ends_with("self") || text.starts_with("self:");
    let trimmed = parameters.iter().map(|parameter| parameter.trim().to_owned());
    trimmed.filter(|text| !text.is_empty() && !is_receiver(text)).collect()
}

/// Where the list of parameters opens: behind the name and its generics.
fn start_of_parameters(name: &str) -> usize {
    let (mut angles, mut before) = (0, ' ');
    for (at, c) in name.char_indices() {
        match c {
            '<' => angles += 1,
            '>' if before != '-' => angles -= 1,
            '(' if angles == 0 => return at,
            _ => {}
        }
        before = c;
    }
    name.len()
}

#[test]
fn files_are_short_and_open_with_what_they_own() {
    let mut findings = Vec::new();
    for text in rust(&["src", "tests/suite", "benches"]) {
        let lines = text.text.lines().count();
        if lines > FILE_LINES_MAX {
            findings.push(format!("{}: {lines} lines", text.path));
        }
        if !text.text.starts_with("//! ") {
            findings.push(format!("{}: does not begin with `//!`", text.path));
        }
    }
    assert_none("files of at most 500 lines that begin with a paragraph about them", &findings);
}

#[test]
fn lines_fit_into_100_columns() {
    let mut findings = Vec::new();
    for text in rust(&["src", "tests/suite", "benches"]) {
        for (number, line) in text.lines() {
            if line.chars().count() > COLUMNS_MAX {
                findings.push(format!("{}:{number}", text.path));
            }
            if line.ends_with(' ') {
                findings.push(format!("{}:{number}: blanks at the end", text.path));
            }
        }
    }
    assert_none("lines of at most 100 columns", &findings);
}

#[test]
fn functions_are_short_with_few_parameters_that_speak() {
    let mut findings = Vec::new();
    for text in rust(&["src", "tests/suite", "benches"]) {
        for function in functions(&text) {
            let place = format!("{}:{}: {}", text.path, function.line, function.name);
            if function.lines > FUNCTION_LINES_MAX {
                findings.push(format!("{place}: {} lines", function.lines));
            }
            let count = function.parameters.len();
            if count > PARAMETERS_MAX {
                findings.push(format!("{place}: {count} parameters"));
            }
            let is_boolean = |parameter: &String| parameter.ends_with(": bool");
            if function.public && function.parameters.iter().any(is_boolean) {
                findings.push(format!("{place}: a boolean parameter"));
            }
        }
    }
    assert_none(
        "functions of at most 60 lines with 4 parameters, none boolean in public",
        &findings,
    );
}

#[test]
fn the_counter_of_lines_can_fail() {
    let body = "    x();\n".repeat(59);
    let text = |body: &str| Text {
        path: "x.rs".to_owned(),
        text: format!("impl A {{\n    pub fn b(\n        c: bool,\n    ) {{\n{body}    }}\n}}\n"),
    };
    let long = text(&body);
    let found = functions(&long);
    assert_eq!((found.len(), found[0].line, found[0].lines), (1, 2, 63));
    assert!(found[0].public);
    assert_eq!(found[0].parameters, ["c: bool"]);
    assert_eq!(functions(&text(""))[0].lines, 4);
}

#[test]
fn the_counter_of_parameters_can_fail() {
    let count = |signature: &str| parameters(signature).len();
    assert_eq!(count("fn a<F: Fn(u8, u8) -> u8>(&mut self, b: (u8, u8), c: F) -> (u8, u8) {"), 2);
    assert_eq!(count("fn a(b: impl Fn(&A<'_>) -> B, c: BTreeMap<A, B>, d: u8, e: u8, f: u8) {"), 5);
    assert_eq!(count("fn a(self) {"), 0);
    assert_eq!(count("fn a( self: Arc<Self>, b: bool, ) -> u8 {"), 1);
}

#[test]
fn nothing_is_left_behind() {
    // Written so that this file does not hold what it looks for.
    let leftovers = [
        concat!("/", "home/"),
        concat!("/", "Users/"),
        concat!("/", "root/"),
        concat!("/", "work/"),
        concat!("/", "tmp/", "ks"),
        concat!("TO", "DO"),
        concat!("FIX", "ME"),
        concat!("dbg", "!("),
        concat!("todo", "!("),
        concat!("unimplemented", "!("),
        concat!("#[", "ignore"),
        concat!("#[", "should_panic"),
    ];
    let mut findings = Vec::new();
    for text in texts(&["."]) {
        if text.path.ends_with("package-lock.json") || text.path == "Cargo.lock" {
            continue;
        }
        for (number, line) in text.lines() {
            for leftover in leftovers {
                if line.contains(leftover) {
                    findings.push(format!("{}:{number}: {leftover}", text.path));
                }
            }
        }
    }
    assert_none("paths of one machine, reminders and tests that do not run", &findings);
}
