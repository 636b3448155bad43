//! The model beside the points: a device of given values, and what it does under their loads.
//!
//! Owns which keys of a device reads can tell. Must never know which values are good.

use rayon::prelude::*;

use flashlane_report::metrics::Bucket;
use flashlane_report::results::{FlowStats, ResponseStats};
use flashlane_scenario::{Device, DriveState, Limit, PRESETS, Preset, Superblock, Word};

use crate::error::FitError;
use crate::fio::RANKS;
use crate::play;
use crate::point::{Access, Figures, Point};

/// Values of a device that reads tell.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Values {
    /// Chips of a channel; with the channels and dies of the preset, how many units work at once.
    pub chips: u32,
    /// Array times of the pages of a wordline, us.
    pub read_us: [f64; 3],
    /// Million transfers a second of a channel.
    pub bus: f64,
    /// Time of the controller for a read, us.
    pub command_us: f64,
    /// Latency of link, controller and host each way, us.
    pub link_us: f64,
    /// Gigabytes a second of the link.
    pub link_gb_s: f64,
}

/// How data lies before the first request, as far as reads tell it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Laid {
    /// Written once, in order: what is read together lies together.
    Filled,
    /// Overwritten at random: between pages that are read together lie such as are no longer valid.
    Steady,
}

impl Laid {
    /// The value of `precondition.state`.
    pub fn word(self) -> &'static str {
        match self {
            Laid::Filled => "filled",
            Laid::Steady => "steady",
        }
    }

    /// The other.
    pub fn other(self) -> Laid {
        match self {
            Laid::Filled => Laid::Steady,
            Laid::Steady => Laid::Filled,
        }
    }
}

/// A preset whose values are changed.
#[derive(Clone, Debug)]
pub struct Base {
    /// Its name.
    pub preset: &'static str,
    /// How its data lies.
    pub laid: Laid,
    /// Keys of writes, over those of the values.
    pub writes: Vec<(&'static str, String)>,
    device: Device,
}

impl Base {
    /// The preset called `name`.
    ///
    /// # Errors
    /// There is none.
    pub fn named(name: &str) -> Result<Base, FitError> {
        let preset = Preset::named(name).map_err(|near| {
            let near = near.map(|near| format!("; did you mean {near}?")).unwrap_or_default();
            let names: Vec<&str> = PRESETS.iter().map(|preset| preset.name).collect();
            FitError::Input(format!("--preset {name}: no such device; there are {}{near}", names.join(", ")))
        })?;
        let device = preset.device();
        let is_filled = device.precondition.state.is_some_and(|Word(state)| state == DriveState::Filled);
        let laid = if is_filled { Laid::Filled } else { Laid::Steady };
        Ok(Base { preset: preset.name, laid, writes: Vec::new(), device })
    }

    /// What the preset has.
    pub fn values(&self) -> Values {
        let Device { geometry, nand, bus, front, .. } = &self.device;
        let limit = |value: Option<Limit>, unlimited: f64| match value {
            Some(Limit::At(number)) => number as f64,
            _ => unlimited,
        };
        let read_us = match nand.read_ns.and_then(|latency| serde_json::to_value(latency).ok()) {
            Some(latency) => pages(&latency),
            None => [50.0; 3],
        };
        Values {
            chips: geometry.chips_per_channel.unwrap_or(1),
            read_us,
            bus: limit(bus.mega_transfers, 2_400.0),
            command_us: (front.read_command_ns.unwrap_or_default() as f64 / 1e3).max(0.1),
            link_us: front.link_latency_ns.unwrap_or_default() as f64 / 1e3,
            link_gb_s: limit(front.link_bytes_per_s, 16e9) / 1e9,
        }
    }

    /// What reads at once on a device with `chips` on each channel: dies, and where superblocks are of a die its planes, which read each on its own.
    pub fn units(&self, chips: u32) -> u32 {
        let Device { geometry, ftl, .. } = &self.device;
        let reads_by_plane = ftl.superblock.is_some_and(|Word(superblock)| superblock == Superblock::Die);
        let planes = if reads_by_plane { geometry.planes_per_die.unwrap_or(1) } else { 1 };
        geometry.channels.unwrap_or(1) * geometry.dies_per_chip.unwrap_or(1) * planes * chips
    }

