//! Trace files, from outside: every format, every option, every error, the real traces, and arbitrary bytes.

mod blktrace;
mod columns;
mod convert;
mod differential;
#[path = "../../../lab/tests/all/common/drawn.rs"]
mod drawn;
mod errors;
mod formats;
mod fuzz;
mod options;
mod packing;
mod real;
mod recognition;
mod stat;
mod units;

use drawn::{drawn, kept_in};
use flashlane_core::Op;
use flashlane_core::arrival::{Next, Source, Span, WorkloadError};
use flashlane_trace::{Format, Recognition, TraceCounts, TraceOptions, TraceSource};

/// A drive larger than any address in these tests.
const HUGE: u64 = 1 << 50;

/// `(arrival ns, op, offset B, length B)`.
type Row = (u64, Op, u64, u64);

const R: Op = Op::Read;
const W: Op = Op::Write;

/// A trace read to its end.
#[derive(Debug)]
struct Whole {
    rows: Vec<Row>,
    counts: TraceCounts,
    recognition: Recognition,
}

/// Reads a source to its end and checks the promises of every source.
fn drain(mut source: TraceSource, capacity: u64) -> Result<Whole, WorkloadError> {
    let mut rows: Vec<Row> = Vec::new();
    loop {
        match source.next() {
            Ok(Next::End) => break,
            Ok(Next::Await) => panic!("a trace is open loop"),
            Ok(Next::Request(arrival)) => {
                let Span::Bytes { offset, length } = arrival.extent else { panic!("a trace speaks of bytes") };
                assert!(length > 0 && offset + length <= capacity);
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
    Ok(Whole { rows, counts, recognition: source.recognition().clone() })
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
    match format {
        Format::Msr => "128166372003061629,usr,1,Read,8192,4096,512\n128166372003071629,usr,1,Write,40960,24576,900\n",
        Format::Spc => "0,16,4096,R,0.000000\n1, 80 ,24576,w,0.001500\n",
        Format::Mqsim => "5000 0 16 8 1\n9000 1 80 48 0\n",
        Format::Ssdsim => "5000 0 17 7 1\n9000 1 81 3 0\n",
        Format::Disksim => "0.500 0 16 8 1\n1.750 1 80 48 0\n",
        Format::Replayer => "0.500 0 8192 4096 1\n1.750 1 40960 24576 0\n",
        Format::Alibaba => "7,R,8192,4096,1577808000000100\n9,W,40960,24576,1577808000000350\n",
        Format::Tencent => "1538323200,16,8,0,1283\n1538323201,80,48,1,1283\n",
        Format::Systor => {
            "Timestamp,Response,IOType,LUN,Offset,Size\n1455592426.000250,0.1,R,2,8192,4096\n1455592426.000750,0.2,W,2,40960,24576\n"
        }
        Format::Vscsi => "version,time,op,size,lbn\n1,5633898368802,40,4096,16\n1,5633898369052,42,24576,80\n",
        Format::Blkparse => {
            "  8,0    0        1     0.000001000   697  Q   R 16 + 8 [dd]\n  8,0    0        2     0.000003000   697  Q  WS 80 + 48 [dd]\n"
        }
        Format::IologV2 => {
            "fio version 2 iolog\n/dev/x add\n/dev/x open\n/dev/x read 8192 4096\n/dev/x wait 250 0\n/dev/x write 40960 24576\n/dev/x close\n"
        }
        Format::IologV3 => {
            "fio version 3 iolog\n0 /dev/x add\n1 /dev/x open\n40 /dev/x read 8192 4096\n90 /dev/x write 40960 24576\n99 /dev/x close\n"
        }
        Format::Csv => "time_us,op,offset,length\n10,read,8192,4096\n35,write,40960,24576\n",
        Format::Blktrace => panic!("not a text format"),
    }
}

/// The text formats.
fn text_formats() -> impl Iterator<Item = Format> {
    Format::ALL.into_iter().filter(|format| *format != Format::Blktrace)
}
