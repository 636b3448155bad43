//! The device in words: its preset or file, and each key that differs from it.

use toml::{Table, Value};

use super::base::Base;
use super::device::Device;

/// What the keys of `device` lie over, with each that differs: `flin-isca18 with geometry.pages_per_block 256 -> 64`.
pub(super) fn described(base: &Base, device: &Device) -> String {
    let of_preset = Device::default().complete(&base.device).ok().and_then(|device| Table::try_from(device).ok());
    let (from, own) = (of_preset.unwrap_or_default(), Table::try_from(device).unwrap_or_default());
    let mut changes = Vec::new();
    for (section, keys) in &own {
        for (key, value) in keys.as_table().into_iter().flatten() {
            let before = from.get(section).and_then(|keys| keys.get(key));
            if before != Some(value) {
                let before = before.map_or_else(|| "not set".to_owned(), shown);
                changes.push(format!("{section}.{key} {before} -> {}", shown(value)));
            }
        }
    }
    let name = &base.name;
    if changes.is_empty() { name.clone() } else { format!("{name} with {}", changes.join(", ")) }
}

/// A value without quotes; whole numbers without a fraction.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Float(number) => number.to_string(),
        value => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Scenario;

    fn described(device: &str) -> String {
        Scenario::parse("t.toml", device.to_owned()).expect("a scenario").device_described()
    }

    #[test]
    fn what_differs_from_the_preset_is_listed_with_both_values() {
        assert_eq!(described("device = \"flin-isca18\""), "flin-isca18");
        assert_eq!(described(""), super::super::DEFAULT_PRESET);
        assert_eq!(
            described(
                "[device]\npreset = \"flin-isca18\"\ngeometry = { blocks_per_plane = 256, pages_per_block = 64 }"
            ),
            "flin-isca18 with geometry.blocks_per_plane 4096 -> 256, geometry.pages_per_block 256 -> 64"
        );
        let own = "[device]\npreset = \"flin-isca18\"\nftl = { over_provisioning_percent = 60 }\nnand = { read_ns = { mean = 5, sd = 1 } }\n";
        let text = described(own);
        assert!(text.contains("ftl.over_provisioning_percent not set -> 60"), "{text}");
        assert!(text.contains("nand.read_ns 75000 -> { mean = 5, sd = 1 }"), "{text}");
        // What is given and no different is no change.
        assert_eq!(
            described("[device]\npreset = \"flin-isca18\"\ngeometry = { pages_per_block = 256 }"),
            "flin-isca18"
        );
    }
}
