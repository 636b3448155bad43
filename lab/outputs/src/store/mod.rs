//! A store: results that several processes make together. Each is whole or absent, and made once.
//!
//! ```text
//! store.json         what made the store
//! packs/NAME.pack    results, one record after the other; packs/NAME.open is being written
//! runs/NAME/         a result with files that are written bit by bit; whole.json in it lists them, their lengths and hashes
//! claims/NAME        locked by the process that makes that result
//! unfinished/RANDOM/ what one process has not finished; its file `lock` is locked as long as the process exists
//! ```
//!
//! Promises that a result is never made by two processes at the same time, nor again once it is there, as far as the file
//! system has locks, and that a process that is killed loses only what it had not finished. Results are synced to the disk
//! together, every [`BATCH`] results and [`Store::sync`]. One that a loss of power, a disk or a person damaged is made again, because its
//! bytes do not have their hashes.
//!
//! A store written before packs has all its results in folders; it is read as it is, and what is added is packed.

mod about;
mod entry;
mod folder;
mod lock;
mod pack;
mod packs;
mod results;
#[cfg(all(test, unix))]
mod tests;

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::registry::{self, Unfinished};
use super::{Existing, Inputs, OutFile, OutputError, exchange, leftover, place};
use about::About;
use folder::RESULTS;
use lock::{is_at, lock_file};
use packs::PACKS;

pub use entry::Entry;
pub use folder::State;
pub use results::Results;

const CLAIMS: &str = "claims";
const UNFINISHED: &str = "unfinished";
const LOCK: &str = "lock";
/// Results that are synced together.
const BATCH: u64 = 256;
/// Results wait no longer than this for others to be synced with, once another is finished.
const WAIT: Duration = Duration::from_secs(10);

/// A store, open for reading and writing.
#[derive(Debug)]
pub struct Store {
    results: Arc<Results>,
    /// What this process has not finished.
    own: PathBuf,
    /// Locked until the process ends.
    _lock: File,
    begun: AtomicU64,
    /// Whether folders of results got their names since the last sync.
    folders: Arc<AtomicBool>,
    unsynced: Mutex<Unsynced>,
}

#[derive(Debug)]
struct Unsynced {
    results: u64,
    since: Instant,
}

/// What became of a claim.
#[derive(Debug)]
pub enum Claim {
    /// The result is there.
    There,
    /// Another process is making it.
    Taken,
    /// It is to be made here.
    Ours(Entry),
}

impl Store {
    /// Opens the store at `path`, or creates it; missing parents are created. `version` is
    /// that of the program, or whatever else its results depend on.
    ///
    /// # Errors
    /// A folder that is no store, a store of another version, or a system error.
    pub fn open(path: &Path, version: &str) -> Result<Store, OutputError> {
        Store::apart_from(path, version, &Inputs::default())
    }

