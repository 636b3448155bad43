//! The comparison as text for the terminal.
//!
//! Stacked sections, one row per scheduler in each, so that everything fits 120 columns. Made from the summary alone.

use super::block::{BlockFlowStats, BlockStats};
use super::ceiling_text;
use super::estimation::EstimateStats;
use super::flow_stats::ResponseStats;
use super::format::{NONE, Sense, count, number, or_dash, relative, share, time};
use super::host::{HostStats, LatencyStats};
use super::listed::{Listed, listed};
use super::paired::{PairStats, SlackDistribution};
use super::summary::{
    AmplificationByCause, Change, FairnessStats, FlowResult, ResponseChange, SchedulerResult, SlcStats, Summary,
};
use super::verdict::is_too_few_to_tell;
use super::waiting_writes::WaitingWrites;
use flashlane_outputs::shown::escaped;

/// Schedulers side by side in the table of slowdowns; further ones continue below.
const ACROSS: usize = 6;

/// The text: response times of all requests, reads and writes, the device, and (with several flows) the flows and their
/// fairness; at the end the skipped schedulers and the number of requests.
pub fn render(summary: &Summary) -> String {
    let mut text = String::new();
    let runs = &summary.schedulers;
    if !runs.is_empty() {
        let with_commands = runs.iter().any(|run| run.total.commands.is_some());
        let title = if with_commands { "All reads and writes" } else { "All requests" };
        response(runs, |run| &run.total.all, |c| c.all.as_ref()).section(&mut text, title);
        // With one direction only, its rows would repeat those of all requests.
        let both = runs.iter().any(|run| run.total.read.is_some()) && runs.iter().any(|run| run.total.write.is_some());
        if both {
            response(runs, |run| &run.total.read, |c| c.read.as_ref()).section(&mut text, "Reads");
            response(runs, |run| &run.total.write, |c| c.write.as_ref()).section(&mut text, "Writes");
        }
        throughput(runs, both).section(&mut text, "Throughput: requests per second and MB/s");
        if runs.iter().any(|run| run.paired.is_some()) {
            pairs(runs).section(&mut text, &format!("Request by request against {}", summary.baseline));
        }
        touched(runs).section(&mut text, "Requests that the scheduler's mechanisms touched");
        text.push_str(&asked(summary));
        if runs.iter().any(|run| run.ceiling.is_some()) {
            let title = "Response times over what no scheduler can beat";
            ceiling_text::figures(runs).section(&mut text, title);
        }
        devices(&mut text, summary);
        if runs.iter().any(|run| run.fairness.is_some()) {
            fairness(runs).section(&mut text, "Fairness");
        }
        if summary.flows.len() > 1 {
            flows(&mut text, summary);
        }
    }
    text.push_str(&end(summary));
    text
}

/// What is there only if it was asked for, or occurred.
pub(super) fn asked(summary: &Summary) -> String {
    let (mut text, runs) = (String::new(), &summary.schedulers);
    if runs.iter().any(|run| run.total.commands.is_some()) {
        commands(runs).section(&mut text, "Trims, write zeroes and flushes");
    }
    if let Some(ceiling) = &summary.ceiling {
        text.push_str(&format!("{}\n", ceiling_text::title(ceiling)));
        for note in &ceiling.notes {
            text.push_str(&format!("  ({})\n", escaped(note)));
        }
        for (label, gap) in ceiling_text::gaps(runs) {
            text.push_str(&format!("  {label}: {gap}\n"));
        }
        text.push('\n');
    }
    if runs.iter().any(|run| run.estimation.is_some()) {
        estimation(runs).section(&mut text, "Estimated against actual response time of the transactions");
    }
    if runs.iter().any(|run| run.slack.is_some()) {
        slack(runs).section(&mut text, "Actual slack of the transactions of reads and of writes");
    }
    if runs.iter().any(|run| run.host.is_some()) {
        host(runs).section(&mut text, "Host: latency as threads see it, mean parts of it, and who got the CPUs");
    }
    if runs.iter().any(|run| run.block.is_some()) {
        block(runs).section(&mut text, &block_title(runs));
    }
    text
}

