//! The runner: makes those of many runs that a store lacks, several in parallel, each once, beside other processes.
//!
//! Knows neither what a run is nor what is kept of it.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use flashlane_outputs::{Claim, Entry, State, Store};
use flashlane_scenario::hash_of;
use flashlane_sim::RunError;
use flashlane_sim::maker;

/// Version of what determines a run's name, beside what its caller says.
const NAMING: &str = "run 1";

/// The name of a run: a hash of its [`maker`] and of `parts`, which say what is run and what is kept of it. 16 hexadecimal digits.
pub fn name_of(parts: &[&str]) -> String {
    let maker = maker();
    let all = [NAMING, &maker].into_iter().chain(parts.iter().copied());
    hash_of(all.flat_map(|part| [part.as_bytes(), b"\0"]))
}

/// How far runs have come.
#[derive(Debug, Default)]
pub struct Progress {
    done: AtomicU64,
    of: AtomicU64,
    made: AtomicU64,
    found: AtomicU64,
    damaged: Mutex<Vec<String>>,
    requests: flashlane_sim::Progress,
}

impl Progress {
    /// Runs done, of those that were missing.
    pub fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }

    /// Runs that were missing; 0 while unknown.
    pub fn of(&self) -> u64 {
        self.of.load(Ordering::Relaxed)
    }

    /// Runs made here since the beginning.
    pub fn made(&self) -> u64 {
        self.made.load(Ordering::Relaxed)
    }

    /// Runs found in the store since the beginning.
    pub fn found(&self) -> u64 {
        self.found.load(Ordering::Relaxed)
    }

    /// The names of runs that were found damaged and are made again.
    pub fn damaged(&self) -> Vec<String> {
        self.damaged.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Requests completed, and the wish to stop.
    pub fn requests(&self) -> &flashlane_sim::Progress {
        &self.requests
    }

    /// Counts [`Progress::done`] and [`Progress::of`] from 0 again.
    pub fn begin(&self) {
        self.done.store(0, Ordering::Relaxed);
        self.of.store(0, Ordering::Relaxed);
    }

    /// Expects this many more runs.
    pub fn expect(&self, runs: usize) {
        self.of.fetch_add(runs as u64, Ordering::Relaxed);
    }

    /// One more run was made.
    pub fn made_one(&self) {
        self.made.fetch_add(1, Ordering::Relaxed);
        self.done.fetch_add(1, Ordering::Relaxed);
    }

    /// Ends the runs in flight soon, unfinished, and begins no further one.
    pub fn stop(&self) {
        self.requests.stop();
    }
}

