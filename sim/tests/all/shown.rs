//! What the shipped scenarios of drives of today show in their pictures.

use std::path::Path;

use flashlane_report::results::{FlowResult, Summary};
use flashlane_scenario::Scenario;
use flashlane_sim::{Options, compare};

/// The summary of a shipped scenario under its first scheduler.
fn shown(name: &str) -> Summary {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios").join(name);
    let mut scenario = Scenario::load(&path).expect("a good scenario");
    scenario.set("schedulers", "this test", |document| document.schedulers.as_mut().expect("several").truncate(1));
    compare(&scenario, &Options { audit: false, rows: None, activity: false, progress: None }).expect("a run").summary
}

/// Mean response times of a flow over time, us.
fn over_time(flow: &FlowResult) -> Vec<u64> {
    flow.figures.over_time.all.mean_ns.iter().map(|ns| ns / 1_000).collect()
}

/// A read of 4 KiB takes 125 us of the flash on average, 6 us of the bus, and 2 us and its data's time of the link: 134 us. With the read
/// of its entry before it, 4 KiB too, 265 us; two flows meet at four dies, which adds some.
#[test]
fn a_cold_map_makes_reads_cost_two_until_it_is_warm() {
    let summary = shown("cold-map.toml");
    let [warm, cold] = &summary.schedulers[0].flows[..] else { panic!("two flows") };
    let (warm, cold) = (over_time(warm), over_time(cold));
    let (first, last) = (warm[0], warm[warm.len() - 2]);
    assert!((300..360).contains(&first) && (134..150).contains(&last), "{warm:?}");
    assert!(cold.iter().take(cold.len() - 1).all(|mean| (285..325).contains(mean)), "{cold:?}");
    let mapping = summary.schedulers[0].device.mapping.as_ref().expect("a map on the flash");
    // Each of the 12,208 pages of `warm` misses once, which 50,000 reads of them leave 203 without; of `cold` hardly any read hits.
    assert!((41_900..=42_205).contains(&mapping.misses), "{mapping:?}");
}
