//! Computes the figures of `summary.json` from measurements.

use flashlane_core::{Duration, Op, Time};
use flashlane_ssd::{EraseCounts, MappingTotals, Totals};
use schemars::JsonSchema;
use serde::Serialize;

use super::block::BlockStats;
use super::ceiling::{Ceiling, CeilingGap};
use super::change::change;
use super::decisions::Decisions;
use super::estimation::EstimationStats;
use super::flow_stats::*;
use super::host::HostStats;
use super::paired::{PairStats, Paired, SlackStats};
use super::slowdowns::{OverloadStats, SlowdownOverTime};
use super::summary::*;
use super::verdict::Verdict;
use super::waiting_writes::WaitingWrites;
use crate::metrics::{BOTH, Estimation, Fairness, FlowMetrics, Histogram, Pairs, Rates, Slack, Timeline, slowdown};

/// All figures of a run (one scheduler) or a comparison (several), and the verdict on them.
#[derive(Serialize, JsonSchema)]
pub(super) struct WithVerdict<'a> {
    #[serde(flatten)]
    summary: &'a Summary,
    /// The verdict (docs/reading-results.md). It follows from the figures alone, so nothing needs to read it back.
    verdict: Verdict,
}

impl Summary {
    /// The summary of these runs, with the changes against the first.
    pub fn new(
        made_by: MadeBy,
        flows: Vec<FlowInfo>,
        schedulers: Vec<SchedulerResult>,
        skipped: Vec<Skipped>,
    ) -> Summary {
        let mut summary = Summary {
            version: SUMMARY_VERSION,
            made_by,
            flows,
            baseline: String::new(),
            schedulers,
            skipped,
            replications: None,
            deciding: Vec::new(),
            attribution: None,
            ceiling: None,
        };
        summary.compare_with(0, &[]);
        summary
    }

    /// Adds the changes against the run `baseline`, and the figures of `pairs` (one entry for each run; `None` for a run
    /// without).
    pub fn compare_with(&mut self, baseline: usize, pairs: &[Option<Pairs>]) {
        let Some(base) = self.schedulers.get(baseline).cloned() else { return };
        for (i, run) in self.schedulers.iter_mut().enumerate() {
            run.change_percent = (i != baseline).then(|| change(&base, run));
            if let Some(writes) = run.device.waiting_writes.as_mut().filter(|_| i != baseline) {
                writes.erases_saved = Some(base.device.gc.erases as i64 - run.device.gc.erases as i64);
            }
            let pairs = pairs.get(i).and_then(Option::as_ref);
            run.paired = pairs.and_then(|pairs| Paired::of(pairs, &base.name));
            for (j, flow) in run.flows.iter_mut().enumerate().filter(|_| base.flows.len() > 1) {
                flow.paired = pairs.and_then(|pairs| pairs.flow.get(j)).and_then(PairStats::of);
            }
        }
        self.baseline = base.name;
    }

    /// Puts `ceiling`, which is that of these runs, beside their figures.
    pub fn compare_with_ceiling(&mut self, ceiling: Ceiling) {
        for ((run, &at_home), &keeps) in self.schedulers.iter_mut().zip(&ceiling.at_home).zip(&ceiling.keeps_writes) {
            run.ceiling = run.total.all.as_ref().map(|figures| CeilingGap::of(figures, &ceiling, at_home, keeps));
        }
        self.ceiling = Some(ceiling);
    }

    /// The bytes of `summary.json`: the figures, and the verdict on them.
    pub fn to_json(&self) -> String {
        let judged = WithVerdict { summary: self, verdict: Verdict::of(self) };
        let mut text =
            serde_json::to_string_pretty(&judged).expect("a summary has string keys and finite numbers only");
        text.push('\n');
        text
    }
}

