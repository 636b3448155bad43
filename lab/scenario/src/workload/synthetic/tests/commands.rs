//! Flushes, trims and force unit access: how often they come, and that reads and writes stay the same ones.

use flashlane_core::arrival::{Arrival, Next, Source, Span};
use flashlane_core::{Op, Time};

use super::super::SyntheticSource;
use super::{Drawn, RANGE, draw, near, spec};

const BASE: &str = "read_ratio = 0.4\nsize = { lognormal = { mean_bytes = 20000, sd_bytes = 30000 } }\n\
    rewrite = { ratio = 0.3, distance_requests = 20 }\nsequential_probability = 0.2\nrate_iops = 10000\n";

fn with(keys: &str, requests: u32) -> Vec<Drawn> {
    draw(&format!("{BASE}{keys}\nrequests = {requests}"))
}

fn count(drawn: &[Drawn], op: Op) -> usize {
    drawn.iter().filter(|d| d.op == op).count()
}

#[test]
fn a_flush_follows_every_so_many_writes_and_has_no_address() {
    let drawn = with("flush_every_writes = 3", 10_000);
    let mut writes = 0;
    for request in &drawn {
        match request.op {
            Op::Flush => {
                assert_eq!((writes, request.offset, request.length), (3, 0, 0));
                writes = 0;
            }
            op => {
                assert!(writes < 3, "a flush is due");
                writes += usize::from(op == Op::Write);
            }
        }
    }
    // Three writes and the two reads between them to a flush.
    near(count(&drawn, Op::Flush) as f64, 10_000.0 / 6.0, 60.0);
}

#[test]
fn a_flush_comes_once_the_time_has_passed() {
    let drawn = draw(
        "read_ratio = 0.5\narrivals = \"constant\"\nmean_gap_us = 300\nstart_us = 50\nflush_every_ms = 1\nrequests = 12",
    );
    let flushes: Vec<u64> = drawn.iter().filter(|d| d.op == Op::Flush).map(|d| d.at).collect();
    // Requests come 0, 300, 600, ... us after the start: the first at or after each 1 ms since the flush before.
    assert_eq!(flushes, [1_250_000, 2_450_000]);
    let either = draw(
        "read_ratio = 0\narrivals = \"constant\"\nmean_gap_us = 300\nflush_every_ms = 1\nflush_every_writes = 2\nrequests = 7",
    );
    let ops: String = either.iter().map(|d| if d.op == Op::Flush { 'F' } else { 'W' }).collect();
    assert_eq!(ops, "WWFWWFW", "what comes first, and both begin anew");
}

#[test]
fn shares_are_what_they_say() {
    let drawn = with("trim_ratio = 0.2\ntrim_size = { constant = 1048576 }", 20_000);
    near(count(&drawn, Op::Trim) as f64, 4_000.0, 5.0 * f64::sqrt(20_000.0 * 0.2 * 0.8));
    assert!(drawn.iter().filter(|d| d.op == Op::Trim).all(|d| d.length == 1 << 20 && d.end() <= (17 << 30)));
    near(count(&drawn, Op::Read) as f64, 16_000.0 * 0.4, 5.0 * f64::sqrt(16_000.0 * 0.24));
    let mut source =
        SyntheticSource::new(&spec(&format!("{BASE}fua_ratio = 0.25\nrequests = 20000")), &RANGE, 1).unwrap();
    let (mut writes, mut forced) = (0.0, 0.0);
    while let Ok(Next::Request(arrival)) = source.next() {
        assert!(arrival.op == Op::Write || !arrival.fua);
        writes += f64::from(u8::from(arrival.op == Op::Write));
        forced += f64::from(u8::from(arrival.fua));
    }
    near(forced, writes / 4.0, 5.0 * f64::sqrt(writes * 0.25 * 0.75));
    assert!(draw("rate_iops = 5\nrequests = 9\ntrim_ratio = 1").iter().all(|d| d.op == Op::Trim));
}

/// Whatever comes between them, the reads and writes are those of the flow without.
#[test]
fn reads_and_writes_stay_the_same_ones() {
    let data = |drawn: &[Drawn]| -> Vec<_> {
        let data = drawn.iter().filter(|d| d.op.is_data());
        data.map(|d| (d.op, d.offset, d.length)).collect()
    };
    let plain = data(&with("", 10_000));
    for keys in [
        "trim_ratio = 0.3",
        "fua_ratio = 0.5",
        "flush_every_writes = 7",
        "flush_every_ms = 2.5",
        "trim_ratio = 0.1\nflush_every_writes = 2",
    ] {
        let drawn = data(&with(keys, 10_000));
        assert!(drawn.len() > 5_000 && plain.starts_with(&drawn), "{keys}");
    }
    let none = "trim_ratio = 0.0\nfua_ratio = 0.0";
    assert_eq!(with(none, 1_000), with("", 1_000));
}

#[test]
fn a_rate_in_bytes_counts_reads_and_writes_only() {
    let keys = "read_ratio = 0.5\nsize = { constant = 10000 }\narrivals = \"constant\"\nrate_mb_per_s = 100\nrequests = 40000\n";
    for extra in ["trim_ratio = 0.25", "flush_every_writes = 4", "trim_ratio = 0.25\nflush_every_writes = 4"] {
        let drawn = draw(&format!("{keys}{extra}"));
        let bytes: u64 = drawn.iter().filter(|d| d.op.is_data()).map(|d| d.length).sum();
        let seconds = drawn.last().unwrap().at as f64 / 1e9;
        near(bytes as f64 / seconds / 1e8, 1.0, 0.02);
    }
}

/// A flush takes a place of the loop, and the next request waits for its completion.
#[test]
fn a_closed_loop_waits_for_its_flushes() {
    let keys = "read_ratio = 0.0\narrivals = \"closed-loop\"\nflush_every_writes = 1\nrequests = 4";
    let mut source = SyntheticSource::new(&spec(keys), &RANGE, 1).unwrap();
    let mut next = |completes: u64| {
        let Ok(Next::Request(Arrival { at, op, extent, .. })) = source.next() else { panic!("a request") };
        assert_eq!(source.next(), Ok(Next::Await));
        source.completed(Time::from_ns(completes));
        let Span::Bytes { length, .. } = extent else { panic!("bytes") };
        (at.ns(), op, length)
    };
    assert_eq!([next(100), next(250), next(300)], [(0, Op::Write, 4096), (100, Op::Flush, 0), (250, Op::Write, 4096)]);
}
