//! The rule over seeds, on seeds that are made up.

use super::*;
use crate::results::example::example;
use crate::results::{Replications, SeedFigures, SeedsBecause};

/// The example under these seeds: for each the mean of `web` under fcfs and under sprinkler, us; everything else follows from it.
fn over(means: &[[f64; 2]]) -> Summary {
    let mut summary = example();
    let run = |seed: usize, scheduler: &str, mean: f64| SeedRun {
        seed: seed as u64,
        scheduler: scheduler.into(),
        write_amplification: (mean > 0.0).then_some(1.0 + mean / 1000.0),
        erases: mean as u64,
        figures: vec![SeedFigures {
            flow: Some("web".into()),
            kind: RequestKind::Read,
            requests: 100,
            mean_ns: mean * 1e3,
            p99_ns: (mean * 2e3) as u64,
            iops: Some(1e6 / mean),
            own_iops: Some(1e6 / mean),
        }],
    };
    let runs = means.iter().enumerate().flat_map(|(i, [base, own])| [run(i, "fcfs", *base), run(i, "sprinkler", *own)]);
    summary.replications = Some(Replications {
        seeds: (0..means.len() as u64).collect(),
        because: SeedsBecause::Few,
        requests: 0,
        drawn: Vec::new(),
        runs: runs.collect(),
    });
    summary
}

fn case(measure: SeedMeasure) -> Case<'static> {
    Case { scheduler: "sprinkler", baseline: "fcfs", flow: Some("web"), kind: RequestKind::Read, measure }
}

fn says(means: &[[f64; 2]], measure: SeedMeasure) -> OverSeeds {
    OverSeeds::of(&over(means), &case(measure)).expect("both have it")
}

const BETTER: [[f64; 2]; 5] = [[330.0, 10.0], [340.0, 10.0], [500.0, 4.0], [400.0, 10.0], [350.0, 10.0]];

#[test]
fn five_seeds_in_one_direction_decide() {
    let mean = says(&BETTER, SeedMeasure::Mean);
    assert_eq!(mean.better, Some(Spread { seeds: 5, low: 33.0, high: 125.0 }));
    assert_eq!((mean.says, mean.worse, mean.alike, mean.seeds, mean.outcomes), (Says::Better, None, 0, 5, 5));
    assert!(mean.is_decided() && says(&BETTER, SeedMeasure::P99).says == Says::Better);
    assert_eq!(says(&BETTER, SeedMeasure::Erases).says, Says::Better);
    assert_eq!(says(&BETTER, SeedMeasure::WriteAmplification).says, Says::Better);
    let behind = BETTER.map(|[base, own]| [own, base]);
    let mean = says(&behind, SeedMeasure::Mean);
    assert!(mean.says == Says::Worse && mean.worse.is_some_and(|worse| worse.high == 125.0), "{mean:?}");
}

#[test]
fn more_requests_per_second_are_better() {
    let rate = says(&BETTER, SeedMeasure::Rate);
    assert!(rate.says == Says::Better && rate.better.is_some_and(|s| s.low > 32.99 && s.high < 125.01), "{rate:?}");
}

#[test]
fn seeds_that_disagree_leave_it_open_and_are_counted() {
    let mixed = [[126.0, 100.0], [110.0, 100.0], [100.0, 1300.0], [105.0, 100.0], [100.0, 2000.0]];
    let mean = says(&mixed, SeedMeasure::Mean);
    assert_eq!(mean.better.map(|s| (s.seeds, s.high)), Some((3, 1.26)));
    assert_eq!(mean.worse.map(|s| (s.seeds, s.low, s.high)), Some((2, 13.0, 20.0)));
    assert!(mean.says == Says::Open && !mean.is_decided());
}

/// A single seed that is within the tolerance is enough; one per cent exactly does not differ.
#[test]
fn one_per_cent_is_not_a_difference() {
    let mut nearly = BETTER;
    nearly[3] = [101.0, 100.0];
    let mean = says(&nearly, SeedMeasure::Mean);
    assert_eq!((mean.says, mean.alike, mean.better.map(|s| s.seeds)), (Says::Open, 1, Some(4)));
    nearly[3] = [101.01, 100.0];
    assert_eq!(says(&nearly, SeedMeasure::Mean).says, Says::Better);
    let alike = [[100.0, 100.5], [100.0, 99.5], [100.0, 100.0], [101.0, 101.5], [99.0, 99.0]];
    assert_eq!(says(&alike, SeedMeasure::Mean).says, Says::Alike);
}

#[test]
fn ranges_are_those_of_a_scheduler_by_itself() {
    let summary = over(&BETTER[..3]);
    let range = |scheduler, measure| SeedRange::of(&summary, scheduler, Some("web"), RequestKind::Read, measure);
    assert_eq!(range("fcfs", SeedMeasure::Mean), Some(SeedRange { seeds: 3, low: 330e3, high: 500e3 }));
    assert_eq!(range("fcfs", SeedMeasure::Rate), Some(SeedRange { seeds: 3, low: 2e3, high: 1e6 / 330.0 }));
    assert_eq!(range("flin", SeedMeasure::Mean), None);
}

