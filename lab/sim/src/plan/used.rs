//! The state of a served drive from one session to the next, in a file beside its contents; and beside a record that begins in such a state.

use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use flashlane_outputs::{Existing, Inputs, OutFile, shown};
use flashlane_scenario::Recording;
use flashlane_ssd::{Config, Device, Replayed, SavedUse};

use super::state_file::{Container, Unfit, about};
use crate::error::RunError;

/// How such a file begins.
const MAGIC: &[u8; 8] = b"FLUSED01";

/// How a record says that it begins in such a state; its hash follows.
const USED: &str = "used, ";

/// A state, or why there is none to take up.
pub(crate) enum Found {
    State(Box<Replayed>, String),
    Nothing,
    Unfit(String),
}

/// The file of the state that belongs to `file`: contents or a record.
pub fn used_file(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".state");
    name.into()
}

/// Writes the state of a device of `config` that has drained; an older state at the place is replaced.
///
/// # Errors
/// A file that cannot be written.
pub fn save_use(path: &Path, config: &Config, device: &Device) -> Result<(), RunError> {
    let ours = Existing::ReplaceIf(|head| head.starts_with(MAGIC), "is no state of a drive, and is not replaced");
    let out = OutFile::create(path, ours, &Inputs::default())?;
    Container { magic: MAGIC, about: &about_use(config) }.write(out, &device.used_state())
}

/// The state in the file at `path` for a drive of `config`.
///
/// # Errors
/// A file that is no state of ours, or cannot be read.
pub(crate) fn find(path: &Path, config: &Config) -> Result<Found, RunError> {
    let refused = |why: &str| RunError::Input(format!("{}: {why}", shown::path(path)));
    // Before it is opened: opening a named pipe waits for a writer, which may never come.
    match std::fs::metadata(path) {
        Ok(found) if !found.is_file() => return Err(refused("is no regular file")),
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Found::Nothing),
        _ => {}
    }
    let file = File::open(path).map_err(|error| refused(&error.to_string()))?;
    match (Container { magic: MAGIC, about: &about_use(config) }).read(file, SavedUse(config)) {
        Ok((state, hash)) => Ok(Found::State(Box::new(state), hash)),
        Err(Unfit::Foreign) => Err(refused("is no state of a drive; it is in the way of one")),
        Err(Unfit::Unreadable(fault)) => Err(refused(&format!("cannot be read: {fault}"))),
        Err(Unfit::Damaged) => Ok(Found::Unfit("is damaged".into())),
        Err(Unfit::Other(theirs, ours)) => {
            Ok(Found::Unfit(format!("is of another drive or build ({theirs}; here {ours})")))
        }
    }
}

/// What a record says of such a state.
pub(crate) fn in_record(hash: &str) -> String {
    format!("{USED}{hash}")
}

/// The state beside a record that begins in such a one; `None` if it begins as its precondition says.
///
/// # Errors
/// Why it cannot be taken up, in words.
pub(crate) fn of_record(recording: &Recording, config: &Config) -> Result<Option<Replayed>, String> {
    let Some(recorded) = recording.state.strip_prefix(USED) else { return Ok(None) };
    let path = used_file(&recording.file);
    match find(&path, config).map_err(|error| error.to_string())? {
        Found::State(state, hash) if hash == recorded => Ok(Some(*state)),
        Found::State(..) => Err(format!("{} is another state than the recorded one", shown::path(&path))),
        Found::Nothing => Err(format!("{} is not there", shown::path(&path))),
        Found::Unfit(why) => Err(format!("{} {why}", shown::path(&path))),
    }
}

/// What determines whether a drive can take up a state, a line each.
fn about_use(config: &Config) -> String {
    let Config { mapping, buffer, flows, retry, slc, .. } = config;
    let slc = slc.as_ref().map_or(String::new(), |slc| format!("{slc:#?}\n"));
    format!("{}{mapping:#?}\n{buffer:#?}\n{retry:#?}\n{slc}flows: {}\n", about(config), flows.len())
}
