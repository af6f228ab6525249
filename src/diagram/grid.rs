//! The dense form for what is too much to draw in full: a grid of brokers and partitions, one cell
//! per replica. A reader still finds leader, ISR and how far each log goes.

use super::facts::Facts;
use super::paint::partition_path;
use super::scene::{Anchor, Form, Group, Item, Part, Rect, Role, Scene, Subject, at};
use super::text::{Face, fit, room};
use crate::scenario::run::Frame;
use crate::sim::ids::{BrokerId, TopicPartition};
use crate::sim::snapshot::{PartitionView, ProcessState};

/// So many brokers, lanes and clients are drawn in full.
const BROKERS_MAX: usize = 6;
const LANES_MAX: usize = 12;
const CLIENTS_MAX: usize = 8;
/// Height of a row.
const ROW: f64 = 22.0;
/// Between rows and between columns.
const BETWEEN: f64 = 3.0;
/// Between two lines of the legend.
const LINE: f64 = 16.0;
/// Over the first row.
const TOP: f64 = 26.0;

/// Whether the full form would be too much.
pub(super) fn is_needed(facts: &Facts) -> bool {
    let clients = facts.producers.len() + facts.consumers.len();
    facts.brokers.len() > BROKERS_MAX || facts.lane_count() > LANES_MAX || clients > CLIENTS_MAX
}

/// What the cells say.
const LEGEND: [&str; 7] = [
    "Blue and bold: leader.",
    "Green: in sync.",
    "Dashed: out of sync.",
    "Grey: stopped.",
    "Ringed: changed.",
    "Numbers: high watermark/log end,",
    "or the log end alone.",
];

/// A grid of one frame: a row per partition, a column per broker; where a column would be too
/// narrow for its cells' words, the words are left out.
pub(super) fn scene(facts: &Facts, frame: &Frame, form: Form) -> Scene {
    let width = if form == Form::Wide { 692.0 } else { 328.0 };
    let names = facts.partitions.iter().map(|one| room(&one.name.to_string(), Face::Mono));
    let label = names.fold(0.0, f64::max).min(width * 0.3) + 10.0;
    let columns = facts.brokers.len().max(1) as f64;
    let column = (width - label) / columns;
    let mut head = Vec::new();
    for (index, broker) in facts.brokers.iter().enumerate() {
        let x = label + column * (index as f64 + 0.5);
        let view = frame.snapshot.brokers.get(&broker.id);
        let is_off = view.is_some_and(|view| view.process == ProcessState::Stopped);
        let texts = [format!("broker-{}", broker.id), broker.id.to_string()];
        let fits = texts.iter().find(|text| room(text, Face::SansBold) <= column - 2.0);
        let Some(text) = fits else { continue };
        let voice = if is_off { Part::Colour } else { Part::Text };
        let item = Item::text(voice, at(x, 13.0), text.as_str(), Face::SansBold);
        head.push(item.anchor(Anchor::Middle).role(if is_off { Role::Bad } else { Role::Plain }));
    }
    let mut groups = vec![Group { subject: Subject::Stage, items: head }];
    for (line, partition) in facts.partitions.iter().enumerate() {
        let y = TOP + (ROW + BETWEEN) * line as f64;
        let whole = partition.name.to_string();
        let text = fit(&whole, Face::Mono, label - 10.0);
        let name = Item::text(Part::Text, at(0.0, y + 15.2), text, Face::Mono).whole(&whole);
        groups.push(Group { subject: Subject::Stage, items: vec![name] });
        let Some(view) = frame.snapshot.partitions.get(&partition.name) else { continue };
        for (index, broker) in facts.brokers.iter().enumerate() {
            let x = label + column * index as f64;
            let cell = Rect::new(x + 1.5, y, column - BETWEEN, ROW);
            let subject = Subject::Replica(format!("{}@{}", partition.name, broker.id));
            let items = replica(view, frame, (&partition.name, broker.id), cell);
            if !items.is_empty() {
                groups.push(Group { subject, items });
            }
        }
    }
    let rows = facts.partitions.len() as f64;
    let (items, height) = legend(width, TOP + (ROW + BETWEEN) * rows);
    groups.push(Group { subject: Subject::Labels, items });
    Scene { form, width, height, groups }
}

/// The legend's lines from `top` on, and the end of the last.
fn legend(width: f64, top: f64) -> (Vec<Item>, f64) {
    let mut lines: Vec<String> = Vec::new();
    for part in LEGEND {
        let longer = lines.last().map(|line| format!("{line} {part}"));
        match longer.filter(|line| room(line, Face::Sans) <= width) {
            Some(longer) => {
                lines.pop();
                lines.push(longer);
            }
            None => lines.push(fit(part, Face::Sans, width)),
        }
    }
    let mut base = top + 4.0;
    let items = lines.into_iter().map(|line| {
        base += LINE;
        Item::text(Part::Mute, at(0.0, base), line, Face::Sans)
    });
    let items: Vec<Item> = items.collect();
    (items, base + 4.0)
}

fn replica(
    view: &PartitionView,
    frame: &Frame,
    (partition, id): (&TopicPartition, BrokerId),
    cell: Rect,
) -> Vec<Item> {
    let Some(replica) = view.replicas.get(&id) else { return Vec::new() };
    let process = frame.snapshot.brokers.get(&id).map(|broker| broker.process);
    let role = if process == Some(ProcessState::Stopped) {
        Role::Off
    } else if view.leader == Some(id) {
        Role::Lead
    } else if view.isr.contains(&id) {
        Role::Ok
    } else {
        Role::Pending
    };
    let mut items = Vec::new();
    let path = format!("{}.replicas.{id}.", partition_path(partition));
    if frame.changed.iter().any(|change| change.path.starts_with(&path)) {
        let around = Rect::new(cell.x - 1.5, cell.y - 1.5, cell.w + 3.0, cell.h + 3.0);
        items.push(Item::rect(Part::Ring, around, 5.0));
    }
    items.push(Item::rect(Part::Record, cell, 4.0).role(role));
    let face = if role == Role::Lead { Face::MonoBold } else { Face::Mono };
    let end = replica.log_end_offset.to_string();
    let texts = [format!("{}/{end}", replica.high_watermark), end];
    let fits = texts.iter().find(|text| room(text, face) <= cell.w - 4.0);
    if let Some(text) = fits {
        let middle = at(cell.x + cell.w / 2.0, cell.y + 15.2);
        let item = Item::text(Part::Text, middle, text.as_str(), face);
        items.push(item.anchor(Anchor::Middle));
    }
    items
}
