//! The comparison as text for the terminal.
//!
//! Stacked sections, one row per scheduler in each, so that everything fits 120 columns. Made from the summary alone.

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

use super::ceiling_text;
use super::flow_stats::ResponseStats;
use super::format::{NONE, Sense, count, number, or_dash, relative, share, time};
use super::host::LatencyStats;
use super::paired::PairStats;
use super::summary::{ResponseChange, SchedulerResult, Summary};
use super::verdict::is_too_few_to_tell;
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
        section(&mut text, title, response(runs, |run| &run.total.all, |c| c.all.as_ref()));
        // With one direction only, its rows would repeat those of all requests.
        let both = runs.iter().any(|run| run.total.read.is_some()) && runs.iter().any(|run| run.total.write.is_some());
        if both {
            section(&mut text, "Reads", response(runs, |run| &run.total.read, |c| c.read.as_ref()));
            section(&mut text, "Writes", response(runs, |run| &run.total.write, |c| c.write.as_ref()));
        }
        section(&mut text, "Throughput: requests per second and MB/s", throughput(runs, both));
        if runs.iter().any(|run| run.paired.is_some()) {
            section(&mut text, &format!("Request by request against {}", summary.baseline), pairs(runs));
        }
        section(&mut text, "Requests that the scheduler's mechanisms touched", touched(runs));
        text.push_str(&asked(summary));
        if runs.iter().any(|run| run.ceiling.is_some()) {
            section(&mut text, "Response times over what no scheduler can beat", ceiling_gaps(runs));
        }
        devices(&mut text, summary);
        if runs.iter().any(|run| run.fairness.is_some()) {
            section(&mut text, "Fairness", fairness(runs));
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
        section(&mut text, "Trims, write zeroes and flushes", commands(runs));
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
        section(&mut text, "Estimated against actual response time of the transactions", estimation(runs));
    }
    if runs.iter().any(|run| run.slack.is_some()) {
        section(&mut text, "Actual slack of the transactions of reads and of writes", slack(runs));
    }
    if runs.iter().any(|run| run.host.is_some()) {
        section(&mut text, "Host: latency as threads see it, mean parts of it, and who got the CPUs", host(runs));
    }
    text
}

/// The skipped schedulers, and the number of requests.
pub(super) fn end(summary: &Summary) -> String {
    let skipped = summary.skipped.iter().map(|skipped| format!("Skipped {}: {}\n", skipped.scheduler, skipped.reason));
    skipped.chain([conservation(&summary.schedulers)]).collect()
}

