//! A small drive that a reader and a writer keep busy: 860 requests, or some times as many, and blocks to collect.

use flashlane_scenario::Scenario;

/// The scenario under `scheduler`; the writer's requests are reads by `reads`, 0 to 1.
pub fn busy(scheduler: &str, reads: f64) -> Scenario {
    busy_for(scheduler, reads, 1)
}

/// The same with `times` as many requests.
pub fn busy_for(scheduler: &str, reads: f64, times: u32) -> Scenario {
    let (reader, writer) = (800 * times, 60 * times);
    let text = format!(
        r#"
scheduler = "{scheduler}"
[device]
preset = "flin-isca18"
geometry = {{ channels = 2, chips_per_channel = 2, blocks_per_plane = 64, pages_per_block = 32 }}
ftl = {{ over_provisioning_percent = 28 }}
[[flow]]
name = "reader"
synthetic = {{ read_ratio = 1.0, size = {{ constant = 8192 }}, rate_iops = 8000, requests = {reader} }}
[[flow]]
name = "writer"
synthetic = {{ read_ratio = {reads:?}, size = {{ constant = 32768 }}, rate_iops = 450, requests = {writer} }}
"#
    );
    Scenario::parse("busy", text).unwrap_or_else(|why| panic!("{why}"))
}
