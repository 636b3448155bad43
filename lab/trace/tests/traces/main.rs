//! Trace files, from outside: every format, every option, every error, the real traces, and arbitrary bytes.

mod blktrace;
mod block;
mod columns;
mod convert;
mod differential;
mod errors;
mod formats;
mod fuzz;
mod kernel;
mod options;
mod packing;
mod real;
mod recognition;
mod sorted;
mod stat;
mod units;
mod volumes;

use flashlane_core::Op;
use flashlane_core::arrival::{Next, Source, Span, WorkloadError};
use flashlane_testing::drawn::{drawn, kept_in};
use flashlane_trace::{Format, Recognition, TraceCounts, TraceOptions, TraceSource};

/// A drive larger than any address in these tests.
const HUGE: u64 = 1 << 50;

/// `(arrival ns, op, offset B, length B)`.
type Row = (u64, Op, u64, u64);

const R: Op = Op::Read;
const W: Op = Op::Write;
const T: Op = Op::Trim;
const Z: Op = Op::WriteZeroes;
const F: Op = Op::Flush;

/// A trace read to its end.
#[derive(Debug)]
struct Whole {
    rows: Vec<Row>,
    /// The numbers of the rows that are writes with force unit access.
    fua: Vec<usize>,
    counts: TraceCounts,
    recognition: Recognition,
}

/// Reads a source to its end and checks the promises of every source.
fn drain(mut source: TraceSource, capacity: u64) -> Result<Whole, WorkloadError> {
    let (mut rows, mut fua): (Vec<Row>, _) = (Vec::new(), Vec::new());
    loop {
        match source.next() {
            Ok(Next::End) => break,
            Ok(Next::Await) => panic!("a trace is open loop"),
            Ok(Next::Request(arrival)) => {
                let Span::Bytes { offset, length } = arrival.extent else { panic!("a trace speaks of bytes") };
                match arrival.op {
                    Op::Flush => assert_eq!((offset, length), (0, 0)),
                    _ => assert!(length > 0 && offset + length <= capacity),
                }
                assert!(arrival.op == W || !arrival.fua);
                fua.extend(arrival.fua.then_some(rows.len()));
                assert!(rows.last().is_none_or(|last| last.0 <= arrival.at.ns()));
                rows.push((arrival.at.ns(), arrival.op, offset, length));
            }
            Err(why) => {
                assert_eq!(source.next(), Err(why.clone()), "an error stays");
                return Err(why);
            }
        }
    }
    assert_eq!(source.next(), Ok(Next::End), "an end stays");
    let counts = source.counts();
    assert_eq!(counts.issued(), rows.len() as u64);
    Ok(Whole { rows, fua, counts, recognition: source.recognition().clone() })
}

/// Reads bytes as a trace on a drive.
fn read_on(bytes: &[u8], options: &TraceOptions, capacity: u64) -> Result<Whole, WorkloadError> {
    drain(TraceSource::from_bytes("t", bytes, options, capacity)?, capacity)
}

/// Reads bytes as a trace.
fn read(bytes: impl AsRef<[u8]>, options: &TraceOptions) -> Result<Whole, WorkloadError> {
    read_on(bytes.as_ref(), options, HUGE)
}

/// The requests of a text as this format.
fn rows(format: Format, text: &str) -> Vec<Row> {
    read(text, &as_format(format)).unwrap_or_else(|why| panic!("{why}")).rows
}

/// Default options with a format.
fn as_format(format: Format) -> TraceOptions {
    TraceOptions { format: Some(format), ..TraceOptions::default() }
}

/// A small valid text in each text format.
fn sample(format: Format) -> &'static str {
    match format.sample() {
        "" => panic!("{format} is no text"),
        sample => sample,
    }
}

/// The text formats.
fn text_formats() -> impl Iterator<Item = Format> {
    Format::ALL.into_iter().filter(|format| !format.sample().is_empty())
}
