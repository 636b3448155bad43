//! What made a store: a store of another version is not used.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::super::{Existing, Inputs, OutFile, OutputError};
use super::folder::regular;

/// The file that says what made a store.
const ABOUT: &str = "store.json";
/// Version of the layout.
const LAYOUT: u32 = 3;
/// One whose results are folders, which are read. It becomes this one's when it is opened to add results, so that no program that does not
/// know packs makes them again.
const FOLDERS: u32 = 2;
/// The most bytes of the file.
const MAX_BYTES: u64 = 1 << 16;

/// What made a store.
#[derive(Serialize, Deserialize)]
pub(super) struct About {
    layout: u32,
    flashlane: String,
}

/// What the file says; what is no text is damaged as any other text.
fn text_of(file: &Path) -> std::io::Result<String> {
    Ok(String::from_utf8_lossy(&regular(file, MAX_BYTES)?).into_owned())
}

impl About {
    /// What this program makes, whose version is `version`.
    pub(super) fn of(version: &str) -> About {
        About { layout: LAYOUT, flashlane: version.to_owned() }
    }

    /// Whether there is a store at `path`.
    pub(super) fn is_there(&self, path: &Path) -> Result<bool, OutputError> {
        match text_of(&path.join(ABOUT)) {
            Ok(text) => self.same(path, &text).map(|_| true),
            Err(e) if e.kind() == ErrorKind::NotFound => Ok(false),
            Err(e) => Err(OutputError::io(&path.join(ABOUT), &e)),
        }
    }

    /// Checks what made the store at `root`, or marks an empty folder as one.
    pub(super) fn check(&self, shown: &Path, root: &Path) -> Result<(), OutputError> {
        let file = root.join(ABOUT);
        loop {
            match text_of(&file) {
                Ok(text) => match self.same(shown, &text)? {
                    FOLDERS => return self.write(shown, &file, Existing::ReplaceLate),
                    _ => return Ok(()),
                },
                Err(e) if e.kind() == ErrorKind::NotFound => {}
                Err(e) => return Err(OutputError::io(&shown.join(ABOUT), &e)),
            }
            let entries = fs::read_dir(root).map_err(|e| OutputError::io(shown, &e))?;
            let foreign = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
            // Another process may be creating the store.
            let beginning = |name: &String| name == ABOUT || name.starts_with(&format!(".{ABOUT}."));
            if let Some(name) = foreign.filter(|name| !beginning(name)).min() {
                let message = format!(
                    "holds {name} and no {ABOUT}, so it is no store of runs; name another folder, one that is empty or not there"
                );
                return Err(OutputError::refused(shown, message));
            }
            match self.write(shown, &file, Existing::Keep("has come to be there meanwhile")) {
                Err(error) if !file.exists() => return Err(error),
                _ => {}
            }
        }
    }

    fn write(&self, shown: &Path, file: &Path, existing: Existing) -> Result<(), OutputError> {
        let json = serde_json::to_string_pretty(self).map_err(|e| OutputError::io(shown, &e.into()))?;
        OutFile::create(file, existing, &Inputs::default())?.write_whole(format!("{json}\n").as_bytes())
    }

    /// Checks that `text`, of a store's file, says the same or is of an older layout that is read; returns the layout.
    fn same(&self, shown: &Path, text: &str) -> Result<u32, OutputError> {
        let message = match serde_json::from_str::<About>(text) {
            Ok(found) if found.flashlane == self.flashlane && [self.layout, FOLDERS].contains(&found.layout) => {
                return Ok(found.layout);
            }
            Ok(found) if found.flashlane != self.flashlane => format!(
                "holds runs of flashlane {}, whose figures may differ from those of this one, {}; name another folder, or delete \
             this one to have its runs made again",
                found.flashlane, self.flashlane
            ),
            Ok(found) => format!(
                "is a store of layout {}, which this flashlane does not know (it has {}); name another folder",
                found.layout, self.layout
            ),
            Err(error) => format!("{ABOUT} is damaged ({error}); name another folder, or delete this one"),
        };
        Err(OutputError::refused(shown, message))
    }
}