/// The skipped schedulers, and the number of requests.
pub(super) fn end(summary: &Summary) -> String {
    let skipped = summary.skipped.iter().map(|skipped| format!("Skipped {}: {}\n", skipped.scheduler, skipped.reason));
    skipped.chain([conservation(&summary.schedulers)]).collect()
}

fn response<'a>(
    runs: &'a [SchedulerResult],
    figures: impl Fn(&'a SchedulerResult) -> &'a Option<ResponseStats>,
    changes: impl Fn(&'a Change) -> Option<&'a ResponseChange>,
) -> Listed<'a, (&'a SchedulerResult, Option<&'a ResponseStats>, Option<&'a ResponseChange>)> {
    let rows = runs.iter().map(|run| (run, figures(run).as_ref(), run.change_percent.as_ref().and_then(&changes)));
    listed(rows)
        .column("scheduler", |(run, ..)| run.label())
        .column("mean", |(_, f, _)| or_dash(*f, |f| time(f.mean_ns)))
        .column("p50", |(_, f, _)| ns(*f, |f| f.p50_ns))
        .column("p95", |(_, f, _)| ns(*f, |f| f.p95_ns))
        .column("p99", |(_, f, _)| ns(*f, |f| f.p99_ns))
        .column("p99.9", |(_, f, _)| ns(*f, |f| f.p99_9_ns))
        .column("max", |(_, f, _)| ns(*f, |f| f.max_ns))
        .columns_if(runs.len() > 1, |list| {
            let change = |change: Option<f64>| or_dash(change, |change| relative(change, Sense::Time));
            list.column("Δ mean", move |(.., c)| change(c.and_then(|c| c.mean)))
                .column("Δ p99", move |(.., c)| change(c.and_then(|c| c.p99)))
        })
}

fn ns(figures: Option<&ResponseStats>, get: fn(&ResponseStats) -> u64) -> String {
    or_dash(figures, |f| time(get(f) as f64))
}

/// A row for each run.
type Runs<'a> = Listed<'a, &'a SchedulerResult>;

/// Requests that move no data: a row for each scheduler and kind.
fn commands(runs: &[SchedulerResult]) -> Listed<'_, (&SchedulerResult, &'static str, &ResponseStats)> {
    let kinds = runs.iter().flat_map(|run| {
        let kinds = run.total.commands.iter().flat_map(|commands| commands.kinds());
        kinds.map(move |(kind, figures)| (run, kind, figures))
    });
    listed(kinds)
        .column("scheduler", |(run, ..)| run.label())
        .column("kind", |(_, kind, _)| (*kind).into())
        .column("requests", |(.., f)| count(f.requests))
        .column("served", |(.., f)| or_dash(f.iops, number))
        .column("mean", |(.., f)| time(f.mean_ns))
        .column("p50", |(.., f)| time(f.p50_ns as f64))
        .column("p95", |(.., f)| time(f.p95_ns as f64))
        .column("p99", |(.., f)| time(f.p99_ns as f64))
        .column("max", |(.., f)| time(f.max_ns as f64))
}

/// What was offered and what was served, and with both directions of each too.
fn throughput(runs: &[SchedulerResult], both: bool) -> Runs<'_> {
    let rate = |figures: &Option<ResponseStats>, get: fn(&ResponseStats) -> Option<f64>| {
        or_dash(figures.as_ref().and_then(get), number)
    };
    listed(runs)
        .column("scheduler", |run| run.label())
        .column("offered", move |run| rate(&run.total.all, |f| f.offered_iops))
        .column("served", move |run| rate(&run.total.all, |f| f.iops))
        .column("MB/s", move |run| rate(&run.total.all, |f| f.mb_per_s))
        .columns_if(runs.len() > 1, |list| list.column("Δ served", |run| changed(run, |c| c.all.as_ref()?.iops)))
        .columns_if(both, |list| {
            list.column("reads offered", move |run| rate(&run.total.read, |f| f.offered_iops))
                .column("served", move |run| rate(&run.total.read, |f| f.iops))
                .column("MB/s", move |run| rate(&run.total.read, |f| f.mb_per_s))
                .column("writes offered", move |run| rate(&run.total.write, |f| f.offered_iops))
                .column("served", move |run| rate(&run.total.write, |f| f.iops))
                .column("MB/s", move |run| rate(&run.total.write, |f| f.mb_per_s))
        })
}

