//! Cards of producers and consumers: the place of a record, facts, and words, in both forms.

use super::super::facts::{ClientFacts, Fact, Facts};
use super::super::said;
use super::super::scene::{Anchor, Point, Rect, at};
use super::super::text::{Face, room};
use super::{ClientPlace, LANE_HEIGHT, Say};

/// From a wide card's top to the middle of its record's place: that of a lane under its broker's
/// top.
pub(super) const WIDE_MIDDLE: f64 = 67.0;
/// The same in a card without a record's place.
const CROWDED_MIDDLE: f64 = 36.0;
/// Between two facts.
const FACT_ROW: f64 = 16.5;
/// Between two cards.
pub(super) const BETWEEN: f64 = 10.0;
/// For one line of words in a card.
const SAY_ROW: f64 = 15.0;
/// So many lines at most in a wide card: `NOT_ENOUGH_REPLICAS` has three.
const WIDE_LINES: usize = 4;
/// The same where there are many.
const CROWDED_LINES: usize = 3;
/// So many lines at most in a narrow card.
const NARROW_LINES: usize = 2;
/// More clients than this in one column have cards without a record's place.
const ROOMY: usize = 3;
/// At the sides of a name in a narrow card.
pub(super) const NAME_SIDES: f64 = 18.0;
/// A record's place that is narrower shows too little of the record.
const LEAST_SLOT: f64 = 56.0;
/// Room for the value of a fact.
const VALUE: f64 = 30.0;

/// What stands in a card besides its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Words {
    /// Words stand beside its rail.
    Outside,
    /// Words stand in the card.
    Inside,
    /// Words stand in the card, and it has no place for a record.
    Crowded,
}

impl Words {
    /// In cards of a column of so many clients.
    pub fn inside(clients: usize) -> Words {
        if clients > ROOMY { Words::Crowded } else { Words::Inside }
    }
}

/// The facts of a client that have a row: without a place for its records, a producer's buffer too.
fn rows(client: &ClientFacts, words: Words) -> Vec<Fact> {
    let buffered = client.group.is_none() && words == Words::Crowded;
    let buffered = buffered.then_some(Fact::Buffered);
    buffered.into_iter().chain(client.rows.iter().copied()).collect()
}

/// Room for the longest name of a client, or of a group under it.
pub(super) fn longest_name(facts: &Facts, clients: &[ClientFacts]) -> f64 {
    let rooms = clients.iter().map(|client| {
        let group = client.group.and_then(|group| facts.groups.get(group));
        let group = group.map_or(0.0, |name| room(name, Face::Sans));
        room(&client.name, Face::Name).max(group)
    });
    rooms.fold(0.0, f64::max)
}

/// How far below a wide card's top its rails leave.
pub(super) fn wide_port(words: Words) -> f64 {
    if words == Words::Crowded { CROWDED_MIDDLE } else { WIDE_MIDDLE }
}

/// A card in a column of the wide form.
pub(super) fn wide(client: &ClientFacts, corner: Point, width: f64, words: Words) -> ClientPlace {
    let (x, y) = (corner.x, corner.y);
    let top = WIDE_MIDDLE - LANE_HEIGHT / 2.0;
    let slot = Rect::new(x + 12.0, y + top, width - 24.0, LANE_HEIGHT);
    let is_crowded = words == Words::Crowded;
    let mut base = y + if is_crowded { 57.0 } else { 100.0 };
    let mut places = Vec::new();
    for fact in rows(client, words) {
        places.push((fact, at(x + 12.0, base), x + width - 12.0));
        base += FACT_ROW;
    }
    let mut bottom = base - FACT_ROW + 7.5;
    let mut say = None;
    let most = if is_crowded { CROWDED_LINES } else { WIDE_LINES };
    let lines = said::most_lines(&client.said, width - 20.0, most);
    if words != Words::Outside && lines > 0 {
        bottom += lines as f64 * SAY_ROW + 2.0;
        let last = at(x + 12.0, bottom - 8.0);
        say = Some(Say { at: last, anchor: Anchor::Start, width: width - 20.0, lines });
    }
    let card = Rect::new(x, y, width, bottom - y);
    let slot = (!is_crowded).then_some(slot);
    ClientPlace { card, slot, name_room: width - 22.0, rows: places, say }
}

/// A card in a row of the narrow form; `slot_x` is the left edge of its record's place. Where that
/// leaves too little room beside the facts, it stands under the name; with many clients there is
/// none.
pub(super) fn narrow(client: &ClientFacts, row: Rect, slot_x: f64, words: Words) -> ClientPlace {
    let beside = Rect::new(slot_x, row.y + 12.0, 87.0, LANE_HEIGHT);
    let label = room("in flight", Face::Sans);
    let facts_x = (beside.right() + 14.0).min(row.right() - 12.0 - label - VALUE);
    let beside = Rect { w: beside.w.min(facts_x - 10.0 - beside.x), ..beside };
    let free = facts_x - 10.0 - row.x - 12.0;
    let (slot, name_room, low) = if beside.w >= LEAST_SLOT {
        (Some(beside), beside.x - row.x - NAME_SIDES, row.y + 54.0)
    } else if words == Words::Crowded {
        (None, free, row.y + 54.0)
    } else {
        let under = Rect::new(row.x + 12.0, row.y + 48.0, free, LANE_HEIGHT);
        (Some(under), free, under.bottom() + 10.0)
    };
    let mut base = row.y + 23.0;
    let mut places = Vec::new();
    let shown = if slot.is_some() { Words::Inside } else { Words::Crowded };
    for fact in rows(client, shown) {
        places.push((fact, at(facts_x, base), row.right() - 12.0));
        base += FACT_ROW + 0.5;
    }
    let mut bottom = (base - FACT_ROW + 13.5).max(low);
    let mut say = None;
    let width = row.w - 24.0;
    let lines = said::most_lines(&client.said, width, NARROW_LINES);
    if words != Words::Outside && lines > 0 {
        bottom += lines as f64 * SAY_ROW;
        let last = at(row.x + 12.0, bottom - 9.0);
        say = Some(Say { at: last, anchor: Anchor::Start, width, lines });
    }
    let card = Rect { h: bottom - row.y, ..row };
    ClientPlace { card, slot, name_room, rows: places, say }
}

/// The broker whose first lane a client stands level with: the topmost that gives or takes its
/// data.
pub(super) fn primary(client: &ClientFacts) -> Option<usize> {
    client.data.first().or_else(|| client.coordinators.first()).copied()
}

/// Whether words beside the only client's rail are crossed by nothing: no rail of brokers passes
/// its height, and none of its own goes up from there.
pub(super) fn has_free_side(facts: &Facts, client: &ClientFacts) -> bool {
    let Some(first) = primary(client) else { return true };
    let passes = |&(upper, lower): &(usize, usize)| upper < first && first <= lower;
    let is_producer = client.group.is_none();
    let goes_up = client.coordinators.iter().any(|&broker| broker < first);
    // A broker without a lane has its ports higher than a client can stand.
    let is_level = !facts.brokers[first].lanes.is_empty();
    is_level && !(goes_up || is_producer && facts.pairs.iter().any(passes))
}
