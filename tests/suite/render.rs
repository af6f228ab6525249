//! `render`: which files it writes, that a PNG is the same everywhere, and what it refuses.

use crate::project::{Outcome, Project};

/// The shipped site, and `render` on its write path.
fn render(project: &Project, arguments: &[&str]) -> Outcome {
    let mut all = vec!["render", "write-path"];
    all.extend(arguments);
    project.run(&all)
}

#[test]
fn a_folder_gets_one_file_a_step_and_the_ending_says_the_format() {
    let project = Project::shipped();
    let outcome = render(&project, &["-o", "out"]);
    assert_eq!((outcome.status, outcome.stderr.as_str()), (0, ""));
    let names: Vec<String> = project.tree("out").into_keys().collect();
    assert_eq!(names, [1, 2, 3, 4, 5, 6].map(|number| format!("step-{number}.svg")));
    assert_eq!(outcome.stdout.lines().count(), 6, "{}", outcome.stdout);
    render(&project, &["-o", "one", "--step", "4", "--format", "png"]);
    let files = project.tree("one");
    assert_eq!(files.keys().collect::<Vec<_>>(), ["step-4.png"]);
    assert!(files["step-4.png"].starts_with(b"\x89PNG\r\n\x1a\n"));
    render(&project, &["-o", "deep/er/four.svg", "--step", "4"]);
    assert!(project.read("deep/er/four.svg") == project.read("out/step-4.svg"));
}

#[test]
fn an_svg_follows_its_reader_unless_a_theme_is_asked_for() {
    let project = Project::shipped();
    render(&project, &["-o", "auto.svg", "--step", "4"]);
    render(&project, &["-o", "dark.svg", "--step", "4", "--theme", "dark"]);
    let (auto, dark) = (project.read("auto.svg"), project.read("dark.svg"));
    assert!(auto.contains("prefers-color-scheme:dark") && auto.contains("fill=\"#f6f5f1\""));
    assert!(!dark.contains("<style>") && dark.contains("fill=\"#161920\""));
    assert!(!auto.contains("var(") && !dark.contains("var("), "no style sheet is needed");
}

#[test]
fn variants_and_views_are_other_pictures() {
    let project = Project::shipped();
    let mut seen = Vec::new();
    for arguments in [
        &["--step", "3"][..],
        &["--step", "3", "--variant", "acks-1"],
        &["--step", "3", "--narrow"],
        &["--step", "3", "--view", "sequence"],
        &["--view", "sequence"],
    ] {
        let mut all = vec!["-o", "a.svg"];
        all.extend(arguments);
        let outcome = render(&project, &all);
        assert_eq!((outcome.status, outcome.stderr.as_str()), (0, ""), "{arguments:?}");
        seen.push(project.read("a.svg"));
    }
    assert!(seen[4].contains("All messages of the run"));
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 5);
}

#[test]
fn a_gif_shows_every_step_for_as_long_as_the_animated_svg() {
    let project = Project::shipped();
    let outcome = render(&project, &["-o", "a.gif"]);
    assert_eq!((outcome.status, outcome.stderr.as_str()), (0, ""));
    let files = project.tree(".");
    let mut film = gif::DecodeOptions::new().read_info(&files["a.gif"][..]).expect("a GIF");
    let whole = (film.width(), film.height());
    let (mut frames, mut hundredths) = (0, 0);
    while let Some(frame) = film.read_next_frame().expect("a whole frame") {
        frames += 1;
        hundredths += u64::from(frame.delay);
        assert!(frames > 1 || (frame.width, frame.height) == whole, "the first covers all");
    }
    assert!(frames > 12, "steps, and messages between them: {frames}");
    // Five ways to go and six rests: `length_ms` of the timeline, within a rounding for each frame.
    let svg = Project::shipped().build().read("book/scenarios/write-path/play.svg");
    let length = svg.split("dur=\"").nth(1).and_then(|rest| rest.split("ms").next());
    let length: u64 = length.expect("a length").parse().expect("milliseconds");
    assert!((10 * hundredths).abs_diff(length) <= 5 * frames, "{hundredths} of {length}");
}

/// FNV-1a.
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// What the drawing libraries make of a fixed SVG depends on no machine: there is no system face,
/// and no other rounding. The pictures themselves are kept by `references.rs`.
#[cfg(target_arch = "x86_64")]
#[test]
fn a_png_is_the_same_on_every_machine() {
    let fixed = r##"<svg xmlns="http://www.w3.org/2000/svg" width="160" height="40">
<rect width="160" height="40" fill="#f6f5f1"/>
<path d="M8 30Q60 2 150 30" fill="none" stroke="#0062a0" stroke-width="2"/>
<g font-size="12.4" stroke="#f6f5f1" stroke-width="4" paint-order="stroke">
<text x="8" y="20" font-family="Inter" font-weight="600">broker-1 → 0</text>
<text x="8" y="34" font-family="JetBrains Mono">HW 1</text></g></svg>"##;
    let faces = kafka_sim_site::diagram::png::Faces::default();
    assert_eq!(hash(&faces.png(fixed).expect("a picture")), 17_786_961_908_155_054_148);
}

#[test]
fn what_cannot_be_drawn_is_said() {
    let project = Project::shipped();
    for (arguments, message) in [
        (&["-o", "a.svg", "--step", "9"][..], "there is no step 9; the run has 6"),
        (&["-o", "a.svg", "--variant", "acks-2"], "there is no variant `acks-2`"),
        (&["-o", "a.svg"], "the run has 6 steps, one picture each: choose one with --step"),
        (&["-o", "a.jpg", "--step", "1"], "a.jpg is none of .svg, .png and .gif"),
        (&["-o", "out", "--format", "gif"], "name a file, not a folder"),
        (&["-o", "a.gif", "--step", "1"], "a GIF shows all steps"),
        (&["-o", "book.toml/a.svg", "--step", "1"], "error: cannot create book.toml"),
        (&["-o", "a.svg", "--step", "1", "--theme", "blue"], "invalid value 'blue'"),
        (&["--step", "1"], "--output"),
    ] {
        let outcome = render(&project, arguments);
        assert_eq!(outcome.status, 2, "{arguments:?}");
        assert!(outcome.stderr.contains(message), "{arguments:?}: {}", outcome.stderr);
        assert_eq!(outcome.stdout, "");
    }
    let outcome = project.run(&["render", "write-paht", "-o", "a.svg"]);
    assert_eq!(outcome.status, 2);
    assert!(outcome.stderr.contains("did you mean `write-path`?"), "{}", outcome.stderr);
}

#[test]
fn an_untrue_scenario_gives_no_picture() {
    let project = Project::small().edit(
        "scenarios/first/idle.yaml",
        "partitions.orders-0.log_end_offset: 0",
        "partitions.orders-0.log_end_offset: 1",
    );
    let outcome = project.run(&["render", "idle", "-o", "a.svg"]);
    assert_eq!(outcome.status, 1, "{}", outcome.stderr);
    assert!(!project.tree(".").contains_key("a.svg"));
}

#[test]
fn text_without_a_face_is_refused_as_png_and_kept_as_svg() {
    let project =
        Project::small().edit("scenarios/first/idle.yaml", "    title: Idle", "    title: 开始");
    let draw = |file: &str| project.run(&["render", "idle", "-o", file, "--view", "sequence"]);
    assert_eq!(draw("a.svg").status, 0);
    let outcome = draw("a.png");
    assert_eq!(outcome.status, 2);
    assert!(outcome.stderr.contains("no character `开`"), "{}", outcome.stderr);
}