/// A change of an amount.
fn changed(run: &SchedulerResult, get: fn(&Change) -> Option<f64>) -> String {
    or_none(run.change_percent.as_ref().and_then(get))
}

fn or_none(change: Option<f64>) -> String {
    or_dash(change, |change| relative(change, Sense::Amount))
}

/// How requests compare one by one.
fn pairs(runs: &[SchedulerResult]) -> Listed<'_, (&SchedulerResult, Option<&PairStats>)> {
    let part =
        |p: Option<&PairStats>, get: fn(&PairStats) -> u64| or_dash(p, |p| share(get(p) as f64 / p.requests as f64));
    let gain = |p: Option<&PairStats>, get: fn(&PairStats) -> Option<f64>| {
        or_dash(p.and_then(get), |percent| relative(percent, Sense::Gain))
    };
    listed(runs.iter().map(|run| (run, run.paired.as_ref().map(|paired| &paired.all))))
        .column("scheduler", |(run, _)| run.label())
        .column("faster", move |(_, p)| part(*p, |p| p.faster))
        .column("equal", move |(_, p)| part(*p, |p| p.equal))
        .column("slower", move |(_, p)| part(*p, |p| p.slower))
        .column("mean gain", |(_, p)| or_dash(*p, |p| signed_time(p.gain_ns)))
        .column("mean gain %", move |(_, p)| gain(*p, |p| p.improvement_percent))
        .column("gain % per request", move |(_, p)| gain(*p, |p| p.gain_percent_per_request))
        .column("p95 gain %", move |(_, p)| gain(*p, |p| p.p95_improvement_percent))
}

/// Which requests the schedulers' mechanisms touched.
fn touched(runs: &[SchedulerResult]) -> Runs<'_> {
    let of_all = |run: &SchedulerResult, touched: u64| {
        let measured = run.total.all.as_ref().map_or(0, |f| f.requests);
        or_dash((measured > 0).then(|| touched as f64 / measured as f64), share)
    };
    listed(runs)
        .column("scheduler", |run| run.label())
        .column("reads overtaking", move |run| of_all(run, run.touched.read_overtaking))
        .column("writes overtaking", move |run| of_all(run, run.touched.write_overtaking))
        .column("in pause", move |run| of_all(run, run.touched.in_pause))
}

fn signed_time(ns: f64) -> String {
    let sign = if ns < 0.0 { "-" } else { "" };
    format!("{sign}{}", time(ns.abs()))
}

/// A scheduler's figures of reads or of writes.
type Direction<'a, F> = (&'a SchedulerResult, &'static str, &'a F);

/// Those of every scheduler.
fn directions<'a, F>(
    runs: &'a [SchedulerResult],
    figures: impl Fn(&'a SchedulerResult) -> Option<[&'a Option<F>; 2]>,
) -> Vec<Direction<'a, F>> {
    let of = |run| {
        let figures = figures(run).into_iter().flatten().zip(["reads", "writes"]);
        figures.filter_map(move |(figures, of)| Some((run, of, figures.as_ref()?)))
    };
    runs.iter().flat_map(of).collect()
}

