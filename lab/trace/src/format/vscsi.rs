//! The VSCSI traces of CloudPhysics as CSV: a header line, then `version,time(us),op,size(B),lbn(512 B)`.
//!
//! The operation is a SCSI command's number, decimal or hexadecimal; the file decides which, because 42 is a write as one and an UNMAP as
//! the other. SYNCHRONIZE CACHE is a flush. Other commands are skipped: of UNMAP and WRITE SAME the trace has no range, which is not in
//! the fields that it records. The trace names no device.

use std::io::Write;

use flashlane_core::Op;

use super::definition::{About, How, Recognised, Says, TraceFormat, Writer};
use super::outgoing::{Outgoing, Unwritten};
use super::record::{Line, RawRecord, range};
use crate::TimeUnit;
use crate::cursor::{Cursor, Fault, WHOLE};

/// What a SCSI command asks for: READ and WRITE with 6, 10, 12 and 16 bytes, SYNCHRONIZE CACHE with 10 and 16.
pub(crate) fn operation(command: u8) -> Option<Op> {
    match command {
        0x08 | 0x28 | 0xa8 | 0x88 => Some(Op::Read),
        0x0a | 0x2a | 0xaa | 0x8a => Some(Op::Write),
        0x35 | 0x91 => Some(Op::Flush),
        _ => None,
    }
}

/// Whether the commands of these lines are hexadecimal: if any has a letter, else if more of them then read, write or flush.
pub(crate) fn is_hexadecimal(lines: &[&[u8]]) -> bool {
    let cells = lines.iter().filter(|line| line.trim_ascii_start().first().is_some_and(u8::is_ascii_digit));
    let commands: Vec<&[u8]> = cells.filter_map(|line| Some(line.split(|b| *b == b',').nth(2)?.trim_ascii())).collect();
    if commands.iter().any(|command| command.iter().any(u8::is_ascii_alphabetic)) {
        return true;
    }
    let known = |radix| commands.iter().filter(|c| number(c, radix).and_then(operation).is_some()).count();
    known(16) > known(10)
}

/// The number of a command.
fn number(cell: &[u8], radix: u32) -> Option<u8> {
    let digits = if radix == 16 { cell.strip_prefix(b"0x").or(cell.strip_prefix(b"0X")).unwrap_or(cell) } else { cell };
    let text = std::str::from_utf8(digits).ok().filter(|text| !text.starts_with('+'))?;
    u8::from_str_radix(text, radix).ok()
}

/// What a command must be, for messages.
const DECIMAL: &str = "the number of a SCSI command, such as 40 (read) or 42 (write), decimal as in the first lines";
const HEXADECIMAL: &str =
    "the number of a SCSI command, such as 28 (read) or 2a (write), hexadecimal as in the first lines";

/// Reads the lines of a file.
#[derive(Clone, Default, Debug)]
pub(crate) struct Reader;

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

    #[inline]
    fn read(&mut self, line: &mut Cursor<'_>, how: &How, _: u64) -> Result<Line, Fault> {
        let start = line.pos();
        let device = range(start, line);
        line.number("the version")?;
        line.comma("the time in us")?;
        let late = line.fault("the time in us", WHOLE);
        // Some copies were made by way of floating-point numbers and end in `.0`.
        let time_ns = how.time(line, |line| line.decimal("the time in us", 0)?.checked_mul(1_000).ok_or(late))?;
        line.comma("the operation")?;
        let (radix, legal) = if how.is_hexadecimal { (16, HEXADECIMAL) } else { (10, DECIMAL) };
        let op_fault = line.fault("the operation", legal);
        let command = number(line.cell(), radix).ok_or(op_fault)?;
        line.comma("the size in bytes")?;
        let length = line.number("the size in bytes")?;
        line.comma("the block")?;
        let offset = line.sectors("the block")?;
        line.finish()?;
        let op = match operation(command) {
            Some(Op::Flush) => return Ok(Line::Request(RawRecord::flush(time_ns, device))),
            Some(op) => op,
            None => return Ok(Line::Skip),
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
