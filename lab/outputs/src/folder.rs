//! A folder of results that is whole or absent.

use std::fs;
use std::path::{Path, PathBuf};

use super::exchange::{self, ExchangeMethod};
use super::file::OutFile;
use super::listing::{Listing, MARKER, is_plain};
use super::place;
use super::registry;
use super::temporary::Temporary;
use super::{Inputs, OutputError};

/// The files that identify results of version 0.1, which had no list of files.
const UNLISTED: [&str; 2] = ["summary.json", "results.json"];

/// A results folder being written: files go to a temporary folder beside it, which gets its name at [`Folder::commit`].
///
/// Only then is an existing folder replaced, and only if all its files are on the list it contains ([`MARKER`]); any
/// other folder that is not empty is refused. Dropped without a commit, it leaves nothing.
#[derive(Debug)]
pub struct Folder {
    /// As the user named it.
    shown: PathBuf,
    /// The same path with links followed.
    name: PathBuf,
    temporary: Temporary,
    method: ExchangeMethod,
    /// Called with each step of the commit.
    notify: fn(&str),
}

impl Folder {
    /// Prepares the folder `path`; missing parents are created. If `path` is a link, it stays and its target is
    /// written. A folder that contains one of `inputs` is not replaced.
    ///
    /// # Errors
    /// A place that is refused, or that cannot be written to.
    pub fn create(path: &Path, inputs: &Inputs) -> Result<Folder, OutputError> {
        let io = |e: &std::io::Error| OutputError::io(path, e);
        let (name, parent) = place::output(path)?;
        if std::env::current_dir().and_then(fs::canonicalize).is_ok_and(|here| here.starts_with(&name)) {
            let message = "is the working directory or lies above it, and a results folder is replaced as a whole; name a \
                           folder inside it, such as ./results";
            return Err(OutputError::refused(path, message));
        }
        inputs.refuse_folder(path, &name)?;
        fs::create_dir_all(&parent).map_err(|e| io(&e))?;
        let temporary = Temporary::begin(&name).map_err(|e| unwritable(path, &e))?;
        // Checked after the sweep, which may have put earlier results back.
        refuse_foreign(path, &name)?;
        refuse_mount(path, &name, &parent)?;
        Ok(Folder { shown: path.into(), name, temporary, method: ExchangeMethod::OneStep, notify: |_| {} })
    }

    /// Uses the exchange in two steps and reports each.
    #[cfg(test)]
    pub(super) fn in_two_steps(mut self, notify: fn(&str)) -> Folder {
        (self.method, self.notify) = (ExchangeMethod::TwoSteps, notify);
        self
    }

    /// The name, inside the folder, of the file that the user calls `path`; `None` if it is outside.
    ///
    /// # Errors
    /// A name that cannot be listed.
    pub fn inside(&self, path: &Path) -> Result<Option<String>, OutputError> {
        let places = [place::real_entry(path), place::real(path)];
        let Some(place) = places.into_iter().flatten().find(|place| place.starts_with(&self.name)) else {
            return Ok(None);
        };
        let inside = place.strip_prefix(&self.name).unwrap_or(Path::new("")).to_str();
        match inside {
            Some("") => Err(OutputError::refused(path, "is the results folder itself; name a file")),
            Some(inside) => Ok(Some(inside.replace(std::path::MAIN_SEPARATOR, "/"))),
            None => Err(OutputError::refused(path, "has a name that is not UTF-8; a results folder lists its files")),
        }
    }

    /// Begins the file `file` of the folder: a name, or a path with `/` between names.
    ///
    /// # Errors
    /// A path that leads out of the folder, one that is already in use, or a system error.
    pub fn begin(&self, file: &str) -> Result<OutFile, OutputError> {
        let shown = self.shown.join(file);
        if !is_plain(file) {
            return Err(OutputError::refused(&shown, "is not the name of a file inside the results folder"));
        }
        match self.temporary.create(file) {
            Ok(created) if file != MARKER => Ok(OutFile::in_folder(created, &shown)),
            Err(e) if e.kind() != std::io::ErrorKind::AlreadyExists => Err(OutputError::io(&shown, &e)),
            _ => Err(OutputError::refused(&shown, "would be written twice: the results have a file of that name")),
        }
    }

    /// Writes the file `file` of the folder.
    ///
    /// # Errors
    /// As [`Folder::begin`].
    pub fn write(&self, file: &str, bytes: &[u8]) -> Result<(), OutputError> {
        self.begin(file)?.write_whole(bytes)
    }

    /// Gives the complete folder its name, which is returned.
    ///
    /// # Errors
    /// If something else has that name by now, or a system error. What had the name stays; if only the renaming
    /// failed, the new results are kept beside it, and the error says where.
    pub fn commit(self) -> Result<PathBuf, OutputError> {
        self.seal()?;
        let mut registry = registry::hold();
        let result = self.take_name();
        self.temporary.clear(&mut registry);
        drop(registry);
        result.map(|()| self.name.clone())
    }

