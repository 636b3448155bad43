//! The target of a path once links are followed.
//!
//! An output named by a symlink is written to the link's target, and the link stays.

use std::ffi::OsString;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use super::OutputError;

/// `path` with every link followed. Parts that do not exist yet stay as written.
pub(super) fn real(path: &Path) -> io::Result<PathBuf> {
    let absolute = std::path::absolute(path)?;
    let mut there = absolute.as_path();
    let mut missing: Vec<OsString> = Vec::new();
    loop {
        match fs::canonicalize(there) {
            Ok(mut real) => {
                real.extend(missing.iter().rev());
                return Ok(real);
            }
            Err(e) if e.kind() == ErrorKind::NotFound => {}
            Err(e) => return Err(e),
        }
        match fs::symlink_metadata(there) {
            Ok(entry) if entry.is_symlink() => {
                let message = format!("{} is a link that leads nowhere", there.display());
                return Err(io::Error::new(ErrorKind::InvalidInput, message));
            }
            // Another run has put it there meanwhile.
            Ok(_) => continue,
            Err(_) => {}
        }
        match (there.file_name(), there.parent()) {
            (Some(name), Some(parent)) => {
                missing.push(name.to_owned());
                there = parent;
            }
            _ => return Err(io::Error::new(ErrorKind::InvalidInput, "`..` after a folder that does not exist")),
        }
    }
}

/// The folder that contains `path`, with every link followed, and the name in it: `path` itself may be a link.
pub(super) fn real_entry(path: &Path) -> io::Result<PathBuf> {
    let absolute = std::path::absolute(path)?;
    match (absolute.parent(), absolute.file_name()) {
        (Some(parent), Some(name)) => Ok(real(parent)?.join(name)),
        _ => real(&absolute),
    }
}

/// The place of an output; refused if it has no name or its folder does not exist.
pub(super) fn output(path: &Path) -> Result<(PathBuf, PathBuf), OutputError> {
    let real = real(path).map_err(|e| OutputError::io(path, &e))?;
    match real.parent() {
        Some(parent) if real.file_name().is_some() => {
            let parent = parent.to_path_buf();
            Ok((real, parent))
        }
        _ => Err(OutputError::refused(path, "is no place for an output; give a name, such as results/today")),
    }
}

/// Whether two paths lead to the same place, whether or not it exists yet.
pub fn same_place(one: &Path, other: &Path) -> bool {
    matches!((real(one), real(other)), (Ok(one), Ok(other)) if one == other)
}

/// Whether `path` leads into `folder`, or to it, whether or not they exist yet.
pub fn is_inside(path: &Path, folder: &Path) -> bool {
    matches!((real(path), real(folder)), (Ok(path), Ok(folder)) if path.starts_with(&folder))
}

/// What tells the file or folder at `path` from another of that name; `None` if there is none, or if the system does not say.
pub(super) fn identity(path: &Path) -> Option<(u64, u64)> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        fs::symlink_metadata(path).ok().map(|entry| (entry.dev(), entry.ino()))
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        None
    }
}

/// Whether `path` exists, even as a link that leads nowhere.
pub(super) fn is_taken(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}