/// All errors but the first two are signed shares of the actual response time; those two have no sign.
fn estimation(runs: &[SchedulerResult]) -> Listed<'_, Direction<'_, EstimateStats>> {
    let percent = |error: Option<f64>| or_dash(error, |error| format!("{} %", number(error)));
    listed(directions(runs, |run| run.estimation.as_ref().map(|all| [&all.read, &all.write])))
        .column("scheduler", |(run, ..)| run.label())
        .column("of", |(_, of, _)| (*of).into())
        .column("estimated", |(.., f)| time(f.estimated_ns))
        .column("actual", |(.., f)| time(f.actual_ns))
        .column("error", move |(.., f)| percent(f.error_percent))
        .column("MAPE", move |(.., f)| percent(f.mape_percent))
        .column("queue", |(.., f)| or_none(f.parts.queue.error_percent))
        .column("GC", |(.., f)| or_none(f.parts.gc.error_percent))
        .column("interference", |(.., f)| or_none(f.parts.interference.error_percent))
        .column("residual", |(.., f)| or_none(f.parts.residual.error_percent))
        .column("est. slack", |(.., f)| time(f.estimated_slack_ns))
        .column("act. slack", |(.., f)| time(f.actual_slack_ns))
}

fn slack(runs: &[SchedulerResult]) -> Listed<'_, Direction<'_, SlackDistribution>> {
    listed(directions(runs, |run| run.slack.as_ref().map(|all| [&all.read, &all.write])))
        .column("scheduler", |(run, ..)| run.label())
        .column("of", |(_, of, _)| (*of).into())
        .column("mean", |(.., f)| time(f.mean_ns))
        .column("SD", |(.., f)| time(f.stdev_ns))
        .column("p25", |(.., f)| time(f.p25_ns as f64))
        .column("p50", |(.., f)| time(f.p50_ns as f64))
        .column("p75", |(.., f)| time(f.p75_ns as f64))
        .column("p95", |(.., f)| time(f.p95_ns as f64))
        .column("p99", |(.., f)| time(f.p99_ns as f64))
        .column("max", |(.., f)| time(f.max_ns as f64))
        .column("pages", |(.., f)| count(f.transactions))
}

/// What the device did.
fn devices(text: &mut String, summary: &Summary) {
    let runs = &summary.schedulers;
    device(summary).section(text, "Device");
    text.push_str(&too_few(summary));
    if runs.iter().any(|run| run.device.slc.is_some()) {
        slc_cache(runs).section(text, "SLC cache, in pages");
    }
    if runs.iter().any(|run| run.device.write_amplification_by.is_some()) {
        amplification(runs).section(text, "Write amplification by cause");
    }
    if runs.iter().any(|run| run.device.waiting_writes.is_some()) {
        waiting_writes(runs).section(text, "Waiting writes moved to idle chips, and cancelled");
    }
}

/// A run's write amplification, marked where it is too few erases to tell.
pub(super) fn write_amplification(summary: &Summary, run: &SchedulerResult) -> String {
    let mark = if is_too_few_to_tell(summary, &run.device) { TOO_FEW } else { "" };
    or_dash(run.device.write_amplification, |value| format!("{}{mark}", number(value)))
}

/// What marks write amplification that is too few erases to tell.
const TOO_FEW: &str = "?";

/// What the mark means, where it stands.
pub(super) fn too_few(summary: &Summary) -> String {
    let marked = summary.schedulers.iter().any(|run| is_too_few_to_tell(summary, &run.device));
    match marked {
        true => {
            format!("  {TOO_FEW} too few to tell: write amplification that rests on 1 to 29 erases, under one seed\n\n")
        }
        false => String::new(),
    }
}

