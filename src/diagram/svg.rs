//! Scenes as SVG: the only file that knows its syntax. It knows no Kafka.
//!
//! Inline, parts carry the classes of the site's style sheet; standalone, they carry presentation
//! attributes and need nothing else. Numbers have at most two decimals.

mod glyph;

use std::borrow::Cow;
use std::fmt::{self, Write as _};

use super::scene::{
    Anchor, Form, Group, Item, Mark, Part, RUN_GAP, Role, Run, Scene, Shape, Stroke, Subject,
};
use super::text::Face;
use super::theme::{Colour, Look, Scheme, look};

pub use glyph::glyph;

/// Around the inline view, so that strokes at its edge are whole.
const INLINE_MARGIN: f64 = 2.0;
/// Around the standalone view.
pub(super) const MARGIN: f64 = 16.0;

/// What a picture is called and says.
#[derive(Clone, Copy, Debug)]
pub struct Caption<'a> {
    /// `<title>`.
    pub title: &'a str,
    /// `<desc>`.
    pub description: &'a str,
    /// Begins the ids inside a file of its own. The form is added, so both forms may share it.
    pub id: &'a str,
}

/// A picture inside a page: looks come from the page's style sheet. It has no ids, so that a page
/// may show it more than once.
#[must_use]
pub fn inline(scene: &Scene, caption: &Caption) -> String {
    let form = form_class(scene.form);
    let (w, h) = (scene.width + 2.0 * INLINE_MARGIN, scene.height + 2.0 * INLINE_MARGIN);
    let mut out = String::with_capacity(8192);
    write(
        &mut out,
        format_args!(
            "<svg class=\"k {form}\" viewBox=\"-2 -2 {} {}\" role=\"img\">\
             <title>{}</title><desc>{}</desc>",
            number(w),
            number(h),
            escape(caption.title),
            escape(caption.description)
        ),
    );
    let mut writer = Writer { out, style: None };
    writer.groups(&scene.groups);
    writer.out.push_str("</svg>");
    writer.out
}

/// A picture as a file of its own.
#[must_use]
pub fn standalone(scene: &Scene, caption: &Caption, scheme: Scheme) -> String {
    let form = form_class(scene.form);
    let (w, h) = (scene.width + 2.0 * MARGIN, scene.height + 2.0 * MARGIN);
    let mut out = String::with_capacity(12288);
    write(
        &mut out,
        format_args!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}\" height=\"{h}\" \
         viewBox=\"-16 -16 {w} {h}\" role=\"img\" aria-labelledby=\"{id}{form}t {id}{form}d\" \
         font-family=\"{SANS}\" font-size=\"12.4\">",
            w = number(w),
            h = number(h),
            id = escape(caption.id)
        ),
    );
    head(&mut out, caption, form);
    if scheme == Scheme::Auto {
        out.push_str("<style>");
        dark(&mut out);
        out.push_str("</style>");
    }
    let mut writer = Writer { out, style: Some(scheme) };
    writer.out.push_str("<rect x=\"-16\" y=\"-16\"");
    write(&mut writer.out, format_args!(" width=\"{}\" height=\"{}\"", number(w), number(h)));
    writer.look(&Look { fill: Some(Colour::Paper), ..Look::default() });
    writer.out.push_str("/>");
    writer.groups(&scene.groups);
    writer.out.push_str("</svg>\n");
    writer.out
}

/// The rules that turn a picture of [`Scheme::Auto`] dark.
pub(super) fn dark(out: &mut String) {
    out.push_str("@media (prefers-color-scheme:dark){");
    for (_, class, _, dark) in Colour::ALL {
        write(out, format_args!(".f{class}{{fill:{dark}}}.s{class}{{stroke:{dark}}}"));
    }
    out.push('}');
}

pub(super) const SANS: &str = "Inter,system-ui,Helvetica Neue,Arial,sans-serif";
const MONO: &str = " font-family=\"JetBrains Mono,ui-monospace,Menlo,Consolas,monospace\"";
pub(super) const MONO_BOLD: &str =
    " font-family=\"JetBrains Mono,ui-monospace,Menlo,Consolas,monospace\" font-weight=\"700\"";

