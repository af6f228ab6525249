//! A broken rule shows in some random world: the checkers notice.

use crate::sim::{Defect, Sim};

use super::{Violation, case, run_sim};

/// Seeds after which a rule's breach has to have shown.
const SEEDS: u64 = 600;

/// The first violation in worlds in which this rule is broken.
fn first_violation(defect: Defect) -> Option<Violation> {
    (0..SEEDS).find_map(|seed| {
        let case = case(seed);
        let mut sim = Sim::new(case.world.clone(), case.deeds.clone());
        sim.break_rule(defect);
        run_sim(&mut sim, &case).1.err()
    })
}

/// The breach is found, by the checker that says this.
fn is_found(defect: Defect, says: &str) {
    let found = first_violation(defect).expect("a checker notices");
    assert!(found.rule.contains(says), "{}", found.rule);
}

#[test]
fn a_high_watermark_that_ignores_the_isr_is_found() {
    is_found(Defect::HighWatermarkIgnoresIsr, "in the ISR or ELR");
}

#[test]
fn a_high_watermark_that_is_not_frozen_below_the_minimum_is_found() {
    is_found(Defect::HighWatermarkNotFrozen, "in the ISR or ELR");
}

#[test]
fn a_truncation_that_is_skipped_is_found() {
    is_found(Defect::TruncationSkipped, "is committed, but broker-");
}

#[test]
fn a_duplicate_that_is_accepted_is_found() {
    is_found(Defect::DuplicateAccepted, "sequence");
}

#[test]
fn two_leaders_of_one_epoch_are_found() {
    is_found(Defect::TwoLeaders, "lead in epoch");
}

#[test]
fn a_last_stable_offset_at_the_high_watermark_is_found() {
    is_found(Defect::LastStableOffsetIsHighWatermark, "a Committed reader passes");
}

#[test]
fn a_retention_that_comes_too_early_is_found() {
    is_found(Defect::RetentionTooEarly, "whose newest record is");
}

#[test]
fn partitions_that_are_given_up_after_the_assignment_are_found() {
    is_found(Defect::RevokedAfterAssignment, "in one generation");
}

#[test]
fn a_commit_beyond_the_position_is_found() {
    is_found(Defect::CommitBeyondPosition, "but nobody stood beyond");
}

#[test]
fn a_heartbeat_that_is_ignored_is_found() {
    is_found(Defect::HeartbeatIgnored, "was heard of");
}

#[test]
fn a_partition_that_is_assigned_before_it_is_revoked_is_found() {
    is_found(Defect::AssignedBeforeRevoked, "both own");
}

#[test]
fn a_lock_that_never_runs_out_is_found() {
    is_found(Defect::LockNeverExpires, "has run out and still holds");
}

#[test]
fn a_delivery_limit_that_is_ignored_is_found() {
    is_found(Defect::DeliveryLimitIgnored, "was handed out");
}
