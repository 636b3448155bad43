//! Files that are locked, and whether their names are still theirs.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::Path;

/// Opens a file to lock it, unless something else has its name: a named pipe would wait for a reader.
pub(super) fn lock_file(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    match fs::metadata(path) {
        Ok(about) if !about.is_file() => Err(ErrorKind::InvalidInput.into()),
        _ => options.append(true).open(path),
    }
}

/// Whether `file` is the one at `path`.
#[cfg(unix)]
pub(super) fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let (Ok(own), Ok(there)) = (file.metadata(), fs::metadata(path)) else { return false };
    (own.dev(), own.ino()) == (there.dev(), there.ino())
}

#[cfg(not(unix))]
pub(super) fn is_at(_: &File, path: &Path) -> bool {
    path.exists()
}
