//! A YAML file as a tree whose every node knows its place. Values are text exactly as written:
//! nothing here turns `007` or `1.10` into a number. Knows nothing of the format's keys.

use crate::diag::Span;

/// One node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Its place; of a block the place of its first line.
    pub span: Span,
    /// What it is.
    pub kind: Kind,
}

/// What a node is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A single value.
    Scalar(Scalar),
    /// A sequence.
    List(Vec<Node>),
    /// A mapping, in the file's order.
    Map(Vec<Entry>),
    /// A mistake that has been reported: whoever meets it stays silent.
    Broken,
}

/// A single value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scalar {
    /// Its text, quotes and indentation taken off.
    pub text: String,
    /// Whether it stands there without quotes, so that `null` and `true` mean more than their
    /// letters.
    pub plain: bool,
}

/// One entry of a mapping.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its key.
    pub key: String,
    /// The key's place.
    pub key_span: Span,
    /// Its value.
    pub value: Node,
}

impl Node {
    /// A plain value, for trees that are made rather than read.
    pub fn plain(text: impl Into<String>, span: Span) -> Node {
        Node { span, kind: Kind::Scalar(Scalar { text: text.into(), plain: true }) }
    }

    /// The value of a key, where this is a mapping that has it.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|entry| &entry.value)
    }

    /// The entry of a key, where this is a mapping that has it.
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries().iter().find(|entry| entry.key == key)
    }

    /// The entries of a mapping; nothing for other nodes.
    pub fn entries(&self) -> &[Entry] {
        match &self.kind {
            Kind::Map(entries) => entries,
            _ => &[],
        }
    }

    /// The items of a list; nothing for other nodes.
    pub fn items(&self) -> &[Node] {
        match &self.kind {
            Kind::List(items) => items,
            _ => &[],
        }
    }

    /// The text of a value that is not null.
    pub fn text(&self) -> Option<&str> {
        match &self.kind {
            Kind::Scalar(scalar) if !self.is_null() => Some(&scalar.text),
            _ => None,
        }
    }

    /// Whether this is YAML's null: nothing at all, `~` or `null` without quotes.
    pub fn is_null(&self) -> bool {
        matches!(&self.kind, Kind::Scalar(Scalar { text, plain: true })
            if matches!(text.as_str(), "" | "~" | "null"))
    }

    /// The value as a whole number, where its text is one.
    pub fn number<T: std::str::FromStr>(&self) -> Option<T> {
        self.text().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()))?.parse().ok()
    }

    /// Whether the value is the word `true`.
    pub fn is_true(&self) -> bool {
        self.text() == Some("true")
    }

    /// What it is, in words, for messages.
    pub fn describe(&self) -> &'static str {
        match &self.kind {
            Kind::Scalar(_) if self.is_null() => "nothing",
            Kind::Scalar(_) => "a single value",
            Kind::List(_) => "a list",
            Kind::Map(_) => "a mapping",
            Kind::Broken => "something that cannot be read",
        }
    }
}
