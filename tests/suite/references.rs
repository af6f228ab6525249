//! Reference pictures, one or two of each kind of scenario, in `tests/golden/pictures/`. Where a
//! picture is no longer what it was, `target/pictures/index.html` shows old and new side by side.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use kafka_sim_site::diag::SourceFile;
use kafka_sim_site::diagram::svg::{self, Caption};
use kafka_sim_site::diagram::theme::Scheme;
use kafka_sim_site::diagram::{Form, Picture, sequence, storyboard};
use kafka_sim_site::scenario::run::Run;
use kafka_sim_site::scenario::{read, simulate};

/// What is drawn of a scenario.
#[derive(Clone, Copy)]
enum View {
    Cluster,
    Messages,
}

/// Scenario, step, view, form: each kind of scenario once, the busiest step.
const PICTURES: [(&str, usize, View, Form); 19] = [
    ("scenarios/anatomy/write-path.yaml", 3, View::Cluster, Form::Wide),
    ("scenarios/anatomy/write-path.yaml", 4, View::Messages, Form::Wide),
    ("scenarios/anatomy/write-path.yaml", 4, View::Messages, Form::Narrow),
    ("tests/traces/leader-crash.yaml", 2, View::Cluster, Form::Wide),
    ("tests/traces/leader-crash.yaml", 2, View::Messages, Form::Wide),
    ("tests/traces/leader-crash.yaml", 2, View::Messages, Form::Narrow),
    ("tests/traces/controller-failover.yaml", 1, View::Messages, Form::Wide),
    ("tests/traces/min-isr-refusal.yaml", 2, View::Messages, Form::Wide),
    ("tests/traces/paused-follower.yaml", 1, View::Cluster, Form::Narrow),
    ("tests/traces/unclean-and-elr.yaml", 3, View::Cluster, Form::Wide),
    ("tests/traces/reassignment.yaml", 1, View::Cluster, Form::Wide),
    ("tests/traces/keys-partitions.yaml", 1, View::Cluster, Form::Narrow),
    ("tests/traces/consumer-protocol-group.yaml", 2, View::Cluster, Form::Wide),
    ("tests/traces/share-group.yaml", 0, View::Cluster, Form::Narrow),
    ("tests/traces/compaction.yaml", 1, View::Cluster, Form::Wide),
    ("tests/traces/retention.yaml", 2, View::Cluster, Form::Narrow),
    ("tests/traces/transactions.yaml", 4, View::Cluster, Form::Wide),
    ("tests/traces/acks1-lost-record.yaml", 3, View::Cluster, Form::Wide),
    ("tests/traces/idempotent-and-retry.yaml", 1, View::Messages, Form::Wide),
];

fn run(path: &str) -> Run {
    let text = fs::read_to_string(path).expect("the scenario is there");
    let (scenario, _) = read(&Arc::new(SourceFile::new(path, text)));
    let (simulated, report) = simulate(&scenario.expect("it is right"));
    assert!(!report.has_errors(), "{path}: {report:?}");
    simulated.expect("it is true").main
}

fn name((path, step, view, form): (&str, usize, View, Form)) -> String {
    let file = Path::new(path).file_stem().expect("a file").to_string_lossy().into_owned();
    let view = match view {
        View::Cluster => "cluster",
        View::Messages => "messages",
    };
    let form = if form == Form::Wide { "wide" } else { "narrow" };
    format!("{file}-{}-{view}-{form}.svg", step + 1)
}

fn drawn((path, step, view, form): (&str, usize, View, Form)) -> String {
    let run = run(path);
    let mut pictures: Vec<Picture> = match view {
        View::Cluster => storyboard(&run).pictures,
        View::Messages => sequence::parts(&run),
    };
    let picture = pictures.swap_remove(step);
    let caption = Caption { title: &picture.title, description: &picture.description, id: "p" };
    svg::standalone(picture.scene(form), &caption, Scheme::Light)
}

/// Pictures that are not what they were: name, and the new one.
type Changed = Vec<(String, String)>;

#[test]
fn pictures_are_what_they_were() {
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/pictures");
    let accepts = std::env::var("SNAPSHOTS").is_ok_and(|value| value == "overwrite");
    let mut changed = Changed::new();
    for one in PICTURES {
        let (name, new) = (name(one), drawn(one));
        let old = fs::read_to_string(kept.join(&name)).unwrap_or_default();
        if old != new {
            changed.push((name, new));
        }
    }
    if accepts {
        fs::create_dir_all(&kept).expect("a folder");
        for (name, new) in &changed {
            fs::write(kept.join(name), new).expect("the picture is kept");
        }
        return;
    }
    let page = (!changed.is_empty()).then(|| compare(&kept, &changed));
    let names: Vec<&str> = changed.iter().map(|(name, _)| name.as_str()).collect();
    assert!(
        changed.is_empty(),
        "{} pictures changed: {}\nlook at them side by side: {}\n\
         and accept them with SNAPSHOTS=overwrite cargo test",
        names.len(),
        names.join(", "),
        page.unwrap_or_default().display(),
    );
}

/// Writes the new pictures and the page that shows them beside the old ones.
fn compare(kept: &Path, changed: &Changed) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/pictures");
    fs::create_dir_all(&folder).expect("a folder");
    let page = folder.join("index.html");
    for (name, new) in changed {
        fs::write(folder.join(name), new).expect("the picture can be looked at");
    }
    fs::write(&page, side_by_side(kept, changed)).expect("a page");
    page
}

fn side_by_side(kept: &Path, changed: &Changed) -> String {
    let mut page = "<!doctype html><meta charset=\"utf-8\"><title>Changed pictures</title>\
                    <style>body{font:16px sans-serif}table{width:100%}td{width:50%;\
                    vertical-align:top}img{max-width:100%}</style>\n"
        .to_owned();
    for (name, _) in changed {
        let old = kept.join(name);
        let old = if old.is_file() {
            format!("<img src=\"{}\" alt=\"as it was\">", old.display())
        } else {
            "not kept yet".to_owned()
        };
        let _ = writeln!(
            page,
            "<h2>{name}</h2><table><tr><td>as it was<td>now<tr><td>{old}\
             <td><img src=\"{name}\" alt=\"now\"></table>"
        );
    }
    page
}

#[test]
fn the_page_of_changed_pictures_shows_old_and_new() {
    let kept = tempfile::tempdir().expect("a folder");
    fs::write(kept.path().join("a.svg"), "<svg/>").expect("a picture");
    let changed =
        vec![("a.svg".to_owned(), "<svg />".to_owned()), ("b.svg".to_owned(), String::new())];
    let page = side_by_side(kept.path(), &changed);
    assert!(page.contains(&format!("<img src=\"{}/a.svg\"", kept.path().display())), "{page}");
    assert!(page.contains("<img src=\"a.svg\" alt=\"now\">"), "{page}");
    assert!(page.contains("not kept yet<td><img src=\"b.svg\""), "{page}");
}
