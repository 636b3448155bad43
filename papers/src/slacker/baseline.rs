//! Experiments on the baseline only: slack, chips a request touches, queue lengths (SLK-E1 to E4, E17).

use flashlane_core::event::{Event, Stamped};
use flashlane_core::geometry::Stripe;
use flashlane_core::{Geometry, Lpn, Owner};
use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};

use super::workloads::{BASELINE, document, requests, run_all};
use crate::{Counter, Measurements, Runner};
use flashlane_core::arrival::{Next, Source, Span};
use flashlane_report::results::SlackDistribution;
use flashlane_scenario::Scenario;
use flashlane_scenario::workload::clone::SlackerTrace;
use flashlane_sched::catalogue::cost;
use flashlane_sim::{Feed, Outcome, RunError};

/// Runs SLK-E1 and E4: the actual slack of every transaction, in the form of Table 2 and Figure 3a.
pub fn slack(runner: &Runner<'_>) -> Result<Measurements, RunError> {
    let mut figures = Measurements::default();
    for made in run_all(runner, SlackerTrace::all(), &[BASELINE], |document| document.run.slack = Some(true))? {
        let (workload, name) = (&made.workload, made.workload.name.as_str());
        if runner.trace(name)?.is_some() {
            figures.note(format!("{name}: a trace, not a clone"));
        }
        let run = &made.figures.schedulers[0];
        let slack = run.slack.as_ref().expect("asked for");
        for (direction, measured, mean, sd) in [
            ("read", &slack.read, workload.read_slack_ms_mean, workload.read_slack_ms_sd),
            ("write", &slack.write, workload.write_slack_ms_mean, workload.write_slack_ms_sd),
        ] {
            figures.push(&["slack_ms", direction, "mean", name], measured.as_ref().map_or(0.0, |s| s.mean_ns / 1e6));
            figures.push(&["slack_ms", direction, "sd", name], measured.as_ref().map_or(0.0, |s| s.stdev_ns / 1e6));
            figures.push(
                &["slack_ms", direction, "median", name],
                measured.as_ref().map_or(0.0, |s| s.p50_ns as f64 / 1e6),
            );
            figures.push(&["table2_ms", direction, "mean", name], mean);
            figures.push(&["table2_ms", direction, "sd", name], sd);
        }
        let parts: Vec<&SlackDistribution> = slack.read.iter().chain(&slack.write).collect();
        let all: u64 = parts.iter().map(|part| part.transactions).sum();
        let most: u64 = parts.iter().map(|part| at_most(part, 10_000_000)).sum();
        figures.push(&["slack_over_10_ms", name], 1.0 - most as f64 / all.max(1) as f64);
        let total = run.total.all.as_ref();
        figures.push(&["baseline", "mean_response_ms", name], total.map_or(0.0, |f| f.mean_ns / 1e6));
        figures.push(&["baseline", "chips_busy_percent", name], 100.0 * run.device.chip_utilisation);
        figures.push(
            &["baseline", "offered_iops", name],
            run.total.all.as_ref().and_then(|all| all.offered_iops).unwrap_or(0.0),
        );
    }
    Ok(figures)
}

/// Number of transactions with at most this much slack.
fn at_most(slack: &SlackDistribution, limit_ns: u64) -> u64 {
    let upto = slack.cdf.at_most_ns.partition_point(|&at| at <= limit_ns);
    if upto == 0 { 0 } else { slack.cdf.requests[upto - 1] }
}

/// Runs SLK-E2: distinct chips of each request's pages under static allocation.
pub fn chips(runner: &Runner<'_>) -> Result<Measurements, RunError> {
    let mut figures = Measurements::default();
    for workload in SlackerTrace::all() {
        for seed in runner.seeds_of(&workload.name)? {
            let scenario =
                Scenario::from_document("E2", document(runner, &workload, requests(runner), seed, &[BASELINE])?);
            let (all, few) = count_chips(&scenario, 4)?;
            figures.push(&["touches_at_most_4_chips", &workload.name], few as f64 / all.max(1) as f64);
        }
    }
    Ok(figures)
}

