//! Fairness as a user sees it: flows at levels, flows alike.

use flashlane_lab::results::Summary;
use flashlane_lab::run::{Options, compare};
use flashlane_lab::scenario::Scenario;

fn run(text: &str) -> Summary {
    let scenario = Scenario::parse("fairness", text.to_owned()).unwrap_or_else(|why| panic!("{why}"));
    let options = Options { audit: true, rows: None, command: String::new(), progress: None };
    compare(&scenario, &options).unwrap_or_else(|why| panic!("{why}")).summary
}

/// Slowdowns of four flows that are alike but for these levels, on a small fresh drive that they keep busy. (In a drive in
/// steady state flows are not alike: the first one's data lie in its oldest blocks.)
fn four(scheduler: &str, levels: [u8; 4], iops: u32) -> Vec<f64> {
    let mut text = format!(
        "scheduler = \"{scheduler}\"\n[device]\npreset = \"flin-isca18\"\n[device.geometry]\nchannels = 2\n\
         blocks_per_plane = 256\n[device.ftl]\nover_provisioning_percent = 28\n[device.precondition]\nstate = \"fresh\"\n[run]\nwarm_up_ms = 50\n"
    );
    for level in levels {
        text.push_str(&format!(
            "[[flow]]\npriority = {level}\n[flow.synthetic]\nread_ratio = 0.8\nsize = {{ constant = 8192 }}\n\
             rate_iops = {iops}\nrequests = 12_000\n"
        ));
    }
    let summary = run(&text);
    let slowdowns = summary.schedulers[0].flows.iter().map(|flow| flow.slowdown.expect("run alone too"));
    slowdowns.collect()
}

/// The higher a flow's level, the less it is slowed down; whichever flow has which.
#[test]
fn levels_order_slowdowns() {
    for levels in [[0, 1, 2, 3], [3, 2, 1, 0], [1, 3, 0, 2]] {
        let slowdowns = four("flin", levels, 5_000);
        let mut by_level: Vec<(u8, f64)> = levels.into_iter().zip(slowdowns).collect();
        by_level.sort_by_key(|&(level, _)| level);
        assert!(by_level.is_sorted_by(|a, b| a.1 > b.1), "{by_level:?}");
        assert!(by_level[0].1 > 1.5 * by_level[3].1, "{by_level:?}");
    }
}

/// Flows alike in everything are slowed down alike.
#[test]
fn like_flows_fare_alike() {
    for scheduler in ["flin", "flin-stage1", "flin-stage3"] {
        let slowdowns = four(scheduler, [0; 4], 4_000);
        let (least, most) = slowdowns.iter().fold((f64::MAX, 0.0f64), |(l, m), &s| (l.min(s), m.max(s)));
        assert!(least > 1.2 && most / least < 1.05, "{scheduler}: {slowdowns:?}");
    }
}
