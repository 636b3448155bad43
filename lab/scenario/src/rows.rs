//! Rows: how the pages that the flash has become the device's geometry, which counts units of the map (model 0.16).
//!
//! Owns the arithmetic from `ftl.unit_bytes` and `ftl.superblock` to slots. Must never know files or flows.

use flashlane_core::Geometry;

use super::device::Device;
use super::error::KeyError;
use super::required::{key, missing};
use super::words::Superblock;

/// The geometry of the device over a flash of `flash`: a page is a unit of the map, and a plane may stand for all planes of a die.
pub(super) fn over(device: &Device, flash: Geometry) -> Result<Geometry, KeyError> {
    let units = units_of_page(device, &flash)?;
    let planes = planes_together(device, &flash)?;
    let slots = u64::from(units) * u64::from(planes);
    let places = u64::from(flash.pages_per_block) * slots;
    if slots > 1 && places > u64::from(u16::MAX) {
        return Err(KeyError {
            keys: ["ftl.unit_bytes", "ftl.superblock", "geometry.pages_per_block"]
                .map(|key| format!("device.{key}"))
                .into(),
            value: String::new(),
            message: format!(
                "a block of the map has {} x {units} x {planes} units (pages x units of a page x planes), must be at most {}",
                flash.pages_per_block,
                u16::MAX
            ),
        });
    }
    Ok(Geometry {
        planes_per_die: flash.planes_per_die / planes,
        pages_per_block: places as u32,
        page_bytes: flash.page_bytes / units,
        metadata_bytes: flash.metadata_bytes.div_ceil(units),
        slots: slots as u32,
        row_planes: planes,
        ..flash
    })
}

/// Units of the map in a page of the flash.
fn units_of_page(device: &Device, flash: &Geometry) -> Result<u32, KeyError> {
    let unit = device.ftl.unit_bytes.unwrap_or(flash.page_bytes);
    if unit > 0 && unit.is_multiple_of(512) && flash.page_bytes.is_multiple_of(unit) {
        return Ok(flash.page_bytes / unit);
    }
    let message = format!("must be a multiple of 512 that divides geometry.page_bytes, {}", flash.page_bytes);
    let keys = ["device.ftl.unit_bytes", "device.geometry.page_bytes"].map(str::to_owned).into();
    Err(KeyError { keys, value: unit.to_string(), message })
}

/// Planes of a die whose blocks are a superblock.
fn planes_together(device: &Device, flash: &Geometry) -> Result<u32, KeyError> {
    if device.ftl.superblock().0 == Superblock::Plane || flash.planes_per_die == 1 {
        return Ok(1);
    }
    let refuse = |key: &str, message: &str| {
        let keys = vec!["device.ftl.superblock".to_owned(), format!("device.{key}")];
        Err(KeyError { keys, value: "\"die\"".to_owned(), message: message.to_owned() })
    };
    if !key!(device.nand.multi_plane) {
        return refuse("nand.multi_plane", "needs nand.multi_plane = true: the planes of a die work together");
    }
    if key!(device.bus.plane_gap_ns) > 0 {
        return refuse("bus.plane_gap_ns", "needs bus.plane_gap_ns = 0: all planes of a die work at once");
    }
    Ok(flash.planes_per_die)
}
