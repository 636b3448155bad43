//! A request on its way into a file, and the fields that several formats share.

use std::io;

use flashlane_core::Op;

/// Why a request is not written.
pub(crate) enum Unwritten {
    /// The format cannot express the request.
    Illegal(String),
    /// Writing failed.
    Io(io::Error),
}

impl From<io::Error> for Unwritten {
    fn from(e: io::Error) -> Self {
        Unwritten::Io(e)
    }
}

/// A request to be written.
pub(crate) struct Outgoing<'a> {
    /// When it arrives, ns.
    pub ns: u64,
    pub offset: u64,
    pub length: u64,
    pub op: Op,
    /// Of a write: with force unit access.
    pub fua: bool,
    /// The name of its device in the input.
    pub name: &'a [u8],
    /// This name as a number or, if it is none, the device's number among those of the input.
    pub device: u64,
    /// How many requests are written with it, from 1.
    pub number: u64,
    /// The title of the format it is written in.
    pub format: &'static str,
}

impl Outgoing<'_> {
    /// `R` or `W`.
    pub fn letter(&self) -> char {
        if self.op == Op::Read { 'R' } else { 'W' }
    }

    /// 1 for a read, 0 for a write.
    pub fn one_is_read(&self) -> u8 {
        u8::from(self.op == Op::Read)
    }

    /// Milliseconds, and the nanoseconds beyond them.
    pub fn ms(&self) -> (u64, u64) {
        (self.ns / 1_000_000, self.ns % 1_000_000)
    }

    /// Seconds, and the nanoseconds beyond them.
    pub fn s(&self) -> (u64, u64) {
        (self.ns / 1_000_000_000, self.ns % 1_000_000_000)
    }

    /// The offset in sectors.
    pub fn offset_sectors(&self) -> Result<u64, Unwritten> {
        self.sectors(self.offset, "offset")
    }

    /// The length in sectors.
    pub fn length_sectors(&self) -> Result<u64, Unwritten> {
        self.sectors(self.length, "size")
    }

    fn sectors(&self, bytes: u64, what: &str) -> Result<u64, Unwritten> {
        if bytes.is_multiple_of(512) {
            return Ok(bytes / 512);
        }
        let title = self.format;
        Err(Unwritten::Illegal(format!(
            "{what} of {bytes} bytes; legal for {title} are multiples of 512 (replayer, alibaba, msr, systor and iolog-v3 count bytes)"
        )))
    }

    /// The device's name as two parts with a comma between them.
    pub fn name_parts(&self) -> Option<(&str, &str)> {
        std::str::from_utf8(self.name).ok()?.split_once(',')
    }
}
