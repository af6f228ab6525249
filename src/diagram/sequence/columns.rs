//! Which machines a sequence diagram has and where their lines stand. The same for all steps of a
//! run.

use std::collections::BTreeMap;

use super::story::{Row, Telling};
use crate::diagram::scene::{Form, Rect};
use crate::diagram::text::{Face, fit, room};
use crate::scenario::run::Run;
use crate::sim::ids::Machine;

/// Between two heads that stand side by side.
const HEAD_GAP: f64 = 6.0;
/// Around a head's name.
const HEAD_PAD: f64 = 5.0;
/// Height of a head, and from one row of heads to the next.
const HEAD_HEIGHT: f64 = 22.0;
const HEAD_STEP: f64 = 27.0;
/// Heads stand in so many rows at most.
const LEVELS_MAX: usize = 3;
/// Few lines do not stand farther apart than this.
const PITCH_MAX: f64 = 165.0;

/// Where one machine's line stands.
#[derive(Clone, Debug)]
pub(super) struct Column {
    /// The line.
    pub x: f64,
    /// The box with its name.
    pub head: Rect,
    /// What stands in it.
    pub label: String,
    /// Its whole name.
    pub name: String,
}

/// All of them.
#[derive(Clone, Debug)]
pub(super) struct Columns {
    /// From left to right.
    pub all: Vec<Column>,
    /// Where the heads end.
    pub bottom: f64,
    places: BTreeMap<Machine, usize>,
}

impl Columns {
    /// The columns of a run's story between `left` and `right`.
    pub fn of(run: &Run, rows: &[Row], form: Form, (left, right): (f64, f64)) -> Columns {
        let most = if form == Form::Wide { 20 } else { 9 };
        let talk = talk(run, rows);
        let mut machines: Vec<&Machine> = in_order(run)
            .into_iter()
            .filter_map(|one| talk.get_key_value(&one))
            .map(|it| it.0)
            .collect();
        let others = machines.len().saturating_sub(most);
        let mut rest = Vec::new();
        if others > 0 {
            // The quietest share the last line.
            let mut by_talk = machines.clone();
            by_talk.sort_by_key(|machine| std::cmp::Reverse(talk[*machine]));
            rest = by_talk.split_off(most - 1);
            machines.retain(|machine| !rest.contains(machine));
        }
        let mut names: Vec<String> = machines.iter().map(ToString::to_string).collect();
        if !rest.is_empty() {
            names.push(format!("{} others", rest.len()));
        }
        let mut places: BTreeMap<Machine, usize> =
            machines.iter().enumerate().map(|(at, machine)| ((*machine).clone(), at)).collect();
        places.extend(rest.iter().map(|machine| ((*machine).clone(), machines.len())));
        let (all, bottom) = stand(names, (left, right));
        Columns { all, bottom, places }
    }

    /// A machine's column.
    pub fn place(&self, machine: &Machine) -> Option<usize> {
        self.places.get(machine).copied()
    }
}

/// How often each machine is told of.
fn talk(run: &Run, rows: &[Row]) -> BTreeMap<Machine, usize> {
    let mut talk = BTreeMap::new();
    let mut count = |machine: &Machine| *talk.entry(machine.clone()).or_default() += 1;
    for row in rows {
        match &row.what {
            Telling::Sent(at) => {
                count(&run.messages[*at].from);
                count(&run.messages[*at].to);
            }
            Telling::Repeated(repeat) => {
                count(&run.messages[repeat.first].from);
                count(&run.messages[repeat.first].to);
            }
            Telling::Noted(note) => {
                if let Some(machine) = &note.machine {
                    count(machine);
                }
            }
            _ => {}
        }
    }
    talk
}

/// Producers, brokers, consumers, controllers: as in the cluster view, from left to right.
fn in_order(run: &Run) -> Vec<Machine> {
    let world = &run.world;
    let client = |name: &String| Machine::Client(name.clone());
    let producers = world.producers.iter().map(|spec| client(&spec.name));
    let brokers = world.brokers.iter().map(|spec| Machine::Broker(spec.id));
    let consumers =
        world.groups.iter().flat_map(|group| group.consumers.iter()).map(|spec| client(&spec.name));
    let controllers = world.controllers.iter().map(|name| Machine::Controller(name.clone()));
    producers.chain(brokers).chain(consumers).chain(controllers).collect()
}

/// Names side by side; where they do not fit, one row lower each, and in the last resort cut.
fn stand(names: Vec<String>, (left, right): (f64, f64)) -> (Vec<Column>, f64) {
    let (area, names_count) = (right - left, names.len());
    let gaps = names.len().saturating_sub(1) as f64;
    let widest = names.iter().map(|name| head_width(name)).fold(0.0, f64::max);
    // With heads w wide, lines stand (area - w) / gaps apart, and `levels` of these must be w and
    // a gap.
    let room = |levels: usize| {
        let levels = levels as f64;
        if gaps == 0.0 { area } else { (levels * area - HEAD_GAP * gaps) / (gaps + levels) }
    };
    let levels = (1..=LEVELS_MAX).find(|levels| room(*levels) >= widest).unwrap_or(LEVELS_MAX);
    let width = widest.min(room(levels));
    let pitch = if gaps == 0.0 { 0.0 } else { ((area - width) / gaps).min(PITCH_MAX) };
    let first = left + (area - pitch * gaps) / 2.0;
    let columns = names.into_iter().enumerate().map(|(at, name)| {
        let x = first + pitch * at as f64;
        let level = (at % levels) as f64;
        let label = fit(&name, Face::SansBold, width - 2.0 * HEAD_PAD);
        let own = head_width(&label).min(width);
        let head = Rect::new(x - own / 2.0, HEAD_STEP * level, own, HEAD_HEIGHT);
        Column { x, head, label, name }
    });
    let used = levels.min(names_count.max(1));
    (columns.collect(), HEAD_STEP * (used as f64 - 1.0) + HEAD_HEIGHT)
}

fn head_width(name: &str) -> f64 {
    room(name, Face::SansBold) + 2.0 * HEAD_PAD
}
