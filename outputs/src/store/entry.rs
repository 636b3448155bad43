//! A result in a store, while it is made and when it is there.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use super::super::{OutFile, OutputError, registry};
use super::contents::{Contents, WHOLE};

/// The folder of results.
pub(super) const RESULTS: &str = "runs";

/// A result being made. Dropped before [`Entry::commit`], it leaves nothing.
#[derive(Debug)]
pub struct Entry {
    pub(super) root: PathBuf,
    pub(super) shown: PathBuf,
    pub(super) name: String,
    pub(super) folder: PathBuf,
    pub(super) claim: PathBuf,
    /// Locked until the entry is dropped.
    pub(super) _lock: File,
}

impl Entry {
    /// Begins a file of the result: a name, or a path with `/` between names.
    ///
    /// # Errors
    /// A path that is in use, or a system error.
    pub fn begin(&self, file: &str) -> Result<OutFile, OutputError> {
        let shown = self.shown.join(file);
        let path = self.folder.join(file);
        let _held = registry::hold();
        let begun = path.parent().map_or(Ok(()), fs::create_dir_all);
        let begun = begun.and_then(|()| OpenOptions::new().write(true).create_new(true).open(&path));
        Ok(OutFile::unsynced(begun.map_err(|e| OutputError::io(&shown, &e))?, &shown))
    }

    /// Writes a file of the result.
    ///
    /// # Errors
    /// As [`Entry::begin`].
    pub fn write(&self, file: &str, bytes: &[u8]) -> Result<(), OutputError> {
        self.begin(file)?.write_whole(bytes)
    }

    /// Gives the complete result its name, which is returned.
    ///
    /// # Errors
    /// A fault of the machine.
    pub fn commit(&self) -> Result<PathBuf, OutputError> {
        let io = |e: io::Error| OutputError::io(&self.shown, &e);
        let json = Contents::of(&self.folder).and_then(|contents| contents.to_json()).map_err(io)?;
        self.write(WHOLE, &json)?;
        let place = self.root.join(RESULTS).join(&self.name);
        let _held = registry::hold();
        match fs::rename(&self.folder, &place) {
            Err(e) if matches!(e.kind(), ErrorKind::DirectoryNotEmpty | ErrorKind::AlreadyExists) => {
                if state(&self.root, &self.name) == State::Whole {
                    return Ok(place);
                }
                // Damaged, or what a loss of power left.
                fs::rename(&place, self.folder.with_extension("damaged")).map_err(io)?;
                fs::rename(&self.folder, &place).map_err(io)?;
            }
            other => other.map_err(io)?,
        }
        Ok(place)
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        let _held = registry::hold();
        if self.folder.exists() {
            let _ = fs::remove_dir_all(&self.folder);
        }
        let _ = fs::remove_file(&self.claim);
    }
}

/// What a store has of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Nothing.
    Absent,
    /// Files that are not those that were written, as far as that is looked at: see [`Store::state`](super::Store::state).
    Damaged,
    /// All of it.
    Whole,
}

/// What the store at `root` has of the result `name`.
pub(super) fn state(root: &Path, name: &str) -> State {
    let folder = root.join(RESULTS).join(name);
    match Contents::read(&folder) {
        Some(contents) if contents.hold(&folder) => State::Whole,
        None if !folder.exists() => State::Absent,
        _ => State::Damaged,
    }
}

/// The bytes of a file of the result `name` in the store at `root`, which the user calls `shown`, if they are those that were written.
pub(super) fn read(root: &Path, shown: &Path, name: &str, file: &str) -> Result<Vec<u8>, OutputError> {
    let result = Path::new(RESULTS).join(name);
    let fault = |message: String| OutputError::fault(&shown.join(&result).join(file), message);
    let folder = root.join(&result);
    fs::metadata(folder.join(file)).map_err(|e| fault(format!("cannot be read: {e}")))?;
    let bytes = Contents::read(&folder).and_then(|contents| contents.bytes_of(&folder, file));
    bytes.ok_or_else(|| {
        fault("is damaged: its bytes are not those that were written; the next run makes it again".into())
    })
}