fn device(summary: &Summary) -> Runs<'_> {
    let runs = &summary.schedulers;
    let has_retries = runs.iter().any(|run| run.device.read_retries.is_some());
    let has_mapping = runs.iter().any(|run| run.device.mapping.is_some());
    let has_rests = runs.iter().any(|run| run.device.partial_write_reads > 0);
    listed(runs)
        .column("scheduler", |run| run.label())
        .column("chips busy", |run| share(run.device.chip_utilisation))
        .column("channels busy", |run| share(run.device.channel_utilisation))
        .column("write ampl.", |run| write_amplification(summary, run))
        .column("Δ WA", |run| changed(run, |c| c.write_amplification))
        .column("GC moves", |run| count(run.device.gc.moves))
        .column("erases", |run| count(run.device.gc.erases))
        .column("valid/victim", |run| or_dash(run.device.gc.victim_valid_mean, number))
        .column("pauses", |run| count(run.device.pauses))
        .column("makespan", |run| time(run.total.makespan_ns as f64))
        .columns_if(has_retries, |list| {
            let steps = |run: &&SchedulerResult| run.device.read_retries.as_ref().map(|retries| count(retries.steps));
            list.column("read retries", move |run| steps(run).unwrap_or_default())
        })
        .columns_if(has_rests, |list| list.column("rest reads", |run| count(run.device.partial_write_reads)))
        .columns_if(has_mapping, |list| {
            list.column("map hits", |run| or_dash(run.device.mapping.unwrap_or_default().hit_ratio, share))
                .column("map reads", |run| count(run.device.mapping.unwrap_or_default().reads))
                .column("map writes", |run| count(run.device.mapping.unwrap_or_default().writes))
        })
}

fn slc_cache(runs: &[SchedulerResult]) -> Listed<'_, (&SchedulerResult, &SlcStats)> {
    listed(runs.iter().filter_map(|run| Some((run, run.device.slc.as_ref()?))))
        .column("scheduler", |(run, _)| run.label())
        .column("SLC writes", |(_, slc)| count(slc.programs))
        .column("direct writes", |(_, slc)| count(slc.direct))
        .column("blocks folded", |(_, slc)| count(slc.folds))
        .column("folded pages", |(_, slc)| count(slc.folded))
        .column("valid at end", |(_, slc)| count(slc.valid_at_end))
}

fn amplification(runs: &[SchedulerResult]) -> Listed<'_, (&SchedulerResult, &AmplificationByCause)> {
    let rows = || runs.iter().filter_map(|run| Some((run, run.device.write_amplification_by.as_ref()?)));
    let pads = rows().any(|(_, by)| by.padding.is_some());
    listed(rows())
        .column("scheduler", |(run, _)| run.label())
        .column("host", |(_, by)| number(by.user))
        .column("GC", |(_, by)| number(by.gc))
        .column("map", |(_, by)| number(by.mapping))
        .column("folds", |(_, by)| number(by.fold))
        .columns_if(pads, |list| list.column("padding", |(_, by)| or_dash(by.padding, number)))
        .column("all", |(run, _)| or_dash(run.device.write_amplification, number))
}

fn waiting_writes(runs: &[SchedulerResult]) -> Listed<'_, (&SchedulerResult, &WaitingWrites)> {
    listed(runs.iter().filter_map(|run| Some((run, run.device.waiting_writes.as_ref()?))))
        .column("scheduler", |(run, _)| run.label())
        .column("moved", |(_, writes)| count(writes.moved))
        .column("programs saved", |(_, writes)| count(writes.programs_saved))
        .column("of all", |(_, writes)| or_dash(writes.programs_saved_percent, |percent| share(percent / 100.0)))
        .column("programs/write", |(_, writes)| or_dash(writes.programs_per_page_written, number))
        .column("write ampl.", |(run, _)| or_dash(run.device.write_amplification, number))
        .column("erases saved", |(_, writes)| or_dash(writes.erases_saved, |erases| number(erases as f64)))
}

