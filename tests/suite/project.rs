//! A site's folder made of a few files, the real program run on it, and what came of it. Here too:
//! the rules of reading and publishing.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// A site's folder in a temporary place.
#[must_use]
pub struct Project {
    folder: TempDir,
}

/// What a run of the program came to.
#[derive(Debug)]
pub struct Outcome {
    /// Its exit code.
    pub status: i32,
    /// What it printed as its result.
    pub stdout: String,
    /// What it printed as messages.
    pub stderr: String,
}

impl Project {
    /// An empty folder.
    pub fn empty() -> Project {
        Project { folder: TempDir::new().expect("a temporary folder") }
    }

    /// The smallest site: one chapter with one scenario of one step.
    pub fn small() -> Project {
        Project::empty()
            .file("book.toml", "[book]\ntitle = \"Small\"\n")
            .file("content/index.md", "# Small site\n\nIts lead.\n")
            .file(
                "scenarios/first/chapter.yaml",
                "id: \"00.1\"\ntitle: First\nsummary: The first chapter.\n",
            )
            .file("scenarios/first/idle.yaml", SMALL)
    }

    /// The site of this repository.
    pub fn shipped() -> Project {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let project = Project::empty();
        fs::copy(root.join("book.toml"), project.path("book.toml")).expect("book.toml is copied");
        for folder in ["scenarios", "content", "templates"] {
            for (path, bytes) in tree(&root.join(folder)) {
                project.write(&format!("{folder}/{path}"), &bytes);
            }
        }
        project
    }

    /// With this file.
    pub fn file(self, path: &str, text: &str) -> Project {
        self.write(path, text.as_bytes());
        self
    }

    /// With one place of a file changed; it must be there once.
    pub fn edit(self, path: &str, from: &str, to: &str) -> Project {
        let text = self.read(path);
        assert_eq!(text.matches(from).count(), 1, "`{from}` stands once in {path}");
        self.file(path, &text.replacen(from, to, 1))
    }

    /// Line and column of a text that stands once in a file, as messages show them.
    pub fn place(&self, path: &str, needle: &str) -> String {
        let text = self.read(path);
        assert_eq!(text.matches(needle).count(), 1, "`{needle}` stands once in {path}");
        let before = &text[..text.find(needle).expect("it was just counted")];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let (line, column) =
            (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1);
        format!("{path}:{line}:{column}")
    }

    /// Writes a file.
    pub fn write(&self, path: &str, bytes: &[u8]) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().expect("a file stands in a folder")).expect("a folder");
        fs::write(&path, bytes).expect("the file is written");
    }

    /// Runs the program in the folder.
    pub fn run(&self, arguments: &[&str]) -> Outcome {
        let output = Command::new(env!("CARGO_BIN_EXE_kafka-sim-site"))
            .args(arguments)
            .current_dir(self.folder.path())
            .env_remove("NO_COLOR")
            .output()
            .expect("the program runs");
        Outcome {
            status: output.status.code().expect("the program ends by itself"),
            stdout: String::from_utf8(output.stdout).expect("its result is UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("its messages are UTF-8"),
        }
    }

    /// Builds the site, which must succeed.
    pub fn build(self) -> Project {
        let outcome = self.run(&["build"]);
        assert_eq!(outcome.status, 0, "{}", outcome.stderr);
        self
    }

    /// A file's text.
    pub fn read(&self, path: &str) -> String {
        let path = self.path(path);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// Where something of the folder is.
    pub fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    /// Every file below a folder with its content.
    pub fn tree(&self, below: &str) -> BTreeMap<String, Vec<u8>> {
        tree(&self.path(below))
    }
}

/// Every file below a folder with its content.
pub fn tree(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).unwrap_or_else(|e| panic!("{}: {e}", next.display())) {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).expect("it lies below").to_string_lossy();
                found.insert(name.replace('\\', "/"), fs::read(&path).expect("a file"));
            }
        }
    }
    found
}

const SMALL: &str = "\
id: 00.1.1
title: Idle
level: beginner
summary: Nothing happens.
topics: { orders: { replication_factor: 3 } }
steps:
  - at: 0s
    title: Idle
    text: The log ends at {{ partitions.orders-0.log_end_offset }}.
    expect: { partitions.orders-0.log_end_offset: 0 }
";

