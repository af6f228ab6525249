//! Kafka's settings where the file gives them: held against the catalogue, one by one and together.
//! Values are kept in the catalogue's one way of writing them.

use super::context::Context;
use super::tree::{Kind, Node};
use super::written::Mistake;
use crate::catalog::{self, Scope, Setting, ValueType, Wrong};
use crate::diag::{Code, Problem, Span};
use crate::sim::world::Settings;

/// What a topic's `config` takes.
pub const TOPIC: &[Scope] = &[Scope::Topic];
/// What the cluster's `config` takes.
pub const BROKER: &[Scope] = &[Scope::Broker];
/// What a producer's `config` takes.
pub const PRODUCER: &[Scope] = &[Scope::Producer];
/// What a consumer's `config` takes.
pub const CONSUMER: &[Scope] = &[Scope::Consumer];
/// What a group's `config` takes: its clients' settings and the broker's settings of the group.
pub const GROUP: &[Scope] = &[Scope::Consumer, Scope::Group];
/// What `alter_config` sets on a group.
pub const GROUP_AT_BROKER: &[Scope] = &[Scope::Group];

/// Whose settings a `.config.` path of this pattern reads.
pub fn scope_of_path(pattern: &str) -> &'static [Scope] {
    match pattern.split('.').next() {
        Some("topics") => TOPIC,
        Some("producers") => PRODUCER,
        Some("consumers") => CONSUMER,
        Some("groups") => GROUP,
        _ => BROKER,
    }
}

/// The setting of this name in one of the scopes.
pub fn find(name: &str, scopes: &[Scope]) -> Option<&'static Setting> {
    scopes.iter().find_map(|scope| catalog::setting(*scope, name))
}

/// Whether Kafka has the setting here.
///
/// # Errors
/// The mistake, at the whole name.
pub fn known(name: &str, scopes: &[Scope]) -> Result<(), Mistake> {
    let wrong = match catalog::check(scopes, name, "") {
        Ok(_) | Err(Wrong::Value { .. }) => return Ok(()),
        Err(wrong) => wrong,
    };
    let code = match wrong {
        Wrong::Elsewhere { .. } => Code::SettingElsewhere,
        _ => Code::UnknownSetting,
    };
    let mistake = Mistake::new(code, 0, name.len(), wrong.message());
    Err(match wrong {
        Wrong::Unknown { nearest: Some(near), .. } => mistake.did_you_mean(name, [near]),
        _ => mistake,
    })
}

/// Reads a `config`; wrong settings are reported and left out.
pub fn read(context: &mut Context<'_>, config: Option<&Node>, scopes: &[Scope]) -> Settings {
    let mut settings = Settings::new();
    for entry in config.map_or(&[][..], Node::entries) {
        let Some(text) = text(&entry.value) else { continue };
        match catalog::check(scopes, &entry.key, &text) {
            Ok(setting) => {
                settings.insert(entry.key.clone(), catalog::canonical(setting, &text));
            }
            Err(wrong) => {
                let problem = wrong.problem(context.file, entry.key_span, entry.value.span);
                context.report.push(problem);
            }
        }
    }
    settings
}

/// The text of a setting's value; a list is joined with commas.
pub fn text(node: &Node) -> Option<String> {
    match &node.kind {
        Kind::List(items) => {
            let items: Vec<&str> = items.iter().filter_map(Node::text).collect();
            Some(items.join(","))
        }
        _ => node.text().map(str::to_owned),
    }
}

/// Reports the first combination that Kafka refuses, at the setting that is to blame.
pub fn refuse(
    context: &mut Context<'_>,
    scope: Scope,
    settings: &Settings,
    configs: &[Option<&Node>],
) {
    let of_scope: Settings = settings
        .iter()
        .filter(|(name, _)| catalog::setting(scope, name).is_some() || of_groups(scope, name))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    let Some(refusal) = catalog::refused_combination(scope, &of_scope) else { return };
    let entry = refusal
        .settings
        .iter()
        .find_map(|name| configs.iter().rev().flatten().find_map(|config| config.entry(name)));
    let span = entry.map_or(Span::default(), |entry| entry.key_span);
    let message = format!("Kafka refuses this combination: {}", refusal.message);
    let problem = Problem::error(Code::RefusedCombination, context.file, span, message)
        .note(format!("settings: {}", refusal.settings.join(", ")))
        .note(format!("the client throws {}", refusal.exception));
    context.report.push(problem);
}

/// A group's settings are held against those that its brokers have for all groups.
fn of_groups(scope: Scope, name: &str) -> bool {
    scope == Scope::Group
        && name.starts_with("group.")
        && catalog::setting(Scope::Broker, name).is_some()
}

/// Whether the setting's values are whole numbers.
pub fn is_number(setting: &Setting) -> bool {
    matches!(setting.value_type, ValueType::Short | ValueType::Int | ValueType::Long)
}
