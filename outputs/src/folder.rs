//! A folder of results that is whole or not there.

use std::fs;
use std::path::{Path, PathBuf};

use super::exchange::{self, Way};
use super::file::OutFile;
use super::listing::{Listing, MARKER, is_plain};
use super::place;
use super::registry;
use super::temporary::Temporary;
use super::{Inputs, OutputError};

/// The files by which results of 0.1 are known, which carried no list of their files.
const UNLISTED: [&str; 2] = ["summary.json", "results.json"];

/// A results folder on its way: files go to a temporary folder beside it, which takes its name at [`Folder::commit`].
///
/// A folder that holds only files on the list it carries ([`MARKER`]) is replaced then, and not before; any other that holds
/// something is refused. Dropped without a commit, it leaves nothing.
#[derive(Debug)]
pub struct Folder {
    /// As the user named it.
    shown: PathBuf,
    /// With links followed.
    name: PathBuf,
    temporary: Temporary,
    way: Way,
    /// Hears of the steps of the commit.
    told: fn(&str),
}

impl Folder {
    /// Prepares the folder `path`; its parents are made if missing. A link is followed, and stays. No folder is replaced that
    /// holds one of `inputs`.
    ///
    /// # Errors
    /// A place that is refused, or where nothing can be written.
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
        // Looked at after the sweep, which may have put earlier results back.
        refuse_foreign(path, &name)?;
        refuse_mount(path, &name, &parent)?;
        Ok(Folder { shown: path.into(), name, temporary, way: Way::OneStep, told: |_| {} })
    }

    /// Exchanges names in two steps, and says when.
    #[cfg(test)]
    pub(super) fn in_two_steps(mut self, told: fn(&str)) -> Folder {
        (self.way, self.told) = (Way::TwoSteps, told);
        self
    }

    /// The name, inside the folder, of the file that the user calls `path`. None if it is not inside.
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

    /// Begins the file `file` of the folder: a name, or several with `/` between them.
    ///
    /// # Errors
    /// A name that leads elsewhere or that the folder has already, or a fault of the machine.
    pub fn begin(&self, file: &str) -> Result<OutFile, OutputError> {
        let shown = self.shown.join(file);
        if !is_plain(file) {
            return Err(OutputError::refused(&shown, "is no name of a file inside the results folder"));
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

    /// Everything is written: the folder takes its name, which is returned.
    ///
    /// # Errors
    /// If something else stands there by now, or a fault of the machine. What stood there stays; if all that is missing is
    /// the name, the new results are kept beside it, and the error says where.
    pub fn commit(self) -> Result<PathBuf, OutputError> {
        self.seal()?;
        let mut held = registry::hold();
        let result = self.take_name();
        self.temporary.clear(&mut held);
        drop(held);
        result.map(|()| self.name.clone())
    }

    /// Adds the list, and brings all names to the disk.
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
        exchange::install(&new, &self.name, &old, self.way, self.told)
            .map_err(|e| self.kept_aside(OutputError::io(&self.shown, &e)))?;
        if let Some(parent) = self.name.parent() {
            exchange::sync_folder(parent).map_err(|e| OutputError::io(&self.shown, &e))?;
        }
        // Somebody may have put a file there between the look and the exchange.
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

    /// A run may have taken hours: its results get another name, if they cannot have theirs.
    fn kept_aside(&self, mut error: OutputError) -> OutputError {
        let kept = self.temporary.beside("kept");
        if fs::rename(self.temporary.new_folder(), &kept).is_ok() {
            error.message.push_str(&format!("; the new results are in {}", kept.display()));
        }
        error
    }
}

/// Refuses a place that holds something else than results; `shown` is what the user calls it.
fn refuse_foreign(shown: &Path, name: &Path) -> Result<(), OutputError> {
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

/// A folder that another file system is mounted on cannot be exchanged.
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

/// The temporary folder could not be made.
fn unwritable(shown: &Path, e: &std::io::Error) -> OutputError {
    let mut error = OutputError::io(shown, e);
    error.message.push_str(" (results are written beside their place first; the folder around it must allow that)");
    error
}