impl SchedulerResult {
    /// The figures of one run: `metrics` has an entry for each flow. So has `alone`, the metrics of alone runs, if
    /// those were made.
    pub fn new(
        name: &str,
        flows: &[FlowInfo],
        metrics: &[FlowMetrics],
        alone: Option<&[FlowMetrics]>,
        device: &DeviceStats,
    ) -> SchedulerResult {
        assert_eq!(flows.len(), metrics.len(), "one set of metrics a flow");
        assert!(alone.is_none_or(|alone| alone.len() == flows.len()), "one alone run a flow");
        let mut together = FlowMetrics::new();
        metrics.iter().for_each(|flow| together.merge(flow));
        let flows: Vec<FlowResult> = flows
            .iter()
            .zip(metrics)
            .enumerate()
            .map(|(i, (info, flow))| FlowResult::new(info, flow, alone.map(|alone| &alone[i])))
            .collect();
        let slowdowns: Vec<f64> = flows.iter().filter_map(|flow| flow.slowdown).collect();
        SchedulerResult {
            name: name.to_string(),
            control: false,
            decisions: Decisions::default(),
            total: FlowStats::of(&together),
            flows,
            device: device.clone(),
            fairness: Fairness::of(&slowdowns).map(FairnessStats::from),
            change_percent: None,
            touched: together.touched().into(),
            paired: None,
            slack: None,
            estimation: None,
            host: None,
            block: None,
            ceiling: None,
        }
    }

    /// Adds its decisions.
    pub fn with_decisions(mut self, decisions: Decisions) -> SchedulerResult {
        self.decisions = decisions;
        self
    }

    /// Marks it as a control if it is one.
    pub fn with_control(mut self, control: bool) -> SchedulerResult {
        self.control = control;
        self
    }

    /// Says how many blocks of a plane in SLC mode nothing folds once they are full, if there are any.
    pub fn with_blocks_never_folded(mut self, blocks: u32) -> SchedulerResult {
        if let Some(slc) = &mut self.device.slc {
            slc.never_folded = (blocks > 0).then_some(blocks);
        }
        self
    }

    /// Adds what the host added, if there was one.
    pub fn with_host(mut self, host: Option<HostStats>) -> SchedulerResult {
        self.host = host;
        self
    }

    /// Adds what requests waited for in the block layer, if there was one.
    pub fn with_block(mut self, block: Option<BlockStats>) -> SchedulerResult {
        self.block = block;
        self
    }

    /// Adds the actual slack, if it was measured.
    pub fn with_slack(mut self, slack: Option<&Slack>) -> SchedulerResult {
        self.slack = slack.map(SlackStats::of);
        self
    }

    /// Adds the accuracy of estimates, if it was measured.
    pub fn with_estimation(mut self, estimation: Option<&Estimation>) -> SchedulerResult {
        self.estimation = estimation.map(EstimationStats::of);
        self
    }
}

impl FlowResult {
    fn new(info: &FlowInfo, metrics: &FlowMetrics, alone: Option<&FlowMetrics>) -> FlowResult {
        let figures = FlowStats::of(metrics);
        let slowdown_over_time = alone.map(|alone| SlowdownOverTime::of(metrics, alone));
        // A closed loop waits for what it sent.
        let overload = metrics.overload().filter(|_| info.depth.is_none()).map(OverloadStats::from);
        let alone = alone.and_then(|alone| FlowStats::of(alone).all);
        let slowdown = figures.all.as_ref().zip(alone.as_ref()).and_then(|(s, a)| slowdown(s.mean_ns, a.mean_ns));
        let overloaded = overload.is_some();
        FlowResult {
            name: info.name.clone(),
            figures,
            paired: None,
            alone,
            slowdown,
            slowdown_over_time,
            overloaded,
            overload,
        }
    }
}

impl From<Fairness> for FairnessStats {
    fn from(f: Fairness) -> FairnessStats {
        FairnessStats {
            fairness: f.fairness,
            max_slowdown: f.max_slowdown,
            stdev: f.stdev,
            weighted_speedup: f.weighted_speedup,
        }
    }
}

