//! The shipped devices: one data file each, over one file of defaults.
//!
//! Owns the list. Promises that every preset gives a complete device. Must never contain a device's values itself.

use serde::Deserialize;

use super::device::Device;
use super::error::nearest;

/// A shipped device.
pub struct Preset {
    /// Its name.
    pub name: &'static str,
    /// The text of its file, comments included.
    pub text: &'static str,
}

macro_rules! presets {
    ($($name:literal,)*) => {
        &[$(Preset { name: $name, text: include_str!(concat!("../data/devices/", $name, ".toml")) },)*]
    };
}

/// All presets, in the order they are listed: those of papers, those of today from the default on, and one for tests.
pub const PRESETS: &[Preset] = presets![
    "slacker-asplos17",
    "slacker-one-page",
    "flin-isca18",
    "ncq-elex15",
    "sos-msst13",
    "cosmos-openssd",
    "modern-tlc",
    "datacenter-tlc",
    "client-tlc",
    "client-qlc",
    "samsung-970-pro-512gb",
    "samsung-980-pro-1tb",
    "samsung-pm9a3-960gb",
    "sk-hynix-pe8110-960gb",
    "micron-7450-pro-960gb",
    "micron-7450-max-800gb",
    "wd-dc-960gb",
    "solidigm-p5520-1920gb",
    "unit-cycle",
];

/// The defaults for keys that a preset does not give.
pub const DEFAULTS: &str = include_str!("../data/devices/defaults.toml");

/// The preset of a scenario that names none.
pub const DEFAULT_PRESET: &str = "modern-tlc";

/// The parsed file of a preset.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PresetFile {
    /// A description of the device in one line.
    pub summary: String,
    /// The origin of its values.
    pub source: String,
    /// The keys.
    pub device: Device,
}

impl Preset {
    /// The values that lie under all presets, as one that gives no others.
    pub const DEFAULTS: &Preset = &Preset { name: "defaults", text: DEFAULTS };

    /// The drives of today: neither of a paper nor for tests.
    pub fn of_today() -> impl Iterator<Item = &'static Preset> {
        PRESETS.iter().skip_while(|preset| preset.name != DEFAULT_PRESET).filter(|preset| preset.name != "unit-cycle")
    }

    /// The preset called `name`, `defaults` included; if there is none, the nearest name.
    pub fn named(name: &str) -> Result<&'static Preset, Option<&'static str>> {
        PRESETS
            .iter()
            .chain([Preset::DEFAULTS])
            .find(|p| p.name == name)
            .ok_or_else(|| nearest(name, PRESETS.iter().map(|p| p.name)))
    }

    /// Its parsed file.
    pub fn file(&self) -> PresetFile {
        read(self.name, self.text)
    }

    /// The complete device: the preset's keys over the defaults.
    pub fn device(&self) -> Device {
        self.completed(&self.file().device)
    }

    /// The same, of the keys in its file.
    pub(super) fn completed(&self, own: &Device) -> Device {
        let mut device = Preset::DEFAULTS.file().device;
        device.overlay(own);
        device.preset = Some(self.name.into());
        device
    }
}

/// Parses a file that is part of the program; an error in it is a defect of the program.
fn read(name: &str, text: &str) -> PresetFile {
    toml::from_str(text).unwrap_or_else(|e| panic!("device preset {name}: {e}"))
}
