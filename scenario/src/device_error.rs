//! Translates the device's error messages to the keys of the scenario.
//!
//! Owns only the mapping from the device's values to the user's keys.

use std::cmp::Reverse;

use flashlane_ssd::config::ConfigError;

use super::capacity::CAPACITY;
use super::device::Device;
use super::error::KeyError;

/// The device's error in the scenario's keys.
pub(super) fn in_scenario_keys(device: &Device, priorities: &[u8], error: ConfigError) -> KeyError {
    let of = |section: &str, keys: &[&str]| -> Vec<String> {
        keys.iter().map(|key| format!("device.{section}.{key}")).collect()
    };
    if let Some(factors) = factors(error.key) {
        let message = format!("{}: {} {}", error.key, error.value, error.legal);
        return KeyError { keys: of("geometry", factors), value: String::new(), message };
    }
    let (start, hard) = (
        if device.gc.start_percent.is_some() { "start_percent" } else { "start_blocks" },
        if device.gc.hard_percent.is_some() { "hard_percent" } else { "hard_blocks" },
    );
    let keys = match error.key {
        "nand.read" | "nand.program" | "nand.erase" | "nand.suspend" | "nand.resume" => {
            vec![format!("device.{}_ns", error.key)]
        }
        "ftl.trim" | "ftl.trim_page" => vec![format!("device.{}_ns", error.key)],
        "bus.mega_transfers (with mqsim rounding)" => of("bus", &["mega_transfers", "rounding"]),
        "gc.start_blocks" => of("gc", &[start]),
        "gc.hard_blocks" => of("gc", &[hard, start]),
        "gc.victim (d-choices)" => of("gc", &["choices", "victim"]),
        "ftl.logical_pages" => of("ftl", &CAPACITY),
        "precondition.fill (thousandths)" => of("precondition", &["fill_percent"]),
        "front.in_flight (with serial service)" => of("front", &["in_flight", "service"]),
        "mapping (with serial service)" => [of("front", &["service"]), of("mapping", &["entries", "bytes"])].concat(),
        "mapping.entries" => of("mapping", &["entries", "bytes"]),
        "mapping.entries_per_page" => of("mapping", &["entries_per_page", "entry_bytes"]),
        "logical and translation pages" => [of("mapping", &["entries_per_page"]), of("ftl", &CAPACITY)].concat(),
        "slc.read" | "slc.program" | "slc.erase" => vec![format!("device.{}_ns", error.key)],
        "slc.bits" => [of("slc", &["bits"]), of("geometry", &["pages_per_block"])].concat(),
        "nand.one_shot_pages" => {
            [of("nand", &["one_shot_pages"]), of("buffer", &["pages"]), of("geometry", &["pages_per_block"])].concat()
        }
        "nand.program (with one_shot_pages)" => of("nand", &["program_ns", "one_shot_pages"]),
        "nand.read (with one_shot_pages)" => of("nand", &["read_ns", "one_shot_pages"]),
        "one_shot_pages (with serial service)" => [of("front", &["service"]), of("nand", &["one_shot_pages"])].concat(),
        "slc.full (with one_shot_pages)" => [of("slc", &["full"]), of("nand", &["one_shot_pages"])].concat(),
        "mapping (with one_shot_pages)" => {
            [of("mapping", &["entries", "bytes"]), of("nand", &["one_shot_pages"])].concat()
        }
        "buffer.pages" => [of("buffer", &["pages"]), of("nand", &["one_shot_pages"])].concat(),
        "slc (with serial service)" => [of("front", &["service"]), of("slc", &["static_blocks", "dynamic"])].concat(),
        "retry (with serial service)" => [of("front", &["service"]), of("retry", &["states"])].concat(),
        "front.cluster" => {
            let counts = of("geometry", &["chips_per_channel", "channels"]);
            of("front", &["cluster"]).into_iter().chain(counts).collect()
        }
        "levels" => of("front", &["priority_levels"]),
        "flow priority" => {
            let highest = priorities.iter().enumerate().max_by_key(|&(i, &priority)| (priority, Reverse(i)));
            let flow = highest.map(|(i, _)| format!("flow[{i}].priority"));
            flow.into_iter().chain(of("front", &["priority_levels"])).collect()
        }
        key => vec![format!("device.{key}")],
    };
    let value = match (error.key, device.gc.start_percent, device.gc.hard_percent) {
        ("gc.start_blocks", Some(percent), _) | ("gc.hard_blocks", _, Some(percent)) => {
            format!("{percent} ({} blocks)", error.value)
        }
        _ => error.value,
    };
    KeyError { keys, value, message: error.legal }
}

/// The keys in `device.geometry` whose values are multiplied to give what the error is about.
fn factors(key: &str) -> Option<&'static [&'static str]> {
    Some(match key {
        "units on a channel (chips, or chips times dies)" => &["dies_per_chip", "chips_per_channel", "unit"],
        "planes of a unit" => &["planes_per_die", "dies_per_chip", "unit"],
        "planes of the device" => &["planes_per_die", "dies_per_chip", "chips_per_channel", "channels"],
        "pages of a plane" => &["pages_per_block", "blocks_per_plane"],
        _ => return None,
    })
}