impl FlowStats {
    /// The figures of a flow.
    pub fn of(metrics: &FlowMetrics) -> FlowStats {
        let first = metrics.first_arrival().unwrap_or(Time::ZERO);
        let makespan_ns = metrics.last_completion().since(first).ns();
        let rates = |ops: &[Op]| metrics.load().rates(ops);
        let own_ns = own_time(metrics);
        let direction = |op| ResponseStats::of(&metrics.response(op), metrics.bytes(op), rates(&[op]), own_ns);
        let bytes = metrics.bytes(Op::Read) + metrics.bytes(Op::Write);
        FlowStats {
            issued: metrics.issued(),
            completed: metrics.completed(),
            rejected: metrics.rejected(),
            warm_up: metrics.warm_up(),
            first_arrival_ns: metrics.first_arrival().map(Time::ns),
            last_arrival_ns: metrics.last_arrival().ns(),
            last_completion_ns: metrics.last_completion().ns(),
            makespan_ns,
            window_ns: metrics.load().length_ns(),
            all: ResponseStats::of(&metrics.response_all(), bytes, rates(&BOTH), own_ns),
            read: direction(Op::Read),
            write: direction(Op::Write),
            fua_write: fua_write(metrics).map(Box::new),
            commands: CommandStats::of(metrics),
            over_time: OverTime::of(metrics),
        }
    }
}

/// Writes with FUA: how many arrived is not known apart from other writes, so they have no rates.
fn fua_write(metrics: &FlowMetrics) -> Option<ResponseStats> {
    let (responses, bytes) = metrics.fua_writes()?;
    ResponseStats::of(responses, bytes, None, own_time(metrics))
}

/// From the first counted arrival of these requests to their last completion, ns.
fn own_time(metrics: &FlowMetrics) -> u64 {
    let begins = metrics.first_arrival().map_or(Time::NEVER, |first| first.max(metrics.load().begins()));
    if metrics.last_completion() > begins { metrics.last_completion().since(begins).ns() } else { 0 }
}

impl CommandStats {
    fn of(metrics: &FlowMetrics) -> Option<Box<CommandStats>> {
        let by_kind = metrics.by_kind();
        if by_kind.iter().skip(2).all(|kind| kind.issued == 0) {
            return None;
        }
        let own_ns = own_time(metrics);
        let of =
            |op: Op| ResponseStats::of(&metrics.response(op), metrics.bytes(op), metrics.load().rates(&[op]), own_ns);
        let received = Op::ALL.into_iter().zip(by_kind).filter(|(_, kind)| kind.issued > 0);
        let received = received.map(|(op, kind)| KindRequests {
            kind: op.name().to_owned(),
            issued: kind.issued,
            completed: kind.completed,
            rejected: kind.rejected,
            warm_up: kind.warm_up,
        });
        let [trim, write_zeroes, flush] = [Op::Trim, Op::WriteZeroes, Op::Flush].map(of);
        Some(Box::new(CommandStats { received: received.collect(), trim, write_zeroes, flush }))
    }

    /// Those that completed, each with its kind.
    pub fn kinds(&self) -> impl Iterator<Item = (&'static str, &ResponseStats)> {
        let all = [(Op::Trim, &self.trim), (Op::WriteZeroes, &self.write_zeroes), (Op::Flush, &self.flush)];
        all.into_iter().filter_map(|(op, stats)| Some((op.name(), stats.as_ref()?)))
    }
}

impl ResponseStats {
    fn of(histogram: &Histogram, bytes: u64, rates: Option<Rates>, own_ns: u64) -> Option<ResponseStats> {
        let at = |millionths| histogram.percentile(millionths);
        Some(ResponseStats {
            requests: histogram.count(),
            bytes,
            offered_iops: rates.map(|rates| rates.offered_iops),
            iops: rates.map(|rates| rates.iops),
            own_iops: (own_ns > 0).then(|| histogram.count() as f64 / own_ns as f64 * 1e9),
            mb_per_s: rates.map(|rates| rates.bytes_per_s / 1e6),
            mean_ns: histogram.mean()?,
            stdev_ns: histogram.stdev()?,
            min_ns: histogram.min()?,
            p50_ns: at(500_000)?,
            p95_ns: at(950_000)?,
            p99_ns: at(990_000)?,
            p99_9_ns: at(999_000)?,
            max_ns: histogram.max()?,
            cdf: Cdf::of(histogram),
        })
    }
}

