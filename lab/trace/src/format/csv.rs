//! Any CSV, by the names or numbers of its columns: [`super::cells`] reads its lines.

use std::io::Write;

use super::cells::CellReader;
use super::definition::{About, How, Recognised, Says, TraceFormat, Writer};
use super::outgoing::{Outgoing, Unwritten};
use super::record::Line;
use crate::TimeUnit;
use crate::column_spec::WRITE_FUA;
use crate::cursor::{Cursor, Fault};

/// Reads the lines of a file whose columns are known.
#[derive(Clone, Default, Debug)]
pub(crate) struct Reader(Option<Box<CellReader>>);

impl TraceFormat for Reader {
    const ABOUT: About = About {
        key: "csv",
        title: "CSV",
        shape: "time_ns,op,offset,length as the header or --columns names them",
        time_unit: TimeUnit::Ns,
        recognised: Recognised::Header,
        header: Some("time_ns,op,offset,length"),
        writer: Writer::Line(write),
        says: Says { trims: true, write_zeroes: true, flushes: true, fua: true },
        sample: "time_us,op,offset,length\n10,read,8192,4096\n35,write,40960,24576\n",
        has_volumes: false,
        ..About::PLAIN
    };

    fn open(how: &How) -> Reader {
        Reader(how.csv.clone().map(Box::new))
    }

    #[inline]
    fn read(&mut self, line: &mut Cursor<'_>, _: &How, _: u64) -> Result<Line, Fault> {
        match &mut self.0 {
            Some(cells) => cells.read(line),
            None => Err(line.fault("the columns", "a header that names them")),
        }
    }
}

/// Writes one line.
fn write(out: &mut Vec<u8>, r: &Outgoing<'_>) -> Result<(), Unwritten> {
    let word = if r.fua { WRITE_FUA } else { r.op.name() };
    writeln!(out, "{},{word},{},{}", r.ns, r.offset, r.length)?;
    Ok(())
}
