//! Each warning of docs/reading-results.md: summaries that it applies to, and their neighbours that it does not.

use super::tests::{flow, one_flow, rules, two_flows};
use super::{Rule, Verdict};
use crate::results::example::made_by;
use crate::results::flow_stats::{CommandStats, ResponseStats};
use crate::results::summary::SlcStats;
use crate::results::{DeviceStats, FlowInfo, OverloadStats, SchedulerResult, Summary};

#[test]
fn an_idle_drive_is_named_instead_of_identical_rows() {
    let idle = one_flow(40_000, 0.02, &[("fcfs", 10), ("mine", 10)]);
    assert_eq!(rules(&idle), [Rule::Idle]);
    assert!(Verdict::of(&idle).warnings[0].text.contains("no chip busier than 2.0%"));
    assert_eq!(rules(&one_flow(40_000, 0.5, &[("fcfs", 10), ("mine", 10)])), [Rule::Identical], "busy");
    assert_eq!(rules(&one_flow(40_000, 0.02, &[("fcfs", 10), ("mine", 100)])), [], "not alike");
    assert_eq!(rules(&one_flow(40_000, 0.02, &[("fcfs", 10)])), [], "one scheduler is alike with nobody");
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
        ("a rate", &|summary| reads(summary, |read| read.own_iops = read.own_iops.map(|iops| 0.97 * iops)), false),
        ("flushes", &|summary| flush(summary, [1.0, 1.3]), false),
        ("flushes alike", &|summary| flush(summary, [1.0, 1.005]), true),
        ("an overload", &|summary| summary.schedulers[0].flows[0].overloaded = true, false),
    ];
    for (what, change, wanted) in cases {
        assert_eq!(is_idle(change).is_some(), wanted, "{what}");
    }
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

/// Writes into the free blocks of the start are warned of on a busy drive of steady state, until 30 blocks have been collected.
#[test]
fn a_rate_before_collection_is_named() {
    let with = |state: &str, busy: f64, erases: u64, user_programs: u64| {
        let mut summary = one_flow(40_000, busy, &[("fcfs", 10)]);
        summary.made_by.drive_state = state.into();
        let device = &mut summary.schedulers[0].device;
        device.user_programs = user_programs;
        device.gc.erases = erases;
        Verdict::of(&summary).warnings
    };
    let found = with("steady", 0.51, 29, 5);
    assert_eq!(found.iter().map(|warning| warning.rule).collect::<Vec<_>>(), [Rule::HardlyCollected]);
    assert!(found[0].text.starts_with("fewer than 30 blocks were collected under fcfs: "), "{}", found[0].text);
    for (state, busy, erases, programs) in
        [("fresh", 0.9, 0, 5), ("steady", 0.5, 0, 5), ("steady", 0.9, 30, 5), ("steady", 0.9, 0, 0)]
    {
        assert_eq!(with(state, busy, erases, programs), [], "{state}, {busy}, {erases}, {programs}");
    }
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
fn uses_for_which_the_device_was_not_fitted_are_named() {
    let mut summary = one_flow(40_000, 0.5, &[("fcfs", 10)]);
    summary.made_by.not_measured = vec!["writes".into(), "reads beside writes".into()];
    let found = Verdict::of(&summary).warnings;
    assert_eq!(found.iter().map(|warning| warning.rule).collect::<Vec<_>>(), [Rule::NotMeasured]);
    let says = "writes, reads beside writes were not measured when this device was fitted: their figures are a guess";
    assert_eq!(found[0].text, says);
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

/// Fifty schedulers and 64 flows have a verdict that can be read: the gravest are named, the others counted.
#[test]
fn many_warnings_are_a_few_sentences() {
    let flows: Vec<FlowInfo> = (0..64).map(|i| FlowInfo { name: format!("f{i}"), ..FlowInfo::default() }).collect();
    let (own, alone) = (flow(400, 10, 30), [flow(400, 5, 30), flow(400, 9, 30)]);
    let shared = vec![own.clone(); 64];
    let two =
        alone.map(|alone| SchedulerResult::new("", &flows, &shared, Some(&vec![alone; 64]), &DeviceStats::default()));
    let run = |i: usize| SchedulerResult { name: format!("s{i}"), ..two[i % 2].clone() };
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
