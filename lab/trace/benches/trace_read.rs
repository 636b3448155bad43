//! Trace reading speed: million lines per second through `TraceSource`, with all checks, on one core.
//!
//! `cargo bench -p flashlane-trace --bench trace_read [-- LINES FORMAT]` writes a trace of 10 million lines in each of the
//! formats below to a temporary directory, reads it five times, and prints the median and the best by thread CPU time
//! (this machine may be shared, so wall-clock time says less) and the best by wall-clock time.

use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::Instant;

use flashlane_core::arrival::{Next, Source, Span};
use flashlane_trace::{Format, TraceOptions, TraceSource};

/// Number of readings of each file.
const READINGS: usize = 5;

fn main() {
    // `cargo bench` passes `--bench`; a plain number is our argument.
    let lines = std::env::args().skip(1).find_map(|arg| arg.parse().ok()).unwrap_or(10_000_000u64);
    let directory = tempfile::tempdir().expect("a temporary directory");
    println!(
        "{lines} lines, {READINGS} readings, million lines per second of thread CPU time: median, best (wall best)"
    );
    let only = std::env::args().skip(1).find_map(|arg| arg.parse::<Format>().ok());
    for format in [Format::Mqsim, Format::Disksim, Format::Replayer, Format::Msr, Format::Alibaba, Format::Spc] {
        if only.is_some_and(|only| only != format) {
            continue;
        }
        let path = directory.path().join(format.key());
        generate(&path, format, lines);
        let mut seconds: Vec<(f64, f64)> = (0..READINGS).map(|_| reading(&path, format, lines)).collect();
        let wall = seconds.iter().map(|s| s.1).fold(f64::INFINITY, f64::min);
        seconds.sort_by(|a, b| a.0.total_cmp(&b.0));
        let rate = |s: f64| lines as f64 / s / 1e6;
        println!(
            "{:10} {:6.1} {:6.1} ({:.1})",
            format.key(),
            rate(seconds[READINGS / 2].0),
            rate(seconds[0].0),
            rate(wall)
        );
        std::fs::remove_file(&path).expect("the trace can be removed");
    }
}

/// Seconds of thread CPU time and of wall-clock time for one reading, which is checked to be complete.
fn reading(path: &Path, format: Format, lines: u64) -> (f64, f64) {
    let (cpu, wall) = (thread_seconds(), Instant::now());
    let mut source = TraceSource::open(path, &TraceOptions::default(), 1 << 40).expect("a legal trace");
    assert_eq!(source.recognition().format, format);
    let (mut requests, mut bytes, mut last) = (0u64, 0u64, 0u64);
    while let Next::Request(arrival) = source.next().expect("legal lines") {
        let Span::Bytes { length, .. } = arrival.extent else { panic!("a trace speaks of bytes") };
        requests += 1;
        bytes += length;
        last = arrival.at.ns();
    }
    let seconds = (thread_seconds() - cpu, wall.elapsed().as_secs_f64());
    assert_eq!(requests, lines);
    assert!(bytes > 0 && last > 0);
    seconds
}

/// CPU time of this thread; wall-clock time where the system does not give it.
fn thread_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let ns = stat.and_then(|text| text.split(' ').next().and_then(|first| first.parse::<u64>().ok()));
    match ns {
        Some(ns) => ns as f64 / 1e9,
        None => {
            static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
            START.get_or_init(Instant::now).elapsed().as_secs_f64()
        }
    }
}

/// Writes a trace of 8 to 64 KiB requests, 20 us apart on average, on 256 GB.
fn generate(path: &Path, format: Format, lines: u64) {
    let mut out = BufWriter::with_capacity(1 << 20, std::fs::File::create(path).expect("a new file"));
    let (mut state, mut ns) = (42u64, 938_513_000u64);
    for _ in 0..lines {
        // A 64-bit linear congruence (Knuth's constants): its upper bits are random enough to vary the digits.
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let draw = state >> 20;
        ns += draw % 40_000;
        let (device, sector, sectors, read) =
            (draw % 16, (draw >> 4) % 500_000_000, 16 * (1 + draw % 8), draw >> 7 & 1);
        let word = ["Write", "Read"][read as usize];
        let (offset, size) = (sector * 512, sectors * 512);
        let result = match format {
            Format::Disksim => {
                writeln!(out, "{}.{:03} {device} {sector} {sectors} {read}", ns / 1_000_000, ns / 1_000 % 1_000)
            }
            Format::Replayer => {
                writeln!(out, "{}.{:03} {device} {offset} {size} {read}", ns / 1_000_000, ns / 1_000 % 1_000)
            }
            Format::Msr => {
                writeln!(out, "{},hm,0,{word},{offset},{size},{}", 128_166_385_295_514_663 + ns / 100, draw % 10_000)
            }
            Format::Alibaba => {
                writeln!(out, "{device},{},{offset},{size},{}", &word[..1], 1_577_808_000_000_000 + ns / 1_000)
            }
            Format::Spc => writeln!(
                out,
                "{device},{sector},{size},{},{}.{:06}",
                &word[..1],
                ns / 1_000_000_000,
                ns / 1_000 % 1_000_000
            ),
            _ => writeln!(out, "{ns} {device} {sector} {sectors} {read}"),
        };
        result.expect("room for the trace");
    }
    out.flush().expect("room for the trace");
}
