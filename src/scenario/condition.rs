//! Conditions: `when` of a step, `if` of a table's cell. `PATH OP VALUE`, joined by `and`.

use super::literal;
use super::lookup::{comparable, lookup};
use super::observable::{Kind, ROWS};
use super::path::{Known, Path};
use super::value::{Op, Value};
use super::written::Mistake;
use crate::diag::{Code, nearest};
use crate::sim::Part;
use crate::sim::snapshot::Snapshot;

/// A condition: all of its terms hold.
#[derive(Clone, Debug)]
pub struct Condition {
    /// At least one.
    pub terms: Vec<Term>,
    /// As the author wrote it.
    pub text: String,
}

/// One comparison.
#[derive(Clone, Debug)]
pub struct Term {
    /// The observable on the left.
    pub path: Path,
    /// How it is compared.
    pub op: Op,
    /// With what.
    pub right: Right,
}

/// The right side of a comparison.
#[derive(Clone, Debug)]
pub enum Right {
    /// A value.
    Value(Value),
    /// Another observable.
    Path(Path),
}

impl Term {
    /// Whether it holds.
    #[must_use]
    pub fn holds(&self, snapshot: &Snapshot) -> bool {
        let right = self.right_value(snapshot);
        // A list is compared with a set as a set.
        let left = match &self.right {
            Right::Path(path) => literal::sorted(path.kind(), comparable(&self.path, snapshot)),
            Right::Value(_) => comparable(&self.path, snapshot),
        };
        self.op.holds(&left, &right)
    }

    /// The right side's value now.
    #[must_use]
    pub fn right_value(&self, snapshot: &Snapshot) -> Value {
        match &self.right {
            Right::Value(value) => value.clone(),
            Right::Path(path) => literal::sorted(self.path.kind(), comparable(path, snapshot)),
        }
    }

    /// The paths in it.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        let right = match &self.right {
            Right::Path(path) => Some(path),
            Right::Value(_) => None,
        };
        std::iter::once(&self.path).chain(right)
    }
}

impl Condition {
    /// Reads a condition.
    ///
    /// # Errors
    /// The first mistake in it, at its place in the text.
    pub fn parse(text: &str, known: Known<'_>) -> Result<Condition, Mistake> {
        let mut words = Words { text, at: 0 };
        let mut terms = Vec::new();
        loop {
            terms.push(term(&mut words, known)?);
            match words.next()? {
                None => break,
                Some(word) if word.text == "and" => {}
                Some(word) => {
                    let message = format!("`and` or the end was expected, not `{}`", word.text);
                    return Err(Mistake::new(
                        Code::BadCondition,
                        word.at,
                        word.text.len(),
                        message,
                    )
                    .note(FORM));
                }
            }
        }
        Ok(Condition { terms, text: text.to_owned() })
    }

    /// Whether all of it holds.
    #[must_use]
    pub fn holds(&self, snapshot: &Snapshot) -> bool {
        self.terms.iter().all(|term| term.holds(snapshot))
    }

    /// The parts of a snapshot that it reads.
    #[must_use]
    pub fn parts(&self) -> Vec<Part> {
        parts(self.terms.iter().flat_map(Term::paths))
    }

    /// The values of its left sides now, for messages.
    #[must_use]
    pub fn values(&self, snapshot: &Snapshot) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        for path in self.terms.iter().flat_map(Term::paths) {
            let line = format!("`{}` was {} at the end", path.text, lookup(path, snapshot));
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
        lines
    }

    /// The next instant after `now_ms` at which a clock in it could change what it says although
    /// nothing else happens.
    #[must_use]
    pub fn next_clock_ms(&self, snapshot: &Snapshot) -> Option<u64> {
        let now = snapshot.time_ms;
        let clocks = self.terms.iter().filter(|term| term.paths().any(Path::is_clock));
        clocks.filter_map(|term| clock_ms(term, snapshot, now)).min()
    }
}

/// When a comparison with a clock next changes: where the clock reaches the other side, or passes
/// it.
fn clock_ms(term: &Term, snapshot: &Snapshot, now: u64) -> Option<u64> {
    let left = lookup(&term.path, snapshot).number();
    let right = term.right_value(snapshot).number();
    let (clock, other) = match (term.path.is_clock(), &term.right) {
        (true, Right::Path(path)) if path.is_clock() => return None,
        (true, _) => (left?, right?),
        (false, _) => (right?, left?),
    };
    let distance = u64::try_from(other.checked_sub(clock)?);
    match distance {
        Ok(0) => Some(now + 1),
        Ok(distance) => Some(now + distance),
        Err(_) => None,
    }
}

/// The parts that these paths stand in, each once.
pub fn parts<'a>(paths: impl Iterator<Item = &'a Path>) -> Vec<Part> {
    let mut parts = Vec::new();
    for part in paths.flat_map(Path::parts) {
        if !parts.contains(&part) {
            parts.push(part);
        }
    }
    parts
}

const FORM: &str = "a condition is `PATH OP VALUE`, joined by `and`; OP is ==, !=, <, <=, > or >=";

