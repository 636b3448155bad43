//! What FLIN's page explains with a scenario, shown by that scenario in less simulated time.

use std::path::Path;

use flashlane_report::results::SchedulerResult;
use flashlane_scenario::{Document, Scenario, SchedulerChoice};
use flashlane_sim::{Options, compare};

/// These rows of a scenario of FLIN's, in this many milliseconds and with `change` applied.
#[track_caller]
fn rows(name: &str, ms: u64, rows: &[&str], change: impl Fn(&mut Document)) -> Vec<SchedulerResult> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("flin/scenarios").join(name);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
    let mut document: Document = toml::from_str(&text).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
    (document.run.duration_ms, document.run.warm_up_ms) = (Some(ms), Some(ms / 10));
    for flow in &mut document.flow {
        flow.clone.iter_mut().for_each(|clone| clone.duration_s = Some(ms as f64 / 1e3));
    }
    document.schedulers.iter_mut().for_each(|all| {
        all.retain(|choice| match choice {
            SchedulerChoice::Named(name) => rows.contains(&name.as_str()),
            SchedulerChoice::Mix(mix) => mix.name.as_deref().is_some_and(|name| rows.contains(&name)),
        });
    });
    change(&mut document);
    let options = Options { audit: false, rows: None, activity: false, progress: None };
    let made = compare(&Scenario::from_document("explanation", document), &options);
    let made = made.unwrap_or_else(|why| panic!("{why}")).summary.schedulers;
    assert_eq!(made.iter().map(|run| run.name.as_str()).collect::<Vec<_>>(), rows);
    made
}

fn fairness(run: &SchedulerResult) -> f64 {
    run.fairness.as_ref().expect("all flows completed something").fairness
}

/// Mean response times of reads and of writes, ms.
fn means_ms(run: &SchedulerResult) -> [f64; 2] {
    [&run.total.read, &run.total.write].map(|kind| kind.as_ref().expect("both").mean_ns / 1e6)
}

#[test]
fn most_of_flins_gain_is_its_collector() {
    let own = ["sprinkler", "sprinkler, FLIN's collector", "flin", "flin, Sprinkler's collector"];
    let made = rows("collectors.toml", 2_000, &own, |_| ());
    let [sprinkler, collected, flin, uncollected] = [0, 1, 2, 3].map(|i| (fairness(&made[i]), means_ms(&made[i])));
    assert!(collected.0 > 10.0 * sprinkler.0 && uncollected.0 < 2.5 * sprinkler.0 && flin.0 > 1.5 * collected.0);
    let ([reads, writes], [reads_collected, writes_collected]) = (sprinkler.1, collected.1);
    assert!(writes > 5.0 * writes_collected && (0.9..1.1).contains(&(reads / reads_collected)), "writes alone suffer");
}

/// Stage 1 gains more than stage 3 where the baselines' collection does not come before users: if it takes no time, or must come first
/// three blocks later.
#[test]
fn stage_1_gains_more_where_collection_does_not_come_first() {
    let stages = ["sprinkler", "flin-stage1", "flin-stage3"];
    let of = |change: &dyn Fn(&mut Document)| {
        let made = rows("mix-75-01-chosen.toml", 2_000, &stages, change);
        [1, 2].map(|stage| fairness(&made[stage]) / fairness(&made[0]))
    };
    let [first, third] = of(&|_| ());
    assert!(third > 5.0 * first, "{first} {third}");
    let free = |document: &mut Document| document.run.hold.collect = Some("free".into());
    let later = |document: &mut Document| document.device.gc.hard_blocks = Some(9);
    for [first, third] in [of(&free), of(&later)] {
        assert!(first > 1.5 && first > 1.5 * third, "{first} {third}");
    }
}

/// Paying early collects as much, but before writes instead of in idle time, and makes all wait longer.
#[test]
fn writes_that_pay_early_harm() {
    let made = rows("equation-10.toml", 6_000, &["never", "2048"], |_| ());
    // Up to the end of the run as many blocks are erased, but before the last completion, to which the figures of collection go, more.
    let [late, early] = [0, 1].map(|i| made[i].device.gc.erase_count_mean);
    assert!((1.0..1.2).contains(&(early / late)), "{late} and {early} erases a block");
    let [late, early] = [0, 1].map(|i| made[i].device.gc.moves);
    assert!(early > 2 * late, "{late} and {early} moves");
    let ([reads, writes], [early_reads, early_writes]) = (means_ms(&made[0]), means_ms(&made[1]));
    assert!(early_reads > 3.0 * reads && early_writes > 2.0 * writes, "{early_reads} {early_writes}");
    assert_eq!((made[0].device.gc.forced, made[0].device.gc.stalls), (0, 0), "it can wait");
}

/// With a cache writes end in memory: what made Sprinkler unfair has gone.
#[test]
fn a_write_cache_hides_what_flin_gains() {
    let of = |pages: u32| {
        let made = rows("write-cache.toml", 2_000, &["sprinkler", "flin"], |document| {
            document.device.buffer.pages = Some(pages);
        });
        [0, 1].map(|i| (fairness(&made[i]), means_ms(&made[i])[0]))
    };
    let ([bare, flin], [cached, flin_cached]) = (of(0), of(3_906));
    assert!(flin.0 > 10.0 * bare.0 && flin_cached.0 < cached.0, "{flin:?} {bare:?} {flin_cached:?} {cached:?}");
    assert!(
        (0.95..1.05).contains(&(cached.1 / bare.1)) && flin_cached.1 > 1.1 * cached.1,
        "reads wait under FLIN alone"
    );
}

#[test]
fn reads_first_are_less_fair_where_they_also_preempt() {
    let made = rows("reads-first.toml", 1_000, &["fcfs", "read-first", "read-first-suspend"], |_| ());
    let [fcfs, first, suspend] = [0, 1, 2].map(|i| fairness(&made[i]));
    assert!(suspend < 0.99 * fcfs && first > 0.99 * fcfs, "{fcfs} {first} {suspend}");
}
