//! How much of the flash is the user's, how much is spare, and whether that is enough for garbage collection; how much of the map memory
//! holds.
//!
//! Owns the arithmetic from what a user gives (gigabytes, percent) to what the device needs (pages, blocks), with its
//! rounding. Must never know files or flows.

use flashlane_core::Geometry;
use flashlane_outputs::shown::counted;
use flashlane_ssd::config;

use super::device::Device;
use super::error::KeyError;
use super::required::{key, missing};
use super::value::Limit;
use super::words::{MappingStart, Victim};

/// The ways to give the user capacity.
pub(super) const CAPACITY: [&str; 3] = ["user_gb", "user_bytes", "over_provisioning_percent"];

/// The blocks in SLC mode, which hold no part of it.
const STATIC_BLOCKS: &str = "device.slc.static_blocks";

/// The keys that determine the raw capacity.
pub(super) fn counts_keys() -> impl Iterator<Item = String> {
    let counts =
        ["blocks_per_plane", "pages_per_block", "channels", "chips_per_channel", "dies_per_chip", "planes_per_die"];
    counts.into_iter().chain(["page_bytes"]).map(|key| format!("device.geometry.{key}"))
}

/// The logical pages that the one given capacity key means; an error that names all three if none or several are given.
pub(super) fn logical_pages(device: &Device, geometry: &Geometry) -> Result<u32, KeyError> {
    let page = geometry.page_bytes as u64;
    let in_slc_mode = static_blocks(device, geometry)?;
    let native_blocks = geometry.blocks_per_plane - in_slc_mode;
    let raw_bytes = Geometry { blocks_per_plane: native_blocks, ..*geometry }.raw_bytes();
    let (key, value, pages) = match (device.ftl.user_gb, device.ftl.user_bytes, device.ftl.over_provisioning_percent) {
        (Some(gb), None, None) => {
            ("device.ftl.user_gb", gb.to_string(), gb.checked_mul(1_000_000_000).map(|bytes| bytes / page))
        }
        (None, Some(bytes), None) => ("device.ftl.user_bytes", bytes.to_string(), Some(bytes / page)),
        (None, None, Some(percent)) => {
            if !(0.0..=10_000.0).contains(&percent) {
                return Err(KeyError::new("device.ftl.over_provisioning_percent", percent, "must be 0 to 10000"));
            }
            let pages = ((raw_bytes / page) as f64 * 100.0 / (100.0 + percent)).floor() as u64;
            ("device.ftl.over_provisioning_percent", percent.to_string(), Some(pages))
        }
        _ => {
            let percent = device.ftl.over_provisioning_percent.map(|percent| percent.to_string());
            let whole = [device.ftl.user_gb, device.ftl.user_bytes].map(|value| value.map(|value| value.to_string()));
            let values = whole.into_iter().chain([percent]);
            return Err(one_of("device.ftl", CAPACITY.into_iter().zip(values)));
        }
    };
    let message = match pages {
        Some(0) => format!("must leave the user at least one page of {page} bytes"),
        Some(pages) if pages <= raw_bytes / page => return Ok(pages as u32),
        _ if in_slc_mode > 0 => {
            format!("must be at most the raw capacity of {raw_bytes} bytes beside the static blocks of the SLC cache")
        }
        _ => format!("must be at most the raw capacity of {raw_bytes} bytes"),
    };
    // Where a preset gives the capacity, the likely cause is a cache that the user made larger, or a geometry that the user made smaller.
    let cache = (in_slc_mode > 0).then(|| STATIC_BLOCKS.to_owned());
    let keys = std::iter::once(key.to_owned()).chain(cache).chain(counts_keys()).collect();
    Err(KeyError { keys, value, message })
}

