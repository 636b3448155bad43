//! Translates the keys of a complete device to the device's configuration.
//!
//! Owns the translation key by key; what a capacity or a threshold amounts to is computed in `capacity`. Must never
//! know files or flows' sources.

use flashlane_core::geometry::AllocationOrder;
use flashlane_core::{Duration, Geometry};
use flashlane_ssd::config::{self, Config, FlowConfig};

use super::capacity::{counts_keys, gc, logical_pages, mapping, spare_covers_gc};
use super::device::Device;
use super::device_error;
use super::error::{KeyError, nearest};
use super::required::{key, missing, needed};
use super::rows;
use super::value::Limit;
use super::words::{DriveState, Protocol, Service, Word};

/// The longest idle time before folding, ms.
const DAY_MS: f64 = 86_400_000.0;

/// The configuration of `device` for flows of the given priorities.
pub(super) fn config(device: &Device, priorities: &[u8], seed: u64) -> Result<Config, KeyError> {
    if priorities.is_empty() {
        return Err(KeyError::new("flow", "", "a scenario needs at least one [[flow]]"));
    }
    if priorities.len() > config::MAX_FLOWS {
        let message = format!("{} flows; must be at most {}", priorities.len(), config::MAX_FLOWS);
        return Err(KeyError { keys: vec!["flow".into()], value: String::new(), message });
    }
    if let Some(i) = priorities.iter().position(|&priority| priority > 7) {
        return Err(KeyError::new(format!("flow[{i}].priority"), priorities[i], "must be 0 to 7"));
    }
    let geometry = geometry(device)?;
    let logical_pages = logical_pages(device, &geometry)?;
    let gc = gc(device, &geometry)?;
    let mapping = mapping(device, &geometry)?;
    spare_covers_gc(device, &geometry, (logical_pages, mapping), &gc)?;
    let config = Config {
        nand: nand(device)?,
        retry: retry(device)?,
        slc: slc(device)?,
        bus: bus(device)?,
        ftl: config::Ftl {
            order: allocation(device)?,
            logical_pages,
            read_modify_write: key!(device.ftl.read_modify_write),
            wear_aware: key!(device.ftl.wear_aware),
        },
        unmap: unmap(device),
        mapping,
        gc,
        precondition: precondition(device)?,
        buffer: buffer(device)?,
        front: front(device)?,
        memory: Duration::from_ns(key!(device.buffer.access_ns)),
        flows: priorities.iter().map(|&level| FlowConfig::at_priority(level)).collect(),
        priorities: levels(device, priorities)?,
        seed,
        geometry,
    };
    config.check().map_err(|e| device_error::in_scenario_keys(device, priorities, e))?;
    Ok(config)
}

/// Priority levels of the queues: as many as the flows use, or as many as are given, which must be enough for every flow.
fn levels(device: &Device, priorities: &[u8]) -> Result<u8, KeyError> {
    let highest = priorities.iter().copied().max().unwrap_or(0);
    match key!(device.front.priority_levels) {
        0 => Ok(highest.saturating_add(1)),
        // Out of range, which the device's own check reports.
        levels if levels > highest || levels > 8 || highest > 7 => Ok(levels),
        levels => {
            let message = format!(
                "must be above every flow's priority, here up to {highest}; 0 gives as many levels as the flows use"
            );
            Err(KeyError::new("device.front.priority_levels", levels, message))
        }
    }
}

