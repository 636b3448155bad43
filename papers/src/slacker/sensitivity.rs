//! Varies one factor at a time on src2-0-p (SLK-E16): improvement of the mean by Slacker.

use super::workloads::{BASELINE, document, requests};
use crate::{Measurements, Runner};
use flashlane_scenario::workload::clone::{CloneSpec, SlackerTrace};
use flashlane_scenario::{Document, Latency};
use flashlane_sim::RunError;

/// The workload.
const WORKLOAD: &str = "src2-0-p";

/// A factor and its levels.
struct Factor {
    /// Whether a claim asks for it; of a variant of the setting only these are run.
    is_claimed: bool,
    name: &'static str,
    levels: &'static [f64],
    set: fn(&mut Document, f64),
}

const FACTORS: [Factor; 9] = [
    Factor { name: "page_kb", is_claimed: true, levels: &[4.0, 8.0, 16.0, 32.0], set: page },
    Factor {
        name: "chips_per_channel",
        is_claimed: true,
        levels: &[2.0, 4.0, 8.0, 16.0],
        set: |document, level| document.device.geometry.chips_per_channel = Some(level as u32),
    },
    Factor {
        name: "channels",
        is_claimed: false,
        levels: &[2.0, 4.0, 8.0],
        set: |document, level| document.device.geometry.channels = Some(level as u32),
    },
    Factor {
        name: "read_time",
        is_claimed: false,
        levels: &[0.5, 1.0, 2.0],
        set: |document, level| document.device.nand.read_ns = Some(Latency::Constant((75_000.0 * level) as u64)),
    },
    Factor {
        name: "program_time",
        is_claimed: true,
        levels: &[0.5, 1.0, 2.0, 4.0],
        set: |document, level| document.device.nand.program_ns = Some(Latency::Constant((1_300_000.0 * level) as u64)),
    },
    Factor {
        name: "size",
        is_claimed: false,
        levels: &[0.5, 1.0, 2.0, 4.0],
        set: |document, level| on_clone(document, |clone| clone.size_scale = Some(level)),
    },
    Factor {
        name: "gap",
        is_claimed: true,
        levels: &[0.5, 1.0, 2.0],
        set: |document, level| on_clone(document, |clone| clone.gap_scale = Some(level)),
    },
    Factor {
        name: "write_percent",
        is_claimed: false,
        levels: &[10.0, 30.0, 50.0, 70.0, 90.0],
        set: |document, level| on_clone(document, |clone| clone.read_ratio = Some(1.0 - level / 100.0)),
    },
    Factor {
        name: "burst_requests",
        is_claimed: false,
        levels: &[16.0, 64.0, 1_024.0, 16_384.0],
        set: |document, level| on_clone(document, |clone| clone.burst_requests = Some(level)),
    },
];

/// Changes the page size with the number of blocks, so that the capacity stays.
fn page(document: &mut Document, kb: f64) {
    let geometry = &mut document.device.geometry;
    geometry.page_bytes = Some((kb * 1_024.0) as u32);
    geometry.metadata_bytes = Some((448.0 * kb / 8.0) as u32);
    geometry.blocks_per_plane = Some((4_096.0 * 8.0 / kb) as u32);
    on_clone(document, |clone| clone.align_bytes = Some((kb * 1_024.0).max(8_192.0) as u64));
}

fn on_clone(document: &mut Document, change: impl Fn(&mut CloneSpec)) {
    document.flow.iter_mut().filter_map(|flow| flow.clone.as_mut()).for_each(change);
}

/// Runs SLK-E16.
pub fn sweeps(runner: &Runner<'_>) -> Result<Measurements, RunError> {
    let workload = SlackerTrace::named(WORKLOAD)?;
    let mut figures = Measurements::default();
    if runner.trace(WORKLOAD)?.is_some() {
        figures.note(format!("{WORKLOAD}: sizes, gaps and shares of writes are those of the clone, not of the trace"));
    }
    let no_traces = crate::Settings { traces: None, ..runner.settings.clone() };
    let runner = runner.under(&no_traces);
    let mut runs = Vec::new();
    for factor in FACTORS.iter().filter(|factor| factor.is_claimed || runner.settings.variant.is_none()) {
        for &level in factor.levels {
            for seed in runner.seeds() {
                let mut document = document(&runner, &workload, requests(&runner), seed, &[BASELINE, "slacker"])?;
                (factor.set)(&mut document, level);
                runs.push(((factor, level), document));
            }
        }
    }
    for ((factor, level), made) in runner.compare(runs)? {
        let Some(paired) = &made.schedulers[1].paired else { continue };
        let level = level.to_string();
        figures.push_some(&["sensitivity", factor.name, &level], paired.all.improvement_percent);
        figures.push_some(&["sensitivity_per_request", factor.name, &level], paired.all.gain_percent_per_request);
    }
    Ok(figures)
}