    /// Like [`Store::open`], but refuses a folder that holds one of `inputs`.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub fn apart_from(path: &Path, version: &str, inputs: &Inputs) -> Result<Store, OutputError> {
        let io = |e: io::Error| OutputError::io(path, &e);
        let (root, _) = place::output(path)?;
        inputs.refuse_folder(path, &root)?;
        fs::create_dir_all(&root).map_err(io)?;
        About::of(version).check(path, &root)?;
        for folder in [PACKS, RESULTS, CLAIMS, UNFINISHED] {
            fs::create_dir_all(root.join(folder)).map_err(io)?;
        }
        leftover::sweep_all(&root);
        sweep(&root.join(UNFINISHED));
        sweep_claims(&root.join(CLAIMS));
        let (own, lock) = occupy(&root.join(UNFINISHED)).map_err(io)?;
        registry::hold().add(Unfinished::Scratch(own.clone()));
        let stem = own.file_name().unwrap_or_default().to_string_lossy().into_owned();
        packs::close_abandoned(&root, &stem).map_err(|e| OutputError::io(&path.join(PACKS), &e))?;
        let results = Arc::new(Results::read_from(path, &root, stem)?);
        let unsynced = Mutex::new(Unsynced { results: 0, since: Instant::now() });
        let (begun, folders) = (AtomicU64::new(0), Arc::default());
        Ok(Store { results, own, _lock: lock, begun, folders, unsynced })
    }

    /// The folder, as the user named it.
    pub fn path(&self) -> &Path {
        &self.results.shown
    }

    /// The results, with those that other processes had added when that was last looked at.
    pub fn results(&self) -> &Results {
        &self.results
    }

    /// Whether the result `name` is there and whole.
    pub fn has(&self, name: &str) -> bool {
        self.results.has(name)
    }

    /// A file of the result `name`.
    ///
    /// # Errors
    /// As [`Results::read`].
    pub fn read(&self, name: &str, file: &str) -> Result<Vec<u8>, OutputError> {
        self.results.read(name, file)
    }

    /// Claims the result `name`; if `wait`, waits until another process that makes it has ended.
    ///
    /// # Errors
    /// A fault of the machine.
    pub fn claim(&self, name: &str, wait: bool) -> Result<Claim, OutputError> {
        if self.has(name) {
            return Ok(Claim::There);
        }
        let claim = self.results.root.join(CLAIMS).join(name);
        let io = |e: io::Error| OutputError::io(&self.path().join(CLAIMS).join(name), &e);
        let lock = loop {
            let file = lock_file(&claim, OpenOptions::new().create(true)).map_err(io)?;
            if wait {
                // Without locks on the file system, the result may be made twice, with the same bytes.
                let _ = file.lock();
            } else if matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
                return Ok(Claim::Taken);
            }
            // The process that had the claim removed its file, and a third may have claimed it anew.
            if is_at(&file, &claim) {
                break file;
            }
        };
        // Whoever had the claim before has added the result to a pack.
        self.results.refresh()?;
        if self.has(name) {
            let _ = fs::remove_file(&claim);
            return Ok(Claim::There);
        }
        Ok(Claim::Ours(Entry {
            results: Arc::clone(&self.results),
            name: name.into(),
            whole: Mutex::default(),
            folder: self.own.join(self.begun.fetch_add(1, Ordering::Relaxed).to_string()),
            folders: Arc::clone(&self.folders),
            claim,
            _lock: lock,
        }))
    }

    /// Notes that a result was finished, and syncs if enough are.
    ///
    /// # Errors
    /// A fault of the disk.
    pub fn finished(&self) -> Result<(), OutputError> {
        // Another thread that syncs now syncs this result too, or leaves it to the next.
        let Ok(mut unsynced) = self.unsynced.try_lock() else { return Ok(()) };
        unsynced.results += 1;
        if unsynced.results < BATCH && unsynced.since.elapsed() < WAIT {
            return Ok(());
        }
        (unsynced.results, unsynced.since) = (0, Instant::now());
        self.sync()
    }

    /// Syncs everything written so far to the disk.
    ///
    /// # Errors
    /// A fault of the disk.
    pub fn sync(&self) -> Result<(), OutputError> {
        let io = |e: io::Error| OutputError::io(self.path(), &e);
        let unsynced = self.results.packs().take_unsynced().map_err(io)?;
        unsynced.map_or(Ok(()), |unsynced| unsynced.sync()).map_err(io)?;
        match self.folders.swap(false, Ordering::Relaxed) {
            true => exchange::sync_all_of(&self.results.root).map_err(io),
            false => Ok(()),
        }
    }

    /// Begins the file `name` beside the results, which replaces one of that name, also one that another process writes meanwhile.
    ///
    /// # Errors
    /// As [`OutFile::create`].
    pub fn begin(&self, name: &str) -> Result<OutFile, OutputError> {
        OutFile::create(&self.path().join(name), Existing::ReplaceLate, &Inputs::default())
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        let mut registry = registry::hold();
        self.results.packs().close();
        registry.forget(&self.own);
        let _ = fs::remove_dir_all(&self.own);
    }
}

/// Creates this process's folder of unfinished results, and locks it.
fn occupy(unfinished: &Path) -> io::Result<(PathBuf, File)> {
    const ATTEMPTS: usize = 100;
    for _ in 0..ATTEMPTS {
        let own = tempfile::Builder::new().prefix("").rand_bytes(12).tempdir_in(unfinished)?.keep();
        let path = own.join(LOCK);
        // Another process may take the folder for an abandoned one until it is locked.
        match OpenOptions::new().append(true).create_new(true).open(&path) {
            Ok(lock) if !matches!(lock.try_lock(), Err(TryLockError::WouldBlock)) && path.exists() => {
                return Ok((own, lock));
            }
            Ok(_) => {}
            Err(e) if e.kind() == ErrorKind::NotFound => {}
            Err(e) => return Err(e),
        }
    }
    Err(io::Error::other("other processes remove its folder of unfinished results again and again"))
}

/// Removes the claims that killed processes left. One that another process is about to lock it makes anew.
fn sweep_claims(claims: &Path) {
    for path in fs::read_dir(claims).into_iter().flatten().flatten().map(|entry| entry.path()) {
        let Ok(file) = lock_file(&path, &mut OpenOptions::new()) else { continue };
        if file.try_lock().is_ok() && is_at(&file, &path) {
            let _ = fs::remove_file(&path);
        }
    }
}

/// Removes what killed processes left unfinished.
fn sweep(unfinished: &Path) {
    let Ok(entries) = fs::read_dir(unfinished) else { return };
    for folder in entries.flatten().map(|entry| entry.path()) {
        let lock = match lock_file(&folder.join(LOCK), &mut OpenOptions::new()) {
            Ok(lock) => lock,
            // Just created, and then empty; or its removal was interrupted: a process locks its folder before it puts anything there.
            Err(_) => {
                if fs::remove_dir(&folder).is_err() && !folder.join(LOCK).exists() {
                    let _ = fs::remove_dir_all(&folder);
                }
                continue;
            }
        };
        if lock.try_lock().is_ok() {
            let _ = fs::remove_dir_all(&folder);
        }
    }
}
