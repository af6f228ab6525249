//! What other sites are told of a page: share cards (where they are, that one is drawn once, what
//! happens when it cannot be drawn), and oEmbed.

use crate::project::Project;

const HOST: &str = "[output.kafka-sim]\nsite-url = \"https://kafka.example/sim/\"\n";
const SCENARIO: &str = "scenarios/first/idle.yaml";

fn with_host() -> Project {
    Project::small().file("book.toml", &format!("[book]\ntitle = \"Small\"\n{HOST}"))
}

/// The names of the cards of the published site.
fn cards(project: &Project) -> Vec<String> {
    project.tree("book").into_keys().filter(|path| path.ends_with(".png")).collect()
}

#[test]
fn every_page_of_a_scenario_names_its_card_which_has_the_size_that_it_says() {
    let project = with_host().build();
    let cards = cards(&project);
    let [card] = &cards[..] else { panic!("one scenario, one card: {cards:?}") };
    for page in ["scenarios", "play", "embed"] {
        let html = project.read(&format!("book/{page}/idle/index.html"));
        let image =
            format!("<meta property=\"og:image\" content=\"https://kafka.example/sim/{card}\">");
        assert!(html.contains(&image), "{page}: {html}");
    }
    let png = &project.tree("book")[card];
    assert!(png.starts_with(b"\x89PNG\r\n\x1a\n"));
    let side = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().expect("four bytes"));
    assert_eq!((side(16), side(20)), (1200, 630));
    assert!(!project.read("book/index.html").contains("og:image"));
}

#[test]
fn a_card_is_drawn_once_and_anew_when_what_it_shows_changes() {
    let project = with_host().build();
    let before = cards(&project);
    // Whoever drew it again would put the picture back.
    project.write(&format!("book/{}", before[0]), b"as it was");
    let project = project.build();
    assert_eq!(project.read(&format!("book/{}", before[0])), "as it was");
    let project = project.edit(SCENARIO, "title: Idle\nl", "title: Still idle\nl").build();
    let after = cards(&project);
    assert_eq!(after.len(), 1);
    assert_ne!(after, before, "another content, another name");
}

#[test]
fn a_program_that_reads_a_page_finds_how_to_show_its_player() {
    let project = with_host().build();
    let link = "<link rel=\"alternate\" type=\"application/json+oembed\" \
                href=\"https://kafka.example/sim/";
    for page in ["scenarios", "play", "embed"] {
        let html = project.read(&format!("book/{page}/idle/index.html"));
        let path = html.split(link).nth(1).and_then(|rest| rest.split('"').next());
        let answer = project.read(&format!("book/{}", path.expect("a link")));
        let answer: serde_json::Value = serde_json::from_str(&answer).expect("JSON");
        assert_eq!((&answer["version"], &answer["type"]), (&"1.0".into(), &"rich".into()));
        let frame = answer["html"].as_str().expect("a text");
        assert!(frame.contains("src=\"https://kafka.example/sim/embed/idle/\""), "{frame}");
        let card = format!("https://kafka.example/sim/{}", cards(&project)[0]);
        assert_eq!(answer["thumbnail_url"], card);
        assert_eq!(answer["thumbnail_height"], 630);
    }
    let project = Project::small().build();
    assert!(!project.path("book/embed/idle/oembed.json").exists());
    assert!(!project.read("book/embed/idle/index.html").contains("oembed"));
}

#[test]
fn without_a_host_or_by_wish_there_is_none() {
    assert!(cards(&Project::small().build()).is_empty());
    let project = with_host();
    assert_eq!(project.run(&["build", "--no-cards"]).status, 0);
    assert!(cards(&project).is_empty());
    assert!(!project.read("book/scenarios/idle/index.html").contains("og:image"));
}

#[test]
fn a_card_that_cannot_be_drawn_is_left_out_with_a_warning() {
    let project = with_host().edit(SCENARIO, "title: Idle\nl", "title: 日本\nl");
    let outcome = project.run(&["build"]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    assert!(outcome.stderr.contains("warning[KS0402]"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("no character `日`"), "{}", outcome.stderr);
    assert!(cards(&project).is_empty());
    assert!(!project.read("book/scenarios/idle/index.html").contains("og:image"));
}

#[test]
fn the_name_of_a_card_says_which_version_drew_it() {
    let (name, version) =
        kafka_sim_site::diagram::png::DRAWN_BY.split_once(' ').expect("name and version");
    let locked = format!("name = \"{name}\"\nversion = \"{version}\"");
    assert!(include_str!("../../Cargo.lock").contains(&locked), "{locked}");
}