/// `exposed` is the part of `added` that comes after the completion; `lost` what the background lost against running alone.
fn host(runs: &[SchedulerResult]) -> Listed<'_, (&SchedulerResult, &HostStats)> {
    let ns = |host: &HostStats, get: fn(&LatencyStats) -> f64| or_dash(host.all.as_ref(), |l| time(get(l)));
    let lost = |host: &HostStats| match host.background.as_slice() {
        [] => NONE.to_owned(),
        groups => groups.iter().map(|group| or_dash(group.lost, share)).collect::<Vec<_>>().join(", "),
    };
    listed(runs.iter().filter_map(|run| Some((run, run.host.as_ref()?))))
        .column("scheduler", |(run, _)| run.label())
        .column("seen", move |(_, host)| ns(host, |l| l.user_mean_ns))
        .column("device", move |(_, host)| ns(host, |l| l.device_mean_ns))
        .column("added", move |(_, host)| ns(host, |l| l.added_mean_ns))
        .column("exposed", move |(_, host)| ns(host, |l| l.exposed_mean_ns))
        .column("p99 seen", move |(_, host)| ns(host, |l| l.p99_ns as f64))
        .column("spun", move |(_, host)| ns(host, |l| l.spun_mean_ns))
        .column("spinning", |(_, host)| share(host.cpu.spin))
        .column("kernel", |(_, host)| share(host.cpu.overhead + host.cpu.submit))
        .column("lost", move |(_, host)| lost(host))
        .column("RMSE", |(_, host)| or_dash(host.precompletion.as_ref().and_then(|pre| pre.at_message.rmse_ns), time))
        .column("late", |(_, host)| or_dash(host.precompletion.as_ref(), |pre| count(pre.too_late)))
}

/// What the table of the block layer is called: with what is the same in all runs.
fn block_title(runs: &[SchedulerResult]) -> String {
    let mut layers: Vec<&BlockStats> = runs.iter().filter_map(|run| run.block.as_ref()).collect();
    layers.dedup_by_key(|block| (&block.elevator, block.depth, block.nr_requests));
    let of = match layers[..] {
        [one] => format!(" ({}, depth {}, {} tags)", one.elevator, one.depth, one.nr_requests),
        _ => String::new(),
    };
    format!("Block layer{of}: requests that waited, and how long on average")
}

/// The share of a flow's requests that waited at each stage, and how long those did on average.
fn block(runs: &[SchedulerResult]) -> Listed<'_, (&SchedulerResult, &BlockFlowStats)> {
    let flows = runs
        .iter()
        .flat_map(|run| run.block.iter().flat_map(move |block| block.flows.iter().map(move |flow| (run, flow))));
    let room = |run: &SchedulerResult| run.block.as_ref().map(|block| (block.depth, block.nr_requests));
    let differ = runs.iter().any(|run| room(run) != room(&runs[0]));
    let list = listed(flows)
        .column("scheduler", |(run, _)| run.label())
        .columns_if(differ, |list| {
            list.column("depth, tags", move |(run, _)| or_dash(room(run), |(depth, tags)| format!("{depth}, {tags}")))
        })
        .column("flow", |(_, flow)| escaped(&flow.name).into_owned())
        .column("requests", |(_, flow)| count(flow.requests));
    (0..4).fold(list, |list, stage| {
        let name = ["limit", "tag", "elevator", "driver"][stage];
        list.column(name, move |(_, flow)| {
            let (_, waited) = flow.stages()[stage];
            match waited.requests {
                0 => NONE.to_owned(),
                requests => format!("{} {}", share(requests as f64 / flow.requests as f64), time(waited.mean_ns)),
            }
        })
    })
}

fn fairness(runs: &[SchedulerResult]) -> Runs<'_> {
    let of = |run: &SchedulerResult, get: fn(&FairnessStats) -> f64| {
        or_dash(run.fairness.as_ref(), |fairness| number(get(fairness)))
    };
    listed(runs)
        .column("scheduler", |run| run.label())
        .column("F", move |run| of(run, |f| f.fairness))
        .column("max slowdown", move |run| of(run, |f| f.max_slowdown))
        .column("STDEV", move |run| of(run, |f| f.stdev))
        .column("WS", move |run| of(run, |f| f.weighted_speedup))
        .column("Δ F", |run| changed(run, |c| c.fairness))
        .column("Δ WS", |run| changed(run, |c| c.weighted_speedup))
}

