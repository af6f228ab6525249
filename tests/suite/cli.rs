//! The command line: exit codes, what goes to which stream, formats for machines.

use crate::project::Project;

#[test]
fn exit_codes_tell_mistakes_of_the_site_from_wrong_usage() {
    let project = Project::small();
    for (arguments, status) in [
        (vec!["check"], 0),
        (vec!["build", "-d", "out"], 0),
        (vec!["--help"], 0),
        (vec!["--version"], 0),
        (vec![], 2),
        (vec!["bild"], 2),
        (vec!["build", "--site-url", "example.org"], 2),
        (vec!["build", "--jobs", "0"], 2),
        (vec!["check", "--format", "xml"], 2),
    ] {
        let outcome = project.run(&arguments);
        assert_eq!(outcome.status, status, "{arguments:?}: {}", outcome.stderr);
    }
    let project = project.edit("book.toml", "title", "titel");
    assert_eq!(project.run(&["check"]).status, 1);
    assert_eq!(project.run(&["build"]).status, 1);
}

#[test]
fn results_go_to_stdout_and_messages_to_stderr() {
    let project = Project::small();
    let built = project.run(&["build"]);
    assert!(built.stdout.contains("pages written to"), "{}", built.stdout);
    assert!(built.stdout.contains("book/index.html"), "it says how to look: {}", built.stdout);
    assert_eq!(built.stderr, "");
    let wrong = project.edit("book.toml", "title", "titel").run(&["build"]);
    assert_eq!(wrong.stdout, "");
    assert!(wrong.stderr.contains("Nothing was published"), "{}", wrong.stderr);
}

#[test]
fn a_stream_that_is_no_terminal_gets_no_colours() {
    let outcome = Project::small().edit("book.toml", "title", "titel").run(&["check"]);
    assert!(outcome.stderr.contains("KS0004"));
    assert!(!outcome.stderr.contains('\u{1b}'), "{:?}", outcome.stderr);
}

#[test]
fn a_problem_says_its_code_and_explain_says_what_that_means() {
    let project = Project::small();
    let one = project.run(&["explain", "ks0004"]);
    assert_eq!((one.status, one.stderr.as_str()), (0, ""));
    for part in ["KS0004: unknown key", "suggests the nearest one", "titel: One record"] {
        assert!(one.stdout.contains(part), "{}", one.stdout);
    }
    let all = project.run(&["explain"]).stdout;
    assert!(all.contains("KS0001  file is not UTF-8\n"), "{all}");
    assert!(all.contains("KS0502  template cannot be filled\n"), "{all}");
    assert_eq!(project.run(&["explain", "KS9999"]).status, 2);
}

#[test]
fn check_writes_nothing() {
    let project = Project::small();
    let before = project.tree(".");
    assert_eq!(project.run(&["check"]).status, 0);
    assert!(project.tree(".") == before);
}

#[test]
fn check_speaks_to_machines() {
    let project = Project::small().edit("book.toml", "title", "titel");
    let json = project.run(&["check", "--format", "json"]);
    assert_eq!((json.status, json.stderr.as_str()), (1, ""));
    let value: serde_json::Value = serde_json::from_str(&json.stdout).expect("it is JSON");
    assert!(value.to_string().contains("KS0004"), "{value}");
    let github = project.run(&["check", "--format", "github"]);
    assert_eq!(github.status, 1);
    assert!(github.stdout.starts_with("::error file=book.toml,line=2"), "{}", github.stdout);
}

#[test]
fn warnings_fail_a_check_only_where_they_are_denied() {
    let project = Project::small().edit(
        "scenarios/first/idle.yaml",
        "    expect: { partitions.orders-0.log_end_offset: 0 }\n",
        "",
    );
    let outcome = project.run(&["check"]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    assert!(outcome.stderr.contains("KS0212"), "{}", outcome.stderr);
    assert_eq!(project.run(&["check", "--deny-warnings"]).status, 1);
}

#[test]
fn the_shipped_site_has_no_warnings() {
    let outcome = Project::shipped().run(&["check", "--deny-warnings"]);
    assert_eq!((outcome.status, outcome.stderr.as_str()), (0, ""));
}

#[test]
fn a_draft_is_read_but_shown_only_on_request() {
    let project =
        Project::small().edit("scenarios/first/idle.yaml", "level:", "draft: true\nlevel:").build();
    assert!(!project.tree("book").contains_key("scenarios/idle/index.html"));
    assert_eq!(project.run(&["build", "--drafts"]).status, 0);
    assert!(project.tree("book").contains_key("scenarios/idle/index.html"));
    let wrong = project.edit("scenarios/first/idle.yaml", "level:", "levle:").run(&["check"]);
    assert_eq!(wrong.status, 1, "a draft is held to the format");
}

#[test]
fn the_address_can_be_given_on_the_command_line() {
    let project = Project::small();
    let outcome = project.run(&["build", "--site-url", "https://example.org/kafka"]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    assert!(project.read("book/sitemap.xml").contains("https://example.org/kafka/scenarios/idle/"));
    assert!(
        project
            .read("book/scenarios/idle/index.html")
            .contains("rel=\"canonical\" href=\"https://example.org/kafka/scenarios/idle/\"")
    );
    assert!(project.read("book/404.html").contains("href=\"/kafka/scenarios/\""));
}

#[test]
fn a_file_on_its_own_may_have_any_name_and_settings_print_their_effective_values() {
    let project = Project::small();
    let scenario = project.read("scenarios/first/idle.yaml").replace(
        "steps:\n",
        "actions: [{ at: 1s, alter_config: { topic: orders, set: { min.insync.replicas: 9 } } }]\n\
         steps:\n",
    ) + "  - { at: 3s, title: Set, expect: { time_ms: 3000 } }\n";
    let outcome = project.file("My Try.yaml", &scenario).run(&["run", "My Try.yaml"]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    assert!(
        outcome.stdout.contains("topics.orders.config.min.insync.replicas  1 -> 9"),
        "{}",
        outcome.stdout
    );
}
