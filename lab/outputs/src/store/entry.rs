//! A result while it is made.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::super::{OutFile, OutputError, registry};
use super::folder::{Contents, RESULTS, State, WHOLE, state};
use super::pack::{self, Files};
use super::results::Results;

/// A result being made. Dropped before [`Entry::commit`], it leaves nothing.
#[derive(Debug)]
pub struct Entry {
    pub(super) results: Arc<Results>,
    pub(super) name: String,
    /// The files that were written whole.
    pub(super) whole: Mutex<Files>,
    /// Has the files that were begun, from the first on.
    pub(super) folder: PathBuf,
    /// Set when the folder gets its name.
    pub(super) folders: Arc<AtomicBool>,
    pub(super) claim: PathBuf,
    /// Locked until the entry is dropped.
    pub(super) _lock: File,
}

impl Entry {
    /// Begins a file of the result, which makes it a folder: a name, or a path with `/` between names.
    ///
    /// # Errors
    /// A path that is in use, or a system error.
    pub fn begin(&self, file: &str) -> Result<OutFile, OutputError> {
        let shown = self.shown().join(file);
        let path = self.folder.join(file);
        let _held = registry::hold();
        let begun = path.parent().map_or(Ok(()), fs::create_dir_all);
        let begun = begun.and_then(|()| OpenOptions::new().write(true).create_new(true).open(&path));
        Ok(OutFile::unsynced(begun.map_err(|e| OutputError::io(&shown, &e))?, &shown))
    }

    /// Gives the result a file. It is kept in memory until the result is complete.
    pub fn write(&self, file: &str, bytes: &[u8]) {
        self.whole.lock().unwrap_or_else(PoisonError::into_inner).push((file.to_owned(), bytes.to_owned()));
    }

    /// Adds the complete result to the store, as a record in a pack, or as a folder if it has files that were begun or is large. Returns the
    /// path of the pack or the folder.
    ///
    /// # Errors
    /// A fault of the machine.
    pub fn commit(&self) -> Result<PathBuf, OutputError> {
        let files = std::mem::take(&mut *self.whole.lock().unwrap_or_else(PoisonError::into_inner));
        if !self.folder.exists() {
            let record = pack::record(&self.name, &files).map_err(|e| OutputError::io(&self.shown(), &e))?;
            if let Some(record) = record {
                let _held = registry::hold();
                let appended = self.results.packs().append(&self.name, &record);
                return appended.map_err(|(path, e)| {
                    let inside = path.strip_prefix(&self.results.root).unwrap_or(&path);
                    OutputError::io(&self.results.shown.join(inside), &e)
                });
            }
        }
        files.iter().try_for_each(|(file, bytes)| self.begin(file)?.write_whole(bytes))?;
        self.commit_folder()
    }

    fn commit_folder(&self) -> Result<PathBuf, OutputError> {
        let shown = self.shown();
        let io = |e: io::Error| OutputError::io(&shown, &e);
        let json = Contents::of(&self.folder).and_then(|contents| contents.to_json()).map_err(io)?;
        self.begin(WHOLE)?.write_whole(&json)?;
        let place = self.results.root.join(RESULTS).join(&self.name);
        self.folders.store(true, Ordering::Relaxed);
        let _held = registry::hold();
        match fs::rename(&self.folder, &place) {
            Err(e) if matches!(e.kind(), ErrorKind::DirectoryNotEmpty | ErrorKind::AlreadyExists) => {
                if state(&self.results.root, &self.name) == State::Whole {
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

    /// The folder, as the user would call it.
    fn shown(&self) -> PathBuf {
        self.results.shown.join(RESULTS).join(&self.name)
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
