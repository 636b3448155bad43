//! A recommendation: which scheduler to take for a workload, and what that costs whom.
//!
//! Owns the figures that a recommendation is made by, and its shape. How runs are chosen is `sweep`'s.

use serde::{Deserialize, Serialize};

use super::ceiling::CeilingGap;
use super::flow_stats::ResponseStats;
use super::summary::Summary;
use super::verdict::ENOUGH_ERASES;

/// Which scheduler to take, and why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recommendation {
    /// The scenario.
    pub scenario: String,
    /// The device.
    pub device: String,
    /// Requests that count.
    pub requests: u64,
    /// Runs made.
    pub runs: u64,
    /// The schedulers and mixes tried, those that came farthest first, of these the best.
    pub tried: Vec<Tried>,
    /// What it was chosen on, in words.
    pub chosen_on: String,
    /// What it was judged on, in words.
    pub judged_on: String,
    /// What a scheduler has to keep, in words.
    pub limits: Vec<String>,
    /// Why nothing was chosen or judged; then the default is what to take.
    pub refusal: Option<String>,
    /// Those that were judged, the simplest first: the scheduler that others are measured against, the default, the best found.
    pub judged: Vec<Judged>,
    /// Which of them to take; null if none keeps the limits.
    pub take: Option<usize>,
    /// The name of what to take where nothing was judged, and of what judged schedulers are compared with.
    pub default: String,
    /// The line for a scenario that takes it; empty where nothing is to be taken.
    pub line: String,
    /// Runs that could not be made.
    pub failed: Vec<Failed>,
    /// On what the distance from the ceiling is measured, in words.
    pub ceiling_on: String,
    /// Why there is no ceiling; null where there is one.
    pub ceiling_none: Option<String>,
}

/// A scheduler that was judged on what was held out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Judged {
    /// Its name.
    pub name: String,
    /// It as a scenario names it.
    pub written: String,
    /// What it is among those judged.
    pub role: Role,
    /// Whether it also is the best that was found on what it was chosen by.
    pub is_best: bool,
    /// Mean response time over that of the first, on what it was chosen by: of several flows the geometric mean.
    pub chosen_ratio: f64,
    /// The same on what was held out.
    pub ratio: f64,
    /// Its figures there.
    pub figures: RunStats,
    /// The limits that it breaks there, in words.
    pub broken: Vec<String>,
    /// The limits that were not judged, and why, in words.
    pub not_judged: Vec<String>,
    /// How far it is from what no scheduler can beat; null where there is no bound.
    pub ceiling: Option<CeilingGap>,
}

/// What a judged scheduler is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// The scenario's own, which the others are measured against.
    First,
    /// The one to take where nothing is known.
    Default,
    /// The best of those tried.
    Best,
}

/// A scheduler that was tried.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tried {
    /// Its name.
    pub name: String,
    /// It as a scenario names it.
    pub written: String,
    /// The last round that it was in, from 1.
    pub round: u64,
    /// How many rounds there were.
    pub rounds: u64,
    /// Mean response time over that of the first in that round.
    pub ratio: f64,
    /// Whether it kept the limits there.
    pub keeps: bool,
}

/// A run that could not be made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failed {
    /// The scheduler.
    pub scheduler: String,
    /// Why.
    pub reason: String,
}

/// What a run is judged by.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunStats {
    /// Each flow.
    pub flows: Vec<FlowTimes>,
    /// Pages programmed for any reason over those programmed for the host; null if none were.
    pub write_amplification: Option<f64>,
    /// Blocks erased, in all runs together.
    pub erases: u64,
    /// Runs that the figures are means of.
    pub runs: u64,
    /// Smallest slowdown over largest (F); null without alone runs.
    pub fairness: Option<f64>,
}

/// Response times of a flow.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FlowTimes {
    /// Its name.
    pub name: String,
    /// Reads and writes together; null if none completed.
    pub all: Option<Response>,
    /// Reads.
    pub read: Option<Response>,
    /// Writes.
    pub write: Option<Response>,
    /// Flushes; missing if there were none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flush: Option<Response>,
}

/// Response times.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Response {
    /// Mean, ns.
    pub mean_ns: f64,
    /// 99th percentile, ns.
    pub p99_ns: f64,
}

impl Recommendation {
    /// The bytes of its JSON form.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("string keys and finite numbers only");
        text.push('\n');
        text
    }
}

impl Judged {
    /// Whether a flow of it has flushes.
    pub fn has_flushes(&self) -> bool {
        self.figures.flows.iter().any(|flow| flow.flush.is_some())
    }
}

