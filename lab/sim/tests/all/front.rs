//! Commands entering and leaving the device, with exact times: limits of commands and of queues, and the link.
//!
//! Chips of one plane without a bus serve reads in one cycle and writes in four, so that the time at which a command
//! enters follows from its end.

use crate::common::{CYCLE, device, drain, recipe, unit_cycle};
use flashlane_core::Op::{self, Read, Write};
use flashlane_core::{Duration, Extent, FlowId, Lpn, Request, RequestId, Time};
use flashlane_sched::catalogue::Recipe;
use flashlane_ssd::config::{Buffer, Config, FlowConfig, Protocol};

/// A request of one page at an instant: flow, operation, page.
type TestRequest = (u16, Op, u32);

/// Sends all requests at the start; returns when each ends, ns.
fn ends(config: &Config, recipe: &Recipe, asks: &[TestRequest]) -> Vec<u64> {
    let mut device = device(config, recipe);
    for (id, &(flow, op, page)) in asks.iter().enumerate() {
        let (extent, arrival) = (Extent::Pages(&[Lpn(page)]), Time::ZERO);
        let request = Request { id: RequestId(id as u64), flow: FlowId(flow), op, fua: false, arrival, extent };
        device.submit(Time::ZERO, &request).expect("within the drive");
    }
    drain(&mut device);
    let mut done = std::mem::take(device.completions());
    done.sort_by_key(|c| c.id);
    done.iter().map(|c| c.done.ns()).collect()
}

fn cycles(config: &Config, recipe: &Recipe, asks: &[TestRequest]) -> Vec<u64> {
    ends(config, recipe, asks).iter().map(|ns| ns / CYCLE).collect()
}

/// Twelve reads of a chip each, from these flows in turn.
fn one_each(flows: u16) -> Vec<TestRequest> {
    (0..12).map(|i| (i % flows, Read, u32::from(i))).collect()
}

/// A device that holds `k` commands serves `k` chips at a time, for any flows: the `i`-th to end does so with batch `i
/// / k`.
#[test]
fn commands_in_flight() {
    let rp = recipe("read-first", &[]);
    for limit in 1..=13 {
        for protocol in [Protocol::Nvme { depth: 64 }, Protocol::Sata { depth: 64 }] {
            let mut config = unit_cycle(12);
            (config.front.in_flight, config.front.protocol) = (limit, protocol);
            config.flows = vec![FlowConfig::at_priority(0); 2];
            let expected: Vec<u64> = (0..12).map(|i| i / u64::from(limit) + 1).collect();
            for flows in [1, 2] {
                // The order in which flows are fetched is not tested here.
                let mut done = cycles(&config, &rp, &one_each(flows));
                done.sort_unstable();
                assert_eq!(done, expected, "{limit} of {protocol:?}, {flows} flows");
            }
        }
    }
}

/// A command that arrives at the instant at which another ends does not pass those that have waited: read in order of arrival, one
/// a cycle, each on a chip of its own.
#[test]
fn a_newcomer_does_not_pass_those_that_wait() {
    for protocol in [Protocol::Nvme { depth: 64 }, Protocol::Sata { depth: 64 }] {
        let mut config = unit_cycle(4);
        (config.front.protocol, config.front.in_flight) = (protocol, 1);
        let page = 8_192;
        let asks = [(0, 0), (10, 1), (20, 2), (CYCLE, 3)].map(|(at, chip)| (at, Read, chip * page, page));
        assert_eq!(sizes(&config, &asks), [1, 2, 3, 4].map(|cycles| cycles * CYCLE), "{protocol:?}");
    }
}

/// The depth is a limit for each flow with NVMe, and for all together with SATA.
#[test]
fn depth_of_queues() {
    for scheduler in ["read-first", "fcfs", "flin"] {
        let rp = recipe(scheduler, &[]);
        for depth in 1..=7 {
            let mut config = unit_cycle(12);
            config.flows = vec![FlowConfig::at_priority(0); 2];
            config.front.protocol = Protocol::Nvme { depth };
            let own: Vec<u64> = (0..12).map(|i| i / 2 / u64::from(depth) + 1).collect();
            assert_eq!(cycles(&config, &rp, &one_each(2)), own, "{scheduler}: NVMe, depth {depth}");
            config.front.protocol = Protocol::Sata { depth };
            let all: Vec<u64> = (0..12).map(|i| i / u64::from(depth) + 1).collect();
            assert_eq!(cycles(&config, &rp, &one_each(2)), all, "{scheduler}: SATA, depth {depth}");
        }
    }
}

