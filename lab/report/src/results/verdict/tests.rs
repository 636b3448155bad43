//! Each rule of docs/reading-results.md: summaries that it applies to, and their neighbours that it does not.

use flashlane_core::{Completion, Duration, FlowId, Lpn, Op, RequestId, Time};

use super::{Compared, Finding, FindingKind, Rule, SeedWord, Verdict};
use crate::metrics::{FlowMetrics, LoadWindow};
use crate::results::example::made_by;
use crate::results::paired::{Concentration, PairStats, Quarter};
use crate::results::replications::{Replications, RequestKind, SeedRun, SeedsBecause};
use crate::results::{CommandStats, DeviceStats, FlowInfo, ResponseStats, SchedulerResult, Summary};

/// A flow of `n` requests, 20 us apart, of which `writes` percent are writes; they take 1 to 2 us times `scale`.
pub(super) fn flow(n: u64, scale: u64, writes: u64) -> FlowMetrics {
    let (mut metrics, mut window) = (FlowMetrics::new(), LoadWindow::default());
    let completions: Vec<Completion> = (0..n)
        .map(|i| {
            let arrival = Time::from_ns(20_000 * i);
            let op = if i * 37 % 100 < writes { Op::Write } else { Op::Read };
            metrics.issue(&mut window, op, arrival, true);
            Completion {
                id: RequestId(i),
                flow: FlowId(0),
                op,
                arrival,
                done: arrival + Duration::from_ns(scale * (1_000 + i * 7_919 % 1_000)),
                lpn: Lpn(0),
                pages: 1,
                bytes: 4_096,
                tags: 0,
            }
        })
        .collect();
    completions.iter().for_each(|completion| metrics.complete(&window, completion));
    metrics.close(&window);
    metrics
}

/// Two flows, reads and writes, under schedulers whose response times have these scales: the first flow's, the second's.
pub(super) fn two_flows(runs: &[(&str, u64, u64)]) -> Summary {
    let flows: Vec<FlowInfo> =
        ["web", "batch"].map(|name| FlowInfo { name: name.into(), ..FlowInfo::default() }).into();
    let alone = [flow(12_000, 10, 0), flow(12_000, 20, 100)];
    let run = |&(name, web, batch): &(&str, u64, u64)| {
        let shared = [flow(12_000, web, 0), flow(12_000, batch, 100)];
        SchedulerResult::new(name, &flows, &shared, Some(&alone), &busy(0.5))
    };
    let runs = runs.iter().map(run).collect();
    Summary::new(made_by(), flows, runs, Vec::new())
}

/// One flow of reads and writes, `n` requests, under schedulers with these scales.
pub(super) fn one_flow(n: u64, utilisation: f64, runs: &[(&str, u64)]) -> Summary {
    let flows = [FlowInfo { name: "web".into(), ..FlowInfo::default() }];
    let run = |&(name, scale): &(&str, u64)| {
        SchedulerResult::new(name, &flows, &[flow(n, scale, 50)], None, &busy(utilisation))
    };
    Summary::new(made_by(), flows.to_vec(), runs.iter().map(run).collect(), Vec::new())
}

fn busy(chip_utilisation: f64) -> DeviceStats {
    DeviceStats { chip_utilisation, ..DeviceStats::default() }
}

pub(super) fn rules(summary: &Summary) -> Vec<Rule> {
    Verdict::of(summary).warnings.into_iter().map(|warning| warning.rule).collect()
}

/// The sentences of the first screen.
pub(super) fn lines(summary: &Summary) -> Vec<String> {
    Verdict::of(summary).lines(false)
}

/// The only finding of this kind.
pub(super) fn only(summary: &Summary, kind: FindingKind) -> Finding {
    let mut found = Verdict::of(summary).findings.into_iter().filter(|finding| finding.kind == kind);
    let one = found.next().unwrap_or_else(|| panic!("no {kind:?}: {:?}", Verdict::of(summary).lines(true)));
    assert_eq!(found.count(), 0, "{:?}", Verdict::of(summary).lines(true));
    one
}

fn has(summary: &Summary, kind: FindingKind) -> bool {
    Verdict::of(summary).findings.iter().any(|finding| finding.kind == kind)
}

/// The second scheduler's figures of a flow.
pub(super) fn of_flow(summary: &mut Summary, run: usize, flow: usize) -> &mut ResponseStats {
    summary.schedulers[run].flows[flow].figures.all.as_mut().expect("some")
}

/// Repeats the comparison under seeds: for each the factors by which the means of the runs are multiplied, beyond the first seed's.
pub(super) fn with_seeds(summary: &mut Summary, others: &[&[f64]]) {
    let all = 1 + others.len() as u64;
    let mut runs: Vec<SeedRun> = summary.schedulers.iter().map(|run| SeedRun::of(1, run)).collect();
    for (number, scales) in others.iter().enumerate() {
        for (run, scale) in summary.schedulers.iter().zip(*scales) {
            let mut again = SeedRun::of(2 + number as u64, run);
            for figures in &mut again.figures {
                figures.mean_ns *= scale;
                figures.p99_ns = (figures.p99_ns as f64 * scale) as u64;
            }
            runs.push(again);
        }
    }
    let (seeds, because) = ((1..=all).collect(), SeedsBecause::Few);
    summary.replications = Some(Replications { seeds, because, requests: 48_000, drawn: Vec::new(), runs });
}

