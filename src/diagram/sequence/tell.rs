//! A step's part of the story in plain sentences, for readers who do not see it. Knows no
//! coordinates.

use super::story::{Row, Telling};
use super::words::{seconds, words};
use crate::scenario::run::{Frame, Run};

/// `Messages up to step 1 of 6: Ready`, `Messages from step 2 to step 3 of 6: Leader append`.
pub(super) fn title(run: &Run, frame: &Frame, before: Option<&Frame>) -> String {
    let since = before
        .map_or_else(|| "up to".to_owned(), |before| format!("from step {} to", before.number));
    format!("Messages {since} step {} of {}: {}", frame.number, run.frames.len(), frame.title)
}

/// Everything that a part tells, in order.
pub(super) fn description(run: &Run, rows: &[Row]) -> String {
    let mut sentences = Vec::new();
    let mut time = None;
    for row in rows {
        let Some(sentence) = sentence(run, row) else { continue };
        if time == Some(row.time_ms) {
            sentences.push(format!("{sentence}."));
        } else {
            time = Some(row.time_ms);
            sentences.push(format!("At {}, {sentence}.", seconds(row.time_ms)));
        }
    }
    if sentences.is_empty() {
        return "No message is sent and no state changes.".to_owned();
    }
    sentences.join(" ")
}

fn sentence(run: &Run, row: &Row) -> Option<String> {
    let message = |place: &usize| &run.messages[*place];
    Some(match &row.what {
        Telling::Sent(place) => {
            let one = message(place);
            format!("{} sends to {}: {}", one.from, one.to, words(one))
        }
        Telling::Lost(place) => {
            let one = message(place);
            format!("what {} sent to {} is lost: {}", one.from, one.to, words(one))
        }
        Telling::Held(place) => {
            let one = message(place);
            format!("{} holds the request of {}: {}", one.to, one.from, words(one))
        }
        Telling::Repeated(repeat) => {
            let one = message(&repeat.first);
            format!(
                "{} begins to send to {}, {} times: {}",
                one.from, one.to, repeat.count, repeat.words
            )
        }
        Telling::Noted(note) => {
            let who = note
                .machine
                .as_ref()
                .map_or_else(|| "the administrator".to_owned(), ToString::to_string);
            format!("{who}: {}", note.text)
        }
        Telling::Counted(text) => text.clone(),
        Telling::Arrived(_) | Telling::Step(_) => return None,
    })
}