pub(super) fn form_class(form: Form) -> &'static str {
    match form {
        Form::Wide => "w",
        Form::Narrow => "n",
    }
}

pub(super) fn head(out: &mut String, caption: &Caption, form: &str) {
    write(
        out,
        format_args!(
            "<title id=\"{id}{form}t\">{}</title><desc id=\"{id}{form}d\">{}</desc>",
            escape(caption.title),
            escape(caption.description),
            id = escape(caption.id)
        ),
    );
}

pub(super) struct Writer {
    pub(super) out: String,
    /// Colours to write as attributes; without, classes.
    pub(super) style: Option<Scheme>,
}

impl Writer {
    pub(super) fn groups(&mut self, groups: &[Group]) {
        for group in groups {
            let open = match &group.subject {
                Subject::Stage => String::new(),
                Subject::Labels => "<g data-labels=\"\">".to_owned(),
                Subject::Words => self.over_lines(),
                Subject::Broker(id) => format!("<g data-broker=\"{id}\">"),
                Subject::Replica(name) => format!("<g data-replica=\"{}\">", escape(name)),
                Subject::Client(name) => format!("<g data-client=\"{}\">", escape(name)),
                Subject::Members(name) => format!("<g data-group=\"{}\">", escape(name)),
                Subject::Controller(name) => {
                    format!("<g data-controller=\"{}\">", escape(name))
                }
                Subject::Message(id) => format!("<g data-message=\"{id}\">"),
            };
            self.out.push_str(&open);
            for item in &group.items {
                self.item(item);
            }
            if !open.is_empty() {
                self.out.push_str("</g>");
            }
        }
    }

    /// Opens a group of texts that are seen over lines: each has an edge in the colour of the
    /// ground, painted first.
    fn over_lines(&self) -> String {
        let Some(scheme) = self.style else { return "<g class=\"over\">".to_owned() };
        let class = if scheme == Scheme::Auto {
            format!(" class=\"s{}\"", Colour::Paper.class())
        } else {
            String::new()
        };
        format!(
            "<g stroke=\"{}\" stroke-width=\"4\" stroke-linejoin=\"round\" \
             paint-order=\"stroke\"{class}>",
            Colour::Paper.value(scheme)
        )
    }

    fn item(&mut self, item: &Item) {
        match &item.shape {
            Shape::Box { rect, radius } => {
                self.out.push_str("<rect");
                self.dress(item);
                write(
                    &mut self.out,
                    format_args!(
                        " x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"{}\"/>",
                        number(rect.x),
                        number(rect.y),
                        number(rect.w),
                        number(rect.h),
                        number(*radius)
                    ),
                );
            }
            Shape::Circle { centre, radius } => {
                self.out.push_str("<circle");
                self.dress(item);
                write(
                    &mut self.out,
                    format_args!(
                        " cx=\"{}\" cy=\"{}\" r=\"{}\"/>",
                        number(centre.x),
                        number(centre.y),
                        number(*radius)
                    ),
                );
            }
            Shape::Path(strokes) => {
                self.out.push_str("<path");
                self.dress(item);
                write(&mut self.out, format_args!(" d=\"{}\"/>", path(strokes)));
            }
            Shape::Text { at, anchor, runs } => {
                self.out.push_str("<text");
                write(
                    &mut self.out,
                    format_args!(" x=\"{}\" y=\"{}\"", number(at.x), number(at.y)),
                );
                self.out.push_str(match anchor {
                    Anchor::Start => "",
                    Anchor::Middle => " text-anchor=\"middle\"",
                    Anchor::End => " text-anchor=\"end\"",
                });
                self.text(item, runs);
            }
        }
    }