#[test]
fn who_wins_comes_first_and_then_who_pays() {
    let summary = two_flows(&[("fcfs", 2_700, 22), ("mine", 11, 26)]);
    let verdict = Verdict::of(&summary);
    let [wins, pays, _, company, ..] = &verdict.lines(false)[..] else { panic!("{verdict:?}") };
    assert_eq!(
        wins,
        "mine wins for web: mean 245x faster than under fcfs (4.049 ms -> 16.49 µs); p99 244x faster (5.341 ms -> 21.89 µs)"
    );
    assert_eq!(
        pays,
        "batch pays under mine: mean 18% slower than under fcfs (32.99 µs -> 38.99 µs); p99 19% slower (43.78 µs -> 51.97 µs)"
    );
    assert!(
        company.starts_with("under fcfs, sharing makes batch's mean 1.10x its mean alone, under mine 1.30x"),
        "{company}"
    );
    assert_eq!(verdict.warnings, []);
}

#[test]
fn nobody_pays_where_all_gain() {
    let summary = two_flows(&[("fcfs", 100, 40), ("mine", 10, 20)]);
    let text = "nobody pays under mine: no mean is worse than under fcfs by more than 1%, no p99 by more than 5%";
    assert_eq!(only(&summary, FindingKind::NobodyPays).text, text);
    assert_eq!(Verdict::of(&summary).findings.iter().filter(|one| one.kind == FindingKind::Wins).count(), 2);
}

/// A mean that is 1.5 % slower is a loss, and so is a p99 of 400 requests; one that is 0.9 % slower is not.
#[test]
fn nobody_pays_only_within_the_tolerance_that_is_printed() {
    let pays = |change: &dyn Fn(&mut ResponseStats)| {
        let mut summary = two_flows(&[("fcfs", 100, 20), ("mine", 10, 20)]);
        change(of_flow(&mut summary, 1, 1));
        !has(&summary, FindingKind::NobodyPays)
    };
    assert!(pays(&|f| f.mean_ns *= 1.015) && !pays(&|f| f.mean_ns *= 1.009));
    assert!(pays(&|f| f.p99_ns = f.p99_ns * 106 / 100) && !pays(&|f| f.p99_ns = f.p99_ns * 104 / 100));
    let rate = |is_loop: bool| {
        let mut summary = two_flows(&[("fcfs", 100, 20), ("mine", 10, 20)]);
        summary.flows[1].depth = is_loop.then_some(4);
        let own = of_flow(&mut summary, 1, 1);
        own.own_iops = own.own_iops.map(|iops| iops * 0.98);
        !has(&summary, FindingKind::NobodyPays)
    };
    assert_eq!([true, false].map(rate), [true, false], "the rate of an open flow is what arrives");
    let mut summary = two_flows(&[("fcfs", 100, 20), ("mine", 10, 20)]);
    for run in 0..2 {
        of_flow(&mut summary, run, 1).requests = 400;
    }
    of_flow(&mut summary, 1, 1).p99_ns *= 2;
    let text = only(&summary, FindingKind::Pays).text;
    assert!(
        text.starts_with("batch pays in p99 under mine: p99 of 400 requests 2.0x slower than under fcfs ("),
        "{text}"
    );
    assert!(text.contains("; mean alike (") && text.ends_with(", within 1%)"), "{text}");
}

/// A request kind of a flow that is worse while the flow as a whole gains is told, and then somebody pays.
#[test]
fn a_part_of_a_flow_may_pay() {
    let run = |name: &str, reads: u64, writes: u64| {
        let mut metrics = flow(20_000, reads, 0);
        metrics.merge(&flow(20_000, writes, 100));
        let shared = [metrics, flow(20_000, 10, 0)];
        SchedulerResult::new(name, &two(), &shared, None, &busy(0.5))
    };
    let runs = vec![run("fcfs", 100, 20), run("mine", 10, 30)];
    let summary = Summary::new(made_by(), two(), runs, Vec::new());
    assert!(!has(&summary, FindingKind::NobodyPays));
    let text = only(&summary, FindingKind::PartPays).text;
    assert!(text.starts_with("web's writes pay under mine: mean 50% slower than under fcfs ("), "{text}");
    // The whole is larger and is told first.
    let found = lines(&summary);
    let at = |text: &str| found.iter().position(|line| line.starts_with(text)).expect(text);
    assert!(at("mine wins for web: ") < at("web's reads gain under mine: mean 10x faster"), "{found:?}");
}

fn two() -> Vec<FlowInfo> {
    ["web", "batch"].map(|name| FlowInfo { name: name.into(), ..FlowInfo::default() }).into()
}

#[test]
fn the_first_may_win() {
    let found = lines(&two_flows(&[("fcfs", 10, 20), ("mine", 10, 30)]));
    assert!(
        found[0]
            .starts_with("fcfs wins for batch; next is mine: mean 50% slower than under fcfs (29.99 µs -> 44.98 µs)"),
        "{found:?}"
    );
}

