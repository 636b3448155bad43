//! The results of a store, to read: some are records in packs, some folders.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::super::OutputError;
use super::about::About;
use super::folder::{self, State};
use super::packs::{PACKS, Packs};

/// The results of a store. What other processes add is not noticed until something is missing or [`Results::refresh`] is called.
#[derive(Debug)]
pub struct Results {
    pub(super) shown: PathBuf,
    pub(super) root: PathBuf,
    packs: Mutex<Packs>,
}

impl Results {
    /// Those of the store at `path`, which this does not change; `None` if there is none. `version` is that of [`Store::open`](super::Store::open).
    ///
    /// # Errors
    /// As [`Store::open`](super::Store::open).
    pub fn of(path: &Path, version: &str) -> Result<Option<Results>, OutputError> {
        match About::of(version).is_there(path)? {
            true => Results::read_from(path, path, String::new()).map(Some),
            false => Ok(None),
        }
    }

    /// Those of the store at `root`, which the user calls `shown`; `stem` names the pack that this process writes.
    pub(super) fn read_from(shown: &Path, root: &Path, stem: String) -> Result<Results, OutputError> {
        let results = Results { shown: shown.into(), root: root.into(), packs: Mutex::new(Packs::of(root, stem)) };
        results.refresh()?;
        Ok(results)
    }

    /// Looks for what other processes have added.
    ///
    /// # Errors
    /// Packs that cannot be read.
    pub fn refresh(&self) -> Result<(), OutputError> {
        let fault = |e: io::Error| OutputError::fault(&self.shown.join(PACKS), format!("cannot be read: {e}"));
        self.packs().refresh().map_err(fault)
    }

    /// Whether the result `name` is there and whole.
    pub fn has(&self, name: &str) -> bool {
        self.state(name) == State::Whole
    }

    /// What there is of the result `name`. Of a folder all files must have their lengths, and those up to 4 MiB their hashes; a record must
    /// have its hash.
    pub fn state(&self, name: &str) -> State {
        let records = self.packs().records(name);
        let states: Vec<Option<bool>> = records.iter().map(|record| record.is_whole(name)).collect();
        if states.contains(&Some(true)) {
            return State::Whole;
        }
        if states.contains(&None) && self.refresh().is_ok() {
            // A pack was gone on with under another name.
            let moved = self.packs().records(name);
            if moved.iter().any(|record| record.is_whole(name) == Some(true)) {
                return State::Whole;
            }
        }
        match folder::state(&self.root, name) {
            State::Absent if states.contains(&Some(false)) => State::Damaged,
            state => state,
        }
    }

    /// A file of the result `name`.
    ///
    /// # Errors
    /// If it cannot be read, or is not the file that was written.
    pub fn read(&self, name: &str, file: &str) -> Result<Vec<u8>, OutputError> {
        let find = || {
            let records = self.packs().records(name);
            let mut whole = records.iter().filter_map(|record| record.files(name));
            let found = whole.find_map(|files| files.into_iter().find(|(own, _)| own == file));
            (found.map(|(_, bytes)| bytes), records.len())
        };
        let (mut bytes, mut records) = find();
        if bytes.is_none() {
            self.refresh()?;
            (bytes, records) = find();
        }
        match bytes {
            Some(bytes) => Ok(bytes),
            None if records == 0 => folder::read(&self.root, &self.shown, name, file),
            None => folder::read(&self.root, &self.shown, name, file).map_err(|_| {
                let shown = self.shown.join(PACKS);
                OutputError::fault(
                    &shown,
                    format!("{file} of the result {name} is damaged: its bytes are not those that were written; the next run makes it again"),
                )
            }),
        }
    }

    /// The names of all results that have records, also damaged ones.
    pub fn names(&self) -> Vec<String> {
        self.packs().names().map(str::to_owned).collect()
    }

    pub(super) fn packs(&self) -> MutexGuard<'_, Packs> {
        // If a thread panicked while holding it, what it knows is still true.
        self.packs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
