//! SPC 1.0.1, as in the UMass repository: `ASU,lba(512 B),size(B),r|w,seconds[,...]`, white space allowed around fields,
//! the operation in either case, any further fields ignored.
//!
//! An application storage unit (ASU) is an address space of its own: the device filter selects one.

use std::io::Write;

use super::definition::{About, How, Recognised, TraceFormat, Writer};
use super::outgoing::{Outgoing, Unwritten};
use super::record::{Line, RawRecord, numbered, read_or_write};
use crate::TimeUnit;
use crate::cursor::{Cursor, Fault};

/// Reads the lines of a file.
#[derive(Clone, Default, Debug)]
pub(crate) struct Reader;

impl TraceFormat for Reader {
    const ABOUT: About = About {
        key: "spc",
        title: "SPC (UMass)",
        shape: "ASU,lba(512 B),size(B),r|w,seconds[,...]",
        time_unit: TimeUnit::S,
        first_line_may_be_header: true,
        recognised: Recognised::REQUESTS,
        writer: Writer::Line(write),
        sample: "0,16,4096,R,0.000000\n1, 80 ,24576,w,0.001500\n",
        ..About::PLAIN
    };

    #[inline]
    fn read(&mut self, line: &mut Cursor<'_>, how: &How, _: u64) -> Result<Line, Fault> {
        let device = numbered(line, "the ASU")?;
        line.comma("the address in sectors")?;
        let offset = line.sectors("the address in sectors")?;
        line.comma("the size in bytes")?;
        let length = line.number("the size in bytes")?;
        line.comma("the operation")?;
        let op_fault = line.fault("the operation", "r, R, w or W");
        let op = read_or_write(line.cell()).ok_or(op_fault)?;
        line.comma("the time in seconds")?;
        let time_ns = how.time(line, |line| line.decimal("the time in seconds", 9))?;
        if !line.at_end() {
            line.comma("the end of the line")?;
        }
        Ok(Line::Request(RawRecord { time_ns, offset, length, op, device, ..RawRecord::PLAIN }))
    }
}

/// Writes one line.
fn write(out: &mut Vec<u8>, r: &Outgoing<'_>) -> Result<(), Unwritten> {
    let (lba, (s, rest)) = (r.offset_sectors()?, r.s());
    writeln!(out, "{},{lba},{},{},{s}.{rest:09}", r.device, r.length, r.letter())?;
    Ok(())
}