#[test]
fn what_is_within_the_tolerance_is_alike() {
    let first = |other: u64| lines(&one_flow(40_000, 0.5, &[("fcfs", 2_000), ("mine", other)])).remove(0);
    let alike = "all schedulers are alike: means and requests/s within 1% of those under fcfs, p99 within 5% (mean: reads 2.999 ms, writes ";
    assert!(first(2_019).starts_with(alike) && first(1_982).starts_with(alike), "{}", first(2_019));
    assert!(
        first(2_021).starts_with("fcfs wins for ") && first(1_979).starts_with("mine wins for "),
        "{}",
        first(2_021)
    );
}

/// Pairs of which this many are faster and slower.
fn pairs(faster: u64, slower: u64) -> PairStats {
    PairStats {
        requests: 12_000,
        faster,
        equal: 12_000 - faster - slower,
        slower,
        improvement_percent: Some(20.0),
        gain_percent_per_request: Some(3.0),
        p95_improvement_percent: None,
        gain_ns: 1_000.0,
        quarters: Vec::new(),
        concentration: None,
    }
}

/// Gives the second scheduler these pairs, of reads, of writes and together.
fn set_pairs(summary: &mut Summary, all: PairStats) {
    let (read, write, baseline) = (Some(all.clone()), Some(all.clone()), "fcfs".into());
    summary.schedulers[1].paired = Some(crate::results::Paired { baseline, read, write, all, by_size: Vec::new() });
}

/// Where the mean goes one way and most requests go the other, both are printed.
#[test]
fn the_mean_and_most_requests_may_disagree() {
    let mut summary = one_flow(40_000, 0.5, &[("fcfs", 100), ("mine", 80)]);
    set_pairs(&mut summary, pairs(2_000, 8_000));
    let says = |summary: &Summary, text: &str| lines(summary).iter().any(|line| line == text);
    let expected = "reads under mine: the mean is 20% faster, yet more requests are slower than faster (16.7% faster, 66.7% slower)";
    assert!(says(&summary, expected), "{:?}", lines(&summary));
    set_pairs(&mut summary, pairs(4_000, 4_500));
    assert!(!has(&summary, FindingKind::Majority), "of 4 % more nothing is said");
    let mut summary = one_flow(40_000, 0.5, &[("fcfs", 80), ("mine", 100)]);
    set_pairs(&mut summary, pairs(8_000, 2_000));
    let expected = "reads under mine: the mean is 25% slower, yet more requests are faster than slower (66.7% faster, 16.7% slower)";
    assert!(says(&summary, expected), "{:?}", lines(&summary));
    let mut summary = one_flow(40_000, 0.5, &[("fcfs", 80), ("mine", 80)]);
    set_pairs(&mut summary, pairs(8_000, 2_000));
    assert!(lines(&summary).iter().any(|line| line.starts_with("reads under mine: the mean is within 1%, yet more")));
}

/// p99 stands beside the mean; a winner whose p99 is worse says so, and then nobody can be said to pay nothing.
#[test]
fn the_tail_is_judged_beside_the_mean() {
    let mut summary = two_flows(&[("fcfs", 100, 20), ("mine", 10, 20)]);
    let found = lines(&summary);
    assert!(found[0].ends_with("; p99 10x faster (199.7 µs -> 19.84 µs)"), "{found:?}");
    of_flow(&mut summary, 1, 0).p99_ns = 400_000;
    let found = lines(&summary);
    assert!(found[0].ends_with("; but p99 2.0x slower (199.7 µs -> 400.0 µs)"), "{found:?}");
    assert!(!has(&summary, FindingKind::NobodyPays));
    // Means alike, p99 not.
    let mut alike = two_flows(&[("fcfs", 10, 20), ("mine", 10, 20)]);
    of_flow(&mut alike, 1, 1).p99_ns = 80_000;
    assert!(
        lines(&alike)[0].starts_with("batch pays in p99 under mine: p99 2.0x slower than under fcfs ("),
        "{alike:?}"
    );
    assert!(!has(&alike, FindingKind::AllAlike));
}

/// The scheduler compared with wins where it is the fastest.
#[test]
fn the_baseline_can_win() {
    let found = lines(&two_flows(&[("sprinkler", 10, 22), ("fcfs", 330, 20), ("mine", 40, 22)]));
    let first = "sprinkler wins for web; next is mine: mean 4.0x slower than under sprinkler (";
    assert!(found[0].starts_with(first), "the winner first: {found:?}");
    assert!(found[1].starts_with("web pays under fcfs: mean 33x slower than under sprinkler ("), "{found:?}");
    assert!(
        found.iter().any(|line| line.starts_with("fcfs wins for batch: mean 9% faster than under sprinkler (")),
        "{found:?}"
    );
}