#[test]
fn a_folder_without_a_site_is_wrong_usage() {
    let project = Project::empty();
    for command in ["build", "check"] {
        let outcome = project.run(&[command]);
        assert_eq!(outcome.status, 2, "{command}");
        assert!(outcome.stderr.contains("holds no site"), "{}", outcome.stderr);
    }
    assert_eq!(project.run(&["build", "nowhere"]).status, 2);
    assert!(project.tree(".").is_empty(), "nothing was written");
}

#[test]
fn a_folder_that_holds_something_else_is_never_replaced() {
    let project = Project::small().file("mine/letter.txt", "dear").file("note.txt", "a file");
    for target in ["mine", "note.txt"] {
        let before = project.tree(".");
        let outcome = project.run(&["build", "-d", target]);
        assert_eq!(outcome.status, 2, "{target}: {}", outcome.stderr);
        assert!(outcome.stderr.contains("is left alone"), "{}", outcome.stderr);
        assert!(project.tree(".") == before, "{target} is as it was");
    }
}

#[test]
fn an_absent_folder_an_empty_one_and_an_earlier_site_are_published_to() {
    let project = Project::small();
    fs::create_dir(project.path("empty")).expect("a folder");
    for target in ["a/b/c", "empty", "empty"] {
        let outcome = project.run(&["build", "-d", target]);
        assert_eq!(outcome.status, 0, "{target}: {}", outcome.stderr);
        assert!(project.tree(target).contains_key("index.html"), "{target}");
    }
}

#[test]
fn what_is_no_longer_made_is_gone_after_the_next_build() {
    let project = Project::small().file("content/old.md", "# Old\n").build();
    assert!(project.tree("book").contains_key("old/index.html"));
    fs::remove_file(project.path("content/old.md")).expect("the file is there");
    let project = project.build();
    assert!(!project.tree("book").contains_key("old/index.html"));
}

#[cfg(unix)]
#[test]
fn a_file_that_did_not_change_is_the_same_file_after_the_next_build() {
    use std::os::unix::fs::MetadataExt;
    let project = Project::small().file("content/page.md", "# Page\n\nOne.\n").build();
    let inode = |path: &str| fs::metadata(project.path(path)).expect("it is there").ino();
    let before = (inode("book/scenarios/idle/index.html"), inode("book/page/index.html"));
    let project =
        Project { folder: project.folder }.edit("content/page.md", "One.", "Two.").build();
    let inode = |path: &str| fs::metadata(project.path(path)).expect("it is there").ino();
    assert_eq!(inode("book/scenarios/idle/index.html"), before.0);
    assert_ne!(inode("book/page/index.html"), before.1);
}

/// One change of the shipped site that makes it wrong: the file, what is replaced by what, and
/// what the message must say beside the place. The place is where the replacement stands, `skip`
/// characters in.
struct Mistake {
    path: &'static str,
    from: &'static str,
    to: &'static str,
    skip: usize,
    said: &'static [&'static str],
}

const MISTAKES: &[Mistake] = &[
    Mistake {
        path: "scenarios/anatomy/write-path.yaml",
        from: "      groups.analytics.lag.orders-0: 1\n",
        to: "      groups.analytics.lag.orders-0: 7\n",
        skip: 6,
        said: &["KS0207", "7", "1"],
    },
    Mistake {
        path: "scenarios/anatomy/write-path.yaml",
        from: "{{ groups.analytics.total_lag }}, and every",
        to: "{{ groups.analytics.total_lagg }}, and every",
        skip: 20,
        said: &["KS0103", "total_lag"],
    },
    Mistake {
        path: "templates/scenarios.html",
        from: "{% extends \"base.html\" %}",
        to: "{% extend \"base.html\" %}",
        skip: 3,
        said: &["KS0501", "extend"],
    },
    Mistake {
        path: "templates/chapter.html",
        from: "{{ chapter.title }}</h1>",
        to: "{{ chapter.titel }}</h1>",
        skip: 11,
        said: &["KS0502", "titel"],
    },
    Mistake {
        path: "templates/scenario.html",
        from: "{{ step.picture | safe }}",
        to: "{{ step.pictur | safe }}",
        skip: 3,
        said: &["KS0502", "undefined"],
    },
    Mistake {
        path: "content/index.md",
        from: "(fidelity.md)",
        to: "(fidelty.md)",
        skip: 1,
        said: &["KS0401", "/fidelty/", "/fidelity/"],
    },
    Mistake {
        path: "content/configs/min.insync.replicas.md",
        from: "#step-4)",
        to: "#step-7)",
        skip: 0,
        said: &["KS0401", "step-7"],
    },
    Mistake {
        path: "book.toml",
        from: "site-url =",
        to: "site-uri =",
        skip: 0,
        said: &["KS0004", "site-url"],
    },
];

