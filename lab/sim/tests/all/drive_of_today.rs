//! The default drive, `modern-tlc`: where it has little to do nothing takes seconds, or even a tenth of one.

use std::path::Path;

use flashlane_report::results::Summary;
use flashlane_scenario::Scenario;
use flashlane_sim::{Options, compare};

/// Half of its blocks, with which collection is as rare, and half of the tables.
const HALF: &str = "geometry.blocks_per_plane = 350\nftl.over_provisioning_percent = 12.7";
const SYNTHETIC: &str = "read_ratio = 0.6, size = { constant = 16384 }, rate_iops = 1000, requests = 20000";

fn compared(flow: &str) -> Summary {
    let schedulers = r#"["fcfs", "read-first", "read-first-suspend", "sprinkler"]"#;
    let text = format!("schedulers = {schedulers}\n[device]\npreset = \"modern-tlc\"\n{HALF}\n[[flow]]\n{flow}\n");
    let scenario = Scenario::parse("today", text).unwrap_or_else(|error| panic!("{error}"));
    let options = Options { audit: false, rows: None, activity: false, progress: None };
    compare(&scenario, &options).unwrap_or_else(|error| panic!("{error}")).summary
}

fn check(name: &str, summary: &Summary) {
    for run in &summary.schedulers {
        let busy = run.device.chip_utilisation;
        assert!((0.005..0.05).contains(&busy), "{name} under {}: chips are busy {busy}", run.name);
        let most = run.total.all.as_ref().expect("requests").max_ns;
        assert!(most < 50_000_000, "{name} under {}: {most} ns", run.name);
        assert!(run.device.gc.erases + run.device.gc.moves > 0, "{name} under {}: nothing was collected", run.name);
    }
}

#[test]
fn at_two_percent_load_nothing_takes_long() {
    check("random requests", &compared(&format!("synthetic = {{ {SYNTHETIC} }}")));
}

/// A file server's trace as fast as it was recorded.
#[test]
fn nor_does_a_real_trace_as_recorded() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/traces/msnfs.disksim.gz");
    if !path.is_file() {
        println!("SKIPPED: {} is absent, so no real trace was replayed", path.display());
        return;
    }
    check("msnfs", &compared(&format!("trace = {{ path = {path:?}, beyond = \"wrap\" }}")));
}
