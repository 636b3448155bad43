//! A run's own temporary folder: its name is unique, and it is locked as long as the run's process exists.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use super::leftover::{self, LOCK, NEW, OLD, RANDOM};
use super::listing::Listing;
use super::registry::{self, LockedRegistry, Unfinished};

/// How often a run makes another folder when another run has removed the one it just made.
const ATTEMPTS: usize = 100;

/// A temporary folder. Dropped, it leaves nothing, and earlier results are at their place.
#[derive(Debug)]
pub(super) struct Temporary {
    outer: PathBuf,
    /// The folder that it will replace.
    name: PathBuf,
    /// The open lock file, which lists the files begun.
    lock: File,
}

impl Temporary {
    /// Creates one for the folder `name`, after removing what killed runs left of it.
    pub(super) fn begin(name: &Path) -> io::Result<Temporary> {
        leftover::sweep(name);
        for _ in 0..ATTEMPTS {
            let mut registry = registry::hold();
            let outer = named_beside(name, |path| fs::create_dir(path))?.0;
            match occupy(&outer) {
                Ok(Some(lock)) => {
                    registry.add(Unfinished::Folder { outer: outer.clone(), name: name.into() });
                    return Ok(Temporary { outer, name: name.into(), lock });
                }
                Ok(None) => {}
                Err(e) => {
                    let _ = fs::remove_file(outer.join(LOCK));
                    let _ = fs::remove_dir(&outer);
                    return Err(e);
                }
            }
        }
        Err(io::Error::other("other runs sweep its temporary folder again and again"))
    }

    /// Begins the file `file`, which must be a plain name; its folders are created. It is listed before it is created.
    pub(super) fn create(&self, file: &str) -> io::Result<File> {
        let _held = registry::hold();
        let mut line = serde_json::to_string(file).map_err(io::Error::other)?;
        line.push('\n');
        (&self.lock).write_all(line.as_bytes())?;
        let path = self.new_folder().join(file);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        OpenOptions::new().write(true).create_new(true).open(path)
    }

    /// The files begun.
    pub(super) fn began(&self) -> Listing {
        leftover::began(&self.outer)
    }

    /// The folder being written; after an exchange, the earlier one.
    pub(super) fn new_folder(&self) -> PathBuf {
        self.outer.join(NEW)
    }

    /// The earlier folder, between two renames.
    pub(super) fn old_folder(&self) -> PathBuf {
        self.outer.join(OLD)
    }

    /// A visible name beside the folder: `results.kept-Ab3...`. The random part is that of the temporary name.
    pub(super) fn beside(&self, kind: &str) -> PathBuf {
        let prefix = leftover::prefix(&self.name);
        let random = self.outer.file_name().and_then(|own| leftover::random_part(own, &prefix)).unwrap_or("again");
        let mut own = self.name.file_name().unwrap_or(OsStr::new("results")).to_owned();
        own.push(format!(".{kind}-{random}"));
        self.name.with_file_name(own)
    }

    /// Removes what is left of it; the caller holds the registry.
    pub(super) fn clear(&self, registry: &mut LockedRegistry) {
        leftover::clear(&self.outer, &self.name);
        registry.forget(&self.outer);
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        self.clear(&mut registry::hold());
    }
}

/// Creates something under a temporary name beside `name` with `make`, which must fail if the name is taken.
pub(super) fn named_beside<T>(name: &Path, make: impl FnMut(&Path) -> io::Result<T>) -> io::Result<(PathBuf, T)> {
    let parent = name.parent().ok_or_else(|| io::Error::from(ErrorKind::InvalidInput))?;
    let prefix = leftover::prefix(name);
    let made = tempfile::Builder::new().prefix(&prefix).rand_bytes(RANDOM).make_in(parent, make)?;
    let (thing, path) = made.into_parts();
    Ok((path.keep().map_err(|e| e.error)?, thing))
}

/// Locks a file just created. `None` if another run removed it in between.
pub(super) fn lock_new(file: &File, path: &Path) -> io::Result<Option<()>> {
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Ok(None),
        // On a file system without locks, what a killed run leaves is never removed.
        Err(TryLockError::Error(_)) => {}
    }
    Ok(path.try_exists()?.then_some(()))
}

/// Creates and locks the lock file in the folder. `None` if another run removed the folder in between.
fn occupy(outer: &Path) -> io::Result<Option<File>> {
    let gone = |e: io::Error| if e.kind() == ErrorKind::NotFound { Ok(None) } else { Err(e) };
    let path = outer.join(LOCK);
    let lock = match OpenOptions::new().append(true).create_new(true).open(&path) {
        Ok(lock) => lock,
        Err(e) => return gone(e),
    };
    if lock_new(&lock, &path)?.is_none() {
        return Ok(None);
    }
    match fs::create_dir(outer.join(NEW)) {
        Ok(()) => Ok(Some(lock)),
        Err(e) => gone(e),
    }
}
