//! Makes the runs of a sweep that are missing.

use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use super::SUMMARY;
use super::file::Sweep;
use super::plan::{Plan, PlannedRun};
use crate::outputs::{Claim, Store};
use crate::results::{Format, MadeByCommand, ResultsDir};
use crate::run::{self, Options, RowOutput, RunError};

/// A part of a sweep: the runs whose number, counted from 0, leaves `index - 1` when divided by `of`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Which part, from 1.
    pub index: usize,
    /// How many there are.
    pub of: usize,
}

impl Shard {
    /// Everything.
    pub const WHOLE: Shard = Shard { index: 1, of: 1 };

    /// Whether the run with this number belongs to it.
    pub fn has(self, number: usize) -> bool {
        number % self.of == self.index - 1
    }
}

impl std::str::FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Shard, String> {
        let parts = text.split_once('/').and_then(|(index, of)| Some((index.parse().ok()?, of.parse().ok()?)));
        match parts {
            Some((index, of)) if (1..=of).contains(&index) => Ok(Shard { index, of }),
            _ => Err(format!("{text:?}: must be I/N with I from 1 to N, such as 3/8")),
        }
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.of)
    }
}

/// How runs are made.
#[derive(Debug)]
pub struct MakeOptions<'a> {
    /// The part to make.
    pub shard: Shard,
    /// Whether every run is audited.
    pub audit: bool,
    /// The command, for `made-by.json`.
    pub command: String,
    /// How far it is.
    pub progress: &'a Progress,
}

/// Runs made so far.
#[derive(Debug, Default)]
pub struct Progress {
    done: AtomicU64,
    of: AtomicU64,
    requests: run::Progress,
}

impl Progress {
    /// Runs made.
    pub fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }

    /// Runs to make; 0 while unknown.
    pub fn of(&self) -> u64 {
        self.of.load(Ordering::Relaxed)
    }

    /// Ends the runs in flight soon, unfinished, and begins no further one.
    pub fn stop(&self) {
        self.requests.stop();
    }

    fn is_stopped(&self) -> bool {
        self.requests.is_stopped()
    }
}

/// What was made.
#[derive(Debug, Default)]
pub struct Made {
    /// Runs that were there already.
    pub there: usize,
    /// Runs made now.
    pub made: usize,
    /// Runs that ended with an error: their place in the plan, and the error.
    pub failed: Vec<(usize, RunError)>,
}

/// Makes the runs of `plan` that are missing in `store`, several in parallel. A run that fails keeps none of the others from
/// being made, unless results cannot be written.
///
/// # Errors
/// Results that cannot be written.
pub fn make(sweep: &Sweep, plan: &Plan, store: &Store, options: &MakeOptions<'_>) -> Result<Made, RunError> {
    let progress = options.progress;
    let ours = (0..plan.runs.len()).filter(|number| options.shard.has(*number));
    let (there, missing): (Vec<usize>, Vec<usize>) = ours.partition(|number| store.has(&plan.runs[*number].name));
    progress.of.store(missing.len() as u64, Ordering::Relaxed);
    let failed = Mutex::new(Vec::new());
    let elsewhere = Mutex::new(Vec::new());
    let one = |number: usize, wait: bool| -> Result<(), RunError> {
        if progress.is_stopped() {
            return Err(RunError::Stopped);
        }
        match claim_and_make(sweep, &plan.runs[number], store, options, wait) {
            Ok(true) => drop(progress.done.fetch_add(1, Ordering::Relaxed)),
            Ok(false) => elsewhere.lock().expect("no thread panicked").push(number),
            Err(error @ (RunError::Results(_) | RunError::Stopped)) => return Err(error),
            Err(error) => {
                progress.done.fetch_add(1, Ordering::Relaxed);
                failed.lock().expect("no thread panicked").push((number, error));
            }
        }
        Ok(())
    };
    let result = missing.par_iter().with_max_len(1).try_for_each(|number| one(*number, false));
    // Those that another process was making: its own, unless it has ended.
    let rest = std::mem::take(&mut *elsewhere.lock().expect("no thread panicked"));
    let result = result.and_then(|()| rest.into_iter().try_for_each(|number| one(number, true)));
    let synced = store.sync();
    result?;
    synced?;
    let mut failed = failed.into_inner().expect("no thread panicked");
    failed.sort_by_key(|(number, _)| *number);
    let made = missing.iter().filter(|number| store.has(&plan.runs[**number].name)).count();
    Ok(Made { there: there.len(), made, failed })
}

/// Makes a run unless it is there; false if another process is making it. If `wait`, waits for that process.
///
/// # Errors
/// As [`run::compare`].
pub fn claim_and_make(
    sweep: &Sweep,
    planned: &PlannedRun,
    store: &Store,
    options: &MakeOptions<'_>,
    wait: bool,
) -> Result<bool, RunError> {
    let entry = match store.claim(&planned.name, wait)? {
        Claim::There => return Ok(true),
        Claim::Taken => return Ok(false),
        Claim::Ours(entry) => entry,
    };
    let scenario = sweep.scenario(&planned.at)?;
    let prepared = run::prepare(&scenario)?;
    let dir = ResultsDir::of_store(entry);
    let rows = RowOutput { dir: &dir, format: Format::Parquet, transactions: false };
    let rows = sweep.requests.then_some(rows);
    let made = run::compare_prepared(
        &scenario,
        &prepared,
        &Options { audit: options.audit, rows, activity: false, progress: Some(&options.progress.requests) },
    )?;
    dir.write(SUMMARY, made.summary.to_json().as_bytes())?;
    let command = MadeByCommand { command: options.command.clone() };
    dir.write(MadeByCommand::FILE, command.to_json().as_bytes())?;
    dir.commit()?;
    store.finished()?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_part_the_runs_among_them() {
        let shards: Vec<Shard> = (1..=3).map(|index| Shard { index, of: 3 }).collect();
        for number in 0..100 {
            assert_eq!(shards.iter().filter(|shard| shard.has(number)).count(), 1);
        }
        assert_eq!("3/8".parse(), Ok(Shard { index: 3, of: 8 }));
        for wrong in ["0/3", "4/3", "3", "a/b", "1/0", "-1/2"] {
            assert!(wrong.parse::<Shard>().unwrap_err().contains("must be I/N"), "{wrong}");
        }
    }
}
