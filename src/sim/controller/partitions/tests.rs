//! What the controller refuses of a leader's proposals.

use std::sync::Arc;

use super::*;
use crate::sim::ids::LeaderEpoch;
use crate::sim::world::{Settings, TopicSpec, World};
use crate::sim::{Sim, setup};

fn orders() -> TopicPartition {
    TopicPartition::new("orders", 0)
}

fn ids(ids: &[u32]) -> Vec<BrokerId> {
    ids.iter().map(|id| BrokerId(*id)).collect()
}

/// Replicas 1 and 2, led by 1 under leader epoch 1; 2 is not in sync; partition epoch 1.
fn cluster() -> Sim {
    let topic = TopicSpec {
        name: "orders".to_owned(),
        partitions: Some(1),
        replication_factor: None,
        assignment: Some(vec![ids(&[1, 2])]),
        config: Settings::new(),
    };
    let mut sim = setup::warm(World { topics: vec![topic], ..World::default() });
    let image = &mut controller(&mut sim).image;
    let state = Arc::make_mut(image.partitions.get_mut(&orders()).expect("registered"));
    (state.isr, state.leader_epoch, state.partition_epoch) = (ids(&[1]), LeaderEpoch(1), 1);
    sim
}

fn controller(sim: &mut Sim) -> &mut Controller {
    sim.controllers.values_mut().next().expect("a controller")
}

/// The leader takes broker 2 in.
fn expansion() -> IsrChange {
    IsrChange {
        partition: orders(),
        leader_epoch: LeaderEpoch(1),
        partition_epoch: 1,
        isr: ids(&[1, 2]),
        broker_epochs: vec![Some(0), Some(1)],
        recovering: false,
    }
}

/// `ReplicationControlManager.validateAlterPartitionData`, in its order.
#[test]
fn a_proposal_is_refused_by_epochs_then_by_who_proposes_whom() {
    let mut sim = cluster();
    let mut told = |from: u32, spoil: &dyn Fn(&mut IsrChange)| {
        let mut change = expansion();
        spoil(&mut change);
        controller(&mut sim).check_isr_change(BrokerId(from), &change)
    };
    assert_eq!(told(1, &|_| ()), Ok(()));
    let newer_leader = told(1, &|change| change.leader_epoch = LeaderEpoch(2));
    assert_eq!(newer_leader, Err(KafkaError::NotController));
    let newer = told(1, &|change| change.partition_epoch = 2);
    assert_eq!(newer, Err(KafkaError::NotController));
    let older_leader = told(1, &|change| change.leader_epoch = LeaderEpoch(0));
    assert_eq!(older_leader, Err(KafkaError::FencedLeaderEpoch));
    assert_eq!(told(2, &|_| ()), Err(KafkaError::InvalidRequest));
    let older = told(1, &|change| change.partition_epoch = 0);
    assert_eq!(older, Err(KafkaError::InvalidUpdateVersion));
    let without_leader = told(1, &|change| change.isr = ids(&[2]));
    assert_eq!(without_leader, Err(KafkaError::InvalidRequest));
    let with_a_stranger = told(1, &|change| change.isr = ids(&[1, 3]));
    assert_eq!(with_a_stranger, Err(KafkaError::InvalidRequest));
    let earlier_process = told(1, &|change| change.broker_epochs[1] = Some(7));
    assert_eq!(earlier_process, Err(KafkaError::IneligibleReplica));
}

/// KIP-841: the leader may not have heard yet that a broker is fenced or on its way out.
#[test]
fn a_broker_that_is_fenced_or_shutting_down_joins_no_isr() {
    for (fenced, in_controlled_shutdown) in [(true, false), (false, true)] {
        let mut sim = cluster();
        let known = controller(&mut sim).image.brokers.get_mut(&BrokerId(2)).expect("registered");
        let state = Arc::make_mut(known);
        (state.fenced, state.in_controlled_shutdown) = (fenced, in_controlled_shutdown);
        let refused = controller(&mut sim).check_isr_change(BrokerId(1), &expansion());
        assert_eq!(refused, Err(KafkaError::IneligibleReplica));
    }
}
