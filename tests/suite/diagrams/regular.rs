//! Large runs without chance, whose pictures can be counted.

use kafka_sim_site::scenario::run::{Change, Run};
use kafka_sim_site::sim::ids::{BrokerId, Offset, TopicPartition};
use kafka_sim_site::sim::snapshot::{
    BrokerView, PartitionView, RecordView, ReplicaRole, ReplicaView,
};
use kafka_sim_site::sim::world::{BrokerSpec, ProducerSpec, Settings, Start, World};
use serde_json::json;

use super::frame;
use super::worlds::{Dice, PRODUCERS, Placement, group, named};

/// A run of two steps without chance: each partition on three brokers in turn, with nine records
/// that are all committed, and clients of both kinds. In the second step `orders-5` has one record
/// more on its third replica alone, which is out of the ISR.
pub fn regular(brokers: u32, partitions: u32, clients: u64) -> Run {
    let mut world = World { producers: Vec::new(), ..World::default() };
    world.brokers = (1..=brokers).map(|id| BrokerSpec { id: BrokerId(id), rack: None }).collect();
    let producer = |at| ProducerSpec {
        name: named(&PRODUCERS, at),
        topic: Some("orders".to_owned()),
        config: Settings::new(),
        start: Start::WithWorld,
    };
    world.producers = (0..clients / 2).map(producer).collect();
    world.groups = vec![group(0, 0..clients - clients / 2)];
    let replicas = |number: u32| (0..3).map(move |at| BrokerId((number + at) % brokers + 1));
    let placement: Placement = (0..partitions)
        .map(|number| (TopicPartition::new("orders", number), replicas(number).collect()))
        .collect();
    let snapshot = |number: u32| {
        let mut dice = Dice::new(0);
        let mut snapshot = super::worlds::snapshot(&mut dice, &world, &placement, 0);
        snapshot.brokers.values_mut().for_each(|view| *view = BrokerView::default());
        for (name, view) in &mut snapshot.partitions {
            *view = healthy(&placement[name]);
        }
        let odd = TopicPartition::new("orders", 5);
        if let (Some(view), Some(third)) =
            (snapshot.partitions.get_mut(&odd), placement.get(&odd).map(|ids| ids[2]))
        {
            view.isr.retain(|id| *id != third);
            let replica = view.replicas.get_mut(&third).expect("it holds one");
            replica.log_end_offset = Offset(8 + u64::from(number));
        }
        let lag = snapshot.groups.values_mut().map(|view| &mut view.lag);
        lag.for_each(|lag| *lag = [(odd.clone(), 17)].into());
        snapshot
    };
    let path = "partitions.orders-5.replicas.8.log_end_offset".to_owned();
    let third = (5 + 2) % brokers + 1;
    let change = Change {
        path: path.replace(".8.", &format!(".{third}.")),
        from: Some(json!(8)),
        to: Some(json!(9)),
    };
    let step = |number: u32| {
        let changed = if number == 1 { vec![change.clone()] } else { Vec::new() };
        frame((number + 1, u64::from(number) * 1000), "A step", snapshot(number), changed)
    };
    let frames = (0..2).map(step).collect();
    Run { world, frames, events: Vec::new(), messages: Vec::new(), follow: None }
}

/// A partition led by its first replica, with nine records, all committed.
fn healthy(replicas: &[BrokerId]) -> PartitionView {
    let record = |offset| (Offset(offset), RecordView::default());
    let replica = |id: &BrokerId| {
        let leads = *id == replicas[0];
        let view = ReplicaView {
            log_end_offset: Offset(9),
            high_watermark: Offset(9),
            in_sync: true,
            role: if leads { ReplicaRole::Leader } else { ReplicaRole::Follower },
            records: (0..9).map(record).collect(),
            ..ReplicaView::default()
        };
        (*id, view)
    };
    PartitionView {
        leader: Some(replicas[0]),
        assignment: replicas.to_vec(),
        isr: replicas.to_vec(),
        high_watermark: Some(Offset(9)),
        log_end_offset: Some(Offset(9)),
        replicas: replicas.iter().map(replica).collect(),
        ..PartitionView::default()
    }
}
