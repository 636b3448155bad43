//! The VSCSI traces of CloudPhysics as CSV: a header line, then `version,time(us),op,size(B),lbn(512 B)`.
//!
//! The operation is a SCSI command's number, decimal or hexadecimal; no decimal number of a read or a write is the hexadecimal number of
//! another. SYNCHRONIZE CACHE is a flush. Other commands are skipped: of UNMAP and WRITE SAME the trace has no range, which is not in
//! the fields that it records. The trace names no device.

use std::io::Write;

use flashlane_core::Op;

use super::definition::{About, How, Recognised, Says, TraceFormat, Writer};
use super::outgoing::{Outgoing, Unwritten};
use super::record::{Line, RawRecord, range};
use crate::TimeUnit;
use crate::cursor::{Cursor, Fault, WHOLE};

/// READ and WRITE with 6, 10, 12 and 16 bytes, and as words.
const READS: [&[u8]; 12] = [b"8", b"40", b"168", b"136", b"08", b"28", b"a8", b"88", b"0x8", b"0x28", b"0xa8", b"0x88"];
const WRITES: [&[u8]; 12] =
    [b"10", b"42", b"170", b"138", b"0a", b"2a", b"aa", b"8a", b"0xa", b"0x2a", b"0xaa", b"0x8a"];

/// SYNCHRONIZE CACHE with 10 and 16 bytes.
const FLUSHES: [&[u8]; 6] = [b"53", b"145", b"35", b"91", b"0x35", b"0x91"];

/// Reads the lines of a file.
#[derive(Clone, Debug)]
pub(crate) struct Reader {
    /// The unit of times, if it is not the format's own.
    unit: Option<TimeUnit>,
}

impl TraceFormat for Reader {
    const ABOUT: About = About {
        key: "vscsi",
        title: "VSCSI (CloudPhysics)",
        shape: "version,time(us),SCSI command,size(B),lbn(512 B)",
        time_unit: TimeUnit::Us,
        resolution_ns: 1_000,
        first_line_may_be_header: true,
        recognised: Recognised::REQUESTS,
        header: Some("version,time,op,size,lbn"),
        writer: Writer::Line(write),
        says: Says { flushes: true, ..Says::PLAIN },
        sample: "version,time,op,size,lbn\n1,5633898368802,40,4096,16\n1,5633898369052,42,24576,80\n",
        has_volumes: false,
        ..About::PLAIN
    };

    fn open(how: &How) -> Reader {
        Reader { unit: how.unit }
    }

    #[inline]
    fn read(&mut self, line: &mut Cursor<'_>, _: u64) -> Result<Line, Fault> {
        let start = line.pos();
        let device = range(start, line);
        line.number("the version")?;
        line.comma("the time in us")?;
        let late = line.fault("the time in us", WHOLE);
        let time_ns = match self.unit {
            // Some copies were made by way of floating-point numbers and end in `.0`.
            None => line.decimal("the time in us", 0)?.checked_mul(1_000).ok_or(late)?,
            Some(unit) => line.time(unit)?,
        };
        line.comma("the operation")?;
        let op_fault = line.fault("the operation", "the number of a SCSI command, such as 40 (read) or 42 (write)");
        let cell = line.cell();
        if cell.is_empty() || !cell.iter().all(u8::is_ascii_alphanumeric) {
            return Err(op_fault);
        }
        let word = cell.to_ascii_lowercase();
        let is_in = |words: &[&[u8]]| words.contains(&word.as_slice());
        line.comma("the size in bytes")?;
        let length = line.number("the size in bytes")?;
        line.comma("the block")?;
        let offset = line.sectors("the block")?;
        line.finish()?;
        let op = match () {
            () if is_in(&READS) => Op::Read,
            () if is_in(&WRITES) => Op::Write,
            () if is_in(&FLUSHES) => return Ok(Line::Request(RawRecord::flush(time_ns, device))),
            () => return Ok(Line::Skip),
        };
        Ok(Line::Request(RawRecord { time_ns, offset, length, op, device, ..RawRecord::PLAIN }))
    }
}

/// Writes one line.
fn write(out: &mut Vec<u8>, r: &Outgoing<'_>) -> Result<(), Unwritten> {
    let command = match r.op {
        Op::Read => 40,
        Op::Flush => 53,
        _ => 42,
    };
    let lba = r.offset_sectors()?;
    writeln!(out, "1,{},{command},{},{lba}", r.ns / 1_000, r.length)?;
    Ok(())
}
