//! What a run holds in memory while it is observed.

use super::*;
use crate::drive::prepare::prepare;
use crate::run::observers::ObserverOptions;
use flashlane_scenario::Scenario;

/// Writes that leave every plane with blocks to collect.
const WRITES: &str = "scheduler = \"sprinkler\"\n[device]\npreset = \"flin-isca18\"\ngeometry.blocks_per_plane = 64\nftl.user_gb = 7\n\
    precondition.state = \"steady\"\n[[flow]]\nsynthetic = { read_ratio = 0.0, rate_iops = 40000, requests = 4000 }\n";

/// Collections go on after the last request. Their events are passed on as they come.
#[test]
fn events_after_the_last_request_are_not_held() {
    let scenario = Scenario::parse("writes.toml", WRITES.to_owned()).unwrap_or_else(|error| panic!("{error}"));
    let prepared = prepare(&scenario).unwrap_or_else(|error| panic!("{error}"));
    let scheduler = prepared.catalogue.build(&prepared.schedulers[0].1).expect("a scheduler");
    let mut after = 0;
    let mut count = |stamped: &flashlane_core::event::Stamped| {
        after = if let flashlane_core::event::Event::Completed { .. } = stamped.event { 0 } else { after + 1 };
    };
    let observers = ObserverOptions { events: Some(&mut count), activity: true, ..ObserverOptions::default() };
    let feeds = prepared.feeds(|_| true).expect("flows");
    let mut run = Simulation::new(&prepared.config, scheduler, feeds, prepared.limits, observers).expect("a run");
    run.draw_first().expect("requests");
    while run.step().expect("a run") {}
    let held = run.device.events().capacity();
    drop(run);
    assert!(after > 20_000 && held * 10 < after, "{held} of {after} events were held at once");
}

/// Writes that a buffer takes in no time, again and again into the same pages: nothing is ever written out.
const ENDLESS: &str = "scheduler = \"fcfs\"\n[device]\npreset = \"flin-isca18\"\n[device.buffer]\npages = 4096\nwrite_back = true\n\
    merge_writes = true\nflush_above = 4096\naccess_ns = 0\n[device.front]\nlink_latency_ns = 0\nlink_bytes_per_s = \"unlimited\"\n";

/// Time stands still; the run ends with an error that names the flow. One that sends fewer requests at an instant ends by itself.
#[test]
fn a_closed_loop_that_takes_no_time_is_refused_on_the_way() {
    let finish = |flow: &str| {
        let synthetic = "arrivals = \"closed-loop\", read_ratio = 0.0, working_set_bytes = 65536";
        let text = format!("{ENDLESS}[[flow]]\nsynthetic = {{ {synthetic}, {flow} }}\n");
        let scenario = Scenario::parse("endless.toml", text).unwrap_or_else(|error| panic!("{error}"));
        let prepared = prepare(&scenario).unwrap_or_else(|error| panic!("{error}"));
        let scheduler = prepared.catalogue.build(&prepared.schedulers[0].1).expect("a scheduler");
        let feeds = prepared.feeds(|_| true).expect("flows");
        let mut run = prepared.simulation(scheduler, feeds, ObserverOptions::default()).expect("a run");
        run.standstill.most = 2 * STRIDE;
        run.finish().map_err(|error| error.to_string())
    };
    let error = finish("duration_s = 0.001").expect_err("has no end");
    let said = "flow[0] is a closed loop whose requests take no time on this device: it sent over 8192 of them at 0 ns";
    assert!(error.starts_with(said), "{error}");
    assert!(finish("requests = 8000").is_ok());
    assert!(finish("think_us = 0.1, duration_s = 0.001").is_ok());
}
