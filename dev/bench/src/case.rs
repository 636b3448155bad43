//! What is measured: a case has four labels and a function.

use crate::outcome::Outcome;

/// Runs a case with this number of requests.
pub type Run = Box<dyn Fn(u64) -> Result<Outcome, String>>;

/// A case to measure.
pub struct Case {
    /// Scheduler, workload, drive, queue depth.
    pub labels: [String; 4],
    /// Requests of a timed run.
    pub requests: u64,
    /// Requests of the shorter counted run; under callgrind a run is some fifty times slower.
    pub counted: u64,
    /// Prepares the case, begins the meter, does the work for this number of requests, ends the meter.
    pub run: Run,
}

impl Case {
    /// The name on the command line: the labels with `/` between.
    pub fn name(&self) -> String {
        self.labels.join("/")
    }
}
