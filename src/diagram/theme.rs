//! How each part looks where no style sheet helps: colours by name with their light and dark
//! values, strokes and dashes. Pages say the same with the classes of `static/site.css`.

use super::scene::{Part, Role};

/// Which colours a standalone picture has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// Light ones.
    Light,
    /// Dark ones.
    Dark,
    /// Light ones, and dark ones where the reader prefers those.
    Auto,
}

/// A colour by its meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the visual language's own words")]
pub enum Colour {
    Paper,
    Card,
    Tube,
    Ink,
    Mute,
    Line,
    Edge,
    Lead,
    LeadGround,
    Ok,
    OkGround,
    OkTrail,
    Pending,
    PendingGround,
    PendingTrail,
    Bad,
    BadGround,
    Group0,
    Group1,
    Group2,
    Group3,
    Ring,
    RingLine,
}

impl Colour {
    /// Every colour: its short class, its light and its dark value.
    pub const ALL: [(Colour, &'static str, &'static str, &'static str); 23] = [
        (Colour::Paper, "a", "#f6f5f1", "#161920"),
        (Colour::Card, "b", "#fff", "#1e222a"),
        (Colour::Tube, "c", "#e7e4dc", "#2a2f39"),
        (Colour::Ink, "d", "#1b1a18", "#eceae4"),
        (Colour::Mute, "e", "#5d5b55", "#aaa79e"),
        (Colour::Line, "f", "#dcd8cf", "#343a45"),
        (Colour::Edge, "g", "#87847b", "#7b8391"),
        (Colour::Lead, "h", "#0062a0", "#74bdf5"),
        (Colour::LeadGround, "i", "#e3f0fa", "#15324a"),
        (Colour::Ok, "j", "#006e4e", "#5ad6ab"),
        (Colour::OkGround, "k", "#d5efe4", "#123c2f"),
        (Colour::OkTrail, "l", "#b4d1c5", "#284c46"),
        (Colour::Pending, "m", "#9a4d00", "#ffae57"),
        (Colour::PendingGround, "n", "#fdeacb", "#472c0d"),
        (Colour::PendingTrail, "o", "#ddc8b0", "#55412f"),
        (Colour::Bad, "p", "#b3261e", "#ff9284"),
        (Colour::BadGround, "q", "#fde7e4", "#4b1f1b"),
        (Colour::Group0, "r", "#8a2c68", "#ee9fcf"),
        (Colour::Group1, "s", "#4b3fa8", "#b9b2ff"),
        (Colour::Group2, "t", "#00626e", "#6fd3e0"),
        (Colour::Group3, "w", "#5c5800", "#d2c95f"),
        (Colour::Ring, "u", "#fff3a1", "#3b3a12"),
        (Colour::RingLine, "v", "#a38a00", "#d9cf4e"),
    ];

    fn entry(self) -> (Colour, &'static str, &'static str, &'static str) {
        Colour::ALL[self as usize]
    }

    /// Its short class in standalone pictures.
    #[must_use]
    pub fn class(self) -> &'static str {
        self.entry().1
    }

    /// Its value.
    #[must_use]
    pub fn value(self, scheme: Scheme) -> &'static str {
        if scheme == Scheme::Dark { self.entry().3 } else { self.entry().2 }
    }
}

/// How a part is painted.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Look {
    /// Its ground.
    pub fill: Option<Colour>,
    /// Its line.
    pub stroke: Option<Colour>,
    /// The line's width in units.
    pub width: f64,
    /// The line's dashes.
    pub dash: &'static str,
    /// Whether its ends are round.
    pub is_round: bool,
    /// Whether it is half transparent.
    pub is_faint: bool,
}

fn filled(fill: Colour) -> Look {
    Look { fill: Some(fill), ..Look::default() }
}

fn lined(stroke: Colour, width: f64, dash: &'static str) -> Look {
    Look { stroke: Some(stroke), width, dash, ..Look::default() }
}

/// The role's first colour, for lines and words.
fn first(role: Role) -> Option<Colour> {
    Some(match role {
        Role::Ok => Colour::Ok,
        Role::Pending => Colour::Pending,
        Role::Bad => Colour::Bad,
        Role::Lead => Colour::Lead,
        Role::Group(0) => Colour::Group0,
        Role::Group(1) => Colour::Group1,
        Role::Group(2) => Colour::Group2,
        Role::Group(_) => Colour::Group3,
        Role::Plain | Role::Off => return None,
    })
}

/// The role's second colour, for grounds.
fn second(role: Role) -> Option<Colour> {
    Some(match role {
        Role::Ok => Colour::OkGround,
        Role::Pending => Colour::PendingGround,
        Role::Bad => Colour::BadGround,
        Role::Lead => Colour::LeadGround,
        _ => return None,
    })
}