/// The slowdowns: one row for each flow, one column for each scheduler.
fn flows(text: &mut String, summary: &Summary) {
    for runs in summary.schedulers.chunks(ACROSS) {
        let by_run = |cell: fn(&FlowResult) -> String| {
            let names = listed(summary.flows.iter().enumerate());
            let list = names.column("flow", |(_, flow)| escaped(&flow.name).into_owned());
            runs.iter().fold(list, |list, run| list.column(run.name.as_str(), move |(i, _)| cell(&run.flows[*i])))
        };
        let mean = by_run(|flow| or_dash(flow.figures.all.as_ref(), |f| time(f.mean_ns)));
        mean.section(text, "Mean response time by flow");
        if runs.iter().any(|run| run.flows.iter().any(|flow| flow.slowdown.is_some())) {
            let slowdown = by_run(|flow| or_dash(flow.slowdown, number));
            slowdown.section(text, "Slowdown by flow (mean response time over that of its alone run)");
        }
    }
}

/// `Requests: received 1,000 = completed 990 + rejected 10`, only once if it is the same for all schedulers; and how many are in no figure.
fn conservation(runs: &[SchedulerResult]) -> String {
    let lines: Vec<String> = runs
        .iter()
        .map(|run| {
            let total = &run.total;
            let all = received([total.issued, total.completed, total.rejected, total.warm_up]);
            let kinds = run.total.commands.iter().flat_map(|commands| &commands.received);
            let kinds =
                kinds.map(|k| format!("\n  {}: {}", k.kind, received([k.issued, k.completed, k.rejected, k.warm_up])));
            std::iter::once(all).chain(kinds).collect::<String>()
        })
        .collect();
    match lines.split_first() {
        None => String::from("Requests: no scheduler ran\n"),
        Some((first, rest)) if rest.iter().all(|line| line == first) => format!("Requests: {first}\n"),
        Some(_) => {
            runs.iter().zip(&lines).map(|(run, line)| format!("Requests under {}: {line}\n", run.name)).collect()
        }
    }
}

