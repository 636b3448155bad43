//! A trace rewritten in another text format, with the options applied (so it also cuts, filters and speeds up).
//!
//! The output file is whole or absent, as [`OutFile`] promises.

use std::fmt;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use flate2::write::GzEncoder;
use serde::Serialize;

use super::counts::TraceCounts;
use super::input::origins;
use super::source::TraceSource;
use super::write::{Lines, Unwritten, resolution_ns};
use super::{Format, TraceOptions, error};
use flashlane_core::arrival::WorkloadError;
use flashlane_outputs::{OutFile, OutputError};

/// The report of a conversion.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ConvertReport {
    /// The format of the input.
    pub from: Format,
    /// Why the input was read as that format.
    pub reason: String,
    /// The format of the output.
    pub to: Format,
    /// Counts of what was read.
    pub counts: TraceCounts,
    /// Requests written.
    pub written: u64,
    /// Times were rounded down to multiples of this.
    pub resolution_ns: u64,
}

/// Why a trace could not be converted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ConvertError {
    /// An error in the input, or in the choice of format.
    Input(WorkloadError),
    /// An error with the output file.
    Output(OutputError),
}

impl fmt::Display for ConvertError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConvertError::Input(error) => write!(f, "{error}"),
            ConvertError::Output(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for ConvertError {}

impl From<WorkloadError> for ConvertError {
    fn from(error: WorkloadError) -> ConvertError {
        ConvertError::Input(error)
    }
}

impl From<OutputError> for ConvertError {
    fn from(error: OutputError) -> ConvertError {
        ConvertError::Output(error)
    }
}

/// Writes the trace at `input` to `output` as `to`, gz or zst by the extension `.gz` or `.zst`.
///
/// # Errors
/// A trace that cannot be read, or that the format cannot express, or a fault while writing.
pub fn convert(
    input: &Path,
    output: OutFile,
    options: &TraceOptions,
    to: Format,
) -> Result<ConvertReport, ConvertError> {
    if !to.writable() {
        let legal: Vec<_> = Format::ALL.into_iter().filter(|f| f.writable()).map(Format::key).collect();
        return Err(error("to", format!("`{to}` is not written; legal is one of {}", legal.join(", "))).into());
    }
    let mut source = TraceSource::of(origins(input)?, options, u64::MAX, true)?;
    let (file, pending) = output.parts();
    let packing = Packing::of(pending.shown());
    let mut lines = Packed::new(file, packing).and_then(|out| Lines::new(out, to)).map_err(|e| pending.fault(&e))?;
    let mut written = 0u64;
    while let Some(request) = source.next_shaped()? {
        let device = source.devices().get(request.device as usize).map_or(&b""[..], Vec::as_slice);
        lines.write(&request, device).map_err(|why| match why {
            Unwritten::Io(e) => ConvertError::Output(pending.fault(&e)),
            Unwritten::Illegal(why) => error(source.place(), why).into(),
        })?;
        written += 1;
    }
    let file = lines.finish().and_then(Packed::finish).map_err(|e| pending.fault(&e))?;
    pending.finish(file)?;
    let recognition = source.recognition();
    Ok(ConvertReport {
        from: recognition.format,
        reason: recognition.reason.clone(),
        to,
        counts: source.counts(),
        written,
        resolution_ns: resolution_ns(to),
    })
}

/// The compression of the output.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Packing {
    Plain,
    Gz,
    Zst,
}

impl Packing {
    /// The compression that the output's name asks for.
    fn of(output: &Path) -> Packing {
        match output.extension().and_then(|e| e.to_str()) {
            Some("gz") => Packing::Gz,
            Some("zst") => Packing::Zst,
            _ => Packing::Plain,
        }
    }
}

/// The output with its compression.
enum Packed {
    Plain(BufWriter<File>),
    Gz(Box<GzEncoder<BufWriter<File>>>),
    Zst(Box<zstd::stream::write::Encoder<'static, BufWriter<File>>>),
}

impl Packed {
    fn new(file: BufWriter<File>, packing: Packing) -> io::Result<BufWriter<Packed>> {
        let packed = match packing {
            Packing::Plain => Packed::Plain(file),
            Packing::Gz => Packed::Gz(Box::new(GzEncoder::new(file, flate2::Compression::default()))),
            Packing::Zst => Packed::Zst(Box::new(zstd::stream::write::Encoder::new(file, 0)?)),
        };
        Ok(BufWriter::with_capacity(1 << 16, packed))
    }

    /// Ends the compressed stream and returns the complete file.
    fn finish(buffered: BufWriter<Packed>) -> io::Result<BufWriter<File>> {
        match buffered.into_inner().map_err(io::IntoInnerError::into_error)? {
            Packed::Plain(file) => Ok(file),
            Packed::Gz(encoder) => encoder.finish(),
            Packed::Zst(encoder) => encoder.finish(),
        }
    }
}

impl Write for Packed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Packed::Plain(file) => file.write(bytes),
            Packed::Gz(encoder) => encoder.write(bytes),
            Packed::Zst(encoder) => encoder.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Packed::Plain(file) => file.flush(),
            Packed::Gz(encoder) => encoder.flush(),
            Packed::Zst(encoder) => encoder.flush(),
        }
    }
}
