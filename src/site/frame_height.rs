//! How high a frame must be for the player in it, since a frame's host cannot ask. Worked out for
//! a column 640 px wide from the sizes in `static/site.css` and a wide face; so it is an estimate
//! that errs on the high side. Knows nothing else of pages.

use crate::diagram::Storyboard;

use super::step::StepView;

/// The column, in pixels.
const WIDTH: f64 = 640.0;
/// The line with the title, and the two rows of controls.
const BARS: f64 = 45.0 + 114.0;
/// What stands beside, and above and below the picture.
const PICTURE_SIDES: f64 = 16.0;
const PICTURE_ENDS: f64 = 32.0;
/// Around an inline picture's scene, in its units.
const VIEW_MARGIN: f64 = 4.0;
/// In a narrow column the picture is at most this wide.
const NARROW_WIDTH: f64 = 420.0;
const NARROW_ENDS: f64 = 32.0;
/// What must be seen of a text below a narrow picture: the step's number and its title.
const GLIMPSE: f64 = 90.0;
/// Above and below a text, the line with the step's number, and between its blocks.
const TEXT_ENDS: f64 = 44.0;
const TICK: f64 = 24.0;
const GAP: f64 = 12.0;
/// A line of the step's title, of its text, of the list of changes.
const TITLE_LINE: Line = Line { letters: 42, height: 27.5 };
const TEXT_LINE: Line = Line { letters: 64, height: 25.6 };
const CHANGE_LINE: Line = Line { letters: 68, height: 24.3 };
/// The heading over the changes, and the letters for which the space between two changes stands.
const CHANGE_HEAD: f64 = 29.0;
const CHANGE_SPACE: usize = 6;

struct Line {
    letters: usize,
    height: f64,
}

impl Line {
    #[expect(clippy::cast_precision_loss, reason = "nobody writes texts of that length")]
    fn block(&self, letters: usize) -> f64 {
        letters.div_ceil(self.letters).max(1) as f64 * self.height
    }
}

/// The height in pixels, a multiple of ten, in which every step is seen whole at the column's
/// width; in a narrower one the picture, the controls and the beginning of the text, which scrolls.
#[must_use]
pub fn frame_height(steps: &[StepView], board: &Storyboard) -> u32 {
    let picture = board.pictures.iter().map(|picture| {
        let scale = (WIDTH - PICTURE_SIDES) / (picture.wide.width + VIEW_MARGIN);
        (picture.wide.height + VIEW_MARGIN) * scale + PICTURE_ENDS
    });
    let highest = |heights: &mut dyn Iterator<Item = f64>| heights.fold(0.0, f64::max);
    let narrow = board
        .pictures
        .iter()
        .map(|picture| picture.narrow.height * NARROW_WIDTH / picture.narrow.width + NARROW_ENDS);
    let wide = BARS + highest(&mut { picture }) + highest(&mut steps.iter().map(text_height));
    let height = wide.max(BARS + highest(&mut { narrow }) + GLIMPSE);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few thousand")]
    let tens = (height / 10.0).ceil() as u32;
    tens * 10
}

fn text_height(step: &StepView) -> f64 {
    let title = GAP + TITLE_LINE.block(step.title.chars().count());
    let blocks = [&step.first, &step.rest].into_iter().flat_map(|html| blocks(html));
    let text: f64 = blocks.map(|letters| GAP + TEXT_LINE.block(letters)).sum();
    let changes = step.changes.iter().map(|change| {
        [&change.what, &change.from, &change.to].iter().map(|text| text.chars().count()).sum()
    });
    let letters: usize = changes.map(|letters: usize| letters + CHANGE_SPACE).sum();
    let changes = match letters {
        0 => 0.0,
        letters => GAP + CHANGE_HEAD + CHANGE_LINE.block(letters),
    };
    TEXT_ENDS + TICK + title + text + changes
}

/// The letters of each block of a text's HTML.
fn blocks(html: &str) -> Vec<usize> {
    let mut blocks = Vec::new();
    let mut letters = 0;
    for (index, part) in html.split('<').enumerate() {
        let (tag, text) =
            if index == 0 { ("", part) } else { part.split_once('>').unwrap_or((part, "")) };
        let ends = ["/p", "/li", "/pre", "/blockquote", "/tr", "/h3", "/h4", "br"];
        if ends.contains(&tag.trim_end_matches([' ', '/'])) && letters > 0 {
            blocks.push(letters);
            letters = 0;
        }
        letters += text.trim_matches('\n').chars().count();
    }
    if letters > 0 {
        blocks.push(letters);
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagram::{Form, Picture, Scene};
    use crate::site::step::ChangeView;

    #[test]
    fn letters_are_counted_by_block() {
        assert_eq!(
            blocks("<p>one <code>two</code></p>\n<ul>\n<li>a</li>\n<li>bc</li>\n</ul>"),
            [7, 1, 2]
        );
    }

    #[test]
    fn the_highest_picture_and_the_longest_text_decide() {
        let scene = |height| Scene { form: Form::Wide, width: 620.0, height, groups: Vec::new() };
        let picture = |height, narrow| Picture {
            title: String::new(),
            description: String::new(),
            wide: scene(height),
            narrow: Scene { width: 328.0, ..scene(narrow) },
        };
        let board = |narrow| Storyboard {
            pictures: vec![picture(296.0, narrow), picture(100.0, 1.0)],
            moves: Vec::new(),
        };
        let step = |letters: usize| StepView {
            title: "Title".to_owned(),
            rest: format!("<p>{}</p>", "x".repeat(letters)),
            ..StepView::default()
        };
        // Bars 159; picture 296 + 4 at scale 1, and 32; text 44 + 24 + 12 + 27.5 + 12 + 2 × 25.6.
        assert_eq!(frame_height(&[step(65), step(1)], &board(1.0)), 670);
        let change = ChangeView { what: "x".repeat(60), from: "0".to_owned(), to: "1".to_owned() };
        let changed = StepView { changes: vec![change], ..step(65) };
        // And 12 + 29 + 24.3 for the changes.
        assert_eq!(frame_height(&[changed], &board(1.0)), 730);
        // Bars 159; picture 656 × 420 / 328 and 32; 90 of the text.
        assert_eq!(frame_height(&[step(1)], &board(656.0)), 1130);
    }
}
