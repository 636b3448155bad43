//! The packs of a store: which results they have, and the one that this process writes.
//!
//! ```text
//! RANDOM.open  written by a process, which holds its lock, and by it alone
//! RANDOM.pack  not written any more
//! ```
//!
//! Promises that a pack has one writer as long as it has its name. A process that goes on with a pack gives it another name first,
//! so that two packs of one name are the same, or one is the beginning of the other: copies of a store that went on apart can be put together.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use super::super::exchange;
use super::lock::{is_at, lock_file};
use super::pack::{self, Extent, Files};

/// The folder of packs.
pub(super) const PACKS: &str = "packs";
/// The end of the name of a pack that is being written.
const OPEN: &str = ".open";
/// The end of the name of any other.
const CLOSED: &str = ".pack";
/// Packs beyond this length are not gone on with.
const LONG: u64 = 256 << 20;

/// What is known of the packs in a folder.
#[derive(Debug)]
pub(super) struct Packs {
    folder: PathBuf,
    packs: Vec<Pack>,
    /// The places of packs in the list, by the names of their files.
    numbers: BTreeMap<String, usize>,
    places: BTreeMap<Box<str>, Vec<Place>>,
    /// The name of the pack of this process, without its end; nobody else draws it.
    stem: String,
    own: Option<Own>,
}

#[derive(Debug)]
struct Pack {
    file: String,
    /// Where the last record that was found ends.
    scanned: u64,
    /// The length when that was found.
    length: u64,
    /// Whether it had been closed by then.
    is_final: bool,
}

/// Where a record is.
#[derive(Clone, Copy, Debug)]
struct Place {
    pack: usize,
    extent: Extent,
}

/// The pack that this process writes.
#[derive(Debug)]
struct Own {
    number: usize,
    /// Locked until the pack is closed.
    file: File,
    /// Whether it has records that are not synced.
    is_dirty: bool,
    /// Whether its name is synced.
    is_named: bool,
}

impl Packs {
    /// Those in the store at `root`, none of which was looked at. A pack that this process writes will be called `stem`.
    pub(super) fn of(root: &Path, stem: String) -> Packs {
        let folder = root.join(PACKS);
        Packs { folder, packs: Vec::new(), numbers: BTreeMap::new(), places: BTreeMap::new(), stem, own: None }
    }

    /// Finds what other processes have added, and what was copied to the folder.
    pub(super) fn refresh(&mut self) -> io::Result<()> {
        let listed = list(&self.folder)?;
        if !self.follow_names(&listed) {
            // A pack is gone: removed, or gone on with under another name. Numbers of packs change.
            let own = self.own.take().map(|own| (self.packs[own.number].file.clone(), own));
            (self.packs, self.numbers, self.places) = Default::default();
            self.own = own.map(|(file, own)| Own { number: self.number_of(file), ..own });
        }
        for file in listed {
            let number = self.number_of(file);
            self.look_at(number)?;
        }
        Ok(())
    }

    /// Gives packs that were closed their new names; false if one is not there.
    fn follow_names(&mut self, listed: &BTreeSet<String>) -> bool {
        for (number, pack) in self.packs.iter_mut().enumerate().filter(|(_, pack)| !listed.contains(&pack.file)) {
            let closed = pack.file.strip_suffix(OPEN).map(|stem| format!("{stem}{CLOSED}"));
            match closed.filter(|file| listed.contains(file) && !self.numbers.contains_key(file)) {
                Some(file) => {
                    self.numbers.remove(&pack.file);
                    self.numbers.insert(file.clone(), number);
                    pack.file = file;
                }
                None => return false,
            }
        }
        true
    }

    fn number_of(&mut self, file: String) -> usize {
        *self.numbers.entry(file).or_insert_with_key(|file| {
            self.packs.push(Pack { file: file.clone(), scanned: 0, length: 0, is_final: false });
            self.packs.len() - 1
        })
    }

