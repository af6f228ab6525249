//! The line over the cluster: what decides whether records are safe.

use super::super::scene::{Form, Item, Part, at};
use super::super::settings::min_insync_replicas;
use super::super::text::{Face, fit, room};
use super::Paint;
use crate::sim::snapshot::{ProcessState, Registration};

impl Paint<'_> {
    /// Headings of all columns.
    pub(super) fn headings(&self) -> Vec<Item> {
        let columns = self.places.columns.iter();
        let mut items: Vec<Item> = columns
            .map(|(text, place)| Item::text(Part::Mute, *place, text.as_str(), Face::SansBold))
            .collect();
        let (place, width) = self.places.heading;
        let face = match self.places.form {
            Form::Wide => Face::SansBold,
            Form::Narrow => Face::Sans,
        };
        let texts = self.cluster_heading();
        let fitting = texts.iter().find(|text| room(text, face) <= width);
        let text = fitting.or(texts.last()).map(|text| fit(text, face, width));
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            items.push(Item::text(Part::Mute, at(place.x, place.y), text, face));
        }
        items
    }

    /// From the longest form to the shortest.
    fn cluster_heading(&self) -> Vec<String> {
        let snapshot = self.snapshot();
        if let [only] = self.facts.partitions.as_slice()
            && let Some(view) = snapshot.partitions.get(&only.name)
        {
            let (inside, all) = (view.isr.len(), view.assignment.len());
            let least = min_insync_replicas(&self.run.world, snapshot, &only.name.topic);
            let no_leader = if view.leader.is_none() { "no leader, " } else { "" };
            let eligible = match view.elr.len() {
                0 => String::new(),
                count => format!(", {count} in ELR"),
            };
            let sync = format!("{no_leader}{inside} of {all} in sync{eligible}");
            return vec![
                format!("Cluster: {sync}, min.insync.replicas={least}"),
                format!("{sync}, min.insync.replicas={least}"),
                format!("{sync}, minimum {least}"),
                format!("{no_leader}{inside} in sync{eligible}, min {least}"),
                format!("{no_leader}{inside} in sync, min {least}"),
                format!("{inside} in sync, min {least}"),
            ];
        }
        let is_active = |view: &&crate::sim::snapshot::BrokerView| {
            view.process == ProcessState::Up && view.registration == Registration::Active
        };
        let active = snapshot.brokers.values().filter(is_active).count();
        let all = snapshot.brokers.len();
        let replicas = snapshot.partitions.values().map(|view| view.assignment.len());
        let replicas: usize = replicas.sum();
        let inside: usize = snapshot.partitions.values().map(|view| view.isr.len()).sum();
        if replicas == 0 {
            return vec![
                format!("Cluster: {active} of {all} brokers active"),
                "Cluster".to_owned(),
            ];
        }
        vec![
            format!(
                "Cluster: {active} of {all} brokers active, {inside} of {replicas} replicas in sync"
            ),
            format!("Cluster: {inside} of {replicas} replicas in sync"),
            format!("{inside} of {replicas} in sync"),
            "Cluster".to_owned(),
        ]
    }
}