#[test]
fn a_mistake_is_shown_at_its_place_and_the_published_site_stays_as_it_was() {
    let mut project = Project::shipped().build();
    let published = project.tree("book");
    for mistake in MISTAKES {
        project = project.edit(mistake.path, mistake.from, mistake.to);
        let outcome = project.run(&["build"]);
        assert_eq!(outcome.status, 1, "{}: {}", mistake.to, outcome.stderr);
        for said in mistake.said {
            assert!(outcome.stderr.contains(said), "{said}: {}", outcome.stderr);
        }
        let place = project.place(mistake.path, &mistake.to[mistake.skip..]);
        if mistake.skip > 0 || mistake.path == "book.toml" {
            assert!(
                outcome.stderr.contains(&format!("--> {place}")),
                "{place}: {}",
                outcome.stderr
            );
        }
        assert!(project.tree("book") == published, "{}: nothing was published", mistake.to);
        project = project.edit(mistake.path, mistake.to, mistake.from);
    }
}

#[test]
fn mistakes_of_all_files_are_shown_in_one_run() {
    let mut project = Project::shipped();
    for mistake in [&MISTAKES[1], &MISTAKES[2], &MISTAKES[7]] {
        project = project.edit(mistake.path, mistake.from, mistake.to);
    }
    let outcome = project.run(&["check"]);
    for code in ["KS0103", "KS0501", "KS0004", "3 errors"] {
        assert!(outcome.stderr.contains(code), "{code}: {}", outcome.stderr);
    }
}

#[test]
fn nothing_is_left_beside_the_published_folder() {
    let project = Project::small().build().edit("book.toml", "title", "titel");
    assert_eq!(project.run(&["build"]).status, 1);
    let mut names: Vec<String> = fs::read_dir(project.path("."))
        .expect("the folder")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    assert_eq!(names, ["book", "book.toml", "content", "scenarios"]);
}

