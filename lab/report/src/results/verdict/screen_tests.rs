//! Tests of which findings are on the first screen, of who is as good as the one that wins, and of what decisions bring.

use super::tests::{lines, of_flow, one_flow, only, set_commands, two_flows, with_seeds};
use super::*;
use crate::results::attribution::Difference;
use crate::results::deciding::{Deciding, TriedDecision, Way};
use crate::results::replications::{RequestKind, SeedMeasure};

/// Gains below twofold are on a screen with room, also where the scheduler compared with wins.
#[test]
fn a_screen_with_room_is_filled() {
    let found = lines(&two_flows(&[("fcfs", 100, 20), ("mine", 150, 17)]));
    assert!(found.iter().any(|line| line.starts_with("mine wins for batch: mean 15% faster")), "{found:?}");
    let found = lines(&two_flows(&[("fcfs", 10, 20), ("mine", 10, 20), ("other", 10, 23)]));
    assert!(found.iter().any(|line| line.starts_with("batch pays under other: mean 15% slower")), "{found:?}");
}

#[test]
fn who_is_within_the_tolerance_of_the_best_is_named() {
    let runs = [("fcfs", 1_000, 20), ("mine", 500, 20), ("other", 504, 20), ("third", 520, 20)];
    let found = lines(&two_flows(&runs));
    assert!(found[0].starts_with("mine wins for web: mean 2.0x faster"), "{found:?}");
    assert!(found[0].ends_with("; other is within 1% of it"), "{found:?}");
}

/// A loop is judged by one measure under all schedulers: a mean beside the rate of another says nothing.
#[test]
fn the_best_of_a_loop_is_found_by_one_measure() {
    let mut summary = two_flows(&[("fcfs", 100, 20), ("mine", 70, 20), ("other", 10, 20)]);
    summary.flows[0].depth = Some(16);
    let rate = of_flow(&mut summary, 0, 0).own_iops.expect("a rate");
    for (run, times) in [(1, 1.005), (2, 1.02)] {
        of_flow(&mut summary, run, 0).own_iops = Some(times * rate);
    }
    let found = lines(&summary);
    assert!(found[0].starts_with("other wins for web: 2% more requests/s"), "{found:?}");
}

/// A rate of twofold is `as many as`, and a figure that was 0 has no factor.
#[test]
fn factors_are_worded() {
    let mut summary = two_flows(&[("fcfs", 100, 20), ("mine", 50, 20)]);
    summary.flows[0].depth = Some(4);
    let of = |summary: &mut Summary, run: usize, rate: f64| of_flow(summary, run, 0).own_iops = Some(rate);
    of(&mut summary, 0, 1_000.0);
    of(&mut summary, 1, 2_500.0);
    let text = "mine wins for web: 2.5x as many requests/s as under fcfs (1,000 -> 2,500)";
    assert!(lines(&summary)[0].starts_with(text), "{:?}", lines(&summary));
    of(&mut summary, 0, 0.0);
    let text = "mine wins for web: more requests/s than under fcfs (0.000 -> 2,500)";
    assert!(lines(&summary)[0].starts_with(text), "{:?}", lines(&summary));
}

/// One unit in a phrase: a change below twofold whose range reaches beyond is a factor too.
#[test]
fn a_change_has_the_unit_of_its_range() {
    let mut summary = two_flows(&[("fcfs", 100, 20), ("mine", 56, 20)]);
    with_seeds(&mut summary, &[&[1.0, 1.0], &[1.0, 0.5], &[1.0, 1.0], &[1.0, 1.0]]);
    let text = only(&summary, FindingKind::Wins).text;
    assert!(
        text.contains("mean 1.79x faster than under fcfs (149.9 µs -> 83.97 µs), 1.8x to 3.6x over 5 seeds"),
        "{text}"
    );
}

/// Where only write amplification differs, the schedulers are not called alike.
#[test]
fn schedulers_that_differ_in_write_amplification_are_not_alike() {
    let mut summary = two_flows(&[("fcfs", 100, 20), ("mine", 100, 20)]);
    for (run, amplification) in [(0, 1.0), (1, 2.385)] {
        summary.schedulers[run].device.write_amplification = Some(amplification);
        summary.schedulers[run].device.gc.erases = 400;
    }
    let found = lines(&summary);
    assert!(found[0].starts_with("nothing but write amplification tells the schedulers apart: "), "{found:?}");
    let text = "the drive pays under mine: it writes 2.4x as much as under fcfs (write amplification 1.000 -> 2.385)";
    assert!(found.contains(&text.to_owned()), "{found:?}");
}

