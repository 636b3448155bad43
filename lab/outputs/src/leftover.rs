//! What a killed run left, and its removal.
//!
//! A temporary folder lies beside the folder it will replace and contains three things: `lock`, which is locked as long
//! as the run's process exists and lists the files it began; `new`, the folder being written; and `old`, the earlier
//! folder while two renames do the work of an exchange. After an exchange, `new` is the earlier folder. So what is left
//! to do follows from these names, at whatever moment a run was killed.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, TryLockError};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use super::listing::Listing;
use super::place::is_taken;
use super::registry::{self, Unfinished};

/// Locked by the run that owns the folder; lists the files it began, one JSON string per line.
pub(super) const LOCK: &str = "lock";
/// The folder being written; after an exchange, the earlier one.
pub(super) const NEW: &str = "new";
/// The earlier folder, between two renames.
pub(super) const OLD: &str = "old";

/// Random letters and digits at the end of a temporary name.
pub(super) const RANDOM: usize = 12;
/// Stands between an output's name and these.
const MARK: &str = ".flashlane-";
/// Names up to this many bytes are used whole in temporary names.
const LONG: usize = 200;

/// The prefix of temporary names for the output `name`.
pub(super) fn prefix(name: &Path) -> OsString {
    let own = name.file_name().unwrap_or_default();
    let mut prefix = OsString::from(".");
    if own.len() <= LONG {
        prefix.push(own);
    } else {
        // A name has at most 255 bytes: of a long one a part is used, and a hash of the whole.
        let hash = blake3::hash(own.as_encoded_bytes()).to_hex();
        prefix.push(own.to_string_lossy().chars().take(LONG / 8).collect::<String>());
        prefix.push(format!("~{}", &hash[..16]));
    }
    prefix.push(MARK);
    prefix
}

/// The random part of a temporary name with that prefix.
pub(super) fn random_part<'a>(name: &'a OsStr, prefix: &OsStr) -> Option<&'a str> {
    let rest = name.as_encoded_bytes().strip_prefix(prefix.as_encoded_bytes())?;
    let rest = std::str::from_utf8(rest).ok()?;
    (rest.len() == RANDOM && rest.bytes().all(|b| b.is_ascii_alphanumeric())).then_some(rest)
}

/// Removes all unfinished outputs of this process and calls `end`; until then no other thread begins or finishes one.
/// For a process that is about to end.
pub fn abandon(end: impl FnOnce()) {
    let mut registry = registry::hold();
    for output in registry.take_all() {
        match output {
            Unfinished::Folder { outer, name } => clear(&outer, &name),
            // What cannot be removed here, the next run removes.
            Unfinished::File(path) => drop(fs::remove_file(path)),
            Unfinished::Scratch(path) => drop(fs::remove_dir_all(path)),
        }
    }
    end();
}

/// Removes what killed runs left of the output `name`, and puts back earlier results that they had moved away. What is
/// locked belongs to a run in progress and stays, as does what cannot be locked or removed.
pub(super) fn sweep(name: &Path) {
    let Some(entries) = name.parent().and_then(|parent| fs::read_dir(parent).ok()) else { return };
    let prefix = prefix(name);
    let mut found: Vec<PathBuf> = Vec::new();
    for entry in entries.flatten() {
        if random_part(&entry.file_name(), &prefix).is_some() {
            found.push(entry.path());
        }
    }
    for path in found {
        let _held = registry::hold();
        match fs::symlink_metadata(&path) {
            Ok(metadata) if metadata.is_dir() => sweep_folder(&path, name),
            Ok(metadata) if metadata.is_file() => {
                if let Some(_lock) = lock_of_the_dead(&path) {
                    let _ = fs::remove_file(&path);
                }
            }
            _ => {}
        }
    }
}

/// Removes what killed runs left of all outputs in `folder`, as [`sweep`] does.
pub(super) fn sweep_all(folder: &Path) {
    let names = fs::read_dir(folder).into_iter().flatten().flatten().filter_map(|entry| {
        let own = entry.file_name().into_string().ok()?;
        let (name, _) = own.strip_prefix('.')?.rsplit_once(MARK)?;
        Some(folder.join(name))
    });
    // A name that is too long is not in its temporary name; what is left of it goes when it is written again.
    names.collect::<BTreeSet<_>>().iter().for_each(|name| sweep(name));
}

fn sweep_folder(outer: &Path, name: &Path) {
    let lock = outer.join(LOCK);
    if !is_taken(&lock) {
        // Created and not locked yet. If its run is still in progress, it creates another.
        let _ = fs::remove_dir(outer);
    } else if fs::symlink_metadata(&lock).is_ok_and(|m| m.is_file())
        && let Some(_lock) = lock_of_the_dead(&lock)
    {
        clear(outer, name);
    }
}

/// The lock of a file that no running process holds.
fn lock_of_the_dead(path: &Path) -> Option<File> {
    let file = File::open(path).ok()?;
    match file.try_lock() {
        Ok(()) => Some(file),
        // Where files cannot be locked, there is no telling whether the run is still in progress.
        Err(TryLockError::WouldBlock | TryLockError::Error(_)) => None,
    }
}

/// Removes the temporary folder `outer`, whose lock the caller holds; earlier results in it are put back if `name` is
/// unused. Only listed files are deleted. What cannot be removed is left to the next run.
pub(super) fn clear(outer: &Path, name: &Path) {
    let (new, old) = (outer.join(NEW), outer.join(OLD));
    if is_taken(&old) && !is_taken(name) {
        let _ = fs::rename(&old, name);
    }
    let began = began(outer);
    for folder in [&old, &new] {
        if is_taken(folder) {
            let listing = Listing::of(folder).ok().flatten();
            let _ = listing.as_ref().unwrap_or(&began).delete(folder);
        }
    }
    if !is_taken(&old) && !is_taken(&new) {
        let _ = fs::remove_file(outer.join(LOCK));
        let _ = fs::remove_dir(outer);
    }
}

/// The files that a run began in its temporary folder.
pub(super) fn began(outer: &Path) -> Listing {
    let Ok(file) = File::open(outer.join(LOCK)) else { return Listing::default() };
    // The last line may be incomplete.
    BufReader::new(file).lines().map_while(Result::ok).filter_map(|line| serde_json::from_str(&line).ok()).collect()
}