/// A control never wins, and what it does is told; controls among themselves do, and the verdict says so.
#[test]
fn controls_do_not_win() {
    let mut summary = two_flows(&[("fcfs", 100, 20), ("mine", 50, 20), ("wp-blind", 10, 20)]);
    assert!(lines(&summary)[0].starts_with("wp-blind wins for web"));
    summary.schedulers[2].control = true;
    let found = lines(&summary);
    assert!(
        found[0].starts_with("mine wins for web") && found[1].starts_with("web gains under wp-blind: "),
        "{found:?}"
    );
    assert!(only(&summary, FindingKind::NobodyPays).text.starts_with("nobody pays under mine"));
    // The reference may be a control: then others are compared with it, and one of them wins.
    summary.schedulers[2].control = false;
    summary.schedulers[0].control = true;
    assert!(lines(&summary)[0].starts_with("wp-blind wins for web"));
    summary.schedulers.iter_mut().for_each(|run| run.control = true);
    let found = lines(&summary);
    assert!(
        found[0].starts_with("all schedulers are controls") && found[1].starts_with("wp-blind wins for web"),
        "{found:?}"
    );
}

/// A closed loop is given throughput: what one does more belongs to what another pays.
#[test]
fn closed_loops_are_judged_by_throughput() {
    let mut summary = two_flows(&[("fcfs", 100, 20), ("mine", 50, 30)]);
    summary.flows[0].depth = Some(4);
    of_flow(&mut summary, 1, 0).own_iops = Some(90_000.0);
    let found = lines(&summary);
    assert!(
        found[0].starts_with(
            "mine wins for web: 80% more requests/s than under fcfs (49,982 -> 90,000); mean 2.0x faster ("
        ),
        "{found:?}"
    );
    // All flows together get less: that is told.
    summary.schedulers[1].total.all.as_mut().expect("some").own_iops = Some(80_000.0);
    let expected = "all flows together pay under mine: 20% fewer requests/s than under fcfs (99,963 -> 80,000)";
    assert!(lines(&summary).iter().any(|line| line == expected), "{:?}", lines(&summary));
    // A loop whose mean is better and whose rate is worse pays.
    of_flow(&mut summary, 1, 0).own_iops = Some(20_000.0);
    let found = lines(&summary);
    assert!(found.iter().any(|line| line.contains("web; next is mine: 2.5x fewer requests/s") || line.starts_with("web pays under mine: 2.5x fewer requests/s than under fcfs (49,982 -> 20,000); but mean 2.0x faster")), "{found:?}");
}

/// Reads and writes of one closed loop share its rate: the loop wins or pays, and a part that is slower is told beside it.
#[test]
fn reads_and_writes_of_one_loop_win_together() {
    let flows = [FlowInfo { name: "oltp".into(), depth: Some(16), ..FlowInfo::default() }];
    let run = |name: &str, reads: u64, writes: u64, iops: f64| {
        let mut metrics = flow(20_000, reads, 0);
        metrics.merge(&flow(20_000, writes, 100));
        let mut run = SchedulerResult::new(name, &flows, &[metrics], None, &busy(0.5));
        run.flows[0].figures.all.as_mut().expect("some").own_iops = Some(iops);
        run
    };
    let runs = vec![run("fcfs", 100, 20, 1_000.0), run("mine", 10, 30, 1_580.0)];
    let summary = Summary::new(made_by(), flows.to_vec(), runs, Vec::new());
    let found = lines(&summary);
    assert!(
        found[0].starts_with("mine wins for oltp: 58% more requests/s than under fcfs (1,000 -> 1,580); mean "),
        "{found:?}"
    );
    let wins: Vec<&String> = found.iter().filter(|line| line.contains(" wins for ")).collect();
    assert_eq!(wins.len(), 1, "{found:?}");
    assert!(
        found.iter().any(|line| line.starts_with("oltp's writes are slower under mine: mean 50% slower")),
        "{found:?}"
    );
    assert!(!found.iter().any(|line| line.contains("nobody pays")), "{found:?}");
}

/// Gives a run trims and flushes with these means, ns.
pub(super) fn set_commands(run: &mut SchedulerResult, trim: f64, flush: f64) {
    let like = |figures: &crate::results::FlowStats, mean_ns: f64| {
        let all = figures.all.as_ref().or(figures.write.as_ref()).expect("some");
        Some(ResponseStats { mean_ns, p99_ns: mean_ns as u64 * 2, requests: 1_992, ..all.clone() })
    };
    let commands = |figures: &crate::results::FlowStats| {
        let (trim, flush) = (like(figures, trim), like(figures, flush));
        Some(Box::new(CommandStats { received: Vec::new(), trim, write_zeroes: None, flush }))
    };
    run.total.commands = commands(&run.total);
    run.flows.iter_mut().for_each(|flow| flow.figures.commands = commands(&flow.figures));
}

/// Flushes and trims are judged as reads and writes are.
#[test]
fn flushes_and_trims_win_and_pay() {
    let mut summary = one_flow(40_000, 0.5, &[("fcfs", 100), ("mine", 10)]);
    set_commands(&mut summary.schedulers[0], 20_000.0, 263_500.0);
    set_commands(&mut summary.schedulers[1], 10_000.0, 331_100.0);
    let found = lines(&summary);
    let flushes = "flushes pay under mine: mean 26% slower than under fcfs (263.5 µs -> 331.1 µs); p99 26% slower (";
    assert!(found.iter().any(|line| line.starts_with(flushes)), "{found:?}");
    assert!(found.iter().any(|line| line.starts_with("mine wins for trims: mean 2.0x faster")), "{found:?}");
    let mut summary = two_flows(&[("fcfs", 10, 20), ("mine", 10, 20)]);
    set_commands(&mut summary.schedulers[0], 20_000.0, 263_500.0);
    set_commands(&mut summary.schedulers[1], 20_000.0, 331_100.0);
    assert!(
        lines(&summary)[0].starts_with("fcfs wins for web's flushes; next is mine: mean 26% slower"),
        "{summary:?}"
    );
}

