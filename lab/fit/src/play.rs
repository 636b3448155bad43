//! Runs a device under a workload through the library, and returns the figures that are compared.

use flashlane_report::metrics::Bucket;
use flashlane_report::results::{FlowStats, ResponseStats, SchedulerResult};
use flashlane_scenario::{Device, Limit, Scenario};
use flashlane_sim::{Options, compare};

/// A flow over the whole drive with these keys of `[flow.synthetic]`.
pub fn flow(name: &str, keys: &str) -> String {
    format!("[[flow]]\nname = \"{name}\"\nrange = \"all\"\nsynthetic = {{ {keys} }}\n")
}

/// A scenario of a device and flows, both as text. The first `warm_up` requests of each flow are not measured.
///
/// # Errors
/// Text that is no legal scenario.
pub fn scenario(device: &str, warm_up: u64, flows: &str) -> Result<Scenario, String> {
    let text = format!("{device}\n[run]\nalone = false\nwarm_up_requests = {warm_up}\n{flows}");
    Scenario::parse("real", text).map_err(|error| error.to_string())
}

/// Divides the size of the drive of `scenario` by `scale`. Its blocks get fewer pages, and an erase takes less time in the same proportion, so
/// that erases take the same share of the time as on the whole drive.
///
/// # Errors
/// Blocks that cannot be made so small.
pub fn shrink(scenario: &mut Scenario, scale: u32, more: &[(&str, &str)]) -> Result<(), String> {
    let fault = |error: flashlane_scenario::ScenarioError| error.to_string();
    let config = scenario.device_config().map_err(fault)?;
    let pages = pages_per_block(scenario)?;
    let bytes = u64::from(config.ftl.logical_pages) * u64::from(config.geometry.page_bytes);
    let erase = config.nand.erase.typical().ns();
    let set = |key: &str, value: u64| (format!("device.{key}"), value.to_string());
    let sets = [
        set("geometry.pages_per_block", u64::from(pages / scale)),
        set("ftl.user_bytes", bytes / u64::from(scale)),
        set("nand.erase_ns", erase / u64::from(scale)),
    ];
    let more = more.iter().map(|&(key, value)| (key.to_owned(), value.to_owned()));
    scenario.assign(&sets.into_iter().chain(more).collect::<Vec<_>>()).map_err(fault)
}

/// Pages of a block of the drive of `scenario`.
///
/// # Errors
/// No such device.
pub fn pages_per_block(scenario: &Scenario) -> Result<u32, String> {
    let device = scenario.device().map_err(|error| error.to_string())?;
    Ok(device.geometry.pages_per_block.unwrap_or_default())
}

/// Bytes that the SLC cache of the drive of `scenario` holds at most.
///
/// # Errors
/// No such device.
pub fn cached_bytes(scenario: &Scenario) -> Result<f64, String> {
    let Device { geometry, slc, .. } = scenario.device().map_err(|error| error.to_string())?;
    let dynamic = match slc.dynamic_limit {
        Some(Limit::At(blocks)) if slc.dynamic == Some(true) => blocks as f64,
        _ => 0.0,
    };
    let blocks = f64::from(slc.static_blocks.unwrap_or(0)) + dynamic;
    let count = |count: Option<u32>| f64::from(count.unwrap_or(1));
    let planes = count(geometry.channels) * count(geometry.chips_per_channel) * count(geometry.dies_per_chip);
    let pages = count(geometry.pages_per_block) / count(slc.bits);
    Ok(blocks * planes * count(geometry.planes_per_die) * pages * count(geometry.page_bytes))
}

/// Size of the drive of `scenario` that its user sees, and of its flash, bytes.
///
/// # Errors
/// A device that cannot be built.
pub fn bytes(scenario: &Scenario) -> Result<(u64, u64), String> {
    let config = scenario.device_config().map_err(|error| error.to_string())?;
    let page = u64::from(config.geometry.page_bytes);
    Ok((u64::from(config.ftl.logical_pages) * page, config.geometry.raw_bytes()))
}

