//! Limits in scenes worked out by hand, and rates kept over seconds.

use alloc::vec::Vec;

use flashlane_core::{FlowId, Op, RequestId, Time};

use super::*;
use crate::config::{ElevatorConfig, FlowConfig};

const SLICE: Duration = Duration::from_us(100_000);

fn limits(limit: Limit) -> Limits {
    let flow = FlowConfig { limits: [limit; 2], ..FlowConfig::default() };
    Limits::new(&Config {
        elevator: ElevatorConfig::None,
        depth: 1,
        tags: 1,
        merging: None,
        slice: SLICE,
        flows: [flow].into(),
    })
}

fn bio(id: u64, op: Op, bytes: u64) -> Bio {
    Bio { id: RequestId(id), flow: FlowId(0), op, plain: op.is_data(), offset: 0, bytes }
}

fn at_us(us: u64) -> Time {
    Time::from_ns(us * 1_000)
}

/// When requests go, us, that enter at these instants.
fn go(limits: &mut Limits, op: Op, bytes: u64, enter_us: &[u64]) -> Vec<u64> {
    let mut gone = Vec::new();
    let mut enter = enter_us.iter().zip(0..).peekable();
    loop {
        let next = enter.peek().map_or(Time::NEVER, |&(&us, _)| at_us(us)).min(limits.next_event());
        if next == Time::NEVER {
            return gone;
        }
        while limits.next(next).is_some() {
            gone.push(next.ns() / 1_000);
        }
        while let Some((_, id)) = enter.next_if(|&(&us, _)| at_us(us) == next) {
            if limits.pass(next, bio(id, op, bytes)).is_some() {
                gone.push(next.ns() / 1_000);
            }
        }
    }
}

#[test]
fn a_slices_worth_goes_at_once_and_the_next_with_the_next_slice() {
    let mut limits = limits(Limit { iops: Some(30), bps: None });
    let gone = go(&mut limits, Op::Read, 4_096, &[5_000; 8]);
    assert_eq!(gone, [5_000, 5_000, 5_000, 105_000, 105_000, 105_000, 205_000, 205_000], "three a slice of 100 ms");
}

#[test]
fn bytes_beyond_a_slice_wait_for_their_part_of_the_next() {
    let mut limits = limits(Limit { iops: None, bps: Some(1_000_000) });
    let gone = go(&mut limits, Op::Write, 60_000, &[0; 4]);
    // 100,000 bytes a slice: the second needs 20,000 of the next, the fourth 40,000 of the one after it.
    assert_eq!(gone, [0, 120_000, 120_000, 240_000]);
}

#[test]
fn over_seconds_a_limit_is_kept_whatever_its_rate() {
    for iops in [1, 5, 15, 33, 1_000] {
        let gone = go(&mut limits(Limit { iops: Some(iops), bps: None }), Op::Read, 512, &[0; 4_000]);
        let seconds = (4_000 / iops).clamp(4, 20);
        let until = |us: u64| gone.iter().filter(|&&at| at < us).count() as u64;
        let counted = until(seconds * 1_000_000);
        let slack = iops / 10 + 1;
        assert!(
            counted.abs_diff(seconds.min(4_000 / iops) * iops) <= slack,
            "{iops} a second: {counted} in {seconds} s, a slice more or less"
        );
    }
}

#[test]
fn what_was_not_used_is_kept_for_a_slice_only() {
    let mut limits = limits(Limit { iops: Some(30), bps: None });
    let mut enter: Vec<u64> = [0, 90_000, 180_000, 270_000, 360_000].into();
    enter.extend([390_000; 12]);
    let gone = go(&mut limits, Op::Read, 512, &enter);
    let burst = gone.iter().filter(|&&at| at == 390_000).count();
    assert!((3..=6).contains(&burst), "one slice's worth or two at 390 ms, not four: {burst}");
}

#[test]
fn reads_and_writes_have_limits_of_their_own_and_flushes_none() {
    let mut limits = limits(Limit { iops: Some(10), bps: None });
    assert!(limits.pass(Time::ZERO, bio(0, Op::Read, 512)).is_some());
    assert!(limits.pass(Time::ZERO, bio(1, Op::Write, 512)).is_some(), "the read took nothing from the writes");
    assert!(limits.pass(Time::ZERO, bio(2, Op::Write, 512)).is_none());
    assert!(limits.pass(Time::ZERO, bio(3, Op::Flush, 0)).is_some(), "a flush has no limit");
    assert!(limits.pass(Time::ZERO, bio(4, Op::Trim, 1 << 20)).is_none(), "a trim is one of the writes");
    assert_eq!(limits.waiting(FlowId(0)), 2);
}
