//! One setting of Kafka 4.3, and the table of all of them.

use std::fmt;
use std::sync::LazyLock;

use serde::Deserialize;

use super::valid::Valid;

/// What a setting is set on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// A topic.
    Topic,
    /// A broker or controller.
    Broker,
    /// A producer.
    Producer,
    /// A consumer.
    Consumer,
    /// A group, as the broker keeps it.
    Group,
    /// A broker's store of the metadata of tiered storage.
    RemoteLogMetadata,
}

impl Scope {
    /// All scopes, in the order in which they are listed.
    pub const ALL: [Scope; 6] = [
        Scope::Topic,
        Scope::Broker,
        Scope::Producer,
        Scope::Consumer,
        Scope::Group,
        Scope::RemoteLogMetadata,
    ];

    /// The word for it: `topic`, `broker`, ...
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Scope::Topic => "topic",
            Scope::Broker => "broker",
            Scope::Producer => "producer",
            Scope::Consumer => "consumer",
            Scope::Group => "group",
            Scope::RemoteLogMetadata => "remote log metadata",
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// The type of a setting's value: Kafka's `ConfigDef.Type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ValueType {
    /// `true` or `false`.
    Boolean,
    /// A whole number of 16 bits.
    Short,
    /// A whole number of 32 bits.
    Int,
    /// A whole number of 64 bits.
    Long,
    /// A number.
    Double,
    /// A text.
    String,
    /// Texts, separated by commas.
    List,
    /// The name of a Java class.
    Class,
}

impl ValueType {
    /// Kafka's word for it, in small letters: `int`.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            ValueType::Boolean => "boolean",
            ValueType::Short => "short",
            ValueType::Int => "int",
            ValueType::Long => "long",
            ValueType::Double => "double",
            ValueType::String => "string",
            ValueType::List => "list",
            ValueType::Class => "class",
        }
    }
}

/// When a change of the setting takes effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Only when the broker starts.
    ReadOnly,
    /// At once, for one broker.
    PerBroker,
    /// At once, for one broker or for all of them.
    ClusterWide,
    /// At once, for the topic.
    Topic,
    /// At once, for the group.
    Group,
    /// Only when the client is made.
    Client,
}

impl Mode {
    /// When a change counts, in words.
    #[must_use]
    pub fn in_words(self) -> &'static str {
        match self {
            Mode::ReadOnly => "when the broker starts again",
            Mode::PerBroker => "at once, broker by broker",
            Mode::ClusterWide => "at once, for one broker or for all",
            Mode::Topic => "at once, no restart",
            Mode::Group => "at once, for the group",
            Mode::Client => "when the client is made anew",
        }
    }
}

/// How much Kafka's documentation makes of a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Importance {
    /// Look at it first.
    High,
    /// Look at it when the need arises.
    Medium,
    /// Rarely touched.
    Low,
}

/// A broker's setting that gives a topic's setting its default.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Synonym {
    /// The broker's setting.
    pub name: String,
    /// What its value is multiplied by: hours to milliseconds, for example.
    pub factor: i64,
}

/// One setting in one scope. Where Kafka has the name in several scopes, there are several.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Setting {
    /// Kafka's name: `min.insync.replicas`.
    pub name: String,
    /// What it is set on.
    pub scope: Scope,
    /// The type of its value.
    #[serde(rename = "type")]
    pub value_type: ValueType,
    /// Kafka's default in 4.3, as text. `None`: null, or there is none (see `required`).
    pub default: Option<String>,
    /// Whether a process does not start without it.
    #[serde(default)]
    pub required: bool,
    /// What Kafka accepts beyond the type.
    #[serde(default)]
    pub valid: Valid,
    /// How much Kafka's documentation makes of it.
    pub importance: Importance,
    /// When a change takes effect.
    pub mode: Mode,
    /// Of a topic's setting: the broker's settings that give its default, first wins.
    #[serde(default)]
    pub synonyms: Vec<Synonym>,
    /// How it came and changed, if there is something to tell.
    #[serde(default)]
    pub since: Option<String>,
    /// What it does, in a sentence or two, Markdown. Only common settings have one.
    #[serde(skip)]
    pub description: Option<String>,
}

/// A setting that 4.3 does not have, with the reason.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Absent {
    pub(super) name: String,
    pub(super) scope: Scope,
    /// A clause: `it is gone since Kafka 4.0`.
    pub(super) why: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    settings: Vec<Setting>,
    absent: Vec<Absent>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let mut table: Table = serde_json::from_str(include_str!("configs.json"))
        .expect("the data are part of the program, and a test reads them");
    for (scope, name, text) in descriptions() {
        let described = table.settings.iter_mut().find(|it| it.scope == scope && it.name == name);
        let described = described.expect("a test holds descriptions against settings");
        described.description = Some(text);
    }
    table.settings.sort_by(|a, b| (&a.name, a.scope).cmp(&(&b.name, b.scope)));
    table
});

/// The descriptions in their file, by scope and name.
fn descriptions() -> Vec<(Scope, String, String)> {
    use std::collections::BTreeMap;
    let by_scope: BTreeMap<Scope, BTreeMap<String, String>> =
        serde_json::from_str(include_str!("descriptions.json"))
            .expect("the data are part of the program, and a test reads them");
    by_scope
        .into_iter()
        .flat_map(|(scope, texts)| texts.into_iter().map(move |(name, text)| (scope, name, text)))
        .collect()
}

/// All settings, by name and then scope.
#[must_use]
pub fn settings() -> &'static [Setting] {
    &TABLE.settings
}

/// Settings that 4.3 does not have.
pub(super) fn absent() -> &'static [Absent] {
    &TABLE.absent
}

/// All settings of a scope, by name.
pub fn settings_of(scope: Scope) -> impl Iterator<Item = &'static Setting> {
    settings().iter().filter(move |setting| setting.scope == scope)
}

/// The settings of this name, one for each scope that has it; empty for an unknown name.
#[must_use]
pub fn settings_named(name: &str) -> &'static [Setting] {
    let all = settings();
    let start = all.partition_point(|setting| setting.name.as_str() < name);
    let count = all[start..].partition_point(|setting| setting.name == name);
    &all[start..start + count]
}

/// The setting of this name in this scope.
#[must_use]
pub fn setting(scope: Scope, name: &str) -> Option<&'static Setting> {
    settings_named(name).iter().find(|setting| setting.scope == scope)
}

/// The setting's place in Kafka's documentation.
#[must_use]
pub fn doc_url(setting: &Setting) -> String {
    let anchor = match setting.scope {
        Scope::Topic => "topicconfigs_",
        Scope::Broker => "brokerconfigs_",
        Scope::Producer => "producerconfigs_",
        Scope::Consumer => "consumerconfigs_",
        Scope::Group => "groupconfigs_",
        // These have a table of their own, whose rows are not worth a guess.
        Scope::RemoteLogMetadata => {
            return "https://kafka.apache.org/documentation/#tieredstorageconfigs".to_owned();
        }
    };
    format!("https://kafka.apache.org/documentation/#{anchor}{}", setting.name)
}
