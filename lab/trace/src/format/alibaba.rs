//! Alibaba block traces: `device,R|W,offset(B),length(B),timestamp(us)`. Every device is an address space of its own.

use std::io::Write;

use super::definition::{About, How, Recognised, TraceFormat, Writer};
use super::outgoing::{Outgoing, Unwritten};
use super::record::{Line, RawRecord, numbered, read_or_write};
use crate::TimeUnit;
use crate::cursor::{Cursor, Fault};

/// Microseconds that still fit 64 bits in nanoseconds.
const MICROSECONDS: &str = "a whole number of microseconds from 0 to 18446744073709551";

/// Reads the lines of a file.
#[derive(Clone, Default, Debug)]
pub(crate) struct Reader;

impl TraceFormat for Reader {
    const ABOUT: About = About {
        key: "alibaba",
        title: "Alibaba",
        shape: "device,R|W,offset(B),length(B),timestamp(us)",
        time_unit: TimeUnit::Us,
        has_date: true,
        resolution_ns: 1_000,
        first_line_may_be_header: true,
        recognised: Recognised::REQUESTS,
        writer: Writer::Line(write),
        sample: "7,R,8192,4096,1577808000000100\n9,W,40960,24576,1577808000000350\n",
        ..About::PLAIN
    };

    #[inline]
    fn read(&mut self, line: &mut Cursor<'_>, _: &How, _: u64) -> Result<Line, Fault> {
        let device = numbered(line, "the device")?;
        line.comma("the operation")?;
        let op_fault = line.fault("the operation", "R or W");
        let op = read_or_write(line.cell()).ok_or(op_fault)?;
        line.comma("the offset in bytes")?;
        let offset = line.number("the offset in bytes")?;
        line.comma("the length in bytes")?;
        let length = line.number("the length in bytes")?;
        line.comma("the time in us")?;
        let late = line.fault("the time in us", MICROSECONDS);
        let time_ns = line.number("the time in us")?.checked_mul(1_000).ok_or(late)?;
        line.finish()?;
        Ok(Line::Request(RawRecord { time_ns, offset, length, op, device, ..RawRecord::PLAIN }))
    }
}

/// Writes one line.
fn write(out: &mut Vec<u8>, r: &Outgoing<'_>) -> Result<(), Unwritten> {
    writeln!(out, "{},{},{},{},{}", r.device, r.letter(), r.offset, r.length, r.ns / 1_000)?;
    Ok(())
}
