//! Runs killed at random moments: the folder has the earlier or the new results, and the next run leaves nothing else.
//!
//! This covers the exchange in one step. The moment between two renames, on systems without such a step, is covered by
//! the tests of the `outputs` crate, which can force it.

use std::process::Stdio;
use std::time::{Duration, Instant};

use flashlane_testing::Random;

use super::*;

#[test]
fn a_run_killed_at_any_moment_leaves_old_or_new() {
    killed(60);
}

#[test]
#[ignore = "nightly: five times the kills"]
fn a_run_killed_at_many_moments_leaves_old_or_new() {
    killed(300);
}

/// Kills a run `kills` times.
fn killed(kills: u32) {
    let desk = desk();
    let desk = desk.path();
    std::fs::create_dir(desk.join(".out.flashlane-of-mine")).unwrap();
    std::fs::write(desk.join(".out.flashlane-of-mine/notes.md"), "mine").unwrap();
    std::fs::write(desk.join("out.txt"), "mine").unwrap();
    let args = |seed: &'static str| {
        ["compare", "tiny.toml", "--seed", seed, "--out", "out", "--report", "out/report.html", "--transactions"]
    };
    let page = ["compare", "tiny.toml", "--report", "page.html"];
    good(desk, &page);
    // The complete folder for each seed, and how long it takes to write one.
    let mut wholes = Vec::new();
    let mut takes = Duration::ZERO;
    for seed in ["1", "2"] {
        let begun = Instant::now();
        good(desk, &args(seed));
        takes = begun.elapsed();
        wholes.push(files(&desk.join("out")));
    }
    let around = |desk: &Path| {
        let mut around = files(desk);
        around.retain(|name, _| !name.starts_with("out/") && !is_leftover(name));
        around
    };
    let neighbours = around(desk);
    let mut random = Random(0x2545_F491_4F6C_DD1D);
    let (mut replaced, mut leftovers) = (0, 0);
    for kill in 0..kills {
        let seed = ["1", "2"][kill as usize % 2];
        let with_page = kill % 10 == 9;
        let args = if with_page { &page[..] } else { &args(seed)[..] };
        let mut child = program(desk, args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let moment = takes.mul_f64(1.2 * random.share());
        std::thread::sleep(moment);
        child.kill().unwrap();
        child.wait().unwrap();
        let now = files(&desk.join("out"));
        assert!(wholes.contains(&now), "after {moment:?}: neither the earlier results nor the new: {:?}", now.keys());
        replaced += u32::from(!with_page && now == wholes[kill as usize % 2]);
        leftovers += u32::from(names(desk).iter().any(|name| is_leftover(name)));
        assert_eq!(around(desk), neighbours, "after {moment:?}");
        // Sometimes what was left is cleaned up at once; otherwise it accumulates.
        if kill % 4 == 3 {
            good(desk, args);
            if with_page {
                assert!(!names(desk).iter().any(|name| name.starts_with(".page.html.")), "{:?}", names(desk));
            } else {
                assert_eq!(files(&desk.join("out")), wholes[kill as usize % 2]);
                assert!(
                    !names(desk).iter().any(|name| is_leftover(name) && name.starts_with(".out.")),
                    "{:?}",
                    names(desk)
                );
            }
        }
    }
    good(desk, &args("1"));
    good(desk, &page);
    assert_eq!(files(&desk.join("out")), wholes[0]);
    assert!(!names(desk).iter().any(|name| is_leftover(name)), "{:?}", names(desk));
    println!(
        "{takes:?} a run, {kills} kills: {replaced} found the new results in place, {leftovers} times something was left to sweep"
    );
}

/// Whether a name is one of flashlane's temporary ones, or a path below one.
fn is_leftover(name: &str) -> bool {
    name.starts_with('.') && name.contains(".flashlane-") && !name.contains("of-mine")
}
