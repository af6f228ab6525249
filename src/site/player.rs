//! What the player's template needs beside the steps: links, and the messages that its script
//! moves.
//!
//! Owns the shape of the data in the page (`static/player.js` reads it). Must not know how a
//! picture is drawn or a text rendered: steps come in as finished HTML.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::diagram::{Move, Storyboard};
use crate::scenario::model::Scenario;

use super::address::Address;
use super::frame_height::frame_height;
use super::step::StepView;
use super::take::{Take, TakeView};

/// How many messages move between two steps at most; more would be noise.
const MOVES_MAX: usize = 120;

/// What all players of a scenario share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reel {
    /// The scenario's part of addresses.
    pub slug: String,
    /// The scenario's title.
    pub title: String,
    /// The scenario in one sentence, plain text.
    pub summary: String,
    /// The height of a frame in which the player is seen whole, in pixels.
    pub frame_height: u32,
    /// The script's data, JSON that can stand in a `script` element.
    pub data: String,
    /// Its variants.
    pub takes: Vec<TakeView>,
}

/// Where a player stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Among other things on a page, perhaps with other players.
    Inline,
    /// Over a walkthrough, whose articles are the targets of `#step-1` and so on.
    Walkthrough,
    /// Alone on a page of the site.
    Play,
    /// Alone in somebody else's frame.
    Embed,
}

/// The template's data for one player.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Player<'a> {
    /// The scenario's title.
    pub title: &'a str,
    /// What stands before the number in the links to steps.
    pub anchor: String,
    /// Whether the panes are the targets of those links.
    pub owns_steps: bool,
    /// Whether the page's query and hash are meant for this player alone.
    pub owns_address: bool,
    /// The level of the steps' headings.
    pub level: u8,
    /// The line over the picture.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bar: Option<Bar>,
    /// The script's data.
    pub data: &'a str,
    /// The address of the player's own page.
    pub play: String,
    /// The variants that its switch offers, if it has one.
    pub takes: &'a [TakeView],
    /// What the main run is called in the switch.
    pub main_label: &'a str,
}

/// The line over the picture.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Bar {
    /// Where the mark leads; no mark without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub home: Option<String>,
    /// The level of its heading.
    pub level: u8,
    /// Where the walkthrough is.
    pub walkthrough: String,
    /// Whether links leave the frame.
    pub new_tab: bool,
}

impl Reel {
    /// The reel of a scenario's run with its steps and pictures, and of its variants. `summary` is
    /// plain text.
    #[must_use]
    pub fn new(
        scenario: &Scenario,
        summary: String,
        (steps, board): (&[StepView], &Storyboard),
        takes: Vec<Take>,
    ) -> Reel {
        let times =
            |steps: &[StepView]| -> Vec<u64> { steps.iter().map(|step| step.time_ms).collect() };
        let mut runs = BTreeMap::from([("", RunData::new(&times(steps), &board.moves))]);
        let mut height = frame_height(steps, board);
        for take in &takes {
            let run = RunData::new(&times(&take.view.steps), &take.board.moves);
            runs.insert(&take.view.id, run);
            height = height.max(frame_height(&take.view.steps, &take.board));
        }
        Reel {
            slug: scenario.slug.clone(),
            title: scenario.title.clone(),
            summary,
            frame_height: height,
            data: json(&Data { runs }),
            takes: takes.into_iter().map(|take| take.view).collect(),
        }
    }

    /// What all variants call the main run, or words where they do not agree.
    fn main_label(&self) -> &str {
        let mut labels = self.takes.iter().map(|take| take.main_label.as_str());
        let first = labels.next().unwrap_or_default();
        if labels.all(|label| label == first) { first } else { "As told" }
    }

    /// The player of this reel at `place` on `page`.
    #[must_use]
    pub fn player(&self, place: Place, page: &Address) -> Player<'_> {
        let alone = matches!(place, Place::Play | Place::Embed);
        let bar = Bar {
            home: alone.then(|| page.relative("")),
            level: if alone { 1 } else { 2 },
            walkthrough: page.relative(&format!("scenarios/{}/", self.slug)),
            new_tab: place == Place::Embed,
        };
        Player {
            title: &self.title,
            anchor: match place {
                Place::Inline => format!("{}-step-", self.slug),
                Place::Walkthrough | Place::Play | Place::Embed => "step-".to_owned(),
            },
            owns_steps: place != Place::Walkthrough,
            owns_address: alone,
            level: if place == Place::Inline { 3 } else { 2 },
            bar: (place != Place::Walkthrough).then_some(bar),
            data: &self.data,
            play: page.relative(&format!("play/{}/", self.slug)),
            takes: if place == Place::Inline { &[] } else { &self.takes },
            main_label: self.main_label(),
        }
    }
}

