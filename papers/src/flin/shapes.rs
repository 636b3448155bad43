//! FLIN's gains on other drives (FLN-E18) and with a write cache (FLN-E20), on the first mix of every class.

use super::setup::{PAGE, reshaped, systems};
use super::systems::{run_all, swept_ms};
use crate::{Measurements, Runner};
use flashlane_scenario::{Device, Latency};
use flashlane_sim::RunError;

/// A factor and its levels.
struct Factor {
    name: &'static str,
    levels: &'static [f64],
    set: fn(&mut Device, f64, &Runner<'_>),
}

const FACTORS: [Factor; 3] = [
    Factor { name: "page_kb", levels: &[4.0, 8.0, 16.0], set: page },
    Factor { name: "latencies", levels: &[0.5, 1.0, 2.0, 4.0], set: latencies },
    Factor { name: "units", levels: &[16.0, 32.0, 64.0, 128.0], set: units },
];

/// Changes the page size, with blocks of the same bytes.
fn page(device: &mut Device, kb: f64, _: &Runner<'_>) {
    device.geometry.page_bytes = Some((kb * 1_024.0) as u32);
    device.geometry.metadata_bytes = Some((448.0 * kb / 8.0) as u32);
    device.geometry.pages_per_block = Some((256.0 * 8.0 / kb) as u32);
}

fn latencies(device: &mut Device, factor: f64, _: &Runner<'_>) {
    let times = |ns: f64| Some(Latency::Constant((ns * factor) as u64));
    let nand = &mut device.nand;
    (nand.read_ns, nand.program_ns, nand.erase_ns) = (times(75_000.0), times(1_300_000.0), times(3_800_000.0));
}

/// Changes the dies on each channel, and with them the capacity.
fn units(device: &mut Device, units: f64, runner: &Runner<'_>) {
    device.geometry.chips_per_channel = Some((units / 8.0) as u32);
    reshaped(device, runner);
}

/// Runs FLN-E18.
pub fn sweeps(runner: &Runner<'_>) -> Result<Measurements, RunError> {
    let mut figures = Measurements::default();
    for factor in &FACTORS {
        for &level in factor.levels {
            gains(runner, &mut figures, [factor.name, &level.to_string()], |device| {
                (factor.set)(device, level, runner)
            })?;
        }
    }
    Ok(figures)
}

/// Sprinkler and FLIN on a changed drive, `changed.fairness.NAME.LEVEL.SYSTEM.MIX`, and the gains of FLIN mix by mix:
/// `gain.fairness.NAME.LEVEL.MIX`.
fn gains(
    runner: &Runner<'_>,
    figures: &mut Measurements,
    [name, level]: [&str; 2],
    change: impl Fn(&mut Device),
) -> Result<(), RunError> {
    let schedulers = systems(runner, &["sprinkler", "flin"]);
    for made in run_all(runner, 1, swept_ms(runner), &schedulers, |document| change(&mut document.device))? {
        let fairness: Option<Vec<_>> = made.figures.schedulers.iter().map(|run| run.fairness.as_ref()).collect();
        let Some([base, flin]) = fairness.as_deref() else { continue };
        for (system, of) in [("sprinkler", base), ("flin", flin)] {
            let mut push = |what, value| figures.push(&["changed", what, name, level, system, &made.mix.name], value);
            push("fairness", of.fairness);
            push("weighted_speedup", of.weighted_speedup);
        }
        let mut push = |what, gain| figures.push(&["gain", what, name, level, &made.mix.name], gain);
        push("fairness", flin.fairness / base.fairness);
        push("weighted_speedup", flin.weighted_speedup / base.weighted_speedup);
        push("max_slowdown", flin.max_slowdown / base.max_slowdown);
    }
    Ok(())
}

/// Bytes of write cache of all four flows together, 128 MB each in the paper: as a share of the scaled drive, and as
/// printed.
const CACHES: [(&str, u64); 3] = [("none", 0), ("scaled", 512_000_000 / 16), ("as_printed", 512_000_000)];

/// Runs FLN-E20.
pub fn caches(runner: &Runner<'_>) -> Result<Measurements, RunError> {
    let mut figures = Measurements::default();
    for (name, bytes) in CACHES {
        gains(runner, &mut figures, ["cache", name], |device| {
            device.buffer.pages = Some((bytes / PAGE) as u32);
            (device.buffer.per_flow, device.buffer.write_back) = (Some(true), Some(true));
        })?;
    }
    Ok(figures)
}
