//! What observers find does not depend on which events are kept for others, nor on how many threads there are.

use std::path::Path;

use flashlane_core::event::Stamped;
use flashlane_report::results::{Format, RowWriter, TransactionRow};
use flashlane_scenario::Scenario;
use flashlane_sim::{ObserverOptions, run_observed};
use flashlane_testing::scratch;

/// Reads and writes of two flows on a full drive that collects, under schedulers that pause programs, move writes, estimate.
fn scenario(scheduler: &str, shadow: bool) -> Scenario {
    let text = format!(
        "scheduler = \"{scheduler}\"\n[device]\npreset = \"flin-isca18\"\ngeometry.blocks_per_plane = 64\nftl.user_gb = 7\n\
         precondition.state = \"steady\"\n[run]\nshadow_estimator = {shadow}\n\
         [[flow]]\nname = \"reader\"\nsynthetic = {{ read_ratio = 1.0, rate_iops = 30000, requests = 1500 }}\n\
         [[flow]]\nname = \"writer\"\nsynthetic = {{ read_ratio = 0.3, rate_iops = 10000, requests = 500, size = {{ constant = 32768 }} }}\n"
    );
    Scenario::parse("watched", text).unwrap_or_else(|error| panic!("{error}"))
}

/// Runs with `threads`; returns the rows of transactions, what the dies did, and the accuracy of estimates. With `all`, every event is kept.
fn observed(scheduler: &str, shadow: bool, threads: usize, all: bool, folder: &Path) -> (Vec<u8>, String, String) {
    let path = folder.join("transactions.csv");
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
    let rows: RowWriter<TransactionRow> = RowWriter::create(&path, Format::Csv).expect("a file");
    let mut count = 0;
    let mut ignore = |_: &Stamped| count += 1;
    let outcome = pool.install(|| {
        let events = all.then_some(&mut ignore as &mut (dyn FnMut(&Stamped) + Send));
        let (transactions, activity) = (Some(rows), true);
        let observers =
            ObserverOptions { transactions, activity, estimation: shadow, events, ..ObserverOptions::default() };
        run_observed(&scenario(scheduler, shadow), observers).unwrap_or_else(|error| panic!("{error}"))
    });
    assert_eq!(count > 0, all);
    let (activity, estimation) = (outcome.activity.expect("recorded"), outcome.estimation);
    (std::fs::read(&path).expect("written"), format!("{activity:?}"), format!("{estimation:?}"))
}

#[test]
fn events_that_nobody_needs_and_threads_change_nothing() {
    let folder = scratch("watched");
    for scheduler in ["fr-fcfs", "fcfs", "sprinkler", "flin", "slacker", "read-first"] {
        for shadow in [false, true] {
            let plain = observed(scheduler, shadow, 1, true, &folder);
            assert!(plain.0.iter().filter(|byte| **byte == b'\n').count() > 2_500);
            for (threads, all) in [(1, false), (3, false), (2, true)] {
                let other = observed(scheduler, shadow, threads, all, &folder);
                assert!(other.0 == plain.0, "rows under {scheduler}, {threads} threads, shadow: {shadow}");
                assert!(other.1 == plain.1, "dies under {scheduler}, {threads} threads, shadow: {shadow}");
                assert_eq!(other.2, plain.2, "{scheduler}, {threads}");
            }
        }
    }
    std::fs::remove_dir_all(folder).expect("removed");
}