pub(super) fn section(text: &mut String, title: &str, table: Table) {
    text.push_str(title);
    text.push('\n');
    for line in table.lines() {
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text.push('\n');
}

/// An empty table: first column aligned left, the rest right, two spaces apart.
pub(super) fn table<S: ToString>(header: impl IntoIterator<Item = S>) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(header.into_iter().map(|head| head.to_string()).collect::<Vec<_>>());
    for (i, column) in table.column_iter_mut().enumerate() {
        column.set_padding((if i == 0 { 2 } else { 0 }, 2));
        if i > 0 {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

fn response<'a>(
    runs: &'a [SchedulerResult],
    figures: impl Fn(&'a SchedulerResult) -> &'a Option<ResponseStats>,
    changes: impl Fn(&'a super::summary::Change) -> Option<&'a ResponseChange>,
) -> Table {
    let compared = runs.len() > 1;
    let mut header = vec!["scheduler", "mean", "p50", "p95", "p99", "p99.9", "max"];
    if compared {
        header.extend(["Δ mean", "Δ p99"]);
    }
    let mut table = table(header);
    for run in runs {
        let f = figures(run).as_ref();
        let ns = |get: fn(&ResponseStats) -> u64| or_dash(f, |f| time(get(f) as f64));
        let mut row = vec![
            run.label(),
            or_dash(f, |f| time(f.mean_ns)),
            ns(|f| f.p50_ns),
            ns(|f| f.p95_ns),
            ns(|f| f.p99_ns),
            ns(|f| f.p99_9_ns),
            ns(|f| f.max_ns),
        ];
        if compared {
            let change = run.change_percent.as_ref().and_then(&changes);
            row.extend(
                [change.and_then(|c| c.mean), change.and_then(|c| c.p99)]
                    .map(|c| or_dash(c, |c| relative(c, Sense::Time))),
            );
        }
        table.add_row(row);
    }
    table
}

/// Requests that move no data: a row for each scheduler and kind.
fn commands(runs: &[SchedulerResult]) -> Table {
    let mut table = table(["scheduler", "kind", "requests", "served", "mean", "p50", "p95", "p99", "max"]);
    for run in runs {
        for (kind, f) in run.total.commands.iter().flat_map(|commands| commands.kinds()) {
            let times = [f.p50_ns, f.p95_ns, f.p99_ns, f.max_ns].map(|ns| time(ns as f64));
            let first = [run.label(), kind.into(), count(f.requests), or_dash(f.iops, number), time(f.mean_ns)];
            table.add_row(first.into_iter().chain(times));
        }
    }
    table
}

/// What was offered and what was served, and with both directions of each too.
fn throughput(runs: &[SchedulerResult], both: bool) -> Table {
    let compared = runs.len() > 1;
    let mut header = vec!["scheduler", "offered", "served", "MB/s"];
    header.extend(compared.then_some("Δ served"));
    header.extend(["reads offered", "served", "MB/s", "writes offered", "served", "MB/s"].into_iter().filter(|_| both));
    let mut table = table(header);
    for run in runs {
        let rates = |figures: &Option<ResponseStats>| {
            let rate = |get: fn(&ResponseStats) -> Option<f64>| or_dash(figures.as_ref().and_then(get), number);
            [rate(|f| f.offered_iops), rate(|f| f.iops), rate(|f| f.mb_per_s)]
        };
        let mut row = vec![run.label()];
        row.extend(rates(&run.total.all));
        row.extend(compared.then(|| or_none(run.change_percent.as_ref().and_then(|c| c.all.as_ref()?.iops))));
        row.extend([&run.total.read, &run.total.write].into_iter().filter(|_| both).flat_map(rates));
        table.add_row(row);
    }
    table
}

fn or_none(change: Option<f64>) -> String {
    or_dash(change, |change| relative(change, Sense::Amount))
}

/// How requests compare one by one.
fn pairs(runs: &[SchedulerResult]) -> Table {
    let mut table = table([
        "scheduler",
        "faster",
        "equal",
        "slower",
        "mean gain",
        "mean gain %",
        "gain % per request",
        "p95 gain %",
    ]);
    for run in runs {
        let p = run.paired.as_ref().map(|paired| &paired.all);
        let part = |get: fn(&PairStats) -> u64| or_dash(p, |p| share(get(p) as f64 / p.requests as f64));
        table.add_row([
            run.label(),
            part(|p| p.faster),
            part(|p| p.equal),
            part(|p| p.slower),
            or_dash(p, |p| signed_time(p.gain_ns)),
            or_dash(p.and_then(|p| p.improvement_percent), gain),
            or_dash(p.and_then(|p| p.gain_percent_per_request), gain),
            or_dash(p.and_then(|p| p.p95_improvement_percent), gain),
        ]);
    }
    table
}

/// Which requests the schedulers' mechanisms touched.
fn touched(runs: &[SchedulerResult]) -> Table {
    let mut table = table(["scheduler", "reads overtaking", "writes overtaking", "in pause"]);
    for run in runs {
        let measured = run.total.all.as_ref().map_or(0, |f| f.requests);
        let touched = |count: u64| or_dash((measured > 0).then(|| count as f64 / measured as f64), share);
        let counts = [run.touched.read_overtaking, run.touched.write_overtaking, run.touched.in_pause];
        table.add_row(std::iter::once(run.label()).chain(counts.map(touched)));
    }
    table
}

fn gain(percent: f64) -> String {
    relative(percent, Sense::Gain)
}

fn signed_time(ns: f64) -> String {
    let sign = if ns < 0.0 { "-" } else { "" };
    format!("{sign}{}", time(ns.abs()))
}

/// All errors but the first two are signed shares of the actual response time; those two have no sign.
fn estimation(runs: &[SchedulerResult]) -> Table {
    let mut table = table([
        "scheduler",
        "of",
        "estimated",
        "actual",
        "error",
        "MAPE",
        "queue",
        "GC",
        "interference",
        "residual",
        "est. slack",
        "act. slack",
    ]);
    for run in runs {
        let Some(estimation) = &run.estimation else { continue };
        for (of, figures) in [("reads", &estimation.read), ("writes", &estimation.write)] {
            let Some(f) = figures else { continue };
            let parts = [&f.parts.queue, &f.parts.gc, &f.parts.interference, &f.parts.residual];
            let mut row = vec![run.label(), of.to_owned(), time(f.estimated_ns), time(f.actual_ns)];
            row.extend([f.error_percent, f.mape_percent].map(|e| or_dash(e, |e| format!("{} %", number(e)))));
            row.extend(parts.map(|part| or_none(part.error_percent)));
            row.extend([f.estimated_slack_ns, f.actual_slack_ns].map(time));
            table.add_row(row);
        }
    }
    table
}

fn slack(runs: &[SchedulerResult]) -> Table {
    let mut table = table(["scheduler", "of", "mean", "SD", "p25", "p50", "p75", "p95", "p99", "max", "pages"]);
    for run in runs {
        let slack = run.slack.as_ref();
        for (direction, figures) in
            [("reads", slack.and_then(|s| s.read.as_ref())), ("writes", slack.and_then(|s| s.write.as_ref()))]
        {
            let Some(f) = figures else { continue };
            let ns = |value: u64| time(value as f64);
            table.add_row([
                run.label(),
                direction.to_string(),
                time(f.mean_ns),
                time(f.stdev_ns),
                ns(f.p25_ns),
                ns(f.p50_ns),
                ns(f.p75_ns),
                ns(f.p95_ns),
                ns(f.p99_ns),
                ns(f.max_ns),
                count(f.transactions),
            ]);
        }
    }
    table
}

/// What the device did.
fn devices(text: &mut String, summary: &Summary) {
    let runs = &summary.schedulers;
    section(text, "Device", device(summary));
    text.push_str(&too_few(summary));
    if runs.iter().any(|run| run.device.slc.is_some()) {
        section(text, "SLC cache, in pages", slc_cache(runs));
    }
    if runs.iter().any(|run| run.device.write_amplification_by.is_some()) {
        section(text, "Write amplification by cause", amplification(runs));
    }
    if runs.iter().any(|run| run.device.waiting_writes.is_some()) {
        section(text, "Waiting writes moved to idle chips, and cancelled", waiting_writes(runs));
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

fn device(summary: &Summary) -> Table {
    let runs = &summary.schedulers;
    let mut headings = vec![
        "scheduler",
        "chips busy",
        "channels busy",
        "write ampl.",
        "Δ WA",
        "GC moves",
        "erases",
        "valid/victim",
        "pauses",
        "makespan",
    ];
    let retries = runs.iter().any(|run| run.device.read_retries.is_some());
    headings.extend(retries.then_some("read retries"));
    let mapping = runs.iter().any(|run| run.device.mapping.is_some());
    headings.extend(mapping.then_some(["map hits", "map reads", "map writes"]).into_iter().flatten());
    let mut table = table(headings);
    for run in runs {
        let d = &run.device;
        let mut row = vec![
            run.label(),
            share(d.chip_utilisation),
            share(d.channel_utilisation),
            write_amplification(summary, run),
            or_none(run.change_percent.as_ref().and_then(|c| c.write_amplification)),
            count(d.gc.moves),
            count(d.gc.erases),
            or_dash(d.gc.victim_valid_mean, number),
            count(d.pauses),
            time(run.total.makespan_ns as f64),
        ];
        row.extend(retries.then(|| d.read_retries.as_ref().map_or_else(String::new, |r| count(r.steps))));
        if mapping {
            let m = d.mapping.unwrap_or_default();
            row.extend([or_dash(m.hit_ratio, share), count(m.reads), count(m.writes)]);
        }
        table.add_row(row);
    }
    table
}

fn slc_cache(runs: &[SchedulerResult]) -> Table {
    let mut table =
        table(["scheduler", "SLC writes", "direct writes", "blocks folded", "folded pages", "valid at end"]);
    for run in runs {
        let Some(slc) = &run.device.slc else { continue };
        let cells = [slc.programs, slc.direct, slc.folds, slc.folded, slc.valid_at_end];
        table.add_row(std::iter::once(run.label()).chain(cells.map(count)));
    }
    table
}

fn amplification(runs: &[SchedulerResult]) -> Table {
    let causes = |run: &SchedulerResult| run.device.write_amplification_by.clone();
    let pads = runs.iter().filter_map(causes).any(|by| by.padding.is_some());
    let headings = ["scheduler", "host", "GC", "map", "folds"].into_iter().chain(pads.then_some("padding"));
    let mut table = table(headings.chain(["all"]));
    for run in runs {
        let Some(by) = causes(run) else { continue };
        let parts = [by.user, by.gc, by.mapping, by.fold].map(number);
        let row = std::iter::once(run.label()).chain(parts).chain(pads.then(|| or_dash(by.padding, number)));
        table.add_row(row.chain([or_dash(run.device.write_amplification, number)]));
    }
    table
}

fn waiting_writes(runs: &[SchedulerResult]) -> Table {
    let mut table =
        table(["scheduler", "moved", "programs saved", "of all", "programs/write", "write ampl.", "erases saved"]);
    for run in runs {
        let Some(writes) = &run.device.waiting_writes else { continue };
        table.add_row([
            run.label(),
            count(writes.moved),
            count(writes.programs_saved),
            or_dash(writes.programs_saved_percent, |percent| share(percent / 100.0)),
            or_dash(writes.programs_per_page_written, number),
            or_dash(run.device.write_amplification, number),
            or_dash(writes.erases_saved, |erases| number(erases as f64)),
        ]);
    }
    table
}

/// `exposed` is the part of `added` that comes after the completion; `lost` what the background lost against running alone.
fn host(runs: &[SchedulerResult]) -> Table {
    let mut table = table([
        "scheduler",
        "seen",
        "device",
        "added",
        "exposed",
        "p99 seen",
        "spun",
        "spinning",
        "kernel",
        "lost",
        "RMSE",
        "late",
    ]);
    for run in runs {
        let Some(host) = &run.host else { continue };
        let l = host.all.as_ref();
        let ns = |get: fn(&LatencyStats) -> f64| or_dash(l, |l| time(get(l)));
        let lost: Vec<String> = host.background.iter().map(|group| or_dash(group.lost, share)).collect();
        let pre = host.precompletion.as_ref();
        table.add_row([
            run.label(),
            ns(|l| l.user_mean_ns),
            ns(|l| l.device_mean_ns),
            ns(|l| l.added_mean_ns),
            ns(|l| l.exposed_mean_ns),
            or_dash(l, |l| time(l.p99_ns as f64)),
            ns(|l| l.spun_mean_ns),
            share(host.cpu.spin),
            share(host.cpu.overhead + host.cpu.submit),
            if lost.is_empty() { NONE.to_owned() } else { lost.join(", ") },
            or_dash(pre.and_then(|pre| pre.at_message.rmse_ns), time),
            or_dash(pre, |pre| count(pre.too_late)),
        ]);
    }
    table
}

/// How far the schedulers are from the bounds.
fn ceiling_gaps(runs: &[SchedulerResult]) -> Table {
    let mut table = table(ceiling_text::FIGURES);
    ceiling_text::figures(runs).into_iter().for_each(|row| {
        table.add_row(row);
    });
    table
}

fn fairness(runs: &[SchedulerResult]) -> Table {
    let mut table = table(["scheduler", "F", "max slowdown", "STDEV", "WS", "Δ F", "Δ WS"]);
    for run in runs {
        let f = run.fairness.as_ref();
        let change = run.change_percent.as_ref();
        table.add_row([
            run.label(),
            or_dash(f, |f| number(f.fairness)),
            or_dash(f, |f| number(f.max_slowdown)),
            or_dash(f, |f| number(f.stdev)),
            or_dash(f, |f| number(f.weighted_speedup)),
            or_none(change.and_then(|c| c.fairness)),
            or_none(change.and_then(|c| c.weighted_speedup)),
        ]);
    }
    table
}

/// The slowdowns: one row for each flow, one column for each scheduler.
fn flows(text: &mut String, summary: &Summary) {
    for runs in summary.schedulers.chunks(ACROSS) {
        let rows = |cell: &dyn Fn(&super::summary::FlowResult) -> String| {
            let mut table = table(std::iter::once("flow").chain(runs.iter().map(|run| run.name.as_str())));
            for (i, flow) in summary.flows.iter().enumerate() {
                table.add_row(
                    std::iter::once(escaped(&flow.name).into_owned()).chain(runs.iter().map(|run| cell(&run.flows[i]))),
                );
            }
            table
        };
        let mean = |flow: &super::summary::FlowResult| or_dash(flow.figures.all.as_ref(), |f| time(f.mean_ns));
        section(text, "Mean response time by flow", rows(&mean));
        if runs.iter().any(|run| run.flows.iter().any(|flow| flow.slowdown.is_some())) {
            let slowdown = |flow: &super::summary::FlowResult| or_dash(flow.slowdown, number);
            section(text, "Slowdown by flow (mean response time over that of its alone run)", rows(&slowdown));
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
    use crate::results::summary::{AmplificationByCause, SlcStats};

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
