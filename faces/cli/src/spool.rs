//! Traces that can be read only once: standard input (`-`) and pipes that the program was started with (`<(zcat a.gz)`). A run reads its traces several times, so they are copied to a
//! temporary file first, which goes when the program ends.
//!
//! Promises that errors about such a trace call it by the name that the user gave.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use tempfile::TempDir;

use crate::fail::Failure;

/// The copies made, and what the user called them.
static SPOOLED: Mutex<Vec<(TempDir, PathBuf, String)>> = Mutex::new(Vec::new());

/// A path under which `given` can be read as often as needed: itself, or that of a copy.
///
/// # Errors
/// An input that cannot be read, or a copy that cannot be written.
pub fn rereadable(given: &Path) -> Result<PathBuf, Failure> {
    let standard = given.as_os_str() == "-";
    // A pipe that the program was started with has a writer, or ends. A pipe with a name may never get one.
    let inherited = given.starts_with("/dev") || given.starts_with("/proc");
    let once = standard || inherited && std::fs::metadata(given).is_ok_and(|about| is_pipe(&about));
    if !once {
        return Ok(given.to_owned());
    }
    if standard && std::fs::metadata("/dev/stdin").is_ok_and(|about| is_device(&about)) {
        let message = "- is standard input, here a terminal or a device; legal is a file, or a pipe into flashlane";
        return Err(Failure::Input(format!("--trace {message}")));
    }
    let shown = if standard { "standard input".to_owned() } else { given.display().to_string() };
    let unread = |error: std::io::Error| Failure::Input(format!("{shown}: cannot be read: {error}"));
    let unwritten =
        |error: std::io::Error| Failure::Fault(format!("{shown}: cannot be copied to a temporary file: {error}"));
    let folder = tempfile::Builder::new().prefix("flashlane-trace-").tempdir().map_err(unwritten)?;
    let path = folder.path().join(if standard { "stdin" } else { "pipe" });
    let mut copy = std::fs::File::create(&path).map_err(unwritten)?;
    // Held from here on, so that a signal during the copy removes it too.
    held().push((folder, path.clone(), shown.clone()));
    if standard {
        std::io::copy(&mut std::io::stdin().lock(), &mut copy).map_err(unread)?;
    } else {
        std::io::copy(&mut std::fs::File::open(given).map_err(unread)?, &mut copy).map_err(unread)?;
    }
    Ok(path)
}

/// Whether it is a pipe or a socket, which gives its bytes once.
#[cfg(unix)]
fn is_pipe(about: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt;
    about.file_type().is_fifo() || about.file_type().is_socket()
}

/// Whether it is a terminal or another device, which may have no end.
#[cfg(unix)]
fn is_device(about: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt;
    about.file_type().is_char_device()
}

#[cfg(not(unix))]
fn is_pipe(_: &std::fs::Metadata) -> bool {
    false
}

#[cfg(not(unix))]
fn is_device(_: &std::fs::Metadata) -> bool {
    false
}

/// A message with the names that the user gave in place of those of copies.
pub fn renamed(message: &str) -> String {
    held().iter().fold(message.to_owned(), |text, (_, path, shown)| text.replace(&path.display().to_string(), shown))
}

/// Removes all copies.
pub fn remove() {
    held().clear();
}

fn held() -> std::sync::MutexGuard<'static, Vec<(TempDir, PathBuf, String)>> {
    SPOOLED.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
