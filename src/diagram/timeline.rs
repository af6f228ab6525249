//! How simulated time becomes time that a reader watches, for pictures that play by themselves: a
//! step rests, then the messages on the way to the next one move. `static/player.js` does the same
//! in a page, where words and hands decide how long a step rests.

use super::{Move, Storyboard};

/// How long a step rests, and the last one before it all begins anew, in milliseconds.
const REST_MS: f64 = 2400.0;
const LAST_REST_MS: f64 = 4000.0;
/// The way to the next step takes the usual time when it is as long as the middle one, and in
/// proportion otherwise, within limits; in milliseconds.
const USUAL_MS: f64 = 1800.0;
const LEAST_MS: f64 = 900.0;
const MOST_MS: f64 = 3200.0;
/// A message that passes in less is not drawn, in milliseconds.
const SEEN_MS: f64 = 120.0;

/// When everything of a run is seen. Times that are watched are milliseconds from the beginning.
#[derive(Clone, Debug, PartialEq)]
pub struct Timeline {
    /// The steps, in order.
    pub beats: Vec<Beat>,
    /// What moves, in the order of sending within each way.
    pub flights: Vec<Flight>,
    /// How long it takes.
    pub length_ms: f64,
}

/// One step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Beat {
    /// When it is reached.
    pub from_ms: f64,
    /// When the way to the next one begins.
    pub leaves_ms: f64,
    /// When the next one is reached.
    pub until_ms: f64,
}

/// One message between two steps.
#[derive(Clone, Debug, PartialEq)]
pub struct Flight {
    /// Its place in [`Storyboard::moves`].
    pub index: usize,
    /// The step that it leaves, from 0.
    pub step: usize,
    /// Its way: when it is watched, and which part of its rail lies behind it then.
    pub way: Vec<(f64, f64)>,
}

impl Flight {
    /// The part of the rail behind it at a watched time; none when it is not on its way.
    #[must_use]
    pub fn part(&self, watched_ms: f64) -> Option<f64> {
        let first = self.way.first()?.0;
        let last = self.way.last()?.0;
        (first <= watched_ms && watched_ms < last).then(|| along(&self.way, watched_ms))
    }
}

impl Timeline {
    /// The timeline of a run's pictures; `times` are those of its steps, in milliseconds.
    #[must_use]
    pub fn new(times: &[u64], board: &Storyboard) -> Timeline {
        let legs: Vec<Leg> =
            times.windows(2).map(|span| Leg::new((span[0], span[1]), &board.moves)).collect();
        let mut spans: Vec<f64> = legs.iter().map(Leg::span).collect();
        spans.sort_by(f64::total_cmp);
        let middle = spans.get(times.len() / 2).or(spans.last()).copied().unwrap_or_default();
        let mut timeline = Timeline { beats: Vec::new(), flights: Vec::new(), length_ms: 0.0 };
        for (step, leg) in legs.iter().enumerate() {
            let from_ms = timeline.length_ms;
            let leaves_ms = from_ms + REST_MS;
            let span = leg.span();
            let takes = match span {
                0.0 => 0.0,
                _ => (USUAL_MS * span / middle.max(1.0)).clamp(LEAST_MS, MOST_MS),
            };
            timeline.length_ms = leaves_ms + takes;
            timeline.beats.push(Beat { from_ms, leaves_ms, until_ms: timeline.length_ms });
            let scale = if span > 0.0 { takes / span } else { 0.0 };
            timeline.flights.extend(leg.flights(step, (leaves_ms, scale), &board.moves));
        }
        let from_ms = timeline.length_ms;
        timeline.length_ms += LAST_REST_MS;
        let end = timeline.length_ms;
        timeline.beats.push(Beat { from_ms, leaves_ms: end, until_ms: end });
        timeline
    }
}

/// The way from one step to the next: simulated time against the time that it is given. Where
/// nothing loud is under way for long, it is given less.
struct Leg {
    /// Simulated, shown; both rise.
    points: Vec<(f64, f64)>,
    here: Vec<usize>,
}

