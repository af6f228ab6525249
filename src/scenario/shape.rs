//! The vocabulary in which the file's shape is described: one table ([`super::keys`]) that drives
//! the check of a file and the JSON Schema for editors alike.

/// What may stand at a place.
#[derive(Debug)]
pub enum Shape {
    /// A text, exactly as written.
    Text,
    /// A text in Markdown, in which `{{ path }}` prints an observable.
    Markdown,
    /// A text, or Kafka's null.
    Nullable,
    /// A scenario's or chapter's id: numbers joined by dots.
    Id,
    /// Small letters, digits and hyphens.
    Slug,
    /// One of these words.
    Word(&'static [&'static str]),
    /// `true` or `false`.
    Boolean,
    /// A whole number from the first to the second.
    Number(u64, u64),
    /// A duration with its unit.
    Duration,
    /// A duration that may be negative.
    SignedDuration,
    /// A list of this.
    List(&'static Shape),
    /// A mapping whose keys the author chooses; the first field says what they are.
    Map(&'static str, &'static Shape),
    /// A mapping with these keys.
    Object(&'static Object),
    /// What fits the node's kind: at most one single value, one list and one mapping.
    Choice(&'static [Shape]),
}

/// A mapping whose keys are the format's.
#[derive(Debug)]
pub struct Object {
    /// What it is, for messages: `a step`.
    pub name: &'static str,
    /// Its keys, in the order of the documentation.
    pub keys: &'static [Key],
    /// Keys of which exactly one must stand there.
    pub one_of: &'static [&'static str],
}

/// One key.
#[derive(Debug)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// What its value may be.
    pub shape: Shape,
    /// Whether it must stand there.
    pub need: Need,
    /// What it does, in a few words.
    pub doc: &'static str,
}

/// Whether a key must stand there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the words say it")]
pub enum Need {
    Required,
    Optional,
}

impl Object {
    /// The key of this name.
    pub fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys.iter().find(|key| key.name == name)
    }
}

impl Shape {
    /// What may stand here, in words.
    pub fn describe(&self) -> String {
        match self {
            Shape::Text | Shape::Markdown => "a text".to_owned(),
            Shape::Nullable => "a text or null".to_owned(),
            Shape::Id => "an id such as 00.1.2".to_owned(),
            Shape::Slug => "a slug of small letters, digits and hyphens".to_owned(),
            Shape::Word(words) => format!("one of: {}", words.join(", ")),
            Shape::Boolean => "true or false".to_owned(),
            Shape::Number(least, most) if *most == u64::MAX => {
                format!("a whole number from {least}")
            }
            Shape::Number(least, most) => format!("a whole number from {least} to {most}"),
            Shape::Duration | Shape::SignedDuration => "a duration such as 900ms".to_owned(),
            Shape::List(_) => "a list".to_owned(),
            Shape::Map(of, _) => format!("a mapping by {of}"),
            Shape::Object(object) => format!("a mapping: {}", object.name),
            Shape::Choice(shapes) => {
                shapes.iter().map(Shape::describe).collect::<Vec<_>>().join(", or ")
            }
        }
    }
}

/// A required key.
pub const fn required(name: &'static str, shape: Shape, doc: &'static str) -> Key {
    Key { name, shape, need: Need::Required, doc }
}

/// A key that may be left out.
pub const fn optional(name: &'static str, shape: Shape, doc: &'static str) -> Key {
    Key { name, shape, need: Need::Optional, doc }
}

/// A mapping none of whose keys exclude each other.
pub const fn object(name: &'static str, keys: &'static [Key]) -> Object {
    Object { name, keys, one_of: &[] }
}
