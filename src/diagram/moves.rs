//! The messages that the player moves between two steps.

use super::Move;
use super::facts::Facts;
use super::layout::{Places, way};
use super::message::{Voice, is_shown, role, token, voice};
use super::scene::Role;
use crate::scenario::run::Run;
use crate::sim::snapshot::Snapshot;

/// The messages of a run that have a rail, in the order of sending.
pub(super) fn moves(run: &Run, facts: &Facts, places: &Places) -> Vec<Move> {
    let nothing = Snapshot::default();
    let moves = run.messages.iter().filter(|one| is_shown(one)).filter_map(|message| {
        let way = way(facts, &message.from, &message.to)?;
        let place = places.rails.get(&way.rail)?;
        if voice(message) == Voice::Background && !place.is_quiet {
            return None;
        }
        let since = run.frames.iter().rev().find(|frame| frame.time_ms <= message.sent_ms);
        let snapshot = since.or(run.frames.first()).map_or(&nothing, |frame| &frame.snapshot);
        let role = match role(message, snapshot) {
            Role::Ok => "ok",
            Role::Pending => "pend",
            Role::Bad => "bad",
            _ => "quiet",
        };
        let is_followed =
            run.follow.as_ref().is_some_and(|record| message.records.contains(record));
        let mark = if is_followed {
            run.follow.as_ref().map(|record| record.offset.to_string())
        } else {
            token(message).filter(|text| !text.starts_with('×'))
        };
        Some(Move {
            rail: way.rail,
            back: way.is_back,
            sent_ms: message.sent_ms,
            arrives_ms: message.arrives_ms,
            role,
            token: mark,
        })
    });
    moves.collect()
}
