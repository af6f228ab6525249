//! Names and texts of an author that would be mark-up if a page did not escape them. Every field
//! that takes free text carries some here.

use crate::project::Project;

/// What no page may hold unescaped.
const SCRIPT: &str = "<script>alert(1)</script>";

const SCENARIO: &str = r##"
id: 00.1.2
slug: hostile
title: HOSTILE
headline: HOSTILE
level: beginner
summary: 'See `code` HOSTILE'
start: HOSTILE
takeaway: HOSTILE
simplified: HOSTILE
tags: ["HOSTILE"]
reading: [{ title: HOSTILE, url: "https://example.org/?a=</script>" }]
cluster: { brokers: 1, racks: ["HOSTILE"] }
topics: { orders: { config: { retention.ms: 100000 } } }
producers:
  "HOSTILE": { topic: orders, config: { linger.ms: 200, client.id: "HOSTILE" } }
groups:
  "HOSTILE":
    topics: [orders]
    config: { auto.offset.reset: earliest, client.id: "HOSTILE" }
    consumers: ["HOSTILE consumer"]
actions:
  - at: 900ms
    produce: { producer: "HOSTILE", key: HOSTILE, value: HOSTILE, headers: { "HOSTILE": HOSTILE } }
steps:
  - at: 0s
    title: HOSTILE
    text: |
      # HOSTILE

      HOSTILE
    configs: [linger.ms]
    ask: HOSTILE
    answer: HOSTILE
    simplified: HOSTILE
    cite: [{ title: HOSTILE, url: "https://example.org/" }]
    expect: { partitions.orders-0.log_end_offset: 0 }
  - at: 3s
    title: HOSTILE
    text: HOSTILE
    expect: { partitions.orders-0.log_end_offset: 1 }
variants:
  - id: other
    title: HOSTILE
    text: HOSTILE
    change: { timing: { network: 2ms } }
"##;

/// A site in whose every free text `hostile` stands.
fn site(hostile: &str) -> Project {
    let toml = hostile.replace('"', "\\\"");
    let yaml = |text: &str| {
        let quoted = text.replace("\"HOSTILE", "\"HOSTILE_IN_QUOTES");
        let quoted = quoted.replace("HOSTILE_IN_QUOTES", &hostile.replace('"', "\\\""));
        quoted.replace("HOSTILE", hostile)
    };
    Project::small()
        .file("book.toml", &format!("[book]\ntitle = \"{toml}\"\ndescription = \"{toml}\"\n"))
        .file("content/index.md", "Without a heading of its own.\n")
        .file("content/about.md", &format!("# {hostile}\n\n{hostile}\n\n## {hostile}\n"))
        .file("content/configs/linger.ms.md", &format!("## {hostile}\n\n{hostile}\n"))
        .file("content/chapters/first.md", &format!("## {hostile}\n\n{hostile}\n"))
        .file(
            "scenarios/first/chapter.yaml",
            &format!("id: \"00.1\"\ntitle: {hostile}\nsummary: {hostile}\n"),
        )
        .file("scenarios/first/hostile.yaml", &yaml(SCENARIO))
}

#[test]
fn no_text_of_an_author_becomes_mark_up() {
    for hostile in [SCRIPT, "<img src=x onerror=alert(1)>", "</script><b>x", "a\"onclick=\"b<i>"] {
        let project = site(hostile);
        project.write("content/index.md", b"# Home\n\nLead.\n");
        let outcome = project.run(&["build"]);
        assert_eq!(outcome.status, 0, "{hostile}: {}", outcome.stderr);
        let mut shown = 0;
        for (path, bytes) in project.tree("book") {
            if path.ends_with(".html") || path.ends_with(".svg") {
                let text = String::from_utf8(bytes).expect("pages are UTF-8");
                assert!(!text.contains(hostile), "{hostile} in {path}");
                assert!(!text.contains("<img src=x"), "{hostile} in {path}");
                shown += usize::from(text.contains("alert(1)") || text.contains("&lt;"));
            }
        }
        assert!(shown > 10, "{hostile} reaches pages: {shown}");
    }
}