    /// Time of the bus for `bytes`, us.
    pub fn transfer_us(&self, values: &Values, bytes: u64) -> f64 {
        bytes as f64 / f64::from(self.device.bus.width_bytes.unwrap_or(1)) / values.bus
    }

    /// The keys of a device with these values, by their paths below `device`. With more or fewer chips than the preset's, blocks are fewer or
    /// more, so that the drive keeps its size.
    pub fn keys(&self, values: &Values) -> Vec<(&'static str, String)> {
        let Device { geometry, slc, buffer, .. } = &self.device;
        let (old, new) = (geometry.chips_per_channel.unwrap_or(1), values.chips);
        let ns = |us: f64| ((us * 1e3).round().max(0.0) as u64).to_string();
        let [a, b, c] = values.read_us.map(ns);
        let mut keys = vec![
            ("geometry.chips_per_channel", new.to_string()),
            ("nand.read_ns", format!("{{ pages = [{a}, {b}, {c}] }}")),
            ("bus.mega_transfers", (values.bus.round().max(1.0) as u64).to_string()),
            ("front.read_command_ns", ns(values.command_us)),
            ("front.link_latency_ns", ns(values.link_us)),
            ("front.link_bytes_per_s", ((values.link_gb_s * 1e9).round().max(1.0) as u64).to_string()),
        ];
        if new != old {
            let scaled = |count: u32| (u64::from(count) * u64::from(old)).div_ceil(u64::from(new)).to_string();
            let blocks =
                [("geometry.blocks_per_plane", geometry.blocks_per_plane), ("slc.static_blocks", slc.static_blocks)];
            keys.extend(blocks.into_iter().filter_map(|(key, count)| Some((key, scaled(count?)))));
            if let Some(Limit::At(most)) = slc.dynamic_limit {
                keys.push(("slc.dynamic_limit", scaled(most as u32)));
            }
        }
        // A write-back buffer holds the pages of a wordline of each plane.
        if let Some(pages) = buffer.pages.filter(|&pages| pages > 0 && new > old) {
            keys.push(("buffer.pages", (u64::from(pages) * u64::from(new)).div_ceil(u64::from(old)).to_string()));
        }
        keys.push(("precondition.state", format!("\"{}\"", self.laid.word())));
        if self.laid == Laid::Filled && self.device.precondition.fill_percent.is_none() {
            keys.push(("precondition.fill_percent", "100.0".into()));
        }
        // Writes decide anew what follows from the chips.
        if !self.writes.is_empty() {
            keys.retain(|(key, _)| !key.starts_with("slc.") && !self.writes.iter().any(|(own, _)| own == key));
            keys.extend(self.writes.iter().cloned());
        }
        keys
    }

    /// The preset's values below `device`.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The text of a scenario's device of these values, with the `answers` of a scheduler.
    pub fn text(&self, values: &Values, answers: &str) -> String {
        let mut text = format!("scheduler = {answers}\ndevice.preset = \"{}\"\n", self.preset);
        for (key, value) in self.keys(values) {
            text += &format!("device.{key} = {value}\n");
        }
        text
    }

    /// What the device of `values` does under the load of `point`, over `requests` requests and more if it is deep.
    ///
    /// # Errors
    /// A device that cannot be built, or a run that fails.
    pub fn run(&self, values: &Values, point: &Point, requests: u64) -> Result<Figures, FitError> {
        let device = self.text(values, "\"fcfs\"");
        let depth = u64::from(point.depth);
        let flow = flow(point.access, [point.bytes, depth, requests_of(depth, point.bytes, requests)], None);
        let scenario = play::scenario(&device, 2 * depth, &flow);
        let result = play::run(&scenario.map_err(FitError::Input)?).map_err(FitError::Input)?;
        figures(play::of(&result, "reads").map_err(FitError::Input)?)
    }

