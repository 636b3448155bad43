//! `mq-deadline` in scenes worked out by hand.

use alloc::vec::Vec;

use flashlane_core::{FlowId, Op};

use super::*;
use crate::request::Bio;

const MS: u64 = 1_000_000;

fn parameters() -> Deadline {
    Deadline { fifo_batch: 3, ..Deadline::usual() }
}

/// Requests in words: `r8` is a read of address 8, `w` a write; `+` is real time, `-` idle.
fn entered(elevator: &mut MqDeadline, at_ms: u64, words: &str, from: u64) {
    for (word, id) in words.split_whitespace().zip(from..) {
        let op = if word.starts_with('r') { Op::Read } else { Op::Write };
        let class = if word.ends_with('+') {
            Class::RealTime
        } else if word.ends_with('-') {
            Class::Idle
        } else {
            Class::BestEffort
        };
        let offset = word[1..].trim_end_matches(['+', '-']).parse().expect("an address");
        let now = Time::from_ns(at_ms * MS);
        let bio = Bio { id: RequestId(id), flow: FlowId(0), op, plain: true, offset, bytes: 4_096 };
        elevator.insert(now, &Request::of(now, &bio), class);
    }
}

/// The words of all that goes at `at_ms`, each ended at once.
fn order(parameters: Deadline, words: &str, at_ms: u64) -> Vec<&str> {
    let mut elevator = MqDeadline::new(parameters);
    entered(&mut elevator, 0, words, 0);
    let words: Vec<&str> = words.split_whitespace().collect();
    let next = || {
        let id = elevator.next(Time::from_ns(at_ms * MS))?;
        let word = words[id.0 as usize];
        let class = if word.ends_with('+') { Class::RealTime } else { Class::BestEffort };
        elevator.completed(if word.ends_with('-') { Class::Idle } else { class });
        Some(word)
    };
    core::iter::from_fn(next).collect()
}

#[test]
fn batches_of_rising_addresses_reads_before_writes_up_to_a_bound() {
    let words = "w9 r5 r1 r7 w2 r3 r8 r6 r2 w4";
    let expected = ["r1", "r2", "r3", "r5", "r6", "r7", "w2", "w4", "w9", "r8"];
    assert_eq!(
        order(parameters(), words, 1),
        expected,
        "two batches of three reads, then writes were passed over twice"
    );
    let batch = Deadline { fifo_batch: 1, ..parameters() };
    let expected = ["r1", "r2", "w2", "r3", "r5", "w4", "r6", "r7", "w9", "r8"];
    assert_eq!(order(batch, words, 1), expected, "a batch of one: every third is a write");
}

#[test]
fn a_batch_begins_with_the_oldest_if_it_has_expired() {
    let words = "r9 r5 r1 w4";
    assert_eq!(order(parameters(), words, 499), ["r1", "r5", "r9", "w4"], "not expired");
    assert_eq!(
        order(parameters(), words, 500),
        ["r9", "r5", "w4", "r1"],
        "expired, the oldest goes; then none follows"
    );
}

#[test]
fn where_no_address_follows_a_batch_begins_with_the_oldest() {
    let mut elevator = MqDeadline::new(parameters());
    entered(&mut elevator, 0, "r9", 0);
    assert_eq!(elevator.next(Time::from_ns(MS)), Some(RequestId(0)));
    entered(&mut elevator, 2, "r5 r1", 1);
    let next = elevator.next(Time::from_ns(3 * MS));
    assert_eq!(next, Some(RequestId(1)), "5 is older than 1, and nothing lies beyond 9");
}

#[test]
fn a_lower_class_waits_until_the_higher_has_nothing_open_or_it_has_aged() {
    assert_eq!(order(parameters(), "r1- r5 w2+", 1), ["w2+", "r5", "r1-"]);
    let mut elevator = MqDeadline::new(parameters());
    entered(&mut elevator, 0, "r1- r5", 0);
    assert_eq!(elevator.next(Time::from_ns(MS)), Some(RequestId(1)));
    assert_eq!(elevator.next(Time::from_ns(MS)), None, "the higher class has a request in the drive");
    assert_eq!(elevator.next_event(Time::from_ns(MS)), Time::from_ns(10_000 * MS));
    assert_eq!(elevator.next(Time::from_ns(10_000 * MS)), Some(RequestId(0)), "it has aged");
}
