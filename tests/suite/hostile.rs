//! Names and texts of an author that would be mark-up if a page did not escape them. Every field
//! that takes free text carries some here.

use crate::project::Project;

/// What no page may hold unescaped.
const SCRIPT: &str = "<script>alert(1)</script>";

const SCENARIO: &str = r#"
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
    actions: [{ at: 2900ms, produce: { producer: "HOSTILE", value: HOSTILE } }]
"#;

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

#[test]
fn no_file_of_the_author_takes_the_place_of_another() {
    for path in [
        "scenarios.json.md",
        "robots.txt.md",
        "Guide.md",
        "README.md",
        "guide/index.md",
        "assets",
        "play",
        "scenarios",
        "scenarios.json",
        "sitemap.xml",
        "assets/site.css",
        "Assets/new.css",
        "index.html",
        "404.html",
        "PICTURE.png",
    ] {
        let path = format!("content/{path}");
        let project = Project::small()
            .file("content/guide.md", "# Guide\n")
            .file("content/picture.png", "")
            .file(&path, "# Title\n");
        if project.tree("content").len() < 4 {
            continue; // On this system the two names are one file.
        }
        let outcome = project.run(&["check"]);
        assert_eq!(outcome.status, 1, "{path}: {}", outcome.stderr);
        assert!(outcome.stderr.contains("KS0102"), "{path}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(&path), "{path}: {}", outcome.stderr);
    }
}

#[test]
fn a_template_that_breaks_the_policy_of_a_page_is_named() {
    for (mark_up, needle) in [
        ("<p style=\"color:red\">x</p>", "style="),
        ("<p onclick='go()'>x</p>", "onclick="),
        ("<script>go()</script>", "<script"),
        ("<script src=\"//cdn.example/a.js\"></script>", "//cdn.example/a.js"),
        ("<img alt=\"\" src=\"https://e.example/a.png\">", "https://e.example/a.png"),
        ("<p id=\"main\">x</p>", "id=\"main\""),
    ] {
        let project = Project::small().file(
            "templates/scenarios.html",
            &format!(
                "{{% extends \"base.html\" %}}{{% block main %}}{mark_up}{{% endblock main %}}"
            ),
        );
        let outcome = project.run(&["check"]);
        assert_eq!(outcome.status, 1, "{mark_up}: {}", outcome.stderr);
        assert!(outcome.stderr.contains("KS0503"), "{mark_up}: {}", outcome.stderr);
        let place = project.place("templates/scenarios.html", needle);
        assert!(outcome.stderr.contains(&place), "{mark_up}: {}", outcome.stderr);
    }
}

#[test]
fn headings_of_a_steps_text_follow_the_steps_own_everywhere() {
    let project = Project::small()
        .edit(
            "scenarios/first/idle.yaml",
            "text: The log",
            "text: \"# A\\n\\n## B\"\n  - at: 1s\n    title: Later\n    text: The log",
        )
        .edit(
            "scenarios/first/idle.yaml",
            "    title: Idle\n    text: \"",
            "    title: Idle\n    expect: { partitions.orders-0.log_end_offset: 0 }\n    text: \"",
        )
        .build();
    for (page, above) in [("scenarios/idle", 3), ("play/idle", 2), ("embed/idle", 2), ("", 3)] {
        let html = project.read(&format!("book/{page}/index.html"));
        for level in [above, above + 1, above + 2] {
            assert!(html.contains(&format!("<h{level}>")), "h{level} in {page}");
        }
        let levels: Vec<u32> =
            html.split("<h").filter_map(|rest| rest.chars().next()?.to_digit(10)).collect();
        let gap = levels.windows(2).find(|pair| pair[1] > pair[0] + 1);
        assert_eq!(gap, None, "{page}: {levels:?}");
    }
}
