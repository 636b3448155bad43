//! Writes requests as lines of a format: the inverse of the readers.
//!
//! Promises that the format's reader reads the same requests back, with times rounded down to the format's resolution,
//! and refuses what a format cannot express (a size that is not a multiple of its sectors). Must never know files.

use std::io::{self, Write};

use flashlane_core::Op;

use super::Format;
use super::counts::AdaptedRequest;

/// Why a request is not written.
pub(super) enum Unwritten {
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

/// Writes lines of one format.
pub(super) struct LineWriter<W: Write> {
    out: W,
    format: Format,
    number: u64,
    /// iolog version 2: the sum of the waits so far, us.
    waited_us: u64,
    /// fio's logs: the files opened so far. fio wants each added and opened before its first request, and closed at the end.
    opened: Vec<String>,
    /// fio's logs: when the newest request arrived, us.
    last_us: u64,
}

/// The resolution of times in a format, in nanoseconds.
pub(super) const fn resolution_ns(format: Format) -> u64 {
    match format {
        Format::Mqsim | Format::Ssdsim | Format::Disksim | Format::Replayer | Format::Spc | Format::Csv => 1,
        Format::Blkparse | Format::Blktrace => 1,
        Format::Msr => 100,
        Format::Alibaba | Format::Systor | Format::Vscsi | Format::IologV2 | Format::IologV3 => 1_000,
        Format::Tencent => 1_000_000_000,
    }
}

impl<W: Write> LineWriter<W> {
    /// A writer of `format`, which writes its header first.
    pub fn new(mut out: W, format: Format) -> io::Result<Self> {
        match format {
            Format::Systor => writeln!(out, "Timestamp,Response,IOType,LUN,Offset,Size")?,
            Format::Vscsi => writeln!(out, "version,time,op,size,lbn")?,
            Format::Csv => writeln!(out, "time_ns,op,offset,length")?,
            Format::IologV2 => writeln!(out, "fio version 2 iolog")?,
            Format::IologV3 => writeln!(out, "fio version 3 iolog")?,
            _ => {}
        }
        Ok(LineWriter { out, format, number: 0, waited_us: 0, opened: Vec::new(), last_us: 0 })
    }

    /// Closes what the format wants closed, flushes and returns the writer.
    pub fn finish(mut self) -> io::Result<W> {
        for name in std::mem::take(&mut self.opened) {
            self.iolog_action(self.last_us, &name, "close")?;
        }
        self.out.flush()?;
        Ok(self.out)
    }

    /// Writes one request to the device called `device` (the `r.device`-th of the input).
    pub fn write(&mut self, r: &AdaptedRequest, device: &[u8]) -> Result<(), Unwritten> {
        self.number += 1;
        let (ns, offset, length) = (r.at_ns, r.offset, r.length);
        let number = device_number(device).unwrap_or(u64::from(r.device));
        let one_is_read = u8::from(r.op == Op::Read);
        let letter = if r.op == Op::Read { 'R' } else { 'W' };
        let word = if r.op == Op::Read { "Read" } else { "Write" };
        let (ms, ms_rest) = (ns / 1_000_000, ns % 1_000_000);
        let (s, s_rest) = (ns / 1_000_000_000, ns % 1_000_000_000);
        let sectors = |bytes: u64, what: &str| self.sectors(bytes, what);
        match self.format {
            Format::Mqsim | Format::Ssdsim => {
                let (lba, n) = (sectors(offset, "offset")?, sectors(length, "size")?);
                writeln!(self.out, "{ns} {number} {lba} {n} {one_is_read}")?;
            }
            Format::Disksim => {
                let (lba, n) = (sectors(offset, "offset")?, sectors(length, "size")?);
                writeln!(self.out, "{ms}.{ms_rest:06} {number} {lba} {n} {one_is_read}")?;
            }
            Format::Replayer => writeln!(self.out, "{ms}.{ms_rest:06} {number} {offset} {length} {one_is_read}")?,
            Format::Msr => {
                let name = msr_name(device, number);
                writeln!(self.out, "{},{name},{word},{offset},{length},0", ns / 100)?;
            }
            Format::Spc => {
                let lba = sectors(offset, "offset")?;
                writeln!(self.out, "{number},{lba},{length},{letter},{s}.{s_rest:09}")?;
            }
            Format::Alibaba => writeln!(self.out, "{number},{letter},{offset},{length},{}", ns / 1_000)?,
            Format::Tencent => {
                let (lba, n) = (sectors(offset, "offset")?, sectors(length, "size")?);
                writeln!(self.out, "{s},{lba},{n},{},{number}", 1 - one_is_read)?;
            }
            Format::Systor => writeln!(self.out, "{s}.{:06},0,{letter},{number},{offset},{length}", s_rest / 1_000)?,
            Format::Vscsi => {
                let (lba, command) = (sectors(offset, "offset")?, if r.op == Op::Read { 40 } else { 42 });
                writeln!(self.out, "1,{},{command},{length},{lba}", ns / 1_000)?;
            }
            Format::Blkparse => {
                let (lba, n) = (sectors(offset, "offset")?, sectors(length, "size")?);
                let name = blkparse_name(device, number);
                writeln!(self.out, "{name} 0 {} {s}.{s_rest:09} 0 Q {letter} {lba} + {n} [trace]", self.number)?;
            }
            Format::IologV2 | Format::IologV3 => self.iolog(r, device)?,
            Format::Csv => writeln!(self.out, "{ns},{},{offset},{length}", r.op.name())?,
            Format::Blktrace => return Err(Unwritten::Illegal("binary blktrace is not written".to_owned())),
        }
        Ok(())
    }