/// Makes the runs that `store` lacks, of the runs called `names`: `make` gets the number of each and its entry in the store, which it
/// fills and commits. Returns the numbers of those that were missing. The first error ends it; runs that are finished stay.
///
/// # Errors
/// What `make` says, a fault of the store, or [`RunError::Stopped`].
pub fn make_missing(
    names: &[&str],
    store: &Store,
    progress: &Progress,
    make: impl Fn(usize, Entry) -> Result<(), RunError> + Sync,
) -> Result<Vec<usize>, RunError> {
    let states: Vec<State> = names.par_iter().map(|name| store.results().state(name)).collect();
    let missing: Vec<usize> = (0..names.len()).filter(|number| states[*number] != State::Whole).collect();
    let damaged = missing.iter().filter(|number| states[**number] == State::Damaged);
    let damaged: BTreeSet<String> = damaged.map(|number| names[*number].to_owned()).collect();
    progress.damaged.lock().unwrap_or_else(PoisonError::into_inner).extend(damaged);
    progress.found.fetch_add((names.len() - missing.len()) as u64, Ordering::Relaxed);
    progress.expect(missing.len());
    let elsewhere = Mutex::new(Vec::new());
    let one = |number: usize, wait: bool| -> Result<(), RunError> {
        if progress.requests.is_stopped() {
            return Err(RunError::Stopped);
        }
        match store.claim(names[number], wait)? {
            Claim::Ours(entry) => {
                make(number, entry)?;
                progress.made_one();
                store.finished()?;
            }
            Claim::There => {
                progress.found.fetch_add(1, Ordering::Relaxed);
                progress.done.fetch_add(1, Ordering::Relaxed);
            }
            Claim::Taken => elsewhere.lock().expect("no thread panicked").push(number),
        }
        Ok(())
    };
    missing.par_iter().with_max_len(1).try_for_each(|number| one(*number, false))?;
    // Those that were being made already, by another process or under another number: they are there now, unless the process has
    // ended. Waiting for them any earlier could be waiting for this very thread.
    let rest = std::mem::take(&mut *elsewhere.lock().expect("no thread panicked"));
    rest.into_iter().try_for_each(|number| one(number, true))?;
    Ok(missing)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store(folder: &tempfile::TempDir) -> Store {
        Store::open(&folder.path().join("store"), "1").expect("a store")
    }

    #[test]
    fn what_is_missing_is_made_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let (store, progress) = (store(&folder), Progress::default());
        let calls = AtomicU64::new(0);
        let make = |number: usize, entry: Entry| {
            calls.fetch_add(1, Ordering::Relaxed);
            entry.write("figure", &[number as u8]);
            entry.commit()?;
            Ok(())
        };
        // The same name twice is one run.
        let missing = make_missing(&["a", "b", "a", "c"], &store, &progress, make).expect("made");
        assert_eq!((missing, calls.load(Ordering::Relaxed)), (vec![0, 1, 2, 3], 3));
        assert_eq!((progress.made(), progress.found(), progress.done(), progress.of()), (3, 1, 4, 4));
        progress.begin();
        assert_eq!(make_missing(&["c", "d"], &store, &progress, make).expect("made"), [1]);
        assert_eq!((progress.made(), progress.found(), progress.done(), progress.of()), (4, 2, 1, 1));
        assert_eq!(store.read("d", "figure").expect("there"), [1]);
    }

    /// One digit of a figure changed, one file shorter, the list itself changed, one bit of a pack: each is made again, and named.
    #[test]
    fn what_is_damaged_is_made_again_and_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let (store, progress) = (store(&folder), Progress::default());
        let make = |number: usize, entry: Entry| {
            entry.write("figure", format!("{{\"mean_ns\": 1000{number}}}").as_bytes());
            if number < 4 {
                entry.begin("rows/long")?.write_whole(&vec![7; 5 << 20])?;
            }
            entry.commit()?;
            Ok(())
        };
        let names = ["a", "b", "c", "d", "packed"];
        make_missing(&names, &store, &progress, make).expect("made");
        let file = |name: &str, file: &str| folder.path().join("store/runs").join(name).join(file);
        let changed = |name: &str, of: &str, from: &str, to: &str| {
            let text = std::fs::read_to_string(file(name, of)).expect("there");
            assert!(text.contains(from), "{text}");
            std::fs::write(file(name, of), text.replacen(from, to, 1)).expect("written");
        };
        changed("a", "figure", "1000", "2000");
        std::fs::write(file("b", "rows/long"), [7]).expect("written");
        changed("c", "whole.json", "\"bytes\":", "\"bites\":");
        let packs = std::fs::read_dir(folder.path().join("store/packs")).expect("packs");
        let pack = packs.map(|entry| entry.expect("an entry").path()).next().expect("a pack");
        let mut bytes = std::fs::read(&pack).expect("there");
        *bytes.last_mut().expect("a record") ^= 1;
        std::fs::write(&pack, bytes).expect("written");
        assert!(store.read("packed", "figure").expect_err("another bit").to_string().contains("is damaged"));
        assert!(store.read("a", "figure").expect_err("another digit").to_string().contains("is damaged"));
        assert_eq!(store.read("d", "figure").expect("whole"), b"{\"mean_ns\": 10003}");
        assert_eq!(make_missing(&names, &store, &progress, make).expect("made"), [0, 1, 2, 4]);
        assert_eq!(progress.damaged(), ["a", "b", "c", "packed"]);
        assert_eq!(store.read("a", "figure").expect("made again"), b"{\"mean_ns\": 10000}");
        assert_eq!(store.read("packed", "figure").expect("made again"), b"{\"mean_ns\": 10004}");
        assert!(names.iter().all(|name| store.has(name)));
        assert!(make_missing(&names, &store, &progress, make).expect("nothing to make").is_empty());
        assert_eq!(progress.damaged().len(), 4);
    }

    #[test]
    fn an_error_ends_it_and_leaves_nothing_of_its_run() {
        let folder = tempfile::tempdir().expect("a folder");
        let (store, progress) = (store(&folder), Progress::default());
        let make = |_, entry: Entry| {
            entry.write("figure", b"1");
            Err(RunError::Fault("no".into()))
        };
        let error = make_missing(&["a"], &store, &progress, make).expect_err("none is made");
        assert_eq!((error.to_string().as_str(), store.has("a"), progress.made()), ("no", false, 0));
        progress.stop();
        assert!(matches!(make_missing(&["a"], &store, &progress, make), Err(RunError::Stopped)));
    }
}
