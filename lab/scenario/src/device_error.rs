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
    let of_device = |keys: &[&str]| -> Vec<String> { keys.iter().map(|key| format!("device.{key}")).collect() };
    if let Some(factors) = factors(error.key) {
        let message = format!("{}: {} {}", error.key, error.value, error.legal);
        return KeyError { keys: of_device(factors), value: String::new(), message };
    }
    let capacity = CAPACITY.iter().map(|key| format!("device.ftl.{key}"));
    let start = if device.gc.start_percent.is_some() { "gc.start_percent" } else { "gc.start_blocks" };
    let hard = if device.gc.hard_percent.is_some() { "gc.hard_percent" } else { "gc.hard_blocks" };
    let keys = match error.key {
        "gc.start_blocks" => of_device(&[start]),
        "gc.hard_blocks" => of_device(&[hard, start]),
        "ftl.logical_pages" => capacity.collect(),
        "logical and translation pages" => {
            of_device(&["mapping.entries_per_page"]).into_iter().chain(capacity).collect()
        }
        "flow priority" => {
            let highest = priorities.iter().enumerate().max_by_key(|&(i, &priority)| (priority, Reverse(i)));
            let flow = highest.map(|(i, _)| format!("flow[{i}].priority"));
            flow.into_iter().chain(of_device(&["front.priority_levels"])).collect()
        }
        key => of_device(others(key).unwrap_or(&[key])),
    };
    let value = match (error.key, device.gc.start_percent, device.gc.hard_percent) {
        ("gc.start_blocks", Some(percent), _) | ("gc.hard_blocks", _, Some(percent)) => {
            format!("{percent} ({} blocks)", error.value)
        }
        // Slots are no key.
        ("geometry.slots", ..) => String::new(),
        _ => error.value,
    };
    let message = match error.key {
        "gc.hard_blocks" => format!("{}, fewer than where collection starts (device.{start})", error.legal),
        _ => error.legal,
    };
    KeyError { keys, value, message }
}

/// The keys in `device` that an error is about, where they are not the device's own key.
fn others(key: &str) -> Option<&'static [&'static str]> {
    Some(match key {
        "nand.iterations" => &["nand.iterations", "nand.program_ns"],
        "nand.erase_iterations" => &["nand.erase_iterations", "nand.iterations", "nand.erase_ns"],
        "nand.one_shot_pages" => &["nand.one_shot_pages", "buffer.pages", "geometry.pages_per_block"],
        "geometry.slots" => {
            &["ftl.unit_bytes", "ftl.superblock", "buffer.pages", "buffer.merge_writes", "buffer.write_back"]
        }
        "slots (with serial service)" => &["front.service", "ftl.unit_bytes", "ftl.superblock"],
        "nand.program (with one_shot_pages)" => &["nand.program_ns", "nand.one_shot_pages"],
        "nand.read (with one_shot_pages)" => &["nand.read_ns", "nand.one_shot_pages"],
        "one_shot_pages (with serial service)" => &["front.service", "nand.one_shot_pages"],
        "bus.mega_transfers (with mqsim rounding)" => &["bus.mega_transfers", "bus.rounding"],
        "gc.victim (d-choices)" => &["gc.choices", "gc.victim"],
        "precondition.fill (thousandths)" => &["precondition.fill_percent"],
        "mapping.entries" => &["mapping.entries", "mapping.bytes"],
        "mapping.read_bytes" => &["mapping.read_bytes", "ftl.unit_bytes", "geometry.page_bytes"],
        "mapping.entries_per_page" => &["mapping.entries_per_page", "mapping.entry_bytes"],
        "mapping (with serial service)" => &["front.service", "mapping.entries", "mapping.bytes"],
        "slc.bits" => &["slc.bits", "geometry.pages_per_block"],
        "slc (with serial service)" => &["front.service", "slc.static_blocks", "slc.dynamic"],
        "retry (with serial service)" => &["front.service", "retry.states"],
        "buffer.pages" => &["buffer.pages", "nand.one_shot_pages", "ftl.unit_bytes", "ftl.superblock"],
        "front.in_flight (with serial service)" => &["front.in_flight", "front.service"],
        "front.cluster" => &["front.cluster", "geometry.chips_per_channel", "geometry.channels"],
        _ => return None,
    })
}

/// The keys whose product the error is about. The product is no key, so the message names it.
fn factors(key: &str) -> Option<&'static [&'static str]> {
    Some(match key {
        "units on a channel (chips, or chips times dies)" => {
            &["geometry.dies_per_chip", "geometry.chips_per_channel", "geometry.unit"]
        }
        "planes of a unit" => &["geometry.planes_per_die", "geometry.dies_per_chip", "geometry.unit"],
        "planes of the device" => {
            &["geometry.planes_per_die", "geometry.dies_per_chip", "geometry.chips_per_channel", "geometry.channels"]
        }
        "pages of a plane" => &["geometry.pages_per_block", "geometry.blocks_per_plane"],
        _ => return None,
    })
}