/// Number of requests of the scenario's first flow, and of those that touch at most `limit` chips.
fn count_chips(scenario: &Scenario, limit: usize) -> Result<(u64, u64), RunError> {
    let config = scenario.device_config()?;
    let plan = scenario.flows(&config)?.swap_remove(0);
    let stripe = Stripe::new(&config.geometry, config.ftl.order);
    let page = u64::from(config.geometry.page_bytes);
    let mut feed = Feed::open(&plan, 0, config.geometry.page_bytes, scenario.seed())?;
    let (mut all, mut few) = (0, 0);
    let mut seen = vec![0u64; config.geometry.units() as usize];
    while let Next::Request(arrival) = feed.next()? {
        let Span::Bytes { offset, length } = arrival.extent else { continue };
        all += 1;
        let mut chips = 0;
        for lpn in offset / page..(offset + length).div_ceil(page) {
            let unit = config.geometry.unit_of(stripe.home(Lpn(lpn as u32)).0).index();
            chips += usize::from(seen[unit] != all);
            seen[unit] = all;
        }
        few += u64::from(chips <= limit);
    }
    Ok((all, few))
}

/// Simulated time that SLK-E3 samples.
const SAMPLED_NS: u64 = 100_000_000_000;
/// Time between two samples (D-SLK-28).
const STEP_NS: u64 = 1_000_000;
/// The part of a run that is not sampled: the first of this many equal parts.
const PARTS: u64 = 11;

/// Runs SLK-E3: the longest and the shortest queue of the 16 chips under prxy0, every millisecond of 100 s.
pub fn queues(runner: &Runner<'_>) -> Result<Measurements, RunError> {
    let workload = SlackerTrace::named("prxy0")?;
    let sampled = runner.amount(SAMPLED_NS, SAMPLED_NS / 20);
    let mut figures = Measurements::default();
    let mut runs = Vec::new();
    for seed in runner.seeds_of(&workload.name)? {
        let mut document = document(runner, &workload, 1_000, seed, &[BASELINE])?;
        let all = sampled / (PARTS - 1) * PARTS;
        document.run.duration_ms = Some(all / 1_000_000);
        if let Some(clone) = &mut document.flow[0].clone {
            (clone.requests, clone.duration_s) = (None, Some(all as f64 / 1e9));
        }
        runs.push(((), document));
    }
    for ((), lengths) in runner.count::<QueueLengths, _>(runs)? {
        figures.push(&["queue", "peak_ratio"], lengths.peak);
        figures.push(&["queue", "longest"], lengths.longest as f64);
        figures.push(&["queue", "mean"], lengths.sum / lengths.samples.max(1) as f64);
        figures.push(&["queue", "mean_of_longest"], lengths.sum_longest as f64 / lengths.samples.max(1) as f64);
    }
    Ok(figures)
}

/// Samples of the number of user transactions waiting at each unit.
struct QueueLengths {
    geometry: Geometry,
    waiting: FxHashSet<u64>,
    lengths: Vec<u64>,
    next: u64,
    end: u64,
    seen: Samples,
}

/// What samples of queue lengths come to.
#[derive(Default, Serialize, Deserialize)]
struct Samples {
    samples: u64,
    longest: u64,
    sum_longest: u64,
    sum: f64,
    /// The largest ratio of the longest to the shortest queue, which is counted as at least one.
    peak: f64,
}

impl QueueLengths {
    fn new(geometry: Geometry, from: u64, time: u64) -> QueueLengths {
        QueueLengths {
            geometry,
            waiting: FxHashSet::default(),
            lengths: vec![0; geometry.units() as usize],
            next: from,
            end: from + time,
            seen: Samples::default(),
        }
    }

    fn sample(&mut self) {
        let longest = self.lengths.iter().copied().max().unwrap_or(0);
        let shortest = self.lengths.iter().copied().min().unwrap_or(0);
        let seen = &mut self.seen;
        seen.peak = seen.peak.max(longest as f64 / shortest.max(1) as f64);
        seen.longest = seen.longest.max(longest);
        seen.sum_longest += longest;
        seen.sum += self.lengths.iter().sum::<u64>() as f64 / self.lengths.len() as f64;
        seen.samples += 1;
        self.next += STEP_NS;
    }
}

impl Counter for QueueLengths {
    const NAME: &'static str = "queue lengths 1";
    type Counts = Samples;