fn received([received, done, refused, warm_up]: [u64; 4]) -> String {
    let sign = if received == done + refused { "=" } else { "!=" };
    let text = format!("received {} {sign} completed {} + rejected {}", count(received), count(done), count(refused));
    match warm_up {
        0 => text,
        warm_up => format!("{text}; {} of those completed are warm-up, which is in no figure", count(warm_up)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::example::example;
    use crate::results::flow_stats::{CommandStats, KindRequests};

    /// Trims and flushes have a table and a line of counts; without them nothing of it is there.
    #[test]
    fn other_kinds_have_rows_of_their_own() {
        let mut summary = example();
        let plain = render(&summary);
        assert!(plain.contains("All requests\n") && !plain.contains("flush"), "{plain}");
        let run = &mut summary.schedulers[0];
        let flush = run.total.read.clone();
        let mean = time(flush.as_ref().unwrap().mean_ns);
        let kind = |kind: &str, rejected| KindRequests {
            kind: kind.into(),
            issued: 9,
            completed: 9 - rejected,
            rejected,
            warm_up: 0,
        };
        let received = vec![kind("read", 0), kind("trim", 9), kind("flush", 2)];
        run.total.commands = Some(Box::new(CommandStats { received, trim: None, write_zeroes: None, flush }));
        let text = render(&summary);
        assert!(
            text.contains("All reads and writes\n")
                && text.contains("\n  trim: received 9 = completed 0 + rejected 9\n"),
            "{text}"
        );
        let rows: Vec<&str> = text.split("Trims, write zeroes and flushes\n").nth(1).unwrap().lines().take(3).collect();
        assert!(rows[1].contains(" flush ") && rows[1].contains(&mean) && rows[2].is_empty(), "{rows:?}");
        let csv = super::super::export::csv(&summary);
        assert_eq!(csv.lines().filter(|line| line.contains(",,flush,")).count(), 1, "{csv}");
    }

    /// What an SLC cache did and the causes of write amplification have tables; without them neither is there.
    #[test]
    fn an_slc_cache_has_tables_of_its_own() {
        let mut summary = example();
        let (slc, causes) = ("SLC cache, in pages\n", "Write amplification by cause\n");
        assert!(!render(&summary).contains(slc) && !render(&summary).contains(causes));
        let device = &mut summary.schedulers[0].device;
        device.slc = Some(SlcStats {
            programs: 7_001,
            direct: 7_002,
            folds: 7_003,
            folded: 7_004,
            valid_at_end: 7_005,
            ..SlcStats::default()
        });
        device.write_amplification_by =
            Some(AmplificationByCause { user: 1.0, gc: 2.25, mapping: 3.25, fold: 4.25, padding: Some(5.25) });
        let text = render(&summary);
        let row = |title: &str| text.split(title).nth(1).unwrap().lines().nth(1).unwrap().to_owned();
        assert!((7_001..=7_005).all(|pages| row(slc).contains(&count(pages))), "{text}");
        assert!([1.0, 2.25, 3.25, 4.25, 5.25].into_iter().all(|part| row(causes).contains(&number(part))), "{text}");
    }

    #[test]
    fn fits_the_terminal_and_shows_the_figures() {
        let mut summary = example();
        summary.flows[1].name = "batch".into();
        let text = render(&summary);
        let widest = text.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(widest <= 120, "{widest} columns:\n{text}");
        for run in &summary.schedulers {
            for part in [&run.total.all, &run.total.read, &run.total.write] {
                let f = part.as_ref().unwrap();
                let line = text.lines().find(|line| line.contains(&time(f.mean_ns))).expect("the mean is shown");
                for shown in [time(f.p50_ns as f64), time(f.p99_9_ns as f64), time(f.max_ns as f64)] {
                    assert!(line.contains(&shown), "{shown} in {line}");
                }
                for rate in [f.offered_iops, f.iops, f.mb_per_s] {
                    assert!(text.contains(&number(rate.expect("a window"))), "{rate:?} in {text}");
                }
            }
            assert!(text.contains(&number(run.fairness.as_ref().unwrap().stdev)));
            assert!(text.contains(&number(run.flows[1].slowdown.unwrap())));
        }
        assert!(text.contains("Skipped ncq-tsb: needs a SATA device"));
    }

    #[test]
    fn columns_are_aligned() {
        let text = render(&example());
        let section: Vec<&str> = text.lines().skip(1).take(4).collect();
        let end_of = |line: &str, column: &str| line.find(column).map(|at| at + column.len());
        let header_end = end_of(section[0], "mean").unwrap();
        for line in &section[1..] {
            let upto: String = line.chars().take(header_end).collect();
            assert!(upto.ends_with("ms") || upto.ends_with("µs"), "{line}");
        }
    }

    #[test]
    fn the_count_of_requests_closes_the_table() {
        let summary = example();
        let total = &summary.schedulers[0].total;
        let end = format!(
            "received {} = completed {} + rejected {}\n",
            count(10_000),
            count(total.completed),
            total.rejected
        );
        assert!(render(&summary).ends_with(&end), "{}", render(&summary));
        let mut warm = summary.clone();
        warm.schedulers.iter_mut().for_each(|run| run.total.warm_up = 2_944);
        let end = format!("{}; 2,944 of those completed are warm-up, which is in no figure\n", end.trim_end());
        assert!(render(&warm).ends_with(&end), "{}", render(&warm));
        let mut lost = summary.clone();
        lost.schedulers[1].total.completed -= 1;
        assert!(render(&lost).contains("Requests under read-first: received 10,000 != completed"));
    }

    #[test]
    fn one_run_alone_shows_no_changes() {
        let mut summary = example();
        summary.schedulers.truncate(1);
        assert!(!render(&summary).lines().nth(1).unwrap().contains("Δ"));
    }
}