impl Cdf {
    pub(super) fn of(histogram: &Histogram) -> Cdf {
        let (at_most_ns, requests) = histogram.cdf().into_iter().unzip();
        Cdf { at_most_ns, requests }
    }
}

impl OverTime {
    fn of(metrics: &FlowMetrics) -> OverTime {
        let all = metrics.over_time_all();
        let width_ns = all.width_ns();
        let of = |op| metrics.over_time(op).map_or_else(Series::default, |timeline| Series::of(timeline, width_ns));
        OverTime { width_ns, read: of(Op::Read), write: of(Op::Write), all: Series::of(&all, width_ns) }
    }
}

impl Series {
    fn of(timeline: &Timeline, width_ns: u64) -> Series {
        let mut series = Series::default();
        for window in timeline.windows(width_ns) {
            series.at_ns.push(window.at_ns);
            series.requests.push(window.requests);
            series.bytes.push(window.bytes);
            series.mean_ns.push(window.mean_ns.round() as u64);
            series.p99_ns.push(window.p99_ns);
        }
        series
    }
}

impl From<&Totals> for DeviceStats {
    /// The figures of a device from what it did between two instants, `now` apart.
    fn from(totals: &Totals) -> DeviceStats {
        let EraseCounts { min: erase_count_min, max: erase_count_max, sum: erase_count_sum } = totals.erase_counts;
        DeviceStats {
            observed_ns: totals.now.ns(),
            chip_utilisation: mean_share(&totals.unit_busy, totals.now),
            chip_utilisation_each: shares(&totals.unit_busy, totals.now),
            channel_utilisation: mean_share(&totals.channel_busy, totals.now),
            channel_utilisation_each: shares(&totals.channel_busy, totals.now),
            write_amplification: totals.programs().write_amplification(),
            user_reads: totals.user[0] - totals.partial_reads,
            user_programs: totals.user_programs,
            partial_write_reads: totals.partial_reads,
            pages_from_memory: totals.pages_from_memory,
            cancelled_writes: totals.cancelled,
            waiting_writes: WaitingWrites::of(totals),
            advanced_commands: totals.advanced_commands[0] + totals.advanced_commands[1],
            pauses: totals.pauses,
            write_amplification_by: amplification_by(totals),
            slc: totals.slc.as_ref().map(|slc| SlcStats {
                programs: slc.programs,
                direct: slc.direct,
                folds: slc.folds,
                folded: slc.folded,
                valid_at_end: slc.valid,
                never_folded: None,
            }),
            read_retries: totals.retries.map(|[pages, steps]| ReadRetries { pages, steps }),
            mapping: totals.mapping.map(|mapping| MappingStats::of(mapping, totals.mapping_programs)),
            gc: GcStats {
                erases: totals.erases,
                moves: totals.gc_programs,
                victims: totals.victims,
                victim_valid_mean: ratio(totals.victim_valid, totals.victims),
                stalls: totals.free_page_stalls,
                forced: totals.forced_batches,
                erase_count_min: erase_count_min.into(),
                erase_count_mean: ratio(erase_count_sum, totals.blocks).unwrap_or(0.0),
                erase_count_max: erase_count_max.into(),
            },
        }
    }
}

/// Write amplification by cause, of a device that programs pages for more than the host and garbage collection.
fn amplification_by(totals: &Totals) -> Option<AmplificationByCause> {
    if totals.mapping.is_none() && totals.slc.is_none() && totals.padded.is_none() {
        return None;
    }
    let programs = totals.programs();
    let part = |pages: u64| ratio(pages, programs.host);
    Some(AmplificationByCause {
        user: part(programs.host)?,
        gc: part(programs.collection)?,
        mapping: part(programs.mapping)?,
        fold: part(programs.fold)?,
        padding: totals.padded.and_then(part),
    })
}

impl MappingStats {
    fn of(totals: MappingTotals, writes: u64) -> MappingStats {
        let MappingTotals { hits, host_hits, misses, reads } = totals;
        let hit_ratio = ratio(hits + host_hits, hits + host_hits + misses);
        MappingStats { hits, host_hits, misses, hit_ratio, reads, writes }
    }
}

