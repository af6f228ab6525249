//! Pictures: what the write path shows, what fits and where, and that nothing is dropped when drawn.

#[path = "diagrams/write_path.rs"]
mod write_path;

use kafka_sim_site::diagram::svg::{self, Caption};
use kafka_sim_site::diagram::{Storyboard, changes, storyboard};

fn caption<'a>(board: &'a Storyboard, step: usize, id: &'a str) -> Caption<'a> {
    let picture = &board.pictures[step];
    Caption { title: &picture.title, description: &picture.description, id }
}

/// Not a check: writes a page to look at when `PICTURES` names a folder.
#[test]
fn a_page_to_look_at() {
    let Ok(folder) = std::env::var("PICTURES") else { return };
    let run = write_path::run();
    let board = storyboard(&run);
    for dark in [false, true] {
        let mut page = format!(
            "<!doctype html><html data-theme={}><meta charset=utf-8>\
             <link rel=stylesheet href=site.css><body style='background:var(--paper)'>",
            if dark { "dark" } else { "light" }
        );
        for step in 0..board.pictures.len() {
            let id = format!("s{step}");
            let caption = caption(&board, step, &id);
            page += "<div style='display:flex;gap:30px;padding:20px;align-items:start'>";
            for scene in [&board.pictures[step].wide, &board.pictures[step].narrow] {
                let svg = svg::inline(scene, &caption);
                page +=
                    &format!("<div class=one style='width:{}px'>{svg}</div>", scene.width + 4.0);
            }
            page += &format!("</div><p>{}</p><ul>", caption.description);
            for line in changes::list(&run.frames[step]) {
                page += &format!("<li>{} {} → {}", line.what, line.from, line.to);
            }
            page += "</ul>";
        }
        page += "<style>.one .k{display:block!important;max-width:none!important}</style>";
        let name = if dark { "dark.html" } else { "light.html" };
        std::fs::write(std::path::Path::new(&folder).join(name), page).unwrap();
    }
}
