//! A modelled drive under the jobs that write.
//!
//! Drives are run at a part of their size, by blocks of fewer pages: a whole one would take hours to overwrite. What is written in all shrinks with
//! them, rates and times do not. Owns how a load is brought about; must never know what it is compared with.

use flashlane_report::results::{ResponseStats, SchedulerResult};
use flashlane_scenario::Scenario;
use rayon::prelude::*;

use crate::model::figures_of;
use crate::play::{self, flow, of};
use crate::point::Figures;
use crate::write_jobs::{BURST_BYTES, BURST_DEPTH, SMALL_BYTES, WRITER_DEPTH, WRITERS};

/// Pages of a block of the smaller drive: in blocks of fewer wordlines the padding of the last one of each victim shows.
const PAGES: u64 = 96;
/// The same for bursts: in sequence, nothing is collected but whole blocks.
const PAGES_OF_BURSTS: u64 = 48;
/// Pages of a block are a multiple of this, whatever the bits of a cell.
const WORDLINES: u64 = 12;
/// Share of the drive that is written before the steady rate is measured: it begins in the analytic steady state, whose free blocks come first.
const SETTLING: f64 = 0.02;
/// What is written at a rate before times are measured at it, as a multiple of what the blocks between the two thresholds of collection hold: with half
/// of it, collection is still catching up, and reads took a third longer on the one drive where that was looked at.
const SETTLED: f64 = 2.0;
/// Requests of each flow that are not measured.
const WARM_UP: u64 = 500;
/// Beside writes, the thread that is measured makes at least so many times as many: beside a fast drive's it made none that counted.
const MEASURED: u64 = 4;

/// A drive at a part of its size.
#[derive(Debug)]
pub struct Drive {
    scene: Scenario,
    /// The drive for bursts, and how many times smaller that is.
    for_bursts: Scenario,
    scale_of_bursts: u64,
    /// Bytes that its buffer holds, which is not smaller.
    buffered: u64,
    /// Writes that its overwriting threads have outstanding.
    writers: u32,
    /// Units of its map.
    units: f64,
    /// Units that its SLC cache holds.
    cached: f64,
    /// Units that its blocks between the thresholds of collection hold.
    between: f64,
}

impl Drive {
    /// The drive of `scene`, whose flows do not matter.
    ///
    /// # Errors
    /// A device that cannot be built, or made smaller.
    pub fn new(scene: Scenario) -> Result<Drive, String> {
        let (for_bursts, scale_of_bursts) = smaller(&scene, PAGES_OF_BURSTS)?;
        let scene = smaller(&scene, PAGES)?.0;
        // A small write takes a whole unit of the map.
        let unit = play::unit_bytes(&scene)?;
        let units = play::bytes(&scene)?.0 as f64 / unit;
        let cached = play::cached_bytes(&scene)? / unit;
        let between = play::units_between_thresholds(&scene)?;
        let buffered = play::buffered_bytes(&scene)?;
        let writers = WRITERS * WRITER_DEPTH;
        Ok(Drive { scene, for_bursts, scale_of_bursts, buffered, writers, units, cached, between })
    }

    /// The drive that is overwritten with so many writes outstanding.
    #[must_use]
    pub fn with_writers(self, writers: u32) -> Drive {
        Drive { writers, ..self }
    }

    /// Runs flows on the drive in this state; the first `warm_up` requests of each are not measured.
    fn run(drive: &Scenario, state: &str, warm_up: u64, flows: &str) -> Result<SchedulerResult, String> {
        let mut scene = drive.clone();
        let load = play::scenario("scheduler = \"fcfs\"", warm_up, flows)?;
        let (flow, run) = (load.document().flow.clone(), load.document().run.clone());
        // The jobs write all of it first.
        let fill = (state == "filled").then_some(100.0);
        let state = serde_json::from_value(state.into()).map_err(|error| error.to_string())?;
        scene.set("flow", "the jobs", |document| {
            (document.flow, document.run) = (flow, run);
            document.device.precondition.state = Some(state);
            document.device.precondition.fill_percent = fill;
        });
        play::run(&scene)
    }

    /// Small writes one at a time, on a drive that is full but idle.
    ///
    /// # Errors
    /// A run that fails.
    pub fn lone(&self, requests: u64) -> Result<Figures, String> {
        let keys = format!("{}, depth = 1, requests = {}", small(0.0, "closed-loop"), WARM_UP + requests);
        let result = Drive::run(&self.scene, "filled", WARM_UP, &flow("lone", &keys))?;
        writes(&result, "lone")
    }

    /// Bytes a second of the parts of a burst that end at `ends`, which are bytes of the whole drive in ascending order. What fills the buffer is written before:
    /// beside the smaller drive it would be of the size of a cache.
    ///
    /// # Errors
    /// A run that fails.
    pub fn burst(&self, ends: &[u64]) -> Result<Vec<f64>, String> {
        let until = |&end: &u64| -> Result<[f64; 2], String> {
            let requests = ((end / self.scale_of_bursts + self.buffered) / BURST_BYTES).max(1);
            let keys = format!(
                "read_ratio = 0, size = {{ constant = {BURST_BYTES} }}, align_bytes = {BURST_BYTES}, access = \"streaming\", \
                 arrivals = \"closed-loop\", depth = {BURST_DEPTH}, requests = {requests}"
            );
            let result = Drive::run(&self.for_bursts, "filled", 0, &flow("burst", &keys))?;
            let ns = of(&result, "burst")?.last_completion_ns;
            Ok([(requests * BURST_BYTES) as f64, ns as f64 / 1e9])
        };
        let ends = [&[0], ends].concat();
        let reached: Vec<[f64; 2]> = ends.par_iter().map(until).collect::<Result<_, _>>()?;
        Ok(reached.windows(2).map(|pair| (pair[1][0] - pair[0][0]) / (pair[1][1] - pair[0][1])).collect())
    }

