//! Each rule of docs/verdict.md: summaries that it applies to, and their neighbours that it does not.

use flashlane_core::{Completion, Duration, FlowId, Lpn, Op, RequestId, Time};

use super::{Rule, Verdict};
use crate::metrics::{FlowMetrics, LoadWindow};
use crate::results::example::made_by;
use crate::results::flow_stats::{CommandStats, ResponseStats};
use crate::results::paired::PairStats;
use crate::results::summary::SlcStats;
use crate::results::{DeviceStats, FlowInfo, OverloadStats, SchedulerResult, Summary};

/// A flow of `n` requests, 20 us apart, of which `writes` percent are writes; they take 1 to 2 us times `scale`.
fn flow(n: u64, scale: u64, writes: u64) -> FlowMetrics {
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
fn two_flows(runs: &[(&str, u64, u64)]) -> Summary {
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
fn one_flow(n: u64, utilisation: f64, runs: &[(&str, u64)]) -> Summary {
    let flows = [FlowInfo { name: "web".into(), ..FlowInfo::default() }];
    let run = |&(name, scale): &(&str, u64)| {
        SchedulerResult::new(name, &flows, &[flow(n, scale, 50)], None, &busy(utilisation))
    };
    Summary::new(made_by(), flows.to_vec(), runs.iter().map(run).collect(), Vec::new())
}

fn busy(chip_utilisation: f64) -> DeviceStats {
    DeviceStats { chip_utilisation, ..DeviceStats::default() }
}

fn rules(summary: &Summary) -> Vec<Rule> {
    Verdict::of(summary).warnings.into_iter().map(|warning| warning.rule).collect()
}

#[test]
fn the_winner_comes_first_and_then_who_pays() {
    let verdict = Verdict::of(&two_flows(&[("fcfs", 2_700, 22), ("mine", 11, 26)]));
    let [wins, company, _, pays] = &verdict.findings[..] else { panic!("{:?}", verdict.findings) };
    assert!(wins.starts_with("mine wins for web: mean ") && wins.contains("x faster than under fcfs ("), "{wins}");
    assert!(
        company.starts_with("under fcfs, sharing makes web's mean 270")
            && company.contains("its mean alone, under mine 1.10x"),
        "{company}"
    );
    assert!(pays.starts_with("batch pays under mine: 18% slower than under fcfs ("), "{pays}");
    assert_eq!(verdict.warnings, []);
}

#[test]
fn nobody_pays_where_all_gain() {
    let verdict = Verdict::of(&two_flows(&[("fcfs", 100, 40), ("mine", 10, 20)]));
    assert_eq!(
        verdict.findings.last().unwrap(),
        "nobody pays under mine: no mean and no p99 is above those under fcfs"
    );
    assert_eq!(verdict.findings.iter().filter(|finding| finding.starts_with("mine wins for")).count(), 2);
}

#[test]
fn the_first_may_win() {
    let verdict = Verdict::of(&two_flows(&[("fcfs", 10, 20), ("mine", 10, 30)]));
    assert!(
        verdict.findings[0].starts_with("fcfs wins for batch: mean 29.99 µs")
            && verdict.findings[0].contains("; next is mine, 50% slower ("),
        "{verdict:?}"
    );
    assert!(verdict.findings.last().unwrap().starts_with("batch pays under mine: 50% slower"), "{verdict:?}");
}

#[test]
fn small_differences_are_no_findings() {
    let verdict = Verdict::of(&two_flows(&[("fcfs", 1_000, 1_000), ("mine", 1_020, 1_000)]));
    assert!(
        verdict.findings[0].starts_with("no scheduler's mean differs from fcfs's by more than noise"),
        "{verdict:?}"
    );
}

/// Pairs that gain 3 % by the mean, with this p-value.
fn pairs(p: Option<f64>) -> PairStats {
    PairStats {
        requests: 12_000,
        faster: 5_000,
        equal: 2_000,
        slower: 5_000,
        improvement_percent: Some(3.0),
        gain_percent_per_request: Some(3.0),
        p95_improvement_percent: None,
        gain_ns: 1_000.0,
        gain_ci95_ns: Some(4_000.0),
        p,
        batches_that_differ: if p.is_some() { 32 } else { 1 },
        batches_mostly_faster: 16,
        batches_mostly_slower: 16,
        quarters: Vec::new(),
        concentration: None,
    }
}

/// Gives the second scheduler these pairs, of reads, of writes and together.
fn set_pairs(summary: &mut Summary, all: PairStats) {
    let (read, write, baseline) = (Some(all.clone()), Some(all.clone()), "fcfs".into());
    summary.schedulers[1].paired = Some(crate::results::Paired { baseline, read, write, all, by_size: Vec::new() });
}

#[test]
fn a_test_decides_what_noise_is() {
    let mut summary = one_flow(40_000, 0.5, &[("fcfs", 100), ("mine", 97)]);
    set_pairs(&mut summary, pairs(Some(0.04)));
    assert!(Verdict::of(&summary).findings[0].starts_with("mine wins for "), "{:?}", Verdict::of(&summary));
    assert_eq!(rules(&summary), []);
    set_pairs(&mut summary, pairs(Some(0.06)));
    assert_eq!(rules(&summary), [Rule::Noise]);
    let text = &Verdict::of(&summary).warnings[0].text;
    assert!(text.ends_with("mine (Δ -3.0%, +- 4.000 µs, p 0.06)"), "{text}");
}

/// A difference that one part of the run makes counts if it is large, and is doubted.
#[test]
fn one_burst_is_named() {
    let mut summary = one_flow(40_000, 0.02, &[("fcfs", 100), ("mine", 10)]);
    set_pairs(&mut summary, pairs(None));
    let verdict = Verdict::of(&summary);
    assert!(verdict.findings[0].starts_with("mine wins for "), "{verdict:?}");
    assert_eq!(rules(&summary), [Rule::OneBurst, Rule::OneBurst], "and it is not called idle");
    let text = "reads differ under mine and fcfs in 1 of 32 parts of the run only: one burst decides";
    assert_eq!(verdict.warnings[0].text, text);
}

/// Where the mean goes one way and most requests go the other, both are printed.
#[test]
fn the_mean_and_most_requests_may_disagree() {
    let mut summary = one_flow(40_000, 0.5, &[("fcfs", 100), ("mine", 80)]);
    let most_slower = PairStats {
        faster: 2_000,
        slower: 8_000,
        batches_mostly_faster: 2,
        batches_mostly_slower: 30,
        ..pairs(Some(0.01))
    };
    set_pairs(&mut summary, most_slower.clone());
    let message = |summary: &Summary| Verdict::of(summary).findings;
    let expected = "reads under mine: the mean is 20% faster, yet more requests are slower than faster (16.7% faster, 66.7% slower)";
    assert!(message(&summary).iter().any(|text| text == expected), "{:?}", message(&summary));
    // The same counts could be chance if hardly more batches go that way.
    set_pairs(&mut summary, PairStats { batches_mostly_faster: 12, batches_mostly_slower: 20, ..most_slower.clone() });
    assert!(!message(&summary).iter().any(|text| text.contains("yet more requests")), "{:?}", message(&summary));
    set_pairs(&mut summary, PairStats { p: Some(0.5), ..most_slower });
    let expected = "reads under mine: the mean differs by no more than noise, yet more";
    assert!(message(&summary).iter().any(|text| text.starts_with(expected)), "{:?}", message(&summary));
}

/// p99 stands beside the mean; a winner whose p99 is worse says so, and then somebody pays.
#[test]
fn the_tail_is_judged_beside_the_mean() {
    let mut summary = two_flows(&[("fcfs", 100, 20), ("mine", 10, 20)]);
    let p99 = |summary: &mut Summary, flow: usize, ns: u64| {
        summary.schedulers[1].flows[flow].figures.all.as_mut().expect("some").p99_ns = ns;
    };
    let found = Verdict::of(&summary).findings;
    assert!(found[0].contains("10x faster than under fcfs (") && found[0].contains("; p99 19.84 µs"), "{found:?}");
    assert!(
        found[0].ends_with("10x faster (199.7 µs)") && found.last().unwrap().starts_with("nobody pays under mine"),
        "{found:?}"
    );
    p99(&mut summary, 0, 400_000);
    let found = Verdict::of(&summary).findings;
    assert!(found[0].ends_with("; but its p99 is 2.0x slower (400.0 µs, was 199.7 µs)"), "{found:?}");
    assert!(found.last().unwrap().starts_with("web pays in p99 under mine: 2.0x slower than under fcfs"), "{found:?}");
    // Means alike, p99 not.
    let mut alike = two_flows(&[("fcfs", 10, 20), ("mine", 10, 20)]);
    p99(&mut alike, 1, 80_000);
    let found = Verdict::of(&alike).findings;
    assert!(
        found[0].starts_with("no scheduler's mean differs")
            && found[1].starts_with("p99 of batch under mine: 2.0x slower"),
        "{found:?}"
    );
}

/// The scheduler compared with wins where it is the fastest.
#[test]
fn the_baseline_can_win() {
    let verdict = Verdict::of(&two_flows(&[("sprinkler", 10, 22), ("fcfs", 330, 20), ("mine", 40, 22)]));
    let [reader, writer, ..] = &verdict.findings[..] else { panic!("{:?}", verdict.findings) };
    assert!(
        reader.starts_with("sprinkler wins for web: mean 14.99 µs, p99 ")
            && reader.contains("; next is mine, 4.0x slower ("),
        "{reader}"
    );
    assert!(writer.starts_with("fcfs wins for batch: mean "), "{writer}");
    let pays = verdict.findings.last().unwrap();
    assert!(
        pays.starts_with("web pays under fcfs: 33x slower than under sprinkler"),
        "one first each, and its gains are larger: {pays}"
    );
}

/// A control never wins; controls among themselves do, and the verdict says so.
#[test]
fn controls_do_not_win() {
    let mut summary = two_flows(&[("fcfs", 100, 20), ("mine", 50, 20), ("wp-blind", 10, 20)]);
    assert!(Verdict::of(&summary).findings[0].starts_with("wp-blind wins for web"));
    summary.schedulers[2].control = true;
    let found = Verdict::of(&summary).findings;
    assert!(
        found[0].starts_with("mine wins for web") && found.iter().all(|text| !text.contains("wp-blind")),
        "{found:?}"
    );
    // The reference may be a control: then others are compared with it, and one of them wins.
    summary.schedulers[2].control = false;
    summary.schedulers[0].control = true;
    assert!(Verdict::of(&summary).findings[0].starts_with("wp-blind wins for web"));
    summary.schedulers.iter_mut().for_each(|run| run.control = true);
    let found = Verdict::of(&summary).findings;
    assert!(
        found[0].starts_with("all schedulers are controls") && found[1].starts_with("wp-blind wins for web"),
        "{found:?}"
    );
}

/// A closed loop is given throughput: what one does more belongs to what another pays.
#[test]
fn closed_loops_are_judged_by_throughput_too() {
    let mut summary = two_flows(&[("fcfs", 100, 20), ("mine", 50, 30)]);
    let iops = |summary: &mut Summary, run: usize, flow: usize, iops: f64| {
        summary.schedulers[run].flows[flow].figures.all.as_mut().expect("some").iops = Some(iops);
    };
    iops(&mut summary, 1, 0, 90_000.0);
    assert!(
        !Verdict::of(&summary).findings.iter().any(|text| text.contains("requests/s")),
        "an open flow does what comes"
    );
    summary.flows[0].depth = Some(4);
    let found = Verdict::of(&summary).findings;
    assert!(
        found[0].starts_with("mine wins for web: 80% more requests/s; mean 74.97 µs, 2.0x faster than"),
        "{found:?}"
    );
    // All flows together get less: a winner says so.
    summary.schedulers[1].total.all.as_mut().expect("some").iops = Some(80_000.0);
    let found = Verdict::of(&summary).findings;
    assert!(
        found.iter().any(|text| text == "mine serves 20% fewer requests/s than fcfs (80,000, was 99,958)"),
        "{found:?}"
    );
    // Of what another gains by, the winner says it too: here the second flow is fastest under the first scheduler.
    summary.flows[1].depth = Some(4);
    iops(&mut summary, 1, 1, 20_000.0);
    let found = Verdict::of(&summary).findings;
    assert!(
        found.iter().any(|text| text == "batch does 2.5x fewer requests/s under mine (20,000, was 49,996)"),
        "{found:?}"
    );
}

#[test]
fn an_idle_drive_is_named_instead_of_identical_rows() {
    let idle = one_flow(40_000, 0.02, &[("fcfs", 10), ("mine", 10)]);
    assert_eq!(rules(&idle), [Rule::Idle]);
    assert!(Verdict::of(&idle).warnings[0].text.contains("no chip busier than 2.0%"));
    assert_eq!(rules(&one_flow(40_000, 0.5, &[("fcfs", 10), ("mine", 10)])), [Rule::Identical], "busy");
    assert_eq!(rules(&one_flow(40_000, 0.02, &[("fcfs", 10), ("mine", 100)])), [], "not alike");
    assert_eq!(rules(&one_flow(40_000, 0.02, &[("fcfs", 10)])), [], "one scheduler is alike with nobody");
}

/// Writes that pass a full cache by are warned of where nothing folds its blocks, and not where idle time does, or before it is full.
#[test]
fn a_cache_that_nothing_empties_is_named() {
    let with = |direct: u64, never_folded: Option<u32>| {
        let mut summary = one_flow(40_000, 0.5, &[("fcfs", 10)]);
        summary.schedulers[0].device.slc = Some(SlcStats { programs: 64, direct, never_folded, ..SlcStats::default() });
        Verdict::of(&summary).warnings
    };
    let found = with(5, Some(7));
    assert_eq!(found.iter().map(|warning| warning.rule).collect::<Vec<_>>(), [Rule::CacheStaysFull]);
    assert!(found[0].text.contains("its 7 static blocks of a plane"), "{}", found[0].text);
    assert_eq!(with(5, None), []);
    assert_eq!(with(0, Some(7)), []);
}

/// What the scenario says of keys that it switches off is shown as it is.
#[test]
fn keys_without_effect_are_shown() {
    let mut summary = one_flow(40_000, 0.5, &[("fcfs", 10)]);
    summary.made_by.without_effect = vec!["device.slc.idle_ms has no effect, only with a cache".into()];
    let found = Verdict::of(&summary).warnings;
    assert_eq!(found.iter().map(|warning| warning.rule).collect::<Vec<_>>(), [Rule::KeysWithoutEffect]);
    assert_eq!(found[0].text, summary.made_by.without_effect[0]);
}

#[test]
fn an_overloaded_flow_is_named_with_what_it_was_offered() {
    let mut summary = one_flow(40_000, 0.9, &[("fcfs", 100), ("mine", 10)]);
    assert_eq!(rules(&summary), []);
    let overload = OverloadStats {
        requests: 60_000,
        offered_ns: 1_000_000_000,
        offered_iops: Some(60_000.0),
        backlog_ns: 3_000_000_000,
        served_iops: 20_000.0,
    };
    let text = |summary: &Summary| {
        let warning = Verdict::of(summary).warnings.swap_remove(0);
        assert_eq!(warning.rule, Rule::Overloaded);
        warning.text
    };
    summary.schedulers[0].flows[0].overload = Some(overload.clone());
    assert_eq!(
        text(&summary),
        "web overloads the drive under fcfs: 60,000 requests/s offered for 1.000 s, 20,000 served while a backlog stood, for 3.000 s; its \
         times grow with that time"
    );
    let longer = OverloadStats { offered_iops: None, backlog_ns: 4_000_000_000, served_iops: 15_000.0, ..overload };
    summary.schedulers[1].flows[0].overload = Some(longer);
    assert_eq!(
        text(&summary),
        "web overloads the drive under fcfs and mine: 60,000 requests offered at once, 15,000 served while a backlog stood, for 4.000 s \
         under mine; its times grow with that time"
    );
}

/// A drive is idle only where no figure differs, no chip is busy and nobody sends more than is served.
#[test]
fn an_idle_drive_has_nothing_that_differs() {
    let alike = one_flow(40_000, 0.05, &[("fcfs", 1_000), ("mine", 1_001)]);
    let is_idle = |change: &dyn Fn(&mut Summary)| {
        let mut summary = alike.clone();
        change(&mut summary);
        Verdict::of(&summary)
            .warnings
            .iter()
            .find(|warning| warning.rule == Rule::Idle)
            .map(|warning| warning.text.clone())
    };
    let text = is_idle(&|_| {}).expect("idle");
    assert!(text.starts_with("the drive is idle (no chip busier than 5.0%), so the schedulers are alike"), "{text}");
    let reads = |summary: &mut Summary, change: fn(&mut ResponseStats)| {
        change(summary.schedulers[1].flows[0].figures.read.as_mut().expect("reads"));
    };
    let flush = |summary: &mut Summary, times: [f64; 2]| {
        for (run, times) in summary.schedulers.iter_mut().zip(times) {
            let of = |kind: &ResponseStats| ResponseStats { mean_ns: times * kind.mean_ns, ..kind.clone() };
            let flush = run.total.read.as_ref().map(of);
            run.total.commands =
                Some(Box::new(CommandStats { received: Vec::new(), trim: None, write_zeroes: None, flush }));
        }
    };
    type Case<'a> = (&'a str, &'a dyn Fn(&mut Summary), bool);
    let cases: [Case<'_>; 9] = [
        ("a hot die", &|summary| summary.schedulers[1].device.chip_utilisation_each = vec![0.0, 0.953], false),
        ("no hot die", &|summary| summary.schedulers[1].device.chip_utilisation_each = vec![0.0, 0.099], true),
        ("a mean", &|summary| reads(summary, |read| read.mean_ns *= 1.02), false),
        ("a p99", &|summary| reads(summary, |read| read.p99_ns += read.p99_ns / 16), false),
        ("a p99 within 5 %", &|summary| reads(summary, |read| read.p99_ns += read.p99_ns / 25), true),
        ("a rate", &|summary| reads(summary, |read| read.iops = read.iops.map(|iops| 0.97 * iops)), false),
        ("flushes", &|summary| flush(summary, [1.0, 1.3]), false),
        ("flushes alike", &|summary| flush(summary, [1.0, 1.005]), true),
        ("an overload", &|summary| summary.schedulers[0].flows[0].overloaded = true, false),
    ];
    for (what, change, wanted) in cases {
        assert_eq!(is_idle(change).is_some(), wanted, "{what}");
    }
}

/// Fifty schedulers and 64 flows have a verdict that can be read: the gravest are named, the others counted.
#[test]
fn many_warnings_are_a_few_sentences() {
    let flows: Vec<FlowInfo> = (0..64).map(|i| FlowInfo { name: format!("f{i}"), ..FlowInfo::default() }).collect();
    let (own, alone) = (flow(400, 10, 30), [flow(400, 5, 30), flow(400, 9, 30)]);
    let run = |i: usize| {
        let (shared, alone) = (vec![own.clone(); 64], vec![alone[i % 2].clone(); 64]);
        SchedulerResult::new(&format!("s{i}"), &flows, &shared, Some(&alone), &DeviceStats::default())
    };
    let mut summary = Summary::new(made_by(), flows.clone(), (0..50).map(run).collect(), vec![]);
    let overload = OverloadStats {
        requests: 400,
        offered_ns: 1_000_000,
        offered_iops: Some(400_000.0),
        backlog_ns: 2_000_000,
        served_iops: 200_000.0,
    };
    for run in &mut summary.schedulers {
        run.flows.iter_mut().for_each(|flow| flow.overload = Some(overload.clone()));
        // Schedulers that are 25 apart have the same figures.
        run.device.chip_utilisation = 0.5 + run.name[1..].parse::<f64>().unwrap().rem_euclid(25.0) / 100.0;
    }
    // The gravest: much is offered, and under this scheduler it takes longest.
    summary.schedulers[3].flows[40].overload =
        Some(OverloadStats { offered_iops: Some(1e9), backlog_ns: 2_000_001, ..overload });
    let warnings = Verdict::of(&summary).warnings;
    let of =
        |rule: Rule| -> Vec<&str> { warnings.iter().filter(|d| d.rule == rule).map(|d| d.text.as_str()).collect() };
    let overloaded = of(Rule::Overloaded);
    assert_eq!(overloaded.len(), 5);
    assert!(
        overloaded[0].starts_with("f40 overloads the drive under s0, s1, s2, s3, s4 and 45 more: "),
        "{}",
        overloaded[0]
    );
    assert_eq!(overloaded[4], "60 more flows overload the drive under some scheduler");
    assert_eq!(of(Rule::AloneRuns)[4], "slowdowns of 60 more flows are against different alone runs, too");
    assert_eq!(of(Rule::Identical)[4], "21 more groups of schedulers gave identical results");
    assert!(of(Rule::TooShort)[0].contains(", and 60 more have too few"), "{:?}", of(Rule::TooShort));
    assert!(warnings.len() <= 17 && warnings.iter().all(|warning| warning.text.len() < 400), "{warnings:?}");
}

#[test]
fn rejected_requests_are_counted() {
    let mut summary = one_flow(40_000, 0.9, &[("fcfs", 10), ("mine", 11)]);
    summary.schedulers.iter_mut().for_each(|run| run.total.rejected = 7);
    assert!(rules(&summary).contains(&Rule::Rejected));
}

#[test]
fn percentiles_need_ten_requests_beyond_them() {
    let short = |n: u64| Verdict::of(&one_flow(n, 0.9, &[("fcfs", 10), ("mine", 100)])).warnings;
    assert_eq!(short(40_000), []);
    let text = &short(4_000)[0].text;
    assert!(
        text.contains("p99.9 needs at least 10,000 requests (reads have ") && !text.contains("p99 needs"),
        "{text}"
    );
    assert!(short(400)[0].text.contains("p99 needs at least 1,000 requests (reads have "));
    assert_eq!(short(400)[0].rule, Rule::TooShort);
}

#[test]
fn slowdowns_against_different_alone_runs_are_named() {
    let mut summary = two_flows(&[("fcfs", 100, 40), ("mine", 10, 20)]);
    summary.schedulers[1].flows[0].alone.as_mut().unwrap().mean_ns *= 1.04;
    assert_eq!(rules(&summary), []);
    summary.schedulers[1].flows[0].alone.as_mut().unwrap().mean_ns *= 1.04;
    assert_eq!(rules(&summary), [Rule::AloneRuns]);
}

#[test]
fn a_run_alone_and_a_run_of_nothing_have_verdicts() {
    let one = two_flows(&[("fcfs", 100, 40)]);
    assert!(Verdict::of(&one).findings[0].contains("; sharing makes the mean 10.00x its mean alone under fcfs"));
    let flows = [FlowInfo { name: "idle".into(), ..FlowInfo::default() }];
    let run = SchedulerResult::new("fcfs", &flows, &[FlowMetrics::new()], None, &DeviceStats::default());
    let nothing = Summary::new(made_by(), flows.to_vec(), vec![run], Vec::new());
    assert_eq!(Verdict::of(&nothing).findings, ["no request completed"]);
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
    let verdict = Verdict::of(&summary);
    assert!(verdict.findings.last().unwrap().starts_with("writes pay under mine: 50% slower"), "{verdict:?}");
}

/// At the limits themselves: 5 % of the smaller mean is alike, 1,000 requests have a p99, p = 0.05 counts.
#[test]
fn limits_belong_to_the_side_that_the_page_says() {
    let first =
        |other: u64| Verdict::of(&one_flow(40_000, 0.5, &[("fcfs", 2_000), ("mine", other)])).findings.remove(0);
    assert!(first(2_099).starts_with("no scheduler's mean differs") && first(1_906).starts_with("no scheduler's"));
    assert!(
        first(2_103).starts_with("fcfs wins for ") && first(1_903).starts_with("mine wins for "),
        "{}",
        first(2_103)
    );
    let says_p99 = |n: u64| {
        let found = Verdict::of(&one_flow(n, 0.5, &[("fcfs", 100), ("mine", 10)])).findings;
        found[0].contains("p99")
    };
    assert!(says_p99(2_000) && !says_p99(1_900), "half of them are reads, half writes");
    let mut summary = one_flow(40_000, 0.5, &[("fcfs", 100), ("mine", 97)]);
    set_pairs(&mut summary, pairs(Some(0.05)));
    assert!(Verdict::of(&summary).findings[0].starts_with("mine wins for "));
}

/// Of schedulers that are equally good the first in the list wins, for a tenant and in all.
#[test]
fn of_equals_the_first_wins() {
    let verdict = Verdict::of(&two_flows(&[("fcfs", 100, 40), ("one", 10, 20), ("other", 10, 20)]));
    assert!(verdict.findings.iter().all(|text| !text.contains("other")), "{verdict:?}");
    assert!(verdict.findings[0].starts_with("one wins for web"), "{verdict:?}");
    // The one compared with, too.
    let verdict = Verdict::of(&two_flows(&[("fcfs", 10, 20), ("same", 10, 20), ("worse", 10, 40)]));
    assert_eq!(verdict.findings.len(), 1, "{verdict:?}");
    assert!(verdict.findings[0].starts_with("batch pays under worse: 2.0x slower than under fcfs"), "{verdict:?}");
}

/// Each is the best for one flow, by as much: the first in the list wins.
#[test]
fn of_equal_winners_the_first_is_named() {
    let verdict = Verdict::of(&two_flows(&[("fcfs", 100, 100), ("one", 10, 100), ("other", 100, 10)]));
    assert!(verdict.findings.last().unwrap().contains("under one"), "{verdict:?}");
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
    let verdict = Verdict::of(&Summary::new(made_by(), flows.clone(), runs, Vec::new()));
    assert!(verdict.findings.last().unwrap().contains("under two"), "{verdict:?}");
}

/// Most requests faster while the mean is slower is printed as well as the reverse.
#[test]
fn a_mean_that_is_slower_may_hide_requests_that_are_faster() {
    let mut summary = one_flow(40_000, 0.5, &[("fcfs", 80), ("mine", 100)]);
    let counts = PairStats {
        faster: 8_000,
        slower: 2_000,
        batches_mostly_faster: 30,
        batches_mostly_slower: 2,
        ..pairs(Some(0.01))
    };
    set_pairs(&mut summary, counts);
    let found = Verdict::of(&summary).findings;
    let expected = "reads under mine: the mean is 25% slower, yet more requests are faster than slower (66.7% faster, 16.7% slower)";
    assert!(found.iter().any(|text| text == expected), "{found:?}");
}