/// How much of the map memory holds; `None` if all of it.
pub(super) fn mapping(device: &Device, geometry: &Geometry) -> Result<Option<config::Mapping>, KeyError> {
    let keys = &device.mapping;
    if !keys.is_on() {
        return Ok(None);
    }
    let (page, entry_bytes) = (geometry.page_bytes, keys.entry_bytes());
    if !(1..=page).contains(&entry_bytes) {
        return Err(KeyError::new(
            "device.mapping.entry_bytes",
            entry_bytes,
            format!("must be 1 to {page}, the bytes of a unit of the map"),
        ));
    }
    let entries = match (keys.entries, keys.bytes) {
        (Some(entries), None) => entries.to_u32().ok_or_else(|| {
            let message = format!("must be 1 to {}, or \"unlimited\"", 1 << 30);
            KeyError::new("device.mapping.entries", entries.text(), message)
        })?,
        (None, Some(bytes)) if bytes % u64::from(entry_bytes) == 0 => {
            u32::try_from(bytes / u64::from(entry_bytes)).unwrap_or(u32::MAX)
        }
        (None, Some(bytes)) => {
            let message = format!("must be a multiple of entry_bytes, {entry_bytes}; or give entries");
            return Err(KeyError::new("device.mapping.bytes", bytes, message));
        }
        _ => {
            let values = [keys.entries.map(Limit::text), keys.bytes.map(|bytes| bytes.to_string())];
            return Err(one_of("device.mapping", ["entries", "bytes"].into_iter().zip(values)));
        }
    };
    let entries_per_page = match keys.entries_per_page {
        Some(entries) => entries,
        None if page.is_multiple_of(entry_bytes) => page / entry_bytes,
        None => {
            let message = format!("does not divide the bytes of a unit of the map, {page}: give entries_per_page");
            return Err(KeyError::new("device.mapping.entry_bytes", entry_bytes, message));
        }
    };
    Ok(Some(config::Mapping {
        entries,
        host_entries: keys.host_entries(),
        entries_per_page,
        entry_bytes,
        read_bytes: keys.read_bytes.unwrap_or(page),
        warm: keys.start().0 == MappingStart::Warm,
    }))
}

/// The blocks of a plane that are always in SLC mode, which hold no part of the user capacity.
fn static_blocks(device: &Device, geometry: &Geometry) -> Result<u32, KeyError> {
    let blocks = if device.slc.is_on() { device.slc.static_blocks() } else { 0 };
    if blocks == 0 || blocks < geometry.blocks_per_plane {
        return Ok(blocks);
    }
    Err(KeyError {
        keys: vec![STATIC_BLOCKS.into(), "device.geometry.blocks_per_plane".into()],
        value: blocks.to_string(),
        message: format!("must be less than the {} of a plane", counted(geometry.blocks_per_plane, "block")),
    })
}

pub(super) fn gc(device: &Device, geometry: &Geometry) -> Result<config::Gc, KeyError> {
    let blocks = geometry.blocks_per_plane;
    let percent = |key: &'static str, percent: f64| {
        if (0.0..=100.0).contains(&percent) {
            Ok(percent * blocks as f64 / 100.0)
        } else {
            Err(KeyError::new(key, percent, "must be 0 to 100"))
        }
    };
    // "Fewer than 5 %" of 4096 blocks means fewer than 205; "at or below 0.5 %" means at or below 20.
    let start_blocks = match (device.gc.start_percent, device.gc.start_blocks) {
        (Some(p), None) => (percent("device.gc.start_percent", p)?.ceil() as u32).max(2),
        (None, Some(blocks)) => blocks,
        (percent, blocks) => return Err(one_threshold("start", percent, blocks)),
    };
    let hard_blocks = match (device.gc.hard_percent, device.gc.hard_blocks) {
        (Some(p), None) => (percent("device.gc.hard_percent", p)?.floor() as u32).max(1),
        (None, Some(blocks)) => blocks,
        (percent, blocks) => return Err(one_threshold("hard", percent, blocks)),
    };
    Ok(config::Gc {
        victim: match key!(device.gc.victim).0 {
            Victim::Greedy => config::Victim::Greedy,
            Victim::Random => config::Victim::Random,
            Victim::DChoices => config::Victim::DChoices(key!(device.gc.choices)),
            Victim::Fifo => config::Victim::Fifo,
            Victim::CostBenefit => config::Victim::CostBenefit,
        },
        start_blocks,
        hard_blocks,
        separate_frontier: key!(device.gc.separate_frontier),
    })
}

