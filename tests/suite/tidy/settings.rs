//! The simulator's defaults are those of the catalogue, and what it honours is listed as modelled.

use std::collections::BTreeSet;

use kafka_sim_site::catalog::{Setting, Treatment, settings, treatment};
use kafka_sim_site::sim::settings::{DEFAULTS, WITHOUT_DEFAULT};

fn modelled() -> impl Iterator<Item = &'static Setting> {
    settings().iter().filter(|setting| treatment(setting) == Treatment::Modelled)
}

#[test]
fn the_simulators_defaults_are_kafkas() {
    for (name, value) in DEFAULTS {
        let known: Vec<_> = modelled().filter(|setting| setting.name == *name).collect();
        assert!(!known.is_empty(), "{name} is honoured and not listed as modelled");
        for setting in known {
            assert_eq!(
                setting.default.as_deref().unwrap_or_default(),
                *value,
                "{} {name}",
                setting.scope
            );
        }
    }
}

#[test]
fn what_is_listed_as_modelled_is_honoured() {
    let with_default = DEFAULTS.iter().map(|(name, _)| *name);
    let honoured: BTreeSet<&str> = with_default.chain(WITHOUT_DEFAULT.iter().copied()).collect();
    // A broker's name for a topic's setting is honoured through the topic's.
    let through_topics: BTreeSet<&str> = modelled()
        .filter(|setting| honoured.contains(setting.name.as_str()))
        .flat_map(|setting| &setting.synonyms)
        .map(|synonym| synonym.name.as_str())
        .collect();
    for setting in modelled() {
        let name = setting.name.as_str();
        assert!(honoured.contains(name) || through_topics.contains(name), "{name}");
    }
}
