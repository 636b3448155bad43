//! What experiments take from a run: figures that a store can keep.

use flashlane_core::event::Stamped;
use flashlane_report::results::{Cdf, FlowResult, FlowStats, HostStats, OverTime, SchedulerResult};
use flashlane_scenario::Scenario;
use flashlane_sim::{Outcome, RunError};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// What experiments take from a comparison: everything in its `summary.json` but distributions of response times and series over time,
/// which are most of that and which none asks for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunStats {
    /// The schedulers, in the order of the scenario; the distributions and series named above are empty.
    pub schedulers: Vec<SchedulerResult>,
}

impl RunStats {
    /// The name of these figures in a store, with a version.
    pub(crate) const NAME: &'static str = "comparison 2";

    /// What experiments take of `schedulers`.
    pub(crate) fn of(mut schedulers: Vec<SchedulerResult>) -> RunStats {
        schedulers.iter_mut().for_each(without_distributions);
        RunStats { schedulers }
    }
}

fn without_distributions(run: &mut SchedulerResult) {
    let of_flows = run.flows.iter_mut().map(|flow| (&mut flow.figures, flow.alone.as_mut()));
    for (figures, alone) in of_flows.chain([(&mut run.total, None)]) {
        let FlowStats { all, read, write, fua_write, commands, over_time, .. } = figures;
        *fua_write = None;
        *commands = None;
        *over_time = OverTime::default();
        [all, read, write].into_iter().flatten().chain(alone).for_each(|responses| responses.cdf = Cdf::default());
    }
    if let Some(HostStats { all, read, write, .. }) = &mut run.host {
        [all, read, write].into_iter().flatten().for_each(|latencies| latencies.cdf = Cdf::default());
    }
}

/// Whether a flow fell behind by the end of its run: its backlog at its last arrival took more than a twentieth of the time of all its
/// arrivals to work off. Of at least 1,000 requests.
pub fn falls_behind(flow: &FlowResult) -> bool {
    let figures = &flow.figures;
    let arriving = figures.last_arrival_ns.saturating_sub(figures.first_arrival_ns.unwrap_or(0));
    let left = figures.last_completion_ns.saturating_sub(figures.last_arrival_ns);
    figures.issued >= 1_000 && left > arriving / 20
}

/// Counts what the events of a run show.
pub trait Counter: Sized + Send {
    /// The name of its figures in a store, with a version: a new one where they come to mean something else.
    const NAME: &'static str;
    /// What it comes to. Numbers are finite.
    type Counts: Serialize + DeserializeOwned + Send;

    /// One for a run of `scenario`, which determines it.
    ///
    /// # Errors
    /// A scenario without a device.
    fn of(scenario: &Scenario) -> Result<Self, RunError>;

    /// Takes the next event.
    fn observe(&mut self, event: &Stamped);

    /// What was counted in the run, whose figures are `outcome`.
    fn figures(self, outcome: &Outcome) -> Self::Counts;
}
