//! The shipped devices: data files, one a device, over one file of defaults.
//!
//! Owns the list. Promises: every preset gives a complete device. Must never hold a number of a device itself.

use serde::Deserialize;

use super::device::Device;
use super::error::nearest;

/// A shipped device.
pub struct Preset {
    /// Its name.
    pub name: &'static str,
    /// Its file, comments and all.
    pub text: &'static str,
}

macro_rules! presets {
    ($($name:literal,)*) => {
        &[$(Preset { name: $name, text: include_str!(concat!("../../data/devices/", $name, ".toml")) },)*]
    };
}

/// All presets, in the order they are listed.
pub const PRESETS: &[Preset] = presets![
    "slacker-asplos17",
    "flin-isca18",
    "ncq-elex15",
    "sos-msst13",
    "cosmos-openssd",
    "modern-tlc",
    "unit-cycle",
];

/// What lies under every preset.
pub const DEFAULTS: &str = include_str!("../../data/devices/defaults.toml");

/// The preset of a scenario that names none.
pub const DEFAULT_PRESET: &str = "modern-tlc";

/// A preset's file as read.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PresetFile {
    /// One line: what the device is.
    pub summary: String,
    /// Where its numbers come from.
    pub source: String,
    /// The keys.
    pub device: Device,
}

impl Preset {
    /// The preset called `name`; the nearest name when there is none.
    pub fn named(name: &str) -> Result<&'static Preset, Option<&'static str>> {
        PRESETS.iter().find(|p| p.name == name).ok_or_else(|| nearest(name, PRESETS.iter().map(|p| p.name)))
    }

    /// Its file, read.
    pub fn file(&self) -> PresetFile {
        read(self.name, self.text)
    }

    /// The complete device: the defaults with the preset's keys over them.
    pub fn device(&self) -> Device {
        let mut device = read("defaults", DEFAULTS).device;
        device.overlay(&self.file().device);
        device.preset = Some(self.name.into());
        device
    }
}

/// The files are part of the program, so a fault in one is a fault of the program.
fn read(name: &str, text: &str) -> PresetFile {
    toml::from_str(text).unwrap_or_else(|e| panic!("device preset {name}: {e}"))
}
