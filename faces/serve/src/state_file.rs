//! The file with the drive's state between sessions, and its copy beside a record.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use flashlane_outputs::shown;
use flashlane_sim::{save_use, used_file};
use flashlane_ssd::Device;
use flashlane_ssd::config::Config;

/// Where the state of the drive is kept while no server runs.
pub(crate) struct StateFile(PathBuf);

impl StateFile {
    /// Removes the state, since the drive goes on from it: none is left if the server is killed. A record that begins in this state gets a
    /// copy beside itself.
    ///
    /// # Errors
    /// A file that cannot be written or removed, in words; the state is still there then.
    pub(crate) fn take_away(state: &Path, record: Option<&Path>) -> Result<StateFile, String> {
        if let Some(record) = record {
            let copy = used_file(record);
            copied(state, &copy).map_err(|why| {
                format!("{}: the drive's first state cannot be copied to it: {why}", shown::path(&copy))
            })?;
        }
        match fs::remove_file(state) {
            Err(why) if why.kind() != io::ErrorKind::NotFound => {
                Err(format!("{}: cannot be removed: {why}", shown::path(state)))
            }
            _ => Ok(StateFile(state.to_owned())),
        }
    }

    /// Stores the state of a drained device for the next session; returns where.
    ///
    /// # Errors
    /// A file that cannot be written, in words.
    pub(crate) fn store(self, config: &Config, device: &Device) -> Result<PathBuf, String> {
        save_use(&self.0, config, device).map(|()| self.0).map_err(|why| why.to_string())
    }
}

/// Copies a file to one that must not be there yet.
fn copied(from: &Path, to: &Path) -> io::Result<()> {
    let mut from = File::open(from)?;
    let mut to = OpenOptions::new().write(true).create_new(true).open(to)?;
    io::copy(&mut from, &mut to)?;
    to.sync_all()
}
