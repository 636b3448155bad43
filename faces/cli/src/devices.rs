//! `flashlane devices`: the shipped devices, as a list or one in full.

use flashlane_scenario::{DEFAULT_PRESET, PRESETS, Preset, is_device_file};

use crate::fail::Failure;
use crate::text::print;

/// Lists the presets, or prints the one called `name` (or `defaults`, the values that presets do not give).
pub fn show(name: Option<&str>) -> Result<(), Failure> {
    let Some(name) = name else { return print(&list()) };
    if is_device_file(name) {
        let legal = "is the path of a file; legal is the name of a preset. `flashlane check SCENARIO --device FILE` checks a device file";
        return Err(Failure::Input(format!("device {name:?}: {legal}")));
    }
    let preset = Preset::named(name).map_err(|near| {
        let names: Vec<&str> = PRESETS.iter().map(|preset| preset.name).collect();
        let near = near.map(|near| format!("; did you mean \"{near}\"?")).unwrap_or_default();
        Failure::Input(format!("device {name:?}: no such device; there are {}{near}", names.join(", ")))
    })?;
    print(preset.text)
}

fn list() -> String {
    let width = PRESETS.iter().map(|preset| preset.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for preset in PRESETS {
        let file = preset.file();
        let default = if preset.name == DEFAULT_PRESET { " (the default)" } else { "" };
        text.push_str(&format!("{:width$}  {}{default}\n", preset.name, file.summary));
        text.push_str(&format!("{:width$}  from: {}\n", "", file.source));
    }
    text.push_str(
        "\nflashlane devices NAME prints one with the source of each value; `defaults` lies under all of them.\n",
    );
    text
}
