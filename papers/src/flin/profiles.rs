//! Figure 2 without the drives it was measured on (FLN-E1): tpce beside tpcc on four modelled drives, from large to
//! small.

use super::setup::{clone, document, reshaped, systems};
use super::systems::ms;
use crate::{Measurements, Runner};
use flashlane_scenario::Device;
use flashlane_sim::RunError;

/// A modelled drive: name, channels, dies per channel, pages of write cache.
const DRIVES: [(&str, u32, u32, u32); 4] =
    [("16x4_cached", 16, 4, 4_096), ("8x4", 8, 4, 0), ("4x2", 4, 2, 0), ("8x2", 8, 2, 0)];

fn change(device: &mut Device, runner: &Runner<'_>, [channels, dies, cache]: [u32; 3]) {
    device.geometry.channels = Some(channels);
    device.geometry.chips_per_channel = Some(dies);
    reshaped(device, runner);
    if cache > 0 {
        device.buffer.pages = Some(cache);
    }
}

/// Runs FLN-E1.
pub fn all(runner: &Runner<'_>) -> Result<Measurements, RunError> {
    let (seeds, sprinkler) = (runner.seeds(), || systems(runner, &["sprinkler"]));
    let mut runs = Vec::new();
    for (name, channels, dies, cache) in DRIVES {
        for &seed in &seeds {
            let flows = ["tpce", "tpcc"].map(|trace| clone(runner, trace, ms(runner)));
            let flows = flows.into_iter().collect::<Result<_, _>>()?;
            let mut document = document(runner, format!("flin E1 {name}"), (seed, ms(runner)), sprinkler(), flows);
            change(&mut document.device, runner, [channels, dies, cache]);
            runs.push((name, document));
        }
    }
    let mut figures = Measurements::default();
    for (drive, made) in runner.compare(runs)? {
        for flow in &made.schedulers[0].flows {
            let peak = flow.slowdown_over_time.as_ref().and_then(|s| s.slowdown.iter().copied().reduce(f64::max));
            figures.push_some(&["profiles", "average", &flow.name, drive], flow.slowdown);
            figures.push_some(&["profiles", "peak", &flow.name, drive], peak);
        }
    }
    Ok(figures)
}
