//! No scheduler is below its bounds in the golden scenes, in the shipped scenarios and in those of the corpus; and what has no bound says why.

use std::path::{Path, PathBuf};
use std::time::Instant;

use flashlane_ceiling::{Class, Effort, Placement, Work, Writes};
use flashlane_report::results::{Ceiling, SchedulerResult};
use flashlane_scenario::Scenario;
use flashlane_sim::{Options, ceiling, compare_prepared, prepare};
use rand_pcg::Pcg64Mcg;
use rayon::prelude::*;

use crate::common::play::{Mix, asks};
use crate::common::{ceilings, table1};

/// The scenarios of a folder of the project.
fn scenarios(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|why| panic!("{}: {why}", folder.display()));
    let paths = entries.map(|entry| entry.unwrap_or_else(|why| panic!("{why}")).path());
    let mut paths: Vec<PathBuf> = paths.filter(|path| path.extension().is_some_and(|end| end == "toml")).collect();
    paths.sort();
    paths
}

/// What is below its bound in a run. Percentiles of runs are up to 0.79 % off.
fn below(run: &SchedulerResult) -> Option<String> {
    let gap = run.ceiling?;
    let exact = [gap.mean_static, gap.mean_free, gap.worst_static, gap.worst_free];
    let rounded = [gap.p99_static, gap.p99_free, gap.p99_9_static, gap.p99_9_free];
    let is_below = exact.iter().flatten().any(|&gap| gap < 1.0) || rounded.iter().flatten().any(|&gap| gap < 0.992);
    is_below.then(|| format!("{}: {gap:?}", run.name))
}

/// The bounds of a scenario, and what is below them.
fn judged(path: &Path) -> (Ceiling, Vec<String>) {
    let name = path.display();
    let scenario = Scenario::load(path).unwrap_or_else(|why| panic!("{why}"));
    let prepared = prepare(&scenario).unwrap_or_else(|why| panic!("{name}: {why}"));
    let bounds = ceiling(&prepared).unwrap_or_else(|why| panic!("{name}: {why}"));
    let options = Options { audit: false, rows: None, activity: false, progress: None };
    let made = compare_prepared(&scenario, &prepared, &options).unwrap_or_else(|why| panic!("{name}: {why}"));
    let mut summary = made.summary;
    summary.compare_with_ceiling(bounds.clone());
    let wrong = summary.schedulers.iter().filter_map(below).map(|what| format!("{name}: {what}")).collect();
    (bounds, wrong)
}

#[test]
fn golden_scenes_and_the_corpus_are_not_below() {
    let paths = [scenarios("scenarios/golden"), scenarios("dev/xtask/corpus")].concat();
    let judged: Vec<(Ceiling, Vec<String>)> = paths.par_iter().map(|path| judged(path)).collect();
    let wrong: Vec<&String> = judged.iter().flat_map(|(_, wrong)| wrong).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    let bounded = judged.iter().filter(|(bounds, _)| bounds.none.is_none()).count();
    assert!(bounded >= 40, "{bounded} of {} have bounds", paths.len());
    println!("{bounded} of {} scenarios have bounds", paths.len());
}

/// The bounds on the mean with fixed and with free placement that `effort` finds, and how long that takes, seconds.
fn found(work: &Work, effort: &Effort) -> ([u64; 2], f64) {
    let begun = Instant::now();
    let bounds = work.bounds(effort).expect("requests");
    let of = |placement| bounds.of(Class { placement, writes: Writes::Kept }).mean_ns;
    ([Placement::Fixed, Placement::Free].map(of), begun.elapsed().as_secs_f64())
}

/// Of what one window and 60 steps find, how much `efforts` find, of requests to `channels` channels of four chips every `gap` ns.
fn shares(channels: u32, requests: usize, gap: u64, efforts: &[Effort]) -> Vec<[f64; 2]> {
    let mut config = table1(channels, 4);
    config.geometry.blocks_per_plane = 4096;
    config.ftl.logical_pages = config.geometry.planes() * config.geometry.pages_per_plane() / 2;
    let mix = Mix { requests, gap, reads: 70, pages: 4, hot: 0, partial: 20, scattered: 0 };
    let work = ceilings::work(&config, &asks(&config, &mix, &mut Pcg64Mcg::new(1)));
    let whole = Effort { window: [usize::MAX; 2], steps: 60, pieces: usize::MAX };
    let (of_whole, seconds) = found(&work, &whole);
    println!("every {gap} ns, one window: {of_whole:?}, {seconds:.1} s");
    let share = |effort: &Effort| {
        let (means, seconds) = found(&work, effort);
        let shares = [0, 1].map(|i| means[i] as f64 / of_whole[i] as f64);
        println!("every {gap} ns, {effort:?}: {means:?}, {shares:.3?} of the whole, {seconds:.1} s");
        shares
    };
    efforts.iter().map(share).collect()
}

/// Short windows and few steps, from half the load to overload: what piles up is not forgotten.
#[test]
fn windows_cost_little() {
    let effort = Effort { window: [2_000, 4_000], steps: 12, pieces: usize::MAX };
    for gap in [160_000, 75_000, 60_000] {
        for share in shares(2, 20_000, gap, &[effort])[0] {
            assert!((0.9..1.05).contains(&share), "{share} at {gap} ns");
        }
    }
}

/// Windows and fewer steps against one window and many steps, of a million requests on 32 chips from half the load they can take to more
/// than that.
#[test]
#[ignore = "nightly: a million requests, and long searches"]
fn what_windows_cost() {
    for gap in [40_000, 25_000, 21_000, 19_000, 15_000] {
        for share in shares(8, 1_000_000, gap, &[Effort::default()])[0] {
            assert!((0.85..1.05).contains(&share), "{share} at {gap} ns");
        }
    }
}
