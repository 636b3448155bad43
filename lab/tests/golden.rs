//! The comparison of four schedulers on two tenants as text: any change of a result shows in a diff.
//!
//! `cargo xtask bless golden` writes the file anew; say in the commit why the figures changed.

use flashlane_lab::results::table;
use flashlane_lab::run::{Options, compare};
use flashlane_lab::scenario::Scenario;

#[path = "common/kept.rs"]
mod kept;

/// A reader and a writer on a small drive in steady state: small enough to run quickly, and loaded enough that the
/// schedulers differ in every column.
const SCENARIO: &str = r#"
schedulers = ["fcfs", "read-first", { name = "fr-fcfs-4", base = "fr-fcfs", write_capacity = 4 }, "sprinkler"]
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
    kept::same("golden", "lab/tests/golden/two_tenants.txt", &shown);
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