fn geometry(device: &Device) -> Result<Geometry, KeyError> {
    let geometry = Geometry {
        channels: key!(device.geometry.channels),
        chips_per_channel: key!(device.geometry.chips_per_channel),
        dies_per_chip: key!(device.geometry.dies_per_chip),
        planes_per_die: key!(device.geometry.planes_per_die),
        blocks_per_plane: key!(device.geometry.blocks_per_plane),
        pages_per_block: key!(device.geometry.pages_per_block),
        page_bytes: key!(device.geometry.page_bytes),
        metadata_bytes: key!(device.geometry.metadata_bytes),
        slots: 1,
        row_planes: 1,
        unit: key!(device.geometry.unit).0,
    };
    let counts = [
        ("device.geometry.channels", geometry.channels),
        ("device.geometry.chips_per_channel", geometry.chips_per_channel),
        ("device.geometry.dies_per_chip", geometry.dies_per_chip),
        ("device.geometry.planes_per_die", geometry.planes_per_die),
        ("device.geometry.blocks_per_plane", geometry.blocks_per_plane),
        ("device.geometry.pages_per_block", geometry.pages_per_block),
        ("device.geometry.page_bytes", geometry.page_bytes),
    ];
    for (key, count) in counts {
        if count == 0 {
            return Err(KeyError::new(key, count, "must be at least 1"));
        }
    }
    if !geometry.page_bytes.is_multiple_of(512) {
        return Err(KeyError::new("device.geometry.page_bytes", geometry.page_bytes, "must be a multiple of 512"));
    }
    // The device counts in 32 bits and multiplies freely, so the product is checked here, before anything uses it.
    let pages = counts[..6].iter().try_fold(1u64, |product, (_, count)| product.checked_mul((*count).into()));
    if pages.is_none_or(|pages| pages > u32::MAX as u64 - 2) {
        let product: Vec<String> = counts[..6].iter().map(|(_, count)| count.to_string()).collect();
        return Err(KeyError {
            keys: counts_keys().collect(),
            value: String::new(),
            message: format!(
                "the device has {} pages (channels x chips x dies x planes x blocks x pages), must be at most {}",
                product.join(" x "),
                u32::MAX - 2
            ),
        });
    }
    let rows = rows::over(device, geometry)?;
    if rows.raw_bytes() / u64::from(rows.page_bytes) > u64::from(u32::MAX) - 2 {
        let message =
            format!("the flash would have places for more than {} logical pages; larger units are legal", u32::MAX - 2);
        return Err(KeyError::new("device.ftl.unit_bytes", rows.page_bytes, message));
    }
    Ok(rows)
}

/// The longest wait for a full wordline, ms.
const HOUR_MS: f64 = 3_600_000.0;

fn nand(device: &Device) -> Result<config::Nand, KeyError> {
    let one_shot_wait = match device.nand.one_shot_wait_ms {
        Some(ms) if !(0.0..=HOUR_MS).contains(&ms) => {
            return Err(KeyError::new("device.nand.one_shot_wait_ms", ms, format!("must be 0 to {HOUR_MS}")));
        }
        Some(ms) => Some(Duration::from_ns((ms * 1e6).round() as u64)),
        None => None,
    };
    Ok(config::Nand {
        read: key!(device.nand.read_ns).to_device(),
        program: key!(device.nand.program_ns).to_device(),
        erase: key!(device.nand.erase_ns).to_device(),
        iterations: key!(device.nand.iterations),
        erase_iterations: device.nand.erase_iterations.unwrap_or(key!(device.nand.iterations)),
        suspend: Duration::from_ns(key!(device.nand.suspend_ns)),
        resume: Duration::from_ns(key!(device.nand.resume_ns)),
        suspend_limit: limit("device.nand.suspend_limit", device.nand.suspend_limit())?,
        suspend_min: Duration::from_ns(device.nand.suspend_min_ns()),
        suspend_at: device.nand.suspend_at().0,
        multi_plane: key!(device.nand.multi_plane),
        multi_die: key!(device.nand.multi_die),
        same_page_read: key!(device.nand.same_page_read),
        same_page_program: key!(device.nand.same_page_program),
        one_shot_pages: device.nand.one_shot_pages(),
        one_shot_wait,
    })
}

