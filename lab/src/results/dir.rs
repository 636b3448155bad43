//! A results folder that is whole or not there.

use std::fs;
use std::path::{Path, PathBuf};

use super::rows::Row;
use super::whole_file::{ResultsError, beside, write_whole_as};
use super::writer::{Format, RowWriter};

/// The files that make a folder a results folder, either of them.
const MARKS: [&str; 2] = ["summary.json", "results.json"];

/// A results folder on its way: files go to a hidden folder beside it, which takes its name at [`ResultsDir::commit`].
///
/// A results folder of that name is replaced then, and not before; any other folder that holds something is refused.
/// Dropped without a commit, it leaves nothing.
#[derive(Debug)]
pub struct ResultsDir {
    path: PathBuf,
    temporary: Option<PathBuf>,
}

impl ResultsDir {
    /// Prepares the folder `path`; its parents are made if missing.
    pub fn create(path: &Path) -> Result<ResultsDir, ResultsError> {
        let error = |what: &str, e: &std::io::Error| ResultsError::io(path, what, e);
        let absolute = std::path::absolute(path).map_err(|e| error("resolve", &e))?;
        refuse_foreign(&absolute)?;
        let temporary = beside(&absolute, "partial")?;
        fs::create_dir_all(&temporary).map_err(|e| error("create", &e))?;
        Ok(ResultsDir { path: absolute, temporary: Some(temporary) })
    }

    /// Where a file of the folder is written for now.
    fn file(&self, name: &str) -> PathBuf {
        self.temporary.as_deref().unwrap_or(&self.path).join(name)
    }

    /// Writes a file of the folder.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<(), ResultsError> {
        write_whole_as(&self.file(name), &self.path.join(name), bytes)
    }

    /// Begins the folder's file of these rows: `requests.parquet`, `transactions.csv`.
    pub fn rows<R: Row>(&self, format: Format) -> Result<RowWriter<R>, ResultsError> {
        let name = R::TABLE.file_name(format.extension());
        RowWriter::create_as(&self.file(&name), &self.path.join(&name), format)
    }

    /// Begins a file of rows in the sub-folder `name`, which is made if missing.
    pub fn rows_in<R: Row>(&self, name: &str, format: Format) -> Result<RowWriter<R>, ResultsError> {
        let folder = self.file(name);
        let shown = self.path.join(name);
        fs::create_dir_all(&folder).map_err(|e| ResultsError::io(&shown, "create", &e))?;
        let file = R::TABLE.file_name(format.extension());
        RowWriter::create_as(&folder.join(&file), &shown.join(&file), format)
    }

    /// Everything is written: the folder takes its name, which is returned.
    pub fn commit(mut self) -> Result<PathBuf, ResultsError> {
        refuse_foreign(&self.path)?;
        let old = beside(&self.path, "old")?;
        let error = |e: std::io::Error| ResultsError::io(&self.path, "replace", &e);
        let replaces = self.path.exists();
        if replaces {
            fs::rename(&self.path, &old).map_err(error)?;
        }
        if let Some(temporary) = &self.temporary
            && let Err(e) = fs::rename(temporary, &self.path)
        {
            if replaces {
                // Put back what was there; if even that fails, the first error still says more.
                let _ = fs::rename(&old, &self.path);
            }
            return Err(error(e));
        }
        if replaces {
            fs::remove_dir_all(&old).map_err(error)?;
        }
        self.temporary = None;
        Ok(self.path.clone())
    }
}

impl Drop for ResultsDir {
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary {
            let _ = fs::remove_dir_all(temporary);
        }
    }
}

/// Refuses a path that holds something other than results.
fn refuse_foreign(path: &Path) -> Result<(), ResultsError> {
    if !path.exists() {
        return Ok(());
    }
    if !path.is_dir() {
        return Err(ResultsError::new(path, "is a file; results need a folder, new, empty or of earlier results"));
    }
    let mut entries = fs::read_dir(path).map_err(|error| ResultsError::io(path, "read", &error))?;
    if entries.next().is_some() && !MARKS.iter().any(|mark| path.join(mark).is_file()) {
        return Err(ResultsError::new(
            path,
            format!(
                "holds files but no {}, so it is not a results folder; name a new or empty one",
                MARKS.join(" or ")
            ),
        ));
    }
    Ok(())
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::results::RequestRow;

    /// An empty folder of this test's own.
    pub(in crate::results) fn scratch(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("flashlane-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        path
    }

    fn names(path: &Path) -> Vec<String> {
        let mut names: Vec<_> =
            fs::read_dir(path).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn appears_whole_and_replaces_whole() {
        let parent = scratch("dir-whole");
        let path = parent.join("deep").join("out");
        let results = ResultsDir::create(&path).unwrap();
        results.write("summary.json", b"{}").unwrap();
        results.rows::<RequestRow>(Format::Csv).unwrap().finish().unwrap();
        assert!(!path.exists());
        assert_eq!(results.commit().unwrap(), path);
        assert_eq!(names(&path), ["requests.csv", "summary.json"]);

        let again = ResultsDir::create(&path).unwrap();
        again.write("summary.json", b"{2}").unwrap();
        assert_eq!(fs::read(path.join("summary.json")).unwrap(), b"{}", "the old results stand until the commit");
        again.commit().unwrap();
        assert_eq!(names(&path), ["summary.json"]);
        assert_eq!(names(&parent.join("deep")), ["out"], "nothing left beside it");
        fs::remove_dir_all(parent).unwrap();
    }

    #[test]
    fn an_unfinished_run_leaves_nothing() {
        let parent = scratch("dir-drop");
        let results = ResultsDir::create(&parent.join("out")).unwrap();
        results.write("summary.json", b"{}").unwrap();
        drop(results);
        assert_eq!(names(&parent), [""; 0]);
        fs::remove_dir_all(parent).unwrap();
    }

    #[test]
    fn errors_name_the_file_as_the_user_knows_it() {
        let parent = scratch("dir-names");
        let results = ResultsDir::create(&parent.join("out")).unwrap();
        fs::remove_dir_all(results.temporary.as_ref().unwrap()).unwrap();
        assert_eq!(results.write("summary.json", b"{}").unwrap_err().path, parent.join("out/summary.json"));
        let error = results.rows::<RequestRow>(Format::Parquet).err().unwrap();
        assert_eq!(error.path, parent.join("out/requests.parquet"));
        fs::remove_dir_all(parent).unwrap();
    }

    #[test]
    fn what_is_not_ours_is_refused() {
        let parent = scratch("dir-foreign");
        fs::write(parent.join("thesis.tex"), "").unwrap();
        let error = ResultsDir::create(&parent).unwrap_err();
        assert!(error.message.contains("not a results folder"), "{error}");
        let error = ResultsDir::create(&parent.join("thesis.tex")).unwrap_err();
        assert!(error.message.contains("is a file"), "{error}");
        assert_eq!(names(&parent), ["thesis.tex"]);
        fs::remove_dir_all(parent).unwrap();
    }
}
