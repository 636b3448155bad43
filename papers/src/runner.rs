//! The settings of a paper's experiments, and ways to run scenarios.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use rayon::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::kept::{Counter, RunStats};
use super::setting::{Setting, Variant};
use flashlane_core::event::Stamped;
use flashlane_outputs::{Entry, Store};
use flashlane_report::metrics::FlowMetrics;
use flashlane_scenario::workload::clone::CloneSpec;
use flashlane_scenario::{Document, Flow, Scenario, TraceFlow, Word};
use flashlane_sim::{ObserverOptions, Options, RunError};
use flashlane_sweep::{Progress, make_missing, name_of};
use flashlane_trace::Beyond;

/// The file of a run's figures in a store.
const FIGURES: &str = "figures.json";

/// How a paper's experiments are run.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Whether this is a quick run: fewer requests and one seed.
    pub quick: bool,
    /// Number of seeds of every clone.
    pub seeds: u64,
    /// The first of them; the others follow.
    pub first_seed: u64,
    /// A folder of traces; a trace replaces the clone of the same name.
    pub traces: Option<PathBuf>,
    /// How what the paper leaves open is read.
    pub setting: Setting,
    /// What is otherwise than in the chosen setting.
    pub variant: Option<&'static Variant>,
}

impl Settings {
    /// Those of a quick run with one seed.
    pub fn quick(setting: Setting) -> Settings {
        Settings { quick: true, seeds: 1, first_seed: 1, traces: None, setting, variant: None }
    }
}

/// The settings of a paper's experiments, and what makes their runs.
#[derive(Debug)]
pub struct Runner<'a> {
    /// The settings.
    pub settings: &'a Settings,
    place: Place<'a>,
    hashes: Arc<Mutex<BTreeSet<String>>>,
}

/// Where runs are kept and counted.
#[derive(Clone, Copy, Debug, Default)]
pub struct Place<'a> {
    /// Where runs are looked for, and kept; without one, all are made and none is kept.
    pub store: Option<&'a Store>,
    /// Counters for showing how far the experiments are.
    pub progress: Option<&'a Progress>,
}

