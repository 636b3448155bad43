//! The way of a request through the block layer, in scenes worked out by hand.

use alloc::vec::Vec;

use flashlane_core::{Duration, FlowId};

use super::*;
use crate::config::{Deadline, ElevatorConfig, FlowConfig, Limit};

const US: u64 = 1_000;

fn deadline() -> ElevatorConfig {
    ElevatorConfig::MqDeadline(Deadline::usual())
}

fn block(elevator: ElevatorConfig, depth: u32, tags: u32, flows: usize) -> Block {
    let flows = vec![FlowConfig::default(); flows];
    Block::new(&Config { elevator, depth, tags, merging: None, slice: Duration::from_us(100_000), flows })
}

fn bio(id: u64, flow: u16, op: Op) -> Bio {
    Bio { id: RequestId(id), flow: FlowId(flow), op, plain: op.is_data(), offset: 8_192 * (100 - id), bytes: 4_096 }
}

fn issued(block: &mut Block, us: u64) -> Vec<u64> {
    core::iter::from_fn(|| block.issue(Time::from_ns(us * US))).map(|request| request.id.0).collect()
}

fn enter(block: &mut Block, us: u64, bios: impl IntoIterator<Item = Bio>) {
    bios.into_iter().for_each(|bio| block.enter(Time::from_ns(us * US), bio));
}

#[test]
fn without_an_elevator_all_goes_as_it_comes_to_the_depth() {
    let mut block = block(ElevatorConfig::None, 2, 2, 1);
    enter(&mut block, 0, (0..4).map(|id| bio(id, 0, Op::Read)));
    assert_eq!(issued(&mut block, 0), [0, 1]);
    block.completed(Time::from_ns(7 * US), RequestId(1));
    assert_eq!(issued(&mut block, 7), [2]);
    let waits = block.waits()[0];
    assert_eq!(
        (waits.requests, waits.stages[Stage::Tag as usize]),
        (3, crate::Waited { requests: 1, total_ns: 7 * u128::from(US) })
    );
}

/// With room for one in the drive, the second has left the elevator before the third comes, which would go before it.
#[test]
fn one_request_has_left_the_elevator_before_the_drive_has_room() {
    let mut block = block(deadline(), 1, 8, 1);
    enter(&mut block, 0, [bio(0, 0, Op::Read), bio(1, 0, Op::Write)]);
    assert_eq!(issued(&mut block, 0), [0]);
    enter(&mut block, 1, [bio(2, 0, Op::Read)]);
    assert_eq!(issued(&mut block, 1), [], "the drive is full");
    block.completed(Time::from_ns(5 * US), RequestId(0));
    assert_eq!(issued(&mut block, 5), [1], "the write had left the elevator");
    block.completed(Time::from_ns(9 * US), RequestId(1));
    assert_eq!(issued(&mut block, 9), [2]);
    let stages = block.waits()[0].stages;
    assert_eq!(
        stages[Stage::Driver as usize],
        crate::Waited { requests: 2, total_ns: 9 * u128::from(US) },
        "to 5 us, and 9 us"
    );
    assert_eq!(
        stages[Stage::Elevator as usize],
        crate::Waited { requests: 1, total_ns: 4 * u128::from(US) },
        "the read, from 1 us to 5 us"
    );
}

#[test]
fn a_flow_that_waits_for_tags_with_many_leaves_others_their_turn() {
    let mut block = block(ElevatorConfig::None, 1, 1, 2);
    enter(&mut block, 0, (0..5).map(|id| bio(id, 0, Op::Write)));
    enter(&mut block, 1, [bio(5, 1, Op::Read)]);
    let mut order = issued(&mut block, 1);
    while let Some(&last) = order.last()
        && order.len() < 6
    {
        block.completed(Time::from_ns(10 * US), RequestId(last));
        order.extend(issued(&mut block, 10));
    }
    assert_eq!(order, [0, 1, 5, 2, 3, 4]);
}

#[test]
fn a_flush_goes_before_what_waits_in_the_elevator() {
    let mut block = block(deadline(), 1, 8, 1);
    enter(&mut block, 0, (0..4).map(|id| bio(id, 0, Op::Read)));
    assert_eq!(issued(&mut block, 0), [3], "the lowest address");
    enter(&mut block, 1, [bio(4, 0, Op::Flush)]);
    let mut order = Vec::new();
    for last in [3, 2] {
        block.completed(Time::from_ns(2 * US), RequestId(last));
        order.extend(issued(&mut block, 2));
    }
    assert_eq!(order, [2, 4], "one had left the elevator, then the flush");
}

#[test]
fn a_limit_holds_a_request_back_and_says_when_it_goes() {
    let flow = FlowConfig { limits: [Limit { iops: Some(10), bps: None }; 2], ..FlowConfig::default() };
    let config = Config {
        elevator: ElevatorConfig::None,
        depth: 4,
        tags: 4,
        merging: None,
        slice: Duration::from_us(100_000),
        flows: vec![flow],
    };
    let mut block = Block::new(&config);
    enter(&mut block, 0, [bio(0, 0, Op::Read), bio(1, 0, Op::Read)]);
    assert_eq!(issued(&mut block, 0), [0]);
    let then = block.next_event(Time::ZERO);
    assert_eq!(then, Time::from_ns(100_000 * US));
    block.advance(then);
    assert_eq!(issued(&mut block, 100_000), [1]);
    let limit = block.waits()[0].stages[Stage::Limit as usize];
    assert_eq!(limit, crate::Waited { requests: 1, total_ns: 100_000 * u128::from(US) });
}
