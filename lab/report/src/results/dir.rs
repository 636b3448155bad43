//! A results folder that is whole or absent, one of its own or an entry of a store: with row files in it. Or rows in memory only.

use std::path::{Path, PathBuf};

use super::memory::{KeptRows, MemorySink};
use super::rows::Row;
use super::writer::{Format, RowWriter};
use flashlane_outputs::{Entry, Folder, Inputs, OutFile, OutputError};

/// A results folder being written. It gets its name at [`ResultsDir::commit`]; dropped before that, it leaves nothing.
#[derive(Debug)]
pub struct ResultsDir(Place);

#[derive(Debug)]
enum Place {
    Folder(Folder),
    Entry(Entry),
    Memory(MemorySink),
}

impl ResultsDir {
    /// Prepares the folder `path`, which must not exist, be empty or hold earlier results; missing parents are created.
    ///
    /// # Errors
    /// See [`Folder::create`].
    pub fn create(path: &Path) -> Result<ResultsDir, OutputError> {
        ResultsDir::apart_from(path, &Inputs::default())
    }

    /// Like [`ResultsDir::create`], but refuses a folder that holds one of `inputs`.
    ///
    /// # Errors
    /// See [`Folder::create`].
    pub fn apart_from(path: &Path, inputs: &Inputs) -> Result<ResultsDir, OutputError> {
        Folder::create(path, inputs).map(|folder| ResultsDir(Place::Folder(folder)))
    }

    /// A result in a store, which is a folder only if it has rows.
    pub fn of_store(entry: Entry) -> ResultsDir {
        ResultsDir(Place::Entry(entry))
    }

    /// No folder: rows stay in memory, whatever their format.
    pub fn in_memory() -> ResultsDir {
        ResultsDir(Place::Memory(MemorySink::default()))
    }

    /// Takes out the rows in memory that are complete.
    pub fn take_rows(&self) -> KeptRows {
        match &self.0 {
            Place::Memory(sink) => sink.take(),
            Place::Folder(_) | Place::Entry(_) => KeptRows::new(),
        }
    }

    /// The name inside the folder of the file that the user calls `path`; `None` if it is outside.
    ///
    /// # Errors
    /// See [`Folder::inside`].
    pub fn inside(&self, path: &Path) -> Result<Option<String>, OutputError> {
        match &self.0 {
            Place::Folder(folder) => folder.inside(path),
            Place::Entry(_) | Place::Memory(_) => Ok(None),
        }
    }

    /// Begins a file of the folder.
    ///
    /// # Errors
    /// See [`Folder::begin`].
    pub fn begin(&self, name: &str) -> Result<OutFile, OutputError> {
        match &self.0 {
            Place::Folder(folder) => folder.begin(name),
            Place::Entry(entry) => entry.begin(name),
            Place::Memory(_) => Err(OutputError::fault(Path::new(name), "results in memory have no files")),
        }
    }

    /// Writes a file of the folder.
    ///
    /// # Errors
    /// See [`Folder::begin`].
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<(), OutputError> {
        match &self.0 {
            Place::Entry(entry) => {
                entry.write(name, bytes);
                Ok(())
            }
            Place::Folder(_) | Place::Memory(_) => self.begin(name)?.write_whole(bytes),
        }
    }

    /// Begins a file of these rows, `requests.parquet` or `transactions.csv`, beside the folder's other files or in the
    /// sub-folder `within`.
    ///
    /// # Errors
    /// See [`Folder::begin`].
    pub fn rows<R: Row>(&self, within: Option<&str>, format: Format) -> Result<RowWriter<R>, OutputError> {
        if let Place::Memory(sink) = &self.0 {
            let name = within.map_or(R::TABLE.name.to_owned(), |folder| format!("{folder}/{}", R::TABLE.name));
            return Ok(RowWriter::in_memory(sink.clone(), name));
        }
        let file = R::TABLE.file_name(format.extension());
        let file = match within {
            Some(folder) => format!("{folder}/{file}"),
            None => file,
        };
        RowWriter::to(self.begin(&file)?, format)
    }

    /// Gives the complete folder its name, which is returned.
    ///
    /// # Errors
    /// See [`Folder::commit`].
    pub fn commit(self) -> Result<PathBuf, OutputError> {
        match self.0 {
            Place::Folder(folder) => folder.commit(),
            Place::Entry(entry) => entry.commit(),
            Place::Memory(_) => Ok(PathBuf::new()),
        }
    }
}