#[test]
fn a_text_that_is_not_utf_8_is_shown_at_its_byte() {
    let project = Project::small();
    project.write("content/page.md", b"# Page\n\nCaf\xe9\n");
    let outcome = project.run(&["check"]);
    assert_eq!(outcome.status, 1);
    assert!(outcome.stderr.contains("content/page.md:3:4"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("KS0001"), "{}", outcome.stderr);
}

#[test]
fn a_text_larger_than_the_limit_is_not_read() {
    let project = Project::small().file("content/page.md", &"x".repeat((1 << 20) + 1));
    let outcome = project.run(&["check"]);
    assert_eq!(outcome.status, 1);
    assert!(outcome.stderr.contains("1 MiB"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("KS0002"), "{}", outcome.stderr);
}

#[cfg(unix)]
#[test]
fn a_symbolic_link_is_left_out_with_a_warning() {
    let project = Project::small().file("secret.md", "# Secret\n");
    std::os::unix::fs::symlink(project.path("secret.md"), project.path("content/link.md"))
        .expect("a link");
    let outcome = project.run(&["build"]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    assert!(outcome.stderr.contains("content/link.md"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("KS0013"), "{}", outcome.stderr);
    assert!(!project.tree("book").contains_key("link/index.html"));
}

#[cfg(unix)]
#[test]
fn a_folder_of_the_source_that_is_a_symbolic_link_is_not_followed() {
    for name in ["scenarios", "templates", "content"] {
        let project = Project::small().file("templates/page.html", "{% wrong");
        let there = project.path("elsewhere");
        let _ = fs::rename(project.path(name), &there);
        std::os::unix::fs::symlink(&there, project.path(name)).expect("a link");
        let outcome = project.run(&["check"]);
        assert!(outcome.stderr.contains("KS0013"), "{name}: {}", outcome.stderr);
        let read = outcome.stderr.contains("{% wrong");
        assert_eq!(read, name != "templates", "{name}: {}", outcome.stderr);
    }
}

#[test]
fn nothing_is_published_into_the_source() {
    let project = Project::small().file("static/x.txt", "");
    let before = project.tree(".");
    let whole = project.path("content/out").to_string_lossy().into_owned();
    for folder in [
        ".",
        "content/out",
        "scenarios/out",
        "templates",
        "static/new",
        "book/../content/out",
        "content",
        "./scenarios/first/out",
        &whole,
    ] {
        let outcome = project.run(&["build", "-d", folder]);
        assert_eq!(outcome.status, 2, "{folder}: {}", outcome.stderr);
        assert!(outcome.stderr.contains("the site is read from"), "{}", outcome.stderr);
        assert!(project.tree(".") == before, "{folder}");
    }
    let project = project.file("book.toml", "[build]\nbuild-dir = \"content/out\"\n");
    let outcome = project.run(&["build"]);
    assert_eq!(outcome.status, 1);
    assert!(outcome.stderr.contains("book.toml:2:13"), "{}", outcome.stderr);
}

#[test]
fn files_beside_the_texts_are_copied_as_they_are() {
    let project = Project::small();
    project.write("content/img/dot.png", b"\x89PNG\x00\xff");
    let project = project.file("content/page.md", "# Page\n\n![A dot](img/dot.png)\n").build();
    assert_eq!(project.tree("book")["img/dot.png"], b"\x89PNG\x00\xff");
    assert!(project.read("book/page/index.html").contains("src=\"../img/dot.png\""));
}

#[test]
fn a_folder_without_its_chapter_file_is_told_with_the_nearest_name() {
    let scenario = SMALL.replace("00.1.1", "00.2.1");
    let project = Project::small()
        .file("scenarios/second/chaptr.yaml", "id: \"00.2\"\ntitle: Second\nsummary: S.\n")
        .file("scenarios/second/other.yaml", &scenario)
        .file("scenarios/third/chapter.yml", "id: \"00.3\"\n")
        .file("scenarios/Bad Name/note.txt", "a note")
        .file("scenarios/stray.yaml", &SMALL.replace("00.1.1", "00.1.2"))
        .file("content/chapters/second.md", "About it, see [other](/scenarios/other/).\n");
    fs::create_dir(project.path("scenarios/empty")).expect("a folder");
    let outcome = project.run(&["check"]);
    for said in [
        "KS0014",
        "the folder `second` has no `chapter.yaml`",
        "rename `scenarios/second/chaptr.yaml` to `chapter.yaml`",
        "rename `scenarios/third/chapter.yml` to `chapter.yaml`",
        "the folder `Bad Name` has no `chapter.yaml`",
        "error[KS0014]",
        "the folder is empty",
        "--> scenarios/stray.yaml",
        "6 errors",
    ] {
        assert!(outcome.stderr.contains(said), "{said}: {}", outcome.stderr);
    }
    let list = project.run(&["list"]).stdout;
    let strays = list.split_once("In no chapter").expect("strays have a heading of their own").1;
    assert!(strays.contains("00.2.1"), "{list}");
}

#[test]
fn one_scenario_with_errors_hides_no_mistake_elsewhere_and_makes_none() {
    let other = |more: &str| SMALL.replace("00.1.1", "00.1.2").replace("title: Idle\nl", more);
    let project = Project::small()
        .edit("scenarios/first/idle.yaml", "summary: Nothing happens.", "summary: `Nothing`")
        .file("scenarios/first/same.yaml", &other("title: B\nrequires: [00.1.1]\nl"))
        .file("scenarios/first/twice.yaml", &other("title: C\nrequires: [00.1.9]\nl"))
        .file("content/page.md", "# Page\n\n[a](/scenarios/idle/#step-1) [b](/no/where/)\n")
        .file("templates/list.html", "{% if x %}")
        .file("templates/page.html", "{{ no.such }}{{ 1 | nofilter }}")
        .file("templates/404.html", "{% extends \"base.html\" %}{{ unknown }}");
    let outcome = project.run(&["check"]);
    for said in [
        "scenarios/first/idle.yaml:4:10",
        "the id `00.1.2` is used by",
        "there is no scenario `00.1.9`",
        "/no/where/",
        "templates/list.html",
        "templates/page.html",
        "templates/404.html",
        "7 errors",
    ] {
        assert!(outcome.stderr.contains(said), "{said}: {}", outcome.stderr);
    }
}

#[test]
fn an_open_tag_is_named_where_another_ends() {
    let text = "{% block a %}\n{% if x %}\n{% endblock %}\n";
    let outcome = Project::small().file("templates/page.html", text).run(&["check"]);
    assert!(outcome.stderr.contains("`{% if x %}` of line 2 is still open"), "{}", outcome.stderr);
}
