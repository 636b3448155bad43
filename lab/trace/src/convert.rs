//! A trace rewritten in another text format, with the options applied (so it also cuts, filters and speeds up).
//!
//! The output file is whole or absent, as [`OutFile`] promises.

use std::fmt;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use flate2::write::GzEncoder;
use serde::Serialize;

use super::counts::{TraceCounts, is_zero};
use super::format::outgoing::Unwritten;
use super::input::origins;
use super::source::TraceSource;
use super::write::LineWriter;
use super::{Format, TraceOptions, Volumes, error};
use flashlane_core::arrival::WorkloadError;
use flashlane_outputs::{OutFile, OutputError};

/// The report of a conversion.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ConvertReport {
    /// The format of the input.
    pub from: Format,
    /// Why the input was read as that format, and what else was chosen or is left out.
    pub reason: String,
    /// The format of the output.
    pub to: Format,
    /// Counts of what was read.
    pub counts: TraceCounts,
    /// How many volumes it is of.
    pub volumes: u64,
    /// Whether each request still says of which.
    pub keeps_volumes: bool,
    /// Whether they have one address space, each after the other.
    pub together: bool,
    /// Requests written.
    pub written: u64,
    /// Requests left out, because the format does not have their kind (trim, write zeroes, flush).
    #[serde(skip_serializing_if = "is_zero")]
    pub left_out: u64,
    /// Writes with force unit access that were written without, because the format cannot say it.
    #[serde(skip_serializing_if = "is_zero")]
    pub without_fua: u64,
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

/// Writes the trace at `input`, on a drive of `capacity_bytes`, to `output` as `to`, gz or zst by the extension `.gz` or `.zst`.
///
/// # Errors
/// A trace that cannot be read, or that the format cannot express, or a fault while writing.
pub fn convert(
    input: &Path,
    output: OutFile,
    options: &TraceOptions,
    capacity_bytes: u64,
    to: Format,
) -> Result<ConvertReport, ConvertError> {
    if !to.writable() {
        let legal: Vec<_> = Format::ALL.into_iter().filter(|f| f.writable()).map(Format::key).collect();
        return Err(error("to", format!("`{to}` is not written; legal is one of {}", legal.join(", "))).into());
    }
    let mut source = TraceSource::of(origins(input)?, options, capacity_bytes)?;
    let (file, pending) = output.parts();
    let compression =
        Compression::of(pending.shown()).map_err(|why| error(pending.shown().display().to_string(), why))?;
    let mut lines = CompressedOutput::new(file, compression)
        .and_then(|out| LineWriter::new(out, to))
        .map_err(|e| pending.fault(&e))?;
    let says = to.about().says;
    let (mut written, mut left_out, mut without_fua) = (0, 0, 0);
    while let Some(mut request) = source.next_adapted()? {
        if !says.has(request.op) {
            left_out += 1;
            continue;
        }
        if request.fua && !says.fua {
            request.fua = false;
            without_fua += 1;
        }
        let device = match options.volumes {
            // One address space is one device.
            Volumes::Together => {
                request.device = 0;
                &b""[..]
            }
            _ => source.devices().get(request.device as usize).map_or(&b""[..], Vec::as_slice),
        };
        if options.volumes == Volumes::Apart && request.device > 0 && !to.about().has_volumes {
            let message = format!(
                "`apart`: a {to} trace has no volumes, and this one has several; legal is overlaid or together"
            );
            return Err(error("volumes", message).into());
        }
        lines.write(&request, device).map_err(|why| match why {
            Unwritten::Io(e) => ConvertError::Output(pending.fault(&e)),
            Unwritten::Illegal(why) => error(source.place(), why).into(),
        })?;
        written += 1;
    }
    let file = lines.finish().and_then(CompressedOutput::finish).map_err(|e| pending.fault(&e))?;
    pending.finish(file)?;
    let recognition = source.recognition();
    Ok(ConvertReport {
        from: recognition.format,
        reason: recognition.to_string(),
        to,
        counts: source.counts(),
        volumes: source.volumes(),
        keeps_volumes: to.about().has_volumes && options.volumes != Volumes::Together,
        together: options.volumes == Volumes::Together,
        written,
        left_out,
        without_fua,
        resolution_ns: to.about().resolution_ns,
    })
}

/// The compression of the output.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Compression {
    Plain,
    Gz,
    Zst,
}

impl Compression {
    /// The compression that the output's name asks for.
    ///
    /// # Errors
    /// One that is read and not written.
    fn of(output: &Path) -> Result<Compression, String> {
        match output.extension().and_then(|e| e.to_str()) {
            Some("gz") => Ok(Compression::Gz),
            Some("zst") => Ok(Compression::Zst),
            Some(other @ ("xz" | "bz2")) => {
                Err(format!("`.{other}` is read and not written; legal is .gz, .zst, or a name without compression"))
            }
            _ => Ok(Compression::Plain),
        }
    }
}

/// The output with its compression.
enum CompressedOutput {
    Plain(BufWriter<File>),
    Gz(Box<GzEncoder<BufWriter<File>>>),
    Zst(Box<zstd::stream::write::Encoder<'static, BufWriter<File>>>),
}

impl CompressedOutput {
    fn new(file: BufWriter<File>, compression: Compression) -> io::Result<BufWriter<CompressedOutput>> {
        let packed = match compression {
            Compression::Plain => CompressedOutput::Plain(file),
            Compression::Gz => CompressedOutput::Gz(Box::new(GzEncoder::new(file, flate2::Compression::default()))),
            Compression::Zst => CompressedOutput::Zst(Box::new(zstd::stream::write::Encoder::new(file, 0)?)),
        };
        Ok(BufWriter::with_capacity(1 << 16, packed))
    }

    /// Ends the compressed stream and returns the complete file.
    fn finish(buffered: BufWriter<CompressedOutput>) -> io::Result<BufWriter<File>> {
        match buffered.into_inner().map_err(io::IntoInnerError::into_error)? {
            CompressedOutput::Plain(file) => Ok(file),
            CompressedOutput::Gz(encoder) => encoder.finish(),
            CompressedOutput::Zst(encoder) => encoder.finish(),
        }
    }
}

impl Write for CompressedOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            CompressedOutput::Plain(file) => file.write(bytes),
            CompressedOutput::Gz(encoder) => encoder.write(bytes),
            CompressedOutput::Zst(encoder) => encoder.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            CompressedOutput::Plain(file) => file.flush(),
            CompressedOutput::Gz(encoder) => encoder.flush(),
            CompressedOutput::Zst(encoder) => encoder.flush(),
        }
    }
}