/// One queue of commands: those for chip 0 fill the chip's queue, and the last, for chip 1, waits behind them. One is
/// in service and `capacity` wait, so the last enters when `capacity + 1` fewer are left before it.
#[test]
fn capacity_of_a_chip_s_queues() {
    let rp = recipe("read-first", &[]);
    for (op, service) in [(Read, 1), (Write, 4)] {
        for capacity in 1..=6 {
            for ahead in 1..=9u32 {
                let mut config = unit_cycle(2);
                config.front.protocol = Protocol::Sata { depth: 64 };
                config.front.queue_capacity[op.index()] = capacity;
                let mut asks: Vec<TestRequest> = (0..ahead).map(|i| (0, op, 2 * i)).collect();
                asks.push((0, op, 1));
                let last = *cycles(&config, &rp, &asks).last().expect("some");
                let enters = u64::from(ahead.saturating_sub(capacity + 1)) * service;
                assert_eq!(last, enters + service, "{op:?}, {ahead} ahead, capacity {capacity}");
                // The capacity of the other direction's queue has no effect.
                config.front.queue_capacity.swap(0, 1);
                assert_eq!(*cycles(&config, &rp, &asks).last().expect("some"), service);
            }
        }
    }
}

/// A request needs room at each of its chips: one whose second page goes to a full queue waits.
#[test]
fn capacity_is_asked_of_every_page() {
    let rp = recipe("read-first", &[]);
    let mut config = unit_cycle(3);
    config.front.protocol = Protocol::Sata { depth: 64 };
    config.front.queue_capacity = [2, 2];
    let mut device = device(&config, &rp);
    let reads: [&[u32]; 6] = [&[1], &[4], &[7], &[10], &[0, 13, 2], &[5]];
    for (id, pages) in reads.iter().enumerate() {
        let list: Vec<Lpn> = pages.iter().copied().map(Lpn).collect();
        let (id, arrival) = (RequestId(id as u64), Time::ZERO);
        let extent = Extent::Pages(&list);
        device
            .submit(arrival, &Request { id, flow: FlowId(0), op: Read, fua: false, arrival, extent })
            .expect("within the drive");
    }
    drain(&mut device);
    let mut done: Vec<(u64, u64)> = device.completions().iter().map(|c| (c.id.0, c.done.ns() / CYCLE)).collect();
    done.sort_unstable();
    // Three of chip 1 enter at once, the fourth after a cycle, the fifth after two; the last enters together with the
    // fifth and is served behind the fifth's page of chip 2.
    assert_eq!(done, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 4)]);
}

/// Writes that have no chip yet wait in one queue with the capacity of all chips' queues.
#[test]
fn capacity_where_writes_bind_at_dispatch() {
    let dynamic = recipe("dynalloc", &[]);
    for (capacity, writes, read_ends) in [(1, 4, 5), (1, 5, 9), (2, 6, 5), (2, 7, 9), (3, 8, 5), (3, 9, 9)] {
        let mut config = unit_cycle(2);
        config.front.protocol = Protocol::Sata { depth: 64 };
        config.front.queue_capacity = [u32::MAX, capacity];
        let mut asks: Vec<TestRequest> = (0..writes).map(|i| (0, Write, i)).collect();
        asks.push((0, Read, 100));
        // Both chips write, and 2 * capacity wait: with one more the read enters when both have written once.
        let last = *cycles(&config, &dynamic, &asks).last().expect("some");
        assert_eq!(last, read_ends, "{writes} writes, capacity {capacity}");
    }
}

