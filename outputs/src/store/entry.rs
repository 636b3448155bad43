//! A result in a store, while it is made and when it is there.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use super::super::{OutFile, OutputError, registry};

/// The folder of results.
pub(super) const RESULTS: &str = "runs";
/// The file of a result that lists the others with their lengths; written last.
const WHOLE: &str = "whole.json";

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
    /// A path that is in use, or a fault of the machine.
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
        let mut lengths = BTreeMap::new();
        collect_lengths(&self.folder, "", &mut lengths).map_err(io)?;
        let json = serde_json::to_vec(&lengths).map_err(|e| io(e.into()))?;
        self.write(WHOLE, &json)?;
        let place = self.root.join(RESULTS).join(&self.name);
        let _held = registry::hold();
        match fs::rename(&self.folder, &place) {
            Err(e) if matches!(e.kind(), ErrorKind::DirectoryNotEmpty | ErrorKind::AlreadyExists) => {
                if has(&self.root, &self.name) {
                    return Ok(place);
                }
                // What a loss of power left.
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

/// Whether the result `name` is there and whole in the store at `root`.
pub(super) fn has(root: &Path, name: &str) -> bool {
    let folder = root.join(RESULTS).join(name);
    let Ok(text) = fs::read(folder.join(WHOLE)) else { return false };
    let Ok(lengths) = serde_json::from_slice::<BTreeMap<String, u64>>(&text) else { return false };
    lengths.iter().all(|(file, length)| fs::metadata(folder.join(file)).is_ok_and(|about| about.len() == *length))
}

fn collect_lengths(folder: &Path, prefix: &str, into: &mut BTreeMap<String, u64>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        let about = entry.metadata()?;
        if about.is_dir() {
            collect_lengths(&entry.path(), &format!("{name}/"), into)?;
        } else {
            into.insert(name, about.len());
        }
    }
    Ok(())
}