    /// Writes one request of fio's logs.
    fn iolog(&mut self, r: &AdaptedRequest, device: &[u8]) -> io::Result<()> {
        let name = iolog_name(device);
        let us = r.at_ns / 1_000;
        self.last_us = us;
        if !self.opened.contains(&name) {
            self.iolog_action(us, &name, "add")?;
            self.iolog_action(us, &name, "open")?;
            self.opened.push(name.clone());
        }
        if self.format == Format::IologV3 {
            return writeln!(self.out, "{us} {name} {} {} {}", r.op.name(), r.offset, r.length);
        }
        if us > self.waited_us {
            writeln!(self.out, "{name} wait {} 0", us - self.waited_us)?;
            self.waited_us = us;
        }
        writeln!(self.out, "{name} {} {} {}", r.op.name(), r.offset, r.length)
    }

    /// Writes what happens to a file in fio's logs.
    fn iolog_action(&mut self, us: u64, name: &str, action: &str) -> io::Result<()> {
        if self.format == Format::IologV3 {
            return writeln!(self.out, "{us} {name} {action}");
        }
        writeln!(self.out, "{name} {action}")
    }

    fn sectors(&self, bytes: u64, what: &str) -> Result<u64, Unwritten> {
        if bytes.is_multiple_of(512) {
            return Ok(bytes / 512);
        }
        let title = self.format.title();
        Err(Unwritten::Illegal(format!(
            "{what} of {bytes} bytes; legal for {title} are multiples of 512 (replayer, alibaba, msr, systor and iolog-v3 count bytes)"
        )))
    }
}

/// The device's name as a number, if it is one.
fn device_number(name: &[u8]) -> Option<u64> {
    std::str::from_utf8(name).ok()?.parse().ok()
}

/// `host,disk`.
fn msr_name(name: &[u8], number: u64) -> String {
    let parts = std::str::from_utf8(name).ok().and_then(|n| n.split_once(','));
    match parts {
        Some((host, disk)) if host.bytes().any(|b| b.is_ascii_alphabetic()) && disk.trim().parse::<u64>().is_ok() => {
            format!("{},{}", host.trim(), disk.trim())
        }
        _ => format!("trace,{number}"),
    }
}

/// `major,minor`.
fn blkparse_name(name: &[u8], number: u64) -> String {
    let parts = std::str::from_utf8(name).ok().and_then(|n| n.split_once(','));
    match parts {
        Some((major, minor)) if major.parse::<u32>().is_ok() && minor.parse::<u32>().is_ok() => {
            format!("{major},{minor}")
        }
        _ => format!("8,{number}"),
    }
}

/// A file name without white space.
fn iolog_name(name: &[u8]) -> String {
    let text = String::from_utf8_lossy(name);
    let plain: String = text.chars().map(|c| if c.is_whitespace() || c.is_control() { '_' } else { c }).collect();
    if plain.is_empty() || plain.starts_with('#') { format!("device{plain}") } else { plain }
}
