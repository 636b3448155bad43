//! Makes the runs of a sweep that are missing.

use std::fmt;
use std::sync::Mutex;

use super::SUMMARY;
use super::file::Sweep;
use super::plan::{Plan, PlannedRun};
use super::runner::{Progress, make_missing};
use flashlane_outputs::{Claim, Entry, Store};
use flashlane_report::results::{Format, MadeByCommand, ResultsDir};
use flashlane_scenario::Scenario;
use flashlane_sim::{Options, RowOutput, RunError};

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
    let ours: Vec<usize> = (0..plan.runs.len()).filter(|number| options.shard.has(*number)).collect();
    let names: Vec<&str> = ours.iter().map(|number| plan.runs[*number].name.as_str()).collect();
    let failed = Mutex::new(Vec::new());
    let one = |place: usize, entry: Entry| match of_sweep(sweep, &plan.runs[ours[place]], entry, options) {
        Err(error @ (RunError::Results(_) | RunError::Stopped)) => Err(error),
        Err(error) => {
            failed.lock().expect("no thread panicked").push((ours[place], error));
            Ok(())
        }
        Ok(()) => Ok(()),
    };
    let result = make_missing(&names, store, options.progress, one);
    let synced = store.sync();
    let missing = result?;
    synced?;
    let mut failed = failed.into_inner().expect("no thread panicked");
    failed.sort_by_key(|(number, _)| *number);
    let made = missing.iter().filter(|place| store.has(names[**place])).count();
    Ok(Made { there: ours.len() - missing.len(), made, failed })
}

/// Makes a run unless it is there; false if another process is making it. If `wait`, waits for that process.
///
/// # Errors
/// As [`flashlane_sim::compare`].
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
    of_sweep(sweep, planned, entry, options)?;
    store.finished()?;
    Ok(true)
}

/// Makes a run of a sweep and stores it as `entry`.
fn of_sweep(sweep: &Sweep, planned: &PlannedRun, entry: Entry, options: &MakeOptions<'_>) -> Result<(), RunError> {
    fill(&sweep.scenario(&planned.at)?, sweep.requests, entry, options)
}

/// Makes the run of `scenario` and stores it as `entry`, with a row for each request if `requests` says so.
pub(super) fn fill(
    scenario: &Scenario,
    requests: bool,
    entry: Entry,
    options: &MakeOptions<'_>,
) -> Result<(), RunError> {
    let prepared = flashlane_sim::prepare(scenario)?;
    let dir = ResultsDir::of_store(entry);
    let rows = RowOutput { dir: &dir, format: Format::Parquet, transactions: false };
    let rows = requests.then_some(rows);
    let made = flashlane_sim::compare_prepared(
        scenario,
        &prepared,
        &Options { audit: options.audit, rows, activity: false, progress: Some(options.progress.requests()) },
    )?;
    dir.write(SUMMARY, made.summary.to_json().as_bytes())?;
    let command = MadeByCommand { command: options.command.clone() };
    dir.write(MadeByCommand::FILE, command.to_json().as_bytes())?;
    dir.commit()?;
    Ok(())
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
