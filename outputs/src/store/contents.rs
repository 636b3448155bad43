//! The list of a result's files, with which each is recognised: its length and its BLAKE3 hash.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// The file of a result that lists the others; written last.
pub(super) const WHOLE: &str = "whole.json";
/// Files up to this many bytes are read to see whether a result is whole, which happens whenever a store is opened for it: all that
/// Flashlane reads itself. Of longer ones, rows of requests, the length is looked at.
const MAX_HASHED: u64 = 4 << 20;

/// The files of a result, without the list itself.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Contents(BTreeMap<String, Content>);

#[derive(Debug, Serialize, Deserialize)]
struct Content {
    bytes: u64,
    blake3: String,
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
        serde_json::from_slice(&fs::read(folder.join(WHOLE)).ok()?).ok()
    }

    /// Whether the files in `folder` are these.
    pub(super) fn hold(&self, folder: &Path) -> bool {
        self.0.iter().all(|(name, content)| {
            let path = folder.join(name);
            fs::metadata(&path).is_ok_and(|about| about.len() == content.bytes)
                && (content.bytes > MAX_HASHED || fs::read(&path).is_ok_and(|bytes| content.is(&bytes)))
        })
    }

    /// Whether the file `name` has these bytes.
    pub(super) fn has(&self, name: &str, bytes: &[u8]) -> bool {
        self.0.get(name).is_some_and(|content| content.is(bytes))
    }
}

impl Content {
    fn is(&self, bytes: &[u8]) -> bool {
        self.bytes == bytes.len() as u64 && self.blake3 == text(&blake3::hash(bytes))
    }
}

fn text(hash: &blake3::Hash) -> String {
    hash.to_hex().to_string()
}
