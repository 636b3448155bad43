//! Limits beside the kernel's: how many requests of a flow that always has some go in each slice.

use alloc::vec::Vec;

use flashlane_core::{FlowId, Op, RequestId, Time};

use super::*;
use crate::config::{ElevatorConfig, FlowConfig};
use crate::recordings::{Event, recording};

/// A pause that divides two slices, us.
const PAUSE_US: u64 = 40_000;
const SLICE: Duration = Duration::from_us(100_000);

/// The bytes of the bios of each slice.
fn slices(name: &str) -> Vec<Vec<u64>> {
    let (mut slices, mut last): (Vec<Vec<u64>>, u64) = (Vec::new(), 0);
    for Event { us, letter, words } in recording(name) {
        assert_eq!(letter, 'B', "a bio");
        if slices.is_empty() || us > last + PAUSE_US {
            slices.push(Vec::new());
        }
        last = us;
        let bytes = words[2].parse::<u64>().expect("sectors") * 512;
        slices.last_mut().expect("a slice has begun").push(bytes);
    }
    slices
}

/// How many of these bios the model lets go in each slice, if all are there from the beginning.
fn modelled(limit: Limit, bios: impl Iterator<Item = u64>) -> Vec<usize> {
    let flow = FlowConfig { limits: [limit; 2], ..FlowConfig::default() };
    let config =
        Config { elevator: ElevatorConfig::None, depth: 1, tags: 1, slice: SLICE, merging: None, flows: [flow].into() };
    let mut limits = Limits::new(&config);
    let mut counts = Vec::new();
    let mut count = |now: Time| {
        let slice = (now.ns() / SLICE.ns()) as usize;
        counts.resize(counts.len().max(slice + 1), 0);
        counts[slice] += 1;
    };
    for (bytes, id) in bios.zip(0..) {
        let bio = Bio { id: RequestId(id), flow: FlowId(0), op: Op::Write, offset: 0, bytes, plain: true };
        if limits.pass(Time::ZERO, bio).is_some() {
            count(Time::ZERO);
        }
    }
    while limits.next_event() != Time::NEVER {
        let now = limits.next_event();
        while limits.next(now).is_some() {
            count(now);
        }
    }
    counts
}

/// By how many requests the model is ahead of the kernel or behind it at most, at the end of any slice, without the first slices: the recording
/// begins within one, and with what earlier ones had left.
fn distance(name: &str, without: usize, limit: Limit) -> usize {
    let kernel = &slices(name)[without..];
    let model = modelled(limit, kernel.iter().flatten().copied());
    let (mut ours, mut theirs, mut most) = (0_usize, 0, 0);
    for (here, there) in model.iter().zip(kernel) {
        ours += here;
        theirs += there.len();
        most = most.max(ours.abs_diff(theirs));
    }
    most
}

#[test]
fn slices_let_as_many_requests_go_as_the_kernels() {
    assert_eq!(distance("limit-iops", 1, Limit { iops: Some(1_000), bps: None }), 0, "4,128 reads of 4 KiB");
    assert_eq!(distance("limit-bps", 1, Limit { iops: None, bps: Some(8_000_000) }), 1, "1,985 writes of 16 KiB");
    assert_eq!(
        distance("limit-both", 4, Limit { iops: Some(150), bps: Some(6_000_000) }),
        0,
        "759 writes of 4 and 128 KiB"
    );
}

#[test]
fn other_limits_do_not() {
    assert!(distance("limit-iops", 1, Limit { iops: Some(1_010), bps: None }) > 30);
    assert!(distance("limit-bps", 1, Limit { iops: None, bps: Some(8_080_000) }) > 10);
    assert!(distance("limit-both", 4, Limit { iops: Some(150), bps: None }) > 20);
    assert!(distance("limit-both", 4, Limit { iops: None, bps: Some(6_000_000) }) > 20);
}
