//! What a run holds in memory while it is observed.

use super::*;
use crate::observers::ObserverOptions;
use crate::prepare::prepare;
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
