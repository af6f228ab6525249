//! Standalone pictures, rendered with the bundled faces alone.

use kafka_sim_site::diagram::scene::{Part, Rect, Shape};
use kafka_sim_site::diagram::svg::{self, Caption};
use kafka_sim_site::diagram::text::natural_width;
use kafka_sim_site::diagram::theme::Scheme;
use kafka_sim_site::diagram::{Form, Scene, storyboard};
use resvg::{tiny_skia, usvg};

use super::write_path;

/// Around the picture in a standalone file, in units.
const MARGIN: f64 = 16.0;

fn tree(svg: &str) -> usvg::Tree {
    let mut options = usvg::Options::default();
    let faces = options.fontdb_mut();
    faces.load_font_data(include_bytes!("../../../static/fonts/Inter-Regular.ttf").to_vec());
    faces.load_font_data(include_bytes!("../../../static/fonts/Inter-SemiBold.ttf").to_vec());
    faces
        .load_font_data(include_bytes!("../../../static/fonts/JetBrainsMono-Regular.ttf").to_vec());
    faces.load_font_data(include_bytes!("../../../static/fonts/JetBrainsMono-Bold.ttf").to_vec());
    usvg::Tree::from_str(svg, &options).expect("a picture")
}

fn texts<'a>(group: &'a usvg::Group, found: &mut Vec<&'a usvg::Text>) {
    for node in group.children() {
        match node {
            usvg::Node::Text(text) => found.push(text),
            usvg::Node::Group(group) => texts(group, found),
            _ => {}
        }
    }
}

fn drawn(form: Form, step: usize, scheme: Scheme) -> (Scene, usvg::Tree) {
    let board = storyboard(&write_path::run());
    let picture = &board.pictures[step];
    let caption = Caption { title: &picture.title, description: &picture.description, id: "a" };
    let scene = picture.scene(form).clone();
    let tree = tree(&svg::standalone(&scene, &caption, scheme));
    (scene, tree)
}

#[test]
fn no_text_is_dropped_and_each_is_as_wide_as_it_was_measured() {
    for form in [Form::Wide, Form::Narrow] {
        for step in 0..6 {
            let (scene, tree) = drawn(form, step, Scheme::Light);
            let mut found = Vec::new();
            texts(tree.root(), &mut found);
            let expected: Vec<f64> = scene
                .items()
                .filter_map(|item| match &item.shape {
                    Shape::Text { runs, .. } => Some(
                        runs.iter().map(|run| natural_width(&run.text, run.face)).sum::<f64>()
                            + 6.0 * (runs.len() - 1) as f64,
                    ),
                    _ => None,
                })
                .collect();
            assert_eq!(found.len(), expected.len(), "{form:?}, step {}", step + 1);
            for (text, width) in found.iter().zip(expected) {
                let words: String = text.chunks().iter().map(usvg::TextChunk::text).collect();
                assert!(!text.flattened().children().is_empty(), "`{words}` is dropped");
                let drawn = f64::from(text.bounding_box().width());
                assert!((drawn - width).abs() < 3.0, "`{words}`: {drawn} for {width}");
            }
        }
    }
}

/// The colour at a point of the scene.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "points in a picture")]
fn pixel(image: &tiny_skia::Pixmap, x: f64, y: f64) -> (u8, u8, u8) {
    let at = |value: f64| (value + MARGIN).round() as u32;
    let colour = image.pixel(at(x), at(y)).expect("a picture");
    (colour.red(), colour.green(), colour.blue())
}

/// The cell of offset 0 on a broker.
fn cell(scene: &Scene, replica: &str) -> Rect {
    let subject = kafka_sim_site::diagram::scene::Subject::Replica(replica.to_owned());
    let group = scene.groups.iter().find(|group| group.subject == subject).expect("a picture");
    let item = group.items.iter().find(|item| item.part == Part::Record).expect("a picture");
    match item.shape {
        Shape::Box { rect, .. } => rect,
        _ => panic!("a record is a box"),
    }
}

#[test]
fn in_step_four_the_record_is_green_on_the_leader_and_orange_on_followers() {
    for (scheme, green, orange, paper) in [
        (Scheme::Light, (0xd5, 0xef, 0xe4), (0xfd, 0xea, 0xcb), (0xf6, 0xf5, 0xf1)),
        (Scheme::Dark, (0x12, 0x3c, 0x2f), (0x47, 0x2c, 0x0d), (0x16, 0x19, 0x20)),
    ] {
        for form in [Form::Wide, Form::Narrow] {
            let (scene, tree) = drawn(form, 3, scheme);
            let size = tree.size().to_int_size();
            let mut image = tiny_skia::Pixmap::new(size.width(), size.height()).expect("a picture");
            resvg::render(&tree, tiny_skia::Transform::identity(), &mut image.as_mut());
            for (replica, ground) in
                [("orders-0@1", green), ("orders-0@2", orange), ("orders-0@3", orange)]
            {
                let cell = cell(&scene, replica);
                let colour = pixel(&image, cell.x + 5.0, cell.bottom() - 5.0);
                assert_eq!(colour, ground, "{replica}, {form:?}, {scheme:?}");
            }
            assert_eq!(pixel(&image, -12.0, -12.0), paper);
        }
    }
}