fn term(words: &mut Words<'_>, known: Known<'_>) -> Result<Term, Mistake> {
    let end = |what: &str| {
        let message = format!("{what} is missing at the end");
        Mistake::new(Code::BadCondition, 0, words.text.len(), message).note(FORM)
    };
    let (missing_path, missing_op, missing_value) =
        (end("a path"), end("an operator"), end("a value"));
    let left = words.next()?.ok_or(missing_path)?;
    let path = Path::parse(left.text, known).map_err(|mistake| mistake.moved(left.at))?;
    let op_word = words.next()?.ok_or(missing_op)?;
    let op = Op::ALL.iter().find(|(symbol, _)| *symbol == op_word.text);
    let Some((_, op)) = op else {
        let message = format!("`{}` is not an operator", op_word.text);
        let mistake = Mistake::new(Code::BadCondition, op_word.at, op_word.text.len(), message);
        return Err(mistake.note(FORM));
    };
    let from_op = &words.text[op_word.at..];
    literal::check_operator(&path, from_op, op_word.text.len(), *op)
        .map_err(|mistake| mistake.moved(op_word.at))?;
    let word = words.next()?.ok_or(missing_value)?;
    let right = right(&path, *op, &word, known)?;
    Ok(Term { path, op: *op, right })
}

fn right(path: &Path, op: Op, word: &Word<'_>, known: Known<'_>) -> Result<Right, Mistake> {
    let wrong = |mistake: Mistake| mistake.over(word.at, word.text.len());
    let value = match word.form {
        Form::Quoted => literal::literal(path, &word.text[1..word.text.len() - 1], known.names),
        Form::List => match literal::bracketed(word.text) {
            Some(items) => literal::list(path, &items, known.names),
            None => literal::single(path, word.text, known.names),
        },
        Form::Word if word.text.starts_with('\'') => {
            let message = "a text stands in double quotes";
            return Err(wrong(Mistake::new(Code::BadCondition, 0, 0, message)));
        }
        Form::Word if is_meant_as_path(word.text) => {
            let other = Path::parse(word.text, known).map_err(|it| it.moved(word.at))?;
            check_kinds(path, op, &other).map_err(wrong)?;
            return Ok(Right::Path(other));
        }
        Form::Word => literal::single(path, word.text, known.names),
    };
    value.map(Right::Value).map_err(wrong)
}

/// Whether an unquoted word is a path: it has a dot, and begins as one, or nearly so. A slip of the
/// pen in a path must not make a text of it.
fn is_meant_as_path(word: &str) -> bool {
    let roots = || ROWS.iter().filter_map(|row| row.pattern.split('.').next());
    match word.split_once('.') {
        Some((first, _)) => nearest(first, roots()).is_some(),
        None => word == "time_ms",
    }
}

/// Two observables that can never be equal are not compared.
fn check_kinds(left: &Path, op: Op, right: &Path) -> Result<(), Mistake> {
    let ordered = !op.is_ordering() || matches!(right.kind(), Kind::Number | Kind::Setting);
    if left.kind().compares_with(right.kind()) && ordered {
        return Ok(());
    }
    let message = format!("`{}` and `{}` cannot be compared", left.text, right.text);
    let note = |path: &Path| format!("`{}` is {}", path.text, path.kind().describe());
    let mistake = Mistake::new(Code::BadCondition, 0, 0, message);
    Err(mistake.note(note(left)).note(note(right)))
}

/// One word of a condition.
struct Word<'a> {
    at: usize,
    text: &'a str,
    form: Form,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// A path, an operator, a number, a name.
    Word,
    /// In double quotes.
    Quoted,
    /// In brackets.
    List,
}

/// Cuts a condition into words: operators need no blanks around them.
struct Words<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Words<'a> {
    fn next(&mut self) -> Result<Option<Word<'a>>, Mistake> {
        let rest = &self.text[self.at..];
        let blank = rest.len() - rest.trim_start().len();
        let (at, rest) = (self.at + blank, rest.trim_start());
        let Some(first) = rest.chars().next() else { return Ok(None) };
        let (length, form) = match first {
            '"' => (closed(rest, at, '"')?, Form::Quoted),
            '[' => (closed(rest, at, ']')?, Form::List),
            _ => match Op::ALL.iter().find(|(symbol, _)| rest.starts_with(symbol)) {
                Some((symbol, _)) => (symbol.len(), Form::Word),
                None => (plain(rest), Form::Word),
            },
        };
        self.at = at + length;
        Ok(Some(Word { at, text: &rest[..length], form }))
    }
}

/// The length of what a bracket or quote opens.
fn closed(rest: &str, at: usize, close: char) -> Result<usize, Mistake> {
    let end = rest[1..].find(close).ok_or_else(|| {
        let message = format!("a closing `{close}` is missing");
        Mistake::new(Code::BadCondition, at, rest.len(), message)
    })?;
    Ok(end + 2)
}

/// The length of a word: up to a blank or an operator outside of quotes.
fn plain(rest: &str) -> usize {
    let mut quoted = false;
    for (at, character) in rest.char_indices() {
        match character {
            '"' => quoted = !quoted,
            _ if quoted => {}
            '=' | '!' | '<' | '>' if at > 0 => return at,
            _ if character.is_whitespace() => return at,
            _ => {}
        }
    }
    rest.len()
}
