//! A picture as PNG: its standalone SVG, drawn with the bundled faces alone, so that it is the same
//! on every machine. Knows no scene.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::fontdb::{Database, Source};
use resvg::usvg::{FontResolver, Options, Tree};

/// What draws, with its version: of the same SVG it makes the same bytes.
pub const DRAWN_BY: &str = "resvg 0.49.0";

/// Pixels for one unit.
const SCALE: f32 = 2.0;
/// A picture is at most this high or wide, in pixels; the longest diagrams are smaller by far.
const SIDE_MAX: u32 = 32_000;

/// Why there is no PNG.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// No bundled face has these characters, and text must not go missing.
    #[error("the bundled faces have no character {}; as SVG the picture has it", listed(.0))]
    Characters(Vec<char>),
    /// It has more pixels than a picture can have.
    #[error("the picture is too large for a PNG; as SVG it can be drawn")]
    TooLarge,
    /// A text asks for a face that is not bundled, and would go missing.
    #[error("there is no bundled face `{0}`")]
    Face(String),
    /// The SVG cannot be read, which would be a fault of this program.
    #[error("its SVG cannot be drawn: {0}")]
    Unreadable(String),
}

fn listed(characters: &[char]) -> String {
    let shown: Vec<String> = characters.iter().map(|one| format!("`{one}`")).collect();
    shown.join(", ")
}

/// The bundled faces, read once for many pictures.
#[derive(Clone, Debug)]
pub struct Faces(Arc<Database>);

impl Default for Faces {
    fn default() -> Faces {
        let files: [&'static [u8]; 4] = [
            include_bytes!("../../static/fonts/Inter-Regular.ttf"),
            include_bytes!("../../static/fonts/Inter-SemiBold.ttf"),
            include_bytes!("../../static/fonts/JetBrainsMono-Regular.ttf"),
            include_bytes!("../../static/fonts/JetBrainsMono-Bold.ttf"),
        ];
        let mut faces = Database::new();
        for file in files {
            faces.load_font_source(Source::Binary(Arc::new(file)));
        }
        Faces(Arc::new(faces))
    }
}

impl Faces {
    /// A standalone SVG as PNG, two pixels for each of its units.
    ///
    /// # Errors
    /// Text would be missing, or the picture is too large.
    pub fn png(&self, svg: &str) -> Result<Vec<u8>, Fault> {
        let image = self.pixels(svg, SCALE)?;
        image.encode_png().map_err(|error| Fault::Unreadable(error.to_string()))
    }

    /// A standalone SVG as pixels, `scale` for each of its units.
    pub(super) fn pixels(&self, svg: &str, scale: f32) -> Result<Pixmap, Fault> {
        let tree = self.read(svg)?;
        let size = tree.size().to_int_size().scale_by(scale).ok_or(Fault::TooLarge)?;
        if size.width().max(size.height()) > SIDE_MAX {
            return Err(Fault::TooLarge);
        }
        let mut image = Pixmap::new(size.width(), size.height()).ok_or(Fault::TooLarge)?;
        resvg::render(&tree, Transform::from_scale(scale, scale), &mut image.as_mut());
        Ok(image)
    }

    /// What has no face or character is dropped by the reader with a mere warning, so it is asked
    /// here which these are.
    fn read(&self, svg: &str) -> Result<Tree, Fault> {
        let (characters, families) = (Missing::default(), Missing::default());
        let select = FontResolver::default_font_selector();
        let fall_back = FontResolver::default_fallback_selector();
        let options = Options {
            fontdb: Arc::clone(&self.0),
            font_resolver: FontResolver {
                select_font: Box::new(|font, faces| {
                    let found = select(font, faces);
                    if found.is_none() {
                        let names = font.families().iter().map(ToString::to_string);
                        families.add(names.collect::<Vec<_>>().join(", "));
                    }
                    found
                }),
                select_fallback: Box::new(|character, used, faces| {
                    let found = fall_back(character, used, faces);
                    if found.is_none() {
                        characters.add(character);
                    }
                    found
                }),
            },
            ..Options::default()
        };
        let tree = Tree::from_str(svg, &options);
        drop(options);
        if let Some(family) = families.all().into_iter().next() {
            return Err(Fault::Face(family));
        }
        match characters.all() {
            missing if missing.is_empty() => {
                tree.map_err(|error| Fault::Unreadable(error.to_string()))
            }
            missing => Err(Fault::Characters(missing)),
        }
    }
}

/// What was not found. The reader may ask from anywhere, so it stands behind a lock.
struct Missing<T>(Mutex<BTreeSet<T>>);

impl<T> Default for Missing<T> {
    fn default() -> Missing<T> {
        Missing(Mutex::new(BTreeSet::new()))
    }
}

impl<T: Ord> Missing<T> {
    fn add(&self, what: T) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(what);
    }

    fn all(self) -> Vec<T> {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner).into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(words: &str, family: &str) -> String {
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"90\" height=\"20\">\
             <text y=\"15\" font-family=\"{family}\">{words}</text></svg>"
        )
    }

    #[test]
    fn text_that_no_bundled_face_has_is_an_error_and_not_left_out() {
        let faces = Faces::default();
        assert!(faces.png(&text("0 → 1 · ×2 …", "Inter")).is_ok());
        assert_eq!(
            faces.png(&text("a\u{4e2d}b", "Inter")),
            Err(Fault::Characters(vec!['\u{4e2d}']))
        );
    }

    #[test]
    fn a_face_that_is_not_bundled_is_never_looked_for_on_the_machine() {
        let fault = Faces::default().png(&text("a", "DejaVu Sans")).expect_err("no such face");
        assert!(matches!(fault, Fault::Face(_)), "{fault}");
    }

    #[test]
    fn a_picture_has_two_pixels_for_a_unit() {
        let png = Faces::default().png(&text("a", "Inter")).expect("a picture");
        // Width and height stand in the header, after the signature and the chunk's head.
        assert_eq!(png[16..24], [0, 0, 0, 180, 0, 0, 0, 40]);
    }
}