/// A flow that alternates writes and flushes is judged by its commits: what one half loses the other may gain.
#[test]
fn a_commit_is_both_together() {
    let mut summary = one_flow(40_000, 0.5, &[("fcfs", 10), ("mine", 20)]);
    summary.flows[0].writes_per_flush = Some(4.0);
    let write = summary.schedulers[0].flows[0].figures.write.as_ref().expect("some").mean_ns;
    set_commands(&mut summary.schedulers[0], 20_000.0, 4.0 * write + 1_000_000.0);
    set_commands(&mut summary.schedulers[1], 20_000.0, 1_000_000.0);
    let commits = |summary: &Summary| {
        let found = Verdict::of(summary).findings;
        found.into_iter().find(|one| one.request == Some(RequestKind::Commit))
    };
    assert_eq!(commits(&summary), None, "as long together");
    let found = lines(&summary);
    assert!(found.iter().any(|line| line.starts_with("web's writes are slower under mine: mean ")), "{found:?}");
    assert!(!found.iter().any(|line| line.starts_with("nobody pays")), "{found:?}");
    set_commands(&mut summary.schedulers[1], 20_000.0, 1_500_000.0);
    let commit = commits(&summary).expect("slower");
    assert!(commit.text.contains("web's commits") && commit.text.contains("% slower than under fcfs ("), "{commit:?}");
    assert_eq!(commit.changes[0].paths.len(), 4, "writes and flushes under both");
}

/// Losses are told of every scheduler, the largest first; below a tenth those of others than the winner are counted.
#[test]
fn losses_of_every_scheduler_are_told() {
    let summary = two_flows(&[("fcfs", 100, 20), ("mine", 10, 20), ("slow", 100, 3_500), ("other", 95, 21)]);
    let found = lines(&summary);
    assert!(found[0].starts_with("mine wins for web: mean 10x faster"), "the winner first: {found:?}");
    assert!(found[1].starts_with("batch pays under slow: mean 175x slower than under fcfs ("), "{found:?}");
    assert!(!found.iter().any(|line| line.contains("under other")), "{found:?}");
    assert!(found.last().unwrap().ends_with(" more lines with --full"), "{found:?}");
    let full = Verdict::of(&summary).lines(true);
    assert!(full.iter().any(|line| line.starts_with("batch pays under other: mean 5% slower")), "{full:?}");
}

/// At most twelve lines and one that counts the others, with the winner's gain and loss among them.
#[test]
fn the_first_screen_has_at_most_twelve_lines() {
    let flows: Vec<FlowInfo> = (0..20).map(|i| FlowInfo { name: format!("f{i}"), ..FlowInfo::default() }).collect();
    let run = |name: &str, scale: &dyn Fn(u64) -> u64| {
        let shared: Vec<FlowMetrics> = (0..20).map(|i| flow(400, scale(i), 0)).collect();
        SchedulerResult::new(name, &flows, &shared, None, &busy(0.5))
    };
    let mine = run("mine", &|i| if i == 0 { 1_020 } else { 500 - 20 * i });
    let runs = vec![run("fcfs", &|_| 1_000), mine, run("slow", &|i| 5_000 + 100 * i)];
    let summary = Summary::new(made_by(), flows.clone(), runs, Vec::new());
    let found = lines(&summary);
    assert_eq!(found.len(), 13, "{found:?}");
    assert!(found[0].starts_with("mine wins for f19: mean 8.3x faster"), "{found:?}");
    assert!(found.iter().any(|line| line.starts_with("f18 pays under slow: ")), "{found:?}");
    assert!(found.iter().any(|line| line.starts_with("f0 pays under mine: mean 2% slower")), "{found:?}");
    let more: usize = found[12].split(' ').next().unwrap().parse().unwrap();
    assert_eq!(Verdict::of(&summary).lines(true).len(), 12 + more);
}

