//! The sources of a trace's bytes: a file, the per-CPU files of a blktrace, or memory; compressed ones are
//! decompressed ([`super::packed`]).
//!
//! Promises that the same origin can be opened again (loops, several flows on one file). Must never know a format.

use std::fs::File;
use std::io::{Cursor, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::error;
use super::packed::{Stream, TELLING, unpacked};
use flashlane_core::arrival::WorkloadError;

/// A source of bytes.
#[derive(Clone, Debug)]
pub(super) enum Origin {
    /// A file, and the bytes that were read of it since it was opened last.
    File(PathBuf, Meter),
    /// Bytes in memory under a name.
    Bytes(String, Arc<[u8]>),
}

/// Bytes read of a file as it is stored.
#[derive(Clone, Debug, Default)]
pub(super) struct Meter(Arc<AtomicU64>);

/// A file whose bytes are counted.
struct Metered(File, Meter);

impl Read for Metered {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let got = self.0.read(buffer)?;
        self.1.0.fetch_add(got as u64, Relaxed);
        Ok(got)
    }
}

impl Origin {
    /// Its name in messages.
    pub fn name(&self) -> String {
        match self {
            Origin::File(path, _) => path.display().to_string(),
            Origin::Bytes(name, _) => name.clone(),
        }
    }

    /// Opens it from the start and decompresses it. Empty input is an error.
    pub fn open(&self) -> Result<Stream, WorkloadError> {
        match self {
            Origin::Bytes(name, bytes) => decompressed(name, Cursor::new(Arc::clone(bytes))),
            Origin::File(path, meter) => {
                let name = self.name();
                let file = File::open(path).map_err(|e| unreadable(&name, &e))?;
                if file.metadata().is_ok_and(|m| m.is_dir()) {
                    return Err(error(name, "is a directory; legal is a trace file"));
                }
                meter.0.store(0, Relaxed);
                decompressed(&name, Metered(file, meter.clone()))
            }
        }
    }

    /// Bytes read since it was opened last, and bytes in all.
    pub fn bytes_read(&self) -> (u64, u64) {
        match self {
            Origin::Bytes(_, bytes) => (bytes.len() as u64, bytes.len() as u64),
            Origin::File(path, meter) => {
                (meter.0.load(Relaxed), std::fs::metadata(path).map_or(0, |about| about.len()))
            }
        }
    }

    /// The file at `path`.
    pub fn file(path: PathBuf) -> Origin {
        Origin::File(path, Meter::default())
    }
}

/// The error for `name`, which cannot be opened.
fn unreadable(name: &str, e: &std::io::Error) -> WorkloadError {
    match e.kind() {
        ErrorKind::NotFound => error(name, "no such file; legal is the path of a trace file"),
        _ => error(name, format!("cannot be opened ({e}); legal is a readable trace file")),
    }
}

/// `raw`, decompressed if its first bytes say that it is compressed.
fn decompressed<R: Read + Send + 'static>(name: &str, mut raw: R) -> Result<Stream, WorkloadError> {
    let mut first = vec![0u8; TELLING];
    let mut got = 0;
    while got < first.len() {
        match raw.read(&mut first[got..]) {
            Ok(0) => break,
            Ok(n) => got += n,
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            Err(e) => return Err(unreadable(name, &e)),
        }
    }
    if got == 0 {
        return Err(error(name, "the file is empty; legal is a trace with at least one request"));
    }
    first.truncate(got);
    unpacked(first, raw).map_err(|e| error(name, format!("cannot be decompressed here ({e})")))
}

/// Whether the file at `path` can be read as often as a run needs: once for all
/// runs, once for its hash. A missing file is not an error here; opening it is.
///
/// # Errors
/// For a pipe, a device or a socket: opened a second time, it would give nothing more, block, or never end.
pub fn rereadable(path: &Path) -> Result<(), &'static str> {
    match std::fs::metadata(path) {
        Ok(about) if !about.is_file() && !about.is_dir() => Err(
            "is a pipe, a device or a socket, and a run reads its traces several times; legal is a file: save it as one",
        ),
        _ => Ok(()),
    }
}

/// The origins a path names: itself, or the per-CPU files of a binary blktrace when it is a directory, a base name
/// (`sda` for `sda.blktrace.0`, `sda.blktrace.1`, ...) or an unexpanded pattern (`sda.blktrace.*`).
pub(super) fn origins(path: &Path) -> Result<Vec<Origin>, WorkloadError> {
    let name = path.display().to_string();
    if path.is_dir() {
        let found = per_cpu(path, "", &name)?;
        if found.is_empty() {
            return Err(error(
                name,
                "a directory without per-CPU files; legal is a trace file, or a directory holding NAME.blktrace.0, NAME.blktrace.1, ...",
            ));
        }
        return Ok(found);
    }
    if !path.exists() {
        let base = name.strip_suffix(".blktrace.*").unwrap_or(&name);
        let base = Path::new(base);
        if let Some(stem) = base.file_name().and_then(|s| s.to_str()) {
            let dir = base.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
            if dir.is_dir() {
                let found = per_cpu(dir, stem, &name)?;
                if !found.is_empty() {
                    return Ok(found);
                }
            }
        }
    }
    Ok(vec![Origin::file(path.to_path_buf())])
}

/// The files that are read for `path`, of those that exist.
pub fn files(path: &Path) -> Vec<PathBuf> {
    let files = origins(path).into_iter().flatten();
    let path_of = |origin| match origin {
        Origin::File(path, _) => Some(path),
        Origin::Bytes(..) => None,
    };
    files.filter_map(path_of).collect()
}

/// The files `stem.blktrace.N` of `dir` (of every stem if `stem` is empty), by name and CPU.
fn per_cpu(dir: &Path, stem: &str, name: &str) -> Result<Vec<Origin>, WorkloadError> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).map_err(|e| unreadable(name, &e))? {
        let entry = entry.map_err(|e| unreadable(name, &e))?;
        let file = entry.file_name();
        let Some((base, cpu)) = file.to_str().and_then(|f| f.rsplit_once(".blktrace.")) else { continue };
        let Ok(cpu) = cpu.parse::<u32>() else { continue };
        // blktrace leaves an empty file for a CPU that recorded nothing.
        let empty = entry.metadata().is_ok_and(|m| m.len() == 0);
        if (stem.is_empty() || base == stem) && !empty {
            found.push((base.to_owned(), cpu, entry.path()));
        }
    }
    found.sort();
    Ok(found.into_iter().map(|(_, _, path)| Origin::file(path)).collect())
}