    fn text(&mut self, item: &Item, runs: &[Run]) {
        if let [only] = runs {
            self.run(only, item.role);
            self.out.push('>');
            self.whole(item);
            write(&mut self.out, format_args!("{}</text>", escape(&only.text)));
            return;
        }
        self.out.push('>');
        self.whole(item);
        for (index, run) in runs.iter().enumerate() {
            self.out.push_str("<tspan");
            self.run(run, item.role);
            if index > 0 {
                write(&mut self.out, format_args!(" dx=\"{}\"", number(RUN_GAP)));
            }
            write(&mut self.out, format_args!(">{}</tspan>", escape(&run.text)));
        }
        self.out.push_str("</text>");
    }

    /// The whole of a text that is cut.
    fn whole(&mut self, item: &Item) {
        if let Mark::Whole(whole) = &item.mark {
            write(&mut self.out, format_args!("<title>{}</title>", escape(whole)));
        }
    }

    /// A run's voice and face.
    fn run(&mut self, run: &Run, role: Role) {
        if self.style.is_some() {
            self.look(&look(run.part, role));
            self.out.push_str(match run.face {
                Face::Sans => "",
                Face::SansBold => " font-weight=\"600\"",
                Face::Name => " font-weight=\"600\" font-size=\"13.8\"",
                Face::Mono => MONO,
                Face::MonoBold => MONO_BOLD,
            });
            return;
        }
        let face = match run.face {
            Face::Sans => "",
            Face::SansBold => "b",
            Face::Name => "b t",
            Face::Mono => "m",
            Face::MonoBold => "m b",
        };
        let voice = match run.part {
            Part::Mute => "mu",
            Part::Colour => "c",
            _ => "",
        };
        self.classes([face, voice, if run.part == Part::Colour { role.class() } else { "" }]);
    }

    /// Classes or attributes of an item that is not text, and its marks.
    fn dress(&mut self, item: &Item) {
        match self.style {
            Some(_) => self.look(&look(item.part, item.role)),
            None => self.classes([class(item.part), item.role.class(), ""]),
        }
        match &item.mark {
            Mark::None | Mark::Whole(_) => {}
            Mark::Offset(offset) => write(&mut self.out, format_args!(" data-offset=\"{offset}\"")),
            Mark::Rail(name) => {
                write(&mut self.out, format_args!(" data-rail=\"{}\"", escape(name)));
            }
        }
    }

    fn classes(&mut self, classes: [&str; 3]) {
        let mut open = false;
        for class in classes.into_iter().filter(|class| !class.is_empty()) {
            self.out.push_str(if open { " " } else { " class=\"" });
            self.out.push_str(class);
            open = true;
        }
        if open {
            self.out.push('"');
        }
    }

    pub(super) fn look(&mut self, look: &Look) {
        let Some(scheme) = self.style else { return };
        let fill = look.fill.map_or("none", |colour| colour.value(scheme));
        write(&mut self.out, format_args!(" fill=\"{fill}\""));
        if let Some(stroke) = look.stroke {
            write(&mut self.out, format_args!(" stroke=\"{}\"", stroke.value(scheme)));
            if (look.width - 1.0).abs() > 0.001 {
                write(&mut self.out, format_args!(" stroke-width=\"{}\"", number(look.width)));
            }
        }
        if !look.dash.is_empty() {
            write(&mut self.out, format_args!(" stroke-dasharray=\"{}\"", look.dash));
        }
        if look.is_round {
            self.out.push_str(" stroke-linecap=\"round\"");
        }
        if look.is_faint {
            self.out.push_str(" opacity=\".45\"");
        }
        if scheme == Scheme::Auto {
            let fill = look.fill.map_or(String::new(), |colour| format!("f{}", colour.class()));
            let stroke = look.stroke.map_or(String::new(), |colour| format!("s{}", colour.class()));
            self.classes([&fill, &stroke, ""]);
        }
    }
}