    /// The same for several points, at the same time.
    ///
    /// # Errors
    /// As [`Base::run`].
    pub fn run_all(&self, values: &Values, points: &[&Point], requests: u64) -> Result<Vec<Figures>, FitError> {
        points.par_iter().map(|point| self.run(values, point, requests)).collect()
    }
}

/// The pages of a wordline of a preset's array time, us.
fn pages(latency: &serde_json::Value) -> [f64; 3] {
    let us = |value: &serde_json::Value| value.as_f64().unwrap_or(50_000.0) / 1e3;
    let list = latency.get("pages").and_then(serde_json::Value::as_array);
    match list.map(Vec::as_slice) {
        Some([a, b, c]) => [a, b, c].map(us),
        Some([first, .., last]) => [us(first), (us(first) + us(last)) / 2.0, us(last)],
        _ => [us(latency.get("mean").or_else(|| latency.get("fast")).unwrap_or(latency)); 3],
    }
}

/// How many requests a loop of this depth has: deep ones need more until their tails are seen, and large ones take longer to simulate.
pub fn requests_of(depth: u64, bytes: u64, requests: u64) -> u64 {
    ((requests + requests * depth.min(128) / 64) / (1 + bytes / 16_384)).max(8 * depth)
}

/// A closed loop of random reads named `reads`, of `bytes` each, within `span` bytes if not of the whole drive.
pub fn flow(access: Access, [bytes, depth, requests]: [u64; 3], span: Option<u64>) -> String {
    let access = match access {
        Access::Zipf(theta) => format!("access = \"zipf\", zipf_theta = {theta:?}"),
        _ => "access = \"random\"".to_owned(),
    };
    let span = span.map(|span| format!(", working_set_bytes = {span}")).unwrap_or_default();
    let align = bytes.next_multiple_of(512);
    let keys = format!("{access}, size = {{ constant = {bytes} }}, align_bytes = {align}, arrivals = \"closed-loop\"");
    play::flow("reads", &format!("{keys}, depth = {depth}, requests = {requests}{span}"))
}

/// The figures of a flow of reads.
///
/// # Errors
/// No read completed.
pub fn figures(stats: &FlowStats) -> Result<Figures, FitError> {
    let reads = stats.read.as_ref().ok_or_else(|| FitError::Input("the model completed no read".into()))?;
    Ok(figures_of(reads))
}

/// The figures of requests of one kind.
pub fn figures_of(stats: &ResponseStats) -> Figures {
    let all = stats.requests.max(1);
    let quantile = |rank: u32| {
        let needed = (u128::from(all) * u128::from(rank)).div_ceil(1_000_000) as u64;
        let at = stats.cdf.requests.partition_point(|&below| below < needed);
        let ns = stats.cdf.at_most_ns.get(at).copied().unwrap_or(stats.max_ns);
        (rank, Bucket::of(ns).middle().clamp(stats.min_ns, stats.max_ns) as f64 / 1e3)
    };
    Figures {
        iops: stats.own_iops.unwrap_or_default(),
        mean_us: stats.mean_ns / 1e3,
        quantiles: RANKS.into_iter().map(quantile).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::point::tests::point;

    /// The fitted device read as its preset's data lies, whatever the drive did.
    #[test]
    fn data_lies_as_the_presets_or_otherwise_which_shows_in_larger_reads() {
        let of = |preset| Base::named(preset).expect("a preset");
        assert_eq!(["modern-tlc", "client-tlc"].map(|preset| of(preset).laid), [Laid::Steady, Laid::Filled]);
        let large = Point { bytes: 65_536, ..point(1, 100.0, &[]) };
        let mean = |base: &Base| base.run(&base.values(), &large, 500).expect("a run").mean_us;
        let (own, mut otherwise) = (of("modern-tlc"), of("modern-tlc"));
        otherwise.laid = own.laid.other();
        assert!(mean(&own) > 1.2 * mean(&otherwise), "{} and {}", mean(&own), mean(&otherwise));
    }
}