/// Five seeds that agree add their range; that they do not is said with how many go which way, and without an average.
#[test]
fn other_seeds_decide_or_leave_open() {
    let mut summary = two_flows(&[("fcfs", 100, 20), ("mine", 10, 20)]);
    with_seeds(&mut summary, &[&[1.0, 2.0], &[1.0, 0.5], &[1.0, 0.25], &[1.0, 1.5]]);
    let wins = only(&summary, FindingKind::Wins);
    assert!(wins.text.contains("(149.9 µs -> 14.99 µs), 5.0x to 40x over 5 seeds; p99 10x faster"), "{}", wins.text);
    assert_eq!(wins.decided, Some(true));
    // With one seed, as many times slower as faster in others.
    let mut summary = two_flows(&[("fcfs", 10, 20), ("mine", 130, 20)]);
    with_seeds(&mut summary, &[&[1.0, 0.0617], &[1.0, 1.1], &[1.0, 0.07], &[1.0, 0.065]]);
    let found = only(&summary, FindingKind::ReferenceWins);
    let open = ", not decided: faster in 3 of 5 seeds (at most 1.25x), slower in 2 (at least 13x); p99 ";
    assert!(found.text.contains(open), "{}", found.text);
    assert_eq!(found.decided, Some(false));
    // Four seeds decide nothing.
    with_seeds(&mut summary, &[&[1.0, 0.9], &[1.0, 0.8], &[1.0, 0.7]]);
    let found = only(&summary, FindingKind::ReferenceWins);
    assert!(found.text.contains(", slower in 4 of 4 seeds (at most 13x)") && found.decided.is_none(), "{}", found.text);
    assert!(only(&summary, FindingKind::Seeds).text.starts_with("4 seeds: nothing is called decided"));
}

/// Seeds that all give the same figures say so once, and are not counted as five that agree.
#[test]
fn equal_outcomes_are_not_counted_as_seeds_that_agree() {
    let mut summary = two_flows(&[("fcfs", 100, 20), ("mine", 10, 20)]);
    with_seeds(&mut summary, &[&[1.0, 1.0][..]; 4]);
    let found = lines(&summary);
    assert!(found.iter().any(|line| line == "seeds change nothing here: all 5 give the same figures"), "{found:?}");
    assert!(!found.iter().any(|line| line.contains("over 5 seeds")), "{found:?}");
    let change = only(&summary, FindingKind::Wins).change(Compared::Mean).cloned().expect("a mean");
    assert_eq!(change.seeds.map(|seeds| (seeds.says, seeds.outcomes)), Some((SeedWord::NothingChanges, 1)));
    with_seeds(&mut summary, &[&[1.0, 1.0], &[1.0, 1.0], &[1.0, 0.5], &[1.0, 0.5]]);
    let text = only(&summary, FindingKind::Wins).text;
    assert!(text.contains("10x to 20x over 5 seeds, 2 different outcomes"), "{text}");
}

/// With one seed a line says why.
#[test]
fn one_seed_is_told_with_its_reason() {
    let mut summary = two_flows(&[("fcfs", 100, 20), ("mine", 10, 20)]);
    let seeds = |summary: &Summary| only(summary, FindingKind::Seeds).text;
    assert!(seeds(&summary).starts_with("one seed: "), "{}", seeds(&summary));
    with_seeds(&mut summary, &[]);
    let of = |summary: &mut Summary, because| {
        summary.replications.as_mut().unwrap().because = because;
        seeds(summary)
    };
    let many = of(&mut summary, SeedsBecause::Many);
    assert!(
        many.starts_with("one seed, since 48,000 requests under all schedulers are more than 1,000,000: "),
        "{many}"
    );
    assert!(
        of(&mut summary, SeedsBecause::Replayed).contains("overwritten before each run: nothing is called decided")
    );
    assert!(of(&mut summary, SeedsBecause::State).contains("state comes from a file"));
    assert!(of(&mut summary, SeedsBecause::Asked).starts_with("one seed: nothing is called decided (--seeds 5"));
}

/// Requests that are alike here and far apart with other seeds are told.
#[test]
fn what_is_alike_here_may_differ_with_other_seeds() {
    let mut summary = two_flows(&[("fcfs", 10, 20), ("mine", 10, 20)]);
    with_seeds(&mut summary, &[&[1.0, 3.0], &[1.0, 1.0], &[1.0, 0.5], &[1.0, 1.0]]);
    let found = lines(&summary);
    let expected = "web is alike under mine with this seed: mean alike (14.99 µs -> 14.99 µs, within 1%), not decided: faster in 1 of 5 seeds (2.0x), \
                    slower in 1 (3.0x), alike in 3";
    assert!(found.iter().any(|line| line.starts_with(expected)), "{found:?}");
}

/// The range over seeds has one unit: percent below twofold, else factors.
#[test]
fn a_range_over_seeds_has_one_unit() {
    let range = |first: u64, scale: f64| {
        let mut summary = two_flows(&[("fcfs", 1_000, 20), ("mine", first, 20)]);
        with_seeds(&mut summary, &[&[1.0, scale], &[1.0, 1.0], &[1.0, 1.0], &[1.0, 1.0]]);
        let text = only(&summary, FindingKind::Wins).text;
        text.split("), ").nth(1).unwrap().split(" over 5 seeds").next().unwrap().to_owned()
    };
    assert_eq!(range(480, 1.08), "1.9x to 2.1x");
    assert_eq!(range(600, 1.5), "10% to 40%");
    assert_eq!(range(400, 2.25), "1.11x to 2.5x");
}

