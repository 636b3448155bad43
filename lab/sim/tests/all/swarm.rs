//! Swarm: random devices, schedulers and workloads, with the auditor, and the translation layer's tables checked at the
//! end.
//!
//! Every run is a function of its seed, which a failure prints; `SWARM_SEED=N SWARM_RUNS=1` repeats that run,
//! `SWARM_RUNS=100000` runs for hours. Every day the first tenth of each kind's seeds, nightly the others. Schedulers are
//! drawn from the catalogue's schedulers and answers, so a new one is included as soon as it is listed.

mod samples;

use std::ops::Range;
use std::sync::mpsc::RecvTimeoutError;

use crate::common::ceilings;
use crate::common::play::{self, Mix, asks};
use flashlane_sched::catalogue::Recipe;
use flashlane_ssd::config::*;
use samples::*;

/// Seeds of each kind unless the environment says otherwise: every day, and nightly.
const DAILY: Range<u64> = 1..251;
const NIGHTLY: Range<u64> = 251..2501;
/// Those of drives that are as good as full.
const DAILY_FULL: Range<u64> = 1..51;
const NIGHTLY_FULL: Range<u64> = 51..501;

fn environment(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name}={text}: must be a whole number")))
}

/// The most seconds of a run: thousands of times what one takes.
const TIMEOUT_S: u64 = 300;

/// Runs `job`; ends the program with `complaint` if it does not return, for a device in an endless loop never does.
fn watched<T>(complaint: &str, job: impl FnOnce() -> T) -> T {
    let (done, wait) = std::sync::mpsc::channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            if wait.recv_timeout(std::time::Duration::from_secs(TIMEOUT_S)) == Err(RecvTimeoutError::Timeout) {
                eprintln!("{complaint}");
                std::process::abort();
            }
        });
        let result = job();
        drop(done);
        result
    })
}

/// Whether writing the entries that collection changes can take as many pages as it frees, so that it never ends.
///
/// Of a victim's pages the share `valid` is moved: the mean of the blocks that are not free, since where a drive is collected again and again
/// only rewrites of translation pages make pages invalid. Each move of a logical page changes an entry, which is held no longer when
/// collection comes round to it again, and so costs a rewrite; a rewrite takes the other changed entries of its translation page along, at
/// most those that are held, and with one-shot programs up to a wordline, the rest of which is pads. Nothing is gained if rewrites take the
/// pages that are freed. Where pages may go to any plane, or blocks in SLC mode hold a part of them, the pages of a plane can be valid but for
/// one of each block.
fn map_can_keep_busy(config: &Config, recipe: &Recipe) -> bool {
    let Some(mapping) = &config.mapping else { return false };
    let (logical, stored) = (f64::from(config.ftl.logical_pages), f64::from(config.stored_pages()));
    let held = f64::from(mapping.held()) / logical;
    if held >= 1.0 || moves_pages(recipe) || config.slc.as_ref().is_some_and(|slc| slc.dynamic) {
        return held < 1.0;
    }
    let blocks = config.geometry.planes() * (config.native_blocks() - config.gc.start_blocks);
    let valid = stored / f64::from(blocks * config.geometry.pages_per_block);
    let changed = 1.0 + f64::from(mapping.entries_per_page - 1) * held;
    let rewrites = valid * logical / stored / changed;
    rewrites * f64::from(config.nand.one_shot_pages) >= 1.0 - valid
}

/// Whether a run may be stopped by this error: where pages may go to any plane, all can gather in one; and each page that collection moves can
/// cost a translation page.
fn is_legal_end(why: &str, config: &Config, recipe: &Recipe) -> bool {
    let out_of_space = why.contains("drive out of space") && moves_pages(recipe);
    out_of_space || why.contains("the map keeps the drive busy") && map_can_keep_busy(config, recipe)
}

/// The number of failures after which a swarm stops.
const ENOUGH: usize = 10;

