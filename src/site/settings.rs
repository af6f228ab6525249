//! Settings as the pages show them: what a scenario changes, and every setting's facts from the
//! catalogue. Knows no scenario's run.

use serde::Serialize;

use crate::catalog::{self, Mode, Scope, Setting, Treatment};
use crate::sim::ids::is_internal;
use crate::sim::world::{Settings, World};

use super::address::Address;
use super::words;

/// A setting that a scenario gives a value of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    /// Kafka's name.
    pub name: String,
    /// What it is set on, in words: `orders`, `all brokers`.
    pub on: String,
    /// The value here.
    pub here: String,
    /// Kafka's default.
    pub default: String,
}

/// The settings of a world that differ from Kafka's defaults, in the world's order.
#[must_use]
pub fn given(world: &World) -> Vec<Given> {
    let mut all = Vec::new();
    let mut add = |on: &str, scopes: &[Scope], settings: &Settings| {
        for (name, value) in settings {
            let setting = scopes.iter().find_map(|scope| catalog::setting(*scope, name));
            let same = |setting: &Setting| {
                let default = setting.default.as_deref();
                default.is_some_and(|default| {
                    catalog::canonical(setting, default) == catalog::canonical(setting, value)
                })
            };
            if !setting.is_some_and(same) {
                all.push(Given {
                    name: name.clone(),
                    on: on.to_owned(),
                    here: value.clone(),
                    default: setting.map_or_else(|| "none".to_owned(), default),
                });
            }
        }
    };
    add("all brokers", &[Scope::Broker], &world.config);
    for topic in world.topics.iter().filter(|topic| !is_internal(&topic.name)) {
        add(&topic.name, &[Scope::Topic], &topic.config);
    }
    for producer in &world.producers {
        add(&producer.name, &[Scope::Producer], &producer.config);
    }
    for group in &world.groups {
        add(&group.name, &[Scope::Consumer, Scope::Group], &group.config);
        for consumer in &group.consumers {
            add(&consumer.name, &[Scope::Consumer], &consumer.config);
        }
    }
    all
}

/// A name with places where a line may break: after each dot.
#[must_use]
pub fn name_html(name: &str) -> String {
    words::breakable(name)
}

/// The default as the pages print it.
#[must_use]
pub fn default(setting: &Setting) -> String {
    match &setting.default {
        Some(text) if text.is_empty() => "empty".to_owned(),
        Some(text) => text.clone(),
        None if setting.required => "none; it must be set".to_owned(),
        None => "null".to_owned(),
    }
}

/// The address of a setting's page.
#[must_use]
pub fn address(name: &str) -> Address {
    Address::new(format!("configs/{name}/"))
}

/// Where a setting can be set, in words: `topic, broker`.
#[must_use]
pub fn scopes(settings: &[Setting]) -> String {
    settings.iter().map(|setting| setting.scope.word()).collect::<Vec<_>>().join(", ")
}

/// What the setting does, as HTML; empty where the catalogue has no description.
#[must_use]
pub fn definition(setting: &Setting) -> String {
    let mut html = String::new();
    let text = setting.description.as_deref().unwrap_or_default();
    pulldown_cmark::html::push_html(&mut html, pulldown_cmark::Parser::new(text));
    words::inline(&html)
}

/// One fact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FactView {
    /// Its name.
    pub name: &'static str,
    /// Its value, HTML.
    pub html: String,
}

/// The facts of a setting. Where it has several scopes and they differ, each says whose it is.
#[must_use]
pub fn facts(settings: &[Setting]) -> Vec<FactView> {
    let each: Vec<Vec<(&'static str, String)>> = settings.iter().map(facts_of).collect();
    let mut merged = Vec::new();
    for name in FACTS {
        let values: Vec<(Scope, &str)> = settings
            .iter()
            .zip(&each)
            .flat_map(|(setting, facts)| {
                facts.iter().filter(|fact| fact.0 == name).map(|fact| (setting.scope, &*fact.1))
            })
            .collect();
        let Some((_, first)) = values.first() else { continue };
        let same = values.len() == settings.len() && values.iter().all(|(_, it)| it == first);
        let html = if same {
            (*first).to_owned()
        } else if name == "Set on" || name == "Kafka’s page" {
            values.iter().map(|(_, html)| *html).collect::<Vec<_>>().join(", ")
        } else {
            let named = values.iter().map(|(scope, html)| format!("{scope}: {html}"));
            named.collect::<Vec<_>>().join(if name == "History" { "<br>" } else { "; " })
        };
        merged.push(FactView { name, html });
    }
    merged
}

/// The names of the facts, in the order in which they are read.
const FACTS: [&str; 8] = [
    "Type",
    "Default",
    "Accepts",
    "Set on",
    "Takes effect",
    "Simulator",
    "Kafka’s page",
    "History",
];

fn facts_of(setting: &Setting) -> Vec<(&'static str, String)> {
    let text = words::escaped;
    let scope = setting.scope.word();
    let mut facts = vec![
        ("Type", text(setting.value_type.word())),
        ("Default", format!("<span class=\"m\">{}</span>", text(&default(setting)))),
        ("Accepts", text(&setting.accepted())),
        ("Set on", scope.to_owned()),
        ("Takes effect", takes_effect(setting.mode).to_owned()),
        ("Simulator", simulator(catalog::treatment(setting))),
        (
            "Kafka’s page",
            format!("<a href=\"{}\">{scope} settings</a>", text(&catalog::doc_url(setting))),
        ),
    ];
    facts.extend(setting.since.as_deref().map(|since| ("History", words::coded(since))));
    facts
}

fn takes_effect(mode: Mode) -> &'static str {
    match mode {
        Mode::ReadOnly => "when the broker starts",
        Mode::PerBroker => "at once, set for one broker",
        Mode::ClusterWide => "at once, set for one broker or for all",
        Mode::Topic | Mode::Group => "at once",
        Mode::Client => "when the client is made",
    }
}

/// What the simulator does with a setting, as a word that stands out and a few that explain it.
fn simulator(treatment: Treatment) -> String {
    let (role, words) = match treatment {
        Treatment::Modelled => ("ok", "counts as in Kafka"),
        Treatment::Fixed => ("lead", "decided by the scenario file or by the simulator itself"),
        Treatment::Ignored => ("pend", "accepted, without effect"),
    };
    format!("<span class=\"pill r-{role}\">{}</span> {words}", treatment.word())
}
