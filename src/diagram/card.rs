//! A share card: what another site shows beside a link. One picture of a run under its title, in
//! the proportions that sites ask for.

use super::scene::Scene;
use super::svg::{SANS, Writer, escape, number, write};
use super::text::{Face, fit, natural_width, wrap};
use super::theme::{Colour, Scheme};

/// Its size in units; a PNG has two pixels for each: 1200 × 630, the size that Open Graph's users
/// ask for.
const WIDTH: f64 = 600.0;
const HEIGHT: f64 = 315.0;
/// Between its edge and what it shows.
const EDGE: f64 = 24.0;
/// The size of the title, and the height of a line of it.
const TITLE: f64 = 23.0;
const LINE: f64 = 27.0;

/// What stands over the picture.
#[derive(Clone, Copy, Debug)]
pub struct Words<'a> {
    /// The name of the site.
    pub site: &'a str,
    /// A few words about the scenario.
    pub note: &'a str,
    /// What the card is about; two lines at most are shown.
    pub title: &'a str,
}

/// The card as a standalone SVG, in light colours.
#[must_use]
pub fn card(scene: &Scene, words: Words<'_>) -> String {
    let mut out = String::with_capacity(16384);
    write(
        &mut out,
        format_args!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{HEIGHT}\" \
             font-family=\"{SANS}\" font-size=\"12.4\"><rect width=\"{WIDTH}\" \
             height=\"{HEIGHT}\" fill=\"{}\"/>",
            Colour::Paper.value(Scheme::Light)
        ),
    );
    let inner = WIDTH - 2.0 * EDGE;
    let note_width = natural_width(words.note, Face::Sans);
    let site = fit(words.site, Face::SansBold, inner - note_width - EDGE);
    let mute = Colour::Mute.value(Scheme::Light);
    write(
        &mut out,
        format_args!(
            "<g fill=\"{mute}\"><text x=\"{EDGE}\" y=\"30\" font-weight=\"600\">{}</text>\
             <text x=\"{}\" y=\"30\" text-anchor=\"end\">{}</text></g>",
            escape(&site),
            number(WIDTH - EDGE),
            escape(words.note)
        ),
    );
    let top = title(&mut out, words.title, inner);
    picture(out, scene, top)
}

/// Writes the title; returns where it ends.
fn title(out: &mut String, text: &str, width: f64) -> f64 {
    // Faces are measured in the size of pictures.
    let scale = TITLE / Face::SansBold.size();
    let ink = Colour::Ink.value(Scheme::Light);
    write(out, format_args!("<g fill=\"{ink}\" font-size=\"{TITLE}\" font-weight=\"600\">"));
    let mut base = 60.0;
    for line in wrap(text, Face::SansBold, (width / scale, 2)) {
        let (line, y) = (escape(&line), number(base));
        write(out, format_args!("<text x=\"{EDGE}\" y=\"{y}\">{line}</text>"));
        base += LINE;
    }
    out.push_str("</g>");
    base - LINE
}

/// Draws the picture as large as it can be under `top`, in the middle.
fn picture(mut out: String, scene: &Scene, top: f64) -> String {
    let (from, to) = (top + 14.0, HEIGHT - EDGE / 2.0);
    let scale = ((WIDTH - 2.0 * EDGE) / scene.width).min((to - from) / scene.height);
    let x = (WIDTH - scene.width * scale) / 2.0;
    write(
        &mut out,
        format_args!(
            "<g transform=\"translate({} {}) scale({scale:.4})\">",
            number(x),
            number(from)
        ),
    );
    let mut writer = Writer { out, style: Some(Scheme::Light) };
    writer.groups(&scene.groups);
    writer.out.push_str("</g></svg>\n");
    writer.out
}