/// Runs a swarm with one kind of schedulers. Returns how many reads kept an older copy of their page, and how many erases waited for such
/// reads.
fn swarm(
    kind: &str,
    usual: Range<u64>,
    device: fn(&mut RandomStream) -> Config,
    scheduler: fn(&mut RandomStream) -> Recipe,
    load: fn(&mut RandomStream, &Config) -> Mix,
) -> (u64, u64) {
    let first = environment("SWARM_SEED").unwrap_or(usual.start);
    let usual = usual.end - usual.start;
    let runs = environment("SWARM_RUNS").unwrap_or(usual);
    let (mut events, mut erases, mut pauses, mut cancelled, mut forced, mut full) = (0, 0, 0, 0, 0, 0);
    let (mut kept, mut late, mut gaps) = (0, 0, 0.0);
    let mut failures: Vec<String> = Vec::new();
    for seed in first..first.saturating_add(runs) {
        let mut random = RandomStream::new(seed);
        let config = device(&mut random);
        let recipe = scheduler(&mut random);
        let mix = load(&mut random, &config);
        let mut asks = asks(&config, &mix, &mut random.0);
        if kind.starts_with("commands") {
            let share = random.one_of(&[2, 10, 40]);
            play::with_commands(&mut asks, share, &mut random.0);
        }
        let fail = |why: &str| {
            let what =
                format!("{recipe:?}\n{mix:?}\n{}", if runs == 1 { format!("{config:#?}") } else { String::new() });
            format!(
                "SWARM_SEED={seed} SWARM_RUNS=1 cargo test -p flashlane-sim --test all swarm::{kind} -- --include-ignored: {why}\n{what}"
            )
        };
        let outcome = watched(&fail("does not come to an end"), || {
            std::panic::catch_unwind(|| play::audit(&config, &recipe, &asks))
        });
        match outcome {
            Ok(Ok((played, verdict))) => {
                events += verdict.events;
                erases += played.totals.erases;
                pauses += played.totals.pauses;
                cancelled += played.totals.cancelled;
                forced += played.totals.forced_batches;
                kept += played.totals.kept_reads;
                late += played.totals.late_erases;
                match ceilings::hold(&config, &recipe, &asks, &played.completions) {
                    Ok(gap) => gaps += gap.ln(),
                    Err(why) => failures.push(fail(&why)),
                }
            }
            Ok(Err(why)) if is_legal_end(&why, &config, &recipe) => full += 1,
            Ok(Err(why)) => failures.push(fail(&why)),
            Err(_) => failures.push(fail("a panic, see above")),
        }
        if failures.len() == ENOUGH {
            break;
        }
    }
    assert!(failures.is_empty(), "{} failures\n\n{}", failures.len(), failures.join("\n"));
    println!(
        "{kind}: {runs} runs, {full} out of space, {events} events, {erases} erases, {pauses} pauses, {cancelled} \
         cancelled writes, {forced} collections forced on a write, {kept} reads of older copies, {late} erases after them, {:.2} times the bound",
        (gaps / runs as f64).exp()
    );
    // One in fourteen of the mixes on devices with everything; by chance twice as many.
    assert!(full * 7 <= runs, "{full} of {runs} runs ended out of space");
    // A swarm without collections and pauses would test little.
    assert!(runs < usual || erases > 1000 && pauses > 100, "the swarm has become too tame");
    (kept, late)
}

#[test]
fn every_row_of_the_catalogue() {
    swarm("every_row_of_the_catalogue", DAILY, config, any_row, workload);
}

#[test]
#[ignore = "nightly: nine times the seeds"]
fn every_row_of_the_catalogue_further() {
    swarm("every_row_of_the_catalogue", NIGHTLY, config, any_row, workload);
}

#[test]
fn every_mix_of_answers() {
    swarm("every_mix_of_answers", DAILY, config, any_mix, workload);
}

#[test]
#[ignore = "nightly: nine times the seeds"]
fn every_mix_of_answers_further() {
    swarm("every_mix_of_answers", NIGHTLY, config, any_mix, workload);
}

/// Reads that keep an older copy of their page, and the erases that wait for them: at least so many in these seeds.
fn mixes_that_keep_older_copies(seeds: Range<u64>, [reads, erases]: [u64; 2]) {
    let (kept, late) = swarm("mixes_that_move_pages", seeds, config, moving_mix, contended);
    assert!(
        environment("SWARM_RUNS").is_some() || kept > reads && late > erases,
        "{kept} reads, {late} erases are too few"
    );
}

#[test]
fn mixes_that_move_pages() {
    mixes_that_keep_older_copies(DAILY, [1_000, 10]);
}

#[test]
#[ignore = "nightly: nine times the seeds"]
fn mixes_that_move_pages_further() {
    mixes_that_keep_older_copies(NIGHTLY, [8_000, 80]);
}

/// One-shot programs, with the commands that pad wordlines and take pages out of them.
#[test]
fn commands_in_one_shot_under_every_row() {
    swarm("commands_in_one_shot_under_every_row", DAILY, in_one_shot, any_row, overwrites);
}

#[test]
fn commands_in_one_shot_under_every_mix_of_answers() {
    swarm("commands_in_one_shot_under_every_mix_of_answers", DAILY, in_one_shot, any_mix, contended);
}

