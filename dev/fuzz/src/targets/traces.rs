//! Trace readers: whatever a file contains, each reader yields legal requests in order of time or an error.

use flashlane_core::arrival::{Arrival, Next, Source, Span};
use flashlane_core::choice::Choice;
use flashlane_core::{Op, Time};
use flashlane_trace::{Beyond, Format, Sizes, TimeOrder, TimeUnit, TraceOptions, TraceSource, Volumes};

use crate::Target;

/// Bytes of the drive the traces are replayed on.
const DRIVE: u64 = 1 << 30;

/// The target of this module. The first byte chooses the format, or recognition, and the unit of times.
pub const TARGET: Target = Target {
    name: "traces",
    about: "every trace reader: no panic, no request beyond the drive, no time that runs backwards",
    seeds,
    words: &[
        "Read",
        "Write",
        "R",
        "W",
        ",",
        " ",
        "\n",
        "128166372003061629",
        "fio version 3 iolog",
        "Q",
        "+",
        "0.5",
        "trim",
        "sync",
        "flush",
        "FWFS",
        "block_rq_issue:",
        "<- (8,1) 3",
        "CPU0 (sda):",
        "0x2a",
    ],
    feed,
};

fn seeds() -> Vec<Vec<u8>> {
    let samples = [
        "100 0 8 8 1\n200 0 16 8 0\n",
        "0.5 0 4096 4096 1\n1.5 0 8192 512 0\n",
        "128166372003061629,host,0,Read,4096,512,1000\n128166372003071629,host,0,Write,8192,4096,900\n",
        "0,8,4096,R,0.1\n0,16,512,w,0.2\n",
        "3,R,4096,512,1000000\n3,W,8192,4096,1000010\n",
        "1538323200,8,8,0,1283\n1538323201,16,8,1,1283\n",
        "Timestamp,Response,IOType,LUN,Offset,Size\n1455592863.1,0.001,R,0,4096,512\n",
        "8,0 0 1 0.000000001 77 Q R 8 + 8 [fio]\n8,0 0 2 0.000000002 77 D W 16 + 8 [fio]\n",
        "8,0 0 1 0.1 7 Q FWFSM 8 + 8 [a]\n8,0 0 2 0.2 7 Q FWS [a]\n8,0 0 3 0.3 7 Q D 0 + 80 [a]\n8,0 0 4 0.4 7 Q WFS 8 + 8\n",
        "Input file a added\n253,0 0 1 0.1 7 Q R 8 + 8 [a]\n8,0 0 2 0.1 7 A R 16 + 8 <- (253,0) 8\n8,0 0 3 0.1 7 Q R 16 + 8 [a]\na (7)\n Reads Queued: 2\n",
        "8,0 0 1 0.1 0 C R 8 + 8 [0]\n8,0 0 2 0.2 0 D R 36 (12 00) [a]\n",
        "CPU:1 [LOST 5 EVENTS]\n a-7 [000] ..... 1.000001: block_bio_queue: 8,0 FWFS 8 + 8 [a]\n a 7 [001] 1.1: 1 block:block_rq_issue: 8,0 R 512 () 8 + 1 be,0,4 [a]\n",
        "1,100,28,4096,100\n1,200,2a,4096,200\n1,300,42,24,0\n",
        "242.000000001 0 8 8 1\n242.5 0 16 8 0\n",
        "fio version 2 iolog\n/dev/a add\n/dev/a open\n/dev/a read 0 4096\nwait 10\n/dev/a write 4096 512\n",
        "fio version 3 iolog\n1 /dev/a trim 0 4096\n2 /dev/a sync 8 0\n3 /dev/a datasync\n",
        "time_us,op,offset,length,fua\n1,trim,0,4096,0\n2,flush,,,\n3,write,0,512,1\n4,write-zeroes,0,512,\n",
        "time_us,op,offset,length\n1,read,0,4096\n2.5,write,4096,512\n",
        "fio version 3 iolog\n1 /dev/a read 0 4096\n2 /dev/a write 4096 512\n",
    ];
    let formats = Format::ALL.len() as u8;
    let in_ms = 5 * 2 * formats + formats;
    let binary = [vscsi(1), vscsi(2)];
    let all = samples.iter().map(|text| text.as_bytes()).chain(binary.iter().map(Vec::as_slice));
    all.flat_map(|bytes| [formats, 0, 1, in_ms].map(|first| [&[first], bytes].concat())).collect()
}

/// Two records of binary VSCSI: a read and a write.
fn vscsi(version: u8) -> Vec<u8> {
    let record = |command: u8, time: u8| -> Vec<u8> {
        let mut record = vec![0; if version == 1 { 32 } else { 40 }];
        let (command_at, version_at, length_at) = if version == 1 { (12, 15, 4) } else { (0, 3, 8) };
        (record[command_at], record[version_at]) = (command, version);
        (record[length_at + 1], record[16], record[24]) = (2, 8, time);
        record
    };
    [record(0x28, 1), record(0x2a, 2)].concat()
}

fn feed(input: &[u8]) -> String {
    let (first, bytes) = input.split_first().unwrap_or((&0, &[]));
    let choice = usize::from(*first) % (2 * Format::ALL.len());
    let lenient = first % 2 == 1;
    // Larger bytes also name a unit of times.
    let unit = (usize::from(*first) / (2 * Format::ALL.len())).checked_sub(2);
    let options = TraceOptions {
        format: Format::ALL.get(choice).copied(),
        time_unit: unit.and_then(|unit| TimeUnit::LIST.get(unit)).map(|unit| unit.value),
        loops: 1 + u32::from(lenient),
        order: match (lenient, choice % 4) {
            (false, _) => TimeOrder::Error,
            (true, 3) => TimeOrder::Sort,
            (true, _) => TimeOrder::Clamp,
        },
        volumes: if lenient && choice % 8 > 4 { Volumes::Together } else { Volumes::Overlaid },
        beyond: if lenient { Beyond::Wrap } else { Beyond::Reject },
        sizes: if lenient { Sizes::Reject } else { Sizes::Error },
        ..TraceOptions::default()
    };
    let mut source = match TraceSource::from_bytes("input", bytes, &options, DRIVE) {
        Ok(source) => source,
        Err(error) => return error.message,
    };
    let inside = |arrival: &Arrival| {
        let Span::Bytes { offset, length } = arrival.extent else { panic!("a trace speaks of bytes") };
        if arrival.op == Op::Flush {
            assert!(offset == 0 && length == 0, "a flush at {offset} + {length}");
            return;
        }
        assert!(arrival.op == Op::Write || !arrival.fua, "force unit access of a {}", arrival.op.name());
        assert!(length > 0 && offset < DRIVE && length <= DRIVE - offset, "{offset} + {length}");
    };
    let answer = read(&mut source, inside);
    if answer.is_ok() {
        let counts = source.counts();
        assert_eq!(counts.requests, counts.issued() + counts.rejected);
    }
    answer.unwrap_or_else(|message| message)
}

/// Reads a trace to its end, in whose times nothing may run backwards; `check` gets each request.
///
/// # Errors
/// The complaint about it.
pub fn read(source: &mut TraceSource, check: impl Fn(&Arrival)) -> Result<String, String> {
    let mut before = Time::ZERO;
    loop {
        match source.next().map_err(|error| error.message)? {
            Next::Request(arrival) => {
                assert!(arrival.at >= before, "time ran backwards");
                before = arrival.at;
                check(&arrival);
            }
            Next::Await => panic!("a trace never waits"),
            Next::End => return Ok("read".into()),
        }
    }
}
