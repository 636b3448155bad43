//! Fairness in a user's results: flows at priority levels, and equal flows.

use flashlane_report::results::Summary;
use flashlane_scenario::Scenario;
use flashlane_sim::{Options, compare};

fn run(text: &str) -> Summary {
    let scenario = Scenario::parse("fairness", text.to_owned()).unwrap_or_else(|why| panic!("{why}"));
    let options = Options { audit: true, rows: None, activity: false, progress: None };
    compare(&scenario, &options).unwrap_or_else(|why| panic!("{why}")).summary
}

/// Slowdowns of four flows that differ only in these levels, on a small fresh drive that they keep busy. (On a drive in
/// steady state flows are not equal: the data of the first are in its oldest blocks.)
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

/// The higher a flow's level, the less it is slowed down, whichever flow has which level.
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

/// Equal flows are slowed down equally.
#[test]
fn like_flows_fare_alike() {
    for scheduler in ["flin", "flin-stage1", "flin-stage3"] {
        let slowdowns = four(scheduler, [0; 4], 4_000);
        let (least, most) = slowdowns.iter().fold((f64::MAX, 0.0f64), |(l, m), &s| (l.min(s), m.max(s)));
        assert!(least > 1.2 && most / least < 1.05, "{scheduler}: {slowdowns:?}");
    }
}

/// A reader and a writer, this many writes per second.
fn two(schedulers: &str, writes: u32) -> Summary {
    run(&format!(
        "schedulers = {schedulers}\n[device]\npreset = \"flin-isca18\"\n[device.geometry]\nchannels = 2\n\
         blocks_per_plane = 64\npages_per_block = 64\n[device.ftl]\nover_provisioning_percent = 28\n[device.front]\n\
         in_flight = 64\nwrite_queue_capacity = 16\n\
         [[flow]]\nname = \"reader\"\n[flow.synthetic]\nread_ratio = 1.0\nsize = {{ constant = 8192 }}\n\
         rate_iops = 2_000\nrequests = 4_000\n\
         [[flow]]\nname = \"writer\"\n[flow.synthetic]\nread_ratio = 0.1\nsize = {{ constant = 16384 }}\n\
         rate_iops = {writes}\nrequests = 2_000\n"
    ))
}

/// Alone runs shared between schedulers have the figures that each scheduler's own would have.
#[test]
fn shared_alone_runs_are_exact() {
    let both = two("[\"sprinkler\", \"sprinkler+fairness\", { name = \"same\", base = \"sprinkler\" }]", 1_000);
    let own = two("[\"sprinkler+fairness\"]", 1_000);
    for (a, b) in both.schedulers[1].flows.iter().zip(&own.schedulers[0].flows) {
        // Only a comparison has pairs.
        let unpaired = flashlane_report::results::FlowResult { paired: None, ..a.clone() };
        assert_eq!(unpaired, *b);
    }
    for result in &both.schedulers[1..] {
        let alone = |i: usize| (&both.schedulers[0].flows[i].alone, &result.flows[i].alone);
        assert!((0..2).all(|i| alone(i).0 == alone(i).1), "{}", result.name);
    }
    // A parameter that affects a single flow makes the alone runs differ.
    let other = two("[\"sprinkler\", { name = \"narrow\", base = \"sprinkler\", group_window = 1 }]", 1_000);
    assert_ne!(other.schedulers[0].flows[1].alone, other.schedulers[1].flows[1].alone);
}

/// A flow that sends more than can be served is reported as overloaded, and its slowdown rises over time.
#[test]
fn overload_is_said() {
    let calm = two("[\"sprinkler\"]", 200);
    for flow in &calm.schedulers[0].flows {
        let f = &flow.figures;
        assert!(
            !flow.overloaded,
            "{} {:?} {} {}",
            flow.name, f.first_arrival_ns, f.last_arrival_ns, f.last_completion_ns
        );
    }
    let overloads = |summary: &flashlane_report::results::Summary| {
        let warnings = flashlane_report::results::verdict::Verdict::of(summary).warnings;
        warnings.into_iter().find(|warning| warning.rule == flashlane_report::results::verdict::Rule::Overloaded)
    };
    assert_eq!(overloads(&calm), None);
    let much = two("[\"fcfs\"]", 4_000);
    let writer = &much.schedulers[0].flows[1];
    assert!(writer.overloaded);
    let message = overloads(&much).expect("a warning").text;
    assert!(message.contains(" overloads the drive under fcfs: "), "{message}");
    let series = writer.slowdown_over_time.as_ref().expect("run alone too");
    assert!(series.at_ns.len() > 3 && series.at_ns.len() == series.slowdown.len());
    // The mean of all windows, weighted by requests, is about the slowdown.
    let (least, most) = series.slowdown.iter().fold((f64::MAX, 0.0f64), |(l, m), &s| (l.min(s), m.max(s)));
    let mean = writer.slowdown.expect("run alone too");
    assert!(least <= mean && mean <= most, "{least} {mean} {most}");
}