/// The percent of a gain in write amplification and those of its range are of the same whole.
#[test]
fn a_gain_in_write_amplification_lies_in_its_range() {
    let mut summary = two_flows(&[("fcfs", 100, 20), ("mine", 10, 20)]);
    for (run, amplification) in [(0, 1.573), (1, 1.160)] {
        summary.schedulers[run].device.write_amplification = Some(amplification);
        summary.schedulers[run].device.gc.erases = 400;
    }
    with_seeds(&mut summary, &[&[1.0, 1.0][..]; 4]);
    let made = summary.replications.as_mut().expect("some");
    for (number, run) in made.runs.iter_mut().enumerate() {
        run.erases += number as u64;
        let shift = if run.seed > 1 { 0.01 } else { 0.0 };
        run.write_amplification = run.write_amplification.map(|value| value + shift);
    }
    let text = only(&summary, FindingKind::WriteAmplification).text;
    assert!(text.contains("it writes 26% less than under fcfs (") && text.contains("), 26% over 5 seeds"), "{text}");
}

/// All that completed under a scheduler arrived in the warm-up: then it is not said that nothing completed.
#[test]
fn completions_of_the_warm_up_are_completions() {
    let mut summary = two_flows(&[("fcfs", 100, 20), ("mine", 10, 20)]);
    summary.schedulers[1].flows[0].figures.all = None;
    let text = |summary: &Summary| only(summary, FindingKind::Starves).text;
    assert!(text(&summary).starts_with("web pays under mine: none completed, 12,000 did"), "{}", text(&summary));
    summary.schedulers[1].flows[0].figures.warm_up = 12;
    assert!(text(&summary).starts_with("web pays under mine: none completed that is counted, 12,000 did"));
}

/// What one half of a commit loses is told beside what both together gain.
#[test]
fn the_half_of_a_commit_that_is_slower_is_told() {
    let mut summary = one_flow(40_000, 0.5, &[("fcfs", 10), ("mine", 20)]);
    summary.flows[0].writes_per_flush = Some(1.0);
    set_commands(&mut summary.schedulers[0], 20_000.0, 9_000_000.0);
    set_commands(&mut summary.schedulers[1], 20_000.0, 1_000_000.0);
    let found = lines(&summary);
    assert!(found[0].starts_with("mine wins for web's commits: mean 8.8x faster"), "{found:?}");
    assert!(found.iter().any(|line| line.starts_with("web's writes are slower under mine: mean ")), "{found:?}");
    assert!(!found.iter().any(|line| line.starts_with("nobody pays")), "{found:?}");
}

/// Decisions of which each alone brings the gain are all named; the words do not say that both are needed.
#[test]
fn decisions_that_each_bring_it_are_named() {
    let mut summary = two_flows(&[("fcfs", 2_700, 22), ("mine", 11, 26)]);
    let difference = |what: &str| Difference { what: what.into(), from: "a".into(), to: "b".into() };
    let tried = |what: &str, brings: f64| TriedDecision {
        what: what.into(),
        alone_ns: Some(17_000.0),
        brings: Some(brings),
        without_ns: Some(17_000.0),
        takes: Some(0.0),
    };
    let mut with = |tried: Vec<TriedDecision>| {
        summary.deciding = vec![Deciding {
            way: Way::Gain,
            scheduler: "mine".into(),
            baseline: "fcfs".into(),
            flow: Some("web".into()),
            kind: RequestKind::All,
            measure: SeedMeasure::Mean,
            baseline_ns: 4e6,
            scheduler_ns: 16e3,
            differences: ["pick", "preempt"].map(difference).into(),
            decision: None,
            tried,
            untried: None,
        }];
        let found = lines(&summary);
        found.into_iter().find(|line| line.starts_with("why the mean of web")).expect("told")
    };
    let ends = [
        ("each of pick (a -> b), preempt (a -> b) alone brings it", [0.99, 0.98]),
        ("preempt (a -> b) alone brings it, and part of it stays without that", [0.1, 0.99]),
        ("no decision alone brings it; the two differ in pick (a -> b), preempt (a -> b)", [0.1, 0.2]),
    ];
    for (end, [pick, preempt]) in ends {
        let text = with(vec![tried("pick", pick), tried("preempt", preempt)]);
        assert!(text.ends_with(end), "{text}");
    }
}

/// A finding that gains much and loses little is no large loss: the largest one is on a full screen.
#[test]
fn the_largest_loss_is_the_largest_by_what_is_lost() {
    let summary = two_flows(&[("fcfs", 100, 20), ("mine", 10, 30)]);
    let of = |kind: FindingKind, scheduler: &str, factors: &[f64]| {
        let change = only(&summary, FindingKind::Wins).changes[0].clone();
        let changes: Vec<Change> = factors.iter().map(|&factor| Change { factor, ..change.clone() }).collect();
        let size = changes.iter().map(Change::size).fold(1.0, f64::max);
        Finding { kind, scheduler: Some(scheduler.into()), changes, size, ..Finding::new(kind) }
    };
    let mut found = vec![of(FindingKind::Wins, "mine", &[30.0, 0.93])];
    found.extend((0..20).map(|_| of(FindingKind::Gains, "mine", &[20.0, 0.94])));
    found.extend([of(FindingKind::Pays, "other", &[0.9]), of(FindingKind::Pays, "slow", &[0.6])]);
    order::choose(&mut found, "mine");
    assert!(found.last().is_some_and(|pays| pays.is_on_first_screen), "slow is 1.7 times slower");
    assert_eq!(found.iter().filter(|one| one.is_on_first_screen).count(), 12);
}
