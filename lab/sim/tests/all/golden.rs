//! The comparison of four schedulers on two tenants as text: any change of a result shows in a diff. And a hash of the figures of every
//! scenario of the corpus, by which a store of runs is told from one whose figures differ.
//!
//! `cargo xtask bless golden` writes the file anew; say in the commit why the figures changed.

use flashlane_testing::kept;
use std::path::Path;

use flashlane_report::results::{MadeBy, table};
use flashlane_scenario::{Scenario, hash_of};
use flashlane_sim::{Options, compare};
use rayon::prelude::*;

/// A reader and a writer on a small drive in steady state: small enough to run quickly, and loaded enough that the
/// schedulers differ in every column.
const SCENARIO: &str = r#"
schedulers = ["fcfs", "read-first", { name = "fr-fcfs-4", base = "fr-fcfs", collect = "atomic", write_capacity = 4 }, "sprinkler"]
seed = 1
[device]
preset = "flin-isca18"
geometry = { channels = 2, chips_per_channel = 2, blocks_per_plane = 64, pages_per_block = 32 }
ftl = { over_provisioning_percent = 28 }
[run]
collect = "non-preemptive"
warm_up_ms = 20
[[flow]]
name = "reader"
[flow.synthetic]
read_ratio = 1.0
size = { constant = 8192 }
rate_iops = 8_000
requests = 8_000
[[flow]]
name = "writer"
[flow.synthetic]
read_ratio = 0.3
size = { mix = [[8192, 3], [32768, 1]] }
access = "zipf"
rate_iops = 450
requests = 450
"#;

#[test]
fn two_tenants_under_four_schedulers() {
    let scenario = Scenario::parse("golden", SCENARIO.to_owned()).unwrap_or_else(|why| panic!("{why}"));
    let options = Options { audit: true, rows: None, activity: false, progress: None };
    let summary = compare(&scenario, &options).unwrap_or_else(|why| panic!("{why}")).summary;
    let shown = table::render(&summary);
    kept::same("golden", "lab/sim/tests/golden/two_tenants.txt", &shown);
}

/// What made the figures is left out: the version is known anyway, and the hash of a scenario may change where no figure does.
#[test]
fn the_figures_of_the_corpus() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../dev/xtask/corpus");
    let entries = std::fs::read_dir(&corpus).unwrap_or_else(|why| panic!("{}: {why}", corpus.display()));
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap_or_else(|why| panic!("{why}")).path()).collect();
    paths.sort();
    let line = |path: &std::path::PathBuf| {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let scenario = Scenario::load(path).unwrap_or_else(|why| panic!("{why}"));
        let options = Options { audit: false, rows: None, activity: false, progress: None };
        let mut summary = compare(&scenario, &options).unwrap_or_else(|why| panic!("{name}: {why}")).summary;
        summary.made_by = MadeBy::default();
        format!("{} {name}\n", hash_of([summary.to_json().as_bytes()]))
    };
    let lines: String = paths.par_iter().map(line).collect();
    assert!(lines.lines().count() >= 25, "{lines}");
    kept::same("golden", "lab/sim/data/figures.txt", &lines);
}

/// Values of the environment variable that permit nothing: a number, a file that does not exist, one that permits
/// something else.
#[test]
fn only_a_permit_of_its_kind_lets_a_file_be_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("written");
        path
    };
    let (own, other, stray) = (file("bless-1", "golden"), file("bless-2", "docs"), file("notes", "golden"));
    assert!(kept::permits(&own, "golden"));
    for path in [&other, &stray, &folder.path().join("bless-3"), std::path::Path::new("1"), folder.path()] {
        assert!(!kept::permits(path, "golden"), "{}", path.display());
    }
}
