//! Whether a setting may be given a value at a place, and if not, what is wrong in words.

use std::sync::Arc;

use super::setting::{Scope, Setting, ValueType, absent, setting, settings_named, settings_of};
use super::valid::{Valid, any_of};
use super::value::items;
use crate::diag::{Code, Problem, SourceFile, Span, nearest};

/// Why a setting is not accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// Kafka 4.3 has no such setting.
    Unknown {
        /// The name that was written.
        name: String,
        /// The nearest name that fits here.
        nearest: Option<&'static str>,
        /// Why it is not there, where Kafka once had it or will have it: a clause.
        why: Option<&'static str>,
    },
    /// Kafka has it, but not for this.
    Elsewhere {
        /// The name that was written.
        name: String,
        /// Where it stands.
        here: Vec<Scope>,
        /// What Kafka sets it on.
        scopes: Vec<Scope>,
        /// The setting of this scope that means the same, if there is one.
        instead: Option<&'static str>,
    },
    /// The value has another type, or is outside of what Kafka accepts.
    Value {
        /// The setting.
        setting: &'static Setting,
        /// The value that was written.
        text: String,
    },
}

/// Checks one setting where settings of these scopes are taken: a topic's `config` takes
/// `[Scope::Topic]`, a group's `[Scope::Consumer, Scope::Group]`.
///
/// # Errors
/// An unknown name, a setting of another scope, a value of the wrong type or outside the range.
pub fn check(scopes: &[Scope], name: &str, text: &str) -> Result<&'static Setting, Wrong> {
    let found = find(scopes, name)?;
    if found.accepts(text) {
        Ok(found)
    } else {
        Err(Wrong::Value { setting: found, text: text.to_owned() })
    }
}

/// The setting of this name where settings of these scopes are taken; the first scope goes first.
///
/// # Errors
/// An unknown name, or a setting of another scope.
pub fn find(scopes: &[Scope], name: &str) -> Result<&'static Setting, Wrong> {
    let found = scopes.iter().find_map(|scope| setting(*scope, name));
    found.ok_or_else(|| not_here(scopes, name))
}

fn not_here(scopes: &[Scope], name: &str) -> Wrong {
    let elsewhere: Vec<Scope> = settings_named(name).iter().map(|setting| setting.scope).collect();
    if elsewhere.is_empty() {
        let absent = absent().iter().find(|it| it.name == name && scopes.contains(&it.scope));
        let candidates = scopes.iter().flat_map(|scope| settings_of(*scope));
        Wrong::Unknown {
            name: name.to_owned(),
            nearest: nearest(name, candidates.map(|setting| setting.name.as_str())),
            why: absent.map(|absent| absent.why.as_str()),
        }
    } else {
        Wrong::Elsewhere {
            name: name.to_owned(),
            here: scopes.to_vec(),
            scopes: elsewhere,
            instead: same_meaning(scopes, name),
        }
    }
}

/// The topic's setting for a broker's default, or the other way round.
fn same_meaning(scopes: &[Scope], name: &str) -> Option<&'static str> {
    settings_of(Scope::Topic).find_map(|topic| {
        let first = topic.synonyms.first()?;
        if scopes.contains(&Scope::Topic) && topic.synonyms.iter().any(|it| it.name == name) {
            Some(topic.name.as_str())
        } else if scopes.contains(&Scope::Broker) && topic.name == name {
            Some(first.name.as_str())
        } else {
            None
        }
    })
}

impl Setting {
    /// Whether Kafka accepts this value.
    #[must_use]
    pub fn accepts(&self, text: &str) -> bool {
        let text = text.trim();
        if !self.value_type.accepts(text) {
            return false;
        }
        match self.value_type {
            ValueType::Boolean => true,
            ValueType::Short | ValueType::Int | ValueType::Long => {
                text.parse().is_ok_and(|number| self.valid.accepts_number(number))
            }
            ValueType::Double => {
                text.parse().is_ok_and(|number| self.valid.accepts_fraction(number))
            }
            ValueType::String | ValueType::Class => self.valid.accepts_text(text),
            ValueType::List => {
                let not_empty = matches!(self.valid, Valid::NotEmpty | Valid::Assignors);
                items(text).all(|item| self.valid.accepts_text(item))
                    && !(not_empty && items(text).next().is_none())
            }
        }
    }

    /// What Kafka accepts, in words: `a whole number, 1 or more`.
    #[must_use]
    pub fn accepted(&self) -> String {
        let words = self.valid.words();
        match (&self.valid, self.value_type) {
            (Valid::Any, value_type) => value_type.in_words().to_owned(),
            (Valid::Range { .. }, value_type) => format!("{}, {words}", value_type.in_words()),
            (Valid::NotEmpty, ValueType::List) => "a list that is not empty".to_owned(),
            (Valid::NotEmpty, _) => "a text that is not empty".to_owned(),
            (Valid::PartitionBrokers, _) => words,
            (_, ValueType::List) => format!("a list of {words}"),
            _ => words,
        }
    }
}

impl Wrong {
    /// One sentence: what is wrong.
    #[must_use]
    pub fn message(&self) -> String {
        match self {
            Wrong::Unknown { name, why: Some(why), .. } => {
                format!("Kafka 4.3 has no setting `{name}`: {why}")
            }
            Wrong::Unknown { name, .. } => format!("Kafka 4.3 has no setting `{name}`"),
            Wrong::Elsewhere { name, here, scopes, .. } => {
                let names = |scopes: &[Scope]| {
                    any_of(&scopes.iter().map(|scope| scope.word()).collect::<Vec<_>>())
                };
                format!("`{name}` is set on a {}, not on a {}", names(scopes), names(here))
            }
            Wrong::Value { setting, text } => {
                format!("`{}` cannot be `{text}`", setting.name)
            }
        }
    }

    /// As a problem of a file: at the key, or at the value where that is what is wrong.
    #[must_use]
    pub fn problem(&self, file: &Arc<SourceFile>, key: Span, value: Span) -> Problem {
        match self {
            Wrong::Unknown { nearest, .. } => {
                let problem = Problem::error(Code::UnknownSetting, file, key, self.message())
                    .label("unknown setting");
                match nearest {
                    Some(nearest) => problem.help(format!("did you mean `{nearest}`?")),
                    None => problem,
                }
            }
            Wrong::Elsewhere { instead, .. } => {
                let problem = Problem::error(Code::SettingElsewhere, file, key, self.message())
                    .label("does not belong here");
                match instead {
                    Some(instead) => problem.help(format!("here it is called `{instead}`")),
                    None => problem,
                }
            }
            Wrong::Value { setting, text } => {
                Problem::error(Code::SettingValue, file, value, self.message())
                    .label(format!("expected {}", setting.accepted()))
                    .did_you_mean(text, setting.valid.candidates())
            }
        }
    }
}