    /// Adds the list of files, and syncs all folder entries to the disk.
    fn seal(&self) -> Result<(), OutputError> {
        let began = self.temporary.began();
        let new = self.temporary.new_folder();
        let listing: Listing = began.present(&new).map_err(|e| OutputError::io(&self.shown, &e))?.into_iter().collect();
        let marker = self.temporary.create(MARKER).map_err(|e| OutputError::io(&self.shown.join(MARKER), &e))?;
        OutFile::in_folder(marker, &self.shown.join(MARKER)).write_whole(listing.text().as_bytes())?;
        for folder in listing.folders().into_iter().map(|folder| new.join(folder)).chain([new.clone()]) {
            exchange::sync_folder(&folder).map_err(|e| OutputError::io(&self.shown, &e))?;
        }
        Ok(())
    }

    fn take_name(&self) -> Result<(), OutputError> {
        let (new, old) = (self.temporary.new_folder(), self.temporary.old_folder());
        refuse_foreign(&self.shown, &self.name).map_err(|error| self.kept_aside(error))?;
        exchange::install(&new, &self.name, &old, self.method, self.notify)
            .map_err(|e| self.kept_aside(OutputError::io(&self.shown, &e)))?;
        if let Some(parent) = self.name.parent() {
            exchange::sync_folder(parent).map_err(|e| OutputError::io(&self.shown, &e))?;
        }
        // Another process may have put a file there between the check and the exchange.
        for earlier in [&new, &old] {
            if place::is_taken(earlier) && refuse_foreign(&self.shown, earlier).is_err() {
                let kept = self.temporary.beside("earlier");
                let message = match fs::rename(earlier, &kept) {
                    Ok(()) => {
                        format!("is the new results; a file came to the earlier ones meanwhile: see {}", kept.display())
                    }
                    Err(e) => format!("is the new results; the earlier ones are in {}: {e}", earlier.display()),
                };
                return Err(OutputError::refused(&self.shown, message));
            }
        }
        Ok(())
    }

    /// Keeps the results under another name, since the run may have taken hours.
    fn kept_aside(&self, mut error: OutputError) -> OutputError {
        let kept = self.temporary.beside("kept");
        if fs::rename(self.temporary.new_folder(), &kept).is_ok() {
            error.message.push_str(&format!("; the new results are in {}", kept.display()));
        }
        error
    }
}

/// How often a folder is looked at again because another run has exchanged it meanwhile.
const LOOKS: usize = 8;

/// Refuses a place that holds anything but results; `shown` is the user's name for it.
fn refuse_foreign(shown: &Path, name: &Path) -> Result<(), OutputError> {
    for _ in 0..LOOKS {
        let before = place::identity(name);
        let seen = look_for_foreign(shown, name);
        // If another run has exchanged the folder, parts of two folders were seen, or none.
        if seen.is_ok() || (before.is_some() && place::identity(name) == before) {
            return seen;
        }
    }
    look_for_foreign(shown, name)
}

fn look_for_foreign(shown: &Path, name: &Path) -> Result<(), OutputError> {
    let refused = |message: String| Err(OutputError::refused(shown, message));
    let io = |e: std::io::Error| OutputError::io(shown, &e);
    match fs::symlink_metadata(name) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(e) => return Err(io(e)),
        Ok(metadata) if !metadata.is_dir() => {
            return refused("is a file; results need a folder, new, empty or of earlier results".into());
        }
        Ok(_) => {}
    }
    let listing = match Listing::of(name) {
        Ok(Some(listing)) => listing,
        Ok(None) if fs::read_dir(name).map_err(io)?.next().is_none() => return Ok(()),
        Ok(None) => {
            return refused(match UNLISTED.iter().find(|file| name.join(file).is_file()) {
                Some(file) => format!(
                    "holds a {file} and no {MARKER}: results of version 0.1, or something else; as they do not say which files \
                     are theirs, nothing is replaced: move the folder away, or name another one"
                ),
                None => format!("holds files but no {MARKER}, so it is not a results folder; name a new or empty one"),
            });
        }
        Err(why) => return refused(format!("{why}; nothing is replaced: move the folder away, or name another one")),
    };
    let foreign = listing.foreign(name).map_err(io)?;
    if foreign.is_empty() {
        return Ok(());
    }
    const SHOWN: usize = 3;
    let more = if foreign.len() > SHOWN { format!(" and {} more", foreign.len() - SHOWN) } else { String::new() };
    refused(format!(
        "holds what flashlane did not write there: {}{more}; nothing is replaced: move that away, or name another folder",
        foreign.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ")
    ))
}

/// Refuses a folder that another file system is mounted on: its name cannot be exchanged.
fn refuse_mount(shown: &Path, name: &Path, parent: &Path) -> Result<(), OutputError> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        if let (Ok(own), Ok(around)) = (fs::metadata(name), fs::metadata(parent))
            && own.dev() != around.dev()
        {
            let message =
                "is a file system of its own and cannot be replaced; name a folder inside it, such as DIR/results";
            return Err(OutputError::refused(shown, message));
        }
    }
    let _ = (shown, name, parent);
    Ok(())
}

/// The error for a temporary folder that could not be created.
fn unwritable(shown: &Path, e: &std::io::Error) -> OutputError {
    let mut error = OutputError::io(shown, e);
    error.message.push_str(" (results are written beside their place first; the folder around it must allow that)");
    error
}