/// The fill trigger: writes go first while more than alpha of the capacity waits, exactly.
#[test]
fn share_of_the_write_queue() {
    for (alpha, capacity, above) in [(80, 10, 8), (50, 6, 3), (50, 7, 3), (100, 4, 4), (0, 9, 0)] {
        let recipe = recipe("fr-fcfs", &[("alpha", alpha), ("write_capacity", capacity)]);
        for writes in 1..=12u32 {
            let config = unit_cycle(1);
            let mut asks: Vec<TestRequest> = (0..writes).map(|i| (0, Write, i)).collect();
            asks.push((0, Read, 100));
            let done = cycles(&config, &recipe, &asks);
            let first = u64::from(writes).saturating_sub(above);
            assert_eq!(done[writes as usize], 4 * first + 1, "{writes} writes, {alpha} % of {capacity}");
        }
    }
}

/// A device of `chips` with a link that carries a byte per nanosecond and has a latency of 700 ns.
fn linked(chips: u32) -> Config {
    let mut config = unit_cycle(chips);
    (config.front.link_bytes_per_s, config.front.link_latency) = (1_000_000_000, Duration::from_ns(700));
    config
}

/// Requests of bytes from page 0 on at the start; returns when each ends.
fn sizes(config: &Config, asks: &[(u64, Op, u64, u64)]) -> Vec<u64> {
    let mut device = device(config, &recipe("read-first", &[]));
    for (id, &(at, op, offset, length)) in asks.iter().enumerate() {
        let now = Time::from_ns(at);
        device.advance(now);
        let (id, extent) = (RequestId(id as u64), Extent::Bytes { offset, length });
        device
            .submit(now, &Request { id, flow: FlowId(0), op, fua: false, arrival: now, extent })
            .expect("within the drive");
    }
    drain(&mut device);
    let mut done = std::mem::take(device.completions());
    done.sort_by_key(|c| c.id);
    done.iter().map(|c| c.done.ns()).collect()
}

/// Data of writes cross the link one after the other, with latencies overlapping; answers to writes carry no data.
#[test]
fn writes_cross_the_link_in_turn() {
    let mut config = linked(1);
    config.buffer = Some(Buffer::plain(64, 64));
    let lengths = [8_192, 512, 24_576, 8_192, 100];
    let asks: Vec<_> = lengths.iter().map(|&length| (0, Write, 0, length)).collect();
    let mut crossed = 0;
    let expected: Vec<u64> = lengths.iter().map(|length| (crossed += length, crossed + 700 + 1_000 + 700).1).collect();
    assert_eq!(sizes(&config, &asks), expected);
    // Three bytes in ten nanoseconds: each transfer is rounded up by itself.
    config.front.link_bytes_per_s = 300_000_000;
    let mut crossed = 0;
    let each = |length: &u64| (length * 10u64).div_ceil(3);
    let expected: Vec<u64> =
        lengths.iter().map(|length| (crossed += each(length), crossed + 700 + 1_000 + 700).1).collect();
    assert_eq!(sizes(&config, &asks), expected);
    // Without a bandwidth limit only the latency is left.
    config.front.link_bytes_per_s = 0;
    assert_eq!(sizes(&config, &asks), [700 + 1_000 + 700; 5]);
}

/// Data of reads cross one after the other, and a read's command waits only for data before it.
#[test]
fn answers_cross_the_link_in_turn() {
    let config = linked(4);
    let page = 8_192;
    let read = |i: u64| (0, Read, i * page, page);
    let one = 700 + CYCLE + page + 700;
    assert_eq!(sizes(&config, &[read(0), read(1), read(2)]), [one, one + page, one + 2 * page]);
    // Earlier transfers do not slow down a link that is free again.
    let later = (5 * page, Read, 3 * page, 512);
    assert_eq!(sizes(&config, &[read(0), later])[1], 5 * page + 700 + CYCLE + 512 + 700);
    // Behind the data of a write on the way in; the write's answer, which carries no data, is behind the read's data on
    // the way out.
    let behind = sizes(&config, &[(0, Write, 0, page), read(1)]);
    assert_eq!(behind, [page + one, page + one]);
    // Data on their way in and out do not delay each other.
    let both = sizes(&config, &[read(1), (0, Write, 2 * page, page)]);
    assert_eq!(both, [one, page + 700 + 4 * CYCLE + 700]);
}