    fn of(scenario: &Scenario) -> Result<QueueLengths, RunError> {
        let all = scenario.document().run.duration_ms.unwrap_or(0) * 1_000_000;
        let from = all / PARTS;
        Ok(QueueLengths::new(scenario.device_config()?.geometry, from, all - from))
    }

    fn observe(&mut self, stamped: &Stamped) {
        while self.next < stamped.at.ns() && self.next < self.end {
            self.sample();
        }
        if let Event::Queued { txn, owner: Owner::User, plane, .. } = stamped.event {
            self.waiting.insert(txn);
            self.lengths[self.geometry.unit_of(plane).index()] += 1;
        } else if let Event::Dispatched { txn, unit, .. } = stamped.event
            && self.waiting.remove(&txn)
        {
            self.lengths[unit.index()] -= 1;
        }
    }

    fn figures(self, _: &Outcome) -> Samples {
        self.seen
    }
}

/// Runs SLK-E17: bytes of a table with the place of every page: 4 bits of chip, 2 of die, 1 of plane; and those that the estimator
/// keeps (§5.3).
pub fn table_size(_: &Runner<'_>) -> Result<Measurements, RunError> {
    let geometry = Scenario::from_document("E17", super::workloads::plain_document()).device_config()?.geometry;
    let pages = geometry.raw_bytes() / u64::from(geometry.page_bytes);
    let bits = |count: u32| u64::from(count.next_power_of_two().trailing_zeros());
    let place = bits(geometry.channels * geometry.chips_per_channel)
        + bits(geometry.dies_per_chip)
        + bits(geometry.planes_per_die);
    let mut figures = Measurements::default();
    figures.push(&["redirection_table", "bits_per_page"], place as f64);
    figures.push(&["redirection_table", "bytes"], (pages * place) as f64 / 8.0);
    for (of, states) in
        [("a_chip", cost::CHIP), ("a_channel", cost::CHANNEL), ("a_waiting_transaction", cost::TRANSACTION)]
    {
        figures.push(&["estimator_bytes", of], f64::from(cost::bytes(states)));
    }
    Ok(figures)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashlane_core::transaction::FlashOp;
    use flashlane_core::{FlowId, PlaneId, Time, UnitId};

    #[test]
    fn queue_lengths_are_sampled_between_events() {
        let geometry = Geometry { channels: 2, ..Geometry::plain() };
        let mut lengths = QueueLengths::new(geometry, 0, 3 * STEP_NS);
        let queued = |at: u64, txn: u64, owner: Owner| Stamped {
            at: Time::from_ns(at),
            event: Event::Queued {
                txn,
                request: None,
                flow: FlowId(0),
                op: FlashOp::Read,
                owner,
                lpn: Lpn(0),
                plane: PlaneId(1),
                bytes: 1,
            },
        };
        (0..3).for_each(|txn| lengths.observe(&queued(5, txn, Owner::User)));
        lengths.observe(&queued(6, 3, Owner::Gc));
        let out = |at: u64, txn: u64| Stamped {
            at: Time::from_ns(at),
            event: Event::Dispatched {
                txn,
                command: 0,
                unit: UnitId(1),
                ppa: 0,
                slack: flashlane_core::Duration::ZERO,
            },
        };
        lengths.observe(&out(STEP_NS + 1, 0));
        lengths.observe(&out(STEP_NS + 2, 3));
        lengths.observe(&out(10 * STEP_NS, 1));
        // At 0 no transaction waits, at 1 ms three do, at 2 ms two.
        let seen = lengths.seen;
        assert_eq!((seen.samples, seen.longest, seen.peak, seen.sum), (3, 3, 3.0, 2.5));
        assert_eq!(seen.sum_longest, 5);
    }

    /// Checks A-SLK-13.
    #[test]
    fn the_redirection_table_of_the_paper() {
        let settings = crate::Settings::quick(crate::Setting::Plain);
        let figures = table_size(&Runner::new(&settings, crate::Place::default())).expect("arithmetic");
        assert_eq!(figures.mean(&["redirection_table", "bits_per_page"]), Some(7.0));
        assert_eq!(figures.mean(&["redirection_table", "bytes"]), Some(117_440_512.0));
        let bytes = ["a_chip", "a_channel", "a_waiting_transaction"].map(|of| figures.mean(&["estimator_bytes", of]));
        assert_eq!(bytes, [Some(49.0), Some(8.0), Some(8.0)]);
    }
}