    /// Random overwrites as fast as the drive can, and its write amplification.
    ///
    /// # Errors
    /// A run that fails.
    pub fn steady(&self, requests: u64) -> Result<(Figures, f64), String> {
        let before = (SETTLING * self.units + self.cached) as u64;
        let keys = format!("{}, depth = {}", small(0.0, "closed-loop"), self.writers);
        let flows = flow("steady", &format!("{keys}, requests = {}", before + requests));
        let result = Drive::run(&self.scene, "steady", before, &flows)?;
        let amplified = result.device.write_amplification.unwrap_or(1.0);
        Ok((writes(&result, "steady")?, amplified))
    }

    /// Figures of a thread of `probe` requests a second, reads and writes, beside threads that write. Together they make `rate` writes a second;
    /// without a rate as many as the drive takes. Before, the drive is overwritten: first as fast as it can, until its free blocks are used up, then
    /// at the rate, until collection keeps up. `steady` is its steady rate.
    ///
    /// # Errors
    /// A run that fails.
    pub fn beside(&self, probe: f64, rate: Option<f64>, steady: f64, requests: u64) -> Result<[Figures; 2], String> {
        let timed = |start: f64, seconds: f64| format!("start_us = {:.1}, duration_s = {seconds:.6}", start * 1e6);
        let closed = |name: &str, start: f64, seconds: f64| {
            let depth = self.writers;
            flow(name, &format!("{}, depth = {depth}, {}", small(0.0, "closed-loop"), timed(start, seconds)))
        };
        let open = |name: &str, reads: f64, arrivals: &str, rate: f64, start: f64, seconds: f64| {
            flow(name, &format!("{}, rate_iops = {rate:.1}, {}", small(reads, arrivals), timed(start, seconds)))
        };
        let half = probe / 2.0;
        let mut start = (SETTLING * self.units + self.cached) / steady;
        let mut flows = closed("before", 0.0, start);
        if let Some(rate) = rate {
            let settling = SETTLED * self.between / rate;
            flows += &open("settling", 0.0, "poisson", rate, start, settling);
            start += settling;
        }
        let seconds = requests as f64 / (rate.unwrap_or(steady) + half);
        let seconds = seconds.max((MEASURED * WARM_UP) as f64 / probe);
        flows += &open("probe", 0.5, "constant", probe, start, seconds);
        match rate {
            None => flows += &closed("writers", start, seconds),
            Some(rate) if rate > half => flows += &open("writers", 0.0, "poisson", rate - half, start, seconds),
            Some(_) => {}
        }
        let result = Drive::run(&self.scene, "steady", WARM_UP, &flows)?;
        let probe = of(&result, "probe")?;
        let side = |stats: &Option<ResponseStats>| stats.as_ref().map(figures_of).ok_or("no requests beside writes");
        Ok([side(&probe.read)?, side(&probe.write)?])
    }
}

/// `scene` with blocks of about so many pages, in whole wordlines, and how many times smaller it is: of those that can be built the smallest, since
/// small blocks have less room for the user.
fn smaller(scene: &Scenario, pages: u64) -> Result<(Scenario, u64), String> {
    let own = u64::from(play::pages_per_block(scene)?);
    let config = scene.device_config().map_err(|error| error.to_string())?;
    let user = u64::from(config.ftl.logical_pages) * u64::from(config.geometry.page_bytes);
    let is_whole = |scale: &u64| own.is_multiple_of(*scale) && (own / scale).is_multiple_of(WORDLINES);
    for scale in (2..=own / pages).rev().filter(is_whole) {
        let erase = serde_json::json!(config.nand.erase.typical().ns() / scale);
        let erase = serde_json::from_value(erase).map_err(|error| error.to_string())?;
        let mut smaller = scene.clone();
        smaller.set("device", "the jobs", |document| {
            let device = &mut document.device;
            device.geometry.pages_per_block = Some((own / scale) as u32);
            let ftl = &mut device.ftl;
            (ftl.user_gb, ftl.user_bytes, ftl.over_provisioning_percent) = (None, Some(user / scale), None);
            device.nand.erase_ns = Some(erase);
        });
        if smaller.device_config().is_ok() {
            return Ok((smaller, scale));
        }
    }
    Ok((scene.clone(), 1))
}

/// Keys of small random requests.
fn small(reads: f64, arrivals: &str) -> String {
    let size = format!("size = {{ constant = {SMALL_BYTES} }}, align_bytes = {SMALL_BYTES}");
    format!("read_ratio = {reads:?}, {size}, access = \"random\", arrivals = \"{arrivals}\"")
}

fn writes(result: &SchedulerResult, name: &str) -> Result<Figures, String> {
    of(result, name)?.write.as_ref().map(figures_of).ok_or_else(|| "the model completed no write".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Base;

    /// Small writes of a drive that maps pages of 16 KiB were counted as four times as many as replace what it holds.
    #[test]
    fn a_drive_is_overwritten_by_as_many_writes_as_its_map_has_units() {
        let units = |preset: &str| {
            let base = Base::named(preset).expect("a preset");
            let text = base.text(&base.values(), "\"fcfs\"");
            let scene = play::scenario(&text, 0, &flow("x", "requests = 1")).expect("a device");
            let config = smaller(&scene, PAGES).expect("blocks of fewer pages").0.device_config().expect("a device");
            (Drive::new(scene).expect("a drive").units, f64::from(config.ftl.logical_pages))
        };
        for preset in ["samsung-980-pro-1tb", "modern-tlc"] {
            let (units, pages) = units(preset);
            assert_eq!(units, pages, "{preset}");
        }
    }
}
