//! Files that are whole or not there.
//!
//! A file is written under a temporary name beside its own and renamed when it is complete; on any failure the
//! temporary file is removed and the error names the file.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// A file or folder that could not be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResultsError {
    /// Which.
    pub path: PathBuf,
    /// Why, and what would be legal.
    pub message: String,
}

impl std::fmt::Display for ResultsError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.message)
    }
}

impl std::error::Error for ResultsError {}

impl ResultsError {
    pub(super) fn new(path: &Path, message: impl Into<String>) -> ResultsError {
        ResultsError { path: path.to_path_buf(), message: message.into() }
    }

    /// An error of the operating system while doing `what`.
    pub(super) fn io(path: &Path, what: &str, error: &io::Error) -> ResultsError {
        ResultsError::new(path, format!("cannot {what}: {error}"))
    }
}

/// Writes a file whole.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), ResultsError> {
    write_whole_as(path, path, bytes)
}

/// Writes a file whole; errors call it `shown`.
pub(super) fn write_whole_as(path: &Path, shown: &Path, bytes: &[u8]) -> Result<(), ResultsError> {
    let (mut file, pending) = Pending::create(path, shown)?;
    file.write_all(bytes).map_err(|error| ResultsError::io(shown, "write", &error))?;
    pending.finish(file)
}

/// A file on its way; removed unless finished.
#[derive(Debug)]
pub(super) struct Pending {
    path: PathBuf,
    /// The name errors give it.
    shown: PathBuf,
    temporary: Option<PathBuf>,
}

impl Pending {
    /// Opens the temporary file of `path`; errors call it `shown`.
    pub(super) fn create(path: &Path, shown: &Path) -> Result<(BufWriter<File>, Pending), ResultsError> {
        let temporary = beside(path, "partial")?;
        let file = File::create(&temporary).map_err(|error| ResultsError::io(shown, "create", &error))?;
        let pending = Pending { path: path.into(), shown: shown.into(), temporary: Some(temporary) };
        Ok((BufWriter::with_capacity(1 << 16, file), pending))
    }

    /// The name errors give it.
    pub(super) fn shown(&self) -> &Path {
        &self.shown
    }

    /// Everything is written: gives the file its name.
    pub(super) fn finish(mut self, file: BufWriter<File>) -> Result<(), ResultsError> {
        file.into_inner().map_err(|error| ResultsError::io(&self.shown, "write", error.error()))?;
        if let Some(temporary) = &self.temporary {
            fs::rename(temporary, &self.path)
                .map_err(|error| ResultsError::io(&self.shown, "give its name", &error))?;
        }
        self.temporary = None;
        Ok(())
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary {
            // Nothing to be done about a failure here: the error that brought us here is the one to report.
            let _ = fs::remove_file(temporary);
        }
    }
}

/// A hidden name beside `path`, of this process alone.
pub(super) fn beside(path: &Path, kind: &str) -> Result<PathBuf, ResultsError> {
    let Some(name) = path.file_name() else {
        return Err(ResultsError::new(path, "not the name of a file or folder; give one, such as results/today"));
    };
    let name = format!(".{}.{kind}-{}", name.to_string_lossy(), std::process::id());
    Ok(path.with_file_name(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::dir::tests::scratch;

    #[test]
    fn a_file_appears_only_when_finished() {
        let dir = scratch("whole");
        let path = dir.join("a.txt");
        let (mut file, pending) = Pending::create(&path, &path).unwrap();
        file.write_all(b"half").unwrap();
        assert!(!path.exists());
        drop((file, pending));
        assert_eq!(fs::read_dir(&dir).unwrap().count(), 0, "nothing left behind");
        write_whole(&path, b"all").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"all");
        assert_eq!(fs::read_dir(&dir).unwrap().count(), 1);
        fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    fn an_error_names_the_file() {
        let path = Path::new("/nonexistent-folder/summary.json");
        let error = write_whole(path, b"x").unwrap_err();
        assert_eq!(error.path, path);
        assert!(error.to_string().contains("cannot create: No such file"), "{error}");
        assert!(write_whole(Path::new(".."), b"x").unwrap_err().message.contains("not the name"));
    }
}
