//! A trace rewritten in another text format, with the options applied (so it also cuts, filters and speeds up).
//!
//! Promises the whole output file or none: it is written beside its place under a temporary name and moved there last.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use flate2::write::GzEncoder;
use serde::Serialize;
use tempfile::NamedTempFile;

use super::super::WorkloadError;
use super::counts::TraceCounts;
use super::input::origins;
use super::source::TraceSource;
use super::write::{Lines, Unwritten, resolution_ns};
use super::{Format, TraceOptions, error};

/// What a conversion did.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ConvertReport {
    /// The format of the input.
    pub from: Format,
    /// Why it was taken for it.
    pub reason: String,
    /// The format of the output.
    pub to: Format,
    /// What was read and what became of it.
    pub counts: TraceCounts,
    /// Requests written.
    pub written: u64,
    /// Times were cut to multiples of this.
    pub resolution_ns: u64,
}

/// Writes the trace at `input` to `output` as `to`, gz or zst by the extension `.gz` or `.zst`. An existing file is
/// replaced, and only by a complete one.
pub fn convert(
    input: &Path,
    output: &Path,
    options: &TraceOptions,
    to: Format,
) -> Result<ConvertReport, WorkloadError> {
    let place = output.display().to_string();
    if !to.writable() {
        let legal: Vec<_> = Format::ALL.into_iter().filter(|f| f.writable()).map(Format::key).collect();
        return Err(error("to", format!("`{to}` is not written; legal is one of {}", legal.join(", "))));
    }
    let mut source = TraceSource::of(origins(input)?, options, u64::MAX, true)?;
    let (file, packing) = beside(output, &place)?;
    let mut lines =
        Packed::new(file, packing).and_then(|out| Lines::new(out, to)).map_err(|e| unwritable(&place, &e))?;
    let mut written = 0u64;
    while let Some(request) = source.next_shaped()? {
        let device = source.devices().get(request.device as usize).map_or(&b""[..], Vec::as_slice);
        lines.write(&request, device).map_err(|why| match why {
            Unwritten::Io(e) => unwritable(&place, &e),
            Unwritten::Illegal(why) => error(source.place(), why),
        })?;
        written += 1;
    }
    let file = lines.finish().and_then(Packed::finish).map_err(|e| unwritable(&place, &e))?;
    file.as_file().sync_all().map_err(|e| unwritable(&place, &e))?;
    file.persist(output).map_err(|e| unwritable(&place, &e.error))?;
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

/// How the output is compressed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Packing {
    Plain,
    Gz,
    Zst,
}

/// A temporary file in the directory of `output`, and how to fill it.
fn beside(output: &Path, place: &str) -> Result<(NamedTempFile, Packing), WorkloadError> {
    if output.is_dir() {
        return Err(error(place, "is a directory; legal is the path of a file to write"));
    }
    let parent = output.parent().filter(|p| !p.as_os_str().is_empty());
    let directory = parent.map_or_else(|| PathBuf::from("."), Path::to_path_buf);
    let mut builder = tempfile::Builder::new();
    builder.prefix(".trace-").suffix(".part");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // As any new file: readable by whom the user's mask allows, instead of the owner alone.
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    let file = builder.tempfile_in(directory).map_err(|e| unwritable(place, &e))?;
    let packing = match output.extension().and_then(|e| e.to_str()) {
        Some("gz") => Packing::Gz,
        Some("zst") => Packing::Zst,
        _ => Packing::Plain,
    };
    Ok((file, packing))
}

fn unwritable(place: &str, e: &io::Error) -> WorkloadError {
    error(
        place,
        format!("cannot be written ({e}); nothing was left there; legal is a path in a writable directory with room"),
    )
}

/// The output with its compression.
enum Packed {
    Plain(BufWriter<NamedTempFile>),
    Gz(Box<GzEncoder<BufWriter<NamedTempFile>>>),
    Zst(Box<zstd::stream::write::Encoder<'static, BufWriter<NamedTempFile>>>),
}

impl Packed {
    fn new(file: NamedTempFile, packing: Packing) -> io::Result<BufWriter<Packed>> {
        let file = BufWriter::with_capacity(1 << 16, file);
        let packed = match packing {
            Packing::Plain => Packed::Plain(file),
            Packing::Gz => Packed::Gz(Box::new(GzEncoder::new(file, flate2::Compression::default()))),
            Packing::Zst => Packed::Zst(Box::new(zstd::stream::write::Encoder::new(file, 0)?)),
        };
        Ok(BufWriter::with_capacity(1 << 16, packed))
    }

    /// Ends the stream and gives the file back, complete.
    fn finish(buffered: BufWriter<Packed>) -> io::Result<NamedTempFile> {
        let file = match buffered.into_inner().map_err(io::IntoInnerError::into_error)? {
            Packed::Plain(file) => file,
            Packed::Gz(encoder) => encoder.finish()?,
            Packed::Zst(encoder) => encoder.finish()?,
        };
        file.into_inner().map_err(io::IntoInnerError::into_error)
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
