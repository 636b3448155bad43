//! The unfinished outputs of this process, so that a signal can remove them.
//!
//! Promises that while one thread holds the registry, no other creates, renames or removes an output: what is removed
//! stays removed, and an exchange in progress is finished first.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// An unfinished output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Unfinished {
    /// A temporary folder, and the folder whose place it will take.
    Folder { outer: PathBuf, name: PathBuf },
    /// A temporary file.
    File(PathBuf),
    /// A process's folder of unfinished results in a store.
    Scratch(PathBuf),
}

static REGISTRY: Mutex<Vec<Unfinished>> = Mutex::new(Vec::new());

/// Locks the registry: every other thread that would change an unfinished output waits.
pub(super) fn hold() -> LockedRegistry {
    // If a thread panicked while holding it, the list is still true.
    LockedRegistry(REGISTRY.lock().unwrap_or_else(PoisonError::into_inner))
}

/// The locked registry.
pub(super) struct LockedRegistry(MutexGuard<'static, Vec<Unfinished>>);

impl LockedRegistry {
    pub(super) fn add(&mut self, thing: Unfinished) {
        self.0.push(thing);
    }

    /// Removes the entry with the temporary name `path`, which is finished or deleted.
    pub(super) fn forget(&mut self, path: &Path) {
        self.0.retain(|thing| match thing {
            Unfinished::Folder { outer, .. } => outer != path,
            Unfinished::File(file) | Unfinished::Scratch(file) => file != path,
        });
    }

    /// Takes all entries out.
    pub(super) fn take_all(&mut self) -> Vec<Unfinished> {
        std::mem::take(&mut self.0)
    }
}
