//! What the keys of a scenario's device lie over: a shipped preset, or a device file, which `device.preset` names by its path.
//!
//! Owns the form of a device file. Promises that an error in it names the file, its line, key and value, and that a scenario reads a file
//! once. Must never know what a device's values mean.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use super::ScenarioError;
use super::device::Device;
use super::error::{KeyError, Origin};
use super::limits;
use super::preset::{PRESETS, Preset};
use super::words::{Measured, Word};

/// What a scenario's keys lie over.
#[derive(Debug)]
pub(super) struct Base {
    /// What it is called in results: the name of a preset, or that of a file without its folders.
    pub name: String,
    /// The preset that it is, or starts from.
    pub shipped: &'static str,
    /// The complete device.
    pub device: Device,
    /// What it says of its buffer.
    pub protected: Option<bool>,
    /// What it was fitted for.
    pub fitted: Fitted,
    /// The text of a device file.
    pub origin: Option<Origin>,
}

/// The uses of a drive for which the values of a device file were measured.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fitted {
    /// Reads alone.
    pub reads: Option<Word<Measured>>,
    /// Reads beside writes.
    pub mixed: Option<Word<Measured>>,
    /// Writes.
    pub writes: Option<Word<Measured>>,
}

impl Fitted {
    /// Whether it says that reads, writes, and reads beside writes were not measured, with what each is called.
    pub fn not_measured(&self) -> [(&'static str, bool); 3] {
        let is = |word: Option<Word<Measured>>| word == Some(Word(Measured::NotMeasured));
        [("reads", is(self.reads)), ("writes", is(self.writes)), ("reads beside writes", is(self.mixed))]
    }
}

/// A device file: the form of a preset's file, in which nothing but the device counts.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DeviceFile {
    #[serde(rename = "summary")]
    _summary: Option<String>,
    #[serde(rename = "source")]
    _source: Option<String>,
    #[serde(default)]
    device: Device,
    #[serde(default)]
    fitted: Fitted,
}

/// Whether `preset`, the value of `device.preset`, is the path of a device file and no name: it has a folder or ends in `.toml`.
pub fn is_device_file(preset: &str) -> bool {
    preset.contains(['/', '\\']) || preset.ends_with(".toml")
}

/// What the device that `preset` names is called in results: a file goes without its folders.
pub(super) fn name(preset: &str) -> &str {
    Path::new(preset).file_name().and_then(|name| name.to_str()).filter(|_| is_device_file(preset)).unwrap_or(preset)
}

impl Base {
    /// The shipped preset called `name`; an error names `keys`.
    pub fn shipped(name: &str, keys: &[&str]) -> Result<Base, KeyError> {
        let preset = Preset::named(name).map_err(|near| {
            let names: Vec<&str> = PRESETS.iter().map(|preset| preset.name).collect();
            let near = near.map(|near| format!("; did you mean \"{near}\"?")).unwrap_or_default();
            KeyError {
                keys: keys.iter().map(|key| (*key).to_owned()).collect(),
                value: format!("{name:?}"),
                message: format!("no such device; there are {}{near}", names.join(", ")),
            }
        })?;
        let own = preset.file().device;
        Ok(Base {
            name: preset.name.to_owned(),
            shipped: preset.name,
            device: preset.completed(&own),
            protected: own.buffer.protected,
            fitted: Fitted::default(),
            origin: None,
        })
    }

    /// The device in `text`, the content of the file called `place`: its keys over the preset that it names, or over the defaults.
    pub fn of_text(place: &str, text: String) -> Result<Base, ScenarioError> {
        let origin = Origin { name: place.to_owned(), text, overridden: Vec::new() };
        let file: DeviceFile = toml::from_str(&origin.text).map_err(|error| origin.syntax(&error))?;
        let preset = file.device.preset.as_deref().unwrap_or(Preset::DEFAULTS.name);
        if is_device_file(preset) {
            let message = "must be a preset of the program: a device file does not start from another";
            return Err(origin.locate(KeyError::new("device.preset", format!("{preset:?}"), message)));
        }
        let under = Base::shipped(preset, &["device.preset", "device"]).map_err(|error| origin.locate(error))?;
        let mut device = under.device;
        device.overlay(&file.device);
        let protected = file.device.buffer.protected.or(under.protected);
        Ok(Base {
            name: name(place).to_owned(),
            shipped: under.shipped,
            device,
            protected,
            fitted: file.fitted,
            origin: Some(origin),
        })
    }
}

/// The complete device in `text`, the content of a device file that errors call `place`, and what it was fitted for.
///
/// # Errors
/// Whatever is wrong with the text.
pub fn device_file(place: &str, text: String) -> Result<(Device, Fitted), ScenarioError> {
    Base::of_text(place, text).map(|base| (base.device, base.fitted))
}

/// Presets and device files, each read once, shared by the copies of a scenario.
#[derive(Debug, Default)]
pub(super) struct DeviceFiles(Mutex<BTreeMap<PathBuf, Arc<Base>>>);

impl DeviceFiles {
    /// Has `base` be what lies at `path`.
    pub fn add(&self, path: PathBuf, base: Base) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(path, Arc::new(base));
    }

    /// The device that `preset` names: a shipped one, or one of a file whose path is relative to `folder`. An error about `preset` itself is
    /// placed by `origin`.
    pub fn get(&self, preset: &str, folder: &Path, origin: &Origin) -> Result<Arc<Base>, ScenarioError> {
        let keys = ["device.preset", "device"];
        // If a thread panicked while holding it, its entries are still true.
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let path = if is_device_file(preset) { folder.join(preset) } else { PathBuf::from(preset) };
        if let Some(found) = known.get(&path) {
            return Ok(found.clone());
        }
        let found = Arc::new(if is_device_file(preset) {
            let text = limits::read(&path, &limits::DEVICE_FILE).map_err(|message| {
                let keys = keys.map(str::to_owned).into();
                origin.locate(KeyError { keys, value: format!("{preset:?}"), message })
            })?;
            Base::of_text(&path.display().to_string(), text)?
        } else {
            Base::shipped(preset, &keys).map_err(|error| origin.locate(error))?
        });
        known.insert(path, found.clone());
        Ok(found)
    }
}
