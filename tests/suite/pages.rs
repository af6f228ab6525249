//! What the pages of the shipped site hold, and how texts and templates become pages.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use crate::project::Project;

/// The shipped site, built once.
static SHIPPED: LazyLock<Project> = LazyLock::new(|| Project::shipped().build());

/// A page of the shipped site.
fn page(path: &str) -> String {
    SHIPPED.read(&format!("book/{path}index.html"))
}

/// Every HTML page of the shipped site with its path.
fn pages() -> Vec<(String, String)> {
    let tree = SHIPPED.tree("book");
    let html = tree.into_iter().filter(|(path, _)| path.ends_with(".html"));
    html.map(|(path, bytes)| (path, String::from_utf8(bytes).expect("pages are UTF-8"))).collect()
}

/// The page without its tags, blanks run together.
fn words(html: &str) -> String {
    let mut text = String::new();
    let mut rest = html;
    while let Some((before, after)) = rest.split_once('<') {
        text.push_str(before);
        text.push(' ');
        let raw = ["script", "svg"].into_iter().find(|tag| after.starts_with(tag));
        rest = match raw {
            Some(tag) => after.split_once(&format!("</{tag}>")).map_or("", |(_, rest)| rest),
            None => after.split_once('>').map_or("", |(_, rest)| rest),
        };
    }
    text.push_str(rest);
    let text = text.replace("&quot;", "\"").replace("&gt;", ">").replace("&amp;", "&");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Asserts that the needles stand in the text one after the other.
#[track_caller]
fn assert_in_order(text: &str, needles: &[&str]) {
    let mut from = 0;
    for needle in needles {
        let at = text[from..].find(needle);
        let at = at.unwrap_or_else(|| panic!("`{needle}` comes next in: {}", &text[from..]));
        from += at + needle.len();
    }
}

#[test]
fn the_walkthrough_holds_its_parts_in_their_order() {
    assert_in_order(
        &page("scenarios/write-path/"),
        &[
            "<title>Kafka write path: one record from producer to consumer | Kafka, step by step",
            "<li class=\"m\" aria-current=\"page\">00.1.2</li>",
            "<h1>Kafka write path: one record from producer to consumer</h1>",
            "Follow one record from <code>send()</code> to a committed offset",
            "Beginner</li>",
            " minutes</li>",
            "Apache Kafka 4.3</li>",
            "statements checked by simulation",
            "class=\"player",
            "What you start with</h2>",
            "Settings that differ from Kafka’s defaults",
            "Step by step</h2>",
            "<article class=\"step\" id=\"step-1\">",
            "<article class=\"step\" id=\"step-6\">",
            "What if: ",
            "The takeaway</h2>",
            "Settings in this scenario</h2>",
            "Embed this scenario</h2>",
            "&lt;iframe src=",
            "Further reading</h2>",
            "More in Anatomy</h2>",
            "All scenarios</a>",
            "trademarks of the Apache Software Foundation",
        ],
    );
}

#[test]
fn every_step_shows_time_text_picture_changes_and_twins() {
    let page = page("scenarios/write-path/");
    let steps: Vec<&str> = page.split("<article class=\"step\"").skip(1).collect();
    let expected = [
        ("0.000 s", "Cluster ready · idle"),
        ("0.900 s", "Producer batches"),
        ("1.400 s", "Leader append · uncommitted"),
        ("2.000 s", "Replicated · high watermark advances · ack leaves"),
        ("2.800 s", "Consumer reads the record"),
        ("3.200 s", "Consumer commits · caught up"),
    ];
    assert_eq!(steps.len(), expected.len());
    for (index, (step, (time, title))) in steps.iter().zip(expected).enumerate() {
        let number = index + 1;
        assert_in_order(
            step,
            &[
                &format!("of 6 <time>t = {time}</time>"),
                &format!("<h3>{title}</h3>"),
                "<svg class=\"k w\"",
                "<svg class=\"k n\"",
                &format!("href=\"../../play/write-path/#step-{number}\">Open at this step"),
                "State as tables",
                "The same in a terminal",
            ],
        );
        assert_eq!(step.contains("Changed since"), number > 1, "step {number}");
    }
}

#[test]
fn the_third_step_asks_before_the_decisive_part_and_shows_the_state() {
    let page = page("scenarios/write-path/");
    let step = page.split("<article class=\"step\"").nth(3).expect("there are six steps");
    assert_in_order(
        &words(step),
        &[
            "leader’s log, which ends at 1.",
            "May a consumer read the record now? No.",
            "The high watermark stays at 0, because",
            "orders-0 on believes it is log end HW in sync \
             broker-1 leader 1 0 yes broker-2 follower 0 0 yes",
            "producer buffered in flight acked checkout 0 1 0",
            "consumer reads position committed lag reader-1 orders-0 0 none none",
        ],
    );
}

#[test]
fn the_terminal_shows_what_kafkas_tools_print() {
    let page = page("scenarios/write-path/");
    let step = page.split("<article class=\"step\"").nth(5).expect("there are six steps");
    for line in [
        "Topic: orders\tTopicId: …\tPartitionCount: 1\tReplicationFactor: 3\tConfigs: \
         min.insync.replicas=2",
        "\tTopic: orders\tPartition: 0\tLeader: 1\tReplicas: 1,2,3\tIsr: 1,2,3\tElr: \t\
         LastKnownElr: ",
        "GROUP           TOPIC           PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  \
         LAG             CONSUMER-ID     HOST            CLIENT-ID",
        "analytics       orders          0          0               1               \
         1               reader-1-…      /…              reader-1",
    ] {
        assert!(step.contains(line), "`{line}` in {step}");
    }
}

#[test]
fn the_settings_that_differ_are_those_of_the_file() {
    let page = page("scenarios/write-path/");
    let (_, table) = page.split_once("Settings that differ").expect("the table is there");
    let (table, _) = table.split_once("</table>").expect("it ends");
    assert_eq!(
        words(table),
        "from Kafka’s defaults setting on here default \
         min. insync. replicas orders 2 1 \
         linger. ms checkout 200 5 \
         auto. commit. interval. ms analytics 1440 5000 \
         auto. offset. reset analytics earliest latest"
    );
}

/// The section of the shipped variant on a walkthrough.
fn what_if(page: &str) -> &str {
    let (_, section) = page.split_once("id=\"what-if-acks-1\"").expect("the section is there");
    section.split_once("</section>").expect("it ends").0
}

#[test]
fn a_variant_tells_its_own_steps_beside_the_pictures_of_both_runs() {
    let page = page("scenarios/write-path/");
    let section = what_if(&page);
    assert_in_order(
        section,
        &[
            "in both at <time>t = 1.400 s",
            "<h3>Leader append · ack leaves</h3>",
            "<summary>May a consumer read the record now?</summary>",
            "the high watermark is 0",
            "<b>acks=all</b> Leader append · uncommitted",
            "<svg class=\"k n\"",
            "<b>acks=1</b> Leader append · ack leaves",
            "<svg class=\"k n\"",
            "in both at <time>t = 2.000 s",
            "<h3>Replicated · high watermark advances</h3>",
            "it has had its acknowledgement for a while",
            "What differs, step by step",
        ],
    );
    assert_eq!(section.matches("<svg class=\"k n\"").count(), 4, "steps 3 and 4, no others");
    assert_in_order(&words(section), &["4 checkout, records acknowledged 0 1"]);
    assert!(!section.contains("producer epoch"), "what differs from the start is the cause");
    assert!(!words(section).contains("messages"), "what is under way is for the pictures");
}

#[test]
fn a_variant_says_both_times_and_without_words_of_its_own_shows_the_first_difference() {
    let script = "timing: { network: 10ms }
producers: { till: { topic: orders, config: { linger.ms: 0 } } }
actions: [{ at: 1s, produce: { producer: till, value: a } }]
variants:
  - id: late
    title: it waits
    set: { producers.till.config.linger.ms: 100 }
    steps: { 2: { title: Later, text: Later., expect: { producers.till.acked: 0 } } }
  - { id: bare, title: it asks for nothing, set: { producers.till.config.acks: 0 } }
steps:
  - { when: producers.till.buffered == 0, title: Empty, text: Empty. }
  - { when: partitions.orders-0.log_end_offset == 1, title: Sent, text: Sent. }
";
    let text = Project::small().read("scenarios/first/idle.yaml");
    let (head, _) = text.split_once("steps:").expect("it has steps");
    let project = Project::small().file("scenarios/first/idle.yaml", &format!("{head}{script}"));
    let page = project.build().read("book/scenarios/idle/index.html");
    let (late, bare) = page.split_once("id=\"what-if-bare\"").expect("the section is there");
    assert_in_order(
        &words(late),
        &["What if: it waits", "above at t = 1.010 s , here at t = 1.110 s", "Later"],
    );
    assert_in_order(&words(bare), &["in both at t = 1.010 s", "The first step at which the two"]);
}

#[test]
fn a_setting_has_facts_a_guide_and_the_steps_where_it_matters() {
    let page = page("configs/min.insync.replicas/");
    assert_in_order(
        &words(&page),
        &[
            "Type int",
            "Default 1",
            "Accepts",
            "Set on topic, broker",
            "Simulator modelled",
            "How min.insync.replicas works",
            "Where it matters",
            "One record, end to end 00.1.2",
            "Set to 2 on orders",
        ],
    );
    for step in ["#step-1\"", "#step-4\""] {
        assert!(page.contains(&format!("../../scenarios/write-path/{step}")), "{step}");
    }
    let tree = SHIPPED.tree("book");
    for name in ["acks", "linger.ms", "auto.offset.reset", "auto.commit.interval.ms"] {
        assert!(tree.contains_key(&format!("configs/{name}/index.html")), "{name}");
    }
}

#[test]
fn every_page_has_a_title_a_language_one_main_and_one_first_heading() {
    for (path, html) in pages() {
        let (head, body) = html.split_once("</head>").expect("a page has a head");
        for (part, needle) in
            [(head, "<title>"), (head, "<html lang=\"en\">"), (body, "<main"), (body, "<h1")]
        {
            assert_eq!(part.matches(needle).count(), 1, "{needle} in {path}");
        }
        assert!(html.contains("content=\"default-src 'self'\""), "{path} states its policy");
    }
}

#[test]
fn nothing_in_a_page_breaks_its_own_policy_or_leads_elsewhere_by_itself() {
    for (path, html) in pages() {
        for forbidden in
            [" style=\"", "<style", " onclick=", " onload=", "javascript:", "src=\"http"]
        {
            assert!(!html.contains(forbidden), "{forbidden} in {path}");
        }
        for script in html.split("<script").skip(1) {
            let allowed =
                script.starts_with(" src=\"") || script.starts_with(" type=\"application/json\"");
            assert!(allowed, "a script in {path}");
        }
    }
}

#[test]
fn all_links_inside_the_site_are_relative() {
    for (path, html) in pages().into_iter().filter(|(path, _)| path != "404.html") {
        for attribute in ["href=\"/", "src=\"/", "href=\"file:"] {
            assert!(!html.contains(attribute), "{attribute} in {path}");
        }
    }
    assert!(SHIPPED.read("book/404.html").contains("href=\"/kafka-simulator/scenarios/\""));
}

#[test]
fn ids_are_unique_in_every_page() {
    for (path, html) in pages() {
        let mut seen = BTreeSet::new();
        for id in html.split(" id=\"").skip(1) {
            let id = id.split('"').next().expect("a split has a first part");
            assert!(seen.insert(id), "{id} twice in {path}");
        }
    }
}

#[test]
fn snapshots_events_and_pictures_are_published_beside_the_walkthrough() {
    let read = |name: &str| SHIPPED.read(&format!("book/scenarios/write-path/{name}"));
    let data: serde_json::Value = serde_json::from_str(&read("scenario.json")).expect("JSON");
    assert_eq!(data["steps"].as_array().map(Vec::len), Some(6));
    assert_eq!(data["steps"][4]["snapshot"]["producers"]["checkout"]["acked"], 1);
    assert_eq!(data["variants"][0]["id"], "acks-1");
    let events: serde_json::Value = serde_json::from_str(&read("events.json")).expect("JSON");
    assert!(events.as_array().is_some_and(|events| events.len() > 20));
    assert!(read("step-3.svg").starts_with("<svg xmlns="));
    let list: serde_json::Value =
        serde_json::from_str(&SHIPPED.read("book/scenarios.json")).expect("JSON");
    assert_eq!(list["chapters"][0]["scenarios"][1]["walkthrough"], "scenarios/write-path/");
}

#[test]
fn raw_html_in_a_text_is_shown_as_text() {
    let text = "# Page\n\nA <b onclick=\"x()\">bold</b> word.\n\n<script>alert(1)</script>\n";
    let html = Project::small().file("content/page.md", text).build().read("book/page/index.html");
    assert!(html.contains("&lt;b onclick=\"x()\"&gt;bold&lt;/b&gt;"), "{html}");
    assert!(html.contains("&lt;script&gt;alert(1)&lt;/script&gt;"), "{html}");
}

#[test]
fn unsafe_links_and_pictures_of_other_sites_are_errors_at_their_place() {
    let text = "# Page\n\nA [link](javascript:alert(1)) and\nan [other](data:text/html,x),\n\
                ![far](https://example.org/x.png)\n";
    let outcome = Project::small().file("content/page.md", text).run(&["check"]);
    assert_eq!(outcome.status, 1);
    for place in ["content/page.md:3:10", "content/page.md:4:12", "content/page.md:5:8"] {
        assert!(outcome.stderr.contains(place), "{place}: {}", outcome.stderr);
    }
    assert_eq!(outcome.stderr.matches("KS0303").count(), 3, "{}", outcome.stderr);
}

#[test]
fn a_dead_link_in_a_scenarios_text_is_shown_where_it_was_written() {
    let project = Project::small().edit(
        "scenarios/first/idle.yaml",
        "The log ends at {{ partitions.orders-0.log_end_offset }}.",
        "At {{ partitions.orders-0.log_end_offset }}, see [this](/configs/acks/).",
    );
    let place = project.place("scenarios/first/idle.yaml", "/configs/acks/");
    let outcome = project.run(&["check"]);
    assert_eq!(outcome.status, 1);
    assert!(outcome.stderr.contains(&place), "{place}: {}", outcome.stderr);
    assert_eq!(outcome.stderr.matches("KS0401").count(), 1, "said once: {}", outcome.stderr);
}

#[test]
fn links_between_texts_count_from_the_file_or_from_the_root() {
    let project = Project::small()
        .file("content/guide/one.md", "# One\n\n[two](two.md#part) [home](../index.md)\n")
        .file("content/guide/two.md", "# Two\n\n## Part\n\n[idle](/scenarios/idle/#step-1)\n")
        .build();
    let one = project.read("book/guide/one/index.html");
    assert!(one.contains("href=\"../../guide/two/#part\""), "{one}");
    assert!(one.contains("href=\"../../\""), "{one}");
    let two = project.read("book/guide/two/index.html");
    assert!(two.contains("href=\"../../scenarios/idle/#step-1\""), "{two}");
}

#[test]
fn pictures_inside_texts_are_not_yet_there_and_said_so() {
    let text = "# Page\n\n{{#kafka-scenario 00.1.1 step=1}}\n";
    let outcome = Project::small().file("content/page.md", text).run(&["check"]);
    assert_eq!(outcome.status, 1);
    assert!(outcome.stderr.contains("content/page.md:3:1"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("not yet"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("KS0011"), "{}", outcome.stderr);
    let unknown = "# Page\n\n{{#kafka-scenrio 00.1.1}}\n";
    let outcome = Project::small().file("content/page.md", unknown).run(&["check"]);
    assert!(outcome.stderr.contains("KS0302"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("`kafka-scenario`?"), "{}", outcome.stderr);
}

#[test]
fn braces_in_a_page_that_insert_nothing_are_warned_of() {
    let text = "# Page\n\nIt is {{ foo }} and\n\n{{#include other.md}}\n\n\
                \\{{ as it is }}\n\n```\n{{ code }}\n```\n";
    let outcome = Project::small().file("content/page.md", text).run(&["check"]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    for said in ["content/page.md:3:7", "`foo`", "content/page.md:5:1", "`include`"] {
        assert!(outcome.stderr.contains(said), "{said}: {}", outcome.stderr);
    }
    assert_eq!(outcome.stderr.matches("KS0302").count(), 2, "{}", outcome.stderr);
}

#[test]
fn a_template_that_replaces_none_is_warned_of_with_the_nearest_name() {
    let outcome = Project::small().file("templates/homee.html", "Hello").run(&["check"]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    assert!(outcome.stderr.contains("did you mean `home.html`?"), "{}", outcome.stderr);
    let asked = Project::small()
        .file("templates/mine.html", "Hello")
        .file("templates/404.html", "{% include \"mine.html\" %}")
        .run(&["check"]);
    assert!(!asked.stderr.contains("not used"), "{}", asked.stderr);
}

#[test]
fn a_page_names_what_to_read_first() {
    let first = Project::small().read("scenarios/first/idle.yaml");
    let second = first.replace("00.1.1", "00.1.2").replace("level:", "requires: [00.1.1]\nlevel:");
    let project = Project::small().file("scenarios/first/second.yaml", &second).build();
    let page = project.read("book/scenarios/second/index.html");
    assert!(page.contains("Read first: <a href=\"../../scenarios/idle/\">Idle</a>"), "{page}");
}

#[test]
fn a_text_page_needs_a_title_and_an_address_of_its_own() {
    let untitled = Project::small().file("content/page.md", "No heading.\n").run(&["check"]);
    assert!(untitled.stderr.contains("KS0301"), "{}", untitled.stderr);
    let taken = Project::small().file("content/scenarios/idle.md", "# Idle\n").run(&["check"]);
    assert!(taken.stderr.contains("KS0102"), "{}", taken.stderr);
}

#[test]
fn guides_belong_to_settings_and_chapter_texts_to_chapters() {
    let outcome = Project::small()
        .file("content/configs/acsk.md", "# How it works\n")
        .file("content/chapters/frist.md", "More to come.\n")
        .run(&["check"]);
    for said in ["KS0201", "`acks`", "KS0104", "`first`"] {
        assert!(outcome.stderr.contains(said), "{said}: {}", outcome.stderr);
    }
}

#[test]
fn an_alias_leads_to_the_scenario() {
    let project = Project::small()
        .edit("scenarios/first/idle.yaml", "level:", "aliases: [still]\nlevel:")
        .build();
    let moved = project.read("book/scenarios/still/index.html");
    assert!(moved.contains("content=\"0; url=../../scenarios/idle/\""), "{moved}");
}

#[test]
fn a_sites_template_replaces_ours() {
    let project = Project::small()
        .file(
            "templates/404.html",
            "{% extends \"base.html\" %}{% block main %}<h1>Lost</h1>{% endblock main %}",
        )
        .build();
    assert!(project.read("book/404.html").contains("<h1>Lost</h1>"));
    assert!(project.read("book/404.html").contains("class=\"foot\""), "around it is our frame");
}

#[test]
fn mistakes_of_several_templates_are_shown_in_one_run() {
    let outcome = Project::small()
        .file("templates/404.html", "<h1>\n{{ page.title | upperr }}</h1>")
        .file("templates/page.html", "{% if x %}")
        .file("templates/chapter.html", "one\n{% for %}")
        .run(&["check"]);
    assert_eq!(outcome.status, 1);
    for place in ["templates/page.html:1", "templates/chapter.html:2:"] {
        assert!(outcome.stderr.contains(place), "{place}: {}", outcome.stderr);
    }
    let unknown = Project::small()
        .file("templates/404.html", "<h1>\n{{ page.title | upperr }}</h1>")
        .run(&["check"]);
    assert!(unknown.stderr.contains("templates/404.html:2:17"), "{}", unknown.stderr);
    assert!(unknown.stderr.contains("upperr"), "{}", unknown.stderr);
}
