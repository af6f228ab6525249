//! Who may know whom: the rule of `ARCHITECTURE.md`, read from the source.

use super::{Text, assert_none, rust};

/// The layers, each of which may use those behind it.
const LAYERS: [&str; 7] = ["cli", "serve", "project", "site", "diagram", "scenario", "sim"];

/// The module of a file of `src`: its folder, or the file itself.
fn module(text: &Text) -> &str {
    let path = text.path.trim_start_matches("src/");
    path.split('/').next().expect("a path has a first part").trim_end_matches(".rs")
}

/// Whether the module `from` may name the module `to`.
fn may_use(from: &str, to: &str) -> bool {
    if from == to {
        return true;
    }
    let place = |module: &str| LAYERS.iter().position(|layer| *layer == module);
    match (from, to) {
        ("sim" | "diag", _) => false,
        ("catalog", to) => to == "diag",
        ("lib", _) | (_, "diag" | "catalog") => true,
        ("main", to) => to == "cli",
        // Random worlds put the simulator to the test; nothing is built with them.
        ("fuzz", to) => to == "sim",
        (from, "fuzz") => from == "cli",
        _ => match (place(from), place(to)) {
            (Some(from), Some(to)) => from < to,
            _ => false,
        },
    }
}

/// The modules of ours that a line of code names: `crate::diag::Problem` names `diag`.
fn named(line: &str) -> Vec<&str> {
    let code = line.split("//").next().unwrap_or_default();
    let mut names = Vec::new();
    for start in ["crate::", "kafka_sim_site::"] {
        for (at, _) in code.match_indices(start) {
            let rest = &code[at + start.len()..];
            let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            if end > 0 {
                names.push(&rest[..end]);
            }
        }
    }
    names
}

#[test]
fn a_module_uses_only_what_stands_behind_it() {
    let mut findings = Vec::new();
    for text in rust(&["src"]) {
        for (number, line) in text.lines() {
            for to in named(line) {
                let from = module(&text);
                if !may_use(from, to) {
                    findings.push(format!("{}:{number}: {from} may not know {to}", text.path));
                }
            }
            // A group such as `use crate::{a, b}` would hide its names from this test.
            if line.contains("crate::{") {
                findings.push(format!("{}:{number}: one `use` for each module", text.path));
            }
        }
    }
    assert_none("layers", &findings);
}

#[test]
fn the_rule_itself_can_fail() {
    assert!(may_use("site", "diagram") && may_use("site", "diag") && may_use("cli", "sim"));
    assert!(!may_use("diagram", "site") && !may_use("sim", "diag") && !may_use("diag", "sim"));
    assert!(!may_use("catalog", "sim") && !may_use("project", "serve"));
    assert!(!may_use("main", "site"));
    assert!(may_use("cli", "fuzz") && !may_use("site", "fuzz") && !may_use("fuzz", "scenario"));
    assert_eq!(named("use crate::diag::{Code}; // crate::sim"), ["diag"]);
}

#[test]
fn disk_network_and_threads_stay_where_they_belong() {
    // What, and the modules that may name it.
    let rules: [(&str, &[&str]); 9] = [
        ("std::fs", &["project"]),
        ("walkdir", &["project"]),
        ("tempfile", &["project"]),
        ("std::net", &["serve"]),
        ("axum", &["serve"]),
        ("tokio", &["serve"]),
        ("std::thread", &["serve"]),
        ("rayon", &["site", "cli", "fuzz"]),
        ("std::process", &["main", "cli"]),
    ];
    let mut findings = Vec::new();
    for text in rust(&["src"]) {
        let tests = text.path.ends_with("tests.rs");
        let product = text.text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
        for (index, line) in product.lines().enumerate() {
            let code = line.split("//").next().unwrap_or_default();
            for (what, modules) in rules {
                let path = format!("{what}::");
                let named = code.contains(&path) || code.trim_end_matches(';').ends_with(what);
                if named && !tests && !modules.contains(&module(&text)) {
                    let place = format!("{}:{}", text.path, index + 1);
                    findings.push(format!("{place}: {what} is for {modules:?}"));
                }
            }
        }
    }
    assert_none("disk only in project, network only in serve", &findings);
}

#[test]
fn the_simulator_needs_nothing_but_std_and_serde() {
    let mut findings = Vec::new();
    for text in rust(&["src/sim"]) {
        for (number, line) in text.lines() {
            let Some(path) = line.trim_start().trim_start_matches("pub ").strip_prefix("use ")
            else {
                continue;
            };
            let first = path.split([':', ';', ' ']).next().unwrap_or_default();
            // A module's own names, imported from an enum for example, begin with a capital.
            let own = first.starts_with(char::is_uppercase) || first.is_empty();
            let known = ["std", "core", "serde", "crate", "self", "super"].contains(&first);
            let sibling = text.text.contains(&format!("mod {first};"));
            if !own && !known && !sibling {
                findings.push(format!("{}:{number}: {path}", text.path));
            }
        }
    }
    assert_none("what the simulator uses", &findings);
}
