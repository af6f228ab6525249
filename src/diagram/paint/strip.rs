//! A replica in the dense form: a cell with its numbers and, where there is room, its log as a
//! strip of squares.

use super::super::layout::{CELL, Grid, Row};
use super::super::message::{is_replication, role};
use super::super::scene::{Anchor, Group, Item, Part, Rect, Role, Stroke, Subject, at};
use super::super::text::{Face, room};
use super::lane::Replica;
use super::{Paint, partition_path, ring};
use crate::sim::ids::{BrokerId, Machine, Offset};
use crate::sim::snapshot::{ProcessState, ReplicaRole};

/// Left of a strip: the leader's bar, and the mark of what is not shown.
const LEAD: f64 = 11.0;

impl Paint<'_> {
    /// The replicas of a partition that are there.
    pub(super) fn cells(&self, grid: &Grid, index: usize, row: &Row) -> Vec<Group> {
        let partition = &self.facts.partitions[index].name;
        let Some(view) = self.snapshot().partitions.get(partition) else { return Vec::new() };
        let path = partition_path(partition);
        let mut groups = Vec::new();
        for (broker, cell) in &row.cells {
            let id = self.facts.brokers[*broker].id;
            let Some(replica) = view.replicas.get(&id) else { continue };
            let process = self.snapshot().brokers.get(&id).map(|broker| broker.process);
            let replica = Replica {
                broker: id,
                partition: view,
                view: replica,
                path: format!("{path}.replicas.{id}"),
                is_off: process == Some(ProcessState::Stopped),
                is_compacted: false,
            };
            let subject = Subject::Replica(format!("{partition}@{id}"));
            let mut items = self.cell(grid, *cell, &replica);
            if let Some(square) = grid.square {
                items.extend(self.strip(index, *cell, (&replica, square)));
            }
            items.extend(self.arriving(index, id, *cell));
            groups.push(Group { subject, items });
        }
        groups
    }

    /// A cell without its strip.
    fn cell(&self, grid: &Grid, cell: Rect, replica: &Replica) -> Vec<Item> {
        let leads = replica.partition.leader == Some(replica.broker);
        let is_in_sync = replica.partition.isr.contains(&replica.broker);
        let mut items = Vec::new();
        if self.has_changed_below(&replica.path) {
            items.push(ring(Rect::new(cell.x - 2.5, cell.y - 2.5, cell.w + 5.0, CELL + 5.0)));
        }
        let frame = match (replica.is_off, leads, is_in_sync) {
            (true, ..) => Part::CellStop,
            (_, true, _) => Part::CellLead,
            (_, _, true) => Part::CellSync,
            _ => Part::CellOut,
        };
        items.push(Item::rect(frame, cell, 4.0));
        if leads && !replica.is_off {
            let bar = Rect::new(cell.x + 2.0, cell.y + 3.0, 4.0, CELL - 6.0);
            items.push(Item::rect(Part::Cell, bar, 1.0).role(Role::Lead));
        }
        let believes = replica.view.role == ReplicaRole::Leader;
        let face = if leads || believes { Face::MonoBold } else { Face::Mono };
        let base = cell.y + 14.2;
        let mut left = cell.x + 8.0;
        if grid.names_brokers {
            let name = replica.broker.to_string();
            let width = room(&name, Face::MonoBold);
            items.push(Item::text(Part::Mute, at(left + 2.0, base), name, Face::MonoBold));
            left += width + 6.0;
        }
        let (high, end) = (replica.view.high_watermark, replica.view.log_end_offset);
        let texts = [format!("{high}/{end}"), end.to_string()];
        let fits = texts.iter().find(|text| room(text, face) <= cell.right() - 4.0 - left);
        if let Some(text) = fits {
            let voice = if replica.is_off { Part::Mute } else { Part::Text };
            let text = Item::text(voice, at(cell.right() - 5.0, base), text, face);
            items.push(text.anchor(Anchor::End));
        }
        items
    }

    /// The log, a square for each record: filled where it is committed, open where it is not.
    fn strip(&self, partition: usize, cell: Rect, (replica, square): (&Replica, f64)) -> Vec<Item> {
        let window = self.windows[partition];
        let left = cell.x + LEAD;
        let x = |offset: u64| left + offset.saturating_sub(window.first) as f64 * square;
        let mut items = Vec::new();
        if window.has_gap && replica.view.log_end_offset.0 > 0 {
            let edge = at(left - 2.5, cell.y + 3.0);
            items.push(Item::line(Part::Gap, edge, at(edge.x, edge.y + CELL - 6.0)));
        }
        let first = window.first.max(replica.view.log_start_offset.0);
        let end = window.end.min(replica.view.log_end_offset.0);
        let roles = [Role::Ok, Role::Pending, Role::Bad, Role::Off];
        for wanted in roles {
            let offsets = (first..end).filter(|at| replica.role_at(Offset(*at)) == Some(wanted));
            let strokes: Vec<Stroke> =
                offsets.flat_map(|offset| square_at(x(offset), cell.y, square)).collect();
            if !strokes.is_empty() {
                let part = if wanted == Role::Ok { Part::Cell } else { Part::CellOpen };
                items.push(Item::path(part, strokes).role(wanted));
            }
        }
        let high = replica.view.high_watermark.0;
        if (window.first..=window.end).contains(&high) {
            let off = if replica.is_off { Role::Off } else { Role::Plain };
            let (top, mark) = (cell.y + 2.0, x(high) - 0.5);
            let line = Item::line(Part::HighWatermark, at(mark, top), at(mark, top + CELL - 4.0));
            items.push(line.role(off));
        }
        items
    }

    /// A head where records of the partition are on their way to a follower.
    fn arriving(&self, partition: usize, id: BrokerId, cell: Rect) -> Option<Item> {
        let name = &self.facts.partitions[partition].name;
        let mut messages = self.snapshot().messages.iter();
        let message = messages.find(|one| {
            is_replication(one)
                && one.to == Machine::Broker(id)
                && one.records.iter().any(|record| &record.partition == name)
        })?;
        let tip = at(cell.x + 10.0, cell.y + CELL / 2.0);
        let strokes = vec![
            Stroke::Move(tip),
            Stroke::Line(at(tip.x - 9.0, tip.y - 5.0)),
            Stroke::Line(at(tip.x - 9.0, tip.y + 5.0)),
            Stroke::Close,
        ];
        Some(Item::path(Part::Head, strokes).role(role(message, self.snapshot())))
    }
}

fn square_at(x: f64, y: f64, square: f64) -> [Stroke; 5] {
    let (right, top, bottom) = (x + square - 2.0, y + 5.0, y + CELL - 5.0);
    [
        Stroke::Move(at(x, top)),
        Stroke::Line(at(right, top)),
        Stroke::Line(at(right, bottom)),
        Stroke::Line(at(x, bottom)),
        Stroke::Close,
    ]
}
