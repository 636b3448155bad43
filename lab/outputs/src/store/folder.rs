//! A result that is a folder, which has a list of its files: with its length and its BLAKE3 hash each is recognised.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::{Component, Path};

use serde::{Deserialize, Serialize};

use super::super::OutputError;

/// The folder of results that are folders.
pub(super) const RESULTS: &str = "runs";
/// The file of a result that lists the others; written last.
pub(super) const WHOLE: &str = "whole.json";
/// Files up to this many bytes are read to see whether a result is whole, which happens whenever a store is opened for it: all that
/// Flashlane reads itself. Of longer ones, rows of requests, the length is looked at.
const MAX_HASHED: u64 = 4 << 20;

/// The most bytes of the list itself: thousands of files.
const MAX_LIST: u64 = 4 << 20;

/// The files of a result, without the list itself.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Contents(BTreeMap<String, Content>);

#[derive(Debug, Serialize, Deserialize)]
struct Content {
    bytes: u64,
    blake3: String,
}

/// What a store has of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Nothing.
    Absent,
    /// Bytes that are not those that were written, as far as that is looked at: see [`Results::state`](super::Results::state).
    Damaged,
    /// All of it.
    Whole,
}

impl Contents {
    /// Of the files in `folder`.
    pub(super) fn of(folder: &Path) -> io::Result<Contents> {
        let mut contents = Contents::default();
        contents.collect(folder, "")?;
        Ok(contents)
    }

    fn collect(&mut self, folder: &Path, prefix: &str) -> io::Result<()> {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
            let about = entry.metadata()?;
            if about.is_dir() {
                self.collect(&entry.path(), &format!("{name}/"))?;
            } else {
                let mut hasher = blake3::Hasher::new();
                io::copy(&mut File::open(entry.path())?, &mut hasher)?;
                self.0.insert(name, Content { bytes: about.len(), blake3: text(&hasher.finalize()) });
            }
        }
        Ok(())
    }

    pub(super) fn to_json(&self) -> io::Result<Vec<u8>> {
        serde_json::to_vec(self).map_err(io::Error::from)
    }

    /// The list in `folder`; `None` if it is not there or none.
    pub(super) fn read(folder: &Path) -> Option<Contents> {
        serde_json::from_slice(&regular(&folder.join(WHOLE), MAX_LIST).ok()?).ok()
    }

    /// Whether the files in `folder` are these.
    pub(super) fn hold(&self, folder: &Path) -> bool {
        self.0.iter().all(|(name, content)| {
            // A damaged list may name anything.
            let path = folder.join(name);
            Path::new(name).components().all(|part| matches!(part, Component::Normal(_)))
                && fs::metadata(&path).is_ok_and(|about| about.is_file() && about.len() == content.bytes)
                && (content.bytes > MAX_HASHED || regular(&path, MAX_HASHED).is_ok_and(|bytes| content.is(&bytes)))
        })
    }

    /// The bytes of the file `name` in `folder`, if they are those that were written.
    pub(super) fn bytes_of(&self, folder: &Path, name: &str) -> Option<Vec<u8>> {
        let content = self.0.get(name)?;
        regular(&folder.join(name), content.bytes).ok().filter(|bytes| content.is(bytes))
    }
}

impl Content {
    fn is(&self, bytes: &[u8]) -> bool {
        self.bytes == bytes.len() as u64 && self.blake3 == text(&blake3::hash(bytes))
    }
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

/// The bytes of a regular file of at most this many. Others, such as named pipes, which wait for a writer, are not opened.
pub(super) fn regular(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let about = fs::metadata(path)?;
    if !about.is_file() || about.len() > most {
        return Err(ErrorKind::InvalidData.into());
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most { Err(ErrorKind::InvalidData.into()) } else { Ok(bytes) }
}

fn text(hash: &blake3::Hash) -> String {
    hash.to_hex().to_string()
}