impl Leg {
    fn new((from, to): (u64, u64), moves: &[Move]) -> Leg {
        let here: Vec<usize> = (0..moves.len())
            .filter(|index| moves[*index].sent_ms < to && moves[*index].arrives_ms > from)
            .collect();
        let loud = || here.iter().map(|index| &moves[*index]).filter(|one| one.role != "quiet");
        let longest = loud().map(|one| one.arrives_ms - one.sent_ms).max().unwrap_or_default();
        let idle = if longest == 0 { f64::INFINITY } else { 2.0 * ms(longest) };
        let mut points = vec![(ms(from), 0.0)];
        let mut until = |time: u64, most: f64| {
            let (real, shown) = points[points.len() - 1];
            let passed = ms(time.min(to)) - real;
            if passed > 0.0 {
                points.push((real + passed, shown + passed.min(most)));
            }
        };
        for one in loud() {
            until(one.sent_ms, idle);
            until(one.arrives_ms, f64::INFINITY);
        }
        until(to, idle);
        Leg { points, here }
    }

    fn span(&self) -> f64 {
        self.points[self.points.len() - 1].1
    }

    /// What is seen of its messages, watched from `start` on with a shown millisecond taking
    /// `scale`.
    fn flights(&self, step: usize, (start, scale): (f64, f64), moves: &[Move]) -> Vec<Flight> {
        let watched = |real: f64| start + scale * along(&self.points, real);
        let (first, last) = (self.points[0].0, self.points[self.points.len() - 1].0);
        let flight = |index: &usize| {
            let (sent, arrives) = (ms(moves[*index].sent_ms), ms(moves[*index].arrives_ms));
            let (from, to) = (sent.max(first), arrives.min(last));
            let between = self.points.iter().map(|point| point.0);
            let mut stops = vec![from];
            stops.extend(between.filter(|time| from < *time && *time < to));
            stops.push(to);
            let way: Vec<(f64, f64)> = stops
                .into_iter()
                .map(|time| (watched(time), (time - sent) / (arrives - sent)))
                .collect();
            let is_seen = way[way.len() - 1].0 - way[0].0 >= SEEN_MS;
            is_seen.then_some(Flight { index: *index, step, way })
        };
        self.here.iter().filter_map(flight).collect()
    }
}

/// The value at `x` of the line through the points.
fn along(points: &[(f64, f64)], x: f64) -> f64 {
    let mut value = points[0].1;
    for pair in points.windows(2) {
        let ((x0, y0), (x1, y1)) = (pair[0], pair[1]);
        if x >= x0 && x1 > x0 {
            value = y0 + (y1 - y0) * ((x.min(x1) - x0) / (x1 - x0));
        }
    }
    value
}

#[expect(clippy::cast_precision_loss, reason = "no scenario runs for 2^52 milliseconds")]
fn ms(time: u64) -> f64 {
    time as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moving(sent_ms: u64, arrives_ms: u64, role: &'static str) -> Move {
        Move { rail: "r".to_owned(), back: false, sent_ms, arrives_ms, role, token: None }
    }

    fn timeline(times: &[u64], moves: Vec<Move>) -> Timeline {
        Timeline::new(times, &Storyboard { pictures: Vec::new(), moves })
    }

    #[test]
    fn halfway_in_simulated_time_a_message_is_halfway_on_its_rail() {
        let seen = timeline(&[0, 1000], vec![moving(0, 1000, "ok")]);
        // It rests for 2400 ms and the only way takes the usual 1800.
        assert_eq!(seen.beats[0], Beat { from_ms: 0.0, leaves_ms: 2400.0, until_ms: 4200.0 });
        assert!((seen.length_ms - 8200.0).abs() < 1e-9);
        assert_eq!(seen.flights[0].part(3300.0), Some(0.5));
        assert_eq!(seen.flights[0].part(2399.0), None);
        assert_eq!(seen.flights[0].part(4200.0), None);
    }

    #[test]
    fn what_was_sent_before_a_step_starts_where_it_was_then() {
        let seen = timeline(&[0, 100, 300], vec![moving(0, 200, "ok")]);
        let second = seen.flights.iter().find(|flight| flight.step == 1).expect("it moves on");
        assert_eq!(second.way[0], (seen.beats[1].leaves_ms, 0.5));
    }

    #[test]
    fn waiting_for_nothing_loud_is_given_twice_the_longest_message_at_most() {
        let seen = timeline(&[0, 100_000], vec![moving(99_900, 100_000, "pend")]);
        // 200 idle and 100 on its way of 300 shown: the last third of the way.
        let way = &seen.flights[0].way;
        assert_eq!((way[0].0, way[1].0), (2400.0 + 1200.0, 4200.0));
    }
}
