//! The measuring program as a user runs it.

use std::path::Path;
use std::process::{Command, Output};

use flashlane_bench::callgrind;
use flashlane_bench::cases;

const PROGRAM: &str = env!("CARGO_BIN_EXE_flashlane-bench");

fn bench(args: &[&str]) -> Output {
    Command::new(PROGRAM).args(args).output().unwrap()
}

fn printed(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn the_table_names_the_machine_and_has_a_row_a_case() {
    let output = bench(&["--quick", "--no-count", "calibration", "fcfs/4k-mix"]);
    assert!(output.status.success(), "{output:?}");
    let text = printed(&output);
    assert!(text.lines().next().unwrap().contains("cores"), "{text}");
    let rows = text.lines().filter(|line| line.starts_with("| ")).count();
    let asked = |name: &str| name.contains("calibration") || name.contains("fcfs/4k-mix");
    let wanted = cases::all().iter().filter(|case| asked(&case.name())).count();
    assert!(wanted > 5, "cases of several kinds");
    assert_eq!(rows, 1 + wanted, "{text}");
}

#[test]
fn a_table_of_64_mib_shows_in_the_memory_of_its_case_only() {
    let peak = |name: &str| {
        let output = bench(&["--run-case", name, "1000"]);
        let text = printed(&output);
        text.trim().rsplit_once("peak_bytes=").expect("an outcome").1.parse::<u64>().unwrap()
    };
    assert!(peak("calibration/cache-miss/none/1") > 64 << 20);
    assert!(peak("calibration/arithmetic/none/1") < 32 << 20);
}

#[test]
fn instructions_are_counted_and_come_out_equal() {
    if !callgrind::present() {
        eprintln!("SKIPPED: valgrind is absent");
        return;
    }
    let count = |requests: u64| {
        let args = ["--run-case", "calibration/arithmetic/none/1", &requests.to_string()].map(String::from);
        callgrind::count(Path::new(PROGRAM), &args).unwrap()
    };
    let first = callgrind::per_item(count(50_000), count(100_000)).unwrap();
    let second = callgrind::per_item(count(50_000), count(100_000)).unwrap();
    // The generator's step is a multiplication, an addition, some shifts and a rotation: without the optimiser each is a call.
    assert!((4.0..200.0).contains(&first), "{first} instructions per step");
    assert!((first - second).abs() < 0.1, "{first} and {second}");
}

#[test]
fn wrong_words_are_refused() {
    for (args, want) in [
        (&["--runs", "0"][..], "1..=1000"),
        (&["--rnus", "3"], "unexpected argument"),
        (&["no-such-case"], "no-such-case"),
        (&["--run-case", "x", "5"], "no case \"x\""),
        (&["calibration", "--requests", "5", "--write", "tables"], "cannot be used with"),
        (&["calibration", "--requests", "0"], "1..=1000000000"),
        (&["--quick", "--write", "tables"], "cannot be used with"),
        (&["whole", "no-such-case"], "no-such-case"),
        (&["whole", "--quick", "--write", "tables"], "cannot be used with"),
        (&["whole", "--check", "tables", "--no-count"], "cannot be used with"),
        (&["whole", "--requests", "5"], "unexpected argument"),
        (&["watching", "--jobs", "2"], "unexpected argument"),
        (&["real", "no-such-drive"], "no-such-drive"),
        (&["real", "--quick", "--write", "tables"], "cannot be used with"),
    ] {
        let output = bench(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains(want), "{args:?}: {output:?}");
    }
}

#[test]
fn whole_processes_are_listed_and_the_checked_ones_are_fewer() {
    let lines = |args: &[&str]| printed(&bench(args)).lines().count();
    let all = lines(&["whole", "--list"]);
    let checked = lines(&["whole", "--list", "--check", "tables"]);
    assert!(all > 10 && checked == 2, "{all} and {checked}, in a build with checks");
}

/// Whether no figure of `flashlane-bench real` is further from what was measured on real drives than the stored table says.
fn no_drive_is_worse(more: &[&str]) {
    let tables = concat!(env!("CARGO_MANIFEST_DIR"), "/tables");
    let output = bench(&[&["real", "--check", tables], more].concat());
    assert!(output.status.success(), "{}", printed(&output));
    assert!(printed(&output).contains("| samsung-980-pro-1tb | depth 8 | fit |"), "{}", printed(&output));
}

#[test]
fn no_drive_of_the_short_form_is_worse() {
    no_drive_is_worse(&["--quick"]);
}

#[test]
#[ignore = "nightly: all devices at all rates, over a minute of CPU"]
fn no_drive_is_worse_than_it_was() {
    no_drive_is_worse(&[]);
}
