//! Makes runs for a recommendation: in a store, where they are found again, or without one.

use std::collections::BTreeSet;
use std::sync::Mutex;

use rayon::prelude::*;

use crate::make::{MakeOptions, fill};
use crate::runner::{make_missing, name_of};
use flashlane_outputs::{Entry, Store};
use flashlane_report::results::Summary;
use flashlane_scenario::Scenario;
use flashlane_sim::{Options, RunError};

/// The runs of a recommendation.
pub(super) struct Runs<'a> {
    store: Option<&'a Store>,
    options: &'a MakeOptions<'a>,
    names: BTreeSet<String>,
}

/// A run's figures, or why it could not be made.
pub(super) type Run = Result<Summary, String>;

impl<'a> Runs<'a> {
    /// Runs that are kept in `store`, if there is one.
    pub(super) fn new(store: Option<&'a Store>, options: &'a MakeOptions<'a>) -> Runs<'a> {
        Runs { store, options, names: BTreeSet::new() }
    }

    /// How many runs were asked for, each counted once.
    pub(super) fn count(&self) -> u64 {
        self.names.len() as u64
    }

    /// The run of each scenario. If one fails because of what its scenario asks for, the others are made all the same.
    ///
    /// # Errors
    /// A defect, a request to stop, or results that cannot be written.
    pub(super) fn make(&mut self, scenarios: &[Scenario]) -> Result<Vec<Run>, RunError> {
        let name = |scenario: &Scenario| Ok(name_of(&[&scenario.hash()?, scenario.name(), "summary"]));
        let names = scenarios.iter().map(name).collect::<Result<Vec<String>, RunError>>()?;
        self.names.extend(names.iter().cloned());
        match self.store {
            Some(store) => self.stored(store, scenarios, &names),
            None => self.passing(scenarios),
        }
    }

    /// Those that the store lacks are made and kept; then all are read.
    fn stored(&self, store: &Store, scenarios: &[Scenario], names: &[String]) -> Result<Vec<Run>, RunError> {
        let failed: Mutex<Vec<Option<String>>> = Mutex::new(vec![None; scenarios.len()]);
        let one = |number: usize, entry: Entry| match fill(&scenarios[number], false, entry, self.options) {
            Ok(()) => Ok(()),
            Err(error) => {
                failed.lock().expect("no thread panicked")[number] = Some(of_the_scenario(error)?);
                Ok(())
            }
        };
        let all: Vec<&str> = names.iter().map(String::as_str).collect();
        let made = make_missing(&all, store, self.options.progress, one);
        let synced = store.sync();
        made?;
        synced?;
        let failed = failed.into_inner().expect("no thread panicked");
        let read = |(name, failed): (&String, Option<String>)| match failed {
            Some(reason) => Ok(Err(reason)),
            None => Ok(Ok(crate::rows::summary(store, name)?)),
        };
        names.iter().zip(failed).map(read).collect()
    }

    /// All are made, and their figures alone are kept.
    fn passing(&self, scenarios: &[Scenario]) -> Result<Vec<Run>, RunError> {
        let progress = self.options.progress;
        progress.expect(scenarios.len());
        let one = |scenario: &Scenario| -> Result<Run, RunError> {
            let requests = Some(progress.requests());
            let options = Options { audit: self.options.audit, rows: None, activity: false, progress: requests };
            let made = flashlane_sim::compare(scenario, &options);
            progress.made_one();
            match made {
                Ok(made) => Ok(Ok(made.summary)),
                Err(error) => of_the_scenario(error).map(Err),
            }
        };
        scenarios.par_iter().with_max_len(1).map(one).collect()
    }
}

/// The reason of a run that fails for what its scenario asks for; any other error ends all.
fn of_the_scenario(error: RunError) -> Result<String, RunError> {
    match error {
        RunError::Input(message) | RunError::Device(message) => Ok(message),
        RunError::Results(_) | RunError::Fault(_) | RunError::Stopped => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Progress, Shard};

    const FLOW: &str = "synthetic = { read_ratio = 0.5, rate_iops = 1000, requests = 50 }\n";

    fn scenario(flow: &str, seed: u64) -> Scenario {
        let text = format!("scheduler = \"fcfs\"\nseed = {seed}\ndevice = \"flin-isca18\"\n[[flow]]\n{flow}");
        Scenario::parse("s.toml", text).expect("a scenario")
    }

    /// The figures are the same with a store and without, and a run that fails at its end leaves the others alone.
    #[test]
    fn runs_are_the_same_with_a_store_and_failures_are_reported() {
        let folder = tempfile::tempdir().expect("a folder");
        let trace = folder.path().join("far.csv");
        std::fs::write(&trace, "time_us,op,offset,length\n0,read,0,4096\n9,read,999999999999999,4096\n")
            .expect("written");
        let far = format!("trace = {:?}\n", trace.display().to_string());
        let all = [scenario(FLOW, 1), scenario(&far, 1), scenario(FLOW, 2), scenario(FLOW, 1)];
        let progress = Progress::default();
        let (shard, command) = (Shard::WHOLE, "recommend".to_owned());
        let options = MakeOptions { shard, audit: false, command, progress: &progress };
        let store = Store::open(&folder.path().join("store"), "1").expect("a store");
        let mut passing = Runs::new(None, &options);
        let passed = passing.make(&all).expect("made");
        let mut kept = Runs::new(Some(&store), &options);
        assert!(kept.make(&all).expect("made") == passed, "packed");
        let made = progress.made();
        assert!(kept.make(&all).expect("read") == passed, "and read again");
        assert_eq!(progress.made(), made + 1, "nothing but what failed is made again");
        assert_eq!((passing.count(), kept.count()), (3, 3));
        assert!(passed[0].is_ok() && passed[0] == passed[3] && passed[0] != passed[2]);
        assert!(passed[1].as_ref().expect_err("beyond").contains("far.csv"), "{:?}", passed[1]);
    }

    #[test]
    fn a_request_to_stop_ends_all() {
        let progress = Progress::default();
        progress.stop();
        let options = MakeOptions { shard: Shard::WHOLE, audit: false, command: String::new(), progress: &progress };
        assert!(matches!(Runs::new(None, &options).make(&[scenario(FLOW, 1)]), Err(RunError::Stopped)));
    }
}