/// Quarters that differ twofold or go opposite ways by more than 5 % are told; those that do not are not.
#[test]
fn quarters_that_disagree_are_told() {
    let quarters = |factors: [f64; 4]| {
        let mut summary = one_flow(40_000, 0.5, &[("fcfs", 100), ("mine", 10)]);
        let quarter = |factor: f64| Quarter { requests: 3_000, baseline_mean_ns: 1e6 * factor, mean_ns: 1e6 };
        set_pairs(&mut summary, PairStats { quarters: factors.map(quarter).into(), ..pairs(8_000, 0) });
        summary
    };
    let text = only(&quarters([1.0, 0.6, 0.67, 105.0]), FindingKind::Uneven).text;
    let expected =
        "in the four quarters of the run all requests are 1.00, 0.60, 0.67, 105 times as fast under mine as under fcfs";
    assert_eq!(text, expected);
    assert!(has(&quarters([1.0, 1.0, 1.06, 0.94]), FindingKind::Uneven), "opposite ways");
    assert!(!has(&quarters([1.0, 0.98, 0.98, 1.03]), FindingKind::Uneven), "opposite ways, by less than 5 %");
    assert!(!has(&quarters([1.0, 1.3, 1.3, 0.96]), FindingKind::Uneven), "one of them by less than 5 %");
    assert!(!has(&quarters([1.1, 1.9, 2.1, 1.5]), FindingKind::Uneven), "less than twofold, and one way");
    assert!(has(&quarters([3.0, 6.1, 4.0, 4.0]), FindingKind::Uneven));
}

/// Where a few windows or requests hold nine tenths of the difference, they are told, and both sums where they exceed it.
#[test]
fn a_concentrated_difference_is_told() {
    let with = |windows: u32, requests: u64, gained_ns: f64, lost_ns: f64| {
        let mut summary = one_flow(40_000, 0.5, &[("fcfs", 100), ("mine", 10)]);
        let last = summary.schedulers[1].total.last_arrival_ns;
        let concentration = Some(Concentration {
            gained_ns,
            lost_ns,
            windows,
            from_ns: last - last / 50,
            to_ns: last,
            window_requests: 312,
            requests,
        });
        set_pairs(&mut summary, PairStats { concentration, ..pairs(8_000, 0) });
        summary
    };
    let text = only(&with(2, 300, 3e9, 1e6), FindingKind::Uneven).text;
    assert_eq!(
        text,
        "nine tenths of the difference of all requests under mine lie in the last 16.00 ms, 2.6% of the requests"
    );
    let text = only(&with(2, 300, 3e9, 2e9), FindingKind::Uneven).text;
    assert!(text.ends_with("2.6% of the requests (in all requests gain 3.000 s and lose 2.000 s)"), "{text}");
    let text = only(&with(60, 120, 3e9, 1e6), FindingKind::Uneven).text;
    assert!(text.ends_with("lie in 1.0% of the requests"), "{text}");
    assert!(!has(&with(6, 601, 3e9, 1e6), FindingKind::Uneven));
}

/// A winner that writes more says so, and then nobody can be said to pay nothing; few erases of one seed are too few to tell.
#[test]
fn write_amplification_is_judged() {
    let mut summary = two_flows(&[("fcfs", 100, 20), ("mine", 10, 20)]);
    let set = |summary: &mut Summary, run: usize, amplification: f64, erases: u64| {
        summary.schedulers[run].device.write_amplification = Some(amplification);
        summary.schedulers[run].device.gc.erases = erases;
    };
    set(&mut summary, 0, 3.631, 400);
    set(&mut summary, 1, 4.794, 410);
    let found = only(&summary, FindingKind::WriteAmplification);
    let text = "the drive pays under mine: it writes 32% more than under fcfs (write amplification 3.631 -> 4.794)";
    assert!(found.text == text && found.is_on_first_screen, "{found:?}");
    assert!(!has(&summary, FindingKind::NobodyPays));
    set(&mut summary, 1, 3.8, 410);
    assert!(!has(&summary, FindingKind::WriteAmplification) && has(&summary, FindingKind::NobodyPays));
    set(&mut summary, 1, 4.794, 29);
    let text = only(&summary, FindingKind::WriteAmplification).text;
    assert_eq!(text, "write amplification 3.631 -> 4.794 from fcfs to mine: too few to tell (29 erases, one seed)");
    assert_eq!(Verdict::of(&summary).too_few_erases, ["mine"]);
    with_seeds(&mut summary, &[&[1.0, 1.0][..]; 4]);
    assert!(only(&summary, FindingKind::WriteAmplification).text.starts_with("the drive pays"), "repeated");
    assert!(Verdict::of(&summary).too_few_erases.is_empty());
    summary.replications = None;
    set(&mut summary, 1, 4.794, 30);
    assert!(Verdict::of(&summary).too_few_erases.is_empty());
}

