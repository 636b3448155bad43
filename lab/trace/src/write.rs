//! Writes requests as lines of a format: the inverse of the readers.
//!
//! Promises that the format's reader reads the same requests back, with times rounded down to the format's resolution,
//! and refuses what a format cannot express (a size that is not a multiple of its sectors). Must never know files.

use std::io::{self, Write};

use super::Format;
use super::counts::AdaptedRequest;
use super::format::definition::{WriteLines, Writer};
use super::format::outgoing::{Outgoing, Unwritten};

/// Writes lines of one format.
pub(super) struct LineWriter<W: Write> {
    out: W,
    format: Format,
    lines: Box<dyn WriteLines>,
    /// The lines of a request.
    text: Vec<u8>,
    number: u64,
}

impl<W: Write> LineWriter<W> {
    /// A writer of `format`, which writes its header first.
    ///
    /// # Errors
    /// The header cannot be written, or the format is not written at all.
    pub fn new(mut out: W, format: Format) -> io::Result<Self> {
        let lines: Box<dyn WriteLines> = match format.about().writer {
            Writer::Line(line) => Box::new(line),
            Writer::Lines(lines) => lines(),
            Writer::Never => return Err(io::Error::other(format!("{} is not written", format.title()))),
        };
        if let Some(header) = format.about().header {
            writeln!(out, "{header}")?;
        }
        Ok(LineWriter { out, format, lines, text: Vec::new(), number: 0 })
    }

    /// Writes what the format wants at the end, flushes and returns the writer.
    pub fn finish(mut self) -> io::Result<W> {
        self.text.clear();
        self.lines.end(&mut self.text)?;
        self.out.write_all(&self.text)?;
        self.out.flush()?;
        Ok(self.out)
    }

    /// Writes one request to the device called `name` (the `r.device`-th of the input).
    pub fn write(&mut self, r: &AdaptedRequest, name: &[u8]) -> Result<(), Unwritten> {
        self.number += 1;
        let device = device_number(name).unwrap_or(u64::from(r.device));
        let (ns, number, format) = (r.at_ns, self.number, self.format.title());
        let request =
            Outgoing { ns, offset: r.offset, length: r.length, op: r.op, fua: r.fua, name, device, number, format };
        self.text.clear();
        self.lines.request(&mut self.text, &request)?;
        self.out.write_all(&self.text)?;
        Ok(())
    }
}

/// The device's name as a number, if it is one.
fn device_number(name: &[u8]) -> Option<u64> {
    std::str::from_utf8(name).ok()?.parse().ok()
}