fn retry(device: &Device) -> Result<Option<config::ReadRetry>, KeyError> {
    let Some(states) = device.retry.states.as_ref().filter(|states| !states.is_empty()) else { return Ok(None) };
    let mut all = Vec::new();
    for (n, state) in states.iter().enumerate() {
        let key = format!("device.retry.states[{n}].shares");
        let sum: f64 = state.shares.iter().sum();
        let legal = state.shares.iter().all(|share| (0.0..=1.0).contains(share)) && (sum - 1.0).abs() < 1e-6;
        if !legal || state.shares.len() > config::RetryState::MOST_STEPS + 1 {
            let message = format!(
                "must be 1 to {} numbers from 0 to 1 that add up to 1, one for each number of further steps from 0 on",
                config::RetryState::MOST_STEPS + 1
            );
            return Err(KeyError::new(key, format!("{:?}", state.shares), message));
        }
        let mut so_far = 0.0;
        let parts = |share: &f64| {
            so_far += share;
            (so_far * (1u64 << 32) as f64).round() as u64
        };
        let mut below: Vec<u64> = state.shares.iter().map(parts).collect();
        below[state.shares.len() - 1] = 1 << 32;
        all.push(config::RetryState { erases: state.erases, age_days: state.age_days, below });
    }
    Ok(Some(config::ReadRetry {
        step: Duration::from_ns(needed(device.retry.step_ns, "device.retry.step_ns", &["device.retry.states"])?),
        initial_erases: device.retry.initial_erases(),
        initial_age_days: device.retry.initial_age_days(),
        states: all,
    }))
}

fn slc(device: &Device) -> Result<Option<config::SlcCache>, KeyError> {
    let keys = &device.slc;
    if !keys.is_on() {
        return Ok(None);
    }
    let idle = match keys.idle_ms {
        Some(ms) if !(0.0..=DAY_MS).contains(&ms) => {
            return Err(KeyError::new("device.slc.idle_ms", ms, format!("must be 0 to {DAY_MS}")));
        }
        Some(ms) => Some(Duration::from_ns((ms * 1e6).round() as u64)),
        None => None,
    };
    const ON: [&str; 2] = ["device.slc.static_blocks", "device.slc.dynamic"];
    let ns = |value, key| needed(value, key, &ON).map(Duration::from_ns);
    Ok(Some(config::SlcCache {
        static_blocks: keys.static_blocks(),
        dynamic: keys.dynamic(),
        dynamic_limit: limit("device.slc.dynamic_limit", keys.dynamic_limit())?,
        bits: needed(keys.bits, "device.slc.bits", &ON)?,
        read: ns(keys.read_ns, "device.slc.read_ns")?,
        program: ns(keys.program_ns, "device.slc.program_ns")?,
        erase: ns(keys.erase_ns, "device.slc.erase_ns")?,
        idle,
        full: keys.full().0,
    }))
}

fn bus(device: &Device) -> Result<config::Bus, KeyError> {
    Ok(config::Bus {
        mega_transfers: limit("device.bus.mega_transfers", key!(device.bus.mega_transfers))?,
        width_bytes: key!(device.bus.width_bytes),
        rounding: key!(device.bus.rounding).0,
        with_metadata: key!(device.bus.with_metadata),
        command: [
            Duration::from_ns(key!(device.bus.read_command_ns)),
            Duration::from_ns(key!(device.bus.program_command_ns)),
            Duration::from_ns(key!(device.bus.erase_command_ns)),
        ],
        data_out_setup: Duration::from_ns(key!(device.bus.data_out_setup_ns)),
        plane_gap: Duration::from_ns(key!(device.bus.plane_gap_ns)),
        dispatch: key!(device.bus.dispatch).0,
    })
}

fn limit(key: &'static str, value: Limit) -> Result<u32, KeyError> {
    value.to_u32().ok_or_else(|| {
        KeyError::new(key, value.text(), format!("must be a whole number up to {}, or \"unlimited\"", u32::MAX - 1))
    })
}

