//! MSR Cambridge CSV: `filetime(100 ns since 1601),host,disk,Read|Write,offset(B),size(B)[,response(100 ns)]`.
//!
//! The device is `host,disk` as in the line. The response time is what the recorded disk took; it must be a number and
//! is not used.

use std::io::Write;

use flashlane_core::Op;

use super::definition::{About, How, Recognised, TraceFormat, Writer};
use super::outgoing::{Outgoing, Unwritten};
use super::record::{Line, RawRecord, range, read_or_write};
use crate::TimeUnit;
use crate::cursor::{Cursor, Fault};

/// A Windows file time that still fits 64 bits in nanoseconds (until the year 2185).
const FILETIME: &str = "a Windows file time in 100 ns from 0 to 184467440737095516";

/// Reads the lines of a file.
#[derive(Clone, Default, Debug)]
pub(crate) struct Reader;

impl TraceFormat for Reader {
    const ABOUT: About = About {
        key: "msr",
        title: "MSR Cambridge CSV",
        shape: "filetime(100 ns),host,disk,Read|Write,offset(B),size(B)[,response]",
        time_unit: TimeUnit::HundredNs,
        has_date: true,
        resolution_ns: 100,
        first_line_may_be_header: true,
        recognised: Recognised::REQUESTS,
        device,
        writer: Writer::Line(write),
        sample: "128166372003061629,usr,1,Read,8192,4096,512\n128166372003071629,usr,1,Write,40960,24576,900\n",
        ..About::PLAIN
    };

    #[inline]
    fn read(&mut self, line: &mut Cursor<'_>, _: &How, _: u64) -> Result<Line, Fault> {
        let late = line.fault("the file time", FILETIME);
        let time_ns = line.number("the file time")?.checked_mul(100).ok_or(late)?;
        line.comma("the host")?;
        let start = line.pos();
        if line.cell().is_empty() {
            return Err(line.fault("the host", "a name"));
        }
        line.comma("the disk")?;
        line.number("the disk")?;
        let device = range(start, line);
        line.comma("the type")?;
        let type_fault = line.fault("the type", "Read or Write");
        let op = read_or_write(line.cell()).ok_or(type_fault)?;
        line.comma("the offset in bytes")?;
        let offset = line.number("the offset in bytes")?;
        line.comma("the size in bytes")?;
        let length = line.number("the size in bytes")?;
        if !line.at_end() {
            line.comma("the response time")?;
            line.number("the response time in 100 ns")?;
            line.finish()?;
        }
        Ok(Line::Request(RawRecord { time_ns, offset, length, op, device, ..RawRecord::PLAIN }))
    }
}

/// Writes one line.
fn write(out: &mut Vec<u8>, r: &Outgoing<'_>) -> Result<(), Unwritten> {
    let word = if r.op == Op::Read { "Read" } else { "Write" };
    writeln!(out, "{},{},{word},{},{},0", r.ns / 100, host_and_disk(r), r.offset, r.length)?;
    Ok(())
}

/// `host,disk`.
fn host_and_disk(r: &Outgoing<'_>) -> String {
    match r.name_parts() {
        Some((host, disk)) if host.bytes().any(|b| b.is_ascii_alphabetic()) && disk.trim().parse::<u64>().is_ok() => {
            format!("{},{}", host.trim(), disk.trim())
        }
        _ => format!("trace,{}", r.device),
    }
}

/// `host,disk`, which may be given as its files are named: `hm_0`.
fn device(name: &str) -> Vec<u8> {
    match name.rsplit_once('_') {
        Some((host, disk)) if !name.contains(',') => format!("{host},{disk}").into_bytes(),
        _ => About::same_name(name),
    }
}