/// The class of a part in pages.
fn class(part: Part) -> &'static str {
    match part {
        Part::Card => "card",
        Part::CardLead => "card lead",
        Part::CardStop => "card stop",
        Part::CardOut => "card out",
        Part::Cross => "cross",
        Part::Lane => "lane",
        Part::Tick => "tick",
        Part::Record => "rec",
        Part::Gap => "gap",
        Part::Segment => "seg",
        Part::Slot => "slot",
        Part::HighWatermark => "hw",
        Part::LogEnd => "leo",
        Part::LastStable => "lso",
        Part::LogStart => "lst",
        Part::Position => "pos",
        Part::Committed => "com",
        Part::Stem => "stem",
        Part::Badge => "badge",
        Part::Tube => "tube",
        Part::TubeQuiet => "tube q",
        Part::Case => "case",
        Part::CaseQuiet => "case q",
        Part::Trail => "trail",
        Part::Way | Part::Strike => "mv",
        Part::Head => "hd",
        Part::Hold => "hold",
        Part::Clock => "clk",
        Part::Ring => "hl",
        Part::Cell => "g",
        Part::CellOpen => "gd",
        Part::CellLead => "cell lead",
        Part::CellSync => "cell",
        Part::CellOut => "cell out",
        Part::CellStop => "cell stop",
        Part::Life => "life",
        Part::Bar => "bar",
        Part::StepLine => "at",
        Part::Text | Part::Mute | Part::Colour => "",
    }
}

pub(super) fn path(strokes: &[Stroke]) -> String {
    let mut d = String::new();
    for stroke in strokes {
        match stroke {
            Stroke::Move(to) => write(&mut d, format_args!("M{} {}", number(to.x), number(to.y))),
            Stroke::Line(to) => write(&mut d, format_args!("L{} {}", number(to.x), number(to.y))),
            Stroke::Bend(by, to) => {
                let (cx, cy, x, y) = (number(by.x), number(by.y), number(to.x), number(to.y));
                write(&mut d, format_args!("Q{cx} {cy} {x} {y}"));
            }
            Stroke::Close => d.push('Z'),
        }
    }
    d
}

/// A number with at most two decimals, without trailing zeros.
///
/// As whole hundredths, and straight into the text: a picture has hundreds of numbers, and printing
/// an exact decimal fraction takes ten times as long.
#[derive(Clone, Copy)]
pub(super) struct Number(i64);

#[expect(clippy::cast_possible_truncation, reason = "no picture is 2^63 hundredths wide")]
pub(super) fn number(value: f64) -> Number {
    Number((value * 100.0).round_ties_even() as i64)
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hundredths = self.0.unsigned_abs();
        let mut text = [0; 24];
        let mut at = text.len();
        let mut push = |byte: u8| {
            at -= 1;
            text[at] = byte;
        };
        let (tenths, last) = (digit(hundredths / 10), digit(hundredths));
        if last != b'0' {
            push(last);
        }
        if last != b'0' || tenths != b'0' {
            push(tenths);
            push(b'.');
        }
        let mut whole = hundredths / 100;
        loop {
            push(digit(whole));
            whole /= 10;
            if whole == 0 {
                break;
            }
        }
        if self.0 < 0 {
            push(b'-');
        }
        f.write_str(str::from_utf8(&text[at..]).expect("digits are ASCII"))
    }
}

/// The last digit of a number.
fn digit(number: u64) -> u8 {
    b'0' + u8::try_from(number % 10).expect("a digit is below ten")
}

pub(super) fn escape(text: &str) -> Cow<'_, str> {
    let plain = |c: char| !matches!(c, '&' | '<' | '>' | '"') && !c.is_control();
    if text.chars().all(plain) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

pub(super) fn write(out: &mut String, arguments: std::fmt::Arguments) {
    out.write_fmt(arguments).expect("writing to a String cannot fail");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_at_most_two_decimals() {
        let printed = [0.0, -0.001, 12.0, 12.5, 1.0 / 3.0, 100.0].map(|it| number(it).to_string());
        assert_eq!(printed, ["0", "0", "12", "12.5", "0.33", "100"]);
        let printed = [0.05, 0.996, -0.5, -12.34, 1.005, 0.125].map(|it| number(it).to_string());
        assert_eq!(printed, ["0.05", "1", "-0.5", "-12.34", "1", "0.12"]);
    }

    #[test]
    fn what_authors_write_stays_text() {
        assert_eq!(escape("a<b> & \"c\"\u{7}"), "a&lt;b&gt; &amp; &quot;c&quot; ");
    }
}