#[test]
#[ignore = "nightly: nine times the seeds"]
fn commands_in_one_shot_under_every_mix_of_answers_further() {
    swarm("commands_in_one_shot_under_every_mix_of_answers", NIGHTLY, in_one_shot, any_mix, overwrites);
}

/// Rows of several pages, with the same commands.
#[test]
fn commands_in_rows_under_every_row() {
    swarm("commands_in_rows_under_every_row", DAILY, in_rows, any_row, overwrites);
}

#[test]
fn commands_in_rows_under_every_mix_of_answers() {
    swarm("commands_in_rows_under_every_mix_of_answers", DAILY, in_rows, any_mix, contended);
}

#[test]
#[ignore = "nightly: nine times the seeds"]
fn commands_in_rows_under_every_mix_of_answers_further() {
    swarm("commands_in_rows_under_every_mix_of_answers", NIGHTLY, in_rows, any_mix, overwrites);
}

/// Trims, write zeroes, flushes and writes with FUA among reads and writes of few pages.
#[test]
fn commands_under_every_row() {
    swarm("commands_under_every_row", DAILY, trimmed, any_row, contended);
}

#[test]
fn commands_under_every_mix_of_answers() {
    swarm("commands_under_every_mix_of_answers", DAILY, trimmed, any_mix, contended);
}

#[test]
#[ignore = "nightly: nine times the seeds"]
fn commands_under_every_mix_of_answers_further() {
    swarm("commands_under_every_mix_of_answers", NIGHTLY, trimmed, any_mix, contended);
}

/// Trims, flushes and FUA on devices with an SLC cache, a mapping cache and a write-back buffer, some with reads that are tried again.
#[test]
fn commands_on_devices_with_everything() {
    swarm("commands_on_devices_with_everything", DAILY_FULL, everything, any_row, contended);
    swarm("commands_on_devices_with_everything", DAILY_FULL, everything, any_mix, contended);
}

#[test]
#[ignore = "nightly: nine times the seeds"]
fn commands_on_devices_with_everything_further() {
    swarm("commands_on_devices_with_everything", NIGHTLY_FULL, everything, any_mix, contended);
}

/// Garbage collection can continue on a drive that is almost full and overwritten all the time, under every scheduler.
#[test]
fn full_drives_under_every_row() {
    swarm("full_drives_under_every_row", DAILY_FULL, tight, any_row, overwrites);
}

#[test]
#[ignore = "nightly: nine times the seeds"]
fn full_drives_under_every_row_further() {
    swarm("full_drives_under_every_row", NIGHTLY_FULL, tight, any_row, overwrites);
}

/// Bounds against small runs under random rows and mixes, by their seeds.
fn small_runs(usual: Range<u64>) {
    let first = environment("SWARM_SEED").unwrap_or(usual.start);
    let runs = environment("SWARM_RUNS").unwrap_or(usual.end - usual.start);
    let (mut full, mut tight, mut gaps) = (0, 0, 0.0);
    for seed in first..first.saturating_add(runs) {
        let mut random = RandomStream::new(seed);
        let config = small(&mut random);
        if config.check().is_err() {
            full += 1;
            continue;
        }
        let recipe = if seed % 2 == 0 { any_row(&mut random) } else { any_mix(&mut random) };
        let mix = few(&mut random, &config);
        let asks = asks(&config, &mix, &mut random.0);
        let fail = |why: &str| -> ! {
            panic!(
                "SWARM_SEED={seed} SWARM_RUNS=1 cargo test -p flashlane-sim --test all swarm::bounds: {why}\n{recipe:?}\n{mix:?}"
            )
        };
        match play::audit(&config, &recipe, &asks) {
            Ok((played, _)) => match ceilings::hold(&config, &recipe, &asks, &played.completions) {
                Ok(gap) => {
                    gaps += gap.ln();
                    tight += u64::from(gap < 1.000_001);
                }
                Err(why) => fail(&why),
            },
            // As in the swarm.
            Err(why) if why.contains("drive out of space") || why.contains("the map keeps the drive busy") => full += 1,
            Err(why) => fail(&why),
        }
    }
    let made = runs - full;
    println!(
        "{made} small runs, {full} left out, {tight} at the bound, {:.3} times the bound",
        (gaps / made as f64).exp()
    );
    assert!(runs == 1 || full * 10 <= runs && tight * 50 >= made, "{full} of {runs} left out, {tight} at the bound");
}

#[test]
fn bounds_hold_in_small_runs() {
    small_runs(0..3_000);
}

#[test]
#[ignore = "nightly: a hundred times the seeds"]
fn bounds_hold_in_small_runs_further() {
    small_runs(3_000..300_000);
}
