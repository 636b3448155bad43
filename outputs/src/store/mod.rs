//! A store: a folder of results that several processes fill. Each result is a folder that is whole or absent, made once.
//!
//! ```text
//! store.json         what made the store
//! runs/NAME/         a result; whole.json in it lists its files, their lengths and hashes
//! claims/NAME        locked by the process that makes that result
//! unfinished/RANDOM/ what one process has not finished; its file `lock` is locked as long as the process exists
//! ```
//!
//! Promises that a result is never made by two processes at the same time, nor again once it is there, as far as the file
//! system has locks, and that a process that is killed loses only what it had not finished. Results are synced to the disk
//! together, every [`BATCH`] results and [`Store::sync`]. One that a loss of power, a disk or a person damaged is made again, because its
//! files do not have their lengths or hashes.

mod about;
mod contents;
mod entry;

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::registry::{self, Unfinished};
use super::{Existing, Inputs, OutFile, OutputError, exchange, leftover, place};
use about::About;
use entry::{RESULTS, read, state};

pub use entry::{Entry, State};

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
    shown: PathBuf,
    root: PathBuf,
    /// What this process has not finished.
    own: PathBuf,
    /// Locked until the process ends.
    _lock: File,
    begun: AtomicU64,
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
        for folder in [RESULTS, CLAIMS, UNFINISHED] {
            fs::create_dir_all(root.join(folder)).map_err(io)?;
        }
        leftover::sweep_all(&root);
        sweep(&root.join(UNFINISHED));
        sweep_claims(&root.join(CLAIMS));
        let (own, lock) = occupy(&root.join(UNFINISHED)).map_err(io)?;
        registry::hold().add(Unfinished::Scratch(own.clone()));
        let unsynced = Mutex::new(Unsynced { results: 0, since: Instant::now() });
        Ok(Store { shown: path.into(), root, own, _lock: lock, begun: AtomicU64::new(0), unsynced })
    }

    /// Whether there is a store at `path`.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub fn is_there(path: &Path, version: &str) -> Result<bool, OutputError> {
        About::of(version).is_there(path)
    }

    /// The folder, as the user named it.
    pub fn path(&self) -> &Path {
        &self.shown
    }

    /// Whether the result `name` is there and whole.
    pub fn has(&self, name: &str) -> bool {
        self.state(name) == State::Whole
    }

    /// What there is of the result `name`: all its files must have their lengths, and those up to 4 MiB their hashes.
    pub fn state(&self, name: &str) -> State {
        state(&self.root, name)
    }

    /// What there is of the result `name` in the store at `path`, which need not be open.
    pub fn state_in(path: &Path, name: &str) -> State {
        state(path, name)
    }

    /// A file of the result `name`.
    ///
    /// # Errors
    /// If it cannot be read, or is not the file that was written.
    pub fn read(&self, name: &str, file: &str) -> Result<Vec<u8>, OutputError> {
        read(&self.root, &self.shown, name, file)
    }

    /// A file of the result `name` in the store at `path`, which need not be open.
    ///
    /// # Errors
    /// As [`Store::read`].
    pub fn read_in(path: &Path, name: &str, file: &str) -> Result<Vec<u8>, OutputError> {
        read(path, path, name, file)
    }

    /// Claims the result `name`; if `wait`, waits until another process that makes it has ended.
    ///
    /// # Errors
    /// A fault of the machine.
    pub fn claim(&self, name: &str, wait: bool) -> Result<Claim, OutputError> {
        if self.has(name) {
            return Ok(Claim::There);
        }
        let claim = self.root.join(CLAIMS).join(name);
        let io = |e: io::Error| OutputError::io(&self.shown.join(CLAIMS).join(name), &e);
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
        if self.has(name) {
            let _ = fs::remove_file(&claim);
            return Ok(Claim::There);
        }
        let folder = self.own.join(self.begun.fetch_add(1, Ordering::Relaxed).to_string());
        let held = registry::hold();
        fs::create_dir(&folder).map_err(io)?;
        drop(held);
        let shown = self.shown.join(RESULTS).join(name);
        Ok(Claim::Ours(Entry { root: self.root.clone(), shown, name: name.into(), folder, claim, _lock: lock }))
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
        exchange::sync_all_of(&self.root).map_err(|e| OutputError::io(&self.shown, &e))
    }

    /// Begins the file `name` beside the results, which replaces one of that name, also one that another process writes meanwhile.
    ///
    /// # Errors
    /// As [`OutFile::create`].
    pub fn begin(&self, name: &str) -> Result<OutFile, OutputError> {
        OutFile::create(&self.shown.join(name), Existing::ReplaceLate, &Inputs::default())
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        let mut registry = registry::hold();
        registry.forget(&self.own);
        let _ = fs::remove_dir_all(&self.own);
    }
}

/// Opens a file to lock it, unless something else has its name: a named pipe would wait for a reader.
fn lock_file(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    match fs::metadata(path) {
        Ok(about) if !about.is_file() => Err(ErrorKind::InvalidInput.into()),
        _ => options.append(true).open(path),
    }
}

/// Whether `file` is the one at `path`.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let (Ok(own), Ok(there)) = (file.metadata(), fs::metadata(path)) else { return false };
    (own.dev(), own.ino()) == (there.dev(), there.ino())
}

#[cfg(not(unix))]
fn is_at(_: &File, path: &Path) -> bool {
    path.exists()
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
