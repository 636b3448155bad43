//! Runs beside those of a comparison, of which only figures are kept: under other seeds, or of mixes of its schedulers.
//!
//! Promises to share with the comparison what is alike, the traces above all, and to make no more of them at a time than the machine has
//! memory for: they must not have a comparison refused that fits without them.

use rayon::prelude::*;

use super::available::AvailableMemory;
use super::compare::{Options, announce, run};
use super::memory;
use super::prepare::{Prepared, Task, is_shadowed};
use crate::error::RunError;
use crate::progress::Expected;
use crate::run::simulation::Outcome;
use flashlane_report::results::{FlowInfo, SchedulerResult};
use flashlane_sched::catalogue::SHADOW;
use flashlane_ssd::config::Precondition;

/// The most requests, in all runs of a kind, for which such runs are made without being asked for.
pub(crate) const MOST_REQUESTS: u64 = 1_000_000;

/// What such runs are made with.
#[derive(Clone, Copy)]
pub(crate) struct Further<'a> {
    /// The comparison beside which they are made.
    pub prepared: &'a Prepared,
    /// Its options.
    pub options: &'a Options<'a>,
    /// How many requests all runs have.
    pub expected: &'a Expected,
    /// Its flows.
    pub flows: &'a [FlowInfo],
}

/// The figures of a run, and how many events were audited.
pub(crate) struct MadeRun {
    pub result: SchedulerResult,
    pub audited: Option<u64>,
}

impl Prepared {
    /// The same for such runs beside those of `other`.
    pub(crate) fn for_figures_beside(mut self, other: &Prepared) -> Prepared {
        self.traces.clone_from(&other.traces);
        if let Some(states) = other.states.of_used() {
            self.states = states;
        }
        (self.pairs, self.slack, self.is_hashed, self.alone) = (false, false, false, None);
        for (_, recipe) in self.schedulers.iter_mut().filter(|(_, recipe)| is_shadowed(recipe)) {
            recipe.params.retain(|(name, _)| name != SHADOW.name);
        }
        self
    }
}

impl Further<'_> {
    /// The figures of every scheduler of each of `all`, in their order; each run has its own error.
    ///
    /// # Errors
    /// A state of the drive that cannot be made; if the runs are to be stopped.
    pub(crate) fn runs(&self, all: &[Prepared]) -> Result<Vec<Result<MadeRun, RunError>>, RunError> {
        all.iter().for_each(|prepared| announce(prepared, &tasks(prepared).collect::<Vec<_>>()));
        // A state that is made by replay is made by all threads, for one seed after another.
        let replayed = |prepared: &Prepared| matches!(prepared.config.precondition, Precondition::Replayed { .. });
        let together = if all.iter().any(replayed) { 1 } else { all.len().max(1) };
        let at_a_time = self.at_a_time()?;
        let mut made = Vec::new();
        for group in all.chunks(together) {
            let tasks: Vec<(&Prepared, Task)> =
                group.iter().flat_map(|prepared| tasks(prepared).map(move |task| (prepared, task))).collect();
            // In a scope, as in a comparison: on the threads that the user allows.
            rayon::scope(|_| {
                for prepared in group {
                    prepared.states.make_ahead(&prepared.config, self.options.progress)?;
                }
                for tasks in tasks.chunks(at_a_time) {
                    made.par_extend(tasks.par_iter().map(|(prepared, task)| self.run(prepared, *task)));
                }
                Ok::<_, RunError>(())
            })?;
        }
        Ok(made)
    }

    /// How many runs are made at a time: any number, of which the threads take what they can; fewer where there is no memory for a run on
    /// each thread.
    fn at_a_time(&self) -> Result<usize, RunError> {
        let AvailableMemory { memory, space } = AvailableMemory::here();
        let bytes = memory::of_a_run(self.prepared)?;
        let fits = memory.into_iter().chain(space).min().map_or(u64::MAX, |most| most / bytes.max(1));
        let threads = rayon::current_num_threads() as u64;
        Ok(if fits >= threads { usize::MAX } else { fits.max(1) as usize })
    }

    fn run(&self, prepared: &Prepared, task: Task) -> Result<MadeRun, RunError> {
        let options = Options { rows: None, activity: false, ..*self.options };
        let Outcome { flows, device, verdict, .. } = run(prepared, task, &options, self.expected)?;
        let name = &prepared.schedulers[task.scheduler].0;
        let result = SchedulerResult::new(name, self.flows, &flows, None, &device);
        Ok(MadeRun { result, audited: verdict.map(|verdict| verdict.events) })
    }
}

/// A run of each scheduler, with all flows.
fn tasks(prepared: &Prepared) -> impl Iterator<Item = Task> {
    (0..prepared.schedulers.len()).map(|scheduler| Task { scheduler, alone: None })
}
