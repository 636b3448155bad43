//! Which files of a folder are ours: those on the list that the folder contains.
//!
//! Promises that no link is followed and no file opened, and that folders without a listed file are not even entered.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::{Component, Path};

use serde::{Deserialize, Serialize};

/// The file of a results folder that lists all its files, itself included.
pub const MARKER: &str = "flashlane-files.json";

/// The format of the list.
const FORMAT: u32 = 1;
/// The longest list that is read, in bytes.
const LONGEST: u64 = 16 << 20;

/// Files, named from their folder with `/` between the parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Listing(BTreeSet<String>);

/// The list as it is written to the file.
#[derive(Serialize, Deserialize)]
struct Marker {
    format: u32,
    flashlane: String,
    files: Vec<String>,
}

impl FromIterator<String> for Listing {
    fn from_iter<I: IntoIterator<Item = String>>(names: I) -> Listing {
        Listing(names.into_iter().filter(|name| is_plain(name)).collect())
    }
}

impl Listing {
    /// The list that `folder` contains; `None` if it has none.
    ///
    /// # Errors
    /// Why an existing list cannot be read.
    pub(super) fn of(folder: &Path) -> Result<Option<Listing>, String> {
        let path = folder.join(MARKER);
        match fs::symlink_metadata(&path) {
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(format!("{MARKER} cannot be read: {e}")),
            Ok(metadata) if !metadata.is_file() => return Err(format!("{MARKER} is not a file")),
            Ok(_) => {}
        }
        let mut text = String::new();
        let read = File::open(&path).and_then(|file| file.take(LONGEST).read_to_string(&mut text));
        read.map_err(|e| format!("{MARKER} cannot be read: {e}"))?;
        let marker: Marker =
            serde_json::from_str(&text).map_err(|e| format!("{MARKER} is not a list of files: {e}"))?;
        if marker.format != FORMAT {
            return Err(format!("{MARKER} has format {}; this version reads {FORMAT}", marker.format));
        }
        Ok(Some(marker.files.into_iter().collect()))
    }

    /// The text of the list, which includes its own name.
    pub(super) fn text(&self) -> String {
        let mut files = self.0.clone();
        files.insert(MARKER.to_owned());
        let flashlane = env!("CARGO_PKG_VERSION").to_owned();
        let marker = Marker { format: FORMAT, flashlane, files: files.into_iter().collect() };
        serde_json::to_string_pretty(&marker).expect("strings and a number") + "\n"
    }

    fn has_file(&self, name: &str) -> bool {
        self.0.contains(name)
    }

    /// Whether a listed file is somewhere in the folder `name`.
    fn has_folder(&self, name: &str) -> bool {
        let within = format!("{name}/");
        self.0.range(within.clone()..).next().is_some_and(|next| next.starts_with(&within))
    }

    /// The folders of listed files, innermost first.
    pub(super) fn folders(&self) -> Vec<&Path> {
        let mut folders: BTreeSet<&Path> = BTreeSet::new();
        for name in &self.0 {
            folders.extend(Path::new(name).ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty()));
        }
        folders.into_iter().rev().collect()
    }

    /// The names in `folder` that are neither listed files nor their folders, in a form that can be printed.
    pub(super) fn foreign(&self, folder: &Path) -> io::Result<Vec<String>> {
        let mut found = Vec::new();
        self.visit(folder, "", &mut |entry| {
            if let EntryKind::Foreign(name) = entry {
                found.push(name);
            }
            Ok(())
        })?;
        found.sort();
        Ok(found)
    }

    /// The listed files that exist in `folder`.
    pub(super) fn present(&self, folder: &Path) -> io::Result<Vec<String>> {
        let mut found = Vec::new();
        self.visit(folder, "", &mut |entry| {
            if let EntryKind::File(name) = entry {
                found.push(name);
            }
            Ok(())
        })?;
        Ok(found)
    }

    /// Deletes the listed files in `folder`, and then the folders that are empty, `folder` included.
    pub(super) fn delete(&self, folder: &Path) -> io::Result<()> {
        self.visit(folder, "", &mut |entry| match entry {
            EntryKind::File(name) => fs::remove_file(folder.join(name)),
            // A folder that is not empty contains something foreign.
            EntryKind::Folder(name) => fs::remove_dir(folder.join(name)).or(Ok(())),
            EntryKind::Foreign(_) => Ok(()),
        })?;
        fs::remove_dir(folder)
    }

    fn visit(&self, root: &Path, at: &str, report: &mut dyn FnMut(EntryKind) -> io::Result<()>) -> io::Result<()> {
        for entry in fs::read_dir(root.join(at))? {
            let entry = entry?;
            let own = entry.file_name();
            let shown = own.to_string_lossy();
            let name = if at.is_empty() { shown.to_string() } else { format!("{at}/{shown}") };
            let kind = entry.file_type()?;
            let known = own.to_str().is_some();
            if known && kind.is_file() && self.has_file(&name) {
                report(EntryKind::File(name))?;
            } else if known && kind.is_dir() && self.has_folder(&name) {
                self.visit(root, &name, report)?;
                report(EntryKind::Folder(name))?;
            } else {
                report(EntryKind::Foreign(name))?;
            }
        }
        Ok(())
    }
}

/// An entry found in a folder.
enum EntryKind {
    File(String),
    Folder(String),
    Foreign(String),
}

/// Whether a name stays in its folder: no root, no `..`, and no second spelling of another name.
pub(super) fn is_plain(name: &str) -> bool {
    let path = Path::new(name);
    let mut parts = 0;
    let normal = path.components().all(|part| {
        parts += 1;
        matches!(part, Component::Normal(_))
    });
    normal && parts > 0 && name.split('/').count() == parts && !name.ends_with('/')
}
