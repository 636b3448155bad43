//! The state of a drive that is made by replay: made before the first run, by all threads, and copied for each.

use std::sync::{Arc, Mutex};

use flashlane_ssd::{Config, Replay, Replayed};
use rayon::prelude::*;

use super::state_file::StateFile;
use crate::error::RunError;
use crate::progress::Progress;

/// The state of the drive of a comparison before the first request, where it takes a replay to make.
#[derive(Debug, Default)]
pub(crate) struct States {
    slot: Mutex<Slot>,
    file: Option<StateFile>,
    /// The state of a used drive, in which every run begins.
    used: Option<Arc<Replayed>>,
}

#[derive(Debug, Default)]
struct Slot {
    made: Option<Arc<Replayed>>,
    /// Runs that have yet to take it.
    runs: usize,
}

impl States {
    /// A state that is kept in a file, if there is one.
    pub fn kept(file: Option<StateFile>) -> States {
        States { file, ..States::default() }
    }

    /// The state of a used drive.
    pub fn used(state: Replayed) -> States {
        States { used: Some(Arc::new(state)), ..States::default() }
    }

    /// The same for other runs, if it is that of a used drive.
    pub fn of_used(&self) -> Option<States> {
        self.used.clone().map(|used| States { used: Some(used), ..States::default() })
    }

    /// Whether it is that of a used drive.
    pub fn is_used(&self) -> bool {
        self.used.is_some()
    }

    /// Announces that `runs` runs will take the state.
    pub fn expect_runs(&self, runs: usize) {
        self.slot().runs += runs;
    }

    /// Makes the state ahead of the runs, by all threads, and shows how far it is.
    ///
    /// # Errors
    /// A configuration that cannot be built, a file that cannot be read or written; if it is to be stopped.
    pub fn make_ahead(&self, config: &Config, progress: Option<&Progress>) -> Result<(), RunError> {
        if self.is_used() {
            return Ok(());
        }
        let make = || by_all_threads(config, progress);
        // Without the lock: a thread that waits for the others may begin other work.
        let made = self.file.as_ref().map_or_else(make, |file| file.take(config, make))?;
        self.slot().made = made.map(Arc::new);
        Ok(())
    }

    /// The state for a run on `config`; `None` if a formula gives it. The last announced run takes the one that is held here,
    /// the others take copies.
    ///
    /// # Errors
    /// A configuration that cannot be built.
    pub fn take(&self, config: &Config) -> Result<Option<Replayed>, RunError> {
        if let Some(used) = &self.used {
            return Ok(Some((**used).clone()));
        }
        let shared = {
            let mut slot = self.slot();
            slot.runs = slot.runs.saturating_sub(1);
            let made = match slot.made.take() {
                Some(made) => Some(made),
                None => self.make(config)?.map(Arc::new),
            };
            if slot.runs > 0 {
                slot.made.clone_from(&made);
            }
            made
        };
        // Copied without the lock: runs that begin at the same time copy at the same time.
        Ok(shared.map(|made| Arc::try_unwrap(made).unwrap_or_else(|made| (*made).clone())))
    }

    fn make(&self, config: &Config) -> Result<Option<Replayed>, RunError> {
        let make = || Replayed::of(config).map_err(|error| RunError::Input(error.to_string()));
        self.file.as_ref().map_or_else(make, |file| file.take(config, make))
    }

    fn slot(&self) -> std::sync::MutexGuard<'_, Slot> {
        self.slot.lock().expect("making a state does not panic")
    }
}

/// The state of `config`, made by all threads; `None` if a formula gives it.
fn by_all_threads(config: &Config, progress: Option<&Progress>) -> Result<Option<Replayed>, RunError> {
    let replay =
        Replay::of(config, rayon::current_num_threads()).map_err(|error| RunError::Input(error.to_string()))?;
    let Some(replay) = replay else { return Ok(None) };
    let drive = Mutex::new(replay.drive());
    let stopped = || progress.is_some_and(Progress::is_stopped);
    (0..replay.parts()).into_par_iter().for_each(|part| {
        if stopped() {
            return;
        }
        replay.overwrite(part, |done| {
            drive.lock().expect("nothing panics meanwhile").put(done);
            if let Some(progress) = progress {
                progress.made_of_state(replay.pieces());
            }
        });
    });
    if stopped() {
        return Err(RunError::Stopped);
    }
    Ok(Some(drive.into_inner().expect("nothing panicked")))
}

#[cfg(test)]
mod tests {
    use crate::{ObserverOptions, Simulation, prepare};
    use flashlane_scenario::Scenario;

    /// The copy, the original and one made anew give the same run: writes to a small drive that collects garbage all the time.
    #[test]
    fn each_run_begins_in_the_same_state() {
        let text = "scheduler = \"fr-fcfs\"\n[device]\npreset = \"flin-isca18\"\n[device.geometry]\nchannels = 2\nchips_per_channel = 1\npages_per_block = 64\nblocks_per_plane = 24\n\
            [device.ftl]\nover_provisioning_percent = 30.0\n[device.precondition]\nstate = \"replayed\"\n[run]\ncollect = \"non-preemptive\"\n[[flow]]\n[flow.synthetic]\n\
            read_ratio = 0.3\nrate_iops = 3000\nrequests = 3000\n";
        let scenario = Scenario::parse("test", text.into()).expect("a scenario");
        let prepared = prepare(&scenario).expect("prepared");
        let scheduler = || prepared.catalogue.build(&prepared.schedulers[0].1).expect("a scheduler");
        let feeds = || prepared.feeds(|_| true).expect("feeds");
        let figures = |run: Simulation<'_>| {
            let outcome = run.finish().expect("a run");
            assert!(outcome.device.gc.erases > 100, "it collects garbage");
            format!("{:?} {:?}", outcome.device, outcome.flows)
        };
        let alone =
            Simulation::new(&prepared.config, scheduler(), feeds(), prepared.limits, ObserverOptions::default());
        let alone = figures(alone.expect("a run"));
        prepared.states.expect_runs(2);
        for run in ["a copy", "the original", "made anew"] {
            assert_eq!(prepared.states.slot().made.is_some(), run == "the original");
            let simulation = prepared.simulation(scheduler(), feeds(), ObserverOptions::default());
            assert!(figures(simulation.expect("a run")) == alone, "{run}");
        }
    }
}
