//! Refuses outputs that are inputs: identified by the file itself, not by its name.

use std::fs::{self, Metadata};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::OutputError;
use super::listing::Listing;

/// The files and folders that a command reads, none of which may be written.
#[derive(Clone, Debug, Default)]
pub struct Inputs(Vec<Input>);

#[derive(Clone, Debug)]
struct Input {
    /// A description for messages: `the scenario`.
    what: &'static str,
    /// As the user named it.
    shown: PathBuf,
    /// The same path with links followed.
    real: PathBuf,
    id: Option<Id>,
}

/// Identifies a file whatever name it has: device and inode number where the system has them, so hard links are found
/// too.
type Id = (u64, u64);

#[cfg(unix)]
fn id(metadata: &Metadata) -> Option<Id> {
    use std::os::unix::fs::MetadataExt;
    Some((metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn id(_: &Metadata) -> Option<Id> {
    None
}

impl Inputs {
    /// Adds the file or folder `path`. One that cannot be found is ignored here: reading it gives the error.
    pub fn add(&mut self, what: &'static str, path: &Path) {
        let Ok(real) = fs::canonicalize(path) else { return };
        let Ok(metadata) = fs::metadata(&real) else { return };
        self.0.push(Input { what, shown: path.into(), real, id: id(&metadata) });
    }

    /// Adds the folder `path` and all files in it.
    pub fn add_folder(&mut self, what: &'static str, path: &Path) {
        self.add(what, path);
        let entries = fs::read_dir(path).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).filter(|path| path.is_file()).for_each(|path| self.add(what, &path));
    }

    /// Refuses to write the file `output` if it is an input.
    ///
    /// # Errors
    /// The error names the output and the input.
    pub fn refuse_file(&self, output: &Path) -> Result<(), OutputError> {
        let real = fs::canonicalize(output);
        let own = fs::metadata(output).ok().and_then(|metadata| id(&metadata));
        match self.0.iter().find(|input| is_same(input, own) || real.as_ref().is_ok_and(|real| *real == input.real)) {
            Some(Input { what, shown, .. }) => Err(OutputError::refused(
                output,
                format!("is {what} {}, which is read; inputs are never written: give another name", shown.display()),
            )),
            None => Ok(()),
        }
    }

    /// Refuses to replace the folder `name`, called `output`, if it contains an input, also as a hard link.
    pub(super) fn refuse_folder(&self, output: &Path, name: &Path) -> Result<(), OutputError> {
        let refused = |input: &Input| {
            let message = format!(
                "holds {} {}, which is read; inputs are never replaced: name another folder",
                input.what,
                input.shown.display()
            );
            Err(OutputError::refused(output, message))
        };
        if let Some(input) = self.0.iter().find(|input| input.real.starts_with(name)) {
            return refused(input);
        }
        // Hard links. Only listed files matter: a folder with any other file is not replaced anyway.
        let Ok(Some(listing)) = Listing::of(name) else { return Ok(()) };
        let present = match listing.present(name) {
            // Another run is replacing the folder, and these files with it.
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(()),
            present => present.map_err(|e| OutputError::io(output, &e))?,
        };
        for file in present {
            let own = fs::symlink_metadata(name.join(file)).ok().and_then(|metadata| id(&metadata));
            if let Some(input) = self.0.iter().find(|input| is_same(input, own)) {
                return refused(input);
            }
        }
        Ok(())
    }
}

fn is_same(input: &Input, id: Option<Id>) -> bool {
    id.is_some() && input.id == id
}
