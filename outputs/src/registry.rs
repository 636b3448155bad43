//! What this process has unfinished, so that a signal can remove it.
//!
//! Promises that nothing is created, given its name or removed by any other thread while somebody holds the registry: what
//! is removed stays removed, and an exchange under way is finished first.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::leftover;

/// Something unfinished.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Unfinished {
    /// A temporary folder, and the folder whose place it will take.
    Folder { outer: PathBuf, name: PathBuf },
    /// A temporary file.
    File(PathBuf),
}

static REGISTRY: Mutex<Vec<Unfinished>> = Mutex::new(Vec::new());

/// Makes every other thread wait that would change something unfinished.
pub(super) fn hold() -> Held {
    // A thread that panicked meanwhile left a list that is still true.
    Held(REGISTRY.lock().unwrap_or_else(PoisonError::into_inner))
}

/// The registry, held.
pub(super) struct Held(MutexGuard<'static, Vec<Unfinished>>);

impl Held {
    pub(super) fn add(&mut self, thing: Unfinished) {
        self.0.push(thing);
    }

    /// What has `path` for its temporary name is finished or gone.
    pub(super) fn forget(&mut self, path: &Path) {
        self.0.retain(|thing| match thing {
            Unfinished::Folder { outer, .. } => outer != path,
            Unfinished::File(file) => file != path,
        });
    }
}

/// Removes everything that this process has unfinished and calls `end`, before which no other thread begins or finishes
/// anything. For a process that is about to end.
pub fn abandon(end: impl FnOnce()) {
    let mut held = hold();
    for thing in held.0.drain(..) {
        match thing {
            Unfinished::Folder { outer, name } => leftover::clear(&outer, &name),
            // What cannot be removed is swept by the next run.
            Unfinished::File(path) => drop(fs::remove_file(path)),
        }
    }
    end();
}