#[test]
fn a_run_alone_and_a_run_of_nothing_have_verdicts() {
    let one = two_flows(&[("fcfs", 100, 40)]);
    let expected = "web: mean 149.9 µs, p99 199.7 µs; sharing makes the mean 10.00x its mean alone under fcfs";
    assert_eq!(lines(&one)[0], expected);
    let flows = [FlowInfo { name: "idle".into(), ..FlowInfo::default() }];
    let run = SchedulerResult::new("fcfs", &flows, &[FlowMetrics::new()], None, &DeviceStats::default());
    let mut nothing = Summary::new(made_by(), flows.to_vec(), vec![run], Vec::new());
    assert_eq!(lines(&nothing), ["no request completed"]);
    nothing.schedulers[0].total.completed = 3_500;
    assert_eq!(lines(&nothing), ["no request is counted: all 3,500 that completed arrived in the warm-up"]);
    // Trims alone are requests.
    let mut trims = one_flow(40_000, 0.5, &[("fcfs", 10)]);
    set_commands(&mut trims.schedulers[0], 20_000.0, 0.0);
    let figures = &mut trims.schedulers[0].total;
    (figures.all, figures.read, figures.write) = (None, None, None);
    figures.commands.as_mut().unwrap().flush = None;
    trims.schedulers[0].flows[0].figures = figures.clone();
    assert_eq!(lines(&trims), ["trims: mean 20.00 µs, p99 40.00 µs"]);
}

/// A flow of which nothing completes under one scheduler pays there.
#[test]
fn a_flow_that_completes_nothing_pays() {
    let mut summary = two_flows(&[("fcfs", 100, 20), ("mine", 10, 20)]);
    let figures = &mut summary.schedulers[1].flows[1].figures;
    (figures.all, figures.read, figures.write) = (None, None, None);
    let text = "batch pays under mine: none completed, 12,000 did under fcfs";
    assert!(lines(&summary).iter().any(|line| line == text), "{:?}", lines(&summary));
    assert!(!has(&summary, FindingKind::NobodyPays));
}

#[test]
fn reads_and_writes_pay_and_flows_pay_too() {
    let flows = [FlowInfo { name: "web".into(), ..FlowInfo::default() }];
    let run = |name: &str, reads: u64, writes: u64| {
        let mut metrics = flow(20_000, reads, 0);
        metrics.merge(&flow(20_000, writes, 100));
        SchedulerResult::new(name, &flows, &[metrics], None, &busy(0.5))
    };
    let summary = Summary::new(made_by(), flows.to_vec(), vec![run("fcfs", 100, 20), run("mine", 10, 30)], Vec::new());
    assert!(lines(&summary)[1].starts_with("writes pay under mine: mean 50% slower"), "{:?}", lines(&summary));
}

/// Of schedulers that are equally good the first in the list wins, for a tenant and in all.
#[test]
fn of_equals_the_first_wins() {
    let found = lines(&two_flows(&[("fcfs", 100, 40), ("one", 10, 20), ("other", 10, 20)]));
    assert!(
        found[0].starts_with("one wins for web") && !found.iter().any(|line| line.contains("other wins")),
        "{found:?}"
    );
    // The one compared with, too.
    let found = lines(&two_flows(&[("fcfs", 10, 20), ("same", 10, 20), ("worse", 10, 40)]));
    assert!(found[0].starts_with("batch pays under worse: mean 2.0x slower than under fcfs"), "{found:?}");
    // Each is the best for one flow, by as much.
    let summary = two_flows(&[("fcfs", 100, 100), ("one", 10, 100), ("other", 100, 10)]);
    assert!(only(&summary, FindingKind::NobodyPays).text.contains("under one"));
}

/// Who is the best for more tenants wins, even where another's gains are larger together.
#[test]
fn most_parties_come_before_the_largest_gain() {
    let flows: Vec<FlowInfo> = ["a", "b", "c"].map(|name| FlowInfo { name: name.into(), ..FlowInfo::default() }).into();
    let run = |name: &str, scales: [u64; 3]| {
        let shared = scales.map(|scale| flow(12_000, scale, 0));
        SchedulerResult::new(name, &flows, &shared, None, &busy(0.5))
    };
    let runs = vec![run("fcfs", [100; 3]), run("two", [50, 50, 100]), run("one", [100, 100, 5])];
    let summary = Summary::new(made_by(), flows.clone(), runs, Vec::new());
    assert!(only(&summary, FindingKind::NobodyPays).text.contains("under two"));
}

/// The verdict stands in the JSON with the figures that it rests on, each at its path.
#[test]
fn the_json_has_the_verdict_and_every_figure_at_its_path() {
    let summary = two_flows(&[("fcfs", 100, 20), ("mine", 10, 30)]);
    let json: serde_json::Value = serde_json::from_str(&summary.to_json()).unwrap();
    let findings = json["verdict"]["findings"].as_array().expect("findings");
    let texts: Vec<&str> = findings.iter().map(|one| one["text"].as_str().unwrap()).collect();
    assert_eq!(texts, Verdict::of(&summary).lines(true));
    assert_eq!(findings[0]["kind"], "wins");
    let mut paths = 0;
    for finding in findings {
        for figure in finding["figures"].as_array().unwrap() {
            assert_eq!(json.pointer(figure["path"].as_str().unwrap()), Some(&figure["value"]), "{figure}");
            paths += 1;
        }
        for change in finding["changes"].as_array().unwrap() {
            let [from, to] = [0, 1].map(|i| json.pointer(change["paths"][i].as_str().unwrap()).unwrap().as_f64());
            assert_eq!([from, to], ["from", "to"].map(|key| change[key].as_f64()), "{change}");
            paths += 1;
        }
    }
    assert!(paths > 6, "{paths}");
}