fn allocation(device: &Device) -> Result<AllocationOrder, KeyError> {
    let name = device.ftl.allocation.as_deref().ok_or_else(|| missing("device.ftl.allocation"))?;
    AllocationOrder::parse(name).ok_or_else(|| {
        let near = nearest(name, AllocationOrder::NAMES.into_iter());
        let near = near.map(|near| format!("; did you mean \"{near}\"?")).unwrap_or_default();
        KeyError::new(
            "device.ftl.allocation",
            format!("{name:?}"),
            format!("must be four different letters of C, W, D, P, such as \"CWDP\"{near}"),
        )
    })
}

fn precondition(device: &Device) -> Result<config::Precondition, KeyError> {
    Ok(match key!(device.precondition.state).0 {
        DriveState::Fresh => config::Precondition::Fresh,
        DriveState::Steady => config::Precondition::Steady,
        DriveState::Replayed => config::Precondition::Replayed { percent: key!(device.precondition.overwrite_percent) },
        DriveState::Filled => {
            let percent = key!(device.precondition.fill_percent);
            if !(0.0..=100.0).contains(&percent) {
                return Err(KeyError::new("device.precondition.fill_percent", percent, "must be 0 to 100"));
            }
            config::Precondition::Filled { per_mille: (percent * 10.0).round() as u32 }
        }
    })
}

fn unmap(device: &Device) -> config::Unmap {
    config::Unmap {
        command: Duration::from_ns(device.ftl.trim_ns()),
        page: Duration::from_ns(device.ftl.trim_page_ns()),
        reads: device.ftl.unmapped_reads().0,
    }
}

fn buffer(device: &Device) -> Result<Option<config::Buffer>, KeyError> {
    let pages = key!(device.buffer.pages);
    Ok((pages > 0).then_some(config::Buffer {
        pages,
        per_flow: key!(device.buffer.per_flow),
        write_back: key!(device.buffer.write_back),
        read_allocate: key!(device.buffer.read_allocate),
        // Only serial service leaves it out.
        flush_above: device.buffer.flush_above.unwrap_or_default(),
        merge_writes: key!(device.buffer.merge_writes),
        protected: device.buffer.protected(),
        pace: Duration::from_ns(device.buffer.pace_ns()),
    }))
}

fn front(device: &Device) -> Result<config::Front, KeyError> {
    let depth = limit("device.front.depth", key!(device.front.depth))?;
    let link_bytes_per_s = match key!(device.front.link_bytes_per_s) {
        Limit::Unlimited => 0,
        Limit::At(0) => {
            return Err(KeyError::new("device.front.link_bytes_per_s", 0, "must be at least 1, or \"unlimited\""));
        }
        Limit::At(rate) => rate,
    };
    Ok(config::Front {
        protocol: match key!(device.front.protocol).0 {
            Protocol::Nvme => config::Protocol::Nvme { depth },
            Protocol::Sata => config::Protocol::Sata { depth },
        },
        in_flight: limit("device.front.in_flight", key!(device.front.in_flight))?,
        queue_capacity: [
            limit("device.front.read_queue_capacity", key!(device.front.read_queue_capacity))?,
            limit("device.front.write_queue_capacity", key!(device.front.write_queue_capacity))?,
        ],
        link_bytes_per_s,
        link_latency: Duration::from_ns(key!(device.front.link_latency_ns)),
        order: device.front.order().0,
        controller: config::Controller {
            cores: device.front.cores(),
            command: [device.front.read_command_ns(), device.front.write_command_ns()].map(Duration::from_ns),
            page: [device.front.read_page_ns(), device.front.write_page_ns()].map(Duration::from_ns),
        },
        service: service(device)?,
    })
}

/// How commands in the device are served.
fn service(device: &Device) -> Result<config::Service, KeyError> {
    let (cluster, Word(charge)) = (key!(device.front.cluster), key!(device.front.charge));
    Ok(match key!(device.front.service).0 {
        Service::Serial => config::Service::Serial { cluster, charge },
        Service::Parallel => config::Service::Parallel,
    })
}