impl<'a> Runner<'a> {
    /// A runner that has run nothing.
    pub fn new(settings: &'a Settings, place: Place<'a>) -> Runner<'a> {
        Runner { settings, place, hashes: Arc::default() }
    }

    /// One with other settings, whose scenarios count as this one's.
    pub fn under<'b>(&self, settings: &'b Settings) -> Runner<'b>
    where
        'a: 'b,
    {
        Runner { settings, place: self.place, hashes: Arc::clone(&self.hashes) }
    }

    /// Whether the experiments are made under the setting that was chosen for the paper.
    pub fn is_chosen(&self) -> bool {
        self.settings.setting == Setting::Chosen
    }

    /// An identifier of all scenarios that were run: equal for equal scenarios, in whatever order. 16 hexadecimal digits.
    pub fn scenarios(&self) -> String {
        let hashes = self.hashes.lock().expect("no run panicked while it held the list");
        flashlane_scenario::hash_of(hashes.iter().map(String::as_bytes))
    }

    /// The seeds.
    pub fn seeds(&self) -> Vec<u64> {
        (0..self.settings.seeds).map(|more| self.settings.first_seed + more).collect()
    }

    /// The seeds of a workload: one where a trace, which has no seeds, replaces its clone.
    ///
    /// # Errors
    /// As [`Runner::trace`].
    pub fn seeds_of(&self, name: &str) -> Result<Vec<u64>, RunError> {
        Ok(if self.trace(name)?.is_some() { vec![1] } else { self.seeds() })
    }

    /// The first seed: that of what is made once.
    pub fn first_seed(&self) -> u64 {
        self.settings.first_seed
    }

    /// `whole`, or `quick` in a quick run.
    pub fn amount(&self, whole: u64, quick: u64) -> u64 {
        if self.settings.quick { quick } else { whole }
    }

    /// Runs everything that each document names and compares the results, several documents in parallel. The figures stand beside what
    /// came with the document, in the order of the documents.
    ///
    /// # Errors
    /// As [`flashlane_sim::compare`], or a store that cannot be read or written.
    pub fn compare<K>(&self, runs: Vec<(K, Document)>) -> Result<Vec<(K, RunStats)>, RunError> {
        self.kept(RunStats::NAME, runs, |scenario| self.compared(scenario))
    }

    /// Runs the first scheduler that each document names, with a counter, several documents in parallel. What was counted stands beside
    /// what came with the document, in the order of the documents.
    ///
    /// # Errors
    /// As [`Runner::compare`].
    pub fn count<C: Counter, K>(&self, runs: Vec<(K, Document)>) -> Result<Vec<(K, C::Counts)>, RunError> {
        self.kept(C::NAME, runs, |scenario| self.counted::<C>(scenario))
    }

    fn compared(&self, scenario: &Scenario) -> Result<RunStats, RunError> {
        let progress = self.place.progress.map(Progress::requests);
        let made = flashlane_sim::compare(scenario, &Options { audit: false, rows: None, activity: false, progress })?;
        Ok(RunStats::of(made.summary.schedulers))
    }

    fn counted<C: Counter>(&self, scenario: &Scenario) -> Result<C::Counts, RunError> {
        let mut counter = C::of(scenario)?;
        let mut observe = |event: &Stamped| counter.observe(event);
        let observers = ObserverOptions { events: Some(&mut observe), ..ObserverOptions::default() };
        let outcome = flashlane_sim::run_observed(scenario, observers)?;
        if let Some(progress) = self.place.progress {
            progress.requests().add(outcome.flows.iter().map(FlowMetrics::completed).sum());
        }
        Ok(counter.figures(&outcome))
    }

    /// The figures, called `kept`, of all `runs`: those that the store has, and those that `make` yields.
    ///
    /// # Errors
    /// As [`Runner::compare`].
    pub(crate) fn kept<K, R: Serialize + DeserializeOwned + Send>(
        &self,
        kept: &str,
        runs: Vec<(K, Document)>,
        make: impl Fn(&Scenario) -> Result<R, RunError> + Sync,
    ) -> Result<Vec<(K, R)>, RunError> {
        let (keys, documents): (Vec<K>, Vec<Document>) = runs.into_iter().unzip();
        let scenarios: Vec<Scenario> = documents.into_iter().map(scenario_of).collect();
        let hashes = scenarios.par_iter().map(Scenario::hash).collect::<Result<Vec<String>, _>>()?;
        let nobody = Progress::default();
        let progress = self.place.progress.unwrap_or(&nobody);
        let figures = match self.place.store {
            None => {
                progress.expect(scenarios.len());
                let one = |scenario| make(scenario).inspect(|_| progress.made_one());
                scenarios.par_iter().with_max_len(1).map(one).collect::<Result<Vec<R>, RunError>>()?
            }
            Some(store) => {
                let names: Vec<String> = hashes.iter().map(|hash| name_of(&[hash, kept])).collect();
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                make_missing(&names, store, progress, |number, entry| keep(&make(&scenarios[number])?, &entry))?;
                names.par_iter().map(|name| read(store, name)).collect::<Result<Vec<R>, RunError>>()?
            }
        };
        self.hashes.lock().expect("no run panicked while it held the list").extend(hashes);
        Ok(keys.into_iter().zip(figures).collect())
    }

    /// The user's trace that replaces the clone `name`: a file in the folder of traces with that name up to its first
    /// dot; for `x-p`, a leading part of a trace (D-SLK-23), `x` is accepted too. `None` if there is none.
    ///
    /// # Errors
    /// A folder that cannot be read.
    pub fn trace(&self, name: &str) -> Result<Option<PathBuf>, RunError> {
        let Some(folder) = &self.settings.traces else { return Ok(None) };
        let unreadable =
            |error: std::io::Error| RunError::Input(format!("--traces {}: cannot be read: {error}", folder.display()));
        let mut found = Vec::new();
        for entry in std::fs::read_dir(folder).map_err(unreadable)? {
            let path = entry.map_err(unreadable)?.path();
            if stem(&path).is_some_and(|stem| stem == name || Some(stem) == name.strip_suffix("-p")) {
                found.push(path);
            }
        }
        // The exact name comes before the shorter one; of several files, always the same one is taken.
        found.sort_by_key(|path| (stem(path) != Some(name), path.clone()));
        Ok(found.into_iter().next())
    }

    /// A flow called `name`: the user's trace of that name, with addresses wrapped into the drive and at most `limit`
    /// requests, or else the clone.
    ///
    /// # Errors
    /// As [`Runner::trace`].
    pub fn flow(&self, name: &str, limit: u64, clone: CloneSpec) -> Result<Flow, RunError> {
        let flow = Flow { name: Some(name.to_owned()), ..Flow::default() };
        Ok(match self.trace(name)? {
            Some(path) => {
                // The papers' mixes begin together, whenever their traces were recorded.
                let beyond = Some(Word(Beyond::Wrap));
                let trace = TraceFlow { limit: Some(limit), beyond, start_ns: Some(0), ..TraceFlow::file(path) };
                Flow { trace: Some(trace), ..flow }
            }
            None => Flow { clone: Some(clone), ..flow },
        })
    }
}

/// The scenario of an experiment, with the collection of the papers' baselines where neither it nor a scheduler says: non-preemptive
/// (model 2.1.9).
fn scenario_of(mut document: Document) -> Scenario {
    document.run.collect.get_or_insert_with(|| "non-preemptive".to_owned());
    let name = document.name.clone().unwrap_or_default();
    Scenario::from_document(&name, document)
}

/// Stores the figures of a run. Numbers are written so that they are read as the same bits.
fn keep(figures: &impl Serialize, entry: &Entry) -> Result<(), RunError> {
    let json = serde_json::to_vec(figures).expect("figures have string keys and finite numbers");
    entry.write(FIGURES, &json);
    entry.commit()?;
    Ok(())
}

fn read<R: DeserializeOwned>(store: &Store, name: &str) -> Result<R, RunError> {
    let bytes = store.read(name, FIGURES)?;
    serde_json::from_slice(&bytes).map_err(|error| {
        let path = store.path().display();
        RunError::Fault(format!("{path}: {FIGURES} of the run {name} has none ({error}); name another folder"))
    })
}

/// A file's name up to its first dot.
fn stem(path: &Path) -> Option<&str> {
    path.file_name()?.to_str()?.split('.').next()
}

#[cfg(test)]
#[path = "runner_tests.rs"]
mod tests;