impl RunStats {
    /// The figures of the one scheduler that ran.
    ///
    /// # Panics
    /// If none ran.
    pub fn of(summary: &Summary) -> RunStats {
        let run = summary.schedulers.first().expect("a scheduler ran");
        let response = |stats: &Option<ResponseStats>| {
            stats.as_ref().map(|stats| Response { mean_ns: stats.mean_ns, p99_ns: stats.p99_ns as f64 })
        };
        let flow = |flow: &super::summary::FlowResult| FlowTimes {
            name: flow.name.clone(),
            all: response(&flow.figures.all),
            read: response(&flow.figures.read),
            write: response(&flow.figures.write),
            flush: flow.figures.commands.as_ref().and_then(|commands| response(&commands.flush)),
        };
        RunStats {
            flows: run.flows.iter().map(flow).collect(),
            write_amplification: run.device.write_amplification,
            erases: run.device.gc.erases,
            runs: 1,
            fairness: run.fairness.as_ref().map(|fairness| fairness.fairness),
        }
    }

    /// The mean of every figure over several runs of the same flows, of those that have it.
    ///
    /// # Panics
    /// Of no run.
    pub fn mean(runs: &[RunStats]) -> RunStats {
        let response = |of: &dyn Fn(&RunStats) -> Option<Response>| {
            let mean_ns = mean(runs.iter().filter_map(|run| Some(of(run)?.mean_ns)))?;
            let p99_ns = mean(runs.iter().filter_map(|run| Some(of(run)?.p99_ns)))?;
            Some(Response { mean_ns, p99_ns })
        };
        let flow = |(i, first): (usize, &FlowTimes)| FlowTimes {
            name: first.name.clone(),
            all: response(&|run| run.flows[i].all),
            read: response(&|run| run.flows[i].read),
            write: response(&|run| run.flows[i].write),
            flush: response(&|run| run.flows[i].flush),
        };
        RunStats {
            flows: runs[0].flows.iter().enumerate().map(flow).collect(),
            write_amplification: mean(runs.iter().filter_map(|run| run.write_amplification)),
            erases: runs.iter().map(|run| run.erases).sum(),
            runs: runs.iter().map(|run| run.runs).sum(),
            fairness: mean(runs.iter().filter_map(|run| run.fairness)),
        }
    }

    /// Whether the write amplification is of one run and rests on so few erases that the next victims decide it.
    pub fn rests_on_few_erases(&self) -> bool {
        self.runs == 1 && (1..ENOUGH_ERASES).contains(&self.erases)
    }

    /// Mean response time over that of `other`: the geometric mean over the flows, so that each counts the same. 1 where no flow has both.
    pub fn ratio(&self, other: &RunStats) -> f64 {
        let pairs = self.flows.iter().zip(&other.flows).filter_map(|(own, other)| Some((own.all?, other.all?)));
        let logs = pairs.filter(|(own, other)| own.mean_ns > 0.0 && other.mean_ns > 0.0);
        mean(logs.map(|(own, other)| libm::log(own.mean_ns / other.mean_ns))).map_or(1.0, libm::exp)
    }
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    (count > 0.0).then(|| sum / count)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(means: &[Option<f64>], write_amplification: Option<f64>) -> RunStats {
        let response = |mean_ns| Response { mean_ns, p99_ns: 4.0 * mean_ns };
        let flow = |mean: &Option<f64>| FlowTimes { all: mean.map(response), ..FlowTimes::default() };
        let flows = means.iter().map(flow).collect();
        RunStats { flows, write_amplification, erases: 7, runs: 1, fairness: None }
    }

    #[test]
    fn every_flow_counts_the_same() {
        let (a, b) = (figures(&[Some(100.0), Some(8e6)], None), figures(&[Some(400.0), Some(8e6)], None));
        assert!((a.ratio(&b) - 0.5).abs() < 1e-12, "{}", a.ratio(&b));
        assert!((b.ratio(&a) - 2.0).abs() < 1e-12);
        let half = figures(&[None, Some(4e6)], None);
        assert!((half.ratio(&a) - 0.5).abs() < 1e-12, "only the flow that both have");
        assert_eq!(figures(&[None, None], None).ratio(&a), 1.0);
    }

    #[test]
    fn a_mean_is_over_the_runs_that_have_the_figure() {
        let runs = [figures(&[Some(1.0), None], Some(2.0)), figures(&[Some(3.0), Some(8.0)], None)];
        let mean = RunStats::mean(&runs);
        assert_eq!(mean, RunStats { erases: 14, runs: 2, ..figures(&[Some(2.0), Some(8.0)], Some(2.0)) });
        let few = |erases: u64| RunStats { erases, ..runs[0].clone() }.rests_on_few_erases();
        assert_eq!([0, 1, 29, 30].map(few), [false, true, true, false]);
        assert!(!mean.rests_on_few_erases(), "repeated");
    }
}
