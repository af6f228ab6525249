//! Thumbnails as SVG.

use super::write;
use crate::diagram::glyph::{Glyph, Square};

/// A scenario's thumbnail, for a page; decoration only.
#[must_use]
pub fn glyph(glyph: &Glyph) -> String {
    const STEP: usize = 11;
    let columns = glyph.rows.iter().map(|row| row.squares.len()).max().unwrap_or(0);
    let (w, h) = (columns * STEP + 4, glyph.rows.len() * STEP + 3);
    let mut out = format!(
        "<svg class=\"gl\" viewBox=\"0 0 {w} {h}\" width=\"{w}\" height=\"{h}\" \
         aria-hidden=\"true\">"
    );
    for (line, row) in glyph.rows.iter().enumerate() {
        for (column, square) in row.squares.iter().enumerate() {
            let class = match square {
                Square::Committed => "g r-ok",
                Square::Pending => "gd r-pend",
                Square::Diverged => "gd r-bad",
                Square::Offline => "gd",
                Square::Free => "g",
            };
            write(
                &mut out,
                format_args!(
                    "<rect class=\"{class}\" x=\"{}\" y=\"{}\" width=\"9\" height=\"9\" rx=\"2\"/>",
                    2 + column * STEP,
                    2 + line * STEP
                ),
            );
        }
        if let Some(at) = row.high_watermark {
            let (x, y) = (1 + at * STEP, 1 + line * STEP);
            write(&mut out, format_args!("<path class=\"g-hw\" d=\"M{x} {y}v11\"/>"));
        }
    }
    out.push_str("</svg>");
    out
}
