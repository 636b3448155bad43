//! How a finished folder gets its name: in one step where the system can exchange two names, else in two.
//!
//! Between the two steps the name is unused and the earlier folder is inside the temporary one; if the process ends
//! there, the next run puts it back.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::Path;

use super::place::is_taken;

/// How names are exchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExchangeMethod {
    /// In one step, if the system can.
    OneStep,
    /// Always in two steps.
    #[cfg(test)]
    TwoSteps,
}

/// How often to try again: another run may take or free the name between the check and the step.
const ATTEMPTS: usize = 8;

/// Gives the folder `new` the name `name`. What had that name is at `new` or `old` afterwards. `notify` is called with
/// each step.
pub(super) fn install(new: &Path, name: &Path, old: &Path, method: ExchangeMethod, notify: fn(&str)) -> io::Result<()> {
    let mut last = None;
    for _ in 0..ATTEMPTS {
        let done = if is_taken(name) { exchange(new, name, old, method, notify) } else { step::place(new, name) };
        match done {
            Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::AlreadyExists) && is_taken(new) => {
                last = Some(e);
            }
            other => {
                notify("installed");
                return other;
            }
        }
    }
    Err(last.unwrap_or_else(|| ErrorKind::AlreadyExists.into()))
}

fn exchange(new: &Path, name: &Path, old: &Path, method: ExchangeMethod, notify: fn(&str)) -> io::Result<()> {
    if method == ExchangeMethod::OneStep {
        match step::exchange(new, name) {
            Err(e) if e.kind() == ErrorKind::Unsupported => {}
            other => return other,
        }
    }
    notify("before the first rename");
    fs::rename(name, old)?;
    notify("between the renames");
    fs::rename(new, name).inspect_err(|_| {
        // If that fails too, clearing the temporary folder tries it again.
        if !is_taken(name) {
            let _ = fs::rename(old, name);
        }
    })
}

/// Flushes the entries of the folder `path` to the disk, where the system can.
pub(super) fn sync_folder(path: &Path) -> io::Result<()> {
    if !cfg!(unix) {
        return Ok(());
    }
    match File::open(path)?.sync_all() {
        // Some file systems cannot sync a folder.
        Err(e) if matches!(e.kind(), ErrorKind::InvalidInput | ErrorKind::Unsupported) => Ok(()),
        other => other,
    }
}

/// Syncs the whole file system that `path` lies in, where the system can.
pub(super) fn sync_all_of(path: &Path) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    rustix::fs::syncfs(File::open(path)?)?;
    #[cfg(not(target_os = "linux"))]
    sync_folder(path)?;
    Ok(())
}

#[cfg(any(target_os = "linux", target_os = "macos"))]
mod step {
    use std::io::{self, ErrorKind};
    use std::path::Path;

    use rustix::fs::{CWD, RenameFlags, renameat_with};
    use rustix::io::Errno;

    /// Exchanges two names. `Unsupported` if the system or the file system cannot.
    pub(super) fn exchange(one: &Path, other: &Path) -> io::Result<()> {
        renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE).map_err(unsupported)
    }

    /// Renames `new` to a name that is unused.
    pub(super) fn place(new: &Path, name: &Path) -> io::Result<()> {
        match renameat_with(CWD, new, CWD, name, RenameFlags::NOREPLACE).map_err(unsupported) {
            // A plain rename replaces no folder that is not empty, and no file by a folder.
            Err(e) if e.kind() == ErrorKind::Unsupported => std::fs::rename(new, name),
            other => other,
        }
    }

    fn unsupported(errno: Errno) -> io::Error {
        match errno {
            Errno::NOSYS | Errno::INVAL | Errno::NOTSUP => ErrorKind::Unsupported.into(),
            other => other.into(),
        }
    }
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
mod step {
    use std::io::{self, ErrorKind};
    use std::path::Path;

    /// Not supported on this system.
    pub(super) fn exchange(_: &Path, _: &Path) -> io::Result<()> {
        Err(ErrorKind::Unsupported.into())
    }

    /// Renames `new` to a name that is unused: a plain rename replaces no folder that is not empty.
    pub(super) fn place(new: &Path, name: &Path) -> io::Result<()> {
        std::fs::rename(new, name)
    }
}
