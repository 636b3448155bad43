//! The record of what a drive was given: a head that says which drive, then a line for each command in the order of submission, so that a
//! run can give the same drive the same requests at the same instants.
//!
//! Must never know sockets. The form of the head is `lab/scenario/src/recording.rs`'s, that of the lines `lab/trace/src/format/recording.rs`'s.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use flashlane_core::{Op, Time};
use flashlane_outputs::shown;

/// A record that is being written.
#[derive(Debug)]
pub(crate) struct Record {
    out: BufWriter<File>,
    lines: u64,
    failed: Option<String>,
}

impl Record {
    /// Makes the file, which must not be there yet, with `head`.
    ///
    /// # Errors
    /// A file that is there, or cannot be made, by its name.
    pub(crate) fn create(path: &Path, head: &str) -> Result<Record, String> {
        let failed = |why: io::Error| match why.kind() {
            io::ErrorKind::AlreadyExists => {
                format!("--record {}: is there already, and is not replaced; name another file", shown::path(path))
            }
            _ => format!("--record {}: cannot be written: {why}", shown::path(path)),
        };
        let file = OpenOptions::new().write(true).create_new(true).open(path).map_err(failed)?;
        let mut out = BufWriter::with_capacity(1 << 18, file);
        out.write_all(head.as_bytes()).and_then(|()| out.flush()).map_err(failed)?;
        Ok(Record { out, lines: 0, failed: None })
    }

    /// Adds a command for `length` bytes from `offset` of its flow's range on that the drive was given at `now`. After a line that
    /// cannot be written there are no more.
    pub(crate) fn add(&mut self, now: Time, flow: usize, op: Op, (offset, length): (u64, u64), force: bool) {
        if self.failed.is_some() {
            return;
        }
        let (kind, forced) = (op.name(), u8::from(force));
        let written = writeln!(self.out, "{flow},{},{offset},{length},{kind},{forced}", now.ns());
        self.lines += 1;
        self.failed = written.err().map(|why| why.to_string());
    }

    /// Adds a line that is no command.
    pub(crate) fn add_line(&mut self, line: &str) {
        if self.failed.is_none() {
            self.failed = self.out.write_all(line.as_bytes()).err().map(|why| why.to_string());
        }
    }

    /// Gives the file what was added so far: it is there if the server is killed then.
    pub(crate) fn flush(&mut self) {
        if let (None, Err(why)) = (&self.failed, self.out.flush()) {
            self.failed = Some(why.to_string());
        }
    }

    /// Ends the record: the number of its lines, or why not all of them could be written.
    pub(crate) fn end(mut self) -> Result<u64, String> {
        self.flush();
        self.failed.map_or(Ok(self.lines), Err)
    }
}