/// The script's data: what moves in each run, the main one without a name.
#[derive(Serialize)]
struct Data<'a> {
    runs: BTreeMap<&'a str, RunData<'a>>,
}

#[derive(Serialize)]
struct RunData<'a> {
    rails: Vec<&'a str>,
    moves: Vec<MoveData<'a>>,
}

/// A [`Move`] as an array, its fields in their order, its rail by index.
#[derive(Serialize)]
struct MoveData<'a>(usize, u8, u64, u64, &'a str, Option<&'a str>);

impl<'a> RunData<'a> {
    fn new(times: &[u64], moves: &'a [Move]) -> RunData<'a> {
        let moves = shown(times, moves);
        let mut rails = BTreeMap::new();
        for found in &moves {
            rails.insert(found.rail.as_str(), 0);
        }
        for (index, (_, place)) in rails.iter_mut().enumerate() {
            *place = index;
        }
        let moves = moves.iter().map(|found| {
            let rail = rails[found.rail.as_str()];
            let back = u8::from(found.back);
            let token = found.token.as_deref();
            MoveData(rail, back, found.sent_ms, found.arrives_ms, found.role, token)
        });
        RunData { moves: moves.collect(), rails: rails.keys().copied().collect() }
    }
}

fn json(data: &Data<'_>) -> String {
    let json = serde_json::to_string(data).expect("numbers and texts can be written as JSON");
    // In a `script` element only `<` could end or confuse the text.
    json.replace('<', "\\u003c")
}

/// The moves that the player shows: under way at some time between the first and the last step, and
/// between two steps at most [`MOVES_MAX`], the loud ones first.
fn shown<'a>(times: &[u64], moves: &'a [Move]) -> Vec<&'a Move> {
    let mut kept = vec![false; moves.len()];
    let mut begin = 0;
    for span in times.windows(2) {
        let (from, to) = (span[0], span[1]);
        // In the order of sending; what has arrived before this span is not looked at again.
        while moves.get(begin).is_some_and(|first| first.arrives_ms <= from) {
            begin += 1;
        }
        let here: Vec<usize> = (begin..moves.len())
            .take_while(|index| moves[*index].sent_ms < to)
            .filter(|index| {
                moves[*index].arrives_ms > from && moves[*index].arrives_ms > moves[*index].sent_ms
            })
            .collect();
        let (quiet, loud): (Vec<usize>, Vec<usize>) =
            here.into_iter().partition(|index| moves[*index].role == "quiet");
        for index in loud.into_iter().chain(quiet).take(MOVES_MAX) {
            kept[index] = true;
        }
    }
    moves.iter().zip(kept).filter_map(|(found, kept)| kept.then_some(found)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moving(rail: &str, sent_ms: u64, arrives_ms: u64, role: &'static str) -> Move {
        let token = (role == "pend").then(|| "0".to_owned());
        Move { rail: rail.to_owned(), back: role == "ok", sent_ms, arrives_ms, role, token }
    }

    #[test]
    fn a_message_is_in_the_data_when_it_is_under_way_between_two_steps() {
        let moves = [
            moving("early", 0, 100, "quiet"),
            moving("b", 50, 250, "pend"),
            moving("a", 300, 600, "ok"),
            moving("late", 500, 800, "quiet"),
        ];
        let runs = BTreeMap::from([("", RunData::new(&[100, 200, 500], &moves))]);
        let moves = r#"[[1,0,50,250,"pend","0"],[0,1,300,600,"ok",null]]"#;
        let expected = format!(r#"{{"runs":{{"":{{"rails":["a","b"],"moves":{moves}}}}}}}"#);
        assert_eq!(json(&Data { runs }), expected);
    }

    #[test]
    fn of_too_many_messages_the_quiet_ones_are_left_out_first() {
        let mut moves: Vec<Move> = (0..200).map(|at| moving("r", at, at + 10, "quiet")).collect();
        moves.push(moving("r", 200, 210, "bad"));
        let kept = shown(&[0, 1000], &moves);
        assert_eq!(kept.len(), MOVES_MAX);
        assert_eq!(kept.last().map(|found| found.role), Some("bad"));
    }

    #[test]
    fn no_text_can_end_the_script_element() {
        let moves = [moving("</script>", 1, 2, "ok")];
        let json = json(&Data { runs: BTreeMap::from([("", RunData::new(&[0, 10], &moves))]) });
        assert!(!json.contains('<'), "{json}");
    }
}