#[test]
fn fewer_than_five_decide_nothing() {
    let mean = says(&BETTER[..4], SeedMeasure::Mean);
    assert_eq!((mean.says, mean.better.map(|s| s.seeds)), (Says::TooFew, Some(4)));
    let mean = says(&BETTER[..1], SeedMeasure::Mean);
    assert_eq!((mean.says, mean.seeds), (Says::Unrepeated, 1));
    let unrepeated = example();
    let mean = OverSeeds::of(&unrepeated, &case(SeedMeasure::Mean)).expect("from the runs themselves");
    let of = |name: &str| {
        let run = unrepeated.schedulers.iter().find(|run| run.name == name).expect("there");
        run.flows[0].figures.read.as_ref().expect("reads").mean_ns
    };
    assert_eq!(mean.says, Says::Unrepeated);
    assert_eq!(mean.better.map(|s| s.low), Some(of("fcfs") / of("sprinkler")));
}

#[test]
fn equal_outcomes_are_counted_and_not_taken_for_repetitions() {
    let same = [[330.0, 10.0]; 5];
    let mean = says(&same, SeedMeasure::Mean);
    assert_eq!((mean.says, mean.outcomes, mean.is_decided()), (Says::Same, 1, false));
    assert!(seeds_change_nothing(&over(&same)) && !seeds_change_nothing(&over(&BETTER)));
    assert!(!seeds_change_nothing(&over(&same[..1])) && !seeds_change_nothing(&example()));
    let two = [same[0], same[0], [400.0, 10.0], same[0], [400.0, 10.0]];
    let mean = says(&two, SeedMeasure::Mean);
    assert_eq!((mean.says, mean.outcomes), (Says::Better, 2));
    assert!(!seeds_change_nothing(&over(&two)));
    // The 99th percentile of all is the same, their means are not: that is no equal outcome.
    let mut summary = over(&BETTER);
    for run in &mut summary.replications.as_mut().expect("some").runs {
        run.figures[0].p99_ns = if run.scheduler == "fcfs" { 500 } else { 100 };
    }
    let p99 = OverSeeds::of(&summary, &case(SeedMeasure::P99)).expect("both have it");
    assert_eq!((p99.says, p99.outcomes, p99.better), (Says::Better, 5, Some(Spread { seeds: 5, low: 5.0, high: 5.0 })));
}

#[test]
fn figures_of_zero_and_figures_that_are_not_there() {
    let none = [[0.0, 3.0], [0.0, 2.0], [0.0, 5.0], [0.0, 4.0], [0.0, 6.0]];
    let erases = says(&none, SeedMeasure::Erases);
    assert_eq!((erases.says, erases.worse.map(|s| s.low)), (Says::Worse, Some(f64::INFINITY)));
    assert_eq!(OverSeeds::of(&over(&none), &case(SeedMeasure::WriteAmplification)), None);
    let (summary, mean) = (over(&BETTER), case(SeedMeasure::Mean));
    let judged = |case: &Case<'_>| OverSeeds::of(&summary, case);
    assert!(judged(&mean).is_some());
    assert_eq!(judged(&Case { kind: RequestKind::Flush, ..mean }), None);
    assert_eq!(judged(&Case { flow: None, ..mean }), None);
    assert_eq!(judged(&Case { scheduler: "flin", ..mean }), None);
    let mut summary = over(&BETTER);
    summary.replications.as_mut().expect("some").runs[9].figures.clear();
    let four = OverSeeds::of(&summary, &mean).expect("four have it");
    assert_eq!((four.says, four.seeds), (Says::TooFew, 4));
}

/// Two writes of 100 us and a flush of 50 are a commit of 250.
#[test]
fn a_commit_is_its_writes_and_its_flush() {
    let mut summary = over(&BETTER);
    summary.flows[0].writes_per_flush = Some(2.0);
    for run in &mut summary.replications.as_mut().expect("some").runs {
        let fcfs = run.scheduler == "fcfs";
        let figures =
            |kind, us: f64| SeedFigures { kind, mean_ns: us * 1e3, own_iops: Some(7.0), ..run.figures[0].clone() };
        run.figures = vec![
            figures(RequestKind::Write, if fcfs { 100.0 } else { 200.0 } + run.seed as f64 / 1e3),
            figures(RequestKind::Flush, if fcfs { 50.0 } else { 100.0 }),
        ];
    }
    let commit = |measure| OverSeeds::of(&summary, &Case { kind: RequestKind::Commit, ..case(measure) });
    let mean = commit(SeedMeasure::Mean).expect("has a mean");
    assert!(mean.says == Says::Worse && mean.worse.is_some_and(|s| s.high == 2.0 && s.low > 1.999), "{mean:?}");
    assert_eq!(commit(SeedMeasure::Rate).map(|rate| rate.says), Some(Says::Alike));
    assert_eq!(commit(SeedMeasure::P99), None, "writes and flushes are not paired");
}