    /// Finds the records that a pack has got since it was looked at.
    fn look_at(&mut self, number: usize) -> io::Result<()> {
        let pack = &mut self.packs[number];
        if pack.is_final {
            return Ok(());
        }
        let mut file = match pack::open(&self.folder.join(&pack.file)) {
            // Closed or gone on with at this moment, or no file: its results are found the next time, or are not there.
            Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::InvalidData) => return Ok(()),
            other => other?,
        };
        let length = file.metadata()?.len();
        if length != pack.length {
            let (found, end) = pack::scan(&mut file, pack.scanned, length)?;
            (pack.scanned, pack.length) = (end, length);
            for (name, extent) in found {
                self.places.entry(name.into()).or_default().insert(0, Place { pack: number, extent });
            }
        }
        self.packs[number].is_final = self.packs[number].file.ends_with(CLOSED);
        Ok(())
    }

    /// Where the records of the result `name` are, the newest known first.
    pub(super) fn records(&self, name: &str) -> Vec<Record> {
        let places = self.places.get(name).map_or(&[][..], Vec::as_slice);
        let record =
            |place: &Place| Record { pack: self.folder.join(&self.packs[place.pack].file), extent: place.extent };
        places.iter().map(record).collect()
    }

    /// The names of results that have records.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.places.keys().map(AsRef::as_ref)
    }

    /// Appends the record of the result `name` to the pack of this process. If that fails, the pack is as before. Errors come with the
    /// pack's path.
    pub(super) fn append(&mut self, name: &str, record: &[u8]) -> Result<PathBuf, (PathBuf, io::Error)> {
        if self.own.is_none() {
            self.own = Some(self.begin().map_err(|e| (self.folder.clone(), e))?);
        }
        let own = self.own.as_mut().expect("just begun");
        let pack = &mut self.packs[own.number];
        let path = self.folder.join(&pack.file);
        // A file of its own, since closing it makes other machines see what was written.
        let written = OpenOptions::new().append(true).open(&path).and_then(|mut file| file.write_all(record));
        if let Err(error) = written {
            let _ = own.file.set_len(pack.scanned);
            return Err((path, error));
        }
        let extent = Extent { at: pack.scanned, bytes: record.len() as u32 };
        pack.scanned += record.len() as u64;
        pack.length = pack.scanned;
        own.is_dirty = true;
        self.places.entry(name.into()).or_default().insert(0, Place { pack: own.number, extent });
        Ok(path)
    }

    /// A pack to write: one that another process has finished with, or a new one.
    fn begin(&mut self) -> io::Result<Own> {
        let open = format!("{}{OPEN}", self.stem);
        let finished = |pack: &&Pack| pack.is_final && pack.length < LONG;
        let finished: Vec<String> = self.packs.iter().filter(finished).map(|pack| pack.file.clone()).collect();
        for name in finished {
            let path = self.folder.join(&name);
            let Ok(file) = lock_file(&path, &mut OpenOptions::new()) else { continue };
            if file.try_lock().is_err() || !is_at(&file, &path) {
                continue;
            }
            fs::rename(&path, self.folder.join(&open))?;
            let number = self.numbers.remove(&name).expect("it was listed");
            self.numbers.insert(open.clone(), number);
            let pack = &mut self.packs[number];
            (pack.file, pack.is_final) = (open, false);
            // What a killed process began and did not finish.
            file.set_len(pack.scanned)?;
            pack.length = pack.scanned;
            return Ok(Own { number, file, is_dirty: true, is_named: false });
        }
        const ATTEMPTS: usize = 100;
        for _ in 0..ATTEMPTS {
            let path = self.folder.join(&open);
            let file = OpenOptions::new().append(true).create_new(true).open(&path)?;
            // Another process may take the pack for an abandoned one until it is locked.
            if !matches!(file.try_lock(), Err(TryLockError::WouldBlock)) && is_at(&file, &path) {
                return Ok(Own { number: self.number_of(open), file, is_dirty: true, is_named: false });
            }
        }
        Err(io::Error::other("other processes take its pack again and again"))
    }

    /// What is to be synced of the pack of this process, if anything is.
    pub(super) fn take_unsynced(&mut self) -> io::Result<Option<Unsynced>> {
        let Some(own) = self.own.as_mut().filter(|own| own.is_dirty) else { return Ok(None) };
        let unsynced = Unsynced { file: own.file.try_clone()?, folder: (!own.is_named).then(|| self.folder.clone()) };
        (own.is_dirty, own.is_named) = (false, true);
        Ok(Some(unsynced))
    }

    /// Closes the pack of this process.
    pub(super) fn close(&mut self) {
        let Some(own) = self.own.take() else { return };
        let open = self.folder.join(&self.packs[own.number].file);
        let _ = match own.file.metadata().map(|about| about.len()) {
            Ok(0) => fs::remove_file(open),
            _ => fs::rename(&open, open.with_extension(&CLOSED[1..])),
        };
    }
}

/// The names of the packs in `folder`.
fn list(folder: &Path) -> io::Result<BTreeSet<String>> {
    let entries = match fs::read_dir(folder) {
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(BTreeSet::new()),
        other => other?,
    };
    let mut names = BTreeSet::new();
    for entry in entries {
        let name = entry?.file_name().into_string().ok();
        names.extend(name.filter(|name| name.ends_with(OPEN) || name.ends_with(CLOSED)));
    }
    Ok(names)
}

/// Closes the packs in the store at `root` whose writers were killed. `stem` is a name that nobody else uses.
pub(super) fn close_abandoned(root: &Path, stem: &str) -> io::Result<()> {
    let folder = root.join(PACKS);
    for name in list(&folder)? {
        let Some(abandoned) = name.strip_suffix(OPEN) else { continue };
        let path = folder.join(&name);
        let Ok(file) = lock_file(&path, &mut OpenOptions::new()) else { continue };
        if file.try_lock().is_ok() && is_at(&file, &path) {
            let closed = folder.join(format!("{abandoned}{CLOSED}"));
            // A copy of it that was made later may be there.
            let closed = if closed.exists() { folder.join(format!("{abandoned}-{stem}{CLOSED}")) } else { closed };
            let _ = fs::rename(&path, closed);
        }
    }
    Ok(())
}

/// What is to be synced of a pack.
pub(super) struct Unsynced {
    file: File,
    /// The folder of packs, if the pack's name is not synced.
    folder: Option<PathBuf>,
}

impl Unsynced {
    pub(super) fn sync(&self) -> io::Result<()> {
        self.file.sync_data()?;
        self.folder.as_deref().map_or(Ok(()), exchange::sync_folder)
    }
}

/// A record in a pack.
pub(super) struct Record {
    pack: PathBuf,
    extent: Extent,
}

impl Record {
    fn bytes(&self) -> io::Result<Vec<u8>> {
        // Another process may have closed it since.
        let opened = pack::open(&self.pack).or_else(|_| pack::open(&self.pack.with_extension(&CLOSED[1..])));
        pack::read(&mut opened?, self.extent)
    }

    /// Whether it is what was written for the result `name`; `None` if its pack is not there any more.
    pub(super) fn is_whole(&self, name: &str) -> Option<bool> {
        match self.bytes() {
            Err(e) if e.kind() == ErrorKind::NotFound => None,
            bytes => Some(bytes.is_ok_and(|bytes| pack::is_whole(&bytes, name))),
        }
    }

    /// The files of the result `name`, if they are what was written.
    pub(super) fn files(&self, name: &str) -> Option<Files> {
        pack::files(&self.bytes().ok()?, name)
    }
}