/// The look of a part in a role.
#[must_use]
pub fn look(part: Part, role: Role) -> Look {
    let main = first(role);
    let or = |colour: Colour| main.unwrap_or(colour);
    match part {
        Part::Card => Look { fill: Some(Colour::Card), ..lined(Colour::Line, 1.0, "") },
        Part::CardLead => Look { fill: Some(Colour::Card), ..lined(Colour::Lead, 1.75, "") },
        Part::CardStop => lined(Colour::Edge, 1.0, "5 4"),
        Part::CardOut => Look { fill: Some(Colour::Card), ..lined(Colour::Edge, 1.0, "5 4") },
        Part::Cross => Look { is_faint: true, ..lined(Colour::Edge, 1.0, "") },
        Part::Lane if role == Role::Off => Look::default(),
        Part::Lane => filled(Colour::Paper),
        Part::Tick => lined(Colour::Line, 1.0, ""),
        Part::Record => record(role),
        Part::Segment => lined(Colour::Mute, 1.5, ""),
        Part::Gap => lined(Colour::Edge, 1.0, "2 2"),
        Part::Slot => lined(Colour::Line, 1.0, "3 3"),
        Part::HighWatermark if role == Role::Off => lined(Colour::Edge, 2.5, ""),
        Part::HighWatermark => lined(Colour::Ok, 2.5, ""),
        Part::LogEnd => lined(Colour::Ink, 1.5, "2 2.5"),
        Part::LastStable => lined(Colour::Ink, 1.5, "7 2 2 2"),
        Part::LogStart => lined(Colour::Mute, 1.5, "6 3"),
        Part::Position => filled(or(Colour::Group0)),
        Part::Committed => Look { fill: Some(Colour::Card), ..lined(or(Colour::Group0), 1.5, "") },
        Part::Stem => lined(or(Colour::Group0), 1.0, "1 3"),
        Part::Badge => filled(second(role).unwrap_or(Colour::Paper)),
        Part::Tube => lined(Colour::Tube, 10.0, ""),
        Part::TubeQuiet | Part::Life => lined(Colour::Tube, 3.0, ""),
        Part::Case => lined(Colour::Paper, 13.0, ""),
        Part::CaseQuiet => lined(Colour::Paper, 6.0, ""),
        Part::Trail if role == Role::Ok => lined(Colour::OkTrail, 10.0, ""),
        Part::Trail => lined(Colour::PendingTrail, 10.0, ""),
        Part::Way | Part::Strike => lined(or(Colour::Mute), 2.0, ""),
        Part::Head | Part::Colour => filled(or(Colour::Mute)),
        Part::Hold => Look { is_round: true, ..lined(Colour::Mute, 1.5, "1 4") },
        Part::Clock => Look { fill: Some(Colour::Card), ..lined(or(Colour::Mute), 1.5, "") },
        Part::Ring => Look { fill: Some(Colour::Ring), ..lined(Colour::RingLine, 1.0, "") },
        Part::Text => filled(Colour::Ink),
        Part::Mute => filled(Colour::Mute),
        Part::Cell => filled(or(Colour::Tube)),
        Part::CellOpen => lined(or(Colour::Edge), 1.5, "2 1.5"),
        Part::CellLead => Look { fill: Some(Colour::LeadGround), ..lined(Colour::Lead, 1.5, "") },
        Part::CellSync => Look { fill: Some(Colour::Card), ..lined(Colour::Edge, 1.0, "") },
        Part::CellOut => {
            Look { fill: Some(Colour::PendingGround), ..lined(Colour::Pending, 1.5, "4 3") }
        }
        Part::CellStop => Look { fill: Some(Colour::Paper), ..lined(Colour::Edge, 1.0, "2 3") },
        Part::Bar => {
            Look { fill: second(role).or(Some(Colour::Tube)), ..lined(or(Colour::Edge), 1.0, "") }
        }
        Part::StepLine => lined(Colour::Lead, 1.5, "6 4"),
    }
}

fn record(role: Role) -> Look {
    let dash = match role {
        Role::Pending => "4 3",
        Role::Bad => "2 2",
        _ => "",
    };
    Look { fill: second(role), ..lined(first(role).unwrap_or(Colour::Edge), 1.5, dash) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_listed_in_their_own_order_with_their_own_class() {
        for (index, (colour, class, ..)) in Colour::ALL.into_iter().enumerate() {
            assert_eq!(colour as usize, index);
            assert_eq!(Colour::ALL.iter().filter(|other| other.1 == class).count(), 1);
        }
    }
}