/// Bytes of a unit of the map of the drive of `scenario`.
///
/// # Errors
/// A device that cannot be built.
pub fn unit_bytes(scenario: &Scenario) -> Result<f64, String> {
    let config = scenario.device_config().map_err(|error| error.to_string())?;
    Ok(f64::from(config.geometry.page_bytes))
}

/// Bytes that the write-back buffer of the drive of `scenario` holds.
///
/// # Errors
/// A device that cannot be built.
pub fn buffered_bytes(scenario: &Scenario) -> Result<u64, String> {
    let config = scenario.device_config().map_err(|error| error.to_string())?;
    let pages = config.buffer.filter(|buffer| buffer.write_back).map_or(0, |buffer| buffer.pages);
    Ok(u64::from(pages) * u64::from(config.geometry.page_bytes))
}

/// Pages of the map that the free blocks of the drive of `scenario` hold between the two thresholds of collection.
///
/// # Errors
/// A device that cannot be built.
pub fn units_between_thresholds(scenario: &Scenario) -> Result<f64, String> {
    let config = scenario.device_config().map_err(|error| error.to_string())?;
    let blocks = (config.gc.start_blocks - config.gc.hard_blocks) * config.geometry.planes();
    Ok(f64::from(blocks) * f64::from(config.geometry.pages_per_block))
}

/// Runs it.
///
/// # Errors
/// A scenario that cannot be run.
pub fn run(scenario: &Scenario) -> Result<SchedulerResult, String> {
    let options = Options { audit: false, rows: None, activity: false, progress: None };
    let comparison = compare(scenario, &options).map_err(|error| error.to_string())?;
    comparison.summary.schedulers.into_iter().next().ok_or_else(|| "no scheduler ran".into())
}

/// The figures of the flow `name`.
///
/// # Errors
/// No such flow.
pub fn of<'a>(result: &'a SchedulerResult, name: &str) -> Result<&'a FlowStats, String> {
    let flow = result.flows.iter().find(|flow| flow.name == name);
    flow.map(|flow| &flow.figures).ok_or_else(|| format!("no flow {name}"))
}

/// Median, 90th, 99th and 99.9th percentile and mean, us.
///
/// # Errors
/// No requests.
pub fn times(stats: Option<&ResponseStats>) -> Result<[f64; 5], String> {
    let stats = stats.ok_or("a flow without requests")?;
    let rank = stats.requests * 9 / 10;
    let bucket = stats.cdf.requests.iter().position(|&count| count > rank).unwrap_or_default();
    let p90 = Bucket::of(stats.cdf.at_most_ns[bucket]).middle().min(stats.p99_ns) as f64;
    let ns = [stats.p50_ns as f64, p90, stats.p99_ns as f64, stats.p99_9_ns as f64, stats.mean_ns];
    Ok(ns.map(|ns| ns / 1e3))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// It was refused, as "only a device of a preset".
    #[test]
    fn a_device_file_is_as_the_preset_that_it_starts_from_with_its_keys_and_the_scenarios() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = "[device]\npreset = \"client-tlc\"\ngeometry.pages_per_block = 768\nslc.static_blocks = 9\n";
        std::fs::write(folder.path().join("d.toml"), file).expect("written");
        let of = |device: &str| {
            let text = format!("device = {{ {device}, slc.dynamic_limit = 20 }}\n{}", flow("x", "requests = 1"));
            let scenario = Scenario::of_file(&folder.path().join("s.toml"), text).expect("a scenario");
            (pages_per_block(&scenario).expect("a device"), cached_bytes(&scenario).expect("a device"))
        };
        let named = of("preset = \"client-tlc\", geometry.pages_per_block = 768, slc.static_blocks = 9");
        assert_eq!(named.0, 768);
        assert_eq!(of("preset = \"./d.toml\""), named);
        assert_ne!(of("preset = \"client-tlc\""), named);
    }
}
