//! The settings of a paper's experiments, and ways to run scenarios.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use rayon::prelude::*;

use super::progress::Progress;
use super::setting::Setting;
use flashlane_lab::metrics::FlowMetrics;
use flashlane_lab::results::Summary;
use flashlane_lab::run::{self, ObserverOptions, Options, Outcome, RunError};
use flashlane_lab::scenario::{Beyond, Document, Flow, Scenario, TraceFlow};
use flashlane_lab::workload::clone::CloneSpec;

/// How a paper's experiments are run.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Whether this is a quick run: fewer requests and one seed.
    pub quick: bool,
    /// Number of seeds of every clone; they count from 1.
    pub seeds: u64,
    /// A folder of traces; a trace replaces the clone of the same name.
    pub traces: Option<PathBuf>,
    /// How what the paper leaves open is read.
    pub setting: Setting,
}

/// The settings of a paper's experiments, and what they run scenarios with.
#[derive(Debug)]
pub struct Runner<'a> {
    /// The settings.
    pub settings: &'a Settings,
    /// Counters for showing how far the experiments are.
    pub progress: Option<&'a Progress>,
    hashes: Arc<Mutex<BTreeSet<String>>>,
}

impl<'a> Runner<'a> {
    /// A runner that has run nothing.
    pub fn new(settings: &'a Settings, progress: Option<&'a Progress>) -> Runner<'a> {
        Runner { settings, progress, hashes: Arc::default() }
    }

    /// One with other settings, whose scenarios count as this one's.
    pub fn under<'b>(&self, settings: &'b Settings) -> Runner<'b>
    where
        'a: 'b,
    {
        Runner { settings, progress: self.progress, hashes: Arc::clone(&self.hashes) }
    }

    /// Whether the experiments are made under the setting that was chosen for the paper.
    pub fn is_chosen(&self) -> bool {
        self.settings.setting == Setting::Chosen
    }

    /// An identifier of all scenarios that were run: equal for equal scenarios, in whatever order. 16 hexadecimal digits.
    pub fn scenarios(&self) -> String {
        let hashes = self.hashes.lock().expect("no run panicked while it held the list");
        flashlane_lab::scenario::hash_of(hashes.iter().map(String::as_bytes))
    }

    fn ran(&self, hash: String) {
        self.hashes.lock().expect("no run panicked while it held the list").insert(hash);
    }

    /// The seeds.
    pub fn seeds(&self) -> Vec<u64> {
        (1..=self.settings.seeds).collect()
    }

    /// `whole`, or `quick` in a quick run.
    pub fn amount(&self, whole: u64, quick: u64) -> u64 {
        if self.settings.quick { quick } else { whole }
    }

    /// `make` applied to every item, several in parallel, with results in the order of the items.
    ///
    /// # Errors
    /// The first error of `make`.
    pub fn each<T: Send, R: Send>(
        &self,
        items: Vec<T>,
        make: impl Fn(T) -> Result<R, RunError> + Sync,
    ) -> Result<Vec<R>, RunError> {
        if let Some(progress) = self.progress {
            progress.expect(items.len() as u64);
        }
        let one = |item| {
            let made = make(item)?;
            if let Some(progress) = self.progress {
                progress.finished_one();
            }
            Ok(made)
        };
        items.into_par_iter().map(one).collect()
    }

    /// Runs everything `document` names and compares the results.
    ///
    /// # Errors
    /// As [`run::compare`].
    pub fn compare(&self, document: Document) -> Result<Summary, RunError> {
        let name = document.name.clone().unwrap_or_default();
        let options = Options { audit: false, rows: None, activity: false, progress: None };
        let made = run::compare(&Scenario::from_document(&name, as_in_papers(document)), &options)?;
        if let Some(progress) = self.progress {
            progress.served(made.summary.schedulers.iter().map(|run| run.total.completed).sum());
        }
        self.ran(made.summary.made_by.scenario_hash.clone());
        Ok(made.summary)
    }

    /// Runs the first scheduler that `document` names, with observers.
    ///
    /// # Errors
    /// As [`run::compare`].
    pub fn run_observed(&self, document: Document, observers: ObserverOptions<'_>) -> Result<Outcome, RunError> {
        let name = document.name.clone().unwrap_or_default();
        let scenario = Scenario::from_document(&name, as_in_papers(document));
        let made = run::run_observed(&scenario, observers)?;
        self.ran(scenario.hash()?);
        if let Some(progress) = self.progress {
            progress.served(made.flows.iter().map(FlowMetrics::completed).sum());
        }
        Ok(made)
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
                let trace = TraceFlow { limit: Some(limit), beyond: Some(Beyond::Wrap), ..TraceFlow::file(path) };
                Flow { trace: Some(trace), ..flow }
            }
            None => Flow { clone: Some(clone), ..flow },
        })
    }
}

/// The document with the collection of the papers' baselines where neither it nor a scheduler says: non-preemptive (model 2.1.9).
fn as_in_papers(mut document: Document) -> Document {
    document.run.collect.get_or_insert_with(|| "non-preemptive".to_owned());
    document
}

/// A file's name up to its first dot.
fn stem(path: &Path) -> Option<&str> {
    path.file_name()?.to_str()?.split('.').next()
}
