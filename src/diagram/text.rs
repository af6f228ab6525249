//! How wide a text is, by the bundled faces. Knows the faces' widths and nothing of pictures.

mod widths;

/// A reader's system face may be wider than the bundled one; texts are given this much more room.
const ROOM: f64 = 1.15;
/// Advance of every JetBrains Mono character, in em.
const MONO_ADVANCE: f64 = 0.6;
/// The size of all text but headings, in units.
pub const SIZE: f64 = 12.4;
/// The size of names of machines, in units.
pub const NAME_SIZE: f64 = 13.8;

/// The faces that pictures use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Face {
    /// Words.
    Sans,
    /// Words with weight.
    SansBold,
    /// Names of machines: bold, a little larger.
    Name,
    /// Numbers, keys, settings.
    Mono,
    /// Numbers with weight.
    MonoBold,
}

impl Face {
    /// Its size in units.
    #[must_use]
    pub fn size(self) -> f64 {
        if self == Face::Name { NAME_SIZE } else { SIZE }
    }
}

/// The width of `text` in the bundled face, in units.
#[must_use]
pub fn natural_width(text: &str, face: Face) -> f64 {
    let table = match face {
        Face::Mono | Face::MonoBold => {
            return text.chars().map(|c| if is_wide(c) { 1.0 } else { MONO_ADVANCE }).sum::<f64>()
                * face.size();
        }
        Face::Sans => &widths::REGULAR,
        Face::SansBold | Face::Name => &widths::SEMI_BOLD,
    };
    text.chars().map(|c| advance(c, table)).sum::<f64>() * face.size() / 1000.0
}

/// The room that `text` needs on any reader's machine, in units.
#[must_use]
pub fn room(text: &str, face: Face) -> f64 {
    natural_width(text, face) * ROOM
}

fn advance(c: char, table: &[u16]) -> f64 {
    let index = (c as u32).checked_sub(widths::FIRST).and_then(|at| usize::try_from(at).ok());
    match index.and_then(|at| table.get(at)).copied().unwrap_or(0) {
        0 => 1000.0,
        width => f64::from(width),
    }
}

/// Scripts whose characters fill a whole em; the bundled faces do not hold them.
fn is_wide(c: char) -> bool {
    c as u32 >= 0x1100 && !('\u{2000}'..='\u{2bff}').contains(&c)
}

/// `text`, cut in its middle with an ellipsis if it needs more than `width` units.
#[must_use]
pub fn fit(text: &str, face: Face, width: f64) -> String {
    // The same room, come to by another sum, differs in its last digit.
    if room(text, face) <= width + 0.001 {
        return text.to_owned();
    }
    let characters: Vec<char> = text.chars().collect();
    for kept in (1..characters.len()).rev() {
        let head: String = characters[..kept.div_ceil(2)].iter().collect();
        let tail: String = characters[characters.len() - kept / 2..].iter().collect();
        let short = format!("{head}…{tail}");
        if room(&short, face) <= width {
            return short;
        }
    }
    if room("…", face) <= width { "…".to_owned() } else { String::new() }
}

/// `text` in so many lines of that width at most, broken at spaces and after underscores.
#[must_use]
pub fn wrap(text: &str, face: Face, (width, most): (f64, usize)) -> Vec<String> {
    let mut lines = vec![String::new()];
    // A number alone on a line reads badly: it stays with the word before it.
    let text = match text.rsplit_once(' ') {
        Some((head, tail)) if tail.len() <= 2 => format!("{head}\u{a0}{tail}"),
        _ => text.to_owned(),
    };
    for word in text.split_inclusive([' ', '_']) {
        let last = lines.len() - 1;
        let longer = format!("{}{word}", lines[last]);
        let fits = room(longer.trim_end(), face) <= width;
        if fits || lines[last].is_empty() || lines.len() == most {
            lines[last] = longer;
        } else {
            lines.push(word.to_owned());
        }
    }
    let cut = lines.iter().map(|line| fit(line.trim_end(), face, width));
    cut.filter(|line| !line.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_hold_the_widths_of_the_bundled_faces() {
        let files: [(&[u8], &[u16]); 2] = [
            (include_bytes!("../../static/fonts/Inter-Regular.ttf"), &widths::REGULAR),
            (include_bytes!("../../static/fonts/Inter-SemiBold.ttf"), &widths::SEMI_BOLD),
        ];
        for (bytes, table) in files {
            for (index, &width) in (0u32..).zip(table) {
                let c = char::from_u32(widths::FIRST + index).expect("no surrogate below U+0180");
                let Some(exact) = advance_in(bytes, c) else { continue };
                let spare = f64::from(width) - exact;
                assert!((-0.01..1.01).contains(&spare), "{c}: {width} for {exact}");
            }
        }
        let mono = include_bytes!("../../static/fonts/JetBrainsMono-Regular.ttf");
        assert_eq!(advance_in(mono, 'm'), Some(600.0));
    }

    /// The advance of a character in thousandths of an em.
    fn advance_in(font: &[u8], c: char) -> Option<f64> {
        use skrifa::MetadataProvider as _;
        let font = skrifa::FontRef::new(font).expect("a font");
        let glyph = font.charmap().map(c)?;
        let size = skrifa::instance::Size::new(1000.0);
        let metrics = font.glyph_metrics(size, skrifa::instance::LocationRef::default());
        metrics.advance_width(glyph).map(f64::from)
    }

    #[test]
    fn what_is_too_long_is_cut_in_its_middle() {
        assert_eq!(fit("orders-0", Face::Mono, 100.0), "orders-0");
        let short = fit("transactions-by-country-12", Face::Mono, 100.0);
        assert!(short.starts_with("tra") && short.ends_with("-12"), "{short}");
        assert!(room(&short, Face::Mono) <= 100.0);
        assert_eq!(fit("orders", Face::Mono, 1.0), "");
    }
}