/// For each, the share of the time `end` in which it was busy.
fn shares(busy: &[Duration], end: Time) -> Vec<f64> {
    busy.iter().map(|busy| ratio(busy.ns(), end.ns()).unwrap_or(0.0)).collect()
}

/// The share of the time `end` in which they were busy on average.
fn mean_share(busy: &[Duration], end: Time) -> f64 {
    let sum: u128 = busy.iter().map(|busy| u128::from(busy.ns())).sum();
    let all = busy.len() as u128 * u128::from(end.ns());
    if all == 0 { 0.0 } else { sum as f64 / all as f64 }
}

fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::example::example;

    #[test]
    fn the_text_is_the_data() {
        let summary = example();
        let text = summary.to_json();
        assert_eq!(serde_json::from_str::<Summary>(&text).unwrap(), summary);
        assert_eq!(text, example().to_json(), "same figures, same bytes");
    }

    #[test]
    fn rates_and_shares_are_over_the_right_time() {
        let totals = Totals {
            now: Time::from_ns(1_000),
            unit_busy: [500, 1_000].map(Duration::from_ns).to_vec(),
            channel_busy: vec![Duration::from_ns(100)],
            user_programs: 100,
            gc_programs: 150,
            victims: 4,
            victim_valid: 150,
            ..Totals::default()
        };
        let device = DeviceStats::from(&totals);
        assert_eq!((device.chip_utilisation, device.channel_utilisation), (0.75, 0.1));
        assert_eq!(device.chip_utilisation_each, [0.5, 1.0]);
        assert_eq!((device.write_amplification, device.gc.victim_valid_mean), (Some(2.5), Some(37.5)));
        assert_eq!(DeviceStats::from(&Totals::default()).write_amplification, None);
        assert_eq!((device.write_amplification_by, device.mapping), (None, None));
        let mapping = Some(MappingTotals { hits: 6, host_hits: 3, misses: 3, reads: 2 });
        let device = DeviceStats::from(&Totals { mapping, mapping_programs: 50, ..totals });
        assert_eq!(device.write_amplification, Some(3.0));
        let by_cause = AmplificationByCause { user: 1.0, gc: 1.5, mapping: 0.5, fold: 0.0, padding: None };
        assert_eq!(device.write_amplification_by, Some(by_cause));
        let padded = Totals { user_programs: 100, gc_programs: 150, padded: Some(25), ..Totals::default() };
        let padded = DeviceStats::from(&padded);
        assert_eq!(padded.write_amplification, Some(2.75));
        assert_eq!(padded.write_amplification_by.and_then(|by| by.padding), Some(0.25));
        let stats = MappingStats { hits: 6, host_hits: 3, misses: 3, hit_ratio: Some(0.75), reads: 2, writes: 50 };
        assert_eq!(device.mapping, Some(stats));
    }

    #[test]
    fn a_flow_without_requests_has_no_response_times() {
        let nothing = FlowStats::of(&FlowMetrics::new());
        assert_eq!((nothing.issued, nothing.all, nothing.window_ns), (0, None, 0));
    }

    #[test]
    fn slowdown_and_change_follow_from_the_means() {
        let summary = example();
        let (first, second) = (&summary.schedulers[0], &summary.schedulers[1]);
        for run in [first, second] {
            for flow in &run.flows {
                let (shared, alone) = (flow.figures.all.as_ref().unwrap(), flow.alone.as_ref().unwrap());
                assert_eq!(flow.slowdown, Some(shared.mean_ns / alone.mean_ns));
            }
            let s: Vec<f64> = run.flows.iter().map(|flow| flow.slowdown.unwrap()).collect();
            assert_eq!(run.fairness.as_ref().unwrap().fairness, (s[0] / s[1]).min(s[1] / s[0]));
        }
        assert_eq!(first.change_percent, None);
        let change = second.change_percent.as_ref().unwrap().all.as_ref().unwrap().mean.unwrap();
        let means = [first, second].map(|run| run.total.all.as_ref().unwrap().mean_ns);
        assert!((means[0] * (1.0 + change / 100.0) - means[1]).abs() < 1e-6 * means[1]);
    }
}