/// The error of a threshold of collection that is given twice, or not at all.
fn one_threshold(which: &str, percent: Option<f64>, blocks: Option<u32>) -> KeyError {
    let (in_percent, in_blocks) = (format!("{which}_percent"), format!("{which}_blocks"));
    let values = [percent.map(|percent| percent.to_string()), blocks.map(|blocks| blocks.to_string())];
    one_of("device.gc", [&in_percent[..], &in_blocks].into_iter().zip(values))
}

/// The error of keys of a table of which exactly one must be given: each has its value if it is.
fn one_of<'a>(table: &str, keys: impl Iterator<Item = (&'a str, Option<String>)>) -> KeyError {
    let all: Vec<(&str, Option<String>)> = keys.collect();
    let names: Vec<&str> = all.iter().map(|(key, _)| *key).collect();
    let given: Vec<String> =
        all.iter().filter_map(|(key, value)| Some(format!("{table}.{key} = {}", value.as_ref()?))).collect();
    let not = if given.is_empty() { String::new() } else { format!(", not {}", given.join(" and ")) };
    KeyError {
        keys: names.iter().map(|key| format!("{table}.{key}")).collect(),
        value: String::new(),
        message: format!("give exactly one of {}{not}", names.join(", ")),
    }
}

/// Checks that over-provisioning provides the blocks that collection needs to keep a plane's free blocks above the
/// threshold.
pub(super) fn spare_covers_gc(
    device: &Device,
    g: &Geometry,
    (logical_pages, mapping): (u32, Option<config::Mapping>),
    gc: &config::Gc,
) -> Result<(), KeyError> {
    let program = u64::from(device.nand.one_shot_pages()) * u64::from(g.slots);
    let is_legal = (1..=u64::from(g.pages_per_block)).contains(&program);
    if mapping.is_some_and(|mapping| mapping.entries_per_page == 0) || !is_legal {
        // The device's own check reports it.
        return Ok(());
    }
    let map = mapping.map_or(0, |mapping| logical_pages.div_ceil(mapping.entries_per_page));
    let stored = logical_pages.saturating_add(map);
    let data = g.pages_of_fullest_plane(stored).div_ceil(g.pages_per_block + 1 - program as u32);
    let in_slc_mode = static_blocks(device, g)?;
    let open = if device.slc.dynamic() { 3 } else { 2 };
    let spare = (g.blocks_per_plane - in_slc_mode).saturating_sub(data);
    if gc.start_blocks.saturating_add(open) <= spare {
        return Ok(());
    }
    let (key, value) = match device.gc.start_percent {
        Some(percent) => ("device.gc.start_percent", format!("{percent} ({})", counted(gc.start_blocks, "block"))),
        None => ("device.gc.start_blocks", gc.start_blocks.to_string()),
    };
    let room = spare.saturating_sub(open);
    let less =
        if in_slc_mode == 0 { "give the user less capacity" } else { "give the user or the SLC cache less capacity" };
    let mut keys: Vec<String> = CAPACITY.map(|key| format!("device.ftl.{key}")).into();
    if mapping.is_some() {
        keys.extend(["entries_per_page", "entry_bytes"].map(|key| format!("device.mapping.{key}")));
    }
    let cache = match in_slc_mode {
        0 => String::new(),
        blocks => {
            keys.push(STATIC_BLOCKS.into());
            format!("{blocks} are always in SLC mode, ")
        }
    };
    keys.extend(counts_keys());
    let data_is = if data > g.blocks_per_plane { "would be needed for" } else { "hold" };
    let map = if mapping.is_some() { " and the map" } else { "" };
    let blocks = format!(
        "garbage collection would start above the over-provisioning: of a plane's {} blocks {cache}{data} {data_is} user data{map} and \
         {open} are open",
        g.blocks_per_plane
    );
    if room < 2 {
        // No threshold is legal, so that the one that is given is not at fault.
        keys.push(key.to_owned());
        let message = format!("{blocks}, which leaves no room for {key} = {value}; {less}");
        return Err(KeyError { keys, value: String::new(), message });
    }
    keys.insert(0, key.to_owned());
    let percent = (room as f64 * 1000.0 / g.blocks_per_plane as f64).floor() / 10.0;
    let message = format!("{blocks}; must be at most {} ({percent} %), or {less}", counted(room, "block"));
    Err(KeyError { keys, value, message })
}
