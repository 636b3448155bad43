//! SYSTOR '17: a header line, then `timestamp(s),response(s),R|W|(blank),LUN,offset(B),size(B)`.
//!
//! A row with a blank operation (neither a read nor a write was recorded) is skipped. Times are exact to a microsecond:
//! further digits come from floating-point conversion, so they are rounded away.

use std::io::Write;

use super::definition::{About, How, Recognised, TraceFormat, Writer};
use super::outgoing::{Outgoing, Unwritten};
use super::record::{Line, RawRecord, range, read_or_write};
use crate::TimeUnit;
use crate::cursor::{Cursor, Fault};

/// Reads the lines of a file.
#[derive(Clone, Default, Debug)]
pub(crate) struct Reader;

impl TraceFormat for Reader {
    const ABOUT: About = About {
        key: "systor",
        title: "SYSTOR '17",
        shape: "timestamp(s),response(s),R|W|(blank),LUN,offset(B),size(B)",
        time_unit: TimeUnit::S,
        has_date: true,
        resolution_ns: 1_000,
        first_line_may_be_header: true,
        recognised: Recognised::REQUESTS,
        header: Some("Timestamp,Response,IOType,LUN,Offset,Size"),
        writer: Writer::Line(write),
        sample: "Timestamp,Response,IOType,LUN,Offset,Size\n1455592426.000250,0.1,R,2,8192,4096\n1455592426.000750,0.2,W,2,40960,24576\n",
        ..About::PLAIN
    };

    #[inline]
    fn read(&mut self, line: &mut Cursor<'_>, _: &How, _: u64) -> Result<Line, Fault> {
        // Concatenated files contain headers in the middle too.
        if line.line().trim_ascii_start().starts_with(b"Timestamp") {
            return Ok(Line::Skip);
        }
        let late = line.fault("the time in seconds", "a number of seconds from 0 to 18446744073.7");
        let exact_ns = line.decimal("the time in seconds", 9)?;
        let time_ns = exact_ns.checked_add(500).ok_or(late)? / 1_000 * 1_000;
        line.comma("the response time in seconds")?;
        if line.peek() != Some(b',') {
            line.decimal("the response time in seconds", 9)?;
        }
        line.comma("the operation")?;
        let op_fault = line.fault("the operation", "R, W or blank");
        let op = match line.cell() {
            b"" => None,
            cell => Some(read_or_write(cell).ok_or(op_fault)?),
        };
        line.comma("the LUN")?;
        let start = line.pos();
        line.cell();
        let device = range(start, line);
        line.comma("the offset in bytes")?;
        let Some(op) = op else { return Ok(Line::Skip) };
        let offset = line.number("the offset in bytes")?;
        line.comma("the size in bytes")?;
        let length = line.number("the size in bytes")?;
        line.finish()?;
        Ok(Line::Request(RawRecord { time_ns, offset, length, op, device, ..RawRecord::PLAIN }))
    }
}

/// Writes one line.
fn write(out: &mut Vec<u8>, r: &Outgoing<'_>) -> Result<(), Unwritten> {
    let (s, rest) = r.s();
    writeln!(out, "{s}.{:06},0,{},{},{},{}", rest / 1_000, r.letter(), r.device, r.offset, r.length)?;
    Ok(())
}
