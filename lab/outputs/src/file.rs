//! A single output file that is whole or absent.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use tempfile::TempPath;

use super::registry::{self, Unfinished};
use super::temporary::{lock_new, named_beside};
use super::{Inputs, OutputError, exchange, leftover, place};

/// What happens to a file that exists at the place of an output.
#[derive(Clone, Copy)]
pub enum Existing {
    /// It stays, and the output is refused with this message.
    Keep(&'static str),
    /// It is replaced if the function recognises its first bytes as an output of ours; else the output is refused with
    /// this message.
    ReplaceIf(fn(&[u8]) -> bool, &'static str),
    /// It is replaced.
    Replace,
    /// It is replaced, also one that comes to be there while the output is written: for a folder of our own, which several processes
    /// fill.
    ReplaceLate,
}

/// How much of a file is read to recognise it as an output of ours.
const HEAD: u64 = 4_096;

/// An output file being written. Dropped before it is finished, it leaves nothing.
#[derive(Debug)]
pub struct OutFile {
    file: BufWriter<File>,
    pending: Pending,
}

/// What remains to be done for a file once it is written.
#[derive(Debug)]
pub struct Pending {
    /// The file's name in errors.
    shown: PathBuf,
    /// `None` in a folder that is temporary as a whole.
    place: Option<Place>,
    /// Whether the file is synced to the disk when it is complete.
    syncs: bool,
}

#[derive(Debug)]
struct Place {
    /// The file's final path, with links followed.
    path: PathBuf,
    temporary: Option<TempPath>,
    /// Whether a file that exists at the place may be replaced.
    replaces: bool,
}

impl OutFile {
    /// Begins the file `path` as a temporary file in the same folder, which must exist. If `path` is a link, it stays
    /// and its target is written.
    ///
    /// # Errors
    /// An existing file that must stay, one of `inputs`, a path that cannot be a file, or a system error.
    pub fn create(path: &Path, existing: Existing, inputs: &Inputs) -> Result<OutFile, OutputError> {
        inputs.refuse_file(path)?;
        let (name, _) = place::output(path)?;
        let replaces = check(path, &name, existing)?;
        let (file, temporary) = begin(&name).map_err(|e| OutputError::io(path, &e))?;
        let place = Place { path: name, temporary: Some(temporary), replaces };
        Ok(OutFile::around(file, Pending { shown: path.into(), place: Some(place), syncs: true }))
    }

    /// Standard output, which is called `shown`: written as it comes, neither synced nor removed.
    ///
    /// # Errors
    /// One that is closed, or a system on which it is no file.
    pub fn standard_output(shown: &Path) -> Result<OutFile, OutputError> {
        #[cfg(unix)]
        {
            use std::os::fd::AsFd;
            let file = io::stdout().as_fd().try_clone_to_owned().map_err(|e| OutputError::io(shown, &e))?;
            Ok(OutFile::around(file.into(), Pending { shown: shown.into(), place: None, syncs: false }))
        }
        #[cfg(not(unix))]
        Err(OutputError::refused(shown, "standard output cannot be written on this system; name a file"))
    }

    /// A file just created in a temporary folder.
    pub(super) fn in_folder(file: File, shown: &Path) -> OutFile {
        OutFile::around(file, Pending { shown: shown.into(), place: None, syncs: true })
    }

    /// A file just created in a temporary folder that is synced later, with others.
    pub(super) fn unsynced(file: File, shown: &Path) -> OutFile {
        OutFile::around(file, Pending { shown: shown.into(), place: None, syncs: false })
    }

    fn around(file: File, pending: Pending) -> OutFile {
        OutFile { file: BufWriter::with_capacity(1 << 16, file), pending }
    }

    /// The file to write to, and what remains to be done once it is written.
    pub fn parts(self) -> (BufWriter<File>, Pending) {
        (self.file, self.pending)
    }

    /// Writes all bytes and finishes the file.
    ///
    /// # Errors
    /// As [`Pending::finish`].
    pub fn write_whole(self, bytes: &[u8]) -> Result<(), OutputError> {
        let OutFile { mut file, pending } = self;
        file.write_all(bytes).map_err(|e| pending.fault(&e))?;
        pending.finish(file)
    }
}

impl Pending {
    /// The file's name in errors.
    pub fn shown(&self) -> &Path {
        &self.shown
    }

    /// The error for a failed write.
    pub fn fault(&self, error: &io::Error) -> OutputError {
        OutputError::io(&self.shown, error)
    }

    /// Syncs the complete file to the disk, unless that is done later for many, and gives it its name.
    ///
    /// # Errors
    /// A fault of the machine, or a file that appeared at the place meanwhile and may not be replaced.
    pub fn finish(mut self, file: BufWriter<File>) -> Result<(), OutputError> {
        let file = file.into_inner().map_err(|e| self.fault(e.error()))?;
        if self.syncs {
            file.sync_all().map_err(|e| self.fault(&e))?;
        }
        let Some(place) = &mut self.place else { return Ok(()) };
        let Some(temporary) = place.temporary.take() else { return Ok(()) };
        let mut registry = registry::hold();
        registry.forget(&temporary);
        let named =
            if place.replaces { temporary.persist(&place.path) } else { temporary.persist_noclobber(&place.path) };
        let named = named.map_err(|e| match e.error.kind() {
            ErrorKind::AlreadyExists => OutputError::refused(
                &self.shown,
                "has come to be there meanwhile and is left as it is; give another name",
            ),
            _ => OutputError::io(&self.shown, &e.error),
        });
        named?;
        let parent = place.path.parent().unwrap_or(Path::new("."));
        exchange::sync_folder(parent).map_err(|e| OutputError::io(&self.shown, &e))
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        if let Some(temporary) = self.place.as_mut().and_then(|place| place.temporary.take()) {
            let mut registry = registry::hold();
            registry.forget(&temporary);
            // Removes the temporary file.
            drop(temporary);
        }
    }
}

/// Whether a file at `name` will be replaced; if there is none now, whether one may be that comes to be there.
fn check(shown: &Path, name: &Path, existing: Existing) -> Result<bool, OutputError> {
    match fs::metadata(name) {
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(matches!(existing, Existing::ReplaceLate)),
        Err(e) => return Err(OutputError::io(shown, &e)),
        Ok(metadata) if metadata.is_dir() => {
            return Err(OutputError::refused(shown, "is a directory; legal is the path of a file to write"));
        }
        Ok(metadata) if !metadata.is_file() => {
            return Err(OutputError::refused(shown, "is no regular file; legal is the path of a file to write"));
        }
        Ok(_) => {}
    }
    match existing {
        Existing::Replace | Existing::ReplaceLate => Ok(true),
        Existing::Keep(message) => Err(OutputError::refused(shown, message)),
        Existing::ReplaceIf(ours, message) => {
            let mut head = Vec::new();
            let read = File::open(name).and_then(|file| file.take(HEAD).read_to_end(&mut head));
            read.map_err(|e| OutputError::fault(shown, format!("cannot be read, to see what is replaced: {e}")))?;
            if ours(&head) { Ok(true) } else { Err(OutputError::refused(shown, message)) }
        }
    }
}

/// Creates and locks a temporary file beside `name`, after removing those that ended runs left.
fn begin(name: &Path) -> io::Result<(File, TempPath)> {
    const ATTEMPTS: usize = 100;
    leftover::sweep(name);
    for _ in 0..ATTEMPTS {
        let mut registry = registry::hold();
        let (path, file) = named_beside(name, |path| OpenOptions::new().write(true).create_new(true).open(path))?;
        if lock_new(&file, &path)?.is_some() {
            registry.add(Unfinished::File(path.clone()));
            return Ok((file, TempPath::try_from_path(path)?));
        }
    }
    Err(io::Error::other("other runs sweep its temporary file again and again"))
}
